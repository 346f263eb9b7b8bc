// SPDX-License-Identifier: Apache-2.0
#include "decoder/session/templates.h"

#include <stdlib.h>
#include <string.h>

/* Place of the first entry whose id is not smaller. */
static size_t place_of(const struct templates *t, uint16_t id)
{
    size_t low = 0;
    size_t high = t->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->entry[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct plan *templates_find(const struct templates *t, uint16_t id)
{
    size_t at = place_of(t, id);
    return at < t->n && t->entry[at].id == id ? t->entry[at].plan : NULL;
}

int templates_put(struct templates *t, uint16_t id, struct plan *plan, struct plan **old)
{
    size_t at = place_of(t, id);
    if (at < t->n && t->entry[at].id == id) {
        *old = t->entry[at].plan;
        t->entry[at].plan = plan;
        return 0;
    }
    if (t->n == t->max) {
        size_t max = t->max ? t->max * 2 : 4;
        struct template_entry *bigger = realloc(t->entry, max * sizeof(*bigger));
        if (!bigger) {
            return WF_E_NOMEM;
        }
        t->entry = bigger;
        t->max = max;
    }
    memmove(&t->entry[at + 1], &t->entry[at], (t->n - at) * sizeof(t->entry[0]));
    t->entry[at] = (struct template_entry){.id = id, .plan = plan};
    t->n++;
    *old = NULL;
    return 0;
}

static struct plan *remove_at(struct templates *t, size_t at)
{
    struct plan *plan = t->entry[at].plan;
    t->n--;
    memmove(&t->entry[at], &t->entry[at + 1], (t->n - at) * sizeof(t->entry[0]));
    return plan;
}

struct plan *templates_remove(struct templates *t, uint16_t id)
{
    size_t at = place_of(t, id);
    return at < t->n && t->entry[at].id == id ? remove_at(t, at) : NULL;
}

struct plan *templates_remove_kind(struct templates *t, enum plan_kind kind)
{
    for (size_t i = t->n; i > 0; i--) {
        if (t->entry[i - 1].plan->kind == kind) {
            return remove_at(t, i - 1);
        }
    }
    return NULL;
}

void templates_deinit(struct templates *t, struct plan_table *plans)
{
    for (size_t i = 0; i < t->n; i++) {
        plan_unref(plans, t->entry[i].plan);
    }
    free(t->entry);
    *t = (struct templates){0};
}

size_t templates_bytes(const struct templates *t)
{
    return t->max * sizeof(t->entry[0]);
}
