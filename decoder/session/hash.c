// SPDX-License-Identifier: Apache-2.0
#include "decoder/session/hash.h"

#include <stdlib.h>

#include "decoder/base.h"

#define FIRST_SLOTS 8U

void hash_deinit(struct hash *hash)
{
    free(hash->slot);
    *hash = (struct hash){0};
}

static void put(struct hash *hash, struct hash_link *item)
{
    struct hash_link **slot = &hash->slot[item->hash & (hash->n_slots - 1)];
    item->next = *slot;
    *slot = item;
}

static void grow(struct hash *hash)
{
    struct hash bigger = {.n_slots = hash->n_slots ? hash->n_slots * 2 : FIRST_SLOTS};
    bigger.slot = calloc(bigger.n_slots, sizeof(struct hash_link *));
    if (!bigger.slot) {
        return;
    }
    for (size_t i = 0; i < hash->n_slots; i++) {
        for (struct hash_link *item = hash->slot[i]; item;) {
            struct hash_link *next = item->next;
            put(&bigger, item);
            item = next;
        }
    }
    free(hash->slot);
    hash->slot = bigger.slot;
    hash->n_slots = bigger.n_slots;
}

int hash_insert(struct hash *hash, struct hash_link *item, uint64_t value)
{
    if (hash->n_items >= hash->n_slots) {
        grow(hash);
    }
    if (!hash->n_slots) {
        return WF_E_NOMEM;
    }
    item->hash = value;
    put(hash, item);
    hash->n_items++;
    return 0;
}

void hash_remove(struct hash *hash, struct hash_link *item)
{
    struct hash_link **at = &hash->slot[item->hash & (hash->n_slots - 1)];
    while (*at != item) {
        at = &(*at)->next;
    }
    *at = item->next;
    hash->n_items--;
}
