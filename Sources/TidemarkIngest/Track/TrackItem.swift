internal import TidemarkEvents
internal import TidemarkReports

/// One entry of `events` or `purchases`, as far as it is of use.
struct TrackItem {
    /// What an entry lacks, in words.
    struct Problem: Error, Equatable {
        let message: String

        init(_ message: String) { self.message = message }
    }

    /// What is true of both kinds of entries.
    var externalID: [UInt8] = []
    private var brazeID: [UInt8] = []
    private var aliasName: [UInt8] = []
    private var aliasLabel: [UInt8] = []
    var appID: [UInt8] = []
    private var time: [UInt8] = []
    /// A JSON object as it was sent; empty where there is none.
    var properties: [UInt8] = []
    /// Of an event.
    var name: [UInt8] = []
    /// Of a purchase.
    var productID: [UInt8] = []
    var currency: [UInt8] = []
    /// A JSON number as it was sent.
    var price: [UInt8] = []
    var quantity: Int64 = 1

    /// Reads an entry, at which a reader stands, and steps over it.
    init(_ reader: inout JSONReader) throws(JSONReader.Broken) {
        try reader.openObject()
        while let key = try reader.nextKey() {
            switch key.text {
            case "external_id": externalID = try TrackItem.text(&reader)
            case "braze_id": brazeID = try TrackItem.text(&reader)
            case "app_id": appID = try TrackItem.text(&reader)
            case "time": time = try TrackItem.text(&reader)
            case "name": name = try TrackItem.text(&reader)
            case "product_id": productID = try TrackItem.text(&reader)
            case "currency": currency = try TrackItem.text(&reader)
            case "price": price = try TrackItem.raw(&reader, .number)
            case "properties": properties = try TrackItem.raw(&reader, .object)
            case "quantity":
                let number = try TrackItem.raw(&reader, .number)
                quantity = number.isEmpty ? 1 : Int64(String(decoding: number, as: UTF8.self)) ?? 0
            case "user_alias": try readAlias(&reader)
            default: try reader.skip()
            }
        }
    }

    private mutating func readAlias(_ reader: inout JSONReader) throws(JSONReader.Broken) {
        guard reader.kind() == .object else { return try reader.skip() }
        try reader.openObject()
        while let key = try reader.nextKey() {
            switch key.text {
            case "alias_name": aliasName = try TrackItem.text(&reader)
            case "alias_label": aliasLabel = try TrackItem.text(&reader)
            default: try reader.skip()
            }
        }
    }

    /// A text; nothing where the value is something else.
    private static func text(_ reader: inout JSONReader) throws(JSONReader.Broken) -> [UInt8] {
        guard reader.kind() == .text else {
            try reader.skip()
            return []
        }
        let text = try reader.text()
        return Array(UnsafeBufferPointer(start: text.start, count: text.count))
    }

    /// The bytes of a value; nothing where it is of another kind.
    private static func raw(
        _ reader: inout JSONReader, _ kind: JSONReader.Kind
    ) throws(JSONReader.Broken) -> [UInt8] {
        let isWanted = reader.kind() == kind
        let bytes = try reader.raw()
        return isWanted ? Array(UnsafeBufferPointer(start: bytes.start, count: bytes.count)) : []
    }

    /// Who did it. A profile's own id is what Currents calls `user_id`; who is known by another name alone gets an id made of it, which
    /// no profile has.
    func userID() throws(Problem) -> [UInt8] {
        if !brazeID.isEmpty { return brazeID }
        if !externalID.isEmpty { return Array("external:".utf8) + externalID }
        guard !aliasName.isEmpty, !aliasLabel.isEmpty else {
            throw Problem("'external_id', 'braze_id' or 'user_alias' with 'alias_name' and 'alias_label' is required")
        }
        return Array("alias:".utf8) + aliasLabel + Array(":".utf8) + aliasName
    }

    /// When, seconds since the epoch.
    func seconds() throws(Problem) -> Int64 {
        guard !time.isEmpty else { throw Problem("'time' is required") }
        guard let seconds = EpochTime.seconds(time), (0...Int64(Int32.max)).contains(seconds) else {
            throw Problem("'time' must be an ISO 8601 time from 1970 to 2038")
        }
        return seconds
    }

    /// Checks what only an event has.
    func checkEvent() throws(Problem) {
        guard !name.isEmpty else { throw Problem("'name' is required") }
    }

    /// Checks what only a purchase has.
    func checkPurchase() throws(Problem) {
        guard !productID.isEmpty else { throw Problem("'product_id' is required") }
        guard currency.count == 3 else { throw Problem("'currency' must be an ISO 4217 code") }
        guard !price.isEmpty else { throw Problem("'price' must be a number") }
        guard (1...100).contains(quantity) else { throw Problem("'quantity' must be a whole number from 1 to 100") }
    }

    /// All that makes an entry what it is, for an id that follows from it.
    var identity: [UInt8] {
        var bytes: [UInt8] = []
        let parts = [
            externalID, brazeID, aliasName, aliasLabel, appID, time, properties, name, productID, currency, price,
        ]
        for part in parts {
            withUnsafeBytes(of: UInt32(part.count).littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: part)
        }
        return bytes
    }
}
