public import TidemarkAttribution
internal import TidemarkEvents

/// The changes of rows of one commit and one report partition, packed; what goes from a task to an aggregator.
///
/// Numbers of a vocabulary mean nothing in another process, so a record brings the texts that it uses.
public enum DeltaRecord {
    /// Version of the encoding; a reader refuses others.
    public static let version: UInt8 = 1

    /// A record that cannot be read.
    public struct Unreadable: Error, CustomStringConvertible {
        /// What is wrong.
        public let description: String
    }

    /// What a record says besides the changes.
    public struct Header: Equatable, Sendable {
        /// Grows when outputs are withdrawn and begun anew; changes of another epoch are ignored.
        public var epoch: UInt32
        /// The partition of the task.
        public var task: UInt32
        /// The task's watermark.
        public var watermark: UInt32

        /// A header.
        public init(epoch: UInt32, task: UInt32, watermark: UInt32) {
            self.epoch = epoch
            self.task = task
            self.watermark = watermark
        }
    }

    /// The partition of a campaign's rows. Names of campaigns as bytes decide, so that every process agrees.
    public static func partition(of key: RowKey, vocabulary: Vocabulary, count: Int) -> Int {
        let number = key.kind == .messageDay ? vocabulary.campaignOfMessage[Int(key.subject)] : key.subject
        let campaign = vocabulary.campaigns[Int(number)]
        var hash: UInt64 = 1
        for id in [campaign.campaign, campaign.canvas, campaign.canvasStep] {
            hash = vocabulary.strings[id].hash64(seed: hash)
        }
        return Int(hash % UInt64(count))
    }

    /// The rows of a table that changed, by partition; empty where nothing changed.
    public static func changedRows(_ deltas: DeltaTable, vocabulary: Vocabulary, partitions: Int) -> [[Int]] {
        var rows = [[Int]](repeating: [], count: partitions)
        var withButtons = Set<Int>()
        for (place, amount) in deltas.buttons where amount != 0 { withButtons.insert(Int(place >> 32)) }
        for (row, key) in deltas.keys.enumerated() {
            let counts = (0..<Counter.stride).contains { deltas.value(row, $0) != 0 }
            guard counts || withButtons.contains(row) else { continue }
            rows[partition(of: key, vocabulary: vocabulary, count: partitions)].append(row)
        }
        return rows
    }

    // MARK: Writing

    /// Packs some rows of a table.
    public static func encode(
        _ rows: [Int], of deltas: DeltaTable, vocabulary: Vocabulary, header: Header
    ) -> [UInt8] {
        var texts = TextTable(vocabulary: vocabulary)
        var body = BinaryWriter()
        var buttons: [Int: [(UInt32, Int64)]] = [:]
        for (place, amount) in deltas.buttons where amount != 0 {
            buttons[Int(place >> 32), default: []].append((UInt32(truncatingIfNeeded: place), amount))
        }
        body.unsigned(UInt64(rows.count))
        for row in rows {
            writeKey(deltas.keys[row], vocabulary, &texts, &body)
            var mask: UInt64 = 0
            for counter in 0..<Counter.stride where deltas.value(row, counter) != 0 { mask |= 1 << UInt64(counter) }
            body.unsigned(mask)
            for counter in 0..<Counter.stride where mask & (1 << UInt64(counter)) != 0 {
                body.signed(deltas.value(row, counter))
            }
            let clicks = buttons[row] ?? []
            body.unsigned(UInt64(clicks.count))
            for (button, amount) in clicks {
                body.unsigned(texts.place(of: button))
                body.signed(amount)
            }
        }
        var record = BinaryWriter()
        record.byte(version)
        record.unsigned(UInt64(header.epoch))
        record.unsigned(UInt64(header.task))
        record.unsigned(UInt64(header.watermark))
        record.unsigned(UInt64(texts.numbers.count))
        for number in texts.numbers { record.text(vocabulary.strings[number]) }
        return record.bytes + body.bytes
    }

    private static func writeKey(
        _ key: RowKey, _ vocabulary: Vocabulary, _ texts: inout TextTable, _ body: inout BinaryWriter
    ) {
        body.byte(key.kind.rawValue)
        body.byte(key.channel.rawValue)
        if key.kind == .messageDay {
            let message = vocabulary.messages[Int(key.subject)]
            for id in [
                message.campaign, message.messageVariation, message.canvas, message.canvasVariation, message.canvasStep,
            ] {
                body.unsigned(texts.place(of: id))
            }
        } else {
            let campaign = vocabulary.campaigns[Int(key.subject)]
            for id in [campaign.campaign, campaign.canvas, campaign.canvasStep] { body.unsigned(texts.place(of: id)) }
        }
        body.unsigned(texts.place(of: key.platform))
        if key.kind != .campaignTotal { body.signed(Int64(key.day)) }
    }

    /// Places of texts in a record: 0 is null, others count from 1.
    private struct TextTable {
        let vocabulary: Vocabulary
        var numbers: [UInt32] = []
        private var places: [UInt32: UInt64] = [:]

        init(vocabulary: Vocabulary) { self.vocabulary = vocabulary }

        mutating func place(of number: UInt32) -> UInt64 {
            guard number != 0 else { return 0 }
            if let place = places[number] { return place }
            numbers.append(number)
            places[number] = UInt64(numbers.count)
            return UInt64(numbers.count)
        }
    }

    // MARK: Reading

    /// Reads the header of a record.
    public static func header(of record: UnsafeRawBufferPointer) throws(Unreadable) -> Header {
        var reader = BinaryReader(record)
        return try header(&reader)
    }

    /// Applies a record's changes to a store, in the store's own vocabulary.
    public static func apply(_ record: UnsafeRawBufferPointer, to store: RowStore) throws(Unreadable) {
        var reader = BinaryReader(record)
        _ = try header(&reader)
        do {
            let vocabulary = store.vocabulary
            var texts: [UInt32] = [0]
            for _ in 0..<(try reader.number(Int.self)) { texts.append(vocabulary.strings.intern(try reader.text())) }
            for _ in 0..<(try reader.number(Int.self)) { try applyRow(&reader, texts, store) }
            guard reader.isAtEnd else { throw BinaryReader.Damaged() }
        } catch {
            throw Unreadable(description: "a delta record is damaged")
        }
    }

    private static func header(_ reader: inout BinaryReader) throws(Unreadable) -> Header {
        do {
            let version = try reader.byte()
            guard version == DeltaRecord.version else {
                throw Unreadable(
                    description:
                        "a delta record has format version \(version), this program reads \(DeltaRecord.version)")
            }
            return Header(epoch: try reader.number(), task: try reader.number(), watermark: try reader.number())
        } catch let error as Unreadable {
            throw error
        } catch {
            throw Unreadable(description: "a delta record is damaged")
        }
    }

    private static func applyRow(_ reader: inout BinaryReader, _ texts: [UInt32], _ store: RowStore) throws(BinaryReader
        .Damaged)
    {
        let key = try readKey(&reader, texts, store.vocabulary)
        let rows = store.affected(by: key)
        let mask = try reader.unsigned()
        for counter in 0..<Counter.stride where mask & (1 << UInt64(counter)) != 0 {
            store.add(try reader.signed(), counter, key: key, rows: rows)
        }
        for _ in 0..<(try reader.number(Int.self)) {
            let button = try text(&reader, texts)
            store.addButton(try reader.signed(), button, rows: rows)
        }
    }

    private static func readKey(
        _ reader: inout BinaryReader, _ texts: [UInt32], _ vocabulary: Vocabulary
    ) throws(BinaryReader.Damaged) -> RowKey {
        guard let kind = RowKind(rawValue: try reader.byte()), let channel = Channel(rawValue: try reader.byte()) else {
            throw BinaryReader.Damaged()
        }
        let subject: UInt32
        if kind == .messageDay {
            var message = MessageKey()
            message.campaign = try text(&reader, texts)
            message.messageVariation = try text(&reader, texts)
            message.canvas = try text(&reader, texts)
            message.canvasVariation = try text(&reader, texts)
            message.canvasStep = try text(&reader, texts)
            subject = vocabulary.message(message)
        } else {
            var campaign = CampaignKey()
            campaign.campaign = try text(&reader, texts)
            campaign.canvas = try text(&reader, texts)
            campaign.canvasStep = try text(&reader, texts)
            subject = vocabulary.campaign(campaign)
        }
        let platform = try text(&reader, texts)
        let day = kind == .campaignTotal ? RowKey.noDay : Int32(truncatingIfNeeded: try reader.signed())
        return RowKey(kind: kind, channel: channel, subject: subject, platform: platform, day: day)
    }

    private static func text(_ reader: inout BinaryReader, _ texts: [UInt32]) throws(BinaryReader.Damaged) -> UInt32 {
        let place: Int = try reader.number()
        guard place < texts.count else { throw BinaryReader.Damaged() }
        return texts[place]
    }
}
