// SPDX-License-Identifier: Apache-2.0
/*
 * ecs - the parts of the ecs encoder (inside the room only)
 *
 *   ecs.c          the encoder: runs, what a message has in common, one document
 *   ecs_compile.c  template plan -> struct ecs_plan
 *   ecs_values.c   netflow.*: a field's octets to JSON
 *   ecs_flow.c     source, destination, network, flow, related, client, server
 *   ecs_times.c    a record's time elements for time.c
 *   ecs_docs.c     docs/documents.md
 *
 * How a document is put together, M = rendered once a run of records, K = constant:
 *
 *   K {"@timestamp":" date ", M ecs..event.created K category start end duration source destination network flow related
 *   client server M "netflow":{ type exporter, [K key: value]... K "whoflow":{...}}
 *
 * Every member ends with a comma; who closes an object takes the last one back. A struct ecs_plan is read only after it was
 * compiled: any thread.
 */
#pragma once

#include "collector/document/compile.h"
#include "collector/document/mapping.h"
#include "collector/document/value.h"
#include "decoder/wire/cursor.h"

/* How a field reads in an ecs document; decided when compiled, but for ECS_VARIES. */
enum ecs_value {
    ECS_OMIT,
    ECS_U8,
    ECS_U16,
    ECS_U32,
    ECS_U64,      /* clamped to 2^63-1 */
    ECS_UNSIGNED, /* 3, 5, 6, 7 octets */
    ECS_SIGNED,
    ECS_FLOAT32,
    ECS_FLOAT64,
    ECS_BOOLEAN,
    ECS_MAC,
    ECS_STRING,
    ECS_SECONDS,
    ECS_MILLISECONDS,
    ECS_MICROSECONDS,
    ECS_NANOSECONDS,
    ECS_IPV4,
    ECS_IPV6,
    ECS_NUMBERS, /* octetArray: array of byte numbers */
    ECS_ACL,     /* access lists of ASA: hex with dashes */
    ECS_HEX,     /* lists */
    ECS_RAW,     /* unknown element, length that does not fit: hex under the name e<PEN>_<id> */
    ECS_VARIES,  /* told by the record's length */
};

struct ecs_field {
    uint16_t field; /* index in the plan */
    uint8_t value;  /* enum ecs_value */
    uint8_t raw_len;
    uint16_t key_len;
    uint16_t n_more; /* further fields of the same name: the member is an array */
    uint32_t more;   /* the first of them in ecs_plan.more */
    const char
        *key; /* "octet_delta_count": with quotes and colon; ECS_KEY_PAD octets readable beyond */
    const char *raw_key; /* e0_43: NULL unless unknown elements are wanted */
};

#define ECS_KEY_PAD 32

/* Writes constant text and moves p behind it. */
#define ECS_TEXT(p, text) ((p) = write_text((p), (text), sizeof(text) - 1))

struct ecs_role {
    uint16_t field;
    uint8_t value; /* enum ecs_value, ECS_OMIT = nobody plays it */
};

struct ecs_plan {
    const struct plan *plan; /* outlives this */
    bool options;
    bool raw;                 /* unknown elements are wanted */
    size_t n_fields, n_scope; /* scope fields come first */
    struct ecs_field *field;  /* owned */
    struct ecs_field *more;   /* owned */
    char *keys;               /* owned: the texts of all keys */
    size_t n_times;
    uint8_t time[TIME_N_INPUTS]; /* enum time_input of those that the template has */
    struct ecs_role role[ROLE_N];
    size_t reserve; /* worst case of a record without what varies */
    bool varies;    /* some field is as long as the record says */
    char *agent;    /* owned: agent and host members, live only */
    size_t agent_len;
};

/* One record while it is written. */
struct ecs_record {
    const struct ecs_plan *plan;
    const uint8_t *data;
    const uint32_t *offset, *length;
    struct day_cache *days;
    bool clamped; /* set by whoever had to */
};

/* ---- ecs_compile.c ---- */
void *ecs_compile(const struct document *document, const struct plan *plan);
void ecs_discard(void *compiled);
size_t ecs_bytes(const struct plan *plan, const void *compiled);
/* How len octets of a field read. */
enum ecs_value ecs_value_of(const struct plan_field *field, size_t len);

/* ---- reading a record ---- */
/* How a field reads that may be as long as the record says. */
static inline enum ecs_value ecs_settle(const struct ecs_record *record, enum ecs_value value,
                                        size_t index)
{
    if (__builtin_expect(value < ECS_RAW, 1)) {
        return value;
    }
    uint32_t len = record->length[index];
    if (value == ECS_RAW) {
        return len ? ECS_RAW : ECS_OMIT;
    }
    return ecs_value_of(&record->plan->plan->field[index], len);
}

/* Octets of a role whose value is exactly of this kind, *len of them; NULL when the record has none. */
static inline const uint8_t *ecs_role_octets(const struct ecs_record *record,
                                             enum mapping_role role, enum ecs_value value,
                                             size_t *len)
{
    const struct ecs_role *r = &record->plan->role[role];
    if (r->value == ECS_OMIT || ecs_settle(record, (enum ecs_value)r->value, r->field) != value) {
        return NULL;
    }
    if (len) {
        *len = record->length[r->field];
    }
    return record->data + record->offset[r->field];
}

/* Value of an integer role; false when the record has none. */
static inline bool ecs_role_unsigned(const struct ecs_record *record, enum mapping_role role,
                                     uint64_t *value)
{
    const struct ecs_role *r = &record->plan->role[role];
    if (r->value == ECS_OMIT) {
        return false;
    }
    const uint8_t *octets = record->data + record->offset[r->field];
    switch ((int)ecs_settle(record, (enum ecs_value)r->value, r->field)) {
    case ECS_U8:
        *value = octets[0];
        return true;
    case ECS_U16:
        *value = value_u16(octets);
        return true;
    case ECS_U32:
        *value = value_u32(octets);
        return true;
    case ECS_U64:
        *value = value_u64(octets);
        return true;
    case ECS_UNSIGNED:
        *value = wire_unsigned(octets, record->length[r->field]);
        return true;
    default:
        return false;
    }
}

/* ---- ecs_values.c ---- */
/* The field's value, or p itself when it is left out. */
char *ecs_write_value(char *p, struct ecs_record *record, enum ecs_value value,
                      const uint8_t *octets, size_t len);
/* All members of netflow.* that are elements. */
char *ecs_write_fields(char *p, struct ecs_record *record);
/* Octets that one field of len octets takes at worst, key not included. */
size_t ecs_value_max(size_t len);
/* value, or the largest that an Elasticsearch long takes. */
uint64_t ecs_clamp(struct ecs_record *record, uint64_t value);
/* Unix ns of a date's octets; clamped to what int64 ns can say. false: not set (0). */
bool ecs_date(struct ecs_record *record, enum ecs_value value, const uint8_t *octets, int64_t *ns);

/* ---- ecs_flow.c ---- */
/* source ... server; biflow: has element 239. */
char *ecs_write_flow(char *p, struct ecs_record *record, const struct locality *locality);
bool ecs_is_session(const struct ecs_record *record);

/* ---- ecs_times.c ---- */
void ecs_times(struct ecs_record *record, const struct decoder_message *message, bool live,
               struct time_result *times);
