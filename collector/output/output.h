// SPDX-License-Identifier: Apache-2.0
/*
 * output - finished chunks of documents to where they go
 *
 * Workers fill chunks and put them into one bounded queue; output workers (threads of the output's own) ship
 * them. The destination is behind output_ops: stdout and file now, Elasticsearch and Kafka later. Knows octets and
 * counts of documents, not templates or flows.
 *
 * Every document put ends in one counter: written, dropped, failed or unsent.
 *
 * Threads: output_put, _drain, _reopen, _counters from any; output_new/start/stop/free from one at a time. The workers take no
 * signal but SIGURG, whose handler is ours and does nothing. Chunks belong to whoever holds them.
 */
#pragma once

#include "collector/util/buffer.h"

struct chunk {
    struct buffer text; /* whole lines */
    uint32_t n_documents;
    unsigned home;      /* the spare list it goes back to */
    struct chunk *next; /* the queue's */
};

/* What a destination does. One instance; calls never overlap (unless parallel), but for interrupt. Errors: negative wf_err,
 * errno set. */
struct output_ops {
    const char *name;
    bool parallel; /* write may be called by several output workers at once */
    int (*open)(void *self);
    /* Ships the whole chunk; 0, WF_E_IO (nothing more of this chunk goes out, *n_written documents did), WF_E_STOPPED
     * (the reader is gone for good: EPIPE). */
    int (*write)(void *self, const struct chunk *chunk, uint32_t *n_written);
    /* SIGHUP. 1 = opened anew, 0 = nothing there that could be. What was open stays open when it fails; it is called again before
     * the next chunk then. May be NULL, and is when parallel. */
    int (*reopen)(void *self);
    /* Any thread: a write that waits returns soon, with the true *n_written. The signal that wakes it from its system
     * call is the output's to send. May be NULL. */
    void (*interrupt)(void *self);
    void (*free)(void *self);
};

struct output_config {
    const char *target; /* "stdout", "-", "file:PATH", "null" */
    size_t queue_bytes; /* memory of the chunks in the queue; 0 = 64 MiB */
    unsigned n_workers; /* 0 = 1 */
    bool
        block; /* full queue: true = the caller waits (replay), false = dropped and counted (live) */
};

struct output_counters {
    uint64_t documents_written, octets_written;
    uint64_t documents_dropped; /* queue full */
    uint64_t documents_failed;  /* the destination refused (ENOSPC, EIO, EPIPE) */
    uint64_t documents_unsent;  /* still queued, or on their way, when stopped at once or gone */
    uint64_t queue_bytes, queue_max_bytes;
    int last_errno; /* of the last refusal, 0 = none */
    /* what became of output_reopen; one that failed and worked later is in both */
    uint64_t n_reopened, n_reopen_failed, n_reopen_needless;
    int reopen_errno; /* of the last that failed */
};

struct output;

/* Opens the destination. 0; WF_E_INVAL (no such target), WF_E_IO, WF_E_PERM with errno set. why: one sentence for the
 * operator (what, why, what to type). */
int output_new(const struct output_config *config, struct output **output, char *why,
               size_t why_len);
int output_start(struct output *output);
/* An empty chunk (recycled where possible: one that this home, a worker's number, has filled before), or NULL when memory is
 * short. */
struct chunk *output_chunk_get(struct output *output, unsigned home);
void output_chunk_discard(struct output *output, struct chunk *chunk);
/* Takes the chunk. 0, WF_E_FULL (dropped and counted), WF_E_STOPPED (the destination is gone; counted). */
int output_put(struct output *output, struct chunk *chunk);
/* Waits until all that was put has been shipped. WF_E_STOPPED when the destination is gone or the output stopped. */
int output_drain(struct output *output);
/* Reopens regular files; done by the output worker before its next chunk. Until the new one is open the old one stays. The counters
 * tell what became of it. */
void output_reopen(struct output *output);
/* Ends the workers, when all is shipped, or at_once: what is queued is counted as unsent, and after a second what is on its way
 * is given up too. */
void output_stop(struct output *output, bool at_once);
bool output_is_gone(struct output *output);
void output_counters(struct output *output, struct output_counters *counters);
void output_free(struct output *output);
