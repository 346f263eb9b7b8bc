// SPDX-License-Identifier: Apache-2.0
/*
 * progress - how far a replay is: a bar on a terminal, else one line every 10 s
 *
 * Main thread. Knows numbers only; whoever calls it gathers them.
 */
#pragma once

#include <stdio.h>

#include "decoder/base.h"

struct progress_state {
    uint64_t octets_read, octets_total; /* of the files; total 0 = not known */
    const char *what;                   /* "flows" */
    uint64_t n_done;                    /* of these */
    uint64_t held;                      /* sets that wait for their template */
    uint64_t dropped;                   /* datagrams and documents */
    int64_t now_ns;                     /* monotonic */
};

struct progress {
    FILE *to;
    bool is_on, is_bar, is_drawn;
    int64_t began_ns, last_ns;
};

/* is_wanted false: never draws. has_terminal: to is a terminal that nothing else writes to. */
void progress_init(struct progress *progress, FILE *to, bool is_wanted, bool has_terminal,
                   int64_t now_ns);
/* Milliseconds until progress_update should be called again. */
int progress_interval_ms(const struct progress *progress);
void progress_update(struct progress *progress, const struct progress_state *state);
/* Takes the bar off the terminal. */
void progress_end(struct progress *progress);

/* The line without control characters, for a run that began at began_ns: "██████░░░ 61 %  1.8 GB/2.9 GB  412 k flows/s  ETA 0:03  held 0
 * dropped 0". Returns its length, as snprintf does. */
int progress_format(const struct progress_state *state, int64_t began_ns, bool with_bar, char *line,
                    size_t len);
