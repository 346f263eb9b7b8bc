// SPDX-License-Identifier: Apache-2.0
/*
 * What an operator reads for each event. Buckets are by exporter and live as long as the process: each case has
 * exporters of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/command/events.h"
#include "collector/log/log.h"
#include "tests/support/support.h"

static struct {
    int real, fd;
    char text[1 << 16];
} captured;

/* stderr becomes a file until captured_text. */
static void capture(enum log_level level)
{
    char path[] = "/tmp/test_events_XXXXXX";
    captured.fd = mkstemp(path);
    CU_ASSERT_FATAL(captured.fd >= 0);
    unlink(path);
    captured.real = dup(STDERR_FILENO);
    CU_ASSERT_FATAL(dup2(captured.fd, STDERR_FILENO) >= 0);
    log_init(level);
}

static const char *captured_text(void)
{
    dup2(captured.real, STDERR_FILENO);
    close(captured.real);
    ssize_t n = pread(captured.fd, captured.text, sizeof(captured.text) - 1, 0);
    close(captured.fd);
    captured.text[n > 0 ? n : 0] = '\0';
    return captured.text;
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + strlen(part), part)) {
        n++;
    }
    return n;
}

static void holds(const char *text, const char *part)
{
    const char *at = strstr(text, part);
    CU_ASSERT_PTR_NOT_NULL(at);
    if (!at) {
        printf("\n  \"%s\" is not in: %s\n", part, text);
    }
}

/* 192.0.2.n, domain 7 */
static struct decoder_event event_of(enum decoder_event_kind kind, uint8_t n)
{
    const uint8_t address[4] = {192, 0, 2, n};
    return (struct decoder_event){.kind = kind,
                                  .exporter = wf_addr_v4(address),
                                  .port = 50000,
                                  .domain = 7,
                                  .version = 9,
                                  .template_id = 256};
}

static void waiting_and_its_end_are_one_line_each(void)
{
    struct decoder_event e = event_of(DECODER_EVENT_WAITING, 1);
    capture(LOG_LEVEL_INFO);
    e.n_octets = 500;
    events_log(NULL, &e);
    events_log(NULL, &e); /* no line more */
    e = event_of(DECODER_EVENT_RELEASED, 1);
    e.n_sets = 12;
    e.n_records = 120;
    e.waited_ns = 41 * WF_NS_PER_S;
    events_log(NULL, &e);
    const char *text = captured_text();
    CU_ASSERT_EQUAL(count(text, "\n"), 2U);
    CU_ASSERT_EQUAL(count(text, "level=info"), 2U);
    CU_ASSERT_EQUAL(count(text, "exporter 192.0.2.1 domain 7: "), 2U);
    holds(text, "waiting for template 256");
    holds(text, "template 256 arrived after 41.0 s: 120 held records decoded");
}

static void every_template_that_is_waited_for_is_told_to_have_come(void)
{
    capture(LOG_LEVEL_DEBUG);
    for (unsigned round = 0; round < 3; round++) {
        for (uint16_t id = 256; id < 260; id++) {
            struct decoder_event e = event_of(DECODER_EVENT_WAITING, 9);
            e.template_id = id;
            events_log(NULL, &e);
            e.kind = DECODER_EVENT_TEMPLATE;
            events_log(NULL, &e);
            e.kind = DECODER_EVENT_RELEASED;
            e.n_records = 1;
            events_log(NULL, &e);
        }
    }
    const char *text = captured_text();
    CU_ASSERT_EQUAL(count(text, "\n"), 3U * 4U);
    for (unsigned id = 256; id < 260; id++) {
        char part[64];
        snprintf(part, sizeof(part), "waiting for template %u, ", id);
        CU_ASSERT_EQUAL(count(text, part), 1U);
        snprintf(part, sizeof(part), "template %u is new", id);
        CU_ASSERT_EQUAL(count(text, part), 1U);
        snprintf(part, sizeof(part), "template %u arrived after 0.0 s: 1 held record decoded", id);
        CU_ASSERT_EQUAL(count(text, part), 1U);
    }
}

static void each_exporter_and_domain_has_its_own_lines(void)
{
    static const uint8_t six[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 9};
    struct decoder_event e = event_of(DECODER_EVENT_WAITING, 2);
    capture(LOG_LEVEL_INFO);
    events_log(NULL, &e);
    e.domain = 8;
    events_log(NULL, &e);
    e.exporter = wf_addr_v6(six);
    events_log(NULL, &e);
    events_log(NULL, &e);
    const char *text = captured_text();
    CU_ASSERT_EQUAL(count(text, "\n"), 3U);
    holds(text, "exporter 192.0.2.2 domain 7: ");
    holds(text, "exporter 192.0.2.2 domain 8: ");
    holds(text, "exporter 2001:db8::9 domain 8: ");
}

static void what_is_given_up_names_its_cause_and_its_option(void)
{
    struct decoder_event e = event_of(DECODER_EVENT_LOST, 3);
    capture(LOG_LEVEL_INFO);
    e.n_sets = 3;
    e.n_octets = 4200;
    e.expired = true;
    events_log(NULL, &e);
    e.exporter.bytes[15] ^= 0x40; /* another one */
    e.expired = false;
    events_log(NULL, &e);
    const char *text = captured_text();
    CU_ASSERT_EQUAL(count(text, "level=warn"), 2U);
    CU_ASSERT_EQUAL(count(text, "gave up 3 held sets (4200 octets)"), 2U);
    CU_ASSERT_EQUAL(count(text, "--pending-age"), 1U);
    CU_ASSERT_EQUAL(count(text, "--pending-bytes"), 1U);
    CU_ASSERT_TRUE(strstr(text, "--pending-age") < strstr(text, "--pending-bytes"));
}

static void malformed_is_one_line_for_each_reason(void)
{
    struct decoder_event e = event_of(DECODER_EVENT_MALFORMED, 4);
    capture(LOG_LEVEL_INFO);
    for (unsigned i = 0; i < 1000; i++) {
        e.reason = i % 2 ? DECODER_SET_OVERRUN : DECODER_TEMPLATE_EMPTY;
        e.offset = 20 + i;
        events_log(NULL, &e);
    }
    const char *text = captured_text();
    CU_ASSERT_EQUAL(count(text, "\n"), 2U);
    holds(text, "template_empty at octet 20 of a version 9 datagram: ");
    holds(text, "set_overrun at octet 21 of a version 9 datagram: ");
    holds(text, decoder_reason_advice(DECODER_SET_OVERRUN));
}

static void every_reason_of_every_exporter_has_a_bucket_of_its_own(void)
{
    struct decoder_event e = event_of(DECODER_EVENT_MALFORMED, 5);
    capture(LOG_LEVEL_INFO);
    for (unsigned reason = DECODER_OK + 1; reason < DECODER_N_REASONS; reason++) {
        e.reason = (enum decoder_reason)reason;
        events_log(NULL, &e);
    }
    /* and other kinds of the same exporter are not held back by them */
    e = event_of(DECODER_EVENT_WAITING, 5);
    events_log(NULL, &e);
    e = event_of(DECODER_EVENT_RESTART, 5);
    events_log(NULL, &e);
    const char *text = captured_text();
    CU_ASSERT_EQUAL(count(text, "\n"), DECODER_N_REASONS - 1 + 2);
    for (unsigned reason = DECODER_OK + 1; reason < DECODER_N_REASONS; reason++) {
        char part[64];
        snprintf(part, sizeof(part), ": %s at octet",
                 decoder_reason_name((enum decoder_reason)reason));
        CU_ASSERT_EQUAL(count(text, part), 1U);
    }
}

static void templates_and_gaps_are_for_debugging(void)
{
    struct decoder_event template = event_of(DECODER_EVENT_TEMPLATE, 6);
    struct decoder_event gap = event_of(DECODER_EVENT_SEQUENCE, 6);
    gap.n_lost = 31;
    capture(LOG_LEVEL_INFO);
    events_log(NULL, &template);
    events_log(NULL, &gap);
    CU_ASSERT_STRING_EQUAL(captured_text(), "");
    /* those have not used up the first line */
    capture(LOG_LEVEL_DEBUG);
    events_log(NULL, &template);
    events_log(NULL, &gap);
    const char *text = captured_text();
    CU_ASSERT_EQUAL(count(text, "level=debug"), 2U);
    CU_ASSERT_EQUAL(count(text, "\n"), 2U);
    holds(text, "template 256 is new or changed");
    holds(text, "31 missing by its sequence numbers");
}

static void a_restart_is_told(void)
{
    struct decoder_event e = event_of(DECODER_EVENT_RESTART, 7);
    capture(LOG_LEVEL_INFO);
    events_log(NULL, &e);
    events_log(NULL, &e);
    const char *text = captured_text();
    CU_ASSERT_EQUAL(count(text, "\n"), 1U);
    holds(text, "level=info");
    holds(text, "exporter 192.0.2.7 domain 7: restarted");
}

static void nothing_is_said_below_the_level(void)
{
    struct decoder_event e = event_of(DECODER_EVENT_WAITING, 8);
    capture(LOG_LEVEL_WARN);
    events_log(NULL, &e);
    e = event_of(DECODER_EVENT_RESTART, 8);
    events_log(NULL, &e);
    CU_ASSERT_STRING_EQUAL(captured_text(), "");
}

int main(void)
{
    static const struct test_case cases[] = {
        {"waiting and its end are one line each", waiting_and_its_end_are_one_line_each},
        {"every template that is waited for is told to have come",
         every_template_that_is_waited_for_is_told_to_have_come},
        {"each exporter and domain has its own lines", each_exporter_and_domain_has_its_own_lines},
        {"what is given up names its cause and its option",
         what_is_given_up_names_its_cause_and_its_option},
        {"malformed is one line for each reason", malformed_is_one_line_for_each_reason},
        {"every reason of every exporter has a bucket of its own",
         every_reason_of_every_exporter_has_a_bucket_of_its_own},
        {"templates and gaps are for debugging", templates_and_gaps_are_for_debugging},
        {"a restart is told", a_restart_is_told},
        {"nothing is said below the level", nothing_is_said_below_the_level},
    };
    return test_main("events", cases, sizeof(cases) / sizeof(cases[0]));
}
