internal import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka

/// One thread with one consumer, one transactional producer and its tasks. Shares nothing with other workers.
///
/// A *session* is the life of one consumer and producer. What cannot be repaired inside a session ends it with `Restart`: all state is
/// dropped, and the next session restores from what is committed.
final class Worker {
    /// Bytes of dead letters of one transaction at most.
    private static let commitBytes = 64 << 20
    private let pace: CommitPace

    private let context: RunContext
    private let number: Int
    private let name: String
    private let decoder: EventDecoder

    private var tasks: [Int32: PartitionTask] = [:] {
        didSet { last = nil }
    }
    private var restorer: Restorer?
    /// Whether no partition is fetched, because memory is short.
    private var isHeldBack = false
    private var topics: [TopicHandle: InputTopic] = [:]
    /// Where the last record came from, and whose it was: records of one partition mostly follow each other.
    private var last: (handle: TopicHandle, topic: InputTopic, task: PartitionTask)?
    private var membership: (any GroupMembership)?
    private var failure: (any Error)?
    private var lastCommit: ContinuousClock.Instant
    private let batch = OutboundBatch()
    private var consumer: (any ConsumerClient)?
    private var report: LoopReport

    init(context: RunContext, number: Int) {
        self.context = context
        self.number = number
        report = LoopReport(context: context)
        pace = CommitPace(
            interval: context.configuration.commitInterval,
            byteLimit: min(Worker.commitBytes, context.configuration.limits.memory.map { $0 / 32 } ?? .max))
        lastCommit = context.control.now
        name = "\(context.configuration.applicationID)-\(context.instance)-\(number)"
        decoder = context.makeDecoder()
    }

    /// Works until the process stops.
    func run() throws {
        if number > 0 { waitForFirstMember() }
        try SessionLoop(name: name, context: context).run(runSession)
    }

    /// Lets the first worker of a process join its group alone.
    ///
    /// When all join at once, the group starts over before the first has its partitions, and a client joins once a second at most: nobody
    /// would read anything in that second. Alone, the first reads at once, and gives partitions away when the others come.
    private func waitForFirstMember() {
        let latest = context.control.now + Worker.longestWaitForFirst
        while !context.control.isStopping, !context.control.hasMember, context.control.now < latest {
            context.beat()
            context.control.sleep(.milliseconds(10))
        }
    }

    /// A group that takes longer to answer has other members, or waits for some.
    private static let longestWaitForFirst = Duration.seconds(1)

    private func runSession() throws {
        let publisher = try Publisher(context: context, transactionalID: name)
        let reader = try PartitionReader(context.configuration, control: context.control, clients: context.clients)
        let consumer = try context.consumer(group: context.topics.taskGroup)
        self.consumer = consumer
        defer {
            dropAll()
            self.consumer = nil
            // Closing waits in vain while the group holds back the answer to joining; leaving takes milliseconds.
            consumer.close(timeoutMilliseconds: 2_500)
            publisher.close()
            reader.close()
            self.restorer?.close()
            self.restorer = nil
        }
        for topic in InputTopic.all(context) { topics[try consumer.topicHandle(topic.name)] = topic }
        reader.onProgress = { [context] in context.beat() }
        let restorer = try Restorer(context: context, consumer: consumer, reader: reader, decoder: decoder)
        self.restorer = restorer
        try consumer.subscribe(
            context.topics.taskInputs,
            onAssign: { [unowned self, unowned consumer] in assigned($0, restorer, consumer) },
            onRevoke: { [unowned self, unowned consumer] in revoked($0, isLost: $1, publisher, consumer) })
        lastCommit = context.control.now
        while !context.control.isStopping {
            context.beat()
            try holdBack(consumer, publisher)
            try poll(consumer)
            try lookForSchemas(consumer)
            try restore(restorer, consumer)
            try commitIfDue(publisher)
            giveMemoryBack()
        }
        try commit(publisher)
    }

    // MARK: Consuming

    private func poll(_ consumer: any ConsumerClient) throws {
        let due = lastCommit + context.configuration.commitInterval - context.control.now
        let wait = restorer?.isBusy == true ? 0 : max(0, min(100, due.milliseconds))
        polled = 0
        do {
            polled = try consumer.poll(max: 10_000, timeoutMilliseconds: Int32(wait)) { item in
                switch item {
                case .record(let record):
                    guard let (task, topic) = receiver(record.topicHandle, record.partition) else { return }
                    try task.take(record, topic: topic)
                    try adjustFetching(task, consumer)
                    // Large dead letters add up fast: they must not wait for the end of a poll.
                    if task.pendingBytes >= pace.byteLimit { throw EnoughForNow() }
                case .endOfPartition(let handle, let partition, let offset):
                    guard let task = tasks[partition], let topic = topics[handle] else { return }
                    try task.reachedEnd(of: topic, offset: offset)
                    try adjustFetching(task, consumer)
                case .failure(let error, let topic, let partition):
                    try context.handle(
                        error, reading: topic ?? "the input", partition, loss: RunContext.inputLoss)
                }
            }
        } catch is EnoughForNow {
            // The next commit is due at once.
        }
        for task in tasks.values { task.finishTaking() }
        if let failure {
            self.failure = nil
            throw failure
        }
        reportProgress()
    }

    /// The task of a record, and its topic.
    private func receiver(_ handle: TopicHandle, _ partition: Int32) -> (PartitionTask, InputTopic)? {
        if let last, last.handle == handle, last.task.partition == partition { return (last.task, last.topic) }
        guard let task = tasks[partition], let topic = topics[handle] else { return nil }
        last = (handle, topic, task)
        return (task, topic)
    }

    /// Reads nothing while memory is short, and reads on afterwards.
    private func holdBack(_ consumer: any ConsumerClient, _ publisher: Publisher) throws {
        let isHeldBack = context.control.isHeldBack
        guard isHeldBack != self.isHeldBack else { return }
        self.isHeldBack = isHeldBack
        guard isHeldBack else {
            let paused = Set(tasks.values.flatMap(\.pausedPartitions))
            return try consumer.resume(
                tasks.values.flatMap(\.startOffsets).map(\.topicPartition).filter { !paused.contains($0) })
        }
        try consumer.pause(tasks.values.flatMap(\.startOffsets).map(\.topicPartition))
        // What waits for a commit is memory as well.
        try commit(publisher)
    }

    /// Stops fetching partitions of which too much waits for its turn, and goes on with those that have worked it off.
    private func adjustFetching(_ task: PartitionTask, _ consumer: any ConsumerClient) throws {
        while let change = task.takeFetchChange() {
            if change.isPaused { context.control.update { $0.pauses += 1 } }
            guard change.isPaused || !isHeldBack else { continue }
            try consumer.apply(change)
        }
    }

    /// Goes on with tasks whose schemas have come.
    private func lookForSchemas(_ consumer: any ConsumerClient) throws {
        guard context.registry != nil else { return }
        for task in tasks.values {
            try task.lookForSchema()
            try adjustFetching(task, consumer)
        }
    }

    /// How many items the last poll handed out; 0 where it ended early.
    private var polled = 0

    /// Gives back what a backlog went through, once it is worked off.
    private func giveMemoryBack() {
        guard polled == 0, takenSinceGivenBack >= Worker.backlogRecords else { return }
        takenSinceGivenBack = 0
        FreeMemory.giveBack()
    }

    /// Records committed since memory was given back.
    private var takenSinceGivenBack = 0
    /// How many records leave behind so much memory that it is worth the milliseconds.
    private static let backlogRecords = 1_000_000

    /// Ends a poll after a record that was taken.
    private struct EnoughForNow: Error {}

    private func reportProgress(isUrgent: Bool = false) {
        report.publish(isUrgent: isUrgent) { status in
            status.isJoined = membership != nil
            status.tasks = tasks.values.map { $0.status(consumer) } + (restorer?.statuses ?? [])
        }
        let loading = restorer?.count ?? 0
        let restoring = tasks.values.count { $0.isRestoring } + loading
        let users = tasks.values.reduce(0) { $0 + $1.userCount }
        context.control.update { [usersBefore, tasksBefore, restoringBefore, count = tasks.count + loading] in
            $0.users += users - usersBefore
            $0.tasks += count - tasksBefore
            $0.restoring += restoring - restoringBefore
        }
        (usersBefore, tasksBefore, restoringBefore) = (users, tasks.count + loading, restoring)
    }

    private var usersBefore = 0
    private var tasksBefore = 0
    private var restoringBefore = 0

    // MARK: Committing

    private func commitIfDue(_ publisher: Publisher) throws {
        let isDue = pace.isDue(
            after: lastCommit.duration(to: context.control.now),
            records: tasks.values.reduce(0) { $0 + ($1.isRestoring ? 0 : $1.pendingRecords) },
            bytes: tasks.values.reduce(0) { $0 + $1.pendingBytes }, isIdle: polled == 0, left: recordsLeft)
        if isDue { try commit(publisher) }
    }

    /// How many records are still to be read, by what the brokers said last.
    private func recordsLeft() -> Int {
        tasks.values.flatMap(\.startOffsets).reduce(0) { left, start in
            let end = consumer?.cachedWatermarks(of: start.topicPartition)?.high ?? 0
            return left + Int(max(0, end - start.offset))
        }
    }

    /// Publishes what all tasks have, in one transaction.
    private func commit(_ publisher: Publisher) throws {
        let ready = tasks.values.filter { ($0.isDirty || $0.isBehind) && !$0.isRestoring }
        lastCommit = context.control.now
        guard !ready.isEmpty, let membership else { return }
        batch.removeAll()
        for task in ready { task.prepareCommit(into: batch, taskCount: tasks.count) }
        let deltas = batch.records.count { $0.topic == context.topics.deltas }
        let start = context.control.now
        try publisher.publish(batch, membership: membership)
        let duration = start.duration(to: context.control.now)
        // Records that were brought together by user first have been counted where they came in.
        let records = ready.reduce(0) { $0 + ($1.isForwarded ? 0 : $1.pendingRecords) }
        var counts = VerdictCounts()
        var lateness = LatenessCounts()
        var watermark: UInt32 = 0
        for task in ready {
            counts += task.takeCounts()
            lateness += task.takeLateness()
            watermark = max(watermark, task.watermark)
            task.finishCommit()
        }
        takenSinceGivenBack += records
        context.control.update { [counts, lateness, watermark] in
            $0.records += records
            $0.counts += counts
            $0.lateness += lateness
            $0.commits += 1
            $0.commitDurations.add(duration)
            $0.deltasCommitted += deltas
            $0.watermark = max($0.watermark, watermark)
        }
        lastCommit = context.control.now
    }

    // MARK: Assignment

    private func assigned(
        _ partitions: [TopicPartition], _ restorer: Restorer, _ consumer: any ConsumerClient
    ) -> [PartitionOffset]? {
        do {
            // The membership that these partitions were given under, and no other, may commit for them.
            membership = consumer.membership()
            tasks = [:]
            try requireKnown(partitions)
            try requireAllTopics(partitions, consumer)
            let topics = Dictionary(grouping: partitions, by: \.partition).mapValues { $0.map(\.topic).sorted() }
            context.standby?.note(Set(topics.keys), of: name)
            restorer.begin(topics)
            context.control.noteMember()
            context.control.update { $0.rebalances += 1 }
            reportProgress(isUrgent: true)
        } catch {
            failure = error
            dropAll()
        }
        // Each partition is read from when its task is ready.
        return nil
    }

    /// Goes on with tasks that are not ready yet, and reads from where those are that have become so.
    private func restore(_ restorer: Restorer, _ consumer: any ConsumerClient) throws {
        guard restorer.isBusy else { return }
        let ready = try restorer.step(mayWait: tasks.isEmpty)
        guard !ready.isEmpty else { return }
        for task in ready { tasks[task.partition] = task }
        // What is read is replaced as a whole; a partition that is paused stays so.
        let starts = tasks.values.flatMap(\.startOffsets)
        let paused = isHeldBack ? starts.map(\.topicPartition) : tasks.values.flatMap(\.pausedPartitions)
        if !paused.isEmpty { try consumer.resume(paused) }
        try consumer.assign(starts)
        if !paused.isEmpty { try consumer.pause(paused) }
        reportProgress(isUrgent: true)
    }

    /// Partitions that were added while the process runs: from then on producers send users elsewhere than before.
    private func requireKnown(_ partitions: [TopicPartition]) throws(RunFailure) {
        guard let added = partitions.first(where: { Int($0.partition) >= context.inputPartitions }) else { return }
        throw RunFailure(
            "\(added) is new: \(added.topic) had \(context.inputPartitions) partitions at the start. "
                + PartitionAdvice.forMorePartitions(context.topics))
    }

    /// A task owns its partition of every input topic, or it would miss part of its users' events.
    private func requireAllTopics(_ partitions: [TopicPartition], _ consumer: any ConsumerClient) throws {
        let inputs = context.topics.taskInputs
        for (partition, group) in Dictionary(grouping: partitions, by: \.partition) where group.count < inputs.count {
            for topic in inputs.dropFirst() {
                let counts = try [inputs[0], topic].map {
                    try consumer.partitionCount(of: $0, timeoutMilliseconds: 5_000) ?? 0
                }
                guard counts[0] == counts[1] else {
                    throw RunFailure(Processor.unequal(inputs[0], Int(counts[0]), topic, Int(counts[1])))
                }
            }
            let given = group.map(\.topic).sorted().joined(separator: ", ")
            throw Restart(
                description:
                    "partition \(partition) was given to this process for \(given) only: all processes of an application need the "
                    + "same input.topics")
        }
    }

    private func revoked(
        _ partitions: [TopicPartition], isLost: Bool, _ publisher: Publisher, _ consumer: any ConsumerClient
    ) {
        defer {
            tasks.removeAll()
            restorer?.suspend()
            membership = nil
            reportProgress(isUrgent: true)
        }
        // Whoever gets the partitions next, and be it this consumer, should fetch them.
        let waiting = tasks.values.flatMap { $0.dropWaiting() }
        let paused = isHeldBack ? tasks.values.flatMap(\.startOffsets).map(\.topicPartition) : waiting
        isHeldBack = false
        if !paused.isEmpty { try? consumer.resume(paused) }
        guard !isLost else {
            context.log("\(name) lost its partitions; what was not committed is dropped", level: .warning)
            restorer?.forgetKept()
            return
        }
        do {
            try commit(publisher)
            // A task that still redoes history has committed nothing that could be overtaken, and goes on where it was.
            restorer?.keep(tasks.filter { !$0.value.isDirty && $0.value.commit > 0 })
        } catch {
            failure = failure ?? error
        }
    }

    private func dropAll() {
        context.standby?.note([], of: name)
        tasks.removeAll()
        membership = nil
        reportProgress(isUrgent: true)
    }
}

extension Duration {
    /// Whole milliseconds, for the calls of C libraries.
    var milliseconds: Int { Int(components.seconds) * 1_000 + Int(components.attoseconds / 1_000_000_000_000_000) }
}
