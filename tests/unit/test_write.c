// SPDX-License-Identifier: Apache-2.0
/* The writers against the C library, on edges and on many random values from a fixed seed. */
#include <arpa/inet.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "collector/document/write.h"
#include "tests/support/json_check.h"
#include "tests/support/support.h"

#define N_RANDOM 200000
#define BAD      "\xef\xbf\xbd"

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ULL;
    return wf_mix64(*state);
}

/* The text a writer wrote: [text, end) against want; says what differs. */
static void expect(const char *text, const char *end, const char *want)
{
    size_t len = (size_t)(end - text);
    bool same = len == strlen(want) && memcmp(text, want, len) == 0;
    CU_ASSERT(same);
    if (!same) {
        printf("\n  want %s\n  got  %.*s\n", want, (int)len, text);
    }
}

static void expect_u64(uint64_t value)
{
    char want[32];
    char got[WRITE_MAX_U64 + WRITE_SLACK];
    snprintf(want, sizeof(want), "%" PRIu64, value);
    expect(got, write_u64(got, value), want);
    if (value <= UINT32_MAX) {
        expect(got, write_u32(got, (uint32_t)value), want);
    }
}

static void unsigned_numbers_are_written_as_printf_does(void)
{
    char want[32];
    char got[WRITE_MAX_U64 + WRITE_SLACK];
    for (unsigned v = 0; v <= UINT16_MAX; v++) {
        snprintf(want, sizeof(want), "%u", v);
        expect(got, write_u16(got, (uint16_t)v), want);
        if (v <= UINT8_MAX) {
            expect(got, write_u8(got, (uint8_t)v), want);
        }
    }
    for (unsigned bit = 0; bit < 64; bit++) {
        expect_u64((1ULL << bit) - 1);
        expect_u64(1ULL << bit);
        expect_u64((1ULL << bit) + 1);
    }
    uint64_t power = 1;
    for (unsigned i = 0; i < 20; i++, power *= 10) {
        expect_u64(power - 1);
        expect_u64(power);
        expect_u64(power + 1);
    }
    expect_u64(UINT64_MAX);
    uint64_t state = 1;
    for (unsigned i = 0; i < N_RANDOM; i++) {
        uint64_t v = next_random(&state);
        expect_u64(v >> next_random(&state) % 64);
    }
}

static void signed_numbers_are_written_as_printf_does(void)
{
    static const int64_t edges[] = {
        0, -1, 1, -9, -10, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MIN + 1, INT64_MAX};
    char want[32];
    char got[WRITE_MAX_I64 + WRITE_SLACK];
    for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
        snprintf(want, sizeof(want), "%" PRId64, edges[i]);
        expect(got, write_i64(got, edges[i]), want);
    }
    uint64_t state = 2;
    for (unsigned i = 0; i < N_RANDOM; i++) {
        int64_t v = (int64_t)next_random(&state) >> next_random(&state) % 64;
        snprintf(want, sizeof(want), "%" PRId64, v);
        expect(got, write_i64(got, v), want);
    }
}

static void every_float_reads_back_and_is_json(void)
{
    char text[WRITE_MAX_DOUBLE + 1];
    uint64_t state = 3;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t bits = next_random(&state);
        double d;
        memcpy(&d, &bits, sizeof(d));
        char *end = write_double(text, d);
        CU_ASSERT_FATAL(end - text <= WRITE_MAX_DOUBLE);
        *end = '\0';
        CU_ASSERT(json_is_valid(text, (size_t)(end - text)));
        CU_ASSERT(!isfinite(d) || strtod(text, NULL) == d);
        uint32_t half = (uint32_t)bits;
        float f;
        memcpy(&f, &half, sizeof(f));
        end = write_float(text, f);
        CU_ASSERT_FATAL(end - text <= WRITE_MAX_DOUBLE);
        *end = '\0';
        CU_ASSERT(json_is_valid(text, (size_t)(end - text)));
        CU_ASSERT(!isfinite(f) || strtof(text, NULL) == f);
    }
}

static void floats_are_as_short_as_can_be(void)
{
    static const struct {
        double value;
        const char *text;
    } doubles[] = {
        {0, "0"},
        {-0.0, "-0"},
        {0.1, "0.1"},
        {1.5, "1.5"},
        {1e15, "1e+15"},
        {123456789012, "123456789012"},
        {1.0 / 3, "0.3333333333333333"},
        {5e-324, "5e-324"},
        {-1e-310, "-1e-310"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {(double)NAN, "\"NaN\""},
        {(double)INFINITY, "\"Infinity\""},
        {-(double)INFINITY, "\"-Infinity\""},
    };
    static const struct {
        float value;
        const char *text;
    } floats[] = {
        {0.1F, "0.1"},     {3.4028235e38F, "3.4028235e+38"},
        {1e-45F, "1e-45"}, {16777216.0F, "16777216"},
        {NAN, "\"NaN\""},  {-INFINITY, "\"-Infinity\""},
    };
    char text[WRITE_MAX_DOUBLE];
    for (size_t i = 0; i < sizeof(doubles) / sizeof(doubles[0]); i++) {
        expect(text, write_double(text, doubles[i].value), doubles[i].text);
    }
    for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++) {
        expect(text, write_float(text, floats[i].value), floats[i].text);
    }
}

static void ipv4_addresses_are_as_inet_ntop_has_them(void)
{
    char want[INET_ADDRSTRLEN];
    char got[WRITE_MAX_IPV4 + WRITE_SLACK];
    uint64_t state = 4;
    for (unsigned i = 0; i < N_RANDOM; i++) {
        uint8_t octets[4];
        uint32_t r = (uint32_t)(next_random(&state) >> next_random(&state) % 64);
        memcpy(octets, &r, 4);
        inet_ntop(AF_INET, octets, want, sizeof(want));
        expect(got, write_ipv4(got, octets), want);
    }
}

static void ipv6_addresses_are_as_inet_ntop_has_them(void)
{
    char want[INET6_ADDRSTRLEN];
    char got[WRITE_MAX_IPV6 + WRITE_SLACK];
    uint64_t state = 5;
    for (unsigned i = 0; i < N_RANDOM; i++) {
        uint8_t octets[16] = {0};
        unsigned zero_groups = (unsigned)next_random(&state);
        for (size_t g = 0; g < 8; g++) {
            uint64_t r = next_random(&state);
            uint16_t group = (uint16_t)((uint16_t)r >> (r >> 16) % 16);
            group = zero_groups >> g & 1 ? 0 : group;
            octets[2 * g] = (uint8_t)(group >> 8);
            octets[2 * g + 1] = (uint8_t)group;
        }
        inet_ntop(AF_INET6, octets, want, sizeof(want));
        if (!strchr(want, '.')) { /* inet_ntop writes the long deprecated ::a.b.c.d so */
            expect(got, write_ipv6(got, octets), want);
        }
    }
}

static void ipv6_addresses_follow_rfc_5952(void)
{
    static const char *const texts[] = {
        "::",
        "::1",
        "1::",
        "2001:db8::1",
        "2001:db8:0:1:1:1:1:1", /* one group of zeros is not shortened */
        "2001:0:0:1::1",        /* the longest run */
        "2001:db8::1:0:0:1",    /* the first of two equal ones */
        "1:2:3:4:5:6:7:8",
        "0:2:3:4:5:6:7:0",
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "::ffff:192.0.2.1",
        "::ffff:0.0.0.0",
        "64:ff9b::c000:201",
        "::ffff:0:c000:201",
        "1:2:3:4:5:6::",
        "::3:4:5:6:7:8",
    };
    char got[WRITE_MAX_IPV6 + WRITE_SLACK];
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        uint8_t octets[16];
        CU_ASSERT_EQUAL_FATAL(inet_pton(AF_INET6, texts[i], octets), 1);
        expect(got, write_ipv6(got, octets), texts[i]);
    }
    static const uint8_t compatible[16] = {[12] = 192, [13] = 0, [14] = 2, [15] = 1};
    expect(got, write_ipv6(got, compatible), "::c000:201");
}

static void exporter_addresses_are_of_either_family(void)
{
    char got[WRITE_MAX_IPV6 + WRITE_SLACK];
    static const uint8_t octets[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 7};
    struct wf_addr v4 = wf_addr_v4((const uint8_t[]){192, 0, 2, 255});
    struct wf_addr v6 = wf_addr_v6(octets);
    expect(got, write_addr(got, &v4), "192.0.2.255");
    expect(got, write_addr(got, &v6), "2001:db8::7");
}

static void octets_are_written_as_mac_and_as_hex(void)
{
    static const uint8_t octets[] = {0x00, 0x1b, 0xff, 0xa0, 0x09, 0x7f};
    char got[64];
    expect(got, write_mac(got, octets), "00-1B-FF-A0-09-7F");
    expect(got, write_hex(got, octets, sizeof(octets)), "001bffa0097f");
    expect(got, write_hex(got, octets, 0), "");
}

static void dates_at_the_edges_are_right(void)
{
    static const struct {
        int64_t ns;
        enum date_digits digits;
        const char *text;
    } dates[] = {
        {0, DATE_SECONDS, "1970-01-01T00:00:00Z"},
        {0, DATE_MILLIS, "1970-01-01T00:00:00.000Z"},
        {0, DATE_NANOS, "1970-01-01T00:00:00.000000000Z"},
        {-1, DATE_NANOS, "1969-12-31T23:59:59.999999999Z"},
        {-1, DATE_SECONDS, "1969-12-31T23:59:59Z"},
        {1482670715819123456, DATE_MICROS, "2016-12-25T12:58:35.819123Z"},
        {951782400LL * WF_NS_PER_S, DATE_SECONDS, "2000-02-29T00:00:00Z"},
        {4107542400LL * WF_NS_PER_S, DATE_SECONDS, "2100-03-01T00:00:00Z"},
        {UINT32_MAX * WF_NS_PER_S, DATE_SECONDS, "2106-02-07T06:28:15Z"},
        {INT64_MAX, DATE_NANOS, "2262-04-11T23:47:16.854775807Z"},
        {INT64_MIN, DATE_NANOS, "1677-09-21T00:12:43.145224192Z"},
    };
    struct day_cache days;
    day_cache_init(&days);
    char got[WRITE_MAX_DATE + WRITE_SLACK];
    for (unsigned round = 0; round < 2; round++) { /* the second one from the cache, in part */
        for (size_t i = 0; i < sizeof(dates) / sizeof(dates[0]); i++) {
            expect(got, write_date(got, &days, dates[i].ns, dates[i].digits), dates[i].text);
        }
    }
}

static void expect_date(struct day_cache *days, int64_t ns, enum date_digits digits)
{
    time_t seconds = ns / WF_NS_PER_S - (ns % WF_NS_PER_S < 0);
    int64_t rest = ns - (int64_t)seconds * WF_NS_PER_S;
    struct tm tm;
    gmtime_r(&seconds, &tm);
    char want[64];
    size_t n = strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%S", &tm);
    if (digits != DATE_SECONDS) {
        snprintf(want + n, sizeof(want) - n, ".%09" PRId64, rest);
        n += 1 + (size_t)digits;
    }
    memcpy(want + n, "Z", 2);
    char got[WRITE_MAX_DATE + WRITE_SLACK];
    expect(got, write_date(got, days, ns, digits), want);
}

static void dates_of_many_days_are_as_gmtime_has_them(void)
{
    static const enum date_digits digits[] = {DATE_SECONDS, DATE_MILLIS, DATE_MICROS, DATE_NANOS};
    struct day_cache days;
    day_cache_init(&days);
    uint64_t state = 6;
    for (unsigned i = 0; i < 50000; i++) { /* all of the range: the cache helps nobody */
        expect_date(&days, (int64_t)next_random(&state), digits[i % 4]);
    }
    for (unsigned i = 0; i < 50000; i++) { /* a week: four entries for seven days */
        uint64_t in_week = next_random(&state) % (7ULL * 86400 * WF_NS_PER_S);
        expect_date(&days, 1704067200LL * WF_NS_PER_S + (int64_t)in_week, digits[i % 4]);
    }
    for (int64_t day = -150000; day < 90000; day += 1) {
        if (day >= -106751 && day <= 106750) {
            expect_date(&days, day * 86400 * WF_NS_PER_S, DATE_SECONDS);
        }
    }
}

static void ntp_times_round_and_know_their_era(void)
{
    const uint64_t unix_epoch = 2208988800ULL << 32;
    CU_ASSERT_EQUAL(ntp_to_unix_ns(unix_epoch), 0);
    CU_ASSERT_EQUAL(ntp_to_unix_ns(unix_epoch | 0x80000000U), 500000000);
    CU_ASSERT_EQUAL(ntp_to_unix_ns(unix_epoch | 2), 0); /* 0.466 ns */
    CU_ASSERT_EQUAL(ntp_to_unix_ns(unix_epoch | 3), 1); /* 0.698 ns */
    CU_ASSERT_EQUAL(ntp_to_unix_ns(unix_epoch | 0xffffffffU), WF_NS_PER_S);
    /* 1968-01-20 is the first second of the range, 2104-02-26 the last one */
    CU_ASSERT_EQUAL(ntp_to_unix_ns(0x80000000ULL << 32), -61505152LL * WF_NS_PER_S);
    CU_ASSERT_EQUAL(ntp_to_unix_ns(0x7fffffffULL << 32),
                    ((1LL << 32) + 0x7fffffffLL - 2208988800LL) * WF_NS_PER_S);
    CU_ASSERT_EQUAL(ntp_to_unix_ns(0), 2085978496LL * WF_NS_PER_S); /* 2036-02-07 */
    uint64_t state = 7;
    for (unsigned i = 0; i < N_RANDOM; i++) { /* there and back is the same to a quarter of a ns */
        uint64_t fraction = next_random(&state) & 0xffffffffU;
        int64_t ns = ntp_to_unix_ns(unix_epoch | fraction);
        long double exact = (long double)fraction * 1e9L / 4294967296.0L;
        CU_ASSERT(fabsl((long double)ns - exact) <= 0.5L);
    }
}

static char *string_of(char *room, const void *octets, size_t len)
{
    char *end = write_string(room, octets, len);
    CU_ASSERT_FATAL((size_t)(end - room) <= WRITE_MAX_STRING(len));
    *end = '\0';
    return end;
}

static void strings_are_escaped_and_bad_octets_replaced(void)
{
    static const struct {
        const char *octets;
        size_t len;
        const char *text;
    } strings[] = {
        {"", 0, ""},
        {"GigabitEthernet0/0/1", 20, "GigabitEthernet0/0/1"},
        {"a\"b\\c/d", 7, "a\\\"b\\\\c/d"},
        {"\b\t\n\f\r", 5, "\\b\\t\\n\\f\\r"},
        {"\x01\x1b[31m\x1f\x7f", 8, "\\u0001\\u001b[31m\\u001f\x7f"},
        {"eth0\0\0\0\0", 8, "eth0"},
        {"\0\0\0\0", 4, ""},
        {"a\0b\0\0", 5, "a\\u0000b"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x8d", 9, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x8d"},
        {"\xf4\x8f\xbf\xbf", 4, "\xf4\x8f\xbf\xbf"}, /* U+10FFFF */
        {"\xf4\x90\x80\x80", 4, BAD BAD BAD BAD},    /* one more */
        {"\xed\x9f\xbf", 3, "\xed\x9f\xbf"},         /* U+D7FF */
        {"\xed\xa0\x80", 3, BAD BAD BAD},            /* U+D800, a surrogate */
        {"\xed\xbf\xbf", 3, BAD BAD BAD},            /* U+DFFF */
        {"\xc0\xaf", 2, BAD BAD},                    /* overlong '/' */
        {"\xc1\xbf", 2, BAD BAD},                    /* overlong DEL */
        {"\xe0\x9f\xbf", 3, BAD BAD BAD},            /* overlong U+07FF */
        {"\xf0\x8f\xbf\xbf", 4, BAD BAD BAD BAD},    /* overlong U+FFFF */
        {"\x80", 1, BAD},                            /* a continuation alone */
        {"\xc3", 1, BAD},                            /* cut off */
        {"\xe2\x82", 2, BAD BAD},                    /* cut off */
        {"\xf0\x9f\x8c", 3, BAD BAD BAD},            /* cut off */
        {"\xe2\x82x", 3, BAD BAD "x"},               /* interrupted */
        {"\xc3\"", 2, BAD "\\\""},                   /* no swallowing of the quote */
        {"\xff\xfe\xf5\xf8", 4, BAD BAD BAD BAD},    /* never lead octets */
    };
    char room[256];
    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
        char *end = write_string(room, (const uint8_t *)strings[i].octets, strings[i].len);
        expect(room, end, strings[i].text);
    }
}

static void an_octet_is_seen_wherever_it_stands(void)
{
    static const char *const special[] = {"\"", "\\", "\n", "\x1f", "\xc3\xa9", "\xff"};
    static const char *const text[] = {"\\\"", "\\\\", "\\n", "\\u001f", "\xc3\xa9", BAD};
    for (size_t k = 0; k < sizeof(special) / sizeof(special[0]); k++) {
        for (size_t at = 0; at < 40; at++) {
            char octets[64];
            char want[64];
            char room[6 * 64 + 1];
            int n = snprintf(octets, sizeof(octets), "%.*s%s%s", (int)at,
                             "0123456789012345678901234567890123456789", special[k], "abcdefghijk");
            snprintf(want, sizeof(want), "%.*s%s%s", (int)at,
                     "0123456789012345678901234567890123456789", text[k], "abcdefghijk");
            expect(room, string_of(room, octets, (size_t)n), want);
        }
    }
}

static size_t encode(uint32_t point, uint8_t *out)
{
    if (point < 0x80) {
        out[0] = (uint8_t)point;
        return 1;
    }
    size_t n = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, point >>= 6) {
        out[i] = (uint8_t)(0x80 | (point & 0x3f));
    }
    out[0] = (uint8_t)((0xf00U >> n & 0xffU) | point);
    return n;
}

static void every_character_beyond_ascii_passes_as_it_is(void)
{
    unsigned wrong = 0;
    for (uint32_t point = 0x80; point <= 0x10ffff; point++) {
        uint8_t octets[5];
        char room[32];
        size_t n = encode(point, octets);
        char *end = string_of(room, octets, n);
        bool same = (size_t)(end - room) == n && memcmp(room, octets, n) == 0;
        bool surrogate = point >= 0xd800 && point <= 0xdfff;
        wrong += same == surrogate;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* The octets that an escaped text stands for; only what write_string() uses. */
static size_t unescape(const char *s, const char *end, uint8_t *out)
{
    static const char letters[] = "bfnrt\"\\";
    static const char meant[] = "\b\f\n\r\t\"\\";
    uint8_t *o = out;
    while (s < end) {
        if (*s != '\\') {
            *o++ = (uint8_t)*s++;
            continue;
        }
        s++;
        if (*s == 'u') {
            char hex[5] = {s[1], s[2], s[3], s[4], 0};
            *o++ = (uint8_t)strtoul(hex, NULL, 16);
            s += 5;
            continue;
        }
        const char *letter = strchr(letters, *s++);
        CU_ASSERT_PTR_NOT_NULL_FATAL(letter);
        *o++ = (uint8_t)meant[letter - letters];
    }
    return (size_t)(o - out);
}

static void valid_strings_read_back_as_they_were(void)
{
    uint64_t state = 8;
    for (unsigned i = 0; i < 20000; i++) {
        uint8_t octets[300];
        uint8_t back[300];
        char room[6 * sizeof(octets) + 1];
        size_t n = 0;
        size_t want = next_random(&state) % 250;
        while (n < want) {
            uint32_t point = (uint32_t)(next_random(&state) >> (43 + next_random(&state) % 15));
            bool surrogate = point >= 0xd800 && point <= 0xdfff;
            n += point > 0x10ffff || surrogate ? 0 : encode(point, octets + n);
        }
        octets[n++] = 'x'; /* not a NUL */
        char *end = string_of(room, octets, n);
        CU_ASSERT_EQUAL_FATAL(unescape(room, end, back), n);
        CU_ASSERT_EQUAL(memcmp(back, octets, n), 0);
    }
}

static void any_octets_become_the_inside_of_a_json_string(void)
{
    uint64_t state = 9;
    for (unsigned i = 0; i < 50000; i++) {
        size_t n = next_random(&state) % 64;
        uint8_t *octets = malloc(n + 1); /* of exact size: a sanitizer sees each read beyond */
        CU_ASSERT_PTR_NOT_NULL_FATAL(octets);
        unsigned kind = (unsigned)next_random(&state) % 3;
        for (size_t k = 0; k < n; k++) {
            uint64_t r = next_random(&state);
            octets[k] = (uint8_t)(kind == 0 ? r : kind == 1 ? 0x80 | r : r % 16 ? 'a' : r >> 8);
        }
        uint8_t *exact = realloc(octets, n ? n : 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(exact);
        char room[6 * 64 + 3] = "\"";
        char *end = write_string(room + 1, exact, n);
        CU_ASSERT_FATAL((size_t)(end - room - 1) <= WRITE_MAX_STRING(n));
        *end++ = '"';
        CU_ASSERT(json_is_valid(room, (size_t)(end - room)));
        free(exact);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"unsigned_numbers_are_written_as_printf_does",
         unsigned_numbers_are_written_as_printf_does},
        {"signed_numbers_are_written_as_printf_does", signed_numbers_are_written_as_printf_does},
        {"every_float_reads_back_and_is_json", every_float_reads_back_and_is_json},
        {"floats_are_as_short_as_can_be", floats_are_as_short_as_can_be},
        {"ipv4_addresses_are_as_inet_ntop_has_them", ipv4_addresses_are_as_inet_ntop_has_them},
        {"ipv6_addresses_are_as_inet_ntop_has_them", ipv6_addresses_are_as_inet_ntop_has_them},
        {"ipv6_addresses_follow_rfc_5952", ipv6_addresses_follow_rfc_5952},
        {"exporter_addresses_are_of_either_family", exporter_addresses_are_of_either_family},
        {"octets_are_written_as_mac_and_as_hex", octets_are_written_as_mac_and_as_hex},
        {"dates_at_the_edges_are_right", dates_at_the_edges_are_right},
        {"dates_of_many_days_are_as_gmtime_has_them", dates_of_many_days_are_as_gmtime_has_them},
        {"ntp_times_round_and_know_their_era", ntp_times_round_and_know_their_era},
        {"strings_are_escaped_and_bad_octets_replaced",
         strings_are_escaped_and_bad_octets_replaced},
        {"an_octet_is_seen_wherever_it_stands", an_octet_is_seen_wherever_it_stands},
        {"every_character_beyond_ascii_passes_as_it_is",
         every_character_beyond_ascii_passes_as_it_is},
        {"valid_strings_read_back_as_they_were", valid_strings_read_back_as_they_were},
        {"any_octets_become_the_inside_of_a_json_string",
         any_octets_become_the_inside_of_a_json_string},
    };
    return test_main("write", cases, sizeof(cases) / sizeof(cases[0]));
}
