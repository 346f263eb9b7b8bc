// SPDX-License-Identifier: Apache-2.0
#include "collector/document/mapping.h"

#include <string.h>

#define IANA ELEMENT_PEN_IANA
#define BACK ELEMENT_PEN_REVERSE

static const struct {
    uint8_t n;
    struct mapping_element element[MAPPING_MAX_ELEMENTS];
} roles[ROLE_TIME] = {
    [ROLE_SOURCE_IPV4] = {1, {{IANA, 8}}},
    [ROLE_SOURCE_IPV6] = {1, {{IANA, 27}}},
    [ROLE_SOURCE_PORT] = {1, {{IANA, 7}}},
    [ROLE_SOURCE_MAC] = {1, {{IANA, 56}}},
    [ROLE_DESTINATION_IPV4] = {1, {{IANA, 12}}},
    [ROLE_DESTINATION_IPV6] = {1, {{IANA, 28}}},
    [ROLE_DESTINATION_PORT] = {1, {{IANA, 11}}},
    [ROLE_DESTINATION_MAC] = {1, {{IANA, 80}}},
    [ROLE_BYTES] = {3, {{IANA, 1}, {IANA, 85}, {IANA, 231}}},
    [ROLE_PACKETS] = {3, {{IANA, 2}, {IANA, 86}, {IANA, 298}}},
    [ROLE_REVERSE_BYTES] = {3, {{BACK, 1}, {BACK, 85}, {IANA, 232}}},
    [ROLE_REVERSE_PACKETS] = {3, {{BACK, 2}, {BACK, 86}, {IANA, 299}}},
    [ROLE_PROTOCOL] = {1, {{IANA, 4}}},
    [ROLE_DIRECTION] = {1, {{IANA, 61}}},
    [ROLE_SSID] = {1, {{IANA, 147}}},
    [ROLE_BIFLOW] = {1, {{IANA, 239}}},
    [ROLE_STATION_IPV4] = {1, {{IANA, 366}}},
    [ROLE_STATION_MAC] = {1, {{IANA, 365}}},
    [ROLE_ACCESS_POINT_MAC] = {1, {{IANA, 367}}},
    [ROLE_ICMPV4] = {1, {{IANA, 32}}},
    [ROLE_ICMPV6] = {1, {{IANA, 139}}},
    [ROLE_ICMPV4_TYPE] = {1, {{IANA, 176}}},
    [ROLE_ICMPV4_CODE] = {1, {{IANA, 177}}},
    [ROLE_ICMPV6_TYPE] = {1, {{IANA, 178}}},
    [ROLE_ICMPV6_CODE] = {1, {{IANA, 179}}},
};

size_t mapping_role_elements(enum mapping_role role,
                             struct mapping_element elements[MAPPING_MAX_ELEMENTS])
{
    if (role >= ROLE_TIME) {
        enum time_input input = (enum time_input)(role - ROLE_TIME);
        elements[0] = (struct mapping_element){IANA, time_input_element(input)};
        return 1;
    }
    for (size_t i = 0; i < roles[role].n; i++) {
        elements[i] = roles[role].element[i];
    }
    return roles[role].n;
}

/* clang-format off */
#define FLOW(path, type, r1, r2, from, when)    {path, type, false, false, {r1, r2}, from, when}
#define FLOW_ARRAY(path, type, from, when)      {path, type, true, false, {ROLE_NONE, ROLE_NONE}, from, when}
#define BOTH(path, type, from, when)            {path, type, false, true, {ROLE_NONE, ROLE_NONE}, from, when}
#define BOTH_ARRAY(path, type, from, when)      {path, type, true, true, {ROLE_NONE, ROLE_NONE}, from, when}
#define RULE(path, type, from, when)            FLOW(path, type, ROLE_NONE, ROLE_NONE, from, when)

static const struct mapping_row rows[] = {
    BOTH("@timestamp", "date", "the end of the flow (see Times), milliseconds", ""),
    BOTH("ecs.version", "keyword", "`8.11.0`", ""),
    BOTH("input.type", "keyword", "`netflow`", ""),
    BOTH("data_stream.type", "constant_keyword", "`logs`", ""),
    BOTH("data_stream.dataset", "constant_keyword", "`netflow.log`", ""),
    BOTH("data_stream.namespace", "constant_keyword", "`default`", ""),
    BOTH_ARRAY("tags", "keyword", "`netflow`, `forwarded`", ""),
    BOTH("agent.ephemeral_id", "keyword", "a UUID of this run", "not in a replay"),
    BOTH("agent.id", "keyword", "the same", "not in a replay"),
    BOTH("agent.name", "keyword", "name of this host", "not in a replay"),
    BOTH("agent.type", "keyword", "`whoflow`", "not in a replay"),
    BOTH("agent.version", "keyword", "version of whoflow", "not in a replay"),
    BOTH("host.name", "keyword", "name of this host", "not in a replay"),
    BOTH_ARRAY("observer.ip", "ip", "address that the datagram came from", ""),
    BOTH("event.kind", "keyword", "`event`", ""),
    BOTH("event.action", "keyword", "`netflow_flow`, `netflow_options`", ""),
    FLOW_ARRAY("event.type", "keyword", "`connection`", ""),
    BOTH("event.created", "date", "when the datagram was received (replay: when the capture has it)", ""),
    BOTH("event.ingested", "date", "when the document was written", "not in a replay"),
    BOTH_ARRAY("event.category", "keyword", "`network`; `network`, `session` with biflowDirection (239)", ""),
    RULE("event.start", "date", "see Times", "a start is known"),
    RULE("event.end", "date", "see Times", "an end is known"),
    RULE("event.duration", "long", "nanoseconds, see Times", "known"),
    FLOW("source.ip", "ip", ROLE_SOURCE_IPV4, ROLE_SOURCE_IPV6, "the IPv6 address when the IPv4 address is 0.0.0.0 and it is not ::; else the wireless station's (366, see below)", "sent"),
    RULE("source.locality", "keyword", "`internal`, `external`", "with source.ip"),
    FLOW("source.port", "long", ROLE_SOURCE_PORT, ROLE_NONE, "", "sent"),
    FLOW("source.mac", "keyword", ROLE_SOURCE_MAC, ROLE_STATION_MAC, "", "sent"),
    FLOW("source.bytes", "long", ROLE_BYTES, ROLE_NONE, "", "sent"),
    FLOW("source.packets", "long", ROLE_PACKETS, ROLE_NONE, "", "sent"),
    FLOW("destination.ip", "ip", ROLE_DESTINATION_IPV4, ROLE_DESTINATION_IPV6, "as source.ip", "sent"),
    RULE("destination.locality", "keyword", "`internal`, `external`", "with destination.ip"),
    FLOW("destination.port", "long", ROLE_DESTINATION_PORT, ROLE_NONE, "", "sent"),
    FLOW("destination.mac", "keyword", ROLE_DESTINATION_MAC, ROLE_ACCESS_POINT_MAC, "", "sent"),
    FLOW("destination.bytes", "long", ROLE_REVERSE_BYTES, ROLE_NONE, "", "sent"),
    FLOW("destination.packets", "long", ROLE_REVERSE_PACKETS, ROLE_NONE, "", "sent"),
    FLOW("network.bytes", "long", ROLE_BYTES, ROLE_REVERSE_BYTES, "the sum", "one is sent"),
    FLOW("network.packets", "long", ROLE_PACKETS, ROLE_REVERSE_PACKETS, "the sum", "one is sent"),
    FLOW("network.transport", "keyword", ROLE_PROTOCOL, ROLE_NONE, "`icmp`, `tcp`, `udp`, `ipv6-icmp`, else `unknown (N)`", "sent"),
    FLOW("network.iana_number", "keyword", ROLE_PROTOCOL, ROLE_NONE, "as text", "sent"),
    RULE("network.community_id", "keyword", "Community ID 1, seed 0; ICMP by type and code: icmpTypeCodeIPv4 (32), icmpTypeCodeIPv6 (139), 176-179, else the destination port", "protocol and both addresses are known"),
    FLOW("network.direction", "keyword", ROLE_DIRECTION, ROLE_NONE, "by locality `inbound`, `outbound`, `internal`, `external`; when one is not known by element 61 `inbound` (0), `outbound` (1), `unknown (N)`, else `unknown`", ""),
    RULE("network.type", "keyword", "`ipv4`, `ipv6`; an array of both when the record has addresses of both", "an address is sent"),
    FLOW("network.name", "keyword", ROLE_SSID, ROLE_NONE, "", "sent"),
    RULE("flow.id", "keyword", "XXH64 of addresses, ports and protocol, base64url: Filebeat's", ""),
    RULE("flow.locality", "keyword", "`internal` when both sides are, or are not known, else `external`", ""),
    FLOW_ARRAY("related.ip", "ip", "source.ip, destination.ip: unique, sorted by octets", "one is known"),
    FLOW("client", "object", ROLE_BIFLOW, ROLE_NONE, "a copy of source", "biflowDirection is sent"),
    FLOW("server", "object", ROLE_BIFLOW, ROLE_NONE, "a copy of destination", "biflowDirection is sent"),
    BOTH("netflow.type", "keyword", "as event.action", ""),
    BOTH("netflow.exporter.address", "keyword", "`192.0.2.1:2055`, `[2001:db8::1]:2055`", ""),
    BOTH("netflow.exporter.source_id", "long", "source id (v9), observation domain (IPFIX), engine type × 256 + engine id (v5), else 0", ""),
    BOTH("netflow.exporter.timestamp", "date", "export time of the message", ""),
    BOTH("netflow.exporter.uptime_millis", "long", "sysUptime of the message, 0 for IPFIX", ""),
    BOTH("netflow.exporter.version", "long", "1, 5, 7, 9, 10", ""),
    BOTH("whoflow.time.source", "keyword", "where @timestamp comes from: the element's name, `export_time`, `receive_time`", ""),
    BOTH("whoflow.clamped", "boolean", "true", "a value was too large for its Elasticsearch type and stands as the largest one"),
};
/* clang-format on */

const struct mapping_row *mapping_rows(size_t *n_rows)
{
    *n_rows = sizeof rows / sizeof rows[0];
    return rows;
}

#define PEN_NETSCALER 5951
#define PEN_VMWARE    6876

/* By (pen, id). */
static const struct mapping_rename renames[] = {
    {9, 9252, "waasoptimization_segment"},
    {9, 9268, "art_count_retransmissions"},
    {9, 9272, "art_count_transactions"},
    {9, 9273, "art_total_transaction_time_sum"},
    {9, 9274, "art_total_transaction_time_maximum"},
    {9, 9275, "art_total_transaction_time_minimum"},
    {9, 9292, "art_count_responses"},
    {9, 9293, "art_count_responses_histogram_bucket1"},
    {9, 9294, "art_count_responses_histogram_bucket2"},
    {9, 9295, "art_count_responses_histogram_bucket3"},
    {9, 9296, "art_count_responses_histogram_bucket4"},
    {9, 9297, "art_count_responses_histogram_bucket5"},
    {9, 9298, "art_count_responses_histogram_bucket6"},
    {9, 9299, "art_count_responses_histogram_bucket7"},
    {9, 9300, "art_count_late_responses"},
    {9, 9303, "art_response_time_sum"},
    {9, 9304, "art_response_time_maximum"},
    {9, 9305, "art_response_time_minimum"},
    {9, 9306, "art_server_response_time_sum"},
    {9, 9307, "art_server_response_time_maximum"},
    {9, 9308, "art_server_response_time_minimum"},
    {9, 9309, "art_total_response_time_sum"},
    {9, 9310, "art_total_response_time_maximum"},
    {9, 9311, "art_total_response_time_minimum"},
    {9, 9313, "art_network_time_sum"},
    {9, 9314, "art_network_time_maximum"},
    {9, 9315, "art_network_time_minimum"},
    {9, 9316, "art_client_network_time_sum"},
    {9, 9317, "art_client_network_time_maximum"},
    {9, 9318, "art_client_network_time_minimum"},
    {9, 9319, "art_server_network_time_sum"},
    {9, 9320, "art_server_network_time_maximum"},
    {9, 9321, "art_server_network_time_minimum"},
    {ELEMENT_PEN_NETFLOW9, 40000, "asa_username"},
    {ELEMENT_PEN_NETFLOW9, 40001, "asa_xlate_src_addr_ipv4"},
    {ELEMENT_PEN_NETFLOW9, 40002, "asa_xlate_dst_addr_ipv4"},
    {ELEMENT_PEN_NETFLOW9, 40003, "asa_xlate_src_port"},
    {ELEMENT_PEN_NETFLOW9, 40004, "asa_xlate_dst_port"},
    {ELEMENT_PEN_NETFLOW9, 40005, "asa_fw_event"},
};

const struct mapping_rename *mapping_renames(size_t *n_renames)
{
    *n_renames = sizeof renames / sizeof renames[0];
    return renames;
}

struct mapping_name mapping_member_name(const struct element *element)
{
    for (size_t i = 0; i < sizeof renames / sizeof renames[0]; i++) {
        if (renames[i].pen == element->pen && renames[i].id == element->id) {
            return (struct mapping_name){"", renames[i].name};
        }
    }
    if (element->pen == PEN_NETSCALER && strncmp(element->snake, "netscaler_", 10) != 0) {
        return (struct mapping_name){"netscaler_", element->snake};
    }
    if (element->pen == PEN_VMWARE) {
        return (struct mapping_name){"vmware_", element->snake};
    }
    return (struct mapping_name){"", element->snake};
}

bool mapping_is_acl(const struct element *element)
{
    return element->pen == ELEMENT_PEN_NETFLOW9 && (element->id == 33000 || element->id == 33001);
}

const char *mapping_element_type(const struct element *element)
{
    switch ((enum element_type)element->type) {
    case ELEMENT_OCTETS:
        return mapping_is_acl(element) ? "keyword" : "short";
    case ELEMENT_UNSIGNED8:
    case ELEMENT_UNSIGNED16:
    case ELEMENT_UNSIGNED32:
    case ELEMENT_UNSIGNED64:
    case ELEMENT_SIGNED8:
    case ELEMENT_SIGNED16:
    case ELEMENT_SIGNED32:
    case ELEMENT_SIGNED64:
        return "long";
    case ELEMENT_FLOAT32:
    case ELEMENT_FLOAT64:
        return "double";
    case ELEMENT_BOOLEAN:
        return "boolean";
    case ELEMENT_SECONDS:
    case ELEMENT_MILLISECONDS:
    case ELEMENT_MICROSECONDS:
    case ELEMENT_NANOSECONDS:
        return "date";
    case ELEMENT_IPV4:
    case ELEMENT_IPV6:
        return "ip";
    case ELEMENT_MAC:
    case ELEMENT_STRING:
    case ELEMENT_BASIC_LIST:
    case ELEMENT_SUB_TEMPLATE_LIST:
    case ELEMENT_SUB_TEMPLATE_MULTI_LIST:
        break;
    }
    return "keyword";
}
