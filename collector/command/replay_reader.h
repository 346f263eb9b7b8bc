// SPDX-License-Identifier: Apache-2.0
/*
 * replay_reader - the thread of a replay that reads captures and hands the flow export in them on
 *
 * Frames of each file in turn become UDP datagrams, those that are flow export become batches of a pipeline, or go to a collector. The
 * sequence of the batches is that of the capture. Any thread may stop it and look at its progress; all else is the
 * reader's until replay_reader_run has returned.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "collector/cli/options.h"
#include "collector/input/capture.h"
#include "collector/input/export_filter.h"
#include "collector/input/send.h"
#include "collector/pipeline/pipeline.h"

#define REPLAY_MAX_SEEN_PORTS 6

/* Every frame read is in exactly one of: datagrams, other, broken, joined, or in the fragments that are lost. */
struct replay_tally {
    uint64_t frames;
    uint64_t datagrams, octets; /* flow export, handed on */
    uint64_t udp;               /* datagrams of any kind */
    uint64_t other, broken, joined;
    uint64_t unsent; /* of datagrams: --send failed */
};

struct replay_reader {
    /* set before it runs */
    const struct options *options;
    struct producer *producer; /* NULL with sender */
    struct sender *sender;     /* NULL with producer */
    int stop_fd;               /* an eventfd, readable once it should stop */
    /* A sentence for the user, any number of times. */
    void (*say)(void *ctx, const char *text);
    void *say_ctx;
    pthread_mutex_t lock; /* PTHREAD_MUTEX_INITIALIZER */
    /* any thread, with the lock */
    struct replay_tally told;
    /* any thread */
    atomic_bool is_stopped;
    atomic_uint_least64_t octets_read;
    atomic_uint_least64_t n_datagrams;
    /* the reader's */
    struct replay_tally tally;
    uint64_t fragments_lost;
    unsigned n_opened; /* files that are captures */
    bool is_cut_off;   /* stopped before the end of the last file */
    int send_errno;    /* of the last datagram that --send could not send */
    struct fragments *fragments;
    struct export_filter filter;
    struct batch *batch;
    struct capture *capture; /* the open one */
    const char *path;
    uint64_t octets_before; /* of the files before */
    int link_type;
    bool has_pace;
    int64_t pace_capture_ns, pace_monotonic_ns;
    uint16_t seen_ports[REPLAY_MAX_SEEN_PORTS]; /* of UDP that is no flow export, in this file */
    size_t n_seen_ports;
};

/* Reads all files. The worst exit code of them (EXIT_CODE_OK, _FAILURE for one without flow export, _LOSS, _BAD_INPUT, _NO_PERMISSION);
 * each but the first was told through say. */
int replay_reader_run(struct replay_reader *reader);
/* Any thread, while it runs too: the tally of a moment ago. */
void replay_reader_tally(struct replay_reader *reader, struct replay_tally *tally);
/* Any thread: it ends before the next frame. */
void replay_reader_stop(struct replay_reader *reader);
