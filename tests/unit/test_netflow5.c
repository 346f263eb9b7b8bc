// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/feed.h"

static struct build b;

/* A record whose octet i is i + 1. */
static void count_octets(size_t len)
{
    for (size_t i = 0; i < len; i++) {
        build_u8(&b, (uint8_t)(i + 1));
    }
    b.n_records++;
}

struct place {
    uint16_t id;
    size_t offset, len;
};

static const struct feed_field *field_of(const struct feed_record *r, uint16_t id)
{
    for (size_t i = 0; i < r->n_fields; i++) {
        if (r->field[i].id == id && !r->field[i].hidden) {
            return &r->field[i];
        }
    }
    return NULL;
}

static void check_places(const struct feed_record *r, const struct place *places, size_t n)
{
    size_t n_visible = 0;
    for (size_t i = 0; i < r->n_fields; i++) {
        n_visible += !r->field[i].hidden;
    }
    CU_ASSERT_EQUAL(n_visible, n);
    for (size_t i = 0; i < n; i++) {
        const struct feed_field *f = field_of(r, places[i].id);
        CU_ASSERT_PTR_NOT_NULL_FATAL(f);
        CU_ASSERT_EQUAL(f->len, places[i].len);
        uint64_t value = 0;
        for (size_t k = 0; k < places[i].len; k++) {
            value = value << 8 | (places[i].offset + k + 1);
        }
        CU_ASSERT_EQUAL(f->value, value);
    }
}

#define COMMON                                                                                     \
    {8, 0, 4}, {12, 4, 4}, {15, 8, 4}, {10, 12, 2}, {14, 14, 2}, {2, 16, 4}, {1, 20, 4},           \
        {22, 24, 4}, {21, 28, 4}, {7, 32, 2},                                                      \
    {                                                                                              \
        11, 34, 2                                                                                  \
    }

static void header(uint8_t version, uint32_t nanoseconds)
{
    build_v5(&b, 1700000000, 3600000, 77);
    b.version = version;
    b.data[1] = version;
    b.len = 12;
    build_u32(&b, nanoseconds);
    b.len = version == 1 ? 16 : 24;
}

static void v1_fields_lie_where_they_belong(void)
{
    static const struct place places[] = {COMMON, {4, 38, 1}, {5, 39, 1}, {6, 40, 1}};
    struct feed *f = feed_new(NULL);
    header(1, 0);
    count_octets(48);
    CU_ASSERT_EQUAL(feed_build(f, &b), 0);
    CU_ASSERT_EQUAL_FATAL(f->n_records, 1U);
    check_places(&f->record[0], places, sizeof(places) / sizeof(places[0]));
    CU_ASSERT_EQUAL(f->record[0].message.sequence, 0U);
    feed_free(f);
}

static void v5_fields_lie_where_they_belong(void)
{
    static const struct place places[] = {COMMON,      {6, 37, 1},  {4, 38, 1}, {5, 39, 1},
                                          {16, 40, 2}, {17, 42, 2}, {9, 44, 1}, {13, 45, 1}};
    struct feed *f = feed_new(NULL);
    header(5, 0);
    count_octets(48);
    feed_build(f, &b);
    CU_ASSERT_EQUAL_FATAL(f->n_records, 1U);
    check_places(&f->record[0], places, sizeof(places) / sizeof(places[0]));
    feed_free(f);
}

static void v7_fields_lie_where_they_belong(void)
{
    static const struct place places[] = {COMMON,      {6, 37, 1},  {4, 38, 1}, {5, 39, 1},
                                          {16, 40, 2}, {17, 42, 2}, {9, 44, 1}, {13, 45, 1}};
    struct feed *f = feed_new(NULL);
    header(7, 0);
    count_octets(52);
    count_octets(52);
    feed_build(f, &b);
    CU_ASSERT_EQUAL_FATAL(f->n_records, 2U);
    check_places(&f->record[1], places, sizeof(places) / sizeof(places[0]));
    feed_free(f);
}

static void the_header_tells_engine_sampling_and_time(void)
{
    struct feed *f = feed_new(NULL);
    header(5, 123456789);
    b.len = 20;
    build_u8(&b, 3);
    build_u8(&b, 4);
    build_u16(&b, 0x4064);
    count_octets(48);
    feed_build(f, &b);
    CU_ASSERT_EQUAL_FATAL(f->n_records, 1U);
    const struct decoder_message *m = &f->record[0].message;
    CU_ASSERT_EQUAL(m->version, 5U);
    CU_ASSERT_EQUAL(m->engine_type, 3U);
    CU_ASSERT_EQUAL(m->engine_id, 4U);
    CU_ASSERT_EQUAL(m->sampling, 0x4064U);
    CU_ASSERT_EQUAL(m->sequence, 77U);
    CU_ASSERT_EQUAL(m->uptime_ms, 3600000U);
    CU_ASSERT_TRUE(m->has_uptime);
    CU_ASSERT_EQUAL(m->domain, 3U << 8 | 4U);
    CU_ASSERT_EQUAL(m->export_ns, 1700000000123456789);
    feed_free(f);
}

static void nanoseconds_beyond_a_second_are_no_time(void)
{
    struct feed *f = feed_new(NULL);
    header(5, 4000000000U);
    count_octets(48);
    feed_build(f, &b);
    CU_ASSERT_EQUAL(f->record[0].message.export_ns, 1700000000000000000);
    feed_free(f);
}

static void all_records_come_in_one_call(void)
{
    struct feed *f = feed_new(NULL);
    header(5, 0);
    for (int i = 0; i < 30; i++) {
        count_octets(48);
    }
    feed_build(f, &b);
    CU_ASSERT_EQUAL(f->n_calls, 1U);
    CU_ASSERT_EQUAL(f->n_records, 30U);
    CU_ASSERT_EQUAL(feed_counters(f).records_flow, 30U);
    feed_free(f);
}

static void every_cut_gives_the_whole_records(void)
{
    struct feed *f = feed_new(NULL);
    header(5, 0);
    count_octets(48);
    count_octets(48);
    count_octets(48);
    build_end(&b);
    for (size_t len = 0; len <= b.len; len++) {
        feed_forget(f);
        int rc = feed_octets(f, b.data, len);
        CU_ASSERT_EQUAL(rc < 0, len < 24);
        CU_ASSERT_EQUAL(f->n_records, len < 24 ? 0U : (len - 24) / 48);
    }
    struct decoder_counters c = feed_counters(f);
    CU_ASSERT_EQUAL(c.reason[DECODER_SHORT_HEADER], 24U);
    CU_ASSERT_EQUAL(c.reason[DECODER_COUNT_OVERRUN], 144U);
    CU_ASSERT_TRUE(feed_adds_up(f));
    feed_free(f);
}

static void a_count_of_nothing_is_no_fault(void)
{
    struct feed *f = feed_new(NULL);
    header(5, 0);
    CU_ASSERT_EQUAL(feed_build(f, &b), 0);
    CU_ASSERT_EQUAL(f->n_calls, 0U);
    CU_ASSERT_EQUAL(f->n_events[DECODER_EVENT_MALFORMED], 0U);
    feed_free(f);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"v1 fields lie where they belong", v1_fields_lie_where_they_belong},
        {"v5 fields lie where they belong", v5_fields_lie_where_they_belong},
        {"v7 fields lie where they belong", v7_fields_lie_where_they_belong},
        {"the header tells engine, sampling and time", the_header_tells_engine_sampling_and_time},
        {"nanoseconds beyond a second are no time", nanoseconds_beyond_a_second_are_no_time},
        {"all records come in one call", all_records_come_in_one_call},
        {"every cut gives the whole records", every_cut_gives_the_whole_records},
        {"a count of nothing is no fault", a_count_of_nothing_is_no_fault},
    };
    return test_main("netflow5", cases, sizeof(cases) / sizeof(cases[0]));
}
