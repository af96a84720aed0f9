internal import TidemarkEvents
internal import TidemarkReports

/// What a post in the shape of `/users/track` comes to: a batch in the shape of the Currents connector, and what could not be taken.
///
/// Ids follow from what an entry says, so that a post that is sent again gives the same events. Two entries of one post that say the same
/// are two events; of two posts that say the same, the second changes nothing.
struct TrackConversion: Equatable {
    /// Something that is wrong with an entry.
    struct Problem: Equatable {
        var message: String
        /// `events` or `purchases`.
        var array: String
        var index: Int
    }

    /// Why a post cannot be converted as a whole.
    enum Failure: Error, Equatable {
        /// It holds nothing at all.
        case unreadable(String)
        /// It comes to more bytes than it may.
        case tooLarge
    }

    /// What became of the entries.
    struct Result: Equatable {
        /// Entries of `events` that are in the batch.
        var events = 0
        /// Entries of `purchases` that are in the batch.
        var purchases = 0
        /// Entries of `attributes`, none of which are taken.
        var attributes = 0
        /// What is wrong with the others.
        var problems: [Problem] = []
    }

    /// A batch of events.
    private(set) var batch: [UInt8] = []
    /// Events of the batch: a purchase of several pieces is as many.
    private(set) var eventCount = 0
    private(set) var result = Result()
    /// How often each entry was there before, by the hash of what it says.
    private var seen: [UInt64: Int64] = [:]
    private let limit: Int
    private var isTooLarge = false

    /// Converts a body.
    ///
    /// - Parameter limit: the most that may come of it, bytes: a purchase of many pieces is many events.
    init(_ body: UnsafeRawBufferPointer, limit: Int) throws(Failure) {
        guard String(validating: body, as: UTF8.self) != nil else { throw .unreadable("the body is not UTF-8") }
        self.limit = limit
        var writer = JSONWriter()
        writer.raw("{\"events\":[")
        do throws(JSONReader.Broken) {
            try JSONReader.read(body) { reader throws(JSONReader.Broken) in try read(&reader, &writer) }
        } catch {
            if isTooLarge { throw .tooLarge }
            throw .unreadable("the body must be a JSON object with the arrays events, purchases or attributes")
        }
        writer.raw("]}")
        batch = writer.bytes
    }

    private mutating func read(_ reader: inout JSONReader, _ writer: inout JSONWriter) throws(JSONReader.Broken) {
        try reader.openObject()
        while let key = try reader.nextKey() {
            let name = key.text ?? ""
            guard ["events", "purchases", "attributes"].contains(name), reader.kind() == .array else {
                try reader.skip()
                continue
            }
            try reader.openArray()
            var index = 0
            while try reader.nextElement() {
                switch name {
                case "attributes":
                    result.attributes += 1
                    try reader.skip()
                default: try convert(&reader, &writer, name, index)
                }
                isTooLarge = writer.bytes.count > limit
                if isTooLarge { throw JSONReader.Broken() }
                index += 1
            }
        }
        guard reader.isAtEnd() else { throw JSONReader.Broken() }
    }

    private mutating func convert(
        _ reader: inout JSONReader, _ writer: inout JSONWriter, _ array: String, _ index: Int
    ) throws(JSONReader.Broken) {
        guard reader.kind() == .object else {
            result.problems.append(Problem(message: "an entry must be an object", array: array, index: index))
            return try reader.skip()
        }
        let item = try TrackItem(&reader)
        do throws(TrackItem.Problem) {
            if array == "events" {
                try item.checkEvent()
                try write(item, &writer, "users.behaviors.CustomEvent")
                result.events += 1
            } else {
                try item.checkPurchase()
                try write(item, &writer, "users.behaviors.Purchase")
                result.purchases += 1
            }
        } catch {
            result.problems.append(Problem(message: error.message, array: array, index: index))
        }
    }

    private mutating func write(
        _ item: TrackItem, _ writer: inout JSONWriter, _ type: String
    ) throws(TrackItem.Problem) {
        let (user, time) = (try item.userID(), try item.seconds())
        let isPurchase = type.hasSuffix("Purchase")
        let identity = Array(type.utf8) + item.identity
        let hash = identity.withUnsafeBytes { ByteView($0).hash64 }
        let before = seen[hash, default: 0]
        for piece in 0..<(isPurchase ? item.quantity : 1) {
            if eventCount > 0 { writer.raw(",") }
            eventCount += 1
            writer.raw("{\"event_type\":\"")
            writer.raw(type)
            writer.raw("\",\"id\":")
            TrackConversion.writeID(of: identity, number: before + piece, to: &writer)
            writer.raw(",\"time\":")
            writer.integer(time)
            writer.raw(",\"user\":{\"user_id\":")
            writer.text(user)
            if !item.externalID.isEmpty {
                writer.raw(",\"external_user_id\":")
                writer.text(item.externalID)
            }
            writer.raw("},\"properties\":{")
            writeProperties(item, &writer, isPurchase)
            writer.raw("}}")
        }
        seen[hash] = before + (isPurchase ? item.quantity : 1)
    }

    private func writeProperties(_ item: TrackItem, _ writer: inout JSONWriter, _ isPurchase: Bool) {
        if isPurchase {
            writer.raw("\"product_id\":")
            writer.text(item.productID)
            writer.raw(",\"price\":")
            writer.bytes(item.price)
            writer.raw(",\"currency\":")
            writer.text(item.currency)
            writer.raw(",\"purchase_properties\":")
        } else {
            writer.raw("\"name\":")
            writer.text(item.name)
            writer.raw(",\"custom_properties\":")
        }
        writer.bytes(item.properties.isEmpty ? Array("{}".utf8) : item.properties)
        guard !item.appID.isEmpty else { return }
        writer.raw(",\"app_id\":")
        writer.text(item.appID)
    }

    /// An id that follows from what an entry says and how many of one post said it before, in the form of a UUID whose version is "made by
    /// rules of one's own".
    private static func writeID(of identity: [UInt8], number: Int64, to writer: inout JSONWriter) {
        var bytes = identity
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        let (low, high) = bytes.withUnsafeBytes { ByteView($0).hash128 }
        writer.uuid(high: high & ~0xF000 | 0x8000, low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }
}

extension JSONWriter {
    /// A text as a JSON string.
    fileprivate mutating func text(_ bytes: [UInt8]) { bytes.withUnsafeBytes { string(ByteView($0)) } }

    /// JSON as it stands.
    fileprivate mutating func bytes(_ bytes: [UInt8]) { bytes.withUnsafeBytes { append(ByteView($0)) } }
}
