// SPDX-License-Identifier: Apache-2.0
/*
 * udp - receivers: sockets, recvmmsg, kernel drops, receive time
 *
 * A receiver is one thread with a libuv loop of its own, and one socket for each listen address (SO_REUSEPORT). uv_poll_t wakes it;
 * it then reads with recvmmsg(64) straight into the slots of a batch until the socket is empty. When the workers are behind and no
 * batch is free it leaves the datagrams in the socket's queue: the kernel drops what does not fit and tells how much
 * (SO_RXQ_OVFL). A datagram larger than a slot continues in a spill buffer and gets memory of its own.
 *
 * Threads: udp_* from the main thread; the receivers are threads of this module.
 */
#pragma once

#include "collector/pipeline/pipeline.h"

struct udp_config {
    const char *const *listen; /* "ADDR:PORT", ":PORT", "[V6]:PORT", "PORT" */
    size_t n_listen;
    unsigned n_receivers;
    size_t receive_buffer; /* octets asked for; 0 = 32 MiB */
};

struct udp_listener_info {
    char address[64];        /* as bound: [::]:2055 */
    uint64_t receive_buffer; /* usable octets that the kernel gave (half of SO_RCVBUF) */
    uint64_t datagrams, octets, kernel_dropped;
};

struct udp;

/* Opens and binds every socket. On failure why tells what, why, and what to type: "UDP 2055: address in use by softflowd[812]; ...".
 * WF_E_INUSE, WF_E_PERM, WF_E_INVAL (bad address), WF_E_IO. Where there is no IPv6, [::] becomes 0.0.0.0. */
int udp_new(const struct udp_config *config, struct pipeline *pipeline, struct udp **out, char *why,
            size_t why_len);
int udp_start(struct udp *udp);
/* Ends the receivers: at once, or (drain) when all that has arrived by now is read; what arrives later is turned away, so that a busy
 * sender can not hold up the end. */
void udp_stop(struct udp *udp, bool drain);
size_t udp_n_listeners(const struct udp *udp);
void udp_info(const struct udp *udp, size_t i, struct udp_listener_info *info);
void udp_free(struct udp *udp);

/* "ADDR:PORT" and its short forms to a socket address; WF_E_FORMAT. storage: struct sockaddr_storage. */
struct sockaddr_storage;
int udp_parse_address(const char *text, uint16_t default_port, struct sockaddr_storage *storage);
/* What is wrong with a text that udp_parse_address refused. */
const char *udp_address_fault(const char *text);
