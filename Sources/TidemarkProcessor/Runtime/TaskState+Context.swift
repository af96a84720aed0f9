internal import TidemarkConfiguration
internal import TidemarkReports

extension TaskState {
    /// An empty state under the settings of a process.
    convenience init(_ context: RunContext) {
        self.init(
            rules: context.configuration.attribution, settings: context.configuration.report, days: context.days,
            duplicateCheck: .onArrival, sources: context.sources?.count,
            unpackedLimit: context.unpackedBytes / max(1, context.inputPartitions))
        pass.opens.encoding = context.encodings.opens
    }
}
