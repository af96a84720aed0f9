#pragma once

#include <stdint.h>

/// A listening socket at a numeric address; -1 and `errno` when there is none to be had.
int tidemark_listen_at(const char *host, uint16_t port, int backlog, uint16_t *bound);
