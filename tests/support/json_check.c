// SPDX-License-Identifier: Apache-2.0
#include "tests/support/json_check.h"

#include <stdint.h>
#include <string.h>

#define MAX_DEPTH 16
#define MAX_NAMES 8192 /* members of all open objects together */

struct name {
    const unsigned char *text;
    size_t len;
};

struct reader {
    const unsigned char *p, *end;
    struct name *names;
    size_t n_names;
};

static bool read_value(struct reader *r, unsigned depth);

static bool take(struct reader *r, char c)
{
    if (r->p < r->end && *r->p == (unsigned char)c) {
        r->p++;
        return true;
    }
    return false;
}

static bool take_word(struct reader *r, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0) {
        return false;
    }
    r->p += n;
    return true;
}

static bool is_digit(const struct reader *r)
{
    return r->p < r->end && *r->p >= '0' && *r->p <= '9';
}

static bool take_digits(struct reader *r)
{
    if (!is_digit(r)) {
        return false;
    }
    while (is_digit(r)) {
        r->p++;
    }
    return true;
}

static bool read_number(struct reader *r)
{
    take(r, '-');
    if (take(r, '0')) {
        if (is_digit(r)) {
            return false;
        }
    } else if (!take_digits(r)) {
        return false;
    }
    if (take(r, '.') && !take_digits(r)) {
        return false;
    }
    if (take(r, 'e') || take(r, 'E')) {
        if (!take(r, '+')) {
            take(r, '-');
        }
        return take_digits(r);
    }
    return true;
}

static bool read_escape(struct reader *r)
{
    if (r->p >= r->end) {
        return false;
    }
    if (*r->p != 'u') {
        return strchr("\"\\/bfnrt", *r->p++) != NULL;
    }
    r->p++;
    for (int i = 0; i < 4; i++, r->p++) {
        if (r->p >= r->end || !strchr("0123456789abcdefABCDEF", *r->p) || !*r->p) {
            return false;
        }
    }
    return true;
}

/* One character beyond ASCII (RFC 3629: no overlong forms, no surrogates). */
static bool read_multibyte(struct reader *r)
{
    size_t left = (size_t)(r->end - r->p);
    unsigned lead = r->p[0];
    size_t n = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || left < n) {
        return false;
    }
    uint32_t code = lead & (0xffU >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((r->p[i] & 0xc0) != 0x80) {
            return false;
        }
        code = code << 6 | (r->p[i] & 0x3f);
    }
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    r->p += n;
    return code >= smallest[n] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

static bool read_string(struct reader *r)
{
    if (!take(r, '"')) {
        return false;
    }
    while (r->p < r->end) {
        unsigned c = *r->p;
        bool good = true;
        if (c == '"') {
            r->p++;
            return true;
        }
        if (c < 0x20) {
            return false;
        }
        if (c == '\\') {
            r->p++;
            good = read_escape(r);
        } else if (c >= 0x80) {
            good = read_multibyte(r);
        } else {
            r->p++;
        }
        if (!good) {
            return false;
        }
    }
    return false;
}

/* A member's name and the colon. No other of its object, whose names begin at first, may have the same. */
static bool read_name(struct reader *r, size_t first)
{
    struct name name = {.text = r->p};
    if (!read_string(r)) {
        return false;
    }
    name.len = (size_t)(r->p - name.text);
    for (size_t i = first; i < r->n_names; i++) {
        if (r->names[i].len == name.len && memcmp(r->names[i].text, name.text, name.len) == 0) {
            return false;
        }
    }
    if (r->n_names == MAX_NAMES) {
        return false;
    }
    r->names[r->n_names++] = name;
    return take(r, ':');
}

static bool read_members(struct reader *r, unsigned depth, char close, bool named)
{
    size_t first = r->n_names;
    if (take(r, close)) {
        return true;
    }
    do {
        if (named && !read_name(r, first)) {
            return false;
        }
        if (!read_value(r, depth + 1)) {
            return false;
        }
    } while (take(r, ','));
    r->n_names = first;
    return take(r, close);
}

static bool read_value(struct reader *r, unsigned depth)
{
    if (depth > MAX_DEPTH || r->p >= r->end) {
        return false;
    }
    switch (*r->p) {
    case '{':
        r->p++;
        return read_members(r, depth, '}', true);
    case '[':
        r->p++;
        return read_members(r, depth, ']', false);
    case '"':
        return read_string(r);
    case 't':
        return take_word(r, "true");
    case 'f':
        return take_word(r, "false");
    case 'n':
        return take_word(r, "null");
    default:
        return read_number(r);
    }
}

bool json_is_valid(const char *text, size_t len)
{
    const unsigned char *start = (const unsigned char *)text;
    struct name names[MAX_NAMES];
    struct reader r = {.p = start, .end = start + len, .names = names};
    return read_value(&r, 0) && r.p == r.end;
}
