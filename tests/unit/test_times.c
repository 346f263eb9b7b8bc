// SPDX-License-Identifier: Apache-2.0
/* Start, end, duration and @timestamp from every element that tells a time. */
#include <string.h>

#include "collector/document/time.h"
#include "tests/support/support.h"

#define EXPORT_NS (1482670715LL * WF_NS_PER_S)
#define MS        WF_NS_PER_MS
#define HOUR      (3600 * WF_NS_PER_S)
#define DAY       (24 * HOUR)

static struct time_record ipfix(void)
{
    return (struct time_record){.export_ns = EXPORT_NS, .received_ns = EXPORT_NS};
}

static struct time_record v9(uint32_t uptime_ms)
{
    struct time_record r = ipfix();
    r.has_uptime = true;
    r.uptime_ms = uptime_ms;
    return r;
}

static struct time_result resolve(const struct time_record *r)
{
    struct time_result t;
    memset(&t, 0xa5, sizeof t);
    time_resolve(r, &t);
    return t;
}

static void expect_flow(const struct time_result *t, int64_t start, int64_t end, int64_t duration)
{
    CU_ASSERT(t->has_start);
    CU_ASSERT(t->has_end);
    CU_ASSERT(t->has_duration);
    CU_ASSERT_EQUAL(t->start_ns, start);
    CU_ASSERT_EQUAL(t->end_ns, end);
    CU_ASSERT_EQUAL(t->duration_ns, duration);
}

static void each_pair_of_absolute_times_is_taken(void)
{
    static const enum time_input pairs[][2] = {
        {TIME_START_SECONDS, TIME_END_SECONDS},
        {TIME_START_MILLISECONDS, TIME_END_MILLISECONDS},
        {TIME_START_MICROSECONDS, TIME_END_MICROSECONDS},
        {TIME_START_NANOSECONDS, TIME_END_NANOSECONDS},
        {TIME_START_SECONDS, TIME_END_NANOSECONDS},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct time_record r = ipfix();
        time_record_set(&r, pairs[i][0], EXPORT_NS - 5 * WF_NS_PER_S);
        time_record_set(&r, pairs[i][1], EXPORT_NS - 2 * WF_NS_PER_S);
        struct time_result t = resolve(&r);
        expect_flow(&t, EXPORT_NS - 5 * WF_NS_PER_S, EXPORT_NS - 2 * WF_NS_PER_S, 3 * WF_NS_PER_S);
        CU_ASSERT_EQUAL(t.timestamp_ns, t.end_ns);
        CU_ASSERT_EQUAL(t.source, pairs[i][1]);
    }
}

static void the_finer_time_wins_and_zero_is_not_set(void)
{
    struct time_record r = v9(10000);
    time_record_set(&r, TIME_END_SECONDS, EXPORT_NS - 1);
    time_record_set(&r, TIME_END_UPTIME, 9000);
    time_record_set(&r, TIME_END_MILLISECONDS, EXPORT_NS - 3);
    CU_ASSERT_EQUAL(resolve(&r).end_ns, EXPORT_NS - 3);
    time_record_set(&r, TIME_END_MILLISECONDS, 0);
    CU_ASSERT_EQUAL(resolve(&r).end_ns, EXPORT_NS - 1000 * MS);
    r.present &= ~(1U << TIME_END_UPTIME);
    CU_ASSERT_EQUAL(resolve(&r).end_ns, EXPORT_NS - 1);
}

static void uptimes_count_back_from_the_header(void)
{
    struct time_record r = v9(100000);
    time_record_set(&r, TIME_START_UPTIME, 40000);
    time_record_set(&r, TIME_END_UPTIME, 99000);
    struct time_result t = resolve(&r);
    expect_flow(&t, EXPORT_NS - 60000 * MS, EXPORT_NS - 1000 * MS, 59000 * MS);
    CU_ASSERT_STRING_EQUAL(time_source_name(t.source), "flow_end_sys_up_time");
}

static void uptimes_survive_the_wrap(void)
{
    struct time_record r = v9(500);
    time_record_set(&r, TIME_START_UPTIME, 0xffffff00LL);
    time_record_set(&r, TIME_END_UPTIME, 100);
    struct time_result t = resolve(&r);
    expect_flow(&t, EXPORT_NS - 756 * MS, EXPORT_NS - 400 * MS, 356 * MS);
}

static void uptimes_long_ago_are_taken_without_a_wrap(void)
{
    struct time_record r = v9(0xf0000000U);
    time_record_set(&r, TIME_START_UPTIME, 1000);
    time_record_set(&r, TIME_END_UPTIME, 0xf0000000LL);
    struct time_result t = resolve(&r);
    expect_flow(&t, EXPORT_NS - (0xf0000000LL - 1000) * MS, EXPORT_NS, (0xf0000000LL - 1000) * MS);
}

static void uptimes_ahead_of_the_header_are_taken_up_to_an_hour(void)
{
    struct time_record r = v9(100000);
    time_record_set(&r, TIME_END_UPTIME, 100000 + 3600000);
    CU_ASSERT_EQUAL(resolve(&r).end_ns, EXPORT_NS + HOUR);
    time_record_set(&r, TIME_END_UPTIME, 100000 + 3600001);
    struct time_result t = resolve(&r);
    CU_ASSERT_FALSE(t.has_end);
    CU_ASSERT_EQUAL(t.timestamp_ns, EXPORT_NS);
    time_record_set(&r, TIME_END_UPTIME, 1LL << 32);
    CU_ASSERT_FALSE(resolve(&r).has_end);
}

static void uptimes_ahead_of_a_header_just_before_the_wrap_are_not_weeks_old(void)
{
    struct time_record r = v9(0xffffff00U);
    time_record_set(&r, TIME_START_UPTIME, 0xffffffa0LL);
    time_record_set(&r, TIME_END_UPTIME, 44);
    struct time_result t = resolve(&r);
    expect_flow(&t, EXPORT_NS + 160 * MS, EXPORT_NS + 300 * MS, 140 * MS);
    CU_ASSERT_EQUAL(t.source, TIME_END_UPTIME);
}

static void ipfix_uptimes_count_from_the_boot_time(void)
{
    struct time_record r = ipfix();
    time_record_set(&r, TIME_BOOT, EXPORT_NS - DAY);
    time_record_set(&r, TIME_START_UPTIME, 1000);
    time_record_set(&r, TIME_END_UPTIME, 86000000);
    struct time_result t = resolve(&r);
    expect_flow(&t, EXPORT_NS - DAY + 1000 * MS, EXPORT_NS - DAY + 86000000 * MS, 85999000 * MS);
}

static void ipfix_uptimes_are_turned_on_by_whole_wraps(void)
{
    struct time_record r = ipfix();
    time_record_set(&r, TIME_BOOT, EXPORT_NS - 120 * DAY);
    /* 120 days are 2 wraps and 1778065408 ms */
    time_record_set(&r, TIME_END_UPTIME, 1778065408LL - 500);
    CU_ASSERT_EQUAL(resolve(&r).end_ns, EXPORT_NS - 500 * MS);
}

static void ipfix_uptimes_without_boot_time_give_a_duration_only(void)
{
    struct time_record r = ipfix();
    time_record_set(&r, TIME_START_UPTIME, 0xfffffff0LL);
    time_record_set(&r, TIME_END_UPTIME, 0x10);
    struct time_result t = resolve(&r);
    CU_ASSERT_FALSE(t.has_start);
    CU_ASSERT_FALSE(t.has_end);
    CU_ASSERT_TRUE(t.has_duration);
    CU_ASSERT_EQUAL(t.duration_ns, 32 * MS);
    CU_ASSERT_EQUAL(t.source, TIME_EXPORT);
}

static void deltas_count_back_from_the_export_time(void)
{
    struct time_record r = ipfix();
    time_record_set(&r, TIME_START_DELTA, 2500000);
    time_record_set(&r, TIME_END_DELTA, 500001);
    struct time_result t = resolve(&r);
    expect_flow(&t, EXPORT_NS - 2500000000LL, EXPORT_NS - 500001000LL, 1999999000LL);
}

static void a_duration_gives_the_side_that_is_missing(void)
{
    struct time_record r = ipfix();
    time_record_set(&r, TIME_START_MILLISECONDS, EXPORT_NS - 10 * WF_NS_PER_S);
    time_record_set(&r, TIME_DURATION_MILLISECONDS, 4000);
    struct time_result t = resolve(&r);
    expect_flow(&t, EXPORT_NS - 10 * WF_NS_PER_S, EXPORT_NS - 6 * WF_NS_PER_S, 4 * WF_NS_PER_S);
    CU_ASSERT_EQUAL(t.source, TIME_DURATION_MILLISECONDS);
    CU_ASSERT_EQUAL(t.timestamp_ns, EXPORT_NS - 6 * WF_NS_PER_S);

    r = ipfix();
    time_record_set(&r, TIME_END_SECONDS, EXPORT_NS);
    time_record_set(&r, TIME_DURATION_MICROSECONDS, 1500);
    t = resolve(&r);
    expect_flow(&t, EXPORT_NS - 1500000, EXPORT_NS, 1500000);

    r = ipfix();
    time_record_set(&r, TIME_DURATION_MILLISECONDS, 20269);
    t = resolve(&r);
    CU_ASSERT_FALSE(t.has_start || t.has_end);
    CU_ASSERT_EQUAL(t.duration_ns, 20269 * MS);
}

static void no_duration_is_negative(void)
{
    struct time_record r = ipfix();
    time_record_set(&r, TIME_START_MILLISECONDS, EXPORT_NS);
    time_record_set(&r, TIME_END_MILLISECONDS, EXPORT_NS - MS);
    struct time_result t = resolve(&r);
    CU_ASSERT_TRUE(t.has_start && t.has_end);
    CU_ASSERT_FALSE(t.has_duration);
    time_record_set(&r, TIME_DURATION_MILLISECONDS, 7);
    CU_ASSERT_EQUAL(resolve(&r).duration_ns, 7 * MS);

    r = ipfix();
    time_record_set(&r, TIME_START_UPTIME, 2000);
    time_record_set(&r, TIME_END_UPTIME, 1000);
    CU_ASSERT_FALSE(resolve(&r).has_duration);
}

static void an_observation_is_the_end(void)
{
    static const enum time_input observed[] = {TIME_OBSERVED_SECONDS, TIME_OBSERVED_MILLISECONDS,
                                               TIME_OBSERVED_MICROSECONDS,
                                               TIME_OBSERVED_NANOSECONDS};
    for (size_t i = 0; i < 4; i++) {
        struct time_record r = ipfix();
        time_record_set(&r, observed[i], EXPORT_NS - 77);
        struct time_result t = resolve(&r);
        CU_ASSERT_EQUAL(t.end_ns, EXPORT_NS - 77);
        CU_ASSERT_EQUAL(t.source, observed[i]);
        CU_ASSERT_FALSE(t.has_start || t.has_duration);
        time_record_set(&r, TIME_START_MILLISECONDS, EXPORT_NS - 100);
        t = resolve(&r);
        expect_flow(&t, EXPORT_NS - 100, EXPORT_NS - 77, 23);
    }
}

static void a_collection_time_is_the_last_resort(void)
{
    struct time_record r = ipfix();
    time_record_set(&r, TIME_COLLECTED, EXPORT_NS - 5);
    time_record_set(&r, TIME_START_SECONDS, EXPORT_NS - 100);
    struct time_result t = resolve(&r);
    CU_ASSERT_EQUAL(t.end_ns, EXPORT_NS - 5);
    CU_ASSERT_FALSE(t.has_duration);
    time_record_set(&r, TIME_OBSERVED_SECONDS, EXPORT_NS - 50);
    CU_ASSERT_EQUAL(resolve(&r).source, TIME_OBSERVED_SECONDS);
}

static void timestamp_is_the_export_time_when_the_end_is_far_off(void)
{
    static const struct {
        int64_t end;
        bool taken;
    } cases[] = {{EXPORT_NS - DAY, true},  {EXPORT_NS - DAY - 1, false},
                 {EXPORT_NS + HOUR, true}, {EXPORT_NS + HOUR + 1, false},
                 {INT64_MIN, false},       {INT64_MAX, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct time_record r = ipfix();
        time_record_set(&r, TIME_END_NANOSECONDS, cases[i].end);
        struct time_result t = resolve(&r);
        CU_ASSERT_EQUAL(t.end_ns, cases[i].end);
        CU_ASSERT_EQUAL(t.timestamp_ns, cases[i].taken ? cases[i].end : EXPORT_NS);
        CU_ASSERT_EQUAL(t.source, cases[i].taken ? TIME_END_NANOSECONDS : TIME_EXPORT);
    }
}

static void timestamp_is_the_receive_time_when_the_export_time_is_far_off(void)
{
    static const int64_t off[] = {DAY, DAY + 1, -DAY, -DAY - 1};
    for (size_t i = 0; i < 4; i++) {
        struct time_record r = ipfix();
        time_record_set(&r, TIME_END_NANOSECONDS, EXPORT_NS);
        r.received_ns = EXPORT_NS + off[i];
        CU_ASSERT_EQUAL(resolve(&r).source, TIME_END_NANOSECONDS);
        r.live = true;
        CU_ASSERT_EQUAL(resolve(&r).timestamp_ns, i % 2 ? r.received_ns : EXPORT_NS);
        CU_ASSERT_EQUAL(resolve(&r).source, i % 2 ? TIME_RECEIVED : TIME_END_NANOSECONDS);
    }
}

static void hostile_values_overflow_nothing(void)
{
    static const int64_t values[] = {INT64_MIN, -1, 0, 1, 0xffffffffLL, 0x100000000LL, INT64_MAX};
    for (size_t i = 0; i < 7; i++) {
        for (size_t j = 0; j < 7; j++) {
            struct time_record r = ipfix();
            for (unsigned k = 0; k < TIME_N_INPUTS; k++) {
                r.value[k] = values[(i + k * j) % 7];
            }
            for (unsigned k = 0; k < TIME_N_INPUTS; k++) {
                r.present = 1U << k | 1U << (k + j) % TIME_N_INPUTS | 1U << TIME_BOOT;
                r.has_uptime = k % 2;
                struct time_result t = resolve(&r);
                CU_ASSERT(!t.has_duration || t.duration_ns >= 0);
                CU_ASSERT(t.timestamp_ns >= EXPORT_NS - DAY && t.timestamp_ns <= EXPORT_NS + HOUR);
            }
        }
    }
}

#define CASE(name)                                                                                 \
    {                                                                                              \
#        name, name                                                                                \
    }

int main(void)
{
    static const struct test_case cases[] = {
        CASE(each_pair_of_absolute_times_is_taken),
        CASE(the_finer_time_wins_and_zero_is_not_set),
        CASE(uptimes_count_back_from_the_header),
        CASE(uptimes_survive_the_wrap),
        CASE(uptimes_long_ago_are_taken_without_a_wrap),
        CASE(uptimes_ahead_of_the_header_are_taken_up_to_an_hour),
        CASE(ipfix_uptimes_count_from_the_boot_time),
        CASE(uptimes_ahead_of_a_header_just_before_the_wrap_are_not_weeks_old),
        CASE(ipfix_uptimes_are_turned_on_by_whole_wraps),
        CASE(ipfix_uptimes_without_boot_time_give_a_duration_only),
        CASE(deltas_count_back_from_the_export_time),
        CASE(a_duration_gives_the_side_that_is_missing),
        CASE(no_duration_is_negative),
        CASE(an_observation_is_the_end),
        CASE(a_collection_time_is_the_last_resort),
        CASE(timestamp_is_the_export_time_when_the_end_is_far_off),
        CASE(timestamp_is_the_receive_time_when_the_export_time_is_far_off),
        CASE(hostile_values_overflow_nothing),
    };
    return test_main("times", cases, sizeof cases / sizeof cases[0]);
}
