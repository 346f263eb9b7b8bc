// SPDX-License-Identifier: Apache-2.0
/*
 * sequence - what the sequence numbers of one stream say: gaps, late arrivals, duplicates, restarts
 *
 * A unit is what the protocol counts: a datagram in v9 (RFC 3954 5.1), a data record in IPFIX (RFC 7011 3.1), a
 * flow in v5 and v7. Pure: no clock, no memory; the caller guards the struct (session lock). All
 * arithmetic is modulo 2^32, so a wrap is nothing special.
 *
 * Exporters that count otherwise are found out after a few messages (counting.h); what was called lost meanwhile is taken
 * back. Nothing but counters ever depends on it.
 *
 * Messages may be noted in another order than they arrived in, since several workers decode: so each says its arrival number.
 * What only the workers changed the order of is not called reordered.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "decoder/session/counting.h"

/* Each worker that is behind leaves one. */
#define SEQUENCE_MAX_HOLES 32U

/* units [first, first + n) have not come yet */
struct sequence_hole {
    uint32_t first, n;
    uint32_t arrival; /* modulo 2^32, of the message that came behind it */
};

/* All zero = nothing seen. */
struct sequence {
    uint32_t expected;     /* the unit that should come next */
    uint32_t uptime_ms;    /* of the newest message */
    int64_t received_ns;   /* of the newest message */
    uint64_t history_ends; /* arrival number of the message that began anew */
    uint32_t behind_next;  /* what would continue the last message that came from behind */
    uint8_t n_behind;      /* how many such messages continued each other */
    uint8_t n_holes;
    bool started;
    bool open; /* the units of the newest message are unknown: expected is its first unit */
    struct counting counting;
    struct sequence_hole hole[SEQUENCE_MAX_HOLES]; /* oldest first */
};

struct sequence_message {
    uint32_t sequence;
    uint32_t units;          /* in this message */
    bool units_known;        /* false: units says nothing (a data set without template) */
    uint32_t records, flows; /* data records in it; those that are not of options templates */
    bool records_known;
    uint64_t arrival;
    bool has_uptime;
    uint32_t uptime_ms;
    int64_t received_ns;
};

struct sequence_result {
    uint32_t lost;  /* units missing before this message */
    uint32_t found; /* units reported lost before that this message brought */
    bool reordered; /* came after a later one */
    bool duplicate; /* came before */
    bool restart;   /* the exporter began anew: nothing is counted lost */
};

/* Takes note of one message. result is overwritten. */
void sequence_note(struct sequence *sequence, const struct sequence_message *message,
                   struct sequence_result *result);
