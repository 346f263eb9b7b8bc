// SPDX-License-Identifier: Apache-2.0
/*
 * counting - what an exporter's sequence numbers count, when it is not what the protocol says
 *
 * Not few exporters count otherwise: softflowd's IPFIX number is the flows up to the end of its own message, options
 * left out; ixflow and some NetFlow/IPFIX converters count messages. Taken at their word they would seem to lose hundreds of
 * records that came.
 *
 * The rule: each step from message to message is held against every way of counting. A way that explains a step which the
 * present one does not gains a point, and loses all with the first step that it does not explain. Eight points, of steps that
 * are not all the same (half of all datagrams lost looks like two records in each), and the other way is believed. So it takes
 * a run without loss, and loss alone changes nothing.
 *
 * Pure; part of struct sequence, guarded with it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum counting_way {
    COUNTING_PROTOCOL,     /* v9: datagrams; IPFIX: data records; v5, v7: flows */
    COUNTING_RECORDS,      /* data records, whatever the protocol */
    COUNTING_FLOWS,        /* those that are not of options templates */
    COUNTING_FLOWS_AT_END, /* the same, this message's included */
    COUNTING_MESSAGES,
    COUNTING_N_WAYS
};

struct counting_message {
    uint32_t sequence;
    uint32_t units, records, flows; /* units: what the protocol counts */
    bool units_known, records_known;
    uint64_t arrival; /* number: who came first */
};

/* Steps in a row that a way explains, those left out that the present one explains too. */
struct counting_run {
    uint32_t step; /* the newest */
    uint32_t
        doubtful; /* units called lost since the present way last explained a step that this one does not */
    uint8_t points;
    bool steps_differ;
};

/* All zero = nothing seen. */
struct counting {
    struct counting_message last; /* the newest by arrival */
    bool has_last;
    uint8_t way; /* enum counting_way */
    struct counting_run run[COUNTING_N_WAYS];
};

/* Takes note of a message; true when another way is believed from this message on: then *not_lost units were called lost for
 * nothing. */
bool counting_note(struct counting *counting, const struct counting_message *message,
                   uint32_t *not_lost);
/* Takes note of what the present way makes of it. */
void counting_doubt(struct counting *counting, uint32_t lost, uint32_t found);

/* The message by the way that is believed: first unit, number of units, and whether that number is known. */
struct counting_span {
    uint32_t first, n;
    bool known;
    bool first_known; /* false: it ends at first, and begins somewhere before */
};
struct counting_span counting_span(const struct counting *counting,
                                   const struct counting_message *message);
