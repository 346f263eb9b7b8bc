// SPDX-License-Identifier: Apache-2.0
/*
 * --format text: one readable line a flow, for a terminal.
 *
 *     2016-12-25T12:58:35.819Z 192.0.2.1 tcp 10.0.0.1:51234 -> [2001:db8::1]:443 1234 B 5 pkt 1.250 s if 3>4
 *     2016-12-25T12:58:35.819Z 192.0.2.1 icmp 10.0.0.1 -> 10.0.0.2 type 8 code 0 84 B 1 pkt if 3>4
 *     2016-12-25T12:58:35.000Z 192.0.2.1 options scope.system=1 samplerName="core"
 *
 * The time is the flow's end, or what stands for it (document/time.h). What a flow lacks is left out. Strings come from
 * strangers: nothing that a terminal would obey or that would turn the line around reaches it.
 */
#include <stdlib.h>

#include "collector/document/compile.h"
#include "collector/document/time.h"
#include "collector/document/value.h"
#include "decoder/wire/cursor.h"

#define NOTHING            UINT16_MAX
#define MAX_FIXED          512

#define PROTOCOL_ICMP      1
#define PROTOCOL_TCP       6
#define PROTOCOL_UDP       17
#define PROTOCOL_IPV6_ICMP 58

enum role {
    ROLE_SOURCE,
    ROLE_DESTINATION,
    ROLE_SOURCE_PORT,
    ROLE_DESTINATION_PORT,
    ROLE_PROTOCOL,
    ROLE_OCTETS,
    ROLE_PACKETS,
    ROLE_INGRESS,
    ROLE_EGRESS,
    ROLE_ICMP_TYPE_CODE,
    ROLE_ICMP_TYPE,
    ROLE_ICMP_CODE,
    N_ROLES
};

/* IANA elements that can play a role, the preferred one first. */
static const uint16_t candidates[N_ROLES][4] = {
    [ROLE_SOURCE] = {8, 27, 56},
    [ROLE_DESTINATION] = {12, 28, 80},
    [ROLE_SOURCE_PORT] = {7, 180, 182},
    [ROLE_DESTINATION_PORT] = {11, 181, 183},
    [ROLE_PROTOCOL] = {4},
    [ROLE_OCTETS] = {1, 85, 231},
    [ROLE_PACKETS] = {2, 86, 298},
    [ROLE_INGRESS] = {10},
    [ROLE_EGRESS] = {14},
    [ROLE_ICMP_TYPE_CODE] = {32, 139},
    [ROLE_ICMP_TYPE] = {176, 178},
    [ROLE_ICMP_CODE] = {177, 179},
};

struct text {
    const struct plan *plan;      /* borrowed: we hang on it */
    size_t max_octets;            /* of a line, without values of variable length */
    uint16_t role[N_ROLES];       /* index in the plan, or NOTHING */
    uint16_t time[TIME_N_INPUTS]; /* the same */
};

static uint16_t find_field(const struct plan *plan, uint16_t id)
{
    for (uint16_t i = plan->n_fields;
         i-- > 0;) { /* the last of repeated ones: see role_of in ecs_compile.c */
        if (plan->field[i].pen == ELEMENT_PEN_IANA && plan->field[i].id == id &&
            !plan->field[i].scope) {
            return i;
        }
    }
    return NOTHING;
}

static void *text_compile(const struct document *document, const struct plan *plan)
{
    (void)document;
    struct text *text = calloc(1, sizeof(*text));
    if (!text) {
        return NULL;
    }
    text->plan = plan;
    text->max_octets = MAX_FIXED + WRITE_SLACK;
    for (unsigned role = 0; role < N_ROLES; role++) {
        text->role[role] = NOTHING;
        for (unsigned i = 0; i < 4 && candidates[role][i] && text->role[role] == NOTHING; i++) {
            text->role[role] = find_field(plan, candidates[role][i]);
        }
    }
    for (unsigned input = 0; input < TIME_N_INPUTS; input++) {
        text->time[input] = find_field(plan, time_input_element((enum time_input)input));
    }
    for (size_t i = 0; i < plan->n_fields; i++) {
        const struct plan_field *field = &plan->field[i];
        size_t len = field->length == PLAN_VARLEN ? 0 : field->length;
        text->max_octets += VALUE_MAX_NAME + 4 + value_max_text(value_op_of_field(field), len);
    }
    return text;
}

static size_t text_bytes(const struct plan *plan, const void *compiled)
{
    (void)plan;
    (void)compiled;
    return sizeof(struct text);
}

/* One record as the readers below see it. */
struct reader {
    const struct text *text;
    const struct decoder_records *records;
    const uint8_t *record;
    struct day_cache *days;
};

/* A field's octets and how they read; false when the template or the record has none. */
static bool read_field(const struct reader *r, uint16_t index, const uint8_t **octets,
                       enum plan_value *value)
{
    if (index == NOTHING || r->records->length[index] == 0) {
        return false;
    }
    *octets = r->record + r->records->offset[index];
    *value = plan_value_of(&r->text->plan->field[index], r->records->length[index]);
    return true;
}

/* Octets at s that must not reach a terminal: DEL, a C1 control (U+009B begins a control sequence as ESC [ does), a
 * mark of writing direction, or a line separator. The text is valid UTF-8 without C0 controls. */
static size_t forbidden(const uint8_t *s, size_t left)
{
    if (s[0] == 0x7f) {
        return 1;
    }
    if (left >= 2 && s[0] == 0xc2 && s[1] < 0xa0) {
        return 2;
    }
    if (left < 3 || s[0] != 0xe2) {
        return 0;
    }
    bool general = s[1] == 0x80 && (s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae));
    bool isolate = s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9;
    return general || isolate ? 3 : 0;
}

/* A string between quotes, with '?' for what is forbidden. */
static char *write_quoted(char *p, const uint8_t *octets, size_t len)
{
    *p++ = '"';
    const char *end = write_string(p, octets, len);
    for (const char *s = p; s < end;) {
        size_t n = forbidden((const uint8_t *)s, (size_t)(end - s));
        *p++ = *s;
        if (n) {
            p[-1] = '?';
        }
        s += n ? n : 1;
    }
    *p++ = '"';
    return p;
}

static char *write_field(char *p, const struct reader *r, size_t index)
{
    const struct plan_field *field = &r->text->plan->field[index];
    const uint8_t *octets = r->record + r->records->offset[index];
    size_t len = r->records->length[index];
    enum value_op op = value_op_of(plan_value_of(field, len), len);
    return op == VALUE_STRING ? write_quoted(p, octets, len)
                              : value_write(p, op, octets, len, r->days);
}

static bool date_ns(enum plan_value value, const uint8_t *octets, int64_t *ns)
{
    if (value == PLAN_SECONDS) {
        *ns = (int64_t)value_u32(octets) * WF_NS_PER_S;
        return true;
    }
    if (value == PLAN_MILLISECONDS && value_u64(octets) <= (uint64_t)VALUE_MAX_MS) {
        *ns = (int64_t)value_u64(octets) * WF_NS_PER_MS;
        return true;
    }
    if (value == PLAN_MICROSECONDS || value == PLAN_NANOSECONDS) {
        *ns = ntp_to_unix_ns(value_u64(octets));
        return true;
    }
    return false;
}

static struct time_result flow_times(const struct reader *r, bool live)
{
    const struct decoder_message *m = r->records->message;
    struct time_record times = {.has_uptime = m->has_uptime,
                                .uptime_ms = m->uptime_ms,
                                .export_ns = m->export_ns,
                                .live = live,
                                .received_ns = m->received_ns};
    for (unsigned input = 0; input < TIME_N_INPUTS; input++) {
        const uint8_t *octets;
        enum plan_value value;
        int64_t ns;
        if (!read_field(r, r->text->time[input], &octets, &value)) {
            continue;
        }
        if (value == PLAN_UNSIGNED) {
            uint64_t number = wire_unsigned(octets, r->records->length[r->text->time[input]]);
            time_record_set(&times, (enum time_input)input,
                            number > INT64_MAX ? INT64_MAX : (int64_t)number);
        } else if (date_ns(value, octets, &ns)) {
            time_record_set(&times, (enum time_input)input, ns);
        }
    }
    struct time_result result;
    time_resolve(&times, &result);
    return result;
}

/* The number in a role's field; false when there is none. */
static bool read_number(const struct reader *r, enum role role, uint64_t *number)
{
    const uint8_t *octets;
    enum plan_value value;
    uint16_t index = r->text->role[role];
    if (!read_field(r, index, &octets, &value) || value != PLAN_UNSIGNED) {
        return false;
    }
    *number = wire_unsigned(octets, r->records->length[index]);
    return true;
}

static char *write_protocol(char *p, uint64_t protocol)
{
    const char *name = protocol == PROTOCOL_TCP         ? " tcp"
                       : protocol == PROTOCOL_UDP       ? " udp"
                       : protocol == PROTOCOL_ICMP      ? " icmp"
                       : protocol == PROTOCOL_IPV6_ICMP ? " ipv6-icmp"
                                                        : NULL;
    if (name) {
        return write_text(p, name, strlen(name));
    }
    p = write_text(p, " proto ", 7);
    return write_u64(p, protocol);
}

/* Exporters without elements of its own for it put type and code into the destination port. */
static char *write_icmp(char *p, const struct reader *r)
{
    uint64_t type = 0;
    uint64_t code = 0;
    bool has_type = read_number(r, ROLE_ICMP_TYPE, &type);
    bool has_code = read_number(r, ROLE_ICMP_CODE, &code);
    uint64_t both = 0;
    if (!has_type && (read_number(r, ROLE_ICMP_TYPE_CODE, &both) ||
                      read_number(r, ROLE_DESTINATION_PORT, &both))) {
        has_type = true;
        has_code = true;
        type = both >> 8;
        code = both & 0xff;
    }
    if (has_type) {
        p = write_text(p, " type ", 6);
        p = write_u64(p, type);
    }
    if (has_code) {
        p = write_text(p, " code ", 6);
        p = write_u64(p, code);
    }
    return p;
}

/* address:port; an IPv6 address before a port in brackets. port N_ROLES: without. */
static char *write_endpoint(char *p, const struct reader *r, enum role address, enum role port)
{
    const uint8_t *octets;
    enum plan_value value;
    bool has_port = port != N_ROLES && read_field(r, r->text->role[port], &octets, &value);
    bool has_address = read_field(r, r->text->role[address], &octets, &value);
    bool brackets = has_address && value == PLAN_IPV6 && has_port;
    if (brackets) {
        *p++ = '[';
    }
    if (has_address) {
        p = write_field(p, r, r->text->role[address]);
    } else {
        *p++ = '*';
    }
    if (brackets) {
        *p++ = ']';
    }
    if (has_port) {
        *p++ = ':';
        p = write_field(p, r, r->text->role[port]);
    }
    return p;
}

static char *write_amount(char *p, const struct reader *r, enum role role, const char *unit)
{
    const uint8_t *octets;
    enum plan_value value;
    if (!read_field(r, r->text->role[role], &octets, &value)) {
        return p;
    }
    *p++ = ' ';
    p = write_field(p, r, r->text->role[role]);
    return write_text(p, unit, strlen(unit));
}

static char *write_interfaces(char *p, const struct reader *r)
{
    const uint8_t *octets;
    enum plan_value value;
    bool in = read_field(r, r->text->role[ROLE_INGRESS], &octets, &value);
    bool out = read_field(r, r->text->role[ROLE_EGRESS], &octets, &value);
    if (!in && !out) {
        return p;
    }
    p = write_text(p, " if ", 4);
    p = in ? write_field(p, r, r->text->role[ROLE_INGRESS]) : write_text(p, "*", 1);
    *p++ = '>';
    return out ? write_field(p, r, r->text->role[ROLE_EGRESS]) : write_text(p, "*", 1);
}

static char *write_duration(char *p, int64_t ns)
{
    uint64_t ms = (uint64_t)ns / WF_NS_PER_MS;
    *p++ = ' ';
    p = write_u64(p, ms / 1000);
    *p++ = '.';
    p = write_six_padded(p, (uint32_t)(ms % 1000) * 1000) - 3;
    return write_text(p, " s", 2);
}

static char *write_flow(char *p, const struct reader *r, const struct time_result *times)
{
    uint64_t protocol = 0;
    bool has_protocol = read_number(r, ROLE_PROTOCOL, &protocol);
    bool is_icmp = has_protocol && (protocol == PROTOCOL_ICMP || protocol == PROTOCOL_IPV6_ICMP);
    if (has_protocol) {
        p = write_protocol(p, protocol);
    }
    *p++ = ' ';
    p = write_endpoint(p, r, ROLE_SOURCE, is_icmp ? N_ROLES : ROLE_SOURCE_PORT);
    p = write_text(p, " -> ", 4);
    p = write_endpoint(p, r, ROLE_DESTINATION, is_icmp ? N_ROLES : ROLE_DESTINATION_PORT);
    if (is_icmp) {
        p = write_icmp(p, r);
    }
    p = write_amount(p, r, ROLE_OCTETS, " B");
    p = write_amount(p, r, ROLE_PACKETS, " pkt");
    if (times->has_duration) {
        p = write_duration(p, times->duration_ns);
    }
    return write_interfaces(p, r);
}

static char *write_options(char *p, const struct reader *r)
{
    const struct plan *plan = r->text->plan;
    p = write_text(p, " options", 8);
    for (size_t i = 0; i < plan->n_fields; i++) {
        char name[VALUE_MAX_NAME];
        size_t n = value_name(plan->version, &plan->field[i], true, name);
        *p++ = ' ';
        p = write_text(p, name, n);
        *p++ = '=';
        p = write_field(p, r, i);
    }
    return p;
}

static int text_write(struct document_writer *writer, void *compiled,
                      const struct decoder_records *records, int64_t now_ns, struct buffer *out)
{
    (void)now_ns;
    const struct text *text = compiled;
    bool live = !writer->document->options.replay;
    size_t worst = text->max_octets + (text->plan->fixed ? 0 : WRITE_MAX_STRING(records->stride));
    size_t was = out->len;
    for (size_t i = 0; i < records->n_records; i++) {
        struct reader r = {text, records, records->data + i * records->stride, &writer->days};
        struct time_result times = flow_times(&r, live);
        char *p = buffer_reserve(out, worst);
        if (!p) {
            out->len = was;
            return WF_E_NOMEM;
        }
        p = write_date(p, &writer->days, times.timestamp_ns, DATE_MILLIS);
        *p++ = ' ';
        p = write_addr(p, &records->message->exporter);
        p = text->plan->kind == PLAN_OPTIONS ? write_options(p, &r) : write_flow(p, &r, &times);
        *p++ = '\n';
        buffer_commit(out, p);
    }
    return (int)records->n_records;
}

const struct document_encoder document_text = {
    .compile = text_compile,
    .discard = free,
    .bytes = text_bytes,
    .write = text_write,
};
