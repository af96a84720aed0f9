/// Headers of a record in one stretch of memory that is used again and again: for records of which there are very many.
///
/// Each as the length of its name and of its value, in four bytes each, the name with a zero behind it, and the value.
package struct HeaderBytes: ~Copyable {
    private var bytes: [UInt8] = []

    /// No headers.
    package init() {}

    /// Forgets all headers and keeps the memory.
    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Adds a header.
    ///
    /// - Parameter name: a C string, the zero at its end included.
    package mutating func append(_ name: [CChar], _ value: UnsafeRawBufferPointer) {
        withUnsafeBytes(of: UInt32(name.count)) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt32(value.count)) { bytes.append(contentsOf: $0) }
        name.withUnsafeBytes { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: value)
    }

    /// Calls `body` with all of it.
    package borrowing func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes(body)
    }

    /// Calls `body` with each header of bytes that `withBytes` gave.
    package static func forEach(
        in bytes: UnsafeRawBufferPointer,
        _ body: (_ name: UnsafePointer<CChar>, _ value: UnsafeRawBufferPointer) -> Void
    ) {
        var place = 0
        while place + 8 <= bytes.count {
            let nameSize = Int(bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
            let valueSize = Int(bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self))
            place += 8
            let name = UnsafeRawBufferPointer(rebasing: bytes[place..<place + nameSize])
            let value = UnsafeRawBufferPointer(rebasing: bytes[place + nameSize..<place + nameSize + valueSize])
            place += nameSize + valueSize
            if let start = name.baseAddress { body(start.assumingMemoryBound(to: CChar.self), value) }
        }
    }

    /// The same as separate headers.
    package static func headers(in bytes: UnsafeRawBufferPointer) -> [KafkaHeader] {
        var headers: [KafkaHeader] = []
        forEach(in: bytes) { headers.append(KafkaHeader(name: String(cString: $0), value: Array($1))) }
        return headers
    }
}
