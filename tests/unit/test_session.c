// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "decoder/session/session.h"
#include "tests/support/support.h"

struct world {
    struct plan_table *plans;
    struct pending *pending;
    struct session_table *table;
    struct list victims;
};

static void begin(struct world *w, size_t max_exporters, size_t max_domains, size_t max_bytes)
{
    struct pending_limits pending = {.max_bytes = 1 << 20, .max_owner_bytes = 1 << 20};
    struct decoder_limits limits = {.max_exporters = max_exporters,
                                    .max_domains_per_exporter = max_domains,
                                    .max_session_bytes = max_bytes};
    w->plans = plan_table_new(NULL);
    w->pending = pending_new(&pending, 1);
    w->table = session_table_new(&limits, 1, w->pending, w->plans);
    CU_ASSERT_FATAL(w->plans && w->pending && w->table);
    list_init(&w->victims);
}

static void end(struct world *w)
{
    session_table_free(w->table);
    pending_free(w->pending);
    plan_table_free(w->plans);
}

static struct session *get(struct world *w, uint32_t exporter, uint32_t domain, int64_t now_s)
{
    uint8_t bytes[4] = {(uint8_t)(exporter >> 24), (uint8_t)(exporter >> 16),
                        (uint8_t)(exporter >> 8), (uint8_t)exporter};
    struct session_key key = {.exporter = wf_addr_v4(bytes), .domain = domain, .version = 9};
    return session_get(w->table, &key, now_s * WF_NS_PER_S, &w->victims);
}

/* Uses the session once. */
static bool use(struct world *w, uint32_t exporter, uint32_t domain, int64_t now_s)
{
    struct session *s = get(w, exporter, domain, now_s);
    if (s) {
        session_put(s);
    }
    return s != NULL;
}

static struct session *must_get(struct world *w, uint32_t exporter, uint32_t domain, int64_t now_s)
{
    struct session *s = get(w, exporter, domain, now_s);
    if (!s) {
        abort();
    }
    return s;
}

struct search {
    uint32_t exporter, domain;
    bool found;
};

static int look(void *ctx, struct session *s)
{
    struct search *search = ctx;
    const uint8_t *b = s->key.exporter.bytes;
    uint32_t exporter = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    search->found |= exporter == search->exporter && s->key.domain == search->domain;
    return 0;
}

static bool has(struct world *w, uint32_t exporter, uint32_t domain)
{
    struct search search = {.exporter = exporter, .domain = domain};
    CU_ASSERT_EQUAL(session_each(w->table, look, &search), 0);
    return search.found;
}

static void the_same_key_is_the_same_session(void)
{
    struct world w;
    begin(&w, 100, 100, 1 << 20);
    struct session *a = must_get(&w, 1, 1, 0);
    struct session *b = must_get(&w, 1, 1, 0);
    struct session *c = must_get(&w, 1, 2, 0);
    struct session *d = must_get(&w, 2, 1, 0);
    CU_ASSERT_PTR_EQUAL(a, b);
    CU_ASSERT_PTR_NOT_EQUAL(a, c);
    CU_ASSERT_PTR_NOT_EQUAL(a, d);
    CU_ASSERT_PTR_EQUAL(a->exporter, c->exporter);
    CU_ASSERT_PTR_NOT_EQUAL(a->exporter, d->exporter);
    struct session_counts counts = session_table_counts(w.table);
    CU_ASSERT_EQUAL(counts.n_exporters, 2U);
    CU_ASSERT_EQUAL(counts.n_sessions, 3U);
    session_put(a);
    session_put(b);
    session_put(c);
    session_put(d);
    end(&w);
}

static void the_least_recently_used_exporter_gives_way(void)
{
    struct world w;
    begin(&w, 3, 10, 1 << 20);
    use(&w, 1, 1, 0);
    use(&w, 2, 1, 1);
    use(&w, 3, 1, 2);
    use(&w, 1, 1, 3);
    CU_ASSERT_TRUE(use(&w, 4, 1, 4));
    CU_ASSERT_FALSE(has(&w, 2, 1));
    CU_ASSERT_TRUE(has(&w, 1, 1));
    CU_ASSERT_TRUE(use(&w, 5, 1, 5));
    CU_ASSERT_FALSE(has(&w, 3, 1));
    CU_ASSERT_EQUAL(session_table_counts(w.table).n_exporters, 3U);
    end(&w);
}

static void proven_exporters_give_way_last(void)
{
    struct world w;
    begin(&w, 3, 10, 1 << 20);
    struct session *old = must_get(&w, 1, 1, 0);
    session_prove(w.table, old);
    session_put(old);
    use(&w, 1, 1, 1); /* that it is used again does not unmake it */
    for (uint32_t i = 2; i < 200; i++) {
        CU_ASSERT_TRUE(use(&w, i, 1, i));
    }
    CU_ASSERT_TRUE(has(&w, 1, 1));
    /* when all are proven, the oldest of them */
    for (uint32_t i = 198; i < 200; i++) {
        struct session *s = must_get(&w, i, 1, 200);
        session_prove(w.table, s);
        session_put(s);
    }
    CU_ASSERT_TRUE(use(&w, 300, 1, 300));
    CU_ASSERT_FALSE(has(&w, 1, 1));
    end(&w);
}

static void what_is_in_use_is_not_evicted(void)
{
    struct world w;
    begin(&w, 2, 10, 1 << 20);
    struct session *a = must_get(&w, 1, 1, 0);
    struct session *b = must_get(&w, 2, 1, 1);
    CU_ASSERT_PTR_NULL(get(&w, 3, 1, 2));
    session_put(b);
    CU_ASSERT_TRUE(use(&w, 3, 1, 3));
    CU_ASSERT_TRUE(has(&w, 1, 1));
    CU_ASSERT_FALSE(has(&w, 2, 1));
    session_put(a);
    end(&w);
}

static void an_exporter_has_a_bounded_number_of_domains(void)
{
    struct world w;
    begin(&w, 10, 3, 1 << 20);
    for (uint32_t d = 0; d < 100; d++) {
        CU_ASSERT_TRUE(use(&w, 1, d, d));
        CU_ASSERT_TRUE(session_table_counts(w.table).n_sessions <= 3);
    }
    CU_ASSERT_TRUE(has(&w, 1, 99));
    CU_ASSERT_TRUE(has(&w, 1, 97));
    CU_ASSERT_FALSE(has(&w, 1, 96));
    CU_ASSERT_EQUAL(session_table_counts(w.table).n_exporters, 1U);
    struct session *a = must_get(&w, 1, 97, 200);
    struct session *b = must_get(&w, 1, 98, 200);
    struct session *c = must_get(&w, 1, 99, 200);
    CU_ASSERT_PTR_NULL(get(&w, 1, 100, 201));
    CU_ASSERT_EQUAL(session_table_counts(w.table).n_sessions, 3U);
    session_put(a);
    session_put(b);
    session_put(c);
    end(&w);
}

static void one_domain_each_can_be_replaced(void)
{
    struct world w;
    begin(&w, 10, 1, 1 << 20);
    CU_ASSERT_TRUE(use(&w, 1, 1, 0));
    CU_ASSERT_TRUE(use(&w, 1, 2, 1));
    CU_ASSERT_FALSE(has(&w, 1, 1));
    CU_ASSERT_TRUE(has(&w, 1, 2));
    end(&w);
}

static void a_flood_of_addresses_keeps_the_budgets(void)
{
    struct world w;
    begin(&w, 5000, 16, 1 << 20);
    for (uint32_t i = 0; i < 50000; i++) {
        CU_ASSERT_FATAL(use(&w, i * 2654435761U, 1, i / 100));
    }
    struct session_counts counts = session_table_counts(w.table);
    CU_ASSERT_TRUE(counts.n_exporters <= 5000);
    CU_ASSERT_TRUE(counts.n_bytes <= 1 << 20);
    CU_ASSERT_TRUE(counts.n_exporters > 100);
    end(&w);
}

static void a_session_outlives_its_eviction_while_referred_to(void)
{
    struct world w;
    begin(&w, 1, 1, 1 << 20);
    struct session *a = must_get(&w, 1, 1, 0);
    session_ref(a);
    session_put(a);
    CU_ASSERT_TRUE(use(&w, 2, 1, 1));
    CU_ASSERT_FALSE(has(&w, 1, 1));
    CU_ASSERT_EQUAL(a->key.domain, 1U);
    CU_ASSERT_EQUAL(a->exporter->addr.bytes[3], 1U);
    session_unref(a);
    end(&w);
}

static int stop_at_once(void *ctx, struct session *s)
{
    (void)s;
    ++*(int *)ctx;
    return 42;
}

static void a_visit_stops_when_told(void)
{
    struct world w;
    begin(&w, 100, 10, 1 << 20);
    use(&w, 1, 1, 0);
    use(&w, 2, 1, 0);
    int n = 0;
    CU_ASSERT_EQUAL(session_each(w.table, stop_at_once, &n), 42);
    CU_ASSERT_EQUAL(n, 1);
    end(&w);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"the same key is the same session", the_same_key_is_the_same_session},
        {"the least recently used exporter gives way", the_least_recently_used_exporter_gives_way},
        {"proven exporters give way last", proven_exporters_give_way_last},
        {"what is in use is not evicted", what_is_in_use_is_not_evicted},
        {"an exporter has a bounded number of domains",
         an_exporter_has_a_bounded_number_of_domains},
        {"one domain each can be replaced", one_domain_each_can_be_replaced},
        {"a flood of addresses keeps the budgets", a_flood_of_addresses_keeps_the_budgets},
        {"a session outlives its eviction while referred to",
         a_session_outlives_its_eviction_while_referred_to},
        {"a visit stops when told", a_visit_stops_when_told},
    };
    return test_main("session", cases, sizeof(cases) / sizeof(cases[0]));
}
