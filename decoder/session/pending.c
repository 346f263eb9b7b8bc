// SPDX-License-Identifier: Apache-2.0
#include "decoder/session/pending.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/lock.h"
#include "decoder/session/pending_group.h"

/* Owners with held sets, the one with the oldest set on top. */
struct heap {
    struct pending_owner **owner;
    size_t n, max;
};

enum {
    UNPROVEN,
    PROVEN,
    N_CLASSES
};

struct pending {
    struct pending_limits limits;
    pthread_mutex_t lock; /* leaf: nothing else is taken while it is held */
    /* guarded by lock */
    struct heap heap[N_CLASSES];
    struct pending_groups groups;
    uint64_t next_order;
    struct pending_counts counts;
};

#define MALLOC_BYTES 16U
/* A group's slots in the hash table, and its owner's in a heap, doubled: both grow by doubling. */
#define GROUP_BYTES (sizeof(struct pending_group) + MALLOC_BYTES + 4 * sizeof(void *))

static size_t held_bytes(size_t len)
{
    return sizeof(struct held) + MALLOC_BYTES + len;
}

/* ---- heaps ---- */

static const struct held *oldest_of(const struct pending_owner *owner)
{
    return LIST_ITEM(owner->queue.next, struct held, queue);
}

static bool owner_before(const struct pending_owner *a, const struct pending_owner *b)
{
    const struct held *x = oldest_of(a);
    const struct held *y = oldest_of(b);
    if (x->message.received_ns != y->message.received_ns) {
        return x->message.received_ns < y->message.received_ns;
    }
    return x->order < y->order;
}

static struct heap *heap_of(struct pending *p, const struct pending_owner *owner)
{
    return &p->heap[owner->proven ? PROVEN : UNPROVEN];
}

static void heap_set(struct heap *h, size_t at, struct pending_owner *owner)
{
    h->owner[at] = owner;
    owner->heap_at = at;
}

/* Restores the order around one place. */
static void heap_fix(struct heap *h, size_t at)
{
    struct pending_owner *owner = h->owner[at];
    while (at > 0 && owner_before(owner, h->owner[(at - 1) / 2])) {
        heap_set(h, at, h->owner[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= h->n) {
            break;
        }
        if (child + 1 < h->n && owner_before(h->owner[child + 1], h->owner[child])) {
            child++;
        }
        if (!owner_before(h->owner[child], owner)) {
            break;
        }
        heap_set(h, at, h->owner[child]);
        at = child;
    }
    heap_set(h, at, owner);
}

/* Room for one owner more. */
static int heap_reserve(struct heap *h)
{
    if (h->n < h->max) {
        return 0;
    }
    size_t max = h->max ? h->max * 2 : 16;
    struct pending_owner **bigger = realloc(h->owner, max * sizeof(struct pending_owner *));
    if (!bigger) {
        return WF_E_NOMEM;
    }
    h->owner = bigger;
    h->max = max;
    return 0;
}

static void heap_insert(struct heap *h, struct pending_owner *owner)
{
    heap_set(h, h->n++, owner);
    heap_fix(h, owner->heap_at);
}

/* The owner's queue may be empty already: it is not looked at. */
static void heap_remove(struct heap *h, const struct pending_owner *owner)
{
    size_t at = owner->heap_at;
    struct pending_owner *last = h->owner[--h->n];
    if (last != owner) {
        heap_set(h, at, last);
        heap_fix(h, at);
    }
}

/* ---- in and out ---- */

/* Takes a set out of the store and appends it to a list. True when it was the last of its group, which is gone. */
static bool unlink_held(struct pending *p, struct held *held, struct list *to)
{
    struct pending_owner *owner = held->owner;
    struct heap *heap = heap_of(p, owner);
    bool was_oldest = owner->queue.next == &held->queue;
    list_remove(&held->queue);
    if (list_empty(&owner->queue)) {
        heap_remove(heap, owner);
    } else if (was_oldest) {
        heap_fix(heap, owner->heap_at);
    }
    list_remove(&held->link);
    bool was_last = list_empty(&held->group->sets);
    if (was_last) {
        pending_group_free(&p->groups, held->group);
        p->counts.n_bytes -= GROUP_BYTES;
    }
    size_t bytes = held_bytes(held->len);
    owner->bytes -= bytes;
    held->share->n_sets--;
    held->share->n_octets -= held->len;
    p->counts.n_sets--;
    p->counts.n_octets -= held->len;
    p->counts.n_bytes -= bytes;
    list_append(to, &held->link);
    return was_last;
}

static void evict_oldest_of(struct pending *p, struct pending_owner *owner, struct list *victims)
{
    unlink_held(p, LIST_ITEM(owner->queue.next, struct held, queue), victims);
}

/* Makes room; afterwards need octets fit into both budgets. */
static void make_room(struct pending *p, struct pending_owner *owner, size_t need,
                      struct list *victims)
{
    while (!list_empty(&owner->queue) && owner->bytes + need > p->limits.max_owner_bytes) {
        evict_oldest_of(p, owner, victims);
    }
    while (p->counts.n_bytes + need > p->limits.max_bytes) {
        struct heap *heap = &p->heap[p->heap[UNPROVEN].n > 0 ? UNPROVEN : PROVEN];
        if (heap->n == 0) {
            break;
        }
        evict_oldest_of(p, heap->owner[0], victims);
    }
}

static struct held *held_new(const struct pending_set *set)
{
    struct held *held = malloc(sizeof(*held) + set->len);
    if (!held) {
        return NULL;
    }
    *held = (struct held){.message = *set->message,
                          .slot = set->slot,
                          .offset = set->offset,
                          .template_id = set->template_id,
                          .len = set->len};
    memcpy(held->data, set->data, set->len);
    return held;
}

/* Links a set whose room has been made. */
static int link_held(struct pending *p, struct held *held, struct pending_owner *owner,
                     struct pending_share *share)
{
    if (heap_reserve(heap_of(p, owner)) < 0) {
        return WF_E_NOMEM;
    }
    struct pending_group *group = pending_group_find(&p->groups, share, held->template_id);
    if (!group) {
        group = pending_group_new(&p->groups, share, held->template_id);
        p->counts.n_bytes += group ? GROUP_BYTES : 0;
    }
    if (!group) {
        return WF_E_NOMEM;
    }
    held->group = group;
    held->owner = owner;
    held->share = share;
    held->order = p->next_order++;
    list_append(&group->sets, &held->link);
    bool alone = list_empty(&owner->queue);
    list_append(&owner->queue, &held->queue);
    if (alone) {
        heap_insert(heap_of(p, owner), owner);
    }
    size_t bytes = held_bytes(held->len);
    owner->bytes += bytes;
    share->n_sets++;
    share->n_octets += held->len;
    p->counts.n_sets++;
    p->counts.n_octets += held->len;
    p->counts.n_bytes += bytes;
    return 0;
}

int pending_hold(struct pending *p, struct pending_owner *owner, struct pending_share *share,
                 const struct pending_set *set, bool *first, struct list *victims)
{
    /* with a new group in mind: making room may end the one that is there */
    size_t need = held_bytes(set->len) + GROUP_BYTES;
    if (set->len == 0) {
        return WF_E_INVAL;
    }
    if (need > p->limits.max_owner_bytes || need > p->limits.max_bytes) {
        return WF_E_LIMIT;
    }
    struct held *held = held_new(set);
    if (!held) {
        return WF_E_NOMEM;
    }
    pthread_mutex_lock(&p->lock);
    make_room(p, owner, need, victims);
    int rc = link_held(p, held, owner, share);
    if (rc == 0) {
        *first = held->group->sets.next == &held->link;
    }
    pthread_mutex_unlock(&p->lock);
    if (rc < 0) {
        free(held);
    }
    return rc;
}

static void take_group(struct pending *p, const struct pending_group *group, struct list *to)
{
    bool is_gone = false;
    while (!is_gone) {
        is_gone = unlink_held(p, LIST_ITEM(group->sets.next, struct held, link), to);
    }
}

void pending_take(struct pending *p, struct pending_share *share, uint16_t template_id,
                  struct list *taken)
{
    pthread_mutex_lock(&p->lock);
    struct pending_group *group = pending_group_find(&p->groups, share, template_id);
    if (group) {
        take_group(p, group, taken);
    }
    pthread_mutex_unlock(&p->lock);
}

void pending_drop(struct pending *p, struct pending_share *share, struct list *victims)
{
    pthread_mutex_lock(&p->lock);
    while (!list_empty(&share->groups)) {
        take_group(p, LIST_ITEM(share->groups.next, struct pending_group, link), victims);
    }
    pthread_mutex_unlock(&p->lock);
}

void pending_expire(struct pending *p, int64_t before_ns, struct list *victims)
{
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < N_CLASSES; i++) {
        struct heap *heap = &p->heap[i];
        while (heap->n > 0 && oldest_of(heap->owner[0])->message.received_ns < before_ns) {
            evict_oldest_of(p, heap->owner[0], victims);
        }
    }
    pthread_mutex_unlock(&p->lock);
}

void pending_prove(struct pending *p, struct pending_owner *owner)
{
    pthread_mutex_lock(&p->lock);
    bool waits = !list_empty(&owner->queue);
    /* short of memory: it stays with the others */
    if (!owner->proven && (!waits || heap_reserve(&p->heap[PROVEN]) == 0)) {
        if (waits) {
            heap_remove(&p->heap[UNPROVEN], owner);
        }
        owner->proven = true;
        if (waits) {
            heap_insert(&p->heap[PROVEN], owner);
        }
    }
    pthread_mutex_unlock(&p->lock);
}

struct pending_counts pending_counts(struct pending *p)
{
    pthread_mutex_lock(&p->lock);
    struct pending_counts counts = p->counts;
    pthread_mutex_unlock(&p->lock);
    return counts;
}

struct pending_counts pending_share_counts(struct pending *p, const struct pending_share *share)
{
    pthread_mutex_lock(&p->lock);
    struct pending_counts counts = {.n_sets = share->n_sets, .n_octets = share->n_octets};
    pthread_mutex_unlock(&p->lock);
    return counts;
}

/* ---- life ---- */

void pending_owner_init(struct pending_owner *owner)
{
    *owner = (struct pending_owner){0};
    list_init(&owner->queue);
}

void pending_share_init(struct pending_share *share, uint64_t serial)
{
    *share = (struct pending_share){.serial = serial};
    list_init(&share->groups);
}

struct pending *pending_new(const struct pending_limits *limits, uint64_t seed)
{
    struct pending *p = calloc(1, sizeof(*p));
    if (!p) {
        return NULL;
    }
    p->limits = *limits;
    p->groups.seed = seed;
    lock_init(&p->lock);
    return p;
}

void pending_free(struct pending *p)
{
    if (!p) {
        return;
    }
    struct list all;
    list_init(&all);
    for (int i = 0; i < N_CLASSES; i++) {
        while (p->heap[i].n > 0) {
            evict_oldest_of(p, p->heap[i].owner[0], &all);
        }
    }
    while (!list_empty(&all)) {
        struct held *held = LIST_ITEM(all.next, struct held, link);
        list_remove(&held->link);
        held_free(held);
    }
    for (int i = 0; i < N_CLASSES; i++) {
        free(p->heap[i].owner);
    }
    hash_deinit(&p->groups.hash);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void held_free(struct held *held)
{
    free(held);
}

bool held_before(const struct list *a, const struct list *b)
{
    const struct held *x = LIST_ITEM_CONST(a, struct held, link);
    const struct held *y = LIST_ITEM_CONST(b, struct held, link);
    return x->slot != y->slot ? x->slot < y->slot : x->offset < y->offset;
}

bool held_groups_before(const struct list *a, const struct list *b)
{
    const struct held *x = LIST_ITEM_CONST(a, struct held, link);
    const struct held *y = LIST_ITEM_CONST(b, struct held, link);
    if (x->share->serial != y->share->serial) {
        return x->share->serial < y->share->serial;
    }
    return x->template_id < y->template_id;
}
