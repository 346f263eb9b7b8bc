// SPDX-License-Identifier: Apache-2.0
/*
 * pending - data sets that wait for their template, bounded in octets and age
 *
 * Owns the held sets from pending_hold() until they are given out on a list: taken (their template came)
 * or given up (quota, budget, age, session gone). Who gets a list frees its items with held_free().
 *
 *   owner (one an exporter)   queue of its sets, oldest first; its quota; its class
 *   share (one a session)     its groups
 *   group (share, template)   what one template will release
 *
 * What gives way: over an exporter's quota its own oldest set; over the total budget the oldest set of the exporters
 * that have not proved themselves, and only when there is none the oldest of the others. So a flood of
 * made-up exporters displaces itself. Two heaps of owners, by the age of their oldest set, find it in O(log n).
 *
 * Budgets count book-keeping too: links, headers, what malloc adds.
 *
 * Threads: any. One mutex inside, a leaf of the lock order (docs/architecture.md): callers may hold a shard's and a
 * session's lock. Owners and shares must outlive their held sets: each held set has a reference on its session,
 * which the caller takes before pending_hold() and drops with the set.
 */
#pragma once

#include "decoder/decoder.h"
#include "decoder/session/list.h"

/* Guarded by the store. */
struct pending_owner {
    struct list queue; /* struct held.queue, in order of arrival */
    size_t bytes;
    size_t heap_at; /* place in its class's heap, when queue is not empty */
    bool proven;
};

/* Guarded by the store. */
struct pending_share {
    struct list groups;
    uint64_t serial; /* set once by the caller: no two shares of a decoder have the same */
    uint64_t n_sets, n_octets;
};

struct held {
    struct list link;            /* of its group, then of the list it was given out on */
    struct list queue;           /* of its owner */
    struct pending_group *group; /* while it is in the store */
    struct pending_owner *owner;
    struct pending_share *share;
    uint64_t order; /* arrival at the store */
    struct decoder_message message;
    uint64_t slot;
    size_t offset; /* of the set in its datagram */
    uint16_t template_id;
    size_t len;
    uint8_t data[]; /* the set without its header */
};

struct pending_limits {
    size_t max_bytes, max_owner_bytes;
};

/* A set to be held; all borrowed. */
struct pending_set {
    const struct decoder_message *message;
    uint64_t slot;
    size_t offset;
    uint16_t template_id;
    const uint8_t *data;
    size_t len;
};

struct pending_counts {
    uint64_t n_sets, n_octets, n_bytes;
};

struct pending;

struct pending *pending_new(const struct pending_limits *limits, uint64_t seed);
/* Frees what is still held, without a word. NULL is fine. */
void pending_free(struct pending *pending);

void pending_owner_init(struct pending_owner *owner);
void pending_share_init(struct pending_share *share, uint64_t serial);

/* Copies a set into the store. first: it is the only one held for its template. What had to give way is appended to
 * victims, also on failure. 0, WF_E_LIMIT (larger than a budget), WF_E_INVAL (no octets), WF_E_NOMEM. */
int pending_hold(struct pending *pending, struct pending_owner *owner, struct pending_share *share,
                 const struct pending_set *set, bool *first, struct list *victims);
/* Appends the sets that wait for this template to taken. */
void pending_take(struct pending *pending, struct pending_share *share, uint16_t template_id,
                  struct list *taken);
/* Appends all sets of a share to victims. */
void pending_drop(struct pending *pending, struct pending_share *share, struct list *victims);
/* Appends sets received before this time to victims. */
void pending_expire(struct pending *pending, int64_t before_ns, struct list *victims);
/* The owner gave decodable data: it belongs to those that give way last. */
void pending_prove(struct pending *pending, struct pending_owner *owner);

struct pending_counts pending_counts(struct pending *pending);
/* n_bytes stays 0. */
struct pending_counts pending_share_counts(struct pending *pending,
                                           const struct pending_share *share);

void held_free(struct held *held);
/* For list_sort(): by slot of the datagram, then by place in it. */
bool held_before(const struct list *a, const struct list *b);
/* For list_sort(): brings sets of one share and template together. */
bool held_groups_before(const struct list *a, const struct list *b);
