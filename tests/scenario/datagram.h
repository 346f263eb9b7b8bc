// SPDX-License-Identifier: Apache-2.0
/*
 * datagram - a line of a scenario that describes a datagram, as octets (language: README.md)
 */
#pragma once

#include "tests/scenario/words.h"
#include "tests/support/build.h"

#define SCENARIO_START_S 1700000000 /* Unix time of "at 0" */

/* What lines leave behind for those after them. */
struct sender {
    int64_t now_ns; /* since the start */
    struct wf_addr addr;
    uint16_t port;
};

/* Reads "at T" and "from ADDRESS:PORT", each optional. */
void sender_parse(struct sender *sender, struct words *words);
/* Reads the rest of the line: version, header, sets. */
void datagram_parse(struct build *build, const struct sender *sender, struct words *words);
