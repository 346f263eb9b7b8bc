// SPDX-License-Identifier: Apache-2.0
/*
 * hash - a chained hash table whose links live in its items
 *
 * Keyed by a 64-bit hash that the caller makes from a secret seed (keys come from the wire). Grows by
 * doubling; when memory for that is short the chains get longer and all still works. Not thread-safe: who
 * guards a table says so where it is declared.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct hash_link {
    struct hash_link *next;
    uint64_t hash;
};

struct hash {
    struct hash_link **slot;
    size_t n_slots; /* a power of two, or 0 before the first item */
    size_t n_items;
};

/* Frees the slots, not the items. */
void hash_deinit(struct hash *hash);
/* 0, or WF_E_NOMEM when there is no slot at all. */
int hash_insert(struct hash *hash, struct hash_link *item, uint64_t value);
/* The item must be in the table. */
void hash_remove(struct hash *hash, struct hash_link *item);

/* First item of the chain for this value: the caller compares ->hash and the key. May be NULL. */
static inline struct hash_link *hash_chain(const struct hash *hash, uint64_t value)
{
    return hash->n_slots ? hash->slot[value & (hash->n_slots - 1)] : NULL;
}
