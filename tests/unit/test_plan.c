// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <string.h>

#include "decoder/template/plan.h"
#include "tests/support/support.h"

/* A flow template with each kind of field that matters here. */
static const struct plan_spec flow[] = {
    {.id = 8, .length = 4},   /* sourceIPv4Address */
    {.id = 56, .length = 6},  /* sourceMacAddress */
    {.id = 1, .length = 4},   /* octetDeltaCount, reduced size */
    {.id = 152, .length = 8}, /* flowStartMilliseconds */
    {.pen = 29305, .id = 1, .length = 8},
};
#define N_FLOW (sizeof(flow) / sizeof(flow[0]))

static struct plan *intern(struct plan_table *t, const struct plan_spec *specs, size_t n)
{
    struct plan *plan = NULL;
    CU_ASSERT_EQUAL_FATAL(plan_intern(t, 10, PLAN_DATA, specs, n, 0, &plan), WF_OK);
    CU_ASSERT_PTR_NOT_NULL_FATAL(plan);
    return plan;
}

static struct plan_table *table_new(const struct plan_hooks *hooks)
{
    struct plan_table *t = plan_table_new_seeded(hooks, 42);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    return t;
}

/* ---- what a plan says ---- */

static void a_plan_lays_out_its_fields(void)
{
    struct plan_table *t = table_new(NULL);
    struct plan *p = intern(t, flow, N_FLOW);
    static const uint32_t offsets[N_FLOW] = {0, 4, 10, 14, 22};
    static const uint32_t lengths[N_FLOW] = {4, 6, 4, 8, 8};
    CU_ASSERT_EQUAL(p->version, 10);
    CU_ASSERT_EQUAL(p->kind, PLAN_DATA);
    CU_ASSERT_EQUAL(p->n_fields, N_FLOW);
    CU_ASSERT_EQUAL(p->n_scope, 0U);
    CU_ASSERT_TRUE(p->fixed);
    CU_ASSERT_EQUAL(p->min_length, 30U);
    CU_ASSERT_EQUAL(memcmp(p->offset, offsets, sizeof(offsets)), 0);
    CU_ASSERT_EQUAL(memcmp(p->length, lengths, sizeof(lengths)), 0);
    CU_ASSERT_EQUAL(p->field[0].value, PLAN_IPV4);
    CU_ASSERT_EQUAL(p->field[2].value, PLAN_UNSIGNED);
    CU_ASSERT_PTR_EQUAL(p->field[3].element, element_find(0, 152));
    CU_ASSERT_PTR_EQUAL(p->field[4].element, element_find(29305, 1));
    plan_unref(t, p);
    plan_table_free(t);
}

static void a_variable_field_counts_one_octet_and_unfixes_the_plan(void)
{
    static const struct plan_spec specs[] = {
        {.id = 4, .length = 1}, {.id = 82, .length = PLAN_VARLEN}, {.id = 7, .length = 2}};
    struct plan_table *t = table_new(NULL);
    struct plan *p = intern(t, specs, 3);
    CU_ASSERT_FALSE(p->fixed);
    CU_ASSERT_EQUAL(p->min_length, 4U);
    CU_ASSERT_EQUAL(p->field[1].length, PLAN_VARLEN);
    plan_unref(t, p);
    plan_table_free(t);
}

static void options_mark_their_scope_fields(void)
{
    static const struct plan_spec specs[] = {{.pen = ELEMENT_PEN_V9_SCOPE, .id = 1, .length = 4},
                                             {.id = 34, .length = 4}};
    struct plan_table *t = table_new(NULL);
    struct plan *p = NULL;
    CU_ASSERT_EQUAL_FATAL(plan_intern(t, 9, PLAN_OPTIONS, specs, 2, 1, &p), WF_OK);
    CU_ASSERT_EQUAL(p->kind, PLAN_OPTIONS);
    CU_ASSERT_EQUAL(p->n_scope, 1U);
    CU_ASSERT_TRUE(p->field[0].scope);
    CU_ASSERT_FALSE(p->field[1].scope);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p->field[0].element);
    CU_ASSERT_STRING_EQUAL(p->field[0].element->name, "system");
    plan_unref(t, p);
    plan_table_free(t);
}

static void v9_fields_fall_back_to_v9s_own_types(void)
{
    static const struct plan_spec specs[] = {{.id = 40005, .length = 1}};
    struct plan_table *t = table_new(NULL);
    struct plan *v9 = NULL;
    CU_ASSERT_EQUAL_FATAL(plan_intern(t, 9, PLAN_DATA, specs, 1, 0, &v9), WF_OK);
    struct plan *ipfix = intern(t, specs, 1);
    CU_ASSERT_PTR_NOT_NULL(v9->field[0].element);
    CU_ASSERT_EQUAL(v9->field[0].value, PLAN_UNSIGNED);
    CU_ASSERT_PTR_NULL(ipfix->field[0].element);
    CU_ASSERT_EQUAL(ipfix->field[0].value, PLAN_BYTES);
    plan_unref(t, v9);
    plan_unref(t, ipfix);
    plan_table_free(t);
}

static void how_a_value_reads_depends_on_type_and_length(void)
{
    static const struct {
        uint16_t id;
        uint16_t len;
        enum plan_value value;
    } rules[] = {
        {4, 1, PLAN_UNSIGNED},       {4, 2, PLAN_UNSIGNED}, /* longer than its type */
        {1, 3, PLAN_UNSIGNED},       {1, 8, PLAN_UNSIGNED},
        {1, 9, PLAN_BYTES},          {4, 0, PLAN_EMPTY},
        {434, 1, PLAN_SIGNED},       {434, 8, PLAN_SIGNED},  /* mibObjectValueInteger */
        {434, 9, PLAN_BYTES},        {320, 8, PLAN_FLOAT64}, /* absoluteError */
        {320, 4, PLAN_FLOAT32},      {320, 2, PLAN_BYTES},
        {276, 1, PLAN_BOOLEAN},      {276, 2, PLAN_BYTES}, /* dataRecordsReliability */
        {56, 6, PLAN_MAC},           {56, 8, PLAN_BYTES},
        {82, 1, PLAN_STRING},        {82, 300, PLAN_STRING},
        {150, 4, PLAN_SECONDS},      {150, 8, PLAN_BYTES},
        {152, 8, PLAN_MILLISECONDS}, {152, 4, PLAN_BYTES},
        {154, 8, PLAN_MICROSECONDS}, {156, 8, PLAN_NANOSECONDS},
        {154, 7, PLAN_BYTES},        {156, 16, PLAN_BYTES},
        {8, 4, PLAN_IPV4},           {8, 16, PLAN_BYTES},
        {27, 16, PLAN_IPV6},         {27, 4, PLAN_BYTES},
        {43, 2, PLAN_BYTES}, /* H3C's ipv4RouterSc in 2 octets */
        {291, 20, PLAN_LIST},        {292, 5, PLAN_LIST},
        {293, 1, PLAN_LIST},         {313, 4, PLAN_BYTES},
        {65000, 4, PLAN_BYTES},      {65000, 0, PLAN_EMPTY},
    };
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        struct plan_field f = {.id = rules[i].id, .element = element_find(0, rules[i].id)};
        CU_ASSERT_EQUAL(plan_value_of(&f, rules[i].len), rules[i].value);
    }
}

static void a_float32_element_reads_eight_octets_as_float64(void)
{
    size_t n = 0;
    const struct element *all = element_all(&n);
    struct plan_field f = {0};
    for (size_t i = 0; i < n && !f.element; i++) {
        f.element = all[i].type == ELEMENT_FLOAT32 ? &all[i] : NULL;
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(f.element);
    CU_ASSERT_EQUAL(plan_value_of(&f, 4), PLAN_FLOAT32);
    CU_ASSERT_EQUAL(plan_value_of(&f, 8), PLAN_FLOAT64);
}

/* ---- repeated elements ---- */

static void repeated_elements_are_chained_in_order(void)
{
    static const struct plan_spec specs[] = {{.id = 70, .length = 3},
                                             {.id = 8, .length = 4},
                                             {.id = 70, .length = 3},
                                             {.id = 12, .length = 4},
                                             {.id = 70, .length = 3}};
    struct plan_table *t = table_new(NULL);
    struct plan *p = intern(t, specs, 5);
    static const uint16_t first[] = {0, 1, 0, 3, 0};
    static const uint16_t next[] = {2, 0, 4, 0, 0};
    for (size_t i = 0; i < 5; i++) {
        CU_ASSERT_EQUAL(p->field[i].first, first[i]);
        CU_ASSERT_EQUAL(p->field[i].next, next[i]);
    }
    plan_unref(t, p);
    plan_table_free(t);
}

static void the_same_number_of_another_enterprise_or_scope_is_no_repetition(void)
{
    static const struct plan_spec specs[] = {{.id = 149, .length = 4},
                                             {.id = 149, .length = 4},
                                             {.pen = 9, .id = 149, .length = 4},
                                             {.pen = 29305, .id = 149, .length = 4}};
    struct plan_table *t = table_new(NULL);
    struct plan *p = NULL;
    CU_ASSERT_EQUAL_FATAL(plan_intern(t, 10, PLAN_OPTIONS, specs, 4, 1, &p), WF_OK);
    for (uint16_t i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(p->field[i].first, i);
        CU_ASSERT_EQUAL(p->field[i].next, 0U);
    }
    plan_unref(t, p);
    plan_table_free(t);
}

static void thousands_of_equal_fields_make_one_chain(void)
{
    enum {
        n = 65531
    };
    static struct plan_spec specs[n];
    for (size_t i = 0; i < n; i++) {
        specs[i] = (struct plan_spec){.id = 4, .length = 1};
    }
    struct plan_table *t = table_new(NULL);
    struct plan *p = intern(t, specs, n);
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        ok = ok && p->field[i].first == 0 && p->field[i].next == (i + 1 < n ? i + 1 : 0);
    }
    CU_ASSERT_TRUE(ok);
    CU_ASSERT_EQUAL(p->min_length, n);
    plan_unref(t, p);
    plan_table_free(t);
}

/* ---- limits ---- */

static int result_of(const struct plan_spec *specs, size_t n, size_t n_scope)
{
    struct plan_table *t = table_new(NULL);
    struct plan *p = NULL;
    int rc = plan_intern(t, 10, PLAN_DATA, specs, n, n_scope, &p);
    CU_ASSERT_EQUAL(rc == WF_OK, p != NULL);
    CU_ASSERT_EQUAL(plan_table_count(t), rc == WF_OK);
    plan_unref(t, p);
    plan_table_free(t);
    return rc;
}

static void a_record_of_no_octets_is_refused(void)
{
    static const struct plan_spec specs[] = {{.id = 1, .length = 0}, {.id = 2, .length = 0}};
    CU_ASSERT_EQUAL(result_of(specs, 2, 0), WF_E_FORMAT);
}

static void an_empty_field_beside_others_is_fine(void)
{
    static const struct plan_spec specs[] = {{.id = 1, .length = 0}, {.id = 2, .length = 1}};
    CU_ASSERT_EQUAL(result_of(specs, 2, 0), WF_OK);
}

static void a_record_must_fit_a_set(void)
{
    static const struct plan_spec fits[] = {{.id = 313, .length = 65530}, {.id = 4, .length = 1}};
    static const struct plan_spec beyond[] = {{.id = 313, .length = 65530}, {.id = 7, .length = 2}};
    CU_ASSERT_EQUAL(result_of(fits, 2, 0), WF_OK);
    CU_ASSERT_EQUAL(result_of(beyond, 2, 0), WF_E_FORMAT);
}

static void lengths_do_not_wrap_when_summed(void)
{
    enum {
        n = 65535
    };
    static const struct plan_spec wraps_16_bits[] = {{.id = 313, .length = 65534},
                                                     {.id = 313, .length = 10}};
    CU_ASSERT_EQUAL(result_of(wraps_16_bits, 2, 0), WF_E_FORMAT);
    static struct plan_spec specs[n];
    for (size_t i = 0; i < n; i++) {
        specs[i] = (struct plan_spec){.id = 313, .length = 65534};
    }
    CU_ASSERT_EQUAL(result_of(specs, n, 0), WF_E_FORMAT);
}

static void counts_out_of_range_are_refused(void)
{
    static struct plan_spec many[65536];
    for (size_t i = 0; i < 65536; i++) {
        many[i].length = i == 0;
    }
    CU_ASSERT_EQUAL(result_of(flow, 0, 0), WF_E_INVAL);
    CU_ASSERT_EQUAL(result_of(flow, 2, 3), WF_E_INVAL);
    CU_ASSERT_EQUAL(result_of(flow, 2, 2), WF_OK);
    CU_ASSERT_EQUAL(result_of(many, 65536, 0), WF_E_INVAL);
    CU_ASSERT_EQUAL(result_of(many, 65535, 0), WF_OK);
}

/* ---- interning ---- */

static void the_same_definition_is_one_plan(void)
{
    struct plan_table *t = table_new(NULL);
    struct plan *a = intern(t, flow, N_FLOW);
    size_t bytes = plan_table_bytes(t);
    struct plan *b = intern(t, flow, N_FLOW);
    CU_ASSERT_PTR_EQUAL(a, b);
    CU_ASSERT_EQUAL(plan_table_count(t), 1U);
    CU_ASSERT_EQUAL(plan_table_bytes(t), bytes);
    CU_ASSERT_TRUE(bytes >= sizeof(struct plan) + N_FLOW * sizeof(struct plan_field));
    plan_unref(t, a);
    CU_ASSERT_EQUAL(plan_table_count(t), 1U);
    plan_unref(t, b);
    CU_ASSERT_EQUAL(plan_table_count(t), 0U);
    CU_ASSERT_EQUAL(plan_table_bytes(t), 0U);
    plan_table_free(t);
}

static void any_difference_makes_another_plan(void)
{
    struct plan_spec specs[7][2];
    for (size_t i = 0; i < 7; i++) {
        specs[i][0] = (struct plan_spec){.id = 8, .length = 4};
        specs[i][1] = (struct plan_spec){.id = 12, .length = 4};
    }
    specs[1][1].length = 3;
    specs[2][1].id = 15;
    specs[3][1].pen = 9;
    specs[4][1].hidden = true;
    struct plan_table *t = table_new(NULL);
    struct plan *p[9] = {NULL};
    for (size_t i = 0; i < 5; i++) {
        p[i] = intern(t, specs[i], 2);
    }
    CU_ASSERT_EQUAL(plan_intern(t, 9, PLAN_DATA, specs[5], 2, 0, &p[5]), WF_OK);
    CU_ASSERT_EQUAL(plan_intern(t, 10, PLAN_OPTIONS, specs[5], 2, 1, &p[6]), WF_OK);
    CU_ASSERT_EQUAL(plan_intern(t, 10, PLAN_OPTIONS, specs[5], 2, 2, &p[7]), WF_OK);
    p[8] = intern(t, specs[6], 1);
    CU_ASSERT_EQUAL(plan_table_count(t), 9U);
    for (size_t i = 0; i < 9; i++) {
        for (size_t j = 0; j < i; j++) {
            CU_ASSERT_PTR_NOT_EQUAL(p[i], p[j]);
        }
    }
    for (size_t i = 0; i < 9; i++) {
        plan_unref(t, p[i]);
    }
    CU_ASSERT_EQUAL(plan_table_count(t), 0U);
    plan_table_free(t);
}

static void a_table_of_thousands_finds_each_again(void)
{
    enum {
        n = 5000
    };
    struct plan_table *t = table_new(NULL);
    static struct plan *p[n];
    for (size_t i = 0; i < n; i++) {
        struct plan_spec spec = {.id = (uint16_t)i, .length = 4};
        p[i] = intern(t, &spec, 1);
    }
    CU_ASSERT_EQUAL(plan_table_count(t), n);
    for (size_t i = 0; i < n; i++) {
        struct plan_spec spec = {.id = (uint16_t)i, .length = 4};
        struct plan *again = intern(t, &spec, 1);
        CU_ASSERT_PTR_EQUAL(again, p[i]);
        plan_unref(t, again);
        plan_unref(t, p[i]);
    }
    CU_ASSERT_EQUAL(plan_table_count(t), 0U);
    CU_ASSERT_EQUAL(plan_table_bytes(t), 0U);
    plan_table_free(t);
}

static void the_seed_decides_the_hash(void)
{
    struct plan_table *a = plan_table_new_seeded(NULL, 1);
    struct plan_table *b = plan_table_new_seeded(NULL, 2);
    CU_ASSERT_TRUE_FATAL(a && b);
    struct plan *of_a = intern(a, flow, N_FLOW);
    struct plan *of_b = intern(b, flow, N_FLOW);
    CU_ASSERT_NOT_EQUAL(of_a->hash, of_b->hash);
    plan_unref(a, of_a);
    plan_unref(b, of_b);
    plan_table_free(a);
    plan_table_free(b);
}

static void freeing_nothing_is_fine(void)
{
    plan_table_free(NULL);
    struct plan_table *t = plan_table_new(NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    plan_unref(t, NULL);
    CU_ASSERT_EQUAL(plan_table_count(t), 0U);
    plan_table_free(t);
}

/* ---- hooks ---- */

struct calls {
    int n_attached, n_detached;
    const struct plan *plan;
    void *detached;
    int token;
    bool whole; /* the hook saw a finished plan */
};

static void *attach(void *ctx, const struct plan *plan)
{
    struct calls *calls = ctx;
    calls->n_attached++;
    calls->plan = plan;
    calls->whole = plan->n_fields > 0 && plan->min_length > 0 && plan->field[0].id != 0;
    return &calls->token;
}

static void detach(void *ctx, void *attached)
{
    struct calls *calls = ctx;
    calls->n_detached++;
    calls->detached = attached;
}

static void hooks_run_once_at_birth_and_once_at_the_end(void)
{
    struct calls calls = {0};
    struct plan_hooks hooks = {.attach = attach, .detach = detach, .ctx = &calls};
    struct plan_table *t = table_new(&hooks);
    struct plan *a = intern(t, flow, N_FLOW);
    struct plan *b = intern(t, flow, N_FLOW);
    plan_ref(b);
    CU_ASSERT_EQUAL(calls.n_attached, 1);
    CU_ASSERT_PTR_EQUAL(calls.plan, a);
    CU_ASSERT_TRUE(calls.whole);
    CU_ASSERT_PTR_EQUAL(a->attached, &calls.token);
    plan_unref(t, a);
    plan_unref(t, b);
    CU_ASSERT_EQUAL(calls.n_detached, 0);
    plan_unref(t, b);
    CU_ASSERT_EQUAL(calls.n_detached, 1);
    CU_ASSERT_PTR_EQUAL(calls.detached, &calls.token);
    a = intern(t, flow, N_FLOW);
    CU_ASSERT_EQUAL(calls.n_attached, 2);
    plan_unref(t, a);
    CU_ASSERT_EQUAL(calls.n_detached, 2);
    plan_table_free(t);
}

static size_t bytes(void *ctx, const struct plan *plan, const void *attached)
{
    const struct calls *calls = ctx;
    return plan->attached == attached && attached == &calls->token ? 100000 : 0;
}

static void what_is_attached_counts_as_memory_of_the_plan(void)
{
    struct calls calls = {0};
    struct plan_hooks hooks = {.attach = attach, .detach = detach, .ctx = &calls, .bytes = bytes};
    struct plan_table *t = table_new(&hooks);
    struct plan *a = intern(t, flow, N_FLOW);
    CU_ASSERT(plan_table_bytes(t) > 100000);
    size_t before = plan_table_bytes(t);
    struct plan *b = intern(t, flow, N_FLOW);
    CU_ASSERT_EQUAL(plan_table_bytes(t), before);
    plan_unref(t, a);
    plan_unref(t, b);
    CU_ASSERT_EQUAL(plan_table_bytes(t), 0);
    plan_table_free(t);
}

static void a_refused_definition_calls_no_hook(void)
{
    struct calls calls = {0};
    struct plan_hooks hooks = {.attach = attach, .detach = detach, .ctx = &calls};
    struct plan_table *t = table_new(&hooks);
    struct plan_spec empty = {.id = 1};
    struct plan *p = NULL;
    CU_ASSERT_EQUAL(plan_intern(t, 10, PLAN_DATA, &empty, 1, 0, &p), WF_E_FORMAT);
    CU_ASSERT_EQUAL(calls.n_attached, 0);
    plan_table_free(t);
    CU_ASSERT_EQUAL(calls.n_detached, 0);
}

/* ---- threads ---- */

struct churn {
    struct plan_table *table;
    bool ok;
};

/* Makes, shares and drops the same few plans: births and deaths of one definition meet all the time. */
static void *churn(void *arg)
{
    struct churn *c = arg;
    c->ok = true;
    for (unsigned i = 0; i < 20000; i++) {
        struct plan_spec spec = {.id = (uint16_t)(1 + i % 3), .length = 4};
        struct plan *p = NULL;
        if (plan_intern(c->table, 10, PLAN_DATA, &spec, 1, 0, &p) != WF_OK) {
            c->ok = false;
            break;
        }
        plan_ref(p);
        c->ok = c->ok && p->field[0].id == spec.id;
        plan_unref(c->table, p);
        c->ok = c->ok && p->min_length == 4 && p->attached != NULL;
        plan_unref(c->table, p);
    }
    return NULL;
}

static void threads_never_see_a_dying_plan(void)
{
    struct calls calls = {0};
    struct plan_hooks hooks = {.attach = attach, .detach = detach, .ctx = &calls};
    struct churn churns[4];
    pthread_t threads[4];
    struct plan_table *t = table_new(&hooks);
    for (size_t i = 0; i < 4; i++) {
        churns[i].table = t;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, churn, &churns[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CU_ASSERT_TRUE(churns[i].ok);
    }
    CU_ASSERT_EQUAL(plan_table_count(t), 0U);
    CU_ASSERT_TRUE(calls.n_attached >= 3);
    CU_ASSERT_EQUAL(calls.n_attached, calls.n_detached);
    plan_table_free(t);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a_plan_lays_out_its_fields", a_plan_lays_out_its_fields},
        {"a_variable_field_counts_one_octet_and_unfixes_the_plan",
         a_variable_field_counts_one_octet_and_unfixes_the_plan},
        {"options_mark_their_scope_fields", options_mark_their_scope_fields},
        {"v9_fields_fall_back_to_v9s_own_types", v9_fields_fall_back_to_v9s_own_types},
        {"how_a_value_reads_depends_on_type_and_length",
         how_a_value_reads_depends_on_type_and_length},
        {"a_float32_element_reads_eight_octets_as_float64",
         a_float32_element_reads_eight_octets_as_float64},
        {"repeated_elements_are_chained_in_order", repeated_elements_are_chained_in_order},
        {"the_same_number_of_another_enterprise_or_scope_is_no_repetition",
         the_same_number_of_another_enterprise_or_scope_is_no_repetition},
        {"thousands_of_equal_fields_make_one_chain", thousands_of_equal_fields_make_one_chain},
        {"a_record_of_no_octets_is_refused", a_record_of_no_octets_is_refused},
        {"an_empty_field_beside_others_is_fine", an_empty_field_beside_others_is_fine},
        {"a_record_must_fit_a_set", a_record_must_fit_a_set},
        {"lengths_do_not_wrap_when_summed", lengths_do_not_wrap_when_summed},
        {"counts_out_of_range_are_refused", counts_out_of_range_are_refused},
        {"the_same_definition_is_one_plan", the_same_definition_is_one_plan},
        {"any_difference_makes_another_plan", any_difference_makes_another_plan},
        {"a_table_of_thousands_finds_each_again", a_table_of_thousands_finds_each_again},
        {"the_seed_decides_the_hash", the_seed_decides_the_hash},
        {"freeing_nothing_is_fine", freeing_nothing_is_fine},
        {"what_is_attached_counts_as_memory_of_the_plan",
         what_is_attached_counts_as_memory_of_the_plan},
        {"hooks_run_once_at_birth_and_once_at_the_end",
         hooks_run_once_at_birth_and_once_at_the_end},
        {"a_refused_definition_calls_no_hook", a_refused_definition_calls_no_hook},
        {"threads_never_see_a_dying_plan", threads_never_see_a_dying_plan},
    };
    return test_main("plan", cases, sizeof(cases) / sizeof(cases[0]));
}
