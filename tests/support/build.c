// SPDX-License-Identifier: Apache-2.0
#include "tests/support/build.h"

#include <assert.h>
#include <string.h>

void build_u8(struct build *b, uint8_t v)
{
    assert(b->len < sizeof(b->data));
    b->data[b->len++] = v;
}

void build_u16(struct build *b, uint16_t v)
{
    build_u8(b, (uint8_t)(v >> 8));
    build_u8(b, (uint8_t)v);
}

void build_u32(struct build *b, uint32_t v)
{
    build_u16(b, (uint16_t)(v >> 16));
    build_u16(b, (uint16_t)v);
}

void build_u64(struct build *b, uint64_t v)
{
    build_u32(b, (uint32_t)(v >> 32));
    build_u32(b, (uint32_t)v);
}

void build_octets(struct build *b, const void *data, size_t len)
{
    assert(len <= sizeof(b->data) - b->len);
    memcpy(b->data + b->len, data, len);
    b->len += len;
}

void build_zeros(struct build *b, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        build_u8(b, 0);
    }
}

static void put_u16_at(struct build *b, size_t at, size_t v)
{
    b->data[at] = (uint8_t)(v >> 8);
    b->data[at + 1] = (uint8_t)v;
}

static void start(struct build *b, uint8_t version)
{
    memset(b, 0, sizeof(*b));
    b->version = version;
    build_u16(b, version);
    build_u16(b, 0); /* count or length: build_end */
}

void build_v5(struct build *b, uint32_t unix_s, uint32_t uptime_ms, uint32_t sequence)
{
    start(b, 5);
    build_u32(b, uptime_ms);
    build_u32(b, unix_s);
    build_u32(b, 0); /* nanoseconds */
    build_u32(b, sequence);
    build_u16(b, 0); /* engine */
    build_u16(b, 0); /* sampling */
}

void build_v9(struct build *b, uint32_t unix_s, uint32_t uptime_ms, uint32_t sequence,
              uint32_t domain)
{
    start(b, 9);
    build_u32(b, uptime_ms);
    build_u32(b, unix_s);
    build_u32(b, sequence);
    build_u32(b, domain);
}

void build_ipfix(struct build *b, uint32_t unix_s, uint32_t sequence, uint32_t domain)
{
    start(b, 10);
    build_u32(b, unix_s);
    build_u32(b, sequence);
    build_u32(b, domain);
}

static void close_set(struct build *b)
{
    if (b->set) {
        put_u16_at(b, b->set + 2, b->len - b->set);
        b->set = 0;
    }
}

void build_set(struct build *b, uint16_t id)
{
    close_set(b);
    b->set = b->len;
    build_u16(b, id);
    build_u16(b, 0);
}

static void put_fields(struct build *b, const uint16_t (*fields)[2], size_t n_fields)
{
    for (size_t i = 0; i < n_fields; i++) {
        build_u16(b, fields[i][0]);
        build_u16(b, fields[i][1]);
    }
}

void build_template(struct build *b, uint16_t id, const uint16_t (*fields)[2], size_t n_fields)
{
    build_u16(b, id);
    build_u16(b, (uint16_t)n_fields);
    put_fields(b, fields, n_fields);
}

void build_options_template(struct build *b, uint16_t id, const uint16_t (*scope)[2],
                            size_t n_scope, const uint16_t (*fields)[2], size_t n_fields)
{
    build_u16(b, id);
    if (b->version == 9) { /* lengths in octets, RFC 3954 section 6.1 */
        build_u16(b, (uint16_t)(4 * n_scope));
        build_u16(b, (uint16_t)(4 * n_fields));
    } else { /* counts, RFC 7011 section 3.4.2.2 */
        build_u16(b, (uint16_t)(n_scope + n_fields));
        build_u16(b, (uint16_t)n_scope);
    }
    put_fields(b, scope, n_scope);
    put_fields(b, fields, n_fields);
}

void build_field_pen(struct build *b, uint16_t id, uint16_t length, uint32_t pen)
{
    build_u16(b, (uint16_t)(id | 0x8000U));
    build_u16(b, length);
    build_u32(b, pen);
}

void build_end_with(struct build *b, uint16_t count_or_length)
{
    close_set(b);
    put_u16_at(b, 2, count_or_length);
}

void build_end(struct build *b)
{
    close_set(b);
    put_u16_at(b, 2, b->version == 10 ? b->len : b->n_records);
}
