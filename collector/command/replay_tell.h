// SPDX-License-Identifier: Apache-2.0
/*
 * replay_tell - what a replay says of its losses when it is through, also to who asked for no summary
 *
 * Each says nothing when there is nothing to say. One thread, at the end.
 */
#pragma once

#include "collector/ledger/ledger.h"
#include "collector/output/output.h"

/* Takes a sentence. */
typedef void replay_say(void *ctx, const char *text);

/* One sentence an exporter's domain whose templates never came, for the first few. */
void replay_tell_waiting(struct decoder *decoder, replay_say *say, void *ctx);
/* Why the output refused documents. target: as the user wrote it. */
void replay_tell_output(const struct output_counters *output, const char *target, replay_say *say,
                        void *ctx);
/* All that is missing in the output, in one sentence. */
void replay_tell_loss(const struct ledger *ledger, replay_say *say, void *ctx);
