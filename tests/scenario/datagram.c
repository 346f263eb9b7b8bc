// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/datagram.h"

#include <stdlib.h>
#include <string.h>

#define VARIABLE  65535U
#define UNSET     UINT64_MAX
#define UPTIME_MS 3600000 /* exporters have been up for an hour at "at 0" */

struct header {
    uint8_t version;
    uint64_t domain, sequence, uptime_ms, unix_s, count, cut, engine, sampling;
};

void sender_parse(struct sender *s, struct words *w)
{
    if (words_accept(w, "at")) {
        s->now_ns = words_ns(w, words_need(w));
    }
    if (words_accept(w, "from")) {
        char text[64];
        const char *word = words_need(w);
        const char *colon = strrchr(word, ':');
        if (!colon || (size_t)(colon - word) >= sizeof(text)) {
            words_fail(w, "from needs ADDRESS:PORT");
        }
        memcpy(text, word, (size_t)(colon - word));
        text[colon - word] = '\0';
        s->addr = words_addr(w, text);
        s->port = (uint16_t)words_number(w, colon + 1);
    }
}

/* ---- header ---- */

static uint64_t *header_member(struct header *h, const char *key)
{
    const struct {
        const char *key;
        uint64_t *member;
    } members[] = {
        {"domain", &h->domain}, {"seq", &h->sequence},      {"uptime", &h->uptime_ms},
        {"time", &h->unix_s},   {"count", &h->count},       {"length", &h->count},
        {"cut", &h->cut},       {"sampling", &h->sampling}, {"engine", &h->engine},
    };
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (strcmp(members[i].key, key) == 0) {
            return members[i].member;
        }
    }
    return NULL;
}

static uint8_t version_of(struct words *w)
{
    static const char *const names[] = {
        [1] = "v1", [5] = "v5", [7] = "v7", [9] = "v9", [10] = "ipfix"};
    const char *word = words_need(w);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i] && strcmp(names[i], word) == 0) {
            return (uint8_t)i;
        }
    }
    words_fail(w, "not a version");
}

static struct header header_parse(const struct sender *s, struct words *w)
{
    struct header h = {
        .version = version_of(w),
        .uptime_ms = (uint64_t)(UPTIME_MS + s->now_ns / WF_NS_PER_MS),
        .unix_s = (uint64_t)(SCENARIO_START_S + s->now_ns / WF_NS_PER_S),
        .count = UNSET,
        .cut = UNSET,
    };
    for (const char *key = words_next(w); key && strcmp(key, ":") != 0; key = words_next(w)) {
        uint64_t *member = header_member(&h, key);
        if (!member) {
            words_fail(w, "not a word of the header");
        }
        *member = words_number(w, words_need(w));
    }
    return h;
}

static void build_fixed(struct build *b, const struct header *h)
{
    build_v5(b, (uint32_t)h->unix_s, (uint32_t)h->uptime_ms, (uint32_t)h->sequence);
    b->version = h->version;
    b->data[1] = h->version;
    if (h->version == 1) {
        b->len = 16; /* without sequence, engine and sampling */
    } else if (h->version == 5) {
        b->len = 20;
        build_u16(b, (uint16_t)h->engine);
        build_u16(b, (uint16_t)h->sampling);
    }
}

/* ---- octets ---- */

static void put_text(struct build *b, struct words *w, const char *word)
{
    char kind = word[0];
    const char *text = strchr(word, '"') + 1;
    size_t len = strlen(text);
    if (len == 0 || text[len - 1] != '"') {
        words_fail(w, "a text ends with \"");
    }
    len--;
    if (kind == 'v') {
        build_u8(b, (uint8_t)len);
    } else if (kind == 'V') {
        build_u8(b, 255);
        build_u16(b, (uint16_t)len);
    }
    build_octets(b, text, len);
}

static void put_hex(struct build *b, struct words *w, const char *word)
{
    size_t len = strspn(word, "0123456789abcdef");
    const char *end = word + len;
    uint64_t times = *end == '*' ? words_number(w, end + 1) : 1;
    if (len == 0 || len % 2 != 0 || (*end != '*' && *end != '\0')) {
        words_fail(w, "not octets");
    }
    for (; times > 0; times--) {
        for (size_t i = 0; i < len; i += 2) {
            char octet[3] = {word[i], word[i + 1], '\0'};
            build_u8(b, (uint8_t)strtoul(octet, NULL, 16));
        }
    }
}

static void put_octets(struct build *b, struct words *w, const char *word)
{
    if (strncmp(word, "pad:", 4) == 0) {
        build_zeros(b, words_number(w, word + 4));
    } else if (strchr(word, '"')) {
        put_text(b, w, word);
    } else if (strchr(word, '.')) {
        struct wf_addr addr = words_addr(w, word);
        build_octets(b, addr.bytes, 4);
    } else {
        put_hex(b, w, word);
    }
}

/* ---- templates ---- */

struct template
{
    uint16_t id;
    size_t n_fields, n_scope;
    uint64_t announced_fields, announced_scope;
    uint16_t field[WORDS_MAX][2];
    uint32_t pen[WORDS_MAX];
};

/* [PEN/]ID:LENGTH, the length v for variable */
static void field_parse(struct template *t, struct words *w, const char *word)
{
    char *end;
    unsigned long id = strtoul(word, &end, 10);
    uint32_t pen = 0;
    if (*end == '/') {
        pen = (uint32_t)id;
        id = strtoul(end + 1, &end, 10);
    }
    if (*end != ':' || id > UINT16_MAX) {
        words_fail(w, "a field is [PEN/]ID:LENGTH");
    }
    uint64_t length = strcmp(end + 1, "v") == 0 ? VARIABLE : words_number(w, end + 1);
    t->field[t->n_fields][0] = (uint16_t)id;
    t->field[t->n_fields][1] = (uint16_t)length;
    t->pen[t->n_fields++] = pen;
}

static bool is_padding(const struct words *w)
{
    return w->at < w->n && strncmp(w->word[w->at], "pad:", 4) == 0;
}

/* Reads one template record; true when a + says that one more follows. */
static bool template_parse(struct template *t, struct words *w)
{
    t->id = (uint16_t)words_number(w, words_need(w));
    t->n_fields = 0;
    t->n_scope = 0;
    t->announced_fields = UNSET;
    t->announced_scope = UNSET;
    while (w->at < w->n && strcmp(w->word[w->at], ";") != 0 && !is_padding(w)) {
        const char *word = words_next(w);
        if (strcmp(word, "+") == 0) {
            return true;
        }
        if (strcmp(word, "/") == 0) {
            t->n_scope = t->n_fields;
        } else if (strncmp(word, "fields=", 7) == 0) {
            t->announced_fields = words_number(w, word + 7);
        } else if (strncmp(word, "scope=", 6) == 0) {
            t->announced_scope = words_number(w, word + 6);
        } else {
            field_parse(t, w, word);
        }
    }
    return false;
}

static void put_template(struct build *b, const struct template *t, bool options)
{
    uint64_t fields = t->announced_fields != UNSET ? t->announced_fields : t->n_fields;
    uint64_t scope = t->announced_scope != UNSET ? t->announced_scope : t->n_scope;
    build_u16(b, t->id);
    if (options && b->version == 9) { /* octets of the scope, octets of the others */
        bool in_octets = t->announced_scope != UNSET;
        build_u16(b, (uint16_t)(in_octets ? scope : 4 * scope));
        build_u16(b, (uint16_t)(4 * (fields - t->n_scope)));
    } else {
        build_u16(b, (uint16_t)fields);
        if (options) {
            build_u16(b, (uint16_t)scope);
        }
    }
    for (size_t i = 0; i < t->n_fields; i++) {
        if (t->pen[i]) {
            build_field_pen(b, t->field[i][0], t->field[i][1], t->pen[i]);
        } else {
            build_u16(b, t->field[i][0]);
            build_u16(b, t->field[i][1]);
        }
    }
}

static void put_templates(struct build *b, struct words *w, bool options)
{
    static struct template t; // too large for the stack
    bool more = true;
    build_set(b, (uint16_t)((b->version == 9 ? 0 : 2) + options));
    while (more) {
        more = template_parse(&t, w);
        put_template(b, &t, options);
    }
    if (is_padding(w)) {
        put_octets(b, w, words_next(w));
    }
}

/* ---- what a datagram consists of ---- */

/* flow SOURCE DESTINATION PACKETS OCTETS: a record of the fixed formats, TCP from port 1024 to 80 */
static void put_flow(struct build *b, struct words *w)
{
    struct wf_addr source = words_addr(w, words_need(w));
    struct wf_addr destination = words_addr(w, words_need(w));
    uint64_t packets = words_number(w, words_need(w));
    uint64_t octets = words_number(w, words_need(w));
    build_octets(b, source.bytes, 4);
    build_octets(b, destination.bytes, 4);
    build_zeros(b, 8); /* next hop, interfaces */
    build_u32(b, (uint32_t)packets);
    build_u32(b, (uint32_t)octets);
    build_zeros(b, 8); /* times */
    build_u16(b, 1024);
    build_u16(b, 80);
    build_zeros(b, 2); /* flags */
    build_u8(b, 6);
    build_zeros(b, b->version == 7 ? 13 : 9);
    b->n_records++;
}

static void put_set(struct build *b, struct words *w)
{
    size_t start = b->len;
    uint64_t length = UNSET;
    build_set(b, (uint16_t)words_number(w, words_need(w)));
    while (w->at < w->n && strcmp(w->word[w->at], ";") != 0) {
        const char *word = words_next(w);
        if (strncmp(word, "length=", 7) == 0) {
            length = words_number(w, word + 7);
        } else {
            put_octets(b, w, word);
        }
    }
    build_end(b);
    if (length != UNSET) {
        b->data[start + 2] = (uint8_t)(length >> 8);
        b->data[start + 3] = (uint8_t)length;
    }
}

static void put_withdrawal(struct build *b, struct words *w, uint16_t set)
{
    build_set(b, set);
    build_u16(b, (uint16_t)words_number(w, words_need(w)));
    build_u16(b, 0);
}

static void put_part(struct build *b, struct words *w)
{
    const char *part = words_need(w);
    if (strcmp(part, "template") == 0 || strcmp(part, "options") == 0) {
        put_templates(b, w, part[0] == 'o');
    } else if (strcmp(part, "withdraw") == 0) {
        put_withdrawal(b, w, 2);
    } else if (strcmp(part, "withdraw-options") == 0) {
        put_withdrawal(b, w, 3);
    } else if (strcmp(part, "data") == 0 || strcmp(part, "set") == 0) {
        put_set(b, w);
    } else if (strcmp(part, "flow") == 0) {
        put_flow(b, w);
    } else if (strcmp(part, "raw") == 0) {
        put_octets(b, w, words_need(w));
    } else {
        words_fail(w, "a datagram has no such part");
    }
    build_end(b); /* closes the set */
}

void datagram_parse(struct build *b, const struct sender *s, struct words *w)
{
    struct header h = header_parse(s, w);
    if (h.version == 9) {
        build_v9(b, (uint32_t)h.unix_s, (uint32_t)h.uptime_ms, (uint32_t)h.sequence,
                 (uint32_t)h.domain);
    } else if (h.version == 10) {
        build_ipfix(b, (uint32_t)h.unix_s, (uint32_t)h.sequence, (uint32_t)h.domain);
    } else {
        build_fixed(b, &h);
    }
    while (w->at < w->n) {
        put_part(b, w);
        if (w->at < w->n && !words_accept(w, ";")) {
            words_fail(w, "; is missing between two parts");
        }
    }
    build_end(b);
    if (h.count != UNSET) {
        build_end_with(b, (uint16_t)h.count);
    }
    if (h.cut < b->len) {
        b->len = h.cut;
    }
}
