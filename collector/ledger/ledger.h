// SPDX-License-Identifier: Apache-2.0
/*
 * ledger - where every datagram and record ended
 *
 * Puts the counters of input, decoder and output into one account, checks that it adds up, and prints it for people
 * and as JSON (--stats-file). Holds copies only; knows no input, pipeline, document or output.
 *
 *   datagrams:  received = decoded + short_header + unknown_version + refused_exporter + ring_dropped
 *   data sets:  seen = decoded + refused + released + expired + evicted + pending
 *   records:    decoded = documents made + documents refused
 *   documents:  made = written + dropped + failed + unsent
 */
#pragma once

#include <stdio.h>

#include "decoder/decoder.h"

struct ledger {
    /* input */
    uint64_t
        datagrams_received; /* from the socket, or UDP payloads of the capture given to the decoder */
    uint64_t octets_received;
    uint64_t kernel_dropped; /* SO_RXQ_OVFL: never received, so outside the sum */
    uint64_t ring_dropped;
    /* capture files only */
    bool has_capture;
    uint64_t frames;        /* = datagrams_received + frames_other + frames_broken + fragments_* */
    uint64_t frames_other;  /* no UDP, another port, no flow export */
    uint64_t frames_broken; /* cut short, or headers that do not fit */
    uint64_t
        fragments_joined; /* IP fragments that are part of a datagram counted above (all but one each) */
    uint64_t fragments_lost; /* of datagrams that never became whole */
    /* decoder */
    struct decoder_counters decoder;
    struct decoder_state state;
    /* documents */
    uint64_t documents_made, documents_refused;
    uint64_t documents_written, documents_dropped, documents_failed, documents_unsent;
    uint64_t octets_written;
    int64_t elapsed_ns;
};

/* 0, or the number of sums that do not add up; the first is told in why. */
int ledger_check(const struct ledger *ledger, char *why, size_t why_len);
/* Anything lost? (exit code 3 of replay: drops, failures, sets that never found their template, malformed data; not a
 * message length that is not the datagram's: that is odd, and what it cuts in two has a reason of its own) */
bool ledger_has_loss(const struct ledger *ledger);
/* One domain a row; see decoder_each_domain. */
int ledger_print_human(FILE *to, const struct ledger *ledger,
                       const struct decoder_domain_info *domains, size_t n_domains);
int ledger_print_json(FILE *to, const struct ledger *ledger,
                      const struct decoder_domain_info *domains, size_t n_domains);
