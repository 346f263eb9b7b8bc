// SPDX-License-Identifier: Apache-2.0
/*
 * output_harness - an output, numbered lines to put into it, and what became of them
 */
#pragma once

#include <sys/stat.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/output/output.h"
#include "tests/support/support.h"

/* A folder of its own for each test program; removed with what is in it by the test that made it. */
struct folder {
    char path[64];
};

static inline void folder_make(struct folder *folder)
{
    snprintf(folder->path, sizeof(folder->path), "/tmp/test_output_XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder->path));
}

/* Path of name in the folder; free it. */
static inline char *folder_path(const struct folder *folder, const char *name)
{
    char *path = NULL;
    CU_ASSERT_FATAL(asprintf(&path, "%s/%s", folder->path, name) > 0);
    return path;
}

/* The output for a target, "file:" before path when it is not NULL; started. */
static inline struct output *output_open(const char *target, const char *path, size_t queue_bytes,
                                         bool block)
{
    char text[256];
    char why[256] = "";
    struct output *output = NULL;
    snprintf(text, sizeof(text), "%s%s", target, path ? path : "");
    struct output_config config = {.target = text, .queue_bytes = queue_bytes, .block = block};
    int err = output_new(&config, &output, why, sizeof(why));
    if (err < 0) {
        printf("\n  %s\n", why);
    }
    CU_ASSERT_EQUAL_FATAL(err, WF_OK);
    CU_ASSERT_EQUAL_FATAL(output_start(output), WF_OK);
    return output;
}

/* n lines of len octets each (10 or more), numbered from first: "00000042...\n". */
static inline struct chunk *lines_make(struct output *output, unsigned first, unsigned n,
                                       size_t len)
{
    struct chunk *chunk = output_chunk_get(output, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(chunk);
    CU_ASSERT_EQUAL(chunk->text.len, 0);
    CU_ASSERT_EQUAL(chunk->n_documents, 0);
    for (unsigned i = 0; i < n; i++) {
        char *at = buffer_reserve(&chunk->text, len);
        CU_ASSERT_PTR_NOT_NULL_FATAL(at);
        char number[16];
        snprintf(number, sizeof(number), "%08u", first + i);
        memset(at, '.', len);
        memcpy(at, number, 8);
        at[len - 1] = '\n';
        buffer_commit(&chunk->text, at + len);
    }
    chunk->n_documents = n;
    return chunk;
}

static inline int lines_put(struct output *output, unsigned first, unsigned n, size_t len)
{
    return output_put(output, lines_make(output, first, n, len));
}

/* Counts lines of the text and checks that they are whole and numbered first, first + 1, ... */
static inline unsigned lines_check(const char *text, size_t size, unsigned first, size_t len)
{
    unsigned n = 0;
    size_t at = 0;
    for (; at + len <= size; at += len, n++) {
        char number[16];
        snprintf(number, sizeof(number), "%08u", first + n);
        if (memcmp(text + at, number, 8) != 0 || text[at + len - 1] != '\n') {
            break;
        }
    }
    CU_ASSERT_EQUAL(at, size);
    return n;
}

/* All of a file, at most 4 MiB; free it. */
static inline char *file_read(const char *path, size_t *size)
{
    const size_t max = 4U << 20;
    char *text = malloc(max);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    FILE *f = fopen(path, "re");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    *size = fread(text, 1, max, f);
    (void)fclose(f);
    return text;
}

static inline struct output_counters counters_of(struct output *output)
{
    struct output_counters c;
    output_counters(output, &c);
    return c;
}

/* The four ends of a document. */
static inline void counters_check(struct output *output, uint64_t written, uint64_t dropped,
                                  uint64_t failed, uint64_t unsent)
{
    struct output_counters c = counters_of(output);
    CU_ASSERT_EQUAL(c.documents_written, written);
    CU_ASSERT_EQUAL(c.documents_dropped, dropped);
    CU_ASSERT_EQUAL(c.documents_failed, failed);
    CU_ASSERT_EQUAL(c.documents_unsent, unsent);
}
