internal import TidemarkConfiguration
internal import TidemarkReports

extension TaskState {
    /// Bytes that users take who are not packed, in all tasks of an application; twice as much while all of them have new events.
    private static let unpackedBytes = 128 << 20

    /// An empty state under the settings of a process.
    convenience init(_ context: RunContext) {
        self.init(
            rules: context.configuration.attribution, settings: context.configuration.report, days: context.days,
            duplicateCheck: .onArrival, sources: context.sources?.count,
            unpackedLimit: TaskState.unpackedBytes / max(1, context.inputPartitions))
    }
}
