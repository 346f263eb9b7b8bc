// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "collector/pipeline/batch.h"
#include "tests/support/support.h"

#define FOR_EVER  (-1)
#define N_THREADS 4U
#define N_EACH    5000U

/* A batch of one packet that says who put it and as what number. */
static bool put_one(struct batch_queue *q, unsigned who, uint64_t number)
{
    struct batch *batch = batch_queue_get(q, FOR_EVER);
    if (!batch) {
        return false;
    }
    batch->packet[0] = (struct packet){.port = (uint16_t)who, .slot = number};
    batch->n_packets = 1;
    batch_queue_put(q, batch);
    return true;
}

static void batches_come_out_in_the_order_of_put(void)
{
    struct batch_queue *q = batch_queue_new(8);
    CU_ASSERT_PTR_NOT_NULL_FATAL(q);
    for (uint64_t i = 0; i < 8; i++) {
        CU_ASSERT_TRUE(put_one(q, 1, 100 + i));
    }
    for (uint64_t i = 0; i < 8; i++) {
        struct batch *batch = batch_queue_take(q, 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(batch);
        CU_ASSERT_EQUAL(batch->sequence, i);
        CU_ASSERT_EQUAL(batch->packet[0].slot, 100 + i);
        batch_queue_give_back(q, batch);
    }
    CU_ASSERT_PTR_NULL(batch_queue_take(q, 0));
    batch_queue_free(q);
}

static void no_more_batches_are_out_than_there_are(void)
{
    struct batch_queue *q = batch_queue_new(3);
    CU_ASSERT_PTR_NOT_NULL_FATAL(q);
    struct batch *batch[3];
    for (unsigned i = 0; i < 3; i++) {
        batch[i] = batch_queue_get(q, 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(batch[i]);
    }
    CU_ASSERT_PTR_NULL(batch_queue_get(q, 0));
    CU_ASSERT_PTR_NULL(batch_queue_get(q, 1));
    batch_queue_give_back(q, batch[1]);
    CU_ASSERT_PTR_EQUAL(batch_queue_get(q, 0), batch[1]);
    CU_ASSERT_PTR_NULL(batch_queue_get(q, 0));
    batch_queue_free(q);
}

static void there_are_two_batches_at_least(void)
{
    struct batch_queue *q = batch_queue_new(0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(q);
    CU_ASSERT_PTR_NOT_NULL(batch_queue_get(q, 0));
    CU_ASSERT_PTR_NOT_NULL(batch_queue_get(q, 0));
    CU_ASSERT_PTR_NULL(batch_queue_get(q, 0));
    batch_queue_free(q);
}

static void storage_of_batches_does_not_overlap(void)
{
    enum {
        N = 4,
        OCTETS = BATCH_PACKETS * BATCH_SLOT_BYTES
    };
    struct batch_queue *q = batch_queue_new(N);
    CU_ASSERT_PTR_NOT_NULL_FATAL(q);
    struct batch *batch[N];
    for (unsigned i = 0; i < N; i++) {
        batch[i] = batch_queue_get(q, 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(batch[i]);
        CU_ASSERT_EQUAL((uintptr_t)batch[i]->storage % 4096, 0U);
        memset(batch[i]->storage, (int)i + 1, OCTETS);
    }
    for (unsigned i = 0; i < N; i++) {
        CU_ASSERT_EQUAL(batch[i]->storage[0], i + 1);
        CU_ASSERT_EQUAL(batch[i]->storage[OCTETS - 1], i + 1);
    }
    batch_queue_free(q);
}

static void an_empty_batch_goes_back_and_takes_no_number(void)
{
    struct batch_queue *q = batch_queue_new(2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(q);
    struct batch *batch = batch_queue_get(q, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(batch);
    batch_queue_put(q, batch);
    CU_ASSERT_TRUE(batch_queue_is_idle(q));
    CU_ASSERT_PTR_NULL(batch_queue_take(q, 0));
    CU_ASSERT_TRUE(put_one(q, 1, 1));
    CU_ASSERT_FALSE(batch_queue_is_idle(q));
    batch = batch_queue_take(q, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(batch);
    CU_ASSERT_EQUAL(batch->sequence, 0U);
    CU_ASSERT_TRUE(batch_queue_is_idle(q));
    batch_queue_free(q);
}

static void give_back_frees_large_datagrams(void)
{
    struct batch_queue *q = batch_queue_new(2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(q);
    struct batch *batch = batch_queue_get(q, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(batch);
    batch->packet[0] = (struct packet){.jumbo = malloc(5000)};
    batch->packet[1] = (struct packet){.len = 3};
    batch->n_packets = 2;
    batch_queue_give_back(q, batch);
    CU_ASSERT_EQUAL(batch->n_packets, 0U);
    CU_ASSERT_PTR_NULL(batch->packet[0].jumbo);
    /* and so does the end, for what nobody took (leaks are seen by the sanitizer) */
    batch = batch_queue_get(q, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(batch);
    batch->packet[0] = (struct packet){.jumbo = malloc(5000)};
    batch->n_packets = 1;
    batch_queue_put(q, batch);
    batch_queue_free(q);
}

static void a_closed_queue_gives_what_is_left_then_nothing(void)
{
    struct batch_queue *q = batch_queue_new(4);
    CU_ASSERT_PTR_NOT_NULL_FATAL(q);
    CU_ASSERT_TRUE(put_one(q, 1, 1));
    CU_ASSERT_TRUE(put_one(q, 1, 2));
    batch_queue_close(q);
    CU_ASSERT_PTR_NULL(batch_queue_get(q, FOR_EVER));
    struct batch *batch = batch_queue_take(q, FOR_EVER);
    CU_ASSERT_PTR_NOT_NULL_FATAL(batch);
    CU_ASSERT_EQUAL(batch->packet[0].slot, 1U);
    batch_queue_give_back(q, batch);
    CU_ASSERT_PTR_NULL(batch_queue_get(q, FOR_EVER));
    CU_ASSERT_PTR_NOT_NULL(batch_queue_take(q, FOR_EVER));
    CU_ASSERT_PTR_NULL(batch_queue_take(q, FOR_EVER));
    batch_queue_free(q);
}

/* ---- with threads: a wake-up that is missing is a test that does not end ---- */

static void *take_to_the_end(void *arg)
{
    struct batch_queue *q = arg;
    uintptr_t n = 0;
    struct batch *batch;
    while ((batch = batch_queue_take(q, FOR_EVER)) != NULL) {
        batch_queue_give_back(q, batch);
        n++;
    }
    return (void *)n;
}

static void close_wakes_those_who_wait(void)
{
    struct batch_queue *q = batch_queue_new(2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(q);
    pthread_t taker[N_THREADS];
    for (unsigned i = 0; i < N_THREADS; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&taker[i], NULL, take_to_the_end, q), 0);
    }
    batch_queue_close(q);
    for (unsigned i = 0; i < N_THREADS; i++) {
        void *n;
        pthread_join(taker[i], &n);
        CU_ASSERT_PTR_NULL(n);
    }
    batch_queue_free(q);
}

struct producer {
    struct batch_queue *q;
    unsigned who;
    unsigned n_put;
};

static void *put_many(void *arg)
{
    struct producer *p = arg;
    for (unsigned i = 0; i < N_EACH; i++) {
        p->n_put += put_one(p->q, p->who, i);
    }
    return NULL;
}

struct taker {
    struct batch_queue *q;
    uint64_t last_sequence;
    uint64_t next[N_THREADS]; /* the least number that may still come from each producer */
    unsigned n_taken, n_wrong;
};

/* Within one taker everything rises: FIFO. */
static void *take_many(void *arg)
{
    struct taker *t = arg;
    struct batch *batch;
    while ((batch = batch_queue_take(t->q, FOR_EVER)) != NULL) {
        const struct packet *packet = &batch->packet[0];
        if ((t->n_taken > 0 && batch->sequence <= t->last_sequence) ||
            packet->slot < t->next[packet->port]) {
            t->n_wrong++;
        }
        t->last_sequence = batch->sequence;
        t->next[packet->port] = packet->slot + 1;
        t->n_taken++;
        batch_queue_give_back(t->q, batch);
    }
    return NULL;
}

static void many_threads_lose_and_reorder_nothing(void)
{
    struct batch_queue *q = batch_queue_new(3); /* few, so that both sides have to wait */
    CU_ASSERT_PTR_NOT_NULL_FATAL(q);
    pthread_t put[N_THREADS];
    pthread_t take[N_THREADS];
    struct producer producer[N_THREADS];
    struct taker taker[N_THREADS];
    for (unsigned i = 0; i < N_THREADS; i++) {
        producer[i] = (struct producer){.q = q, .who = i};
        taker[i] = (struct taker){.q = q};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&take[i], NULL, take_many, &taker[i]), 0);
        CU_ASSERT_EQUAL_FATAL(pthread_create(&put[i], NULL, put_many, &producer[i]), 0);
    }
    unsigned n_put = 0;
    unsigned n_taken = 0;
    for (unsigned i = 0; i < N_THREADS; i++) {
        pthread_join(put[i], NULL);
        n_put += producer[i].n_put;
    }
    batch_queue_close(q);
    for (unsigned i = 0; i < N_THREADS; i++) {
        pthread_join(take[i], NULL);
        n_taken += taker[i].n_taken;
        CU_ASSERT_EQUAL(taker[i].n_wrong, 0U);
    }
    CU_ASSERT_EQUAL(n_put, N_THREADS * N_EACH);
    CU_ASSERT_EQUAL(n_taken, n_put);
    CU_ASSERT_TRUE(batch_queue_is_idle(q));
    batch_queue_free(q);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"batches come out in the order of put", batches_come_out_in_the_order_of_put},
        {"no more batches are out than there are", no_more_batches_are_out_than_there_are},
        {"there are two batches at least", there_are_two_batches_at_least},
        {"storage of batches does not overlap", storage_of_batches_does_not_overlap},
        {"an empty batch goes back and takes no number",
         an_empty_batch_goes_back_and_takes_no_number},
        {"give back frees large datagrams", give_back_frees_large_datagrams},
        {"a closed queue gives what is left then nothing",
         a_closed_queue_gives_what_is_left_then_nothing},
        {"close wakes those who wait", close_wakes_those_who_wait},
        {"many threads lose and reorder nothing", many_threads_lose_and_reorder_nothing},
    };
    return test_main("batch", cases, sizeof(cases) / sizeof(cases[0]));
}
