// SPDX-License-Identifier: Apache-2.0
/*
 * Eight threads on one decoder. Made for ThreadSanitizer (-DWF_SANITIZE=thread); the sums have to hold in any build.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/decoder.h"
#include "tests/support/build.h"
#include "tests/support/support.h"

#define N_THREADS 8

/* What the threads of a test share. */
struct world {
    struct decoder *decoder;
    uint32_t n_exporters;
    unsigned n_rounds;
    void (*round)(struct world *world, struct build *b, unsigned thread, unsigned random);
    atomic_uint_least64_t n_records;
    atomic_uint_least64_t n_fed_records;
    atomic_int n_attached;
    atomic_uint_least64_t slot;
    atomic_bool failed;
};

struct thread {
    struct world *world;
    unsigned index;
    struct decoder_worker *worker;
    struct build b;
};

static void on_records(void *ctx, const struct decoder_records *r)
{
    struct thread *t = ctx;
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < r->n_records; i++) {
        for (size_t k = 0; k < r->plan->n_fields; k++) {
            for (size_t o = 0; o < r->length[k]; o++) {
                sum = (uint8_t)(sum ^ r->data[i * r->stride + r->offset[k] + o]);
            }
        }
    }
    atomic_fetch_add(&t->world->n_records, r->n_records);
}

static void on_event(void *ctx, const struct decoder_event *event)
{
    struct thread *t = ctx;
    if (event->exporter.family != 4) {
        atomic_store(&t->world->failed, true);
    }
}

static void *attach(void *ctx, const struct plan *plan)
{
    struct world *w = ctx;
    atomic_fetch_add(&w->n_attached, 1);
    size_t *copy = malloc(sizeof(*copy));
    if (copy) {
        *copy = plan->n_fields;
    }
    return copy;
}

static void detach(void *ctx, void *attached)
{
    struct world *w = ctx;
    atomic_fetch_sub(&w->n_attached, 1);
    free(attached);
}

static int check_domain(void *ctx, const struct decoder_domain_info *info)
{
    struct world *w = ctx;
    const struct decoder_counters *c = &info->counters;
    if (c->sets_data != c->sets_decoded + c->sets_held + c->sets_refused) {
        atomic_store(&w->failed, true);
    }
    return 0;
}

/* What a report thread does now and then. */
static void look_around(struct thread *t, int64_t now_ns)
{
    struct world *w = t->world;
    struct decoder_counters c;
    struct decoder_state s;
    decoder_expire(t->worker, now_ns);
    decoder_counters(w->decoder, &c);
    decoder_state(w->decoder, &s);
    if (c.sets_data != c.sets_decoded + c.sets_held + c.sets_refused) {
        atomic_store(&w->failed, true);
    }
    decoder_each_domain(w->decoder, check_domain, w);
}

static void *run(void *arg)
{
    struct thread *t = arg;
    struct world *w = t->world;
    unsigned random = t->index * 2654435761U + 1;
    for (unsigned i = 0; i < w->n_rounds; i++) {
        random = random * 1103515245U + 12345U;
        w->round(w, &t->b, t->index, random >> 8);
        build_end(&t->b);
        uint32_t who = random >> 20 & 0xfff;
        uint8_t addr[4] = {10, 0, 0, (uint8_t)(who % w->n_exporters)};
        struct decoder_datagram d = {.data = t->b.data,
                                     .len = t->b.len,
                                     .exporter = wf_addr_v4(addr),
                                     .port = (uint16_t)t->index,
                                     .received_ns = (int64_t)i * WF_NS_PER_MS,
                                     .slot = atomic_fetch_add(&w->slot, 1)};
        decoder_feed(t->worker, &d);
        if (i % 256 == 255) {
            look_around(t, d.received_ns);
        }
    }
    return NULL;
}

static void play(struct world *w, const struct decoder_limits *limits)
{
    struct plan_hooks hooks = {.attach = attach, .detach = detach, .ctx = w};
    w->decoder = decoder_new(limits, &hooks, 5);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w->decoder);
    struct thread *threads = calloc(N_THREADS, sizeof(*threads));
    if (!threads) {
        abort();
    }
    pthread_t id[N_THREADS];
    for (unsigned i = 0; i < N_THREADS; i++) {
        struct decoder_sink sink = {.records = on_records, .event = on_event, .ctx = &threads[i]};
        threads[i].world = w;
        threads[i].index = i;
        threads[i].worker = decoder_worker_new(w->decoder, &sink);
        CU_ASSERT_PTR_NOT_NULL_FATAL(threads[i].worker);
        CU_ASSERT_EQUAL_FATAL(pthread_create(&id[i], NULL, run, &threads[i]), 0);
    }
    for (unsigned i = 0; i < N_THREADS; i++) {
        pthread_join(id[i], NULL);
    }
    for (unsigned i = 0; i < N_THREADS; i++) {
        decoder_worker_free(threads[i].worker);
    }
    free(threads);
}

/* At rest every sum holds exactly. */
static void check_sums(struct world *w)
{
    struct decoder_counters c;
    struct decoder_state s;
    decoder_counters(w->decoder, &c);
    decoder_state(w->decoder, &s);
    CU_ASSERT_FALSE(atomic_load(&w->failed));
    CU_ASSERT_EQUAL(c.datagrams, (uint64_t)N_THREADS * w->n_rounds);
    CU_ASSERT_EQUAL(c.datagrams, c.datagrams_decoded + c.reason[DECODER_REFUSED_EXPORTER]);
    CU_ASSERT_EQUAL(c.sets_data, c.sets_decoded + c.sets_held + c.sets_refused);
    CU_ASSERT_EQUAL(c.sets_held,
                    c.sets_released + c.sets_expired + c.sets_evicted + s.pending_sets);
    CU_ASSERT_EQUAL(c.records_flow + c.records_options, atomic_load(&w->n_records));
}

static void finish(struct world *w)
{
    decoder_free(w->decoder);
    CU_ASSERT_EQUAL(atomic_load(&w->n_attached), 0);
}

static void put_template(struct build *b, uint16_t id, unsigned definition)
{
    static const uint16_t definitions[][3][2] = {
        {{1, 4}, {2, 4}, {4, 1}},
        {{82, 65535}, {1, 8}, {2, 8}},
        {{2, 2}, {1, 2}, {7, 2}},
        {{149, 4}, {34, 4}, {35, 1}},
    };
    bool options = definition == 3;
    build_set(b, options ? 3 : 2);
    if (options) {
        build_options_template(b, id, definitions[3], 1, definitions[3] + 1, 2);
    } else {
        build_template(b, id, definitions[definition], 3);
    }
}

/* ---- everything at once, with small budgets ---- */

static void any_round(struct world *w, struct build *b, unsigned thread, unsigned random)
{
    (void)w;
    (void)thread;
    uint16_t id = (uint16_t)(256 + (random & 3));
    build_ipfix(b, 0, random, random >> 2 & 3);
    switch (random >> 4 & 15) {
    case 0:
    case 1:
        put_template(b, id, random >> 8 & 3);
        break;
    case 2:
        build_set(b, 2); /* withdrawal of one, or of all */
        build_u16(b, random >> 8 & 1 ? id : 2);
        build_u16(b, 0);
        break;
    case 3:
        build_set(b, id);
        build_zeros(b, 24);
        put_template(b, id, random >> 8 & 3);
        build_set(b, id);
        build_zeros(b, 24);
        break;
    case 4:
        build_set(b, id);
        build_zeros(b, 3000);
        break;
    default:
        build_set(b, id);
        build_zeros(b, 1 + (random >> 8 & 63));
        break;
    }
}

static void all_at_once_keeps_the_sums(void)
{
    struct decoder_limits limits = {.max_exporters = 20,
                                    .max_domains_per_exporter = 3,
                                    .max_pending_bytes = 32768,
                                    .max_pending_exporter_bytes = 8192,
                                    .max_pending_age_ns = 50 * WF_NS_PER_MS};
    struct world w = {.n_exporters = 30, .n_rounds = 4000, .round = any_round};
    play(&w, &limits);
    check_sums(&w);
    struct decoder_state s;
    decoder_state(w.decoder, &s);
    CU_ASSERT_TRUE(s.exporters <= 20);
    CU_ASSERT_TRUE(s.pending_bytes <= 32768);
    finish(&w);
}

static void fewer_places_than_threads_keep_the_sums(void)
{
    struct decoder_limits limits = {.max_exporters = 4, .max_session_bytes = 12000};
    struct world w = {.n_exporters = 64, .n_rounds = 2000, .round = any_round};
    play(&w, &limits);
    check_sums(&w);
    struct decoder_state s;
    decoder_state(w.decoder, &s);
    CU_ASSERT_TRUE(s.exporters <= 4);
    finish(&w);
}

/* ---- no set may be stranded between "unknown" and "held" ---- */

static void data_or_template(struct world *w, struct build *b, unsigned thread, unsigned random)
{
    uint16_t id = (uint16_t)(256 + (random & 1023));
    build_ipfix(b, 0, 0, 1);
    if (thread == 0) {
        put_template(b, id, 0);
    } else {
        build_set(b, id);
        build_zeros(b, 9);
        atomic_fetch_add(&w->n_fed_records, 1);
    }
}

static void no_set_is_stranded_beside_its_template(void)
{
    struct decoder_limits limits = {.max_pending_age_ns = -1};
    struct world w = {.n_exporters = 1, .n_rounds = 4000, .round = data_or_template};
    play(&w, &limits);
    check_sums(&w);
    /* all templates once more, so that what is held is held for none of them */
    struct thread last = {.world = &w};
    struct decoder_sink sink = {.records = on_records, .ctx = &last};
    last.worker = decoder_worker_new(w.decoder, &sink);
    CU_ASSERT_PTR_NOT_NULL_FATAL(last.worker);
    for (uint16_t id = 256; id < 256 + 1024; id++) {
        build_ipfix(&last.b, 0, 0, 1);
        put_template(&last.b, id, 0);
        build_end(&last.b);
        struct decoder_datagram d = {.data = last.b.data,
                                     .len = last.b.len,
                                     .exporter = wf_addr_v4((const uint8_t[4]){10, 0, 0, 0})};
        decoder_feed(last.worker, &d);
    }
    decoder_worker_free(last.worker);
    struct decoder_state s;
    decoder_state(w.decoder, &s);
    CU_ASSERT_EQUAL(s.pending_sets, 0U);
    CU_ASSERT_EQUAL(s.pending_bytes, 0U);
    CU_ASSERT_EQUAL(atomic_load(&w.n_records), atomic_load(&w.n_fed_records));
    finish(&w);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"all at once keeps the sums", all_at_once_keeps_the_sums},
        {"fewer places than threads keep the sums", fewer_places_than_threads_keep_the_sums},
        {"no set is stranded beside its template", no_set_is_stranded_beside_its_template},
    };
    return test_main("concurrency", cases, sizeof(cases) / sizeof(cases[0]));
}
