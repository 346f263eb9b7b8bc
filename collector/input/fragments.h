// SPDX-License-Identifier: Apache-2.0
/*
 * fragments - puts IP fragments together with bounded memory
 *
 * Inside the input room: packet.c finds the fragments, packet.h has what others need (new, free, counters). Datagrams that wait are
 * kept up to a budget of octets and for 30 s of capture time; the oldest gives way. Fragments that overlap with other content
 * refuse their whole datagram (RFC 5722); an exact repetition does no harm. One thread.
 */
#pragma once

#include "collector/input/packet.h"

struct fragment {
    struct wf_addr source, destination;
    uint32_t id;
    uint8_t protocol; /* of what begins at offset 0; only that fragment's is used */
    bool more;
    uint32_t offset; /* octets */
    const uint8_t *data;
    size_t len;
};

struct fragments_whole {
    const uint8_t *data; /* until the next call */
    size_t len;
    uint8_t protocol;
    uint32_t n_fragments;
};

/* PACKET_UDP: whole is filled in (whatever its protocol is). PACKET_FRAGMENT: kept, or given up and counted. PACKET_BROKEN: no
 * possible fragment (empty, odd length in the middle, beyond 65,535 octets); nothing kept. */
enum packet_verdict fragments_add(struct fragments *fragments, const struct fragment *fragment,
                                  struct fragments_whole *whole);
