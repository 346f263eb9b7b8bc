// SPDX-License-Identifier: Apache-2.0
/* Lines for a terminal: what they show, and what must never get there. */
#include "tests/unit/lines.h"
#include "tests/unit/reservation.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static struct build message;

static void open_ipfix(const uint16_t (*fields)[2], size_t n_fields)
{
    build_ipfix(&message, LINES_EXPORT_S, 3, 7);
    build_set(&message, 2);
    build_template(&message, 256, fields, n_fields);
    build_set(&message, 256);
}

static void expect_lines(size_t n_lines, const char *want)
{
    struct lines l;
    lines_open(&l, "text");
    CU_ASSERT_EQUAL(lines_feed(&l, &message), n_lines);
    lines_expect(&l, want);
    lines_close(&l);
}

static void a_flow_shows_who_spoke_to_whom(void)
{
    static const uint16_t fields[][2] = {{8, 4}, {12, 4}, {7, 2},  {11, 2},  {4, 1},  {1, 8},
                                         {2, 8}, {10, 4}, {14, 4}, {152, 8}, {153, 8}};
    open_ipfix(fields, N(fields));
    for (unsigned i = 0; i < 5; i++) {
        static const uint8_t protocols[] = {6, 17, 1, 58, 47};
        build_u32(&message, 0x0a000001U);
        build_u32(&message, 0x0a000002U);
        build_u16(&message, 51234);
        build_u16(&message, 443);
        build_u8(&message, protocols[i]);
        build_u64(&message, 1234);
        build_u64(&message, 5);
        build_u32(&message, 3);
        build_u32(&message, 4);
        build_u64(&message, LINES_EXPORT_S * 1000ULL - 1250);
        build_u64(&message, LINES_EXPORT_S * 1000ULL + i);
    }
    expect_lines(
        5, "2016-12-25T12:58:35.000Z 192.0.2.1 tcp 10.0.0.1:51234 -> 10.0.0.2:443 "
           "1234 B 5 pkt 1.250 s if 3>4\n"
           "2016-12-25T12:58:35.001Z 192.0.2.1 udp 10.0.0.1:51234 -> 10.0.0.2:443 "
           "1234 B 5 pkt 1.251 s if 3>4\n"
           "2016-12-25T12:58:35.002Z 192.0.2.1 icmp 10.0.0.1 -> 10.0.0.2 type 1 code 187 "
           "1234 B 5 pkt 1.252 s if 3>4\n"
           "2016-12-25T12:58:35.003Z 192.0.2.1 ipv6-icmp 10.0.0.1 -> 10.0.0.2 type 1 code 187 "
           "1234 B 5 pkt 1.253 s if 3>4\n"
           "2016-12-25T12:58:35.004Z 192.0.2.1 proto 47 10.0.0.1:51234 -> 10.0.0.2:443 "
           "1234 B 5 pkt 1.254 s if 3>4\n");
}

static void icmp_elements_come_before_the_port(void)
{
    static const uint16_t joined[][2] = {{4, 1}, {11, 2}, {32, 2}};
    open_ipfix(joined, N(joined));
    build_u8(&message, 1);
    build_u16(&message, 0);
    build_u16(&message, 0x0801);
    build_u8(&message, 17); /* no ICMP: the element is not its */
    build_u16(&message, 53);
    build_u16(&message, 0x0801);
    expect_lines(2, "2016-12-25T12:58:35.000Z 192.0.2.1 icmp * -> * type 8 code 1\n"
                    "2016-12-25T12:58:35.000Z 192.0.2.1 udp * -> *:53\n");
    static const uint16_t apart[][2] = {{4, 1}, {178, 1}, {179, 1}, {7, 2}};
    open_ipfix(apart, N(apart));
    build_u8(&message, 58);
    build_u8(&message, 135);
    build_u8(&message, 4);
    build_u16(&message, 9);
    expect_lines(1, "2016-12-25T12:58:35.000Z 192.0.2.1 ipv6-icmp * -> * type 135 code 4\n");
    static const uint16_t none[][2] = {{4, 1}};
    open_ipfix(none, N(none));
    build_u8(&message, 1);
    expect_lines(1, "2016-12-25T12:58:35.000Z 192.0.2.1 icmp * -> *\n");
}

static void what_a_flow_lacks_is_left_out(void)
{
    static const uint16_t addresses[][2] = {{8, 4}, {12, 4}};
    open_ipfix(addresses, N(addresses));
    build_u64(&message, 0x0a0000010a000002ULL);
    expect_lines(1, "2016-12-25T12:58:35.000Z 192.0.2.1 10.0.0.1 -> 10.0.0.2\n");
    static const uint16_t one_way[][2] = {{12, 4}, {7, 2}, {14, 2}, {1, 0}};
    open_ipfix(one_way, N(one_way));
    build_u32(&message, 0x0a000002U);
    build_u16(&message, 53);
    build_u16(&message, 9);
    expect_lines(1, "2016-12-25T12:58:35.000Z 192.0.2.1 *:53 -> 10.0.0.2 if *>9\n");
    static const uint16_t macs[][2] = {{56, 6}, {80, 6}, {85, 2}};
    open_ipfix(macs, N(macs));
    build_octets(&message, "\x00\x1b\xff\xa0\x09\x01\x00\x1b\xff\xa0\x09\x02\x01\x00", 14);
    expect_lines(1, "2016-12-25T12:58:35.000Z 192.0.2.1 00-1B-FF-A0-09-01 -> 00-1B-FF-A0-09-02 "
                    "256 B\n");
}

static void ipv6_addresses_stand_in_brackets_before_a_port(void)
{
    static const uint16_t fields[][2] = {{27, 16}, {28, 16}, {7, 2}};
    open_ipfix(fields, N(fields));
    build_u64(&message, 0x20010db800000000ULL);
    build_u64(&message, 1);
    build_u64(&message, 0x20010db800000000ULL);
    build_u64(&message, 2);
    build_u16(&message, 443);
    expect_lines(1, "2016-12-25T12:58:35.000Z 192.0.2.1 [2001:db8::1]:443 -> 2001:db8::2\n");
}

static void uptimes_become_times_across_a_wrap(void)
{
    static const uint16_t fields[][2] = {{4, 1}, {22, 4}, {21, 4}};
    build_v9(&message, LINES_EXPORT_S, 1000, 3, 7); /* a second after the wrap */
    message.n_records = 99;
    build_set(&message, 0);
    build_template(&message, 256, fields, N(fields));
    build_set(&message, 256);
    build_u8(&message, 6);
    build_u32(&message, UINT32_MAX - 2999);
    build_u32(&message, 250);
    build_zeros(&message, 3);
    expect_lines(1, "2016-12-25T12:58:34.250Z 192.0.2.1 tcp * -> * 3.250 s\n");
}

static void options_show_every_field(void)
{
    static const uint16_t scope[][2] = {{144, 4}};
    static const uint16_t fields[][2] = {{34, 4}, {82, 8}, {32000, 2}, {70, 0}, {83, 65535}};
    build_ipfix(&message, LINES_EXPORT_S, 3, 7);
    build_set(&message, 3);
    build_options_template(&message, 256, scope, N(scope), fields, N(fields));
    build_set(&message, 256);
    build_u32(&message, 1);
    build_u32(&message, 1000);
    build_octets(&message, "eth 0=\"\0", 8);
    build_octets(&message, "\xab\xcd\x02\xc3\xa9", 5);
    expect_lines(1, "2016-12-25T12:58:35.000Z 192.0.2.1 options scope.exportingProcessId=1 "
                    "samplingInterval=1000 interfaceName=\"eth 0=\\\"\" e0_32000=abcd "
                    "mplsTopLabelStackSection= interfaceDescription=\"\xc3\xa9\"\n");
}

/* Each line but for its newline: printable ASCII or valid UTF-8 beyond the C1 controls. */
static void nothing_that_a_terminal_obeys_gets_through(void)
{
    static const struct {
        const char *octets;
        const char *text;
    } strings[] = {
        {"\x1b[2Jx", "\\u001b[2Jx"},          /* clear the screen */
        {"\x1b]0;t\a", "\\u001b]0;t\\u0007"}, /* set the title */
        {"\xc2\x9b"
         "2Jx",
         "?2Jx"}, /* the same by C1 controls */
        {"\xc2\x9d"
         "0;t\xc2\x9c",
         "?0;t?"},
        {"\xc2\x80\xc2\x9f\xc2\xa0", "\?\?\xc2\xa0"},
        {"\x9b"
         "2J",
         "\xef\xbf\xbd"
         "2J"}, /* 8-bit CSI */
        {"a\x7f\x7f"
         "b",
         "a??b"},
        {"a\r\nb", "a\\r\\nb"},
        {"a\xe2\x80\xae"
         "cod.exe",
         "a?cod.exe"}, /* right to left override */
        {"\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\x8f\xe2\x80\xa8", "????"},
        {"\xe2\x80\xa6\xe2\x81\xaa\xe2\x82\xac", "\xe2\x80\xa6\xe2\x81\xaa\xe2\x82\xac"},
    };
    static const uint16_t scope[][2] = {{144, 4}};
    static const uint16_t fields[][2] = {{82, 65535}};
    for (size_t i = 0; i < N(strings); i++) {
        build_ipfix(&message, LINES_EXPORT_S, 3, 7);
        build_set(&message, 3);
        build_options_template(&message, 256, scope, N(scope), fields, N(fields));
        build_set(&message, 256);
        build_u32(&message, 1);
        build_u8(&message, (uint8_t)strlen(strings[i].octets));
        build_octets(&message, strings[i].octets, strlen(strings[i].octets));
        char want[256];
        snprintf(want, sizeof(want),
                 "2016-12-25T12:58:35.000Z 192.0.2.1 options scope.exportingProcessId=1 "
                 "interfaceName=\"%s\"\n",
                 strings[i].text);
        expect_lines(1, want);
    }
}

static void no_line_writes_beyond_its_reservation(void)
{
    expect_reservation_holds("text", 2);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a_flow_shows_who_spoke_to_whom", a_flow_shows_who_spoke_to_whom},
        {"icmp_elements_come_before_the_port", icmp_elements_come_before_the_port},
        {"what_a_flow_lacks_is_left_out", what_a_flow_lacks_is_left_out},
        {"ipv6_addresses_stand_in_brackets_before_a_port",
         ipv6_addresses_stand_in_brackets_before_a_port},
        {"uptimes_become_times_across_a_wrap", uptimes_become_times_across_a_wrap},
        {"options_show_every_field", options_show_every_field},
        {"nothing_that_a_terminal_obeys_gets_through", nothing_that_a_terminal_obeys_gets_through},
        {"no_line_writes_beyond_its_reservation", no_line_writes_beyond_its_reservation},
    };
    return test_main("text", cases, N(cases));
}
