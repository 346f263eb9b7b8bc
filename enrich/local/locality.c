// SPDX-License-Identifier: Apache-2.0
/*
 * locality - two short lists of networks as value and mask, compared one by one
 *
 * Lists hold a handful of networks: a loop over masked words is faster than any tree. What is always internal is in
 * the lists as well, so that a question has one answer path.
 */
#include "enrich/local/locality.h"

#include <arpa/inet.h>

#include <stdlib.h>
#include <string.h>

struct network4 {
    uint32_t value, mask;
};

struct network6 {
    uint64_t value[2], mask[2];
};

struct locality {
    size_t n4, n6;
    struct network4 *v4; /* owned, as is v6 */
    struct network6 *v6;
};

#define MAX_TEXT 64

static const char *const always[] = {
    "127.0.0.0/8", "0.0.0.0/32", "255.255.255.255/32", "169.254.0.0/16", "224.0.0.0/24",
    "::1/128",     "::/128",     "fe80::/10",
};
static const char *const private_networks[] = {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
                                               "fc00::/7"};

#define N_ALWAYS  (sizeof always / sizeof always[0])
#define N_PRIVATE (sizeof private_networks / sizeof private_networks[0])

static uint32_t word4(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint64_t word8(const uint8_t *p)
{
    return (uint64_t)word4(p) << 32 | word4(p + 4);
}

/* The first n bits of a 64-bit word; n may lie outside 0..64. */
static uint64_t leading_bits(int n)
{
    if (n <= 0) {
        return 0;
    }
    return n >= 64 ? UINT64_MAX : UINT64_MAX << (64 - n);
}

/* "192.0.2.0/24" or "192.0.2.1" into address and prefix length; false when it is neither. */
static bool parse(const char *text, struct wf_addr *addr, int *prefix)
{
    char host[MAX_TEXT];
    const char *slash = strchr(text, '/');
    size_t len = slash ? (size_t)(slash - text) : strlen(text);
    if (len == 0 || len >= sizeof host) {
        return false;
    }
    memcpy(host, text, len);
    host[len] = '\0';
    *addr = (struct wf_addr){0};
    if (inet_pton(AF_INET, host, addr->bytes) == 1) {
        addr->family = 4;
    } else if (inet_pton(AF_INET6, host, addr->bytes) == 1) {
        addr->family = 6;
    } else {
        return false;
    }
    int max = addr->family == 4 ? 32 : 128;
    *prefix = max;
    if (!slash) {
        return true;
    }
    size_t digits = strspn(slash + 1, "0123456789");
    if (digits == 0 || digits > 3 || slash[1 + digits]) {
        return false;
    }
    *prefix = (int)strtol(slash + 1, NULL, 10);
    return *prefix <= max;
}

static bool add(struct locality *locality, const char *text)
{
    struct wf_addr addr;
    int prefix;
    if (!parse(text, &addr, &prefix)) {
        return false;
    }
    if (addr.family == 4) {
        struct network4 *n = &locality->v4[locality->n4++];
        n->mask = (uint32_t)(leading_bits(prefix) >> 32);
        n->value = word4(addr.bytes) & n->mask;
        return true;
    }
    struct network6 *n = &locality->v6[locality->n6++];
    for (size_t i = 0; i < 2; i++) {
        n->mask[i] = leading_bits(prefix - 64 * (int)i);
        n->value[i] = word8(addr.bytes + 8 * i) & n->mask[i];
    }
    return true;
}

/* ff01 and ff02, with any flags: multicast of the interface or the link. */
static void add_multicast6(struct locality *locality)
{
    for (uint64_t scope = 1; scope <= 2; scope++) {
        locality->v6[locality->n6++] = (struct network6){
            .value = {0xff00000000000000ULL | scope << 48},
            .mask = {0xff0f000000000000ULL},
        };
    }
}

static bool add_all(struct locality *locality, const char *const *networks, size_t n, size_t *bad)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(networks[i], "private") != 0) {
            if (!add(locality, networks[i])) {
                *bad = i;
                return false;
            }
            continue;
        }
        for (size_t j = 0; j < N_PRIVATE; j++) {
            add(locality, private_networks[j]);
        }
    }
    for (size_t j = 0; j < N_ALWAYS; j++) {
        add(locality, always[j]);
    }
    add_multicast6(locality);
    return true;
}

int locality_new(const char *const *networks, size_t n, struct locality **locality, size_t *bad)
{
    static const char *const standard[] = {"private"};
    if (n == 0) {
        networks = standard;
        n = 1;
    }
    size_t room = N_PRIVATE * n + N_ALWAYS + 2;
    struct locality *made = calloc(1, sizeof *made);
    if (!made) {
        return WF_E_NOMEM;
    }
    made->v4 = calloc(room, sizeof *made->v4);
    made->v6 = calloc(room, sizeof *made->v6);
    if (!made->v4 || !made->v6) {
        locality_free(made);
        return WF_E_NOMEM;
    }
    size_t at = 0;
    if (!add_all(made, networks, n, &at)) {
        locality_free(made);
        if (bad) {
            *bad = at;
        }
        return WF_E_FORMAT;
    }
    *locality = made;
    return WF_OK;
}

void locality_free(struct locality *locality)
{
    if (locality) {
        free(locality->v4);
        free(locality->v6);
        free(locality);
    }
}

bool locality_is_internal(const struct locality *locality, const struct wf_addr *addr)
{
    if (addr->family == 4) {
        uint32_t word = word4(addr->bytes);
        for (size_t i = 0; i < locality->n4; i++) {
            if ((word & locality->v4[i].mask) == locality->v4[i].value) {
                return true;
            }
        }
        return false;
    }
    uint64_t high = word8(addr->bytes);
    uint64_t low = word8(addr->bytes + 8);
    for (size_t i = 0; i < locality->n6; i++) {
        const struct network6 *n = &locality->v6[i];
        if ((high & n->mask[0]) == n->value[0] && (low & n->mask[1]) == n->value[1]) {
            return true;
        }
    }
    return false;
}

enum locality_direction locality_direction_of(bool source_internal, bool destination_internal)
{
    if (source_internal) {
        return destination_internal ? LOCALITY_INTERNAL : LOCALITY_OUTBOUND;
    }
    return destination_internal ? LOCALITY_INBOUND : LOCALITY_EXTERNAL;
}
