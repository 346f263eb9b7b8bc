// SPDX-License-Identifier: Apache-2.0
#include "decoder/session/pending_group.h"

#include <stdlib.h>

static uint64_t group_hash(const struct pending_groups *g, const struct pending_share *share,
                           uint16_t id)
{
    return wf_mix64(g->seed ^ wf_mix64(share->serial << 16 | id));
}

struct pending_group *pending_group_find(const struct pending_groups *g,
                                         const struct pending_share *share, uint16_t id)
{
    uint64_t value = group_hash(g, share, id);
    for (struct hash_link *l = hash_chain(&g->hash, value); l; l = l->next) {
        struct pending_group *group = LIST_ITEM(l, struct pending_group, hash);
        if (l->hash == value && group->share == share && group->template_id == id) {
            return group;
        }
    }
    return NULL;
}

struct pending_group *pending_group_new(struct pending_groups *g, struct pending_share *share,
                                        uint16_t id)
{
    struct pending_group *group = malloc(sizeof(*group));
    if (!group) {
        return NULL;
    }
    *group = (struct pending_group){.share = share, .template_id = id};
    list_init(&group->sets);
    if (hash_insert(&g->hash, &group->hash, group_hash(g, share, id)) < 0) {
        free(group);
        return NULL;
    }
    list_append(&share->groups, &group->link);
    return group;
}

void pending_group_free(struct pending_groups *g, struct pending_group *group)
{
    hash_remove(&g->hash, &group->hash);
    list_remove(&group->link);
    free(group);
}
