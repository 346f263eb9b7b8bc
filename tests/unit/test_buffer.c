// SPDX-License-Identifier: Apache-2.0
/* The growing buffer: what is in it stays, what does not fit is refused. */
#include <string.h>

#include "collector/util/buffer.h"
#include "tests/support/support.h"

static void growth_keeps_the_content(void)
{
    struct buffer b = {0};
    for (unsigned i = 0; i < 100000; i++) {
        char *p = buffer_reserve(&b, 3);
        CU_ASSERT_PTR_NOT_NULL_FATAL(p);
        memset(p, (int)(i % 251), 3);
        buffer_commit(&b, p + 3);
    }
    CU_ASSERT_EQUAL(b.len, 300000);
    unsigned wrong = 0;
    for (unsigned i = 0; i < 300000; i++) {
        wrong += (uint8_t)b.data[i] != i / 3 % 251;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    buffer_deinit(&b);
    CU_ASSERT_PTR_NULL(b.data);
    CU_ASSERT_EQUAL(b.cap, 0);
}

static void a_reservation_has_room_for_all_of_it(void)
{
    static const size_t sizes[] = {1, 4095, 4096, 4097, 65536, 1000003};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct buffer b = {0};
        char *p = buffer_reserve(&b, sizes[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(p);
        CU_ASSERT(b.cap - b.len >= sizes[i]);
        memset(p, 0x5a, sizes[i]); /* a sanitizer would object */
        buffer_commit(&b, p + sizes[i]);
        CU_ASSERT_EQUAL(b.len, sizes[i]);
        buffer_deinit(&b);
    }
}

static void a_reservation_alone_changes_no_length(void)
{
    struct buffer b = {0};
    CU_ASSERT_PTR_NOT_NULL(buffer_reserve(&b, 100));
    CU_ASSERT_EQUAL(b.len, 0);
    size_t cap = b.cap;
    CU_ASSERT_PTR_NOT_NULL(buffer_reserve(&b, 100));
    CU_ASSERT_EQUAL(b.cap, cap);
    buffer_deinit(&b);
}

static void an_absurd_size_is_refused_and_nothing_lost(void)
{
    struct buffer b = {0};
    char *p = buffer_reserve(&b, 5);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    memcpy(p, "whole", 5);
    buffer_commit(&b, p + 5);
    struct buffer was = b;
    CU_ASSERT_EQUAL(buffer_grow(&b, SIZE_MAX), WF_E_NOMEM);
    CU_ASSERT_EQUAL(buffer_grow(&b, SIZE_MAX / 2), WF_E_NOMEM);
    CU_ASSERT_PTR_NULL(buffer_reserve(&b, SIZE_MAX - 2));
    CU_ASSERT_PTR_EQUAL(b.data, was.data);
    CU_ASSERT_EQUAL(b.len, was.len);
    CU_ASSERT_EQUAL(b.cap, was.cap);
    CU_ASSERT_EQUAL(memcmp(b.data, "whole", 5), 0);
    buffer_deinit(&b);
    buffer_deinit(&b); /* twice is fine */
}

int main(void)
{
    static const struct test_case cases[] = {
        {"growth_keeps_the_content", growth_keeps_the_content},
        {"a_reservation_has_room_for_all_of_it", a_reservation_has_room_for_all_of_it},
        {"a_reservation_alone_changes_no_length", a_reservation_alone_changes_no_length},
        {"an_absurd_size_is_refused_and_nothing_lost", an_absurd_size_is_refused_and_nothing_lost},
    };
    return test_main("buffer", cases, sizeof(cases) / sizeof(cases[0]));
}
