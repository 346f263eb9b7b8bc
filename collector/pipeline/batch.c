// SPDX-License-Identifier: Apache-2.0
/*
 * Two lists under one mutex: the free blocks and the filled ones. A hop costs one lock for up to 64 datagrams.
 */
#include "collector/pipeline/batch.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "decoder/lock.h"

struct batch_queue {
    pthread_mutex_t mutex; /* leaf; guards all but n_filled */
    pthread_cond_t can_get, can_take;
    struct batch *free_list;
    struct batch *first, *last; /* filled */
    struct batch *all;          /* array of n_batches */
    uint8_t *storage;           /* of all batches */
    unsigned n_batches;
    uint64_t next_sequence;
    bool closed;
    unsigned n_free;
    unsigned n_getting, n_taking; /* threads that wait: no signal is sent to nobody */
    atomic_uint n_filled;
};

struct batch_queue *batch_queue_new(unsigned n_batches)
{
    struct batch_queue *q = calloc(1, sizeof(*q));
    if (!q) {
        return NULL;
    }
    q->n_batches = n_batches < 2 ? 2 : n_batches;
    size_t block = (size_t)BATCH_PACKETS * BATCH_SLOT_BYTES;
    q->all = calloc(q->n_batches, sizeof(*q->all));
    q->storage = aligned_alloc(4096, q->n_batches * block);
    if (!q->all || !q->storage) {
        free(q->all);
        free(q->storage);
        free(q);
        return NULL;
    }
    for (unsigned i = q->n_batches; i-- > 0;) {
        q->all[i].storage = q->storage + i * block;
        q->all[i].next = q->free_list;
        q->free_list = &q->all[i];
        q->n_free++;
    }
    lock_init(&q->mutex);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&q->can_get, &attr);
    pthread_cond_init(&q->can_take, &attr);
    pthread_condattr_destroy(&attr);
    atomic_init(&q->n_filled, 0);
    return q;
}

static void release_jumbos(struct batch *batch)
{
    for (unsigned i = 0; i < batch->n_packets; i++) {
        free(batch->packet[i].jumbo);
        batch->packet[i].jumbo = NULL;
    }
    batch->n_packets = 0;
}

void batch_queue_free(struct batch_queue *q)
{
    if (!q) {
        return;
    }
    for (unsigned i = 0; i < q->n_batches; i++) {
        release_jumbos(&q->all[i]);
    }
    pthread_cond_destroy(&q->can_get);
    pthread_cond_destroy(&q->can_take);
    pthread_mutex_destroy(&q->mutex);
    free(q->all);
    free(q->storage);
    free(q);
}

static struct timespec deadline_after(int timeout_ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += timeout_ms / 1000;
    t.tv_nsec += (timeout_ms % 1000) * WF_NS_PER_MS;
    if (t.tv_nsec >= WF_NS_PER_S) {
        t.tv_nsec -= WF_NS_PER_S;
        t.tv_sec++;
    }
    return t;
}

/* Waits once on cond, under the mutex; false when the time is over. deadline NULL = for ever. */
static bool wait_on(struct batch_queue *q, pthread_cond_t *cond, unsigned *n_waiting,
                    const struct timespec *deadline)
{
    (*n_waiting)++;
    int err = deadline ? pthread_cond_timedwait(cond, &q->mutex, deadline)
                       : pthread_cond_wait(cond, &q->mutex);
    (*n_waiting)--;
    return err != ETIMEDOUT;
}

struct batch *batch_queue_get(struct batch_queue *q, int timeout_ms)
{
    struct timespec deadline = {0};
    if (timeout_ms > 0) {
        deadline = deadline_after(timeout_ms);
    }
    pthread_mutex_lock(&q->mutex);
    while (!q->free_list && !q->closed && timeout_ms != 0) {
        if (!wait_on(q, &q->can_get, &q->n_getting, timeout_ms < 0 ? NULL : &deadline)) {
            break;
        }
    }
    struct batch *batch = q->closed ? NULL : q->free_list;
    if (batch) {
        q->free_list = batch->next;
        q->n_free--;
        batch->next = NULL;
    }
    pthread_mutex_unlock(&q->mutex);
    return batch;
}

void batch_queue_put(struct batch_queue *q, struct batch *batch)
{
    if (batch->n_packets == 0) {
        batch_queue_give_back(q, batch);
        return;
    }
    pthread_mutex_lock(&q->mutex);
    batch->sequence = q->next_sequence++;
    batch->next = NULL;
    if (q->last) {
        q->last->next = batch;
    } else {
        q->first = batch;
    }
    q->last = batch;
    /* relaxed: a hint only, see batch_queue_is_idle */
    atomic_fetch_add_explicit(&q->n_filled, 1, memory_order_relaxed);
    bool wake = q->n_taking > 0;
    pthread_mutex_unlock(&q->mutex);
    if (wake) {
        pthread_cond_signal(&q->can_take);
    }
}

struct batch *batch_queue_take(struct batch_queue *q, int timeout_ms)
{
    struct timespec deadline = {0};
    if (timeout_ms > 0) {
        deadline = deadline_after(timeout_ms);
    }
    pthread_mutex_lock(&q->mutex);
    while (!q->first && !q->closed && timeout_ms != 0) {
        if (!wait_on(q, &q->can_take, &q->n_taking, timeout_ms < 0 ? NULL : &deadline)) {
            break;
        }
    }
    struct batch *batch = q->first;
    if (batch) {
        q->first = batch->next;
        if (!q->first) {
            q->last = NULL;
        }
        batch->next = NULL;
        atomic_fetch_sub_explicit(&q->n_filled, 1, memory_order_relaxed); /* a hint only */
    }
    pthread_mutex_unlock(&q->mutex);
    return batch;
}

bool batch_queue_is_idle(const struct batch_queue *q)
{
    /* relaxed: the answer is old the moment it is given; it only decides when to flush */
    return atomic_load_explicit(&q->n_filled, memory_order_relaxed) == 0;
}

void batch_queue_give_back(struct batch_queue *q, struct batch *batch)
{
    release_jumbos(batch);
    pthread_mutex_lock(&q->mutex);
    batch->next = q->free_list;
    q->free_list = batch;
    q->n_free++;
    /* not for each batch: a reader that fills one and waits again costs two switches a batch */
    bool wake = q->n_getting && (!q->first || q->n_free * 4 >= q->n_batches);
    pthread_mutex_unlock(&q->mutex);
    if (wake) {
        pthread_cond_broadcast(&q->can_get);
    }
}

void batch_queue_close(struct batch_queue *q)
{
    pthread_mutex_lock(&q->mutex);
    q->closed = true;
    pthread_cond_broadcast(&q->can_get);
    pthread_cond_broadcast(&q->can_take);
    pthread_mutex_unlock(&q->mutex);
}
