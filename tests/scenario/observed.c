// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/observed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/wire/cursor.h"

struct seen_field {
    uint32_t pen;
    uint16_t id;
    size_t len;
    uint8_t *data;
};

struct seen_record {
    struct seen_record *next;
    struct decoder_message message;
    uint16_t template_id;
    bool options;
    size_t n_fields;
    struct seen_field *field;
};

struct seen_event {
    struct seen_event *next;
    struct decoder_event event;
};

static void *must(void *memory)
{
    if (!memory) {
        abort();
    }
    return memory;
}

/* ---- the sink ---- */

static void keep_record(struct observed *o, const struct decoder_records *r, size_t index)
{
    struct seen_record *seen = must(calloc(1, sizeof(*seen)));
    seen->message = *r->message;
    seen->template_id = r->template_id;
    seen->options = r->plan->kind == PLAN_OPTIONS;
    seen->n_fields = r->plan->n_fields;
    seen->field = must(calloc(seen->n_fields, sizeof(*seen->field)));
    for (size_t i = 0; i < seen->n_fields; i++) {
        size_t len = r->length[i];
        uint8_t *data = must(malloc(len + 1));
        memcpy(data, r->data + index * r->stride + r->offset[i], len);
        seen->field[i] = (struct seen_field){
            .pen = r->plan->field[i].pen, .id = r->plan->field[i].id, .len = len, .data = data};
    }
    if (o->last_record) {
        o->last_record->next = seen;
    } else {
        o->first_record = seen;
    }
    o->last_record = seen;
}

void observed_records(void *ctx, const struct decoder_records *r)
{
    for (size_t i = 0; i < r->n_records; i++) {
        keep_record(ctx, r, i);
    }
}

void observed_event(void *ctx, const struct decoder_event *event)
{
    struct observed *o = ctx;
    struct seen_event *seen = must(calloc(1, sizeof(*seen)));
    seen->event = *event;
    if (o->last_event) {
        o->last_event->next = seen;
    } else {
        o->first_event = seen;
    }
    o->last_event = seen;
}

static void record_free(struct seen_record *r)
{
    for (size_t i = 0; i < r->n_fields; i++) {
        free(r->field[i].data);
    }
    free(r->field);
    free(r);
}

void observed_deinit(struct observed *o)
{
    while (o->first_record) {
        struct seen_record *r = o->first_record;
        o->first_record = r->next;
        record_free(r);
    }
    while (o->first_event) {
        struct seen_event *e = o->first_event;
        o->first_event = e->next;
        free(e);
    }
    *o = (struct observed){0};
}

/* ---- records ---- */

/* scope/ID, PEN/ID or ID; #N behind it: the Nth of several */
static const struct seen_field *find_field(const struct seen_record *r, struct words *w,
                                           const char *key)
{
    char *end;
    uint32_t pen = 0;
    unsigned long nth = 1;
    const char *slash = key + strcspn(key, "/=");
    if (*slash == '=') {
        slash = NULL; /* the value may have one */
    }
    if (slash) {
        pen = strncmp(key, "scope/", 6) == 0 ? ELEMENT_PEN_V9_SCOPE
                                             : (uint32_t)strtoul(key, NULL, 10);
    }
    unsigned long id = strtoul(slash ? slash + 1 : key, &end, 10);
    if (*end == '#') {
        nth = strtoul(end + 1, &end, 10);
    }
    if (*end != '=') {
        words_fail(w, "a field is KEY=VALUE");
    }
    for (size_t i = 0; i < r->n_fields; i++) {
        if (r->field[i].pen == pen && r->field[i].id == id && --nth == 0) {
            return &r->field[i];
        }
    }
    return NULL;
}

static bool field_is(const struct seen_field *f, struct words *w, const char *value)
{
    size_t len = strlen(value);
    if (len == 0) {
        return f->len == 0;
    }
    if (value[0] == '"') {
        return len >= 2 && f->len == len - 2 && memcmp(f->data, value + 1, f->len) == 0;
    }
    if (strchr(value, '.')) {
        struct wf_addr addr = words_addr(w, value);
        return f->len == 4 && memcmp(f->data, addr.bytes, 4) == 0;
    }
    return f->len >= 1 && f->len <= 8 && wire_unsigned(f->data, f->len) == words_number(w, value);
}

static bool member_is(const struct seen_record *r, struct words *w, const char *key,
                      const char *value)
{
    const struct decoder_message *m = &r->message;
    if (strcmp(key, "from") == 0) {
        struct wf_addr addr = words_addr(w, value);
        return wf_addr_equal(&m->exporter, &addr);
    }
    if (strcmp(key, "held") == 0) {
        return strcmp(value, "no") == 0 ? m->held_ns == 0 : m->held_ns == words_ns(w, value);
    }
    if (strcmp(key, "kind") == 0) {
        return r->options == (strcmp(value, "options") == 0);
    }
    const struct {
        const char *key;
        uint64_t is;
    } numbers[] = {
        {"domain", m->domain},     {"template", r->template_id},    {"port", m->port},
        {"seq", m->sequence},      {"version", m->version},         {"uptime", m->uptime_ms},
        {"sampling", m->sampling}, {"engine-type", m->engine_type}, {"engine-id", m->engine_id},
        {"fields", r->n_fields},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (strcmp(numbers[i].key, key) == 0) {
            return numbers[i].is == words_number(w, value);
        }
    }
    words_fail(w, "a record has no such member");
}

bool observed_expect_record(struct observed *o, struct words *w, char *why, size_t why_len)
{
    struct seen_record *r = o->first_record;
    bool holds = true;
    if (!r) {
        w->at = w->n;
        snprintf(why, why_len, "no record has come");
        return false;
    }
    for (const char *word = words_next(w); word && holds; word = words_next(w)) {
        const char *equals = strchr(word, '=');
        if (equals) {
            const struct seen_field *f = find_field(r, w, word);
            holds = f && field_is(f, w, equals + 1);
        } else {
            holds = member_is(r, w, word, words_need(w));
        }
        if (!holds) {
            snprintf(why, why_len, "the next record (template %u, seq %u) is not so: %s",
                     r->template_id, r->message.sequence, word);
        }
    }
    w->at = w->n;
    o->first_record = r->next;
    if (!o->first_record) {
        o->last_record = NULL;
    }
    record_free(r);
    return holds;
}

bool observed_no_record(const struct observed *o)
{
    return o->first_record == NULL;
}

/* ---- events ---- */

static enum decoder_event_kind kind_parse(struct words *w)
{
    static const char *const names[] = {
        [DECODER_EVENT_WAITING] = "waiting",     [DECODER_EVENT_RELEASED] = "released",
        [DECODER_EVENT_LOST] = "lost",           [DECODER_EVENT_TEMPLATE] = "template",
        [DECODER_EVENT_MALFORMED] = "malformed", [DECODER_EVENT_SEQUENCE] = "sequence",
        [DECODER_EVENT_RESTART] = "restart",
    };
    const char *word = words_need(w);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], word) == 0) {
            return (enum decoder_event_kind)i;
        }
    }
    words_fail(w, "there is no such event");
}

static bool event_member_is(const struct decoder_event *e, struct words *w, const char *key,
                            const char *value)
{
    if (strcmp(key, "from") == 0) {
        struct wf_addr addr = words_addr(w, value);
        return wf_addr_equal(&e->exporter, &addr);
    }
    if (strcmp(key, "reason") == 0) {
        return strcmp(decoder_reason_name(e->reason), value) == 0;
    }
    if (strcmp(key, "expired") == 0) {
        return e->expired == (strcmp(value, "yes") == 0);
    }
    if (strcmp(key, "waited") == 0) {
        return e->waited_ns == words_ns(w, value);
    }
    const struct {
        const char *key;
        uint64_t is;
    } numbers[] = {
        {"template", e->template_id}, {"domain", e->domain},   {"sets", e->n_sets},
        {"records", e->n_records},    {"octets", e->n_octets}, {"lost", e->n_lost},
        {"offset", e->offset},        {"version", e->version},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (strcmp(numbers[i].key, key) == 0) {
            return numbers[i].is == words_number(w, value);
        }
    }
    words_fail(w, "an event has no such member");
}

static bool event_matches(const struct decoder_event *e, struct words *w)
{
    bool matches = true;
    for (const char *key = words_next(w); key; key = words_next(w)) {
        matches = event_member_is(e, w, key, words_need(w)) && matches;
    }
    return matches;
}

bool observed_expect_event(struct observed *o, struct words *w, char *why, size_t why_len)
{
    enum decoder_event_kind kind = kind_parse(w);
    size_t members = w->at;
    struct seen_event *before = NULL;
    for (struct seen_event *e = o->first_event; e; before = e, e = e->next) {
        w->at = members;
        if (e->event.kind != kind || !event_matches(&e->event, w)) {
            continue;
        }
        if (before) {
            before->next = e->next;
        } else {
            o->first_event = e->next;
        }
        if (o->last_event == e) {
            o->last_event = before;
        }
        free(e);
        return true;
    }
    w->at = w->n;
    snprintf(why, why_len, "no such event has come");
    return false;
}

bool observed_no_event(const struct observed *o, struct words *w)
{
    enum decoder_event_kind kind = kind_parse(w);
    for (const struct seen_event *e = o->first_event; e; e = e->next) {
        if (e->event.kind == kind) {
            return false;
        }
    }
    return true;
}
