#pragma once
// An HTTP client on libcurl, whose variadic interface Swift cannot import. One request at a time; the connection is kept for the next one.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Keeps connections between requests; for one thread at a time.
typedef struct tidemark_curl tidemark_curl;

/// Asked several times a second while a request runs; true ends it.
typedef bool (*tidemark_curl_is_cancelled)(void *context);

/// What holds for all requests. Texts that are null are not used; all are copied.
typedef struct {
    /// `user:password`.
    const char *user_password;
    const char *bearer_token;
    /// Files in PEM: who is trusted instead of the system's authorities, and who the client is.
    const char *authorities_file;
    const char *certificate_file;
    const char *key_file;
    const char *key_password;
    /// Milliseconds until an answer has to be complete.
    long timeout;
    /// Bytes; a longer answer is an error.
    size_t answer_limit;
    tidemark_curl_is_cancelled is_cancelled;
    void *context;
} tidemark_curl_settings;

/// Why there is no answer.
typedef enum {
    tidemark_curl_ok = 0,
    tidemark_curl_cancelled,
    tidemark_curl_timeout,
    /// No connection, or it broke.
    tidemark_curl_unreachable,
    /// The server's certificate is not trusted, or not for its name.
    tidemark_curl_not_trusted,
    /// A file of the settings cannot be used, or the server wants another certificate of the client.
    tidemark_curl_bad_credentials,
    tidemark_curl_too_large,
    /// More redirects than are followed, or one from https to http.
    tidemark_curl_redirected,
    tidemark_curl_bad_url,
    tidemark_curl_other,
} tidemark_curl_result;

/// An answer; `body` is valid until the next request.
typedef struct {
    tidemark_curl_result result;
    /// Why there is none, in libcurl's words.
    const char *message;
    long status;
    const uint8_t *body;
    size_t count;
} tidemark_curl_answer;

/// Null where memory is short.
tidemark_curl *tidemark_curl_open(const tidemark_curl_settings *settings);
void tidemark_curl_close(tidemark_curl *client);

/// Sends a GET, or a POST where there is a body, and waits for the answer.
tidemark_curl_answer tidemark_curl_send(
    tidemark_curl *client, const char *url, const uint8_t *body, size_t count, const char *content_type,
    const char *accept);

#ifdef __cplusplus
}
#endif
