// SPDX-License-Identifier: Apache-2.0
/*
 * lines - datagrams in, lines of a format out, for unit tests of the flat and text documents
 */
#pragma once

#include <stdio.h>
#include <string.h>

#include "collector/document/document.h"
#include "tests/support/build.h"
#include "tests/support/support.h"

#define LINES_EXPORT_S    1482670715U /* 2016-12-25T12:58:35Z */
#define LINES_RECEIVED_NS (1482670720LL * WF_NS_PER_S + 250000001)

struct lines {
    struct document *document;
    struct decoder *decoder;
    struct decoder_worker *worker;
    struct document_writer *writer;
    struct buffer out; /* of the last datagram, one line a record, NUL-terminated */
    size_t n_documents;
    struct wf_addr exporter;
};

static inline void lines_records(void *ctx, const struct decoder_records *records)
{
    struct lines *l = ctx;
    int n = document_write(l->writer, records, 0, &l->out);
    CU_ASSERT_EQUAL(n, (int)records->n_records);
    l->n_documents += n > 0 ? (size_t)n : 0;
}

static inline void lines_open(struct lines *l, const char *format)
{
    static const uint8_t exporter[4] = {192, 0, 2, 1};
    struct document_options options = {.replay = true};
    *l = (struct lines){.exporter = wf_addr_v4(exporter)};
    CU_ASSERT_EQUAL_FATAL(document_format_of(format, &options.format), WF_OK);
    CU_ASSERT_EQUAL_FATAL(document_new(&options, &l->document), WF_OK);
    struct plan_hooks hooks = document_plan_hooks(l->document);
    l->decoder = decoder_new(NULL, &hooks, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(l->decoder);
    struct decoder_sink sink = {.records = lines_records, .ctx = l};
    l->worker = decoder_worker_new(l->decoder, &sink);
    l->writer = document_writer_new(l->document);
    CU_ASSERT_PTR_NOT_NULL_FATAL(l->worker);
    CU_ASSERT_PTR_NOT_NULL_FATAL(l->writer);
}

static inline void lines_close(struct lines *l)
{
    document_writer_free(l->writer);
    decoder_worker_free(l->worker);
    decoder_free(l->decoder);
    document_free(l->document);
    buffer_deinit(&l->out);
}

/* Ends the datagram and feeds it; l->out holds its lines alone. Returns their number. */
static inline size_t lines_feed(struct lines *l, struct build *b)
{
    build_end(b);
    l->out.len = 0;
    size_t before = l->n_documents;
    struct decoder_datagram datagram = {
        .data = b->data,
        .len = b->len,
        .exporter = l->exporter,
        .port = 50000,
        .received_ns = LINES_RECEIVED_NS,
    };
    decoder_feed(l->worker, &datagram);
    char *end = buffer_reserve(&l->out, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(end);
    *end = '\0';
    return l->n_documents - before;
}

/* The lines of the last datagram are these (each with its newline). */
static inline void lines_expect(const struct lines *l, const char *want)
{
    bool same = strcmp(l->out.data, want) == 0;
    CU_ASSERT(same);
    if (!same) {
        printf("\n  want %s  got  %s", want, l->out.data);
    }
}
