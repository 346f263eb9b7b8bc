// SPDX-License-Identifier: Apache-2.0
/*
 * batch - up to 64 datagrams in one block, and the bounded queue that hands blocks from inputs to workers
 *
 *      producer (receiver, pcap reader)            worker
 *      get() ── empty batch ── fill ── put() ──► take() ── decode ── give_back()
 *        ▲                                                                │
 *        └──────────────────────── free list ◄────────────────────────────┘
 *
 * The number of blocks is fixed when the queue is made: that is the bound. A producer that finds no free block
 * waits (pcap), or leaves the datagrams in the kernel's socket queue, where the kernel counts what it
 * has to drop (UDP). Blocks are handed out in the order in which they were put (FIFO): gate.h rests on that.
 *
 * Threads: the queue's calls from any thread. A batch belongs to whoever holds it.
 */
#pragma once

#include "decoder/base.h"

#define BATCH_PACKETS    64
#define BATCH_SLOT_BYTES 2048 /* a datagram up to this size needs no memory of its own */

struct gate;

struct packet {
    const uint8_t *data; /* into the batch's storage, or into jumbo */
    uint32_t len;
    uint16_t port;
    bool carries_templates;
    struct wf_addr exporter;
    int64_t received_ns;
    uint64_t slot;     /* arrival number over all producers of a replay; per producer when live */
    uint8_t *jumbo;    /* owned by the batch, malloc'd, freed by batch_queue_give_back */
    struct gate *gate; /* set by gate_mark() */
    uint64_t gate_ticket;
};

struct batch {
    struct packet packet[BATCH_PACKETS];
    unsigned n_packets;
    uint64_t sequence; /* order of put(), from 0 */
    uint8_t *storage;  /* BATCH_PACKETS * BATCH_SLOT_BYTES octets, slot i at i * BATCH_SLOT_BYTES */
    struct batch *next;
};

struct batch_queue;

/* n_batches blocks of 128 KiB (at least 2). NULL when memory is short. */
struct batch_queue *batch_queue_new(unsigned n_batches);
void batch_queue_free(struct batch_queue *queue);
/* An empty batch; waits up to timeout_ms (-1 = for ever) for one. NULL on timeout or when the queue is closed. */
struct batch *batch_queue_get(struct batch_queue *queue, int timeout_ms);
/* Takes the batch. An empty one goes straight back to the free list. */
void batch_queue_put(struct batch_queue *queue, struct batch *batch);
/* The oldest batch put; waits. NULL when the queue is closed and empty. */
struct batch *batch_queue_take(struct batch_queue *queue, int timeout_ms);
/* Is there nothing to take just now? A hint for adaptive flushing. */
bool batch_queue_is_idle(const struct batch_queue *queue);
void batch_queue_give_back(struct batch_queue *queue, struct batch *batch);
/* No more batches: takers get what is left, then NULL; getters get NULL. */
void batch_queue_close(struct batch_queue *queue);
