// SPDX-License-Identifier: Apache-2.0
/*
 * null: counts documents and forgets them, for measurements.
 */
#include "collector/output/destination.h"

static int null_open(void *self)
{
    (void)self;
    return WF_OK;
}

static int null_write(void *self, const struct chunk *chunk, uint32_t *n_written)
{
    (void)self;
    *n_written = chunk->n_documents;
    return WF_OK;
}

static void null_free(void *self)
{
    (void)self;
}

int destination_null_new(const struct output_ops **ops, void **self)
{
    static const struct output_ops null_ops = {.name = "null",
                                               .parallel = true,
                                               .open = null_open,
                                               .write = null_write,
                                               .free = null_free};
    *ops = &null_ops;
    *self = NULL;
    return WF_OK;
}
