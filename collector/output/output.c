// SPDX-License-Identifier: Apache-2.0
/*
 * The bounded queue between the workers and one destination.
 *
 *     output_put ──► [ chunk ]─►[ chunk ]─►... ──► output worker(s) ──► ops->write
 *                     bounded by bytes              one at a time, unless the destination says parallel
 *
 * One mutex guards the queue and the counters: taken once a chunk (hundreds of documents), never for a document.
 */
#include "collector/output/output.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/output/destination.h"

#define DEFAULT_QUEUE_BYTES (64U << 20)
#define MAX_WORKERS         16U
#define MAX_SPARE           64U /* empty chunks kept */
#define HOMES               16U /* spare lists: a worker writes into what lies in its own core's cache */
#define SPARE_CAP           (1U << 20) /* larger ones are freed, so that a burst's memory goes back */
#define GRACE_MS            1000L      /* for a chunk on its way when stopped at once */
#define NUDGE_MS            20L
#define WAKE_SIGNAL         SIGURG /* ignored by default, so a stray one harms nobody */

struct output {
    const struct output_ops *ops;
    void *self;
    size_t max_bytes;
    bool block;
    unsigned n_workers;
    pthread_t worker[MAX_WORKERS]; /* n_started of them; of start and stop */

    pthread_mutex_t mutex; /* leaf; guards all that follows */
    pthread_cond_t filled; /* something to ship, or stopping */
    pthread_cond_t freed;  /* room in the queue, or the destination is gone */
    pthread_cond_t idle;   /* nothing queued and nothing in the workers' hands, or stopping */
    struct chunk *first, *last;
    struct chunk *spare[HOMES];
    unsigned n_spare;
    unsigned n_started;
    unsigned n_waiting; /* workers that wait for a chunk */
    unsigned n_blocked; /* callers of output_put that wait for room */
    unsigned n_busy;    /* workers that ship a chunk or reopen */
    bool reopen, stopping, at_once, gone;
    bool is_stale; /* a reopen that has not worked yet */
    struct output_counters counters;
};

static int destination_of(const char *target, const struct output_ops **ops, void **self)
{
    if (strcmp(target, "stdout") == 0 || strcmp(target, "-") == 0) {
        return destination_file_new(NULL, ops, self);
    }
    if (strncmp(target, "file:", 5) == 0 && target[5]) {
        return destination_file_new(target + 5, ops, self);
    }
    if (strcmp(target, "null") == 0) {
        return destination_null_new(ops, self);
    }
    return WF_E_INVAL;
}

/* The negative code for errno; why tells the operator. */
static int explain_open(const char *target, char *why, size_t why_len)
{
    int error = errno;
    int err = error == EACCES || error == EPERM ? WF_E_PERM : WF_E_IO;
    const char *path = strncmp(target, "file:", 5) == 0 ? target + 5 : target;
    const char *todo = error == ENOENT    ? "create its folder first"
                       : error == ENXIO   ? "start the program that reads it first"
                       : err == WF_E_PERM ? "choose a place that this user may write to"
                                          : "choose another place with -o file:PATH";
    const char *text = strerrordesc_np(error);
    snprintf(why, why_len, "output %s: %s; nothing could be written there: %s", path,
             text ? text : "unknown error", todo);
    errno = error;
    return err;
}

/* "es:http://host", and not "./a:b" */
static bool has_kind(const char *target)
{
    size_t n = strspn(target, "abcdefghijklmnopqrstuvwxyz0123456789+-");
    return n > 0 && target[n] == ':';
}

static void explain_target(const char *target, int err, char *why, size_t why_len)
{
    if (err != WF_E_INVAL) {
        snprintf(why, why_len, "output \"%s\": %s", target, wf_err_text(err));
    } else if (has_kind(target)) {
        snprintf(why, why_len,
                 "output \"%s\": no such kind of output; there are -o stdout, -o file:PATH and -o "
                 "null",
                 target);
    } else if (strpbrk(target, "./")) {
        snprintf(why, why_len, "output \"%s\": no such kind of output; did you mean \"file:%s\"?",
                 target, target);
    } else {
        snprintf(why, why_len,
                 "output \"%s\": no such kind of output; try -o stdout, -o file:PATH or -o null",
                 target);
    }
}

int output_new(const struct output_config *config, struct output **output, char *why,
               size_t why_len)
{
    struct output *o = calloc(1, sizeof(*o));
    if (!o) {
        snprintf(why, why_len, "output: out of memory");
        return WF_E_NOMEM;
    }
    int err = destination_of(config->target, &o->ops, &o->self);
    if (err < 0) {
        explain_target(config->target, err, why, why_len);
        free(o);
        return err;
    }
    o->max_bytes = config->queue_bytes ? config->queue_bytes : DEFAULT_QUEUE_BYTES;
    o->block = config->block;
    o->n_workers = o->ops->parallel && config->n_workers ? config->n_workers : 1;
    o->n_workers = o->n_workers < MAX_WORKERS ? o->n_workers : MAX_WORKERS;
    pthread_mutex_init(&o->mutex, NULL);
    pthread_cond_init(&o->filled, NULL);
    pthread_cond_init(&o->freed, NULL);
    pthread_cond_init(&o->idle, NULL);
    if (o->ops->open(o->self) < 0) {
        err = explain_open(config->target, why, why_len);
        output_free(o);
        return err;
    }
    *output = o;
    return WF_OK;
}

/* Under the mutex: an empty chunk is kept or freed. */
static void recycle(struct output *o, struct chunk *chunk)
{
    chunk->text.len = 0;
    chunk->n_documents = 0;
    if (o->n_spare >= MAX_SPARE || chunk->text.cap > SPARE_CAP) {
        buffer_deinit(&chunk->text);
        free(chunk);
        return;
    }
    chunk->next = o->spare[chunk->home];
    o->spare[chunk->home] = chunk;
    o->n_spare++;
}

struct chunk *output_chunk_get(struct output *o, unsigned home)
{
    home %= HOMES;
    pthread_mutex_lock(&o->mutex);
    struct chunk *chunk = o->spare[home];
    if (chunk) {
        o->spare[home] = chunk->next;
        o->n_spare--;
        chunk->next = NULL;
    }
    pthread_mutex_unlock(&o->mutex);
    if (!chunk) {
        chunk = calloc(1, sizeof(*chunk));
    }
    if (chunk) {
        chunk->home = home;
    }
    return chunk;
}

void output_chunk_discard(struct output *o, struct chunk *chunk)
{
    if (!chunk) {
        return;
    }
    pthread_mutex_lock(&o->mutex);
    recycle(o, chunk);
    pthread_mutex_unlock(&o->mutex);
}

/* Memory that a chunk holds: what the queue is bounded by. */
static size_t weight(const struct chunk *chunk)
{
    return sizeof(*chunk) + chunk->text.cap;
}

static bool fits(const struct output *o, const struct chunk *chunk)
{
    /* A chunk larger than the whole queue goes in when the queue is empty: it could go nowhere else. */
    return !o->first || o->counters.queue_bytes + weight(chunk) <= o->max_bytes;
}

/* A backlog of chunks that are nearly empty must not hold memory that it does not need. */
static void shrink(struct chunk *chunk)
{
    struct buffer *text = &chunk->text;
    char *data =
        text->len > 0 && text->len <= text->cap / 4 ? realloc(text->data, text->len) : NULL;
    if (data) {
        text->data = data;
        text->cap = text->len;
    }
}

/* Under the mutex. */
static void append(struct output *o, struct chunk *chunk)
{
    chunk->next = NULL;
    if (o->last) {
        o->last->next = chunk;
    } else {
        o->first = chunk;
    }
    o->last = chunk;
    o->counters.queue_bytes += weight(chunk);
    if (o->counters.queue_bytes > o->counters.queue_max_bytes) {
        o->counters.queue_max_bytes = o->counters.queue_bytes;
    }
}

int output_put(struct output *o, struct chunk *chunk)
{
    int err = WF_OK;
    pthread_mutex_lock(&o->mutex);
    if (o->first) {
        shrink(chunk);
    }
    while (o->block && !o->gone && !o->stopping && !fits(o, chunk)) {
        o->n_blocked++;
        pthread_cond_wait(&o->freed, &o->mutex);
        o->n_blocked--;
    }
    bool wake = false;
    if (o->gone || o->stopping) {
        o->counters.documents_unsent += chunk->n_documents;
        recycle(o, chunk);
        err = WF_E_STOPPED;
    } else if (!fits(o, chunk)) {
        o->counters.documents_dropped += chunk->n_documents;
        recycle(o, chunk);
        err = WF_E_FULL;
    } else {
        append(o, chunk);
        wake = o->n_waiting > 0;
    }
    pthread_mutex_unlock(&o->mutex);
    if (wake) {
        pthread_cond_signal(&o->filled);
    }
    return err;
}

/* Under the mutex: everything queued will never be sent. */
static void give_up_queue(struct output *o)
{
    while (o->first) {
        struct chunk *chunk = o->first;
        o->first = chunk->next;
        o->counters.documents_unsent += chunk->n_documents;
        o->counters.queue_bytes -= weight(chunk);
        recycle(o, chunk);
    }
    o->last = NULL;
    pthread_cond_broadcast(&o->freed);
}

/* Octets of the first n lines. */
static size_t octets_of_lines(const struct chunk *chunk, uint32_t n)
{
    const char *data = chunk->text.data;
    size_t at = 0;
    for (uint32_t i = 0; i < n && at < chunk->text.len; i++) {
        const char *newline = memchr(data + at, '\n', chunk->text.len - at);
        at = newline ? (size_t)(newline - data) + 1 : chunk->text.len;
    }
    return at;
}

/* Under the mutex: what became of a chunk. */
static void account(struct output *o, const struct chunk *chunk, int err, uint32_t n_written)
{
    struct output_counters *c = &o->counters;
    n_written = n_written < chunk->n_documents ? n_written : chunk->n_documents;
    c->documents_written += n_written;
    c->queue_bytes -= weight(chunk);
    if (err == WF_OK) {
        c->octets_written += chunk->text.len;
        return;
    }
    c->octets_written += octets_of_lines(chunk, n_written);
    if (err == WF_E_STOPPED && o->at_once) {
        c->documents_unsent += chunk->n_documents - n_written; /* we gave up, not the destination */
        return;
    }
    c->documents_failed += chunk->n_documents - n_written;
    if (err == WF_E_STOPPED) {
        o->gone = true;
        give_up_queue(o);
    }
}

/* Under the mutex, which is released while the chunk is on its way. */
static void ship(struct output *o, struct chunk *chunk)
{
    uint32_t n_written = 0;
    o->n_busy++;
    pthread_mutex_unlock(&o->mutex);
    int err = o->ops->write(o->self, chunk, &n_written);
    int error = errno;
    pthread_mutex_lock(&o->mutex);
    o->n_busy--;
    if (err < 0) {
        o->counters.last_errno = error;
    }
    account(o, chunk, err, err == WF_OK ? chunk->n_documents : n_written);
    recycle(o, chunk);
    if (o->n_blocked) {
        pthread_cond_broadcast(&o->freed);
    }
}

/* Under the mutex, which is released meanwhile. There is one worker: parallel destinations have no reopen. */
static void reopen(struct output *o)
{
    bool is_retry = !o->reopen;
    o->reopen = false;
    if (!o->ops->reopen) {
        o->counters.n_reopen_needless++;
        return;
    }
    o->n_busy++;
    pthread_mutex_unlock(&o->mutex);
    int result = o->ops->reopen(o->self);
    int error = errno;
    pthread_mutex_lock(&o->mutex);
    o->n_busy--;
    o->is_stale = result < 0;
    if (result > 0) {
        o->counters.n_reopened++;
    } else if (result == 0) {
        o->counters.n_reopen_needless++;
    } else if (!is_retry) {
        o->counters.n_reopen_failed++;
        o->counters.reopen_errno = error;
    }
}

static void *work(void *arg)
{
    struct output *o = arg;
    pthread_mutex_lock(&o->mutex);
    for (;;) {
        if (o->reopen || (o->is_stale && o->first)) {
            reopen(o);
        }
        struct chunk *chunk = o->first;
        if (chunk) {
            o->first = chunk->next;
            if (!o->first) {
                o->last = NULL;
            }
            ship(o, chunk);
            continue;
        }
        if (o->n_busy == 0) {
            pthread_cond_broadcast(&o->idle);
        }
        if (o->stopping) {
            break;
        }
        if (!o->reopen) { /* asked for while the last one was done */
            o->n_waiting++;
            pthread_cond_wait(&o->filled, &o->mutex);
            o->n_waiting--;
        }
    }
    pthread_mutex_unlock(&o->mutex);
    return NULL;
}

static void on_wake_signal(int number)
{
    (void)number; /* that it interrupts write(2) is all it is for */
}

int output_start(struct output *o)
{
    /* Signals are the main thread's. */
    sigset_t most;
    sigset_t before;
    const struct sigaction action = {.sa_handler = on_wake_signal}; /* without SA_RESTART */
    sigaction(WAKE_SIGNAL, &action, NULL);
    sigfillset(&most);
    sigdelset(&most, WAKE_SIGNAL);
    pthread_sigmask(SIG_SETMASK, &most, &before);
    unsigned n = 0;
    while (n < o->n_workers && pthread_create(&o->worker[n], NULL, work, o) == 0) {
        n++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_mutex_lock(&o->mutex);
    o->n_started = n;
    pthread_mutex_unlock(&o->mutex);
    return n == o->n_workers ? WF_OK : WF_E_NOMEM;
}

int output_drain(struct output *o)
{
    pthread_mutex_lock(&o->mutex);
    while ((o->first || o->n_busy) && o->n_started && !o->gone && !o->at_once) {
        pthread_cond_wait(&o->idle, &o->mutex);
    }
    int err = o->first || o->n_busy || o->gone || o->at_once ? WF_E_STOPPED : WF_OK;
    pthread_mutex_unlock(&o->mutex);
    return err;
}

void output_reopen(struct output *o)
{
    pthread_mutex_lock(&o->mutex);
    o->reopen = true;
    pthread_cond_broadcast(&o->filled);
    pthread_mutex_unlock(&o->mutex);
}

static bool join_within(pthread_t worker, long ms)
{
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_nsec += ms * 1000000L;
    deadline.tv_sec += deadline.tv_nsec / 1000000000L;
    deadline.tv_nsec %= 1000000000L;
    return pthread_timedjoin_np(worker, NULL, &deadline) == 0;
}

/* A worker may hang in write(2), since nobody reads the pipe. The signal is sent until it has ended: one may come just before the
 * call that it should interrupt. */
static void join_at_once(struct output *o, pthread_t worker)
{
    if (join_within(worker, GRACE_MS)) {
        return;
    }
    if (o->ops->interrupt) {
        o->ops->interrupt(o->self);
    }
    do {
        pthread_kill(worker, WAKE_SIGNAL);
    } while (!join_within(worker, NUDGE_MS));
}

void output_stop(struct output *o, bool at_once)
{
    pthread_mutex_lock(&o->mutex);
    unsigned n = o->n_started;
    o->stopping = true;
    if (at_once || n == 0) { /* without workers nobody will ever ship it */
        o->at_once = true;
        give_up_queue(o);
    }
    pthread_cond_broadcast(&o->filled);
    pthread_cond_broadcast(&o->freed);
    pthread_cond_broadcast(&o->idle);
    pthread_mutex_unlock(&o->mutex);
    for (unsigned i = 0; i < n; i++) {
        if (at_once) {
            join_at_once(o, o->worker[i]);
        } else {
            pthread_join(o->worker[i], NULL);
        }
    }
    pthread_mutex_lock(&o->mutex);
    o->n_started = 0;
    pthread_mutex_unlock(&o->mutex);
}

bool output_is_gone(struct output *o)
{
    pthread_mutex_lock(&o->mutex);
    bool gone = o->gone;
    pthread_mutex_unlock(&o->mutex);
    return gone;
}

void output_counters(struct output *o, struct output_counters *counters)
{
    pthread_mutex_lock(&o->mutex);
    *counters = o->counters;
    pthread_mutex_unlock(&o->mutex);
}

void output_free(struct output *o)
{
    if (!o) {
        return;
    }
    output_stop(o, true);
    for (unsigned home = 0; home < HOMES; home++) {
        struct chunk *next;
        for (struct chunk *chunk = o->spare[home]; chunk; chunk = next) {
            next = chunk->next;
            buffer_deinit(&chunk->text);
            free(chunk);
        }
    }
    o->ops->free(o->self);
    pthread_cond_destroy(&o->idle);
    pthread_cond_destroy(&o->freed);
    pthread_cond_destroy(&o->filled);
    pthread_mutex_destroy(&o->mutex);
    free(o);
}
