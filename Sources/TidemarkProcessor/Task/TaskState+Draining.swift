internal import TidemarkAttribution
internal import TidemarkReports

// For a replay of more than fits into memory: users leave with the events they have, and come back when all of their events are together.

extension TaskState {
    /// Hands out all users with their events, in the order of the hashes of their ids, and forgets them. No event may have been settled.
    ///
    /// What the task has counted and its vocabulary stay.
    func drainUsers<Failure>(_ body: (UserState) throws(Failure) -> Void) throws(Failure) {
        try users.drain(body)
        dirty.removeAll()
        directory = ChunkDirectory()
    }

    /// Works out a user that is kept elsewhere, all of whose events are pending, and frees its memory.
    func settle(_ user: UserState, output: UserPass.Output) {
        var state = user
        defer { state.deallocate() }
        let duplicates = pass.update(&state, watermark: finalMark, output: output)
        counts.accepted -= duplicates
        counts.duplicates += duplicates
    }
}
