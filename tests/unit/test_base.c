// SPDX-License-Identifier: Apache-2.0
#include <limits.h>
#include <string.h>

#include "decoder/base.h"
#include "tests/support/support.h"

static void every_code_has_a_text_of_its_own(void)
{
    for (int a = WF_OK; a >= WF_E_STOPPED; a--) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(wf_err_text(a));
        CU_ASSERT_STRING_NOT_EQUAL(wf_err_text(a), "unknown error");
        for (int b = WF_OK; b > a; b--) {
            CU_ASSERT_STRING_NOT_EQUAL(wf_err_text(a), wf_err_text(b));
        }
    }
    CU_ASSERT_STRING_EQUAL(wf_err_text(WF_E_NOMEM), "out of memory");
    CU_ASSERT_STRING_EQUAL(wf_err_text(WF_E_STOPPED), "stopped");
}

static void foreign_codes_are_unknown_and_counts_are_success(void)
{
    CU_ASSERT_STRING_EQUAL(wf_err_text(WF_E_STOPPED - 1), "unknown error");
    CU_ASSERT_STRING_EQUAL(wf_err_text(INT_MIN), "unknown error");
    CU_ASSERT_STRING_EQUAL(wf_err_text(1), "success");
    CU_ASSERT_STRING_EQUAL(wf_err_text(INT_MAX), "success");
}

static void ipv4_fills_four_octets_and_zeroes_the_rest(void)
{
    static const uint8_t bytes[4] = {192, 0, 2, 7};
    static const uint8_t zeros[12] = {0};
    struct wf_addr a = wf_addr_v4(bytes);
    CU_ASSERT_EQUAL(a.family, 4);
    CU_ASSERT_EQUAL(memcmp(a.bytes, bytes, 4), 0);
    CU_ASSERT_EQUAL(memcmp(a.bytes + 4, zeros, 12), 0);
}

static void ipv6_keeps_sixteen_octets(void)
{
    static const uint8_t bytes[16] = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0,
                                      0,    0,    0xff, 0xff, 1, 2, 3, 4};
    struct wf_addr a = wf_addr_v6(bytes);
    CU_ASSERT_EQUAL(a.family, 6);
    CU_ASSERT_EQUAL(memcmp(a.bytes, bytes, 16), 0);
}

static void mapped_ipv6_is_the_ipv4_address(void)
{
    static const uint8_t v4[4] = {192, 0, 2, 7};
    static const uint8_t mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 7};
    struct wf_addr a = wf_addr_v4(v4);
    struct wf_addr b = wf_addr_v6(mapped);
    CU_ASSERT_EQUAL(b.family, 4);
    CU_ASSERT_TRUE(wf_addr_equal(&a, &b));
    /* ::192.0.2.7 (the deprecated compatible form) is another address */
    static const uint8_t compatible[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 2, 7};
    struct wf_addr c = wf_addr_v6(compatible);
    CU_ASSERT_EQUAL(c.family, 6);
    CU_ASSERT_FALSE(wf_addr_equal(&a, &c));
}

static void addresses_differ_by_any_octet_and_by_family(void)
{
    uint8_t bytes[16] = {0x20, 0x01};
    struct wf_addr a = wf_addr_v6(bytes);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] ^= 0x80;
        struct wf_addr b = wf_addr_v6(bytes);
        CU_ASSERT_FALSE(wf_addr_equal(&a, &b));
        CU_ASSERT_FALSE(wf_addr_equal(&b, &a));
        bytes[i] ^= 0x80;
    }
    struct wf_addr same = wf_addr_v6(bytes);
    CU_ASSERT_TRUE(wf_addr_equal(&a, &same));
    same.family = 4;
    CU_ASSERT_FALSE(wf_addr_equal(&a, &same));
}

static void mixing_is_murmur3s_finaliser(void)
{
    CU_ASSERT_EQUAL(wf_mix64(0), 0U);
    CU_ASSERT_EQUAL(wf_mix64(1), 0xb456bcfc34c2cb2cULL);
    CU_ASSERT_EQUAL(wf_mix64(2), 0x3abf2a20650683e7ULL);
}

static void one_bit_of_input_changes_about_half_of_the_output(void)
{
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t changed =
            wf_mix64(0x0123456789abcdefULL) ^ wf_mix64(0x0123456789abcdefULL ^ 1ULL << bit);
        int n = __builtin_popcountll(changed);
        CU_ASSERT_TRUE(n >= 12 && n <= 52);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"every_code_has_a_text_of_its_own", every_code_has_a_text_of_its_own},
        {"foreign_codes_are_unknown_and_counts_are_success",
         foreign_codes_are_unknown_and_counts_are_success},
        {"ipv4_fills_four_octets_and_zeroes_the_rest", ipv4_fills_four_octets_and_zeroes_the_rest},
        {"ipv6_keeps_sixteen_octets", ipv6_keeps_sixteen_octets},
        {"mapped_ipv6_is_the_ipv4_address", mapped_ipv6_is_the_ipv4_address},
        {"addresses_differ_by_any_octet_and_by_family",
         addresses_differ_by_any_octet_and_by_family},
        {"mixing_is_murmur3s_finaliser", mixing_is_murmur3s_finaliser},
        {"one_bit_of_input_changes_about_half_of_the_output",
         one_bit_of_input_changes_about_half_of_the_output},
    };
    return test_main("base", cases, sizeof(cases) / sizeof(cases[0]));
}
