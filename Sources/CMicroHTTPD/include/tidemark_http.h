#pragma once
// A small HTTP server on libmicrohttpd, whose variadic interface Swift cannot import. One thread; answers GET and HEAD without a body.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A running server.
typedef struct tidemark_http tidemark_http;
/// The answer to one request.
typedef struct tidemark_http_answer tidemark_http_answer;

/// Answers a request, on the server's thread, by one call of `tidemark_http_answer_set`. `path` has no query.
typedef void (*tidemark_http_handler)(void *context, const char *path, tidemark_http_answer *answer);

/// Bounds on what clients can take up.
typedef struct {
    /// Connections at one time; more wait in the system's queue.
    unsigned connections;
    /// Seconds after which a connection that says nothing is closed.
    unsigned timeout_seconds;
    /// Bytes of memory for a connection: a larger request is refused.
    size_t connection_memory;
} tidemark_http_limits;

/// Sets the answer; all that is given is copied. The first call counts.
void tidemark_http_answer_set(
    tidemark_http_answer *answer, unsigned status, const char *content_type, const uint8_t *body, size_t count);

/// Starts a server at a numeric address; port 0 takes one that is free. Returns null and an `errno` code in `error` when
/// that fails.
tidemark_http *tidemark_http_start(
    const char *host, uint16_t port, tidemark_http_limits limits, tidemark_http_handler handler, void *context,
    int *error);

/// The port that the server listens at.
uint16_t tidemark_http_port(const tidemark_http *server);

/// Closes all connections and waits until no handler runs any more.
void tidemark_http_stop(tidemark_http *server);

#ifdef __cplusplus
}
#endif
