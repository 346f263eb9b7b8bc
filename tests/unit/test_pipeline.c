// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>

#include "collector/pipeline/pipeline.h"
#include "tests/unit/piped.h"

/* ---- datagrams whose records tell by which definition they were made ---- */

#define N_DEFINITIONS 4U

/* Definition k has one element of its own, which bears 7000 + k, a number that counts on, and k octets of padding: read
 * by another definition, name and value do not belong together, and the records lie elsewhere. */
static const uint16_t own_element[N_DEFINITIONS] = {10, 14, 16, 17};
static const char *const own_name[N_DEFINITIONS] = {
    "\"ingressInterface\":7000,", "\"egressInterface\":7001,", "\"bgpSourceAsNumber\":7002,",
    "\"bgpDestinationAsNumber\":7003,"};

static void put_definition(struct build *b, uint16_t id, unsigned definition)
{
    const uint16_t fields[][2] = {
        {own_element[definition], 4}, {148, 8}, {210, (uint16_t)definition}};
    build_set(b, 2);
    build_template(b, id, fields, definition ? 3 : 2);
}

static void put_records(struct build *b, uint16_t id, unsigned definition, uint64_t *number,
                        unsigned n)
{
    build_set(b, id);
    for (unsigned i = 0; i < n; i++) {
        build_u32(b, 7000 + definition);
        build_u64(b, (*number)++);
        build_zeros(b, definition);
    }
}

/* Each line by its own definition, and each number there once. */
static void check_lines(const struct piped *p, uint64_t n_records)
{
    static const char key[] = "\"flowId\":";
    uint8_t *seen = calloc(n_records + 1, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(seen);
    size_t n_own = 0;
    for (unsigned k = 0; k < N_DEFINITIONS; k++) {
        n_own += piped_count(p, own_name[k]);
    }
    CU_ASSERT_EQUAL(n_own, n_records);
    uint64_t n_wrong = 0;
    uint64_t n_lines = 0;
    size_t len;
    const char *line;
    for (const char *at = p->text; (line = piped_line(p, &at, &len)) != NULL;) {
        char copy[512] = "";
        memcpy(copy, line, len < sizeof(copy) ? len : sizeof(copy) - 1);
        const char *value = strstr(copy, key);
        uint64_t number = value ? strtoull(value + sizeof(key) - 1, NULL, 10) : n_records;
        n_wrong += number >= n_records || seen[number]++ > 0;
        n_lines++;
    }
    CU_ASSERT_EQUAL(n_lines, n_records);
    CU_ASSERT_EQUAL(n_wrong, 0U);
    free(seen);
}

/* Three exporters; about one datagram in `every` redefines its template, sometimes between records of the same datagram. */
static uint64_t feed_redefinitions(struct piped *p, unsigned n_datagrams, unsigned every)
{
    enum {
        N_EXPORTERS = 3
    };
    struct build b;
    unsigned definition[N_EXPORTERS] = {0};
    bool defined[N_EXPORTERS] = {false};
    uint64_t number = 0;
    uint64_t random = 4711;
    for (unsigned i = 0; i < n_datagrams; i++) {
        random = wf_mix64(random + i);
        unsigned who = (unsigned)(random % N_EXPORTERS);
        p->exporter = wf_addr_v4((const uint8_t[4]){192, 0, 2, (uint8_t)who});
        build_ipfix(&b, 1700000000, i, who);
        bool redefine = !defined[who] || (random >> 8) % every == 0;
        if (redefine && defined[who] && (random >> 16) % 2) {
            put_records(&b, 256, definition[who], &number, 3); /* still by the old one */
        }
        if (redefine) {
            definition[who] =
                (definition[who] + 1 + (unsigned)((random >> 24) % 3)) % N_DEFINITIONS;
            put_definition(&b, 256, definition[who]);
            defined[who] = true;
        }
        put_records(&b, 256, definition[who], &number, 1 + (unsigned)((random >> 32) % 9));
        CU_ASSERT_TRUE(piped_feed(p, &b));
        if ((random >> 40) % 16 == 0) {
            piped_flush(p); /* batches of all sizes */
        }
    }
    return number;
}

static void redefinitions_under_load_mix_no_records(void)
{
    struct piped p;
    piped_open(&p, (struct pipeline_config){.n_workers = 8, .n_batches = 16}, true);
    uint64_t n = feed_redefinitions(&p, 8000, 5);
    piped_drain(&p);
    check_lines(&p, n);
    struct pipeline_counters c = piped_counters(&p);
    CU_ASSERT_EQUAL(c.documents_made, n);
    CU_ASSERT_EQUAL(c.documents_refused, 0U);
    CU_ASSERT_EQUAL(c.decoder.records_flow, n);
    CU_ASSERT_EQUAL(c.decoder.datagrams, 8000U);
    CU_ASSERT_TRUE(c.decoder.templates_changed > 500);
    CU_ASSERT_EQUAL(c.decoder.sets_held, 0U);
    piped_close(&p);
}

/* ---- order of a replay ---- */

static void check_same_octets(void (*feed)(struct piped *), size_t chunk_bytes, size_t at_least)
{
    static const unsigned workers[] = {1, 2, 8};
    struct piped first;
    for (unsigned i = 0; i < sizeof(workers) / sizeof(workers[0]); i++) {
        struct piped p;
        struct pipeline_config config = {
            .n_workers = workers[i], .ordered = true, .n_batches = 12, .chunk_bytes = chunk_bytes};
        piped_open(&p, config, true);
        feed(&p);
        piped_drain(&p);
        if (i == 0) {
            first = p;
            CU_ASSERT_TRUE(p.len >= at_least);
            continue;
        }
        CU_ASSERT_EQUAL(p.len, first.len);
        CU_ASSERT(p.len == first.len && memcmp(p.text, first.text, p.len) == 0);
        piped_close(&p);
    }
    piped_close(&first);
}

static void feed_small(struct piped *p)
{
    (void)feed_redefinitions(p, 3000, 20);
}

static void ordered_output_is_that_of_one_worker(void)
{
    check_same_octets(feed_small, 0, 500000);
}

static void ordered_output_is_so_with_chunks_of_a_few_lines(void)
{
    check_same_octets(feed_small, 300, 500000);
}

/* 64 datagrams beyond a slot, 1,200 records each: about 10 MB of lines a batch, more than a worker piles up. */
static void feed_large(struct piped *p)
{
    struct build b;
    uint64_t number = 0;
    build_ipfix(&b, 1700000000, 0, 1);
    put_definition(&b, 256, 0);
    CU_ASSERT_TRUE(piped_feed(p, &b));
    piped_flush(p);
    for (unsigned i = 0; i < 3U * BATCH_PACKETS; i++) {
        build_ipfix(&b, 1700000000, i, 1);
        put_records(&b, 256, 0, &number, 1200);
        CU_ASSERT_TRUE(piped_feed(p, &b));
    }
}

static void ordered_output_is_so_when_a_batch_makes_more_than_waits(void)
{
    check_same_octets(feed_large, 0, 3 * (5U << 20));
}

/* ---- limits ---- */

static void a_datagram_that_makes_too_much_is_cut_and_counted(void)
{
    struct piped p;
    struct build b;
    uint64_t number = 0;
    piped_open(&p, (struct pipeline_config){.n_workers = 1, .max_datagram_octets = 100000}, true);
    build_ipfix(&b, 1700000000, 0, 1);
    put_definition(&b, 256, 0);
    CU_ASSERT_TRUE(piped_feed(&p, &b));
    build_ipfix(&b, 1700000000, 1, 1);
    put_records(&b, 256, 0, &number, 5000);
    CU_ASSERT_TRUE(piped_feed(&p, &b));
    build_ipfix(&b, 1700000000, 2, 1);
    put_records(&b, 256, 0, &number, 10); /* the next one has a budget of its own */
    CU_ASSERT_TRUE(piped_feed(&p, &b));
    piped_drain(&p);
    struct pipeline_counters c = piped_counters(&p);
    CU_ASSERT_EQUAL(c.decoder.records_flow, 5010U);
    CU_ASSERT_EQUAL(c.documents_made + c.documents_refused, 5010U);
    CU_ASSERT_TRUE(c.documents_refused > 3000);
    CU_ASSERT_TRUE(p.len > 100000 && p.len < 200000); /* to within a piece of 256 records */
    CU_ASSERT_EQUAL(piped_count(&p, "\n"), c.documents_made);
    CU_ASSERT_EQUAL(piped_count(&p, "\"flowId\":5009"), 1U);
    piped_close(&p);
}

static void held_sets_count_for_their_own_datagrams(void)
{
    struct piped p;
    struct build b;
    uint64_t number = 0;
    piped_open(&p, (struct pipeline_config){.n_workers = 4, .max_datagram_octets = 20000}, true);
    for (unsigned i = 0; i < 200;
         i++) { /* each makes about 10,000 octets, together 100 times the limit */
        build_ipfix(&b, 1700000000, i * 80, 1);
        put_records(&b, 256, 2, &number, 80);
        CU_ASSERT_TRUE(piped_feed(&p, &b));
    }
    build_ipfix(&b, 1700000000, 200 * 80, 1);
    put_definition(&b, 256, 2);
    CU_ASSERT_TRUE(piped_feed(&p, &b));
    piped_drain(&p);
    struct pipeline_counters c = piped_counters(&p);
    CU_ASSERT_EQUAL(c.decoder.sets_released, 200U);
    CU_ASSERT_EQUAL(c.documents_refused, 0U);
    CU_ASSERT_EQUAL(c.documents_made, 200U * 80U);
    CU_ASSERT_EQUAL(atomic_load(&p.n_events[DECODER_EVENT_WAITING]), 1U);
    CU_ASSERT_EQUAL(atomic_load(&p.n_events[DECODER_EVENT_RELEASED]), 1U);
    check_lines(&p, number);
    piped_close(&p);
}

static void large_datagrams_have_a_budget_and_give_it_back(void)
{
    enum {
        LEN = 60000,
        BUDGET = 32 << 20
    };
    static uint8_t data[LEN] = {0, 10}; /* IPFIX of length 0: counted, nothing more */
    struct piped p;
    piped_open(&p, (struct pipeline_config){.n_workers = 2, .n_batches = 20}, false);
    unsigned n_taken = 0;
    while (n_taken < 1000 && piped_octets(&p, data, LEN)) {
        n_taken++;
    }
    CU_ASSERT_EQUAL(n_taken, BUDGET / LEN);
    CU_ASSERT_FALSE(piped_octets(&p, data, BATCH_SLOT_BYTES + 1 + BUDGET % LEN));
    CU_ASSERT_TRUE(piped_octets(&p, data, BATCH_SLOT_BYTES)); /* fits in its slot */
    CU_ASSERT_EQUAL(piped_counters(&p).datagrams_dropped, 2U);
    piped_flush(&p);
    CU_ASSERT_EQUAL_FATAL(pipeline_start(p.pipeline), WF_OK);
    for (unsigned i = 0; i < 30000 && piped_counters(&p).decoder.datagrams < n_taken + 1; i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = WF_NS_PER_MS}, NULL);
    }
    /* a batch's memory is given back after the last one is counted: the first try may come too soon */
    bool taken = false;
    for (unsigned i = 0; i < 30000 && !taken; i++) {
        taken = piped_octets(&p, data, LEN);
    }
    CU_ASSERT_TRUE(taken);
    piped_drain(&p);
    CU_ASSERT_EQUAL(piped_counters(&p).decoder.datagrams, n_taken + 2);
    piped_close(&p);
}

static void what_was_never_decoded_is_freed(void)
{
    static uint8_t data[5000];
    struct piped p;
    piped_open(&p, (struct pipeline_config){.n_workers = 2}, false);
    for (unsigned i = 0; i < 100; i++) {
        CU_ASSERT_TRUE(piped_octets(&p, data, i % 2 ? 5000 : 5));
    }
    piped_flush(&p);
    CU_ASSERT_EQUAL(piped_counters(&p).decoder.datagrams, 0U);
    piped_close(&p); /* leaks are seen by the sanitizer */
}

/* ---- life cycle ---- */

static void a_line_is_out_though_nothing_follows(void)
{
    struct piped p;
    struct build b;
    uint64_t number = 0;
    piped_open(&p, (struct pipeline_config){.n_workers = 4}, true);
    for (unsigned i = 0; i < 20; i++) {
        build_ipfix(&b, 1700000000, i, 1);
        put_definition(&b, 256, 1);
        put_records(&b, 256, 1, &number, 1);
        CU_ASSERT_TRUE(piped_feed(&p, &b));
        piped_flush(&p);
        CU_ASSERT_TRUE_FATAL(piped_wait_written(&p, number));
    }
    piped_drain(&p);
    check_lines(&p, number);
    piped_close(&p);
}

static void a_drained_pipeline_takes_nothing_more(void)
{
    struct piped p;
    piped_open(&p, (struct pipeline_config){.n_workers = 2}, true);
    CU_ASSERT_FALSE(producer_should_stop(p.producer));
    piped_drain(&p);
    CU_ASSERT_TRUE(producer_should_stop(p.producer));
    CU_ASSERT_PTR_NULL(producer_get(p.producer, -1));
    CU_ASSERT_EQUAL(p.len, 0U);
    pipeline_drain(p.pipeline); /* once more harms nobody */
    piped_close(&p);
}

static void arrival_numbers_rise_over_all_producers(void)
{
    static const uint8_t data[4] = {0, 9, 0, 0};
    struct piped p;
    piped_open(&p, (struct pipeline_config){.n_workers = 1}, false);
    struct producer *producer[2] = {p.producer, pipeline_producer_new(p.pipeline)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(producer[1]);
    uint64_t next = 0;
    for (unsigned i = 0; i < 6; i++) {
        struct batch *batch = producer_get(producer[i % 2], 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(batch);
        struct decoder_datagram d = {.data = data, .len = sizeof(data)};
        for (unsigned k = 0; k <= i; k++) {
            CU_ASSERT_TRUE(producer_add(producer[i % 2], batch, &d));
        }
        producer_put(producer[i % 2], batch); /* no worker takes it: it can still be looked at */
        for (unsigned k = 0; k <= i; k++) {
            CU_ASSERT_EQUAL(batch->packet[k].slot, next++);
        }
        CU_ASSERT_EQUAL(batch->sequence, i);
    }
    piped_close(&p);
}

static void what_lies_in_its_slot_is_not_copied(void)
{
    struct piped p;
    piped_open(&p, (struct pipeline_config){.n_workers = 1}, false);
    struct batch *batch = producer_get(p.producer, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(batch);
    uint8_t *slot = batch->storage;
    memcpy(slot, "\0\x09\0\0abc", 7);
    struct decoder_datagram d = {.data = slot, .len = 7, .port = 9};
    CU_ASSERT_TRUE(producer_add(p.producer, batch, &d));
    d.data = batch->storage + (size_t)5 * BATCH_SLOT_BYTES; /* moves down, as after a drop */
    memcpy(batch->storage + (size_t)5 * BATCH_SLOT_BYTES, "\0\x0axyz", 5);
    d.len = 5;
    CU_ASSERT_TRUE(producer_add(p.producer, batch, &d));
    CU_ASSERT_EQUAL(batch->n_packets, 2U);
    CU_ASSERT_PTR_EQUAL(batch->packet[0].data, slot);
    CU_ASSERT_EQUAL(memcmp(batch->packet[0].data, "\0\x09\0\0abc", 7), 0);
    CU_ASSERT_PTR_EQUAL(batch->packet[1].data, slot + BATCH_SLOT_BYTES);
    CU_ASSERT_EQUAL(memcmp(batch->packet[1].data, "\0\x0axyz", 5), 0);
    CU_ASSERT_EQUAL(batch->packet[1].len, 5U);
    producer_put(p.producer, batch);
    piped_close(&p);
}

static void expiry_gives_up_what_waited_too_long(void)
{
    struct piped p;
    struct build b;
    uint64_t number = 0;
    struct pipeline_config config = {.n_workers = 2,
                                     .limits = {.max_pending_age_ns = 60 * WF_NS_PER_S}};
    piped_open(&p, config, true);
    build_ipfix(&b, 1700000000, 0, 1);
    put_records(&b, 256, 0, &number, 4);
    CU_ASSERT_TRUE(piped_feed(&p, &b));
    piped_flush(&p);
    for (unsigned i = 0; i < 30000 && piped_counters(&p).state.pending_sets == 0; i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = WF_NS_PER_MS}, NULL);
    }
    pipeline_expire(p.pipeline, p.now_ns + 59 * WF_NS_PER_S);
    CU_ASSERT_EQUAL(piped_counters(&p).state.pending_sets, 1U);
    pipeline_expire(p.pipeline, p.now_ns + 61 * WF_NS_PER_S);
    piped_drain(&p);
    struct pipeline_counters c = piped_counters(&p);
    CU_ASSERT_EQUAL(c.state.pending_sets, 0U);
    CU_ASSERT_EQUAL(c.decoder.sets_expired, 1U);
    CU_ASSERT_EQUAL(atomic_load(&p.n_events[DECODER_EVENT_LOST]), 1U);
    piped_close(&p);
}

static void no_workers_is_refused(void)
{
    struct pipeline_config config = {.n_workers = 0};
    struct pipeline *pipeline = NULL;
    CU_ASSERT_EQUAL(pipeline_new(&config, &pipeline), WF_E_INVAL);
    CU_ASSERT_PTR_NULL(pipeline);
    pipeline_free(NULL);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"redefinitions under load mix no records", redefinitions_under_load_mix_no_records},
        {"ordered output is that of one worker", ordered_output_is_that_of_one_worker},
        {"ordered output is so with chunks of a few lines",
         ordered_output_is_so_with_chunks_of_a_few_lines},
        {"ordered output is so when a batch makes more than waits",
         ordered_output_is_so_when_a_batch_makes_more_than_waits},
        {"a datagram that makes too much is cut and counted",
         a_datagram_that_makes_too_much_is_cut_and_counted},
        {"held sets count for their own datagrams", held_sets_count_for_their_own_datagrams},
        {"large datagrams have a budget and give it back",
         large_datagrams_have_a_budget_and_give_it_back},
        {"what was never decoded is freed", what_was_never_decoded_is_freed},
        {"a line is out though nothing follows", a_line_is_out_though_nothing_follows},
        {"a drained pipeline takes nothing more", a_drained_pipeline_takes_nothing_more},
        {"arrival numbers rise over all producers", arrival_numbers_rise_over_all_producers},
        {"what lies in its slot is not copied", what_lies_in_its_slot_is_not_copied},
        {"expiry gives up what waited too long", expiry_gives_up_what_waited_too_long},
        {"no workers is refused", no_workers_is_refused},
    };
    return test_main("pipeline", cases, sizeof(cases) / sizeof(cases[0]));
}
