// SPDX-License-Identifier: Apache-2.0
/*
 * plan - a template compiled once, immutable, shared by every exporter that sends the same one
 *
 * A plan says for each field where it lies, how its octets read and which element it is. Plans are
 * interned by content in a plan_table: 100,000 exporters with one router OS share one. Counted
 * references; a plan stays valid while somebody holds one.
 *
 * Threads: a plan never changes after plan_intern() returned it, so anybody may read it.
 * plan_table calls are safe from any thread (one mutex, taken when a template arrives, not per record).
 * RFC 7011 sections 3.4, 6; RFC 3954 sections 5.2, 6.1.
 */
#pragma once

#include "decoder/base.h"
#include "decoder/elements/elements.h"

#define PLAN_VARLEN 65535U /* RFC 7011 section 7; legal in v9 too (H3C sends it) */

/* How the octets of a field read, decided when the template arrives. */
enum plan_value {
    PLAN_BYTES,    /* octetArray, unknown element, or a length that does not fit the type: hex */
    PLAN_UNSIGNED, /* 1..8 octets, big endian (RFC 7011 6.2) */
    PLAN_SIGNED,   /* 1..8 octets, sign extended */
    PLAN_FLOAT32,
    PLAN_FLOAT64,
    PLAN_BOOLEAN, /* 1 octet: 1 true, 2 false, anything else is no boolean */
    PLAN_MAC,
    PLAN_STRING,       /* any length */
    PLAN_SECONDS,      /* 4 octets, Unix seconds */
    PLAN_MILLISECONDS, /* 8 octets, Unix milliseconds */
    PLAN_MICROSECONDS, /* 8 octets, NTP 32.32 (RFC 7011 6.1.9) */
    PLAN_NANOSECONDS,  /* 8 octets, NTP 32.32 (RFC 7011 6.1.10) */
    PLAN_IPV4,
    PLAN_IPV6,
    PLAN_LIST,  /* RFC 6313, raw octets for now */
    PLAN_EMPTY, /* length 0 on the wire */
};

struct plan_field {
    uint32_t pen;    /* number space, see ELEMENT_PEN_* */
    uint16_t id;     /* element id without the enterprise bit */
    uint16_t length; /* octets on the wire, PLAN_VARLEN = told by the record */
    uint8_t value;   /* enum plan_value; for PLAN_VARLEN fields ask plan_value_of(field, len) */
    bool scope;      /* a scope field of an options template */
    bool hidden;     /* padding of the fixed formats: take no notice */
    /* Fields of the same (pen, id, scope, hidden) form a chain in the order of the template. */
    uint16_t first; /* index of the chain's first field: own index if it has no other */
    uint16_t next;  /* index of the chain's next field, 0 = none */
    const struct element *element; /* NULL = unknown */
};

enum plan_kind {
    PLAN_DATA,
    PLAN_OPTIONS
};

struct plan {
    uint8_t version; /* 1, 5, 7, 9, 10 */
    uint8_t kind;    /* enum plan_kind */
    uint16_t n_fields;
    uint16_t n_scope;
    bool fixed;          /* no field of variable length */
    uint32_t min_length; /* smallest record in octets, > 0; the record length when fixed */
    const uint32_t
        *offset; /* n_fields offsets into the record (fixed plans; else the offsets when all
                               variable fields before are empty: useless) */
    const uint32_t *length; /* n_fields lengths (fixed plans) */
    const struct plan_field *field;
    uint64_t hash; /* of the definition */
    void
        *attached; /* what plan_hooks.attach gave: the document writer's compiled form. Not ours. */
};

/* Called when a plan is born and when its last reference goes; may be NULL. Any worker's thread, under
 * the table's mutex: must not call back into the decoder. attach may return NULL. */
struct plan_hooks {
    void *(*attach)(void *ctx, const struct plan *plan);
    void (*detach)(void *ctx, void *attached);
    void *ctx;
    /* Octets that attached takes, for the memory budget: asked once, after attach. May be NULL. */
    size_t (*bytes)(void *ctx, const struct plan *plan, const void *attached);
};

/* A field specifier as it stood in the template record. */
struct plan_spec {
    uint32_t pen;
    uint16_t id;
    uint16_t length;
    bool hidden;
};

struct plan_table;

/* NULL when memory is short. hooks are copied and may be NULL. seed: random, keys the hash table, since
 * definitions come from the wire; plan_table_new() is the same with seed 0. */
struct plan_table *plan_table_new_seeded(const struct plan_hooks *hooks, uint64_t seed);
struct plan_table *plan_table_new(const struct plan_hooks *hooks);
/* Every plan must have been unreferenced. NULL is fine. */
void plan_table_free(struct plan_table *table);

/* The plan of this definition, made or found; the caller owns one reference. specs: n_specs specifiers, the
 * first n_scope are scope fields. Returns 0; WF_E_FORMAT when the smallest record would be 0 octets or
 * beyond 65531, WF_E_INVAL when n_specs is 0 or n_scope > n_specs, WF_E_NOMEM. */
int plan_intern(struct plan_table *table, uint8_t version, enum plan_kind kind,
                const struct plan_spec *specs, size_t n_specs, size_t n_scope, struct plan **plan);
struct plan *plan_ref(struct plan *plan);
void plan_unref(struct plan_table *table, struct plan *plan);
/* Number of plans alive, and octets they use, what is attached to them included. */
size_t plan_table_count(struct plan_table *table);
size_t plan_table_bytes(struct plan_table *table);

/* How len octets of this field read. */
enum plan_value plan_value_of(const struct plan_field *field, size_t len);
