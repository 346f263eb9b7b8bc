// SPDX-License-Identifier: Apache-2.0
/*
 * run_scenario - plays scenarios (README.md) against the decoder: text in, virtual time, no network
 *
 *     run_scenario FILE...
 *
 * Prints each expectation that does not hold, then "N passed, N failed". Exit code 0, 1 (failed), 2 (a scenario can not
 * be read).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/decoder.h"
#include "tests/scenario/datagram.h"
#include "tests/scenario/observed.h"

struct scenario {
    struct words words;
    struct decoder_limits limits;
    struct decoder *decoder;
    struct decoder_worker *worker;
    struct observed observed;
    struct sender sender;
    uint64_t slot;
    unsigned n_passed, n_failed;
};

static void check(struct scenario *s, bool holds, const char *why)
{
    if (holds) {
        s->n_passed++;
        return;
    }
    s->n_failed++;
    printf("%s:%u: %s\n", s->words.file, s->words.line, why);
}

/* ---- numbers by name ---- */

struct named {
    const char *name;
    uint64_t value;
};

static uint64_t look_up(const struct scenario *s, const struct named *all, size_t n,
                        const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i].name, name) == 0) {
            return all[i].value;
        }
    }
    words_fail(&s->words, "there is no such number");
}

#define COUNTER(member)                                                                            \
    {                                                                                              \
#        member, c->member                                                                         \
    }

static uint64_t counter_of(const struct scenario *s, const struct decoder_counters *c,
                           const char *name)
{
    const struct named all[] = {
        COUNTER(datagrams),          COUNTER(octets),
        COUNTER(datagrams_decoded),  COUNTER(sets_data),
        COUNTER(sets_decoded),       COUNTER(sets_held),
        COUNTER(sets_refused),       COUNTER(sets_released),
        COUNTER(sets_expired),       COUNTER(sets_evicted),
        COUNTER(octets_released),    COUNTER(octets_expired),
        COUNTER(octets_evicted),     COUNTER(records_flow),
        COUNTER(records_options),    COUNTER(records_released),
        COUNTER(templates_new),      COUNTER(templates_refreshed),
        COUNTER(templates_changed),  COUNTER(templates_withdrawn),
        COUNTER(sequence_lost),      COUNTER(sequence_reordered),
        COUNTER(sequence_duplicate), COUNTER(sequence_restarts),
    };
    for (int i = 0; i < DECODER_N_REASONS; i++) {
        if (strcmp(decoder_reason_name((enum decoder_reason)i), name) == 0) {
            return c->reason[i];
        }
    }
    return look_up(s, all, sizeof(all) / sizeof(all[0]), name);
}

static uint64_t state_of(const struct scenario *s, const char *name)
{
    struct decoder_state now;
    const struct decoder_state *c = &now;
    decoder_state(s->decoder, &now);
    const struct named all[] = {
        COUNTER(exporters),      COUNTER(domains),       COUNTER(templates),
        COUNTER(plans),          COUNTER(session_bytes), COUNTER(pending_sets),
        COUNTER(pending_octets), COUNTER(pending_bytes),
    };
    return look_up(s, all, sizeof(all) / sizeof(all[0]), name);
}

/* ---- expectations ---- */

struct wanted_domain {
    const struct scenario *scenario;
    struct wf_addr addr;
    uint32_t domain;
    const char *name;
    bool found;
    uint64_t value;
};

static int look_at_domain(void *ctx, const struct decoder_domain_info *info)
{
    struct wanted_domain *d = ctx;
    if (info->domain == d->domain && wf_addr_equal(&info->exporter, &d->addr)) {
        d->found = true;
        d->value = strcmp(d->name, "templates") == 0
                       ? info->templates
                       : counter_of(d->scenario, &info->counters, d->name);
    }
    return 0;
}

static void expect_number(struct scenario *s, const char *name, uint64_t is)
{
    char why[128];
    uint64_t wanted = words_number(&s->words, words_need(&s->words));
    snprintf(why, sizeof(why), "%s is %llu, not %llu", name, (unsigned long long)is,
             (unsigned long long)wanted);
    check(s, is == wanted, why);
}

/* expect domain ADDRESS DOMAIN NAME N; or: gone */
static void expect_domain(struct scenario *s)
{
    struct wanted_domain d = {.scenario = s};
    d.addr = words_addr(&s->words, words_need(&s->words));
    d.domain = (uint32_t)words_number(&s->words, words_need(&s->words));
    d.name = words_need(&s->words);
    bool gone = strcmp(d.name, "gone") == 0;
    if (gone) {
        d.name = "templates";
    }
    decoder_each_domain(s->decoder, look_at_domain, &d);
    if (gone) {
        check(s, !d.found, "the domain is still there");
    } else if (!d.found) {
        check(s, false, "there is no such domain");
    } else {
        expect_number(s, d.name, d.value);
    }
}

static void expect_none(struct scenario *s)
{
    if (words_accept(&s->words, "record")) {
        check(s, observed_no_record(&s->observed), "there is a record that was not expected");
    } else if (words_accept(&s->words, "event")) {
        check(s, observed_no_event(&s->observed, &s->words), "there is such an event");
    } else {
        words_fail(&s->words, "expect no record, or expect no event KIND");
    }
}

static void expect(struct scenario *s)
{
    struct words *w = &s->words;
    char why[160] = "";
    if (words_accept(w, "no")) {
        expect_none(s);
    } else if (words_accept(w, "record")) {
        bool holds = observed_expect_record(&s->observed, w, why, sizeof(why));
        check(s, holds, why);
    } else if (words_accept(w, "event")) {
        bool holds = observed_expect_event(&s->observed, w, why, sizeof(why));
        check(s, holds, why);
    } else if (words_accept(w, "counter")) {
        struct decoder_counters c;
        decoder_counters(s->decoder, &c);
        const char *name = words_need(w);
        expect_number(s, name, counter_of(s, &c, name));
    } else if (words_accept(w, "state")) {
        const char *name = words_need(w);
        expect_number(s, name, state_of(s, name));
    } else if (words_accept(w, "domain")) {
        expect_domain(s);
    } else {
        words_fail(w, "no such expectation");
    }
}

/* ---- what adds up whatever a scenario does ---- */

static void check_ledger(struct scenario *s)
{
    struct decoder_counters c;
    struct decoder_state state;
    decoder_counters(s->decoder, &c);
    decoder_state(s->decoder, &state);
    check(s,
          c.datagrams == c.datagrams_decoded + c.reason[DECODER_SHORT_HEADER] +
                             c.reason[DECODER_UNKNOWN_VERSION] + c.reason[DECODER_REFUSED_EXPORTER],
          "datagrams do not add up");
    check(s, c.sets_data == c.sets_decoded + c.sets_held + c.sets_refused,
          "data sets do not add up");
    check(s, c.sets_held == c.sets_released + c.sets_expired + c.sets_evicted + state.pending_sets,
          "held sets do not add up");
    check(s, s->limits.max_pending_bytes == 0 || state.pending_bytes <= s->limits.max_pending_bytes,
          "the pending budget does not hold");
    check(s, observed_no_record(&s->observed), "a record has come that was not expected");
}

/* ---- a scenario ---- */

static void parse_limits(struct scenario *s)
{
    struct decoder_limits *l = &s->limits;
    const struct {
        const char *name;
        size_t *limit;
    } all[] = {
        {"exporters", &l->max_exporters},
        {"domains", &l->max_domains_per_exporter},
        {"templates", &l->max_templates_per_domain},
        {"fields", &l->max_fields},
        {"session_bytes", &l->max_session_bytes},
        {"pending_bytes", &l->max_pending_bytes},
        {"exporter_pending_bytes", &l->max_pending_exporter_bytes},
    };
    for (const char *name = words_next(&s->words); name; name = words_next(&s->words)) {
        const char *value = words_need(&s->words);
        if (strcmp(name, "age") == 0) {
            l->max_pending_age_ns = strcmp(value, "forever") == 0 ? -1 : words_ns(&s->words, value);
            continue;
        }
        size_t i = 0;
        while (i < sizeof(all) / sizeof(all[0]) && strcmp(all[i].name, name) != 0) {
            i++;
        }
        if (i == sizeof(all) / sizeof(all[0]) || s->decoder) {
            words_fail(&s->words, "no such limit, or too late for limits");
        }
        *all[i].limit = (size_t)words_number(&s->words, value);
    }
}

static void begin(struct scenario *s)
{
    if (s->decoder) {
        return;
    }
    struct decoder_sink sink = {
        .records = observed_records, .event = observed_event, .ctx = &s->observed};
    s->decoder = decoder_new(&s->limits, NULL, 1);
    s->worker = s->decoder ? decoder_worker_new(s->decoder, &sink) : NULL;
    if (!s->worker) {
        abort();
    }
}

/* The octets are copied into a block of their own size, so that a sanitizer sees each read beyond. */
static void feed(struct scenario *s)
{
    static struct build build; // too large for the stack
    datagram_parse(&build, &s->sender, &s->words);
    uint8_t *data = malloc(build.len + 1);
    if (!data) {
        abort();
    }
    uint8_t *copy = data + 1; /* and at an odd address */
    memcpy(copy, build.data, build.len);
    struct decoder_datagram d = {
        .data = copy,
        .len = build.len,
        .exporter = s->sender.addr,
        .port = s->sender.port,
        .received_ns = SCENARIO_START_S * WF_NS_PER_S + s->sender.now_ns,
        .slot = s->slot++,
    };
    decoder_feed(s->worker, &d);
    free(data);
}

static void play_line(struct scenario *s)
{
    struct words *w = &s->words;
    if (w->n == 0) {
        return;
    }
    if (words_accept(w, "limits")) {
        parse_limits(s);
        return;
    }
    begin(s);
    if (words_accept(w, "expect")) {
        expect(s);
        if (w->at < w->n) {
            words_fail(w, "words are left at the end");
        }
        return;
    }
    sender_parse(&s->sender, w);
    if (words_accept(w, "expire")) {
        decoder_expire(s->worker, SCENARIO_START_S * WF_NS_PER_S + s->sender.now_ns);
    } else {
        feed(s);
    }
}

static void play(const char *path, unsigned *n_passed, unsigned *n_failed)
{
    static struct scenario s; // too large for the stack
    s = (struct scenario){.words.file = path};
    FILE *f = fopen(path, "re");
    if (!f) {
        words_fail(&s.words, "can not be opened");
    }
    s.sender.addr = wf_addr_v4((const uint8_t[4]){192, 0, 2, 1});
    s.sender.port = 50000;
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, f) >= 0) {
        s.words.line++;
        words_split(&s.words, line);
        play_line(&s);
    }
    free(line);
    fclose(f);
    begin(&s);
    check_ledger(&s);
    decoder_worker_free(s.worker);
    decoder_free(s.decoder);
    observed_deinit(&s.observed);
    *n_passed += s.n_passed;
    *n_failed += s.n_failed;
}

int main(int argc, char **argv)
{
    unsigned n_passed = 0;
    unsigned n_failed = 0;
    for (int i = 1; i < argc; i++) {
        play(argv[i], &n_passed, &n_failed);
    }
    printf("%u passed, %u failed\n", n_passed, n_failed);
    return n_failed > 0 || n_passed == 0;
}
