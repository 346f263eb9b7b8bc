// SPDX-License-Identifier: Apache-2.0
/*
 * locality - is an address internal or external, and what direction does that make
 *
 * A set of networks, immutable once made: any thread may ask. Default "private": RFC 1918, RFC 4193. Always
 * internal: loopback, unspecified, IPv4 broadcast, link-local (as Filebeat does).
 */
#pragma once

#include "decoder/base.h"

struct locality;

enum locality_direction {
    LOCALITY_INBOUND,
    LOCALITY_OUTBOUND,
    LOCALITY_INTERNAL,
    LOCALITY_EXTERNAL
};

/* networks: n texts, each "private" or ADDR/PREFIX; NULL, 0 = { "private" }. On WF_E_FORMAT *bad is the index of
 * the text at fault. The caller owns *locality. */
int locality_new(const char *const *networks, size_t n, struct locality **locality, size_t *bad);
void locality_free(struct locality *locality);
bool locality_is_internal(const struct locality *locality, const struct wf_addr *addr);
/* internal -> external is outbound, external -> internal inbound. */
enum locality_direction locality_direction_of(bool source_internal, bool destination_internal);
