// SPDX-License-Identifier: Apache-2.0
/*
 * cursor - the only way to read octets of the wire
 *
 * A read position that never leaves its buffer. The first read beyond the end makes the cursor fail, and
 * the failure sticks: later reads give 0 and do not move, so that a parser reads a whole header and tests
 * once. A child cursor (cursor_sub) can not read into its neighbour. Header only; any thread on its own.
 */
#pragma once

#include <string.h>

#include "decoder/base.h"

struct cursor {
    const uint8_t *start, *pos, *end;
    bool failed;
};

static inline struct cursor cursor_init(const uint8_t *data, size_t len)
{
    return (struct cursor){.start = data, .pos = data, .end = data + len};
}

static inline size_t cursor_left(const struct cursor *c)
{
    return c->failed ? 0 : (size_t)(c->end - c->pos);
}

static inline size_t cursor_offset(const struct cursor *c)
{
    return (size_t)(c->pos - c->start);
}

/* n octets, or NULL when there are fewer: then the cursor has failed. */
static inline const uint8_t *cursor_take(struct cursor *c, size_t n)
{
    if (cursor_left(c) < n || c->failed) {
        c->failed = true;
        return NULL;
    }
    const uint8_t *p = c->pos;
    c->pos += n;
    return p;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 1);
    return p ? p[0] : 0;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 2);
    unsigned v = p ? (unsigned)p[0] << 8 | p[1] : 0U;
    return (uint16_t)v;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 4);
    return p ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3] : 0;
}

/* A child over the next n octets, which the parent skips; a failed child when there are fewer. */
static inline struct cursor cursor_sub(struct cursor *c, size_t n)
{
    const uint8_t *p = cursor_take(c, n);
    if (!p) {
        return (struct cursor){.start = c->pos, .pos = c->pos, .end = c->pos, .failed = true};
    }
    return cursor_init(p, n);
}

/* A big-endian unsigned integer of 1..8 octets at p; the caller has checked the bounds. */
static inline uint64_t wire_unsigned(const uint8_t *p, size_t len)
{
    uint64_t v = 0;
    for (size_t i = 0; i < len; i++) {
        v = v << 8 | p[i];
    }
    return v;
}
