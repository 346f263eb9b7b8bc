// SPDX-License-Identifier: Apache-2.0
#include "decoder/session/list.h"

/* Merges two chains that end with NULL (linked by next only). The first one's item wins a tie. */
static struct list *merge(struct list *a, struct list *b,
                          bool (*before)(const struct list *a, const struct list *b))
{
    struct list first = {NULL, NULL};
    struct list *last = &first;
    while (a && b) {
        struct list **from = before(b, a) ? &b : &a;
        last->next = *from;
        last = *from;
        *from = last->next;
    }
    last->next = a ? a : b;
    return first.next;
}

/* Bottom-up: run[i] is a sorted chain of 2^i items, older items in higher runs. */
void list_sort(struct list *head, bool (*before)(const struct list *a, const struct list *b))
{
    enum {
        N_RUNS = 48
    };
    struct list *run[N_RUNS] = {NULL};
    if (list_empty(head)) {
        return;
    }
    head->prev->next = NULL;
    for (struct list *item = head->next; item;) {
        struct list *next = item->next;
        item->next = NULL;
        int i = 0;
        for (; i < N_RUNS - 1 && run[i]; i++) {
            item = merge(run[i], item, before);
            run[i] = NULL;
        }
        run[i] = run[i] ? merge(run[i], item, before) : item;
        item = next;
    }
    struct list *all = NULL;
    for (int i = 0; i < N_RUNS; i++) {
        all = run[i] ? merge(run[i], all, before) : all;
    }
    list_init(head);
    while (all) {
        struct list *next = all->next;
        list_append(head, all);
        all = next;
    }
}
