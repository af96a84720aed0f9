internal import Foundation

/// Values of small records of internal topics: positions and notices.
enum JSONRecord {
    static func encode(_ record: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(record))
        } catch {
            preconditionFailure("a record of numbers and texts cannot fail to encode: \(error)")
        }
    }

    /// - Parameter topic: where the record is from.
    static func decode<Record: Decodable>(
        _ type: Record.Type, _ value: UnsafeRawBufferPointer, of topic: String
    ) throws(RunFailure) -> Record {
        do {
            return try JSONDecoder().decode(Record.self, from: Data(value))
        } catch {
            throw RunFailure(
                "a record of \(topic) cannot be read: \(error). Another version of the program may have written it: run that one, or start "
                    + "under a new application_id and new output topics")
        }
    }
}
