import Foundation
import Testing
import TidemarkKafka

@testable import tidemark

@Suite("replay and load on topics")
struct TopicCommandTests {
    private let folder: Folder
    private let cluster: EmbeddedCluster

    init() throws {
        folder = try Folder()
        cluster = try EmbeddedCluster(brokers: 1)
        try cluster.createTopic("events", partitions: 3)
    }

    private func runOnCluster(_ words: String...) -> Outcome {
        run(words: words + ["-q", "--set", "kafka.bootstrap.servers=\(cluster.bootstrapServers)"])
    }

    @Test(
        "A stream in a topic gives the rows that are due, whatever its records look like", arguments: ["flat", "bare"])
    func roundTrip(shape: String) throws {
        let truth = try folder.path("truth.ndjson")
        let loaded = runOnCluster(
            "load", "--to", "topic", "--topic", "events", "--users", "120", "--seed", "5", "--shape", shape, "--truth",
            truth)
        #expect(loaded.code == ExitCode.done, "\(loaded.notes)")
        let replayed = runOnCluster("replay", "--topic", "events", "--format", "ndjson")
        #expect(replayed.code == ExitCode.done, "\(replayed.notes)")
        #expect(replayed.output == (try folder.read("truth.ndjson")))
        #expect(!replayed.output.isEmpty)
        #expect(replayed.notes.first?.contains(" of events, 3 partitions (") == true, "\(replayed.notes)")
    }

    @Test("The first topic of the configuration is where a stream goes")
    func configuredTopic() throws {
        let loaded = runOnCluster("load", "--to", "topic", "--users", "3", "--set", "input.topics=events")
        #expect(loaded.code == ExitCode.done, "\(loaded.notes)")
        #expect(runOnCluster("replay", "--topic", "events").notes.last?.hasSuffix(", 3 users") == true)
    }

    @Test("Records that cannot be counted are named by partition and offset; a tombstone is skipped")
    func refusals() throws {
        let producer = try Producer(properties: ["bootstrap.servers": cluster.bootstrapServers])
        for value in ["nonsense", nil] {
            let bytes = value.map { Array($0.utf8) }
            let send = { (value: UnsafeRawBufferPointer?) in
                try producer.produce(topic: "events", partition: 2, key: nil, value: value)
            }
            if let bytes { try bytes.withUnsafeBytes { try send($0) } } else { try send(nil) }
        }
        try producer.flush(timeoutMilliseconds: 10_000)
        let replayed = runOnCluster("replay", "--topic", "events")
        #expect(replayed.code == ExitCode.done)
        #expect(replayed.output == "No rows.\n")
        #expect(replayed.notes[1] == "0 counted, 0 duplicates, 1 skipped, 1 refused, 0 users")
        #expect(replayed.notes[3].hasPrefix("  events[2] offset 0: malformed: "), "\(replayed.notes)")
    }

    /// The embedded cluster makes every topic that it is asked about.
    private static let servers = ProcessInfo.processInfo.environment["TIDEMARK_KAFKA"]

    @Test(
        "A topic that does not exist is named",
        .enabled(if: TopicCommandTests.servers != nil, "TIDEMARK_KAFKA names no brokers"))
    func unknownTopic() throws {
        let servers = try #require(Self.servers)
        let onBroker = ["-q", "--set", "kafka.bootstrap.servers=\(servers)"]
        let replayed = run(words: ["replay", "--topic", "nothing-here"] + onBroker)
        #expect(replayed.code == ExitCode.failed)
        #expect(replayed.notes == ["tidemark: there is no topic nothing-here on \(servers)"])
        let loaded = run(words: ["load", "--to", "topic", "--topic", "nothing-here"] + onBroker)
        #expect(loaded.code == ExitCode.failed)
        #expect(loaded.notes.first?.hasPrefix("tidemark: there is no topic nothing-here on \(servers); ") == true)
        let shown = run(words: ["report", "show", "--set", "output.reports=nothing-here"] + onBroker)
        #expect(shown.code == ExitCode.failed)
        #expect(shown.notes.first?.hasPrefix("tidemark: topic nothing-here does not exist") == true)
    }
}
