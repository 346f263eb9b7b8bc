// SPDX-License-Identifier: Apache-2.0
#include "decoder/internal.h"
#include "tests/unit/feed.h"

static struct build b;
static struct plan_spec specs[16];

static enum decoder_reason read_first(struct cursor *c, bool options, struct template_record *r)
{
    *r = (struct template_record){.specs = specs, .max_specs = sizeof(specs) / sizeof(specs[0])};
    return ipfix_sets.read(c, options, r);
}

/* 257: element 8, (9, 12345), element 82 of variable length */
static size_t put_template(bool options)
{
    static const uint16_t fields[][2] = {{8, 4}};
    build_ipfix(&b, 0, 0, 0);
    size_t start = b.len;
    build_u16(&b, 257);
    build_u16(&b, 3);
    if (options) {
        build_u16(&b, 1);
    }
    build_u16(&b, fields[0][0]);
    build_u16(&b, fields[0][1]);
    build_field_pen(&b, 12345, 8, 9);
    build_u16(&b, 82);
    build_u16(&b, PLAN_VARLEN);
    return start;
}

static void the_enterprise_bit_brings_a_number(void)
{
    size_t start = put_template(false);
    struct cursor c = cursor_init(b.data + start, b.len - start);
    struct template_record r;
    CU_ASSERT_EQUAL(read_first(&c, false, &r), DECODER_OK);
    CU_ASSERT_EQUAL(r.id, 257U);
    CU_ASSERT_EQUAL(r.n_fields, 3U);
    CU_ASSERT_EQUAL(specs[0].pen, 0U);
    CU_ASSERT_EQUAL(specs[1].pen, 9U);
    CU_ASSERT_EQUAL(specs[1].id, 12345U);
    CU_ASSERT_EQUAL(specs[1].length, 8U);
    CU_ASSERT_EQUAL(specs[2].pen, 0U);
    CU_ASSERT_EQUAL(specs[2].id, 82U);
    CU_ASSERT_EQUAL(specs[2].length, PLAN_VARLEN);
    CU_ASSERT_EQUAL(cursor_left(&c), 0U);
}

static void every_cut_of_a_template_is_truncated(void)
{
    for (int options = 0; options < 2; options++) {
        size_t start = put_template(options);
        for (size_t len = 4; len < b.len - start; len++) {
            struct cursor c = cursor_init(b.data + start, len);
            struct template_record r;
            CU_ASSERT_EQUAL(read_first(&c, options, &r), DECODER_TEMPLATE_TRUNCATED);
        }
    }
}

static void no_fields_mean_a_withdrawal_of_four_octets(void)
{
    for (int options = 0; options < 2; options++) {
        build_ipfix(&b, 0, 0, 0);
        size_t start = b.len;
        build_u16(&b, 300);
        build_u16(&b, 0);
        build_u16(&b, 301);
        build_u16(&b, 0);
        struct cursor c = cursor_init(b.data + start, b.len - start);
        struct template_record r;
        CU_ASSERT_EQUAL(read_first(&c, options, &r), DECODER_OK);
        CU_ASSERT_TRUE(r.withdrawal);
        CU_ASSERT_EQUAL(r.id, 300U);
        CU_ASSERT_EQUAL(read_first(&c, options, &r), DECODER_OK);
        CU_ASSERT_TRUE(r.withdrawal);
        CU_ASSERT_EQUAL(r.id, 301U);
    }
}

static void a_scope_of_none_or_too_many_is_refused(void)
{
    for (uint8_t scope = 0; scope < 6; scope++) {
        size_t start = put_template(true);
        b.data[start + 5] = scope;
        struct cursor c = cursor_init(b.data + start, b.len - start);
        struct template_record r;
        CU_ASSERT_EQUAL(read_first(&c, true, &r),
                        scope >= 1 && scope <= 3 ? DECODER_OK : DECODER_TEMPLATE_SCOPE);
        CU_ASSERT_EQUAL(cursor_left(&c), 0U);
    }
}

static void fields_beyond_the_limit_are_read_past(void)
{
    build_ipfix(&b, 0, 0, 0);
    size_t start = b.len;
    build_u16(&b, 256);
    build_u16(&b, 100);
    for (uint16_t i = 0; i < 50; i++) {
        build_field_pen(&b, i, 4, 9);
        build_u32(&b, 0x00010004);
    }
    build_u32(&b, 0x01010000);
    struct cursor c = cursor_init(b.data + start, b.len - start);
    struct template_record r;
    CU_ASSERT_EQUAL(read_first(&c, false, &r), DECODER_OK);
    CU_ASSERT_EQUAL(r.n_fields, 100U);
    CU_ASSERT_EQUAL(read_first(&c, false, &r), DECODER_OK);
    CU_ASSERT_EQUAL(r.id, 257U);
    CU_ASSERT_TRUE(r.withdrawal);
}

static void the_header_is_what_the_message_says(void)
{
    struct feed *f = feed_new(NULL);
    size_t start = put_template(false);
    uint8_t template[64];
    size_t len = b.len - start;
    memcpy(template, b.data + start, len);
    build_ipfix(&b, 1600000000, 55, 0xdeadbeef);
    build_set(&b, 2);
    build_octets(&b, template, len);
    build_set(&b, 257);
    build_u32(&b, 0x0a000001);
    build_u64(&b, 0x0102030405060708);
    build_octets(&b, "\3abc", 4);
    CU_ASSERT_EQUAL(feed_build(f, &b), 0);
    CU_ASSERT_EQUAL_FATAL(f->n_records, 1U);
    const struct feed_record *r = &f->record[0];
    CU_ASSERT_EQUAL(r->message.version, 10U);
    CU_ASSERT_EQUAL(r->message.domain, 0xdeadbeefU);
    CU_ASSERT_EQUAL(r->message.sequence, 55U);
    CU_ASSERT_FALSE(r->message.has_uptime);
    CU_ASSERT_EQUAL(r->message.export_ns, 1600000000 * WF_NS_PER_S);
    CU_ASSERT_EQUAL(r->field[1].pen, 9U);
    CU_ASSERT_EQUAL(r->field[1].value, 0x0102030405060708U);
    CU_ASSERT_EQUAL(r->field[2].len, 3U);
    CU_ASSERT_EQUAL(r->field[2].value, 0x616263U);
    feed_free(f);
}

static void a_record_may_have_fields_of_64_kib(void)
{
    static const uint16_t fields[][2] = {{82, PLAN_VARLEN}, {4, 1}};
    struct feed *f = feed_new(NULL);
    build_ipfix(&b, 0, 0, 1);
    build_set(&b, 2);
    build_template(&b, 256, fields, 2);
    feed_build(f, &b);
    build_ipfix(&b, 0, 0, 1);
    build_set(&b, 256);
    build_u8(&b, 255);
    build_u16(&b, 65000);
    build_zeros(&b, 65000);
    build_u8(&b, 17);
    CU_ASSERT_EQUAL(feed_build(f, &b), 0);
    CU_ASSERT_EQUAL_FATAL(f->n_records, 1U);
    CU_ASSERT_EQUAL(f->record[0].field[0].len, 65000U);
    CU_ASSERT_EQUAL(f->record[0].field[1].value, 17U);
    feed_free(f);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"the enterprise bit brings a number", the_enterprise_bit_brings_a_number},
        {"every cut of a template is truncated", every_cut_of_a_template_is_truncated},
        {"no fields mean a withdrawal of four octets", no_fields_mean_a_withdrawal_of_four_octets},
        {"a scope of none or too many is refused", a_scope_of_none_or_too_many_is_refused},
        {"fields beyond the limit are read past", fields_beyond_the_limit_are_read_past},
        {"the header is what the message says", the_header_is_what_the_message_says},
        {"a record may have fields of 64 KiB", a_record_may_have_fields_of_64_kib},
    };
    return test_main("ipfix", cases, sizeof(cases) / sizeof(cases[0]));
}
