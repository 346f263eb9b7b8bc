// SPDX-License-Identifier: Apache-2.0
/*
 * whoflow run: the main thread's loop has signals and timers only; receivers, workers and output have threads of their own.
 *
 * End: SIGTERM or SIGINT stops the loop; the sockets are read empty, the workers finish, the output ships what is queued, the account
 * is printed. A second one gives up what is not sent yet, and counts it; unless it comes within half a second of the first: timeout(1)
 * and others send to us and then to our process group. It is waited for in a thread of its own, since the main thread drains.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

#include "collector/command/command.h"
#include "collector/document/document.h"
#include "collector/input/udp.h"
#include "collector/ledger/ledger.h"
#include "collector/log/log.h"
#include "collector/output/output.h"
#include "collector/pipeline/pipeline.h"
#include "collector/util/clock.h"

#define WANTED_BUFFER       (32U << 20)
#define TICK_MS             1000
#define DROP_REPORT_TICKS   10
#define AUTO_RECEIVER_CORES 4
#define MAX_AUTO_RECEIVERS  8
#define MAX_LISTENER_LINES  4U
#define SAME_SIGNAL_NS      (WF_NS_PER_S / 2)
#define DEBUG_MS            60000
#define SILENCE_TICKS       30

static const char *const default_listen[] = {"[::]:2055", "[::]:4739"};

struct run {
    const struct options *options;
    struct command_parts parts;
    struct udp *udp;
    uv_loop_t loop;
    uv_signal_t signal[5];
    uv_timer_t tick, debug;
    unsigned n_ticks;
    bool ending;
    int64_t told_ns; /* the losses since then were not told yet: */
    uint64_t kernel_dropped_told, failed_told, dropped_told;
    struct output_counters reopens_told;
    int64_t began_ns, ended_ns;
};

static void fill_ledger(const struct run *run, struct ledger *ledger)
{
    *ledger = (struct ledger){0};
    command_parts_ledger(&run->parts, ledger);
    for (size_t i = 0; i < udp_n_listeners(run->udp); i++) {
        struct udp_listener_info info;
        udp_info(run->udp, i, &info);
        ledger->datagrams_received += info.datagrams;
        ledger->octets_received += info.octets;
        ledger->kernel_dropped += info.kernel_dropped;
    }
    ledger->elapsed_ns = clock_monotonic_ns() - run->began_ns;
}

/* --- while it runs --- */

static uint64_t wanted_buffer(const struct run *run)
{
    return run->options->receive_buffer ? run->options->receive_buffer : WANTED_BUFFER;
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void report_kernel_drops(struct run *run, int64_t seconds)
{
    uint64_t dropped = 0;
    struct udp_listener_info worst = {0};
    for (size_t i = 0; i < udp_n_listeners(run->udp); i++) {
        struct udp_listener_info info;
        udp_info(run->udp, i, &info);
        dropped += info.kernel_dropped;
        if (info.kernel_dropped > worst.kernel_dropped) {
            worst = info;
        }
    }
    if (dropped > run->kernel_dropped_told) {
        log_warn("kernel dropped %" PRIu64 " datagram%s in %" PRId64
                 " s, most on %s: more came than was decoded; the receive buffer is %" PRIu64
                 " KiB (wanted %" PRIu64 " KiB). Fix: sudo sysctl -w net.core.rmem_max=%" PRIu64
                 ", or more --workers",
                 dropped - run->kernel_dropped_told, plural(dropped - run->kernel_dropped_told),
                 seconds, worst.address, worst.receive_buffer >> 10, wanted_buffer(run) >> 10,
                 wanted_buffer(run));
        run->kernel_dropped_told = dropped;
    }
}

static void report_output_losses(struct run *run, int64_t seconds)
{
    struct output_counters c;
    output_counters(run->parts.output, &c);
    if (c.documents_failed > run->failed_told) {
        const char *text = strerrordesc_np(c.last_errno);
        uint64_t n = c.documents_failed - run->failed_told;
        log_error("output %s: %" PRIu64 " document%s could not be written in %" PRId64
                  " s and %s lost: %s. Make room there, or choose another place with -o",
                  run->options->output, n, plural(n), seconds, n == 1 ? "is" : "are",
                  text ? text : "unknown error");
        run->failed_told = c.documents_failed;
    }
    if (c.documents_dropped > run->dropped_told) {
        uint64_t n = c.documents_dropped - run->dropped_told;
        log_warn("output %s: %" PRIu64 " document%s dropped in %" PRId64
                 " s: it takes fewer than are decoded, and its queue is full. Have it read faster, "
                 "or raise --queue-bytes",
                 run->options->output, n, plural(n), seconds);
        run->dropped_told = c.documents_dropped;
    }
}

static void report_losses(struct run *run)
{
    int64_t now_ns = clock_monotonic_ns();
    int64_t seconds = (now_ns - run->told_ns + WF_NS_PER_S - 1) / WF_NS_PER_S;
    if (output_is_gone(run->parts.output)) {
        return; /* whoever went away does not want to be told */
    }
    report_kernel_drops(run, seconds);
    report_output_losses(run, seconds);
    run->told_ns = now_ns;
}

/* What became of SIGHUP: the output's thread opens the file when it comes to it. */
static void report_reopens(struct run *run)
{
    const char *where = run->options->output;
    struct output_counters *told = &run->reopens_told;
    struct output_counters c;
    output_counters(run->parts.output, &c);
    if (c.n_reopen_failed > told->n_reopen_failed) {
        log_warn("output %s: %s; going on with the old file, and trying again", where,
                 strerrordesc_np(c.reopen_errno));
    }
    if (c.n_reopened > told->n_reopened) {
        log_info("output %s: reopened", where);
    }
    if (c.n_reopen_needless > told->n_reopen_needless) {
        log_info("output %s: is no regular file, nothing to reopen", where);
    }
    *told = c;
}

/* The first datagram may never come, and nothing else would say so. */
static void report_silence(const struct run *run)
{
    char where[256] = "";
    for (size_t i = 0; i < udp_n_listeners(run->udp); i++) {
        struct udp_listener_info info;
        udp_info(run->udp, i, &info);
        if (info.datagrams + info.kernel_dropped > 0) {
            return;
        }
        size_t used = strlen(where);
        if (i < MAX_LISTENER_LINES) {
            snprintf(where + used, sizeof(where) - used, "%s%s", used ? ", " : "", info.address);
        }
    }
    log_info("no datagram yet on %s: check the address and port that the exporter sends to, the "
             "firewall (sudo nft list ruleset) and that the port is open (ss -ulnp)",
             where);
}

static void end_loop(struct run *run)
{
    if (!run->ending) {
        run->ending = true;
        run->ended_ns = clock_monotonic_ns();
        uv_stop(&run->loop);
    }
}

static void on_tick(uv_timer_t *tick)
{
    struct run *run = tick->data;
    pipeline_expire(run->parts.pipeline, clock_wall_ns());
    report_reopens(run);
    if (++run->n_ticks % DROP_REPORT_TICKS == 0) {
        report_losses(run);
    }
    if (run->n_ticks == SILENCE_TICKS) {
        report_silence(run);
    }
    if (output_is_gone(run->parts.output)) { /* the reader went away: as quiet as head(1) expects */
        end_loop(run);
    }
}

static void log_summary(const struct run *run)
{
    struct ledger l;
    fill_ledger(run, &l);
    log_info("%" PRIu64 " datagrams, %" PRIu64 " flow records, %" PRIu64
             " options records, %" PRIu64 " documents written; "
             "%" PRIu64 " sets wait for templates; dropped: kernel %" PRIu64 ", output %" PRIu64
             ", sequence gaps %" PRIu64,
             l.datagrams_received, l.decoder.records_flow, l.decoder.records_options,
             l.documents_written, l.state.pending_sets, l.kernel_dropped,
             l.documents_dropped + l.documents_failed, l.decoder.sequence_lost);
}

static void end_debug(struct run *run)
{
    uv_timer_stop(&run->debug);
    log_info("debug log is off again");
    log_set_level((enum log_level)run->options->log_level);
}

static void on_debug_over(uv_timer_t *timer)
{
    end_debug(timer->data);
}

static void on_usr2(struct run *run)
{
    if (run->options->log_level >= LOG_LEVEL_DEBUG) {
        log_info("SIGUSR2: debug log is on anyway (--log-level)");
    } else if (uv_is_active((uv_handle_t *)&run->debug)) {
        end_debug(run);
    } else {
        log_set_level(LOG_LEVEL_DEBUG);
        log_info("SIGUSR2: debug log for %d s; once more ends it", DEBUG_MS / 1000);
        uv_timer_start(&run->debug, on_debug_over, DEBUG_MS, 0);
    }
}

static void on_hup(struct run *run)
{
    if (isatty(STDOUT_FILENO)) { /* a shell sends it to all when its terminal goes */
        log_info("SIGHUP: ignored, since standard output is a terminal");
        return;
    }
    output_reopen(run->parts.output);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct run *run = handle->data;
    if (number == SIGHUP) {
        on_hup(run);
    } else if (number == SIGUSR1) {
        log_summary(run);
    } else if (number == SIGUSR2) {
        on_usr2(run);
    } else {
        log_info("SIG%s: reading what has arrived, then ending; once more ends at once",
                 sigabbrev_np(number));
        end_loop(run);
    }
}

/* --- start --- */

static void print_banner(const struct run *run)
{
    uint64_t wanted = wanted_buffer(run);
    log_info("whoflow " WF_VERSION ": output %s, format %s", run->options->output,
             run->options->format);
    size_t n = udp_n_listeners(run->udp);
    for (size_t i = 0; i < n && i < MAX_LISTENER_LINES; i++) {
        struct udp_listener_info info;
        char hint[128] = "";
        udp_info(run->udp, i, &info);
        bool is_short = info.receive_buffer < wanted;
        if (is_short) {
            snprintf(hint, sizeof(hint),
                     ", wanted %" PRIu64 " KiB. Fix: sudo sysctl -w net.core.rmem_max=%" PRIu64,
                     wanted >> 10, wanted);
        }
        log_line(is_short ? LOG_LEVEL_WARN : LOG_LEVEL_INFO,
                 "listening on UDP %s for NetFlow v1, v5, v7, v9 and IPFIX; receive buffer %" PRIu64
                 " KiB%s",
                 info.address, info.receive_buffer >> 10, hint);
    }
}

static unsigned auto_receivers(const struct options *options)
{
    if (options->receivers) {
        return options->receivers;
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long n = cores / AUTO_RECEIVER_CORES;
    return n < 1 ? 1 : n > MAX_AUTO_RECEIVERS ? MAX_AUTO_RECEIVERS : (unsigned)n;
}

static int open_udp(struct run *run)
{
    const struct options *options = run->options;
    char why[512];
    struct udp_config config = {.listen = options->n_listen ? options->listen : default_listen,
                                .n_listen = options->n_listen ? options->n_listen : 2,
                                .n_receivers = auto_receivers(options),
                                .receive_buffer = options->receive_buffer};
    int err = udp_new(&config, run->parts.pipeline, &run->udp, why, sizeof(why));
    if (err == WF_OK) {
        return EXIT_CODE_OK;
    }
    fprintf(stderr, "whoflow: %s\n", why);
    return err == WF_E_INVAL  ? EXIT_CODE_USAGE
           : err == WF_E_PERM ? EXIT_CODE_NO_PERMISSION
                              : EXIT_CODE_FAILURE;
}

static int open_loop(struct run *run)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};
    if (uv_loop_init(&run->loop) < 0) {
        return EXIT_CODE_FAILURE;
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        uv_signal_init(&run->loop, &run->signal[i]);
        run->signal[i].data = run;
        uv_signal_start(&run->signal[i], on_signal, numbers[i]);
    }
    uv_timer_init(&run->loop, &run->tick);
    run->tick.data = run;
    uv_timer_start(&run->tick, on_tick, TICK_MS, TICK_MS);
    uv_timer_init(&run->loop, &run->debug);
    run->debug.data = run;
    return EXIT_CODE_OK;
}

/* --- end --- */

/* Waits for the second signal while the main thread drains. */
struct impatience {
    struct output *output;
    int64_t first_ns;
    atomic_bool is_over; /* drained: the next SIGUSR2 is from ourselves */
    pthread_t thread;
    sigset_t signals;
};

static void *wait_for_second_signal(void *arg)
{
    struct impatience *i = arg;
    int number;
    do {
        /* relaxed: it is set before the signal is sent */
        if (sigwait(&i->signals, &number) != 0 ||
            atomic_load_explicit(&i->is_over, memory_order_relaxed)) {
            return NULL;
        }
    } while (number == SIGUSR2 || clock_monotonic_ns() - i->first_ns < SAME_SIGNAL_NS);
    log_warn("SIG%s again: what is not sent yet is given up and counted", sigabbrev_np(number));
    output_stop(i->output, true);
    return NULL;
}

static void drain(struct run *run)
{
    struct impatience i = {.output = run->parts.output, .first_ns = run->ended_ns};
    sigemptyset(&i.signals);
    sigaddset(&i.signals, SIGTERM);
    sigaddset(&i.signals, SIGINT);
    sigaddset(&i.signals, SIGUSR2); /* from ourselves: look at is_over */
    pthread_sigmask(SIG_BLOCK, &i.signals, NULL);
    bool watched = pthread_create(&i.thread, NULL, wait_for_second_signal, &i) == 0;
    udp_stop(run->udp, true);
    pipeline_drain(run->parts.pipeline);
    (void)output_drain(run->parts.output);
    if (watched) {
        atomic_store_explicit(&i.is_over, true, memory_order_relaxed); /* the signal orders it */
        pthread_kill(i.thread, SIGUSR2);
        pthread_join(i.thread, NULL);
    }
    output_stop(run->parts.output, false);
}

static void close_handle(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

static void close_loop(struct run *run)
{
    uv_walk(&run->loop, close_handle, NULL);
    uv_run(&run->loop, UV_RUN_DEFAULT);
    uv_loop_close(&run->loop);
}

/* Prints the account. The exit code of the whole. */
static int conclude(struct run *run)
{
    struct ledger ledger;
    struct options options = *run->options;
    bool is_gone = output_is_gone(run->parts.output);
    if (!is_gone) {
        report_reopens(run);
    }
    report_losses(run);
    fill_ledger(run, &ledger);
    options.summary = options.summary && !is_gone; /* whoever went away does not want to be told */
    int code = command_print_ledger(&run->parts, &options, &ledger);
    return ledger.documents_failed > 0 && !is_gone ? EXIT_CODE_FAILURE : code;
}

int command_run(const struct options *options)
{
    struct run run = {.options = options, .began_ns = clock_monotonic_ns()};
    run.told_ns = run.began_ns;
    int code = command_parts_open(&run.parts, options, false);
    if (code != EXIT_CODE_OK) {
        return code;
    }
    code = open_udp(&run);
    if (code != EXIT_CODE_OK) {
        goto out_parts;
    }
    code = open_loop(&run);
    if (code != EXIT_CODE_OK) {
        goto out_udp;
    }
    if (udp_start(run.udp) < 0) {
        log_error("could not start the receivers: out of threads or memory");
        code = EXIT_CODE_FAILURE;
        goto out_loop;
    }
    print_banner(&run);
    uv_run(&run.loop, UV_RUN_DEFAULT);
    drain(&run);
    code = conclude(&run);
out_loop:
    close_loop(&run);
out_udp:
    udp_free(run.udp);
out_parts:
    command_parts_close(&run.parts);
    return code;
}
