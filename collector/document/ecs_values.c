// SPDX-License-Identifier: Apache-2.0
/* netflow.*: octets of one field to one JSON value. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "collector/document/ecs.h"

static int64_t load_signed(const uint8_t *p, size_t len)
{
    assert(len >= 1 && len <= 8); /* plan_value_of has seen to it */
    uint64_t value = wire_unsigned(p, len);
    uint64_t sign = 1ULL << (8 * len - 1);
    return (int64_t)((value ^ sign) - sign);
}

static double load_float(const uint8_t *p, size_t len)
{
    if (len == 4) {
        uint32_t bits = value_u32(p);
        float value;
        memcpy(&value, &bits, sizeof value);
        return (double)value;
    }
    uint64_t bits = value_u64(p);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint64_t ecs_clamp(struct ecs_record *record, uint64_t value)
{
    if (value <= INT64_MAX) {
        return value;
    }
    record->clamped = true;
    return INT64_MAX;
}

size_t ecs_value_max(size_t len)
{
    return WRITE_MAX_STRING(len) + WRITE_MAX_IPV6 + 4;
}

/* Rounded to whole units, downwards for halves below zero. */
static int64_t round_to(int64_t ns, int64_t unit)
{
    int64_t rest = ns % unit;
    if (rest < 0) {
        rest += unit;
    }
    return 2 * rest < unit || ns > INT64_MAX - unit ? ns - rest : ns - rest + unit;
}

bool ecs_date(struct ecs_record *record, enum ecs_value value, const uint8_t *octets, int64_t *ns)
{
    if (value == ECS_SECONDS) {
        *ns = value_u32(octets) * WF_NS_PER_S;
        return *ns != 0;
    }
    uint64_t raw = value_u64(octets);
    if (value == ECS_MILLISECONDS) {
        const uint64_t max = (uint64_t)(INT64_MAX / WF_NS_PER_MS);
        record->clamped |= raw > max;
        *ns = (int64_t)(raw > max ? max : raw) * WF_NS_PER_MS;
    } else if (raw != 0) {
        *ns = ntp_to_unix_ns(raw);
        if (value == ECS_MICROSECONDS) {
            *ns = round_to(*ns, 1000);
        }
    }
    return raw != 0;
}

static char *write_date_value(char *p, struct ecs_record *record, enum ecs_value value,
                              const uint8_t *octets)
{
    static const uint8_t digits[] = {
        [ECS_SECONDS] = DATE_MILLIS,
        [ECS_MILLISECONDS] = DATE_MILLIS,
        [ECS_MICROSECONDS] = DATE_MICROS,
        [ECS_NANOSECONDS] = DATE_NANOS,
    };
    int64_t ns = 0;
    if (!ecs_date(record, value, octets, &ns) && value >= ECS_MICROSECONDS) {
        ns = ntp_to_unix_ns(0);
    }
    *p++ = '"';
    p = write_date(p, record->days, ns, (enum date_digits)digits[value]);
    *p++ = '"';
    return p;
}

static char *write_number(char *p, struct ecs_record *record, enum ecs_value value,
                          const uint8_t *octets, size_t len)
{
    switch ((int)value) {
    case ECS_FLOAT32:
    case ECS_FLOAT64: {
        double number = load_float(octets, len);
        if (!isfinite(number)) {
            return p;
        }
        return value == ECS_FLOAT32 ? write_float(p, (float)number) : write_double(p, number);
    }
    case ECS_BOOLEAN:
        if (octets[0] == 1) {
            return ECS_TEXT(p, "true");
        }
        return octets[0] == 2 ? ECS_TEXT(p, "false") : p;
    case ECS_SIGNED:
        return write_i64(p, load_signed(octets, len));
    default:
        return write_u64(p, ecs_clamp(record, wire_unsigned(octets, len)));
    }
}

static char *write_numbers(char *p, const uint8_t *octets, size_t len)
{
    *p++ = '[';
    for (size_t i = 0; i < len; i++) {
        p = write_u64(p, octets[i]);
        *p++ = ',';
    }
    p[-1] = ']';
    return p;
}

/* 0f8e7ff3-fc1a030f-00000000 */
static char *write_acl(char *p, const uint8_t *octets, size_t len)
{
    for (size_t at = 0; at < len; at += 4) {
        if (at) {
            *p++ = '-';
        }
        p = write_hex(p, octets + at, len - at < 4 ? len - at : 4);
    }
    return p;
}

static char *write_quoted(char *p, enum ecs_value value, const uint8_t *octets, size_t len)
{
    *p++ = '"';
    switch ((int)value) {
    case ECS_MAC:
        p = write_mac(p, octets);
        break;
    case ECS_IPV4:
        p = write_ipv4(p, octets);
        break;
    case ECS_IPV6:
        p = write_ipv6(p, octets);
        break;
    case ECS_STRING:
        p = write_string(p, octets, len);
        break;
    case ECS_ACL:
        p = write_acl(p, octets, len);
        break;
    default:
        p = write_hex(p, octets, len);
        break;
    }
    *p++ = '"';
    return p;
}

char *ecs_write_value(char *p, struct ecs_record *record, enum ecs_value value,
                      const uint8_t *octets, size_t len)
{
    switch (value) {
    case ECS_U8:
        return write_u8(p, octets[0]);
    case ECS_U16:
        return write_u16(p, (uint16_t)value_u16(octets));
    case ECS_U32:
        return write_u32(p, value_u32(octets));
    case ECS_U64:
        return write_u64(p, ecs_clamp(record, value_u64(octets)));
    case ECS_UNSIGNED:
    case ECS_SIGNED:
    case ECS_FLOAT32:
    case ECS_FLOAT64:
    case ECS_BOOLEAN:
        return write_number(p, record, value, octets, len);
    case ECS_SECONDS:
    case ECS_MILLISECONDS:
    case ECS_MICROSECONDS:
    case ECS_NANOSECONDS:
        return write_date_value(p, record, value, octets);
    case ECS_NUMBERS:
        return write_numbers(p, octets, len);
    case ECS_MAC:
    case ECS_STRING:
    case ECS_IPV4:
    case ECS_IPV6:
    case ECS_ACL:
    case ECS_HEX:
    case ECS_RAW:
        return write_quoted(p, value, octets, len);
    case ECS_OMIT:
    case ECS_VARIES:
        break;
    }
    return p;
}

static char *write_key(char *p, const char *key, size_t len)
{
    /* One copy of a constant size is cheaper than the right size; the keys are padded for it. */
    memcpy(p, key, ECS_KEY_PAD);
    if (len > ECS_KEY_PAD) {
        memcpy(p, key, len);
    }
    return p + len;
}

static char *write_array(char *p, struct ecs_record *record, const struct ecs_field *member)
{
    char *start = p;
    p = write_key(p, member->key, member->key_len);
    *p++ = '[';
    for (size_t i = 0; i <= member->n_more; i++) {
        const struct ecs_field *f = i == 0 ? member : &record->plan->more[member->more + i - 1];
        enum ecs_value value = ecs_settle(record, (enum ecs_value)f->value, f->field);
        if (value == ECS_RAW && member->value != ECS_RAW) {
            continue; /* no value of the type that the member has */
        }
        char *before = p;
        p = ecs_write_value(p, record, value, record->data + record->offset[f->field],
                            record->length[f->field]);
        if (p != before) {
            *p++ = ',';
        }
    }
    if (p[-1] == '[') {
        return start;
    }
    p[-1] = ']';
    *p++ = ',';
    return p;
}

static char *write_member(char *p, struct ecs_record *record, const struct ecs_field *member)
{
    if (member->n_more) {
        return write_array(p, record, member);
    }
    enum ecs_value value = (enum ecs_value)member->value;
    const char *key = member->key;
    size_t key_len = member->key_len;
    if (value >= ECS_RAW) {
        value = ecs_settle(record, value, member->field);
        if (value == ECS_RAW) {
            key = member->raw_key;
            key_len = member->raw_len;
        }
        if (value == ECS_OMIT || !key) {
            return p;
        }
    }
    char *value_at = write_key(p, key, key_len);
    char *end =
        ecs_write_value(value_at, record, value, record->data + record->offset[member->field],
                        record->length[member->field]);
    if (end == value_at) {
        return p;
    }
    *end++ = ',';
    return end;
}

static char *write_members(char *p, struct ecs_record *record, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        p = write_member(p, record, &record->plan->field[i]);
    }
    return p;
}

/* Closes an object whose members end with a comma; takes an empty one back to start. */
static char *close_object(char *p, char *start)
{
    if (p[-1] == '{') {
        return start;
    }
    p[-1] = '}';
    *p++ = ',';
    return p;
}

char *ecs_write_fields(char *p, struct ecs_record *record)
{
    const struct ecs_plan *e = record->plan;
    if (!e->options) {
        return write_members(p, record, 0, e->n_fields);
    }
    char *start = p;
    ECS_TEXT(p, "\"scope\":{");
    p = close_object(write_members(p, record, 0, e->n_scope), start);
    start = p;
    ECS_TEXT(p, "\"options\":{");
    return close_object(write_members(p, record, e->n_scope, e->n_fields), start);
}
