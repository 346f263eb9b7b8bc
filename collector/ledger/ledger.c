// SPDX-License-Identifier: Apache-2.0
#include "collector/ledger/ledger.h"

#include <inttypes.h>

/* One equation: what came in against what became of it. */
static int check_sum(const char *what, uint64_t whole, uint64_t parts, int n_wrong, char *why,
                     size_t why_len)
{
    if (whole == parts) {
        return n_wrong;
    }
    if (n_wrong == 0 && why_len) {
        snprintf(why, why_len, "%s: %" PRIu64 " came in, %" PRIu64 " are accounted for", what,
                 whole, parts);
    }
    return n_wrong + 1;
}

int ledger_check(const struct ledger *l, char *why, size_t why_len)
{
    const struct decoder_counters *d = &l->decoder;
    int n = 0;
    n = check_sum("datagrams", l->datagrams_received,
                  d->datagrams_decoded + d->reason[DECODER_SHORT_HEADER] +
                      d->reason[DECODER_UNKNOWN_VERSION] + d->reason[DECODER_REFUSED_EXPORTER] +
                      l->ring_dropped,
                  n, why, why_len);
    n = check_sum("data sets", d->sets_data, d->sets_decoded + d->sets_held + d->sets_refused, n,
                  why, why_len);
    n = check_sum("held sets", d->sets_held,
                  d->sets_released + d->sets_expired + d->sets_evicted + l->state.pending_sets, n,
                  why, why_len);
    n = check_sum("records", d->records_flow + d->records_options,
                  l->documents_made + l->documents_refused, n, why, why_len);
    n = check_sum("documents", l->documents_made,
                  l->documents_written + l->documents_dropped + l->documents_failed +
                      l->documents_unsent,
                  n, why, why_len);
    if (l->has_capture) {
        n = check_sum("frames", l->frames,
                      l->datagrams_received + l->frames_other + l->frames_broken +
                          l->fragments_joined + l->fragments_lost,
                      n, why, why_len);
    }
    return n;
}

bool ledger_has_loss(const struct ledger *l)
{
    const struct decoder_counters *d = &l->decoder;
    uint64_t lost = l->kernel_dropped + l->ring_dropped + l->frames_broken + l->fragments_lost;
    lost += l->documents_refused + l->documents_dropped + l->documents_failed + l->documents_unsent;
    lost += d->sets_refused + d->sets_expired + d->sets_evicted + l->state.pending_sets;
    for (unsigned i = DECODER_OK + 1; i < DECODER_N_REASONS; i++) {
        lost += i == DECODER_MESSAGE_LENGTH ? 0 : d->reason[i]; /* odd, but all of it was read */
    }
    return lost > 0;
}
