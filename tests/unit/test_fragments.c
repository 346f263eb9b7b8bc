// SPDX-License-Identifier: Apache-2.0
#include <pcap/dlt.h>
#include <stdlib.h>
#include <string.h>

#include "collector/input/packet.h"
#include "tests/support/support.h"

#define DATAGRAM_LEN 4000 /* UDP header and payload */
#define PIECE        1000U
#define N_PIECES     4

struct fixture {
    struct fragments *fragments;
    uint8_t datagram[65536];
    uint8_t frame[66000];
    struct packet_udp udp;
    uint64_t frames, used; /* frames given, frames that whole datagrams were made of */
};

static struct fixture *fixture_new(size_t max_bytes)
{
    struct fixture *x = calloc(1, sizeof(*x));
    if (!x || !(x->fragments = fragments_new(max_bytes))) {
        abort();
    }
    for (size_t i = 0; i < sizeof(x->datagram); i++) {
        x->datagram[i] = (uint8_t)(i * 31 + i / 256);
    }
    memcpy(x->datagram, (const uint8_t[]){0xc3, 0x50, 0x08, 0x07}, 4); /* ports 50000, 2055 */
    x->datagram[4] = DATAGRAM_LEN >> 8;
    x->datagram[5] = DATAGRAM_LEN & 255;
    return x;
}

/* Every frame is used, lost or waiting. */
static void fixture_free(struct fixture *x)
{
    CU_ASSERT_EQUAL(x->frames,
                    x->used + fragments_lost(x->fragments) + fragments_waiting(x->fragments));
    fragments_free(x->fragments);
    free(x);
}

static enum packet_verdict parse(struct fixture *x, size_t len)
{
    /* exactly as long as the frame, so that a sanitizer sees each octet read too far */
    uint8_t *copy = malloc(len);
    if (!copy) {
        abort();
    }
    memcpy(copy, x->frame, len);
    enum packet_verdict verdict = packet_parse(DLT_RAW, copy, len, x->fragments, &x->udp);
    free(copy);
    x->frames++;
    x->used += verdict == PACKET_FRAGMENT ? 0 : x->udp.n_fragments;
    return verdict;
}

/* Octets offset..offset+len of the datagram as an IPv4 fragment. */
static enum packet_verdict feed(struct fixture *x, unsigned id, size_t offset, size_t len,
                                bool more)
{
    uint8_t *f = x->frame;
    size_t total = 20 + len;
    memset(f, 0, 20);
    f[0] = 0x45;
    f[2] = (uint8_t)(total >> 8);
    f[3] = (uint8_t)total;
    f[4] = (uint8_t)(id >> 8);
    f[5] = (uint8_t)id;
    f[6] = (uint8_t)(offset / 8 >> 8) | (more ? 0x20 : 0);
    f[7] = (uint8_t)(offset / 8);
    f[9] = 17;
    memcpy(f + 12, (const uint8_t[]){192, 0, 2, 1, 198, 51, 100, 2}, 8);
    memcpy(f + 20, x->datagram + offset, len);
    return parse(x, total);
}

/* The same as an IPv6 fragment; next is what begins at offset 0. */
static enum packet_verdict feed_v6(struct fixture *x, uint8_t next, size_t offset, size_t len,
                                   bool more)
{
    uint8_t *f = x->frame;
    size_t payload = 8 + len;
    memset(f, 0, 48);
    f[0] = 0x60;
    f[4] = (uint8_t)(payload >> 8);
    f[5] = (uint8_t)payload;
    f[6] = 44;
    f[8] = 0x20;
    f[23] = 1;
    f[24] = 0x20;
    f[39] = 2;
    f[40] = next;
    f[42] = (uint8_t)(offset >> 8);
    f[43] = (uint8_t)(offset | more);
    f[47] = 77;
    memcpy(f + 48, x->datagram + offset, len);
    return parse(x, 48 + len);
}

static enum packet_verdict feed_piece(struct fixture *x, unsigned id, unsigned piece)
{
    return feed(x, id, (size_t)piece * PIECE, PIECE, piece + 1 < N_PIECES);
}

static bool is_whole(const struct fixture *x, size_t header, size_t len, uint32_t n_fragments)
{
    return x->udp.len == len && !memcmp(x->udp.payload, x->datagram + header, len) &&
           x->udp.n_fragments == n_fragments && x->udp.destination_port == 2055;
}

static void pieces_in_every_order_give_the_datagram(void)
{
    unsigned n_orders = 0;
    for (unsigned code = 0; code < 256; code++) {
        unsigned order[N_PIECES] = {code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6};
        unsigned seen = 0;
        for (size_t i = 0; i < N_PIECES; i++) {
            seen |= 1U << order[i];
        }
        if (seen != 15) {
            continue;
        }
        struct fixture *x = fixture_new(1 << 20);
        for (size_t i = 0; i < N_PIECES - 1; i++) {
            CU_ASSERT_EQUAL(feed_piece(x, 1, order[i]), PACKET_FRAGMENT);
            CU_ASSERT_EQUAL(fragments_waiting(x->fragments), i + 1);
        }
        CU_ASSERT_EQUAL(feed_piece(x, 1, order[N_PIECES - 1]), PACKET_UDP);
        CU_ASSERT(is_whole(x, 8, DATAGRAM_LEN - 8, N_PIECES));
        CU_ASSERT_EQUAL(fragments_waiting(x->fragments), 0);
        CU_ASSERT_EQUAL(fragments_lost(x->fragments), 0);
        fixture_free(x);
        n_orders++;
    }
    CU_ASSERT_EQUAL(n_orders, 24);
}

static void datagrams_that_interleave_stay_apart(void)
{
    struct fixture *x = fixture_new(1 << 20);
    for (unsigned piece = 0; piece < N_PIECES; piece++) {
        for (unsigned id = 1; id <= 20; id++) {
            enum packet_verdict verdict = feed_piece(x, id, piece);
            CU_ASSERT_EQUAL(verdict, piece + 1 < N_PIECES ? PACKET_FRAGMENT : PACKET_UDP);
            CU_ASSERT(verdict != PACKET_UDP || is_whole(x, 8, DATAGRAM_LEN - 8, N_PIECES));
        }
    }
    fixture_free(x);
}

static void missing_piece_waits_and_is_given_up_after_30_s(void)
{
    struct fixture *x = fixture_new(1 << 20);
    fragments_set_time(x->fragments, 1000 * WF_NS_PER_S);
    feed_piece(x, 1, 0);
    feed_piece(x, 1, 2);
    fragments_set_time(x->fragments, 1020 * WF_NS_PER_S);
    feed_piece(x, 2, 3);
    CU_ASSERT_EQUAL(fragments_waiting(x->fragments), 3);
    fragments_set_time(x->fragments, 1031 * WF_NS_PER_S);
    CU_ASSERT_EQUAL(fragments_waiting(x->fragments), 1);
    CU_ASSERT_EQUAL(fragments_lost(x->fragments), 2);
    /* the id comes round again: the new datagram is not mixed with the old */
    for (unsigned piece = 0; piece < N_PIECES; piece++) {
        feed_piece(x, 1, piece);
    }
    CU_ASSERT(is_whole(x, 8, DATAGRAM_LEN - 8, N_PIECES));
    fixture_free(x);
}

static void exact_repetition_does_no_harm(void)
{
    struct fixture *x = fixture_new(1 << 20);
    feed_piece(x, 1, 0);
    CU_ASSERT_EQUAL(feed_piece(x, 1, 0), PACKET_FRAGMENT);
    feed_piece(x, 1, 3);
    CU_ASSERT_EQUAL(feed_piece(x, 1, 3), PACKET_FRAGMENT);
    feed_piece(x, 1, 1);
    CU_ASSERT_EQUAL(feed_piece(x, 1, 2), PACKET_UDP);
    CU_ASSERT(is_whole(x, 8, DATAGRAM_LEN - 8, 6));
    fixture_free(x);
}

static void overlap_with_other_content_refuses_the_datagram(void)
{
    static const struct {
        size_t offset, len;
    } overlaps[] = {{0, PIECE}, {504, PIECE}, {504, 8}, {992, 16}};
    for (size_t i = 0; i < sizeof(overlaps) / sizeof(overlaps[0]); i++) {
        struct fixture *x = fixture_new(1 << 20);
        feed_piece(x, 1, 0);
        size_t at = overlaps[i].offset + overlaps[i].len - 1;
        uint8_t good = x->datagram[at < PIECE ? at : PIECE - 1];
        x->datagram[at < PIECE ? at : PIECE - 1] ^= 0xff;
        CU_ASSERT_EQUAL(feed(x, 1, overlaps[i].offset, overlaps[i].len, true), PACKET_FRAGMENT);
        x->datagram[at < PIECE ? at : PIECE - 1] = good;
        CU_ASSERT_EQUAL(fragments_lost(x->fragments), 2);
        for (unsigned piece = 0; piece < N_PIECES; piece++) {
            CU_ASSERT_EQUAL(feed_piece(x, 1, piece), PACKET_FRAGMENT); /* not even later */
        }
        CU_ASSERT_EQUAL(fragments_lost(x->fragments), 2 + N_PIECES);
        CU_ASSERT_EQUAL(fragments_waiting(x->fragments), 0);
        fixture_free(x);
    }
}

static void partial_overlap_is_refused_even_with_the_same_content(void)
{
    struct fixture *x = fixture_new(1 << 20);
    feed_piece(x, 1, 0);
    CU_ASSERT_EQUAL(feed(x, 1, 504, PIECE, true), PACKET_FRAGMENT);
    CU_ASSERT_EQUAL(fragments_lost(x->fragments), 2);
    fixture_free(x);
}

static void two_ends_refuse_the_datagram(void)
{
    struct fixture *x = fixture_new(1 << 20);
    feed_piece(x, 1, 3);
    feed(x, 1, 4000, 8, false); /* a second last piece, behind */
    CU_ASSERT_EQUAL(fragments_lost(x->fragments), 2);
    feed_piece(x, 2, 3);
    feed(x, 2, 2000, 8, false); /* before */
    CU_ASSERT_EQUAL(fragments_lost(x->fragments), 4);
    feed_piece(x, 3, 2);
    feed(x, 3, 1000, 8, false); /* an end in front of what has come */
    CU_ASSERT_EQUAL(fragments_lost(x->fragments), 6);
    feed_piece(x, 4, 3);
    feed(x, 4, 4000, 8, true); /* goes on behind the end */
    CU_ASSERT_EQUAL(fragments_lost(x->fragments), 8);
    fixture_free(x);
}

static void impossible_pieces_are_broken_and_not_kept(void)
{
    struct fixture *x = fixture_new(1 << 20);
    CU_ASSERT_EQUAL(feed(x, 1, 0, 1001, true), PACKET_BROKEN);    /* odd length in the middle */
    CU_ASSERT_EQUAL(feed(x, 1, 8, 0, true), PACKET_BROKEN);       /* empty */
    CU_ASSERT_EQUAL(feed(x, 1, 65528, 16, false), PACKET_BROKEN); /* beyond the largest datagram */
    CU_ASSERT_EQUAL(fragments_waiting(x->fragments), 0);
    fixture_free(x);
}

static void largest_datagram_in_smallest_pieces_in_order_fits(void)
{
    struct fixture *x = fixture_new(1 << 20);
    memcpy(x->datagram + 4, "\xff\xff", 2);
    enum packet_verdict verdict = PACKET_FRAGMENT;
    uint32_t n = 0;
    for (size_t offset = 0; offset < 65535; offset += 8) {
        size_t len = offset + 8 <= 65535 ? 8 : 65535 - offset;
        CU_ASSERT_EQUAL(verdict, PACKET_FRAGMENT);
        verdict = feed(x, 9, offset, len, offset + 8 < 65535);
        n++;
    }
    CU_ASSERT_EQUAL(verdict, PACKET_UDP);
    CU_ASSERT(is_whole(x, 8, 65527, n));
    fixture_free(x);
}

static void too_many_holes_refuse_the_datagram(void)
{
    struct fixture *x = fixture_new(1 << 20);
    for (size_t i = 0; i < 32; i++) {
        feed(x, 1, i * 16, 8, true);
    }
    CU_ASSERT_EQUAL(fragments_waiting(x->fragments), 32);
    feed(x, 1, 512, 8, true);
    CU_ASSERT_EQUAL(fragments_lost(x->fragments), 33);
    fixture_free(x);
}

static void oldest_gives_way_when_the_budget_is_used_up(void)
{
    struct fixture *x = fixture_new(1); /* the least there is: 128 KiB */
    for (unsigned id = 0; id < 1000; id++) {
        feed_piece(x, id, 0);
    }
    CU_ASSERT(fragments_waiting(x->fragments) < 40);
    CU_ASSERT(fragments_waiting(x->fragments) > 10);
    feed_piece(x, 999, 1);
    feed_piece(x, 999, 2);
    CU_ASSERT_EQUAL(feed_piece(x, 999, 3), PACKET_UDP);
    CU_ASSERT_EQUAL(feed_piece(x, 0, 3), PACKET_FRAGMENT);
    for (unsigned id = 2000; id < 4000; id++) {
        feed(x, id, 65000, 8, true); /* 64 KiB of buffer each */
    }
    CU_ASSERT(fragments_waiting(x->fragments) <= 2);
    fixture_free(x);
}

static void ipv6_pieces_give_the_datagram_behind_its_extension_header(void)
{
    struct fixture *x = fixture_new(1 << 20);
    memmove(x->datagram + 8, x->datagram, DATAGRAM_LEN);
    memcpy(x->datagram, "\x11\0\x01\x04\0\0\0\0", 8); /* destination options, then UDP */
    CU_ASSERT_EQUAL(feed_v6(x, 60, 2000, 2008, false), PACKET_FRAGMENT);
    CU_ASSERT_EQUAL(feed_v6(x, 60, 0, 2000, true), PACKET_UDP);
    CU_ASSERT(is_whole(x, 16, DATAGRAM_LEN - 8, 2));
    fixture_free(x);
}

static void ipv6_pieces_of_tcp_are_other_at_once(void)
{
    struct fixture *x = fixture_new(1 << 20);
    CU_ASSERT_EQUAL(feed_v6(x, 6, 0, 2000, true), PACKET_OTHER);
    CU_ASSERT_EQUAL(feed_v6(x, 6, 2000, 2000, false), PACKET_OTHER);
    fixture_free(x);
}

static void whole_datagram_that_is_no_udp_counts_all_its_frames(void)
{
    struct fixture *x = fixture_new(1 << 20);
    memcpy(x->datagram, "\x06\0\x01\x04\0\0\0\0", 8); /* destination options, then TCP */
    feed_v6(x, 60, 0, 2000, true);
    CU_ASSERT_EQUAL(feed_v6(x, 60, 2000, 2000, false), PACKET_OTHER);
    CU_ASSERT_EQUAL(x->udp.n_fragments, 2);
    memcpy(x->datagram, "\x2c\0\x01\x04\0\0\0\0",
           8); /* destination options, then a fragment header again */
    feed_v6(x, 60, 0, 2000, true);
    CU_ASSERT_EQUAL(feed_v6(x, 60, 2000, 2000, false), PACKET_BROKEN);
    CU_ASSERT_EQUAL(x->udp.n_fragments, 2);
    fixture_free(x);
}

static void hostile_pieces_keep_the_account(void)
{
    struct fixture *x = fixture_new(1);
    uint32_t state = 12345;
    for (unsigned i = 0; i < 200000; i++) {
        state = state * 1664525U + 1013904223U;
        unsigned id = state >> 24 & 15;
        size_t offset = (size_t)(state >> 12 & 31) * 8;
        size_t len = (size_t)((state >> 8 & 7) + 1) * 8;
        feed(x, id, offset, len, state >> 20 & 3);
        if (i % 1000 == 0) {
            fragments_set_time(x->fragments, i * WF_NS_PER_S / 100);
        }
    }
    CU_ASSERT(x->used > 0);
    CU_ASSERT(fragments_lost(x->fragments) > 0);
    fixture_free(x);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"pieces_in_every_order_give_the_datagram", pieces_in_every_order_give_the_datagram},
        {"datagrams_that_interleave_stay_apart", datagrams_that_interleave_stay_apart},
        {"missing_piece_waits_and_is_given_up_after_30_s",
         missing_piece_waits_and_is_given_up_after_30_s},
        {"exact_repetition_does_no_harm", exact_repetition_does_no_harm},
        {"overlap_with_other_content_refuses_the_datagram",
         overlap_with_other_content_refuses_the_datagram},
        {"partial_overlap_is_refused_even_with_the_same_content",
         partial_overlap_is_refused_even_with_the_same_content},
        {"two_ends_refuse_the_datagram", two_ends_refuse_the_datagram},
        {"impossible_pieces_are_broken_and_not_kept", impossible_pieces_are_broken_and_not_kept},
        {"largest_datagram_in_smallest_pieces_in_order_fits",
         largest_datagram_in_smallest_pieces_in_order_fits},
        {"too_many_holes_refuse_the_datagram", too_many_holes_refuse_the_datagram},
        {"oldest_gives_way_when_the_budget_is_used_up",
         oldest_gives_way_when_the_budget_is_used_up},
        {"ipv6_pieces_give_the_datagram_behind_its_extension_header",
         ipv6_pieces_give_the_datagram_behind_its_extension_header},
        {"ipv6_pieces_of_tcp_are_other_at_once", ipv6_pieces_of_tcp_are_other_at_once},
        {"whole_datagram_that_is_no_udp_counts_all_its_frames",
         whole_datagram_that_is_no_udp_counts_all_its_frames},
        {"hostile_pieces_keep_the_account", hostile_pieces_keep_the_account},
    };
    return test_main("fragments", cases, sizeof(cases) / sizeof(cases[0]));
}
