// SPDX-License-Identifier: Apache-2.0
#include "collector/pipeline/pipeline.h"

#include <sys/random.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/pipeline/worker.h"

#define BATCHES_A_WORKER                                                                           \
    16U /* few enough to stay in the cache: the socket's queue is the large one */
#define DEFAULT_CHUNK_BYTES                                                                        \
    (384U << 10) /* larger: cold in the cache; smaller: a wake-up for too little */
#define DEFAULT_DATAGRAM_OCTETS (16U << 20)
#define MAX_JUMBO_BYTES         (32U << 20)

struct producer {
    struct pipeline *pipeline;
    struct gates *gates;
    struct producer *next;
    atomic_uint_least64_t dropped;
};

static uint64_t random_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed)) {
        struct timespec t; /* better a weak key than none: only hash tables depend on it */
        clock_gettime(CLOCK_MONOTONIC, &t);
        seed = wf_mix64((uint64_t)t.tv_nsec ^ (uint64_t)(uintptr_t)&seed);
    }
    return seed;
}

static int pipeline_init(struct pipeline *p)
{
    struct plan_hooks hooks = document_plan_hooks(p->config.document);
    p->queue = batch_queue_new(p->config.n_batches);
    p->decoder = decoder_new(&p->config.limits, &hooks, random_seed());
    p->worker = calloc(p->config.n_workers, sizeof(*p->worker));
    if (p->config.ordered) {
        p->turn = turn_new();
    }
    if (!p->queue || !p->decoder || !p->worker || (p->config.ordered && !p->turn)) {
        return WF_E_NOMEM;
    }
    for (unsigned i = 0; i < p->config.n_workers; i++) {
        int err = worker_init(&p->worker[i], p);
        if (err < 0) {
            return err;
        }
    }
    return WF_OK;
}

/* Held sets that expire make no records; their events go the usual way. */
static void expirer_records(void *ctx, const struct decoder_records *records)
{
    (void)ctx;
    (void)records;
}

static void expirer_event(void *ctx, const struct decoder_event *event)
{
    const struct pipeline *p = ctx;
    if (p->config.event) {
        p->config.event(p->config.event_ctx, event);
    }
}

int pipeline_new(const struct pipeline_config *config, struct pipeline **pipeline)
{
    if (config->n_workers == 0) {
        return WF_E_INVAL;
    }
    struct pipeline *p = calloc(1, sizeof(*p));
    if (!p) {
        return WF_E_NOMEM;
    }
    p->config = *config;
    p->config.n_batches =
        config->n_batches ? config->n_batches : BATCHES_A_WORKER * (config->n_workers + 1);
    p->config.chunk_bytes = config->chunk_bytes ? config->chunk_bytes : DEFAULT_CHUNK_BYTES;
    p->config.max_datagram_octets =
        config->max_datagram_octets ? config->max_datagram_octets : DEFAULT_DATAGRAM_OCTETS;
    atomic_init(&p->slots, 0);
    atomic_init(&p->jumbo_bytes, 0);
    atomic_init(&p->stopping, false);
    int err = pipeline_init(p);
    if (err == WF_OK) {
        struct decoder_sink sink = {.records = expirer_records, .event = expirer_event, .ctx = p};
        p->expirer = decoder_worker_new(p->decoder, &sink);
        err = p->expirer ? WF_OK : WF_E_NOMEM;
    }
    if (err < 0) {
        pipeline_free(p);
        return err;
    }
    *pipeline = p;
    return WF_OK;
}

int pipeline_start(struct pipeline *p)
{
    for (unsigned i = 0; i < p->config.n_workers; i++) {
        int err = worker_start(&p->worker[i]);
        if (err < 0) {
            return err;
        }
    }
    return WF_OK;
}

struct producer *pipeline_producer_new(struct pipeline *p)
{
    struct producer *producer = calloc(1, sizeof(*producer));
    if (!producer) {
        return NULL;
    }
    producer->pipeline = p;
    producer->gates = gates_new(random_seed());
    if (!producer->gates) {
        free(producer);
        return NULL;
    }
    atomic_init(&producer->dropped, 0);
    producer->next = p->producers;
    p->producers = producer;
    return producer;
}

struct batch *producer_get(struct producer *producer, int timeout_ms)
{
    return batch_queue_get(producer->pipeline->queue, timeout_ms);
}

/* Memory of its own for a datagram larger than a slot; NULL when the budget is used up. */
static uint8_t *jumbo_new(struct pipeline *p, size_t len)
{
    /* relaxed: a budget, no order depends on it */
    uint64_t used = atomic_fetch_add_explicit(&p->jumbo_bytes, len, memory_order_relaxed);
    uint8_t *jumbo = used + len <= MAX_JUMBO_BYTES ? malloc(len) : NULL;
    if (!jumbo) {
        atomic_fetch_sub_explicit(&p->jumbo_bytes, len, memory_order_relaxed);
    }
    return jumbo;
}

/* A replay waits for the workers instead of dropping; it is the only producer, so what is free stays free. */
static void jumbo_wait(const struct producer *producer, size_t len)
{
    static const struct timespec pause = {.tv_nsec = WF_NS_PER_MS};
    struct pipeline *p = producer->pipeline;
    /* relaxed: a budget, no order depends on it */
    while (p->config.ordered && !producer_should_stop(producer) &&
           atomic_load_explicit(&p->jumbo_bytes, memory_order_relaxed) + len > MAX_JUMBO_BYTES) {
        (void)nanosleep(&pause, NULL);
    }
}

bool producer_add(struct producer *producer, struct batch *batch,
                  const struct decoder_datagram *datagram)
{
    struct packet *packet = &batch->packet[batch->n_packets];
    uint8_t *slot = batch->storage + (size_t)batch->n_packets * BATCH_SLOT_BYTES;
    uint8_t *jumbo = NULL;
    if (datagram->len > BATCH_SLOT_BYTES) {
        jumbo_wait(producer, datagram->len);
        jumbo = jumbo_new(producer->pipeline, datagram->len);
        if (!jumbo) {
            atomic_fetch_add_explicit(&producer->dropped, 1, memory_order_relaxed); /* a counter */
            return false;
        }
        slot = jumbo;
    }
    if (datagram->data != slot && datagram->len > 0) {
        memcpy(slot, datagram->data, datagram->len);
    }
    *packet = (struct packet){.data = slot,
                              .len = (uint32_t)datagram->len,
                              .port = datagram->port,
                              .carries_templates = decoder_carries_templates(slot, datagram->len),
                              .exporter = datagram->exporter,
                              .received_ns = datagram->received_ns,
                              .jumbo = jumbo};
    batch->n_packets++;
    return true;
}

void producer_put(struct producer *producer, struct batch *batch)
{
    struct pipeline *p = producer->pipeline;
    /* relaxed: numbers need to differ and to rise for each producer, no more */
    uint64_t slot = atomic_fetch_add_explicit(&p->slots, batch->n_packets, memory_order_relaxed);
    for (unsigned i = 0; i < batch->n_packets; i++) {
        batch->packet[i].slot = slot + i;
        gate_mark(producer->gates, &batch->packet[i]);
    }
    batch_queue_put(p->queue, batch);
}

bool producer_should_stop(const struct producer *producer)
{
    const struct pipeline *p = producer->pipeline;
    /* relaxed: a wish; the queue's mutex orders what follows from it */
    return atomic_load_explicit(&p->stopping, memory_order_relaxed) ||
           output_is_gone(p->config.output);
}

void pipeline_drain(struct pipeline *p)
{
    atomic_store_explicit(&p->stopping, true, memory_order_relaxed); /* see producer_should_stop */
    batch_queue_close(p->queue);
    for (unsigned i = 0; i < p->config.n_workers; i++) {
        worker_join(&p->worker[i]);
    }
}

void pipeline_expire(struct pipeline *p, int64_t now_ns)
{
    decoder_expire(p->expirer, now_ns);
}

void pipeline_counters(struct pipeline *p, struct pipeline_counters *counters)
{
    memset(counters, 0, sizeof(*counters));
    decoder_counters(p->decoder, &counters->decoder);
    decoder_state(p->decoder, &counters->state);
    for (unsigned i = 0; i < p->config.n_workers; i++) {
        const struct worker *w = &p->worker[i];
        counters->documents_made += atomic_load_explicit(&w->published_made, memory_order_relaxed);
        counters->documents_refused +=
            atomic_load_explicit(&w->published_refused, memory_order_relaxed);
    }
    for (const struct producer *producer = p->producers; producer; producer = producer->next) {
        counters->datagrams_dropped +=
            atomic_load_explicit(&producer->dropped, memory_order_relaxed);
    }
}

struct decoder *pipeline_decoder(struct pipeline *p)
{
    return p->decoder;
}

void pipeline_free(struct pipeline *p)
{
    if (!p) {
        return;
    }
    if (p->queue && p->worker) {
        pipeline_drain(p);
    }
    for (unsigned i = 0; p->worker && i < p->config.n_workers; i++) {
        worker_deinit(&p->worker[i]);
    }
    decoder_worker_free(p->expirer);
    decoder_free(p->decoder);
    struct producer *next;
    for (struct producer *producer = p->producers; producer; producer = next) {
        next = producer->next;
        gates_free(producer->gates);
        free(producer);
    }
    batch_queue_free(p->queue);
    turn_free(p->turn);
    free(p->worker);
    free(p);
}
