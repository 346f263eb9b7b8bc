// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>

#include "enrich/local/locality.h"
#include "tests/support/support.h"

static struct wf_addr addr(const char *text)
{
    struct wf_addr a = {0};
    a.family = inet_pton(AF_INET, text, a.bytes) == 1 ? 4 : 6;
    if (a.family == 6) {
        CU_ASSERT_EQUAL_FATAL(inet_pton(AF_INET6, text, a.bytes), 1);
    }
    return a;
}

static bool internal(const struct locality *locality, const char *text)
{
    struct wf_addr a = addr(text);
    return locality_is_internal(locality, &a);
}

static void expect(const struct locality *locality, const char *const *texts, bool expected)
{
    for (size_t i = 0; texts[i]; i++) {
        if (internal(locality, texts[i]) != expected) {
            CU_FAIL(texts[i]);
            printf("%s\n", texts[i]);
        }
    }
}

static void private_networks_are_internal_by_default(void)
{
    static const char *const inside[] = {
        "10.0.0.0",    "10.255.255.255", "172.16.0.0",  "172.31.2.3",
        "192.168.0.1", "fc00::1",        "fdff:ffff::", NULL};
    static const char *const outside[] = {"9.255.255.255",
                                          "11.0.0.0",
                                          "172.15.255.255",
                                          "172.32.0.0",
                                          "192.167.255.255",
                                          "192.169.0.0",
                                          "8.8.8.8",
                                          "100.64.0.1",
                                          "fbff::1",
                                          "fe00::1",
                                          "2001:db8::1",
                                          "239.255.255.250",
                                          "ff05::1",
                                          "fec0::1",
                                          "::2",
                                          NULL};
    struct locality *locality = NULL;
    CU_ASSERT_EQUAL_FATAL(locality_new(NULL, 0, &locality, NULL), WF_OK);
    expect(locality, inside, true);
    expect(locality, outside, false);
    locality_free(locality);
}

static void local_addresses_are_internal_whatever_is_configured(void)
{
    static const char *const networks[] = {"198.51.100.0/25"};
    static const char *const inside[] = {
        "127.1.2.3", "0.0.0.0", "255.255.255.255", "169.254.9.9", "224.0.0.251", "::1",
        "::",        "fe80::1", "febf::1",         "ff02::1:3",   "ff11::1",     NULL};
    static const char *const outside[] = {"10.0.0.1", "fc00::1", "0.0.0.1", "224.0.1.1", NULL};
    struct locality *locality = NULL;
    CU_ASSERT_EQUAL_FATAL(locality_new(networks, 1, &locality, NULL), WF_OK);
    expect(locality, inside, true);
    expect(locality, outside, false);
    locality_free(locality);
}

static void configured_networks_count_to_the_bit(void)
{
    static const char *const networks[] = {"198.51.100.0/25", "2001:db8:1::/49", "private",
                                           "203.0.113.7",     "2001:db8:2::/66", "::/128"};
    static const char *const inside[] = {"198.51.100.127", "2001:db8:1:7fff::1",     "10.1.1.1",
                                         "203.0.113.7",    "2001:db8:2::3fff:0:0:1", NULL};
    static const char *const outside[] = {
        "198.51.100.128",      "2001:db8:1:8000::1", "203.0.113.8",
        "2001:db8:2:0:4000::", "2001:db8::1",        NULL};
    struct locality *locality = NULL;
    CU_ASSERT_EQUAL_FATAL(
        locality_new(networks, sizeof networks / sizeof networks[0], &locality, NULL), WF_OK);
    expect(locality, inside, true);
    expect(locality, outside, false);
    locality_free(locality);
}

static void everything_can_be_internal(void)
{
    static const char *const networks[] = {"0.0.0.0/0", "::/0"};
    static const char *const inside[] = {"8.8.8.8", "2001:db8::1", NULL};
    struct locality *locality = NULL;
    CU_ASSERT_EQUAL_FATAL(locality_new(networks, 2, &locality, NULL), WF_OK);
    expect(locality, inside, true);
    locality_free(locality);
}

static void bad_text_is_refused_and_named(void)
{
    static const char *const texts[] = {"",       "10.0.0.0/33",  "10.0.0.0/",   "10.0.0/8",
                                        "::/129", "10.0.0.0/-1",  "10.0.0.0/8x", "Private",
                                        "/8",     "10.0.0.0/0008"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *networks[] = {"private", texts[i], "10.0.0.0/8"};
        struct locality *locality = NULL;
        size_t bad = 99;
        CU_ASSERT_EQUAL(locality_new(networks, 3, &locality, &bad), WF_E_FORMAT);
        CU_ASSERT_EQUAL(bad, 1);
        CU_ASSERT_PTR_NULL(locality);
    }
}

static void direction_follows_from_both_sides(void)
{
    CU_ASSERT_EQUAL(locality_direction_of(true, true), LOCALITY_INTERNAL);
    CU_ASSERT_EQUAL(locality_direction_of(true, false), LOCALITY_OUTBOUND);
    CU_ASSERT_EQUAL(locality_direction_of(false, true), LOCALITY_INBOUND);
    CU_ASSERT_EQUAL(locality_direction_of(false, false), LOCALITY_EXTERNAL);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"private_networks_are_internal_by_default", private_networks_are_internal_by_default},
        {"local_addresses_are_internal_whatever_is_configured",
         local_addresses_are_internal_whatever_is_configured},
        {"configured_networks_count_to_the_bit", configured_networks_count_to_the_bit},
        {"everything_can_be_internal", everything_can_be_internal},
        {"bad_text_is_refused_and_named", bad_text_is_refused_and_named},
        {"direction_follows_from_both_sides", direction_follows_from_both_sides},
    };
    return test_main("locality", cases, sizeof cases / sizeof cases[0]);
}
