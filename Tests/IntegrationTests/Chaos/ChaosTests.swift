import Foundation
import Testing
import TidemarkKafka
import TidemarkWorkload

/// What a chaos run is given by `Tests/chaos/run`.
struct ChaosSettings {
    /// The folder of the cluster, and the script that kills and resumes its nodes.
    let cluster: String
    let script: String
    /// Where the logs of all processes go.
    let logs: URL
    let minutes: Double
    let seed: UInt64
    /// Whether users are spread over partitions, and brought together first.
    let isScattered: Bool

    /// From the environment; `nil` where no chaos was asked for.
    static let current: ChaosSettings? = {
        let environment = ProcessInfo.processInfo.environment
        guard let cluster = environment["TIDEMARK_CHAOS_CLUSTER"], let script = environment["TIDEMARK_CHAOS_SCRIPT"],
            let logs = environment["TIDEMARK_CHAOS_LOGS"]
        else { return nil }
        return ChaosSettings(
            cluster: cluster, script: script, logs: URL(fileURLWithPath: logs),
            minutes: environment["TIDEMARK_CHAOS_MINUTES"].flatMap(Double.init) ?? 2,
            seed: environment["TIDEMARK_CHAOS_SEED"].flatMap(UInt64.init) ?? .random(in: 1...999_999),
            isScattered: environment["TIDEMARK_CHAOS_SCATTERED"] == "1")
    }()
}

extension ProgramTests {
    /// Everything fails at random, at the same time.
    @Suite(.enabled(if: ChaosSettings.current != nil, "`make chaos` runs it"))
    struct ChaosTests {
        private static let recordsPerSecond = 400.0
        private static let largest = 8 << 20

        @Test(
            "processes and brokers killed, frozen and stopped at random: reports, opens, dead letters equal the truth")
        func chaos() throws {
            let settings = try #require(ChaosSettings.current)
            let application = try TestApplication(
                "chaos", settings: "input.repartition: \(settings.isScattered)", replicas: 3)
            try createInput(of: application)
            try application.createTopics()

            let input = ChaosInput(settings, largest: ChaosTests.largest, rate: ChaosTests.recordsPerSecond)
            let expected = try ExpectedReport(input.workload)
            let run = try ChaosRun(settings, application)
            run.note(
                "seed \(settings.seed), \(settings.minutes) minutes, \(input.records.count) records, "
                    + "\(input.poison.count) of them poison, librdkafka \(KafkaLibrary.version)")
            // Ends all processes and keeps their logs, whatever happens.
            defer { run.end() }
            // An outage must not fail a record, or the truth would not be known. An idempotent producer cannot go on after some of them (its
            // sequence numbers and the brokers' no longer agree); another one may send records twice, which changes nothing.
            let feeder = StreamFeeder(
                topic: application.input,
                properties: ["message.timeout.ms": "300000", "enable.idempotence": "false", "acks": "all"])
            let seconds = settings.minutes * 60
            feeder.begin(input.records, over: seconds)
            try run.rage(for: seconds)
            try run.settle()
            try feeder.waitForEnd()

            let verdict = try ChaosVerdict(application, expected, input.poison)
            try verdict.wait(within: 120 + seconds / 2)
            run.end()
            try verdict.judge()
            let deviations = verdict.deviations + run.surprises
            try run.report(deviations: deviations)
            for deviation in deviations.prefix(20) { Issue.record("seed \(settings.seed): \(deviation)") }
            #expect(deviations.count == 0)
        }

        private func createInput(of application: TestApplication) throws {
            let admin = try KafkaAdmin(properties: ["bootstrap.servers": Environment.servers ?? ""])
            let input = KafkaAdmin.NewTopic(
                name: application.input, partitions: application.partitions, replicationFactor: 3,
                config: [
                    "max.message.bytes": "\(ChaosTests.largest)", "message.timestamp.type": "LogAppendTime",
                    "retention.ms": "-1",
                ])
            let results = try admin.createTopics([input])
            try #require(results.allSatisfy { $0.error == nil }, "\(results)")
        }
    }
}

/// The stream of a chaos run: a workload, and poison of every kind once a minute between its records.
struct ChaosInput {
    let workload: Workload
    private(set) var records: [InputRecord]
    private(set) var poison: [Poison] = []

    init(_ settings: ChaosSettings, largest: Int, rate: Double) {
        let days = max(5, Int(settings.minutes))
        // A user has some 25 records a week.
        let users = rate * settings.minutes * 60 / (25.0 / 7 * Double(days))
        workload = .small(users: max(50, Int(users)), days: days, seed: settings.seed)
        records = workload.records()
        var random = SplitMix64(seed: settings.seed)
        var places: [(place: Int, poison: Poison)] = []
        for round in 1...max(1, Int(settings.minutes)) {
            for kind in Poison.all(largest: largest) {
                // Late ones need a watermark far ahead.
                let first = kind.code == "late" ? records.count * 2 / 3 : 0
                places.append((Int.random(in: first...records.count, using: &random), kind.numbered(round)))
            }
        }
        places.sort { $0.place < $1.place }
        poison = places.map(\.poison)
        var mixed: [InputRecord] = []
        mixed.reserveCapacity(records.count + places.count)
        var next = places.startIndex
        for place in 0...records.count {
            while next < places.endIndex, places[next].place == place {
                mixed.append(places[next].poison.record)
                next += 1
            }
            if place < records.count { mixed.append(records[place]) }
        }
        records = mixed
        guard settings.isScattered else { return }
        for place in records.indices { records[place].partition = Int32(place % 4) }
    }
}
