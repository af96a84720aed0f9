import TidemarkAttribution
import TidemarkProcessor
import TidemarkReports

/// A report that holds what was published.
struct PublishedReport {
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

    func avro(_ row: Int, revision: Int64, asOf: Int64, schemaID: UInt32) -> [UInt8] {
        var avro = AvroRecordWriter()
        renderer.writeAvro(row, of: store, names: names, version: (revision, asOf), schemaID: schemaID, to: &avro)
        return avro.bytes
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
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
