// SPDX-License-Identifier: Apache-2.0
/*
 * One function a layer, each hands what is left of the frame to the next:
 *
 *      link ─► ether type (VLAN tags) ─► IPv4 ─────────────► UDP
 *                                     └► IPv6 ─► extensions ─┘
 *
 * Fragments leave the chain at the IP layer; a whole datagram comes back in front of "extensions".
 */
#include "collector/input/packet.h"

#include <pcap/dlt.h>

#include "collector/input/fragments.h"
#include "decoder/wire/cursor.h"

#define MAX_VLAN_TAGS    8
#define MAX_EXTENSIONS   16

#define ETHER_IPV4       0x0800
#define ETHER_IPV6       0x86dd
#define ETHER_VLAN       0x8100
#define ETHER_QINQ       0x88a8
#define ETHER_QINQ_OLD   0x9100
#define ETHER_QINQ_OLDER 0x9200

#define IP_HOP_BY_HOP    0
#define IP_UDP           17
#define IP_ROUTING       43
#define IP_FRAGMENT      44
#define IP_AH            51
#define IP_DESTINATION   60
#define IP_MOBILITY      135
#define IP_HIP           139
#define IP_SHIM6         140

/* What the layers share on the way down. */
struct parse {
    struct fragments *fragments;
    struct packet_udp *udp;
    bool has_fragment_header; /* once is enough: a second one has no sender that means well */
};

static enum packet_verdict parse_udp(struct parse *p, struct cursor c)
{
    struct packet_udp *udp = p->udp;
    udp->source_port = cursor_u16(&c);
    udp->destination_port = cursor_u16(&c);
    size_t len = cursor_u16(&c);
    cursor_take(
        &c,
        2); /* the checksum: what the exporter's kernel or card had not filled in yet is no harm */
    if (c.failed || (len != 0 && len < 8)) {
        return PACKET_BROKEN;
    }
    /* Length 0 is a jumbogram or a datagram that was captured before the card filled it in. */
    size_t left = cursor_left(&c);
    udp->len = len == 0 || len - 8 > left ? left : len - 8;
    udp->payload = c.pos;
    return PACKET_UDP;
}

static enum packet_verdict parse_extensions(struct parse *p, uint8_t protocol, struct cursor c,
                                            bool cut);

static enum packet_verdict parse_whole(struct parse *p, const struct fragment *fragment)
{
    if (!p->fragments) {
        return PACKET_BROKEN;
    }
    struct fragments_whole whole;
    enum packet_verdict verdict = fragments_add(p->fragments, fragment, &whole);
    if (verdict != PACKET_UDP) {
        return verdict;
    }
    p->udp->n_fragments = whole.n_fragments;
    return parse_extensions(p, whole.protocol, cursor_init(whole.data, whole.len), false);
}

static bool is_extension(uint8_t protocol)
{
    return protocol == IP_HOP_BY_HOP || protocol == IP_ROUTING || protocol == IP_DESTINATION ||
           protocol == IP_AH || protocol == IP_MOBILITY || protocol == IP_HIP ||
           protocol == IP_SHIM6;
}

static enum packet_verdict parse_fragment_v6(struct parse *p, struct cursor c, bool cut)
{
    p->has_fragment_header = true;
    uint8_t next = cursor_u8(&c);
    cursor_take(&c, 1);
    uint16_t offset_flags = cursor_u16(&c);
    uint32_t id = cursor_u32(&c);
    if (c.failed) {
        return PACKET_BROKEN;
    }
    bool more = offset_flags & 1;
    uint32_t offset = offset_flags & 0xfff8U;
    if (offset == 0 && !more) { /* atomic fragment, RFC 6946 */
        return parse_extensions(p, next, c, cut);
    }
    if (next != IP_UDP && !is_extension(next)) {
        return PACKET_OTHER;
    }
    struct fragment fragment = {.source = p->udp->source,
                                .destination = p->udp->destination,
                                .id = id,
                                .protocol = next,
                                .more = more,
                                .offset = offset,
                                .data = c.pos,
                                .len = cursor_left(&c)};
    return cut ? PACKET_BROKEN : parse_whole(p, &fragment);
}

/* protocol is what c begins with; cut: the packet goes on beyond c, but the capture does not have it. */
static enum packet_verdict parse_extensions(struct parse *p, uint8_t protocol, struct cursor c,
                                            bool cut)
{
    unsigned n = 0;
    while (is_extension(protocol)) {
        if (n++ == MAX_EXTENSIONS) {
            return PACKET_BROKEN;
        }
        uint8_t next = cursor_u8(&c);
        size_t len = cursor_u8(&c);
        cursor_take(&c, protocol == IP_AH ? len * 4 + 6 : len * 8 + 6);
        if (c.failed) {
            return PACKET_BROKEN;
        }
        protocol = next;
    }
    if (protocol == IP_FRAGMENT) {
        return p->has_fragment_header ? PACKET_BROKEN : parse_fragment_v6(p, c, cut);
    }
    if (protocol != IP_UDP) {
        return PACKET_OTHER;
    }
    return cut ? PACKET_BROKEN : parse_udp(p, c);
}

static enum packet_verdict parse_ipv6(struct parse *p, struct cursor c)
{
    uint32_t version = cursor_u32(&c) >> 28;
    size_t len = cursor_u16(&c);
    uint8_t next = cursor_u8(&c);
    cursor_take(&c, 1);
    const uint8_t *source = cursor_take(&c, 16);
    const uint8_t *destination = cursor_take(&c, 16);
    if (c.failed || version != 6) {
        return PACKET_BROKEN;
    }
    p->udp->source = wf_addr_v6(source);
    p->udp->destination = wf_addr_v6(destination);
    size_t left = cursor_left(&c);
    bool cut = len > left;
    struct cursor body = len == 0 || cut ? c : cursor_sub(&c, len);
    return parse_extensions(p, next, body, cut);
}

static enum packet_verdict parse_ipv4(struct parse *p, struct cursor c)
{
    uint8_t first = cursor_u8(&c);
    cursor_take(&c, 1);
    size_t total = cursor_u16(&c);
    uint16_t id = cursor_u16(&c);
    uint16_t offset_flags = cursor_u16(&c);
    cursor_take(&c, 1);
    uint8_t protocol = cursor_u8(&c);
    cursor_take(&c, 2);
    const uint8_t *source = cursor_take(&c, 4);
    const uint8_t *destination = cursor_take(&c, 4);
    size_t header = (size_t)(first & 15) * 4;
    if (c.failed || first >> 4 != 4 || header < 20 || (total != 0 && total < header)) {
        return PACKET_BROKEN;
    }
    if (protocol != IP_UDP) {
        return PACKET_OTHER;
    }
    cursor_take(&c, header - 20);
    /* Total length 0: left to the card (segmentation offload), all there is belongs to it. */
    size_t left = cursor_left(&c);
    size_t len = total == 0 ? left : total - header;
    if (c.failed || len > left) {
        return PACKET_BROKEN;
    }
    p->udp->source = wf_addr_v4(source);
    p->udp->destination = wf_addr_v4(destination);
    struct cursor body = cursor_sub(&c, len);
    bool more = offset_flags & 0x2000;
    uint32_t offset = (offset_flags & 0x1fffU) * 8;
    if (offset == 0 && !more) {
        return parse_udp(p, body);
    }
    struct fragment fragment = {.source = p->udp->source,
                                .destination = p->udp->destination,
                                .id = id,
                                .protocol = protocol,
                                .more = more,
                                .offset = offset,
                                .data = body.pos,
                                .len = len};
    return parse_whole(p, &fragment);
}

static enum packet_verdict parse_ether_type(struct parse *p, uint16_t type, struct cursor c)
{
    unsigned n = 0;
    while (type == ETHER_VLAN || type == ETHER_QINQ || type == ETHER_QINQ_OLD ||
           type == ETHER_QINQ_OLDER) {
        cursor_take(&c, 2);
        type = cursor_u16(&c);
        if (c.failed || n++ == MAX_VLAN_TAGS) {
            return PACKET_BROKEN;
        }
    }
    if (type == ETHER_IPV4) {
        return parse_ipv4(p, c);
    }
    return type == ETHER_IPV6 ? parse_ipv6(p, c) : PACKET_OTHER;
}

/* What the first octet says it is. */
static enum packet_verdict parse_raw(struct parse *p, struct cursor c)
{
    struct cursor peek = c;
    uint8_t version = cursor_u8(&peek) >> 4;
    if (peek.failed) {
        return PACKET_BROKEN;
    }
    if (version == 4) {
        return parse_ipv4(p, c);
    }
    return version == 6 ? parse_ipv6(p, c) : PACKET_OTHER;
}

/* BSD loopback: the address family in the byte order of the machine that captured (DLT_NULL) or of the network (DLT_LOOP). */
static enum packet_verdict parse_loopback(struct parse *p, struct cursor c)
{
    uint32_t family = cursor_u32(&c);
    if (c.failed) {
        return PACKET_BROKEN;
    }
    if (family > 0xffff) {
        family = __builtin_bswap32(family);
    }
    switch (family) {
    case 2: /* AF_INET everywhere */
        return parse_ipv4(p, c);
    case 10: /* AF_INET6 of Linux, NetBSD and OpenBSD, FreeBSD, Darwin */
    case 24:
    case 28:
    case 30:
        return parse_ipv6(p, c);
    default:
        return PACKET_OTHER;
    }
}

bool packet_knows_link(int link_type)
{
    switch (link_type) {
    case DLT_EN10MB:
    case DLT_LINUX_SLL:
    case DLT_LINUX_SLL2:
    case DLT_RAW:
    case DLT_IPV4:
    case DLT_IPV6:
    case DLT_NULL:
    case DLT_LOOP:
        return true;
    default:
        return false;
    }
}

enum packet_verdict packet_parse(int link_type, const uint8_t *frame, size_t len,
                                 struct fragments *fragments, struct packet_udp *udp)
{
    *udp = (struct packet_udp){.n_fragments = 1};
    struct parse p = {.fragments = fragments, .udp = udp};
    struct cursor c = cursor_init(frame, len);
    size_t skip = 0; /* octets in front of the ether type, and behind it */
    size_t skip_behind = 0;
    switch (link_type) {
    case DLT_EN10MB:
        skip = 12;
        break;
    case DLT_LINUX_SLL:
        skip = 14;
        break;
    case DLT_LINUX_SLL2:
        skip_behind = 18;
        break;
    case DLT_NULL:
    case DLT_LOOP:
        return parse_loopback(&p, c);
    case DLT_RAW:
    case DLT_IPV4:
    case DLT_IPV6:
        return parse_raw(&p, c);
    default:
        return PACKET_OTHER;
    }
    cursor_take(&c, skip);
    uint16_t type = cursor_u16(&c);
    cursor_take(&c, skip_behind);
    return c.failed ? PACKET_BROKEN : parse_ether_type(&p, type, c);
}
