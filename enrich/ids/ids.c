// SPDX-License-Identifier: Apache-2.0
/*
 * ids - the octets that are hashed, in order
 *
 *   flow.id        [addr][port] of the side with the larger port, [addr][port] of the other, [protocol]
 *   community id   [seed 2][addr][addr][protocol][0][port][port], the smaller (addr, port) first; the two ports
 *                  only for protocols that have some
 */
#include "enrich/ids/ids.h"

#include <nettle/base64.h>
#include <nettle/sha1.h>
#include <string.h>
#include <xxhash.h>

enum {
    PROTOCOL_ICMP = 1,
    PROTOCOL_TCP = 6,
    PROTOCOL_UDP = 17,
    PROTOCOL_ICMPV6 = 58,
    PROTOCOL_SCTP = 132
};

static uint8_t *put_u16(uint8_t *p, uint16_t value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
    return p + 2;
}

static uint8_t *put_addr(uint8_t *p, const struct wf_addr *addr)
{
    size_t len = addr->family == 6 ? 16 : 4;
    memcpy(p, addr->bytes, len);
    return p + len;
}

static uint8_t *put_side(uint8_t *p, const struct wf_addr *addr, uint16_t port)
{
    static const struct wf_addr none;
    return put_u16(put_addr(p, addr->family ? addr : &none), port);
}

void flow_id_write(const struct flow_key *key, char out[FLOW_ID_LEN])
{
    static const char alphabet[64] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint8_t octets[2 * 18 + 1];
    uint8_t *p = octets;
    if (key->source_port >= key->destination_port) {
        p = put_side(p, &key->source, key->source_port);
        p = put_side(p, &key->destination, key->destination_port);
    } else {
        p = put_side(p, &key->destination, key->destination_port);
        p = put_side(p, &key->source, key->source_port);
    }
    *p++ = key->protocol;

    uint64_t hash = XXH64(octets, (size_t)(p - octets), 0);
    for (unsigned i = 0; i < FLOW_ID_LEN - 1; i++) {
        out[i] = alphabet[hash >> (58 - 6 * i) & 63];
    }
    out[FLOW_ID_LEN - 1] = alphabet[(hash & 15) << 2];
}

/* The type that answers this one; -1: the message stands alone, its code takes the answer's place. */
static int icmp_counterpart(uint8_t protocol, uint8_t type)
{
    static const uint8_t v4[][2] = {{8, 0}, {13, 14}, {15, 16}, {10, 9}, {17, 18}};
    static const uint8_t v6[][2] = {{128, 129}, {130, 131}, {133, 134},
                                    {135, 136}, {139, 140}, {144, 145}};
    const uint8_t(*pair)[2] = protocol == PROTOCOL_ICMP ? v4 : v6;
    size_t n = protocol == PROTOCOL_ICMP ? sizeof v4 / sizeof v4[0] : sizeof v6 / sizeof v6[0];
    for (size_t i = 0; i < n; i++) {
        if (pair[i][0] == type) {
            return pair[i][1];
        }
        if (pair[i][1] == type) {
            return pair[i][0];
        }
    }
    return -1;
}

static bool has_ports(uint8_t protocol)
{
    return protocol == PROTOCOL_TCP || protocol == PROTOCOL_UDP || protocol == PROTOCOL_SCTP ||
           protocol == PROTOCOL_ICMP || protocol == PROTOCOL_ICMPV6;
}

/* Source before destination? A message that stands alone is never turned round. */
static bool in_order(const struct flow_key *key, uint16_t source, uint16_t destination)
{
    int order = memcmp(key->source.bytes, key->destination.bytes, sizeof key->source.bytes);
    return order < 0 || (order == 0 && source < destination);
}

int community_id_write(const struct flow_key *key, char out[COMMUNITY_ID_LEN])
{
    if (!key->source.family || key->source.family != key->destination.family) {
        return WF_E_INVAL;
    }
    uint16_t source_port = key->source_port;
    uint16_t destination_port = key->destination_port;
    bool alone = false;
    if (key->has_icmp && (key->protocol == PROTOCOL_ICMP || key->protocol == PROTOCOL_ICMPV6)) {
        int counterpart = icmp_counterpart(key->protocol, key->icmp_type);
        alone = counterpart < 0;
        source_port = key->icmp_type;
        destination_port = alone ? key->icmp_code : (uint16_t)counterpart;
    }
    bool forward = alone || in_order(key, source_port, destination_port);

    uint8_t octets[2 + 2 * 16 + 2 + 2 * 2] = {0, 0};
    uint8_t *p = octets + 2;
    p = put_addr(p, forward ? &key->source : &key->destination);
    p = put_addr(p, forward ? &key->destination : &key->source);
    *p++ = key->protocol;
    *p++ = 0;
    if (has_ports(key->protocol)) {
        p = put_u16(p, forward ? source_port : destination_port);
        p = put_u16(p, forward ? destination_port : source_port);
    }

    struct sha1_ctx sha1;
    uint8_t digest[SHA1_DIGEST_SIZE];
    sha1_init(&sha1);
    sha1_update(&sha1, (size_t)(p - octets), octets);
    sha1_digest(&sha1, sizeof digest, digest);
    out[0] = '1';
    out[1] = ':';
    base64_encode_raw(out + 2, sizeof digest, digest);
    return WF_OK;
}
