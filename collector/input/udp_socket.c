// SPDX-License-Identifier: Apache-2.0
#include "collector/input/udp_socket.h"

#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector/util/clock.h"

int udp_scratch_init(struct udp_scratch *scratch)
{
    memset(scratch, 0, sizeof(*scratch));
    scratch->spill = malloc((size_t)BATCH_PACKETS * UDP_SPILL_BYTES);
    scratch->whole = malloc(BATCH_SLOT_BYTES + UDP_SPILL_BYTES);
    if (!scratch->spill || !scratch->whole) {
        udp_scratch_deinit(scratch);
        return WF_E_NOMEM;
    }
    for (unsigned i = 0; i < BATCH_PACKETS; i++) {
        struct msghdr *h = &scratch->message[i].msg_hdr;
        scratch->iov[i][0].iov_len = BATCH_SLOT_BYTES;
        scratch->iov[i][1] =
            (struct iovec){scratch->spill + (size_t)i * UDP_SPILL_BYTES, UDP_SPILL_BYTES};
        h->msg_iov = scratch->iov[i];
        h->msg_iovlen = 2;
        h->msg_name = &scratch->from[i];
        h->msg_namelen = sizeof(scratch->from[i]);
        h->msg_control = scratch->control[i];
        h->msg_controllen = sizeof(scratch->control[i]);
    }
    return WF_OK;
}

void udp_scratch_deinit(struct udp_scratch *scratch)
{
    free(scratch->spill);
    free(scratch->whole);
    scratch->spill = NULL;
    scratch->whole = NULL;
}

static int set_int(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value));
}

/* The kernel doubles what it is asked for; FORCE needs CAP_NET_ADMIN, the other stops at net.core.rmem_max. */
static void ask_for_buffer(int fd, size_t octets)
{
    int value = octets < INT32_MAX / 2 ? (int)octets : INT32_MAX / 2;
    if (set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, value) < 0) {
        (void)set_int(fd, SOL_SOCKET, SO_RCVBUF, value); /* what was got is read back and told */
    }
}

int udp_socket_open(struct udp_socket *s, const struct sockaddr_storage *address, bool reuse_port,
                    size_t receive_buffer)
{
    s->overflow_seen = 0;
    atomic_init(&s->datagrams, 0);
    atomic_init(&s->octets, 0);
    atomic_init(&s->kernel_dropped, 0);
    s->fd = socket(address->ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->fd < 0) {
        return WF_E_IO;
    }
    socklen_t len = sizeof(struct sockaddr_in);
    if (address->ss_family == AF_INET6) {
        len = sizeof(struct sockaddr_in6);
        (void)set_int(s->fd, IPPROTO_IPV6, IPV6_V6ONLY, 0); /* [::] takes IPv4 too */
    }
    if (reuse_port) {
        (void)set_int(s->fd, SOL_SOCKET, SO_REUSEPORT, 1); /* bind tells when it did not work */
    }
    ask_for_buffer(s->fd, receive_buffer);
    /* Without these there are no drop counts and no kernel times: less to know, nothing to fail for. */
    (void)set_int(s->fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
    (void)set_int(s->fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
    if (bind(s->fd, (const struct sockaddr *)address, len) < 0) {
        int error = errno;
        udp_socket_close(s);
        errno = error;
        return error == EADDRINUSE                 ? WF_E_INUSE
               : error == EACCES || error == EPERM ? WF_E_PERM
                                                   : WF_E_IO;
    }
    return WF_OK;
}

void udp_socket_close(struct udp_socket *s)
{
    if (s->fd >= 0) {
        close(s->fd);
        s->fd = -1;
    }
}

uint64_t udp_socket_buffer(const struct udp_socket *s)
{
    int value = 0;
    socklen_t len = sizeof(value);
    if (getsockopt(s->fd, SOL_SOCKET, SO_RCVBUF, &value, &len) < 0 || value < 0) {
        return 0;
    }
    return (uint64_t)value / 2;
}

static struct wf_addr address_of(const struct sockaddr_storage *from, uint16_t *port)
{
    if (from->ss_family == AF_INET6) {
        struct sockaddr_in6 six;
        memcpy(&six, from, sizeof(six));
        *port = ntohs(six.sin6_port);
        return wf_addr_v6(six.sin6_addr.s6_addr);
    }
    struct sockaddr_in four;
    uint8_t bytes[4];
    memcpy(&four, from, sizeof(four));
    memcpy(bytes, &four.sin_addr, sizeof(bytes));
    *port = ntohs(four.sin_port);
    return wf_addr_v4(bytes);
}

/* now: the socket's drops since it was opened, as some datagram or the kernel itself tells. A datagram tells of the moment it was queued, which
 * may be before what is known already. */
static void note_overflow(struct udp_socket *s, uint32_t now)
{
    uint32_t new_drops = now - s->overflow_seen;
    if (new_drops == 0 || new_drops > INT32_MAX) {
        return;
    }
    s->overflow_seen = now;
    /* relaxed: a counter, one writer */
    atomic_fetch_add_explicit(&s->kernel_dropped, new_drops, memory_order_relaxed);
}

void udp_socket_shut(struct udp_socket *s)
{
    struct sock_filter nothing[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
    const struct sock_fprog program = {.len = 1, .filter = nothing};
    uint32_t info[SK_MEMINFO_VARS] = {0};
    socklen_t len = sizeof(info);
    /* Before the filter: what it turns away counts as dropped too, but came after the end. */
    if (getsockopt(s->fd, SOL_SOCKET, SO_MEMINFO, info, &len) == 0) {
        note_overflow(s, info[SK_MEMINFO_DROPS]);
    }
    (void)setsockopt(s->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

/* Kernel receive time (0 = not told) and the drop count, from the ancillary data. */
static int64_t read_control(struct udp_socket *s, struct msghdr *h)
{
    int64_t received_ns = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
        if (c->cmsg_level != SOL_SOCKET) {
            continue;
        }
        if (c->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec t;
            memcpy(&t, CMSG_DATA(c), sizeof(t));
            received_ns = t.tv_sec * WF_NS_PER_S + t.tv_nsec;
        } else if (c->cmsg_type == SO_RXQ_OVFL) {
            uint32_t overflow;
            memcpy(&overflow, CMSG_DATA(c), sizeof(overflow));
            note_overflow(s, overflow);
        }
    }
    return received_ns;
}

/* The octets of message i: in its slot, or put together from slot and spill. */
static const uint8_t *octets_of(struct udp_scratch *scratch, const uint8_t *slot, unsigned i,
                                size_t len)
{
    if (len <= BATCH_SLOT_BYTES) {
        return slot;
    }
    memcpy(scratch->whole, slot, BATCH_SLOT_BYTES);
    memcpy(scratch->whole + BATCH_SLOT_BYTES, scratch->iov[i][1].iov_base, len - BATCH_SLOT_BYTES);
    return scratch->whole;
}

unsigned udp_socket_read(struct udp_socket *s, struct udp_scratch *scratch,
                         struct producer *producer, struct batch *batch)
{
    unsigned first = batch->n_packets;
    unsigned room = BATCH_PACKETS - first;
    for (unsigned i = 0; i < room; i++) {
        scratch->iov[i][0].iov_base = batch->storage + (size_t)(first + i) * BATCH_SLOT_BYTES;
    }
    int n;
    do {
        n = recvmmsg(s->fd, scratch->message, room, MSG_DONTWAIT, NULL);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) {
        return 0; /* empty; an error of one datagram (ICMP) is gone with this call */
    }
    uint64_t octets = 0;
    for (unsigned i = 0; i < (unsigned)n; i++) {
        struct msghdr *h = &scratch->message[i].msg_hdr;
        struct decoder_datagram datagram = {.len = scratch->message[i].msg_len};
        datagram.data = octets_of(scratch, scratch->iov[i][0].iov_base, i, datagram.len);
        datagram.exporter = address_of(&scratch->from[i], &datagram.port);
        datagram.received_ns = read_control(s, h);
        if (!datagram.received_ns) {
            datagram.received_ns = clock_wall_ns();
        }
        octets += datagram.len;
        /* When one before was dropped (a large one over its budget) this one moves down a slot. */
        (void)producer_add(producer, batch, &datagram);
        h->msg_namelen = sizeof(scratch->from[i]);
        h->msg_controllen = sizeof(scratch->control[i]);
    }
    atomic_fetch_add_explicit(&s->datagrams, (unsigned)n,
                              memory_order_relaxed); /* counters, one writer */
    atomic_fetch_add_explicit(&s->octets, octets, memory_order_relaxed);
    return (unsigned)n;
}
