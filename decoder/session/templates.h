// SPDX-License-Identifier: Apache-2.0
/*
 * templates - which plan an id means: the template table of one domain
 *
 * Data and options templates share the ids (RFC 7011 3.4.1). Sorted by id; grows with what is in it, bounded by
 * the caller. Owns one reference of each plan in it. The session lock guards it.
 */
#pragma once

#include "decoder/template/plan.h"

struct template_entry {
    uint16_t id;
    struct plan *plan;
};

/* All zero = empty. */
struct templates {
    struct template_entry *entry;
    size_t n, max;
};

/* The plan, borrowed, or NULL. */
struct plan *templates_find(const struct templates *templates, uint16_t id);
/* Moves plan into the table. old: what was there before, moved to the caller, or NULL. 0 or WF_E_NOMEM. */
int templates_put(struct templates *templates, uint16_t id, struct plan *plan, struct plan **old);
/* The plan that was there, moved to the caller, or NULL. */
struct plan *templates_remove(struct templates *templates, uint16_t id);
/* Removes one plan of this kind; NULL when there is none left. */
struct plan *templates_remove_kind(struct templates *templates, enum plan_kind kind);
void templates_deinit(struct templates *templates, struct plan_table *plans);
/* Octets of the table itself. */
size_t templates_bytes(const struct templates *templates);
