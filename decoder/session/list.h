// SPDX-License-Identifier: Apache-2.0
/*
 * list - a circular, doubly linked list whose links live in its items
 *
 * Owns nothing, allocates nothing. Who guards a list says so where the list is declared. Header only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *prev, *next;
};

/* The item that contains this link. */
#define LIST_ITEM(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))
#define LIST_ITEM_CONST(link, type, member)                                                        \
    ((const type *)(const void *)((const char *)(link)-offsetof(type, member)))

static inline void list_init(struct list *head)
{
    head->prev = head;
    head->next = head;
}

static inline bool list_empty(const struct list *head)
{
    return head->next == head;
}

static inline void list_append(struct list *head, struct list *link)
{
    link->prev = head->prev;
    link->next = head;
    head->prev->next = link;
    head->prev = link;
}

/* The link is left pointing to itself, so that removing it twice harms nothing. */
static inline void list_remove(struct list *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    list_init(link);
}

/* Stable merge sort; before says whether a has to stand before b. O(n log n), no memory. */
void list_sort(struct list *head, bool (*before)(const struct list *a, const struct list *b));
