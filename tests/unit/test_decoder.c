// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/feed.h"

static struct build b;
static const uint16_t two_fields[][2] = {{8, 4}, {1, 4}};
static const uint16_t text_field[][2] = {{82, PLAN_VARLEN}, {4, 1}};

/* Template 256 (two_fields), 257 (text_field), options 258; data of each. */
static void rich_message(uint8_t version, uint32_t sequence)
{
    if (version == 9) {
        build_v9(&b, 1700000000, 5000, sequence, 1);
    } else {
        build_ipfix(&b, 1700000000, sequence, 1);
    }
    build_set(&b, version == 9 ? 0 : 2);
    build_template(&b, 256, two_fields, 2);
    build_template(&b, 257, text_field, 2);
    build_set(&b, version == 9 ? 1 : 3);
    build_options_template(&b, 258, two_fields, 1, two_fields, 2);
    build_set(&b, 256);
    for (uint32_t i = 0; i < 5; i++) {
        build_u32(&b, i);
        build_u32(&b, 100 + i);
    }
    build_set(&b, 257);
    build_octets(&b, "\3abc\6\0\21", 7);
    build_set(&b, 258);
    build_zeros(&b, 12);
    build_set(&b, 999);
    build_u32(&b, 7);
    build_end(&b);
}

static void a_run_of_fixed_records_is_one_call(void)
{
    struct feed *f = feed_new(NULL);
    rich_message(9, 1);
    CU_ASSERT_EQUAL(feed_octets(f, b.data, b.len), 0);
    CU_ASSERT_EQUAL(f->n_calls, 1U + 2U + 1U); /* 256 in one, 257 one by one, 258 */
    CU_ASSERT_EQUAL(f->n_records, 8U);
    CU_ASSERT_EQUAL(f->record[4].field[1].value, 104U);
    CU_ASSERT_EQUAL(f->record[5].field[0].len, 3U);
    CU_ASSERT_EQUAL(f->record[6].field[0].len, 0U);
    CU_ASSERT_TRUE(f->record[7].options);
    struct decoder_counters c = feed_counters(f);
    CU_ASSERT_EQUAL(c.records_flow, 7U);
    CU_ASSERT_EQUAL(c.records_options, 1U);
    CU_ASSERT_EQUAL(c.sets_decoded, 3U);
    CU_ASSERT_EQUAL(c.sets_held, 1U);
    CU_ASSERT_EQUAL(c.templates_new, 3U);
    feed_free(f);
}

static void every_cut_of_a_datagram_keeps_the_whole_sets(void)
{
    for (uint8_t version = 9; version <= 10; version++) {
        size_t last = 0;
        rich_message(version, 1);
        struct build whole = b;
        for (size_t len = 0; len <= whole.len; len++) {
            struct feed *f = feed_new(NULL);
            feed_octets(f, whole.data, len);
            CU_ASSERT_TRUE(f->n_records >= last);
            CU_ASSERT_TRUE(feed_adds_up(f));
            last = f->n_records;
            feed_free(f);
        }
        CU_ASSERT_EQUAL(last, 8U);
    }
}

/* Any octets, fed to one decoder with small limits: nothing is read outside, all adds up, budgets hold, and templates are
 * only ever touched by datagrams of which decoder_carries_templates() said so. */
static void mutated_datagrams_keep_every_promise(void)
{
    struct decoder_limits limits = {.max_exporters = 3,
                                    .max_domains_per_exporter = 3,
                                    .max_templates_per_domain = 5,
                                    .max_fields = 20,
                                    .max_pending_bytes = 20000,
                                    .max_pending_exporter_bytes = 8000,
                                    .max_pending_age_ns = 50 * WF_NS_PER_S};
    struct feed *f = feed_new(&limits);
    uint64_t x = 88172645463325252U;
    for (unsigned i = 0; i < 20000; i++) {
        rich_message(i & 1 ? 9 : 10, i);
        for (unsigned k = 0; k <= i % 7; k++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            size_t at = x % b.len;
            b.data[at] = (uint8_t)(x >> 40 & 1 ? x >> 32 : x >> 32 & 3);
        }
        f->exporter.bytes[3] = (uint8_t)(x >> 20 & 7);
        f->now_ns += WF_NS_PER_S / 4;
        bool carries = decoder_carries_templates(b.data, b.len);
        struct decoder_counters before = feed_counters(f);
        feed_octets(f, b.data, b.len);
        struct decoder_counters after = feed_counters(f);
        CU_ASSERT_FATAL(carries || after.templates_new + after.templates_changed +
                                           after.templates_refreshed + after.templates_withdrawn ==
                                       before.templates_new + before.templates_changed +
                                           before.templates_refreshed + before.templates_withdrawn);
        if (i % 50 == 0) {
            decoder_expire(f->worker, f->now_ns);
        }
        struct decoder_state s;
        decoder_state(f->decoder, &s);
        CU_ASSERT_FATAL(feed_adds_up(f));
        CU_ASSERT_FATAL(s.pending_bytes <= 20000 && s.exporters <= 3 && s.domains <= 9);
        CU_ASSERT_FATAL(after.records_flow + after.records_options == f->n_records);
    }
    feed_free(f);
}

static void foreign_datagrams_make_no_exporter(void)
{
    static const uint8_t sflow[] = {0, 0, 0, 5, 0, 0, 0, 1, 192, 0, 2, 1};
    struct feed *f = feed_new(NULL);
    CU_ASSERT_EQUAL(feed_octets(f, sflow, sizeof(sflow)), WF_E_FORMAT);
    CU_ASSERT_EQUAL(feed_octets(f, sflow, 0), WF_E_TRUNCATED);
    CU_ASSERT_EQUAL(feed_octets(f, sflow, 1), WF_E_TRUNCATED);
    static const uint8_t v261[] = {1, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    CU_ASSERT_EQUAL(feed_octets(f, v261, sizeof(v261)), WF_E_FORMAT);
    struct decoder_state s;
    decoder_state(f->decoder, &s);
    CU_ASSERT_EQUAL(s.exporters, 0U);
    CU_ASSERT_EQUAL(feed_counters(f).reason[DECODER_UNKNOWN_VERSION], 2U);
    CU_ASSERT_EQUAL(feed_counters(f).reason[DECODER_SHORT_HEADER], 2U);
    CU_ASSERT_EQUAL(f->n_events[DECODER_EVENT_MALFORMED], 4U);
    feed_free(f);
}

static void template_datagrams_are_told_from_data(void)
{
    rich_message(9, 1);
    CU_ASSERT_TRUE(decoder_carries_templates(b.data, b.len));
    rich_message(10, 1);
    CU_ASSERT_TRUE(decoder_carries_templates(b.data, b.len));
    build_v9(&b, 0, 0, 0, 0);
    build_set(&b, 256);
    build_zeros(&b, 8);
    build_end(&b);
    CU_ASSERT_FALSE(decoder_carries_templates(b.data, b.len));
    build_zeros(&b, 1220); /* trailing zeros are no template set */
    CU_ASSERT_FALSE(decoder_carries_templates(b.data, b.len));
    build_ipfix(&b, 0, 0, 0);
    build_set(&b, 300);
    build_zeros(&b, 8);
    build_set(&b, 3);
    build_zeros(&b, 8);
    build_end(&b);
    CU_ASSERT_TRUE(decoder_carries_templates(b.data, b.len));
    build_v5(&b, 0, 0, 0);
    build_end(&b);
    CU_ASSERT_FALSE(decoder_carries_templates(b.data, b.len));
}

static void counters_outlive_their_worker(void)
{
    struct feed *f = feed_new(NULL);
    rich_message(9, 1);
    feed_octets(f, b.data, b.len);
    struct decoder_counters before = feed_counters(f);
    decoder_worker_free(f->worker);
    f->worker = NULL;
    struct decoder_counters after = feed_counters(f);
    CU_ASSERT_EQUAL(memcmp(&before, &after, sizeof(before)), 0);
    CU_ASSERT_EQUAL(after.datagrams, 1U);
    feed_free(f);
}

struct sum {
    size_t n_domains;
    uint64_t datagrams, sets_data, records, held, released, expired, pending, templates;
};

static int add_domain(void *ctx, const struct decoder_domain_info *info)
{
    struct sum *s = ctx;
    s->n_domains++;
    s->datagrams += info->counters.datagrams;
    s->sets_data += info->counters.sets_data;
    s->records += info->counters.records_flow + info->counters.records_options;
    s->held += info->counters.sets_held;
    s->released += info->counters.sets_released;
    s->expired += info->counters.sets_expired;
    s->pending += info->pending_sets;
    s->templates += info->templates;
    return 0;
}

static void domains_add_up_to_the_total(void)
{
    struct feed *f = feed_new(NULL);
    for (uint32_t i = 0; i < 200; i++) {
        f->exporter.bytes[3] = (uint8_t)(i % 7);
        f->now_ns += WF_NS_PER_S;
        if (i % 3 == 0) {
            rich_message(i % 2 ? 9 : 10, i);
        } else {
            build_v9(&b, 0, 0, i, i % 5);
            build_set(&b, (uint16_t)(256 + i % 4));
            build_zeros(&b, 8);
            build_end(&b);
        }
        feed_octets(f, b.data, b.len);
    }
    decoder_expire(f->worker, f->now_ns + 500 * WF_NS_PER_S);
    struct sum s = {0};
    struct decoder_state state;
    struct decoder_counters c = feed_counters(f);
    decoder_state(f->decoder, &state);
    CU_ASSERT_EQUAL(decoder_each_domain(f->decoder, add_domain, &s), 0);
    CU_ASSERT_EQUAL(s.n_domains, state.domains);
    CU_ASSERT_EQUAL(s.datagrams, c.datagrams);
    CU_ASSERT_EQUAL(s.sets_data, c.sets_data);
    CU_ASSERT_EQUAL(s.records, c.records_flow + c.records_options);
    CU_ASSERT_EQUAL(s.held, c.sets_held);
    CU_ASSERT_EQUAL(s.released, c.sets_released);
    CU_ASSERT_EQUAL(s.expired, c.sets_expired);
    CU_ASSERT_EQUAL(s.pending, state.pending_sets);
    CU_ASSERT_EQUAL(s.templates, state.templates);
    CU_ASSERT_TRUE(c.sets_expired > 0 && c.sets_released > 0 && state.pending_sets > 0);
    feed_free(f);
}

static void put_large_template(uint16_t id)
{
    build_ipfix(&b, 0, 0, 1);
    build_set(&b, 2);
    build_u16(&b, id);
    build_u16(&b, 50);
    for (uint16_t i = 0; i < 50; i++) {
        build_u16(&b, i);
        build_u16(&b, (uint16_t)(id + i)); /* no two plans alike */
    }
}

static void templates_of_one_exporter_stay_within_the_memory_budget(void)
{
    struct decoder_limits limits = {.max_session_bytes = 200000};
    struct feed *f = feed_new(&limits);
    for (uint16_t id = 256; id < 1256; id++) {
        put_large_template(id);
        feed_build(f, &b);
        struct decoder_state s;
        decoder_state(f->decoder, &s);
        CU_ASSERT_FATAL(s.session_bytes <= 200000);
    }
    struct decoder_counters c = feed_counters(f);
    CU_ASSERT_TRUE(c.templates_new > 0);
    CU_ASSERT_TRUE(c.reason[DECODER_TEMPLATE_LIMIT] > 0);
    CU_ASSERT_EQUAL(c.templates_new + c.reason[DECODER_TEMPLATE_LIMIT], 1000U);
    feed_free(f);
}

/* 1,000 made-up senders a proven exporter's worth of memory: it keeps its template and its held set. */
static void a_flood_of_made_up_exporters_displaces_itself(void)
{
    struct decoder_limits limits = {
        .max_exporters = 200000, .max_session_bytes = 1 << 20, .max_pending_bytes = 1 << 18};
    struct feed *f = feed_new(&limits);
    rich_message(9, 1);
    feed_octets(f, b.data, b.len);
    struct wf_addr proven = f->exporter;
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t address = i * 2654435761U;
        f->exporter =
            wf_addr_v4((const uint8_t[4]){(uint8_t)(address >> 24), (uint8_t)(address >> 16),
                                          (uint8_t)(address >> 8), (uint8_t)address});
        f->now_ns += WF_NS_PER_MS;
        build_v9(&b, 0, 0, i, 1);
        build_set(&b, 256);
        build_zeros(&b, 100);
        feed_build(f, &b);
    }
    struct decoder_state s;
    decoder_state(f->decoder, &s);
    CU_ASSERT_TRUE(s.session_bytes <= 1 << 20);
    CU_ASSERT_TRUE(s.pending_bytes <= 1 << 18);
    CU_ASSERT_EQUAL(feed_counters(f).reason[DECODER_REFUSED_EXPORTER], 0U);
    CU_ASSERT_TRUE(feed_adds_up(f));
    feed_forget(f);
    f->exporter = proven;
    build_v9(&b, 0, 5001, 2, 1);
    build_set(&b, 0);
    build_template(&b, 999, two_fields + 1, 1);
    build_set(&b, 256);
    build_zeros(&b, 8);
    feed_build(f, &b);
    CU_ASSERT_EQUAL(f->n_records, 2U);
    CU_ASSERT_EQUAL(f->record[0].template_id, 999U);
    CU_ASSERT_TRUE(f->record[0].message.held_ns > 0);
    feed_free(f);
}

/* Several workers hold sets in another order than they arrived in. */
static void held_sets_come_out_in_order_of_arrival(void)
{
    static const uint64_t slots[] = {7, 3, 9, 4, 8};
    static const uint32_t sorted[] = {3, 4, 7, 8, 9};
    struct feed *f = feed_new(NULL);
    for (size_t i = 0; i < 5; i++) {
        f->slot = slots[i];
        build_ipfix(&b, 0, 0, 1);
        build_set(&b, 256);
        build_u32(&b, 0);
        build_u32(&b, (uint32_t)slots[i]);
        feed_build(f, &b);
    }
    build_ipfix(&b, 0, 0, 1);
    build_set(&b, 2);
    build_template(&b, 256, two_fields, 2);
    feed_build(f, &b);
    CU_ASSERT_EQUAL_FATAL(f->n_records, 5U);
    for (size_t i = 0; i < 5; i++) {
        CU_ASSERT_EQUAL(f->record[i].field[1].value, sorted[i]);
    }
    feed_free(f);
}

static void templates_of_the_unproven_displace_nobody_proven(void)
{
    struct decoder_limits limits = {.max_session_bytes = 100000};
    struct feed *f = feed_new(&limits);
    rich_message(10, 1);
    feed_octets(f, b.data, b.len);
    f->exporter.bytes[3] = 77;
    for (uint16_t id = 256; id < 1256; id++) {
        f->now_ns += 2 * WF_NS_PER_S;
        put_large_template(id);
        feed_build(f, &b);
    }
    CU_ASSERT_TRUE(feed_counters(f).reason[DECODER_TEMPLATE_LIMIT] > 0);
    feed_forget(f);
    f->exporter.bytes[3] = 1;
    build_ipfix(&b, 0, 0, 1);
    build_set(&b, 256);
    build_zeros(&b, 8);
    feed_build(f, &b);
    CU_ASSERT_EQUAL(f->n_records, 1U);
    feed_free(f);
}

static void every_reason_has_a_name_and_advice(void)
{
    for (int i = 0; i < DECODER_N_REASONS; i++) {
        enum decoder_reason reason = (enum decoder_reason)i;
        CU_ASSERT_PTR_NOT_NULL_FATAL(decoder_reason_name(reason));
        CU_ASSERT_TRUE(strlen(decoder_reason_name(reason)) > 1);
        CU_ASSERT_TRUE(strlen(decoder_reason_advice(reason)) > 10);
        for (int k = 0; k < i; k++) {
            CU_ASSERT_NOT_EQUAL(
                strcmp(decoder_reason_name(reason), decoder_reason_name((enum decoder_reason)k)),
                0);
        }
    }
    CU_ASSERT_PTR_NOT_NULL(decoder_reason_name(DECODER_N_REASONS));
    CU_ASSERT_PTR_NOT_NULL(decoder_reason_advice(DECODER_N_REASONS));
}

static void nothing_is_freed_twice_when_freed_early(void)
{
    decoder_free(NULL);
    decoder_worker_free(NULL);
    struct feed *f = feed_new(NULL);
    build_v9(&b, 0, 0, 0, 0);
    build_set(&b, 256);
    build_zeros(&b, 8);
    feed_build(f, &b); /* held until the end */
    CU_ASSERT_EQUAL(feed_counters(f).sets_held, 1U);
    feed_free(f);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a run of fixed records is one call", a_run_of_fixed_records_is_one_call},
        {"every cut of a datagram keeps the whole sets",
         every_cut_of_a_datagram_keeps_the_whole_sets},
        {"mutated datagrams keep every promise", mutated_datagrams_keep_every_promise},
        {"foreign datagrams make no exporter", foreign_datagrams_make_no_exporter},
        {"template datagrams are told from data", template_datagrams_are_told_from_data},
        {"counters outlive their worker", counters_outlive_their_worker},
        {"domains add up to the total", domains_add_up_to_the_total},
        {"templates of one exporter stay within the memory budget",
         templates_of_one_exporter_stay_within_the_memory_budget},
        {"a flood of made-up exporters displaces itself",
         a_flood_of_made_up_exporters_displaces_itself},
        {"held sets come out in order of arrival", held_sets_come_out_in_order_of_arrival},
        {"templates of the unproven displace nobody proven",
         templates_of_the_unproven_displace_nobody_proven},
        {"every reason has a name and advice", every_reason_has_a_name_and_advice},
        {"nothing is freed twice when freed early", nothing_is_freed_twice_when_freed_early},
    };
    return test_main("decoder", cases, sizeof(cases) / sizeof(cases[0]));
}
