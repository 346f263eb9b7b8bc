// SPDX-License-Identifier: Apache-2.0
/*
 * time - when did a flow start and end, how long did it take, and which time does its document bear
 *
 * A pure function of the time elements of one record, the times of its message header and its time of arrival. No
 * clock, no state, no allocation; any thread.
 *
 * Order of preference, first one known:
 *   start     156 ns, 154 us, 152 ms, 158 us before export, 22 uptime ms, 150 s; else end - duration
 *   end       157 ns, 155 us, 153 ms, 159 us before export, 21 uptime ms, 151 s; else start + duration; else
 *             325, 324, 323, 322 (time of observation), 258 (time of collection)
 *   duration  end - start unless it is negative or the end is a time of collection; else 162 us, 161 ms;
 *             else 21 - 22, which needs no anchor
 * An absolute time of 0 is "not set". A duration is never negative.
 *
 * Uptimes are milliseconds modulo 2^32 since the exporter booted. v1, v5, v7, v9: counted back from the header's uptime;
 * one that lies up to an hour ahead of it is taken as such, one further ahead is not known (after a wrap that is
 * what a time more than 24.8 days back looks like). IPFIX: counted from systemInitTimeMilliseconds (160) of the same record,
 * turned on by whole wraps up to the export time; without 160 they give a duration only.
 *
 * @timestamp: the end; when there is none, or when it lies more than a day before or more than an hour after the
 * export time, the export time; live, when the export time is more than a day off the time of arrival, the latter.
 * RFC 7011 section 6.1, RFC 5102 (158, 159), RFC 3954 section 5.1.
 */
#pragma once

#include "decoder/base.h"

/* What a record can tell; within start, end and duration in order of preference. */
enum time_input {
    TIME_START_NANOSECONDS, /* Unix ns, as all absolute ones */
    TIME_START_MICROSECONDS,
    TIME_START_MILLISECONDS,
    TIME_START_DELTA,  /* us before the export time */
    TIME_START_UPTIME, /* ms since boot */
    TIME_START_SECONDS,
    TIME_END_NANOSECONDS,
    TIME_END_MICROSECONDS,
    TIME_END_MILLISECONDS,
    TIME_END_DELTA,
    TIME_END_UPTIME,
    TIME_END_SECONDS,
    TIME_OBSERVED_NANOSECONDS,
    TIME_OBSERVED_MICROSECONDS,
    TIME_OBSERVED_MILLISECONDS,
    TIME_OBSERVED_SECONDS,
    TIME_COLLECTED,
    TIME_DURATION_MICROSECONDS, /* us */
    TIME_DURATION_MILLISECONDS, /* ms */
    TIME_BOOT,                  /* systemInitTimeMilliseconds */
    TIME_N_INPUTS,
    /* not told by a record: what else @timestamp can come from */
    TIME_EXPORT = TIME_N_INPUTS,
    TIME_RECEIVED,
    TIME_N_SOURCES
};

struct time_record {
    uint32_t present;             /* bit i: value[i] is set */
    int64_t value[TIME_N_INPUTS]; /* units as at enum time_input; unsigned ones clamped to int64 */
    bool has_uptime;              /* of the header */
    uint32_t uptime_ms;
    int64_t export_ns;
    bool live; /* received_ns takes part in @timestamp */
    int64_t received_ns;
};

struct time_result {
    bool has_start, has_end, has_duration;
    int64_t start_ns, end_ns, duration_ns; /* start, end: Unix ns */
    int64_t timestamp_ns;
    enum time_input source; /* which one gave timestamp_ns; a duration: derived with it */
};

static inline void time_record_set(struct time_record *record, enum time_input input, int64_t value)
{
    record->present |= 1U << input;
    record->value[input] = value;
}

void time_resolve(const struct time_record *record, struct time_result *result);

/* The name in whoflow.time.source: the element's in snake_case, export_time, receive_time. Static. */
const char *time_source_name(enum time_input source);
/* The IANA element that tells an input (all are in IANA's space). */
uint16_t time_input_element(enum time_input input);
