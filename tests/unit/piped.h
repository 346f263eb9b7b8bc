// SPDX-License-Identifier: Apache-2.0
/*
 * piped - a pipeline from datagrams to a file of lines, for unit tests of the pipeline and its inputs
 */
#pragma once

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector/pipeline/pipeline.h"
#include "tests/support/build.h"
#include "tests/support/support.h"

struct piped {
    char path[64];
    struct document *document;
    struct output *output;
    struct pipeline *pipeline;
    struct producer *producer;
    struct batch *batch; /* being filled */
    struct wf_addr exporter;
    int64_t now_ns;
    atomic_uint n_events[DECODER_EVENT_RESTART + 1];
    char *text; /* piped_end: the file, NUL-terminated */
    size_t len;
};

static inline void piped_event(void *ctx, const struct decoder_event *event)
{
    struct piped *p = ctx;
    atomic_fetch_add(&p->n_events[event->kind], 1);
}

/* config: n_workers, ordered and limits count; document, output and event are filled in. start false: no worker runs. */
static inline void piped_open(struct piped *p, struct pipeline_config config, bool start)
{
    char target[80];
    char why[256];
    struct document_options options = {.format = DOCUMENT_FLAT, .replay = config.ordered};
    *p = (struct piped){.path = "whoflow-piped-XXXXXX", .now_ns = 1700000000 * WF_NS_PER_S};
    p->exporter = wf_addr_v4((const uint8_t[4]){192, 0, 2, 1});
    int fd = mkstemp(p->path);
    CU_ASSERT_FATAL(fd >= 0);
    close(fd);
    snprintf(target, sizeof(target), "file:%s", p->path);
    struct output_config to = {.target = target, .block = true};
    CU_ASSERT_EQUAL_FATAL(document_new(&options, &p->document), WF_OK);
    CU_ASSERT_EQUAL_FATAL(output_new(&to, &p->output, why, sizeof(why)), WF_OK);
    CU_ASSERT_EQUAL_FATAL(output_start(p->output), WF_OK);
    config.document = p->document;
    config.output = p->output;
    config.event = piped_event;
    config.event_ctx = p;
    CU_ASSERT_EQUAL_FATAL(pipeline_new(&config, &p->pipeline), WF_OK);
    if (start) {
        CU_ASSERT_EQUAL_FATAL(pipeline_start(p->pipeline), WF_OK);
    }
    p->producer = pipeline_producer_new(p->pipeline);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p->producer);
}

static inline void piped_flush(struct piped *p)
{
    if (p->batch) {
        producer_put(p->producer, p->batch);
        p->batch = NULL;
    }
}

/* False when the producer dropped it. The batch goes out when it is full. */
static inline bool piped_octets(struct piped *p, const uint8_t *data, size_t len)
{
    if (!p->batch) {
        p->batch = producer_get(p->producer, -1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(p->batch);
    }
    p->now_ns += WF_NS_PER_MS;
    struct decoder_datagram d = {
        .data = data, .len = len, .exporter = p->exporter, .port = 50000, .received_ns = p->now_ns};
    bool taken = producer_add(p->producer, p->batch, &d);
    if (p->batch->n_packets == BATCH_PACKETS) {
        piped_flush(p);
    }
    return taken;
}

static inline bool piped_feed(struct piped *p, struct build *b)
{
    build_end(b);
    return piped_octets(p, b->data, b->len);
}

/* Polls: a bound against hanging, no statement on speed. */
static inline bool piped_wait_written(struct piped *p, uint64_t n)
{
    for (unsigned i = 0; i < 30000; i++) {
        struct output_counters c;
        output_counters(p->output, &c);
        if (c.documents_written >= n) {
            return true;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = WF_NS_PER_MS}, NULL);
    }
    return false;
}

static inline void piped_read_file(struct piped *p)
{
    FILE *f = fopen(p->path, "re");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL_FATAL(fseek(f, 0, SEEK_END), 0);
    p->len = (size_t)ftell(f);
    rewind(f);
    p->text = malloc(p->len + 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p->text);
    CU_ASSERT_EQUAL_FATAL(fread(p->text, 1, p->len, f), p->len);
    p->text[p->len] = '\0';
    fclose(f);
}

/* Everything put is in p->text afterwards. */
static inline void piped_drain(struct piped *p)
{
    piped_flush(p);
    pipeline_drain(p->pipeline);
    CU_ASSERT_EQUAL(output_drain(p->output), WF_OK);
    piped_read_file(p);
}

static inline struct pipeline_counters piped_counters(const struct piped *p)
{
    struct pipeline_counters c;
    pipeline_counters(p->pipeline, &c);
    return c;
}

static inline void piped_close(struct piped *p)
{
    output_stop(p->output, true);
    pipeline_free(p->pipeline);
    output_free(p->output);
    document_free(p->document);
    unlink(p->path);
    free(p->text);
}

/* The line at *at, newline included, in len; *at moves on. NULL at the end. (Sanitizers read all that a search is given: so it
 * is given a line at a time.) */
static inline const char *piped_line(const struct piped *p, const char **at, size_t *len)
{
    const char *line = *at;
    const char *end = p->text + p->len;
    if (line == end) {
        return NULL;
    }
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    *at = newline ? newline + 1 : end;
    *len = (size_t)(*at - line);
    return line;
}

/* Lines that hold part. */
static inline size_t piped_count(const struct piped *p, const char *part)
{
    size_t n = 0;
    size_t len;
    const char *line;
    for (const char *at = p->text; (line = piped_line(p, &at, &len)) != NULL;) {
        n += memmem(line, len, part, strlen(part)) != NULL;
    }
    return n;
}
