// SPDX-License-Identifier: Apache-2.0
/*
 * wf_generate - sends the load to a collector on the loopback, or writes it as a capture
 *
 * Prints what it sent as one JSON object. Sends to 127.0.0.0/8 and ::1 only; to 127/8 exporter i sends from
 * 127.0.0.2 + i.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/load.h"

#define MAX_EXPORTERS  10000U
#define FIRST_EXPORTER 0x7f000002U /* 127.0.0.2 */
#define NS_PER_S       INT64_C(1000000000)

struct target {
    struct sockaddr_storage address;
    socklen_t len;
    uint16_t port;
};

struct settings {
    struct load_config load;
    uint64_t datagrams;
    uint64_t rate; /* a second; 0 = as fast as it goes */
    const char *pcap;
    const char *target;
};

struct sums {
    uint64_t datagrams, octets, flows, options, templates, send_errors;
};

static const char usage[] =
    "wf_generate [OPTION...] ADDRESS:PORT     send to 127.x.x.x or [::1]\n"
    "wf_generate [OPTION...] --pcap=FILE      write the datagrams as a capture\n"
    "  --profile=v9|ipfix       (v9)\n"
    "  --datagrams=N            (80000), those with templates included\n"
    "  --rate=N                 datagrams a second (as fast as it goes)\n"
    "  --exporters=N            (4) 127.0.0.2 and following\n"
    "  --domains=N              (1) observation domains of each\n"
    "  --templates-every=N      (1000) datagrams of a stream\n"
    "  --early=N                (0) data datagrams of each stream before its first template\n"
    "  --seed=N                 (1)\n";

static int number(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || v < min || v > max) {
        fprintf(stderr, "wf_generate: %s: a number from %" PRIu64 " to %" PRIu64 "\n", text, min,
                max);
        return -1;
    }
    *value = v;
    return 0;
}

static int number32(const char *text, uint32_t min, uint32_t max, uint32_t *value)
{
    uint64_t v = 0;
    int rc = number(text, min, max, &v);
    *value = (uint32_t)v;
    return rc;
}

static int parse_profile(const char *text, enum load_profile *profile)
{
    if (strcmp(text, "v9") != 0 && strcmp(text, "ipfix") != 0) {
        fprintf(stderr, "wf_generate: profile %s: v9 or ipfix\n", text);
        return -1;
    }
    *profile = strcmp(text, "v9") == 0 ? LOAD_V9 : LOAD_IPFIX;
    return 0;
}

static int parse_option(int c, struct settings *s)
{
    switch (c) {
    case 'p':
        return parse_profile(optarg, &s->load.profile);
    case 'n':
        return number(optarg, 1, UINT64_C(1) << 40, &s->datagrams);
    case 'r':
        return number(optarg, 0, 100000000, &s->rate);
    case 'e':
        return number32(optarg, 1, MAX_EXPORTERS, &s->load.exporters);
    case 'd':
        return number32(optarg, 1, 1000000, &s->load.domains);
    case 't':
        return number32(optarg, 1, UINT32_MAX, &s->load.templates_every);
    case 'h':
        return number32(optarg, 0, UINT32_MAX, &s->load.early);
    case 's':
        return number(optarg, 0, UINT64_MAX, &s->load.seed);
    case 'o':
        s->pcap = optarg;
        return 0;
    default:
        fputs(usage, stderr);
        return -1;
    }
}

static int parse(int argc, char **argv, struct settings *s)
{
    static const struct option options[] = {{"profile", required_argument, NULL, 'p'},
                                            {"datagrams", required_argument, NULL, 'n'},
                                            {"rate", required_argument, NULL, 'r'},
                                            {"exporters", required_argument, NULL, 'e'},
                                            {"domains", required_argument, NULL, 'd'},
                                            {"templates-every", required_argument, NULL, 't'},
                                            {"early", required_argument, NULL, 'h'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"pcap", required_argument, NULL, 'o'},
                                            {NULL, 0, NULL, 0}};
    *s = (struct settings){
        .datagrams = 80000,
        .load = {
            .profile = LOAD_V9, .seed = 1, .exporters = 4, .domains = 1, .templates_every = 1000}};
    int c = 0;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (parse_option(c, s) < 0) {
            return -1;
        }
    }
    if (argc - optind != (s->pcap == NULL ? 1 : 0)) {
        fputs(usage, stderr);
        return -1;
    }
    s->target = argv[optind];
    return 0;
}

/* A.B.C.D:PORT in 127/8, or [::1]:PORT. */
static int parse_target(const char *text, struct target *target)
{
    char host[64];
    const char *colon = strrchr(text, ':');
    size_t len = colon == NULL ? 0 : (size_t)(colon - text);
    uint32_t port = 0;
    if (len == 0 || len >= sizeof(host) || number32(colon + 1, 1, 65535, &port) < 0) {
        fprintf(stderr, "wf_generate: %s: ADDRESS:PORT wanted\n", text);
        return -1;
    }
    memcpy(host, text, len);
    host[len] = '\0';
    *target = (struct target){.port = (uint16_t)port};
    struct in_addr v4;
    if (inet_pton(AF_INET, host, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127) {
        struct sockaddr_in sin = {
            .sin_family = AF_INET, .sin_addr = v4, .sin_port = htons(target->port)};
        memcpy(&target->address, &sin, sizeof(sin));
        target->len = sizeof(sin);
        return 0;
    }
    if (strcmp(host, "[::1]") == 0) {
        struct sockaddr_in6 sin6 = {.sin6_family = AF_INET6,
                                    .sin6_addr = IN6ADDR_LOOPBACK_INIT,
                                    .sin6_port = htons(target->port)};
        memcpy(&target->address, &sin6, sizeof(sin6));
        target->len = sizeof(sin6);
        return 0;
    }
    fprintf(stderr, "wf_generate: %s: sends to 127.0.0.0/8 or [::1] only, as fast as it can\n",
            host);
    return -1;
}

static int open_exporter(const struct target *target, uint32_t exporter)
{
    int fd = socket(target->address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    struct sockaddr_in source = {.sin_family = AF_INET,
                                 .sin_addr.s_addr = htonl(FIRST_EXPORTER + exporter)};
    bool four = target->address.ss_family == AF_INET;
    if ((four && bind(fd, (const struct sockaddr *)&source, sizeof(source)) < 0) ||
        connect(fd, (const struct sockaddr *)&target->address, target->len) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int open_exporters(const struct target *target, int *sockets, uint32_t n)
{
    struct rlimit files = {n + 64, n + 64};
    struct rlimit now;
    if (getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur < files.rlim_cur) {
        files.rlim_max = now.rlim_max > files.rlim_cur ? now.rlim_max : files.rlim_cur;
        (void)setrlimit(RLIMIT_NOFILE, &files); /* socket() tells when that failed */
    }
    for (uint32_t i = 0; i < n; i++) {
        sockets[i] = open_exporter(target, i);
        if (sockets[i] < 0) {
            fprintf(stderr, "wf_generate: exporter %u: %s\n", i, strerror(errno));
            return -1;
        }
    }
    return 0;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void wait_until(int64_t when_ns)
{
    struct timespec t = {.tv_sec = when_ns / NS_PER_S, .tv_nsec = when_ns % NS_PER_S};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

static void count(struct sums *sums, const struct load_datagram *d)
{
    sums->datagrams++;
    sums->octets += d->len;
    sums->flows += d->flows;
    sums->options += d->options;
    sums->templates += d->templates;
}

static int send_all(const struct settings *s, struct load *load, struct sums *sums)
{
    struct target target;
    if (parse_target(s->target, &target) < 0) {
        return -1;
    }
    int *sockets = calloc(s->load.exporters, sizeof(*sockets));
    if (sockets == NULL || open_exporters(&target, sockets, s->load.exporters) < 0) {
        free(sockets);
        return -1;
    }
    int64_t start = now_ns();
    uint64_t slice = s->rate / 1000 + 1; /* datagrams between two looks at the clock */
    for (uint64_t i = 0; i < s->datagrams; i++) {
        if (s->rate > 0 && i % slice == 0) {
            wait_until(start + (int64_t)((double)i / (double)s->rate * (double)NS_PER_S));
        }
        struct load_datagram d;
        load_next(load, &d);
        ssize_t sent = -1;
        do {
            sent = send(sockets[d.exporter], d.data, d.len, 0);
        } while (sent < 0 && errno == EINTR);
        if (sent < 0) {
            sums->send_errors++;
            continue;
        }
        count(sums, &d);
    }
    for (uint32_t i = 0; i < s->load.exporters; i++) {
        close(sockets[i]);
    }
    free(sockets);
    return 0;
}

static void put16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

/* Ethernet, IPv4 and UDP headers around a datagram from 127.0.0.2 + exporter to 127.0.0.1. */
static void write_frame(FILE *file, const struct load_datagram *d, unsigned port)
{
    uint8_t head[42] = {
        [12] = 0x08, [14] = 0x45, [20] = 0x40, [22] = 64, [23] = 17, [30] = 127, [33] = 1};
    uint32_t source = FIRST_EXPORTER + d->exporter;
    put16(head + 16, (unsigned)(28 + d->len));
    put16(head + 26, source >> 16);
    put16(head + 28, source & 0xffff);
    uint32_t sum = 0;
    for (int i = 14; i < 34; i += 2) {
        sum += (uint32_t)head[i] << 8 | head[i + 1];
    }
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    put16(head + 24, ~sum & 0xffff);
    put16(head + 34, 40000);
    put16(head + 36, port);
    put16(head + 38, (unsigned)(8 + d->len)); /* no UDP checksum */
    uint32_t record[4] = {(uint32_t)(d->time_ms / 1000), (uint32_t)(d->time_ms % 1000 * 1000),
                          (uint32_t)(sizeof(head) + d->len), (uint32_t)(sizeof(head) + d->len)};
    fwrite(record, sizeof(record), 1, file);
    fwrite(head, sizeof(head), 1, file);
    fwrite(d->data, d->len, 1, file);
}

static int write_all(const struct settings *s, struct load *load, struct sums *sums)
{
    FILE *file = fopen(s->pcap, "we");
    if (file == NULL) {
        fprintf(stderr, "wf_generate: %s: %s\n", s->pcap, strerror(errno));
        return -1;
    }
    static const uint32_t head[6] = {0xa1b2c3d4, 2 | 4U << 16, 0, 0, 65535, 1};
    fwrite(head, sizeof(head), 1, file);
    for (uint64_t i = 0; i < s->datagrams; i++) {
        struct load_datagram d;
        load_next(load, &d);
        write_frame(file, &d, s->load.profile == LOAD_V9 ? 2055 : 4739);
        count(sums, &d);
    }
    bool failed = ferror(file) != 0;
    failed |= fclose(file) != 0;
    if (failed) {
        fprintf(stderr, "wf_generate: %s: %s\n", s->pcap, strerror(errno));
        return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct sums sums = {0};
    if (parse(argc, argv, &settings) < 0) {
        return 2;
    }
    struct load *load = load_new(&settings.load);
    if (load == NULL) {
        fputs("wf_generate: out of memory, or too many streams\n", stderr);
        return 1;
    }
    int64_t start = now_ns();
    int rc = settings.pcap != NULL ? write_all(&settings, load, &sums)
                                   : send_all(&settings, load, &sums);
    load_free(load);
    if (rc < 0) {
        return 1;
    }
    printf("{\"datagrams\":%" PRIu64 ",\"octets\":%" PRIu64 ",\"flows\":%" PRIu64
           ",\"options\":%" PRIu64 ",\"templates\":%" PRIu64 ",\"send_errors\":%" PRIu64
           ",\"elapsed_ns\":%" PRId64 "}\n",
           sums.datagrams, sums.octets, sums.flows, sums.options, sums.templates, sums.send_errors,
           now_ns() - start);
    return 0;
}
