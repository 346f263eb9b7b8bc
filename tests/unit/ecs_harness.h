// SPDX-License-Identifier: Apache-2.0
/*
 * ecs_harness - datagrams in, ecs documents out, and a look at their members (tests only)
 *
 * The documents of all datagrams fed stand in harness.out, one a line. json_member() finds the text of a member by
 * its path ("source.ip"); json_each() calls for every leaf. Both trust that the text is JSON: check it with
 * json_is_valid() first (harness_feed does).
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "collector/document/document.h"
#include "tests/support/build.h"
#include "tests/support/json_check.h"
#include "tests/support/support.h"

#define HARNESS_RECEIVED_NS (1482670720LL * WF_NS_PER_S + 250 * WF_NS_PER_MS)
#define HARNESS_EXPORT_S    1482670715U

struct harness {
    struct locality *locality;
    struct document *document;
    struct decoder *decoder;
    struct decoder_worker *worker;
    struct document_writer *writer;
    struct buffer out;
    int64_t now_ns;
    int rc; /* first failure of document_write */
};

static inline void harness_records(void *ctx, const struct decoder_records *records)
{
    struct harness *h = ctx;
    int rc = document_write(h->writer, records, h->now_ns, &h->out);
    if (rc < 0 && h->rc == 0) {
        h->rc = rc;
    }
}

static inline void harness_open(struct harness *h, const struct document_options *wanted)
{
    struct document_options options = *wanted;
    *h = (struct harness){0};
    CU_ASSERT_EQUAL_FATAL(locality_new(NULL, 0, &h->locality, NULL), WF_OK);
    options.format = DOCUMENT_ECS;
    options.locality = h->locality;
    CU_ASSERT_EQUAL_FATAL(document_new(&options, &h->document), WF_OK);
    struct plan_hooks hooks = document_plan_hooks(h->document);
    h->decoder = decoder_new(NULL, &hooks, 42);
    CU_ASSERT_PTR_NOT_NULL_FATAL(h->decoder);
    struct decoder_sink sink = {.records = harness_records, .ctx = h};
    h->worker = decoder_worker_new(h->decoder, &sink);
    h->writer = document_writer_new(h->document);
    CU_ASSERT_PTR_NOT_NULL_FATAL(h->worker);
    CU_ASSERT_PTR_NOT_NULL_FATAL(h->writer);
}

static inline void harness_close(struct harness *h)
{
    document_writer_free(h->writer);
    decoder_worker_free(h->worker);
    decoder_free(h->decoder);
    document_free(h->document);
    locality_free(h->locality);
    buffer_deinit(&h->out);
}

/* Documents of this datagram alone; each is checked to be JSON. Returns their number. */
static inline size_t harness_feed_from(struct harness *h, const struct build *b,
                                       struct wf_addr exporter)
{
    h->out.len = 0;
    struct decoder_datagram datagram = {
        .data = b->data,
        .len = b->len,
        .exporter = exporter,
        .port = 50000,
        .received_ns = HARNESS_RECEIVED_NS,
    };
    CU_ASSERT_EQUAL(decoder_feed(h->worker, &datagram), WF_OK);
    CU_ASSERT_EQUAL(h->rc, 0);
    char *end = buffer_reserve(&h->out, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(end);
    *end = '\0';
    size_t n = 0;
    for (size_t at = 0; at < h->out.len; n++) {
        const char *line = h->out.data + at;
        const char *newline = memchr(line, '\n', h->out.len - at);
        CU_ASSERT_PTR_NOT_NULL_FATAL(newline);
        size_t len = (size_t)(newline - line);
        if (!json_is_valid(line, len)) {
            CU_FAIL("not JSON");
            printf("%.*s\n", (int)len, line);
        }
        at += len + 1;
    }
    return n;
}

static inline size_t harness_feed(struct harness *h, const struct build *b)
{
    static const uint8_t exporter[4] = {192, 0, 2, 1};
    return harness_feed_from(h, b, wf_addr_v4(exporter));
}

typedef void json_leaf(void *ctx, const char *path, const char *text, size_t len);

struct json_walk {
    const char *pos;
    json_leaf *leaf;
    void *ctx;
    char path[512];
};

static inline const char *json_skip_string(const char *p)
{
    for (p++; *p != '"'; p++) {
        p += *p == '\\';
    }
    return p + 1;
}

/* An array is one leaf. */
static inline const char *json_skip(const char *p)
{
    if (*p == '"') {
        return json_skip_string(p);
    }
    if (*p == '[' || *p == '{') {
        int depth = 0;
        do {
            depth += *p == '[' || *p == '{';
            depth -= *p == ']' || *p == '}';
            p = *p == '"' ? json_skip_string(p) : p + 1;
        } while (depth);
        return p;
    }
    return p + strcspn(p, ",]}\n");
}

static inline void json_walk_object(struct json_walk *w)
{
    size_t depth = strlen(w->path);
    while (*w->pos != '}') {
        w->pos++; /* '{' or ',' */
        if (*w->pos == '}') {
            break;
        }
        const char *key = w->pos;
        w->pos = json_skip_string(w->pos);
        int n = (int)(w->pos - key) - 2;
        snprintf(w->path + depth, sizeof w->path - depth, "%s%.*s", depth ? "." : "", n, key + 1);
        w->pos++; /* ':' */
        if (*w->pos == '{') {
            json_walk_object(w);
        } else {
            const char *text = w->pos;
            w->pos = json_skip(text);
            w->leaf(w->ctx, w->path, text, (size_t)(w->pos - text));
        }
        w->path[depth] = '\0';
    }
    w->pos++;
}

/* Every leaf of the object at text. */
static inline void json_each(const char *text, json_leaf *leaf, void *ctx)
{
    struct json_walk w = {.pos = text, .leaf = leaf, .ctx = ctx};
    json_walk_object(&w);
}

struct json_wanted {
    const char *path;
    char *text;
    size_t size;
    unsigned n;
};

static inline void json_pick(void *ctx, const char *path, const char *text, size_t len)
{
    struct json_wanted *wanted = ctx;
    if (strcmp(path, wanted->path) == 0) {
        snprintf(wanted->text, wanted->size, "%.*s", (int)len, text);
        wanted->n++;
    }
}

/* Text of the member in line n (from 0) of the documents, "" when there is none. Valid until the next call. */
static inline const char *json_member(const struct harness *h, size_t line, const char *path)
{
    static char text[4096];
    const char *p = h->out.data;
    for (size_t i = 0; i < line; i++) {
        p = strchr(p, '\n') + 1;
    }
    struct json_wanted wanted = {.path = path, .text = text, .size = sizeof text};
    text[0] = '\0';
    json_each(p, json_pick, &wanted);
    CU_ASSERT(wanted.n <= 1);
    return text;
}

#define EXPECT_LINE(h, line, path, expected)                                                       \
    harness_expect((h), (line), (path), (expected), __FILE__, __LINE__)
#define EXPECT(h, path, expected) EXPECT_LINE(h, 0, path, expected)

static inline void harness_expect(const struct harness *h, size_t line, const char *path,
                                  const char *expected, const char *file, int at)
{
    const char *text = json_member(h, line, path);
    bool same = strcmp(text, expected) == 0;
    CU_assertImplementation(same, (unsigned)at, path, file, "", CU_FALSE);
    if (!same) {
        printf("\n    %s: expected %s, got %s", path, expected, text);
    }
}
