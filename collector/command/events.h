// SPDX-License-Identifier: Apache-2.0
/*
 * events - what the decoder tells, as log lines for an operator: what, where, why it matters, what to do
 *
 * Any worker's thread. Everything the network can cause passes a token bucket by kind and exporter.
 */
#pragma once

#include "decoder/decoder.h"

/* A pipeline_config.event. ctx is not used. */
void events_log(void *ctx, const struct decoder_event *event);
