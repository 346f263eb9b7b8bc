// SPDX-License-Identifier: Apache-2.0
/*
 * value - how the octets of a field are read and written, decided when the template arrives (inside the room only)
 *
 * An operation is a plan_value together with the length, so that the record path neither loops over octets of
 * the usual sizes nor decides anything again.
 */
#pragma once

#include "collector/document/write.h"
#include "decoder/template/plan.h"

enum value_op {
    VALUE_BYTES, /* hex */
    VALUE_U8,
    VALUE_U16,
    VALUE_U32,
    VALUE_U64,
    VALUE_UNSIGNED, /* 3, 5, 6, 7 octets */
    VALUE_SIGNED,
    VALUE_FLOAT32,
    VALUE_FLOAT64,
    VALUE_BOOLEAN,
    VALUE_MAC,
    VALUE_STRING,
    VALUE_SECONDS,
    VALUE_MILLISECONDS,
    VALUE_MICROSECONDS,
    VALUE_NANOSECONDS,
    VALUE_IPV4,
    VALUE_IPV6,
    VALUE_DYNAMIC, /* variable length of a type whose reading depends on it: ask again for each record */
};

/* Unix ms beyond which ns do not fit in 63 bits: such a value is shown as hex. */
#define VALUE_MAX_MS (INT64_MAX / 1000000)

enum value_op value_op_of(enum plan_value value, size_t len);
/* The operation of a template field: VALUE_DYNAMIC where only the record can tell. */
enum value_op value_op_of_field(const struct plan_field *field);
/* Is the value written between quotes? Not for VALUE_DYNAMIC. */
bool value_is_quoted(enum value_op op);
/* Octets of text at worst for len octets of value, quotes not included. */
size_t value_max_text(enum value_op op, size_t len);

/* The member's name in flat and text: as registered, "scope." before it for scope fields; e<PEN>_<id> when registered is
 * false or the registry does not know it (v9's spaces have no enterprise: e0_<id>). Returns its length; size: VALUE_MAX_NAME. */
#define VALUE_MAX_NAME 64
size_t value_name(uint8_t version, const struct plan_field *field, bool registered, char *name);

/* Writes the value as `--format flat` has it (without quotes); VALUE_DYNAMIC must have been resolved. */
char *value_write(char *p, enum value_op op, const uint8_t *octets, size_t len,
                  struct day_cache *days);

static inline uint32_t value_u16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

/* Compilers make one load of these. */
static inline uint32_t value_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t value_u64(const uint8_t *p)
{
    return (uint64_t)value_u32(p) << 32 | value_u32(p + 4);
}
