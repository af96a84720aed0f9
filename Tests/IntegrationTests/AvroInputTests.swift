import Foundation
import Testing
import TidemarkEvents
import TidemarkKafka
import TidemarkProcessor
import TidemarkWorkload

extension ProgramTests {
    /// Values in Avro, with everything that may name their schema, beside JSON.
    @Suite struct AvroInputTests {
        private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("avro-\(UUID().uuidString)")

        private func write(_ schema: String, _ name: String) throws -> String {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let url = folder.appendingPathComponent("\(name).avsc")
            try Data(schema.utf8).write(to: url)
            return url.path
        }

        /// The settings that name the schemas of the stream: of bare values one that tells no type, of single objects one per type.
        private func settings(_ events: [SampleEvent], _ application: TestApplication) throws -> [String] {
            let bare = try write(SampleEvent.avroSchema(of: "Event"), "bare")
            let files = try Set(events.map(\.eventType)).sorted().map { type in
                try write(SampleEvent.avroSchema(of: type), type)
            }
            return [
                "input.avro_schemas.\(application.input)=\(bare)",
                "input.avro_schema_files=\(files.joined(separator: ","))",
            ]
        }

        private func events(_ workload: Workload) -> [SampleEvent] {
            var stream = workload.stream()
            var events: [SampleEvent] = []
            while let event = stream.nextSample() { events.append(event) }
            return events
        }

        /// Records of events in all encodings in turns.
        ///
        /// - Parameter perContainer: events in a container file, all of one type and of whichever users.
        private func records(_ events: [SampleEvent], perContainer: Int) throws -> [InputRecord] {
            var prefixes: [String: [UInt8]] = [:]
            for type in Set(events.map(\.eventType)) {
                let fingerprint = try AvroSchema(json: SampleEvent.avroSchema(of: type)).fingerprint
                prefixes[type] = [0xC3, 0x01] + withUnsafeBytes(of: fingerprint.littleEndian) { Array($0) }
            }
            var files: [String: (file: AvroSampleFile, count: Int)] = [:]
            var records: [InputRecord] = []
            for (place, event) in events.enumerated() {
                let key = Array(event.userID.utf8)
                switch place % 4 {
                case 0: records.append(InputRecord(key: key, value: event.json(.flatWithType), type: nil))
                case 1:
                    var value: [UInt8] = []
                    event.appendAvro(to: &value)
                    records.append(InputRecord(key: key, value: value, type: event.eventType))
                case 2:
                    var value = prefixes[event.eventType] ?? []
                    event.appendAvro(to: &value)
                    records.append(InputRecord(key: key, value: value, type: nil))
                default:
                    var (file, count) = files[event.eventType] ?? (AvroSampleFile(eventType: event.eventType), 0)
                    file.append(event)
                    count += 1
                    files[event.eventType] = (file, count)
                    guard count == perContainer else { continue }
                    file.endBlock()
                    records.append(InputRecord(key: key, value: file.bytes, type: nil))
                    files[event.eventType] = nil
                }
            }
            for (_, var rest) in files.sorted(by: { $0.key < $1.key }) {
                rest.file.endBlock()
                records.append(InputRecord(key: nil, value: rest.file.bytes, type: nil))
            }
            return records
        }

        @Test("keyed by user, killed in between: rows and opens equal the truth")
        func keyed() throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            let application = try TestApplication("avro")
            try application.createTopics()
            let workload = Workload.small(users: 200, seed: 71)
            let events = events(workload)
            let settings = try settings(events, application)
            let records = try records(events, perContainer: 1)
            let report = try PublishedReport(application)
            let group = try GroupReader(application)
            let feeder = StreamFeeder(topic: application.input)
            feeder.begin(records, over: 6)
            let first = try application.start(instance: "a", settings)
            try group.awaitProgress(of: first, from: feeder)
            try first.killHard()
            let second = try application.start(instance: "a", settings)
            try feeder.waitForEnd()
            try ExpectedReport(workload).wait(for: report)
            #expect(report.deadLetters.records.isEmpty)
            let ending = try second.stop()
            #expect(ending.status == 0 && !ending.log.contains("user_id"), "\(ending.log)")
        }

        @Test("brought together by user first, also out of container files of many: rows and opens equal the truth")
        func repartitioned() throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            // A file is full when its type has had enough events: those of rare types are of days ago by then.
            let application = try TestApplication(
                "avro-by-user", settings: "input.repartition: true\nattribution.allowed_lateness: unlimited")
            try application.createTopics()
            let workload = Workload.small(users: 200, seed: 72)
            let events = events(workload)
            var records = try records(events, perContainer: 5)
            for place in records.indices { records[place].partition = Int32(place % 4) }
            let report = try PublishedReport(application)
            let process = try application.start(instance: "a", try settings(events, application))
            try StreamFeeder(topic: application.input).feed(records)
            try ExpectedReport(workload).wait(for: report)
            #expect(report.deadLetters.records.isEmpty)
            let ending = try process.stop()
            #expect(ending.status == 0, "\(ending.log)")
        }

        @Test("what no schema can be found for is a dead letter, and so is one event of a container file alone")
        func deadLetters() throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            let application = try TestApplication("avro-dead", partitions: 1)
            try application.createTopics()
            let workload = Workload.small(users: 5, seed: 73)
            var event = try #require(events(workload).first { $0.eventType == EventType.sessionStart.wireName })
            var file = AvroSampleFile(eventType: event.eventType)
            var alone = AvroSampleFile(eventType: event.eventType)
            file.append(event)
            event.id = ""
            file.append(event)
            alone.append(event)
            file.endBlock()
            alone.endBlock()
            let key = Array(event.userID.utf8)
            let unknown: [UInt8] = [0xC3, 0x01, 1, 2, 3, 4, 5, 6, 7, 8, 0]
            let report = try PublishedReport(application)
            let process = try application.start(instance: "a")
            try StreamFeeder(topic: application.input).feed([
                InputRecord(key: key, value: file.bytes, type: nil), InputRecord(key: key, value: unknown, type: nil),
            ])
            try eventually(within: 20, process.log) {
                try report.deadLetters.update()
                return report.deadLetters.records.count == 2
            }
            let letters = report.deadLetters.records
            #expect(letters.map { $0.header("tidemark.error.code") } == ["missing_field", "unknown_schema"])
            #expect(letters[0].header("tidemark.error.index") == "1")
            #expect(letters.map(\.value) == [alone.bytes, unknown])
            #expect(try process.stop().status == 0)
        }
    }
}
