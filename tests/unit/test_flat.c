// SPDX-License-Identifier: Apache-2.0
/* Flat documents, exactly: templates of every kind through the decoder, and random plans against the reservation. */
#include "tests/support/json_check.h"
#include "tests/unit/lines.h"
#include "tests/unit/reservation.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
/* What stands before the fields. */
#define HEAD(type, version, domain, template, exported)                                            \
    "{\"type\":\"" type "\",\"exporter\":\"192.0.2.1\",\"port\":50000,\"version\":" version        \
    ",\"domain\":" domain                                                                          \
    ",\"template\":" template ",\"sequence\":3,\"exported\":\"" exported                           \
                              "\",\"received\":\"2016-12-25T12:58:40.250000001Z\""
#define V9           HEAD("flow", "9", "7", "256", "2016-12-25T12:58:35Z")
#define V9_OPTIONS   HEAD("options", "9", "7", "256", "2016-12-25T12:58:35Z")
#define FLOW         HEAD("flow", "10", "7", "256", "2016-12-25T12:58:35Z")
#define OPTIONS      HEAD("options", "10", "7", "256", "2016-12-25T12:58:35Z")
#define NTP_2016     (((uint64_t)LINES_EXPORT_S + 2208988800U) << 32)
#define MILLISECONDS ((uint64_t)LINES_EXPORT_S * 1000 + 7)

static struct build message;

/* A message with the template 256 and its data set open. */
static void open_v9(const uint16_t (*fields)[2], size_t n_fields)
{
    build_v9(&message, LINES_EXPORT_S, 100000, 3, 7);
    message.n_records = 99; /* only a hint in v9 */
    build_set(&message, 0);
    build_template(&message, 256, fields, n_fields);
    build_set(&message, 256);
}

static void open_ipfix(const uint16_t (*fields)[2], size_t n_fields)
{
    build_ipfix(&message, LINES_EXPORT_S, 3, 7);
    build_set(&message, 2);
    build_template(&message, 256, fields, n_fields);
    build_set(&message, 256);
}

/* Feeds the message to a new decoder and compares its lines. */
static void expect_lines(size_t n_lines, const char *want)
{
    struct lines l;
    lines_open(&l, "flat");
    CU_ASSERT_EQUAL(lines_feed(&l, &message), n_lines);
    lines_expect(&l, want);
    lines_close(&l);
}

static void fields_stand_in_template_order_under_registry_names(void)
{
    static const uint16_t fields[][2] = {{12, 4}, {8, 4},  {1, 4},  {7, 2}, {4, 1},
                                         {2, 8},  {56, 6}, {21, 4}, {89, 1}};
    open_v9(fields, N(fields));
    for (uint32_t r = 0; r < 2; r++) {
        build_u32(&message, 0xc0000201U + r);
        build_u32(&message, 0x0a000001U);
        build_u32(&message, r ? UINT32_MAX : 1234);
        build_u16(&message, 443);
        build_u8(&message, 6);
        build_u64(&message, r ? UINT64_MAX : 0);
        build_octets(&message, "\x00\x1b\xff\xa0\x09\x7f", 6);
        build_u32(&message, 99999);
        build_u8(&message, 255);
    }
    expect_lines(2,
                 V9 ",\"destinationIPv4Address\":\"192.0.2.1\",\"sourceIPv4Address\":\"10.0.0.1\","
                    "\"octetDeltaCount\":1234,\"sourceTransportPort\":443,\"protocolIdentifier\":6,"
                    "\"packetDeltaCount\":0,\"sourceMacAddress\":\"00-1B-FF-A0-09-7F\","
                    "\"flowEndSysUpTime\":99999,\"forwardingStatus\":255}\n" V9
                    ",\"destinationIPv4Address\":\"192.0.2.2\",\"sourceIPv4Address\":\"10.0.0.1\","
                    "\"octetDeltaCount\":4294967295,\"sourceTransportPort\":443,"
                    "\"protocolIdentifier\":6,\"packetDeltaCount\":18446744073709551615,"
                    "\"sourceMacAddress\":\"00-1B-FF-A0-09-7F\",\"flowEndSysUpTime\":99999,"
                    "\"forwardingStatus\":255}\n");
}

static void each_type_is_written_in_its_way(void)
{
    static const uint16_t fields[][2] = {{276, 1}, {434, 4}, {434, 2}, {311, 8}, {311, 4},
                                         {27, 16}, {150, 4}, {1, 3},   {70, 3},  {291, 5},
                                         {82, 8},  {152, 8}, {154, 8}, {156, 8}};
    open_ipfix(fields, N(fields));
    build_u8(&message, 1);
    build_u32(&message, (uint32_t)-5);
    build_u16(&message, (uint16_t)-6);
    build_u64(&message, 0x3fb999999999999aULL); /* 0.1 */
    build_u32(&message, 0xff800000U);           /* -inf */
    build_u64(&message, 0x20010db800000000ULL);
    build_u64(&message, 1);
    build_u32(&message, UINT32_MAX);
    build_octets(&message, "\x01\x00\x00", 3);
    build_octets(&message, "\xab\x0c\xd0", 3);
    build_octets(&message, "\x03\x00\x01\x00\x02", 5);
    build_octets(&message, "ge-0/0\0\0", 8);
    build_u64(&message, MILLISECONDS);
    build_u64(&message, NTP_2016 | 0x80000000U);
    build_u64(&message, NTP_2016 | 3);
    expect_lines(1, FLOW ",\"dataRecordsReliability\":true,\"mibObjectValueInteger\":[-5,-6],"
                         "\"samplingProbability\":[0.1,\"-Infinity\"],"
                         "\"sourceIPv6Address\":\"2001:db8::1\","
                         "\"flowStartSeconds\":\"2106-02-07T06:28:15Z\",\"octetDeltaCount\":65536,"
                         "\"mplsTopLabelStackSection\":\"ab0cd0\",\"basicList\":\"0300010002\","
                         "\"interfaceName\":\"ge-0/0\","
                         "\"flowStartMilliseconds\":\"2016-12-25T12:58:35.007Z\","
                         "\"flowStartMicroseconds\":\"2016-12-25T12:58:35.500000Z\","
                         "\"flowStartNanoseconds\":\"2016-12-25T12:58:35.000000001Z\"}\n");
}

static void booleans_that_are_none_are_numbers(void)
{
    static const uint16_t fields[][2] = {{276, 1}};
    open_ipfix(fields, N(fields));
    build_octets(&message, "\x01\x02\x00\xff", 4);
    expect_lines(4,
                 FLOW ",\"dataRecordsReliability\":true}\n" FLOW
                      ",\"dataRecordsReliability\":false}\n" FLOW
                      ",\"dataRecordsReliability\":0}\n" FLOW ",\"dataRecordsReliability\":255}\n");
}

static void microseconds_are_rounded_to_the_nearest(void)
{
    static const uint16_t fields[][2] = {{154, 8}};
    open_ipfix(fields, N(fields));
    build_u64(&message, NTP_2016 | 2147); /* 0.49989 us */
    build_u64(&message, NTP_2016 | 2148); /* 0.50012 us */
    build_u64(&message, NTP_2016 | 0xffffffffU);
    build_u64(&message, 0);
    expect_lines(4, FLOW ",\"flowStartMicroseconds\":\"2016-12-25T12:58:35.000000Z\"}\n" FLOW
                         ",\"flowStartMicroseconds\":\"2016-12-25T12:58:35.000001Z\"}\n" FLOW
                         ",\"flowStartMicroseconds\":\"2016-12-25T12:58:36.000000Z\"}\n" FLOW
                         ",\"flowStartMicroseconds\":\"2036-02-07T06:28:16.000000Z\"}\n");
}

static void a_time_beyond_2262_is_hex(void)
{
    static const uint16_t fields[][2] = {{152, 8}};
    open_ipfix(fields, N(fields));
    build_u64(&message, 9223372036854ULL);
    build_u64(&message, 9223372036855ULL);
    build_u64(&message, UINT64_MAX);
    expect_lines(3, FLOW ",\"flowStartMilliseconds\":\"2262-04-11T23:47:16.854Z\"}\n" FLOW
                         ",\"flowStartMilliseconds\":\"000008637bd05af7\"}\n" FLOW
                         ",\"flowStartMilliseconds\":\"ffffffffffffffff\"}\n");
}

static void values_of_a_wrong_length_are_hex(void)
{
    static const uint16_t fields[][2] = {{8, 3}, {56, 5}, {1, 9}, {152, 4}, {276, 2}, {311, 3}};
    open_ipfix(fields, N(fields));
    build_octets(&message, "\x01\x02\x03\x01\x02\x03\x04\x05", 8);
    build_octets(&message, "\x01\x02\x03\x04\x05\x06\x07\x08\x09", 9);
    build_octets(&message, "\xff\xff\xff\xff\x00\x01\x0a\x0b\x0c", 9);
    expect_lines(1,
                 FLOW ",\"sourceIPv4Address\":\"010203\",\"sourceMacAddress\":\"0102030405\","
                      "\"octetDeltaCount\":\"010203040506070809\","
                      "\"flowStartMilliseconds\":\"ffffffff\","
                      "\"dataRecordsReliability\":\"0001\",\"samplingProbability\":\"0a0b0c\"}\n");
}

static void fields_of_no_octets_are_empty_text(void)
{
    static const uint16_t fields[][2] = {{8, 0}, {1, 0}, {4, 1}, {82, 0}, {152, 0}, {1, 0}};
    open_ipfix(fields, N(fields));
    build_u8(&message, 17);
    expect_lines(1, FLOW ",\"sourceIPv4Address\":\"\",\"octetDeltaCount\":[\"\",\"\"],"
                         "\"protocolIdentifier\":17,\"interfaceName\":\"\","
                         "\"flowStartMilliseconds\":\"\"}\n");
}

static void repeated_elements_are_one_array_in_order(void)
{
    static const uint16_t fields[][2] = {{82, 2}, {1, 1}, {4, 1}, {1, 9}, {82, 1}, {1, 2}};
    open_ipfix(fields, N(fields));
    build_octets(&message, "ab\x05\x06", 4);
    build_octets(&message, "\0\0\0\0\0\0\0\0\x07", 9);
    build_octets(&message, "c\x01\x00", 3);
    expect_lines(1, FLOW ",\"interfaceName\":[\"ab\",\"c\"],"
                         "\"octetDeltaCount\":[5,\"000000000000000007\",256],"
                         "\"protocolIdentifier\":6}\n");
}

static void scope_fields_are_members_of_their_own(void)
{
    static const uint16_t scope[][2] = {{144, 4}, {10, 2}, {10, 4}};
    static const uint16_t fields[][2] = {{10, 4}, {82, 4}};
    build_ipfix(&message, LINES_EXPORT_S, 3, 7);
    build_set(&message, 3);
    build_options_template(&message, 256, scope, N(scope), fields, N(fields));
    build_set(&message, 256);
    build_u32(&message, 1);
    build_u16(&message, 2);
    build_u32(&message, 3);
    build_u32(&message, 4);
    build_octets(&message, "eth0", 4);
    expect_lines(1, OPTIONS ",\"scope.exportingProcessId\":1,\"scope.ingressInterface\":[2,3],"
                            "\"ingressInterface\":4,\"interfaceName\":\"eth0\"}\n");
}

static void version_9_scopes_have_names_of_their_own(void)
{
    static const uint16_t scope[][2] = {{1, 4}, {2, 2}, {3, 1}, {4, 1}, {5, 2}, {9, 2}};
    static const uint16_t fields[][2] = {{34, 4}};
    build_v9(&message, LINES_EXPORT_S, 100000, 3, 7);
    message.n_records = 99;
    build_set(&message, 1);
    build_options_template(&message, 256, scope, N(scope), fields, N(fields));
    build_set(&message, 256);
    build_u32(&message, 1);
    build_u16(&message, 2);
    build_octets(&message, "\x03\x04\x01\x00\x0a\x0b", 6);
    build_u32(&message, 1000);
    expect_lines(1, V9_OPTIONS ",\"scope.system\":1,\"scope.interface\":2,\"scope.lineCard\":3,"
                               "\"scope.cache\":4,\"scope.template\":256,\"scope.e0_9\":\"0a0b\","
                               "\"samplingInterval\":1000}\n");
}

static void unknown_elements_are_named_by_number(void)
{
    build_ipfix(&message, LINES_EXPORT_S, 3, 7);
    build_set(&message, 2);
    build_u16(&message, 256);
    build_u16(&message, 5);
    build_u16(&message, 32000);
    build_u16(&message, 2);
    build_field_pen(&message, 5, 1, 4000000000U);
    build_field_pen(&message, 1, 1, 29305);           /* reverse */
    build_field_pen(&message, 32000, 1, 4294967295U); /* no way into v9's number space */
    build_field_pen(&message, 1, 1, 4294967294U);
    build_set(&message, 256);
    build_octets(&message, "\x00\x01\x02\x03\x04\x05", 6);
    expect_lines(1, FLOW ",\"e0_32000\":\"0001\",\"e4000000000_5\":\"02\","
                         "\"reverseOctetDeltaCount\":3,\"e4294967295_32000\":\"04\","
                         "\"e4294967294_1\":\"05\"}\n");
    static const uint16_t fields[][2] = {{8192, 4}, {65000, 2}, {8256, 4}};
    open_v9(fields, N(fields));
    build_octets(&message, "\x00\x00\x01\x00\x01\x02name", 10);
    expect_lines(1, V9 ",\"streamcore_wan_rtt\":256,\"e0_65000\":\"0102\","
                       "\"streamcore_hostname\":\"name\"}\n");
}

static void one_name_of_two_elements_goes_to_the_first(void)
{
    build_ipfix(&message, LINES_EXPORT_S, 3, 7);
    build_set(&message, 2);
    build_u16(&message, 256);
    build_u16(&message, 3);
    build_u16(&message, 61);
    build_u16(&message, 1);
    build_field_pen(&message, 4, 1, 9789); /* flowDirection, as IANA's 61 */
    build_field_pen(&message, 4, 1, 9789);
    build_set(&message, 256);
    build_octets(&message, "\x00\x01\x02", 3);
    expect_lines(1, FLOW ",\"flowDirection\":0,\"e9789_4\":[1,2]}\n");
}

static void fields_of_variable_length_read_as_each_record_has_them(void)
{
    static const uint16_t fields[][2] = {{82, 65535}, {4, 1},      {1, 65535},
                                         {8, 65535},  {70, 65535}, {82, 65535}};
    open_ipfix(fields, N(fields));
    build_octets(&message,
                 "\x04"
                 "eth0"
                 "\x06"
                 "\x02\x01\x00"
                 "\x04\xc0\x00\x02\x09"
                 "\x01\xfe"
                 "\x00",
                 17);
    build_octets(&message,
                 "\x00"
                 "\x11"
                 "\x00"
                 "\x03\x01\x02\x03"
                 "\x00"
                 "\x02"
                 "a\"",
                 11);
    build_octets(&message,
                 "\xff\x00\x01x"
                 "\x01"
                 "\x09\0\0\0\0\0\0\0\0\1"
                 "\x00"
                 "\x00"
                 "\x00",
                 18);
    expect_lines(3, FLOW ",\"interfaceName\":[\"eth0\",\"\"],\"protocolIdentifier\":6,"
                         "\"octetDeltaCount\":256,\"sourceIPv4Address\":\"192.0.2.9\","
                         "\"mplsTopLabelStackSection\":\"fe\"}\n" FLOW
                         ",\"interfaceName\":[\"\",\"a\\\"\"],\"protocolIdentifier\":17,"
                         "\"octetDeltaCount\":\"\",\"sourceIPv4Address\":\"010203\","
                         "\"mplsTopLabelStackSection\":\"\"}\n" FLOW
                         ",\"interfaceName\":[\"x\",\"\"],\"protocolIdentifier\":1,"
                         "\"octetDeltaCount\":\"000000000000000001\",\"sourceIPv4Address\":\"\","
                         "\"mplsTopLabelStackSection\":\"\"}\n");
}

static void strings_of_strangers_stay_inside_their_quotes(void)
{
    static const uint16_t fields[][2] = {{82, 8}};
    open_v9(fields, N(fields));
    build_octets(&message, "\",\"x\":1\0", 8);
    build_octets(&message, "\x1b[2J\\\n\xff\xc3", 8);
    expect_lines(2, V9 ",\"interfaceName\":\"\\\",\\\"x\\\":1\"}\n" V9
                       ",\"interfaceName\":\"\\u001b[2J\\\\\\n\xef\xbf\xbd\xef\xbf\xbd\"}\n");
}

static void fixed_formats_show_what_has_a_meaning(void)
{
    build_v5(&message, LINES_EXPORT_S, 100000, 3);
    memcpy(message.data + 12, "\x07\x5b\xcd\x15", 4); /* 123456789 ns */
    memcpy(message.data + 20, "\x00\x07", 2);         /* engine */
    message.n_records = 1;
    build_u32(&message, 0x0a000001U);
    build_u32(&message, 0x0a000002U);
    build_u32(&message, 0);
    build_u16(&message, 1);
    build_u16(&message, 2);
    build_u32(&message, 5);
    build_u32(&message, 1234);
    build_u32(&message, 1000);
    build_u32(&message, 2000);
    build_u16(&message, 53);
    build_u16(&message, 5353);
    build_octets(&message, "\x00\x1b\x11\x00", 4);
    build_u16(&message, 64500);
    build_u16(&message, 64501);
    build_octets(&message, "\x18\x10\xff\xff", 4);
    expect_lines(
        1,
        HEAD("flow", "5", "7", "0",
             "2016-12-25T12:58:35.123456789Z") ",\"sourceIPv4Address\":\"10.0.0.1\","
                                               "\"destinationIPv4Address\":\"10.0.0.2\","
                                               "\"ipNextHopIPv4Address\":\"0.0.0.0\","
                                               "\"ingressInterface\":1,\"egressInterface\":2,"
                                               "\"packetDeltaCount\":5,\"octetDeltaCount\":1234,"
                                               "\"flowStartSysUpTime\":1000,"
                                               "\"flowEndSysUpTime\":2000,\"sourceTransportPort\":"
                                               "53,"
                                               "\"destinationTransportPort\":5353,"
                                               "\"tcpControlBits\":27,\"protocolIdentifier\":17,"
                                               "\"ipClassOfService\":0,\"bgpSourceAsNumber\":64500,"
                                               "\"bgpDestinationAsNumber\":64501,"
                                               "\"sourceIPv4PrefixLength\":24,"
                                               "\"destinationIPv4PrefixLength\":16}\n");
}

static void an_ipv6_exporter_stands_as_such(void)
{
    static const uint16_t fields[][2] = {{4, 1}};
    static const uint8_t address[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
    struct lines l;
    lines_open(&l, "flat");
    l.exporter = wf_addr_v6(address);
    open_ipfix(fields, N(fields));
    build_u8(&message, 6);
    CU_ASSERT_EQUAL(lines_feed(&l, &message), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(l.out.data, "\"exporter\":\"2001:db8::1\",\"port\":50000,"));
    lines_close(&l);
}

static void every_name_of_the_registry_fits(void)
{
    struct handmade h;
    handmade_open(&h, "flat");
    struct buffer out = {0};
    size_t n;
    const struct element *elements = element_all(&n);
    for (size_t i = 0; i < n; i++) {
        bool v9 = elements[i].pen >= ELEMENT_PEN_V9_SCOPE;
        struct plan_spec spec = {.id = elements[i].id, .length = 3};
        spec.pen = elements[i].pen == ELEMENT_PEN_NETFLOW9 ? 0 : elements[i].pen;
        struct plan_spec specs[2] = {spec, spec}; /* repeated and scope: the longest key */
        CU_ASSERT_EQUAL_FATAL(plan_intern(h.plans, v9 ? 9 : 10, PLAN_OPTIONS, specs, 2, 2, &h.plan),
                              0);
        struct decoder_records records = {.message = &h.message,
                                          .plan = h.plan,
                                          .n_records = 1,
                                          .stride = 6,
                                          .data = (const uint8_t *)"abcdef",
                                          .offset = h.plan->offset,
                                          .length = h.plan->length};
        out.len = 0;
        CU_ASSERT_EQUAL(document_write(h.writer, &records, 0, &out), 1);
        char want[128];
        int len = snprintf(want, sizeof(want), ",\"scope.%s\":[",
                           h.plan->field[0].element ? elements[i].name : "?");
        CU_ASSERT_PTR_NOT_NULL(memmem(out.data, out.len, want, (size_t)len));
        CU_ASSERT(json_is_valid(out.data, out.len - 1));
        plan_unref(h.plans, h.plan);
    }
    buffer_deinit(&out);
    handmade_close(&h);
}

static void no_record_writes_beyond_its_reservation(void)
{
    expect_reservation_holds("flat", 1);
}

static void the_longest_string_of_the_worst_octets_fits(void)
{
    static const uint16_t fields[][2] = {{82, 65535}};
    open_ipfix(fields, N(fields));
    size_t n = 65000;
    build_u8(&message, 255);
    build_u16(&message, (uint16_t)n);
    for (size_t i = 0; i < n; i++) {
        build_u8(&message, 1);
    }
    struct lines l;
    lines_open(&l, "flat");
    CU_ASSERT_EQUAL(lines_feed(&l, &message), 1);
    CU_ASSERT_EQUAL(l.out.len, strlen(FLOW ",\"interfaceName\":\"\"}\n") + 6 * n);
    CU_ASSERT(json_is_valid(l.out.data, l.out.len - 1));
    lines_close(&l);
}

static void none_reads_all_and_writes_nothing(void)
{
    static const uint16_t fields[][2] = {{8, 4}, {82, 65535}, {70, 0}, {27, 16}, {1, 3}};
    open_ipfix(fields, N(fields));
    build_u32(&message, 1);
    build_u8(&message, 0);
    build_zeros(&message, 19);
    struct lines l;
    lines_open(&l, "none");
    CU_ASSERT_EQUAL(lines_feed(&l, &message), 1);
    CU_ASSERT_EQUAL(l.out.len, 0);
    lines_close(&l);
}

static void formats_are_known_by_name(void)
{
    static const char *const names[] = {[DOCUMENT_ECS] = "ecs",
                                        [DOCUMENT_FLAT] = "flat",
                                        [DOCUMENT_TEXT] = "text",
                                        [DOCUMENT_NONE] = "none"};
    enum document_format format = DOCUMENT_NONE;
    for (size_t i = 0; i < N(names); i++) {
        CU_ASSERT_EQUAL(document_format_of(names[i], &format), WF_OK);
        CU_ASSERT_EQUAL((size_t)format, i);
    }
    CU_ASSERT_EQUAL(document_format_of("json", &format), WF_E_NOTFOUND);
    CU_ASSERT_EQUAL(document_format_of("", &format), WF_E_NOTFOUND);
    CU_ASSERT_EQUAL(format, DOCUMENT_NONE);
}

#define CASE(function)                                                                             \
    {                                                                                              \
#        function, function                                                                        \
    }

int main(void)
{
    static const struct test_case cases[] = {
        CASE(fields_stand_in_template_order_under_registry_names),
        CASE(each_type_is_written_in_its_way),
        CASE(booleans_that_are_none_are_numbers),
        CASE(microseconds_are_rounded_to_the_nearest),
        CASE(a_time_beyond_2262_is_hex),
        CASE(values_of_a_wrong_length_are_hex),
        CASE(fields_of_no_octets_are_empty_text),
        CASE(repeated_elements_are_one_array_in_order),
        CASE(scope_fields_are_members_of_their_own),
        CASE(version_9_scopes_have_names_of_their_own),
        CASE(unknown_elements_are_named_by_number),
        CASE(one_name_of_two_elements_goes_to_the_first),
        CASE(fields_of_variable_length_read_as_each_record_has_them),
        CASE(strings_of_strangers_stay_inside_their_quotes),
        CASE(fixed_formats_show_what_has_a_meaning),
        CASE(an_ipv6_exporter_stands_as_such),
        CASE(every_name_of_the_registry_fits),
        CASE(no_record_writes_beyond_its_reservation),
        CASE(the_longest_string_of_the_worst_octets_fits),
        CASE(none_reads_all_and_writes_nothing),
        CASE(formats_are_known_by_name),
    };
    return test_main("flat", cases, N(cases));
}
