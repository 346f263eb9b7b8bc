// SPDX-License-Identifier: Apache-2.0
#include <pcap/dlt.h>
#include <stdlib.h>
#include <string.h>

#include "collector/input/export_filter.h"
#include "collector/input/packet.h"
#include "tests/support/support.h"

#define PAYLOAD     "\0\x09payload of a datagram"
#define PAYLOAD_LEN 24

struct frame {
    uint8_t data[2048];
    size_t len;
};

static void put(struct frame *f, const void *data, size_t len)
{
    memcpy(f->data + f->len, data, len);
    f->len += len;
}

static void put_u8(struct frame *f, unsigned v)
{
    f->data[f->len++] = (uint8_t)v;
}

static void put_u16(struct frame *f, unsigned v)
{
    put_u8(f, v >> 8);
    put_u8(f, v & 255);
}

static void put_u32(struct frame *f, uint32_t v)
{
    put_u16(f, v >> 16);
    put_u16(f, v & 65535);
}

static void put_zeros(struct frame *f, size_t n)
{
    memset(f->data + f->len, 0, n);
    f->len += n;
}

static void put_udp_len(struct frame *f, unsigned len)
{
    put_u16(f, 50000);
    put_u16(f, 2055);
    put_u16(f, len);
    put_u16(f, 0xbeef);
    put(f, PAYLOAD, PAYLOAD_LEN);
}

static void put_udp(struct frame *f)
{
    put_udp_len(f, 8 + PAYLOAD_LEN);
}

static void put_ipv4_header(struct frame *f, unsigned total, unsigned protocol, unsigned n_options)
{
    put_u8(f, 0x40 | (5 + n_options / 4));
    put_u8(f, 0);
    put_u16(f, total);
    put_u16(f, 1);
    put_u16(f, 0x4000);
    put_u8(f, 64);
    put_u8(f, protocol);
    put_u16(f, 0);
    put(f, "\xc0\0\x02\x01", 4);
    put(f, "\xc6\x33\x64\x02", 4);
    memset(f->data + f->len, 1, n_options);
    f->len += n_options;
}

static void put_ipv4(struct frame *f)
{
    put_ipv4_header(f, 20 + 8 + PAYLOAD_LEN, 17, 0);
    put_udp(f);
}

static void put_ipv6_header(struct frame *f, unsigned len, unsigned next)
{
    put_u32(f, 0x60000000);
    put_u16(f, len);
    put_u8(f, next);
    put_u8(f, 64);
    put(f, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
    put(f, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x02", 16);
}

static void put_ipv6(struct frame *f)
{
    put_ipv6_header(f, 8 + PAYLOAD_LEN, 17);
    put_udp(f);
}

static void put_ether(struct frame *f, unsigned type)
{
    put(f, "\x02\0\0\0\0\x02\x02\0\0\0\0\x01", 12);
    put_u16(f, type);
}

/* Parses a copy that is exactly as long as the frame, so that a sanitizer sees each octet read too far. */
static enum packet_verdict parse_len(int link, const struct frame *f, size_t len,
                                     struct packet_udp *udp)
{
    static uint8_t *copy;
    free(copy);
    copy = malloc(len ? len : 1);
    if (!copy) {
        abort();
    }
    memcpy(copy, f->data, len);
    enum packet_verdict verdict = packet_parse(link, copy, len, NULL, udp);
    if (verdict == PACKET_UDP) {
        CU_ASSERT(udp->payload >= copy && udp->payload + udp->len <= copy + len);
        static uint8_t kept[2048];
        memcpy(kept, udp->payload, udp->len);
        udp->payload = kept;
    }
    free(copy);
    copy = NULL;
    return verdict;
}

static enum packet_verdict parse(int link, const struct frame *f, struct packet_udp *udp)
{
    return parse_len(link, f, f->len, udp);
}

static bool is_payload(const struct packet_udp *udp)
{
    return udp->len == PAYLOAD_LEN && !memcmp(udp->payload, PAYLOAD, PAYLOAD_LEN) &&
           udp->source_port == 50000 && udp->destination_port == 2055 && udp->n_fragments == 1;
}

static bool is_from_v4(const struct packet_udp *udp)
{
    struct wf_addr source = wf_addr_v4((const uint8_t[4]){192, 0, 2, 1});
    struct wf_addr destination = wf_addr_v4((const uint8_t[4]){198, 51, 100, 2});
    return wf_addr_equal(&udp->source, &source) && wf_addr_equal(&udp->destination, &destination);
}

static int build_ethernet(unsigned i, struct frame *f)
{
    switch (i) {
    default:
        put_ether(f, 0x0800);
        put_ipv4(f);
        return DLT_EN10MB;
    case 1:
        put_ether(f, 0x86dd);
        put_ipv6(f);
        return DLT_EN10MB;
    case 2: /* VLAN */
        put_ether(f, 0x8100);
        put_u32(f, 0x00640800);
        put_ipv4(f);
        return DLT_EN10MB;
    case 3: /* 802.1ad, VLAN */
        put_ether(f, 0x88a8);
        put_u32(f, 0x00648100);
        put_u32(f, 0x00c886dd);
        put_ipv6(f);
        return DLT_EN10MB;
    case 4: /* QinQ as it was before 802.1ad */
        put_ether(f, 0x9100);
        put_u32(f, 0x00648100);
        put_u32(f, 0x00c80800);
        put_ipv4(f);
        return DLT_EN10MB;
    case 5: /* IPv4 options */
        put_ether(f, 0x0800);
        put_ipv4_header(f, 20 + 40 + 8 + PAYLOAD_LEN, 17, 40);
        put_udp(f);
        return DLT_EN10MB;
    }
}

/* One datagram in each of the packings: builds frame number i, gives its link type, -1 behind the last. */
static int build_packing(unsigned i, struct frame *f)
{
    f->len = 0;
    if (i < 6) {
        return build_ethernet(i, f);
    }
    switch (i) {
    case 6:
        put_u16(f, 4);
        put_u16(f, 1);
        put_u16(f, 6);
        put_zeros(f, 8);
        put_u16(f, 0x0800);
        put_ipv4(f);
        return DLT_LINUX_SLL;
    case 7: /* cooked, with a VLAN tag */
        put_zeros(f, 14);
        put_u16(f, 0x8100);
        put_u32(f, 0x00640800);
        put_ipv4(f);
        return DLT_LINUX_SLL;
    case 8:
        put_u16(f, 0x86dd);
        put_zeros(f, 18);
        put_ipv6(f);
        return DLT_LINUX_SLL2;
    case 9:
        put_ipv4(f);
        return DLT_RAW;
    case 10:
        put_ipv6(f);
        return DLT_RAW;
    case 11:
        put_ipv4(f);
        return DLT_IPV4;
    case 12:
        put_ipv6(f);
        return DLT_IPV6;
    case 13: /* AF_INET of a little-endian machine */
        put_u32(f, 0x02000000);
        put_ipv4(f);
        return DLT_NULL;
    case 14: /* AF_INET6 of Darwin */
        put_u32(f, 30);
        put_ipv6(f);
        return DLT_NULL;
    case 15:
        put_u32(f, 24);
        put_ipv6(f);
        return DLT_LOOP;
    case 16: /* hop-by-hop, routing, destination options, authentication */
        put_ipv6_header(f, 8 + 24 + 8 + 16 + 8 + PAYLOAD_LEN, 0);
        put(f, "\x2b\0\x01\x04\0\0\0\0", 8);
        put(f, "\x3c\x02\0\0\0\0\0\0", 8);
        put_zeros(f, 16);
        put(f, "\x33\0\x01\x04\0\0\0\0", 8);
        put(f, "\x11\x02\0\0\0\0\0\x01", 8);
        put_zeros(f, 8);
        put_udp(f);
        return DLT_RAW;
    case 17: /* atomic fragment: a fragment header, but all of it is there */
        put_ipv6_header(f, 8 + 8 + PAYLOAD_LEN, 44);
        put(f, "\x11\0\0\0\0\0\0\x07", 8);
        put_udp(f);
        return DLT_RAW;
    default:
        return -1;
    }
}

static void finds_the_payload_under_every_link_layer(void)
{
    struct frame f;
    struct packet_udp udp;
    unsigned i = 0;
    for (int link = 0; (link = build_packing(i, &f)) >= 0; i++) {
        CU_ASSERT(packet_knows_link(link));
        CU_ASSERT_EQUAL(parse(link, &f, &udp), PACKET_UDP);
        CU_ASSERT(is_payload(&udp));
        CU_ASSERT(udp.source.family == 6 || is_from_v4(&udp));
    }
    CU_ASSERT_EQUAL(i, 18);
}

static void frame_cut_at_any_octet_is_broken(void)
{
    struct frame f;
    struct packet_udp udp;
    for (unsigned i = 0, n = 0; n < 18; i++, n++) {
        int link = build_packing(i, &f);
        for (size_t len = 0; len < f.len; len++) {
            enum packet_verdict verdict = parse_len(link, &f, len, &udp);
            CU_ASSERT_EQUAL(verdict, PACKET_BROKEN);
            CU_ASSERT_EQUAL(udp.n_fragments, 1);
        }
    }
}

static void any_octet_changed_never_reads_beyond_the_frame(void)
{
    static const uint8_t values[] = {0x00, 0x01, 0x0f, 0x2c, 0x3c, 0x7f, 0x80, 0xff};
    struct frame f;
    struct packet_udp udp;
    size_t n = 0;
    for (unsigned i = 0; i < 18; i++) {
        int link = build_packing(i, &f);
        for (size_t at = 0; at < f.len; at++) {
            uint8_t good = f.data[at];
            for (size_t v = 0; v < sizeof(values); v++) {
                f.data[at] = values[v];
                n += parse(link, &f, &udp) == PACKET_UDP; /* parse asserts where the payload is */
            }
            f.data[at] = good;
        }
    }
    CU_ASSERT(n > 0);
}

static void padding_behind_the_ip_packet_is_no_payload(void)
{
    struct frame f = {.len = 0};
    struct packet_udp udp;
    put_ether(&f, 0x0800);
    put_ipv4(&f);
    put_zeros(&f, 18);
    CU_ASSERT_EQUAL(parse(DLT_EN10MB, &f, &udp), PACKET_UDP);
    CU_ASSERT(is_payload(&udp));
    f.len = 0;
    put_ether(&f, 0x86dd);
    put_ipv6(&f);
    put_zeros(&f, 18);
    CU_ASSERT_EQUAL(parse(DLT_EN10MB, &f, &udp), PACKET_UDP);
    CU_ASSERT(is_payload(&udp));
}

static void udp_length_is_bounded_by_what_is_there(void)
{
    static const struct {
        unsigned len;
        size_t payload;
    } cases[] = {{0, PAYLOAD_LEN},
                 {8, 0},
                 {12, 4},
                 {8 + PAYLOAD_LEN + 100, PAYLOAD_LEN},
                 {65535, PAYLOAD_LEN}};
    struct packet_udp udp;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct frame f = {.len = 0};
        put_ipv4_header(&f, 20 + 8 + PAYLOAD_LEN, 17, 0);
        put_udp_len(&f, cases[i].len);
        CU_ASSERT_EQUAL(parse(DLT_RAW, &f, &udp), PACKET_UDP);
        CU_ASSERT_EQUAL(udp.len, cases[i].payload);
    }
    for (unsigned len = 1; len < 8; len++) {
        struct frame f = {.len = 0};
        put_ipv4_header(&f, 20 + 8 + PAYLOAD_LEN, 17, 0);
        put_udp_len(&f, len);
        CU_ASSERT_EQUAL(parse(DLT_RAW, &f, &udp), PACKET_BROKEN);
    }
}

static void lengths_left_to_the_network_card_mean_all_there_is(void)
{
    struct frame f = {.len = 0};
    struct packet_udp udp;
    put_ipv4_header(&f, 0, 17, 0);
    put_udp(&f);
    CU_ASSERT_EQUAL(parse(DLT_RAW, &f, &udp), PACKET_UDP);
    CU_ASSERT(is_payload(&udp));
    f.len = 0;
    put_ipv6_header(&f, 0, 17);
    put_udp(&f);
    CU_ASSERT_EQUAL(parse(DLT_RAW, &f, &udp), PACKET_UDP);
    CU_ASSERT(is_payload(&udp));
}

static void headers_that_contradict_each_other_are_broken(void)
{
    struct packet_udp udp;
    struct frame f = {.len = 0};
    put_ipv4(&f);
    f.data[0] = 0x44; /* header of 16 octets */
    CU_ASSERT_EQUAL(parse(DLT_RAW, &f, &udp), PACKET_BROKEN);
    f.data[0] = 0x46; /* header of 24 octets, total length 20 */
    f.data[2] = 0;
    f.data[3] = 20;
    CU_ASSERT_EQUAL(parse(DLT_RAW, &f, &udp), PACKET_BROKEN);
    f.len = 0;
    put_ether(&f, 0x0800);
    put_ipv6(&f);
    CU_ASSERT_EQUAL(parse(DLT_EN10MB, &f, &udp), PACKET_BROKEN);
    f.len = 0;
    put_ether(&f, 0x86dd);
    put_ipv4(&f);
    CU_ASSERT_EQUAL(parse(DLT_EN10MB, &f, &udp), PACKET_BROKEN);
}

static void what_is_no_udp_is_other_even_when_cut(void)
{
    struct packet_udp udp;
    struct frame f = {.len = 0};
    put_ether(&f, 0x0806); /* ARP */
    put_zeros(&f, 28);
    CU_ASSERT_EQUAL(parse(DLT_EN10MB, &f, &udp), PACKET_OTHER);
    f.len = 0;
    put_ether(&f, 38); /* 802.3 with a length: spanning tree */
    put_zeros(&f, 38);
    CU_ASSERT_EQUAL(parse(DLT_EN10MB, &f, &udp), PACKET_OTHER);
    f.len = 0;
    put_ipv4_header(&f, 1500, 6, 0);
    CU_ASSERT_EQUAL(parse(DLT_RAW, &f, &udp), PACKET_OTHER);
    f.len = 0;
    put_ipv6_header(&f, 1460, 58);
    CU_ASSERT_EQUAL(parse(DLT_RAW, &f, &udp), PACKET_OTHER);
    f.len = 0;
    put_u32(&f, 99); /* an address family nobody knows */
    put_ipv4(&f);
    CU_ASSERT_EQUAL(parse(DLT_NULL, &f, &udp), PACKET_OTHER);
    f.len = 0;
    put_zeros(&f, 64);
    CU_ASSERT_EQUAL(parse(DLT_RAW, &f, &udp), PACKET_OTHER);
    CU_ASSERT_EQUAL(parse(DLT_IEEE802_11, &f, &udp), PACKET_OTHER);
    CU_ASSERT(!packet_knows_link(DLT_IEEE802_11));
}

static void chains_without_end_are_broken(void)
{
    struct packet_udp udp;
    struct frame f = {.len = 0};
    put_ether(&f, 0x8100);
    for (unsigned i = 0; i < 200; i++) {
        put_u32(&f, 0x00018100);
    }
    CU_ASSERT_EQUAL(parse(DLT_EN10MB, &f, &udp), PACKET_BROKEN);
    f.len = 0;
    put_ipv6_header(&f, 1600, 60);
    for (unsigned i = 0; i < 200; i++) {
        put(&f, "\x3c\0\x01\x04\0\0\0\0", 8);
    }
    CU_ASSERT_EQUAL(parse(DLT_RAW, &f, &udp), PACKET_BROKEN);
    f.len = 0;
    put_ipv6_header(&f, 1600, 44);
    for (unsigned i = 0; i < 200; i++) {
        put(&f, "\x2c\0\0\0\0\0\0\x01", 8); /* atomic fragments inside each other */
    }
    CU_ASSERT_EQUAL(parse(DLT_RAW, &f, &udp), PACKET_BROKEN);
}

static void mapped_ipv4_address_is_the_ipv4_exporter(void)
{
    struct packet_udp udp;
    struct frame f = {.len = 0};
    put_ipv6(&f);
    memcpy(f.data + 8, "\0\0\0\0\0\0\0\0\0\0\xff\xff\xc0\0\x02\x01", 16);
    memcpy(f.data + 24, "\0\0\0\0\0\0\0\0\0\0\xff\xff\xc6\x33\x64\x02", 16);
    CU_ASSERT_EQUAL(parse(DLT_RAW, &f, &udp), PACKET_UDP);
    CU_ASSERT(is_from_v4(&udp));
}

/* ---- which datagrams are flow export ---- */

static bool accepts(struct export_filter *filter, uint16_t port, const uint8_t *payload, size_t len)
{
    struct packet_udp udp = {
        .destination_port = port, .payload = payload, .len = len, .n_fragments = 1};
    return export_filter_accepts(filter, &udp);
}

static void only_the_given_port_is_taken_and_all_of_it(void)
{
    struct export_filter filter;
    static const uint8_t junk[3] = {1, 2, 3};
    export_filter_init(&filter, 53);
    CU_ASSERT(accepts(&filter, 53, junk, sizeof(junk)));
    CU_ASSERT(accepts(&filter, 53, junk, 0));
    CU_ASSERT(!accepts(&filter, 2055, junk, sizeof(junk)));
}

static void odd_export_counts_on_ports_that_are_known(void)
{
    struct export_filter filter;
    uint8_t odd[24] = {0, 9, 0xff, 0xff};
    uint8_t good[24] = {0, 9, 0, 1, 0, 0, 0, 1, 0x65, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4};
    export_filter_init(&filter, 0);
    odd[21] = 9; /* set id 9, time 1970 */
    CU_ASSERT(accepts(&filter, 2055, odd, sizeof(odd)));
    CU_ASSERT(!accepts(&filter, 2055, odd, 15));
    CU_ASSERT(!accepts(&filter, 7777, odd, sizeof(odd)));
    CU_ASSERT(accepts(&filter, 7777, good, sizeof(good)));
    CU_ASSERT(accepts(&filter, 7777, odd, sizeof(odd)));
    good[1] = 8;
    CU_ASSERT(!accepts(&filter, 7777, good, sizeof(good)));
}

static void other_protocols_are_no_flows(void)
{
    struct export_filter filter;
    export_filter_init(&filter, 0);
    /* STUN binding request with 44 octets of attributes: its type is version 1, its length has whole v1 records behind it */
    uint8_t stun[64] = {0, 1, 0, 44, 0x21, 0x12, 0xa4, 0x42, 0x65};
    CU_ASSERT(!accepts(&filter, 3478, stun, sizeof(stun)));
    /* DNS answers whose id is 9 and 10, one question, one answer */
    uint8_t dns[64] = {0, 9,   0x81, 0x80, 0, 1,   0,   1,   0,   0,   0,   0,
                       3, 'w', 'w',  'w',  7, 'e', 'x', 'a', 'm', 'p', 'l', 'e'};
    CU_ASSERT(!accepts(&filter, 40000, dns, sizeof(dns)));
    dns[1] = 10;
    CU_ASSERT(!accepts(&filter, 40000, dns, sizeof(dns)));
    CU_ASSERT(!accepts(&filter, 53, dns, sizeof(dns)));
    /* TFTP error */
    static const uint8_t tftp[] = "\0\x05\0\x01"
                                  "File not found, sorry";
    CU_ASSERT(!accepts(&filter, 50001, tftp, sizeof(tftp)));
    static const uint8_t empty[1] = {0};
    CU_ASSERT(!accepts(&filter, 2055, empty, 0));
}

static void every_version_is_found_on_any_port(void)
{
    static const uint8_t versions[] = {1, 5, 7, 9, 10};
    for (size_t i = 0; i < sizeof(versions); i++) {
        struct export_filter filter;
        export_filter_init(&filter, 0);
        uint8_t data[24 + 52] = {0, versions[i], 0, 1};
        if (versions[i] == 10) {
            data[3] = sizeof(data);
        } else {
            data[8] = 0x65; /* 2023 */
        }
        CU_ASSERT(accepts(&filter, 61000, data, sizeof(data)));
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"finds_the_payload_under_every_link_layer", finds_the_payload_under_every_link_layer},
        {"frame_cut_at_any_octet_is_broken", frame_cut_at_any_octet_is_broken},
        {"any_octet_changed_never_reads_beyond_the_frame",
         any_octet_changed_never_reads_beyond_the_frame},
        {"padding_behind_the_ip_packet_is_no_payload", padding_behind_the_ip_packet_is_no_payload},
        {"udp_length_is_bounded_by_what_is_there", udp_length_is_bounded_by_what_is_there},
        {"lengths_left_to_the_network_card_mean_all_there_is",
         lengths_left_to_the_network_card_mean_all_there_is},
        {"headers_that_contradict_each_other_are_broken",
         headers_that_contradict_each_other_are_broken},
        {"what_is_no_udp_is_other_even_when_cut", what_is_no_udp_is_other_even_when_cut},
        {"chains_without_end_are_broken", chains_without_end_are_broken},
        {"mapped_ipv4_address_is_the_ipv4_exporter", mapped_ipv4_address_is_the_ipv4_exporter},
        {"only_the_given_port_is_taken_and_all_of_it", only_the_given_port_is_taken_and_all_of_it},
        {"odd_export_counts_on_ports_that_are_known", odd_export_counts_on_ports_that_are_known},
        {"other_protocols_are_no_flows", other_protocols_are_no_flows},
        {"every_version_is_found_on_any_port", every_version_is_found_on_any_port},
    };
    return test_main("packet", cases, sizeof(cases) / sizeof(cases[0]));
}
