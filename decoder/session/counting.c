// SPDX-License-Identifier: Apache-2.0
#include "decoder/session/counting.h"

#include <string.h>

#define POINTS_TO_BELIEVE 8

/* Is this the step from one message to the next by this way of counting? known: it can be said. */
static bool explains(enum counting_way way, const struct counting_message *from,
                     const struct counting_message *to, bool *known)
{
    uint32_t step = to->sequence - from->sequence;
    switch (way) {
    case COUNTING_PROTOCOL:
        *known = from->units_known;
        return step == from->units;
    case COUNTING_RECORDS:
        *known = from->records_known;
        return step == from->records;
    case COUNTING_FLOWS:
        *known = from->records_known;
        return step == from->flows;
    case COUNTING_FLOWS_AT_END:
        *known = to->records_known;
        return step == to->flows;
    case COUNTING_MESSAGES:
    case COUNTING_N_WAYS:
    default:
        *known = true;
        return step == 1;
    }
}

static void add_point(struct counting_run *run, uint32_t step)
{
    run->steps_differ = run->points > 0 && (run->steps_differ || step != run->step);
    run->step = step;
    if (run->points < POINTS_TO_BELIEVE) {
        run->points++;
    }
}

bool counting_note(struct counting *c, const struct counting_message *m, uint32_t *not_lost)
{
    if (c->has_last && m->arrival < c->last.arrival) {
        return false; /* overtaken by another worker: no neighbours */
    }
    struct counting_message last = c->last;
    bool is_first = !c->has_last;
    c->last = *m;
    c->has_last = true;
    bool known;
    bool present = explains((enum counting_way)c->way, &last, m, &known);
    if (is_first || !known) {
        return false;
    }
    for (unsigned way = 0; way < COUNTING_N_WAYS; way++) {
        bool other = explains((enum counting_way)way, &last, m, &known);
        if (known && !other) {
            c->run[way].points = 0;
            c->run[way].doubtful = present ? 0 : c->run[way].doubtful;
        } else if (known && !present) {
            add_point(&c->run[way], m->sequence - last.sequence);
        }
        if (c->run[way].points == POINTS_TO_BELIEVE &&
            (c->run[way].steps_differ || way == COUNTING_MESSAGES || way == COUNTING_PROTOCOL)) {
            c->way = (uint8_t)way;
            *not_lost = c->run[way].doubtful;
            memset(c->run, 0, sizeof(c->run));
            return true;
        }
    }
    return false;
}

void counting_doubt(struct counting *c, uint32_t lost, uint32_t found)
{
    for (unsigned way = 0; way < COUNTING_N_WAYS; way++) {
        struct counting_run *run = &c->run[way];
        run->doubtful += lost;
        run->doubtful -= found < run->doubtful ? found : run->doubtful;
    }
}

struct counting_span counting_span(const struct counting *c, const struct counting_message *m)
{
    switch ((enum counting_way)c->way) {
    case COUNTING_RECORDS:
        return (struct counting_span){m->sequence, m->records, m->records_known, true};
    case COUNTING_FLOWS:
        return (struct counting_span){m->sequence, m->flows, m->records_known, true};
    case COUNTING_FLOWS_AT_END:
        if (!m->records_known) {
            return (struct counting_span){m->sequence, 0, true, false};
        }
        return (struct counting_span){m->sequence - m->flows, m->flows, true, true};
    case COUNTING_MESSAGES:
        return (struct counting_span){m->sequence, 1, true, true};
    case COUNTING_PROTOCOL:
    case COUNTING_N_WAYS:
    default:
        return (struct counting_span){m->sequence, m->units, m->units_known, true};
    }
}
