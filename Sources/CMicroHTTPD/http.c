#include "tidemark_http.h"

#include "listen.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tidemark_http {
    struct MHD_Daemon *daemon;
    uint16_t port;
    tidemark_http_handler handler;
    void *context;
};

struct tidemark_http_answer {
    struct MHD_Response *response;
    unsigned status;
};

static struct MHD_Response *make_response(const char *content_type, const void *body, size_t count) {
    // The library copies the bytes at once and does not change them.
    struct MHD_Response *response = MHD_create_response_from_buffer(count, (void *)body, MHD_RESPMEM_MUST_COPY);
    if (response == NULL) { return NULL; }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    // One request for each connection: nobody can hold connections by keeping them alive.
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    return response;
}

void tidemark_http_answer_set(
    tidemark_http_answer *answer, unsigned status, const char *content_type, const uint8_t *body, size_t count) {
    if (answer->response != NULL) { return; }
    answer->status = status;
    answer->response = make_response(content_type, body, count);
}

static enum MHD_Result queue(struct MHD_Connection *connection, tidemark_http_answer answer) {
    if (answer.response == NULL) { return MHD_NO; }
    enum MHD_Result result = MHD_queue_response(connection, answer.status, answer.response);
    MHD_destroy_response(answer.response);
    return result;
}

static enum MHD_Result refuse_method(struct MHD_Connection *connection) {
    static const char text[] = "only GET and HEAD are served\n";
    tidemark_http_answer answer = {
        make_response("text/plain; charset=utf-8", text, sizeof text - 1), MHD_HTTP_METHOD_NOT_ALLOWED};
    if (answer.response != NULL) { MHD_add_response_header(answer.response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD"); }
    return queue(connection, answer);
}

static enum MHD_Result handle(
    void *closure, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
    const char *upload, size_t *upload_size, void **request) {
    (void)version, (void)upload, (void)upload_size, (void)request;
    tidemark_http *server = closure;
    // Answered as soon as the head is there: a body, however long, is never waited for.
    bool is_served = strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    if (!is_served) { return refuse_method(connection); }
    tidemark_http_answer answer = {NULL, 0};
    server->handler(server->context, url, &answer);
    return queue(connection, answer);
}

tidemark_http *tidemark_http_start(
    const char *host, uint16_t port, tidemark_http_limits limits, tidemark_http_handler handler, void *context,
    int *error) {
    uint16_t bound = 0;
    int descriptor = tidemark_listen_at(host, port, 64, &bound);
    if (descriptor < 0) {
        *error = errno;
        return NULL;
    }
    tidemark_http *server = malloc(sizeof *server);
    if (server == NULL) {
        close(descriptor);
        *error = ENOMEM;
        return NULL;
    }
    *server = (tidemark_http){NULL, bound, handler, context};
    errno = 0;
    server->daemon = MHD_start_daemon(
        MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, handle, server,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)descriptor,
        MHD_OPTION_CONNECTION_LIMIT, limits.connections,
        MHD_OPTION_CONNECTION_TIMEOUT, limits.timeout_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits.connection_memory,
        MHD_OPTION_END);
    if (server->daemon == NULL) {
        *error = errno != 0 ? errno : EAGAIN;
        close(descriptor);
        free(server);
        return NULL;
    }
    return server;
}

uint16_t tidemark_http_port(const tidemark_http *server) { return server->port; }

void tidemark_http_stop(tidemark_http *server) {
    MHD_stop_daemon(server->daemon);
    free(server);
}
