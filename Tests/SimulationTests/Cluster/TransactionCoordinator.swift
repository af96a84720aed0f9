import TidemarkKafka

@testable import TidemarkWorkload

/// A transaction of a producer.
final class SimulatedTransaction {
    let number: Int
    let start: Duration
    var partitions: [LogPartition] = []
    var groups: [ConsumerGroup] = []
    /// Whether it is committed; `nil` while that is open.
    fileprivate(set) var isCommit: Bool?
    fileprivate var unmarked = 0

    fileprivate init(number: Int, start: Duration) {
        self.number = number
        self.start = start
    }
}

/// Decides transactions: each transactional id has one owner, known by its epoch, and at most one transaction.
final class TransactionCoordinator {
    /// A request that another producer with the id has made void.
    struct Fenced: Error {}
    /// The markers of the transaction before are not all written yet.
    struct Concurrent: Error {}

    private final class Owner {
        var epoch = 0
        var timeout = Duration.zero
        var transaction: SimulatedTransaction?
    }

    private unowned let cluster: SimulatedCluster
    private var owners: [String: Owner] = [:]
    private var count = 0
    private var scheduler: Scheduler { cluster.scheduler }

    init(cluster: SimulatedCluster) { self.cluster = cluster }

    /// A number for a transaction of somebody else's producer.
    func nextNumber() -> Int {
        count += 1
        return count
    }

    private func owner(_ id: String) -> Owner {
        if let known = owners[id] { return known }
        let owner = Owner()
        owners[id] = owner
        return owner
    }

    /// Makes the caller the owner of an id.
    ///
    /// - Returns: its epoch; `nil` while the transaction of the owner before is still being ended.
    func takeOver(_ id: String, timeout: Duration) -> Int? {
        let owner = owner(id)
        if let transaction = owner.transaction {
            if transaction.isCommit == nil {
                owner.epoch += 1
                decide(owner, isCommit: false)
            }
            return nil
        }
        owner.epoch += 1
        owner.timeout = timeout
        return owner.epoch
    }

    /// Whether the markers of all decided transactions of an id are written.
    func isIdle(_ id: String) -> Bool { owner(id).transaction?.isCommit == nil }

    /// The transaction of an owner, begun if need be.
    func transaction(_ id: String, epoch: Int) throws -> SimulatedTransaction {
        let owner = owner(id)
        guard owner.epoch == epoch else { throw Fenced() }
        if let transaction = owner.transaction {
            guard transaction.isCommit == nil else { throw Concurrent() }
            return transaction
        }
        let transaction = SimulatedTransaction(number: nextNumber(), start: cluster.now)
        owner.transaction = transaction
        return transaction
    }

    /// Ends an owner's transaction.
    func end(_ id: String, epoch: Int, isCommit: Bool) throws {
        let owner = owner(id)
        guard owner.epoch == epoch else { throw Fenced() }
        guard let transaction = owner.transaction, transaction.isCommit == nil else { return }
        decide(owner, isCommit: isCommit)
    }

    private func decide(_ owner: Owner, isCommit: Bool) {
        guard let transaction = owner.transaction else { return }
        transaction.isCommit = isCommit
        let marks: [() -> Void] =
            transaction.partitions.map { log in
                { [cluster] in log.mark(transaction.number, isCommit: isCommit, timestamp: cluster.timestamp) }
            }
            + transaction.groups.map { group in { group.decide(transaction.number, isCommit: isCommit) } }
        transaction.unmarked = marks.count
        guard !marks.isEmpty else { return owner.transaction = nil }
        for mark in marks {
            cluster.later(cluster.faults.markerDelay()) { [cluster] in
                mark()
                cluster.noteWrite()
                transaction.unmarked -= 1
                if transaction.unmarked == 0 { owner.transaction = nil }
            }
        }
    }

    // MARK: Timeouts

    /// Aborts transactions that were open for too long; their owners are fenced.
    func serve() {
        for id in owners.keys.sorted() {
            let owner = owner(id)
            guard let transaction = owner.transaction, transaction.isCommit == nil,
                transaction.start + owner.timeout <= cluster.now
            else { continue }
            cluster.scheduler.trace.tell("the transaction of \(id) timed out", counted: "timed out", cluster.now)
            owner.epoch += 1
            decide(owner, isCommit: false)
        }
    }

    var nextEvent: Duration? {
        owners.values.compactMap { owner in
            guard let transaction = owner.transaction, transaction.isCommit == nil else { return nil }
            return transaction.start + owner.timeout
        }.min()
    }
}
