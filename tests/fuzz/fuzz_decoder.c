// SPDX-License-Identifier: Apache-2.0
/*
 * A sequence of datagrams of a few exporters through the decoder and every encoder.
 *
 * Input: { exporter (1 octet), length (2 octets), datagram } ... Oracles: each document is one valid JSON value on a line of
 * its own, there are as many documents as records, budgets hold, and the counters add up after every datagram.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/document/document.h"
#include "decoder/wire/cursor.h"
#include "tests/support/json_check.h"

#define PENDING_LIMIT 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", what);
        abort();
    }
}

struct world {
    struct locality *locality;
    struct document *document;
    struct document_writer *writer;
    struct decoder *decoder;
    struct decoder_worker *worker;
    struct buffer out;
    uint64_t n_documents, n_records;
    bool json;
};

static void on_records(void *ctx, const struct decoder_records *records)
{
    struct world *w = ctx;
    w->n_records += records->n_records;
    int n = document_write(w->writer, records, 0, &w->out);
    must(n >= 0 && (size_t)n == records->n_records, "every record becomes a document");
    w->n_documents += (uint64_t)n;
    size_t lines = 0;
    for (size_t at = 0; at < w->out.len; lines++) {
        const char *line = w->out.data + at;
        const char *newline = memchr(line, '\n', w->out.len - at);
        must(newline != NULL, "a document ends its line");
        size_t len = (size_t)(newline - line);
        must(!w->json || json_is_valid(line, len), "a document is valid JSON");
        at += len + 1;
    }
    must(lines == records->n_records || w->out.len == 0, "a line a record");
    w->out.len = 0;
}

static void check_ledger(struct world *w)
{
    struct decoder_counters c;
    struct decoder_state s;
    decoder_counters(w->decoder, &c);
    decoder_state(w->decoder, &s);
    must(c.datagrams == c.datagrams_decoded + c.reason[DECODER_SHORT_HEADER] +
                            c.reason[DECODER_UNKNOWN_VERSION] + c.reason[DECODER_REFUSED_EXPORTER],
         "every datagram ends in one counter");
    must(c.sets_data == c.sets_decoded + c.sets_held + c.sets_refused,
         "every data set ends in one counter");
    must(c.sets_held == c.sets_released + c.sets_expired + c.sets_evicted + s.pending_sets,
         "every held set ends in one counter");
    must(c.records_flow + c.records_options == w->n_records, "every record is counted");
    must(s.pending_bytes <= PENDING_LIMIT, "the pending budget holds");
}

static void run(enum document_format format, const uint8_t *data, size_t size)
{
    struct world w = {.json = format == DOCUMENT_ECS || format == DOCUMENT_FLAT};
    size_t bad;
    must(locality_new(NULL, 0, &w.locality, &bad) == 0, "memory");
    struct document_options options = {
        .format = format, .replay = true, .unknown_elements = true, .locality = w.locality};
    must(document_new(&options, &w.document) == 0, "memory");
    struct plan_hooks hooks = document_plan_hooks(w.document);
    struct decoder_limits limits = {.max_exporters = 4,
                                    .max_domains_per_exporter = 4,
                                    .max_templates_per_domain = 16,
                                    .max_pending_bytes = PENDING_LIMIT,
                                    .max_pending_exporter_bytes = PENDING_LIMIT / 4,
                                    .max_pending_age_ns = 20 * WF_NS_PER_S};
    w.decoder = decoder_new(&limits, &hooks, 1);
    struct decoder_sink sink = {.records = on_records, .ctx = &w};
    w.worker = decoder_worker_new(w.decoder, &sink);
    w.writer = document_writer_new(w.document);
    must(w.decoder && w.worker && w.writer, "memory");

    struct cursor c = cursor_init(data, size);
    for (uint64_t slot = 0; cursor_left(&c) >= 3; slot++) {
        uint8_t who = cursor_u8(&c);
        size_t len = cursor_u16(&c);
        len = len < cursor_left(&c) ? len : cursor_left(&c);
        uint8_t address[4] = {192, 0, 2, who & 7};
        struct decoder_datagram d = {.data = cursor_take(&c, len),
                                     .len = len,
                                     .exporter = wf_addr_v4(address),
                                     .port = who,
                                     .received_ns = (int64_t)(1700000000 + slot) * WF_NS_PER_S,
                                     .slot = slot};
        (void)decoder_carries_templates(d.data, d.len);
        decoder_feed(w.worker, &d);
        check_ledger(&w);
        if ((who & 0xf0) == 0xf0) {
            decoder_expire(w.worker, d.received_ns);
            check_ledger(&w);
        }
    }
    document_writer_free(w.writer);
    decoder_worker_free(w.worker);
    decoder_free(w.decoder);
    document_free(w.document);
    locality_free(w.locality);
    buffer_deinit(&w.out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum document_format formats[] = {DOCUMENT_FLAT, DOCUMENT_ECS, DOCUMENT_TEXT,
                                                   DOCUMENT_NONE};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        run(formats[i], data, size);
    }
    return 0;
}
