import CSnappy
import CZlib
import CZstd
import TidemarkEvents

let testSync = [UInt8](repeating: 0xA5, count: 15) + [0x5A]

/// An object container file of blocks of encoded values.
func container(_ schema: String, _ blocks: [[[UInt8]]], codec: ContainerCodec? = nil) -> [UInt8] {
    var metadata: [(String, Datum)] = [("avro.schema", .text(schema))]
    if let codec { metadata.insert(("avro.codec", .text(codec.rawValue)), at: 0) }
    return ContainerHeader.magic + Datum.map(metadata).encoded + testSync
        + blocks.flatMap { containerBlock($0.flatMap { $0 }, count: $0.count, codec: codec ?? .null) }
}

/// A block of a container file.
func containerBlock(_ content: [UInt8], count: Int, codec: ContainerCodec = .null) -> [UInt8] {
    let data = compressed(content, codec)
    return Datum.varint(Int64(count)) + Datum.varint(Int64(data.count)) + data + testSync
}

func compressed(_ content: [UInt8], _ codec: ContainerCodec) -> [UInt8] {
    switch codec {
    case .null: return content
    case .deflate: return deflated(content)
    case .snappy:
        var size = snappy_max_compressed_length(content.count)
        var data = [UInt8](repeating: 0, count: size)
        let status = content.withUnsafeBytes { input in
            data.withUnsafeMutableBytes { output in
                snappy_compress(
                    input.bindMemory(to: CChar.self).baseAddress, content.count,
                    output.bindMemory(to: CChar.self).baseAddress, &size)
            }
        }
        precondition(status == SNAPPY_OK)
        let sum = UInt32(truncatingIfNeeded: crc32(0, content, uInt(content.count)))
        return Array(data[..<size]) + withUnsafeBytes(of: sum.bigEndian) { Array($0) }
    case .zstandard:
        var data = [UInt8](repeating: 0, count: ZSTD_compressBound(content.count))
        let size = ZSTD_compress(&data, data.count, content, content.count, 3)
        return Array(data[..<size])
    }
}

private func deflated(_ content: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    deflateInit2_(
        &stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { deflateEnd(&stream) }
    var input = content
    var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, uLong(content.count))) + 16)
    return input.withUnsafeMutableBufferPointer { input in
        output.withUnsafeMutableBufferPointer { output in
            stream.next_in = input.baseAddress
            stream.avail_in = uInt(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = uInt(output.count)
            precondition(deflate(&stream, Z_FINISH) == Z_STREAM_END)
            return Array(output[..<(output.count - Int(stream.avail_out))])
        }
    }
}
