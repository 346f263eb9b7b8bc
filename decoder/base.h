// SPDX-License-Identifier: Apache-2.0
/*
 * base - what every room shares: error codes, addresses, the three time units
 *
 * Owns nothing, allocates nothing, includes nothing of the project. Any thread.
 * Functions return int: >= 0 is success, negative is enum wf_err. Outputs come last and are
 * untouched on failure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wf_err {
    WF_OK = 0,
    WF_E_NOMEM = -1,     /* allocation failed */
    WF_E_INVAL = -2,     /* an argument is out of its range */
    WF_E_TRUNCATED = -3, /* input ends before what it announces */
    WF_E_FORMAT = -4,    /* input is not what it should be */
    WF_E_LIMIT = -5,     /* a budget or limit is used up */
    WF_E_NOTFOUND = -6,
    WF_E_IO = -7, /* the system refused; errno tells why */
    WF_E_PERM = -8,
    WF_E_INUSE = -9,
    WF_E_FULL = -10,
    WF_E_STOPPED = -11, /* the other side is gone: orderly end */
};

/* Text of an error code, never NULL. Static storage. */
const char *wf_err_text(int err);

#define WF_NS_PER_S  1000000000LL
#define WF_NS_PER_MS 1000000LL

/* An IPv4 or IPv6 address in network order. family is 4 or 6, 0 = none. IPv4 fills bytes[0..3],
 * the rest is zero, so that two addresses are equal exactly when memcmp says so. */
struct wf_addr {
    uint8_t bytes[16];
    uint8_t family;
};

struct wf_addr wf_addr_v4(const uint8_t bytes[4]);
/* IPv4-mapped (::ffff:a.b.c.d) becomes IPv4: a dual-stack socket must not split one exporter in two. */
struct wf_addr wf_addr_v6(const uint8_t bytes[16]);
bool wf_addr_equal(const struct wf_addr *a, const struct wf_addr *b);

/* Mixes 64 bits (finaliser of murmur3): for hash tables whose keys come from the wire, together
 * with a random seed. */
uint64_t wf_mix64(uint64_t x);
