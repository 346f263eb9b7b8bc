// SPDX-License-Identifier: Apache-2.0
#include "collector/input/send.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector/util/clock.h"

#define GROUP          16
#define MAX_PER_SECOND 40000
#define SEND_BUFFER    (4 << 20)

struct sender {
    int fd;
    unsigned n_in_group;
    int64_t group_began_ns;
    uint64_t n_refused;
};

/* "HOST:PORT" in two; false when it is not. */
static bool split(const char *to, char *host, size_t host_len, const char **port)
{
    const char *colon = strrchr(to, ':');
    if (!colon || colon == to || colon[1] == '\0') {
        return false;
    }
    size_t len = (size_t)(colon - to);
    if (to[0] == '[' && to[len - 1] == ']') {
        to++;
        len -= 2;
    } else if (memchr(to, ':', len)) {
        return false; /* an IPv6 address needs its brackets, or the port could be part of it */
    }
    if (len == 0 || len >= host_len) {
        return false;
    }
    memcpy(host, to, len);
    host[len] = '\0';
    *port = colon + 1;
    return true;
}

static int open_socket(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    /* Datagrams larger than the path's MTU go out in fragments, as the exporter's did. Best effort, as the buffer is. */
    int off = IP_PMTUDISC_DONT;
    int size = SEND_BUFFER;
    if (address->ai_family == AF_INET) {
        (void)setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &off, sizeof(off));
    } else {
        off = IPV6_PMTUDISC_DONT;
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &off, sizeof(off));
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    if (connect(fd, address->ai_addr, address->ai_addrlen) < 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

int sender_open(const char *to, struct sender **sender, char *why, size_t why_len)
{
    char host[256];
    const char *port = NULL;
    if (!split(to, host, sizeof(host), &port)) {
        snprintf(why, why_len,
                 "\"%s\" is not HOST:PORT; try --send 127.0.0.1:2055 or --send [::1]:2055", to);
        return WF_E_INVAL;
    }
    struct addrinfo *list = NULL;
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICSERV};
    int rc = getaddrinfo(host, port, &hints, &list);
    if (rc != 0) {
        snprintf(why, why_len, "%s: %s", to,
                 rc == EAI_NONAME ? "no such host, or no such port" : gai_strerror(rc));
        return WF_E_NOTFOUND;
    }
    int fd = -1;
    for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
        fd = open_socket(a);
    }
    int error = errno;
    freeaddrinfo(list);
    if (fd < 0) {
        snprintf(why, why_len, "%s: %s", to, strerrordesc_np(error));
        errno = error;
        return WF_E_IO;
    }
    struct sender *s = calloc(1, sizeof(*s));
    if (!s) {
        close(fd);
        snprintf(why, why_len, "out of memory");
        return WF_E_NOMEM;
    }
    s->fd = fd;
    *sender = s;
    return 0;
}

/* Waits after each group for the rest of the time that the group may take. */
static void pace(struct sender *sender)
{
    if (sender->n_in_group == 0) {
        sender->group_began_ns = clock_monotonic_ns();
    }
    if (++sender->n_in_group < GROUP) {
        return;
    }
    sender->n_in_group = 0;
    int64_t until_ns = sender->group_began_ns + WF_NS_PER_S / MAX_PER_SECOND * GROUP;
    struct timespec until = {.tv_sec = until_ns / WF_NS_PER_S, .tv_nsec = until_ns % WF_NS_PER_S};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
}

int sender_send(struct sender *sender, const uint8_t *data, size_t len)
{
    pace(sender);
    for (;;) {
        if (send(sender->fd, data, len, MSG_NOSIGNAL) >= 0) {
            return 0;
        }
        if (errno == ECONNREFUSED) {
            sender->n_refused++; /* an earlier one was; this one has not been sent yet */
        } else if (errno == ENOBUFS || errno == EAGAIN) {
            struct pollfd fd = {.fd = sender->fd, .events = POLLOUT};
            (void)poll(&fd, 1, 10);
        } else if (errno != EINTR) {
            return WF_E_IO;
        }
    }
}

uint64_t sender_refused(struct sender *sender)
{
    int error = 0;
    socklen_t len = sizeof(error);
    if (getsockopt(sender->fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == ECONNREFUSED) {
        sender->n_refused++;
    }
    return sender->n_refused;
}

void sender_free(struct sender *sender)
{
    if (sender) {
        close(sender->fd);
        free(sender);
    }
}
