// SPDX-License-Identifier: Apache-2.0
#include "collector/command/replay_tell.h"

#include <arpa/inet.h>

#include <inttypes.h>
#include <string.h>

#define MAX_WAITING_TOLD 5

struct waiting_list {
    size_t n;
    struct decoder_domain_info domains[MAX_WAITING_TOLD];
};

static int add_waiting(void *ctx, const struct decoder_domain_info *info)
{
    struct waiting_list *list = ctx;
    if (info->pending_sets > 0) {
        if (list->n < MAX_WAITING_TOLD) {
            list->domains[list->n] = *info;
        }
        list->n++;
    }
    return 0;
}

static void format_address(const struct wf_addr *addr, char *text, size_t len)
{
    text[0] = '\0';
    if (!inet_ntop(addr->family == 4 ? AF_INET : AF_INET6, addr->bytes, text, (socklen_t)len)) {
        snprintf(text, len, "?");
    }
}

void replay_tell_waiting(struct decoder *decoder, replay_say *say, void *ctx)
{
    struct waiting_list list = {0};
    (void)decoder_each_domain(decoder, add_waiting, &list);
    for (size_t i = 0; i < list.n && i < MAX_WAITING_TOLD; i++) {
        const struct decoder_domain_info *info = &list.domains[i];
        char address[INET6_ADDRSTRLEN];
        char text[256];
        format_address(&info->exporter, address, sizeof(address));
        snprintf(text, sizeof(text),
                 "exporter %s domain %" PRIu32 ": %" PRIu64 " data sets (%" PRIu64
                 " octets) never found their template; a longer capture may have it",
                 address, info->domain, info->pending_sets, info->pending_octets);
        say(ctx, text);
    }
    if (list.n > MAX_WAITING_TOLD) {
        char text[128];
        snprintf(text, sizeof(text), "%zu more exporters' domains lack templates too",
                 list.n - MAX_WAITING_TOLD);
        say(ctx, text);
    }
}

/* Appends "3 set_overrun, " where n is not 0. */
static void add_loss(char *text, size_t len, uint64_t n, const char *what)
{
    size_t used = strlen(text);
    if (n > 0) {
        snprintf(text + used, len - used, "%s%" PRIu64 " %s", used > 0 ? ", " : "", n, what);
    }
}

void replay_tell_output(const struct output_counters *output, const char *target, replay_say *say,
                        void *ctx)
{
    char text[512];
    uint64_t n = output->documents_failed;
    if (n == 0 || output->last_errno == 0) {
        return;
    }
    bool is_file = strncmp(target, "file:", 5) == 0;
    snprintf(text, sizeof(text),
             "output %.200s: %" PRIu64 " document%s could not be written: %s; make room or choose "
             "another place with -o",
             is_file ? target + 5 : target, n, n == 1 ? "" : "s",
             strerrordesc_np(output->last_errno));
    say(ctx, text);
}

void replay_tell_loss(const struct ledger *ledger, replay_say *say, void *ctx)
{
    char list[640] = "";
    char text[768];
    const struct decoder_counters *d = &ledger->decoder;
    add_loss(list, sizeof(list), ledger->frames_broken,
             "frames cut short or broken (capture whole packets: tcpdump -s 0)");
    add_loss(list, sizeof(list), ledger->fragments_lost,
             "IP fragments of datagrams that never were whole");
    add_loss(list, sizeof(list), ledger->ring_dropped, "datagrams without memory");
    for (unsigned i = DECODER_OK + 1; i < DECODER_N_REASONS; i++) {
        if (i != DECODER_MESSAGE_LENGTH) { /* see ledger_has_loss */
            add_loss(list, sizeof(list), d->reason[i], decoder_reason_name((enum decoder_reason)i));
        }
    }
    add_loss(list, sizeof(list), d->sets_refused + d->sets_expired + d->sets_evicted,
             "data sets given up before their template came (see --pending-bytes)");
    add_loss(list, sizeof(list), ledger->documents_refused, "documents too many for one datagram");
    add_loss(list, sizeof(list), ledger->documents_dropped + ledger->documents_failed,
             "documents that the output did not take");
    add_loss(list, sizeof(list), ledger->documents_unsent, "documents unsent when stopped");
    if (list[0] != '\0') {
        snprintf(text, sizeof(text), "not all is in the output: %s", list);
        say(ctx, text);
    }
}
