internal import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka
internal import TidemarkReports

/// All that the threads of one process share: settings, names, and the way to stop. Built once at start.
struct RunContext: Sendable {
    let configuration: Configuration
    let topics: ApplicationTopics
    /// The table of the report's time zone.
    let days: DayTable
    /// What the rules, the report settings and the zone come to; state of another fingerprint is not ours.
    let fingerprint: String
    /// See `Epoch`.
    let epoch: Int
    /// Names this process among those of the application, the same after a restart.
    let instance: String
    /// Partitions of each topic that tasks read.
    let inputPartitions: Int
    /// Partitions of the report and delta topics.
    let reportPartitions: Int
    /// Partitions of the open topic.
    let openPartitions: Int
    /// Greatest record that the dead-letter topic and the producer take, bytes.
    let deadLetterLimit: Int
    /// Looks at keys now and then; `nil` where the settings want none of it.
    let keyCheck: KeyCheck?
    let control: RunControl
    /// The partitions that events come in, where they go through `<app>-by-user`; `nil` where tasks read them themselves.
    var sources: Sources?
    /// The writer schemas of Avro values that the settings name.
    var schemas = InputSchemas()
    /// How rows and opens are written.
    var encodings = OutputEncodings()
    /// Where writer schemas come from; `nil` without a registry.
    var registry: (any SchemaSource)?
    /// Makes the clients of all threads.
    var clients: any ClientFactory = KafkaClients()
    /// Bytes that users take who are not packed, in all tasks of the application; twice as much while all of them have new events.
    var unpackedBytes = 128 << 20
    /// Keeps states of partitions that this process does not have; `nil` where the settings want none.
    var standby: Standby?
    /// The thread that has this copy, for example `worker-0`, and how it tells that it moves; none outside of threads.
    var loop: String?
    var pulse: LoopPulse?

    /// Tells what a person running the process should know.
    func log(_ message: String, level: LogLine.Level = .info, partition: Int32? = nil) {
        control.log(message, level: level, loop: loop, partition: partition)
    }

    /// A copy for a thread.
    func forLoop(_ name: String, _ pulse: LoopPulse) -> RunContext {
        var copy = self
        copy.loop = name
        copy.pulse = pulse
        return copy
    }

    /// Tells that this thread moves.
    ///
    /// - Parameter waiting: how long its next step may wait for brokers.
    func beat(waiting: Duration = .zero) { pulse?.beat(waiting: waiting) }

    /// A decoder for one thread.
    func makeDecoder() -> EventDecoder { EventDecoder(limits: decoderLimits, schemas: schemas.all) }

    /// Limits of the decoder.
    var decoderLimits: DecoderLimits {
        var limits = DecoderLimits()
        limits.maxRecordBytes = configuration.limits.recordBytes
        return limits
    }
}
