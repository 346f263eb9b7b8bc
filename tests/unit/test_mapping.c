// SPDX-License-Identifier: Apache-2.0
/* The mapping table against documents, and docs/documents.md against the table. */
#include <ctype.h>
#include <stdio.h>

#include "collector/document/mapping.h"
#include "tests/unit/ecs_harness.h"

#define MAX_ROWS 128

struct seen {
    const struct mapping_row *rows;
    size_t n_rows;
    unsigned n_seen[MAX_ROWS];
    bool options; /* the document is one of an options record */
};

/* What the JSON text is, in the words of Elasticsearch's mapping. */
static bool fits_type(const char *type, const char *text, size_t len)
{
    bool quoted = text[0] == '"';
    if (strcmp(type, "long") == 0 || strcmp(type, "short") == 0) {
        return isdigit((unsigned char)text[len - 1]) && !memchr(text, '.', len) && !quoted;
    }
    if (strcmp(type, "double") == 0) {
        return isdigit((unsigned char)text[len - 1]) && !quoted;
    }
    if (strcmp(type, "boolean") == 0) {
        return text[0] == 't' || text[0] == 'f';
    }
    if (strcmp(type, "date") == 0) {
        return quoted && len >= 26 && text[11] == 'T' && text[len - 2] == 'Z';
    }
    if (strcmp(type, "ip") == 0) {
        return quoted && strspn(text + 1, "0123456789abcdef.:") == len - 2;
    }
    return quoted;
}

static void fail(const char *why, const char *path, const char *text, size_t len)
{
    CU_FAIL("member and table differ");
    printf("\n    %s: %s %.*s", why, path, (int)len, text);
}

static void check_value(const struct mapping_row *row, const char *path, const char *text,
                        size_t len)
{
    bool both = strcmp(path, "network.type") == 0; /* the only one that is either */
    if (!both && row->array != (text[0] == '[')) {
        fail("array", path, text, len);
    }
    size_t inside = text[0] == '[' ? strcspn(text + 1, ",]") : len;
    if (!fits_type(row->type, text[0] == '[' ? text + 1 : text, inside)) {
        fail("type", path, text, len);
    }
}

static void check_leaf(void *ctx, const char *path, const char *text, size_t len)
{
    struct seen *seen = ctx;
    char name[512];
    snprintf(name, sizeof name, "%s", path);
    for (size_t i = 0; i < seen->n_rows; i++) {
        const struct mapping_row *row = &seen->rows[i];
        size_t n = strlen(row->path);
        if (strcmp(row->type, "object") == 0 && strncmp(path, row->path, n) == 0 &&
            path[n] == '.') {
            seen->n_seen[i]++;
            snprintf(name, sizeof name, "%s%s",
                     strcmp(row->path, "client") == 0 ? "source" : "destination", path + n);
        }
    }
    for (size_t i = 0; i < seen->n_rows; i++) {
        if (strcmp(seen->rows[i].path, name) == 0) {
            seen->n_seen[i]++;
            check_value(&seen->rows[i], name, text, len);
            if (seen->options && !seen->rows[i].options) {
                fail("not for options", path, text, len);
            }
            return;
        }
    }
    if (strncmp(path, "netflow.", 8) != 0) {
        fail("no row", path, text, len);
    }
}

static void check_documents(struct harness *h, const struct build *b, struct seen *seen)
{
    CU_ASSERT(harness_feed(h, b) > 0);
    for (const char *line = h->out.data; *line; line = strchr(line, '\n') + 1) {
        json_each(line, check_leaf, seen);
    }
}

#define FIELDS(array) (array), sizeof(array) / sizeof((array)[0])

/* All that fills ECS members, in one record. */
static void build_full_flow(struct build *b)
{
    static const uint16_t fields[][2] = {{8, 4},  {12, 4},  {7, 2},   {11, 2},  {56, 6},  {80, 6},
                                         {1, 8},  {2, 8},   {231, 8}, {232, 8}, {299, 8}, {4, 1},
                                         {61, 1}, {147, 4}, {239, 1}, {152, 8}, {153, 8}};
    build_ipfix(b, HARNESS_EXPORT_S, 1, 7);
    build_set(b, 2);
    build_template(b, 256, FIELDS(fields));
    build_set(b, 256);
    build_u32(b, 0x0a000001);
    build_u32(b, 0xc0000207);
    build_u16(b, 1);
    build_u16(b, 2);
    build_zeros(b, 6);
    build_zeros(b, 6);
    build_u64(b, UINT64_MAX);
    for (int i = 0; i < 4; i++) {
        build_u64(b, 5);
    }
    build_u8(b, 6);
    build_u8(b, 1);
    build_octets(b, "wifi", 4);
    build_u8(b, 1);
    build_u64(b, HARNESS_EXPORT_S * 1000ULL - 5);
    build_u64(b, HARNESS_EXPORT_S * 1000ULL - 3);
    build_end(b);
}

static void build_options(struct build *b)
{
    static const uint16_t scope[][2] = {{1, 4}};
    static const uint16_t fields[][2] = {{34, 4}, {1, 8}, {8, 4}, {160, 8}, {322, 4}};
    build_v9(b, HARNESS_EXPORT_S, 1000, 1, 7);
    build_set(b, 1);
    build_options_template(b, 257, FIELDS(scope), FIELDS(fields));
    build_set(b, 257);
    build_u32(b, 1);
    build_u32(b, 100);
    build_u64(b, 1);
    build_u32(b, 0xc0000207);
    build_u64(b, 1);
    build_u32(b, 1);
    build_end(b);
}

static void every_member_is_a_row_and_every_row_a_member(void)
{
    static const struct document_options live = {.host_name = "host", .agent_id = "agent"};
    struct harness h;
    struct build b;
    struct seen seen = {0};
    seen.rows = mapping_rows(&seen.n_rows);
    CU_ASSERT_FATAL(seen.n_rows <= MAX_ROWS);
    harness_open(&h, &live);
    h.now_ns = HARNESS_RECEIVED_NS;
    build_full_flow(&b);
    check_documents(&h, &b, &seen);
    build_options(&b);
    seen.options = true;
    check_documents(&h, &b, &seen);
    for (size_t i = 0; i < seen.n_rows; i++) {
        if (!seen.n_seen[i]) {
            fail("never written", seen.rows[i].path, "", 0);
        }
    }
    harness_close(&h);
}

static void members_for_options_are_in_their_documents(void)
{
    static const struct document_options live = {.host_name = "host", .agent_id = "agent"};
    struct harness h;
    struct build b;
    size_t n_rows;
    const struct mapping_row *rows = mapping_rows(&n_rows);
    harness_open(&h, &live);
    build_options(&b);
    CU_ASSERT_EQUAL(harness_feed(&h, &b), 1);
    for (size_t i = 0; i < n_rows; i++) {
        bool there = json_member(&h, 0, rows[i].path)[0];
        if (there != rows[i].options && strcmp(rows[i].path, "whoflow.clamped") != 0) {
            fail("options", rows[i].path, "", 0);
        }
    }
    harness_close(&h);
}

static void rows_are_unique_and_complete(void)
{
    size_t n_rows;
    const struct mapping_row *rows = mapping_rows(&n_rows);
    for (size_t i = 0; i < n_rows; i++) {
        CU_ASSERT(rows[i].type && rows[i].from && rows[i].when);
        CU_ASSERT(rows[i].role[0] != ROLE_NONE || rows[i].from[0]);
        for (size_t j = 0; j < i; j++) {
            CU_ASSERT_STRING_NOT_EQUAL(rows[i].path, rows[j].path);
        }
    }
}

static void renamed_elements_are_registered(void)
{
    size_t n;
    const struct mapping_rename *renames = mapping_renames(&n);
    for (size_t i = 0; i < n; i++) {
        const struct element *element = element_find(renames[i].pen, renames[i].id);
        CU_ASSERT_PTR_NOT_NULL_FATAL(element);
        CU_ASSERT_STRING_EQUAL(mapping_member_name(element).name, renames[i].name);
        CU_ASSERT_STRING_NOT_EQUAL(element->snake, renames[i].name);
    }
}

static void roles_are_registered_elements(void)
{
    for (enum mapping_role role = 0; role < ROLE_N; role++) {
        struct mapping_element elements[MAPPING_MAX_ELEMENTS];
        size_t n = mapping_role_elements(role, elements);
        CU_ASSERT(n >= 1);
        for (size_t i = 0; i < n; i++) {
            CU_ASSERT_PTR_NOT_NULL(element_find(elements[i].pen, elements[i].id));
        }
    }
    for (enum time_input i = 0; i < TIME_N_INPUTS; i++) {
        const struct element *element = element_find(0, time_input_element(i));
        CU_ASSERT_STRING_EQUAL(element->snake, time_source_name(i));
    }
}

struct wanted {
    const char *path;
    const char *type;
    unsigned n;
};

static void check_netflow(void *ctx, const char *path, const char *text, size_t len)
{
    struct wanted *wanted = ctx;
    if (strcmp(path, wanted->path) == 0) {
        size_t inside = text[0] == '[' ? strcspn(text + 1, ",]") : len;
        wanted->n++;
        if (!fits_type(wanted->type, text[0] == '[' ? text + 1 : text, inside)) {
            fail(wanted->type, path, text, len);
        }
    }
}

/* A length in which an element of this type can come. */
static uint16_t natural_length(enum element_type type)
{
    static const uint8_t length[] = {
        [ELEMENT_OCTETS] = 3,
        [ELEMENT_UNSIGNED8] = 1,
        [ELEMENT_UNSIGNED16] = 2,
        [ELEMENT_UNSIGNED32] = 4,
        [ELEMENT_UNSIGNED64] = 8,
        [ELEMENT_SIGNED8] = 1,
        [ELEMENT_SIGNED16] = 2,
        [ELEMENT_SIGNED32] = 4,
        [ELEMENT_SIGNED64] = 8,
        [ELEMENT_FLOAT32] = 4,
        [ELEMENT_FLOAT64] = 8,
        [ELEMENT_BOOLEAN] = 1,
        [ELEMENT_MAC] = 6,
        [ELEMENT_STRING] = 5,
        [ELEMENT_SECONDS] = 4,
        [ELEMENT_MILLISECONDS] = 8,
        [ELEMENT_MICROSECONDS] = 8,
        [ELEMENT_NANOSECONDS] = 8,
        [ELEMENT_IPV4] = 4,
        [ELEMENT_IPV6] = 16,
        [ELEMENT_BASIC_LIST] = 7,
        [ELEMENT_SUB_TEMPLATE_LIST] = 7,
        [ELEMENT_SUB_TEMPLATE_MULTI_LIST] = 7,
    };
    return length[type];
}

static void every_registered_element_has_its_json_type(void)
{
    static const struct document_options replay = {.replay = true};
    struct harness h;
    size_t n;
    const struct element *all = element_all(&n);
    harness_open(&h, &replay);
    for (size_t i = 0; i < n; i++) {
        struct build b;
        if (all[i].pen >= ELEMENT_PEN_V9_SCOPE) {
            continue; /* no IPFIX element */
        }
        uint16_t length = natural_length((enum element_type)all[i].type);
        build_ipfix(&b, HARNESS_EXPORT_S, 1, 7);
        build_set(&b, 2);
        build_u16(&b, 256);
        build_u16(&b, 1);
        if (all[i].pen) {
            build_field_pen(&b, all[i].id, length, all[i].pen);
        } else {
            build_u16(&b, all[i].id);
            build_u16(&b, length);
        }
        build_set(&b, 256);
        for (uint16_t k = 0; k < length; k++) {
            build_u8(&b, 1);
        }
        build_end(&b);
        CU_ASSERT_EQUAL(harness_feed(&h, &b), 1);
        char path[160];
        struct mapping_name name = mapping_member_name(&all[i]);
        snprintf(path, sizeof path, "netflow.%s%s", name.prefix, name.name);
        struct wanted wanted = {path, mapping_element_type(&all[i]), 0};
        json_each(h.out.data, check_netflow, &wanted);
        if (all[i].id != 210) { /* paddingOctets may be left out */
            CU_ASSERT_EQUAL(wanted.n, 1);
            if (wanted.n != 1) {
                printf("\n    %s", path);
            }
        }
    }
    harness_close(&h);
}

static void documents_md_is_what_the_table_prints(void)
{
    const char *dir = getenv("WF_SOURCE_DIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/docs/documents.md", dir ? dir : WF_SOURCE_DIR);
    struct buffer printed = {0};
    CU_ASSERT_EQUAL_FATAL(document_print_docs(&printed), WF_OK);
    FILE *file = fopen(path, "re");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    char *text = malloc(printed.len + 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    size_t len = fread(text, 1, printed.len + 1, file);
    CU_ASSERT_EQUAL(len, printed.len);
    CU_ASSERT(len == printed.len && memcmp(text, printed.data, len) == 0);
    fclose(file);
    free(text);
    buffer_deinit(&printed);
}

#define CASE(name)                                                                                 \
    {                                                                                              \
#        name, name                                                                                \
    }

int main(void)
{
    static const struct test_case cases[] = {
        CASE(every_member_is_a_row_and_every_row_a_member),
        CASE(members_for_options_are_in_their_documents),
        CASE(rows_are_unique_and_complete),
        CASE(renamed_elements_are_registered),
        CASE(roles_are_registered_elements),
        CASE(every_registered_element_has_its_json_type),
        CASE(documents_md_is_what_the_table_prints),
    };
    return test_main("mapping", cases, sizeof cases / sizeof cases[0]);
}
