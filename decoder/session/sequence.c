// SPDX-License-Identifier: Apache-2.0
/*
 *            hole          hole
 *   ------[#########]---[####]------|-----------> units, modulo 2^32
 *   seen             seen      seen ^ expected
 *
 * A message at expected moves it on; one ahead leaves a hole; one that lies in a hole was only late;
 * one behind that lies in no hole came twice. When holes are more than fit, the oldest stays lost.
 */
#include "decoder/session/sequence.h"

#include <string.h>

#define MAX_AHEAD      (1U << 20) /* a larger step forward is no gap but a new beginning */
#define MAX_BEHIND     (1U << 16)
#define UPTIME_BACK_MS 60000U
#define UPTIME_WRAP_MS 3600000U
#define BEHIND_IN_A_ROW                                                                            \
    3U /* messages from behind that continue each other: a restart, not duplicates */
#define NS_PER_MS        1000000
#define WRAP_IN_MS_LIMIT (1LL << 32)

/* A message as its exporter counts. */
struct span {
    struct counting_span units;
    uint64_t arrival;
};

static void move_on(struct sequence *s, const struct counting_span *u)
{
    s->expected = u->first + (u->known ? u->n : 0);
    s->open = !u->known;
    s->n_behind = 0;
}

static void resync(struct sequence *s, const struct span *m)
{
    s->n_holes = 0;
    s->started = true;
    move_on(s, &m->units);
}

static void restart(struct sequence *s, const struct span *m, struct sequence_result *r)
{
    r->restart = true;
    s->history_ends = m->arrival;
    resync(s, m);
}

/* Did sysUptime fall back, other than by its 32-bit wrap after 49.7 days? A wrap is believed when the way forward is
 * about as long as the time that passed since the last message. */
static bool uptime_fell_back(const struct sequence *s, const struct sequence_message *m)
{
    if (!m->has_uptime || m->uptime_ms >= s->uptime_ms ||
        s->uptime_ms - m->uptime_ms <= UPTIME_BACK_MS) {
        return false;
    }
    int64_t passed_ms = (m->received_ns - s->received_ns) / NS_PER_MS;
    passed_ms = passed_ms < 0 ? 0 : passed_ms;
    passed_ms = passed_ms > WRAP_IN_MS_LIMIT ? WRAP_IN_MS_LIMIT : passed_ms;
    uint32_t forward_ms = m->uptime_ms - s->uptime_ms;
    return forward_ms > passed_ms + UPTIME_WRAP_MS;
}

static void hole_remove(struct sequence *s, size_t i)
{
    s->n_holes--;
    memmove(&s->hole[i], &s->hole[i + 1], (s->n_holes - i) * sizeof(s->hole[0]));
}

static void hole_insert(struct sequence *s, size_t i, struct sequence_hole hole)
{
    if (s->n_holes == SEQUENCE_MAX_HOLES) {
        hole_remove(s, 0);
        i = i > 0 ? i - 1 : 0;
    }
    memmove(&s->hole[i + 1], &s->hole[i], (s->n_holes - i) * sizeof(s->hole[0]));
    s->hole[i] = hole;
    s->n_holes++;
}

/* Takes what the message covers out of hole i; returns how many units that is. */
static uint32_t hole_fill(struct sequence *s, size_t i, const struct counting_span *u)
{
    struct sequence_hole hole = s->hole[i];
    uint32_t skip = u->first - hole.first; /* units of the hole before the message */
    uint32_t left = hole.n - skip;
    uint32_t covers = u->known && u->n < left ? u->n : left;
    if (covers == 0) {
        return 0;
    }
    hole_remove(s, i);
    uint32_t rest = left - covers;
    if (rest > 0) {
        hole_insert(
            s, i,
            (struct sequence_hole){.first = u->first + covers, .n = rest, .arrival = hole.arrival});
    }
    if (skip > 0) {
        hole.n = skip;
        hole_insert(s, i, hole);
    }
    return covers;
}

static void note_behind(struct sequence *s, const struct span *m, struct sequence_result *r)
{
    const struct counting_span *u = &m->units;
    for (size_t i = 0; i < s->n_holes; i++) {
        if (u->first - s->hole[i].first < s->hole[i].n) {
            r->reordered = (int32_t)((uint32_t)m->arrival - s->hole[i].arrival) >= 0;
            r->found = hole_fill(s, i, u);
            return;
        }
    }
    if (s->expected - u->first > MAX_BEHIND) {
        restart(s, m, r);
        return;
    }
    if ((u->known && u->n == 0) || !u->first_known) {
        return; /* templates only: it has no units that could have come before */
    }
    s->n_behind = s->n_behind > 0 && u->first == s->behind_next ? (uint8_t)(s->n_behind + 1) : 1;
    s->behind_next = u->first + u->n;
    if (s->n_behind >= BEHIND_IN_A_ROW) {
        restart(s, m, r);
        return;
    }
    r->duplicate = true;
}

static void note_ahead(struct sequence *s, const struct span *m, struct sequence_result *r)
{
    uint32_t gap = m->units.first - s->expected;
    if (gap > MAX_AHEAD) {
        restart(s, m, r);
        return;
    }
    if (gap > 0 && !s->open && m->units.first_known) {
        r->lost = gap;
        hole_insert(s, s->n_holes,
                    (struct sequence_hole){
                        .first = s->expected, .n = gap, .arrival = (uint32_t)m->arrival});
    }
    move_on(s, &m->units);
}

/* True when the message is the newest of the stream. */
static bool note_units(struct sequence *s, const struct sequence_message *m, bool is_changed,
                       const struct span *span, struct sequence_result *r)
{
    if (!s->started) {
        resync(s, span);
    } else if (uptime_fell_back(s, m)) {
        restart(s, span, r);
    } else if (is_changed) {
        s->history_ends = span->arrival;
        resync(s, span);
    } else if ((int32_t)(span->units.first - s->expected) < 0) {
        note_behind(s, span, r);
        return r->restart; /* an old message: its clock is no news */
    } else {
        note_ahead(s, span, r);
    }
    return true;
}

void sequence_note(struct sequence *s, const struct sequence_message *m, struct sequence_result *r)
{
    *r = (struct sequence_result){0};
    if (m->arrival < s->history_ends) {
        return; /* from before it began anew, decoded late */
    }
    struct counting_message counted = {
        .sequence = m->sequence,
        .units = m->units,
        .records = m->records,
        .flows = m->flows,
        .units_known = m->units_known,
        .records_known = m->records_known,
        .arrival = m->arrival,
    };
    uint32_t not_lost = 0;
    bool is_changed = counting_note(&s->counting, &counted, &not_lost);
    struct span span = {.units = counting_span(&s->counting, &counted), .arrival = m->arrival};
    bool is_newest = note_units(s, m, is_changed, &span, r);
    counting_doubt(&s->counting, r->lost, r->found);
    r->found += not_lost;
    if (is_newest) {
        s->uptime_ms = m->uptime_ms;
        s->received_ns = m->received_ns;
    }
}
