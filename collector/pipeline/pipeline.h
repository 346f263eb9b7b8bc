// SPDX-License-Identifier: Apache-2.0
/*
 * pipeline - batches in, documents out: the workers and their life cycle
 *
 *      input thread(s) ─► batch queue ─► W workers: gate ─ decoder ─ document ─► output queue ─► output threads
 *
 * Each worker has its decoder_worker, its document_writer and a chunk that it fills. In a replay the chunks of a batch go
 * out in the order of the batches (turn.h), so that the same file gives the same octets with any number of
 * workers; live they go out as they are full, or at once when the queue runs empty (adaptive flush: a line
 * can be read within milliseconds at low rates, and big writes happen at high ones).
 *
 * Threads: new/start/stop/free from one thread; producers from theirs; counters from any.
 */
#pragma once

#include "collector/document/document.h"
#include "collector/output/output.h"
#include "collector/pipeline/batch.h"
#include "decoder/decoder.h"

struct pipeline_config {
    unsigned n_workers; /* >= 1 */
    unsigned n_batches; /* 0 = 16 a worker and 16 more: 4 MiB with one worker */
    bool ordered;       /* replay */
    size_t chunk_bytes; /* 0 = 384 KiB: a chunk is handed on when it holds this much */
    /* Documents from one datagram, in octets (a held set counts for the one it came in); 0 = 16 MiB. What is beyond is counted as
     * refused. */
    size_t max_datagram_octets;
    struct decoder_limits limits;
    const struct document *document; /* borrowed */
    struct output *output;           /* borrowed, started */
    /* Any worker's thread; may be NULL. The log is the caller's. */
    void (*event)(void *ctx, const struct decoder_event *event);
    void *event_ctx;
};

struct pipeline_counters {
    struct decoder_counters decoder;
    struct decoder_state state;
    uint64_t documents_made;    /* handed to the output */
    uint64_t documents_refused; /* beyond max_datagram_octets, or out of memory */
    uint64_t datagrams_dropped; /* by a producer: over the jumbo budget, or out of memory */
};

struct pipeline;
struct producer;

int pipeline_new(const struct pipeline_config *config, struct pipeline **pipeline);
int pipeline_start(struct pipeline *pipeline);

/* One for each input thread; freed with the pipeline. NULL when memory is short. */
struct producer *pipeline_producer_new(struct pipeline *pipeline);
/* An empty batch or NULL (timeout, or the pipeline stops). */
struct batch *producer_get(struct producer *producer, int timeout_ms);
/* Copies the datagram into slot batch->n_packets of the batch and counts it in, or, when it already lies in that slot, only
 * counts it in. Its slot number is given by producer_put. False when it was dropped (and counted): larger than a slot, and the
 * memory for those is used up. */
bool producer_add(struct producer *producer, struct batch *batch,
                  const struct decoder_datagram *datagram);
/* Marks each packet for its gate and hands the batch to the workers. */
void producer_put(struct producer *producer, struct batch *batch);
/* Has the output gone (EPIPE), or was the pipeline stopped? Then an input may as well end. */
bool producer_should_stop(const struct producer *producer);

/* No more input: waits until everything put has been decoded and handed to the output. Held sets stay held (counted as
 * pending). */
void pipeline_drain(struct pipeline *pipeline);
/* Gives up held sets that are too old; the caller's timer calls it. */
void pipeline_expire(struct pipeline *pipeline, int64_t now_ns);
void pipeline_counters(struct pipeline *pipeline, struct pipeline_counters *counters);
struct decoder *pipeline_decoder(struct pipeline *pipeline);
void pipeline_free(struct pipeline *pipeline);
