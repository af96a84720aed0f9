#include "ctidemark.h"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

void tidemark_give_memory_back(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void tidemark_keep_freed_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}
