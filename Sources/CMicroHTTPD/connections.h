#pragma once
// The connections of a server, each with the moment by which it must have got on. A thread closes those that have not: a time limit
// for silence alone, which is all that libmicrohttpd has, would let a client live on a byte now and then.

#include <stdint.h>

typedef struct tidemark_connections tidemark_connections;
typedef struct tidemark_connection tidemark_connection;

/// Starts the thread; null when that fails.
tidemark_connections *tidemark_connections_start(void);
/// Ends it; all connections must have been closed.
void tidemark_connections_stop(tidemark_connections *all);
/// How many there are, and how many took too long so far.
uint64_t tidemark_connections_count(tidemark_connections *all, uint64_t *timed_out);
/// Gives every connection that is not waited for by us no longer than this.
void tidemark_connections_hurry(tidemark_connections *all, int64_t milliseconds);

/// Adds a connection; null when memory is short.
tidemark_connection *tidemark_connection_open(tidemark_connections *all, int descriptor, int64_t milliseconds);
/// Takes it out, before its descriptor is closed.
void tidemark_connection_close(tidemark_connection *connection);
/// Begins a new limit.
void tidemark_connection_limit(tidemark_connection *connection, int64_t milliseconds);
/// Begins a limit for the next request; running into it is no fault of the client.
void tidemark_connection_idle(tidemark_connection *connection, int64_t milliseconds);
/// No limit, while it is us who take the time.
void tidemark_connection_wait(tidemark_connection *connection);
