// SPDX-License-Identifier: Apache-2.0
#include "collector/command/replay_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector/util/clock.h"

#define FRAGMENT_BYTES 16777216
#define WHY_LEN        512
#define POSITION_EVERY 256 /* frames */
#define MAX_WAIT_NS    1e18

__attribute__((format(printf, 2, 3))) static void say(struct replay_reader *reader,
                                                      const char *format, ...)
{
    char text[WHY_LEN + 256];
    va_list args;
    va_start(args, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it does not see va_start here
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    reader->say(reader->say_ctx, text);
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static bool is_stopped(struct replay_reader *reader)
{
    /* relaxed: a frame more or less does not matter, and nothing else is read because of it */
    return atomic_load_explicit(&reader->is_stopped, memory_order_relaxed);
}

void replay_reader_stop(struct replay_reader *reader)
{
    atomic_store_explicit(&reader->is_stopped, true, memory_order_relaxed); /* see is_stopped */
    uint64_t one = 1;
    while (write(reader->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
}

/* Hands on what is in the batch: before any wait, so that a slow replay is no late one. */
static void flush(struct replay_reader *reader)
{
    if (reader->batch) {
        producer_put(reader->producer, reader->batch);
        reader->batch = NULL;
    }
}

/* For whoever looks on: where it is. */
static void tell_position(struct replay_reader *reader)
{
    uint64_t read = 0;
    uint64_t size = 0;
    capture_position(reader->capture, &read, &size);
    /* relaxed: for the progress bar only */
    atomic_store_explicit(&reader->octets_read, reader->octets_before + read, memory_order_relaxed);
    pthread_mutex_lock(&reader->lock);
    reader->told = reader->tally;
    pthread_mutex_unlock(&reader->lock);
}

void replay_reader_tally(struct replay_reader *reader, struct replay_tally *tally)
{
    pthread_mutex_lock(&reader->lock);
    *tally = reader->told;
    pthread_mutex_unlock(&reader->lock);
}

/* Before input blocks. */
static void on_idle(void *ctx)
{
    struct replay_reader *reader = ctx;
    flush(reader);
    if (reader->capture) {
        tell_position(reader);
    }
}

/* Waits until the capture's clock, times speed, has come to time_ns. False when stopped. */
static bool pace(struct replay_reader *reader, int64_t time_ns)
{
    if (reader->options->speed <= 0) {
        return true;
    }
    int64_t now_ns = clock_monotonic_ns();
    if (!reader->has_pace) {
        reader->has_pace = true;
        reader->pace_capture_ns = time_ns;
        reader->pace_monotonic_ns = now_ns;
    }
    double wait_ns = (double)(time_ns - reader->pace_capture_ns) / reader->options->speed -
                     (double)(now_ns - reader->pace_monotonic_ns);
    if (wait_ns < 1000) {
        return true;
    }
    flush(reader);
    tell_position(reader);
    int64_t due_ns = now_ns + (int64_t)(wait_ns < MAX_WAIT_NS ? wait_ns : MAX_WAIT_NS);
    struct pollfd stop = {.fd = reader->stop_fd, .events = POLLIN};
    while (now_ns < due_ns && !is_stopped(reader)) {
        int64_t left_ns = due_ns - now_ns;
        struct timespec left = {.tv_sec = left_ns / WF_NS_PER_S, .tv_nsec = left_ns % WF_NS_PER_S};
        (void)ppoll(&stop, 1, &left, NULL);
        now_ns = clock_monotonic_ns();
    }
    return !is_stopped(reader);
}

/* A batch with room, or NULL when stopped or the pipeline is. */
static struct batch *room(struct replay_reader *reader)
{
    if (reader->batch && reader->batch->n_packets == BATCH_PACKETS) {
        flush(reader);
    }
    while (!reader->batch && !is_stopped(reader) && !producer_should_stop(reader->producer)) {
        reader->batch = producer_get(reader->producer, 100);
    }
    return reader->batch;
}

/* False when stopped: then the datagram was not taken. */
static bool hand_on(struct replay_reader *reader, const struct packet_udp *udp, int64_t time_ns)
{
    if (!pace(reader, time_ns)) {
        return false;
    }
    if (reader->sender) {
        if (sender_send(reader->sender, udp->payload, udp->len) < 0) {
            reader->tally.unsent++;
            reader->send_errno = errno;
        }
    } else {
        struct batch *batch = room(reader);
        if (!batch) {
            return false;
        }
        /* What it drops for want of memory it has counted: received, and in ring_dropped. */
        struct decoder_datagram datagram = {.data = udp->payload,
                                            .len = udp->len,
                                            .exporter = udp->source,
                                            .port = udp->source_port,
                                            .received_ns = time_ns};
        (void)producer_add(reader->producer, batch, &datagram);
    }
    reader->tally.datagrams++;
    reader->tally.octets += udp->len;
    reader->tally.joined += udp->n_fragments - 1;
    /* relaxed: for the progress bar only */
    atomic_store_explicit(&reader->n_datagrams, reader->tally.datagrams, memory_order_relaxed);
    return true;
}

static void remember_port(struct replay_reader *reader, uint16_t port)
{
    for (size_t i = 0; i < reader->n_seen_ports; i++) {
        if (reader->seen_ports[i] == port) {
            return;
        }
    }
    if (reader->n_seen_ports < REPLAY_MAX_SEEN_PORTS) {
        reader->seen_ports[reader->n_seen_ports++] = port;
    }
}

/* False when stopped. */
static bool take_frame(struct replay_reader *reader, const struct capture_frame *frame)
{
    struct packet_udp udp;
    struct replay_tally *tally = &reader->tally;
    fragments_set_time(reader->fragments, frame->time_ns);
    tally->frames++;
    switch (packet_parse(reader->link_type, frame->data, frame->len, reader->fragments, &udp)) {
    case PACKET_FRAGMENT:
        return true;
    case PACKET_OTHER:
        tally->other += udp.n_fragments;
        return true;
    case PACKET_BROKEN:
        tally->broken += udp.n_fragments;
        return true;
    case PACKET_UDP:
        break;
    }
    tally->udp++;
    if (!export_filter_accepts(&reader->filter, &udp)) {
        remember_port(reader, udp.destination_port);
        tally->other += udp.n_fragments;
        return true;
    }
    if (hand_on(reader, &udp, frame->time_ns)) {
        return true;
    }
    tally->frames -= udp.n_fragments; /* as if not read */
    return false;
}

/* What capture_next returned at the end: 0 or the error. */
static int read_frames(struct replay_reader *reader, char *why)
{
    struct capture_frame frame;
    for (uint64_t n = 0; !is_stopped(reader); n++) {
        int rc = capture_next(reader->capture, &frame, why, WHY_LEN);
        if (rc != 1) {
            return rc;
        }
        if (!take_frame(reader, &frame)) {
            return WF_E_STOPPED;
        }
        if (n % POSITION_EVERY == 0) {
            tell_position(reader);
        }
    }
    return WF_E_STOPPED;
}

/* "; UDP went to the ports 53, 443" */
static void format_ports(const struct replay_reader *reader, char *text, size_t len)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < reader->n_seen_ports && used < len; i++) {
        used += (size_t)snprintf(text + used, len - used, "%s%u",
                                 i == 0 ? "; UDP went to port " : ", ", reader->seen_ports[i]);
    }
    if (reader->n_seen_ports == REPLAY_MAX_SEEN_PORTS && used < len) {
        snprintf(text + used, len - used, ", ...");
    }
}

static int tell_no_flows(struct replay_reader *reader, const struct replay_tally *before)
{
    const struct replay_tally *now = &reader->tally;
    uint64_t frames = now->frames - before->frames;
    uint64_t udp = now->udp - before->udp;
    uint64_t broken = now->broken - before->broken;
    char ports[128];
    char where[64] = "none carries NetFlow v1, v5, v7, v9 or IPFIX";
    char advice[160] = "";
    format_ports(reader, ports, sizeof(ports));
    if (reader->options->port != 0) {
        snprintf(where, sizeof(where), "none to port %u", reader->options->port);
        snprintf(advice, sizeof(advice), "; leave --port out to find flow export on any port");
    } else if (reader->n_seen_ports > 0) {
        snprintf(advice, sizeof(advice), "; if one of these is flow export, try --port %u",
                 reader->seen_ports[0]);
    } else if (broken > 0) {
        snprintf(advice, sizeof(advice),
                 "; capture whole packets (tcpdump -s 0) if they were cut short");
    }
    say(reader,
        "%s: no flows: %" PRIu64 " frame%s, %" PRIu64 " UDP datagram%s, %" PRIu64
        " frame%s broken or cut short; %s%s%s",
        reader->path, frames, plural(frames), udp, plural(udp), broken, plural(broken), where,
        ports, advice);
    return EXIT_CODE_FAILURE;
}

static int tell_link_type(struct replay_reader *reader)
{
    const char *name = pcap_datalink_val_to_name(reader->link_type);
    say(reader,
        "%s: has link type %s (%d), from which no UDP can be taken; Ethernet, Linux cooked (-i "
        "any), raw IP "
        "and BSD loopback are known",
        reader->path, name ? name : "unknown", reader->link_type);
    return EXIT_CODE_BAD_INPUT;
}

static int tell_open_error(struct replay_reader *reader, int rc, const char *why)
{
    if (rc == WF_E_STOPPED) {
        reader->is_cut_off = true;
        return EXIT_CODE_OK;
    }
    int error = errno;
    say(reader, "%s: %s", reader->path, why);
    switch (rc) {
    case WF_E_IO:
        return error == EACCES || error == EPERM ? EXIT_CODE_NO_PERMISSION : EXIT_CODE_BAD_INPUT;
    case WF_E_TRUNCATED:
        return EXIT_CODE_LOSS;
    case WF_E_FORMAT:
        return EXIT_CODE_BAD_INPUT;
    default:
        return EXIT_CODE_FAILURE;
    }
}

static int read_file(struct replay_reader *reader)
{
    char why[WHY_LEN] = "";
    struct capture *capture = NULL;
    struct capture_wait wait = {.stop_fd = reader->stop_fd, .idle = on_idle, .ctx = reader};
    struct replay_tally before = reader->tally;
    reader->has_pace = false;
    reader->n_seen_ports = 0;
    int rc = capture_open_waiting(reader->path, &wait, &capture, why, sizeof(why));
    if (rc < 0) {
        return tell_open_error(reader, rc, why);
    }
    int code = EXIT_CODE_OK;
    reader->link_type = capture_link_type(capture);
    if (!packet_knows_link(reader->link_type)) {
        code = tell_link_type(reader);
        goto out;
    }
    reader->n_opened++;
    reader->capture = capture;
    rc = read_frames(reader, why);
    tell_position(reader);
    uint64_t frames = reader->tally.frames - before.frames;
    reader->is_cut_off = rc == WF_E_STOPPED;
    if (rc < 0 && rc != WF_E_STOPPED) {
        say(reader, "%s: %s; %" PRIu64 " frame%s before that %s used", reader->path, why, frames,
            plural(frames), frames == 1 ? "was" : "were");
        code = rc == WF_E_FORMAT && frames == 0 ? EXIT_CODE_BAD_INPUT : EXIT_CODE_LOSS;
    } else if (rc == 0 && reader->tally.datagrams == before.datagrams) {
        code = tell_no_flows(reader, &before);
    }
out:
    reader->capture = NULL;
    capture_close(capture);
    return code;
}

int replay_reader_run(struct replay_reader *reader)
{
    int worst = EXIT_CODE_OK;
    export_filter_init(&reader->filter, reader->options->port);
    reader->fragments = fragments_new(FRAGMENT_BYTES);
    if (!reader->fragments) {
        say(reader, "out of memory");
        return EXIT_CODE_FAILURE;
    }
    size_t i = 0;
    for (; i < reader->options->n_files && !is_stopped(reader); i++) {
        reader->path = reader->options->files[i];
        int code = read_file(reader);
        worst = code > worst ? code : worst;
        reader->octets_before =
            atomic_load_explicit(&reader->octets_read, memory_order_relaxed); /* own */
    }
    reader->is_cut_off = reader->is_cut_off || i < reader->options->n_files;
    flush(reader);
    reader->fragments_lost =
        fragments_lost(reader->fragments) + fragments_waiting(reader->fragments);
    fragments_free(reader->fragments);
    reader->fragments = NULL;
    return worst;
}
