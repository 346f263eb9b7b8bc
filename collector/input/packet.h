// SPDX-License-Identifier: Apache-2.0
/*
 * packet - from a captured frame to the UDP payload in it
 *
 * Link layers (Ethernet with VLAN and QinQ, Linux cooked v1 and v2, raw IP, BSD loopback), IPv4 and IPv6 with extension headers,
 * UDP. Reassembles IP fragments with bounded memory. Pure functions over a cursor; the fragment table belongs to one thread.
 * RFC 791, 815, 8200 section 4; link types as registered by tcpdump.org.
 */
#pragma once

#include "decoder/base.h"

enum packet_verdict {
    PACKET_UDP,      /* a whole datagram */
    PACKET_OTHER,    /* well-formed, but no UDP */
    PACKET_BROKEN,   /* cut short by the capture, or headers that contradict each other */
    PACKET_FRAGMENT, /* part of a datagram that is not whole yet */
};

struct packet_udp {
    struct wf_addr source, destination;
    uint16_t source_port, destination_port;
    const uint8_t *payload; /* into the frame, or into the fragment table until its next call */
    size_t len;
    uint32_t n_fragments; /* frames that made it up: 1 when it was not fragmented */
};

struct fragments;
/* max_bytes: of payload kept (at least 128 KiB), the oldest datagram gives way. NULL when memory is short. */
struct fragments *fragments_new(size_t max_bytes);
void fragments_free(struct fragments *fragments);
/* Time of the capture: datagrams that wait for more than 30 s are given up, since their id comes round again. */
void fragments_set_time(struct fragments *fragments, int64_t now_ns);
/* Frames given up so far; frames still waiting. */
uint64_t fragments_lost(const struct fragments *fragments);
uint64_t fragments_waiting(const struct fragments *fragments);

/* True when packet_parse knows this link type (DLT_ value of libpcap). */
bool packet_knows_link(int link_type);
/* len: octets captured; a datagram of which the capture kept only a part is PACKET_BROKEN. fragments NULL: none are put together, each is
 * PACKET_BROKEN. udp->n_fragments holds for every verdict but PACKET_FRAGMENT, the rest of udp for PACKET_UDP only. */
enum packet_verdict packet_parse(int link_type, const uint8_t *frame, size_t len,
                                 struct fragments *fragments, struct packet_udp *udp);
