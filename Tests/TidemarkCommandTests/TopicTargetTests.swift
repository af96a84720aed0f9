import Testing
import TidemarkConfiguration
import TidemarkWorkload

@testable import TidemarkKafka
@testable import tidemark

@Suite("Sending into a topic")
struct TopicTargetTests {
    private func pieces(_ count: Int) throws -> [WorkloadPiece] {
        let pieces = WorkloadPieces(Workload(WorkloadOptions(users: 50)), threadCount: 1)
        return try (0..<count).map { _ in try #require(pieces.next()) }
    }

    @Test("A piece comes back once all its records are delivered, and its token is used again")
    func delivery() throws {
        let pieces = try pieces(3)
        let underWay = PiecesUnderWay()
        var back: [WorkloadPiece] = []
        underWay.giveBack = { back.append($0) }
        let first = underWay.token(of: pieces[0])
        #expect(underWay.token(of: pieces[0]) == first)
        let second = underWay.token(of: pieces[1])
        #expect(first != second)
        for _ in 1..<pieces[0].count { underWay.delivered(first) }
        #expect(back.isEmpty)
        #expect(underWay.count == 2)
        underWay.delivered(first)
        #expect(back.count == 1 && back[0] === pieces[0])
        let third = underWay.token(of: pieces[2])
        #expect(third == first)
        for _ in 0..<pieces[1].count { underWay.delivered(second) }
        #expect(back.count == 2 && back[1] === pieces[1])
        #expect(underWay.count == 1)
        for _ in 0..<pieces[2].count { underWay.delivered(third) }
        #expect(back.count == 3 && back[2] === pieces[2])
        #expect(underWay.count == 0)
    }

    @Test("A partition gets one record until that has arrived, then any number")
    func firstRecords() {
        var first = FirstRecords(partitions: 3)
        let before = [1, 2, 1, 2].map { first.admit($0) }
        #expect(before == [true, true, false, false])
        #expect(!first.areKnown)
        first.arrived()
        let after = [1, 1, 2, 0, 0, 1].map { first.admit($0) }
        #expect(after == [true, true, true, true, false, true])
        #expect(!first.areKnown)
        first.arrived()
        #expect(first.areKnown)
    }

    @Test("A partition that refuses the first request loses nothing, though many are under way")
    func refusedFirstRequest() throws {
        let cluster = try EmbeddedCluster()
        try cluster.createTopic("events", partitions: 2)
        try cluster.answer(afterMilliseconds: 100)
        cluster.refuseNextProduce()
        let servers = ["--set", "kafka.bootstrap.servers=\(cluster.bootstrapServers)"]
        let small = ["--set", "kafka.batch.size=20000", "--set", "kafka.linger.ms=0"]
        let stream = ["load", "-q", "--to", "topic", "--topic", "events", "--users", "40"]
        let loaded = run(words: stream + servers + small)
        #expect(loaded.code == ExitCode.done, "\(loaded.notes)")
        try cluster.answer(afterMilliseconds: 0)
        let replayed = run(words: ["replay", "-q", "--topic", "events"] + servers)
        let records = loaded.notes.first?.prefix { $0 != " " } ?? "?"
        #expect(replayed.notes.first?.hasPrefix("\(records) events of events, ") == true, "\(replayed.notes)")
    }

    @Test("What the configuration says wins, except where correctness depends on it; at a rate batches wait for less")
    func properties() {
        var configuration = Configuration()
        configuration.kafka = ["batch.size": "1000", "partitioner": "random", "enable.idempotence": "false"]
        let fast = TopicTarget.properties(configuration, isPaced: false)
        #expect(fast["batch.size"] == "1000")
        #expect(fast["partitioner"] == "murmur2_random")
        #expect(fast["enable.idempotence"] == "true")
        #expect(fast["linger.ms"] == "50")
        #expect(fast["max.in.flight"] == "5")
        #expect(TopicTarget.properties(configuration, isPaced: true)["linger.ms"] == "5")
        configuration.kafka = ["max.in.flight.requests.per.connection": "2"]
        #expect(TopicTarget.properties(configuration, isPaced: false)["max.in.flight"] == nil)
    }
}
