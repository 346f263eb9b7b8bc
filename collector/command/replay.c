// SPDX-License-Identifier: Apache-2.0
/*
 * The main thread opens the rooms, starts the reader, and then waits for its end, for signals and for the next moment to draw the
 * progress; the reader's thread reads, and drains pipeline and output when it is through. So a signal is always
 * heard: the first stops the reader, the second the output, the third kills.
 */
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "collector/command/command.h"
#include "collector/command/progress.h"
#include "collector/command/replay_reader.h"
#include "collector/command/replay_tell.h"
#include "collector/ledger/ledger.h"
#include "collector/output/output.h"
#include "collector/pipeline/pipeline.h"
#include "collector/util/clock.h"

struct replay {
    const struct options *options;
    struct command_parts parts;
    struct sender *sender;
    struct replay_reader reader;
    struct progress progress;
    int stop_fd, done_fd, signal_fd; /* -1 = not open */
    unsigned n_signals;              /* that ask us to stop */
    int first_signal;
    uint64_t octets_total; /* of all files, 0 = not known */
    int code;              /* the reader's */
    int64_t began_ns;
};

/* The reader's thread while it runs, else the main thread. */
static void say(void *ctx, const char *text)
{
    const struct replay *replay = ctx;
    const char *over_bar = replay->progress.is_on && replay->progress.is_bar ? "\r\x1b[K" : "";
    fprintf(stderr, "%swhoflow: %s\n", over_bar, text);
}

static void *run_reader(void *ctx)
{
    struct replay *replay = ctx;
    replay->code = replay_reader_run(&replay->reader);
    if (!replay->sender) {
        pipeline_drain(replay->parts.pipeline);
        (void)output_drain(replay->parts.output); /* gone or not: the counters tell */
    }
    uint64_t one = 1;
    while (write(replay->done_fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
    return NULL;
}

static void measure_files(struct replay *replay)
{
    uint64_t total = 0;
    for (size_t i = 0; i < replay->options->n_files; i++) {
        struct stat st;
        const char *path = replay->options->files[i];
        bool is_stdin = !strcmp(path, "-");
        if ((is_stdin ? fstat(STDIN_FILENO, &st) : stat(path, &st)) < 0) {
            continue; /* the reader will tell */
        }
        if (!S_ISREG(st.st_mode)) {
            return;
        }
        total += (uint64_t)st.st_size;
    }
    replay->octets_total = total;
}

static void draw(struct replay *replay)
{
    struct progress_state state = {.octets_total = replay->octets_total,
                                   .now_ns = clock_monotonic_ns()};
    /* relaxed: numbers to look at */
    state.octets_read = atomic_load_explicit(&replay->reader.octets_read, memory_order_relaxed);
    if (replay->sender) {
        state.what = "datagrams";
        state.n_done = atomic_load_explicit(&replay->reader.n_datagrams, memory_order_relaxed);
    } else {
        struct pipeline_counters pipeline;
        struct output_counters output;
        pipeline_counters(replay->parts.pipeline, &pipeline);
        output_counters(replay->parts.output, &output);
        state.what = "flows";
        state.n_done = pipeline.decoder.records_flow;
        state.held = pipeline.state.pending_sets;
        state.dropped = pipeline.datagrams_dropped + pipeline.documents_refused +
                        output.documents_dropped + output.documents_failed;
    }
    progress_update(&replay->progress, &state);
}

static void fill_ledger(const struct replay *replay, const struct replay_tally *tally,
                        struct ledger *ledger)
{
    struct pipeline_counters counters;
    pipeline_counters(replay->parts.pipeline, &counters);
    *ledger = (struct ledger){
        .datagrams_received = tally->datagrams,
        .octets_received = tally->octets,
        .ring_dropped = counters.datagrams_dropped,
        .has_capture = true,
        .frames = tally->frames,
        .frames_other = tally->other,
        .frames_broken = tally->broken,
        .fragments_joined = tally->joined,
        .elapsed_ns = clock_monotonic_ns() - replay->began_ns,
    };
    command_parts_ledger(&replay->parts, ledger);
}

/* SIGUSR1: how far it is, on stderr. The reader's numbers may be some frames old. */
static void say_so_far(struct replay *replay)
{
    struct replay_tally tally;
    struct ledger l;
    char text[320];
    replay_reader_tally(&replay->reader, &tally);
    if (replay->sender) {
        snprintf(text, sizeof(text), "so far: %" PRIu64 " frames read, %" PRIu64 " datagrams sent",
                 tally.frames, tally.datagrams - tally.unsent);
        say(replay, text);
        return;
    }
    fill_ledger(replay, &tally, &l);
    snprintf(text, sizeof(text),
             "so far: %" PRIu64 " frames read, %" PRIu64 " datagrams, %" PRIu64
             " flow records, %" PRIu64 " options records, %" PRIu64 " documents written, %" PRIu64
             " failed; %" PRIu64 " sets wait for templates",
             l.frames, l.datagrams_received, l.decoder.records_flow, l.decoder.records_options,
             l.documents_written, l.documents_failed, l.state.pending_sets);
    say(replay, text);
}

static void fill_stop_signals(sigset_t *signals)
{
    sigemptyset(signals);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGHUP); /* the terminal is gone */
}

static void on_stop_signal(struct replay *replay, int number)
{
    replay->n_signals++;
    replay_reader_stop(&replay->reader);
    if (replay->n_signals == 1) {
        replay->first_signal = number;
    } else if (replay->n_signals == 2) {
        sigset_t signals;
        fill_stop_signals(&signals);
        pthread_sigmask(SIG_UNBLOCK, &signals, NULL); /* the third kills */
        if (replay->parts.output) {
            output_stop(replay->parts.output, true); /* what is unsent is counted */
        }
    }
}

static void on_signal(struct replay *replay)
{
    struct signalfd_siginfo info;
    while (read(replay->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGUSR1) {
            say_so_far(replay);
        } else if (info.ssi_signo != SIGUSR2) {
            on_stop_signal(replay, (int)info.ssi_signo);
        }
    }
}

/* Until the reader is through. */
static void watch(struct replay *replay)
{
    struct pollfd fds[2] = {{.fd = replay->done_fd, .events = POLLIN},
                            {.fd = replay->signal_fd, .events = POLLIN}};
    for (;;) {
        int n = poll(fds, 2, progress_interval_ms(&replay->progress));
        if (n > 0 && fds[0].revents) {
            return;
        }
        if (n > 0 && fds[1].revents) {
            on_signal(replay);
        }
        if (replay->parts.output && output_is_gone(replay->parts.output)) {
            replay_reader_stop(&replay->reader); /* it may wait for the clock or for a pipe */
        }
        draw(replay);
    }
}

/* An account that ends early must not look like that of the whole capture. The new exit code. */
static int tell_stopped(struct replay *replay, int code)
{
    if (replay->n_signals == 0 || !replay->reader.is_cut_off) {
        return code;
    }
    uint64_t frames = replay->reader.tally.frames;
    const char *name = sigabbrev_np(replay->first_signal);
    char text[160];
    snprintf(text, sizeof(text),
             "stopped by SIG%s after %" PRIu64 " frame%s: the rest of the capture was not read",
             name ? name : "?", frames, frames == 1 ? "" : "s");
    say(replay, text);
    return code < EXIT_CODE_LOSS ? EXIT_CODE_LOSS : code;
}

/* Tells what was lost, prints the account. The exit code of the whole. */
static int conclude(struct replay *replay)
{
    struct ledger ledger;
    fill_ledger(replay, &replay->reader.tally, &ledger);
    ledger.fragments_lost = replay->reader.fragments_lost; /* known when the reader has ended */
    int code = replay->code;
    struct options options = *replay->options;
    if (output_is_gone(replay->parts.output)) {
        /* whoever read us has what he wanted (| head): no summary, and what he did not read is no loss */
        options.summary = false;
        code = code == EXIT_CODE_LOSS || code == EXIT_CODE_FAILURE ? EXIT_CODE_OK : code;
        command_print_ledger(&replay->parts, &options, &ledger);
        return code;
    }
    if (replay->reader.n_opened == 0) {
        options.summary = false; /* nothing but zeros */
    }
    uint64_t records = ledger.decoder.records_flow + ledger.decoder.records_options;
    bool has_loss = ledger_has_loss(&ledger);
    struct output_counters output;
    output_counters(replay->parts.output, &output);
    replay_tell_waiting(pipeline_decoder(replay->parts.pipeline), say, replay);
    replay_tell_output(&output, replay->options->output, say, replay);
    replay_tell_loss(&ledger, say, replay);
    code = tell_stopped(replay, code);
    if (has_loss) {
        code = code < EXIT_CODE_LOSS ? EXIT_CODE_LOSS : code;
    } else if (records == 0 && ledger.datagrams_received > 0 && code == EXIT_CODE_OK) {
        say(replay, "no flows: there is flow export, but only templates in it");
        code = EXIT_CODE_FAILURE;
    }
    int printed = command_print_ledger(&replay->parts, &options, &ledger);
    return code == EXIT_CODE_OK ? printed : code;
}

/* The same for --send, which has no pipeline. */
static int conclude_send(struct replay *replay)
{
    const struct replay_tally *tally = &replay->reader.tally;
    uint64_t refused = sender_refused(replay->sender);
    int code = replay->code;
    char text[320];
    if (refused > 0) {
        const char *colon = strrchr(replay->options->send, ':');
        snprintf(text, sizeof(text),
                 "%s refused datagrams (at least %" PRIu64
                 "): nobody listens there; start it with: whoflow run --listen %s",
                 replay->options->send, refused, colon ? colon : ":PORT");
        say(replay, text);
    }
    if (tally->unsent > 0) {
        snprintf(text, sizeof(text), "%" PRIu64 " datagrams could not be sent: %s", tally->unsent,
                 strerrordesc_np(replay->reader.send_errno));
        say(replay, text);
    }
    if ((refused > 0 || tally->unsent > 0) && code < EXIT_CODE_LOSS) {
        code = EXIT_CODE_LOSS;
    }
    code = tell_stopped(replay, code);
    if (replay->options->summary && replay->reader.n_opened > 0) {
        fprintf(stderr,
                "sent %" PRIu64 " datagrams (%" PRIu64 " octets of %" PRIu64
                " frames) to %s in %.1f s\n",
                tally->datagrams - tally->unsent, tally->octets, tally->frames,
                replay->options->send,
                (double)(clock_monotonic_ns() - replay->began_ns) / (double)WF_NS_PER_S);
    }
    return code;
}

static int open_rooms(struct replay *replay)
{
    char why[320];
    if (!replay->options->send) {
        int code = command_parts_open(&replay->parts, replay->options, true);
        if (code != EXIT_CODE_OK) {
            return code;
        }
        replay->reader.producer = pipeline_producer_new(replay->parts.pipeline);
        if (!replay->reader.producer) {
            say(replay, "out of memory");
            return EXIT_CODE_FAILURE;
        }
        return EXIT_CODE_OK;
    }
    int rc = sender_open(replay->options->send, &replay->sender, why, sizeof(why));
    replay->reader.sender = replay->sender;
    if (rc < 0) {
        say(replay, why);
        return rc == WF_E_INVAL ? EXIT_CODE_USAGE : EXIT_CODE_NO_OUTPUT;
    }
    return EXIT_CODE_OK;
}

static bool open_fds(struct replay *replay, const sigset_t *signals)
{
    replay->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    replay->done_fd = eventfd(0, EFD_CLOEXEC);
    replay->signal_fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
    replay->reader.stop_fd = replay->stop_fd;
    return replay->stop_fd >= 0 && replay->done_fd >= 0 && replay->signal_fd >= 0;
}

static void close_all(struct replay *replay)
{
    const int fds[] = {replay->stop_fd, replay->done_fd, replay->signal_fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    sender_free(replay->sender);
    command_parts_close(&replay->parts);
}

static bool draws_bar(const struct options *options)
{
    /* Documents on the same terminal would tear it apart. */
    bool to_stdout =
        !options->output || !strcmp(options->output, "stdout") || !strcmp(options->output, "-");
    return isatty(STDERR_FILENO) && (options->send || !to_stdout || !isatty(STDOUT_FILENO));
}

int command_replay(const struct options *options)
{
    struct replay replay = {.options = options,
                            .stop_fd = -1,
                            .done_fd = -1,
                            .signal_fd = -1,
                            .began_ns = clock_monotonic_ns(),
                            .reader.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t thread;
    sigset_t signals;
    sigset_t before;
    int code = EXIT_CODE_USAGE;
    if (options->n_files == 0) {
        say(&replay, "replay needs a capture; try: whoflow replay FILE.pcap, or - for stdin");
        return code;
    }
    /* Before any thread starts, so that none of them gets the signals. */
    fill_stop_signals(&signals);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGUSR2); /* for nothing, but it must not end us */
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    code = open_rooms(&replay);
    if (code != EXIT_CODE_OK) {
        goto out;
    }
    code = EXIT_CODE_FAILURE;
    replay.reader.options = options;
    replay.reader.say = say;
    replay.reader.say_ctx = &replay;
    measure_files(&replay);
    progress_init(&replay.progress, stderr, options->progress, draws_bar(options), replay.began_ns);
    if (!open_fds(&replay, &signals) || pthread_create(&thread, NULL, run_reader, &replay) != 0) {
        say(&replay, "can not start: too many threads or open files");
        goto out;
    }
    watch(&replay);
    pthread_join(thread, NULL);
    progress_end(&replay.progress);
    replay.progress.is_on = false;
    code = replay.sender ? conclude_send(&replay) : conclude(&replay);
out:
    close_all(&replay);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}
