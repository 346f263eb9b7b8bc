// SPDX-License-Identifier: Apache-2.0
/*
 * Tables instead of divisions: two digits at a time, an octet of an address at a time. Four octets are stored where
 * fewer are meant; what follows overwrites them, and the caller's reservation has room (WRITE_SLACK).
 */
#include "collector/document/write.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SECONDS_PER_DAY 86400
#define MS_PER_DAY      86400000U
#define NTP_TO_UNIX_S   2208988800LL /* 1900-01-01 to 1970-01-01 */

static const char digit_pairs[201] = "0001020304050607080910111213141516171819"
                                     "2021222324252627282930313233343536373839"
                                     "4041424344454647484950515253545556575859"
                                     "6061626364656667686970717273747576777879"
                                     "8081828384858687888990919293949596979899";

static const char hex_upper[] = "0123456789ABCDEF";

/* "00" to "ff" */
#define HEX_ROW(h)                                                                                 \
    h "0" h "1" h "2" h "3" h "4" h "5" h "6" h "7" h "8" h "9" h "a" h "b" h "c" h "d" h "e" h "f"
static const char hex_pairs[513] = HEX_ROW("0") HEX_ROW("1") HEX_ROW("2") HEX_ROW("3") HEX_ROW("4")
    HEX_ROW("5") HEX_ROW("6") HEX_ROW("7") HEX_ROW("8") HEX_ROW("9") HEX_ROW("a") HEX_ROW("b")
        HEX_ROW("c") HEX_ROW("d") HEX_ROW("e") HEX_ROW("f");

const struct write_octet write_octets[256] = {
    {"0", 1},   {"1", 1},   {"2", 1},   {"3", 1},   {"4", 1},   {"5", 1},   {"6", 1},   {"7", 1},
    {"8", 1},   {"9", 1},   {"10", 2},  {"11", 2},  {"12", 2},  {"13", 2},  {"14", 2},  {"15", 2},
    {"16", 2},  {"17", 2},  {"18", 2},  {"19", 2},  {"20", 2},  {"21", 2},  {"22", 2},  {"23", 2},
    {"24", 2},  {"25", 2},  {"26", 2},  {"27", 2},  {"28", 2},  {"29", 2},  {"30", 2},  {"31", 2},
    {"32", 2},  {"33", 2},  {"34", 2},  {"35", 2},  {"36", 2},  {"37", 2},  {"38", 2},  {"39", 2},
    {"40", 2},  {"41", 2},  {"42", 2},  {"43", 2},  {"44", 2},  {"45", 2},  {"46", 2},  {"47", 2},
    {"48", 2},  {"49", 2},  {"50", 2},  {"51", 2},  {"52", 2},  {"53", 2},  {"54", 2},  {"55", 2},
    {"56", 2},  {"57", 2},  {"58", 2},  {"59", 2},  {"60", 2},  {"61", 2},  {"62", 2},  {"63", 2},
    {"64", 2},  {"65", 2},  {"66", 2},  {"67", 2},  {"68", 2},  {"69", 2},  {"70", 2},  {"71", 2},
    {"72", 2},  {"73", 2},  {"74", 2},  {"75", 2},  {"76", 2},  {"77", 2},  {"78", 2},  {"79", 2},
    {"80", 2},  {"81", 2},  {"82", 2},  {"83", 2},  {"84", 2},  {"85", 2},  {"86", 2},  {"87", 2},
    {"88", 2},  {"89", 2},  {"90", 2},  {"91", 2},  {"92", 2},  {"93", 2},  {"94", 2},  {"95", 2},
    {"96", 2},  {"97", 2},  {"98", 2},  {"99", 2},  {"100", 3}, {"101", 3}, {"102", 3}, {"103", 3},
    {"104", 3}, {"105", 3}, {"106", 3}, {"107", 3}, {"108", 3}, {"109", 3}, {"110", 3}, {"111", 3},
    {"112", 3}, {"113", 3}, {"114", 3}, {"115", 3}, {"116", 3}, {"117", 3}, {"118", 3}, {"119", 3},
    {"120", 3}, {"121", 3}, {"122", 3}, {"123", 3}, {"124", 3}, {"125", 3}, {"126", 3}, {"127", 3},
    {"128", 3}, {"129", 3}, {"130", 3}, {"131", 3}, {"132", 3}, {"133", 3}, {"134", 3}, {"135", 3},
    {"136", 3}, {"137", 3}, {"138", 3}, {"139", 3}, {"140", 3}, {"141", 3}, {"142", 3}, {"143", 3},
    {"144", 3}, {"145", 3}, {"146", 3}, {"147", 3}, {"148", 3}, {"149", 3}, {"150", 3}, {"151", 3},
    {"152", 3}, {"153", 3}, {"154", 3}, {"155", 3}, {"156", 3}, {"157", 3}, {"158", 3}, {"159", 3},
    {"160", 3}, {"161", 3}, {"162", 3}, {"163", 3}, {"164", 3}, {"165", 3}, {"166", 3}, {"167", 3},
    {"168", 3}, {"169", 3}, {"170", 3}, {"171", 3}, {"172", 3}, {"173", 3}, {"174", 3}, {"175", 3},
    {"176", 3}, {"177", 3}, {"178", 3}, {"179", 3}, {"180", 3}, {"181", 3}, {"182", 3}, {"183", 3},
    {"184", 3}, {"185", 3}, {"186", 3}, {"187", 3}, {"188", 3}, {"189", 3}, {"190", 3}, {"191", 3},
    {"192", 3}, {"193", 3}, {"194", 3}, {"195", 3}, {"196", 3}, {"197", 3}, {"198", 3}, {"199", 3},
    {"200", 3}, {"201", 3}, {"202", 3}, {"203", 3}, {"204", 3}, {"205", 3}, {"206", 3}, {"207", 3},
    {"208", 3}, {"209", 3}, {"210", 3}, {"211", 3}, {"212", 3}, {"213", 3}, {"214", 3}, {"215", 3},
    {"216", 3}, {"217", 3}, {"218", 3}, {"219", 3}, {"220", 3}, {"221", 3}, {"222", 3}, {"223", 3},
    {"224", 3}, {"225", 3}, {"226", 3}, {"227", 3}, {"228", 3}, {"229", 3}, {"230", 3}, {"231", 3},
    {"232", 3}, {"233", 3}, {"234", 3}, {"235", 3}, {"236", 3}, {"237", 3}, {"238", 3}, {"239", 3},
    {"240", 3}, {"241", 3}, {"242", 3}, {"243", 3}, {"244", 3}, {"245", 3}, {"246", 3}, {"247", 3},
    {"248", 3}, {"249", 3}, {"250", 3}, {"251", 3}, {"252", 3}, {"253", 3}, {"254", 3}, {"255", 3},
};

#define TRIPLE(h, t, u)                                                                            \
    {                                                                                              \
        {'0' + (h), '0' + (t), '0' + (u)}, (h) ? 0 : (t) ? 1 : 2                                   \
    }
#define TEN(h, t)                                                                                  \
    TRIPLE(h, t, 0), TRIPLE(h, t, 1), TRIPLE(h, t, 2), TRIPLE(h, t, 3), TRIPLE(h, t, 4),           \
        TRIPLE(h, t, 5), TRIPLE(h, t, 6), TRIPLE(h, t, 7), TRIPLE(h, t, 8), TRIPLE(h, t, 9)
#define HUNDRED(h)                                                                                 \
    TEN(h, 0), TEN(h, 1), TEN(h, 2), TEN(h, 3), TEN(h, 4), TEN(h, 5), TEN(h, 6), TEN(h, 7),        \
        TEN(h, 8), TEN(h, 9)
const struct write_triple write_triples[1000] = {
    HUNDRED(0), HUNDRED(1), HUNDRED(2), HUNDRED(3), HUNDRED(4),
    HUNDRED(5), HUNDRED(6), HUNDRED(7), HUNDRED(8), HUNDRED(9),
};

static inline char *put_pair(char *p, unsigned two)
{
    memcpy(p, digit_pairs + 2 * (size_t)two, 2);
    return p + 2;
}

static inline char *put_four(char *p, unsigned four)
{
    p = put_pair(p, four / 100);
    return put_pair(p, four % 100);
}

char *write_u64(char *p, uint64_t value)
{
    const uint64_t million = 1000000;
    if (value <= UINT32_MAX) {
        return write_u32(p, (uint32_t)value);
    }
    uint64_t high = value / million;
    uint32_t low = (uint32_t)(value % million);
    if (high < million) {
        p = write_six(p, (uint32_t)high);
    } else {
        p = write_u32(p, (uint32_t)(high / million));
        p = write_six_padded(p, (uint32_t)(high % million));
    }
    return write_six_padded(p, low);
}

char *write_i64(char *p, int64_t value)
{
    if (value < 0) {
        *p++ = '-';
        return write_u64(p, (uint64_t)0 - (uint64_t)value);
    }
    return write_u64(p, (uint64_t)value);
}

static char *write_special(char *p, double value)
{
    const char *text = isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    return write_text(p, text, strlen(text));
}

char *write_double(char *p, double value)
{
    if (!isfinite(value)) {
        return write_special(p, value);
    }
    char text[40];
    int n = 0;
    /* 15 digits survive the way there and back (DBL_DIG), so fewer need no trial; not so below the normal range */
    for (int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG; digits <= 17; digits++) {
        n = snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    return write_text(p, text, (size_t)n);
}

char *write_float(char *p, float value)
{
    if (!isfinite(value)) {
        return write_special(p, (double)value);
    }
    char text[40];
    int n = 0;
    for (int digits = fabsf(value) < FLT_MIN ? 1 : FLT_DIG; digits <= 9; digits++) {
        n = snprintf(text, sizeof(text), "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value) {
            break;
        }
    }
    return write_text(p, text, (size_t)n);
}

char *write_ipv4(char *p, const uint8_t *octets)
{
    p = write_u8(p, octets[0]);
    *p++ = '.';
    p = write_u8(p, octets[1]);
    *p++ = '.';
    p = write_u8(p, octets[2]);
    *p++ = '.';
    return write_u8(p, octets[3]);
}

/* Up to four hexadecimal digits; always stores four. */
static inline char *put_group(char *p, unsigned group)
{
    uint16_t high;
    uint16_t low;
    memcpy(&high, hex_pairs + 2 * (size_t)(group >> 8), 2);
    memcpy(&low, hex_pairs + 2 * (size_t)(group & 255), 2);
    uint32_t text = le16toh(high) | (uint32_t)le16toh(low) << 16;
    unsigned n_zeros = ((unsigned)__builtin_clz(group | 1) - 16) / 4;
    text = htole32(text >> 8 * n_zeros);
    memcpy(p, &text, 4);
    return p + 4 - n_zeros;
}

/* The longest run of zero groups, the first of equals, at least two long: [*start, *end). */
static void find_zeros(const unsigned group[8], unsigned *start, unsigned *end)
{
    unsigned zeros = 0; /* bit i: group i is zero */
    for (unsigned i = 0; i < 8; i++) {
        zeros |= (unsigned)(group[i] == 0) << i;
    }
    *start = *end = 8;
    unsigned len = 1; /* bit i of zeros: a run of len begins at group i */
    while (zeros & zeros >> 1) {
        zeros &= zeros >> 1;
        len++;
    }
    if (len > 1) {
        *start = (unsigned)__builtin_ctz(zeros);
        *end = *start + len;
    }
}

char *write_ipv6(char *p, const uint8_t *octets)
{
    unsigned group[8];
    for (size_t i = 0; i < 8; i++) {
        group[i] = (unsigned)octets[2 * i] << 8 | octets[2 * i + 1];
    }
    unsigned start;
    unsigned end;
    find_zeros(group, &start, &end);
    if (start == 0 && end == 5 && group[5] == 0xffff) { /* RFC 5952 section 5 */
        p = write_text(p, "::ffff:", 7);
        return write_ipv4(p, octets + 12);
    }
    for (unsigned i = 0; i < start; i++) {
        p = put_group(p, group[i]);
        *p++ = ':';
    }
    if (start == 8) {
        return p - 1;
    }
    p = start == 0 ? write_text(p, "::", 2) : write_text(p, ":", 1);
    for (unsigned i = end; i < 8; i++) {
        p = put_group(p, group[i]);
        *p++ = ':';
    }
    return end == 8 ? p : p - 1;
}

char *write_addr(char *p, const struct wf_addr *addr)
{
    return addr->family == 6 ? write_ipv6(p, addr->bytes) : write_ipv4(p, addr->bytes);
}

char *write_mac(char *p, const uint8_t *octets)
{
    for (unsigned i = 0; i < 6; i++) {
        p[0] = hex_upper[octets[i] >> 4];
        p[1] = hex_upper[octets[i] & 15];
        p[2] = '-';
        p += 3;
    }
    return p - 1;
}

char *write_hex(char *p, const uint8_t *octets, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        p = write_text(p, hex_pairs + (size_t)2 * octets[i], 2);
    }
    return p;
}

void day_cache_init(struct day_cache *cache)
{
    for (size_t i = 0; i < sizeof(cache->entry) / sizeof(cache->entry[0]); i++) {
        cache->entry[i].day = INT64_MIN;
    }
}

/* Days since 1970-01-01 to "YYYY-MM-DDT", proleptic Gregorian; years 0 to 9999. */
static void put_day(char *p, int64_t day)
{
    /* Count from 0000-03-01, so that a leap day is the last of its year. */
    int64_t z = day + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    unsigned in_era = (unsigned)(z - era * 146097);
    unsigned year_of_era = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    unsigned day_of_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    unsigned march = (5 * day_of_year + 2) / 153;
    unsigned month = march < 10 ? march + 3 : march - 9;
    unsigned year = (unsigned)(era * 400) + year_of_era + (month <= 2);
    p = put_four(p, year);
    *p++ = '-';
    p = put_pair(p, month);
    *p++ = '-';
    p = put_pair(p, day_of_year - (153 * march + 2) / 5 + 1);
    *p = 'T';
}

/* The usual case in 32-bit divisions by constants. */
static char *write_date_ms(char *p, struct day_cache *cache, uint64_t ms)
{
    int64_t day = (int64_t)(ms / MS_PER_DAY);
    uint32_t rest = (uint32_t)(ms % MS_PER_DAY);
    size_t slot = (size_t)day & (sizeof(cache->entry) / sizeof(cache->entry[0]) - 1);
    if (cache->entry[slot].day != day) {
        put_day(cache->entry[slot].text, day);
        cache->entry[slot].day = day;
    }
    memcpy(p, cache->entry[slot].text, sizeof(cache->entry[slot].text));
    uint32_t s = rest / 1000;
    uint32_t minute = s / 60;
    put_pair(p + 11, minute / 60);
    p[13] = ':';
    put_pair(p + 14, minute % 60);
    p[16] = ':';
    put_pair(p + 17, s % 60);
    p[19] = '.';
    memcpy(p + 20, &write_triples[rest % 1000], 4);
    p[23] = 'Z';
    return p + 24;
}

char *write_date(char *p, struct day_cache *cache, int64_t ns, enum date_digits digits)
{
    if (digits == DATE_MILLIS && ns >= 0) {
        return write_date_ms(p, cache, (uint64_t)ns / WF_NS_PER_MS);
    }
    int64_t seconds = ns / WF_NS_PER_S;
    int64_t rest = ns % WF_NS_PER_S;
    if (rest < 0) {
        rest += WF_NS_PER_S;
        seconds--;
    }
    int64_t day = seconds / SECONDS_PER_DAY;
    int64_t second = seconds % SECONDS_PER_DAY;
    if (second < 0) {
        second += SECONDS_PER_DAY;
        day--;
    }
    size_t slot = (size_t)day & (sizeof(cache->entry) / sizeof(cache->entry[0]) - 1);
    if (cache->entry[slot].day != day) {
        put_day(cache->entry[slot].text, day);
        cache->entry[slot].day = day;
    }
    memcpy(p, cache->entry[slot].text, sizeof(cache->entry[slot].text));
    p += sizeof(cache->entry[slot].text);
    unsigned s = (unsigned)second;
    p = put_pair(p, s / 3600);
    *p++ = ':';
    p = put_pair(p, s / 60 % 60);
    *p++ = ':';
    p = put_pair(p, s % 60);
    if (digits != DATE_SECONDS) {
        *p++ = '.';
        unsigned fraction = (unsigned)rest;
        char *end = p + digits;
        p = put_pair(p, fraction / 10000000);
        p = put_pair(p, fraction / 100000 % 100);
        p = put_pair(p, fraction / 1000 % 100);
        p = put_pair(p, fraction / 10 % 100);
        *p = (char)('0' + fraction % 10);
        p = end;
    }
    *p++ = 'Z';
    return p;
}

int64_t ntp_to_unix_ns(uint64_t ntp)
{
    int64_t seconds = (int64_t)(ntp >> 32);
    uint64_t fraction = ntp & 0xffffffffU;
    if (seconds < 0x80000000LL) {
        seconds += 0x100000000LL; /* era 1, from 2036 */
    }
    return (seconds - NTP_TO_UNIX_S) * WF_NS_PER_S +
           (int64_t)((fraction * 1000000000ULL + 0x80000000ULL) >> 32);
}
