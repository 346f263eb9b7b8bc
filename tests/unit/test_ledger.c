// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "collector/ledger/ledger.h"
#include "tests/support/json_check.h"
#include "tests/support/support.h"

/* An account in which every term is there and everything adds up. */
static struct ledger balanced(void)
{
    struct ledger l = {
        .datagrams_received = 100,
        .octets_received = 123456,
        .kernel_dropped = 9,
        .ring_dropped = 1,
        .has_capture = true,
        .frames = 150,
        .frames_other = 20,
        .frames_broken = 5,
        .fragments_joined = 15,
        .fragments_lost = 10,
        .decoder = {.datagrams = 99,
                    .datagrams_decoded = 93,
                    .sets_data = 60,
                    .sets_decoded = 40,
                    .sets_held = 18,
                    .sets_refused = 2,
                    .sets_released = 10,
                    .sets_expired = 3,
                    .sets_evicted = 4,
                    .records_flow = 500,
                    .records_options = 30},
        .state = {.pending_sets = 1},
        .documents_made = 525,
        .documents_refused = 5,
        .documents_written = 515,
        .documents_dropped = 4,
        .documents_failed = 3,
        .documents_unsent = 3,
        .elapsed_ns = 1500000000,
    };
    l.decoder.reason[DECODER_SHORT_HEADER] = 1;
    l.decoder.reason[DECODER_UNKNOWN_VERSION] = 2;
    l.decoder.reason[DECODER_REFUSED_EXPORTER] = 3;
    return l;
}

static void check_wrong(struct ledger l, const char *what)
{
    char why[160] = "";
    CU_ASSERT_EQUAL(ledger_check(&l, why, sizeof(why)), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, what));
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "accounted for"));
}

static void a_balanced_account_adds_up(void)
{
    struct ledger l = balanced();
    char why[160] = "as it was";
    CU_ASSERT_EQUAL(ledger_check(&l, why, sizeof(why)), 0);
    CU_ASSERT_STRING_EQUAL(why, "as it was");
    struct ledger empty = {0};
    CU_ASSERT_EQUAL(ledger_check(&empty, why, sizeof(why)), 0);
}

/* Each term of each equation, one more and the equation tells. */
static void every_term_counts(void)
{
#define ONE_MORE(field, what)                                                                      \
    do {                                                                                           \
        struct ledger l = balanced();                                                              \
        l.field++;                                                                                 \
        check_wrong(l, what);                                                                      \
    } while (0)
    ONE_MORE(decoder.datagrams_decoded, "datagrams");
    ONE_MORE(decoder.reason[DECODER_SHORT_HEADER], "datagrams");
    ONE_MORE(decoder.reason[DECODER_UNKNOWN_VERSION], "datagrams");
    ONE_MORE(decoder.reason[DECODER_REFUSED_EXPORTER], "datagrams");
    ONE_MORE(ring_dropped, "datagrams");
    ONE_MORE(decoder.sets_data, "data sets");
    ONE_MORE(decoder.sets_decoded, "data sets");
    ONE_MORE(decoder.sets_refused, "data sets");
    ONE_MORE(decoder.sets_released, "held sets");
    ONE_MORE(decoder.sets_expired, "held sets");
    ONE_MORE(decoder.sets_evicted, "held sets");
    ONE_MORE(state.pending_sets, "held sets");
    ONE_MORE(decoder.records_flow, "records");
    ONE_MORE(decoder.records_options, "records");
    ONE_MORE(documents_refused, "records");
    ONE_MORE(documents_written, "documents");
    ONE_MORE(documents_dropped, "documents");
    ONE_MORE(documents_failed, "documents");
    ONE_MORE(documents_unsent, "documents");
    ONE_MORE(frames, "frames");
    ONE_MORE(frames_other, "frames");
    ONE_MORE(frames_broken, "frames");
    ONE_MORE(fragments_joined, "frames");
    ONE_MORE(fragments_lost, "frames");
#undef ONE_MORE
}

static void the_first_of_several_is_told(void)
{
    struct ledger l = balanced();
    char why[160] = "";
    l.datagrams_received += 7; /* is in the sum of datagrams and in that of frames */
    l.documents_written++;
    CU_ASSERT_EQUAL(ledger_check(&l, why, sizeof(why)), 3);
    CU_ASSERT_STRING_EQUAL(why, "datagrams: 107 came in, 100 are accounted for");
}

static void frames_count_for_captures_only(void)
{
    struct ledger l = balanced();
    l.has_capture = false;
    l.frames = 0;
    CU_ASSERT_EQUAL(ledger_check(&l, NULL, 0), 0);
}

static void kernel_drops_are_outside_the_sums(void)
{
    struct ledger l = balanced();
    l.kernel_dropped += 1000;
    CU_ASSERT_EQUAL(ledger_check(&l, NULL, 0), 0);
}

static void every_loss_is_a_loss(void)
{
    static const size_t fields[] = {
        offsetof(struct ledger, kernel_dropped),
        offsetof(struct ledger, ring_dropped),
        offsetof(struct ledger, frames_broken),
        offsetof(struct ledger, fragments_lost),
        offsetof(struct ledger, documents_refused),
        offsetof(struct ledger, documents_dropped),
        offsetof(struct ledger, documents_failed),
        offsetof(struct ledger, documents_unsent),
        offsetof(struct ledger, decoder.sets_refused),
        offsetof(struct ledger, decoder.sets_expired),
        offsetof(struct ledger, decoder.sets_evicted),
        offsetof(struct ledger, state.pending_sets),
    };
    struct ledger l = {.datagrams_received = 5, .frames = 9, .frames_other = 4};
    CU_ASSERT_FALSE(ledger_has_loss(&l));
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        uint64_t one = 1;
        struct ledger lost = l;
        memcpy((char *)&lost + fields[i], &one, sizeof(one));
        CU_ASSERT_TRUE(ledger_has_loss(&lost));
    }
    for (unsigned i = DECODER_OK + 1; i < DECODER_N_REASONS; i++) {
        struct ledger lost = l;
        lost.decoder.reason[i] = 1;
        CU_ASSERT_EQUAL(ledger_has_loss(&lost), i != DECODER_MESSAGE_LENGTH);
    }
    l.fragments_joined = 3; /* as it should be */
    l.decoder.sets_held = l.decoder.sets_released = 2;
    CU_ASSERT_FALSE(ledger_has_loss(&l));
}

/* ---- printing ---- */

struct text {
    char *data;
    size_t len;
};

static struct text print(int (*print_ledger)(FILE *, const struct ledger *,
                                             const struct decoder_domain_info *, size_t),
                         const struct ledger *l, const struct decoder_domain_info *domains,
                         size_t n_domains)
{
    struct text text = {NULL, 0};
    FILE *to = open_memstream(&text.data, &text.len);
    CU_ASSERT_PTR_NOT_NULL_FATAL(to);
    CU_ASSERT_EQUAL(print_ledger(to, l, domains, n_domains), WF_OK);
    fclose(to);
    return text;
}

static bool has(struct text text, const char *part)
{
    bool found = strstr(text.data, part) != NULL;
    if (!found) {
        printf("\n  no %s in:\n%s\n", part, text.data);
    }
    return found;
}

/* The checker takes no white space between values; ours are newlines, which no string may hold. */
static bool is_json(struct text text)
{
    char *dense = malloc(text.len + 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(dense);
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] != '\n') {
            dense[n++] = text.data[i];
        }
    }
    bool valid = json_is_valid(dense, n);
    free(dense);
    return valid;
}

static void make_domains(struct decoder_domain_info *domains, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t v4[4] = {192, 0, 2, (uint8_t)(i + 1)};
        domains[i] = (struct decoder_domain_info){.exporter = wf_addr_v4(v4),
                                                  .port = 50000,
                                                  .domain = 4000000000U + (uint32_t)i,
                                                  .version = 10,
                                                  .templates = 3,
                                                  .pending_sets = 17,
                                                  .pending_octets = 18,
                                                  .counters = {.datagrams = 40 + i,
                                                               .records_flow = 1000,
                                                               .records_options = 11,
                                                               .sequence_lost = 77}};
    }
}

static void json_is_valid_and_has_the_values(void)
{
    struct ledger l = balanced();
    struct decoder_domain_info domains[3];
    make_domains(domains, 3);
    domains[1].exporter = wf_addr_v6((const uint8_t[16]){0x20, 0x01, 0x0d, 0xb8, [15] = 0x01});
    l.decoder.sequence_lost = UINT64_MAX;
    struct text text = print(ledger_print_json, &l, domains, 3);
    CU_ASSERT_TRUE(is_json(text));
    CU_ASSERT_TRUE(has(text, "\"datagrams_received\":100,"));
    CU_ASSERT_TRUE(has(text, "\"documents_written\":515,"));
    CU_ASSERT_TRUE(has(text, "\"fragments_lost\":10,"));
    CU_ASSERT_TRUE(has(text, "\"elapsed_ns\":1500000000,"));
    CU_ASSERT_TRUE(has(text, "\"sequence_lost\":18446744073709551615"));
    CU_ASSERT_TRUE(has(text, "\"unknown_version\":2"));
    CU_ASSERT_TRUE(has(text, "\"pending_sets\":1"));
    CU_ASSERT_TRUE(has(text, "{\"exporter\":\"192.0.2.1\",\"port\":50000,\"domain\":4000000000,"
                             "\"version\":10,\"templates\":3,\"pending_sets\":17,"));
    CU_ASSERT_TRUE(has(text, "{\"exporter\":\"2001:db8::1\","));
    CU_ASSERT_TRUE(has(text, "\"domain\":4000000002,"));
    free(text.data);
    text = print(ledger_print_json, &l, NULL, 0);
    CU_ASSERT_TRUE(is_json(text));
    CU_ASSERT_TRUE(has(text, "\"domains\":[]"));
    free(text.data);
}

static void json_names_every_reason(void)
{
    struct ledger l = {0};
    struct text text = print(ledger_print_json, &l, NULL, 0);
    for (unsigned i = DECODER_OK + 1; i < DECODER_N_REASONS; i++) {
        char key[64];
        snprintf(key, sizeof(key), "\"%s\":0", decoder_reason_name((enum decoder_reason)i));
        CU_ASSERT_TRUE(has(text, key));
    }
    free(text.data);
}

static void people_see_what_was_lost_and_where(void)
{
    struct ledger l = balanced();
    struct decoder_domain_info domain;
    make_domains(&domain, 1);
    struct text text = print(ledger_print_human, &l, &domain, 1);
    static const char *const parts[] = {
        "515 documents in 1.50 s",
        "dropped by the kernel                           9",
        "documents dropped (queue full)                  4",
        "documents unsent                                3",
        "refused: short_header                           1",
        "data sets refused (can not wait)                2",
        "lost: missing by the exporter's own numbers: datagrams for version 9, else records",
        "data sets still waiting                         1",
        "flow records                                  500",
        "192.0.2.1",
        "4000000000  10        40         1011        77        17"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        CU_ASSERT_TRUE(has(text, parts[i]));
    }
    CU_ASSERT_PTR_NULL(strstr(text.data, "does not add up"));
    free(text.data);
}

static void people_do_not_see_zeros_but_for_the_totals(void)
{
    struct ledger l = {0};
    struct text text = print(ledger_print_human, &l, NULL, 0);
    CU_ASSERT_TRUE(has(text, "datagrams"));
    CU_ASSERT_TRUE(has(text, "flow records"));
    CU_ASSERT_TRUE(has(text, "documents written"));
    static const char *const not_there[] = {"dropped", "refused", "expired", "lost",
                                            "unsent",  "frames",  "domain"};
    for (size_t i = 0; i < sizeof(not_there) / sizeof(not_there[0]); i++) {
        CU_ASSERT_PTR_NULL(strstr(text.data, not_there[i]));
    }
    free(text.data);
}

static void a_long_table_is_cut_and_says_so(void)
{
    struct ledger l = balanced();
    struct decoder_domain_info domains[25];
    make_domains(domains, 25);
    struct text text = print(ledger_print_human, &l, domains, 25);
    CU_ASSERT_TRUE(has(text, "192.0.2.20 "));
    CU_ASSERT_PTR_NULL(strstr(text.data, "192.0.2.21 "));
    CU_ASSERT_TRUE(has(text, "and 5 more"));
    free(text.data);
    text = print(ledger_print_human, &l, domains, 20);
    CU_ASSERT_TRUE(has(text, "192.0.2.20 "));
    CU_ASSERT_PTR_NULL(strstr(text.data, " more"));
    free(text.data);
}

static void one_is_one_and_odd_is_not_refused(void)
{
    struct ledger l = {.documents_written = 1};
    struct decoder_domain_info domain;
    make_domains(&domain, 1);
    domain.counters.sequence_lost = 0;
    l.decoder.reason[DECODER_MESSAGE_LENGTH] = 4;
    struct text text = print(ledger_print_human, &l, &domain, 1);
    CU_ASSERT_TRUE(has(text, "whoflow: 1 document in "));
    CU_ASSERT_TRUE(has(text, "odd: message_length                             4"));
    CU_ASSERT_PTR_NULL(strstr(text.data, "refused"));
    CU_ASSERT_PTR_NULL(strstr(text.data, "lost: "));
    free(text.data);
}

static void a_full_disk_is_an_error(void)
{
    struct ledger l = balanced();
    FILE *full = fopen("/dev/full", "we");
    CU_ASSERT_PTR_NOT_NULL_FATAL(full);
    setvbuf(full, NULL, _IONBF, 0);
    CU_ASSERT_EQUAL(ledger_print_json(full, &l, NULL, 0), WF_E_IO);
    CU_ASSERT_EQUAL(ledger_print_human(full, &l, NULL, 0), WF_E_IO);
    fclose(full);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a balanced account adds up", a_balanced_account_adds_up},
        {"every term counts", every_term_counts},
        {"the first of several is told", the_first_of_several_is_told},
        {"frames count for captures only", frames_count_for_captures_only},
        {"kernel drops are outside the sums", kernel_drops_are_outside_the_sums},
        {"every loss is a loss", every_loss_is_a_loss},
        {"JSON is valid and has the values", json_is_valid_and_has_the_values},
        {"JSON names every reason", json_names_every_reason},
        {"people see what was lost and where", people_see_what_was_lost_and_where},
        {"people do not see zeros but for the totals", people_do_not_see_zeros_but_for_the_totals},
        {"a long table is cut and says so", a_long_table_is_cut_and_says_so},
        {"one is one and odd is not refused", one_is_one_and_odd_is_not_refused},
        {"a full disk is an error", a_full_disk_is_an_error},
    };
    return test_main("ledger", cases, sizeof(cases) / sizeof(cases[0]));
}
