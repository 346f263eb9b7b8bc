// SPDX-License-Identifier: Apache-2.0
#include "collector/util/buffer.h"

#include <stdlib.h>

#define FIRST_BYTES 4096U

int buffer_grow(struct buffer *buffer, size_t n)
{
    if (n > SIZE_MAX / 4 - buffer->len) {
        return WF_E_NOMEM;
    }
    size_t cap = buffer->cap ? buffer->cap : FIRST_BYTES;
    while (cap - buffer->len < n) {
        cap *= 2;
    }
    char *data = realloc(buffer->data, cap);
    if (!data) {
        return WF_E_NOMEM;
    }
    buffer->data = data;
    buffer->cap = cap;
    return WF_OK;
}

void buffer_deinit(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}
