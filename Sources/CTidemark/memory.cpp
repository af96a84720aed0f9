#include "ctidemark.h"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

void tidemark_give_memory_back(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
