// SPDX-License-Identifier: Apache-2.0
#include "collector/command/events.h"

#include <arpa/inet.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collector/log/log.h"
#include "collector/util/clock.h"

/* Whose line it is. Each template has lines of its own, so that whoever reads that one is waited for reads that it came. */
static uint64_t hash_of(const struct decoder_event *e)
{
    uint64_t half[2];
    uint64_t template_id = e->kind == DECODER_EVENT_WAITING || e->kind == DECODER_EVENT_RELEASED ||
                                   e->kind == DECODER_EVENT_TEMPLATE
                               ? e->template_id
                               : 0;
    memcpy(half, e->exporter.bytes, sizeof(half));
    return wf_mix64(half[0] ^ wf_mix64(half[1] ^ e->domain ^ template_id << 32));
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* "192.0.2.1 domain 7" */
static void exporter_text(const struct decoder_event *e, char *text, size_t size)
{
    char address[INET6_ADDRSTRLEN] = "?";
    inet_ntop(e->exporter.family == 6 ? AF_INET6 : AF_INET, e->exporter.bytes, address,
              sizeof(address));
    snprintf(text, size, "%s domain %" PRIu32, address, e->domain);
}

static void log_released(const struct decoder_event *e, const char *who)
{
    double waited = (double)e->waited_ns / 1e9;
    log_info("exporter %s: template %u arrived after %.1f s: %" PRIu64 " held record%s decoded",
             who, e->template_id, waited, e->n_records, plural(e->n_records));
}

static void log_lost(const struct decoder_event *e, const char *who)
{
    log_warn("exporter %s: gave up %" PRIu64 " held set%s (%" PRIu64
             " octets): %s; have the exporter send its templates more often, "
             "or raise %s",
             who, e->n_sets, plural(e->n_sets), e->n_octets,
             e->expired ? "their template never came" : "the memory for waiting records is full",
             e->expired ? "--pending-age" : "--pending-bytes");
}

static void log_malformed(const struct decoder_event *e, const char *who)
{
    log_warn("exporter %s: %s at octet %zu of a version %u datagram: %s", who,
             decoder_reason_name(e->reason), e->offset, e->version,
             decoder_reason_advice(e->reason));
}

static bool is_warning(const struct decoder_event *e)
{
    return e->kind == DECODER_EVENT_LOST || e->kind == DECODER_EVENT_MALFORMED;
}

void events_log(void *ctx, const struct decoder_event *e)
{
    (void)ctx;
    uint64_t suppressed;
    unsigned kind = (unsigned)e->kind + ((unsigned)e->reason << 3);
    bool debug = e->kind == DECODER_EVENT_TEMPLATE || e->kind == DECODER_EVENT_SEQUENCE;
    if (debug && log_get_level() < LOG_LEVEL_DEBUG) {
        return;
    }
    if (!log_allow(kind, hash_of(e), clock_monotonic_ns(), &suppressed)) {
        return;
    }
    char who[80];
    exporter_text(e, who, sizeof(who));
    switch (e->kind) {
    case DECODER_EVENT_WAITING:
        log_info("exporter %s: waiting for template %u, holding its records", who, e->template_id);
        break;
    case DECODER_EVENT_RELEASED:
        log_released(e, who);
        break;
    case DECODER_EVENT_LOST:
        log_lost(e, who);
        break;
    case DECODER_EVENT_TEMPLATE:
        log_debug("exporter %s: template %u is new or changed", who, e->template_id);
        break;
    case DECODER_EVENT_MALFORMED:
        log_malformed(e, who);
        break;
    case DECODER_EVENT_SEQUENCE:
        /* debug: with several workers a neighbour may still be on its way; the account at the end is exact */
        log_debug("exporter %s: %" PRIu64 " missing by its sequence numbers: lost on the way here",
                  who, e->n_lost);
        break;
    case DECODER_EVENT_RESTART:
        log_info("exporter %s: restarted, or its sequence numbers jumped; its templates are kept",
                 who);
        break;
    default:
        break;
    }
    if (suppressed) {
        log_line(is_warning(e) ? LOG_LEVEL_WARN : LOG_LEVEL_INFO,
                 "exporter %s: %" PRIu64 " more line%s like this since the last one", who,
                 suppressed, plural(suppressed));
    }
}
