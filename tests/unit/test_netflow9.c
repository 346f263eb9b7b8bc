// SPDX-License-Identifier: Apache-2.0
#include "decoder/internal.h"
#include "tests/unit/feed.h"

static struct build b;
static struct plan_spec specs[16];

static enum decoder_reason read_first(struct cursor *c, bool options, struct template_record *r)
{
    *r = (struct template_record){.specs = specs, .max_specs = sizeof(specs) / sizeof(specs[0])};
    return netflow9_sets.read(c, options, r);
}

static void a_template_is_read_field_by_field(void)
{
    static const uint16_t fields[][2] = {{8, 4}, {40005, 2}, {82, 65535}, {99, 0}};
    build_v9(&b, 0, 0, 0, 0);
    size_t start = b.len;
    build_template(&b, 256, fields, 4);
    struct cursor c = cursor_init(b.data + start, b.len - start);
    struct template_record r;
    CU_ASSERT_EQUAL(read_first(&c, false, &r), DECODER_OK);
    CU_ASSERT_EQUAL(r.id, 256U);
    CU_ASSERT_EQUAL(r.n_fields, 4U);
    CU_ASSERT_EQUAL(r.n_scope, 0U);
    CU_ASSERT_FALSE(r.withdrawal);
    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(specs[i].id, fields[i][0]); /* no enterprise bit in v9 */
        CU_ASSERT_EQUAL(specs[i].length, fields[i][1]);
        CU_ASSERT_EQUAL(specs[i].pen, ELEMENT_PEN_IANA);
    }
    CU_ASSERT_EQUAL(cursor_left(&c), 0U);
}

static void scope_fields_have_a_number_space_of_their_own(void)
{
    static const uint16_t scope[][2] = {{1, 4}, {2, 4}};
    static const uint16_t fields[][2] = {{34, 4}};
    build_v9(&b, 0, 0, 0, 0);
    size_t start = b.len;
    build_options_template(&b, 256, scope, 2, fields, 1);
    struct cursor c = cursor_init(b.data + start, b.len - start);
    struct template_record r;
    CU_ASSERT_EQUAL(read_first(&c, true, &r), DECODER_OK);
    CU_ASSERT_EQUAL(r.n_fields, 3U);
    CU_ASSERT_EQUAL(r.n_scope, 2U);
    CU_ASSERT_EQUAL(specs[1].pen, ELEMENT_PEN_V9_SCOPE);
    CU_ASSERT_EQUAL(specs[2].pen, ELEMENT_PEN_IANA);
}

static void every_cut_of_a_template_is_truncated(void)
{
    static const uint16_t fields[][2] = {{8, 4}, {12, 4}, {1, 4}};
    for (int options = 0; options < 2; options++) {
        build_v9(&b, 0, 0, 0, 0);
        size_t start = b.len;
        if (options) {
            build_options_template(&b, 256, fields, 1, fields, 3);
        } else {
            build_template(&b, 256, fields, 3);
        }
        for (size_t len = 4; len < b.len - start; len++) {
            struct cursor c = cursor_init(b.data + start, len);
            struct template_record r;
            CU_ASSERT_EQUAL(read_first(&c, options, &r), DECODER_TEMPLATE_TRUNCATED);
        }
    }
}

static void odd_lengths_refuse_only_their_template(void)
{
    build_v9(&b, 0, 0, 0, 0);
    size_t start = b.len;
    build_u16(&b, 256);
    build_u16(&b, 6);
    build_u16(&b, 3);
    build_zeros(&b, 9);
    build_u16(&b, 257);
    build_u16(&b, 4);
    build_u16(&b, 4);
    build_zeros(&b, 8);
    struct cursor c = cursor_init(b.data + start, b.len - start);
    struct template_record r;
    CU_ASSERT_EQUAL(read_first(&c, true, &r), DECODER_TEMPLATE_SCOPE);
    CU_ASSERT_EQUAL(read_first(&c, true, &r), DECODER_OK);
    CU_ASSERT_EQUAL(r.id, 257U);
}

static void fields_beyond_the_limit_are_read_past(void)
{
    build_v9(&b, 0, 0, 0, 0);
    size_t start = b.len;
    build_u16(&b, 256);
    build_u16(&b, 1000);
    build_zeros(&b, 4000);
    build_u16(&b, 257);
    build_u16(&b, 0);
    struct cursor c = cursor_init(b.data + start, b.len - start);
    struct template_record r;
    CU_ASSERT_EQUAL(read_first(&c, false, &r), DECODER_OK);
    CU_ASSERT_EQUAL(r.n_fields, 1000U);
    CU_ASSERT_EQUAL(read_first(&c, false, &r), DECODER_OK);
    CU_ASSERT_EQUAL(r.id, 257U);
}

static void the_header_is_what_the_message_says(void)
{
    static const uint16_t fields[][2] = {{1, 4}};
    struct feed *f = feed_new(NULL);
    build_v9(&b, 1600000000, 1234, 55, 0xdeadbeef);
    build_set(&b, 0);
    build_template(&b, 300, fields, 1);
    build_set(&b, 300);
    build_u32(&b, 42);
    CU_ASSERT_EQUAL(feed_build(f, &b), 0);
    CU_ASSERT_EQUAL_FATAL(f->n_records, 1U);
    const struct feed_record *r = &f->record[0];
    CU_ASSERT_EQUAL(r->message.version, 9U);
    CU_ASSERT_EQUAL(r->message.domain, 0xdeadbeefU);
    CU_ASSERT_EQUAL(r->message.sequence, 55U);
    CU_ASSERT_EQUAL(r->message.uptime_ms, 1234U);
    CU_ASSERT_EQUAL(r->message.export_ns, 1600000000 * WF_NS_PER_S);
    CU_ASSERT_EQUAL(r->message.received_ns, f->now_ns);
    CU_ASSERT_EQUAL(r->message.held_ns, 0);
    CU_ASSERT_EQUAL(r->template_id, 300U);
    CU_ASSERT_EQUAL(r->field[0].value, 42U);
    feed_free(f);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a template is read field by field", a_template_is_read_field_by_field},
        {"scope fields have a number space of their own",
         scope_fields_have_a_number_space_of_their_own},
        {"every cut of a template is truncated", every_cut_of_a_template_is_truncated},
        {"odd lengths refuse only their template", odd_lengths_refuse_only_their_template},
        {"fields beyond the limit are read past", fields_beyond_the_limit_are_read_past},
        {"the header is what the message says", the_header_is_what_the_message_says},
    };
    return test_main("netflow9", cases, sizeof(cases) / sizeof(cases[0]));
}
