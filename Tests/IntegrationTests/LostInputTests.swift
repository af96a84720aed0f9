import Foundation
import Testing
import TidemarkKafka
import TidemarkWorkload

extension ProgramTests {
    /// Input that is gone before it was read: never a jump, always a word.
    @Suite struct LostInputTests {
        private let admin: KafkaAdmin

        init() throws {
            admin = try KafkaAdmin(properties: ["bootstrap.servers": Environment.servers ?? ""])
        }

        /// Removes all that the input has, as retention does.
        private func expire(_ application: TestApplication) throws {
            try admin.deleteRecords(
                before: (0..<Int32(application.partitions)).map {
                    PartitionOffset(topic: application.input, partition: $0, offset: PartitionOffset.end)
                })
        }

        private func isUsed(
            _ application: TestApplication, _ records: some Sequence<InputRecord>, _ settings: [String] = []
        ) throws
            -> TidemarkProcess
        {
            let group = try GroupReader(application)
            let process = try application.start(instance: "a", settings)
            try StreamFeeder(topic: application.input).feed(records)
            try eventually(within: 30, process.log) { try group.committed() == group.end() }
            return process
        }

        @Test(
            "retention passes what comes next while the process is down: refused, with advice, and nothing is committed"
        )
        func whileDown() throws {
            let application = try TestApplication("expired")
            try application.createTopics()
            let records = Workload.small(users: 50, seed: 51).records()
            let process = try isUsed(application, records.prefix(200))
            #expect(try process.stop().status == 0)
            let group = try GroupReader(application)
            let committed = try group.committed()
            try StreamFeeder(topic: application.input).feed(records.dropFirst(200))
            try expire(application)
            let ending = try application.startRefused()
            #expect(ending.status == 1)
            #expect(ending.log.contains("retention has removed events that are still needed"), "\(ending.log)")
            #expect(ending.log.contains("Raise the topic's retention"), "\(ending.log)")
            #expect(try group.committed() == committed)
        }

        @Test(
            "retention passes what comes next while the process is frozen: it ends with advice and commits nothing more"
        )
        func whileFrozen() throws {
            let application = try TestApplication("expiring", sessionTimeout: 20_000)
            try application.createTopics()
            let records = Workload.small(users: 50, seed: 52).records()
            let process = try isUsed(application, records.prefix(200))
            let group = try GroupReader(application)
            let committed = try group.committed()
            process.freeze()
            // The fetch that the process had sent is answered within half a second; what it brought would not be lost.
            Thread.sleep(forTimeInterval: 1.5)
            try StreamFeeder(topic: application.input).feed(records.dropFirst(200))
            try expire(application)
            // Behind what is gone, so that something is there to jump to.
            try StreamFeeder(topic: application.input).feed(records.prefix(100))
            process.thaw()
            let ending = try process.waitForEnd(within: 40)
            #expect(ending.status == 1)
            #expect(ending.log.contains("no longer has the offset that comes next"), "\(ending.log)")
            #expect(try group.committed() == committed)
        }

        @Test("the input topic is deleted while it is read: the process ends and says what to do")
        func deleted() throws {
            let application = try TestApplication("deleted")
            try application.createTopics()
            // The client waits for a while for a topic to come back, 30 s as a rule.
            let process = try isUsed(
                application, Workload.small(users: 20, seed: 53).records(),
                ["kafka.topic.metadata.refresh.interval.ms=1000", "kafka.topic.metadata.propagation.max.ms=1000"])
            let results = try admin.deleteTopics([application.input])
            try #require(results.allSatisfy { $0.error == nil })
            let ending = try process.waitForEnd(within: 60)
            #expect(ending.status == 1)
            #expect(ending.log.contains("cannot read \(application.input)"), "\(ending.log)")
            #expect(ending.log.contains("The topic was deleted."), "\(ending.log)")
        }
    }
}
