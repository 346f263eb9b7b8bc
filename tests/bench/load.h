// SPDX-License-Identifier: Apache-2.0
/*
 * load - the datagrams that the benchmarks send, the same ones for the same seed
 *
 * NetFlow v9 records of 24 fields as a Cisco ASR sends them, or IPFIX records of 26 fields as a Juniper MX does; 20 % of
 * the datagrams carry IPv6. The flows are drawn by Zipf's law (exponent 1) from 100 000 five-tuples, and their times are
 * spread, so that no cache of a collector is luckier here than at work. Each stream (exporter and observation domain)
 * sends one datagram with its templates, an options template and a sampling record first, or after `early` data
 * datagrams, and again after every `templates_every` datagrams. Streams take turns. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define LOAD_MAX_DATAGRAM 1400
#define LOAD_MAX_FIELDS   26

enum load_profile {
    LOAD_V9,
    LOAD_IPFIX
};

struct load_config {
    enum load_profile profile;
    uint64_t seed;
    uint32_t exporters;
    uint32_t domains;         /* of each exporter */
    uint32_t templates_every; /* datagrams of a stream */
    uint32_t early; /* data datagrams of each stream that come before its first template */
};

struct load_datagram {
    uint32_t exporter;   /* 0 .. exporters - 1 */
    uint32_t flows;      /* flow records in it */
    uint32_t options;    /* options records in it */
    uint32_t templates;  /* template records in it */
    uint64_t time_ms;    /* when it would have been sent, UNIX time */
    size_t len;          /* of data */
    const uint8_t *data; /* the load's; good until the next load_next */
};

struct load;

/* NULL when out of memory or a number is 0. */
struct load *load_new(const struct load_config *config);
void load_free(struct load *load);
void load_next(struct load *load, struct load_datagram *datagram);

struct load_field {
    uint16_t element;
    uint16_t len;
};
struct load_template {
    uint16_t id;
    uint16_t n_fields;
    uint16_t record_len;
    struct load_field fields[LOAD_MAX_FIELDS];
};
/* The data templates of a profile: [0] IPv4, [1] IPv6. */
const struct load_template *load_templates(enum load_profile profile);
