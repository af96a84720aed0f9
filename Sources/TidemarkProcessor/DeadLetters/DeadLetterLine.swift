internal import Foundation
internal import TidemarkEvents
public import TidemarkKafka
internal import TidemarkReports

/// A dead letter as a line of NDJSON that a person can repair: without loss, whatever bytes it is made of.
///
/// Bytes that are text are a JSON string under their name, others are in base64 under the name with `_base64`. A value that is a JSON object
/// or array stands there as it is, byte for byte, where it has no line breaks.
public struct DeadLetterLine: Sendable {
    /// Why a line cannot be used.
    public struct Problem: Error, Equatable, Sendable, CustomStringConvertible {
        /// What is wrong, and what to do.
        public let description: String

        init(_ description: String) { self.description = description }
    }

    /// The members of a line that importing reads. The others tell about the error.
    private static let told = ["message", "stage", "refused", "source", "size", "xxh128"]

    /// See `RecordOrigin.id`; may end with `#` and a number where one dead letter becomes several records.
    public var id: String
    /// Where the record came from.
    public var origin: RecordOrigin
    /// The reason.
    public var code = ""
    /// See `DeadLetter.allowed`.
    public var allowed: Int64?
    /// The key.
    public var key: [UInt8]?
    /// The value.
    public var value: [UInt8]?
    /// The headers.
    public var headers: [KafkaHeader] = []

    /// What is fed for it.
    var record: RedriveRecord {
        RedriveRecord(
            id: id, origin: origin, code: code, allowed: allowed, key: key, value: value, headers: headers)
    }
}

// MARK: Writing

extension DeadLetterLine {
    /// Writes a dead letter as a line, its end included.
    public static func write(_ letter: DeadLetter) -> [UInt8] {
        var json = JSONWriter()
        json.raw("{\"id\":")
        json.string(letter.id)
        for (name, text) in [("code", letter.code), ("message", letter.message), ("stage", letter.stage)] {
            json.raw(",\"\(name)\":")
            json.string(text)
        }
        if letter.identity != letter.origin {
            json.raw(",\"topic\":")
            json.string(letter.origin.topic)
        }
        if let allowed = letter.allowed { json.raw(",\"allowed\":\(allowed)") }
        json.raw(",\"refused\":\(letter.time)")
        if let excerpt = letter.excerpt {
            json.raw(",\"size\":\(excerpt.size),\"xxh128\":")
            json.string(excerpt.hash)
        }
        json.raw(",")
        write(letter.key, as: "key", to: &json)
        json.raw(",\"headers\":[")
        for (place, header) in letter.headers.enumerated() {
            json.raw(place == 0 ? "{\"name\":" : ",{\"name\":")
            json.string(header.name)
            json.raw(",")
            write(header.value, as: "value", to: &json)
            json.raw("}")
        }
        json.raw("],")
        if let value = letter.value, isPlainJSON(value) {
            json.raw("\"value\":")
            json.raw(String(decoding: value, as: UTF8.self))
        } else {
            write(letter.value, as: "value", to: &json)
        }
        json.raw("}\n")
        return json.bytes
    }

    private static func write(_ bytes: [UInt8]?, as name: String, to json: inout JSONWriter) {
        guard let bytes else { return json.raw("\"\(name)\":null") }
        if let text = String(validating: bytes, as: UTF8.self) {
            json.raw("\"\(name)\":")
            json.string(text)
        } else {
            json.raw("\"\(name)_base64\":\"\(Data(bytes).base64EncodedString())\"")
        }
    }

    /// Whether bytes can stand in a line as they are, and be read back the same.
    private static func isPlainJSON(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first, let last = bytes.last, "{[".utf8.contains(first), "}]".utf8.contains(last),
            bytes.allSatisfy({ $0 >= 0x20 }), String(validating: bytes, as: UTF8.self) != nil
        else { return false }
        return bytes.withUnsafeBytes { bytes in
            JSONReader.read(bytes) { reader in (try? reader.skip()) != nil && reader.isAtEnd() }
        }
    }
}

// MARK: Reading

extension DeadLetterLine {
    /// Reads a line.
    public init(_ line: UnsafeRawBufferPointer) throws(Problem) {
        let parsed: Result<DeadLetterLine, Problem> = JSONReader.read(line) { reader in
            do {
                return .success(try DeadLetterLine.read(&reader))
            } catch let problem as Problem {
                return .failure(problem)
            } catch {
                return .failure(DeadLetterLine.notJSON(line))
            }
        }
        self = try parsed.get()
    }

    private static func notJSON(_ line: UnsafeRawBufferPointer) -> Problem {
        let place = ErrorPlace.range(in: ByteView(line), code: .malformed, message: "")
        return Problem(
            "not a JSON object as `dlq export` writes it"
                + (place.map { " (byte \($0.lowerBound) of \(line.count))" } ?? ""))
    }

    private static func read(_ reader: inout JSONReader) throws -> DeadLetterLine {
        var id: String?
        var topic: String?
        var line = DeadLetterLine(
            id: "", origin: RecordOrigin(topic: "", partition: 0, offset: 0, timestamp: 0))
        var hasValue = false
        guard reader.kind() == .object else { throw Problem("a line must be a JSON object as `dlq export` writes it") }
        try reader.openObject()
        while let name = try reader.nextKey()?.text {
            switch name {
            case "id": id = try text(&reader, name)
            case "topic": topic = try text(&reader, name)
            case "code": line.code = try text(&reader, name)
            case "allowed": line.allowed = try reader.integer()
            case "key": line.key = try bytes(&reader, name)
            case "key_base64": line.key = try base64(&reader, name)
            case "value", "value_base64":
                if hasValue { throw Problem("has two values: leave `value` or `value_base64`") }
                hasValue = true
                line.value = name == "value" ? try payload(&reader) : try base64(&reader, name)
            case "headers": line.headers = try headers(&reader)
            case "size":
                throw Problem(
                    "holds only the first bytes of its record, the rest is gone: its source has to send it again; take the line out"
                )
            case _ where told.contains(name): try reader.skip()
            default: throw Problem("has a member `\(name)`, which is none of a dead letter's")
            }
        }
        guard reader.isAtEnd() else { throw Problem("goes on after the JSON object") }
        guard let id else { throw Problem("has no `id`: it says which dead letter the line is for") }
        guard hasValue else { throw Problem("has no `value`") }
        guard let origin = RecordOrigin(id: String(id.prefix { $0 != "#" })) else {
            throw Problem("`\(id)` is not the id of a dead letter: keep it as `dlq export` wrote it")
        }
        (line.id, line.origin) = (id, origin)
        // It never was in the topic that it is for.
        if let topic {
            line.origin = RecordOrigin(topic: topic, partition: -1, offset: -1, timestamp: origin.timestamp)
        }
        return line
    }

    private static func text(_ reader: inout JSONReader, _ name: String) throws -> String {
        guard reader.kind() == .text else { throw Problem("`\(name)` must be a string") }
        return try reader.text().text ?? ""
    }

    private static func bytes(_ reader: inout JSONReader, _ name: String) throws -> [UInt8]? {
        if reader.skipNull() { return nil }
        return Array(try text(&reader, name).utf8)
    }

    private static func base64(_ reader: inout JSONReader, _ name: String) throws -> [UInt8] {
        guard let data = Data(base64Encoded: try text(&reader, name)) else { throw Problem("`\(name)` is not base64") }
        return Array(data)
    }

    /// A string stands for its bytes, anything else for the JSON that it is.
    private static func payload(_ reader: inout JSONReader) throws -> [UInt8]? {
        if reader.kind() == .text { return try bytes(&reader, "value") }
        if reader.skipNull() { return nil }
        let raw = try reader.raw()
        return Array(UnsafeBufferPointer(start: raw.start, count: raw.count))
    }

    private static func headers(_ reader: inout JSONReader) throws -> [KafkaHeader] {
        var headers: [KafkaHeader] = []
        guard reader.kind() == .array else { throw Problem("`headers` must be an array") }
        try reader.openArray()
        while try reader.nextElement() {
            guard reader.kind() == .object else { throw Problem("each of `headers` must be an object") }
            var header = KafkaHeader(name: "", value: nil)
            try reader.openObject()
            while let name = try reader.nextKey()?.text {
                switch name {
                case "name": header.name = try text(&reader, name)
                case "value": header.value = try bytes(&reader, name)
                case "value_base64": header.value = try base64(&reader, name)
                default:
                    throw Problem(
                        "a header has a member `\(name)`: only `name` and `value` or `value_base64` are known")
                }
            }
            if header.name.isEmpty { throw Problem("a header has no `name`") }
            headers.append(header)
        }
        return headers
    }
}
