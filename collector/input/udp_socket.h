// SPDX-License-Identifier: Apache-2.0
/*
 * udp_socket - opening and reading one listening socket (inside the room only)
 */
#pragma once

#include <sys/socket.h>

#include <stdatomic.h>

#include "collector/input/udp.h"

#define UDP_SPILL_BYTES (65536 - BATCH_SLOT_BYTES)

/* What one recvmmsg needs; one receiver's. */
struct udp_scratch {
    struct mmsghdr message[BATCH_PACKETS];
    struct iovec iov[BATCH_PACKETS][2];
    struct sockaddr_storage from[BATCH_PACKETS];
    uint8_t control[BATCH_PACKETS][128];
    uint8_t *spill; /* BATCH_PACKETS * UDP_SPILL_BYTES octets: what does not fit into a slot */
    uint8_t *whole; /* 64 KiB: a large datagram, put together */
};

struct udp_socket {
    int fd;
    uint32_t overflow_seen; /* the kernel's count of drops goes on modulo 2^32 */
    atomic_uint_least64_t datagrams, octets, kernel_dropped;
};

int udp_scratch_init(struct udp_scratch *scratch);
void udp_scratch_deinit(struct udp_scratch *scratch);

/* Bound, not blocking, with every option set. 0, or WF_E_INUSE, WF_E_PERM, WF_E_IO with errno set. */
int udp_socket_open(struct udp_socket *socket, const struct sockaddr_storage *address,
                    bool reuse_port, size_t receive_buffer);
void udp_socket_close(struct udp_socket *socket);
/* Octets of payload that the kernel really holds (half of what it accounts for). */
uint64_t udp_socket_buffer(const struct udp_socket *socket);
/* Nothing new comes in; what is queued can still be read. Also learns of drops that no later datagram told of. */
void udp_socket_shut(struct udp_socket *socket);
/* One recvmmsg into the batch (which has room for at least one more). Number of datagrams, 0 = none left. */
unsigned udp_socket_read(struct udp_socket *socket, struct udp_scratch *scratch,
                         struct producer *producer, struct batch *batch);
