// SPDX-License-Identifier: Apache-2.0
/*
 * session - who exports: a table of exporters and of their observation domains
 *
 * A session is what one (exporter address, domain, version) has told: its templates, its sequence state, its counters.
 * The fixed formats have no domain; there the engine stands in the key, since each engine counts its flows
 * on its own. The table owns sessions and exporters; both live on, out of the table, while somebody has a reference.
 *
 * What gives way when the table is full: the least recently used exporter (or domain, when one exporter has too
 * many) that is not in use and never gave decodable data; if there is none, one that did. "Recently" is as fine as a
 * second of the datagrams' own time, so that the list is not rearranged for each datagram.
 *
 * Threads: any. 64 shards by exporter address (one when few exporters are allowed), a mutex each. Lock order:
 * shard, then session, then pending store or plan table. Who has a session from session_get() may use it: it is
 * not evicted before session_put().
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "decoder/session/hash.h"
#include "decoder/session/pending.h"
#include "decoder/session/sequence.h"
#include "decoder/session/templates.h"

struct session_key {
    struct wf_addr exporter;
    uint32_t domain; /* v9, IPFIX: as in the header; v5: engine type << 8 | engine id; else 0 */
    uint8_t version;
};

struct exporter {
    struct wf_addr addr; /* constant */
    /* guarded by the shard */
    struct hash_link hash;
    struct list lru;
    struct list
        sessions[2]; /* struct session.lru; unproven, proven; the least recently used first */
    size_t n_sessions;
    int64_t touched_ns;
    bool proven;
    /* guarded by the pending store */
    struct pending_owner pending;
    atomic_size_t n_refs; /* one a session, in the table or out of it */
};

struct session {
    struct session_key key;    /* constant */
    struct exporter *exporter; /* constant; holds a reference */
    /* guarded by the shard */
    struct hash_link hash;
    struct list lru; /* of its exporter */
    int64_t touched_ns;
    atomic_size_t
        n_users;          /* between session_get() and session_put(); raised under the shard lock */
    atomic_size_t n_refs; /* the table's, and one a held set */
    atomic_bool proven;
    /* guarded by the pending store */
    struct pending_share pending;
    /* taken after a shard's, before the pending store's and the plan table's */
    pthread_mutex_t lock;
    /* guarded by lock */
    struct templates templates;
    struct sequence sequence;
    struct decoder_counters counters;
    int64_t first_seen_ns, last_seen_ns;
    uint16_t port;
};

struct session_table;

struct session_counts {
    size_t n_exporters, n_sessions, n_templates, n_bytes; /* n_bytes: plans included */
};

/* limits (defaults filled in) are copied; pending and plans are borrowed and must outlive the table. */
struct session_table *session_table_new(const struct decoder_limits *limits, uint64_t seed,
                                        struct pending *pending, struct plan_table *plans);
/* No session may be in use. NULL is fine. */
void session_table_free(struct session_table *table);

/* The session of this key, found or made, to be used until session_put(). NULL when there is no room. Held sets of
 * what had to give way are appended to victims. */
struct session *session_get(struct session_table *table, const struct session_key *key,
                            int64_t now_ns, struct list *victims);
void session_put(struct session *session);
/* Shard lock held: then it can not come into use meanwhile. */
bool session_in_use(struct session *session);
/* The session gave decodable data. Takes the shard lock. */
void session_prove(struct session_table *table, struct session *session);

void session_ref(struct session *session);
void session_unref(struct session *session);

/* Is the memory budget kept, a plan just made included? Evicts exporters that are not in use if that helps; for a session
 * that is not proven only those of the proven ones that were silent for an hour; never the session's own. No lock may
 * be held. */
bool session_make_room(struct session_table *table, const struct session *session, int64_t now_ns,
                       struct list *victims);
/* Keeps the account after the template table of a session changed. Session lock held or not. */
void session_account(struct session_table *table, size_t templates_before, size_t bytes_before,
                     const struct templates *templates);

struct session_counts session_table_counts(struct session_table *table);
/* Calls each for every session, with no lock held and a reference taken. Stops when it returns non-zero and
 * returns that; WF_E_NOMEM. */
int session_each(struct session_table *table, int (*each)(void *ctx, struct session *session),
                 void *ctx);

/* The session that a held set belongs to. */
struct session *session_of_share(struct pending_share *share);
