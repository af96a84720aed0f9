// Inlined into the caller: a call across a library boundary would cost more than hashing a short key.
// Wrapped because the library renames its inlined functions by macros, which Swift does not see.
#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t tidemark_xxh3_64(const void *bytes, size_t length) { return XXH3_64bits(bytes, length); }

static inline uint64_t tidemark_xxh3_64_seeded(const void *bytes, size_t length, uint64_t seed) {
    return XXH3_64bits_withSeed(bytes, length, seed);
}

static inline XXH128_hash_t tidemark_xxh3_128(const void *bytes, size_t length) { return XXH3_128bits(bytes, length); }
