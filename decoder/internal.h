// SPDX-License-Identifier: Apache-2.0
/*
 * internal - what the decoder's own files share: the decoder, a worker, and the steps of a datagram
 *
 *   decoder.c            life cycle, feed, counters
 *   netflow5/ netflow9/ ipfix/   headers and template records of each protocol
 *   sets.c               the walk over sets and records that v9 and IPFIX share
 *   define.c             templates accepted, refused, withdrawn; held sets released or given up
 *
 * Threads: a worker belongs to one thread, but for counters, which its lock guards.
 */
#pragma once

#include <pthread.h>

#include "decoder/decoder.h"
#include "decoder/session/session.h"
#include "decoder/wire/cursor.h"

#define FIXED_FORMATS 3U /* v1, v5, v7 */

struct decoder {
    struct decoder_limits limits;
    uint64_t seed;
    struct plan_table *plans;
    struct pending *pending;
    struct session_table *sessions;
    struct plan *fixed[FIXED_FORMATS];
    pthread_mutex_t workers_lock; /* taken before a worker's lock */
    /* guarded by workers_lock */
    struct list workers;
    struct decoder_counters retired; /* of workers that were freed */
};

/* A template record as it was read. specs is the worker's scratch. */
struct template_record {
    uint16_t id;
    enum plan_kind kind;
    bool withdrawal; /* IPFIX: no fields */
    size_t n_fields; /* announced; those beyond max_specs were skipped */
    size_t n_scope;
    struct plan_spec *specs;
    size_t max_specs;
};

/* What sets.c has to know of a protocol. */
struct set_format {
    uint8_t version;
    uint16_t template_set, options_set;
    /* Reads one template record of a set with at least 4 octets left; always moves on. DECODER_OK, or why it is refused;
     * after DECODER_TEMPLATE_TRUNCATED nothing of the set can be read. */
    enum decoder_reason (*read)(struct cursor *c, bool options, struct template_record *record);
};

struct decoder_worker {
    struct decoder *decoder;
    struct decoder_sink sink;
    struct list link;     /* decoder's workers_lock */
    pthread_mutex_t lock; /* taken once a datagram, after a session's lock has been dropped */
    struct decoder_counters counters; /* guarded by lock */
    /* scratch: as many as a template may have fields */
    struct plan_spec *specs;
    uint32_t *offset, *length;
    /* the datagram at hand */
    const struct decoder_datagram *datagram;
    int64_t now_ns; /* its time, or that of decoder_expire() */
    struct decoder_message message;
    struct session *session;
    struct decoder_counters delta; /* goes into the counters of worker and domain at the end */
    uint64_t n_records, n_flows; /* data records in it, for its sequence number; without options */
    bool records_known;          /* they are all that its exporter put in */
};

/* ---- headers: fill in worker->message and *key; the octets behind the header are left in c. WF_E_TRUNCATED. ---- */
int netflow5_header(struct cursor *c, struct decoder_message *message, struct session_key *key,
                    uint16_t *n_records);
int netflow9_header(struct cursor *c, struct decoder_message *message);
/* length: as in the header */
int ipfix_header(struct cursor *c, struct decoder_message *message, uint16_t *length);

extern const struct set_format netflow9_sets, ipfix_sets;

/* ---- fixed formats ---- */
/* Index into decoder->fixed; FIXED_FORMATS when version is none of them. */
size_t netflow5_format(uint8_t version);
/* The plan of one of them; 0 or WF_E_NOMEM. */
int netflow5_plan(struct plan_table *plans, size_t format, struct plan **plan);
/* Gives the records of the datagram to the sink. */
void netflow5_records(struct decoder_worker *worker, struct cursor *c, uint16_t n_records);

/* ---- sets.c ---- */
void sets_walk(struct decoder_worker *worker, struct cursor *c, const struct set_format *format);
/* Gives the records of one set to the sink and counts them in worker->delta. set: message, plan, template_id and data,
 * of which there are len octets. truncated: octets were left that are no padding. Returns the number of records. */
size_t sets_decode(struct decoder_worker *worker, const struct decoder_records *set, size_t len,
                   bool *truncated);
/* Counts a reason and tells it. */
void sets_malformed(struct decoder_worker *worker, enum decoder_reason reason, size_t offset,
                    uint16_t template_id);

/* ---- define.c: no lock may be held ---- */
/* DECODER_OK, or why the template is refused. */
enum decoder_reason define_template(struct decoder_worker *worker,
                                    const struct template_record *record);
void define_withdraw(struct decoder_worker *worker, uint16_t id);
void define_withdraw_all(struct decoder_worker *worker, enum plan_kind kind);
/* Counts and tells held sets that were given up, and frees them. */
void define_lost(struct decoder_worker *worker, struct list *victims, bool expired);

/* ---- decoder.c ---- */
void counters_add(struct decoder_counters *to, const struct decoder_counters *from);
/* An event of the datagram at hand, the rest filled in by the caller. */
struct decoder_event event_of(const struct decoder_worker *worker, enum decoder_event_kind kind);
void event_send(const struct decoder_worker *worker, const struct decoder_event *event);
