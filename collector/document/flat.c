// SPDX-License-Identifier: Apache-2.0
/*
 * --format flat: one level, every field in template order, nothing looked up.
 *
 * When a template arrives each field becomes a step: the text before its value (comma, key, an opening quote or bracket), how
 * the value is written, and the text behind it. Steps stand in the order of output: the values of a repeated element
 * follow its first one. A record is the message's prefix, rendered once a run, and one loop over the steps:
 *
 *     {"type":"flow",...,"received":"..."  |  ,"sourceIPv4Address":"  192.0.2.1  "  |  ,"octetDeltaCount":  1234  | ... }
 */
#include <stdlib.h>

#include "collector/document/compile.h"
#include "collector/document/value.h"

/* ,"scope.NAME":[" with the longest name of the registry (44 octets). */
#define BEFORE_MAX 56
#define PREFIX_MAX 512

struct step {                /* 64 octets: a cache line */
    uint8_t op;              /* enum value_op */
    uint8_t n_before;        /* octets before the value */
    uint8_t n_after;         /* octets behind it, at most 2 */
    char after[2];           /* closing quote and bracket */
    uint16_t field;          /* index in the plan */
    char before[BEFORE_MAX]; /* comma, key, opening bracket and quote; copied by whole vectors */
};

struct flat {
    const struct plan *plan; /* borrowed: we hang on it */
    size_t max_fixed; /* octets of one document at worst, without values of variable length */
    size_t n_steps;
    struct step step[];
};

static uint32_t hash_name(const struct plan_field *field)
{
    uint32_t hash = field->scope ? 1 : 2; /* FNV-1a, good enough to tell names apart */
    for (const char *c = field->element ? field->element->name : ""; *c; c++) {
        hash = (hash ^ (uint8_t)*c) * 16777619U;
    }
    return hash;
}

/* Some vendors name an element as IANA or another vendor does. Within one template only the first keeps the name: a JSON
 * object with the same member twice loses one of them in most readers. */
static bool name_is_taken(const struct plan *plan, const uint32_t *hashes, size_t index)
{
    const struct plan_field *field = &plan->field[index];
    for (size_t i = 0; i < index && field->element; i++) {
        const struct plan_field *other = &plan->field[i];
        if (hashes[i] == hashes[index] && other->element && other->scope == field->scope &&
            strcmp(other->element->name, field->element->name) == 0) {
            return true;
        }
    }
    return false;
}

/* The key of a member with its comma and, where its values are several, the bracket. */
static char *put_key(char *p, const struct plan *plan, size_t index, bool taken)
{
    const struct plan_field *field = &plan->field[index];
    char name[VALUE_MAX_NAME];
    size_t n = value_name(plan->version, field, !taken, name);
    if (n > BEFORE_MAX - sizeof(",\"\":[\"") + 1) {
        n = value_name(plan->version, field, false, name);
    }
    p = write_text(p, ",\"", 2);
    p = write_text(p, name, n);
    p = write_text(p, "\":[", 3);
    return field->next ? p : p - 1;
}

static void add_step(struct flat *flat, const struct plan *plan, size_t index, bool taken)
{
    const struct plan_field *field = &plan->field[index];
    struct step *step = &flat->step[flat->n_steps++];
    enum value_op op = value_op_of_field(field);
    bool quoted = op != VALUE_DYNAMIC && value_is_quoted(op);
    bool last_of_several = field->first != index && !field->next;
    char before[VALUE_MAX_NAME + 8] = ",";
    char *p = field->first == index ? put_key(before, plan, index, taken) : before + 1;
    if (quoted) {
        *p++ = '"';
        step->after[step->n_after++] = '"';
    }
    if (last_of_several) {
        step->after[step->n_after++] = ']';
    }
    step->op = (uint8_t)op;
    step->field = (uint16_t)index;
    step->n_before = (uint8_t)(p - before);
    memcpy(step->before, before, BEFORE_MAX);
    size_t len = field->length == PLAN_VARLEN ? 0 : field->length;
    /* two octets behind the value, or quotes that a dynamic one turns out to need */
    flat->max_fixed += step->n_before + (size_t)4 + value_max_text(op, len);
}

static void *flat_compile(const struct document *document, const struct plan *plan)
{
    (void)document;
    struct flat *flat = calloc(1, sizeof(*flat) + plan->n_fields * sizeof(flat->step[0]));
    uint32_t *hashes = malloc(plan->n_fields * sizeof(*hashes));
    if (!flat || !hashes) {
        free(flat);
        free(hashes);
        return NULL;
    }
    flat->plan = plan;
    flat->max_fixed = PREFIX_MAX + WRITE_SLACK;
    for (size_t i = 0; i < plan->n_fields; i++) {
        hashes[i] = hash_name(&plan->field[i]);
        if (plan->field[i].hidden || plan->field[i].first != i) {
            continue;
        }
        bool taken = name_is_taken(plan, hashes, i);
        size_t at = i;
        do {
            add_step(flat, plan, at, taken);
            at = plan->field[at].next;
        } while (at);
    }
    free(hashes);
    return flat;
}

static size_t flat_bytes(const struct plan *plan, const void *compiled)
{
    (void)compiled;
    return sizeof(struct flat) + plan->n_fields * sizeof(struct step);
}

static char *member_u64(char *p, const char *name, uint64_t value)
{
    p = write_text(p, name, strlen(name));
    return write_u64(p, value);
}

#define TEXT(p, literal) write_text(p, literal, sizeof(literal) - 1)

static char *write_prefix(char *p, struct document_writer *writer,
                          const struct decoder_records *records)
{
    const struct decoder_message *m = records->message;
    p = records->plan->kind == PLAN_OPTIONS ? TEXT(p, "{\"type\":\"options\",\"exporter\":\"")
                                            : TEXT(p, "{\"type\":\"flow\",\"exporter\":\"");
    p = write_addr(p, &m->exporter);
    p = member_u64(p, "\",\"port\":", m->port);
    p = member_u64(p, ",\"version\":", m->version);
    p = member_u64(p, ",\"domain\":", m->domain);
    p = member_u64(p, ",\"template\":", records->template_id);
    p = member_u64(p, ",\"sequence\":", m->sequence);
    p = TEXT(p, ",\"exported\":\"");
    p = write_date(p, &writer->days, m->export_ns, m->version >= 9 ? DATE_SECONDS : DATE_NANOS);
    p = TEXT(p, "\",\"received\":\"");
    p = write_date(p, &writer->days, m->received_ns, DATE_NANOS);
    *p++ = '"';
    return p;
}

/* A value whose length the record tells: quoted or not, by what it turns out to be. */
static char *write_dynamic(char *p, const struct plan_field *field, const uint8_t *octets,
                           size_t len, struct day_cache *days)
{
    enum value_op op = value_op_of(plan_value_of(field, len), len);
    bool quoted = value_is_quoted(op);
    if (quoted) {
        *p++ = '"';
    }
    p = value_write(p, op, octets, len, days);
    if (quoted) {
        *p++ = '"';
    }
    return p;
}

static inline char *write_before(char *p, const struct step *step)
{
    memcpy(p, step->before, 32);
    if (step->n_before > 32) {
        memcpy(p + 32, step->before + 32, BEFORE_MAX - 32);
    }
    return p + step->n_before;
}

static char *write_record(char *p, struct document_writer *writer, const struct flat *flat,
                          const struct decoder_records *records, const uint8_t *record)
{
    struct day_cache *days = &writer->days;
    for (size_t i = 0; i < flat->n_steps; i++) {
        const struct step *step = &flat->step[i];
        const uint8_t *octets = record + records->offset[step->field];
        p = write_before(p, step);
        switch ((enum value_op)step->op) { /* the usual ones without a call */
        case VALUE_U8:
            p = write_u8(p, octets[0]);
            break;
        case VALUE_U16:
            p = write_u16(p, (uint16_t)value_u16(octets));
            break;
        case VALUE_U32:
            p = write_u32(p, value_u32(octets));
            break;
        case VALUE_IPV4:
            p = write_ipv4(p, octets);
            break;
        case VALUE_U64:
            p = write_u64(p, value_u64(octets));
            break;
        case VALUE_DYNAMIC:
            p = write_dynamic(p, &flat->plan->field[step->field], octets,
                              records->length[step->field], days);
            break;
        case VALUE_BYTES:
        case VALUE_UNSIGNED:
        case VALUE_SIGNED:
        case VALUE_FLOAT32:
        case VALUE_FLOAT64:
        case VALUE_BOOLEAN:
        case VALUE_MAC:
        case VALUE_STRING:
        case VALUE_SECONDS:
        case VALUE_MILLISECONDS:
        case VALUE_MICROSECONDS:
        case VALUE_NANOSECONDS:
        case VALUE_IPV6:
        default:
            p = value_write(p, (enum value_op)step->op, octets, records->length[step->field], days);
            break;
        }
        memcpy(p, step->after, 2);
        p += step->n_after;
    }
    return write_text(p, "}\n", 2);
}

static int flat_write(struct document_writer *writer, void *compiled,
                      const struct decoder_records *records, int64_t now_ns, struct buffer *out)
{
    (void)now_ns;
    const struct flat *flat = compiled;
    char prefix[PREFIX_MAX];
    size_t n_prefix = (size_t)(write_prefix(prefix, writer, records) - prefix);
    size_t worst = flat->max_fixed + (flat->plan->fixed ? 0 : WRITE_MAX_STRING(records->stride));
    size_t was = out->len;
    for (size_t r = 0; r < records->n_records; r++) {
        char *p = buffer_reserve(out, worst);
        if (!p) {
            out->len = was;
            return WF_E_NOMEM;
        }
        p = write_text(p, prefix, n_prefix);
        p = write_record(p, writer, flat, records, records->data + r * records->stride);
        buffer_commit(out, p);
    }
    return (int)records->n_records;
}

const struct document_encoder document_flat = {
    .compile = flat_compile,
    .discard = free,
    .bytes = flat_bytes,
    .write = flat_write,
};
