// SPDX-License-Identifier: Apache-2.0
/*
 * write - the fast writers of values into text
 *
 * Each writes at p and gives the position behind what it wrote; the caller has reserved the worst case
 * (WRITE_MAX_*). No checks, no locale, no allocation. One table-driven number writer, one address writer, one
 * date writer (cached by day), one escaping string writer for the whole program.
 */
#pragma once

#include <endian.h>
#include <string.h>

#include "decoder/base.h"

#define WRITE_MAX_U64    20
#define WRITE_MAX_I64    20
#define WRITE_MAX_IPV4   15
#define WRITE_MAX_IPV6   45
#define WRITE_MAX_MAC    17
#define WRITE_MAX_DATE   36 /* 2016-12-25T12:58:35.819000000Z, with room for 8-octet stores */
#define WRITE_MAX_DOUBLE 32
/* Writers store in larger units than they mean: octets to reserve beyond the sum of the worst cases. */
#define WRITE_SLACK 64
/* a string of n octets, quotes not included: each octet at worst a \u00XX escape or a 3-octet U+FFFD */
#define WRITE_MAX_STRING(n) (6 * (size_t)(n))

struct day_cache {
    struct {
        int64_t day;   /* days since 1970-01-01; INT64_MIN = empty */
        char text[11]; /* "2016-12-25T" */
    } entry[4];
};
void day_cache_init(struct day_cache *cache);

enum date_digits {
    DATE_SECONDS = 0,
    DATE_MILLIS = 3,
    DATE_MICROS = 6,
    DATE_NANOS = 9
};

char *write_u64(char *p, uint64_t value);
static inline char *write_u8(char *p, uint8_t value);
static inline char *write_u16(char *p, uint16_t value);
static inline char *write_u32(char *p, uint32_t value);
char *write_i64(char *p, int64_t value);
char *write_double(
    char *p,
    double value); /* shortest form that reads back; NaN, inf as "NaN", "Infinity" in quotes */
char *write_float(char *p, float value); /* the same for 32 bits */
char *write_ipv4(char *p, const uint8_t *octets);
char *write_ipv6(char *p, const uint8_t *octets); /* RFC 5952 */
char *write_addr(char *p, const struct wf_addr *addr);
char *write_mac(char *p, const uint8_t *octets);             /* AA-BB-CC-DD-EE-FF */
char *write_hex(char *p, const uint8_t *octets, size_t len); /* lower case */
/* RFC 3339 UTC with the digits asked for; ns is any int64 (years 1677..2262). */
char *write_date(char *p, struct day_cache *cache, int64_t ns, enum date_digits digits);
/* The inside of a JSON string: escapes, valid UTF-8 always (each bad octet becomes U+FFFD), trailing NULs cut. */
char *write_string(char *p, const uint8_t *octets, size_t len);

/* NTP 32.32 (8 octets big endian) to Unix ns, RFC 5905 era by nearest to 1968..2104: seconds below 2^31 are era 1.
 * Rounded to the nearest ns. */
int64_t ntp_to_unix_ns(uint64_t ntp);

/* ---- tables, for the inline writers below ---- */

/* Text of an octet in decimal, and its length. */
struct write_octet {
    char text[3];
    uint8_t len;
};
extern const struct write_octet write_octets[256];

/* Three digits of a number below 1,000, and how many of them are leading zeros (2 for 0). */
struct write_triple {
    char text[3];
    uint8_t n_zeros;
};
extern const struct write_triple write_triples[1000];

/* Copies n octets of constant text. */
static inline char *write_text(char *p, const char *text, size_t n)
{
    memcpy(p, text, n);
    return p + n;
}

static inline char *write_u8(char *p, uint8_t value)
{
    memcpy(p, &write_octets[value], 4);
    return p + write_octets[value].len;
}

/* Six digits of a number below 1,000,000 in the low octets, the first one lowest; how many are leading zeros. Without
 * branches: the sizes of counters and addresses can not be foreseen, and a wrong guess costs more than the digits. */
static inline uint64_t write_six_digits(uint32_t value, unsigned *n_zeros)
{
    uint32_t high;
    uint32_t low;
    memcpy(&high, &write_triples[value / 1000], 4);
    memcpy(&low, &write_triples[value % 1000], 4);
    high = le32toh(high);
    low = le32toh(low);
    *n_zeros = value >= 1000 ? high >> 24 : 3 + (low >> 24);
    return (high & 0xffffffU) | (uint64_t)low << 24;
}

/* Below 1,000,000. */
static inline char *write_six(char *p, uint32_t value)
{
    unsigned n_zeros;
    uint64_t text = write_six_digits(value, &n_zeros);
    text = htole64(text >> 8 * n_zeros);
    memcpy(p, &text, 8);
    return p + 6 - n_zeros;
}

/* The same with leading zeros. */
static inline char *write_six_padded(char *p, uint32_t value)
{
    unsigned n_zeros;
    uint64_t text = htole64(write_six_digits(value, &n_zeros));
    memcpy(p, &text, 8);
    return p + 6;
}

static inline char *write_u16(char *p, uint16_t value)
{
    return write_six(p, value);
}

static inline char *write_u32(char *p, uint32_t value)
{
    if (value < 1000000) {
        return write_six(p, value);
    }
    p = write_six(p, value / 1000000);
    return write_six_padded(p, value % 1000000);
}
