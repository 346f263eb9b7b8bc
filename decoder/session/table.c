// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "decoder/lock.h"
#include "decoder/session/session.h"

#define N_SHARDS      64U
#define FEW_EXPORTERS 1024U /* below that one shard keeps the limit and the order exactly */
#define TOUCH_NS      WF_NS_PER_S
#define MALLOC_BYTES  16U
#define IDLE_NS       (3600 * WF_NS_PER_S) /* silent for so long, an exporter has proved nothing */

enum {
    UNPROVEN,
    PROVEN,
    N_CLASSES
};

struct shard {
    pthread_mutex_t
        lock; /* the first of all; sessions' and leaves' may be taken while it is held */
    /* guarded by lock */
    struct hash exporters, sessions;
    struct list lru[N_CLASSES]; /* struct exporter.lru, the least recently used first */
};

struct session_table {
    uint64_t seed;
    size_t max_exporters, max_domains, max_bytes;
    struct pending *pending;
    struct plan_table *plans;
    size_t n_shards;
    struct shard *shard;
    /* Sums for budgets and reports. Relaxed: each is a number of its own, nothing is read through it. */
    atomic_size_t n_exporters, n_sessions, n_templates, n_bytes;
    atomic_uint_least64_t next_serial;
};

static void add(atomic_size_t *sum, size_t n)
{
    atomic_fetch_add_explicit(sum, n, memory_order_relaxed); /* a sum, see above */
}

static void subtract(atomic_size_t *sum, size_t n)
{
    atomic_fetch_sub_explicit(sum, n, memory_order_relaxed); /* a sum, see above */
}

static size_t sum_of(atomic_size_t *sum)
{
    return atomic_load_explicit(sum, memory_order_relaxed); /* a sum, see above */
}

/* ---- keys ---- */

static uint64_t exporter_hash(const struct session_table *t, const struct wf_addr *addr)
{
    uint64_t half[2];
    memcpy(half, addr->bytes, sizeof(half));
    return wf_mix64(wf_mix64(half[0] ^ t->seed) ^ half[1] ^ (uint64_t)addr->family << 56);
}

static uint64_t session_hash(uint64_t exporter, const struct session_key *key)
{
    return wf_mix64(exporter ^ ((uint64_t)key->version << 32 | key->domain));
}

/* The hash tables use the low bits, the shard the high ones. */
static struct shard *shard_of(const struct session_table *t, uint64_t exporter)
{
    return &t->shard[(exporter >> 58) & (t->n_shards - 1)];
}

static struct exporter *exporter_find(const struct shard *shard, const struct wf_addr *addr,
                                      uint64_t hash)
{
    for (struct hash_link *l = hash_chain(&shard->exporters, hash); l; l = l->next) {
        struct exporter *e = LIST_ITEM(l, struct exporter, hash);
        if (l->hash == hash && wf_addr_equal(&e->addr, addr)) {
            return e;
        }
    }
    return NULL;
}

static struct session *session_find(const struct shard *shard, const struct session_key *key,
                                    uint64_t hash)
{
    for (struct hash_link *l = hash_chain(&shard->sessions, hash); l; l = l->next) {
        struct session *s = LIST_ITEM(l, struct session, hash);
        if (l->hash == hash && s->key.domain == key->domain && s->key.version == key->version &&
            wf_addr_equal(&s->key.exporter, &key->exporter)) {
            return s;
        }
    }
    return NULL;
}

/* ---- eviction: shard lock held ---- */

/* Takes a session that is not in use out of the table; its exporter too when it was the last. From here on they are
 * off the account: what lives on is what somebody is about to drop. */
static void evict_session(struct session_table *t, struct shard *shard, struct session *s,
                          struct list *victims)
{
    struct exporter *e = s->exporter;
    hash_remove(&shard->sessions, &s->hash);
    list_remove(&s->lru);
    subtract(&t->n_sessions, 1);
    subtract(&t->n_bytes, sizeof(*s) + MALLOC_BYTES);
    if (--e->n_sessions == 0) {
        subtract(&t->n_bytes, sizeof(*e) + MALLOC_BYTES);
        hash_remove(&shard->exporters, &e->hash);
        list_remove(&e->lru);
        subtract(&t->n_exporters, 1);
    }
    pending_drop(t->pending, &s->pending, victims);
    /* nobody else can reach the templates: held sets only count here */
    pthread_mutex_lock(&s->lock);
    subtract(&t->n_templates, s->templates.n);
    subtract(&t->n_bytes, templates_bytes(&s->templates));
    templates_deinit(&s->templates, t->plans);
    pthread_mutex_unlock(&s->lock);
    session_unref(s);
}

static bool exporter_in_use(const struct exporter *e)
{
    for (int class = 0; class < N_CLASSES; class ++) {
        for (struct list *l = e->sessions[class].next; l != &e->sessions[class]; l = l->next) {
            if (session_in_use(LIST_ITEM(l, struct session, lru))) {
                return true;
            }
        }
    }
    return false;
}

static void evict_exporter(struct session_table *t, struct shard *shard, struct exporter *e,
                           struct list *victims)
{
    for (size_t left = e->n_sessions; left > 0; left--) { /* e goes with the last one */
        struct list *class = &e->sessions[list_empty(&e->sessions[UNPROVEN]) ? PROVEN : UNPROVEN];
        evict_session(t, shard, LIST_ITEM(class->next, struct session, lru), victims);
    }
}

/* Whom not to evict. */
struct spared {
    const struct exporter *keep; /* may be NULL */
    int64_t proven_since_ns;     /* the proven ones that were used at this time or later */
};

/* The least recently used exporter of one class that is not spared, if one is not in use. */
static bool evict_one_of(struct session_table *t, struct shard *shard, int class,
                         const struct spared *spared, struct list *victims)
{
    for (struct list *l = shard->lru[class].next; l != &shard->lru[class]; l = l->next) {
        struct exporter *e = LIST_ITEM(l, struct exporter, lru);
        if (class == PROVEN && e->touched_ns >= spared->proven_since_ns) {
            return false;
        }
        if ((!spared->keep || e != spared->keep) && !exporter_in_use(e)) {
            evict_exporter(t, shard, e, victims);
            return true;
        }
    }
    return false;
}

/* Makes one exporter of any shard give way, those of this shard first. No lock may be held: one shard's is taken at a
 * time. */
static bool evict_somewhere(struct session_table *t, const struct shard *first,
                            const struct spared *spared, struct list *victims)
{
    size_t start = (size_t)(first - t->shard);
    for (int class = UNPROVEN; class < N_CLASSES; class ++) {
        for (size_t i = 0; i < t->n_shards; i++) {
            struct shard *shard = &t->shard[(start + i) & (t->n_shards - 1)];
            pthread_mutex_lock(&shard->lock);
            bool done = evict_one_of(t, shard, class, spared, victims);
            pthread_mutex_unlock(&shard->lock);
            if (done) {
                return true;
            }
        }
    }
    return false;
}

static size_t bytes_of(struct session_table *t)
{
    return sum_of(&t->n_bytes) + plan_table_bytes(t->plans);
}

bool session_make_room(struct session_table *t, const struct session *session, int64_t now_ns,
                       struct list *victims)
{
    /* relaxed: a hint; who has not proved itself displaces nobody who has, unless that one fell silent */
    bool proven = atomic_load_explicit(&session->proven, memory_order_relaxed);
    struct spared spared = {.keep = session->exporter,
                            .proven_since_ns = proven ? INT64_MAX : now_ns - IDLE_NS};
    const struct shard *shard = shard_of(t, session->exporter->hash.hash);
    while (bytes_of(t) > t->max_bytes) {
        if (!evict_somewhere(t, shard, &spared, victims)) {
            return false;
        }
    }
    return true;
}

void session_account(struct session_table *t, size_t templates_before, size_t bytes_before,
                     const struct templates *templates)
{
    add(&t->n_templates, templates->n);
    subtract(&t->n_templates, templates_before);
    add(&t->n_bytes, templates_bytes(templates));
    subtract(&t->n_bytes, bytes_before);
}

/* ---- look-up and creation ---- */

static bool is_due(int64_t touched_ns, int64_t now_ns)
{
    return now_ns - touched_ns >= TOUCH_NS || now_ns < touched_ns;
}

static void touch(struct shard *shard, struct session *s, int64_t now_ns)
{
    struct exporter *e = s->exporter;
    if (is_due(e->touched_ns, now_ns)) {
        e->touched_ns = now_ns;
        list_remove(&e->lru);
        list_append(&shard->lru[e->proven ? PROVEN : UNPROVEN], &e->lru);
    }
    if (is_due(s->touched_ns, now_ns)) {
        s->touched_ns = now_ns;
        list_remove(&s->lru);
        /* relaxed: written under the shard lock, which we hold */
        bool proven = atomic_load_explicit(&s->proven, memory_order_relaxed);
        list_append(&e->sessions[proven ? PROVEN : UNPROVEN], &s->lru);
    }
}

/* Takes an exporter without sessions out of the table. */
static void exporter_forget(struct session_table *t, struct shard *shard, struct exporter *e)
{
    hash_remove(&shard->exporters, &e->hash);
    list_remove(&e->lru);
    subtract(&t->n_exporters, 1);
    subtract(&t->n_bytes, sizeof(*e) + MALLOC_BYTES);
    free(e);
}

static struct exporter *exporter_new(struct session_table *t, struct shard *shard,
                                     const struct wf_addr *addr, uint64_t hash, int64_t now_ns)
{
    /* relaxed: a budget; taken before it is used, so that no two workers use the same place */
    if (atomic_fetch_add_explicit(&t->n_exporters, 1, memory_order_relaxed) >= t->max_exporters) {
        subtract(&t->n_exporters, 1);
        return NULL;
    }
    struct exporter *e = calloc(1, sizeof(*e));
    if (!e) {
        subtract(&t->n_exporters, 1);
        return NULL;
    }
    e->addr = *addr;
    e->touched_ns = now_ns;
    list_init(&e->sessions[UNPROVEN]);
    list_init(&e->sessions[PROVEN]);
    pending_owner_init(&e->pending);
    if (hash_insert(&shard->exporters, &e->hash, hash) < 0) {
        subtract(&t->n_exporters, 1);
        free(e);
        return NULL;
    }
    list_append(&shard->lru[UNPROVEN], &e->lru);
    add(&t->n_bytes, sizeof(*e) + MALLOC_BYTES);
    return e;
}

/* Makes a session of a known exporter, in use by the caller. */
static struct session *session_new(struct session_table *t, struct shard *shard, struct exporter *e,
                                   const struct session_key *key, uint64_t hash, int64_t now_ns)
{
    struct session *s = calloc(1, sizeof(*s));
    if (!s || hash_insert(&shard->sessions, &s->hash, hash) < 0) {
        free(s);
        return NULL;
    }
    s->key = *key;
    s->exporter = e;
    s->touched_ns = now_ns;
    s->first_seen_ns = now_ns;
    atomic_init(&s->n_refs, 1);
    atomic_init(&s->n_users, 1);
    lock_init(&s->lock);
    /* relaxed: only has to be unique */
    pending_share_init(&s->pending,
                       atomic_fetch_add_explicit(&t->next_serial, 1, memory_order_relaxed));
    list_append(&e->sessions[UNPROVEN], &s->lru);
    e->n_sessions++;
    /* relaxed: the shard lock is held, nobody frees it */
    atomic_fetch_add_explicit(&e->n_refs, 1, memory_order_relaxed);
    add(&t->n_sessions, 1);
    add(&t->n_bytes, sizeof(*s) + MALLOC_BYTES);
    return s;
}

/* Makes the least recently used domain of an exporter give way. */
static bool evict_domain_of(struct session_table *t, struct shard *shard, struct exporter *e,
                            struct list *victims)
{
    for (int class = 0; class < N_CLASSES; class ++) {
        for (struct list *l = e->sessions[class].next; l != &e->sessions[class]; l = l->next) {
            struct session *s = LIST_ITEM(l, struct session, lru);
            if (!session_in_use(s)) {
                evict_session(t, shard, s, victims);
                return true;
            }
        }
    }
    return false;
}

/* Makes the session, in use by the caller, and its exporter when that is new. Shard lock held. */
static struct session *make_session(struct session_table *t, struct shard *shard,
                                    const struct session_key *key, uint64_t exporter,
                                    int64_t now_ns, struct list *victims)
{
    struct exporter *e = exporter_find(shard, &key->exporter, exporter);
    if (!e) {
        e = exporter_new(t, shard, &key->exporter, exporter, now_ns);
    }
    if (!e) {
        return NULL;
    }
    struct session *s = session_new(t, shard, e, key, session_hash(exporter, key), now_ns);
    if (!s) {
        if (e->n_sessions == 0) {
            exporter_forget(t, shard, e);
        }
        return NULL;
    }
    if (e->n_sessions > t->max_domains && !evict_domain_of(t, shard, e, victims)) {
        /* relaxed: under the shard lock, nobody else knows it */
        atomic_store_explicit(&s->n_users, 0, memory_order_relaxed);
        evict_session(t, shard, s, victims);
        return NULL;
    }
    return s;
}

/* Finds the session and takes it into use. exporter: what is known of it even if there is no such session. */
static struct session *take_known(struct session_table *t, const struct session_key *key,
                                  uint64_t exporter, int64_t now_ns, const struct exporter **known)
{
    struct shard *shard = shard_of(t, exporter);
    pthread_mutex_lock(&shard->lock);
    struct session *s = session_find(shard, key, session_hash(exporter, key));
    if (s) {
        touch(shard, s, now_ns);
        /* relaxed: under the shard lock, where it is read */
        atomic_fetch_add_explicit(&s->n_users, 1, memory_order_relaxed);
    } else {
        *known = exporter_find(shard, &key->exporter, exporter);
    }
    pthread_mutex_unlock(&shard->lock);
    return s;
}

struct session *session_get(struct session_table *t, const struct session_key *key, int64_t now_ns,
                            struct list *victims)
{
    enum {
        MAX_TRIES = 64 /* what one worker makes room for, another may take */
    };
    uint64_t exporter = exporter_hash(t, &key->exporter);
    struct shard *shard = shard_of(t, exporter);
    for (int i = 0; i < MAX_TRIES; i++) {
        const struct exporter *known = NULL;
        struct session *s = take_known(t, key, exporter, now_ns, &known);
        if (s) {
            return s;
        }
        if (bytes_of(t) + sizeof(struct exporter) + sizeof(*s) > t->max_bytes ||
            (!known && sum_of(&t->n_exporters) >= t->max_exporters)) {
            struct spared spared = {.keep = known, .proven_since_ns = INT64_MAX};
            if (!evict_somewhere(t, shard, &spared, victims)) {
                return NULL;
            }
            continue;
        }
        pthread_mutex_lock(&shard->lock);
        if (!session_find(shard, key, session_hash(exporter, key))) {
            s = make_session(t, shard, key, exporter, now_ns, victims);
        }
        pthread_mutex_unlock(&shard->lock);
        if (s || known) {
            return s; /* a known exporter has no room for one domain more */
        }
    }
    return NULL;
}

void session_prove(struct session_table *t, struct session *s)
{
    struct exporter *e = s->exporter;
    struct shard *shard = shard_of(t, e->hash.hash);
    pthread_mutex_lock(&shard->lock);
    /* relaxed: a hint for those without the lock */
    if (!atomic_exchange_explicit(&s->proven, true, memory_order_relaxed)) {
        list_remove(&s->lru);
        list_append(&e->sessions[PROVEN], &s->lru);
    }
    if (!e->proven) {
        e->proven = true;
        list_remove(&e->lru);
        list_append(&shard->lru[PROVEN], &e->lru);
        pending_prove(t->pending, &e->pending);
    }
    pthread_mutex_unlock(&shard->lock);
}

/* ---- reports ---- */

struct session_counts session_table_counts(struct session_table *t)
{
    return (struct session_counts){.n_exporters = sum_of(&t->n_exporters),
                                   .n_sessions = sum_of(&t->n_sessions),
                                   .n_templates = sum_of(&t->n_templates),
                                   .n_bytes = bytes_of(t)};
}

/* References to all sessions of a shard. */
static int snapshot(struct shard *shard, struct session ***sessions, size_t *n_sessions)
{
    int rc = 0;
    size_t n = 0;
    struct session **all = NULL;
    pthread_mutex_lock(&shard->lock);
    if (shard->sessions.n_items > 0) {
        all = malloc(shard->sessions.n_items * sizeof(struct session *));
        rc = all ? 0 : WF_E_NOMEM;
    }
    for (size_t i = 0; all && i < shard->sessions.n_slots; i++) {
        for (struct hash_link *l = shard->sessions.slot[i]; l; l = l->next) {
            all[n] = LIST_ITEM(l, struct session, hash);
            session_ref(all[n++]);
        }
    }
    pthread_mutex_unlock(&shard->lock);
    *sessions = all;
    *n_sessions = n;
    return rc;
}

int session_each(struct session_table *t, int (*each)(void *ctx, struct session *session),
                 void *ctx)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < t->n_shards; i++) {
        struct session **all;
        size_t n;
        rc = snapshot(&t->shard[i], &all, &n);
        for (size_t k = 0; k < n; k++) {
            rc = rc == 0 ? each(ctx, all[k]) : rc;
            session_unref(all[k]);
        }
        free(all);
    }
    return rc;
}

/* ---- life ---- */

struct session_table *session_table_new(const struct decoder_limits *limits, uint64_t seed,
                                        struct pending *pending, struct plan_table *plans)
{
    struct session_table *t = calloc(1, sizeof(*t));
    if (!t) {
        return NULL;
    }
    t->n_shards = limits->max_exporters < FEW_EXPORTERS ? 1 : N_SHARDS;
    t->shard = calloc(t->n_shards, sizeof(*t->shard));
    if (!t->shard) {
        free(t);
        return NULL;
    }
    t->seed = seed;
    t->max_exporters = limits->max_exporters;
    t->max_domains = limits->max_domains_per_exporter;
    t->max_bytes = limits->max_session_bytes;
    t->pending = pending;
    t->plans = plans;
    for (size_t i = 0; i < t->n_shards; i++) {
        lock_init(&t->shard[i].lock);
        list_init(&t->shard[i].lru[UNPROVEN]);
        list_init(&t->shard[i].lru[PROVEN]);
    }
    return t;
}

void session_table_free(struct session_table *t)
{
    if (!t) {
        return;
    }
    struct list victims;
    list_init(&victims);
    struct spared nobody = {.proven_since_ns = INT64_MAX};
    for (size_t i = 0; i < t->n_shards; i++) {
        struct shard *shard = &t->shard[i];
        for (int class = 0; class < N_CLASSES; class ++) {
            while (evict_one_of(t, shard, class, &nobody, &victims)) {
            }
        }
        hash_deinit(&shard->exporters);
        hash_deinit(&shard->sessions);
        pthread_mutex_destroy(&shard->lock);
    }
    while (!list_empty(&victims)) {
        struct held *held = LIST_ITEM(victims.next, struct held, link);
        struct session *session = session_of_share(held->share);
        list_remove(&held->link);
        held_free(held);
        session_unref(session);
    }
    free(t->shard);
    free(t);
}
