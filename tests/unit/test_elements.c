// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <string.h>

#include "decoder/elements/elements.h"
#include "tests/support/support.h"

/* The element, which has to be there. */
static const struct element *known(const struct element *e)
{
    static const struct element none = {.name = "", .snake = "", .units = ""};
    CU_ASSERT_PTR_NOT_NULL_FATAL(e);
    return e ? e : &none;
}

static const char *snake_of(uint32_t pen, uint16_t id)
{
    const struct element *e = element_find(pen, id);
    return e ? e->snake : "(none)";
}

static void the_table_is_sorted_and_every_element_is_found(void)
{
    size_t n = 0;
    const struct element *all = element_all(&n);
    CU_ASSERT_TRUE_FATAL(n > 2000);
    for (size_t i = 0; i < n; i++) {
        if (element_find(all[i].pen, all[i].id) != &all[i]) {
            CU_FAIL_FATAL("an element is not found under its own number");
        }
        if (i > 0 && (all[i - 1].pen > all[i].pen ||
                      (all[i - 1].pen == all[i].pen && all[i - 1].id >= all[i].id))) {
            CU_FAIL_FATAL("not in order of (pen, id)");
        }
    }
}

static void names_are_words_and_types_are_known(void)
{
    size_t n = 0;
    const struct element *all = element_all(&n);
    for (size_t i = 0; i < n; i++) {
        const struct element *e = &all[i];
        size_t len = strlen(e->snake);
        CU_ASSERT_TRUE_FATAL(len > 0 && e->name[0] != '\0');
        CU_ASSERT_EQUAL(strspn(e->snake, "abcdefghijklmnopqrstuvwxyz0123456789_"), len);
        CU_ASSERT_TRUE(e->snake[0] != '_' && e->snake[len - 1] != '_');
        CU_ASSERT_PTR_NULL(strstr(e->snake, "__"));
        CU_ASSERT_PTR_NOT_NULL(e->units);
        CU_ASSERT_TRUE(e->type <= ELEMENT_SUB_TEMPLATE_MULTI_LIST);
        CU_ASSERT_TRUE(e->semantics <= ELEMENT_SEM_SNMP_GAUGE);
    }
}

/* Two elements of one number space must not fall together in a document. */
static void names_in_a_number_space_are_unique(void)
{
    static const uint32_t spaces[] = {ELEMENT_PEN_IANA, ELEMENT_PEN_REVERSE, ELEMENT_PEN_NETFLOW9,
                                      ELEMENT_PEN_V9_SCOPE};
    size_t n = 0;
    const struct element *all = element_all(&n);
    for (size_t s = 0; s < sizeof(spaces) / sizeof(spaces[0]); s++) {
        for (size_t i = 0; i < n; i++) {
            for (size_t j = i + 1; j < n && all[i].pen == spaces[s] && all[j].pen == spaces[s];
                 j++) {
                if (strcmp(all[i].snake, all[j].snake) == 0) {
                    CU_FAIL("one name for two elements");
                }
            }
        }
    }
}

/* The registry's reserved and unassigned numbers below 533. */
static bool is_unassigned(uint16_t id)
{
    return (id >= 65 && id <= 69) || id == 97 || (id >= 105 && id <= 127) || id == 416 || id == 419;
}

static void every_assigned_number_of_iana_is_there(void)
{
    for (uint16_t id = 1; id <= 533; id++) {
        const struct element *e = element_find(ELEMENT_PEN_IANA, id);
        if (is_unassigned(id) ? e != NULL : e == NULL) {
            CU_FAIL("IANA's numbers 1 to 533 are not as registered");
        }
    }
    CU_ASSERT_PTR_NULL(element_find(ELEMENT_PEN_IANA, 0));
    CU_ASSERT_PTR_NULL(element_find(ELEMENT_PEN_IANA, 65535));
}

static void an_element_is_as_registered(void)
{
    const struct element *e = known(element_find(ELEMENT_PEN_IANA, 1));
    CU_ASSERT_EQUAL(e->pen, 0U);
    CU_ASSERT_EQUAL(e->id, 1U);
    CU_ASSERT_EQUAL(e->type, ELEMENT_UNSIGNED64);
    CU_ASSERT_EQUAL(e->semantics, ELEMENT_SEM_DELTA_COUNTER);
    CU_ASSERT_STRING_EQUAL(e->name, "octetDeltaCount");
    CU_ASSERT_STRING_EQUAL(e->snake, "octet_delta_count");
    CU_ASSERT_STRING_EQUAL(e->units, "octets");
}

static void every_type_is_read_from_the_registry(void)
{
    static const struct {
        uint16_t id;
        enum element_type type;
    } types[] = {
        {313, ELEMENT_OCTETS},
        {4, ELEMENT_UNSIGNED8},
        {7, ELEMENT_UNSIGNED16},
        {10, ELEMENT_UNSIGNED32},
        {2, ELEMENT_UNSIGNED64},
        {434, ELEMENT_SIGNED32},
        {320, ELEMENT_FLOAT64},
        {276, ELEMENT_BOOLEAN},
        {56, ELEMENT_MAC},
        {82, ELEMENT_STRING},
        {150, ELEMENT_SECONDS},
        {152, ELEMENT_MILLISECONDS},
        {154, ELEMENT_MICROSECONDS},
        {156, ELEMENT_NANOSECONDS},
        {8, ELEMENT_IPV4},
        {27, ELEMENT_IPV6},
        {291, ELEMENT_BASIC_LIST},
        {292, ELEMENT_SUB_TEMPLATE_LIST},
        {293, ELEMENT_SUB_TEMPLATE_MULTI_LIST},
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const struct element *e = known(element_find(ELEMENT_PEN_IANA, types[i].id));
        CU_ASSERT_EQUAL(e->type, types[i].type);
    }
}

static void unsigned256_is_an_octet_array(void)
{
    static const uint16_t ids[] = {515, 520, 525};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        const struct element *e = known(element_find(ELEMENT_PEN_IANA, ids[i]));
        CU_ASSERT_EQUAL(e->type, ELEMENT_OCTETS);
        CU_ASSERT_EQUAL(e->semantics, ELEMENT_SEM_FLAGS);
    }
}

static void member_names_follow_filebeats_rule(void)
{
    static const struct {
        uint16_t id;
        const char *snake;
    } names[] = {
        {4, "protocol_identifier"},
        {5, "ip_class_of_service"},
        {6, "tcp_control_bits"},
        {8, "source_ipv4_address"},
        {18, "bgp_next_hop_ipv4_address"},
        {21, "flow_end_sys_up_time"},
        {33, "igmp_type"},
        {52, "minimum_ttl"},
        {95, "application_id"},
        {104, "layer2packet_section_data"},
        {176, "icmp_type_ipv4"},
        {190, "total_length_ipv4"},
        {207, "ipv4_ihl"},
        {225, "post_nat_source_ipv4_address"},
        {234, "ingress_vrfid"},
        {236, "vrf_name"},
        {278, "new_connection_delta_count"},
        {295, "ip_sec_spi"},
        {298, "initiator_packets"},
        {388, "dot1q_dei"},
        {394, "selector_id_total_flows_observed"},
        {403, "original_exporter_ipv4_address"},
        {515, "ipv6_extension_headers_full"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        CU_ASSERT_STRING_EQUAL(snake_of(ELEMENT_PEN_IANA, names[i].id), names[i].snake);
    }
}

/* RFC 5103 section 6.1 */
static void reverse_elements_carry_the_forward_type(void)
{
    const struct element *e = known(element_find(ELEMENT_PEN_REVERSE, 1));
    CU_ASSERT_STRING_EQUAL(e->name, "reverseOctetDeltaCount");
    CU_ASSERT_STRING_EQUAL(e->snake, "reverse_octet_delta_count");
    CU_ASSERT_STRING_EQUAL(snake_of(ELEMENT_PEN_REVERSE, 236), "reverse_vrf_name");
    size_t n = 0;
    const struct element *all = element_all(&n);
    for (size_t i = 0; i < n; i++) {
        if (all[i].pen == ELEMENT_PEN_REVERSE) {
            const struct element *forward = known(element_find(ELEMENT_PEN_IANA, all[i].id));
            CU_ASSERT_EQUAL(strncmp(all[i].name, "reverse", 7), 0);
            CU_ASSERT_STRING_EQUAL(all[i].name + 8, forward->name + 1);
            CU_ASSERT_EQUAL(all[i].type, forward->type);
            CU_ASSERT_EQUAL(all[i].semantics, forward->semantics);
        }
    }
}

static void vendor_names_become_member_names(void)
{
    CU_ASSERT_STRING_EQUAL(snake_of(6871, 254), "http_x_forwarded_for");
    CU_ASSERT_STRING_EQUAL(snake_of(6871, 33), "silk_app_label");
    const struct element *e = known(element_find(9, 12239));
    CU_ASSERT_EQUAL(e->type, ELEMENT_IPV6);
    CU_ASSERT_STRING_EQUAL(e->snake, "server_ipv6_address");
}

static void v9_types_above_ianas_have_a_space_of_their_own(void)
{
    const struct element *e = known(element_of_field(9, ELEMENT_PEN_IANA, 40005));
    CU_ASSERT_EQUAL(e->pen, ELEMENT_PEN_NETFLOW9);
    CU_ASSERT_STRING_EQUAL(e->name, "fw_event");
    CU_ASSERT_PTR_NULL(element_of_field(10, ELEMENT_PEN_IANA, 40005));
    CU_ASSERT_PTR_NULL(element_of_field(5, ELEMENT_PEN_IANA, 40005));
}

static void v9_prefers_ianas_element(void)
{
    const struct element *e = known(element_of_field(9, ELEMENT_PEN_IANA, 8));
    CU_ASSERT_EQUAL(e->pen, ELEMENT_PEN_IANA);
    CU_ASSERT_PTR_EQUAL(e, element_of_field(10, ELEMENT_PEN_IANA, 8));
    CU_ASSERT_PTR_EQUAL(e, element_of_field(5, ELEMENT_PEN_IANA, 8));
}

static void v9_scopes_have_names(void)
{
    static const char *const names[] = {"system", "interface", "lineCard", "cache", "template"};
    static const char *const snakes[] = {"system", "interface", "line_card", "cache", "template"};
    for (uint16_t id = 1; id <= 5; id++) {
        const struct element *e = known(element_of_field(9, ELEMENT_PEN_V9_SCOPE, id));
        CU_ASSERT_STRING_EQUAL(e->name, names[id - 1]);
        CU_ASSERT_STRING_EQUAL(e->snake, snakes[id - 1]);
        CU_ASSERT_EQUAL(e->type, ELEMENT_UNSIGNED32);
    }
    CU_ASSERT_PTR_NULL(element_of_field(9, ELEMENT_PEN_V9_SCOPE, 0));
    CU_ASSERT_PTR_NULL(element_of_field(9, ELEMENT_PEN_V9_SCOPE, 6));
}

/* The two numbers are enterprise numbers on IPFIX's wire, where they mean no space of ours. */
static void ipfix_can_not_reach_v9s_spaces(void)
{
    CU_ASSERT_PTR_NULL(element_of_field(10, ELEMENT_PEN_NETFLOW9, 8192));
    CU_ASSERT_PTR_NULL(element_of_field(10, ELEMENT_PEN_V9_SCOPE, 1));
    CU_ASSERT_PTR_NOT_NULL(element_of_field(10, 9, 4315));
    CU_ASSERT_PTR_NULL(element_of_field(10, 4242, 1));
}

int main(void)
{
    static const struct test_case cases[] = {
        {"the_table_is_sorted_and_every_element_is_found",
         the_table_is_sorted_and_every_element_is_found},
        {"names_are_words_and_types_are_known", names_are_words_and_types_are_known},
        {"names_in_a_number_space_are_unique", names_in_a_number_space_are_unique},
        {"every_assigned_number_of_iana_is_there", every_assigned_number_of_iana_is_there},
        {"an_element_is_as_registered", an_element_is_as_registered},
        {"every_type_is_read_from_the_registry", every_type_is_read_from_the_registry},
        {"unsigned256_is_an_octet_array", unsigned256_is_an_octet_array},
        {"member_names_follow_filebeats_rule", member_names_follow_filebeats_rule},
        {"reverse_elements_carry_the_forward_type", reverse_elements_carry_the_forward_type},
        {"vendor_names_become_member_names", vendor_names_become_member_names},
        {"v9_types_above_ianas_have_a_space_of_their_own",
         v9_types_above_ianas_have_a_space_of_their_own},
        {"v9_prefers_ianas_element", v9_prefers_ianas_element},
        {"v9_scopes_have_names", v9_scopes_have_names},
        {"ipfix_can_not_reach_v9s_spaces", ipfix_can_not_reach_v9s_spaces},
    };
    return test_main("elements", cases, sizeof(cases) / sizeof(cases[0]));
}
