import Foundation
import Synchronization
import Testing
import TidemarkKafka
import TidemarkProcessor
import TidemarkTestKit

extension ProgramTests {
    /// Posts and files: what was answered or noted is in Kafka, once where that was promised, whatever happens to the process.
    @Suite struct IngestTests {
        private let token = "integration-test-token"

        /// An event of the connector's shape.
        private func event(_ number: Int) -> String {
            "{\"event_type\":\"users.behaviors.app.SessionStart\",\"id\":\"e-\(number)\",\"time\":\(1_767_225_600 + number),"
                + "\"user\":{\"user_id\":\"u-\(number % 97)\"},\"properties\":{\"app_id\":\"a-1\",\"session_id\":\"s-\(number)\","
                + "\"filler\":\"\(String(repeating: "x", count: 300))\"}}"
        }

        private func post(_ numbers: Range<Int>, on connection: HTTPConnection) -> Int? {
            let body = "{\"events\":[\(numbers.map(event).joined(separator: ","))]}"
            connection.send(
                "POST /currents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            return connection.receive()?.status
        }

        /// Starts the endpoint of an application, and waits for its port.
        private func startEndpoint(_ application: TestApplication) throws -> (process: TidemarkProcess, port: UInt16) {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(application.id).tokens")
            try Data("\(token)\n".utf8).write(to: file)
            let process = try TidemarkProcess([
                "ingest", "http", "-c", application.configurationFile.path, "--set", "ingest.http.listen=127.0.0.1:0",
                "--set", "ingest.http.tokens=file:\(file.path)", "--set", "server.listen=127.0.0.1:0",
            ])
            var port: UInt16?
            try eventually(within: 30, "no port in the log: \(process.log)") {
                guard process.isRunning else { throw TestFailure("the process has ended: \(process.log)") }
                let rest = process.log.range(of: "posts to http://127.0.0.1:").map { process.log[$0.upperBound...] }
                port = rest.flatMap { $0.contains("/") ? UInt16($0.prefix { $0.isNumber }) : nil }
                return port != nil
            }
            return (process, port ?? 0)
        }

        @Test("an event whose post was answered with 200 is in the topic, though the endpoint is killed")
        func acknowledgedPostsSurviveAKill() throws {
            let application = try TestApplication("posts")
            try application.createTopics()
            let first = try startEndpoint(application)
            let answered = Answered()
            let port = first.port
            let group = DispatchGroup()
            for sender in 0..<4 {
                group.enter()
                Thread.detachNewThread { [self] in
                    defer { group.leave() }
                    guard let connection = try? HTTPConnection(port) else { return }
                    for number in 0..<10_000 {
                        let start = (sender * 10_000 + number) * 20
                        guard post(start..<start + 20, on: connection) == 200 else { return }
                        answered.add(start..<start + 20)
                    }
                }
            }
            try eventually(within: 30, "few answers: \(first.process.log)") {
                answered.all.count > 400
            }
            try first.process.killHard()
            group.wait()

            let second = try startEndpoint(application)
            let connection = try HTTPConnection(second.port)
            #expect(post(1_000_000..<1_000_010, on: connection) == 200)
            let scrape = try Scrape.read(try second.process.metricsAddress())
            #expect(scrape["tidemark_ingest_events_total"] == 10)
            #expect(scrape["tidemark_ingest_answers_total{status=\"200\"}"] == 1)
            let ending = try second.process.stop()
            #expect(ending.status == 0, "\(ending.log)")

            let reader = try TopicReader(application.input)
            try reader.update()
            let found = Set(reader.records.map { String(decoding: $0.value ?? [], as: UTF8.self) })
            let promised = answered.all + [1_000_000..<1_000_010]
            for number in promised.joined() { #expect(found.contains(event(number)), "event \(number)") }
            for record in reader.records {
                let key = try #require(record.key)
                let partition = key.withUnsafeBytes { Murmur2.partition(of: $0, count: application.partitions) }
                #expect(record.partition == partition)
                #expect(record.header("event_type") == "users.behaviors.app.SessionStart")
            }
        }

        /// Writes files with 150,000 events in all, some of them compressed; returns them.
        private func writeFiles(to folder: URL) throws -> Set<String> {
            var all: Set<String> = []
            for file in 0..<30 {
                let events = (0..<5_000).map { event(file * 5_000 + $0) }
                all.formUnion(events)
                let path = folder.appendingPathComponent(
                    "event_type=users.behaviors.app.SessionStart/date=2026-01-05-\(file)/1/z+0+\(file).json")
                try FileManager.default.createDirectory(
                    at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(events.joined(separator: "\n").utf8).write(to: path)
            }
            return all
        }

        private func makeFolder() throws -> URL {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("it-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return folder
        }

        @Test("each event of files once, though the process is killed again and again")
        func filesSurviveKills() throws {
            let folder = try makeFolder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let events = try writeFiles(to: folder)
            try Data("{\"event_type\":\"users.canvas.Entry\",\"id\":".utf8).write(
                to: folder.appendingPathComponent("cut.json"))
            let application = try TestApplication("files")
            try application.createTopics()
            let arguments = ["ingest", "files", folder.path, "-c", application.configurationFile.path]

            // Records that no transaction has committed are there, too: each kill comes with some of them on their way.
            let consumer = try KafkaConsumer(properties: [
                "bootstrap.servers": Environment.servers ?? "", "group.id": "it-ends",
            ])
            defer { consumer.close() }
            let places = (0..<Int32(application.partitions)).map {
                TopicPartition(topic: application.input, partition: $0)
            }
            func sent() throws -> Int64 {
                try consumer.watermarks(of: places, timeoutMilliseconds: 10_000).values.reduce(0) { $0 + $1.high }
            }
            var kills = 0
            for goal in [Int64(1), 40_000, 90_000] {
                let process = try TidemarkProcess(arguments)
                try eventually(within: 60, "not \(goal) records: \(process.log)") {
                    try !process.isRunning || sent() >= goal
                }
                if process.isRunning { kills += 1 }
                try process.killHard()
            }
            #expect(kills > 0)
            let last = try TidemarkProcess(arguments).waitForEnd(within: 120)
            #expect(last.status == 1, "one file is damaged: \(last.log)")
            #expect(
                last.log.contains("cut.json ends in the middle of the record at byte 0 of its content"), "\(last.log)")

            let reader = try TopicReader(application.input)
            try reader.update()
            let values = reader.records.map { String(decoding: $0.value ?? [], as: UTF8.self) }
            #expect(values.count == events.count)
            #expect(Set(values) == events)
            let again = try TidemarkProcess(arguments).waitForEnd(within: 60)
            #expect(again.log.contains("30 files known already"), "\(again.log)")
            try reader.update()
            #expect(reader.records.count == events.count)
        }

        @Test("a landing folder is followed: renamed files, growing ones, damaged ones that are mended")
        func aFolderIsFollowed() throws {
            let folder = try makeFolder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let application = try TestApplication("follow", settings: "ingest.files.settle: 300ms")
            try application.createTopics()
            let process = try TidemarkProcess(
                ["ingest", "files", folder.path, "--follow", "-c", application.configurationFile.path])
            let reader = try TopicReader(application.input)
            func expect(_ numbers: Range<Int>, _ what: String) throws {
                try eventually(within: 30, "\(what): \(process.log)") {
                    guard process.isRunning else { throw TestFailure("the process has ended: \(process.log)") }
                    try reader.update()
                    return reader.records.count >= numbers.count
                }
                let values = reader.records.map { String(decoding: $0.value ?? [], as: UTF8.self) }
                #expect(values.count == numbers.count, "\(what)")
                #expect(Set(values) == Set(numbers.map(event)), "\(what)")
            }
            func text(_ numbers: Range<Int>) -> Data { Data((numbers.map(event).joined(separator: "\n") + "\n").utf8) }

            let temporary = folder.appendingPathComponent("a.json.tmp")
            try text(0..<10).write(to: temporary)
            try FileManager.default.moveItem(at: temporary, to: folder.appendingPathComponent("a.json"))
            try expect(0..<10, "a renamed file")
            let growing = folder.appendingPathComponent("b.json")
            try text(10..<20).write(to: growing)
            try expect(0..<20, "a file")
            let handle = try FileHandle(forWritingTo: growing)
            try handle.seekToEnd()
            try handle.write(contentsOf: text(20..<25))
            try handle.close()
            try expect(0..<25, "what was added to it")
            let damaged = folder.appendingPathComponent("c.json")
            try text(25..<35).dropLast(30).write(to: damaged)
            try expect(0..<34, "what of a damaged file is good")
            try text(25..<35).write(to: damaged)
            try expect(0..<35, "the rest of it, once it is mended")
            let ending = try process.stop()
            #expect(ending.status == 0, "\(ending.log)")
        }

        @Test func aDryRunSendsNothing() throws {
            let folder = try makeFolder()
            defer { try? FileManager.default.removeItem(at: folder) }
            try Data((event(1) + "\n{\"id\":1}\n").utf8).write(to: folder.appendingPathComponent("a.json"))
            let application = try TestApplication("dry")
            try application.createTopics()
            let arguments = ["ingest", "files", folder.path, "-c", application.configurationFile.path]
            let rehearsal = try TidemarkProcess(arguments + ["--dry-run"]).waitForEnd(within: 60)
            #expect(rehearsal.status == 0, "\(rehearsal.log)")
            #expect(rehearsal.log.contains("1 file would be brought in"), "\(rehearsal.log)")
            #expect(rehearsal.log.contains("1 event, 1 dead letter"), "\(rehearsal.log)")
            let reader = try TopicReader(application.input)
            try reader.update()
            #expect(reader.records.isEmpty)
            let ending = try TidemarkProcess(arguments).waitForEnd(within: 60)
            #expect(ending.status == 0, "\(ending.log)")
            try reader.update()
            #expect(reader.records.map { String(decoding: $0.value ?? [], as: UTF8.self) } == [event(1)])
            let letters = try TopicReader(application.topics.deadLetters)
            try letters.update()
            #expect(letters.records.map { $0.header("tidemark.error.source") } == ["a.json@\(event(1).utf8.count + 1)"])
            #expect(letters.records.map { $0.header("tidemark.error.stage") } == ["ingest"])
        }
    }
}

/// The posts that were answered with 200.
private final class Answered: Sendable {
    private let ranges = Mutex<[Range<Int>]>([])

    var all: [Range<Int>] { ranges.withLock { $0 } }

    func add(_ range: Range<Int>) { ranges.withLock { $0.append(range) } }
}
