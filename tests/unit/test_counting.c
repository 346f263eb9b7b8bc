// SPDX-License-Identifier: Apache-2.0
/* Exporters that count otherwise than their protocol says, through sequence_note(). */
#include "decoder/session/sequence.h"
#include "tests/support/support.h"

static struct sequence stream;
static uint64_t arrival;
static uint64_t n_lost, n_found, n_duplicate, n_restart;

static void start(void)
{
    stream = (struct sequence){0};
    arrival = 0;
    n_lost = n_found = n_duplicate = n_restart = 0;
}

static void note(const struct sequence_message *m)
{
    struct sequence_result r;
    sequence_note(&stream, m, &r);
    n_lost += r.lost;
    n_found += r.found;
    n_duplicate += r.duplicate;
    n_restart += r.restart;
    CU_ASSERT_FATAL(n_found <= n_lost);
}

/* IPFIX: flows and options records in a message. */
static void ipfix(uint32_t sequence, uint32_t flows, uint32_t options)
{
    struct sequence_message m = {.sequence = sequence,
                                 .units = flows + options,
                                 .units_known = true,
                                 .records = flows + options,
                                 .flows = flows,
                                 .records_known = true,
                                 .arrival = arrival++};
    note(&m);
}

static void v9(uint32_t sequence, uint32_t flows)
{
    struct sequence_message m = {.sequence = sequence,
                                 .units = 1,
                                 .units_known = true,
                                 .records = flows,
                                 .flows = flows,
                                 .records_known = true,
                                 .arrival = arrival++};
    note(&m);
}

/* 1..20, never twice the same in a row */
static uint32_t size_of(uint32_t i)
{
    return 1 + i * 7 % 20;
}

static void flows_up_to_the_end_of_the_message_are_found_out(void)
{
    start();
    uint32_t sum = 0xfffffff0U; /* wraps */
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t n_options = i % 16 == 15;
        sum += size_of(i);
        ipfix(sum, size_of(i), n_options);
    }
    CU_ASSERT_EQUAL(stream.counting.way, COUNTING_FLOWS_AT_END);
    CU_ASSERT_EQUAL(n_lost, n_found);
    CU_ASSERT_EQUAL(n_restart, 0U);
    /* and a loss is one from now on */
    sum += 25;
    ipfix(sum + 3, 3, 0);
    CU_ASSERT_EQUAL(n_lost - n_found, 25U);
    /* as before a set that can not be counted */
    struct sequence_message m = {.sequence = sum + 40, .arrival = arrival++};
    note(&m);
    ipfix(sum + 42, 2, 0);
    CU_ASSERT_EQUAL(n_lost - n_found, 25U);
}

static void messages_instead_of_records_are_found_out(void)
{
    start();
    for (uint32_t i = 0; i < 100; i++) {
        ipfix(1000 + i, 12, 0);
    }
    CU_ASSERT_EQUAL(stream.counting.way, COUNTING_MESSAGES);
    CU_ASSERT_EQUAL(n_lost, n_found);
    CU_ASSERT(n_duplicate <= 8);
    ipfix(1105, 12, 0);
    CU_ASSERT_EQUAL(n_lost - n_found, 5U);
}

static void records_instead_of_v9_datagrams_are_found_out(void)
{
    start();
    uint32_t sum = 5;
    for (uint32_t i = 0; i < 100; i++) {
        v9(sum, size_of(i));
        sum += size_of(i);
    }
    CU_ASSERT_EQUAL(stream.counting.way, COUNTING_RECORDS);
    CU_ASSERT_EQUAL(n_lost, n_found);
}

static void an_exporter_that_learns_to_count_is_believed_again(void)
{
    start();
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 50; i++) {
        v9(sum, size_of(i));
        sum += size_of(i);
    }
    for (uint32_t i = 0; i < 50; i++) {
        v9(sum + i, size_of(i));
    }
    CU_ASSERT_EQUAL(stream.counting.way, COUNTING_PROTOCOL);
}

static void loss_alone_is_no_other_way_of_counting(void)
{
    start();
    uint64_t x = 88172645463325252U;
    uint32_t sum = 0;
    uint64_t n_dropped = 0;
    uint64_t n_pending = 0; /* dropped, and nothing came behind it yet */
    for (uint32_t i = 0; i < 200000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        uint32_t n = 1 + (uint32_t)(x >> 40) % 5;
        if (i > 0 && (x >> 20) % 2) {
            n_pending += n;
        } else {
            ipfix(sum, n, 0);
            n_dropped += n_pending;
            n_pending = 0;
        }
        sum += n;
    }
    CU_ASSERT_EQUAL(stream.counting.way, COUNTING_PROTOCOL);
    CU_ASSERT_EQUAL(n_lost - n_found, n_dropped);
}

static void every_other_datagram_lost_is_not_two_records_in_each(void)
{
    start();
    for (uint32_t i = 0; i < 1000; i++) {
        v9(2 * i, 2);
    }
    CU_ASSERT_EQUAL(stream.counting.way, COUNTING_PROTOCOL);
    CU_ASSERT_EQUAL(n_lost, 999U);
}

static void what_came_before_a_restart_and_is_decoded_after_it_says_nothing(void)
{
    start();
    for (uint32_t i = 0; i < 100; i++) {
        ipfix(5000 + i, 1, 0);
    }
    arrival = 110;
    ipfix(3000000000U, 1, 0);
    CU_ASSERT_EQUAL(n_restart, 1U);
    arrival = 100; /* another worker was slower */
    for (uint32_t i = 100; i < 110; i++) {
        ipfix(5000 + i, 1, 0);
    }
    arrival = 111;
    ipfix(3000000001U, 1, 0);
    CU_ASSERT_EQUAL(n_restart, 1U);
    CU_ASSERT_EQUAL(n_lost + n_duplicate, 0U);
}

static void only_what_arrived_late_is_called_reordered(void)
{
    struct sequence_result r;
    struct sequence_message m = {.units = 1, .units_known = true};
    start();
    sequence_note(&stream, &m, &r);
    m.sequence = 3;
    m.arrival = 3;
    sequence_note(&stream, &m, &r);
    CU_ASSERT_EQUAL(r.lost, 2U);
    m.sequence = 1;
    m.arrival = 1; /* came in order, was decoded late */
    sequence_note(&stream, &m, &r);
    CU_ASSERT_EQUAL(r.found, 1U);
    CU_ASSERT_FALSE(r.reordered);
    m.sequence = 2;
    m.arrival = 4; /* came late */
    sequence_note(&stream, &m, &r);
    CU_ASSERT_EQUAL(r.found, 1U);
    CU_ASSERT_TRUE(r.reordered);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"flows up to the end of the message are found out",
         flows_up_to_the_end_of_the_message_are_found_out},
        {"messages instead of records are found out", messages_instead_of_records_are_found_out},
        {"records instead of v9 datagrams are found out",
         records_instead_of_v9_datagrams_are_found_out},
        {"an exporter that learns to count is believed again",
         an_exporter_that_learns_to_count_is_believed_again},
        {"loss alone is no other way of counting", loss_alone_is_no_other_way_of_counting},
        {"every other datagram lost is not two records in each",
         every_other_datagram_lost_is_not_two_records_in_each},
        {"what came before a restart and is decoded after it says nothing",
         what_came_before_a_restart_and_is_decoded_after_it_says_nothing},
        {"only what arrived late is called reordered", only_what_arrived_late_is_called_reordered},
    };
    return test_main("counting", cases, sizeof(cases) / sizeof(cases[0]));
}
