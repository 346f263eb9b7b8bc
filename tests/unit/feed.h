// SPDX-License-Identifier: Apache-2.0
/*
 * feed - a decoder with one worker whose records and events are kept, for unit tests
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "decoder/decoder.h"
#include "decoder/wire/cursor.h"
#include "tests/support/build.h"
#include "tests/support/support.h"

#define FEED_RECORDS 64U
#define FEED_FIELDS  64U

struct feed_field {
    uint32_t pen;
    uint16_t id;
    size_t len;
    uint64_t value; /* of the first 8 octets */
    bool hidden;
};

struct feed_record {
    struct decoder_message message;
    uint16_t template_id;
    bool options;
    size_t n_fields;
    struct feed_field field[FEED_FIELDS];
};

struct feed {
    struct decoder *decoder;
    struct decoder_worker *worker;
    struct wf_addr exporter;
    int64_t now_ns;
    uint64_t slot;
    size_t n_calls, n_records; /* all that came; the first FEED_RECORDS are kept */
    struct feed_record record[FEED_RECORDS];
    size_t n_events[DECODER_EVENT_RESTART + 1];
    struct decoder_event event; /* the last one */
};

static inline void feed_keep(struct feed *f, const struct decoder_records *r, size_t index)
{
    struct feed_record *k = &f->record[f->n_records];
    k->message = *r->message;
    k->template_id = r->template_id;
    k->options = r->plan->kind == PLAN_OPTIONS;
    k->n_fields = r->plan->n_fields < FEED_FIELDS ? r->plan->n_fields : FEED_FIELDS;
    for (size_t i = 0; i < k->n_fields; i++) {
        const struct plan_field *p = &r->plan->field[i];
        size_t len = r->length[i];
        k->field[i] = (struct feed_field){
            .pen = p->pen,
            .id = p->id,
            .len = len,
            .hidden = p->hidden,
            .value = wire_unsigned(r->data + index * r->stride + r->offset[i], len < 8 ? len : 8)};
    }
}

/* Touches each octet of each field, so that a sanitizer sees what lies outside. */
static inline void feed_records(void *ctx, const struct decoder_records *r)
{
    struct feed *f = ctx;
    volatile uint8_t sum = 0;
    f->n_calls++;
    for (size_t i = 0; i < r->n_records; i++) {
        for (size_t k = 0; k < r->plan->n_fields; k++) {
            for (size_t o = 0; o < r->length[k]; o++) {
                sum = (uint8_t)(sum ^ r->data[i * r->stride + r->offset[k] + o]);
            }
        }
        if (f->n_records < FEED_RECORDS) {
            feed_keep(f, r, i);
        }
        f->n_records++;
    }
}

static inline void feed_event(void *ctx, const struct decoder_event *event)
{
    struct feed *f = ctx;
    f->n_events[event->kind]++;
    f->event = *event;
}

static inline struct feed *feed_new(const struct decoder_limits *limits)
{
    struct feed *f = calloc(1, sizeof(*f));
    if (!f) {
        abort();
    }
    struct decoder_sink sink = {.records = feed_records, .event = feed_event, .ctx = f};
    f->decoder = decoder_new(limits, NULL, 99);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->decoder);
    f->worker = decoder_worker_new(f->decoder, &sink);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->worker);
    f->exporter = wf_addr_v4((const uint8_t[4]){192, 0, 2, 1});
    f->now_ns = 1700000000 * WF_NS_PER_S;
    return f;
}

static inline void feed_free(struct feed *f)
{
    decoder_worker_free(f->worker);
    decoder_free(f->decoder);
    free(f);
}

/* Forgets what came, not what the decoder knows. */
static inline void feed_forget(struct feed *f)
{
    f->n_calls = 0;
    f->n_records = 0;
    memset(f->n_events, 0, sizeof(f->n_events));
}

/* Feeds a copy in a block of its own size. */
static inline int feed_octets(struct feed *f, const uint8_t *data, size_t len)
{
    uint8_t *copy = malloc(len + 1);
    if (!copy) {
        abort();
    }
    if (len > 0) {
        memcpy(copy + 1, data, len);
    }
    struct decoder_datagram d = {.data = copy + 1,
                                 .len = len,
                                 .exporter = f->exporter,
                                 .port = 50000,
                                 .received_ns = f->now_ns,
                                 .slot = f->slot++};
    int rc = decoder_feed(f->worker, &d);
    free(copy);
    return rc;
}

static inline int feed_build(struct feed *f, struct build *b)
{
    build_end(b);
    return feed_octets(f, b->data, b->len);
}

static inline struct decoder_counters feed_counters(const struct feed *f)
{
    struct decoder_counters c;
    decoder_counters(f->decoder, &c);
    return c;
}

/* Does every datagram and every set end in one counter? */
static inline bool feed_adds_up(const struct feed *f)
{
    struct decoder_counters c = feed_counters(f);
    struct decoder_state s;
    decoder_state(f->decoder, &s);
    return c.datagrams == c.datagrams_decoded + c.reason[DECODER_SHORT_HEADER] +
                              c.reason[DECODER_UNKNOWN_VERSION] +
                              c.reason[DECODER_REFUSED_EXPORTER] &&
           c.sets_data == c.sets_decoded + c.sets_held + c.sets_refused &&
           c.sets_held == c.sets_released + c.sets_expired + c.sets_evicted + s.pending_sets;
}
