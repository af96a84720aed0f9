// Inlined into the caller: a call across a library boundary would cost more than hashing a short key.
#define XXH_INLINE_ALL
#include <xxhash.h>
