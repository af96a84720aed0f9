import Testing
import TidemarkAttribution
import TidemarkProcessor
import TidemarkReports

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

/// A report that holds what was published.
private struct PublishedReport {
    let store: RowStore
    let names: NameTable
    let renderer: RowRenderer

    init() {
        let rules = AttributionRules()
        let vocabulary = Vocabulary(excludedPlatforms: rules.excludedPlatforms)
        store = RowStore(vocabulary: vocabulary)
        names = NameTable(vocabulary: vocabulary)
        renderer = RowRenderer(vocabulary: vocabulary, rules: rules, settings: ReportSettings())
    }

    func read(_ record: String) throws -> PublishedRow {
        try Array(record.utf8).withUnsafeBytes { try PublishedRow.read($0, into: store) }
    }

    func record(_ row: Int, revision: Int64, asOf: Int64) -> String {
        var json = JSONWriter()
        renderer.writeRecord(row, of: store, names: names, version: (revision, asOf), to: &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    func key(_ row: Int) -> String {
        var json = JSONWriter()
        renderer.writeKey(store.keys[row], to: &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    func take(_ row: PublishedRow) {
        let ids = renderer.ids(of: store.keys[row.row])
        for (kind, id) in zip(
            NamedID.allCases,
            [ids.campaign, ids.messageVariation, ids.canvas, ids.canvasVariation, ids.canvasStep])
        {
            guard row.names[Int(kind.rawValue)] != 0 else { continue }
            names.take(
                kind: kind, id: id, name: row.names[Int(kind.rawValue)],
                order: NameOrder(time: 1, rank: 0, eventID: []))
        }
    }

    /// Rows of every kind and channel with random ids, names, counts and buttons, quotes and line ends among them.
    func fill(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let strings = store.vocabulary.strings
        for kind in RowKind.allCases {
            for channel in Channel.allCases {
                var message = MessageKey()
                if Bool.random(using: &random) {
                    message.campaign = strings.intern("c-\(Int.random(in: 1...3, using: &random))")
                    message.messageVariation = strings.intern("v \"\\\n\u{1}ü\(Int.random(in: 1...3, using: &random))")
                } else if Bool.random(using: &random) {
                    message.canvas = strings.intern("k-1")
                    message.canvasVariation = strings.intern("kv-1")
                    message.canvasStep = strings.intern("ks-\(Int.random(in: 1...3, using: &random))")
                }
                let number = store.vocabulary.message(message)
                let row = store.row(
                    RowKey(
                        kind: kind, channel: channel,
                        subject: kind == .messageDay ? number : store.vocabulary.campaignOfMessage[Int(number)],
                        platform: kind == .messageDay ? strings.intern("ios") : 0,
                        day: kind == .campaignTotal ? RowKey.noDay : Int32.random(in: 0...24_000, using: &random)))
                name(.campaign, message.campaign, text(&random))
                name(.canvasStep, message.canvasStep, "Step")
                fillMetrics(row, &random)
            }
        }
    }

    private func name(_ kind: NamedID, _ id: UInt32, _ name: String) {
        guard id != 0 else { return }
        names.take(
            kind: kind, id: id, name: store.vocabulary.strings.intern(name),
            order: NameOrder(time: 1, rank: 0, eventID: []))
    }

    /// A text with what JSON has to escape, and what it need not.
    private func text(_ random: inout SeededGenerator) -> String {
        var text = "Name"
        for _ in 0..<Int.random(in: 0...20, using: &random) {
            switch Int.random(in: 0...3, using: &random) {
            case 0: text.unicodeScalars.append(Unicode.Scalar(UInt8.random(in: 0...0x7F, using: &random)))
            case 1: text += ["\"", "\\", "/", "\\u0041", "\\\"", "\u{7F}"].randomElement(using: &random)!
            case 2: text += ["é", "名前", "😀", "\u{2028}", "\u{FFFD}"].randomElement(using: &random)!
            default: text += " plain"
            }
        }
        return text
    }

    private func fillMetrics(_ row: Int, _ random: inout SeededGenerator) {
        let key = store.keys[row]
        for metric in Metric.all(of: key.channel) {
            switch metric.source {
            case .counter(let counter) where !(metric.isBySendTime && key.kind == .campaignTotal):
                store.restore(row, counter: counter, to: Int64.random(in: 0...5_000_000_000, using: &random))
            case .buttonClicks:
                for button in ["0", "1", "Ja \"ü\""] where Bool.random(using: &random) {
                    store.restore(row, button: store.vocabulary.strings.intern(button), to: 7)
                }
            default: break
            }
        }
    }
}

/// A generator of which a seed gives the same numbers everywhere.
private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
