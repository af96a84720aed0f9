/// The hash by which librdkafka's `consistent` partitioners, its default among them, choose partitions.
public enum ConsistentCRC32 {
    /// The partition of a key among `count`.
    public static func partition(of key: UnsafeRawBufferPointer, count: Int) -> Int32 {
        Int32(Int(hash(key)) % count)
    }

    /// CRC-32 as of zlib. Bit by bit, without a table: for a key now and then.
    static func hash(_ key: UnsafeRawBufferPointer) -> UInt32 {
        var remainder = UInt32.max
        for byte in key {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0xEDB8_8320 : remainder >> 1 }
        }
        return ~remainder
    }
}
