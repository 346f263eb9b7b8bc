// SPDX-License-Identifier: Apache-2.0
/*
 * A plan's fields become members in template order, scope fields first. Fields with the same name become one array: two
 * elements can not be told apart by their members' name, and no JSON object may hold a name twice. Names are found again
 * through a small hash table, so that a hostile template of a thousand fields costs no more than another.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "collector/document/ecs.h"

#define NO_FIELD 0xffffU
#define SLACK                                                                                      \
    4096U /* what ECS members and punctuation take at worst, host and message members apart */

struct names {
    uint16_t *slot; /* index + 1 of the member with this name, 0 = free */
    size_t mask;
};

enum ecs_value ecs_value_of(const struct plan_field *field, size_t len)
{
    switch (plan_value_of(field, len)) {
    case PLAN_EMPTY: /* only a string of variable length says something by being empty */
        return field->length == PLAN_VARLEN && field->element &&
                       field->element->type == ELEMENT_STRING
                   ? ECS_STRING
                   : ECS_OMIT;
    case PLAN_BYTES:
        if (!field->element || field->element->type != ELEMENT_OCTETS) {
            return ECS_RAW;
        }
        return mapping_is_acl(field->element) ? ECS_ACL : ECS_NUMBERS;
    case PLAN_UNSIGNED:
        return len == 1   ? ECS_U8
               : len == 2 ? ECS_U16
               : len == 4 ? ECS_U32
               : len == 8 ? ECS_U64
                          : ECS_UNSIGNED;
    case PLAN_SIGNED:
        return ECS_SIGNED;
    case PLAN_FLOAT32:
        return ECS_FLOAT32;
    case PLAN_FLOAT64:
        return ECS_FLOAT64;
    case PLAN_BOOLEAN:
        return ECS_BOOLEAN;
    case PLAN_MAC:
        return ECS_MAC;
    case PLAN_STRING:
        return ECS_STRING;
    case PLAN_SECONDS:
        return ECS_SECONDS;
    case PLAN_MILLISECONDS:
        return ECS_MILLISECONDS;
    case PLAN_MICROSECONDS:
        return ECS_MICROSECONDS;
    case PLAN_NANOSECONDS:
        return ECS_NANOSECONDS;
    case PLAN_IPV4:
        return ECS_IPV4;
    case PLAN_IPV6:
        return ECS_IPV6;
    case PLAN_LIST:
        return ECS_HEX;
    }
    return ECS_RAW;
}

/* Members that netflow.* has by itself: no element may take their names. */
static bool is_reserved(const char *name)
{
    return strcmp(name, "type") == 0 || strcmp(name, "exporter") == 0 ||
           strcmp(name, "scope") == 0 || strcmp(name, "options") == 0;
}

static bool has_name(const struct plan_field *field)
{
    return field->element && (field->scope || !is_reserved(field->element->snake));
}

static char *put_key(char *p, const struct element *element)
{
    struct mapping_name name = mapping_member_name(element);
    *p++ = '"';
    p = write_text(p, name.prefix, strlen(name.prefix));
    p = write_text(p, name.name, strlen(name.name));
    *p++ = '"';
    *p++ = ':';
    return p;
}

static char *put_raw_key(char *p, const struct plan_field *field)
{
    *p++ = '"';
    *p++ = 'e';
    p = write_u64(p, field->pen >= ELEMENT_PEN_V9_SCOPE ? 0 : field->pen);
    *p++ = '_';
    p = write_u64(p, field->id);
    *p++ = '"';
    *p++ = ':';
    return p;
}

static size_t keys_size(const struct plan *plan)
{
    size_t size = ECS_KEY_PAD;
    for (size_t i = 0; i < plan->n_fields; i++) {
        if (plan->field[i].element) {
            struct mapping_name name = mapping_member_name(plan->field[i].element);
            size += strlen(name.prefix) + strlen(name.name) + 3;
        }
        size += 2 * WRITE_MAX_U64 + 5;
    }
    return size;
}

/* Fills in names and value of one field; false when no document can show it. */
static bool describe(const struct ecs_plan *e, size_t index, char **keys, struct ecs_field *out)
{
    const struct plan_field *field = &e->plan->field[index];
    enum ecs_value value =
        field->length == PLAN_VARLEN ? ECS_VARIES : ecs_value_of(field, field->length);
    if (!has_name(field)) {
        value = value == ECS_OMIT ? ECS_OMIT : ECS_RAW;
    }
    if (field->hidden || value == ECS_OMIT || (value == ECS_RAW && !e->raw)) {
        return false;
    }
    *out = (struct ecs_field){.field = (uint16_t)index, .value = (uint8_t)value};
    if (e->raw) {
        out->raw_key = *keys;
        *keys = put_raw_key(*keys, field);
        out->raw_len = (uint8_t)(*keys - out->raw_key);
    }
    if (value == ECS_RAW) {
        out->key = out->raw_key;
        out->key_len = out->raw_len;
    } else {
        out->key = *keys;
        *keys = put_key(*keys, field->element);
        out->key_len = (uint16_t)(*keys - out->key);
    }
    return true;
}

/* The member among field[from..n_fields) with this one's name, or n_fields. */
static size_t find_name(const struct ecs_plan *e, const struct names *names, size_t from,
                        const struct ecs_field *wanted, size_t *slot)
{
    uint64_t hash = from;
    for (size_t i = 0; i < wanted->key_len; i++) {
        hash = (hash ^ (uint8_t)wanted->key[i]) * 0x100000001b3ULL;
    }
    for (*slot = wf_mix64(hash) & names->mask; names->slot[*slot];
         *slot = (*slot + 1) & names->mask) {
        size_t at = names->slot[*slot] - 1U;
        const struct ecs_field *field = &e->field[at];
        assert(field->key); /* what is in a slot was described */
        if (at >= from && field->key_len == wanted->key_len &&
            memcmp(field->key, wanted->key, wanted->key_len) == 0) {
            return at;
        }
    }
    return e->n_fields;
}

/* A field as long as the record says falls back to its raw name when the value does not fit; not where a field that never fits
 * has that name already. */
static void keep_raw_names_apart(struct ecs_plan *e, size_t from, const struct names *names)
{
    for (size_t i = from; i < e->n_fields; i++) {
        struct ecs_field *field = &e->field[i];
        struct ecs_field raw = {.key = field->raw_key, .key_len = field->raw_len};
        size_t slot;
        if (field->value == ECS_VARIES && raw.key &&
            find_name(e, names, from, &raw, &slot) != e->n_fields) {
            field->raw_key = NULL;
        }
    }
}

/* The members of one section: scope fields or the others. first_of: for each plan field the member it belongs to. */
static void add_section(struct ecs_plan *e, bool scope, struct names *names, char **keys,
                        uint16_t *member_of)
{
    size_t from = e->n_fields;
    for (size_t i = 0; i < e->plan->n_fields; i++) {
        struct ecs_field made;
        size_t slot;
        if (e->plan->field[i].scope != scope || !describe(e, i, keys, &made)) {
            continue;
        }
        size_t at = find_name(e, names, from, &made, &slot);
        if (at == e->n_fields) {
            e->field[e->n_fields++] = made;
            names->slot[slot] = (uint16_t)e->n_fields;
        } else {
            e->field[at].n_more++;
        }
        member_of[i] = (uint16_t)at;
    }
    keep_raw_names_apart(e, from, names);
}

/* Fields beyond the first of their name, side by side for each member. */
static void gather_more(struct ecs_plan *e, const uint16_t *member_of)
{
    uint32_t n = 0;
    for (size_t i = 0; i < e->n_fields; i++) {
        e->field[i].more = n;
        n += e->field[i].n_more;
        e->field[i].n_more = 0;
    }
    for (size_t i = 0; i < e->plan->n_fields; i++) {
        if (member_of[i] == NO_FIELD || e->field[member_of[i]].field == i) {
            continue;
        }
        struct ecs_field *member = &e->field[member_of[i]];
        const struct plan_field *field = &e->plan->field[i];
        enum ecs_value value = member->value == ECS_RAW       ? ECS_RAW
                               : field->length == PLAN_VARLEN ? ECS_VARIES
                                                              : ecs_value_of(field, field->length);
        e->more[member->more + member->n_more++] =
            (struct ecs_field){.field = (uint16_t)i, .value = (uint8_t)value};
    }
}

static bool add_fields(struct ecs_plan *e)
{
    const struct plan *plan = e->plan;
    bool done = false;
    struct names names = {.mask = 15};
    while (names.mask < (size_t)2 * plan->n_fields) {
        names.mask = 2 * names.mask + 1;
    }
    uint16_t *member_of = malloc(plan->n_fields * sizeof *member_of);
    names.slot = calloc(names.mask + 1, sizeof *names.slot);
    e->field = calloc(plan->n_fields, sizeof *e->field);
    e->more = calloc(plan->n_fields, sizeof *e->more);
    e->keys = malloc(keys_size(plan));
    if (!member_of || !names.slot || !e->field || !e->more || !e->keys) {
        goto out;
    }
    memset(member_of, 0xff, plan->n_fields * sizeof *member_of);
    char *keys = e->keys;
    add_section(e, true, &names, &keys, member_of);
    e->n_scope = e->n_fields;
    add_section(e, false, &names, &keys, member_of);
    memset(keys, 0, ECS_KEY_PAD);
    gather_more(e, member_of);
    done = true;
out:
    free(member_of);
    free(names.slot);
    return done;
}

/* The last field, in template order, that is the element and can be read: of the headers of a tunnel the inner one (Cisco's
 * SRv6 sends the ports and protocol of both), and what Filebeat takes. */
static struct ecs_role role_of(const struct plan *plan, const struct mapping_element *element)
{
    for (size_t i = plan->n_fields; i-- > 0;) {
        const struct plan_field *field = &plan->field[i];
        if (field->pen != element->pen || field->id != element->id || field->hidden ||
            field->scope) {
            continue;
        }
        enum ecs_value value =
            field->length == PLAN_VARLEN ? ECS_VARIES : ecs_value_of(field, field->length);
        if (value != ECS_OMIT && value != ECS_RAW) {
            return (struct ecs_role){(uint16_t)i, (uint8_t)value};
        }
    }
    return (struct ecs_role){0, ECS_OMIT};
}

static void add_roles(struct ecs_plan *e)
{
    for (enum mapping_role role = 0; role < ROLE_N && !e->options; role++) {
        struct mapping_element elements[MAPPING_MAX_ELEMENTS];
        size_t n = mapping_role_elements(role, elements);
        for (size_t i = 0; i < n && e->role[role].value == ECS_OMIT; i++) {
            e->role[role] = role_of(e->plan, &elements[i]);
        }
        if (role >= ROLE_TIME && e->role[role].value != ECS_OMIT) {
            e->time[e->n_times++] = (uint8_t)(role - ROLE_TIME);
        }
    }
}

static void add_reserve(struct ecs_plan *e)
{
    e->reserve = SLACK;
    for (size_t i = 0; i < e->n_fields; i++) {
        e->reserve += e->field[i].key_len + 2U + e->field[i].raw_len;
    }
    for (size_t i = 0; i < e->plan->n_fields; i++) {
        bool varies = e->plan->field[i].length == PLAN_VARLEN;
        e->varies |= varies;
        e->reserve += ecs_value_max(varies ? 0 : e->plan->field[i].length);
    }
    if (e->role[ROLE_SSID].value == ECS_STRING) {
        e->reserve += ecs_value_max(e->plan->field[e->role[ROLE_SSID].field].length);
    }
}

/* "agent":{...},"host":{...}, for documents of a live feed. */
static bool add_agent(struct ecs_plan *e, const struct document_options *options)
{
    static const char version[] =
        "\",\"type\":\"whoflow\",\"version\":\"" WF_VERSION "\"},\"host\":{\"name\":\"";
    if (options->replay) {
        return true;
    }
    const char *host = options->host_name ? options->host_name : "";
    const char *id = options->agent_id ? options->agent_id : "";
    size_t host_len = strlen(host);
    size_t id_len = strlen(id);
    char *text = malloc(256 + 2 * WRITE_MAX_STRING(host_len) + 2 * WRITE_MAX_STRING(id_len));
    if (!text) {
        return false;
    }
    char *p = text;
    ECS_TEXT(p, "\"agent\":{\"ephemeral_id\":\"");
    p = write_string(p, (const uint8_t *)id, id_len);
    ECS_TEXT(p, "\",\"id\":\"");
    p = write_string(p, (const uint8_t *)id, id_len);
    ECS_TEXT(p, "\",\"name\":\"");
    p = write_string(p, (const uint8_t *)host, host_len);
    ECS_TEXT(p, version);
    p = write_string(p, (const uint8_t *)host, host_len);
    ECS_TEXT(p, "\"},");
    e->agent = text;
    e->agent_len = (size_t)(p - text);
    return true;
}

void *ecs_compile(const struct document *document, const struct plan *plan)
{
    struct ecs_plan *e = calloc(1, sizeof *e);
    if (!e) {
        return NULL;
    }
    e->plan = plan;
    e->options = plan->kind == PLAN_OPTIONS;
    e->raw = document->options.unknown_elements;
    if (!add_fields(e) || !add_agent(e, &document->options)) {
        ecs_discard(e);
        return NULL;
    }
    add_roles(e);
    add_reserve(e);
    return e;
}

void ecs_discard(void *compiled)
{
    struct ecs_plan *e = compiled;
    if (e) {
        free(e->agent);
        free(e->field);
        free(e->more);
        free(e->keys);
        free(e);
    }
}

size_t ecs_bytes(const struct plan *plan, const void *compiled)
{
    const struct ecs_plan *e = compiled;
    return sizeof *e + plan->n_fields * (sizeof *e->field + sizeof *e->more) + keys_size(plan) +
           e->agent_len;
}
