internal import CXXHash

extension ByteView {
    /// A 64-bit hash of the bytes (XXH3), the same in every process; 0 is kept for null.
    public var hash64: UInt64 {
        guard let start, count > 0 else { return 0 }
        let hash = tidemark_xxh3_64(start, count)
        return hash == 0 ? 1 : hash
    }

    /// As `hash64`, seeded: for keys of several parts, each seeded with the hash of those before it.
    public func hash64(seed: UInt64) -> UInt64 {
        tidemark_xxh3_64_seeded(start, count, seed)
    }

    /// A 128-bit hash of the bytes (XXH3), the same in every process.
    public var hash128: (low: UInt64, high: UInt64) {
        let hash = tidemark_xxh3_128(start, count)
        return (hash.low64, hash.high64)
    }
}
