// SPDX-License-Identifier: Apache-2.0
/*
 * --format none: reads every field of every record and writes nothing, so that decoding alone can be measured. What the
 * fields add up to is kept, or the compiler would drop the reading.
 */
#include <stdlib.h>

#include "collector/document/compile.h"
#include "collector/document/value.h"
#include "decoder/wire/cursor.h"

struct none {
    size_t n_fields;
    uint8_t op[]; /* enum value_op by field */
};

static void *none_compile(const struct document *document, const struct plan *plan)
{
    (void)document;
    struct none *none = malloc(sizeof(*none) + plan->n_fields);
    if (!none) {
        return NULL;
    }
    none->n_fields = plan->n_fields;
    for (size_t i = 0; i < plan->n_fields; i++) {
        none->op[i] = (uint8_t)value_op_of_field(&plan->field[i]);
    }
    return none;
}

static size_t none_bytes(const struct plan *plan, const void *compiled)
{
    (void)compiled;
    return sizeof(struct none) + plan->n_fields;
}

static uint64_t read_value(enum value_op op, const uint8_t *octets, size_t len)
{
    if (op == VALUE_U32 || op == VALUE_IPV4 || op == VALUE_SECONDS) {
        return value_u32(octets);
    }
    if (op == VALUE_U16) {
        return value_u16(octets);
    }
    if (op == VALUE_U8) {
        return octets[0];
    }
    if (len >= 8) {
        return value_u64(octets) + value_u64(octets + len - 8);
    }
    return wire_unsigned(octets, len);
}

static int none_write(struct document_writer *writer, void *compiled,
                      const struct decoder_records *records, int64_t now_ns, struct buffer *out)
{
    (void)now_ns;
    (void)out;
    const struct none *none = compiled;
    uint64_t sum = 0;
    for (size_t r = 0; r < records->n_records; r++) {
        const uint8_t *record = records->data + r * records->stride;
        for (size_t i = 0; i < none->n_fields; i++) {
            sum += read_value((enum value_op)none->op[i], record + records->offset[i],
                              records->length[i]);
        }
    }
    writer->sink += sum;
    return (int)records->n_records;
}

const struct document_encoder document_none = {
    .compile = none_compile,
    .discard = free,
    .bytes = none_bytes,
    .write = none_write,
};
