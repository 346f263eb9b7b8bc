// SPDX-License-Identifier: Apache-2.0
/*
 * netflow5 - the fixed formats v1, v5 and v7: a header and records of one layout each
 *
 * Each layout is a plan like that of a template, so that everything behind the decoder knows templates only. Octets
 * without a meaning are hidden fields. Cisco, "NetFlow Services Solutions Guide", datagram formats.
 */
#include "decoder/internal.h"

#define IANA(element, octets)                                                                      \
    {                                                                                              \
        .id = (element), .length = (octets)                                                        \
    }
#define HIDDEN(octets)                                                                             \
    {                                                                                              \
        .id = 210, .length = (octets), .hidden = true                                              \
    } /* paddingOctets */

/* Octets 0-31 of a record are the same in all three, and so are the ports behind them. */
#define COMMON                                                                                     \
    IANA(8, 4),      /* sourceIPv4Address */                                                       \
        IANA(12, 4), /* destinationIPv4Address */                                                  \
        IANA(15, 4), /* ipNextHopIPv4Address */                                                    \
        IANA(10, 2), /* ingressInterface */                                                        \
        IANA(14, 2), /* egressInterface */                                                         \
        IANA(2, 4),  /* packetDeltaCount */                                                        \
        IANA(1, 4),  /* octetDeltaCount */                                                         \
        IANA(22, 4), /* flowStartSysUpTime */                                                      \
        IANA(21, 4), /* flowEndSysUpTime */                                                        \
        IANA(7, 2),  /* sourceTransportPort */                                                     \
        IANA(11, 2)  /* destinationTransportPort */

/* AS numbers and prefix lengths: v5 and v7. */
#define ROUTING                                                                                    \
    IANA(16, 2),     /* bgpSourceAsNumber */                                                       \
        IANA(17, 2), /* bgpDestinationAsNumber */                                                  \
        IANA(9, 1),  /* sourceIPv4PrefixLength */                                                  \
        IANA(13, 1)  /* destinationIPv4PrefixLength */

static const struct plan_spec v1_specs[] = {
    COMMON,     HIDDEN(2), IANA(4, 1), /* protocolIdentifier */
    IANA(5, 1),                        /* ipClassOfService */
    IANA(6, 1),                        /* tcpControlBits */
    HIDDEN(3),  HIDDEN(4),
};

static const struct plan_spec v5_specs[] = {
    COMMON, HIDDEN(1), IANA(6, 1), IANA(4, 1), IANA(5, 1), ROUTING, HIDDEN(2),
};

static const struct plan_spec v7_specs[] = {
    COMMON,     HIDDEN(1), /* which fields are valid */
    IANA(6, 1), IANA(4, 1), IANA(5, 1),
    ROUTING,    HIDDEN(2),  HIDDEN(4), /* router that the switch bypassed: no element means that */
};

static const struct {
    uint8_t version;
    const struct plan_spec *specs;
    size_t n_specs;
} formats[FIXED_FORMATS] = {
    {1, v1_specs, sizeof(v1_specs) / sizeof(v1_specs[0])},
    {5, v5_specs, sizeof(v5_specs) / sizeof(v5_specs[0])},
    {7, v7_specs, sizeof(v7_specs) / sizeof(v7_specs[0])},
};

size_t netflow5_format(uint8_t version)
{
    size_t i = 0;
    while (i < FIXED_FORMATS && formats[i].version != version) {
        i++;
    }
    return i;
}

int netflow5_plan(struct plan_table *plans, size_t format, struct plan **plan)
{
    return plan_intern(plans, formats[format].version, PLAN_DATA, formats[format].specs,
                       formats[format].n_specs, 0, plan);
}

/* version 2, count 2, sysUptime 4, seconds 4, nanoseconds 4; v5 and v7: sequence 4, and four octets that are engine
 * type, engine id and sampling in v5, nothing in v7. */
int netflow5_header(struct cursor *c, struct decoder_message *message, struct session_key *key,
                    uint16_t *n_records)
{
    cursor_u16(c);
    uint16_t count = cursor_u16(c);
    uint32_t uptime_ms = cursor_u32(c);
    uint32_t seconds = cursor_u32(c);
    uint32_t nanoseconds = cursor_u32(c);
    uint32_t sequence = 0;
    uint32_t rest = 0;
    if (message->version != 1) {
        sequence = cursor_u32(c);
        rest = cursor_u32(c);
    }
    if (c->failed) {
        return WF_E_TRUNCATED;
    }
    message->has_uptime = true;
    message->uptime_ms = uptime_ms;
    message->export_ns = (int64_t)seconds * WF_NS_PER_S;
    if (nanoseconds < WF_NS_PER_S) {
        message->export_ns += nanoseconds;
    }
    message->sequence = sequence;
    if (message->version == 5) {
        message->engine_type = (uint8_t)(rest >> 24);
        message->engine_id = (uint8_t)(rest >> 16);
        message->sampling = (uint16_t)rest;
    }
    /* As everybody does: the engine is what an observation domain is elsewhere. */
    message->domain = (uint32_t)message->engine_type << 8 | message->engine_id;
    key->domain = message->domain;
    *n_records = count;
    return 0;
}

void netflow5_records(struct decoder_worker *worker, struct cursor *c, uint16_t n_records)
{
    const struct plan *plan = worker->decoder->fixed[netflow5_format(worker->message.version)];
    size_t fit = cursor_left(c) / plan->min_length;
    worker->n_records = n_records;
    worker->n_flows = n_records;
    if (n_records > fit) {
        /* flows that are not here, or a count that is not true: the next sequence number tells */
        worker->records_known = false;
        sets_malformed(worker, DECODER_COUNT_OVERRUN, 2, 0);
    } else {
        fit = n_records;
    }
    bool truncated;
    struct decoder_records records = {.message = &worker->message, .plan = plan, .data = c->pos};
    sets_decode(worker, &records, fit * plan->min_length, &truncated);
}
