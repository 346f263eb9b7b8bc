// SPDX-License-Identifier: Apache-2.0
/*
 * The encoder for Filebeat's documents. What is the same for all records of a run is rendered once: the writer's scratch
 * holds two texts, [ecs .. event.created][netflow.type, netflow.exporter]. A record is then a few large copies
 * and its own values.
 */
#include "collector/document/ecs.h"

#define MESSAGE_MAX 1024 /* both texts at worst, agent apart */

struct run {
    const struct document_writer *writer;
    const struct decoder_message *message;
    const char *head; /* both in the writer's scratch */
    size_t head_len;
    const char *exporter;
    size_t exporter_len;
    bool live;
};

/* event.start and its like: as many digits as say something. */
static char *write_moment(char *p, struct day_cache *days, int64_t ns)
{
    enum date_digits digits = ns % WF_NS_PER_MS == 0 ? DATE_MILLIS
                              : ns % 1000 == 0       ? DATE_MICROS
                                                     : DATE_NANOS;
    return write_date(p, days, ns, digits);
}

static char *write_head(char *p, const struct ecs_plan *e, struct document_writer *writer,
                        const struct decoder_message *message, int64_t now_ns)
{
    ECS_TEXT(p, "\",\"ecs\":{\"version\":\"8.11.0\"},\"input\":{\"type\":\"netflow\"},"
                "\"data_stream\":{\"type\":\"logs\",\"dataset\":\"netflow.log\","
                "\"namespace\":\"default\"},\"tags\":[\"netflow\",\"forwarded\"],");
    p = write_text(p, e->agent ? e->agent : "", e->agent_len);
    ECS_TEXT(p, "\"observer\":{\"ip\":[\"");
    p = write_addr(p, &message->exporter);
    ECS_TEXT(p, "\"]},\"event\":{\"kind\":\"event\",");
    if (e->options) {
        ECS_TEXT(p, "\"action\":\"netflow_options\",\"created\":\"");
    } else {
        ECS_TEXT(p, "\"action\":\"netflow_flow\",\"type\":[\"connection\"],\"created\":\"");
    }
    p = write_date(p, &writer->days, message->received_ns, DATE_MILLIS);
    if (!writer->document->options.replay) {
        ECS_TEXT(p, "\",\"ingested\":\"");
        p = write_date(p, &writer->days, now_ns, DATE_MILLIS);
    }
    return ECS_TEXT(p, "\",\"category\":[\"network\"");
}

static char *write_exporter(char *p, const struct ecs_plan *e, struct document_writer *writer,
                            const struct decoder_message *message)
{
    if (e->options) {
        ECS_TEXT(p, "\"netflow\":{\"type\":\"netflow_options\",\"exporter\":{\"address\":\"");
    } else {
        ECS_TEXT(p, "\"netflow\":{\"type\":\"netflow_flow\",\"exporter\":{\"address\":\"");
    }
    if (message->exporter.family == 6) {
        *p++ = '[';
    }
    p = write_addr(p, &message->exporter);
    if (message->exporter.family == 6) {
        *p++ = ']';
    }
    *p++ = ':';
    p = write_u64(p, message->port);
    ECS_TEXT(p, "\",\"source_id\":");
    p = write_u64(p, message->domain);
    ECS_TEXT(p, ",\"timestamp\":\"");
    p = write_date(p, &writer->days, message->export_ns, DATE_MILLIS);
    ECS_TEXT(p, "\",\"uptime_millis\":");
    p = write_u64(p, message->has_uptime ? message->uptime_ms : 0);
    ECS_TEXT(p, ",\"version\":");
    p = write_u64(p, message->version);
    return ECS_TEXT(p, "},");
}

static int begin_run(struct run *run, const struct ecs_plan *e, struct document_writer *writer,
                     const struct decoder_message *message, int64_t now_ns)
{
    writer->scratch.len = 0;
    char *head = buffer_reserve(&writer->scratch, MESSAGE_MAX + e->agent_len);
    if (!head) {
        return WF_E_NOMEM;
    }
    char *exporter = write_head(head, e, writer, message, now_ns);
    char *end = write_exporter(exporter, e, writer, message);
    *run = (struct run){
        .writer = writer,
        .message = message,
        .head = head,
        .head_len = (size_t)(exporter - head),
        .exporter = exporter,
        .exporter_len = (size_t)(end - exporter),
        .live = !writer->document->options.replay,
    };
    return WF_OK;
}

static char *write_times(char *p, struct ecs_record *record, const struct time_result *times)
{
    if (times->has_start) {
        ECS_TEXT(p, ",\"start\":\"");
        p = write_moment(p, record->days, times->start_ns);
        *p++ = '"';
    }
    if (times->has_end) {
        ECS_TEXT(p, ",\"end\":\"");
        p = write_moment(p, record->days, times->end_ns);
        *p++ = '"';
    }
    if (times->has_duration) {
        ECS_TEXT(p, ",\"duration\":");
        p = write_i64(p, times->duration_ns);
    }
    return p;
}

static char *write_own(char *p, const struct ecs_record *record, enum time_input source)
{
    const char *name = time_source_name(source);
    ECS_TEXT(p, "\"whoflow\":{\"time\":{\"source\":\"");
    p = write_text(p, name, strlen(name));
    if (record->clamped) {
        return ECS_TEXT(p, "\"},\"clamped\":true}}\n");
    }
    return ECS_TEXT(p, "\"}}}\n");
}

static char *write_document(char *p, struct ecs_record *record, const struct run *run)
{
    struct time_result times;
    ecs_times(record, run->message, run->live, &times);
    ECS_TEXT(p, "{\"@timestamp\":\"");
    p = write_date(p, record->days, times.timestamp_ns, DATE_MILLIS);
    p = write_text(p, run->head, run->head_len);
    if (record->plan->options) {
        ECS_TEXT(p, "]},");
    } else {
        if (ecs_is_session(record)) {
            ECS_TEXT(p, ",\"session\"");
        }
        *p++ = ']';
        p = write_times(p, record, &times);
        ECS_TEXT(p, "},");
        p = ecs_write_flow(p, record, run->writer->document->options.locality);
    }
    p = write_text(p, run->exporter, run->exporter_len);
    p = ecs_write_fields(p, record);
    p[-1] = '}';
    *p++ = ',';
    return write_own(p, record, times.source);
}

/* Worst case of one record, in octets. */
static size_t record_max(const struct ecs_plan *e, const struct run *run,
                         const struct decoder_records *records)
{
    size_t max = e->reserve + run->head_len + run->exporter_len;
    for (size_t i = 0; e->varies && i < e->plan->n_fields; i++) {
        if (e->plan->field[i].length == PLAN_VARLEN) {
            max += 2 * WRITE_MAX_STRING(records->length[i]); /* twice: network.name is a copy */
        }
    }
    return max;
}

static int ecs_write(struct document_writer *writer, void *compiled,
                     const struct decoder_records *records, int64_t now_ns, struct buffer *out)
{
    const struct ecs_plan *e = compiled;
    struct run run;
    int rc = begin_run(&run, e, writer, records->message, now_ns);
    if (rc < 0) {
        return rc;
    }
    size_t max = record_max(e, &run, records);
    size_t before = out->len;
    for (size_t i = 0; i < records->n_records; i++) {
        char *p = buffer_reserve(out, max);
        if (!p) {
            out->len = before;
            return WF_E_NOMEM;
        }
        struct ecs_record record = {
            .plan = e,
            .data = records->data + i * records->stride,
            .offset = records->offset,
            .length = records->length,
            .days = &writer->days,
        };
        buffer_commit(out, write_document(p, &record, &run));
    }
    return (int)records->n_records;
}

const struct document_encoder document_ecs = {
    .compile = ecs_compile,
    .discard = ecs_discard,
    .bytes = ecs_bytes,
    .write = ecs_write,
};
