// SPDX-License-Identifier: Apache-2.0
/* Documents of --format ecs, from datagrams that the decoder decoded. */
#include "tests/unit/ecs_harness.h"

static const struct document_options replay = {.replay = true};
static const struct document_options replay_unknown = {.replay = true, .unknown_elements = true};

#define FIELDS(array) (array), sizeof(array) / sizeof((array)[0])

/* An IPFIX message with one template of these fields; the caller adds the record's octets and ends it. */
static void begin_ipfix(struct build *b, const uint16_t (*fields)[2], size_t n)
{
    build_ipfix(b, HARNESS_EXPORT_S, 1, 7);
    build_set(b, 2);
    build_template(b, 256, fields, n);
    build_set(b, 256);
}

static void begin_v9(struct build *b, const uint16_t (*fields)[2], size_t n)
{
    build_v9(b, HARNESS_EXPORT_S, 100000, 1, 7);
    build_set(b, 0);
    build_template(b, 256, fields, n);
    build_set(b, 256);
}

static void build_ip(struct build *b, uint8_t a, uint8_t c, uint8_t d, uint8_t e)
{
    const uint8_t octets[4] = {a, c, d, e};
    build_octets(b, octets, 4);
}

static const uint16_t v4_flow[][2] = {{8, 4}, {12, 4}, {7, 2},  {11, 2}, {4, 1},  {1, 4},
                                      {2, 4}, {22, 4}, {21, 4}, {61, 1}, {56, 6}, {80, 6}};

static void build_v4_flow(struct build *b)
{
    build_ip(b, 10, 0, 0, 1);
    build_ip(b, 203, 0, 113, 9);
    build_u16(b, 49152);
    build_u16(b, 443);
    build_u8(b, 6);
    build_u32(b, 1500);
    build_u32(b, 3);
    build_u32(b, 90000);
    build_u32(b, 99500);
    build_u8(b, 1);
    build_octets(b, "\x00\x1b\x21\xaa\xbb\xcc", 6);
    build_octets(b, "\x02\x00\x00\x00\x00\x01", 6);
}

static void a_v9_flow_is_filebeats_document(void)
{
    struct harness h;
    struct build b;
    harness_open(&h, &replay);
    begin_v9(&b, FIELDS(v4_flow));
    build_v4_flow(&b);
    build_end(&b);
    CU_ASSERT_EQUAL(harness_feed(&h, &b), 1);
    CU_ASSERT_STRING_EQUAL(
        h.out.data,
        "{\"@timestamp\":\"2016-12-25T12:58:34.500Z\",\"ecs\":{\"version\":\"8.11.0\"},"
        "\"input\":{\"type\":\"netflow\"},\"data_stream\":{\"type\":\"logs\",\"dataset\":"
        "\"netflow.log\",\"namespace\":\"default\"},\"tags\":[\"netflow\",\"forwarded\"],"
        "\"observer\":{\"ip\":[\"192.0.2.1\"]},\"event\":{\"kind\":\"event\",\"action\":"
        "\"netflow_flow\",\"type\":[\"connection\"],\"created\":\"2016-12-25T12:58:40.250Z\","
        "\"category\":[\"network\"],\"start\":\"2016-12-25T12:58:25.000Z\",\"end\":"
        "\"2016-12-25T12:58:34.500Z\",\"duration\":9500000000},"
        "\"source\":{\"ip\":\"10.0.0.1\",\"locality\":\"internal\",\"port\":49152,\"mac\":"
        "\"00-1B-21-AA-BB-CC\",\"bytes\":1500,\"packets\":3},"
        "\"destination\":{\"ip\":\"203.0.113.9\",\"locality\":\"external\",\"port\":443,\"mac\":"
        "\"02-00-00-00-00-01\"},"
        "\"network\":{\"bytes\":1500,\"packets\":3,\"transport\":\"tcp\",\"iana_number\":\"6\","
        "\"community_id\":\"1:xU2lNMS1gqlqwxqyNqUdfdw9CLk=\",\"direction\":\"outbound\",\"type\":"
        "\"ipv4\"},"
        "\"flow\":{\"id\":\"_l6uQBi_8EM\",\"locality\":\"external\"},"
        "\"related\":{\"ip\":[\"10.0.0.1\",\"203.0.113.9\"]},"
        "\"netflow\":{\"type\":\"netflow_flow\",\"exporter\":{\"address\":\"192.0.2.1:50000\","
        "\"source_id\":7,\"timestamp\":\"2016-12-25T12:58:35.000Z\",\"uptime_millis\":100000,"
        "\"version\":9},\"source_ipv4_address\":\"10.0.0.1\",\"destination_ipv4_address\":"
        "\"203.0.113.9\",\"source_transport_port\":49152,\"destination_transport_port\":443,"
        "\"protocol_identifier\":6,\"octet_delta_count\":1500,\"packet_delta_count\":3,"
        "\"flow_start_sys_up_time\":90000,\"flow_end_sys_up_time\":99500,\"flow_direction\":1,"
        "\"source_mac_address\":\"00-1B-21-AA-BB-CC\",\"destination_mac_address\":"
        "\"02-00-00-00-00-01\"},\"whoflow\":{\"time\":{\"source\":\"flow_end_sys_up_time\"}}}\n");
    harness_close(&h);
}

static void every_record_of_a_run_is_a_line(void)
{
    struct harness h;
    struct build b;
    harness_open(&h, &replay);
    begin_v9(&b, FIELDS(v4_flow));
    for (int i = 0; i < 20; i++) {
        build_v4_flow(&b);
    }
    build_end(&b);
    CU_ASSERT_EQUAL(harness_feed(&h, &b), 20);
    EXPECT_LINE(&h, 19, "source.ip", "\"10.0.0.1\"");
    harness_close(&h);
}

static void a_live_document_names_agent_and_host(void)
{
    static const struct document_options live = {
        .host_name = "edge\"1", .agent_id = "5fd1a4a2-0000-4000-8000-000000000001"};
    struct harness h;
    struct build b;
    harness_open(&h, &live);
    h.now_ns = HARNESS_RECEIVED_NS + 500 * WF_NS_PER_MS;
    begin_v9(&b, FIELDS(v4_flow));
    build_v4_flow(&b);
    build_end(&b);
    CU_ASSERT_EQUAL(harness_feed(&h, &b), 1);
    EXPECT(&h, "agent.id", "\"5fd1a4a2-0000-4000-8000-000000000001\"");
    EXPECT(&h, "agent.ephemeral_id", "\"5fd1a4a2-0000-4000-8000-000000000001\"");
    EXPECT(&h, "agent.name", "\"edge\\\"1\"");
    EXPECT(&h, "agent.type", "\"whoflow\"");
    EXPECT(&h, "agent.version", "\"" WF_VERSION "\"");
    EXPECT(&h, "host.name", "\"edge\\\"1\"");
    EXPECT(&h, "event.created", "\"2016-12-25T12:58:40.250Z\"");
    EXPECT(&h, "event.ingested", "\"2016-12-25T12:58:40.750Z\"");
    harness_close(&h);
}

static void a_replay_has_nothing_that_differs_from_run_to_run(void)
{
    struct harness h;
    struct build b;
    harness_open(&h, &replay);
    begin_v9(&b, FIELDS(v4_flow));
    build_v4_flow(&b);
    build_end(&b);
    harness_feed(&h, &b);
    EXPECT(&h, "agent.id", "");
    EXPECT(&h, "host.name", "");
    EXPECT(&h, "event.ingested", "");
    harness_close(&h);
}

static void an_export_time_far_off_gives_way_to_the_receive_time_when_live(void)
{
    static const struct document_options live = {.host_name = "h", .agent_id = "a"};
    const struct document_options *options[] = {&live, &replay};
    for (size_t i = 0; i < 2; i++) {
        struct harness h;
        struct build b;
        harness_open(&h, options[i]);
        build_v9(&b, HARNESS_EXPORT_S - 100000, 100000, 1, 7);
        build_set(&b, 0);
        build_template(&b, 256, FIELDS(v4_flow));
        build_set(&b, 256);
        build_v4_flow(&b);
        build_end(&b);
        harness_feed(&h, &b);
        EXPECT(&h, "whoflow.time.source", i == 0 ? "\"receive_time\"" : "\"flow_end_sys_up_time\"");
        EXPECT(&h, "@timestamp",
               i == 0 ? "\"2016-12-25T12:58:40.250Z\"" : "\"2016-12-24T09:11:54.500Z\"");
        harness_close(&h);
    }
}

static void an_options_record_has_scope_and_options_and_no_flow(void)
{
    static const uint16_t scope[][2] = {{1, 4}, {2, 4}};
    static const uint16_t fields[][2] = {{34, 4}, {36, 2}, {82, 8}};
    struct harness h;
    struct build b;
    harness_open(&h, &replay);
    build_v9(&b, HARNESS_EXPORT_S, 100000, 1, 7);
    build_set(&b, 1);
    build_options_template(&b, 257, FIELDS(scope), FIELDS(fields));
    build_set(&b, 257);
    build_u32(&b, 0xc0000201);
    build_u32(&b, 12);
    build_u32(&b, 100);
    build_u16(&b, 60);
    build_octets(&b, "Gi0/1\0\0", 8);
    build_end(&b);
    CU_ASSERT_EQUAL(harness_feed(&h, &b), 1);
    EXPECT(&h, "event.action", "\"netflow_options\"");
    EXPECT(&h, "event.type", "");
    EXPECT(&h, "event.category", "[\"network\"]");
    EXPECT(&h, "netflow.type", "\"netflow_options\"");
    EXPECT(&h, "netflow.scope.system", "3221225985");
    EXPECT(&h, "netflow.scope.interface", "12");
    EXPECT(&h, "netflow.options.sampling_interval", "100");
    EXPECT(&h, "netflow.options.interface_name", "\"Gi0/1\"");
    EXPECT(&h, "@timestamp", "\"2016-12-25T12:58:35.000Z\"");
    EXPECT(&h, "whoflow.time.source", "\"export_time\"");
    EXPECT(&h, "flow.id", "");
    EXPECT(&h, "network.direction", "");
    EXPECT(&h, "source.ip", "");
    harness_close(&h);
}

static void a_v9_options_template_without_fields_has_no_empty_objects(void)
{
    static const uint16_t scope[][2] = {{1, 4}};
    static const uint16_t fields[][2] = {{60000, 4}};
    struct harness h;
    struct build b;
    harness_open(&h, &replay);
    build_v9(&b, HARNESS_EXPORT_S, 100000, 1, 7);
    build_set(&b, 1);
    build_options_template(&b, 257, FIELDS(scope), FIELDS(fields));
    build_set(&b, 257);
    build_u32(&b, 1);
    build_u32(&b, 2);
    build_end(&b);
    CU_ASSERT_EQUAL(harness_feed(&h, &b), 1);
    CU_ASSERT_PTR_NULL(strstr(h.out.data, "{}"));
    CU_ASSERT_PTR_NULL(strstr(h.out.data, "\"options\":"));
    harness_close(&h);
}

static void ipv6_flows_are_told_as_such(void)
{
    static const uint16_t fields[][2] = {{27, 16}, {28, 16}, {4, 1}, {7, 2}, {11, 2}};
    static const uint8_t source[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
    static const uint8_t destination[16] = {0xfe, 0x80, [15] = 2};
    static const uint8_t exporter[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 99};
    struct harness h;
    struct build b;
    harness_open(&h, &replay);
    begin_ipfix(&b, FIELDS(fields));
    build_octets(&b, source, 16);
    build_octets(&b, destination, 16);
    build_u8(&b, 17);
    build_u16(&b, 1000);
    build_u16(&b, 53);
    build_end(&b);
    CU_ASSERT_EQUAL(harness_feed_from(&h, &b, wf_addr_v6(exporter)), 1);
    EXPECT(&h, "source.ip", "\"2001:db8::1\"");
    EXPECT(&h, "source.locality", "\"external\"");
    EXPECT(&h, "destination.locality", "\"internal\"");
    EXPECT(&h, "network.type", "\"ipv6\"");
    EXPECT(&h, "network.direction", "\"inbound\"");
    EXPECT(&h, "observer.ip", "[\"2001:db8::63\"]");
    EXPECT(&h, "netflow.exporter.address", "\"[2001:db8::63]:50000\"");
    EXPECT(&h, "netflow.exporter.uptime_millis", "0");
    EXPECT(&h, "related.ip", "[\"2001:db8::1\",\"fe80::2\"]");
    harness_close(&h);
}

static void the_address_that_is_not_zero_wins_when_a_record_has_both_families(void)
{
    static const uint16_t fields[][2] = {{8, 4}, {27, 16}, {12, 4}, {28, 16}};
    static const uint8_t v6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
    struct harness h;
    struct build b;
    harness_open(&h, &replay);
    begin_ipfix(&b, FIELDS(fields));
    build_ip(&b, 0, 0, 0, 0);
    build_octets(&b, v6, 16);
    build_ip(&b, 0, 0, 0, 0);
    build_zeros(&b, 16);
    build_end(&b);
    harness_feed(&h, &b);
    EXPECT(&h, "source.ip", "\"2001:db8::1\"");
    EXPECT(&h, "destination.ip", "\"0.0.0.0\"");
    EXPECT(&h, "network.type", "[\"ipv4\",\"ipv6\"]");
    EXPECT(&h, "network.community_id", "");
    harness_close(&h);
}

static void a_flow_without_addresses_has_the_shared_flow_id(void)
{
    static const uint16_t fields[][2] = {{4, 1}, {231, 4}, {232, 4}, {298, 4}, {299, 4}, {239, 1}};
    struct harness h;
    struct build b;
    harness_open(&h, &replay);
    begin_ipfix(&b, FIELDS(fields));
    build_u8(&b, 6);
    build_u32(&b, 719);
    build_u32(&b, 21);
    build_u32(&b, 5);
    build_u32(&b, 1);
    build_u8(&b, 1);
    build_end(&b);
    harness_feed(&h, &b);
    EXPECT(&h, "flow.id", "\"Vhs9T5k296w\"");
    EXPECT(&h, "flow.locality", "\"internal\"");
    EXPECT(&h, "network.community_id", "");
    EXPECT(&h, "network.direction", "\"unknown\"");
    EXPECT(&h, "network.bytes", "740");
    EXPECT(&h, "network.packets", "6");
    EXPECT(&h, "source.bytes", "719");
    EXPECT(&h, "destination.bytes", "21");
    EXPECT(&h, "client.bytes", "719");
    EXPECT(&h, "server.packets", "1");
    EXPECT(&h, "event.category", "[\"network\",\"session\"]");
    EXPECT(&h, "related.ip", "");
    harness_close(&h);
}

static void a_biflow_of_the_reverse_initiator_is_turned_round(void)
{
    static const uint16_t fields[][2] = {{8, 4}, {12, 4}, {7, 2}, {11, 2}, {239, 1}};
    struct harness h;
    struct build b;
    harness_open(&h, &replay);
    begin_ipfix(&b, FIELDS(fields));
    build_ip(&b, 8, 8, 8, 8);
    build_ip(&b, 10, 0, 0, 1);
    build_u16(&b, 53);
    build_u16(&b, 40000);
    build_u8(&b, 2);
    build_end(&b);
    harness_feed(&h, &b);
    EXPECT(&h, "source.ip", "\"10.0.0.1\"");
    EXPECT(&h, "client.ip", "\"10.0.0.1\"");
    EXPECT(&h, "client.port", "40000");
    EXPECT(&h, "server.ip", "\"8.8.8.8\"");
    EXPECT(&h, "server.locality", "\"external\"");
    EXPECT(&h, "network.direction", "\"outbound\"");
    EXPECT(&h, "netflow.source_ipv4_address", "\"8.8.8.8\"");
    EXPECT(&h, "related.ip", "[\"8.8.8.8\",\"10.0.0.1\"]");
    harness_close(&h);
}

static void reverse_elements_fill_the_destination(void)
{
    struct harness h;
    struct build b;
    harness_open(&h, &replay);
    build_ipfix(&b, HARNESS_EXPORT_S, 1, 7);
    build_set(&b, 2);
    build_u16(&b, 256);
    build_u16(&b, 4);
    build_u16(&b, 1);
    build_u16(&b, 8);
    build_u16(&b, 2);
    build_u16(&b, 8);
    build_field_pen(&b, 1, 8, 29305);
    build_field_pen(&b, 2, 8, 29305);
    build_set(&b, 256);
    build_u64(&b, 1000);
    build_u64(&b, 10);
    build_u64(&b, 333);
    build_u64(&b, 3);
    build_end(&b);
    harness_feed(&h, &b);
    EXPECT(&h, "source.bytes", "1000");
    EXPECT(&h, "destination.bytes", "333");
    EXPECT(&h, "destination.packets", "3");
    EXPECT(&h, "network.bytes", "1333");
    EXPECT(&h, "network.packets", "13");
    EXPECT(&h, "netflow.reverse_octet_delta_count", "333");
    harness_close(&h);
}

static void numbers_beyond_a_long_are_clamped_and_marked(void)
{
    static const uint16_t fields[][2] = {{1, 8}, {2, 8}};
    struct harness h;
    struct build b;
    harness_open(&h, &replay);
    begin_ipfix(&b, FIELDS(fields));
    build_u64(&b, UINT64_MAX);
    build_u64(&b, INT64_MAX);
    build_u64(&b, 1);
    build_u64(&b, INT64_MAX);
    build_end(&b);
    CU_ASSERT_EQUAL(harness_feed(&h, &b), 2);
    EXPECT(&h, "source.bytes", "9223372036854775807");
    EXPECT(&h, "network.bytes", "9223372036854775807");
    EXPECT(&h, "netflow.octet_delta_count", "9223372036854775807");
    EXPECT(&h, "netflow.packet_delta_count", "9223372036854775807");
    EXPECT(&h, "whoflow.clamped", "true");
    EXPECT_LINE(&h, 1, "whoflow.clamped", "");
    harness_close(&h);
}

static void icmp_ids_follow_type_and_code(void)
{
    static const uint16_t fields[][2] = {{8, 4}, {12, 4}, {4, 1}, {32, 2}};
    static const uint16_t by_port[][2] = {{8, 4}, {12, 4}, {4, 1}, {7, 2}, {11, 2}};
    static const uint16_t apart[][2] = {{8, 4}, {12, 4}, {4, 1}, {176, 1}, {177, 1}};
    struct harness h;
    struct build b;
    for (int way = 0; way < 3; way++) {
        harness_open(&h, &replay);
        if (way == 0) {
            begin_ipfix(&b, FIELDS(fields));
        } else if (way == 1) {
            begin_ipfix(&b, FIELDS(by_port));
        } else {
            begin_ipfix(&b, FIELDS(apart));
        }
        build_ip(&b, 192, 168, 0, 89);
        build_ip(&b, 192, 168, 0, 1);
        build_u8(&b, 1);
        if (way == 1) {
            build_u16(&b, 0);
        }
        build_u16(&b, 0x0800);
        build_end(&b);
        CU_ASSERT_EQUAL(harness_feed(&h, &b), 1);
        EXPECT(&h, "network.community_id", "\"1:X0snYXpgwiv9TZtqg64sgzUn6Dk=\"");
        EXPECT(&h, "network.transport", "\"icmp\"");
        harness_close(&h);
    }
}

static void transports_without_a_name_are_numbered(void)
{
    static const uint16_t fields[][2] = {{4, 1}, {61, 1}};
    struct harness h;
    struct build b;
    harness_open(&h, &replay);
    begin_ipfix(&b, FIELDS(fields));
    build_u8(&b, 47);
    build_u8(&b, 0);
    build_u8(&b, 58);
    build_u8(&b, 9);
    build_end(&b);
    CU_ASSERT_EQUAL(harness_feed(&h, &b), 2);
    EXPECT(&h, "network.transport", "\"unknown (47)\"");
    EXPECT(&h, "network.iana_number", "\"47\"");
    EXPECT(&h, "network.direction", "\"inbound\"");
    EXPECT_LINE(&h, 1, "network.transport", "\"ipv6-icmp\"");
    EXPECT_LINE(&h, 1, "network.direction", "\"unknown (9)\"");
    harness_close(&h);
}

static void a_wireless_controller_tells_sender_and_receiver(void)
{
    static const uint16_t fields[][2] = {{366, 4}, {365, 6}, {367, 6}, {61, 1}, {147, 8}};
    struct harness h;
    struct build b;
    harness_open(&h, &replay);
    begin_ipfix(&b, FIELDS(fields));
    for (uint8_t direction = 0; direction < 2; direction++) {
        build_ip(&b, 10, 1, 1, 1);
        build_octets(&b, "\x00\x00\x00\x00\x00\x01", 6);
        build_octets(&b, "\x00\x00\x00\x00\x00\x02", 6);
        build_u8(&b, direction);
        build_octets(&b, "caf\xc3\xa9\0\0", 8);
    }
    build_end(&b);
    CU_ASSERT_EQUAL(harness_feed(&h, &b), 2);
    EXPECT(&h, "source.ip", "\"10.1.1.1\"");
    EXPECT(&h, "source.mac", "\"00-00-00-00-00-01\"");
    EXPECT(&h, "destination.mac", "\"00-00-00-00-00-02\"");
    EXPECT(&h, "network.name", "\"caf\xc3\xa9\"");
    EXPECT_LINE(&h, 1, "destination.ip", "\"10.1.1.1\"");
    EXPECT_LINE(&h, 1, "source.mac", "\"00-00-00-00-00-02\"");
    EXPECT_LINE(&h, 1, "netflow.wlan_ssid", "\"caf\xc3\xa9\"");
    harness_close(&h);
}

static void values_render_by_type(void)
{
    static const uint16_t fields[][2] = {{95, 4},  {434, 8}, {276, 1}, {276, 1}, {434, 4},
                                         {152, 8}, {154, 8}, {156, 8}, {150, 4}, {82, 4},
                                         {48, 2},  {1, 3},   {466, 4}};
    struct harness h;
    struct build b;
    harness_open(&h, &replay);
    begin_ipfix(&b, FIELDS(fields));
    build_u32(&b, 0x03000050); /* 95 applicationId */
    build_u64(&b, 0x3ff8000000000000);
    build_u8(&b, 1);
    build_u8(&b, 3);
    build_u32(&b, 0xfffffffe);
    build_u64(&b, 1482670714819);
    build_u64(&b, (1482670714ULL + 2208988800ULL) << 32 | 0x80000000U);
    build_u64(&b, (1482670714ULL + 2208988800ULL) << 32 | 0x40000000U);
    build_u32(&b, 1482670714);
    build_octets(&b, "a\xff\"\0", 4);
    build_u16(&b, 40000);
    build_octets(&b, "\x01\x00\x00", 3);
    build_u32(&b, 0xffffffff);
    build_end(&b);
    CU_ASSERT_EQUAL(harness_feed(&h, &b), 1);
    EXPECT(&h, "netflow.application_id", "[3,0,0,80]");
    EXPECT(&h, "netflow.data_records_reliability", "[true]");
    EXPECT(&h, "netflow.flow_start_milliseconds", "\"2016-12-25T12:58:34.819Z\"");
    EXPECT(&h, "netflow.flow_start_microseconds", "\"2016-12-25T12:58:34.500000Z\"");
    EXPECT(&h, "netflow.flow_start_nanoseconds", "\"2016-12-25T12:58:34.250000000Z\"");
    EXPECT(&h, "netflow.flow_start_seconds", "\"2016-12-25T12:58:34.000Z\"");
    EXPECT(&h, "netflow.interface_name", "\"a\xef\xbf\xbd\\\"\"");
    EXPECT(&h, "netflow.sampler_id", "40000");
    EXPECT(&h, "netflow.octet_delta_count", "65536");
    EXPECT(&h, "event.start", "\"2016-12-25T12:58:34.250Z\"");
    harness_close(&h);
}

static void floats_that_are_no_numbers_are_left_out(void)
{
    static const uint16_t fields[][2] = {{320, 8}, {321, 8}, {311, 4}};
    struct harness h;
    struct build b;
    harness_open(&h, &replay);
    begin_ipfix(&b, FIELDS(fields));
    build_u64(&b, 0x3ff8000000000000);
    build_u64(&b, 0x7ff8000000000000);
    build_u32(&b, 0x7f800000);
    build_u64(&b, 0xfff0000000000000);
    build_u64(&b, 0x4000000000000000);
    build_u32(&b, 0x3dcccccd);
    build_end(&b);
    CU_ASSERT_EQUAL(harness_feed(&h, &b), 2);
    EXPECT(&h, "netflow.absolute_error", "1.5");
    EXPECT(&h, "netflow.relative_error", "");
    EXPECT(&h, "netflow.sampling_probability", "");
    EXPECT_LINE(&h, 1, "netflow.absolute_error", "");
    EXPECT_LINE(&h, 1, "netflow.sampling_probability", "0.1");
    harness_close(&h);
}

static void repeated_elements_are_arrays_in_order(void)
{
    static const uint16_t fields[][2] = {{8, 4}, {1, 4}, {8, 4}, {70, 3}, {1, 0}, {70, 3}, {1, 4}};
    struct harness h;
    struct build b;
    harness_open(&h, &replay);
    begin_ipfix(&b, FIELDS(fields));
    build_ip(&b, 192, 0, 2, 7);
    build_u32(&b, 1);
    build_ip(&b, 192, 0, 2, 8);
    build_octets(&b, "\1\2\3", 3);
    build_octets(&b, "\4\5\6", 3);
    build_u32(&b, 2);
    build_end(&b);
    CU_ASSERT_EQUAL(harness_feed(&h, &b), 1);
    EXPECT(&h, "netflow.source_ipv4_address", "[\"192.0.2.7\",\"192.0.2.8\"]");
    EXPECT(&h, "netflow.octet_delta_count", "[1,2]");
    EXPECT(&h, "netflow.mpls_top_label_stack_section", "[[1,2,3],[4,5,6]]");
    EXPECT(&h, "source.ip", "\"192.0.2.8\"");
    EXPECT(&h, "source.bytes", "2");
    harness_close(&h);
}

static void unknown_and_misfit_fields_are_hex_on_request_only(void)
{
    static const uint16_t fields[][2] = {{43, 2}, {32000, 3}, {8, 4}, {60, 0}};
    for (int wanted = 0; wanted < 2; wanted++) {
        struct harness h;
        struct build b;
        harness_open(&h, wanted ? &replay_unknown : &replay);
        begin_ipfix(&b, FIELDS(fields));
        build_u16(&b, 0x0a0b);
        build_octets(&b, "\xde\xad\x01", 3);
        build_ip(&b, 192, 0, 2, 7);
        build_end(&b);
        CU_ASSERT_EQUAL(harness_feed(&h, &b), 1);
        EXPECT(&h, "netflow.ipv4_router_sc", "");
        EXPECT(&h, "netflow.ip_version", "");
        EXPECT(&h, "netflow.e0_43", wanted ? "\"0a0b\"" : "");
        EXPECT(&h, "netflow.e0_32000", wanted ? "\"dead01\"" : "");
        EXPECT(&h, "netflow.source_ipv4_address", "\"192.0.2.7\"");
        harness_close(&h);
    }
}

static void a_misfit_value_never_writes_a_member_twice(void)
{
    static const uint16_t fields[][2] = {{43, 65535}, {43, 2}, {8, 4}};
    struct harness h;
    struct build b;
    harness_open(&h, &replay_unknown);
    begin_ipfix(&b, FIELDS(fields));
    build_u8(&b, 3);
    build_octets(&b, "abc", 3);
    build_u16(&b, 0x0a0b);
    build_ip(&b, 192, 0, 2, 7);
    build_u8(&b, 4);
    build_ip(&b, 192, 0, 2, 1);
    build_u16(&b, 0x0a0c);
    build_ip(&b, 192, 0, 2, 7);
    build_end(&b);
    CU_ASSERT_EQUAL(harness_feed(&h, &b), 2);
    EXPECT(&h, "netflow.e0_43", "\"0a0b\"");
    EXPECT_LINE(&h, 1, "netflow.e0_43", "\"0a0c\"");
    EXPECT_LINE(&h, 1, "netflow.ipv4_router_sc", "\"192.0.2.1\"");
    harness_close(&h);
}

static void fields_of_variable_length_read_by_the_length_they_have(void)
{
    static const uint16_t fields[][2] = {
        {82, 65535}, {1, 65535}, {8, 65535}, {147, 65535}, {95, 65535}};
    struct harness h;
    struct build b;
    harness_open(&h, &replay_unknown);
    begin_ipfix(&b, FIELDS(fields));
    build_u8(&b, 3);
    build_octets(&b, "eth", 3);
    build_u8(&b, 2);
    build_u16(&b, 500);
    build_u8(&b, 4);
    build_ip(&b, 192, 0, 2, 7);
    build_u8(&b, 255);
    build_u16(&b, 300);
    for (int i = 0; i < 300; i++) {
        build_u8(&b, 1);
    }
    build_u8(&b, 0);
    build_u8(&b, 0);
    build_u8(&b, 9);
    build_octets(&b, "123456789", 9);
    build_u8(&b, 3);
    build_octets(&b, "abc", 3);
    build_u8(&b, 0);
    build_u8(&b, 2);
    build_u16(&b, 0x0304);
    build_end(&b);
    CU_ASSERT_EQUAL(harness_feed(&h, &b), 2);
    EXPECT(&h, "netflow.interface_name", "\"eth\"");
    EXPECT(&h, "source.bytes", "500");
    EXPECT(&h, "source.ip", "\"192.0.2.7\"");
    CU_ASSERT_EQUAL(strlen(json_member(&h, 0, "network.name")), 2 + 6 * 300);
    EXPECT(&h, "netflow.application_id", "");
    EXPECT_LINE(&h, 1, "netflow.interface_name", "\"\"");
    EXPECT_LINE(&h, 1, "network.name", "");
    EXPECT_LINE(&h, 1, "source.bytes", "");
    EXPECT_LINE(&h, 1, "netflow.e0_1", "\"313233343536373839\"");
    EXPECT_LINE(&h, 1, "netflow.e0_8", "\"616263\"");
    EXPECT_LINE(&h, 1, "netflow.application_id", "[3,4]");
    harness_close(&h);
}

/* Every element of the registry in one of many templates, with octets that make values long. */
static void no_registered_element_overruns_the_reservation(void)
{
    struct harness h;
    size_t n_elements;
    const struct element *all = element_all(&n_elements);
    harness_open(&h, &replay_unknown);
    for (size_t at = 0; at < n_elements; at += 50) {
        struct build b;
        size_t n = n_elements - at < 50 ? n_elements - at : 50;
        build_ipfix(&b, HARNESS_EXPORT_S, 1, 7);
        build_set(&b, 2);
        build_u16(&b, 256);
        build_u16(&b, (uint16_t)n);
        for (size_t i = 0; i < n; i++) {
            static const uint16_t lengths[] = {8, 4, 16, 1, 65535, 6, 3, 40};
            uint16_t length = lengths[(at + i + at / 50) % 8];
            if (all[at + i].pen == 0) {
                build_u16(&b, all[at + i].id);
                build_u16(&b, length);
            } else {
                build_field_pen(&b, all[at + i].id, length, all[at + i].pen);
            }
        }
        build_set(&b, 256);
        for (size_t i = 0; i < n; i++) {
            static const uint16_t lengths[] = {8, 4, 16, 1, 65535, 6, 3, 40};
            uint16_t length = lengths[(at + i + at / 50) % 8];
            if (length == 65535) {
                build_u8(&b, 20);
                length = 20;
            }
            for (uint16_t k = 0; k < length; k++) {
                build_u8(&b, 0x9f);
            }
        }
        build_end(&b);
        CU_ASSERT_EQUAL(harness_feed(&h, &b), 1);
    }
    harness_close(&h);
}

static void vendors_elements_have_filebeats_names(void)
{
    static const uint16_t fields[][2] = {{33000, 12}, {33001, 6}, {40000, 4}, {40005, 1}};
    struct harness h;
    struct build b;
    harness_open(&h, &replay);
    begin_v9(&b, FIELDS(fields));
    build_octets(&b, "\x0f\x8e\x7f\xf3\xfc\x1a\x03\x0f\0\0\0\0", 12);
    build_octets(&b, "\1\2\3\4\5\6", 6);
    build_zeros(&b, 4);
    build_u8(&b, 2);
    build_end(&b);
    CU_ASSERT_EQUAL(harness_feed(&h, &b), 1);
    EXPECT(&h, "netflow.ingress_acl_id", "\"0f8e7ff3-fc1a030f-00000000\"");
    EXPECT(&h, "netflow.egress_acl_id", "\"01020304-0506\"");
    EXPECT(&h, "netflow.asa_username", "\"\"");
    EXPECT(&h, "netflow.asa_fw_event", "2");

    build_ipfix(&b, HARNESS_EXPORT_S, 1, 7);
    build_set(&b, 2);
    build_u16(&b, 256);
    build_u16(&b, 3);
    build_field_pen(&b, 9292, 4, 9);
    build_field_pen(&b, 128, 4, 5951);
    build_field_pen(&b, 888, 2, 6876);
    build_set(&b, 256);
    build_u32(&b, 1);
    build_u32(&b, 2);
    build_u16(&b, 3);
    build_end(&b);
    CU_ASSERT_EQUAL(harness_feed(&h, &b), 1);
    EXPECT(&h, "netflow.art_count_responses", "1");
    EXPECT(&h, "netflow.netscaler_round_trip_time", "2");
    EXPECT(&h, "netflow.vmware_egress_interface_attr", "3");
    harness_close(&h);
}

static void a_run_that_fits_no_memory_leaves_the_buffer_as_it_was(void)
{
    /* document_write promises all or nothing: a plan that was never compiled is the case a test can make. */
    struct harness h;
    harness_open(&h, &replay);
    struct plan plan = {.version = 9};
    struct decoder_message message = {0};
    struct decoder_records records = {.message = &message, .plan = &plan, .n_records = 1};
    CU_ASSERT_EQUAL(document_write(h.writer, &records, 0, &h.out), WF_E_NOMEM);
    CU_ASSERT_EQUAL(h.out.len, 0);
    harness_close(&h);
}

#define CASE(name)                                                                                 \
    {                                                                                              \
#        name, name                                                                                \
    }

int main(void)
{
    static const struct test_case cases[] = {
        CASE(a_v9_flow_is_filebeats_document),
        CASE(every_record_of_a_run_is_a_line),
        CASE(a_live_document_names_agent_and_host),
        CASE(a_replay_has_nothing_that_differs_from_run_to_run),
        CASE(an_export_time_far_off_gives_way_to_the_receive_time_when_live),
        CASE(an_options_record_has_scope_and_options_and_no_flow),
        CASE(a_v9_options_template_without_fields_has_no_empty_objects),
        CASE(ipv6_flows_are_told_as_such),
        CASE(the_address_that_is_not_zero_wins_when_a_record_has_both_families),
        CASE(a_flow_without_addresses_has_the_shared_flow_id),
        CASE(a_biflow_of_the_reverse_initiator_is_turned_round),
        CASE(reverse_elements_fill_the_destination),
        CASE(numbers_beyond_a_long_are_clamped_and_marked),
        CASE(icmp_ids_follow_type_and_code),
        CASE(transports_without_a_name_are_numbered),
        CASE(a_wireless_controller_tells_sender_and_receiver),
        CASE(values_render_by_type),
        CASE(floats_that_are_no_numbers_are_left_out),
        CASE(repeated_elements_are_arrays_in_order),
        CASE(unknown_and_misfit_fields_are_hex_on_request_only),
        CASE(a_misfit_value_never_writes_a_member_twice),
        CASE(fields_of_variable_length_read_by_the_length_they_have),
        CASE(no_registered_element_overruns_the_reservation),
        CASE(vendors_elements_have_filebeats_names),
        CASE(a_run_that_fits_no_memory_leaves_the_buffer_as_it_was),
    };
    return test_main("ecs", cases, sizeof cases / sizeof cases[0]);
}
