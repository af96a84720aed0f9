#pragma once
// An HTTP server that takes bodies, on libmicrohttpd: a few threads, many connections, answers that may come later and from any thread.
// It bounds what clients can take up: time for head and body, bytes of one body, bytes of all, connections.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A running server.
typedef struct tidemark_posts tidemark_posts;
/// One request. Valid from the call of `begin` until it is answered and no handler of it runs any more.
typedef struct tidemark_post tidemark_post;

/// Why the body of a request was not taken.
typedef enum {
    /// The head is larger than `head_bytes`.
    TIDEMARK_POST_HEAD_TOO_LARGE = 1,
    /// The body is larger than `body_bytes`.
    TIDEMARK_POST_BODY_TOO_LARGE = 2,
    /// All bodies together would take more than `held_bytes`.
    TIDEMARK_POST_NO_ROOM = 3,
} tidemark_post_trouble;

/// Bounds on what clients can take up.
typedef struct {
    unsigned threads;
    /// Connections at one time; more wait in the system's queue.
    unsigned connections;
    /// The lines of a request before its body, bytes.
    size_t head_bytes;
    /// One body as it is sent, bytes.
    size_t body_bytes;
    /// All bodies that are held at one time, bytes.
    size_t held_bytes;
    /// Milliseconds from the start of a connection to the end of its first head.
    int64_t head_milliseconds;
    /// Milliseconds from the end of a head to the end of the body.
    int64_t body_milliseconds;
    /// Milliseconds from the end of an answer to the end of the next head on the same connection.
    int64_t idle_milliseconds;
} tidemark_posts_limits;

/// What the server calls, on its threads.
typedef struct {
    /// The head of a request is there. An answer given now is sent once the body has been read and thrown away.
    void (*begin)(void *context, tidemark_post *post);
    /// The whole body is there. The answer may come later.
    void (*finish)(void *context, tidemark_post *post);
    /// The request must be refused, by an answer that is given before the call returns.
    void (*refuse)(void *context, tidemark_post *post, tidemark_post_trouble trouble);
} tidemark_posts_handlers;

/// What a server has done, and what it holds now.
typedef struct {
    uint64_t connections;
    uint64_t requests;
    uint64_t held_bytes;
    /// Connections that took too long over a head, a body or an answer; closed by the server.
    uint64_t timed_out;
    /// Requests that broke off before their body was complete.
    uint64_t broken_off;
} tidemark_posts_figures;

/// Starts a server at a numeric address; port 0 takes one that is free. Returns null and an `errno` code in `error` when
/// that fails.
tidemark_posts *tidemark_posts_start(
    const char *host, uint16_t port, tidemark_posts_limits limits, tidemark_posts_handlers handlers, void *context,
    int *error);

/// The port that the server listens at.
uint16_t tidemark_posts_port(const tidemark_posts *server);

/// Takes no new connections any more, closes those that are idle, and gives bodies that are on their way a few seconds.
void tidemark_posts_quiesce(tidemark_posts *server);

/// Closes all connections and waits until no handler runs any more. Every request whose body was handed out must be answered.
void tidemark_posts_stop(tidemark_posts *server);

tidemark_posts_figures tidemark_posts_count(tidemark_posts *server);

const char *tidemark_post_method(const tidemark_post *post);
/// The path without query.
const char *tidemark_post_path(const tidemark_post *post);
/// The value of a header; null where there is none. Valid while a handler of the request runs.
const char *tidemark_post_header(const tidemark_post *post, const char *name);

/// The body, followed by readable bytes for a parser. Valid until the answer.
const uint8_t *tidemark_post_body(const tidemark_post *post);
size_t tidemark_post_body_size(const tidemark_post *post);

/// Gives the request further memory beside its body, until it is answered. Returns null when that would be more than `held_bytes`
/// for all, or there is none. A second call moves what the first one gave.
uint8_t *tidemark_post_reserve(tidemark_post *post, size_t size);

/// Answers; all that is given is copied. Exactly one call for each request.
/// `retry_after` is in seconds, negative for none; `challenge` is the value of WWW-Authenticate and `allow` that of Allow, or null.
typedef struct {
    unsigned status;
    int retry_after;
    bool closes;
    const char *challenge;
    const char *allow;
    const uint8_t *body;
    size_t size;
} tidemark_post_answer;
void tidemark_post_settle(tidemark_post *post, tidemark_post_answer answer);

#ifdef __cplusplus
}
#endif
