import Testing
import TidemarkProcessor

@testable import TidemarkServer

@Suite("Metrics")
struct MetricsTests {
    private func text(_ status: RunStatus) -> String {
        let process = ProcessFigures(cpuSeconds: 1.5, residentBytes: 4_096, startSeconds: 1_700_000_000.25)
        return RunMetrics(status, now: 1_700_000_012.3456)
            .text(build: BuildFigures(version: "1.2.3", librdkafka: "2.0.2"), process: process)
    }

    @Test func theWholeText() {
        let lines = text(.sample).split(separator: "\n").filter { !$0.hasPrefix("# HELP") }
        #expect(lines.joined(separator: "\n") == MetricsTests.expected)
    }

    @Test("every family has help and a type, counters and only counters end in _total")
    func conventions() {
        let lines = text(.sample).split(separator: "\n").map(String.init)
        var families: Set<String> = []
        for (place, line) in lines.enumerated() where line.hasPrefix("# TYPE ") {
            let words = line.split(separator: " ").map(String.init)
            #expect(families.insert(words[2]).inserted, "\(words[2]) comes twice")
            #expect(words[2].hasPrefix("tidemark_"))
            #expect(words[2].hasSuffix("_total") == (words[3] == "counter"), "\(line)")
            #expect(lines[place - 1].hasPrefix("# HELP \(words[2]) ") && !lines[place - 1].hasSuffix("."))
        }
    }

    @Test func aProcessThatHasDoneNothingHasAllCounters() {
        let text = text(RunStatus())
        for line in [
            "tidemark_input_records_total 0", "tidemark_dead_letter_records_total{code=\"late\"} 0",
            "tidemark_commit_duration_seconds_count 0", "tidemark_commit_duration_seconds_sum 0",
            "tidemark_task_assigned 0", "tidemark_process_ready 0", "tidemark_process_live 1",
        ] {
            #expect(text.contains("\n\(line)\n"), "\(line)")
        }
    }

    @Test(
        "events that are brought together by user have the lag of their sources, and what tasks read of them is no input"
    )
    func sources() {
        var status = RunStatus()
        var worker = LoopStatus.worker
        for place in worker.tasks.indices { worker.tasks[place].isForwarded = true }
        worker.tasks[0].finalMark = 1_600_000_000
        status.loops = [worker, .repartitioner]
        let lines = text(status).split(separator: "\n").filter {
            $0.hasPrefix("tidemark_") && $0.contains("partition=") && !$0.contains("_state_")
                && !$0.contains("_task_")
        }
        #expect(
            lines.joined(separator: "\n") == """
                tidemark_watermark_timestamp_seconds{partition="10"} 1700000000
                tidemark_watermark_lag_seconds{partition="10"} 12.346
                tidemark_input_lag_records{topic="a",partition="2"} 4
                tidemark_input_lag_records{topic="b",partition="0"} 0
                tidemark_input_end_lag_records{topic="a",partition="2"} 6
                tidemark_input_end_lag_records{topic="a",partition="10"} 1
                tidemark_source_watermark_timestamp_seconds{topic="a",partition="2"} 1700000007
                tidemark_source_watermark_lowest_seconds{partition="2"} 0
                tidemark_source_watermark_lowest_seconds{partition="10"} 1600000000
                tidemark_by_user_lag_records{partition="10"} 5
                """)
    }

    @Test func labelsAndHelpAreEscaped() {
        var text = MetricsText()
        text.family("a", .gauge, "back\\slash and\nline, \"quotes\" stay")
        text.sample(1.25, ["x": "a\\b\"c\nd"])
        text.sample(Double.infinity)
        text.sample(-Double.infinity)
        text.sample(Double.nan)
        #expect(
            text.text == """
                # HELP a back\\\\slash and\\nline, "quotes" stay
                # TYPE a gauge
                a{x="a\\\\b\\"c\\nd"} 1.25
                a +Inf
                a -Inf
                a NaN

                """)
    }

    @Test func figuresOfTheProcessAreReadBehindItsName() {
        let stat =
            "42 (odd) name (x) S 1 42 42 0 -1 4194304 100 0 0 0 150 50 0 0 20 0 4 0 1000 123456789 250 18446744073709551615 1"
        #expect(
            ProcessFigures(stat: stat, bootSeconds: 1_000, ticks: 100, pageSize: 4_096)
                == ProcessFigures(cpuSeconds: 2, residentBytes: 1_024_000, startSeconds: 1_010))
        #expect(ProcessFigures(stat: "42 (x) S 1", bootSeconds: 0, ticks: 100, pageSize: 4_096) == nil)
        #expect((ProcessFigures.current()?.residentBytes ?? 0) > 1 << 20)
    }

    private static let expected = """
        # TYPE tidemark_input_records_total counter
        tidemark_input_records_total 1234
        # TYPE tidemark_input_events_total counter
        tidemark_input_events_total{verdict="counted"} 1000
        tidemark_input_events_total{verdict="duplicate"} 100
        tidemark_input_events_total{verdict="skipped"} 30
        # TYPE tidemark_input_pauses_total counter
        tidemark_input_pauses_total 9
        # TYPE tidemark_schema_waiting_partitions gauge
        tidemark_schema_waiting_partitions 0
        # TYPE tidemark_schema_registry_outage gauge
        tidemark_schema_registry_outage 0
        # TYPE tidemark_input_lateness_seconds histogram
        tidemark_input_lateness_seconds_bucket{le="0"} 2
        tidemark_input_lateness_seconds_bucket{le="10"} 3
        tidemark_input_lateness_seconds_bucket{le="60"} 4
        tidemark_input_lateness_seconds_bucket{le="600"} 4
        tidemark_input_lateness_seconds_bucket{le="3600"} 4
        tidemark_input_lateness_seconds_bucket{le="21600"} 4
        tidemark_input_lateness_seconds_bucket{le="86400"} 5
        tidemark_input_lateness_seconds_bucket{le="+Inf"} 6
        tidemark_input_lateness_seconds_sum 172922
        tidemark_input_lateness_seconds_count 6
        # TYPE tidemark_dead_letter_records_total counter
        tidemark_dead_letter_records_total{code="malformed"} 1
        tidemark_dead_letter_records_total{code="missing_field"} 0
        tidemark_dead_letter_records_total{code="bad_type"} 0
        tidemark_dead_letter_records_total{code="unknown_schema"} 0
        tidemark_dead_letter_records_total{code="too_large"} 0
        tidemark_dead_letter_records_total{code="future_dated"} 0
        tidemark_dead_letter_records_total{code="late"} 3
        # TYPE tidemark_commit_duration_seconds histogram
        tidemark_commit_duration_seconds_bucket{le="0.005"} 1
        tidemark_commit_duration_seconds_bucket{le="0.01"} 1
        tidemark_commit_duration_seconds_bucket{le="0.025"} 1
        tidemark_commit_duration_seconds_bucket{le="0.05"} 3
        tidemark_commit_duration_seconds_bucket{le="0.1"} 3
        tidemark_commit_duration_seconds_bucket{le="0.25"} 3
        tidemark_commit_duration_seconds_bucket{le="0.5"} 3
        tidemark_commit_duration_seconds_bucket{le="1"} 4
        tidemark_commit_duration_seconds_bucket{le="2.5"} 4
        tidemark_commit_duration_seconds_bucket{le="5"} 4
        tidemark_commit_duration_seconds_bucket{le="10"} 4
        tidemark_commit_duration_seconds_bucket{le="30"} 4
        tidemark_commit_duration_seconds_bucket{le="+Inf"} 5
        tidemark_commit_duration_seconds_sum 45.764
        tidemark_commit_duration_seconds_count 5
        # TYPE tidemark_commit_aborts_total counter
        tidemark_commit_aborts_total 2
        # TYPE tidemark_session_restarts_total counter
        tidemark_session_restarts_total 1
        # TYPE tidemark_group_rebalances_total counter
        tidemark_group_rebalances_total 6
        # TYPE tidemark_task_assigned gauge
        tidemark_task_assigned 2
        # TYPE tidemark_task_restoring gauge
        tidemark_task_restoring 0
        # TYPE tidemark_task_restore_remaining_records gauge
        tidemark_task_restore_remaining_records{partition="2"} 0
        tidemark_task_restore_remaining_records{partition="10"} 0
        # TYPE tidemark_task_checkpoint_remaining_records gauge
        tidemark_task_checkpoint_remaining_records{partition="2"} 12
        tidemark_task_checkpoint_remaining_records{partition="10"} 0
        # TYPE tidemark_state_users gauge
        tidemark_state_users{partition="2"} 0
        tidemark_state_users{partition="10"} 5
        # TYPE tidemark_state_bytes gauge
        tidemark_state_bytes{partition="2"} 0
        tidemark_state_bytes{partition="10"} 640
        # TYPE tidemark_standby_users gauge
        tidemark_standby_users{partition="3"} 8
        tidemark_standby_users{partition="4"} 0
        # TYPE tidemark_standby_bytes gauge
        tidemark_standby_bytes{partition="3"} 800
        tidemark_standby_bytes{partition="4"} 0
        # TYPE tidemark_standby_lag_records gauge
        tidemark_standby_lag_records{partition="3"} 2
        # TYPE tidemark_watermark_timestamp_seconds gauge
        tidemark_watermark_timestamp_seconds{partition="10"} 1700000000
        # TYPE tidemark_watermark_lag_seconds gauge
        tidemark_watermark_lag_seconds{partition="10"} 12.346
        # TYPE tidemark_input_lag_records gauge
        tidemark_input_lag_records{topic="in",partition="10"} 5
        # TYPE tidemark_input_end_lag_records gauge
        tidemark_input_end_lag_records{topic="in",partition="10"} 10
        # TYPE tidemark_source_watermark_timestamp_seconds gauge
        # TYPE tidemark_source_watermark_lowest_seconds gauge
        # TYPE tidemark_by_user_lag_records gauge
        # TYPE tidemark_aggregator_lag_records gauge
        tidemark_aggregator_lag_records{partition="0"} 4
        # TYPE tidemark_aggregator_deltas_total counter
        tidemark_aggregator_deltas_total 17
        # TYPE tidemark_aggregator_rows_total counter
        tidemark_aggregator_rows_total 40
        # TYPE tidemark_input_held_back gauge
        tidemark_input_held_back 1
        # TYPE tidemark_process_live gauge
        tidemark_process_live 1
        # TYPE tidemark_process_ready gauge
        tidemark_process_ready 1
        # TYPE tidemark_build_info gauge
        tidemark_build_info{version="1.2.3",librdkafka="2.0.2"} 1
        # TYPE tidemark_process_cpu_seconds_total counter
        tidemark_process_cpu_seconds_total 1.5
        # TYPE tidemark_process_resident_memory_bytes gauge
        tidemark_process_resident_memory_bytes 4096
        # TYPE tidemark_process_start_time_seconds gauge
        tidemark_process_start_time_seconds 1700000000.25
        """
}
