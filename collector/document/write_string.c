// SPDX-License-Identifier: Apache-2.0
/*
 * Strings: plain ASCII eight octets at a time; everything else an octet or a character at a time.
 */
#include "collector/document/write.h"

#define EIGHT(octet) (0x0101010101010101ULL * (octet))

/* Does one of eight octets need a closer look: a control, '"', '\\', or beyond ASCII? The borrow of a lower octet can
 * make this say yes too often, never too seldom. */
static inline bool needs_look(uint64_t x)
{
    uint64_t quote = x ^ EIGHT(0x22);
    uint64_t backslash = x ^ EIGHT(0x5c);
    uint64_t hit = (x - EIGHT(0x20)) | (quote - EIGHT(0x01)) | (backslash - EIGHT(0x01)) | x;
    return (hit & EIGHT(0x80)) != 0;
}

static char *write_control(char *p, uint8_t c)
{
    static const char hex[] = "0123456789abcdef";
    static const char shorthand[32] = {[8] = 'b', [9] = 't', [10] = 'n', [12] = 'f', [13] = 'r'};
    *p++ = '\\';
    if (shorthand[c]) {
        *p++ = shorthand[c];
        return p;
    }
    p = write_text(p, "u00", 3);
    *p++ = hex[c >> 4];
    *p++ = hex[c & 15];
    return p;
}

/* Length of the valid UTF-8 character at s (RFC 3629: no overlong forms, no surrogates, up to U+10FFFF); 0 = none. */
static size_t character_len(const uint8_t *s, size_t left)
{
    uint8_t lead = s[0];
    size_t len = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || left < len) {
        return 0;
    }
    uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (s[1] < low || s[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return len;
}

char *write_string(char *p, const uint8_t *octets, size_t len)
{
    while (len > 0 && octets[len - 1] == 0) {
        len--;
    }
    const uint8_t *s = octets;
    const uint8_t *end = octets + len;
    while (s < end) {
        uint64_t eight;
        if (end - s >= 8) {
            memcpy(&eight, s, 8);
            if (!needs_look(eight)) {
                memcpy(p, s, 8);
                p += 8;
                s += 8;
                continue;
            }
        }
        uint8_t c = *s;
        if (c >= 0x80) {
            size_t n = character_len(s, (size_t)(end - s));
            p = n ? write_text(p, (const char *)s, n) : write_text(p, "\xef\xbf\xbd", 3);
            s += n ? n : 1;
            continue;
        }
        if (c < 0x20) {
            p = write_control(p, c);
        } else {
            if (c == '"' || c == '\\') {
                *p++ = '\\';
            }
            *p++ = (char)c;
        }
        s++;
    }
    return p;
}
