// SPDX-License-Identifier: Apache-2.0
#include "collector/document/value.h"

#include <stdio.h>

#include "decoder/wire/cursor.h"

enum value_op value_op_of(enum plan_value value, size_t len)
{
    static const uint8_t ops[] = {
        [PLAN_BYTES] = VALUE_BYTES,
        [PLAN_UNSIGNED] = VALUE_UNSIGNED,
        [PLAN_SIGNED] = VALUE_SIGNED,
        [PLAN_FLOAT32] = VALUE_FLOAT32,
        [PLAN_FLOAT64] = VALUE_FLOAT64,
        [PLAN_BOOLEAN] = VALUE_BOOLEAN,
        [PLAN_MAC] = VALUE_MAC,
        [PLAN_STRING] = VALUE_STRING,
        [PLAN_SECONDS] = VALUE_SECONDS,
        [PLAN_MILLISECONDS] = VALUE_MILLISECONDS,
        [PLAN_MICROSECONDS] = VALUE_MICROSECONDS,
        [PLAN_NANOSECONDS] = VALUE_NANOSECONDS,
        [PLAN_IPV4] = VALUE_IPV4,
        [PLAN_IPV6] = VALUE_IPV6,
        [PLAN_LIST] = VALUE_BYTES,
        [PLAN_EMPTY] = VALUE_BYTES,
    };
    if (value == PLAN_UNSIGNED) {
        return len == 4   ? VALUE_U32
               : len == 2 ? VALUE_U16
               : len == 1 ? VALUE_U8
               : len == 8 ? VALUE_U64
                          : VALUE_UNSIGNED;
    }
    return (enum value_op)ops[value];
}

enum value_op value_op_of_field(const struct plan_field *field)
{
    if (field->length != PLAN_VARLEN) {
        return value_op_of((enum plan_value)field->value, field->length);
    }
    if (!field->element) {
        return VALUE_BYTES;
    }
    switch ((int)field->element->type) {
    case ELEMENT_STRING:
        return VALUE_STRING;
    case ELEMENT_OCTETS:
    case ELEMENT_BASIC_LIST:
    case ELEMENT_SUB_TEMPLATE_LIST:
    case ELEMENT_SUB_TEMPLATE_MULTI_LIST:
        return VALUE_BYTES;
    default:
        return VALUE_DYNAMIC;
    }
}

bool value_is_quoted(enum value_op op)
{
    return op == VALUE_BYTES || (op >= VALUE_MAC && op <= VALUE_IPV6);
}

size_t value_max_text(enum value_op op, size_t len)
{
    static const uint8_t fixed[] = {
        [VALUE_U8] = 3,
        [VALUE_U16] = 5,
        [VALUE_U32] = 10,
        [VALUE_U64] = WRITE_MAX_U64,
        [VALUE_UNSIGNED] = WRITE_MAX_U64,
        [VALUE_SIGNED] = WRITE_MAX_I64,
        [VALUE_FLOAT32] = WRITE_MAX_DOUBLE,
        [VALUE_FLOAT64] = WRITE_MAX_DOUBLE,
        [VALUE_BOOLEAN] = 5,
        [VALUE_MAC] = WRITE_MAX_MAC,
        [VALUE_SECONDS] = WRITE_MAX_DATE,
        [VALUE_MILLISECONDS] = WRITE_MAX_DATE,
        [VALUE_MICROSECONDS] = WRITE_MAX_DATE,
        [VALUE_NANOSECONDS] = WRITE_MAX_DATE,
        [VALUE_IPV4] = WRITE_MAX_IPV4,
        [VALUE_IPV6] = WRITE_MAX_IPV6,
        [VALUE_DYNAMIC] = WRITE_MAX_IPV6,
    };
    if (op == VALUE_STRING) {
        return WRITE_MAX_STRING(len);
    }
    return op == VALUE_BYTES ? 2 * len : fixed[op];
}

size_t value_name(uint8_t version, const struct plan_field *field, bool registered, char *name)
{
    const char *scope = field->scope ? "scope." : "";
    int n = 0;
    if (registered && field->element) {
        n = snprintf(name, VALUE_MAX_NAME, "%s%s", scope, field->element->name);
    } else {
        n = snprintf(name, VALUE_MAX_NAME, "%se%u_%u", scope, version == 9 ? 0 : field->pen,
                     field->id);
    }
    return n < VALUE_MAX_NAME ? (size_t)n : VALUE_MAX_NAME - 1; /* tests know: none is longer */
}

static char *write_signed(char *p, const uint8_t *octets, size_t len)
{
    unsigned shift = (unsigned)(64 - 8 * len) & 63U;
    uint64_t v = wire_unsigned(octets, len) << shift;
    return write_i64(p, (int64_t)v >> shift);
}

static char *write_boolean(char *p, uint8_t octet)
{
    if (octet == 1) {
        return write_text(p, "true", 4);
    }
    return octet == 2 ? write_text(p, "false", 5) : write_u64(p, octet);
}

static char *write_milliseconds(char *p, const uint8_t *octets, struct day_cache *days)
{
    uint64_t ms = value_u64(octets);
    if (ms > (uint64_t)VALUE_MAX_MS) {
        return write_hex(p, octets, 8);
    }
    return write_date(p, days, (int64_t)ms * WF_NS_PER_MS, DATE_MILLIS);
}

/* To the nearest microsecond, from the wire's fraction in one step. */
static char *write_microseconds(char *p, const uint8_t *octets, struct day_cache *days)
{
    uint64_t ntp = value_u64(octets);
    uint64_t us = ((ntp & 0xffffffffU) * 1000000 + 0x80000000U) >> 32;
    int64_t seconds_ns = ntp_to_unix_ns(ntp & ~(uint64_t)0xffffffffU);
    return write_date(p, days, seconds_ns + (int64_t)us * 1000, DATE_MICROS);
}

static char *write_real(char *p, enum value_op op, const uint8_t *octets)
{
    if (op == VALUE_FLOAT32) {
        uint32_t bits = value_u32(octets);
        float f;
        memcpy(&f, &bits, sizeof(f));
        return write_float(p, f);
    }
    uint64_t bits = value_u64(octets);
    double d;
    memcpy(&d, &bits, sizeof(d));
    return write_double(p, d);
}

static char *write_time(char *p, enum value_op op, const uint8_t *octets, struct day_cache *days)
{
    if (op == VALUE_SECONDS) {
        return write_date(p, days, (int64_t)value_u32(octets) * WF_NS_PER_S, DATE_SECONDS);
    }
    if (op == VALUE_MILLISECONDS) {
        return write_milliseconds(p, octets, days);
    }
    if (op == VALUE_MICROSECONDS) {
        return write_microseconds(p, octets, days);
    }
    return write_date(p, days, ntp_to_unix_ns(value_u64(octets)), DATE_NANOS);
}

char *value_write(char *p, enum value_op op, const uint8_t *octets, size_t len,
                  struct day_cache *days)
{
    switch (op) {
    case VALUE_U8:
        return write_u64(p, octets[0]);
    case VALUE_U16:
        return write_u64(p, value_u16(octets));
    case VALUE_U32:
        return write_u64(p, value_u32(octets));
    case VALUE_U64:
        return write_u64(p, value_u64(octets));
    case VALUE_IPV4:
        return write_ipv4(p, octets);
    case VALUE_IPV6:
        return write_ipv6(p, octets);
    case VALUE_UNSIGNED:
        return write_u64(p, wire_unsigned(octets, len));
    case VALUE_SIGNED:
        return write_signed(p, octets, len);
    case VALUE_BOOLEAN:
        return write_boolean(p, octets[0]);
    case VALUE_MAC:
        return write_mac(p, octets);
    case VALUE_STRING:
        return write_string(p, octets, len);
    case VALUE_FLOAT32:
    case VALUE_FLOAT64:
        return write_real(p, op, octets);
    case VALUE_SECONDS:
    case VALUE_MILLISECONDS:
    case VALUE_MICROSECONDS:
    case VALUE_NANOSECONDS:
        return write_time(p, op, octets, days);
    case VALUE_BYTES:
    case VALUE_DYNAMIC:
    default:
        return write_hex(p, octets, len);
    }
}
