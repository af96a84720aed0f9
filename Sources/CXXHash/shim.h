// Inlined into the caller: a call across a library boundary would cost more than hashing a short key.
// Wrapped because the library renames its inlined functions by macros, which Swift does not see.
#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t tidemark_xxh3_64(const void *bytes, size_t length) { return XXH3_64bits(bytes, length); }

static inline uint64_t tidemark_xxh3_64_seeded(const void *bytes, size_t length, uint64_t seed) {
    return XXH3_64bits_withSeed(bytes, length, seed);
}

static inline XXH128_hash_t tidemark_xxh3_128(const void *bytes, size_t length) { return XXH3_128bits(bytes, length); }

/// A state for hashing bytes that come in pieces, or null when memory is short.
static inline void *tidemark_xxh3_start(void) {
    XXH3_state_t *state = XXH3_createState();
    if (state) XXH3_64bits_reset(state);
    return state;
}

static inline void tidemark_xxh3_add(void *state, const void *bytes, size_t length) {
    XXH3_64bits_update((XXH3_state_t *)state, bytes, length);
}

/// The hash of all bytes so far; more may follow.
static inline uint64_t tidemark_xxh3_digest(const void *state) {
    return XXH3_64bits_digest((const XXH3_state_t *)state);
}

static inline void tidemark_xxh3_end(void *state) { XXH3_freeState((XXH3_state_t *)state); }
