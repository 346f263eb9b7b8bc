// SPDX-License-Identifier: Apache-2.0
/*
 * The way of one datagram: gate, decoder, document, chunk.
 *
 * When does a chunk go out? Live: when it is full, or when there is nothing more to take, so that at low rates a line is
 * written as soon as it exists. Replay: when it is the batch's turn. A batch that makes more than WAITING_OCTETS waits for its
 * turn there and then and streams the rest, so that no worker piles up what one batch can grow to. It can wait in the middle of a batch,
 * since all that is waited for lies in earlier batches, and those wait for nothing in this one (gate.h).
 */
#include "collector/pipeline/worker.h"

#include <signal.h>

#include "collector/util/clock.h"

#define WAITING_OCTETS (4U << 20)

/* Replay: what was made goes out, once it is this batch's turn. */
static void put_waiting(struct worker *w)
{
    if (!w->has_turn) {
        turn_wait(w->pipeline->turn, w->number);
        w->has_turn = true;
    }
    struct chunk *next;
    for (struct chunk *chunk = w->first; chunk; chunk = next) {
        next = chunk->next;
        (void)output_put(w->pipeline->config.output, chunk);
    }
    w->first = w->last = NULL;
    w->waiting_octets = 0;
}

/* A chunk is handed on. What the output could not take, it has counted. */
static void put_chunk(struct worker *w)
{
    struct chunk *chunk = w->chunk;
    w->chunk = NULL;
    if (!chunk) {
        return;
    }
    if (!w->pipeline->config.ordered) {
        (void)output_put(w->pipeline->config.output, chunk);
        return;
    }
    chunk->next = NULL;
    if (w->last) {
        w->last->next = chunk;
    } else {
        w->first = chunk;
    }
    w->last = chunk;
    w->waiting_octets += chunk->text.len;
    if (w->has_turn || w->waiting_octets > WAITING_OCTETS) {
        put_waiting(w);
    }
}

/* Replay: the rest of this batch; then it is the next one's turn. */
static void end_turn(struct worker *w)
{
    put_chunk(w);
    put_waiting(w);
    w->has_turn = false;
    turn_pass(w->pipeline->turn);
}

/* Held sets come out with the datagram that brings their template, but each counts for the datagram that it came in. */
static void note_datagram(struct worker *w, const struct decoder_message *message)
{
    if (message->received_ns != w->datagram_received_ns ||
        message->sequence != w->datagram_sequence) {
        w->datagram_received_ns = message->received_ns;
        w->datagram_sequence = message->sequence;
        w->datagram_octets = 0;
    }
}

static void on_records(void *ctx, const struct decoder_records *records)
{
    struct worker *w = ctx;
    const struct pipeline_config *config = &w->pipeline->config;
    note_datagram(w, records->message);
    if (w->datagram_octets > config->max_datagram_octets) {
        w->refused += records->n_records;
        return;
    }
    if (!w->chunk) {
        w->chunk = output_chunk_get(config->output, (unsigned)(w - w->pipeline->worker));
    }
    if (!w->chunk) {
        w->refused += records->n_records;
        return;
    }
    struct buffer *text = &w->chunk->text;
    size_t before = text->len;
    int n = document_write(w->writer, records, w->now_ns, text);
    if (n < 0) {
        w->refused += records->n_records;
        return;
    }
    w->made += (uint64_t)n;
    w->chunk->n_documents += (uint32_t)n;
    w->datagram_octets += text->len - before;
    if (text->len >= config->chunk_bytes) {
        put_chunk(w);
    }
}

/* Many small records under a large document grow a hundredfold: the run is handed on in pieces, so that the limit holds
 * to within one piece. */
static void on_run(void *ctx, const struct decoder_records *records)
{
    enum {
        PIECE = 256
    };
    if (records->n_records <= PIECE) {
        on_records(ctx, records);
        return;
    }
    struct decoder_records piece = *records;
    for (size_t done = 0; done < records->n_records; done += piece.n_records) {
        size_t left = records->n_records - done;
        piece.n_records = left < PIECE ? left : PIECE;
        piece.data = records->data + done * records->stride;
        on_records(ctx, &piece);
    }
}

static void on_event(void *ctx, const struct decoder_event *event)
{
    const struct worker *w = ctx;
    if (w->pipeline->config.event) {
        w->pipeline->config.event(w->pipeline->config.event_ctx, event);
    }
}

static void decode_batch(struct worker *w, const struct batch *batch)
{
    for (unsigned i = 0; i < batch->n_packets; i++) {
        const struct packet *packet = &batch->packet[i];
        struct decoder_datagram datagram = {.data = packet->data,
                                            .len = packet->len,
                                            .exporter = packet->exporter,
                                            .port = packet->port,
                                            .received_ns = packet->received_ns,
                                            .slot = packet->slot};
        w->datagram_octets = 0;
        gate_wait(packet);
        (void)decoder_feed(w->decoder_worker, &datagram); /* counted by the decoder */
        gate_done(packet);
    }
    uint64_t jumbo_bytes = 0;
    for (unsigned i = 0; i < batch->n_packets; i++) {
        jumbo_bytes += batch->packet[i].jumbo ? batch->packet[i].len : 0;
    }
    /* relaxed: only a budget and counters; no order depends on them */
    if (jumbo_bytes) {
        atomic_fetch_sub_explicit(&w->pipeline->jumbo_bytes, jumbo_bytes, memory_order_relaxed);
    }
    atomic_store_explicit(&w->published_made, w->made, memory_order_relaxed);
    atomic_store_explicit(&w->published_refused, w->refused, memory_order_relaxed);
}

static struct batch *take_batch(struct worker *w)
{
    struct batch_queue *queue = w->pipeline->queue;
    struct batch *batch = batch_queue_take(queue, 0);
    if (!batch) {
        put_chunk(w); /* nothing to do: what is made can be read now */
        batch = batch_queue_take(queue, -1);
    }
    return batch;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    bool ordered = w->pipeline->config.ordered;
    struct batch *batch;
    while ((batch = take_batch(w)) != NULL) {
        w->now_ns = ordered ? 0 : clock_wall_ns();
        w->number = batch->sequence;
        decode_batch(w, batch);
        batch_queue_give_back(w->pipeline->queue, batch);
        if (ordered) {
            end_turn(w);
        }
    }
    put_chunk(w);
    return NULL;
}

int worker_init(struct worker *worker, struct pipeline *pipeline)
{
    *worker = (struct worker){.pipeline = pipeline};
    atomic_init(&worker->published_made, 0);
    atomic_init(&worker->published_refused, 0);
    struct decoder_sink sink = {.records = on_run, .event = on_event, .ctx = worker};
    worker->decoder_worker = decoder_worker_new(pipeline->decoder, &sink);
    worker->writer = document_writer_new(pipeline->config.document);
    return worker->decoder_worker && worker->writer ? WF_OK : WF_E_NOMEM;
}

int worker_start(struct worker *worker)
{
    /* Signals are the main thread's. */
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    worker->started = pthread_create(&worker->thread, NULL, work, worker) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return worker->started ? WF_OK : WF_E_NOMEM;
}

void worker_join(struct worker *worker)
{
    if (worker->started) {
        pthread_join(worker->thread, NULL);
        worker->started = false;
    }
}

void worker_deinit(struct worker *worker)
{
    decoder_worker_free(worker->decoder_worker);
    document_writer_free(worker->writer);
}
