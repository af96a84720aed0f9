import Foundation
import Testing
import TidemarkAttribution
import TidemarkReports
import TidemarkTestKit

@testable import TidemarkProcessor

@Suite("Published rows, read back")
struct PublishedRowTests {
    @Test("Random rows of every kind and channel come back byte for byte", arguments: 1...40)
    func roundTrip(seed: Int) throws {
        let source = PublishedReport()
        source.fill(seed: UInt64(seed))
        let target = PublishedReport()
        for row in source.store.keys.indices {
            let record = source.record(row, revision: Int64(row + 1), asOf: 1_767_571_200)
            let read = try Array(record.utf8).withUnsafeBytes { try PublishedRow.read($0, into: target.store) }
            #expect(read.revision == row + 1)
            #expect(read.asOf == 1_767_571_200)
            target.take(read)
            #expect(target.record(read.row, revision: read.revision, asOf: read.asOf) == record, "seed \(seed)")
            let key = try Array(source.key(row).utf8).withUnsafeBytes {
                try PublishedRow.readKey($0, vocabulary: target.store.vocabulary)
            }
            #expect(target.store.knownRow(key) == read.row, "seed \(seed)")
        }
    }

    @Test("Rows in Avro come back as the same rows, and plainly decoded are what JSON says", arguments: 1...40)
    func avroRoundTrip(seed: Int) throws {
        let source = PublishedReport()
        source.fill(seed: UInt64(seed))
        let target = PublishedReport()
        let schema = try PlainAvro(schema: OutputSchema.reportRow)
        for row in source.store.keys.indices {
            let record = source.record(row, revision: Int64(row + 1), asOf: 1_767_571_200)
            let avro = source.avro(row, revision: Int64(row + 1), asOf: 1_767_571_200, schemaID: 0x0102_0304)
            #expect(Array(avro.prefix(5)) == [0, 1, 2, 3, 4])
            #expect(
                try schema.json(avro.dropFirst(5)) == PlainAvro.object(record).withoutNulls, "seed \(seed): \(record)")
            let read = try avro.withUnsafeBytes { try PublishedRow.read($0, into: target.store) }
            target.take(read)
            #expect(target.record(read.row, revision: read.revision, asOf: read.asOf) == record, "seed \(seed)")
        }
    }

    @Test("Avro that is cut or goes on is no row, and never a crash")
    func malformedAvro() throws {
        let source = PublishedReport()
        source.fill(seed: 1)
        let avro = source.avro(0, revision: 1, asOf: 2, schemaID: 3)
        let report = PublishedReport()
        for bytes in [avro + [0]] + avro.indices.dropFirst().map({ Array(avro[..<$0]) }) {
            #expect(throws: PublishedRow.Malformed("not Avro of the schema of report rows")) {
                try bytes.withUnsafeBytes { try PublishedRow.read($0, into: report.store) }
            }
        }
        for place in 5..<avro.count {
            for byte: UInt8 in [0, 1, 3, 0x7F, 0x80, 0xFF] {
                var damaged = avro
                damaged[place] = byte
                _ = try? damaged.withUnsafeBytes { try PublishedRow.read($0, into: report.store) }
            }
        }
    }

    @Test("The schemas in the program are those of the files", arguments: ["report-row", "open"])
    func embeddedSchemas(name: String) throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../schemas/avro/\(name).avsc")
        let text = try String(contentsOf: file, encoding: .utf8)
        let embedded = name == "open" ? OutputSchema.open : OutputSchema.reportRow
        #expect(embedded + "\n" == text, "scripts/embed-schemas writes them")
    }

    @Test("The order of metrics is that of the schema")
    func metricsOfTheSchema() throws {
        let schema = try PlainAvro.object(OutputSchema.reportRow)
        let fields = try #require(schema["fields"] as? [[String: Any]])
        let metrics = try #require(fields.first { $0["name"] as? String == "metrics" }?["type"] as? [String: Any])
        let names = try #require(metrics["fields"] as? [[String: Any]]).map { $0["name"] as? String }
        #expect(names == AvroMetrics.names)
    }

    @Test("A newer version replaces all of an older one; unknown metrics are ignored")
    func replacement() throws {
        let report = PublishedReport()
        let head = """
            {"row":"campaign_total","channel":"push","campaign_id":"c-1","campaign_name":null,"day":null,"metrics":
            """
        let first = try report.read(head + #"{"sends":3,"bounces":1,"button_clicks":{"Yes":2}},"revision":1}"#)
        let second = try report.read(head + #"{"sends":4,"deliveries":9,"hologram_views":7},"revision":2}"#)
        #expect(first.row == second.row)
        #expect(report.store.value(second.row, .counter(0)) == 4)
        #expect(report.store.value(second.row, .difference(0, 1)) == 4)
        #expect(report.store.buttonClicks(second.row).isEmpty)
        #expect(second.names[Int(NamedID.campaign.rawValue)] == 0)
    }

    @Test(
        "A malformed record says what is wrong",
        arguments: [
            ("nonsense", "not a JSON object"),
            ("[1]", "not a JSON object"),
            ("{}", "`row` is missing"),
            (#"{"row":"week"}"#, "`row` has the unknown value week"),
            (#"{"row":"campaign_day","channel":"push"}"#, "`day` does not fit a row of kind campaign_day"),
            (#"{"row":"campaign_day","channel":"push","day":"2026-02-30"}"#, "`day` has the unknown value 2026-02-30"),
            (#"{"row":"message_day","channel":"push","day":"2026-02-28"}"#, "`platform` is missing"),
            (#"{"row":"campaign_total","channel":"push","campaign_id":5}"#, "`campaign_id` is not a text or null"),
            (#"{"row":"campaign_total","channel":"push"}"#, "`metrics` is not an object"),
            (
                #"{"row":"campaign_total","channel":"push","metrics":{"sends":"3"}}"#,
                "`metrics.sends` is not a whole number"
            ),
            (
                #"{"row":"campaign_total","channel":"push","metrics":{"button_clicks":{"a":"b"}}}"#,
                "`metrics.button_clicks` is not an object of whole numbers"
            ),
        ])
    func malformed(record: String, message: String) {
        let report = PublishedReport()
        #expect(throws: PublishedRow.Malformed.self) { try report.read(record) }
        do { _ = try report.read(record) } catch { #expect("\(error)" == message) }
        #expect(report.store.keys.isEmpty)
    }
}
