// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "tests/support/build.h"
#include "tests/support/support.h"

static struct build b;

#define EXPECT(octets)                                                                             \
    CU_ASSERT_EQUAL_FATAL(b.len, sizeof(octets));                                                  \
    CU_ASSERT_EQUAL(memcmp(b.data, octets, sizeof(octets)), 0)

static void v5_header_is_24_octets_with_the_count(void)
{
    static const uint8_t want[] = {
        0,    5,    0,    0,                /* version, count */
        0x01, 0x02, 0x03, 0x04,             /* SysUptime */
        0x5f, 0x00, 0x00, 0x01, 0, 0, 0, 0, /* seconds, nanoseconds */
        0x0a, 0x0b, 0x0c, 0x0d, 0, 0, 0, 0, /* sequence, engine, sampling */
    };
    build_v5(&b, 0x5f000001, 0x01020304, 0x0a0b0c0d);
    build_end(&b);
    EXPECT(want);
    b.n_records = 3;
    build_end(&b);
    CU_ASSERT_EQUAL(b.data[3], 3U);
}

/* RFC 3954 section 5.1 and 5.2 */
static void v9_message_with_a_template_and_data(void)
{
    static const uint16_t fields[][2] = {{8, 4}, {1, 4}};
    static const uint8_t want[] = {
        0,    9,    0,    2,    0,   0, 0, 100,             /* version, count, SysUptime */
        0x5f, 0x00, 0x00, 0x01, 0,   0, 0, 7,   0, 0, 1, 0, /* seconds, sequence, source id */
        0,    0,    0,    16,   1,   0, 0, 2,               /* template flowset; id 256, 2 fields */
        0,    8,    0,    4,    0,   1, 0, 4,               /* IPV4_SRC_ADDR, IN_BYTES */
        1,    0,    0,    12,   192, 0, 2, 1,   0, 0, 1, 44,
    };
    build_v9(&b, 0x5f000001, 100, 7, 256);
    build_set(&b, 0);
    build_template(&b, 256, fields, 2);
    build_set(&b, 256);
    build_octets(&b, "\300\0\2\1", 4);
    build_u32(&b, 300);
    b.n_records = 2;
    build_end(&b);
    EXPECT(want);
}

/* RFC 3954 section 6.1: scope and option lengths in octets */
static void v9_options_template_announces_octets(void)
{
    static const uint16_t scope[][2] = {{1, 4}};
    static const uint16_t fields[][2] = {{34, 4}, {35, 1}};
    static const uint8_t want[] = {
        0, 1, 0, 22, 1, 1, 0, 4, 0, 8, 0, 1, 0, 4, 0, 34, 0, 4, 0, 35, 0, 1,
    };
    build_v9(&b, 1, 2, 3, 4);
    build_set(&b, 1);
    build_options_template(&b, 257, scope, 1, fields, 2);
    build_end(&b);
    CU_ASSERT_EQUAL_FATAL(b.len, 20 + sizeof(want));
    CU_ASSERT_EQUAL(memcmp(b.data + 20, want, sizeof(want)), 0);
}

/* RFC 7011 section 3.1, 3.4.1 and 3.2 */
static void ipfix_message_with_an_enterprise_field(void)
{
    static const uint8_t want[] = {
        0,    10, 0, 32, 0x5f, 0, 0,    1,    0, 0, 0, 7, 0, 0, 1, 0, /* header */
        0,    2,  0, 16, 1,    0, 0,    1,    /* template set; id 256, 1 field */
        0x80, 1,  0, 8,  0,    0, 0x72, 0x79, /* reverse octetDeltaCount, PEN 29305 */
    };
    build_ipfix(&b, 0x5f000001, 7, 256);
    build_set(&b, 2);
    build_u16(&b, 256);
    build_u16(&b, 1);
    build_field_pen(&b, 1, 8, 29305);
    build_end(&b);
    EXPECT(want);
}

/* RFC 7011 section 3.4.2.2: counts of fields, scope fields among them */
static void ipfix_options_template_announces_counts(void)
{
    static const uint16_t scope[][2] = {{149, 4}};
    static const uint16_t fields[][2] = {{41, 8}, {42, 8}};
    static const uint8_t want[] = {
        0, 3, 0, 22, 1, 1, 0, 3, 0, 1, 0, 149, 0, 4, 0, 41, 0, 8, 0, 42, 0, 8,
    };
    build_ipfix(&b, 1, 2, 3);
    build_set(&b, 3);
    build_options_template(&b, 257, scope, 1, fields, 2);
    build_end(&b);
    CU_ASSERT_EQUAL_FATAL(b.len, 16 + sizeof(want));
    CU_ASSERT_EQUAL(memcmp(b.data + 16, want, sizeof(want)), 0);
}

static void a_new_set_closes_the_one_before(void)
{
    build_ipfix(&b, 0, 0, 0);
    build_set(&b, 256);
    build_zeros(&b, 5);
    build_set(&b, 257);
    build_u8(&b, 1);
    build_end(&b);
    CU_ASSERT_EQUAL(b.data[19], 9U);
    CU_ASSERT_EQUAL(b.data[16 + 9 + 3], 5U);
    CU_ASSERT_EQUAL(b.len, 30U);
    CU_ASSERT_EQUAL(b.data[3], 30U);
}

static void a_given_count_or_length_stands(void)
{
    build_ipfix(&b, 0, 0, 0);
    build_set(&b, 256);
    build_u64(&b, 0x0102030405060708ULL);
    build_end_with(&b, 0xfffe);
    static const uint8_t value[] = {1, 2, 3, 4, 5, 6, 7, 8};
    CU_ASSERT_EQUAL(memcmp(b.data + 20, value, sizeof(value)), 0);
    CU_ASSERT_EQUAL(b.data[2], 0xffU);
    CU_ASSERT_EQUAL(b.data[3], 0xfeU);
    CU_ASSERT_EQUAL(b.data[19], 12U);
    build_v9(&b, 0, 0, 0, 0);
    b.n_records = 9;
    build_end_with(&b, 1);
    CU_ASSERT_EQUAL(b.data[3], 1U);
}

static void starting_again_forgets_the_message_before(void)
{
    build_v9(&b, 0, 0, 0, 0);
    build_set(&b, 256);
    b.n_records = 9;
    build_v9(&b, 0, 0, 0, 0);
    build_end(&b);
    CU_ASSERT_EQUAL(b.len, 20U);
    CU_ASSERT_EQUAL(b.data[3], 0U);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"v5_header_is_24_octets_with_the_count", v5_header_is_24_octets_with_the_count},
        {"v9_message_with_a_template_and_data", v9_message_with_a_template_and_data},
        {"v9_options_template_announces_octets", v9_options_template_announces_octets},
        {"ipfix_message_with_an_enterprise_field", ipfix_message_with_an_enterprise_field},
        {"ipfix_options_template_announces_counts", ipfix_options_template_announces_counts},
        {"a_new_set_closes_the_one_before", a_new_set_closes_the_one_before},
        {"a_given_count_or_length_stands", a_given_count_or_length_stands},
        {"starting_again_forgets_the_message_before", starting_again_forgets_the_message_before},
    };
    return test_main("build", cases, sizeof(cases) / sizeof(cases[0]));
}
