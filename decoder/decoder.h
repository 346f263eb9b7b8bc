// SPDX-License-Identifier: Apache-2.0
/*
 * decoder - the one door: datagrams in, records out
 *
 * Decodes NetFlow v9 (RFC 3954), IPFIX over UDP (RFC 7011) and the fixed formats v1, v5, v7. One decoder is
 * shared by all workers: sessions, templates and the template-pending store are shared state. It knows no
 * socket, clock, JSON or log: time comes with each datagram, records go to a sink, what happened is counted
 * and told as events.
 *
 * Threads: decoder_new/free from one thread. Each worker thread has a decoder_worker of its own; any worker
 * may feed any datagram. The *order* between a datagram that carries templates and its neighbours of the
 * same exporter is the caller's to keep (collector/pipeline/gate.h does): the decoder is always safe, but a
 * redefinition takes effect when its datagram is fed.
 *
 * Not checked: that the exporter address is genuine (UDP).
 */
#pragma once

#include "decoder/base.h"
#include "decoder/template/plan.h"

/* ---- limits: every one has a default when 0 ---- */
struct decoder_limits {
    size_t max_exporters; /* 1,000,000 exporter addresses; the least recently used gives way */
    size_t max_domains_per_exporter;   /* 4,096 */
    size_t max_templates_per_domain;   /* 4,096 */
    size_t max_fields;                 /* 1,024 fields in a template */
    size_t max_session_bytes;          /* 128 MiB: exporters, domains, template tables, plans */
    size_t max_pending_bytes;          /* 64 MiB held in all */
    size_t max_pending_exporter_bytes; /* 4 MiB held for one exporter */
    int64_t max_pending_age_ns;        /* 10 minutes; < 0 = for ever (replay) */
};

/* ---- what comes in ---- */
struct decoder_datagram {
    const uint8_t *data; /* borrowed for the call */
    size_t len;          /* octets */
    struct wf_addr exporter;
    uint16_t port;       /* exporter's source port */
    int64_t received_ns; /* Unix ns: the kernel's or the capture's */
    uint64_t slot;       /* arrival number: held sets are released in this order */
};

/* ---- what goes out ---- */

/* The header of the message a record came in. */
struct decoder_message {
    struct wf_addr exporter;
    uint16_t port;
    uint8_t version; /* 1, 5, 7, 9, 10 */
    bool has_uptime; /* v1, v5, v7, v9 */
    uint32_t
        domain; /* observation domain / source id; v5: engine type << 8 | engine id; 0 for v1, v7 */
    uint32_t sequence;  /* as in the header; 0 for v1 */
    uint32_t uptime_ms; /* sysUptime of the header */
    int64_t export_ns;  /* Unix ns of the header; resolution 1 s (v9, IPFIX) or 1 ns (v1, v5, v7) */
    int64_t received_ns;            /* of the datagram that held the record */
    int64_t held_ns;                /* how long the record waited for its template, 0 = not held */
    uint16_t sampling;              /* v5: sampling mode (2 bits) and interval (14 bits), else 0 */
    uint8_t engine_type, engine_id; /* v5, v7 */
};

/* A run of records of one template: n_records records of plan->min_length octets each when the plan is
 * fixed; else exactly one record. Field i of record r lies at
 * data + r * stride + offset[i] and has length[i] octets: this holds for fixed plans and others alike, and lies
 * inside the datagram: no more bounds checks are needed. All borrowed for the call. */
struct decoder_records {
    const struct decoder_message *message;
    const struct plan *plan;
    uint16_t template_id; /* 0 for v1, v5, v7 */
    size_t n_records;
    size_t stride; /* octets from record to record */
    const uint8_t *data;
    const uint32_t *offset;
    const uint32_t *length;
};

enum decoder_reason {
    DECODER_OK,
    /* a whole datagram */
    DECODER_SHORT_HEADER,     /* shorter than its header */
    DECODER_UNKNOWN_VERSION,  /* version word is none of 1, 5, 7, 9, 10 */
    DECODER_REFUSED_EXPORTER, /* no room for one more exporter or domain */
    /* a set: the rest of the datagram after it is not decoded for the first two */
    DECODER_SET_LENGTH,       /* set length 0-3 */
    DECODER_SET_OVERRUN,      /* set reaches beyond the message */
    DECODER_SET_RESERVED,     /* set id 4-255, or v9's 0/1 in IPFIX, or IPFIX's 2/3 in v9 */
    DECODER_RECORD_TRUNCATED, /* a variable-length field reaches beyond its set */
    DECODER_COUNT_OVERRUN,    /* v1, v5, v7: header announces more records than there are */
    DECODER_MESSAGE_LENGTH, /* IPFIX: message length is not the datagram's; the smaller one is used */
    /* a template: refused, the rest of the datagram stands */
    DECODER_TEMPLATE_ID,        /* id below 256 */
    DECODER_TEMPLATE_TRUNCATED, /* fields reach beyond the set */
    DECODER_TEMPLATE_FIELDS,    /* more fields than the limit */
    DECODER_TEMPLATE_EMPTY,     /* smallest record of 0 octets, or beyond 65,531 */
    DECODER_TEMPLATE_SCOPE, /* scope count 0 or past the field count (IPFIX); odd lengths (v9) */
    DECODER_TEMPLATE_LIMIT, /* too many templates in the domain, or out of session memory */
    DECODER_N_REASONS
};
/* Short stable name (set_overrun) and a sentence that says what to do. Static, never NULL. */
const char *decoder_reason_name(enum decoder_reason reason);
const char *decoder_reason_advice(enum decoder_reason reason);

enum decoder_event_kind {
    DECODER_EVENT_WAITING, /* first set held for (exporter, domain, template): template_id, n_octets */
    DECODER_EVENT_RELEASED, /* its template came: n_sets, n_records, waited_ns */
    DECODER_EVENT_LOST, /* held sets given up: n_sets, n_octets, waited_ns, expired says which */
    DECODER_EVENT_TEMPLATE,  /* a template is new or changed */
    DECODER_EVENT_MALFORMED, /* reason, offset */
    DECODER_EVENT_SEQUENCE,  /* n_lost units missing (reported when seen, may be corrected later) */
    DECODER_EVENT_RESTART,   /* exporter restarted: sequence or uptime fell back */
};
struct decoder_event {
    enum decoder_event_kind kind;
    enum decoder_reason reason;
    struct wf_addr exporter;
    uint16_t port;
    uint32_t domain;
    uint8_t version;
    uint16_t template_id;
    bool expired;  /* LOST: by age (true) or by budget (false) */
    size_t offset; /* octets into the datagram where it was seen */
    uint64_t n_sets, n_records, n_octets, n_lost;
    int64_t waited_ns;
};

/* Both run in the thread that feeds, with no lock held. event may be NULL. */
struct decoder_sink {
    void (*records)(void *ctx, const struct decoder_records *records);
    void (*event)(void *ctx, const struct decoder_event *event);
    void *ctx;
};

/* ---- counters: every datagram, set and record ends in exactly one ---- */
struct decoder_counters {
    uint64_t datagrams, octets;
    uint64_t datagrams_decoded; /* walked to their end or to a set that ended them */
    uint64_t
        reason[DECODER_N_REASONS]; /* datagrams: SHORT_HEADER, UNKNOWN_VERSION, REFUSED_EXPORTER;
                                           sets and templates: the others */
    uint64_t sets_data;            /* data sets with id >= 256 that lie inside their message =
                                      sets_decoded + sets_held + sets_refused */
    uint64_t sets_decoded;         /* template known */
    uint64_t sets_held;            /* = released + expired + evicted + still pending */
    uint64_t sets_refused;         /* could not be held (empty, or larger than the budget) */
    uint64_t sets_released, sets_expired, sets_evicted;
    uint64_t octets_released, octets_expired, octets_evicted;
    uint64_t records_flow, records_options; /* given to the sink, released ones included */
    uint64_t records_released;              /* of these, once held */
    uint64_t templates_new, templates_refreshed, templates_changed, templates_withdrawn;
    uint64_t sequence_lost; /* datagrams (v9), records (IPFIX, v5, v7) that never came */
    uint64_t
        sequence_reordered; /* arrived after a later one; decoded late by a worker does not count */
    uint64_t sequence_duplicate, sequence_restarts;
};

struct decoder_state {
    uint64_t exporters, domains, templates, plans, session_bytes;
    uint64_t pending_sets, pending_octets, pending_bytes; /* pending_bytes: with book-keeping */
};

struct decoder;
struct decoder_worker;

/* NULL when memory is short. limits, hooks: copied. seed: random, keys the hash tables. */
struct decoder *decoder_new(const struct decoder_limits *limits, const struct plan_hooks *hooks,
                            uint64_t seed);
/* Workers must have been freed. Pending sets are dropped (they are counted as still pending before). */
void decoder_free(struct decoder *decoder);

/* A worker's own scratch and counters. NULL when memory is short. sink is copied. */
struct decoder_worker *decoder_worker_new(struct decoder *decoder, const struct decoder_sink *sink);
/* Its counters go into the decoder's total. */
void decoder_worker_free(struct decoder_worker *worker);

/* Decodes one datagram: zero or more calls of the sink. Returns 0, or the negative code of why the whole
 * datagram was refused (counted; the caller needs do nothing). */
int decoder_feed(struct decoder_worker *worker, const struct decoder_datagram *datagram);

/* Does the datagram carry (options) template sets? A glance at the set headers, for the order rule; true
 * also when in doubt. Pure. */
bool decoder_carries_templates(const uint8_t *data, size_t len);

/* Gives up held sets older than the age limit, seen from now_ns. Any thread; sink gets the events. */
void decoder_expire(struct decoder_worker *worker, int64_t now_ns);

/* Sum over all workers, alive and freed. Any thread; values of running workers may be a moment old. */
void decoder_counters(struct decoder *decoder, struct decoder_counters *counters);
void decoder_state(struct decoder *decoder, struct decoder_state *state);

/* One domain of one exporter. */
struct decoder_domain_info {
    struct wf_addr exporter;
    uint16_t port; /* last seen */
    uint32_t domain;
    uint8_t version;
    int64_t first_seen_ns, last_seen_ns;
    uint64_t templates;
    uint64_t pending_sets, pending_octets;
    struct decoder_counters
        counters; /* this domain's share; domains that gave way to others are in none */
};
/* Calls each for every domain, in no order, outside locks that the callback could meet. Any thread. */
int decoder_each_domain(struct decoder *decoder,
                        int (*each)(void *ctx, const struct decoder_domain_info *info), void *ctx);
