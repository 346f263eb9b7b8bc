// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>

#include <inttypes.h>

#include "collector/ledger/ledger.h"

#define MAX_ROWS 20U

/* Name and offset of every counter that the decoder keeps as one number, once for people and JSON. */
#define DECODER_COUNTERS(X)                                                                        \
    X(datagrams)                                                                                   \
    X(octets)                                                                                      \
    X(datagrams_decoded)                                                                           \
    X(sets_data)                                                                                   \
    X(sets_decoded)                                                                                \
    X(sets_held)                                                                                   \
    X(sets_refused)                                                                                \
    X(sets_released)                                                                               \
    X(sets_expired)                                                                                \
    X(sets_evicted)                                                                                \
    X(octets_released)                                                                             \
    X(octets_expired)                                                                              \
    X(octets_evicted)                                                                              \
    X(records_flow)                                                                                \
    X(records_options)                                                                             \
    X(records_released)                                                                            \
    X(templates_new)                                                                               \
    X(templates_refreshed)                                                                         \
    X(templates_changed)                                                                           \
    X(templates_withdrawn)                                                                         \
    X(sequence_lost)                                                                               \
    X(sequence_reordered)                                                                          \
    X(sequence_duplicate)                                                                          \
    X(sequence_restarts)

#define LEDGER_COUNTERS(X)                                                                         \
    X(datagrams_received)                                                                          \
    X(octets_received)                                                                             \
    X(kernel_dropped)                                                                              \
    X(ring_dropped)                                                                                \
    X(frames)                                                                                      \
    X(frames_other)                                                                                \
    X(frames_broken)                                                                               \
    X(fragments_joined)                                                                            \
    X(fragments_lost)                                                                              \
    X(documents_made)                                                                              \
    X(documents_refused)                                                                           \
    X(documents_written)                                                                           \
    X(documents_dropped)                                                                           \
    X(documents_failed)                                                                            \
    X(documents_unsent)                                                                            \
    X(octets_written)

#define STATE_COUNTERS(X)                                                                          \
    X(exporters)                                                                                   \
    X(domains)                                                                                     \
    X(templates)                                                                                   \
    X(plans)                                                                                       \
    X(session_bytes)                                                                               \
    X(pending_sets)                                                                                \
    X(pending_octets)                                                                              \
    X(pending_bytes)

static void address_text(const struct wf_addr *a, char *text, size_t size)
{
    if (!inet_ntop(a->family == 6 ? AF_INET6 : AF_INET, a->bytes, text, (socklen_t)size)) {
        snprintf(text, size, "?");
    }
}

static void print_decoder_json(FILE *to, const struct decoder_counters *d)
{
#define X(name) fprintf(to, "\"" #name "\":%" PRIu64 ",", d->name);
    DECODER_COUNTERS(X)
#undef X
    fputs("\"reason\":{", to);
    for (unsigned i = DECODER_OK + 1; i < DECODER_N_REASONS; i++) {
        fprintf(to, "%s\"%s\":%" PRIu64, i > DECODER_OK + 1 ? "," : "",
                decoder_reason_name((enum decoder_reason)i), d->reason[i]);
    }
    fputs("}", to);
}

int ledger_print_json(FILE *to, const struct ledger *l, const struct decoder_domain_info *domains,
                      size_t n_domains)
{
    fputs("{", to);
#define X(name) fprintf(to, "\"" #name "\":%" PRIu64 ",", l->name);
    LEDGER_COUNTERS(X)
#undef X
    fprintf(to, "\"elapsed_ns\":%" PRId64 ",\"decoder\":{", l->elapsed_ns);
    print_decoder_json(to, &l->decoder);
    fputs("},\"state\":{", to);
    const char *comma = "";
#define X(name)                                                                                    \
    fprintf(to, "%s\"" #name "\":%" PRIu64, comma, l->state.name);                                 \
    comma = ",";
    STATE_COUNTERS(X)
#undef X
    fputs("},\"domains\":[", to);
    for (size_t i = 0; i < n_domains; i++) {
        const struct decoder_domain_info *info = &domains[i];
        char address[48];
        address_text(&info->exporter, address, sizeof(address));
        fprintf(to,
                "%s\n{\"exporter\":\"%s\",\"port\":%u,\"domain\":%u,\"version\":%u,\"templates\":"
                "%" PRIu64,
                i ? "," : "", address, info->port, info->domain, info->version, info->templates);
        fprintf(to, ",\"pending_sets\":%" PRIu64 ",\"pending_octets\":%" PRIu64 ",",
                info->pending_sets, info->pending_octets);
        print_decoder_json(to, &info->counters);
        fputs("}", to);
    }
    fputs("]}\n", to);
    return ferror(to) ? WF_E_IO : WF_OK;
}

/* "  label   value", only when there is something to tell. */
static void row(FILE *to, const char *label, uint64_t value)
{
    if (value) {
        fprintf(to, "  %-34s %14" PRIu64 "\n", label, value);
    }
}

static void print_input(FILE *to, const struct ledger *l)
{
    row(to, "frames read", l->frames);
    row(to, "frames without flow export", l->frames_other);
    row(to, "frames cut short or broken", l->frames_broken);
    row(to, "IP fragments joined", l->fragments_joined);
    row(to, "IP fragments lost", l->fragments_lost);
    fprintf(to, "  %-34s %14" PRIu64 "\n", "datagrams", l->datagrams_received);
    row(to, "dropped by the kernel", l->kernel_dropped);
    row(to, "dropped, larger than the budget", l->ring_dropped);
}

static void print_decoder(FILE *to, const struct decoder_counters *d, const struct decoder_state *s)
{
    fprintf(to, "  %-34s %14" PRIu64 "\n", "flow records", d->records_flow);
    row(to, "options records", d->records_options);
    row(to, "records held, then decoded", d->records_released);
    row(to, "data sets still waiting", s->pending_sets);
    row(to, "data sets expired", d->sets_expired);
    row(to, "data sets evicted", d->sets_evicted);
    row(to, "data sets refused (can not wait)", d->sets_refused);
    row(to, "templates", s->templates);
    row(to, "templates changed", d->templates_changed);
    row(to, "lost by sequence numbers", d->sequence_lost);
    row(to, "exporter restarts", d->sequence_restarts);
    for (unsigned i = DECODER_OK + 1; i < DECODER_N_REASONS; i++) {
        if (d->reason[i]) {
            char label[48];
            snprintf(label, sizeof(label), "%s: %s",
                     i == DECODER_MESSAGE_LENGTH ? "odd" : "refused",
                     decoder_reason_name((enum decoder_reason)i));
            row(to, label, d->reason[i]);
        }
    }
}

static void print_domains(FILE *to, const struct decoder_domain_info *domains, size_t n_domains)
{
    if (n_domains == 0) {
        return;
    }
    fprintf(to, "\n  %-39s %10s %3s %9s %12s %9s %9s\n", "exporter", "domain", "ver", "datagrams",
            "records", "lost", "waiting");
    uint64_t lost = 0;
    for (size_t i = 0; i < n_domains && i < MAX_ROWS; i++) {
        const struct decoder_domain_info *info = &domains[i];
        char address[48];
        lost += info->counters.sequence_lost;
        address_text(&info->exporter, address, sizeof(address));
        fprintf(to, "  %-39s %10u %3u %9" PRIu64 " %12" PRIu64 " %9" PRIu64 " %9" PRIu64 "\n",
                address, info->domain, info->version, info->counters.datagrams,
                info->counters.records_flow + info->counters.records_options,
                info->counters.sequence_lost, info->pending_sets);
    }
    if (n_domains > MAX_ROWS) {
        fprintf(to, "  and %zu more (all with --stats-file)\n", n_domains - MAX_ROWS);
    }
    if (lost) {
        fputs("  lost: missing by the exporter's own numbers: datagrams for version 9, else "
              "records\n",
              to);
    }
}

int ledger_print_human(FILE *to, const struct ledger *l, const struct decoder_domain_info *domains,
                       size_t n_domains)
{
    double seconds = (double)l->elapsed_ns / 1e9;
    fprintf(to, "whoflow: %" PRIu64 " document%s in %.2f s\n", l->documents_written,
            l->documents_written == 1 ? "" : "s", seconds);
    print_input(to, l);
    print_decoder(to, &l->decoder, &l->state);
    fprintf(to, "  %-34s %14" PRIu64 "\n", "documents written", l->documents_written);
    row(to, "documents refused (too much)", l->documents_refused);
    row(to, "documents dropped (queue full)", l->documents_dropped);
    row(to, "documents failed (output)", l->documents_failed);
    row(to, "documents unsent", l->documents_unsent);
    print_domains(to, domains, n_domains);
    return ferror(to) ? WF_E_IO : WF_OK;
}
