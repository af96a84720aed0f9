import TidemarkProcessor
import Testing

@testable import TidemarkServer

@Suite("Health")
struct HealthTests {
    @Test func aProcessInOrderIsLiveAndReady() {
        #expect(Health.liveness(.sample).answer == HTTPAnswer(status: 200, body: "live\n"))
        #expect(Health.readiness(.sample).answer == HTTPAnswer(status: 200, body: "ready\n"))
    }

    @Test func whatDoesNotMoveIsNamed() {
        var status = RunStatus.sample
        status.loops[1].overdueSeconds = 12.2
        #expect(
            Health.liveness(status).answer
                == HTTPAnswer(status: 503, body: "aggregator does not move: overdue for 13 s\n"))
        status.loops[0].overdueSeconds = 0.5
        #expect(
            Health.liveness(status).lines == [
                "worker-0 does not move: overdue for 1 s", "aggregator does not move: overdue for 13 s",
            ])
    }

    @Test func whoStartsOrStopsIsLiveButNotReady() {
        for (phase, word) in [(RunStatus.Phase.starting, "starting\n"), (.stopping, "stopping\n")] {
            var status = RunStatus.sample
            status.phase = phase
            status.loops[0].overdueSeconds = 100
            #expect(Health.liveness(status).answer == HTTPAnswer(status: 200, body: word))
            #expect(Health.readiness(status).answer == HTTPAnswer(status: 503, body: word))
        }
    }

    @Test func restoringTasksAndMissingAssignmentsAreNotReady() {
        var status = RunStatus.sample
        status.loops[0].tasks[0].isRestoring = true
        status.loops[0].tasks[0].restoreRemaining = 55
        status.loops[0].tasks[1].isRestoring = true
        status.loops[0].tasks[1].checkpointRemaining = 7
        status.loops[1].isJoined = false
        #expect(Health.liveness(status).isGood)
        #expect(
            Health.readiness(status)
                == Health(
                    isGood: false,
                    lines: [
                        "partition 2 is restoring: 7 offsets of its checkpoint left",
                        "partition 10 is restoring: 55 records left", "aggregator has no assignment of its group yet",
                    ]))
    }

    @Test func partitionsThatWaitForASchemaAreNotReadyAndCounted() {
        var status = RunStatus.sample
        status.loops[0].tasks[0].schemaWait = "waiting for schema 7 from http://r since 3 s"
        status.loops.append(.repartitioner)
        status.loops[3].sources[0].schemaWait = "waiting for schema 8 from http://r since 4 s: down"
        status.registryOutage = "down"
        #expect(Health.liveness(status).isGood)
        #expect(
            Health.readiness(status).lines.filter { $0.contains("schema") } == [
                "partition 10 is waiting for schema 7 from http://r since 3 s",
                "b[0] is waiting for schema 8 from http://r since 4 s: down",
            ])
        let text = RunMetrics(status, now: 0).text(build: BuildFigures(version: "1", librdkafka: "2"), process: nil)
        #expect(text.contains("\ntidemark_schema_waiting_partitions 2\n"))
        #expect(text.contains("\ntidemark_schema_registry_outage 1\n"))
    }

    @Test func aWorkerWithoutPartitionsIsReady() {
        var status = RunStatus.sample
        status.loops[0].tasks = []
        #expect(Health.readiness(status).isGood)
    }
}
