// SPDX-License-Identifier: Apache-2.0
/* References and use of a session; the table is in table.c. */
#include "decoder/session/session.h"

#include <stdlib.h>

void session_ref(struct session *session)
{
    /* relaxed: who refers has the session already */
    atomic_fetch_add_explicit(&session->n_refs, 1, memory_order_relaxed);
}

static void exporter_unref(struct exporter *exporter)
{
    /* acq_rel: the last one sees what the others did before it frees */
    if (atomic_fetch_sub_explicit(&exporter->n_refs, 1, memory_order_acq_rel) == 1) {
        free(exporter);
    }
}

void session_unref(struct session *session)
{
    /* acq_rel: as above */
    if (atomic_fetch_sub_explicit(&session->n_refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    pthread_mutex_destroy(&session->lock);
    exporter_unref(session->exporter);
    free(session);
}

struct session *session_of_share(struct pending_share *share)
{
    return LIST_ITEM(share, struct session, pending);
}

void session_put(struct session *session)
{
    /* release: an evictor that reads 0 (acquire) sees all that this user did */
    atomic_fetch_sub_explicit(&session->n_users, 1, memory_order_release);
}

bool session_in_use(struct session *session)
{
    /* acquire: pairs with session_put() */
    return atomic_load_explicit(&session->n_users, memory_order_acquire) > 0;
}
