// SPDX-License-Identifier: Apache-2.0
/* flow.id against ids of Filebeat's own documents, community ids against the specification's baseline. */
#include <arpa/inet.h>

#include <string.h>

#include "enrich/ids/ids.h"
#include "tests/support/support.h"

static struct wf_addr addr(const char *text)
{
    struct wf_addr a = {0};
    if (inet_pton(AF_INET, text, a.bytes) == 1) {
        a.family = 4;
    } else if (inet_pton(AF_INET6, text, a.bytes) == 1) {
        a.family = 6;
    }
    return a;
}

static struct flow_key key(uint8_t protocol, const char *source, uint16_t source_port,
                           const char *destination, uint16_t destination_port)
{
    return (struct flow_key){.source = addr(source),
                             .destination = addr(destination),
                             .source_port = source_port,
                             .destination_port = destination_port,
                             .protocol = protocol};
}

static struct flow_key icmp(uint8_t protocol, const char *source, const char *destination,
                            uint8_t type, uint8_t code)
{
    struct flow_key k = key(protocol, source, 0, destination, 0);
    k.has_icmp = true;
    k.icmp_type = type;
    k.icmp_code = code;
    return k;
}

static void expect_flow_id(struct flow_key k, const char *expected)
{
    char out[FLOW_ID_LEN + 1] = {0};
    flow_id_write(&k, out);
    CU_ASSERT_STRING_EQUAL(out, expected);
}

static void expect_community_id(struct flow_key k, const char *expected)
{
    char out[COMMUNITY_ID_LEN + 1] = {0};
    CU_ASSERT_EQUAL(community_id_write(&k, out), WF_OK);
    CU_ASSERT_STRING_EQUAL(out, expected);
}

static void flow_id_is_filebeats(void)
{
    expect_flow_id(key(17, "10.99.130.239", 65105, "10.99.252.50", 53), "2vFIarATx_4");
    expect_flow_id(key(6, "", 0, "", 0), "Vhs9T5k296w");
    expect_flow_id(key(0, "", 0, "", 0), "oFN7CMNpOLQ");
}

static void flow_id_is_the_same_both_ways(void)
{
    expect_flow_id(key(17, "10.99.252.50", 53, "10.99.130.239", 65105), "2vFIarATx_4");
}

static void flow_id_of_equal_ports_depends_on_the_way(void)
{
    char there[FLOW_ID_LEN];
    char back[FLOW_ID_LEN];
    struct flow_key k = key(1, "10.0.0.1", 0, "10.0.0.2", 0);
    flow_id_write(&k, there);
    k = key(1, "10.0.0.2", 0, "10.0.0.1", 0);
    flow_id_write(&k, back);
    CU_ASSERT_NOT_EQUAL(memcmp(there, back, sizeof there), 0);
}

static void flow_id_hashes_all_octets_of_ipv6(void)
{
    expect_flow_id(key(17, "fe80::5187:5cd8:d750:cdc9", 61329, "ff02::1:3", 5355), "iOQ1bg2JOLM");
}

static void community_id_of_tcp_udp_sctp(void)
{
    expect_community_id(key(6, "128.232.110.120", 34855, "66.35.250.204", 80),
                        "1:LQU9qZlK+B5F3KDmev6m5PMibrg=");
    expect_community_id(key(6, "66.35.250.204", 80, "128.232.110.120", 34855),
                        "1:LQU9qZlK+B5F3KDmev6m5PMibrg=");
    expect_community_id(key(17, "192.168.1.52", 54585, "8.8.8.8", 53),
                        "1:d/FP5EW3wiY1vCndhwleRRKHowQ=");
    expect_community_id(key(132, "192.168.170.8", 7, "192.168.170.56", 80),
                        "1:jQgCxbku+pNGw8WPbEc/TS/uTpQ=");
    expect_community_id(key(17, "fe80:1:203:405:607:809:a0b:c0d", 100, "2001::1", 200),
                        "1:1Q5LkHqXvb6KPSm5S5ca1nRWCRs=");
}

static void community_id_of_other_protocols_has_no_ports(void)
{
    expect_community_id(key(46, "10.1.24.4", 5, "10.1.12.1", 6), "1:/nQI4Rh/TtY3mf0R2gJFBkVlgS4=");
    expect_community_id(key(46, "10.1.12.1", 0, "10.1.24.4", 0), "1:/nQI4Rh/TtY3mf0R2gJFBkVlgS4=");
}

static void icmp_request_and_reply_share_one_id(void)
{
    expect_community_id(icmp(1, "192.168.0.89", "192.168.0.1", 8, 0),
                        "1:X0snYXpgwiv9TZtqg64sgzUn6Dk=");
    expect_community_id(icmp(1, "192.168.0.1", "192.168.0.89", 0, 0),
                        "1:X0snYXpgwiv9TZtqg64sgzUn6Dk=");
    expect_community_id(icmp(58, "fe80::200:86ff:fe05:80da", "fe80::260:97ff:fe07:69ea", 135, 0),
                        "1:dGHyGvjMfljg6Bppwm3bg0LO8TY=");
    expect_community_id(icmp(58, "fe80::260:97ff:fe07:69ea", "fe80::200:86ff:fe05:80da", 136, 0),
                        "1:dGHyGvjMfljg6Bppwm3bg0LO8TY=");
}

static void one_way_icmp_is_not_turned_round(void)
{
    expect_community_id(icmp(1, "192.168.0.89", "192.168.0.1", 20, 0),
                        "1:3o2RFccXzUgjl7zDpqmY7yJi8rI=");
    expect_community_id(icmp(1, "192.168.0.89", "192.168.0.1", 3, 1),
                        "1:LXCfhMUFbYXe+CEMrQuZCbiLY3o=");
    expect_community_id(icmp(1, "192.168.0.1", "192.168.0.89", 3, 1),
                        "1:o3zT92uTgnRWv/YrDVeXcWumpC4=");
    expect_community_id(
        icmp(58, "3ffe:507:0:1:200:86ff:fe05:80da", "3ffe:507:0:1:260:97ff:fe07:69ea", 3, 0),
        "1:/OGBt9BN1ofenrmSPWYicpij2Vc=");
}

static void no_community_id_without_two_addresses_of_a_family(void)
{
    char out[COMMUNITY_ID_LEN] = "untouched";
    struct flow_key k = key(6, "", 1, "10.0.0.1", 2);
    CU_ASSERT_EQUAL(community_id_write(&k, out), WF_E_INVAL);
    k = key(6, "2001:db8::1", 1, "10.0.0.1", 2);
    CU_ASSERT_EQUAL(community_id_write(&k, out), WF_E_INVAL);
    CU_ASSERT_STRING_EQUAL(out, "untouched");
}

int main(void)
{
    static const struct test_case cases[] = {
        {"flow_id_is_filebeats", flow_id_is_filebeats},
        {"flow_id_is_the_same_both_ways", flow_id_is_the_same_both_ways},
        {"flow_id_of_equal_ports_depends_on_the_way", flow_id_of_equal_ports_depends_on_the_way},
        {"flow_id_hashes_all_octets_of_ipv6", flow_id_hashes_all_octets_of_ipv6},
        {"community_id_of_tcp_udp_sctp", community_id_of_tcp_udp_sctp},
        {"community_id_of_other_protocols_has_no_ports",
         community_id_of_other_protocols_has_no_ports},
        {"icmp_request_and_reply_share_one_id", icmp_request_and_reply_share_one_id},
        {"one_way_icmp_is_not_turned_round", one_way_icmp_is_not_turned_round},
        {"no_community_id_without_two_addresses_of_a_family",
         no_community_id_without_two_addresses_of_a_family},
    };
    return test_main("ids", cases, sizeof cases / sizeof cases[0]);
}
