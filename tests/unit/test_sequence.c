// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "decoder/base.h"
#include "decoder/session/sequence.h"
#include "tests/support/support.h"

static struct sequence stream;
static uint64_t n_lost, n_found, n_reordered, n_duplicate, n_restart;

static void start(void)
{
    stream = (struct sequence){0};
    n_lost = n_found = n_reordered = n_duplicate = n_restart = 0;
}

static void note(const struct sequence_message *m)
{
    struct sequence_result r;
    sequence_note(&stream, m, &r);
    n_lost += r.lost;
    n_found += r.found;
    n_reordered += r.reordered;
    n_duplicate += r.duplicate;
    n_restart += r.restart;
}

static void units(uint32_t sequence, uint32_t n)
{
    struct sequence_message m = {.sequence = sequence, .units = n, .units_known = true};
    note(&m);
}

static void unknown_units(uint32_t sequence)
{
    struct sequence_message m = {.sequence = sequence};
    note(&m);
}

static void datagram(uint32_t sequence, uint32_t uptime_ms, int64_t received_s)
{
    struct sequence_message m = {.sequence = sequence,
                                 .units = 1,
                                 .units_known = true,
                                 .has_uptime = true,
                                 .uptime_ms = uptime_ms,
                                 .received_ns = received_s * WF_NS_PER_S};
    note(&m);
}

static void the_first_message_is_no_gap(void)
{
    start();
    units(4000000000U, 5);
    CU_ASSERT_EQUAL(n_lost, 0U);
    CU_ASSERT_EQUAL(stream.expected, 4000000005U);
}

static void messages_in_order_say_nothing(void)
{
    start();
    for (uint32_t i = 0; i < 1000; i++) {
        units(0xffffff00U + i * 7, 7);
    }
    CU_ASSERT_EQUAL(n_lost + n_reordered + n_duplicate + n_restart, 0U);
}

static void a_step_ahead_is_lost_units(void)
{
    start();
    units(10, 2);
    units(15, 1);
    CU_ASSERT_EQUAL(n_lost, 3U);
    units(16, 1);
    CU_ASSERT_EQUAL(n_lost, 3U);
    CU_ASSERT_EQUAL(n_reordered + n_duplicate + n_restart, 0U);
}

static void a_gap_across_the_wrap_has_its_true_size(void)
{
    start();
    units(0xfffffffeU, 1);
    units(3, 1);
    CU_ASSERT_EQUAL(n_lost, 4U);
    units(0xffffffffU, 1);
    units(2, 1);
    CU_ASSERT_EQUAL(n_found, 2U);
    units(0, 2);
    CU_ASSERT_EQUAL(n_found, 4U);
    CU_ASSERT_EQUAL(stream.n_holes, 0U);
}

static void a_late_message_is_taken_out_of_the_middle_of_a_hole(void)
{
    start();
    units(0, 1);
    units(11, 1);
    units(4, 3);
    CU_ASSERT_EQUAL(n_lost - n_found, 7U);
    CU_ASSERT_EQUAL(stream.n_holes, 2U);
    units(4, 3); /* again: it lies in no hole any more */
    CU_ASSERT_EQUAL(n_duplicate, 1U);
    units(1, 3);
    units(7, 4);
    CU_ASSERT_EQUAL(n_lost, n_found);
    CU_ASSERT_EQUAL(n_reordered, 3U);
}

static void a_late_message_never_fills_more_than_the_hole(void)
{
    start();
    units(0, 1);
    units(3, 1);
    units(1, 100);
    CU_ASSERT_EQUAL(n_found, 2U);
}

static void the_message_before_the_first_is_a_duplicate_not_a_loss(void)
{
    start();
    units(10, 1);
    units(9, 1);
    CU_ASSERT_EQUAL(n_duplicate, 1U);
    CU_ASSERT_EQUAL(n_lost, 0U);
}

static void messages_without_units_are_no_duplicates(void)
{
    start();
    units(10, 5);
    units(15, 0);
    units(15, 0);
    units(10, 0);
    CU_ASSERT_EQUAL(n_lost + n_duplicate + n_reordered + n_restart, 0U);
    units(15, 1);
    CU_ASSERT_EQUAL(n_lost, 0U);
}

static void a_large_jump_either_way_is_a_restart(void)
{
    start();
    units(1000000000, 1);
    units(2000000000, 1);
    CU_ASSERT_EQUAL(n_restart, 1U);
    units(1000, 1);
    CU_ASSERT_EQUAL(n_restart, 2U);
    units(1001, 1);
    CU_ASSERT_EQUAL(n_lost + n_duplicate, 0U);
}

static void messages_from_behind_that_continue_each_other_are_a_restart(void)
{
    start();
    units(5000, 1);
    units(0, 3);
    units(3, 2);
    CU_ASSERT_EQUAL(n_restart, 0U);
    units(5, 1);
    CU_ASSERT_EQUAL(n_restart, 1U);
    units(6, 1);
    CU_ASSERT_EQUAL(n_restart, 1U);
    CU_ASSERT_EQUAL(n_duplicate, 2U);
}

static void doubled_messages_are_duplicates_not_restarts(void)
{
    start();
    for (uint32_t i = 0; i < 100; i++) {
        units(i, 1);
        units(i, 1);
    }
    CU_ASSERT_EQUAL(n_duplicate, 100U);
    CU_ASSERT_EQUAL(n_restart + n_lost, 0U);
}

static void uptime_that_falls_back_is_a_restart(void)
{
    start();
    datagram(500, 7200000, 100);
    datagram(501, 1000, 160);
    CU_ASSERT_EQUAL(n_restart, 1U);
    /* 30 days of uptime: the way forward to 0 is shorter than back, and still no wrap */
    datagram(502, 2592000000U, 200);
    datagram(0, 5000, 210);
    CU_ASSERT_EQUAL(n_restart, 2U);
    CU_ASSERT_EQUAL(n_lost, 0U);
}

static void uptime_a_little_back_is_reordering(void)
{
    start();
    datagram(1, 100000, 0);
    datagram(3, 100200, 0);
    datagram(2, 100100, 0);
    datagram(4, 50000, 0);
    CU_ASSERT_EQUAL(n_restart, 0U);
    CU_ASSERT_EQUAL(n_reordered, 1U);
}

static void uptime_wrap_is_no_restart(void)
{
    start();
    datagram(1, 0xffffff00U, 0);
    datagram(2, 500, 1);
    CU_ASSERT_EQUAL(n_restart, 0U);
    /* silent for a day around the wrap */
    datagram(3, 0xffff0000U, 10);
    datagram(4, 86400000U - 65536U, 10 + 86400);
    CU_ASSERT_EQUAL(n_restart, 0U);
    /* a queue on the way: both arrive at once */
    datagram(5, 0xffff0000U, 90000);
    datagram(6, 600000, 90000);
    CU_ASSERT_EQUAL(n_restart, 0U);
}

static void unknown_units_make_no_gap(void)
{
    start();
    units(10, 2);
    unknown_units(12);
    units(20, 1);
    CU_ASSERT_EQUAL(n_lost, 0U);
    units(22, 1);
    CU_ASSERT_EQUAL(n_lost, 1U);
    /* what is missing before such a message is known */
    unknown_units(30);
    CU_ASSERT_EQUAL(n_lost, 8U);
}

static void when_holes_do_not_fit_the_oldest_stays_lost(void)
{
    start();
    units(0, 1);
    for (uint32_t i = 1; i <= 40; i++) {
        units(i * 10, 1);
    }
    CU_ASSERT_EQUAL(n_lost, 360U);
    CU_ASSERT_EQUAL(stream.n_holes, SEQUENCE_MAX_HOLES);
    units(1, 1); /* of a hole that was given up: no longer known to be late */
    CU_ASSERT_EQUAL(n_duplicate, 1U);
    for (uint32_t i = 40 - SEQUENCE_MAX_HOLES; i < 40; i++) {
        units(i * 10 + 1, 9);
    }
    uint64_t n_kept = 9 * (uint64_t)SEQUENCE_MAX_HOLES;
    CU_ASSERT_EQUAL(n_found, n_kept);
    CU_ASSERT_EQUAL(stream.n_holes, 0U);
    CU_ASSERT_EQUAL(n_lost - n_found, 360U - n_kept);
}

/* Eight workers that each take a run of datagrams mix them about like this. */
static void interleaved_runs_lose_exactly_what_is_missing(void)
{
    enum {
        N_RUNS = 8,
        RUN = 64,
        ROUNDS = 50
    };
    start();
    uint32_t base = 0xffff0000U; /* wraps on the way */
    uint64_t n_dropped = 0;
    unsigned random = 1;
    units(base++, 1);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t done[N_RUNS] = {0};
        for (int i = 0; i < N_RUNS * RUN; i++) {
            random = random * 1103515245U + 12345U;
            uint32_t run = random >> 16 & (N_RUNS - 1);
            while (done[run] == RUN) {
                run = (run + 1) % N_RUNS;
            }
            uint32_t sequence = base + run * RUN + done[run]++;
            if (run == 3 && done[run] % 16 == 8) {
                n_dropped++;
            } else {
                units(sequence, 1);
            }
        }
        base += N_RUNS * RUN;
    }
    CU_ASSERT_EQUAL(n_lost - n_found, n_dropped);
    CU_ASSERT_EQUAL(n_duplicate, 0U);
    CU_ASSERT_EQUAL(n_restart, 0U);
}

static void random_numbers_keep_the_sums(void)
{
    start();
    uint64_t x = 88172645463325252U;
    for (int i = 0; i < 200000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        uint32_t sequence = x & 1 ? (uint32_t)(x >> 32) : (uint32_t)(x >> 32) & 0xffffU;
        struct sequence_message m = {.sequence = sequence,
                                     .units = (uint32_t)(x >> 8 & 63),
                                     .units_known = (x >> 2 & 3) != 0,
                                     .has_uptime = true,
                                     .uptime_ms = (uint32_t)x,
                                     .received_ns = (int64_t)i};
        note(&m);
        CU_ASSERT_FATAL(n_found <= n_lost);
        CU_ASSERT_FATAL(stream.n_holes <= SEQUENCE_MAX_HOLES);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"the first message is no gap", the_first_message_is_no_gap},
        {"messages in order say nothing", messages_in_order_say_nothing},
        {"a step ahead is lost units", a_step_ahead_is_lost_units},
        {"a gap across the wrap has its true size", a_gap_across_the_wrap_has_its_true_size},
        {"a late message is taken out of the middle of a hole",
         a_late_message_is_taken_out_of_the_middle_of_a_hole},
        {"a late message never fills more than the hole",
         a_late_message_never_fills_more_than_the_hole},
        {"the message before the first is a duplicate, not a loss",
         the_message_before_the_first_is_a_duplicate_not_a_loss},
        {"messages without units are no duplicates", messages_without_units_are_no_duplicates},
        {"a large jump either way is a restart", a_large_jump_either_way_is_a_restart},
        {"messages from behind that continue each other are a restart",
         messages_from_behind_that_continue_each_other_are_a_restart},
        {"doubled messages are duplicates, not restarts",
         doubled_messages_are_duplicates_not_restarts},
        {"uptime that falls back is a restart", uptime_that_falls_back_is_a_restart},
        {"uptime a little back is reordering", uptime_a_little_back_is_reordering},
        {"uptime wrap is no restart", uptime_wrap_is_no_restart},
        {"unknown units make no gap", unknown_units_make_no_gap},
        {"when holes do not fit the oldest stays lost",
         when_holes_do_not_fit_the_oldest_stays_lost},
        {"interleaved runs lose exactly what is missing",
         interleaved_runs_lose_exactly_what_is_missing},
        {"random numbers keep the sums", random_numbers_keep_the_sums},
    };
    return test_main("sequence", cases, sizeof(cases) / sizeof(cases[0]));
}
