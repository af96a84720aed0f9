#include "tidemark_posts.h"

#include "connections.h"
#include "listen.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/// What a parser may read behind a body.
enum { PADDING = 64 };
/// The room that a body of unknown or great length begins with.
enum { FIRST_ROOM = 64 * 1024 };
/// A refused body is read up to so many times `body_bytes`, so that the client gets to read its answer; then the connection is closed.
enum { PATIENCE = 8 };
/// How long a client may take to read an answer.
enum { ANSWER_MILLISECONDS = 10 * 1000 };
/// What bodies on their way get when the server comes to an end.
enum { LAST_MILLISECONDS = 5 * 1000 };

struct tidemark_posts {
    struct MHD_Daemon *daemon;
    uint16_t port;
    tidemark_posts_limits limits;
    tidemark_posts_handlers handlers;
    void *context;
    tidemark_connections *connections;
    atomic_size_t held;
    atomic_size_t requests;
    atomic_ullong broken_off;
    atomic_bool is_ending;
};

struct tidemark_post {
    tidemark_posts *server;
    struct MHD_Connection *connection;
    tidemark_connection *link;
    const char *method;
    char *path;
    /// The body, and its room without padding.
    uint8_t *body;
    size_t size;
    size_t room;
    /// From `tidemark_post_reserve`.
    uint8_t *extra;
    size_t extra_size;
    size_t declared;
    size_t thrown_away;
    tidemark_post_trouble trouble;
    bool is_suspended;
    struct MHD_Response *response;
    unsigned status;
};

// MARK: Memory

/// Takes so many bytes out of what all requests may hold.
static bool hold(tidemark_posts *server, size_t size) {
    size_t before = atomic_fetch_add(&server->held, size);
    if (size <= server->limits.held_bytes && before <= server->limits.held_bytes - size) { return true; }
    atomic_fetch_sub(&server->held, size);
    return false;
}

static void release(tidemark_post *post) {
    atomic_fetch_sub(&post->server->held, post->room + post->extra_size);
    free(post->body);
    free(post->extra);
    post->body = post->extra = NULL;
    post->size = post->room = post->extra_size = 0;
}

/// Makes room for a body of `size` bytes; grows with what has arrived and not with what was announced, so that announcing costs nobody.
static bool make_room(tidemark_post *post, size_t size) {
    if (size <= post->room) { return true; }
    size_t room = post->room * 2 > size ? post->room * 2 : size;
    if (room < FIRST_ROOM) { room = FIRST_ROOM; }
    if (post->declared > 0 && room > post->declared) { room = post->declared > size ? post->declared : size; }
    size_t more = room - post->room;
    if (!hold(post->server, more)) { return false; }
    uint8_t *body = realloc(post->body, room + PADDING);
    if (body == NULL) {
        atomic_fetch_sub(&post->server->held, more);
        return false;
    }
    post->body = body;
    post->room = room;
    return true;
}

uint8_t *tidemark_post_reserve(tidemark_post *post, size_t size) {
    if (size > post->extra_size) {
        size_t more = size - post->extra_size;
        if (!hold(post->server, more)) { return NULL; }
        uint8_t *extra = realloc(post->extra, size + PADDING);
        if (extra == NULL) {
            atomic_fetch_sub(&post->server->held, more);
            return NULL;
        }
        post->extra = extra;
        post->extra_size = size;
    }
    return post->extra;
}

// MARK: Answers

void tidemark_post_settle(tidemark_post *post, tidemark_post_answer answer) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(answer.size, (void *)answer.body, MHD_RESPMEM_MUST_COPY);
    if (response != NULL) {
        char number[16];
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
        MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
        if (answer.closes) { MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close"); }
        if (answer.retry_after >= 0) {
            snprintf(number, sizeof number, "%d", answer.retry_after);
            MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, number);
        }
        if (answer.challenge) { MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, answer.challenge); }
        if (answer.allow) { MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, answer.allow); }
    }
    post->response = response;
    post->status = answer.status;
    release(post);
    // Once it goes on, the request may be gone before the call returns.
    if (post->is_suspended) { MHD_resume_connection(post->connection); }
}

static enum MHD_Result send_answer(tidemark_post *post) {
    struct MHD_Response *response = post->response;
    if (response == NULL) { return MHD_NO; }
    post->response = NULL;
    tidemark_connection_limit(post->link, ANSWER_MILLISECONDS);
    enum MHD_Result result = MHD_queue_response(post->connection, post->status, response);
    MHD_destroy_response(response);
    return result;
}

// MARK: The course of a request

static enum MHD_Result add_size(void *total, enum MHD_ValueKind kind, const char *key, const char *value) {
    (void)kind;
    *(size_t *)total += strlen(key) + (value ? strlen(value) : 0) + 4;
    return MHD_YES;
}

static tidemark_post *make_post(
    tidemark_posts *server, struct MHD_Connection *connection, const char *url, const char *method) {
    tidemark_post *post = calloc(1, sizeof *post);
    if (post == NULL) { return NULL; }
    post->server = server;
    post->connection = connection;
    post->method = method;
    post->path = strdup(url);
    post->link = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (length != NULL) { post->declared = strtoull(length, NULL, 10); }
    if (post->path != NULL && post->link != NULL) { return post; }
    free(post->path);
    free(post);
    return NULL;
}

static enum MHD_Result begin(
    tidemark_posts *server, struct MHD_Connection *connection, const char *url, const char *method, void **request) {
    tidemark_post *post = make_post(server, connection, url, method);
    if (post == NULL) { return MHD_NO; }
    *request = post;
    atomic_fetch_add(&server->requests, 1);
    size_t head = strlen(method) + strlen(url);
    MHD_get_connection_values(connection, MHD_HEADER_KIND, add_size, &head);
    if (head > server->limits.head_bytes) {
        post->trouble = TIDEMARK_POST_HEAD_TOO_LARGE;
    } else {
        server->handlers.begin(server->context, post);
        if (post->declared > server->limits.body_bytes) { post->trouble = TIDEMARK_POST_BODY_TOO_LARGE; }
    }
    tidemark_connection_limit(
        post->link, atomic_load(&server->is_ending) ? LAST_MILLISECONDS : server->limits.body_milliseconds);
    const char *expectation = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_EXPECT);
    bool waits = expectation != NULL && strcasecmp(expectation, "100-continue") == 0;
    bool is_endless = post->declared / PATIENCE > server->limits.body_bytes;
    // Refused before the body is sent, or because it would take too long to read: the connection ends with the answer.
    if ((post->response != NULL || post->trouble != 0) && (waits || is_endless)) {
        if (post->response == NULL) { server->handlers.refuse(server->context, post, post->trouble); }
        return send_answer(post);
    }
    return MHD_YES;
}

/// Takes a piece of the body, or throws it away. False gives the connection up.
static bool take(tidemark_post *post, const char *bytes, size_t count) {
    const tidemark_posts_limits *limits = &post->server->limits;
    if (post->response == NULL && post->trouble == 0) {
        if (count > limits->body_bytes || post->size > limits->body_bytes - count) {
            post->trouble = TIDEMARK_POST_BODY_TOO_LARGE;
        } else if (!make_room(post, post->size + count)) {
            post->trouble = TIDEMARK_POST_NO_ROOM;
        } else {
            memcpy(post->body + post->size, bytes, count);
            post->size += count;
            return true;
        }
        post->thrown_away = post->size;
        release(post);
    }
    post->thrown_away += count;
    return post->thrown_away / PATIENCE <= limits->body_bytes;
}

static enum MHD_Result finish(tidemark_post *post) {
    tidemark_posts *server = post->server;
    if (post->response == NULL && post->trouble != 0) { server->handlers.refuse(server->context, post, post->trouble); }
    if (post->response != NULL || post->trouble != 0) { return send_answer(post); }
    if (post->size > 0) { memset(post->body + post->size, 0, PADDING); }
    tidemark_connection_wait(post->link);
    // Before the handler, because the answer may come from another thread at once.
    post->is_suspended = true;
    MHD_suspend_connection(post->connection);
    server->handlers.finish(server->context, post);
    return MHD_YES;
}

static enum MHD_Result handle(
    void *closure, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
    const char *upload, size_t *upload_size, void **request) {
    (void)version;
    tidemark_post *post = *request;
    if (post == NULL) { return begin(closure, connection, url, method, request); }
    if (*upload_size > 0) {
        bool goes_on = take(post, upload, *upload_size);
        *upload_size = 0;
        return goes_on ? MHD_YES : MHD_NO;
    }
    if (post->is_suspended) {
        post->is_suspended = false;
        return send_answer(post);
    }
    return finish(post);
}

static void completed(
    void *closure, struct MHD_Connection *connection, void **request, enum MHD_RequestTerminationCode code) {
    (void)connection;
    tidemark_posts *server = closure;
    tidemark_post *post = *request;
    if (post == NULL) { return; }
    if (code != MHD_REQUEST_TERMINATED_COMPLETED_OK && post->status == 0) { atomic_fetch_add(&server->broken_off, 1); }
    release(post);
    if (post->response != NULL) { MHD_destroy_response(post->response); }
    bool is_ending = atomic_load(&server->is_ending);
    tidemark_connection_idle(post->link, is_ending ? 0 : server->limits.idle_milliseconds);
    free(post->path);
    free(post);
    *request = NULL;
    atomic_fetch_sub(&server->requests, 1);
}

static void notice_connection(
    void *closure, struct MHD_Connection *connection, void **link, enum MHD_ConnectionNotificationCode code) {
    tidemark_posts *server = closure;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        tidemark_connection_close(*link);
        *link = NULL;
        return;
    }
    int descriptor = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    *link = tidemark_connection_open(server->connections, descriptor, server->limits.head_milliseconds);
}

// MARK: The server

static struct MHD_Daemon *start_daemon(tidemark_posts *server, int descriptor) {
    // Twice a head: the other half is what a body is read through.
    size_t memory = server->limits.head_bytes * 2;
    struct MHD_OptionItem pool[] = {
        {MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)server->limits.threads, NULL}, {MHD_OPTION_END, 0, NULL}};
    // A pool of one thread is none to the library.
    if (server->limits.threads < 2) { pool[0].option = MHD_OPTION_END; }
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, server,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)descriptor,
        MHD_OPTION_CONNECTION_LIMIT, server->limits.connections,
        // Silence is not what counts: a client that sends a byte now and then is slow, too.
        MHD_OPTION_CONNECTION_TIMEOUT, 0u,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory < 16384 ? (size_t)16384 : memory,
        MHD_OPTION_NOTIFY_CONNECTION, notice_connection, server,
        MHD_OPTION_NOTIFY_COMPLETED, completed, server,
        MHD_OPTION_ARRAY, pool,
        MHD_OPTION_END);
}

tidemark_posts *tidemark_posts_start(
    const char *host, uint16_t port, tidemark_posts_limits limits, tidemark_posts_handlers handlers, void *context,
    int *error) {
    uint16_t bound = 0;
    int descriptor = tidemark_listen_at(host, port, 1024, &bound);
    if (descriptor < 0) {
        *error = errno;
        return NULL;
    }
    tidemark_posts *server = calloc(1, sizeof *server);
    tidemark_connections *connections = tidemark_connections_start();
    if (server != NULL && connections != NULL) {
        server->port = bound;
        server->limits = limits;
        server->handlers = handlers;
        server->context = context;
        server->connections = connections;
        errno = 0;
        server->daemon = start_daemon(server, descriptor);
        if (server->daemon != NULL) { return server; }
    }
    *error = errno != 0 ? errno : EAGAIN;
    if (connections != NULL) { tidemark_connections_stop(connections); }
    close(descriptor);
    free(server);
    return NULL;
}

uint16_t tidemark_posts_port(const tidemark_posts *server) { return server->port; }

void tidemark_posts_quiesce(tidemark_posts *server) {
    if (atomic_exchange(&server->is_ending, true)) { return; }
    MHD_socket descriptor = MHD_quiesce_daemon(server->daemon);
    if (descriptor != MHD_INVALID_SOCKET) { close(descriptor); }
    tidemark_connections_hurry(server->connections, LAST_MILLISECONDS);
}

void tidemark_posts_stop(tidemark_posts *server) {
    tidemark_posts_quiesce(server);
    MHD_stop_daemon(server->daemon);
    tidemark_connections_stop(server->connections);
    free(server);
}

tidemark_posts_figures tidemark_posts_count(tidemark_posts *server) {
    tidemark_posts_figures figures = {0};
    figures.connections = tidemark_connections_count(server->connections, &figures.timed_out);
    figures.requests = atomic_load(&server->requests);
    figures.held_bytes = atomic_load(&server->held);
    figures.broken_off = atomic_load(&server->broken_off);
    return figures;
}

// MARK: Requests as handlers see them

const char *tidemark_post_method(const tidemark_post *post) { return post->method; }
const char *tidemark_post_path(const tidemark_post *post) { return post->path; }

const char *tidemark_post_header(const tidemark_post *post, const char *name) {
    return MHD_lookup_connection_value(post->connection, MHD_HEADER_KIND, name);
}

const uint8_t *tidemark_post_body(const tidemark_post *post) { return post->body; }
size_t tidemark_post_body_size(const tidemark_post *post) { return post->size; }
