// SPDX-License-Identifier: Apache-2.0
#include "decoder/elements/elements.h"

#include "decoder/elements/table.h"

const struct element *element_find(uint32_t pen, uint16_t id)
{
    size_t low = 0;
    size_t high = element_table_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct element *e = &element_table[middle];
        if (e->pen == pen && e->id == id) {
            return e;
        }
        if (e->pen < pen || (e->pen == pen && e->id < id)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

const struct element *element_of_field(uint8_t version, uint32_t pen, uint16_t id)
{
    /* 4294967294 and 4294967295 are enterprise numbers that IPFIX can carry: no way into v9's spaces. */
    if (version != 9 && pen >= ELEMENT_PEN_V9_SCOPE) {
        return NULL;
    }
    const struct element *e = element_find(pen, id);
    if (!e && version == 9 && pen == ELEMENT_PEN_IANA) {
        e = element_find(ELEMENT_PEN_NETFLOW9, id);
    }
    return e;
}

const struct element *element_all(size_t *n_elements)
{
    *n_elements = element_table_count;
    return element_table;
}
