// SPDX-License-Identifier: Apache-2.0
/*
 * pending_group - the held sets of one session and template, found by a hash
 *
 * Part of the pending store, whose mutex guards all of it. A group lives as long as it has sets.
 */
#pragma once

#include "decoder/session/hash.h"
#include "decoder/session/pending.h"

struct pending_group {
    struct hash_link hash;
    struct list link; /* of its share */
    struct list sets; /* struct held.link */
    struct pending_share *share;
    uint16_t template_id;
};

struct pending_groups {
    struct hash hash;
    uint64_t seed;
};

/* NULL when nothing waits for this template. */
struct pending_group *pending_group_find(const struct pending_groups *groups,
                                         const struct pending_share *share, uint16_t id);
/* NULL when memory is short. There must be none yet. */
struct pending_group *pending_group_new(struct pending_groups *groups, struct pending_share *share,
                                        uint16_t id);
void pending_group_free(struct pending_groups *groups, struct pending_group *group);
