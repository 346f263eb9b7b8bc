// SPDX-License-Identifier: Apache-2.0
/*
 * buffer - a growing run of octets with worst-case reservation
 *
 * Writers reserve once what a record can take at worst, then write without a check a field.
 * One thread at a time. Header only but for buffer_grow.
 */
#pragma once

#include "decoder/base.h"

struct buffer {
    char *data; /* owned; NULL when cap is 0 */
    size_t len; /* octets in use */
    size_t cap;
};

/* Makes room for n more octets; 0 or WF_E_NOMEM (the buffer stands as it was). */
int buffer_grow(struct buffer *buffer, size_t n);
void buffer_deinit(struct buffer *buffer);

/* Position to write at with room for n octets, or NULL when memory is short; end with buffer_commit. */
static inline char *buffer_reserve(struct buffer *buffer, size_t n)
{
    if (buffer->cap - buffer->len < n && buffer_grow(buffer, n) < 0) {
        return NULL;
    }
    return buffer->data + buffer->len;
}

static inline void buffer_commit(struct buffer *buffer, const char *end)
{
    buffer->len = (size_t)(end - buffer->data);
}
