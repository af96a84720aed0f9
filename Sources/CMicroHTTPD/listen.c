#include "listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int tidemark_listen_at(const char *host, uint16_t port, int backlog, uint16_t *bound) {
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    struct addrinfo *address = NULL;
    if (getaddrinfo(host, service, &hints, &address) != 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    int descriptor = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    struct sockaddr_storage name;
    socklen_t length = sizeof name;
    bool listens = descriptor >= 0 && setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                   bind(descriptor, address->ai_addr, address->ai_addrlen) == 0 && listen(descriptor, backlog) == 0 &&
                   getsockname(descriptor, (struct sockaddr *)&name, &length) == 0;
    int error = errno;
    freeaddrinfo(address);
    if (!listens) {
        if (descriptor >= 0) { close(descriptor); }
        errno = error;
        return -1;
    }
    *bound = ntohs(
        name.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&name)->sin6_port
                                   : ((struct sockaddr_in *)&name)->sin_port);
    return descriptor;
}
