// SPDX-License-Identifier: Apache-2.0
/*
 * compile - what each format's encoder gives to document.c (inside the room only)
 *
 * compile() turns a template plan into the encoder's own form, write() renders a run of records with it. The
 * encoders share nothing but the writers of write.h.
 */
#pragma once

#include "collector/document/document.h"
#include "collector/document/write.h"

struct document_encoder {
    /* The compiled form, or NULL when memory is short. */
    void *(*compile)(const struct document *document, const struct plan *plan);
    void (*discard)(void *compiled);
    /* Octets that the compiled form takes. */
    size_t (*bytes)(const struct plan *plan, const void *compiled);
    int (*write)(struct document_writer *writer, void *compiled,
                 const struct decoder_records *records, int64_t now_ns, struct buffer *out);
};

extern const struct document_encoder document_ecs, document_flat, document_text, document_none;

struct document {
    struct document_options options; /* its strings are the two below */
    char *host_name;                 /* owned; NULL when not given */
    char *agent_id;                  /* the same */
    struct document *self;           /* for plan_hooks.ctx, which knows no const */
    const struct document_encoder *encoder;
};

struct document_writer {
    const struct document *document;
    struct day_cache days; /* see write.h */
    uint64_t
        sink; /* none: what the fields added up to, so that reading them is not optimised away */
    struct buffer scratch;
};
