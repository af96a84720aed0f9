import TidemarkKafka

@testable import TidemarkWorkload

/// A transactional producer of the simulated cluster. Records wait in it until it sends them, some before the commit, the rest with it.
final class SimulatedProducer: TransactionClient {
    private struct Outgoing {
        var log: LogPartition
        var key: [UInt8]?
        var value: [UInt8]?
        var headers: [KafkaHeader]
    }

    private enum Stage {
        case new
        case ready
        case open
        /// The transaction has to be aborted.
        case failed(KafkaError)
        /// Nothing can be done any more.
        case fatal(KafkaError)
    }

    private let id: String
    private let timeout: Duration
    private let process: SimulatedProcess
    private let cluster: SimulatedCluster
    private var stage = Stage.new
    private var epoch = 0
    private var queue: [Outgoing] = []
    /// The transaction as far as the coordinator knows of it.
    private var transaction: SimulatedTransaction?
    private var isClosed = false
    private var scheduler: Scheduler { cluster.scheduler }
    private var faults: Faults { cluster.faults }

    init(_ properties: [String: String], process: SimulatedProcess, cluster: SimulatedCluster) {
        id = properties["transactional.id"] ?? ""
        timeout = .milliseconds(properties["transaction.timeout.ms"].flatMap { Int($0) } ?? 60_000)
        self.process = process
        self.cluster = cluster
    }

    // MARK: Steps and errors

    private func step(_ what: StaticString) throws(KafkaError) {
        if !isClosed { scheduler.step(what) }
        try requireUsable()
    }

    private func requireUsable() throws(KafkaError) {
        if isClosed || process.isCrashed { throw .gone }
        if case .fatal(let error) = stage { throw error }
    }

    private func requireOpen() throws(KafkaError) {
        switch stage {
        case .open: return
        case .failed(let error), .fatal(let error): throw error
        case .new, .ready: throw KafkaError(code: .state)
        }
    }

    /// Waits until a broker answers.
    private func awaitBroker(_ deadline: Duration) throws(KafkaError) {
        if faults.happens(\.slowAnswer) {
            scheduler.wait("answer", until: cluster.now + faults.pause(upTo: .seconds(2)))
        }
        while !cluster.isAvailable, cluster.now < deadline, !process.isCrashed {
            scheduler.wait("broker", until: min(deadline, cluster.unavailableUntil))
        }
        try requireUsable()
        if !cluster.isAvailable { throw SimulatedProducer.timedOut }
    }

    /// Transaction calls that were not answered may be made again.
    private static var timedOut: KafkaError { KafkaError(code: .timedOut, isRetriable: true) }

    private func failed(_ code: KafkaError.Code) -> KafkaError {
        let error = KafkaError(code: code, requiresAbort: true)
        stage = .failed(error)
        return error
    }

    private func fenced() -> KafkaError {
        scheduler.trace.tell("\(id) is fenced", counted: "fenced producers", cluster.now)
        return fatal(.fenced)
    }

    private func fatal(_ code: KafkaError.Code) -> KafkaError {
        let error = KafkaError(code: code, isFatal: true)
        stage = .fatal(error)
        return error
    }

    /// Calls the coordinator, waiting for the end of the transaction before.
    private func ask<Answer>(_ deadline: Duration, _ question: () throws -> Answer) throws(KafkaError) -> Answer {
        while true {
            try awaitBroker(deadline)
            do {
                return try question()
            } catch is TransactionCoordinator.Concurrent {
                guard cluster.now < deadline else { throw SimulatedProducer.timedOut }
                scheduler.wait("markers", until: deadline) { [self] in cluster.transactions.isIdle(id) }
                try requireUsable()
            } catch {
                throw fenced()
            }
        }
    }

    private func deadline(_ timeout: Int32) -> Duration { cluster.now + .milliseconds(Int(timeout)) }

    // MARK: Transactions

    func initTransactions(timeoutMilliseconds: Int32) throws(KafkaError) {
        try step("init")
        epoch = try ask(deadline(timeoutMilliseconds)) {
            guard let epoch = cluster.transactions.takeOver(id, timeout: timeout) else {
                throw TransactionCoordinator.Concurrent()
            }
            return epoch
        }
        stage = .ready
        try step("initialised")
    }

    func begin() throws(KafkaError) {
        try step("begin")
        guard case .ready = stage else { throw KafkaError(code: .state) }
        stage = .open
        transaction = nil
    }

    func sendOffsets(
        _ offsets: [PartitionOffset], membership: any GroupMembership, timeoutMilliseconds: Int32
    ) throws(KafkaError) {
        try step("offsets")
        try requireOpen()
        guard let membership = membership as? GroupMember.Membership, !offsets.isEmpty else {
            throw KafkaError(code: .invalidArgument)
        }
        let deadline = deadline(timeoutMilliseconds)
        try deliver(scheduler.random.below(queue.count + 1), deadline)
        if faults.happens(\.refusedOffsets) { throw failed(.coordinatorLoadInProgress) }
        let transaction = try begun(deadline)
        if !transaction.groups.contains(where: { $0 === membership.group }) {
            transaction.groups.append(membership.group)
        }
        try step("offsets to group")
        try awaitBroker(deadline)
        if let code = membership.group.refusal(of: membership.id, generation: membership.generation) {
            scheduler.trace.tell("\(id) is refused: \(code)", counted: "refused memberships", cluster.now)
            throw failed(code)
        }
        if membership.id.isEmpty {
            scheduler.trace.tell("\(id) names no member", counted: "unnamed members", cluster.now)
        }
        // What was decided meanwhile takes nothing more.
        guard transaction.isCommit == nil else { throw fenced() }
        membership.group.add(offsets, of: transaction.number)
        try step("offsets sent")
        if faults.happens(\.lostAnswer) { throw failed(.timedOut) }
    }

    /// The transaction at the coordinator, begun there if need be.
    private func begun(_ deadline: Duration) throws(KafkaError) -> SimulatedTransaction {
        let begun = try ask(deadline) { try cluster.transactions.transaction(id, epoch: epoch) }
        // The one before was aborted by its timeout, and that bumps the epoch; so this cannot be another one.
        transaction = begun
        return begun
    }

    func commit(timeoutMilliseconds: Int32) throws(KafkaError) {
        try step("commit")
        try requireOpen()
        let deadline = deadline(timeoutMilliseconds)
        try deliver(queue.count, deadline)
        try step("delivered")
        if faults.happens(\.refusedCommit) { throw failed(.coordinatorLoadInProgress) }
        try end(isCommit: true, deadline)
    }

    func abort(timeoutMilliseconds: Int32) throws(KafkaError) {
        try step("abort")
        switch stage {
        case .new, .ready: throw KafkaError(code: .state)
        case .fatal(let error): throw error
        case .open, .failed: break
        }
        queue = []
        try end(isCommit: false, deadline(timeoutMilliseconds))
    }

    /// Asks the coordinator to end the transaction. The request, the answer, or both may be lost or late.
    private func end(isCommit: Bool, _ deadline: Duration) throws(KafkaError) {
        if transaction != nil {
            if faults.happens(\.lostEnd) { throw unknown(isCommit) }
            if faults.happens(\.lateEnd) {
                cluster.later(faults.pause(upTo: .seconds(8))) { [cluster, id, epoch] in
                    try? cluster.transactions.end(id, epoch: epoch, isCommit: isCommit)
                }
                throw unknown(isCommit)
            }
            try ask(deadline) { try cluster.transactions.end(id, epoch: epoch, isCommit: isCommit) }
            try step("ended")
            if faults.happens(\.lostEndAnswer) { throw unknown(isCommit) }
        }
        stage = .ready
        if isCommit { scheduler.current.hasInHand = false }
    }

    private func unknown(_ isCommit: Bool) -> KafkaError {
        scheduler.trace.tell("\(id): no answer to its \(isCommit ? "commit" : "abort")", cluster.now)
        return SimulatedProducer.timedOut
    }

    // MARK: Records

    func topic(_ name: String) throws(KafkaError) -> TopicHandle {
        guard let handle = cluster.handle(name) else { throw KafkaError(code: .unknownTopic) }
        return handle
    }

    func produce(
        topic: TopicHandle, partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        headers: [KafkaHeader]
    ) throws(KafkaError) {
        try requireUsable()
        guard case .open = stage else { throw KafkaError(code: .state) }
        let logs = cluster.partitions(topic)
        let number = partition >= 0 ? Int(partition) : scheduler.random.below(logs.count)
        guard logs.indices.contains(number) else { throw KafkaError(code: .unknownPartition) }
        queue.append(
            Outgoing(log: logs[number], key: key.map { Array($0) }, value: value.map { Array($0) }, headers: headers))
        if faults.happens(\.fullQueue) { throw KafkaError(code: .queueFull) }
        if faults.happens(\.earlyDelivery) {
            try step("produce")
            try deliver(scheduler.random.below(queue.count + 1), cluster.now + .seconds(5))
        }
    }

    /// Sends the first records that wait.
    private func deliver(_ count: Int, _ deadline: Duration) throws(KafkaError) {
        for _ in 0..<count {
            if faults.happens(\.refusedRecord) { throw failed(.messageTimedOut) }
            if faults.happens(\.fatalDelivery) { throw fatal(.outOfOrderSequenceNumber) }
            try deliver(queue.removeFirst(), deadline)
        }
    }

    private func deliver(_ record: Outgoing, _ deadline: Duration) throws(KafkaError) {
        // The leader of a partition hears of the end of a transaction by its marker: until then it takes records of it.
        if let transaction, transaction.isCommit != nil, record.log.isOpen(transaction.number) {
            append(record, transaction)
        } else {
            let transaction = try begun(deadline)
            if !transaction.partitions.contains(where: { $0 === record.log }) {
                transaction.partitions.append(record.log)
            }
            append(record, transaction)
        }
        if faults.happens(\.interruptedPoll) { try step("delivery") }
    }

    private func append(_ record: Outgoing, _ transaction: SimulatedTransaction) {
        record.log.append(
            key: record.key, value: record.value, headers: record.headers, timestamp: cluster.timestamp,
            transaction: transaction.number)
        cluster.noteWrite()
    }

    func close() { isClosed = true }
}
