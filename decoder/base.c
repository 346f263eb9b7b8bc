// SPDX-License-Identifier: Apache-2.0
#include "decoder/base.h"

#include <string.h>

const char *wf_err_text(int err)
{
    static const char *const texts[] = {
        "success",
        "out of memory",
        "argument out of range",
        "input ends too early",
        "wrong format",
        "limit reached",
        "not found",
        "input/output error",
        "no permission",
        "already in use",
        "full",
        "stopped",
    };
    if (err > 0) {
        err = 0;
    }
    if (err < WF_E_STOPPED) {
        return "unknown error";
    }
    return texts[-err];
}

struct wf_addr wf_addr_v4(const uint8_t bytes[4])
{
    struct wf_addr a = {.family = 4};
    memcpy(a.bytes, bytes, 4);
    return a;
}

struct wf_addr wf_addr_v6(const uint8_t bytes[16])
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (memcmp(bytes, mapped, sizeof(mapped)) == 0) {
        return wf_addr_v4(bytes + sizeof(mapped));
    }
    struct wf_addr a = {.family = 6};
    memcpy(a.bytes, bytes, 16);
    return a;
}

bool wf_addr_equal(const struct wf_addr *a, const struct wf_addr *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

uint64_t wf_mix64(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
    return x;
}
