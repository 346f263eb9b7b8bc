// SPDX-License-Identifier: Apache-2.0
/*
 * A plan is one allocation: struct, fields, offsets, lengths. The table is a chained hash over the definition,
 * doubled when it is full. A plan leaves the table under the table's mutex when its last reference goes; since
 * plan_intern() takes its reference under the same mutex, a dying plan can not be handed out again.
 */
#include "decoder/template/plan.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/lock.h"

#define MAX_RECORD_LENGTH 65531U /* 65,535 octets of a set less its header */
#define FIRST_BUCKETS     64U

/* The table's view of a plan: the public part comes first. */
struct entry {
    struct plan plan;
    atomic_uint n_refs;
    struct entry *next; /* in its bucket; the table's mutex */
    size_t bytes;       /* of the whole allocation and of what is attached */
};

struct plan_table {
    pthread_mutex_t mutex; /* leaf: nothing is locked below it */
    struct entry **bucket;
    size_t n_buckets; /* a power of two */
    size_t n_plans;
    size_t bytes;
    uint64_t seed;
    struct plan_hooks hooks;
};

static struct entry *entry_of(struct plan *plan)
{
    return (struct entry *)plan; /* plan is the first member */
}

struct plan_table *plan_table_new(const struct plan_hooks *hooks)
{
    return plan_table_new_seeded(hooks, 0);
}

struct plan_table *plan_table_new_seeded(const struct plan_hooks *hooks, uint64_t seed)
{
    struct plan_table *table = calloc(1, sizeof(*table));
    if (!table) {
        return NULL;
    }
    table->n_buckets = FIRST_BUCKETS;
    table->bucket = calloc(table->n_buckets, sizeof(struct entry *));
    if (!table->bucket) {
        free(table);
        return NULL;
    }
    table->seed = wf_mix64(seed);
    if (hooks) {
        table->hooks = *hooks;
    }
    lock_init(&table->mutex);
    return table;
}

void plan_table_free(struct plan_table *table)
{
    if (!table) {
        return;
    }
    assert(table->n_plans == 0);
    pthread_mutex_destroy(&table->mutex);
    free(table->bucket);
    free(table);
}

static bool is_integer(enum element_type type)
{
    return type >= ELEMENT_UNSIGNED8 && type <= ELEMENT_SIGNED64;
}

/* Value of an element that is no integer: the length has to be the type's own. */
static enum plan_value value_of_type(enum element_type type, size_t len)
{
    static const struct {
        uint8_t len; /* 0 = any */
        uint8_t value;
    } rule[] = {
        [ELEMENT_BOOLEAN] = {1, PLAN_BOOLEAN},
        [ELEMENT_MAC] = {6, PLAN_MAC},
        [ELEMENT_STRING] = {0, PLAN_STRING},
        [ELEMENT_SECONDS] = {4, PLAN_SECONDS},
        [ELEMENT_MILLISECONDS] = {8, PLAN_MILLISECONDS},
        [ELEMENT_MICROSECONDS] = {8, PLAN_MICROSECONDS},
        [ELEMENT_NANOSECONDS] = {8, PLAN_NANOSECONDS},
        [ELEMENT_IPV4] = {4, PLAN_IPV4},
        [ELEMENT_IPV6] = {16, PLAN_IPV6},
        [ELEMENT_BASIC_LIST] = {0, PLAN_LIST},
        [ELEMENT_SUB_TEMPLATE_LIST] = {0, PLAN_LIST},
        [ELEMENT_SUB_TEMPLATE_MULTI_LIST] = {0, PLAN_LIST},
    };
    if (type == ELEMENT_FLOAT32 || type == ELEMENT_FLOAT64) {
        return len == 4 ? PLAN_FLOAT32 : len == 8 ? PLAN_FLOAT64 : PLAN_BYTES;
    }
    if (rule[type].value && (!rule[type].len || rule[type].len == len)) {
        return (enum plan_value)rule[type].value;
    }
    return PLAN_BYTES;
}

enum plan_value plan_value_of(const struct plan_field *field, size_t len)
{
    if (len == 0) {
        return PLAN_EMPTY;
    }
    if (!field->element) {
        return PLAN_BYTES;
    }
    enum element_type type = (enum element_type)field->element->type;
    if (!is_integer(type)) {
        return value_of_type(type, len);
    }
    if (len > 8) {
        return PLAN_BYTES;
    }
    return type >= ELEMENT_SIGNED8 ? PLAN_SIGNED : PLAN_UNSIGNED;
}

/* The seed goes in first: who does not know it can not make templates that share a chain. */
static uint64_t hash_definition(uint64_t seed, uint8_t version, enum plan_kind kind,
                                const struct plan_spec *specs, size_t n_specs, size_t n_scope)
{
    uint64_t h = wf_mix64(seed ^ ((uint64_t)version << 56 | (uint64_t)kind << 48 |
                                  (uint64_t)n_scope << 24 | n_specs));
    for (size_t i = 0; i < n_specs; i++) {
        h = wf_mix64(
            h ^ ((uint64_t)specs[i].pen << 32 | (uint64_t)specs[i].id << 16 | specs[i].length));
        h += specs[i].hidden;
    }
    return h;
}

static bool same_definition(const struct plan *plan, uint8_t version, enum plan_kind kind,
                            const struct plan_spec *specs, size_t n_specs, size_t n_scope)
{
    if (plan->version != version || plan->kind != kind || plan->n_fields != n_specs ||
        plan->n_scope != n_scope) {
        return false;
    }
    for (size_t i = 0; i < n_specs; i++) {
        const struct plan_field *f = &plan->field[i];
        if (f->pen != specs[i].pen || f->id != specs[i].id || f->length != specs[i].length ||
            f->hidden != specs[i].hidden) {
            return false;
        }
    }
    return true;
}

struct sort_key {
    uint64_t element; /* pen, id, scope */
    uint16_t index;
};

static int compare_keys(const void *a, const void *b)
{
    const struct sort_key *x = a;
    const struct sort_key *y = b;
    if (x->element != y->element) {
        return x->element < y->element ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Links the fields that are the same element by sorting: a hostile template of a thousand equal fields costs
 * no more than another. */
static int link_repeated(struct plan_field *field, size_t n)
{
    struct sort_key *keys = malloc(n * sizeof(*keys));
    if (!keys) {
        return WF_E_NOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        keys[i].element = (uint64_t)field[i].pen << 32 | (uint64_t)field[i].id << 8 |
                          (uint64_t)field[i].hidden << 1 | (uint64_t)field[i].scope;
        keys[i].index = (uint16_t)i;
    }
    qsort(keys, n, sizeof(*keys), compare_keys);
    uint16_t first = 0;
    for (size_t i = 0; i < n; i++) {
        bool repeats = i > 0 && keys[i].element == keys[i - 1].element;
        if (!repeats) {
            first = keys[i].index;
        }
        field[keys[i].index].first = first;
        field[keys[i].index].next = 0;
        if (repeats) {
            field[keys[i - 1].index].next = keys[i].index;
        }
    }
    free(keys);
    return WF_OK;
}

static int check_min_length(const struct plan_spec *specs, size_t n_specs)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n_specs; i++) {
        sum += specs[i].length == PLAN_VARLEN ? 1 : specs[i].length;
    }
    if (sum == 0 || sum > MAX_RECORD_LENGTH) {
        return WF_E_FORMAT;
    }
    return WF_OK;
}

static struct entry *entry_new(uint8_t version, enum plan_kind kind, const struct plan_spec *specs,
                               size_t n_specs, size_t n_scope)
{
    size_t bytes =
        sizeof(struct entry) + n_specs * (sizeof(struct plan_field) + 2 * sizeof(uint32_t));
    struct entry *e = calloc(1, bytes);
    if (!e) {
        return NULL;
    }
    struct plan_field *field = (struct plan_field *)(void *)(e + 1);
    uint32_t *offset = (uint32_t *)(void *)(field + n_specs);
    uint32_t *length = offset + n_specs;
    uint32_t at = 0;
    bool fixed = true;
    for (size_t i = 0; i < n_specs; i++) {
        bool varlen = specs[i].length == PLAN_VARLEN;
        field[i] =
            (struct plan_field){.pen = specs[i].pen,
                                .id = specs[i].id,
                                .length = specs[i].length,
                                .scope = i < n_scope,
                                .hidden = specs[i].hidden,
                                .element = element_of_field(version, specs[i].pen, specs[i].id)};
        field[i].value = (uint8_t)(varlen ? PLAN_BYTES : plan_value_of(&field[i], specs[i].length));
        offset[i] = varlen ? at + 1 : at;
        length[i] = varlen ? 0 : specs[i].length;
        at += varlen ? 1 : specs[i].length;
        fixed = fixed && !varlen;
    }
    e->bytes = bytes;
    e->plan = (struct plan){.version = version,
                            .kind = (uint8_t)kind,
                            .n_fields = (uint16_t)n_specs,
                            .n_scope = (uint16_t)n_scope,
                            .fixed = fixed,
                            .min_length = at,
                            .offset = offset,
                            .length = length,
                            .field = field};
    if (link_repeated(field, n_specs) < 0) {
        free(e);
        return NULL;
    }
    atomic_init(&e->n_refs, 1);
    return e;
}

/* Under the mutex. Stays as it is when memory is short. */
static void grow_buckets(struct plan_table *table)
{
    size_t n = table->n_buckets * 2;
    struct entry **bucket = calloc(n, sizeof(struct entry *));
    if (!bucket) {
        return;
    }
    for (size_t i = 0; i < table->n_buckets; i++) {
        struct entry *next;
        for (struct entry *e = table->bucket[i]; e; e = next) {
            next = e->next;
            e->next = bucket[e->plan.hash & (n - 1)];
            bucket[e->plan.hash & (n - 1)] = e;
        }
    }
    free(table->bucket);
    table->bucket = bucket;
    table->n_buckets = n;
}

// NOLINTNEXTLINE(readability-function-size): the definition is five of the seven parameters
int plan_intern(struct plan_table *table, uint8_t version, enum plan_kind kind,
                const struct plan_spec *specs, size_t n_specs, size_t n_scope, struct plan **plan)
{
    if (n_specs == 0 || n_specs > UINT16_MAX || n_scope > n_specs) {
        return WF_E_INVAL;
    }
    int err = check_min_length(specs, n_specs);
    if (err < 0) {
        return err;
    }
    uint64_t hash = hash_definition(table->seed, version, kind, specs, n_specs, n_scope);
    pthread_mutex_lock(&table->mutex);
    struct entry *e = table->bucket[hash & (table->n_buckets - 1)];
    while (e && (e->plan.hash != hash ||
                 !same_definition(&e->plan, version, kind, specs, n_specs, n_scope))) {
        e = e->next;
    }
    if (e) {
        /* relaxed: the mutex orders this against the last plan_unref */
        atomic_fetch_add_explicit(&e->n_refs, 1, memory_order_relaxed);
        goto out;
    }
    e = entry_new(version, kind, specs, n_specs, n_scope);
    if (!e) {
        err = WF_E_NOMEM;
        goto out;
    }
    e->plan.hash = hash;
    if (table->hooks.attach) {
        e->plan.attached = table->hooks.attach(table->hooks.ctx, &e->plan);
    }
    if (e->plan.attached && table->hooks.bytes) {
        e->bytes += table->hooks.bytes(table->hooks.ctx, &e->plan, e->plan.attached);
    }
    if (table->n_plans >= table->n_buckets) {
        grow_buckets(table);
    }
    e->next = table->bucket[hash & (table->n_buckets - 1)];
    table->bucket[hash & (table->n_buckets - 1)] = e;
    table->n_plans++;
    table->bytes += e->bytes;
out:
    pthread_mutex_unlock(&table->mutex);
    if (err == WF_OK) {
        *plan = &e->plan;
    }
    return err;
}

struct plan *plan_ref(struct plan *plan)
{
    /* relaxed: the caller holds a reference, so the count can not reach zero meanwhile */
    atomic_fetch_add_explicit(&entry_of(plan)->n_refs, 1, memory_order_relaxed);
    return plan;
}

void plan_unref(struct plan_table *table, struct plan *plan)
{
    if (!plan) {
        return;
    }
    struct entry *e = entry_of(plan);
    unsigned n = atomic_load_explicit(&e->n_refs, memory_order_relaxed);
    while (n > 1) {
        /* release: what this thread did with the plan happens before its end */
        if (atomic_compare_exchange_weak_explicit(&e->n_refs, &n, n - 1, memory_order_release,
                                                  memory_order_relaxed)) {
            return;
        }
    }
    pthread_mutex_lock(&table->mutex);
    /* acquire: pairs with the releases above before the plan is freed */
    bool last = atomic_fetch_sub_explicit(&e->n_refs, 1, memory_order_acq_rel) == 1;
    if (last) {
        struct entry **at = &table->bucket[e->plan.hash & (table->n_buckets - 1)];
        while (*at != e) {
            at = &(*at)->next;
        }
        *at = e->next;
        table->n_plans--;
        table->bytes -= e->bytes;
        if (table->hooks.detach) {
            table->hooks.detach(table->hooks.ctx, e->plan.attached);
        }
    }
    pthread_mutex_unlock(&table->mutex);
    if (last) {
        free(e);
    }
}

size_t plan_table_count(struct plan_table *table)
{
    pthread_mutex_lock(&table->mutex);
    size_t n = table->n_plans;
    pthread_mutex_unlock(&table->mutex);
    return n;
}

size_t plan_table_bytes(struct plan_table *table)
{
    pthread_mutex_lock(&table->mutex);
    size_t n = table->bytes;
    pthread_mutex_unlock(&table->mutex);
    return n;
}
