// SPDX-License-Identifier: Apache-2.0
#include "collector/input/export_filter.h"

#include <string.h>

#include "decoder/wire/cursor.h"

#define MIN_EXPORT_LEN 16

/* 1991 and 2106: what an exporter without a clock (1970) and noise mostly are not between. */
#define MIN_EXPORT_TIME 0x28000000U
#define MAX_EXPORT_TIME 0xff000000U

#define STUN_COOKIE     0x2112a442U

/* Where flow export is at home. */
static const uint16_t home_ports[] = {2055, 2056, 2057, 4432, 4729, 4739, 9555, 9666, 9990,
                                      9991, 9992, 9993, 9994, 9995, 9996, 9997, 9998};
/* Where it is not, whatever the first two octets are: an id or a version of the protocol that lives there. */
static const uint16_t foreign_ports[] = {53, 123, 161, 162, 500, 514, 520, 4789};

static bool is_known(const struct export_filter *filter, uint16_t port)
{
    return filter->known_ports[port / 64] >> (port % 64) & 1;
}

static void learn(struct export_filter *filter, uint16_t port)
{
    filter->known_ports[port / 64] |= 1ULL << (port % 64);
}

void export_filter_init(struct export_filter *filter, uint16_t only_port)
{
    memset(filter, 0, sizeof(*filter));
    filter->only_port = only_port;
    for (size_t i = 0; i < sizeof(home_ports) / sizeof(home_ports[0]); i++) {
        learn(filter, home_ports[i]);
    }
}

static bool is_foreign(uint16_t port)
{
    for (size_t i = 0; i < sizeof(foreign_ports) / sizeof(foreign_ports[0]); i++) {
        if (foreign_ports[i] == port) {
            return true;
        }
    }
    return false;
}

static bool is_time(uint32_t unix_s)
{
    return unix_s >= MIN_EXPORT_TIME && unix_s <= MAX_EXPORT_TIME;
}

/* v1, v5, v7: version, count, uptime, seconds, ...; then records of one size, of which exporters now and then announce more than there
 * are. Not so in v1, whose version word is also STUN's. */
static bool is_fixed(const struct packet_udp *udp, size_t header, size_t record)
{
    struct cursor c = cursor_init(udp->payload, udp->len);
    uint16_t version = cursor_u16(&c);
    size_t count = cursor_u16(&c);
    uint32_t uptime_ms = cursor_u32(&c);
    uint32_t unix_s = cursor_u32(&c);
    if (udp->len < header + record || !is_time(unix_s) || uptime_ms == STUN_COOKIE) {
        return false;
    }
    return version != 1 || header + count * record <= udp->len;
}

static bool is_set(struct cursor c, bool is_ipfix)
{
    uint16_t id = cursor_u16(&c);
    uint16_t len = cursor_u16(&c);
    bool is_template = is_ipfix ? id == 2 || id == 3 : id <= 1;
    return !c.failed && (is_template || id >= 256) && len >= 4 && len - 4U <= cursor_left(&c);
}

static bool is_v9(const struct packet_udp *udp)
{
    struct cursor c = cursor_init(udp->payload, udp->len);
    cursor_take(&c, 8);
    uint32_t unix_s = cursor_u32(&c);
    cursor_take(&c, 8);
    return is_time(unix_s) || is_set(c, false);
}

static bool is_ipfix(const struct packet_udp *udp)
{
    struct cursor c = cursor_init(udp->payload, udp->len);
    cursor_take(&c, 2);
    size_t len = cursor_u16(&c);
    uint32_t unix_s = cursor_u32(&c);
    cursor_take(&c, 8);
    return len == udp->len || is_time(unix_s) || is_set(c, true);
}

static bool makes_sense(const struct packet_udp *udp, uint16_t version)
{
    switch (version) {
    case 1:
        return is_fixed(udp, 16, 48);
    case 5:
        return is_fixed(udp, 24, 48);
    case 7:
        return is_fixed(udp, 24, 52);
    case 9:
        return is_v9(udp);
    default:
        return is_ipfix(udp);
    }
}

bool export_filter_accepts(struct export_filter *filter, const struct packet_udp *udp)
{
    if (filter->only_port != 0) {
        return udp->destination_port == filter->only_port;
    }
    struct cursor c = cursor_init(udp->payload, udp->len);
    uint16_t version = cursor_u16(&c);
    bool is_ours = version == 1 || version == 5 || version == 7 || version == 9 || version == 10;
    if (!is_ours || udp->len < MIN_EXPORT_LEN || is_foreign(udp->destination_port)) {
        return false;
    }
    if (is_known(filter, udp->destination_port)) {
        return true;
    }
    if (!makes_sense(udp, version)) {
        return false;
    }
    learn(filter, udp->destination_port);
    return true;
}
