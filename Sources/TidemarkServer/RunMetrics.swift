internal import TidemarkEvents
public import TidemarkProcessor

/// Renders what a process has done and how it stands as metrics. `docs/operations.md` lists them.
public struct RunMetrics: Sendable {
    private let status: RunStatus
    private let now: Double
    private var tasks: [TaskStatus] { status.loops.flatMap(\.tasks).sorted { $0.partition < $1.partition } }
    private var sources: [SourceStatus] {
        status.loops.flatMap(\.sources).sorted { ($0.input.topic, $0.partition) < ($1.input.topic, $1.partition) }
    }

    /// - Parameters:
    ///   - status: what is rendered.
    ///   - now: the wall clock, seconds since the epoch; for the lag of watermarks.
    public init(_ status: RunStatus, now: Double) {
        self.status = status
        self.now = now
    }

    /// The metrics as text.
    ///
    /// - Parameters:
    ///   - build: the versions.
    ///   - process: what the system knows of the process; `nil` leaves it out.
    public func text(build: BuildFigures, process: ProcessFigures?) -> String {
        var text = MetricsText()
        writeInput(to: &text)
        writeCommits(to: &text)
        writeTasks(to: &text)
        writeStandbys(to: &text)
        writeLags(to: &text)
        writeRepartition(to: &text)
        writeAggregator(to: &text)
        writeHealth(to: &text)
        build.write(to: &text)
        process?.write(to: &text)
        return text.text
    }

    private func writeInput(to text: inout MetricsText) {
        text.family("tidemark_input_records_total", .counter, "Input records whose outcome is committed")
        text.sample(status.records)
        text.family(
            "tidemark_input_events_total", .counter, "Events by verdict, committed; dead letters are counted apart")
        text.sample(status.counts.accepted, ["verdict": "counted"])
        text.sample(status.counts.duplicates, ["verdict": "duplicate"])
        text.sample(status.counts.skipped, ["verdict": "skipped"])
        text.family(
            "tidemark_input_pauses_total", .counter, "Times that a partition was not fetched, to wait for other topics")
        text.sample(status.pauses)
        text.family(
            "tidemark_schema_waiting_partitions", .gauge, "Partitions whose next record waits for its writer schema")
        text.sample(status.schemaWaits)
        text.family(
            "tidemark_schema_registry_outage", .gauge, "Whether the schema registry was asked last without an answer")
        text.sample(status.registryOutage == nil ? 0 : 1)
        let lateness = status.lateness
        text.family(
            "tidemark_input_lateness_seconds", .histogram, "How far counted events were behind their task's watermark")
        text.histogram(LatenessCounts.bounds.map(Double.init), lateness.counts, count: lateness.count)
        text.sample(lateness.sum, suffix: "_sum")
        text.sample(lateness.count, suffix: "_count")
        text.family("tidemark_dead_letter_records_total", .counter, "Committed dead letters by code")
        for code in RejectionCode.allCases {
            text.sample(status.counts.deadLetters[code] ?? 0, ["code": code.rawValue])
        }
    }

    private func writeCommits(to text: inout MetricsText) {
        let durations = status.commitDurations
        text.family("tidemark_commit_duration_seconds", .histogram, "Time that committed transactions of tasks took")
        text.histogram(DurationHistogram.bounds, durations.counts, count: durations.count)
        text.sample(durations.sum, suffix: "_sum")
        text.sample(durations.count, suffix: "_count")
        text.family("tidemark_commit_aborts_total", .counter, "Transactions that were aborted")
        text.sample(status.aborts)
        text.family(
            "tidemark_session_restarts_total", .counter,
            "Workers and aggregators that started over from what is committed")
        text.sample(status.restarts)
        text.family("tidemark_group_rebalances_total", .counter, "Assignments of partitions that were received")
        text.sample(status.rebalances)
    }

    private func writeTasks(to text: inout MetricsText) {
        let tasks = tasks
        text.family("tidemark_task_assigned", .gauge, "Tasks of this process")
        text.sample(tasks.count)
        text.family("tidemark_task_restoring", .gauge, "Tasks that redo history and are not live yet")
        text.sample(tasks.count { $0.isRestoring })
        text.family("tidemark_task_restore_remaining_records", .gauge, "Offsets that a task has yet to redo")
        for task in tasks { text.sample(task.restoreRemaining, RunMetrics.labels(task)) }
        text.family(
            "tidemark_task_checkpoint_remaining_records", .gauge,
            "Offsets of the checkpoint topic that a task has yet to read")
        for task in tasks { text.sample(task.checkpointRemaining, RunMetrics.labels(task)) }
        text.family("tidemark_state_users", .gauge, "Users in memory")
        for task in tasks { text.sample(task.users, RunMetrics.labels(task)) }
        text.family("tidemark_state_bytes", .gauge, "Memory of the users' states")
        for task in tasks { text.sample(task.stateBytes, RunMetrics.labels(task)) }
    }

    private func writeStandbys(to text: inout MetricsText) {
        let standbys = status.loops.flatMap(\.standbys)
        text.family("tidemark_standby_users", .gauge, "Users in memory of partitions that the process does not have")
        for standby in standbys { text.sample(standby.users, ["partition": "\(standby.partition)"]) }
        text.family("tidemark_standby_bytes", .gauge, "Memory of these users' states")
        for standby in standbys { text.sample(standby.stateBytes, ["partition": "\(standby.partition)"]) }
        text.family(
            "tidemark_standby_lag_records", .gauge, "Offsets of the checkpoint topic that the standby has yet to read")
        for standby in standbys {
            guard let remaining = standby.remaining else { continue }
            text.sample(Int(remaining), ["partition": "\(standby.partition)"])
        }
    }

    private func writeLags(to text: inout MetricsText) {
        let dated = tasks.filter { $0.watermark > 0 }
        text.family("tidemark_watermark_timestamp_seconds", .gauge, "Greatest accepted event time")
        for task in dated { text.sample(Int(task.watermark), RunMetrics.labels(task)) }
        text.family(
            "tidemark_watermark_lag_seconds", .gauge,
            "Wall clock less watermark; below 0 where events are dated ahead")
        for task in dated {
            let lag = now - Double(task.watermark)
            text.sample((lag * 1_000).rounded() / 1_000, RunMetrics.labels(task))
        }
        text.family("tidemark_input_lag_records", .gauge, "Offsets from a reader's place to the last stable offset")
        writeLag(\.stableEnd, to: &text)
        text.family(
            "tidemark_input_end_lag_records", .gauge,
            "Offsets from a reader's place to the end of the log, open transactions included")
        writeLag(\.end, to: &text)
    }

    private func writeLag(_ end: KeyPath<InputStatus, Int64?>, to text: inout MetricsText) {
        for task in tasks where !task.isForwarded {
            for input in task.inputs { writeLag(input, task.partition, end, to: &text) }
        }
        for source in sources { writeLag(source.input, source.partition, end, to: &text) }
    }

    private func writeLag(
        _ input: InputStatus, _ partition: Int32, _ end: KeyPath<InputStatus, Int64?>, to text: inout MetricsText
    ) {
        guard let end = input[keyPath: end] else { return }
        // The place is of now, the end of a moment ago.
        text.sample(max(0, end - input.next), ["topic": input.topic, "partition": "\(partition)"])
    }

    /// Only where events are brought together by user first: what tasks read then is no input, and must not be added to its lag.
    private func writeRepartition(to text: inout MetricsText) {
        let sources = sources.filter { $0.watermark > 0 }
        text.family(
            "tidemark_source_watermark_timestamp_seconds", .gauge,
            "Greatest accepted event time of a source partition")
        for source in sources {
            text.sample(Int(source.watermark), ["topic": source.input.topic, "partition": "\(source.partition)"])
        }
        text.family(
            "tidemark_source_watermark_lowest_seconds", .gauge,
            "Lowest watermark of all source partitions that a task knows; 0 while one has no event")
        for task in tasks where task.isForwarded { text.sample(Int(task.finalMark), RunMetrics.labels(task)) }
        text.family(
            "tidemark_by_user_lag_records", .gauge,
            "Offsets from a task's place to the last stable offset of the events by user")
        for task in tasks where task.isForwarded {
            for input in task.inputs {
                guard let end = input.stableEnd else { continue }
                text.sample(max(0, end - input.next), ["partition": "\(task.partition)"])
            }
        }
    }

    private func writeAggregator(to text: inout MetricsText) {
        let reports = status.loops.flatMap(\.reports).sorted { $0.partition < $1.partition }
        text.family("tidemark_aggregator_lag_records", .gauge, "Offsets of changes that are not added up yet")
        for report in reports {
            guard let end = report.end else { continue }
            text.sample(max(0, end - report.next), ["partition": "\(report.partition)"])
        }
        text.family("tidemark_aggregator_deltas_total", .counter, "Records of changes that were added up and published")
        text.sample(status.deltasPublished)
        text.family(
            "tidemark_aggregator_rows_total", .counter, "Records of rows that were published, tombstones included")
        text.sample(status.rowsPublished)
    }

    private func writeHealth(to text: inout MetricsText) {
        text.family("tidemark_input_held_back", .gauge, "1 while no input is read because memory is short")
        text.sample(status.isHeldBack ? 1 : 0)
        text.family("tidemark_process_live", .gauge, "1 while /livez answers 200")
        text.sample(Health.liveness(status).isGood ? 1 : 0)
        text.family("tidemark_process_ready", .gauge, "1 while /readyz answers 200")
        text.sample(Health.readiness(status).isGood ? 1 : 0)
    }

    private static func labels(_ task: TaskStatus) -> KeyValuePairs<String, String> {
        ["partition": "\(task.partition)"]
    }
}
