// SPDX-License-Identifier: Apache-2.0
/*
 * build - builders of export datagrams for tests (not used by the program)
 *
 * A message is built front to back: header, sets, fields; lengths and counts are filled in at the end unless the test
 * sets its own. One thread; fixed 64 KiB buffer inside; asserts on overflow.
 */
#pragma once

#include "decoder/base.h"

struct build {
    uint8_t data[65536];
    size_t len;
    uint8_t version;
    size_t set;         /* offset of the open set's header, 0 = none */
    uint16_t n_records; /* v9 count / v5 count */
};

/* Headers. uptime_ms is used by v5 and v9; domain is the source id / observation domain. */
void build_v5(struct build *b, uint32_t unix_s, uint32_t uptime_ms, uint32_t sequence);
void build_v9(struct build *b, uint32_t unix_s, uint32_t uptime_ms, uint32_t sequence,
              uint32_t domain);
void build_ipfix(struct build *b, uint32_t unix_s, uint32_t sequence, uint32_t domain);
/* A set; the one before is closed (length filled in, no padding). */
void build_set(struct build *b, uint16_t id);
void build_u8(struct build *b, uint8_t v);
void build_u16(struct build *b, uint16_t v);
void build_u32(struct build *b, uint32_t v);
void build_u64(struct build *b, uint64_t v);
void build_octets(struct build *b, const void *data, size_t len);
void build_zeros(struct build *b, size_t len);
/* A template record in the open set (0 / 2): id and pairs {element, length}; enterprise ones through build_field_pen. */
void build_template(struct build *b, uint16_t id, const uint16_t (*fields)[2], size_t n_fields);
/* An options template record in the open set (1 / 3), scope fields first. */
void build_options_template(struct build *b, uint16_t id, const uint16_t (*scope)[2],
                            size_t n_scope, const uint16_t (*fields)[2], size_t n_fields);
void build_field_pen(struct build *b, uint16_t id, uint16_t length, uint32_t pen);
/* Closes the set, fills in length and count. */
void build_end(struct build *b);
/* The same with the v9 count / IPFIX length given. */
void build_end_with(struct build *b, uint16_t count_or_length);
