// SPDX-License-Identifier: Apache-2.0
/*
 * mapping - the table that says what an ecs document holds and what it is made from
 *
 * Two tables, read only, any thread. Roles: which elements can play a part in the ECS members (source.bytes is
 * octetDeltaCount, else octetTotalCount, ...); the encoder resolves them when a template is compiled. Rows: every ECS
 * member with its Elasticsearch type, the role it comes from and when it is there; docs/documents.md is printed from
 * them and a test holds documents against them. netflow.* members are not rows: they follow from the registry by
 * mapping_element_type().
 */
#pragma once

#include "collector/document/time.h"
#include "decoder/elements/elements.h"

enum mapping_role {
    ROLE_SOURCE_IPV4,
    ROLE_SOURCE_IPV6,
    ROLE_SOURCE_PORT,
    ROLE_SOURCE_MAC,
    ROLE_DESTINATION_IPV4,
    ROLE_DESTINATION_IPV6,
    ROLE_DESTINATION_PORT,
    ROLE_DESTINATION_MAC,
    ROLE_BYTES,
    ROLE_PACKETS,
    ROLE_REVERSE_BYTES,
    ROLE_REVERSE_PACKETS,
    ROLE_PROTOCOL,
    ROLE_DIRECTION,
    ROLE_SSID,
    ROLE_BIFLOW,
    ROLE_STATION_IPV4,
    ROLE_STATION_MAC,
    ROLE_ACCESS_POINT_MAC,
    ROLE_ICMPV4,      /* type * 256 + code */
    ROLE_ICMPV6,      /* type * 256 + code */
    ROLE_ICMPV4_TYPE, /* code in the role after it */
    ROLE_ICMPV4_CODE,
    ROLE_ICMPV6_TYPE,
    ROLE_ICMPV6_CODE,
    ROLE_TIME, /* ROLE_TIME + enum time_input */
    ROLE_N = ROLE_TIME + TIME_N_INPUTS,
    ROLE_NONE = ROLE_N,
};

struct mapping_element {
    uint32_t pen;
    uint16_t id;
};

#define MAPPING_MAX_ELEMENTS 3

/* The elements that can play a role, best first; returns their number. */
size_t mapping_role_elements(enum mapping_role role,
                             struct mapping_element elements[MAPPING_MAX_ELEMENTS]);

struct mapping_row {
    const char *path; /* source.ip */
    const char *type; /* Elasticsearch type: keyword, ip, long, date, boolean, constant_keyword */
    bool array;       /* written as an array */
    bool options;     /* also in documents of options records */
    enum mapping_role role[2]; /* ROLE_NONE: none */
    const char *from; /* the rule, Markdown; the elements of the roles are printed in front of it */
    const char *when; /* "" = always */
};

const struct mapping_row *mapping_rows(size_t *n_rows);

/* Elasticsearch type of netflow.<element>. */
const char *mapping_element_type(const struct element *element);

/* The element's member below netflow: Filebeat's name, which is the registry's in snake_case but for some vendors'
 * elements. prefix and name are what it is put together from. */
struct mapping_name {
    const char *prefix; /* "" or "netscaler_" */
    const char *name;
};
struct mapping_name mapping_member_name(const struct element *element);

/* Is it written as ASA access lists are: hexadecimal, a dash after each four octets? */
bool mapping_is_acl(const struct element *element);

/* The vendors' elements with names of Filebeat's own, for documentation. */
struct mapping_rename {
    uint32_t pen;
    uint16_t id;
    const char *name;
};
const struct mapping_rename *mapping_renames(size_t *n_renames);
