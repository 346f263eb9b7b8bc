// SPDX-License-Identifier: Apache-2.0
#include "decoder/wire/cursor.h"
#include "tests/support/support.h"

static const uint8_t octets[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08};

static void integers_are_big_endian(void)
{
    static const uint8_t high[] = {0xfe, 0xff, 0xfd, 0x80, 0x00, 0x00, 0x01};
    struct cursor c = cursor_init(high, sizeof(high));
    CU_ASSERT_EQUAL(cursor_u8(&c), 0xfeU);
    CU_ASSERT_EQUAL(cursor_u16(&c), 0xfffdU);
    CU_ASSERT_EQUAL(cursor_u32(&c), 0x80000001U);
    CU_ASSERT_EQUAL(cursor_left(&c), 0U);
    CU_ASSERT_FALSE(c.failed);
}

static void offset_and_rest_follow_the_reads(void)
{
    struct cursor c = cursor_init(octets, sizeof(octets));
    CU_ASSERT_EQUAL(cursor_offset(&c), 0U);
    CU_ASSERT_EQUAL(cursor_left(&c), 8U);
    CU_ASSERT_EQUAL(cursor_u16(&c), 0x0102U);
    CU_ASSERT_PTR_EQUAL(cursor_take(&c, 3), octets + 2);
    CU_ASSERT_EQUAL(cursor_offset(&c), 5U);
    CU_ASSERT_EQUAL(cursor_left(&c), 3U);
}

static void reading_to_the_last_octet_is_no_failure(void)
{
    struct cursor c = cursor_init(octets, 4);
    CU_ASSERT_EQUAL(cursor_u32(&c), 0x01020304U);
    CU_ASSERT_PTR_EQUAL(cursor_take(&c, 0), octets + 4);
    CU_ASSERT_FALSE(c.failed);
}

static void the_first_read_beyond_the_end_fails_and_does_not_move(void)
{
    struct cursor c = cursor_init(octets, 3);
    CU_ASSERT_EQUAL(cursor_u8(&c), 1U);
    CU_ASSERT_EQUAL(cursor_u32(&c), 0U);
    CU_ASSERT_TRUE(c.failed);
    CU_ASSERT_EQUAL(cursor_offset(&c), 1U);
}

static void failure_sticks_for_reads_that_would_fit(void)
{
    struct cursor c = cursor_init(octets, 3);
    CU_ASSERT_EQUAL(cursor_u32(&c), 0U);
    CU_ASSERT_EQUAL(cursor_left(&c), 0U);
    CU_ASSERT_EQUAL(cursor_u8(&c), 0U);
    CU_ASSERT_EQUAL(cursor_u16(&c), 0U);
    CU_ASSERT_PTR_NULL(cursor_take(&c, 1));
    CU_ASSERT_PTR_NULL(cursor_take(&c, 0));
    CU_ASSERT_TRUE(c.failed);
    CU_ASSERT_EQUAL(cursor_offset(&c), 0U);
}

static void every_read_of_every_short_buffer_fails(void)
{
    for (size_t len = 0; len < 4; len++) {
        struct cursor c = cursor_init(octets, len);
        CU_ASSERT_EQUAL(cursor_u32(&c), 0U);
        CU_ASSERT_TRUE(c.failed);
        c = cursor_init(octets, len);
        uint16_t v = cursor_u16(&c);
        CU_ASSERT_EQUAL(c.failed, len < 2);
        CU_ASSERT_EQUAL(v, len < 2 ? 0U : 0x0102U);
    }
}

static void huge_lengths_do_not_wrap(void)
{
    struct cursor c = cursor_init(octets, sizeof(octets));
    CU_ASSERT_EQUAL(cursor_u8(&c), 1U);
    CU_ASSERT_PTR_NULL(cursor_take(&c, SIZE_MAX));
    CU_ASSERT_TRUE(c.failed);
    CU_ASSERT_EQUAL(cursor_offset(&c), 1U);
}

static void an_empty_buffer_has_nothing(void)
{
    struct cursor c = cursor_init(octets, 0);
    CU_ASSERT_EQUAL(cursor_left(&c), 0U);
    CU_ASSERT_FALSE(c.failed);
    CU_ASSERT_EQUAL(cursor_u8(&c), 0U);
    CU_ASSERT_TRUE(c.failed);
}

static void a_child_can_not_read_into_its_neighbour(void)
{
    struct cursor c = cursor_init(octets, sizeof(octets));
    CU_ASSERT_EQUAL(cursor_u8(&c), 1U);
    struct cursor child = cursor_sub(&c, 3);
    CU_ASSERT_EQUAL(cursor_left(&child), 3U);
    CU_ASSERT_EQUAL(cursor_offset(&child), 0U);
    CU_ASSERT_EQUAL(cursor_u16(&child), 0x0203U);
    CU_ASSERT_EQUAL(cursor_u16(&child), 0U);
    CU_ASSERT_TRUE(child.failed);
}

static void the_parent_skips_its_child_and_outlives_its_failure(void)
{
    struct cursor c = cursor_init(octets, sizeof(octets));
    struct cursor child = cursor_sub(&c, 3);
    CU_ASSERT_EQUAL(cursor_u32(&child), 0U);
    CU_ASSERT_TRUE(child.failed);
    CU_ASSERT_FALSE(c.failed);
    CU_ASSERT_EQUAL(cursor_u8(&c), 4U);
}

static void a_child_past_the_end_has_failed_and_so_has_the_parent(void)
{
    struct cursor c = cursor_init(octets, sizeof(octets));
    struct cursor child = cursor_sub(&c, 9);
    CU_ASSERT_TRUE(child.failed);
    CU_ASSERT_EQUAL(cursor_left(&child), 0U);
    CU_ASSERT_EQUAL(cursor_u8(&child), 0U);
    CU_ASSERT_TRUE(c.failed);
    struct cursor of_failed = cursor_sub(&c, 1);
    CU_ASSERT_TRUE(of_failed.failed);
    CU_ASSERT_EQUAL(cursor_left(&of_failed), 0U);
}

static void unsigned_of_any_length_up_to_eight(void)
{
    CU_ASSERT_EQUAL(wire_unsigned(octets, 1), 0x01U);
    CU_ASSERT_EQUAL(wire_unsigned(octets, 3), 0x010203U);
    CU_ASSERT_EQUAL(wire_unsigned(octets, 5), 0x0102030405ULL);
    CU_ASSERT_EQUAL(wire_unsigned(octets, 8), 0x0102030405060708ULL);
    static const uint8_t ones[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    CU_ASSERT_EQUAL(wire_unsigned(ones, 8), UINT64_MAX);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"integers_are_big_endian", integers_are_big_endian},
        {"offset_and_rest_follow_the_reads", offset_and_rest_follow_the_reads},
        {"reading_to_the_last_octet_is_no_failure", reading_to_the_last_octet_is_no_failure},
        {"the_first_read_beyond_the_end_fails_and_does_not_move",
         the_first_read_beyond_the_end_fails_and_does_not_move},
        {"failure_sticks_for_reads_that_would_fit", failure_sticks_for_reads_that_would_fit},
        {"every_read_of_every_short_buffer_fails", every_read_of_every_short_buffer_fails},
        {"huge_lengths_do_not_wrap", huge_lengths_do_not_wrap},
        {"an_empty_buffer_has_nothing", an_empty_buffer_has_nothing},
        {"a_child_can_not_read_into_its_neighbour", a_child_can_not_read_into_its_neighbour},
        {"the_parent_skips_its_child_and_outlives_its_failure",
         the_parent_skips_its_child_and_outlives_its_failure},
        {"a_child_past_the_end_has_failed_and_so_has_the_parent",
         a_child_past_the_end_has_failed_and_so_has_the_parent},
        {"unsigned_of_any_length_up_to_eight", unsigned_of_any_length_up_to_eight},
    };
    return test_main("cursor", cases, sizeof(cases) / sizeof(cases[0]));
}
