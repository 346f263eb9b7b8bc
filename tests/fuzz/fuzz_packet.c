// SPDX-License-Identifier: Apache-2.0
/*
 * Frames through the packet parser and the fragment table.
 *
 * Input: link type index (1 octet), then { length (2 octets), frame } ... Oracles: a payload lies in readable memory, no more
 * frames come out than went in.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "collector/input/packet.h"
#include "decoder/wire/cursor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int links[] = {1, 113, 276, 12, 101, 228, 229, 0, 108};
    struct fragments *fragments = fragments_new(65536);
    if (!fragments || size < 1) {
        fragments_free(fragments);
        return 0;
    }
    int link = links[data[0] % (sizeof(links) / sizeof(links[0]))];
    struct cursor c = cursor_init(data + 1, size - 1);
    uint64_t frames = 0;
    uint64_t used = 0;
    uint64_t sum = 0;
    while (cursor_left(&c) >= 2) {
        size_t len = cursor_u16(&c);
        len = len < cursor_left(&c) ? len : cursor_left(&c);
        struct packet_udp udp;
        frames++;
        if (packet_parse(link, cursor_take(&c, len), len, fragments, &udp) == PACKET_UDP) {
            used += udp.n_fragments;
            for (size_t i = 0; i < udp.len; i++) {
                sum += udp.payload[i];
            }
        }
    }
    if (sum == UINT64_MAX ||
        used + fragments_lost(fragments) + fragments_waiting(fragments) > frames) {
        fprintf(stderr, "more frames came out than went in\n");
        abort();
    }
    fragments_free(fragments);
    return 0;
}
