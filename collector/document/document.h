// SPDX-License-Identifier: Apache-2.0
/*
 * document - records to documents: ecs, flat, text
 *
 * struct document is the shared, immutable part (options, pre-rendered agent fields); it compiles a writer plan for each
 * template plan (through plan_hooks), so that a record costs no look-up. struct document_writer is one worker's
 * scratch. Knows no input, pipeline or output: octets go to a struct buffer.
 *
 * Threads: document_* after document_new() is read only; a writer belongs to one thread.
 * What the documents hold: docs/documents.md, printed from the mapping table (document/mapping.c).
 */
#pragma once

#include "collector/util/buffer.h"
#include "decoder/decoder.h"
#include "enrich/local/locality.h"

enum document_format {
    DOCUMENT_ECS,  /* Filebeat's netflow documents after its ingest pipeline */
    DOCUMENT_FLAT, /* one level, registry names, template order */
    DOCUMENT_TEXT, /* one readable line a flow */
    DOCUMENT_NONE, /* every field is read, nothing is written: for measurements */
};

struct document_options {
    enum document_format format;
    bool replay; /* no agent.*, host.name, event.ingested; no receive-time step of @timestamp */
    bool
        unknown_elements; /* ecs: netflow.e<PEN>_<id> for elements that the registry does not know */
    const char *host_name;           /* live only; copied */
    const char *agent_id;            /* live only; copied: UUID of this run */
    const struct locality *locality; /* borrowed, outlives the document */
};

struct document;
struct document_writer;

/* 0 or WF_E_NOMEM. */
int document_new(const struct document_options *options, struct document **document);
void document_free(struct document *document);
/* What decoder_new takes to have each plan compiled for this format. document outlives the decoder. */
struct plan_hooks document_plan_hooks(const struct document *document);

/* Name of a format to its value ("ecs", "flat", "text", "none"); WF_E_NOTFOUND. */
int document_format_of(const char *name, enum document_format *format);

struct document_writer *document_writer_new(const struct document *document);
void document_writer_free(struct document_writer *writer);

/* Appends one line ('\n' at its end) for each record. now_ns: Unix ns for event.ingested, 0 in a replay. Returns the
 * number of documents written (all of them), or WF_E_NOMEM: then none of the run was. */
int document_write(struct document_writer *writer, const struct decoder_records *records,
                   int64_t now_ns, struct buffer *out);

/* Prints docs/documents.md (Markdown) from the mapping table. */
int document_print_docs(struct buffer *out);
