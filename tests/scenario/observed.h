// SPDX-License-Identifier: Apache-2.0
/*
 * observed - what the decoder said, kept until a scenario expects it (language: README.md)
 *
 * The sink of a scenario: owns copies of records and events, in the order in which they came. One thread.
 */
#pragma once

#include "decoder/decoder.h"
#include "tests/scenario/words.h"

struct observed {
    struct seen_record *first_record, *last_record;
    struct seen_event *first_event, *last_event;
};

/* ctx of both sink functions is a struct observed, all zero at the start. */
void observed_records(void *ctx, const struct decoder_records *records);
void observed_event(void *ctx, const struct decoder_event *event);
void observed_deinit(struct observed *observed);

/* The next record, which is forgotten, is as the rest of the line says. why: what differs. */
bool observed_expect_record(struct observed *observed, struct words *words, char *why,
                            size_t why_len);
/* An event of this kind and these members has come; it is forgotten. */
bool observed_expect_event(struct observed *observed, struct words *words, char *why,
                           size_t why_len);
/* Is no record left; no event of the kind that the next word names? */
bool observed_no_record(const struct observed *observed);
bool observed_no_event(const struct observed *observed, struct words *words);
