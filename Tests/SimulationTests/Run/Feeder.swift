import TidemarkConfiguration
import TidemarkKafka

@testable import TidemarkWorkload

/// Producers of the input: some plain, some with transactions, of which some are aborted and sent again.
final class Feeder {
    /// Where a record of the input is.
    struct Place: Hashable {
        var topic: String
        var partition: Int32
        var offset: Int64
    }

    private struct Sent {
        var log: LogPartition
        var record: PlannedRecord
        var place: Place
    }

    private final class Producer {
        let isTransactional: Bool
        var transaction: Int?
        var sent: [Sent] = []

        init(isTransactional: Bool) { self.isTransactional = isTransactional }
    }

    /// All committed records.
    private(set) var placed: [Place: PlannedRecord] = [:]
    private let cluster: SimulatedCluster
    private let topics: [String]
    private let producers: [Producer]
    private var left = 0

    init(_ scenario: Scenario, cluster: SimulatedCluster) {
        self.cluster = cluster
        topics = scenario.configuration.input.topics
        let random = { cluster.scheduler.random.chance(0.4) }
        producers = (0..<3).map { _ in Producer(isTransactional: random()) }
        let records = PlannedRecord.all(scenario, &cluster.scheduler.random)
        left = records.count
        for record in records {
            // In their order: what is due at the same time happens in the order in which it was asked for.
            let share = Double(records.count - left) / Double(records.count)
            left -= 1
            cluster.later(scenario.duration * share) { [self] in feed(record) }
        }
        left = records.count
        cluster.later(scenario.duration) { [self] in for producer in producers { end(producer) } }
    }

    /// Whether all records are there.
    var isDone: Bool { left == 0 }

    private func feed(_ record: PlannedRecord) {
        let producer = cluster.scheduler.random.pick(producers)
        let logs = cluster.partitions(cluster.scheduler.random.pick(topics))
        let log = logs[Int(record.partition)]
        guard producer.isTransactional else { return note([send(record, to: log, transaction: nil)]) }
        let transaction = producer.transaction ?? cluster.transactions.nextNumber()
        producer.transaction = transaction
        producer.sent.append(send(record, to: log, transaction: transaction))
        if cluster.scheduler.random.chance(0.3) { end(producer) }
    }

    private func send(_ record: PlannedRecord, to log: LogPartition, transaction: Int?) -> Sent {
        cluster.noteWrite()
        let offset = log.append(
            key: record.key, value: record.value, timestamp: cluster.timestamp, transaction: transaction)
        let place = Place(topic: log.place.topic, partition: log.place.partition, offset: offset)
        return Sent(log: log, record: record, place: place)
    }

    /// Ends a producer's transaction after a while; one that is aborted is sent again.
    private func end(_ producer: Producer) {
        guard let transaction = producer.transaction else { return }
        let sent = producer.sent
        producer.transaction = nil
        producer.sent = []
        let delay = cluster.faults.pause(upTo: cluster.scheduler.random.pick([.milliseconds(50), .seconds(4)]))
        let isCommit = cluster.scheduler.random.chance(0.7)
        cluster.later(delay) { [self] in
            mark(sent, transaction, isCommit: isCommit)
            if isCommit { return note(sent) }
            let second = cluster.transactions.nextNumber()
            let again = sent.map { send($0.record, to: $0.log, transaction: second) }
            mark(again, second, isCommit: true)
            note(again)
        }
    }

    private func note(_ sent: [Sent]) {
        for sent in sent { placed[sent.place] = sent.record }
        left -= sent.count
    }

    private func mark(_ sent: [Sent], _ transaction: Int, isCommit: Bool) {
        var marked: [LogPartition] = []
        for log in sent.map(\.log) where !marked.contains(where: { $0 === log }) {
            marked.append(log)
            log.mark(transaction, isCommit: isCommit, timestamp: cluster.timestamp)
        }
        cluster.noteWrite()
    }
}
