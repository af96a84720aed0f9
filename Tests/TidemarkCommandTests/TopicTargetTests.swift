import Testing
import TidemarkConfiguration
import TidemarkWorkload

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

    @Test("What the configuration says wins, except where correctness depends on it; at a rate batches wait for less")
    func properties() {
        var configuration = Configuration()
        configuration.kafka = ["batch.size": "1000", "partitioner": "random", "enable.idempotence": "false"]
        let fast = TopicTarget.properties(configuration, isPaced: false)
        #expect(fast["batch.size"] == "1000")
        #expect(fast["partitioner"] == "murmur2_random")
        #expect(fast["enable.idempotence"] == "true")
        #expect(fast["linger.ms"] == "50")
        #expect(TopicTarget.properties(configuration, isPaced: true)["linger.ms"] == "5")
    }
}
