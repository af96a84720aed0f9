internal import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkReports

/// All that the threads of one process share: settings, names, and the way to stop. Built once at start.
struct RunContext: Sendable {
    let configuration: Configuration
    let topics: ApplicationTopics
    /// The table of the report's time zone.
    let days: DayTable
    /// What the rules, the report settings and the zone come to; state of another fingerprint is not ours.
    let fingerprint: String
    /// Names this process among those of the application, the same after a restart.
    let instance: String
    /// Partitions of each input topic.
    let inputPartitions: Int
    /// Partitions of the report and delta topics.
    let reportPartitions: Int
    /// Partitions of the open topic.
    let openPartitions: Int
    /// Greatest record that the dead-letter topic and the producer take, bytes.
    let deadLetterLimit: Int
    let control: RunControl

    /// Tells what a person running the process should know.
    func log(_ message: String) { control.log(message) }

    /// Limits of the decoder.
    var decoderLimits: DecoderLimits {
        var limits = DecoderLimits()
        limits.maxRecordBytes = configuration.limits.recordBytes
        return limits
    }
}
