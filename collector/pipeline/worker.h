// SPDX-License-Identifier: Apache-2.0
/*
 * worker - one thread: batches in, chunks out (inside the room only)
 *
 * Owns its decoder_worker, its document_writer and the chunk it fills. Its counters are published once a batch.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "collector/pipeline/gate.h"
#include "collector/pipeline/pipeline.h"
#include "collector/pipeline/turn.h"

struct worker {
    struct pipeline *pipeline;
    pthread_t thread;
    bool started;
    struct decoder_worker *decoder_worker;
    struct document_writer *writer;
    struct chunk *chunk;        /* being filled; NULL = none yet */
    struct chunk *first, *last; /* replay: full chunks of this batch, waiting for their turn */
    size_t waiting_octets;      /* in these */
    uint64_t number;            /* replay: of this batch */
    bool has_turn;              /* replay: this batch's turn has come */
    size_t datagram_octets;     /* documents made so far from the datagram that the next two name */
    int64_t datagram_received_ns;
    uint32_t datagram_sequence;
    int64_t now_ns;         /* live: wall clock, read once a batch */
    uint64_t made, refused; /* this thread's */
    atomic_uint_least64_t published_made, published_refused;
};

struct pipeline {
    struct pipeline_config config;
    struct batch_queue *queue;
    struct turn *turn; /* replay only */
    struct decoder *decoder;
    struct worker *worker;
    struct decoder_worker *expirer; /* the main thread's, for pipeline_expire */
    struct producer *producers;
    atomic_uint_least64_t slots;       /* arrival numbers given */
    atomic_uint_least64_t jumbo_bytes; /* in use now */
    atomic_bool stopping;
};

int worker_init(struct worker *worker, struct pipeline *pipeline);
int worker_start(struct worker *worker);
void worker_join(struct worker *worker);
void worker_deinit(struct worker *worker);
