#include "tidemark_curl.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct tidemark_curl {
    CURL *handle;
    uint8_t *body;
    size_t count, capacity, limit;
    bool is_too_large;
    tidemark_curl_is_cancelled is_cancelled;
    void *context;
    char message[CURL_ERROR_SIZE];
};

static pthread_once_t initialised = PTHREAD_ONCE_INIT;

static void initialise(void) { curl_global_init(CURL_GLOBAL_DEFAULT); }

static size_t take(char *bytes, size_t size, size_t count, void *context) {
    tidemark_curl *client = context;
    size_t length = size * count;
    if (length > client->limit - client->count) {
        client->is_too_large = true;
        return 0;
    }
    if (client->count + length > client->capacity) {
        size_t capacity = (client->count + length) * 2;
        uint8_t *body = realloc(client->body, capacity);
        if (body == NULL) { return 0; }
        client->body = body;
        client->capacity = capacity;
    }
    memcpy(client->body + client->count, bytes, length);
    client->count += length;
    return length;
}

static int progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
    (void)a, (void)b, (void)c, (void)d;
    tidemark_curl *client = context;
    return client->is_cancelled != NULL && client->is_cancelled(client->context) ? 1 : 0;
}

tidemark_curl *tidemark_curl_open(const tidemark_curl_settings *settings) {
    pthread_once(&initialised, initialise);
    tidemark_curl *client = calloc(1, sizeof *client);
    if (client == NULL) { return NULL; }
    CURL *handle = curl_easy_init();
    if (handle == NULL) {
        free(client);
        return NULL;
    }
    client->handle = handle;
    client->limit = settings->answer_limit;
    client->is_cancelled = settings->is_cancelled;
    client->context = settings->context;
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, client->message);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, client);
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, progress);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, client);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, settings->timeout);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, settings->timeout);
    curl_easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(handle, CURLOPT_USERAGENT, "tidemark");
    // Neither ~/.netrc nor cookies: what is sent is what the settings say.
    curl_easy_setopt(handle, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(handle, CURLOPT_MAXREDIRS, 3L);
    curl_easy_setopt(handle, CURLOPT_POSTREDIR, (long)CURL_REDIR_POST_ALL);
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    if (settings->authorities_file != NULL) { curl_easy_setopt(handle, CURLOPT_CAINFO, settings->authorities_file); }
    if (settings->certificate_file != NULL) { curl_easy_setopt(handle, CURLOPT_SSLCERT, settings->certificate_file); }
    if (settings->key_file != NULL) { curl_easy_setopt(handle, CURLOPT_SSLKEY, settings->key_file); }
    if (settings->key_password != NULL) { curl_easy_setopt(handle, CURLOPT_KEYPASSWD, settings->key_password); }
    // libcurl keeps both to the host that the request was for, whatever it is redirected to.
    if (settings->user_password != NULL) {
        curl_easy_setopt(handle, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        curl_easy_setopt(handle, CURLOPT_USERPWD, settings->user_password);
    } else if (settings->bearer_token != NULL) {
        curl_easy_setopt(handle, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
        curl_easy_setopt(handle, CURLOPT_XOAUTH2_BEARER, settings->bearer_token);
    }
    return client;
}

void tidemark_curl_close(tidemark_curl *client) {
    if (client == NULL) { return; }
    curl_easy_cleanup(client->handle);
    free(client->body);
    free(client);
}

static tidemark_curl_result result_of(CURLcode code, const tidemark_curl *client) {
    switch (code) {
    case CURLE_OK: return tidemark_curl_ok;
    case CURLE_ABORTED_BY_CALLBACK: return tidemark_curl_cancelled;
    case CURLE_OPERATION_TIMEDOUT: return tidemark_curl_timeout;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_WEIRD_SERVER_REPLY: return tidemark_curl_unreachable;
    case CURLE_RECV_ERROR:
        // How OpenSSL tells that the server wants another certificate, or any.
        return strstr(client->message, "alert") != NULL && strstr(client->message, "certificate") != NULL
            ? tidemark_curl_bad_credentials : tidemark_curl_unreachable;
    case CURLE_PEER_FAILED_VERIFICATION: return tidemark_curl_not_trusted;
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM: return tidemark_curl_bad_credentials;
    case CURLE_TOO_MANY_REDIRECTS: return tidemark_curl_redirected;
    case CURLE_UNSUPPORTED_PROTOCOL:
        if (strstr(client->message, "HTTP/0.9") != NULL) { return tidemark_curl_unreachable; }
        return strncasecmp(client->message, "Protocol", 8) == 0 ? tidemark_curl_redirected : tidemark_curl_bad_url;
    case CURLE_URL_MALFORMAT: return tidemark_curl_bad_url;
    case CURLE_WRITE_ERROR: return client->is_too_large ? tidemark_curl_too_large : tidemark_curl_other;
    default: return tidemark_curl_other;
    }
}

static struct curl_slist *header(struct curl_slist *list, const char *name, const char *value) {
    char line[256];
    snprintf(line, sizeof line, "%s: %s", name, value);
    return curl_slist_append(list, line);
}

tidemark_curl_answer tidemark_curl_send(
    tidemark_curl *client, const char *url, const uint8_t *body, size_t count, const char *content_type,
    const char *accept) {
    CURL *handle = client->handle;
    struct curl_slist *headers = header(NULL, "Accept", accept);
    client->count = 0;
    client->is_too_large = false;
    client->message[0] = 0;
    curl_easy_setopt(handle, CURLOPT_URL, url);
    // Credentials that were given for an encrypted connection do not go over a plain one.
    curl_easy_setopt(
        handle, CURLOPT_REDIR_PROTOCOLS_STR, strncasecmp(url, "https:", 6) == 0 ? "https" : "http,https");
    if (body != NULL) {
        headers = header(headers, "Content-Type", content_type);
        // No question beforehand whether the body may come: some servers never answer it.
        headers = header(headers, "Expect", "");
        curl_easy_setopt(handle, CURLOPT_POST, 1L);
        curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
        curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body);
    } else {
        curl_easy_setopt(handle, CURLOPT_HTTPGET, 1L);
    }
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    CURLcode code = curl_easy_perform(handle);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    tidemark_curl_answer answer = {.result = result_of(code, client), .body = client->body, .count = client->count};
    answer.message = client->message[0] != 0 ? client->message : curl_easy_strerror(code);
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &answer.status);
    return answer;
}
