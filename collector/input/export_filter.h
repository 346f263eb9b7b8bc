// SPDX-License-Identifier: Apache-2.0
/*
 * export_filter - which UDP datagrams of a capture are flow export
 *
 * Without a port given: those to a port where flow export is at home or was seen before, when their version word is one of ours;
 * and those to any other port whose header makes sense, which makes the port known. So a capture of everything does not turn
 * STUN or DNS into flows, and odd datagrams of a real exporter still reach the decoder, which counts them. One thread.
 */
#pragma once

#include "collector/input/packet.h"

struct export_filter {
    uint16_t only_port; /* 0 = any */
    uint64_t known_ports[65536 / 64];
};

/* only_port: all datagrams to it, and no others; 0 = as above. */
void export_filter_init(struct export_filter *filter, uint16_t only_port);
bool export_filter_accepts(struct export_filter *filter, const struct packet_udp *udp);
