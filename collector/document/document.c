// SPDX-License-Identifier: Apache-2.0
#include "collector/document/document.h"

#include <stdlib.h>
#include <string.h>

#include "collector/document/compile.h"

static const struct {
    const char *name;
    const struct document_encoder *encoder;
} formats[] = {
    [DOCUMENT_ECS] = {"ecs", &document_ecs},
    [DOCUMENT_FLAT] = {"flat", &document_flat},
    [DOCUMENT_TEXT] = {"text", &document_text},
    [DOCUMENT_NONE] = {"none", &document_none},
};

int document_format_of(const char *name, enum document_format *format)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(name, formats[i].name) == 0) {
            *format = (enum document_format)i;
            return WF_OK;
        }
    }
    return WF_E_NOTFOUND;
}

int document_new(const struct document_options *options, struct document **document)
{
    struct document *d = calloc(1, sizeof(*d));
    if (!d) {
        return WF_E_NOMEM;
    }
    d->options = *options;
    d->encoder = formats[options->format].encoder;
    d->self = d;
    d->host_name = options->host_name ? strdup(options->host_name) : NULL;
    d->agent_id = options->agent_id ? strdup(options->agent_id) : NULL;
    d->options.host_name = d->host_name;
    d->options.agent_id = d->agent_id;
    if ((options->host_name && !d->host_name) || (options->agent_id && !d->agent_id)) {
        document_free(d);
        return WF_E_NOMEM;
    }
    *document = d;
    return WF_OK;
}

void document_free(struct document *document)
{
    if (!document) {
        return;
    }
    free(document->host_name);
    free(document->agent_id);
    free(document);
}

static void *attach(void *ctx, const struct plan *plan)
{
    const struct document *document = ctx;
    return document->encoder->compile(document, plan);
}

static void detach(void *ctx, void *attached)
{
    const struct document *document = ctx;
    if (attached) {
        document->encoder->discard(attached);
    }
}

static size_t attached_bytes(void *ctx, const struct plan *plan, const void *attached)
{
    const struct document *document = ctx;
    return document->encoder->bytes(plan, attached);
}

struct plan_hooks document_plan_hooks(const struct document *document)
{
    return (struct plan_hooks){
        .attach = attach, .detach = detach, .ctx = document->self, .bytes = attached_bytes};
}

struct document_writer *document_writer_new(const struct document *document)
{
    struct document_writer *writer = calloc(1, sizeof(*writer));
    if (!writer) {
        return NULL;
    }
    writer->document = document;
    day_cache_init(&writer->days);
    return writer;
}

void document_writer_free(struct document_writer *writer)
{
    if (!writer) {
        return;
    }
    buffer_deinit(&writer->scratch);
    free(writer);
}

int document_write(struct document_writer *writer, const struct decoder_records *records,
                   int64_t now_ns, struct buffer *out)
{
    void *compiled = records->plan->attached;
    if (!compiled) { /* memory was short when the template came */
        return WF_E_NOMEM;
    }
    return writer->document->encoder->write(writer, compiled, records, now_ns, out);
}
