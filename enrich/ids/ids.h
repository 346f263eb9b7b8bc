// SPDX-License-Identifier: Apache-2.0
/*
 * ids - flow.id and network.community_id: pure functions of a flow's key
 *
 * Owns nothing, allocates nothing; any thread. Knows no wire format and no JSON: text goes to the caller.
 * Sources: Community ID flow hashing specification v1 (corelight), Filebeat's netflow convert.go for flow.id.
 */
#pragma once

#include "decoder/base.h"

struct flow_key {
    struct wf_addr source, destination; /* family 0 = not known */
    uint16_t source_port, destination_port;
    uint8_t protocol;
    bool has_icmp; /* icmp_type and icmp_code are known (from elements 32, 139, 176-179) */
    uint8_t icmp_type, icmp_code;
};

#define FLOW_ID_LEN      11 /* base64url without padding of 8 octets */
#define COMMUNITY_ID_LEN 30 /* "1:" and base64 of 20 octets */

/* Writes FLOW_ID_LEN characters, no terminator: base64url (no padding) of the big-endian XXH64 (seed 0) over
 * (address, port big endian) of both sides, the side with the larger port first (source first when
 * equal), then the protocol; a missing address counts as 0.0.0.0. */
void flow_id_write(const struct flow_key *key, char out[FLOW_ID_LEN]);

/* Writes COMMUNITY_ID_LEN characters, no terminator, seed 0, with the specification's ICMP rules (type and
 * code in place of ports, requests and replies mapped to one id). Returns 0, or WF_E_INVAL when an address
 * is missing or families differ: then there is no id. */
int community_id_write(const struct flow_key *key, char out[COMMUNITY_ID_LEN]);
