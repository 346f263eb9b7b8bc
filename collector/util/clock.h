// SPDX-License-Identifier: Apache-2.0
/*
 * clock - the two clocks in ns
 *
 * Only the collector reads clocks: decoder and enrich get time as an argument. Header only; any thread.
 */
#pragma once

#include <time.h>

#include "decoder/base.h"

static inline int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * WF_NS_PER_S + t.tv_nsec;
}

/* For intervals. */
static inline int64_t clock_monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* Unix ns. */
static inline int64_t clock_wall_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}
