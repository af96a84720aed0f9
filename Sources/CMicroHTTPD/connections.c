#include "connections.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

/// How often limits are looked at.
enum { LOOK_MILLISECONDS = 100 };

struct tidemark_connection {
    tidemark_connections *all;
    tidemark_connection *next;
    tidemark_connection *previous;
    int descriptor;
    /// On the monotonic clock, milliseconds.
    atomic_llong deadline;
    /// Between two requests: closing it then is nobody's fault.
    atomic_bool is_idle;
};

struct tidemark_connections {
    pthread_mutex_t lock;
    pthread_cond_t ending;
    pthread_t thread;
    bool is_ending;
    tidemark_connection *first;
    uint64_t count;
    uint64_t timed_out;
};

static int64_t milliseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void close_late(tidemark_connections *all) {
    int64_t now = milliseconds_now();
    for (tidemark_connection *each = all->first; each != NULL; each = each->next) {
        if (atomic_load(&each->deadline) > now) { continue; }
        atomic_store(&each->deadline, INT64_MAX);
        // Asked before it is closed: after that the server's thread may have called it idle.
        if (!atomic_load(&each->is_idle)) { all->timed_out++; }
        // The server's thread sees the end of it, and cleans up. The descriptor is still its own: closing takes our lock first.
        shutdown(each->descriptor, SHUT_RDWR);
    }
}

static void *watch(void *argument) {
    tidemark_connections *all = argument;
    pthread_mutex_lock(&all->lock);
    while (!all->is_ending) {
        close_late(all);
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_MILLISECONDS * 1000000L;
        if (until.tv_nsec >= 1000000000L) {
            until.tv_nsec -= 1000000000L;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&all->ending, &all->lock, &until);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

tidemark_connections *tidemark_connections_start(void) {
    tidemark_connections *all = calloc(1, sizeof *all);
    if (all == NULL) { return NULL; }
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->ending, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&all->thread, NULL, watch, all) == 0) { return all; }
    free(all);
    return NULL;
}

void tidemark_connections_stop(tidemark_connections *all) {
    pthread_mutex_lock(&all->lock);
    all->is_ending = true;
    pthread_cond_signal(&all->ending);
    pthread_mutex_unlock(&all->lock);
    pthread_join(all->thread, NULL);
    pthread_cond_destroy(&all->ending);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

uint64_t tidemark_connections_count(tidemark_connections *all, uint64_t *timed_out) {
    pthread_mutex_lock(&all->lock);
    uint64_t count = all->count;
    *timed_out = all->timed_out;
    pthread_mutex_unlock(&all->lock);
    return count;
}

void tidemark_connections_hurry(tidemark_connections *all, int64_t milliseconds) {
    int64_t limit = milliseconds_now() + milliseconds;
    pthread_mutex_lock(&all->lock);
    for (tidemark_connection *each = all->first; each != NULL; each = each->next) {
        long long deadline = atomic_load(&each->deadline);
        if (deadline != INT64_MAX && deadline > limit) {
            // Where the server's thread has just set another one, that one stands.
            atomic_compare_exchange_strong(&each->deadline, &deadline, limit);
        }
    }
    pthread_mutex_unlock(&all->lock);
}

tidemark_connection *tidemark_connection_open(tidemark_connections *all, int descriptor, int64_t milliseconds) {
    tidemark_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) { return NULL; }
    connection->all = all;
    connection->descriptor = descriptor;
    tidemark_connection_limit(connection, milliseconds);
    pthread_mutex_lock(&all->lock);
    connection->next = all->first;
    if (all->first != NULL) { all->first->previous = connection; }
    all->first = connection;
    all->count++;
    pthread_mutex_unlock(&all->lock);
    return connection;
}

void tidemark_connection_close(tidemark_connection *connection) {
    if (connection == NULL) { return; }
    tidemark_connections *all = connection->all;
    pthread_mutex_lock(&all->lock);
    if (connection->previous != NULL) {
        connection->previous->next = connection->next;
    } else {
        all->first = connection->next;
    }
    if (connection->next != NULL) { connection->next->previous = connection->previous; }
    all->count--;
    pthread_mutex_unlock(&all->lock);
    free(connection);
}

void tidemark_connection_limit(tidemark_connection *connection, int64_t milliseconds) {
    atomic_store(&connection->is_idle, false);
    atomic_store(&connection->deadline, milliseconds_now() + milliseconds);
}

void tidemark_connection_idle(tidemark_connection *connection, int64_t milliseconds) {
    atomic_store(&connection->is_idle, true);
    atomic_store(&connection->deadline, milliseconds_now() + milliseconds);
}

void tidemark_connection_wait(tidemark_connection *connection) { atomic_store(&connection->deadline, INT64_MAX); }
