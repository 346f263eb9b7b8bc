// SPDX-License-Identifier: Apache-2.0
/*
 * source, destination, network, flow, related, client and server of one flow, as Filebeat and its ingest pipeline fill
 * them. Each side is gathered first, because the wireless fields, the biflow direction and the ids need both.
 */
#include <string.h>

#include "collector/document/ecs.h"
#include "enrich/ids/ids.h"

#define BIFLOW_REVERSE_INITIATOR 2
#define PROTOCOL_ICMP            1
#define PROTOCOL_ICMPV6          58

struct side {
    struct wf_addr ip; /* family 0 = not known */
    bool internal;
    bool has_port, has_bytes, has_packets;
    uint64_t port, bytes, packets; /* counts are 0 when not known */
    const uint8_t *mac;            /* NULL = not known */
    char *text; /* where its members stand in the document, for client and server */
    size_t text_len;
    char ip_text[WRITE_MAX_IPV6 + WRITE_SLACK];
    size_t ip_len;
};

struct flow {
    struct side source, destination;
    struct flow_key key;
    bool has_v4, has_v6; /* the record has addresses of this family */
    bool has_protocol, has_direction;
    uint64_t protocol, direction;
};

static bool is_zero(const struct wf_addr *addr)
{
    uint64_t half[2];
    memcpy(half, addr->bytes, sizeof half);
    return (half[0] | half[1]) == 0;
}

/* An exporter with one template for both families leaves the other address zero. */
static void gather_ip(struct ecs_record *record, struct flow *flow, struct side *side,
                      enum mapping_role v4, enum mapping_role v6)
{
    const uint8_t *octets = ecs_role_octets(record, v4, ECS_IPV4, NULL);
    bool taken = octets;
    if (octets) {
        flow->has_v4 = true;
        side->ip = (struct wf_addr){.family = 4};
        memcpy(side->ip.bytes, octets, 4);
        taken = !is_zero(&side->ip);
    }
    const uint8_t *octets6 = ecs_role_octets(record, v6, ECS_IPV6, NULL);
    if (!octets6) {
        return;
    }
    flow->has_v6 = true;
    struct wf_addr ip = {.family = 6};
    memcpy(ip.bytes, octets6, 16);
    if (!taken && (!octets || !is_zero(&ip))) {
        side->ip = ip;
    }
}

/* A wireless controller tells station and access point, and by the direction which one sends. */
static void gather_wireless(struct ecs_record *record, struct flow *flow)
{
    const uint8_t *station = ecs_role_octets(record, ROLE_STATION_MAC, ECS_MAC, NULL);
    const uint8_t *point = ecs_role_octets(record, ROLE_ACCESS_POINT_MAC, ECS_MAC, NULL);
    if (!flow->has_direction || !station || !point) {
        return;
    }
    bool outbound = flow->direction == 1;
    struct side *sender = outbound ? &flow->destination : &flow->source;
    struct side *receiver = outbound ? &flow->source : &flow->destination;
    sender->mac = station;
    receiver->mac = point;
    const uint8_t *ip = ecs_role_octets(record, ROLE_STATION_IPV4, ECS_IPV4, NULL);
    if (ip) {
        sender->ip = (struct wf_addr){.family = 4};
        memcpy(sender->ip.bytes, ip, 4);
    }
}

static void gather_mac(struct ecs_record *record, struct side *side, enum mapping_role role)
{
    const uint8_t *mac = ecs_role_octets(record, role, ECS_MAC, NULL);
    if (mac) {
        side->mac = mac;
    }
}

static bool take(uint64_t value, uint8_t *out)
{
    *out = (uint8_t)value;
    return true;
}

/* Type and code, from the elements of the protocol's own version first. The destination port holds both in what Cisco
 * and all who copied it send. */
static void gather_icmp(struct ecs_record *record, struct flow *flow)
{
    static const enum mapping_role both[2] = {ROLE_ICMPV4, ROLE_ICMPV6};
    static const enum mapping_role type[2] = {ROLE_ICMPV4_TYPE, ROLE_ICMPV6_TYPE};
    if (flow->protocol != PROTOCOL_ICMP && flow->protocol != PROTOCOL_ICMPV6) {
        return;
    }
    unsigned first = flow->protocol == PROTOCOL_ICMPV6;
    struct flow_key *key = &flow->key;
    for (unsigned i = 0; i < 2 && !key->has_icmp; i++) {
        uint64_t value;
        uint64_t code;
        unsigned version = first ^ i;
        if (ecs_role_unsigned(record, both[version], &value)) {
            key->has_icmp = take(value >> 8, &key->icmp_type) && take(value, &key->icmp_code);
        } else if (ecs_role_unsigned(record, type[version], &value)) {
            bool has_code = ecs_role_unsigned(record, type[version] + 1, &code);
            key->has_icmp =
                take(value, &key->icmp_type) && take(has_code ? code : 0, &key->icmp_code);
        }
    }
    if (!key->has_icmp && flow->destination.has_port) {
        key->has_icmp = take(flow->destination.port >> 8, &key->icmp_type) &&
                        take(flow->destination.port, &key->icmp_code);
    }
}

static void gather_counts(struct ecs_record *record, struct flow *flow)
{
    struct side *s = &flow->source;
    struct side *d = &flow->destination;
    s->bytes = s->packets = d->bytes = d->packets = 0;
    s->has_bytes = ecs_role_unsigned(record, ROLE_BYTES, &s->bytes);
    s->has_packets = ecs_role_unsigned(record, ROLE_PACKETS, &s->packets);
    d->has_bytes = ecs_role_unsigned(record, ROLE_REVERSE_BYTES, &d->bytes);
    d->has_packets = ecs_role_unsigned(record, ROLE_REVERSE_PACKETS, &d->packets);
}

static void finish_side(struct side *side, const struct locality *locality)
{
    side->internal = true; /* an address that is not known counts as 0.0.0.0 */
    side->ip_len = 0;
    if (side->ip.family) {
        side->internal = locality_is_internal(locality, &side->ip);
        side->ip_len = (size_t)(write_addr(side->ip_text, &side->ip) - side->ip_text);
    }
}

static void gather(struct ecs_record *record, const struct locality *locality, struct flow *flow)
{
    struct side *s = &flow->source;
    struct side *d = &flow->destination;
    s->ip.family = d->ip.family = 0;
    s->mac = d->mac = NULL;
    flow->has_v4 = flow->has_v6 = false;
    flow->has_protocol = ecs_role_unsigned(record, ROLE_PROTOCOL, &flow->protocol);
    flow->has_direction = ecs_role_unsigned(record, ROLE_DIRECTION, &flow->direction);
    gather_wireless(record, flow);
    gather_ip(record, flow, s, ROLE_SOURCE_IPV4, ROLE_SOURCE_IPV6);
    gather_ip(record, flow, d, ROLE_DESTINATION_IPV4, ROLE_DESTINATION_IPV6);
    gather_mac(record, s, ROLE_SOURCE_MAC);
    gather_mac(record, d, ROLE_DESTINATION_MAC);
    s->has_port = ecs_role_unsigned(record, ROLE_SOURCE_PORT, &s->port);
    d->has_port = ecs_role_unsigned(record, ROLE_DESTINATION_PORT, &d->port);
    gather_counts(record, flow);
    finish_side(s, locality);
    finish_side(d, locality);
    flow->key = (struct flow_key){
        .source = s->ip,
        .destination = d->ip,
        .source_port = s->has_port ? (uint16_t)s->port : 0,
        .destination_port = d->has_port ? (uint16_t)d->port : 0,
        .protocol = flow->has_protocol ? (uint8_t)flow->protocol : 0,
    };
    if (flow->has_protocol) {
        gather_icmp(record, flow);
    }
}

/* ,"name":number without the comma; it comes behind. */
#define NUMBER(p, name, value)                                                                     \
    (ECS_TEXT(p, "\"" name "\":"), (p) = write_u64((p), (value)), *(p)++ = ',')

/* The members, then the closing brace and a comma; p unchanged when the side has none. */
static char *write_side(char *p, struct ecs_record *record, struct side *side, const char *name,
                        size_t name_len)
{
    char *start = p;
    p = write_text(p, name, name_len);
    side->text = p;
    if (side->ip.family) {
        ECS_TEXT(p, "\"ip\":\"");
        p = write_text(p, side->ip_text, side->ip_len);
        if (side->internal) {
            ECS_TEXT(p, "\",\"locality\":\"internal\",");
        } else {
            ECS_TEXT(p, "\",\"locality\":\"external\",");
        }
    }
    if (side->has_port) {
        NUMBER(p, "port", ecs_clamp(record, side->port));
    }
    if (side->mac) {
        ECS_TEXT(p, "\"mac\":\"");
        p = write_mac(p, side->mac);
        ECS_TEXT(p, "\",");
    }
    if (side->has_bytes) {
        NUMBER(p, "bytes", ecs_clamp(record, side->bytes));
    }
    if (side->has_packets) {
        NUMBER(p, "packets", ecs_clamp(record, side->packets));
    }
    if (p == side->text) {
        side->text_len = 0;
        return start;
    }
    p[-1] = '}';
    *p++ = ',';
    side->text_len = (size_t)(p - side->text);
    return p;
}

static char *write_sum(char *p, struct ecs_record *record, uint64_t one, uint64_t other)
{
    uint64_t sum;
    if (__builtin_add_overflow(one, other, &sum)) {
        sum = UINT64_MAX;
    }
    p = write_u64(p, ecs_clamp(record, sum));
    *p++ = ',';
    return p;
}

static char *write_protocol(char *p, struct ecs_record *record, uint64_t protocol)
{
    switch (protocol) {
    case PROTOCOL_ICMP:
        return ECS_TEXT(p, "\"transport\":\"icmp\",\"iana_number\":\"1\",");
    case 6:
        return ECS_TEXT(p, "\"transport\":\"tcp\",\"iana_number\":\"6\",");
    case 17:
        return ECS_TEXT(p, "\"transport\":\"udp\",\"iana_number\":\"17\",");
    case PROTOCOL_ICMPV6:
        return ECS_TEXT(p, "\"transport\":\"ipv6-icmp\",\"iana_number\":\"58\",");
    default:
        protocol = ecs_clamp(record, protocol);
        ECS_TEXT(p, "\"transport\":\"unknown (");
        p = write_u64(p, protocol);
        ECS_TEXT(p, ")\",\"iana_number\":\"");
        p = write_u64(p, protocol);
        return ECS_TEXT(p, "\",");
    }
}

/* After the sides were swapped: first is what source became. */
static char *write_direction(char *p, const struct flow *flow, const struct side *first,
                             const struct side *second)
{
    if (first->ip.family && second->ip.family) {
        switch (locality_direction_of(first->internal, second->internal)) {
        case LOCALITY_INBOUND:
            return ECS_TEXT(p, "\"direction\":\"inbound\",");
        case LOCALITY_OUTBOUND:
            return ECS_TEXT(p, "\"direction\":\"outbound\",");
        case LOCALITY_INTERNAL:
            return ECS_TEXT(p, "\"direction\":\"internal\",");
        case LOCALITY_EXTERNAL:
            return ECS_TEXT(p, "\"direction\":\"external\",");
        }
    }
    if (!flow->has_direction) {
        return ECS_TEXT(p, "\"direction\":\"unknown\",");
    }
    if (flow->direction == 0) {
        return ECS_TEXT(p, "\"direction\":\"inbound\",");
    }
    if (flow->direction == 1) {
        return ECS_TEXT(p, "\"direction\":\"outbound\",");
    }
    ECS_TEXT(p, "\"direction\":\"unknown (");
    p = write_u64(p, flow->direction);
    return ECS_TEXT(p, ")\",");
}

static char *write_community_id(char *p, const struct flow *flow)
{
    char *start = p;
    ECS_TEXT(p, "\"community_id\":\"");
    if (!flow->has_protocol || community_id_write(&flow->key, p) < 0) {
        return start;
    }
    p += COMMUNITY_ID_LEN;
    return ECS_TEXT(p, "\",");
}

static char *write_network(char *p, struct ecs_record *record, const struct flow *flow,
                           const struct side *first, const struct side *second)
{
    const struct side *s = &flow->source;
    const struct side *d = &flow->destination;
    ECS_TEXT(p, "\"network\":{");
    if (s->has_bytes || d->has_bytes) {
        ECS_TEXT(p, "\"bytes\":");
        p = write_sum(p, record, s->bytes, d->bytes);
    }
    if (s->has_packets || d->has_packets) {
        ECS_TEXT(p, "\"packets\":");
        p = write_sum(p, record, s->packets, d->packets);
    }
    if (flow->has_protocol) {
        p = write_protocol(p, record, flow->protocol);
    }
    p = write_community_id(p, flow);
    p = write_direction(p, flow, first, second);
    if (flow->has_v4 && flow->has_v6) {
        ECS_TEXT(p, "\"type\":[\"ipv4\",\"ipv6\"],");
    } else if (flow->has_v4) {
        ECS_TEXT(p, "\"type\":\"ipv4\",");
    } else if (flow->has_v6) {
        ECS_TEXT(p, "\"type\":\"ipv6\",");
    }
    size_t len;
    const uint8_t *ssid = ecs_role_octets(record, ROLE_SSID, ECS_STRING, &len);
    if (ssid && len) {
        ECS_TEXT(p, "\"name\":\"");
        p = write_string(p, ssid, len);
        ECS_TEXT(p, "\",");
    }
    p[-1] = '}';
    *p++ = ',';
    return p;
}

static char *write_flow_ids(char *p, const struct flow *flow)
{
    ECS_TEXT(p, "\"flow\":{\"id\":\"");
    flow_id_write(&flow->key, p);
    p += FLOW_ID_LEN;
    if (flow->source.internal && flow->destination.internal) {
        return ECS_TEXT(p, "\",\"locality\":\"internal\"},");
    }
    return ECS_TEXT(p, "\",\"locality\":\"external\"},");
}

/* By octets; of two families the shorter address first where they agree. */
static int compare_ips(const struct wf_addr *a, const struct wf_addr *b)
{
    if (a->family == b->family) {
        return memcmp(a->bytes, b->bytes, sizeof a->bytes);
    }
    int order = memcmp(a->bytes, b->bytes, 4);
    return order ? order : (int)a->family - (int)b->family;
}

static char *write_related(char *p, const struct flow *flow)
{
    const struct side *low = &flow->source;
    const struct side *high = &flow->destination;
    if (!low->ip.family || !high->ip.family) {
        low = low->ip.family ? low : high;
        high = NULL;
    } else {
        int order = compare_ips(&low->ip, &high->ip);
        if (order > 0) {
            low = &flow->destination;
            high = &flow->source;
        } else if (order == 0) {
            high = NULL;
        }
    }
    if (!low->ip.family) {
        return p;
    }
    ECS_TEXT(p, "\"related\":{\"ip\":[\"");
    p = write_text(p, low->ip_text, low->ip_len);
    if (high) {
        ECS_TEXT(p, "\",\"");
        p = write_text(p, high->ip_text, high->ip_len);
    }
    return ECS_TEXT(p, "\"]},");
}

bool ecs_is_session(const struct ecs_record *record)
{
    uint64_t biflow;
    return ecs_role_unsigned(record, ROLE_BIFLOW, &biflow);
}

static bool has_members(const struct side *side)
{
    return side->ip.family || side->mac || side->has_port || side->has_bytes || side->has_packets;
}

char *ecs_write_flow(char *p, struct ecs_record *record, const struct locality *locality)
{
    struct flow flow;
    gather(record, locality, &flow);
    struct side *first = &flow.source;
    struct side *second = &flow.destination;
    uint64_t biflow = 0;
    bool session = ecs_role_unsigned(record, ROLE_BIFLOW, &biflow) && has_members(first) &&
                   has_members(second);
    if (session && biflow == BIFLOW_REVERSE_INITIATOR) {
        first = &flow.destination;
        second = &flow.source;
    }
    p = write_side(p, record, first, "\"source\":{", sizeof "\"source\":{" - 1);
    p = write_side(p, record, second, "\"destination\":{", sizeof "\"destination\":{" - 1);
    p = write_network(p, record, &flow, first, second);
    p = write_flow_ids(p, &flow);
    p = write_related(p, &flow);
    if (session) {
        ECS_TEXT(p, "\"client\":{");
        p = write_text(p, first->text, first->text_len);
        ECS_TEXT(p, "\"server\":{");
        p = write_text(p, second->text, second->text_len);
    }
    return p;
}
