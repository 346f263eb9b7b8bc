// SPDX-License-Identifier: Apache-2.0
/*
 * reservation - does a format write no more than it reserves? For unit tests, best with a sanitizer.
 *
 * Random plans and records of all kinds; for each the smallest buffer is found that need not grow, that is what the
 * format reserves, and the record is written into just that.
 */
#pragma once

#include <stdlib.h>

#include "collector/document/document.h"
#include "tests/support/json_check.h"
#include "tests/support/support.h"

/* A format with a plan table of its own. */
struct handmade {
    struct document *document;
    struct document_writer *writer;
    struct plan_table *plans;
    struct plan *plan;
    struct decoder_message message;
};

static inline void handmade_open(struct handmade *h, const char *format)
{
    struct document_options options = {.replay = true};
    *h = (struct handmade){0};
    CU_ASSERT_EQUAL_FATAL(document_format_of(format, &options.format), WF_OK);
    CU_ASSERT_EQUAL_FATAL(document_new(&options, &h->document), WF_OK);
    h->writer = document_writer_new(h->document);
    struct plan_hooks hooks = document_plan_hooks(h->document);
    h->plans = plan_table_new(&hooks);
    CU_ASSERT_PTR_NOT_NULL_FATAL(h->writer);
    CU_ASSERT_PTR_NOT_NULL_FATAL(h->plans);
}

static inline void handmade_close(struct handmade *h)
{
    plan_table_free(h->plans);
    document_writer_free(h->writer);
    document_free(h->document);
}

static inline uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ULL;
    return wf_mix64(*state);
}

#define RESERVATION_FIELDS 1000

/* Records of a random plan. */
struct sample {
    struct decoder_records records;
    uint32_t offset[RESERVATION_FIELDS];
    uint32_t length[RESERVATION_FIELDS];
    uint8_t *data; /* of exact size, so that a sanitizer sees each read beyond */
};

static inline void fill(uint8_t *data, size_t len, uint64_t *state)
{
    static const uint8_t patterns[] = {0x00, 0x01, 0xff, 0x02};
    uint64_t kind = next_random(state) % 8;
    for (size_t i = 0; i < len; i++) {
        data[i] = kind < sizeof(patterns) ? patterns[kind] : (uint8_t)next_random(state);
    }
}

/* Random elements of mostly fitting lengths, some of them several times. */
static inline size_t mixed_specs(struct plan_spec *specs, uint64_t *state)
{
    size_t n_elements;
    const struct element *elements = element_all(&n_elements);
    size_t n = 1 + next_random(state) % 40;
    bool variable = next_random(state) % 2;
    for (size_t i = 0; i < n; i++) {
        const struct element *e = &elements[next_random(state) % n_elements];
        while (e->pen == ELEMENT_PEN_V9_SCOPE) { /* only in scopes, so never beside its namesakes */
            e = &elements[next_random(state) % n_elements];
        }
        uint64_t r = next_random(state);
        size_t len = r % 4 == 0 ? (r >> 8) % 20 : 1U << (r >> 8) % 5;
        specs[i] = (struct plan_spec){.pen = e->pen, .id = e->id, .length = (uint16_t)len};
        if (variable && r % 3 == 0) {
            specs[i].length = PLAN_VARLEN;
        }
        if (i > 0 && r % 5 == 0) {
            specs[i] = specs[next_random(state) % i];
        }
    }
    return n;
}

/* Very many fields that all need the most that their kind can: what a bound forgets, it forgets a thousand times. */
static inline size_t crowded_specs(struct plan_spec *specs, uint64_t *state)
{
    static const struct plan_spec worst[] = {
        {.id = 82, .length = 1},           /* one octet, six of text and two quotes */
        {.id = 82, .length = PLAN_VARLEN}, /* longer */
        {.id = 1, .length = PLAN_VARLEN},  /* hex or a number: the record tells */
        {.id = 1, .length = 8},            /* 20 digits */
        {.id = 70, .length = 20},          /* hex */
        {.id = 276, .length = 1},          /* false */
        {.id = 27, .length = PLAN_VARLEN}, /* an address, perhaps */
    };
    const struct plan_spec *spec = &worst[next_random(state) % (sizeof(worst) / sizeof(worst[0]))];
    for (size_t i = 0; i < RESERVATION_FIELDS; i++) {
        specs[i] = *spec;
    }
    return RESERVATION_FIELDS;
}

static inline bool sample_make(struct handmade *h, struct sample *s, uint64_t *state)
{
    struct plan_spec specs[RESERVATION_FIELDS];
    bool crowded = next_random(state) % 16 == 0;
    size_t n = crowded ? crowded_specs(specs, state) : mixed_specs(specs, state);
    uint8_t version = next_random(state) % 2 ? 9 : 10;
    size_t n_scope = next_random(state) % 2 ? 0 : next_random(state) % (n + 1);
    enum plan_kind kind = n_scope ? PLAN_OPTIONS : PLAN_DATA;
    if (plan_intern(h->plans, version, kind, specs, n, n_scope, &h->plan) < 0) {
        return false; /* all of them of no octets */
    }
    size_t stride = 0;
    for (size_t i = 0; i < n; i++) {
        size_t len = specs[i].length;
        if (len == PLAN_VARLEN) {
            len = next_random(state) % 40;
            stride++;
        }
        s->offset[i] = (uint32_t)stride;
        s->length[i] = (uint32_t)len;
        stride += len;
    }
    s->data = malloc(stride);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s->data);
    fill(s->data, stride, state);
    h->message.version = version;
    s->records = (struct decoder_records){.message = &h->message,
                                          .plan = h->plan,
                                          .n_records = 1,
                                          .stride = stride,
                                          .data = s->data,
                                          .offset = s->offset,
                                          .length = s->length};
    return true;
}

/* Writes into a buffer of cap octets; did it have to grow? */
static inline bool grows_from(struct handmade *h, const struct sample *s, size_t cap, size_t *len)
{
    struct buffer out = {.data = malloc(cap), .cap = cap};
    CU_ASSERT_PTR_NOT_NULL_FATAL(out.data);
    CU_ASSERT_EQUAL(document_write(h->writer, &s->records, 0, &out), 1);
    bool grew = out.cap != cap;
    *len = out.len;
    CU_ASSERT(out.len > 0 && out.data[out.len - 1] == '\n');
    if (out.data[0] == '{') { /* flat */
        CU_ASSERT(json_is_valid(out.data, out.len - 1));
    }
    buffer_deinit(&out);
    return grew;
}

/* Finds what a record reserves and writes into just that much: a sanitizer sees each store beyond. */
static inline void expect_reservation_holds(const char *format, uint64_t seed)
{
    struct handmade h;
    handmade_open(&h, format);
    uint64_t state = seed;
    for (unsigned i = 0; i < 1000; i++) {
        struct sample s;
        if (!sample_make(&h, &s, &state)) {
            continue;
        }
        size_t len;
        size_t low = 1; /* grows */
        size_t high = (size_t)1 << 20;
        CU_ASSERT_FALSE_FATAL(grows_from(&h, &s, high, &len));
        while (high - low > 1) {
            size_t middle = low + (high - low) / 2;
            if (grows_from(&h, &s, middle, &len)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        CU_ASSERT_FALSE(grows_from(&h, &s, high, &len));
        CU_ASSERT(len <= high);
        plan_unref(h.plans, h.plan);
        free(s.data);
    }
    handmade_close(&h);
}
