// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "decoder/session/pending.h"
#include "tests/support/support.h"

#define N_OWNERS 6

/* Exporters with one session each. */
struct world {
    struct pending *pending;
    struct pending_owner owner[N_OWNERS];
    struct pending_share share[N_OWNERS];
    struct list out; /* victims, or what was taken */
};

static struct world begin(size_t max_bytes, size_t max_owner_bytes)
{
    struct pending_limits limits = {.max_bytes = max_bytes, .max_owner_bytes = max_owner_bytes};
    return (struct world){.pending = pending_new(&limits, 7)};
}

/* Apart from begin(), since lists point to themselves. */
static void init(struct world *w)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(w->pending);
    for (uint64_t i = 0; i < N_OWNERS; i++) {
        pending_owner_init(&w->owner[i]);
        pending_share_init(&w->share[i], i + 1);
    }
    list_init(&w->out);
}

static size_t drop_out(struct world *w)
{
    size_t n = 0;
    while (!list_empty(&w->out)) {
        struct held *held = LIST_ITEM(w->out.next, struct held, link);
        list_remove(&held->link);
        held_free(held);
        n++;
    }
    return n;
}

static void end(struct world *w)
{
    drop_out(w);
    pending_free(w->pending);
}

static int hold(struct world *w, int owner, uint16_t id, int64_t received_ns, size_t len)
{
    static const uint8_t octets[65536];
    struct decoder_message message = {.received_ns = received_ns};
    struct pending_set set = {.message = &message,
                              .slot = (uint64_t)received_ns,
                              .template_id = id,
                              .data = octets,
                              .len = len};
    bool first;
    return pending_hold(w->pending, &w->owner[owner], &w->share[owner], &set, &first, &w->out);
}

static void what_is_held_is_taken_with_its_octets(void)
{
    struct world w = begin(1 << 20, 1 << 20);
    init(&w);
    struct decoder_message message = {.received_ns = 5, .domain = 9};
    struct pending_set set = {.message = &message,
                              .slot = 3,
                              .offset = 20,
                              .template_id = 256,
                              .data = (const uint8_t *)"abc",
                              .len = 3};
    bool first = false;
    CU_ASSERT_EQUAL(pending_hold(w.pending, &w.owner[0], &w.share[0], &set, &first, &w.out), 0);
    CU_ASSERT_TRUE(first);
    CU_ASSERT_EQUAL(pending_hold(w.pending, &w.owner[0], &w.share[0], &set, &first, &w.out), 0);
    CU_ASSERT_FALSE(first);
    CU_ASSERT_EQUAL(pending_share_counts(w.pending, &w.share[0]).n_octets, 6U);
    pending_take(w.pending, &w.share[0], 257, &w.out);
    pending_take(w.pending, &w.share[1], 256, &w.out);
    CU_ASSERT_TRUE(list_empty(&w.out));
    pending_take(w.pending, &w.share[0], 256, &w.out);
    CU_ASSERT_FATAL(!list_empty(&w.out));
    struct held *held = LIST_ITEM(w.out.next, struct held, link);
    CU_ASSERT_EQUAL(held->len, 3U);
    CU_ASSERT_EQUAL(memcmp(held->data, "abc", 3), 0);
    CU_ASSERT_EQUAL(held->message.domain, 9U);
    CU_ASSERT_EQUAL(held->slot, 3U);
    CU_ASSERT_EQUAL(held->offset, 20U);
    CU_ASSERT_EQUAL(drop_out(&w), 2U);
    struct pending_counts counts = pending_counts(w.pending);
    CU_ASSERT_EQUAL(counts.n_sets + counts.n_octets + counts.n_bytes, 0U);
    end(&w);
}

static void taken_sets_sort_by_slot_and_place(void)
{
    struct world w = begin(1 << 20, 1 << 20);
    init(&w);
    static const int64_t slots[] = {5, 1, 9, 3, 3, 7, 2, 8, 6, 4, 0};
    for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
        hold(&w, 0, 256, slots[i], i + 1);
    }
    pending_take(w.pending, &w.share[0], 256, &w.out);
    list_sort(&w.out, held_before);
    uint64_t last = 0;
    size_t last_len = 0;
    size_t n = 0;
    for (struct list *l = w.out.next; l != &w.out; l = l->next) {
        const struct held *held = LIST_ITEM(l, struct held, link);
        CU_ASSERT_TRUE(held->slot >= last);
        CU_ASSERT_TRUE(held->slot > last || n == 0 || held->len > last_len); /* stable */
        CU_ASSERT_PTR_EQUAL(l->next->prev, l);
        last = held->slot;
        last_len = held->len;
        n++;
    }
    CU_ASSERT_EQUAL(n, sizeof(slots) / sizeof(slots[0]));
    end(&w);
}

static void empty_and_oversized_sets_are_refused(void)
{
    struct world w = begin(4096, 2048);
    init(&w);
    CU_ASSERT_EQUAL(hold(&w, 0, 256, 1, 0), WF_E_INVAL);
    CU_ASSERT_EQUAL(hold(&w, 0, 256, 1, 2048), WF_E_LIMIT);
    CU_ASSERT_EQUAL(hold(&w, 0, 256, 1, 1000), 0);
    CU_ASSERT_TRUE(list_empty(&w.out));
    end(&w);
}

static void a_quota_costs_only_its_own_exporter(void)
{
    struct world w = begin(1 << 20, 8192);
    init(&w);
    hold(&w, 1, 256, 0, 1000);
    for (int64_t i = 1; i <= 100; i++) {
        CU_ASSERT_EQUAL(hold(&w, 0, (uint16_t)(256 + i % 3), i, 1000), 0);
        CU_ASSERT_TRUE(w.owner[0].bytes <= 8192);
    }
    int64_t expected = 1;
    for (struct list *l = w.out.next; l != &w.out; l = l->next) {
        const struct held *held = LIST_ITEM(l, struct held, link);
        CU_ASSERT_PTR_EQUAL(held->owner, &w.owner[0]);
        CU_ASSERT_EQUAL(held->message.received_ns, expected++);
    }
    CU_ASSERT_EQUAL(pending_share_counts(w.pending, &w.share[1]).n_sets, 1U);
    end(&w);
}

static void the_budget_takes_from_the_unproven_first(void)
{
    struct world w = begin(10000, 10000);
    init(&w);
    pending_prove(w.pending, &w.owner[0]);
    hold(&w, 0, 256, 1, 3400);
    hold(&w, 1, 256, 2, 3400);
    hold(&w, 0, 257, 3, 3400);
    CU_ASSERT_EQUAL(pending_share_counts(w.pending, &w.share[1]).n_sets, 0U);
    CU_ASSERT_EQUAL(pending_share_counts(w.pending, &w.share[0]).n_sets, 2U);
    CU_ASSERT_EQUAL(drop_out(&w), 1U);
    end(&w);
}

/* The model: every set in an array, searched from end to end. */
struct model {
    bool live[4096];
    int owner[4096];
    int64_t received_ns[4096];
    bool proven[N_OWNERS];
    size_t n;
};

static size_t model_victim(const struct model *m, int owner)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < m->n; i++) {
        if (!m->live[i] || (owner >= 0 && m->owner[i] != owner)) {
            continue;
        }
        bool better = best == SIZE_MAX;
        if (!better && m->proven[m->owner[i]] != m->proven[m->owner[best]]) {
            better = !m->proven[m->owner[i]];
        } else if (!better) {
            better = m->received_ns[i] < m->received_ns[best];
        }
        best = better ? i : best;
    }
    return best;
}

static void victims_are_those_of_a_naive_model(void)
{
    struct world w = begin(20000, 1 << 20); /* no quota: the total budget alone decides */
    init(&w);
    static struct model m;
    m = (struct model){0};
    unsigned random = 3;
    size_t n_victims = 0;
    for (int64_t i = 0; i < 4000; i++) {
        random = random * 1103515245U + 12345U;
        int owner = (int)(random >> 16) % N_OWNERS;
        if (i % 500 == 499) {
            pending_prove(w.pending, &w.owner[owner]);
            m.proven[owner] = true;
        }
        size_t len = 1 + (random >> 8 & 1023);
        CU_ASSERT_EQUAL(hold(&w, owner, (uint16_t)(256 + (random >> 4 & 3)), i, len), 0);
        while (!list_empty(&w.out)) {
            struct held *held = LIST_ITEM(w.out.next, struct held, link);
            size_t victim = model_victim(&m, -1);
            CU_ASSERT_FATAL(victim != SIZE_MAX);
            CU_ASSERT_EQUAL_FATAL(held->message.received_ns, m.received_ns[victim]);
            m.live[victim] = false;
            list_remove(&held->link);
            held_free(held);
            n_victims++;
        }
        m.live[m.n] = true;
        m.owner[m.n] = owner;
        m.received_ns[m.n++] = i;
        CU_ASSERT_FATAL(pending_counts(w.pending).n_bytes <= 20000);
    }
    CU_ASSERT_EQUAL(pending_counts(w.pending).n_sets + n_victims, 4000U);
    end(&w);
}

static void expiry_takes_all_that_is_old_and_nothing_else(void)
{
    struct world w = begin(1 << 20, 1 << 20);
    init(&w);
    pending_prove(w.pending, &w.owner[2]);
    for (int64_t i = 0; i < 60; i++) {
        hold(&w, (int)(i % N_OWNERS), (uint16_t)(256 + i % 7), i, 10);
    }
    pending_expire(w.pending, 25, &w.out);
    for (struct list *l = w.out.next; l != &w.out; l = l->next) {
        CU_ASSERT_TRUE(LIST_ITEM(l, struct held, link)->message.received_ns < 25);
    }
    CU_ASSERT_EQUAL(drop_out(&w), 25U);
    CU_ASSERT_EQUAL(pending_counts(w.pending).n_sets, 35U);
    end(&w);
}

static void a_session_that_goes_takes_its_sets_along(void)
{
    struct world w = begin(1 << 20, 1 << 20);
    init(&w);
    for (int64_t i = 0; i < 40; i++) {
        hold(&w, (int)(i % 2), (uint16_t)(256 + i % 8), i, 10);
    }
    pending_drop(w.pending, &w.share[0], &w.out);
    CU_ASSERT_EQUAL(drop_out(&w), 20U);
    CU_ASSERT_EQUAL(pending_share_counts(w.pending, &w.share[0]).n_sets, 0U);
    CU_ASSERT_EQUAL(pending_share_counts(w.pending, &w.share[1]).n_sets, 20U);
    end(&w);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"what is held is taken with its octets", what_is_held_is_taken_with_its_octets},
        {"taken sets sort by slot and place", taken_sets_sort_by_slot_and_place},
        {"empty and oversized sets are refused", empty_and_oversized_sets_are_refused},
        {"a quota costs only its own exporter", a_quota_costs_only_its_own_exporter},
        {"the budget takes from the unproven first", the_budget_takes_from_the_unproven_first},
        {"victims are those of a naive model", victims_are_those_of_a_naive_model},
        {"expiry takes all that is old and nothing else",
         expiry_takes_all_that_is_old_and_nothing_else},
        {"a session that goes takes its sets along", a_session_that_goes_takes_its_sets_along},
    };
    return test_main("pending", cases, sizeof(cases) / sizeof(cases[0]));
}
