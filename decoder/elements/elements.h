// SPDX-License-Identifier: Apache-2.0
/*
 * elements - the registry of information elements
 *
 * Owns the table generated at build time from iana.csv, reverse.csv, vendor.csv and netflow9.csv.
 * Read only, any thread. A look-up is a binary search: done when a template arrives, never per record.
 * Source: IANA IPFIX registry (RFC 7012), RFC 5103 (reverse, PEN 29305), vendors' own lists.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* RFC 7012 section 3.1, RFC 6313 section 4.5. */
enum element_type {
    ELEMENT_OCTETS,
    ELEMENT_UNSIGNED8,
    ELEMENT_UNSIGNED16,
    ELEMENT_UNSIGNED32,
    ELEMENT_UNSIGNED64,
    ELEMENT_SIGNED8,
    ELEMENT_SIGNED16,
    ELEMENT_SIGNED32,
    ELEMENT_SIGNED64,
    ELEMENT_FLOAT32,
    ELEMENT_FLOAT64,
    ELEMENT_BOOLEAN,
    ELEMENT_MAC,
    ELEMENT_STRING,
    ELEMENT_SECONDS,
    ELEMENT_MILLISECONDS,
    ELEMENT_MICROSECONDS,
    ELEMENT_NANOSECONDS,
    ELEMENT_IPV4,
    ELEMENT_IPV6,
    ELEMENT_BASIC_LIST,
    ELEMENT_SUB_TEMPLATE_LIST,
    ELEMENT_SUB_TEMPLATE_MULTI_LIST,
};

/* RFC 7012 section 3.2. */
enum element_semantics {
    ELEMENT_SEM_DEFAULT,
    ELEMENT_SEM_QUANTITY,
    ELEMENT_SEM_TOTAL_COUNTER,
    ELEMENT_SEM_DELTA_COUNTER,
    ELEMENT_SEM_IDENTIFIER,
    ELEMENT_SEM_FLAGS,
    ELEMENT_SEM_LIST,
    ELEMENT_SEM_SNMP_COUNTER,
    ELEMENT_SEM_SNMP_GAUGE,
};

/* Number spaces that are no private enterprise numbers. */
#define ELEMENT_PEN_IANA     0U
#define ELEMENT_PEN_REVERSE  29305U      /* RFC 5103 */
#define ELEMENT_PEN_NETFLOW9 0xffffffffU /* vendors' types in v9's own 16-bit space, above IANA's */
#define ELEMENT_PEN_V9_SCOPE                                                                       \
    0xfffffffeU /* RFC 3954 section 6.1: System, Interface, Line Card, Cache, Template */

struct element {
    uint32_t pen;
    uint16_t id;
    uint8_t type;      /* enum element_type */
    uint8_t semantics; /* enum element_semantics */
    const char *name;  /* camelCase as registered; reverse elements reverseXxx */
    const char *snake; /* Filebeat's netflow.* member: octet_delta_count (rule: document.md B.3) */
    const char *units; /* "" when it has none */
};

/* The element, or NULL when the registry does not know it. */
const struct element *element_find(uint32_t pen, uint16_t id);

/* The element by which a template field of this protocol is known: v9 types fall back from IANA's to
 * ELEMENT_PEN_NETFLOW9, IPFIX enterprise elements are (pen, id). NULL when unknown. */
const struct element *element_of_field(uint8_t version, uint32_t pen, uint16_t id);

/* All elements in order of (pen, id), for documentation and tests. */
const struct element *element_all(size_t *n_elements);
