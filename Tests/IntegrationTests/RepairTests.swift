import Foundation
import Testing
import TidemarkKafka
import TidemarkWorkload

extension ProgramTests {
    /// Dead letters that a person repairs: exported, mended and imported.
    @Suite struct RepairTests {
        private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "repair-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

        private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

        private func output(_ ending: TidemarkProcess.Ending) -> String {
            String(decoding: ending.output, as: UTF8.self) + ending.log
        }

        /// Breaks a record as producers do.
        private func breaking(_ record: InputRecord, _ number: Int) throws -> InputRecord {
            var broken = record
            let text = String(decoding: try #require(record.value), as: UTF8.self)
            broken.value =
                switch number % 4 {
                case 0: Array(text.replacingOccurrences(of: "\"user_id\":", with: "\"userid\":").utf8)
                case 1: Array(text.dropLast().utf8)
                case 2: Array(text.replacingOccurrences(of: "\"time\":", with: "\"time\":[],\"tim\":").utf8)
                default: [0xFF, 0xFE] + Array(text.utf8)
                }
            return broken
        }

        /// Undoes `breaking`, on the lines of an export.
        private func mend(_ file: String, to target: String) throws {
            let lines = try String(contentsOfFile: path(file), encoding: .utf8).split(separator: "\n")
            var mended = ""
            for line in lines {
                var object = try #require(
                    JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
                var value: [UInt8]
                if let base64 = object.removeValue(forKey: "value_base64") as? String {
                    value = try Array(#require(Data(base64Encoded: base64)))
                } else if let text = object["value"] as? String {
                    value = Array(text.utf8)
                } else {
                    let json = try #require(object["value"] as? [String: Any])
                    value = Array(try JSONSerialization.data(withJSONObject: json))
                }
                if value.starts(with: [0xFF, 0xFE]) { value.removeFirst(2) }
                if value.last != UInt8(ascii: "}") { value.append(UInt8(ascii: "}")) }
                let text = String(decoding: value, as: UTF8.self)
                    .replacingOccurrences(of: "\"userid\":", with: "\"user_id\":")
                    .replacingOccurrences(of: "\"time\":[]", with: "\"x\":0")
                    .replacingOccurrences(of: "\"tim\":", with: "\"time\":")
                object["value"] = text
                mended += String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self) + "\n"
            }
            try Data(mended.utf8).write(to: URL(fileURLWithPath: path(target)))
        }

        @Test("after the repair of some hundred records the report is that of a stream that was right from the start")
        func repaired() throws {
            let application = try TestApplication(
                "repair", partitions: 2, settings: "attribution.allowed_lateness: unlimited")
            try application.createTopics()
            let workload = Workload.small(users: 150, seed: 43)
            var records = workload.records()
            // A record of a type that is skipped is none to repair.
            let counted = [
                "users.messages.pushnotification.Send", "users.messages.pushnotification.Open",
                "users.behaviors.app.SessionStart",
            ]
            let places = records.indices.filter { place in
                let text = String(decoding: records[place].value ?? [], as: UTF8.self)
                return counted.contains { text.contains("\"event_type\":\"\($0)\"") }
            }
            for (number, place) in stride(from: 0, to: places.count, by: places.count / 120).enumerated() {
                records[places[place]] = try breaking(records[places[place]], number)
            }
            try StreamFeeder(topic: application.input).feed(records)
            let report = try PublishedReport(application)
            let expected = try ExpectedReport(workload)
            let process = try application.start(instance: "a")
            let group = try GroupReader(application)
            try eventually(within: 60, process.log) { try group.committed() == group.end() && group.end() > 0 }
            try report.update()
            let codes = report.deadLetters.records.count
            try #require(codes >= 80)

            let exported = try application.command(["dlq", "export", "-o", path("broken")])
            #expect(exported.status == 0 && exported.log.contains("\(codes) dead letters"), "\(exported.log)")
            // As they are, none is sent, and each is named.
            let refused = try application.command(["dlq", "import", path("broken")])
            #expect(refused.status == 1)
            #expect(output(refused).contains("line 1: it would be refused again as "), "\(output(refused).prefix(400))")
            #expect(refused.log.contains("nothing was sent: \(codes) lines cannot be used"))

            try mend("broken", to: "mended")
            // Killed once something was sent, and run again.
            let reader = try TopicReader(application.input)
            let first = try TidemarkProcess(
                ["dlq", "import", path("mended"), "--rate", "5", "-c", application.configurationFile.path])
            try eventually(within: 30, first.log) {
                try reader.update()
                return reader.records.contains { $0.header("tidemark.redriven") != nil }
            }
            try first.killHard()
            let second = try application.command(["dlq", "import", path("mended")])
            #expect(second.status == 0, "\(output(second))")
            let third = try application.command(["dlq", "import", path("mended")])
            #expect(third.log.contains("0 fed, \(codes) fed before, 0 refused"), "\(third.log)")
            try reader.update()
            #expect(reader.records.count { $0.header("tidemark.redriven") != nil } == codes)

            try expected.wait(for: report)
            #expect(try process.stop().status == 0)
            #expect(report.deadLetters.records.count == codes)
            let left = try application.command(["dlq", "export"])
            #expect(left.output.isEmpty && left.log.contains("\(codes) fed before left out"), "\(left.log)")
        }

        @Test(
            "shown with the place of the error; a key that is not the user's is refused; forced ones come back as dead letters"
        )
        func shownAndForced() throws {
            let application = try TestApplication("shown", partitions: 1)
            try application.createTopics()
            let bad =
                #"{"event_type":"users.behaviors.app.SessionStart","id":"e","user_id":7,"time":1767225600,"session_id":"s"}"#
            try StreamFeeder(topic: application.input).feed([
                InputRecord(key: Array("u-7".utf8), value: Array(bad.utf8), type: "x")
            ])
            let report = try PublishedReport(application)
            let process = try application.start(instance: "a")
            try eventually(within: 40, process.log) {
                try report.update()
                return !report.deadLetters.records.isEmpty
            }
            let shown = output(try application.command(["dlq", "show", "--id", "\(application.input)/0/0"]))
            let lines = shown.split(separator: "\n", omittingEmptySubsequences: false)
            let marker = try #require(lines.firstIndex { $0.hasSuffix("^") }, "\(shown)")
            let column = lines[marker].utf8.count - 1
            #expect(lines[marker - 1].utf8.dropFirst(column).first == UInt8(ascii: "7"), "\(shown)")
            #expect(shown.contains("message     user_id must be a string, found an integer"), "\(shown)")
            #expect(shown.contains("header      event_type: x"), "\(shown)")

            _ = try application.command(["dlq", "export", "-o", path("one")])
            let line = try String(contentsOfFile: path("one"), encoding: .utf8)
            #expect(line.contains("\"value\":\(bad)"), "\(line)")
            let other = line.replacingOccurrences(of: "\"user_id\":7", with: "\"user_id\":\"u-8\"")
            try Data(other.utf8).write(to: URL(fileURLWithPath: path("other")))
            let refused = output(try application.command(["dlq", "import", path("other")]))
            #expect(refused.contains("its key is not its user_id"), "\(refused)")
            #expect(refused.contains("give it the key \"u-8\""), "\(refused)")

            let forced = try application.command(["dlq", "import", path("one"), "--force"])
            #expect(forced.status == 0, "\(output(forced))")
            try eventually(within: 30, process.log) {
                try report.update()
                return report.deadLetters.records.count == 2
            }
            #expect(
                report.deadLetters.records[1].header("tidemark.redriven")?.hasPrefix("\(application.input)/0/0@")
                    == true)
            #expect(try process.stop().status == 0)
        }
    }
}
