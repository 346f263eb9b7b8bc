// SPDX-License-Identifier: Apache-2.0
/*
 * The queue. A destination that takes its time is a FIFO that nobody reads just now: its writer hangs in write(2), and that
 * it does is known once the first octet can be read.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "tests/unit/output_harness.h"

#define LEN        100U
#define BIG        20000U /* lines that no pipe holds: 2 MB */
#define SMALL      10U
#define PUTTER_MAX 1000U
#define ONE_BIT    1U /* a queue that takes a chunk only when it is empty */

struct hang {
    struct folder folder;
    char *path;
    int reader;
    struct output *output;
};

static void hang_open(struct hang *hang, size_t queue_bytes, bool block)
{
    folder_make(&hang->folder);
    hang->path = folder_path(&hang->folder, "fifo");
    CU_ASSERT_EQUAL_FATAL(mkfifo(hang->path, 0600), 0);
    hang->reader = open(hang->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    CU_ASSERT_FATAL(hang->reader >= 0);
    CU_ASSERT_EQUAL_FATAL(fcntl(hang->reader, F_SETFL, 0), 0);
    hang->output = output_open("file:", hang->path, queue_bytes, block);
}

static void hang_close(struct hang *hang)
{
    output_free(hang->output);
    if (hang->reader >= 0) {
        close(hang->reader);
    }
    unlink(hang->path);
    rmdir(hang->folder.path);
    free(hang->path);
}

/* The chunk is in the worker's hands: BIG lines from 0, of which the first octet is read here. */
static void hang_begin(struct hang *hang)
{
    char first = 0;
    CU_ASSERT_EQUAL(lines_put(hang->output, 0, BIG, LEN), WF_OK);
    CU_ASSERT_EQUAL_FATAL(read(hang->reader, &first, 1), 1);
    CU_ASSERT_EQUAL(first, '0');
}

/* Reads until the end or n octets; returns the whole lines among them, the first of which hang_begin bit off. */
static unsigned read_lines(int fd, size_t n)
{
    char buffer[65536];
    unsigned lines = 0;
    while (n > 0) {
        ssize_t got = read(fd, buffer, n < sizeof(buffer) ? n : sizeof(buffer));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        for (ssize_t i = 0; i < got; i++) {
            lines += buffer[i] == '\n';
        }
        n -= (size_t)got;
    }
    return lines;
}

static void unknown_targets_are_refused_with_a_hint(void)
{
    static const struct {
        const char *target, *hint;
    } cases[] = {{"flows.ndjson", "file:flows.ndjson"},
                 {"/var/log/x", "file:/var/log/x"},
                 {"kafka", "-o stdout, -o file:PATH or -o null"},
                 {"", "-o stdout"},
                 {"es:http://x", "there are -o stdout, -o file:PATH and -o null"},
                 {"./a:b", "file:./a:b"},
                 {"file:", "-o file:PATH"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char why[256] = "";
        struct output *output = NULL;
        struct output_config config = {.target = cases[i].target};
        CU_ASSERT_EQUAL(output_new(&config, &output, why, sizeof(why)), WF_E_INVAL);
        CU_ASSERT_PTR_NULL(output);
        CU_ASSERT_PTR_NOT_NULL(strstr(why, cases[i].hint));
    }
}

static void null_counts_and_forgets(void)
{
    struct output *output = output_open("null", NULL, 0, true);
    for (unsigned i = 0; i < 50; i++) {
        CU_ASSERT_EQUAL(lines_put(output, 0, SMALL, LEN), WF_OK);
    }
    CU_ASSERT_EQUAL(output_drain(output), WF_OK);
    counters_check(output, 50 * SMALL, 0, 0, 0);
    CU_ASSERT_EQUAL(counters_of(output).octets_written, 50 * SMALL * LEN);
    CU_ASSERT_EQUAL(counters_of(output).queue_bytes, 0);
    output_free(output);
}

static void a_parallel_destination_gets_as_many_workers_as_asked(void)
{
    char why[256];
    struct output *output = NULL;
    struct output_config config = {
        .target = "null", .n_workers = 4, .block = true, .queue_bytes = 9};
    CU_ASSERT_EQUAL_FATAL(output_new(&config, &output, why, sizeof(why)), WF_OK);
    CU_ASSERT_EQUAL_FATAL(output_start(output), WF_OK);
    for (unsigned i = 0; i < 500; i++) {
        CU_ASSERT_EQUAL(lines_put(output, 0, SMALL, LEN), WF_OK);
        if (i % 100 == 0) {
            output_reopen(output); /* nothing to do, and no harm */
        }
    }
    CU_ASSERT_EQUAL(output_drain(output), WF_OK);
    counters_check(output, 500 * SMALL, 0, 0, 0);
    output_free(output);
}

static void chunks_arrive_in_the_order_of_put(void)
{
    struct folder folder;
    folder_make(&folder);
    char *path = folder_path(&folder, "out");
    struct output *output = output_open("file:", path, 0, true);
    for (unsigned i = 0; i < 200; i++) {
        CU_ASSERT_EQUAL(lines_put(output, i * SMALL, SMALL, LEN), WF_OK);
    }
    CU_ASSERT_EQUAL(output_drain(output), WF_OK);
    size_t size;
    char *text = file_read(path, &size); /* drained means written, not just taken */
    CU_ASSERT_EQUAL(lines_check(text, size, 0, LEN), 200 * SMALL);
    counters_check(output, 200 * SMALL, 0, 0, 0);
    CU_ASSERT_EQUAL(counters_of(output).octets_written, size);
    output_free(output);
    free(text);
    unlink(path);
    rmdir(folder.path);
    free(path);
}

static void a_full_queue_drops_and_counts(void)
{
    struct hang hang;
    hang_open(&hang, ONE_BIT, false);
    hang_begin(&hang);
    CU_ASSERT_EQUAL(lines_put(hang.output, BIG, SMALL, LEN), WF_OK); /* the queue is empty */
    CU_ASSERT_EQUAL(lines_put(hang.output, 0, 3, LEN), WF_E_FULL);
    CU_ASSERT_EQUAL(lines_put(hang.output, 0, 4, LEN), WF_E_FULL);
    CU_ASSERT_EQUAL(counters_of(hang.output).documents_dropped, 7);
    CU_ASSERT_EQUAL(read_lines(hang.reader, (BIG + SMALL) * LEN - 1), BIG + SMALL);
    CU_ASSERT_EQUAL(output_drain(hang.output), WF_OK);
    counters_check(hang.output, BIG + SMALL, 7, 0, 0);
    CU_ASSERT_FALSE(output_is_gone(hang.output));
    hang_close(&hang);
}

/* CUnit is for one thread: the chunks are made before. */
struct putter {
    struct output *output;
    struct chunk *chunk[PUTTER_MAX];
    unsigned n_chunks;
    atomic_uint n_stopped; /* puts that gave WF_E_STOPPED */
    atomic_uint n_full;
    pthread_t thread;
};

static void *put_all(void *arg)
{
    struct putter *putter = arg;
    for (unsigned i = 0; i < putter->n_chunks; i++) {
        int err = output_put(putter->output, putter->chunk[i]);
        atomic_fetch_add(&putter->n_stopped, err == WF_E_STOPPED);
        atomic_fetch_add(&putter->n_full, err == WF_E_FULL);
    }
    return NULL;
}

static void putter_start(struct putter *putter, struct output *output, unsigned n_chunks)
{
    *putter = (struct putter){.output = output, .n_chunks = n_chunks};
    CU_ASSERT_FATAL(n_chunks <= PUTTER_MAX);
    for (unsigned i = 0; i < n_chunks; i++) {
        putter->chunk[i] = lines_make(output, 0, SMALL, LEN);
    }
    CU_ASSERT_EQUAL_FATAL(pthread_create(&putter->thread, NULL, put_all, putter), 0);
}

static void a_blocking_queue_loses_nothing_and_keeps_its_bound(void)
{
    struct hang hang;
    struct putter putter[4];
    const uint64_t bound = 64U << 10;
    hang_open(&hang, bound, true);
    for (unsigned i = 0; i < 4; i++) {
        putter_start(&putter[i], hang.output, 500);
    }
    CU_ASSERT_EQUAL(read_lines(hang.reader, 4 * 500 * SMALL * LEN), 4 * 500 * SMALL);
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(putter[i].thread, NULL);
        CU_ASSERT_EQUAL(atomic_load(&putter[i].n_stopped), 0);
    }
    CU_ASSERT_EQUAL(output_drain(hang.output), WF_OK);
    counters_check(hang.output, 4 * 500 * SMALL, 0, 0, 0);
    CU_ASSERT_EQUAL(counters_of(hang.output).queue_bytes, 0);
    CU_ASSERT_TRUE(counters_of(hang.output).queue_max_bytes <= bound + 8192);
    hang_close(&hang);
}

static void a_blocked_put_wakes_when_the_reader_is_gone(void)
{
    struct hang hang;
    struct putter putter;
    hang_open(&hang, ONE_BIT, true);
    hang_begin(&hang);
    CU_ASSERT_EQUAL(lines_put(hang.output, BIG, SMALL, LEN), WF_OK);
    putter_start(&putter, hang.output, 3); /* waits: nobody reads */
    close(hang.reader);
    hang.reader = -1;
    pthread_join(putter.thread, NULL);
    CU_ASSERT_EQUAL(atomic_load(&putter.n_stopped), 3);
    CU_ASSERT_TRUE(output_is_gone(hang.output));
    CU_ASSERT_EQUAL(output_drain(hang.output), WF_E_STOPPED);
    CU_ASSERT_EQUAL(lines_put(hang.output, 0, 5, LEN), WF_E_STOPPED);
    struct output_counters c = counters_of(hang.output);
    CU_ASSERT_TRUE(c.documents_failed > 0 &&
                   c.documents_failed < BIG); /* what fits the pipe went */
    CU_ASSERT_EQUAL(c.documents_written + c.documents_failed, BIG);
    CU_ASSERT_EQUAL(c.documents_unsent, SMALL + 3 * SMALL + 5);
    CU_ASSERT_EQUAL(c.last_errno, EPIPE);
    CU_ASSERT_EQUAL(c.queue_bytes, 0);
    hang_close(&hang);
}

static void stop_at_once_ends_a_hanging_write_and_counts_to_the_line(void)
{
    struct hang hang;
    struct putter putter;
    hang_open(&hang, ONE_BIT, true);
    hang_begin(&hang);
    CU_ASSERT_EQUAL(lines_put(hang.output, BIG, SMALL, LEN), WF_OK);
    putter_start(&putter, hang.output, 2);
    output_stop(hang.output, true);
    pthread_join(putter.thread, NULL);
    CU_ASSERT_EQUAL(atomic_load(&putter.n_stopped), 2);
    CU_ASSERT_FALSE(output_is_gone(hang.output)); /* it is we who gave up */
    CU_ASSERT_EQUAL(output_drain(hang.output), WF_E_STOPPED);
    struct output_counters c = counters_of(hang.output);
    output_free(hang.output);
    hang.output = NULL;
    CU_ASSERT_TRUE(c.documents_written > 0);
    CU_ASSERT_EQUAL(c.documents_written, read_lines(hang.reader, SIZE_MAX));
    CU_ASSERT_EQUAL(c.documents_written + c.documents_unsent, BIG + SMALL + 2 * SMALL);
    CU_ASSERT_EQUAL(c.documents_failed + c.documents_dropped, 0);
    CU_ASSERT_EQUAL(c.octets_written, c.documents_written * LEN);
    hang_close(&hang);
}

static void *read_all(void *arg)
{
    const int *fd = arg;
    (void)read_lines(*fd, SIZE_MAX);
    return NULL;
}

static void every_document_put_has_one_end(void)
{
    struct hang hang;
    struct putter putter[4];
    pthread_t reader;
    hang_open(&hang, 20000, false); /* some are dropped, some not: whichever, the sum holds */
    CU_ASSERT_EQUAL_FATAL(pthread_create(&reader, NULL, read_all, &hang.reader), 0);
    for (unsigned i = 0; i < 4; i++) {
        putter_start(&putter[i], hang.output, 1000);
    }
    unsigned full = 0;
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(putter[i].thread, NULL);
        full += atomic_load(&putter[i].n_full);
    }
    output_stop(hang.output, false);
    struct output_counters c = counters_of(hang.output);
    CU_ASSERT_EQUAL(c.documents_dropped, full * SMALL);
    CU_ASSERT_EQUAL(c.documents_written + c.documents_dropped, 4 * 1000 * SMALL);
    CU_ASSERT_EQUAL(c.documents_failed + c.documents_unsent, 0);
    output_free(hang.output);
    hang.output = NULL;
    pthread_join(reader, NULL);
    hang_close(&hang);
}

static void a_plain_stop_ships_what_is_queued(void)
{
    struct folder folder;
    folder_make(&folder);
    char *path = folder_path(&folder, "out");
    struct output *output = output_open("file:", path, 0, false);
    for (unsigned i = 0; i < 100; i++) {
        CU_ASSERT_EQUAL(lines_put(output, i * SMALL, SMALL, LEN), WF_OK);
    }
    output_stop(output, false);
    counters_check(output, 100 * SMALL, 0, 0, 0);
    CU_ASSERT_EQUAL(output_drain(output), WF_OK);
    CU_ASSERT_EQUAL(lines_put(output, 0, 7, LEN), WF_E_STOPPED);
    counters_check(output, 100 * SMALL, 0, 0, 7);
    output_free(output);
    unlink(path);
    rmdir(folder.path);
    free(path);
}

static void what_was_put_before_a_start_that_never_came_is_unsent(void)
{
    char why[256];
    struct output *output = NULL;
    struct output_config config = {.target = "null"};
    CU_ASSERT_EQUAL_FATAL(output_new(&config, &output, why, sizeof(why)), WF_OK);
    CU_ASSERT_EQUAL(lines_put(output, 0, SMALL, LEN), WF_OK);
    CU_ASSERT_EQUAL(output_drain(output), WF_E_STOPPED); /* and does not hang */
    output_stop(output, false);
    counters_check(output, 0, 0, 0, SMALL);
    output_free(output);
}

static void chunks_are_recycled_but_huge_ones_are_not(void)
{
    struct output *output = output_open("null", NULL, 0, true);
    struct chunk *chunk = lines_make(output, 0, SMALL, LEN);
    char *data = chunk->text.data;
    output_chunk_discard(output, chunk);
    chunk = output_chunk_get(output, 0);
    CU_ASSERT_PTR_EQUAL(chunk->text.data, data);
    CU_ASSERT_EQUAL(chunk->text.len, 0);
    CU_ASSERT_EQUAL(chunk->n_documents, 0);
    output_chunk_discard(output, chunk);
    chunk = lines_make(output, 0, BIG, LEN);
    CU_ASSERT_TRUE(chunk->text.cap > 1U << 20);
    output_chunk_discard(output, chunk);
    chunk = output_chunk_get(output, 0);
    CU_ASSERT_TRUE(chunk->text.cap <= 1U << 20);
    output_chunk_discard(output, chunk);
    output_chunk_discard(output, NULL);
    counters_check(output, 0, 0, 0, 0); /* a discarded chunk was never put */
    output_free(output);
}

static void a_backlog_of_nearly_empty_chunks_holds_little_memory(void)
{
    struct hang hang;
    hang_open(&hang, 4U << 20, false);
    hang_begin(&hang);
    uint64_t before = counters_of(hang.output).queue_bytes;
    unsigned n_taken = 0;
    for (unsigned i = 0; i < 100; i++) {
        struct chunk *chunk = lines_make(hang.output, BIG + i, 1, LEN);
        CU_ASSERT_PTR_NOT_NULL_FATAL(buffer_reserve(&chunk->text, 200000));
        n_taken += output_put(hang.output, chunk) == WF_OK;
    }
    CU_ASSERT_EQUAL_FATAL(n_taken, 100);
    /* the first comes to an empty queue and is left as it is */
    CU_ASSERT_TRUE(counters_of(hang.output).queue_bytes - before < 600000);
    CU_ASSERT_EQUAL(read_lines(hang.reader, (BIG + 100) * LEN - 1), BIG + 100);
    CU_ASSERT_EQUAL(output_drain(hang.output), WF_OK);
    counters_check(hang.output, BIG + 100, 0, 0, 0);
    hang_close(&hang);
}

static void chunks_without_text_are_bounded_too(void)
{
    struct hang hang;
    hang_open(&hang, 4U << 20, false);
    hang_begin(&hang);
    const unsigned n = 100000;
    unsigned n_full = 0;
    for (unsigned i = 0; i < n; i++) {
        struct chunk *chunk = output_chunk_get(hang.output, 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(chunk);
        chunk->n_documents = 1;
        n_full += output_put(hang.output, chunk) == WF_E_FULL;
    }
    CU_ASSERT_TRUE(n_full > 0 && n_full < n);
    CU_ASSERT_EQUAL(read_lines(hang.reader, BIG * LEN - 1), BIG);
    CU_ASSERT_EQUAL(output_drain(hang.output), WF_OK);
    counters_check(hang.output, BIG + n - n_full, n_full, 0, 0);
    hang_close(&hang);
}

static void output_threads_leave_signals_to_others(void)
{
    struct output *output = output_open("null", NULL, 0, true);
    const struct timespec limit = {.tv_sec = 30};
    sigset_t set;
    sigset_t before;
    CU_ASSERT_EQUAL(lines_put(output, 0, SMALL, LEN), WF_OK);
    CU_ASSERT_EQUAL(output_drain(output), WF_OK); /* the worker runs */
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    /* were it open to it, the worker would die of it, and all with it */
    CU_ASSERT_EQUAL(kill(getpid(), SIGUSR1), 0);
    CU_ASSERT_EQUAL(sigtimedwait(&set, NULL, &limit), SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    CU_ASSERT_EQUAL(lines_put(output, 0, SMALL, LEN), WF_OK);
    CU_ASSERT_EQUAL(output_drain(output), WF_OK);
    output_free(output);
}

int main(void)
{
#define CASE(name)                                                                                 \
    {                                                                                              \
#        name, name                                                                                \
    }
    static const struct test_case cases[] = {
        CASE(unknown_targets_are_refused_with_a_hint),
        CASE(null_counts_and_forgets),
        CASE(a_parallel_destination_gets_as_many_workers_as_asked),
        CASE(chunks_arrive_in_the_order_of_put),
        CASE(a_full_queue_drops_and_counts),
        CASE(a_blocking_queue_loses_nothing_and_keeps_its_bound),
        CASE(a_blocked_put_wakes_when_the_reader_is_gone),
        CASE(stop_at_once_ends_a_hanging_write_and_counts_to_the_line),
        CASE(every_document_put_has_one_end),
        CASE(a_plain_stop_ships_what_is_queued),
        CASE(what_was_put_before_a_start_that_never_came_is_unsent),
        CASE(chunks_are_recycled_but_huge_ones_are_not),
        CASE(a_backlog_of_nearly_empty_chunks_holds_little_memory),
        CASE(chunks_without_text_are_bounded_too),
        CASE(output_threads_leave_signals_to_others),
    };
    signal(SIGPIPE, SIG_IGN);
    return test_main("output", cases, sizeof(cases) / sizeof(cases[0]));
}
