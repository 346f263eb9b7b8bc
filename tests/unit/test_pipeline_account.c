// SPDX-License-Identifier: Apache-2.0
/*
 * What came into a pipeline and what came out, held against the ledger's equations: order, late templates, a template
 * that changes with every datagram, an output that goes away.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>

#include "collector/ledger/ledger.h"
#include "collector/pipeline/pipeline.h"
#include "tests/unit/piped.h"

/* Definition 0: a marker of 4 octets in one element, definition 1: in another, with more behind it. A record is 7000 plus the
 * number of its definition. */
static void put_definition(struct build *b, unsigned definition)
{
    static const uint16_t first[][2] = {{10, 4}, {148, 8}};
    static const uint16_t second[][2] = {{148, 8}, {210, 3}, {14, 4}};
    build_set(b, 2);
    build_template(b, 256, definition ? second : first, definition ? 3 : 2);
}

static void put_records(struct build *b, unsigned definition, uint64_t *number, unsigned n)
{
    build_set(b, 256);
    for (unsigned i = 0; i < n; i++) {
        if (definition) {
            build_u64(b, (*number)++);
            build_zeros(b, 3);
            build_u32(b, 7001);
        } else {
            build_u32(b, 7000);
            build_u64(b, (*number)++);
        }
    }
}

static size_t n_right(const struct piped *p)
{
    return piped_count(p, "\"ingressInterface\":7000") + piped_count(p, "\"egressInterface\":7001");
}

static struct ledger account(const struct piped *p, uint64_t n_datagrams)
{
    struct pipeline_counters c = piped_counters(p);
    struct output_counters o;
    char why[160] = "";
    output_counters(p->output, &o);
    struct ledger l = {.datagrams_received = n_datagrams,
                       .ring_dropped = c.datagrams_dropped,
                       .decoder = c.decoder,
                       .state = c.state,
                       .documents_made = c.documents_made,
                       .documents_refused = c.documents_refused,
                       .documents_written = o.documents_written,
                       .documents_dropped = o.documents_dropped,
                       .documents_failed = o.documents_failed,
                       .documents_unsent = o.documents_unsent};
    int n_wrong = ledger_check(&l, why, sizeof(why));
    CU_ASSERT_EQUAL(n_wrong, 0);
    if (n_wrong) {
        printf("\n  %s\n", why);
    }
    return l;
}

static void feed_changes(struct piped *p, unsigned n_datagrams, uint64_t *number)
{
    struct build b;
    for (unsigned i = 0; i < n_datagrams; i++) {
        build_ipfix(&b, 1700000000, (uint32_t)*number, 1);
        put_definition(&b, i % 2);
        put_records(&b, i % 2, number, 5);
        CU_ASSERT_TRUE(piped_feed(p, &b));
        if (i % 7 == 0) {
            piped_flush(p);
        }
    }
}

/* One producer, 8 workers: each datagram has to wait for the one before, and no record may be read by its neighbour's definition. */
static void a_template_that_changes_with_every_datagram_holds_for_its_own(void)
{
    struct piped p;
    uint64_t number = 0;
    piped_open(&p, (struct pipeline_config){.n_workers = 8, .n_batches = 16}, true);
    feed_changes(&p, 3000, &number);
    piped_drain(&p);
    struct ledger l = account(&p, 3000);
    CU_ASSERT_EQUAL(n_right(&p), number);
    CU_ASSERT_EQUAL(l.documents_written, number);
    CU_ASSERT_EQUAL(l.decoder.templates_changed, 2999U);
    CU_ASSERT_FALSE(ledger_has_loss(&l));
    piped_close(&p);
}

/* Data of 30 domains first, their templates at the end, the last domain's never. */
static void feed_late(struct piped *p)
{
    enum {
        N_DOMAINS = 30
    };
    struct build b;
    uint64_t number = 0;
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned domain = 0; domain < N_DOMAINS; domain++) {
            build_ipfix(&b, 1700000000, round * 3, domain);
            put_records(&b, domain % 2, &number, 3);
            CU_ASSERT_TRUE(piped_feed(p, &b));
        }
    }
    for (unsigned domain = 0; domain < N_DOMAINS - 1; domain++) {
        build_ipfix(&b, 1700000000, 60, domain);
        put_definition(&b, domain % 2);
        put_records(&b, domain % 2, &number, 2);
        CU_ASSERT_TRUE(piped_feed(p, &b));
    }
}

static void records_before_their_template_come_in_the_same_order_with_any_number_of_workers(void)
{
    static const unsigned workers[] = {1, 2, 8};
    struct piped first;
    for (unsigned i = 0; i < sizeof(workers) / sizeof(workers[0]); i++) {
        struct piped p;
        struct pipeline_config config = {
            .n_workers = workers[i], .ordered = true, .n_batches = 8, .chunk_bytes = 2000};
        piped_open(&p, config, true);
        feed_late(&p);
        piped_drain(&p);
        struct ledger l = account(&p, 20 * 30 + 29);
        CU_ASSERT_EQUAL(l.documents_written, 20U * 29U * 3U + 29U * 2U);
        CU_ASSERT_EQUAL(n_right(&p), l.documents_written);
        CU_ASSERT_EQUAL(l.state.pending_sets, 20U); /* still held, and in the account as such */
        CU_ASSERT_TRUE(ledger_has_loss(&l));
        if (i == 0) {
            first = p;
            continue;
        }
        CU_ASSERT(p.len == first.len && memcmp(p.text, first.text, p.len) == 0);
        piped_close(&p);
    }
    piped_close(&first);
}

static void what_is_refused_or_broken_is_in_the_account(void)
{
    static uint8_t large[60000] = {0, 10};
    struct piped p;
    struct build b;
    uint64_t number = 0;
    piped_open(&p, (struct pipeline_config){.n_workers = 4, .max_datagram_octets = 20000}, true);
    for (unsigned i = 0; i < 50; i++) {
        build_ipfix(&b, 1700000000, 0, i);
        put_definition(&b, 0);
        put_records(&b, 0, &number, 1000); /* makes more than a datagram may */
        CU_ASSERT_TRUE(piped_feed(&p, &b));
        CU_ASSERT_TRUE(piped_octets(&p, large, i));             /* too short, down to nothing */
        CU_ASSERT_TRUE(piped_octets(&p, large, sizeof(large))); /* a length word of 0 */
    }
    piped_drain(&p);
    struct ledger l = account(&p, 150);
    CU_ASSERT_EQUAL(l.decoder.records_flow, 50000U);
    CU_ASSERT_TRUE(l.documents_refused >= 50U * 500U);
    CU_ASSERT_TRUE(l.documents_written >= 50U * 200U);
    CU_ASSERT_TRUE(
        l.decoder.reason[DECODER_SHORT_HEADER] + l.decoder.reason[DECODER_UNKNOWN_VERSION] >= 16U);
    piped_close(&p);
}

/* ---- an output that goes away ---- */

struct leaving {
    char folder[32], path[64];
    int reader;
    struct piped piped;
};

static void leaving_open(struct leaving *t, struct pipeline_config config)
{
    char target[80];
    char why[256];
    struct document_options options = {.format = DOCUMENT_FLAT, .replay = true};
    struct piped *p = &t->piped;
    *t = (struct leaving){.folder = "/tmp/test_account_XXXXXX"};
    *p = (struct piped){.now_ns = 1700000000 * WF_NS_PER_S};
    p->exporter = wf_addr_v4((const uint8_t[4]){192, 0, 2, 1});
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(t->folder));
    snprintf(t->path, sizeof(t->path), "%s/fifo", t->folder);
    CU_ASSERT_EQUAL_FATAL(mkfifo(t->path, 0600), 0);
    t->reader = open(t->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    CU_ASSERT_FATAL(t->reader >= 0);
    snprintf(target, sizeof(target), "file:%s", t->path);
    struct output_config to = {.target = target, .block = config.ordered};
    CU_ASSERT_EQUAL_FATAL(document_new(&options, &p->document), WF_OK);
    CU_ASSERT_EQUAL_FATAL(output_new(&to, &p->output, why, sizeof(why)), WF_OK);
    CU_ASSERT_EQUAL_FATAL(output_start(p->output), WF_OK);
    config.document = p->document;
    config.output = p->output;
    CU_ASSERT_EQUAL_FATAL(pipeline_new(&config, &p->pipeline), WF_OK);
    CU_ASSERT_EQUAL_FATAL(pipeline_start(p->pipeline), WF_OK);
    p->producer = pipeline_producer_new(p->pipeline);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p->producer);
}

static void leaving_close(struct leaving *t)
{
    output_stop(t->piped.output, true);
    pipeline_free(t->piped.pipeline);
    output_free(t->piped.output);
    document_free(t->piped.document);
    unlink(t->path);
    rmdir(t->folder);
}

/* The reader takes one line and leaves; the producer hears of it, and the end comes though nobody reads. */
static void check_reader_that_leaves(struct pipeline_config config)
{
    struct leaving t;
    char octets[100];
    uint64_t number = 0;
    uint64_t n_datagrams = 0;
    leaving_open(&t, config);
    feed_changes(&t.piped, 1, &number);
    n_datagrams++;
    piped_flush(&t.piped);
    while (read(t.reader, octets, sizeof(octets)) <= 0) {
        (void)nanosleep(&(struct timespec){.tv_nsec = WF_NS_PER_MS}, NULL);
    }
    close(t.reader);
    for (unsigned i = 0; i < 30000 && !producer_should_stop(t.piped.producer); i++) {
        feed_changes(&t.piped, 3, &number);
        n_datagrams += 3;
        piped_flush(&t.piped);
    }
    CU_ASSERT_TRUE(producer_should_stop(t.piped.producer));
    pipeline_drain(t.piped.pipeline);
    CU_ASSERT_EQUAL(output_drain(t.piped.output), WF_E_STOPPED);
    struct ledger l = account(&t.piped, n_datagrams);
    CU_ASSERT_EQUAL(l.documents_made, number);
    CU_ASSERT_TRUE(l.documents_written >= 5);
    CU_ASSERT_TRUE(l.documents_failed + l.documents_unsent > 0);
    CU_ASSERT_TRUE(ledger_has_loss(&l));
    leaving_close(&t);
}

static void a_reader_that_leaves_ends_a_run(void)
{
    check_reader_that_leaves((struct pipeline_config){.n_workers = 4, .n_batches = 8});
}

static void a_reader_that_leaves_ends_a_replay(void)
{
    check_reader_that_leaves(
        (struct pipeline_config){.n_workers = 4, .n_batches = 8, .ordered = true});
}

/* Nobody reads and the queue is full: live, workers go on and documents are dropped; the end waits for nothing but the output. */
static void a_stuck_output_does_not_stop_decoding(void)
{
    struct leaving t;
    uint64_t number = 0;
    leaving_open(&t, (struct pipeline_config){.n_workers = 4, .n_batches = 8, .chunk_bytes = 4096});
    feed_changes(&t.piped, 2000, &number); /* more than a pipe takes */
    piped_flush(&t.piped);
    pipeline_drain(t.piped.pipeline);
    CU_ASSERT_EQUAL(piped_counters(&t.piped).documents_made, number);
    output_stop(t.piped.output, true);
    struct ledger l = account(&t.piped, 2000);
    CU_ASSERT_TRUE(l.documents_unsent > 0);
    close(t.reader);
    leaving_close(&t);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a template that changes with every datagram holds for its own",
         a_template_that_changes_with_every_datagram_holds_for_its_own},
        {"records before their template come in the same order with any number of workers",
         records_before_their_template_come_in_the_same_order_with_any_number_of_workers},
        {"what is refused or broken is in the account",
         what_is_refused_or_broken_is_in_the_account},
        {"a reader that leaves ends a run", a_reader_that_leaves_ends_a_run},
        {"a reader that leaves ends a replay", a_reader_that_leaves_ends_a_replay},
        {"a stuck output does not stop decoding", a_stuck_output_does_not_stop_decoding},
    };
    signal(SIGPIPE, SIG_IGN); /* as the program does */
    return test_main("pipeline_account", cases, sizeof(cases) / sizeof(cases[0]));
}
