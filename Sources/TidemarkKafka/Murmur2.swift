/// The hash by which Kafka's Java clients, and librdkafka's `murmur2` partitioners, choose partitions.
public enum Murmur2 {
    /// The partition of a key among `count`.
    public static func partition(of key: UnsafeRawBufferPointer, count: Int) -> Int32 {
        Int32(Int(hash(key) & 0x7FFF_FFFF) % count)
    }

    /// MurmurHash2 with Kafka's seed.
    static func hash(_ key: UnsafeRawBufferPointer) -> UInt32 {
        let multiplier: UInt32 = 0x5BD1_E995
        var hash: UInt32 = 0x9747_B28C ^ UInt32(truncatingIfNeeded: key.count)
        var place = 0
        while key.count - place >= 4 {
            var word = UInt32(littleEndian: key.loadUnaligned(fromByteOffset: place, as: UInt32.self)) &* multiplier
            word = (word ^ word >> 24) &* multiplier
            hash = hash &* multiplier ^ word
            place += 4
        }
        let rest = key.count - place
        if rest > 2 { hash ^= UInt32(key[place + 2]) << 16 }
        if rest > 1 { hash ^= UInt32(key[place + 1]) << 8 }
        if rest > 0 { hash = (hash ^ UInt32(key[place])) &* multiplier }
        hash = (hash ^ hash >> 13) &* multiplier
        return hash ^ hash >> 15
    }
}
