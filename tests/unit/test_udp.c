// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <pthread.h>
#include <sched.h>

#include "collector/input/udp.h"
#include "collector/input/udp_socket.h"
#include "tests/unit/piped.h"

static const char *const loopback[] = {"127.0.0.1:0"};

struct received {
    struct piped piped;
    struct udp *udp;
    char why[256];
};

static int try_open(struct received *r, const char *const *listen, size_t n_listen,
                    unsigned n_receivers, size_t receive_buffer)
{
    struct udp_config config = {.listen = listen,
                                .n_listen = n_listen,
                                .n_receivers = n_receivers,
                                .receive_buffer = receive_buffer};
    r->udp = NULL;
    return udp_new(&config, r->piped.pipeline, &r->udp, r->why, sizeof(r->why));
}

static void open_all(struct received *r, const char *const *listen, size_t n_listen,
                     unsigned n_receivers, size_t receive_buffer)
{
    piped_open(&r->piped, (struct pipeline_config){.n_workers = 2}, true);
    CU_ASSERT_EQUAL_FATAL(try_open(r, listen, n_listen, n_receivers, receive_buffer), WF_OK);
}

static void close_all(struct received *r)
{
    udp_free(r->udp);
    piped_close(&r->piped);
}

static struct udp_listener_info info_of(const struct received *r, size_t i)
{
    struct udp_listener_info info;
    udp_info(r->udp, i, &info);
    return info;
}

static uint16_t port_of(const struct received *r, size_t i)
{
    struct udp_listener_info info = info_of(r, i);
    const char *colon = strrchr(info.address, ':');
    CU_ASSERT_PTR_NOT_NULL_FATAL(colon);
    return (uint16_t)strtoul(colon + 1, NULL, 10);
}

/* A socket that sends to the listener, over IPv4 or IPv6 loopback; -1 when the machine has no IPv6. */
static int sender_to(const struct received *r, size_t i, int family)
{
    struct sockaddr_in four = {.sin_family = AF_INET,
                               .sin_port = htons(port_of(r, i)),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6,
                               .sin6_port = htons(port_of(r, i)),
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_storage to = {0};
    memcpy(&to, family == AF_INET ? (const void *)&four : (const void *)&six,
           family == AF_INET ? sizeof(four) : sizeof(six));
    int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&to,
                           family == AF_INET ? sizeof(four) : sizeof(six)) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* A datagram of n flow records that brings its own template. */
static void make(struct build *b, uint32_t domain, unsigned n_records)
{
    static const uint16_t fields[][2] = {{8, 4}, {12, 4}, {1, 4}};
    build_ipfix(b, 1700000000, 0, domain);
    build_set(b, 2);
    build_template(b, 256, fields, 3);
    build_set(b, 256);
    build_zeros(b, (size_t)n_records * 12);
    build_end(b);
}

/* On a busy machine send(2) returns before the datagram is in the receiver's queue: it waits in a queue of this CPU. So the
 * sender stays on its CPU, and sends a datagram to itself last: when that is there, the others are. */
static void stay_here(cpu_set_t *before)
{
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET((unsigned)sched_getcpu(), &here);
    CU_ASSERT_EQUAL_FATAL(pthread_getaffinity_np(pthread_self(), sizeof(*before), before), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_setaffinity_np(pthread_self(), sizeof(here), &here), 0);
}

static void wait_for_arrival(const cpu_set_t *before)
{
    struct sockaddr_in self = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(self);
    char octet = 1;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT_EQUAL_FATAL(bind(fd, (const struct sockaddr *)&self, sizeof(self)), 0);
    CU_ASSERT_EQUAL_FATAL(getsockname(fd, (struct sockaddr *)&self, &len), 0);
    CU_ASSERT_EQUAL_FATAL(connect(fd, (const struct sockaddr *)&self, sizeof(self)), 0);
    CU_ASSERT_EQUAL_FATAL(send(fd, &octet, 1, 0), 1);
    CU_ASSERT_EQUAL_FATAL(recv(fd, &octet, 1, 0), 1);
    close(fd);
    CU_ASSERT_EQUAL_FATAL(pthread_setaffinity_np(pthread_self(), sizeof(*before), before), 0);
}

/* All that could be sent has arrived, or was dropped. */
static unsigned send_all(int fd, const struct build *b, unsigned n)
{
    unsigned n_sent = 0;
    cpu_set_t before;
    stay_here(&before);
    for (unsigned i = 0; i < n; i++) {
        n_sent += send(fd, b->data, b->len, 0) == (ssize_t)b->len;
    }
    wait_for_arrival(&before);
    return n_sent;
}

static uint64_t drain_all(struct received *r)
{
    udp_stop(r->udp, true);
    piped_drain(&r->piped);
    struct pipeline_counters c = piped_counters(&r->piped);
    uint64_t n = 0;
    for (size_t i = 0; i < udp_n_listeners(r->udp); i++) {
        n += info_of(r, i).datagrams;
    }
    /* what was read was decoded */
    CU_ASSERT_EQUAL(n, c.decoder.datagrams_decoded + c.datagrams_dropped);
    return n;
}

/* ---- addresses ---- */

static void addresses_are_read_in_all_their_forms(void)
{
    static const struct {
        const char *text;
        int family;
        const char *host;
        uint16_t port;
    } good[] = {
        {"127.0.0.1:9995", AF_INET, "127.0.0.1", 9995},
        {"0.0.0.0:0", AF_INET, "0.0.0.0", 0},
        {":9995", AF_INET6, "::", 9995},
        {"9995", AF_INET6, "::", 9995},
        {"[::]:4739", AF_INET6, "::", 4739},
        {"[2001:db8::1]", AF_INET6, "2001:db8::1", 2055},
        {"2001:db8::1", AF_INET6, "2001:db8::1", 2055},
        {"192.0.2.7", AF_INET, "192.0.2.7", 2055},
        {"[::1]:65535", AF_INET6, "::1", 65535},
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct sockaddr_storage s;
        struct sockaddr_in6 six;
        struct sockaddr_in four;
        char host[INET6_ADDRSTRLEN];
        CU_ASSERT_EQUAL(udp_parse_address(good[i].text, 2055, &s), WF_OK);
        CU_ASSERT_EQUAL(s.ss_family, good[i].family);
        memcpy(&six, &s, sizeof(six));
        memcpy(&four, &s, sizeof(four));
        bool is_six = s.ss_family == AF_INET6;
        CU_ASSERT_EQUAL(ntohs(is_six ? six.sin6_port : four.sin_port), good[i].port);
        inet_ntop(s.ss_family, is_six ? (const void *)&six.sin6_addr : (const void *)&four.sin_addr,
                  host, sizeof(host));
        CU_ASSERT_STRING_EQUAL(host, good[i].host);
    }
}

static void what_is_no_address_is_refused(void)
{
    static const char *const bad[] = {
        "",
        "host:2055",
        "127.0.0.1:",
        "127.0.0.1:65536",
        "127.0.0.1:20x",
        "127.0.0.1:-1",
        "127.0.0.1: 20",
        "[::1",
        "[::1]2055",
        "[]:2055",
        "[127.0.0.1.1]:1",
        "1.2.3:4",
        "99999",
        "2001:db8::1:99999",
        "[::1]:",
        "127.0.0.1:2055:1",
        "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct sockaddr_storage s;
        bool refused = udp_parse_address(bad[i], 2055, &s) == WF_E_FORMAT;
        CU_ASSERT(refused);
        if (!refused) {
            printf("\n  taken: %s\n", bad[i]);
        }
    }
}

static void the_fault_of_an_address_is_named(void)
{
    static const struct {
        const char *text, *part;
    } faults[] = {
        {"collector.example:2055", "names are not looked up"},
        {"localhost", "names are not looked up"},
        {"127.0.0.1:65536", "0 to 65535"},
        {"127.0.0.1:http", "0 to 65535"},
        {"[::1]:", "0 to 65535"},
        {"99999", "0 to 65535"},
        {"2001:db8::1:99999", "in [ ]"},
        {"[::1", "] is missing"},
        {"1.2.3:4", "no address"},
        {"[]:2055", "no address"},
    };
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        const char *fault = udp_address_fault(faults[i].text);
        CU_ASSERT_PTR_NOT_NULL(strstr(fault, faults[i].part));
        if (!strstr(fault, faults[i].part)) {
            printf("\n  %s: %s\n", faults[i].text, fault);
        }
    }
}

/* ---- what can not be opened ---- */

static void a_bad_address_says_what_to_type(void)
{
    static const char *const bad[] = {"collector.example:2055"};
    struct received r;
    piped_open(&r.piped, (struct pipeline_config){.n_workers = 1}, true);
    CU_ASSERT_EQUAL(try_open(&r, bad, 1, 1, 0), WF_E_INVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(r.why, "collector.example:2055"));
    CU_ASSERT_PTR_NOT_NULL(strstr(r.why, "ADDR:PORT"));
    CU_ASSERT_PTR_NULL(r.udp);
    close_all(&r);
}

static void an_address_of_another_machine_says_so(void)
{
    static const char *const other[] = {"192.0.2.1:2055"};
    struct received r;
    piped_open(&r.piped, (struct pipeline_config){.n_workers = 1}, true);
    CU_ASSERT_EQUAL(try_open(&r, other, 1, 1, 0), WF_E_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(r.why, "192.0.2.1:2055"));
    CU_ASSERT_PTR_NOT_NULL(strstr(r.why, "this machine"));
    close_all(&r);
}

static void a_port_in_use_names_its_process(void)
{
    char text[32];
    char self[32];
    const char *listen[] = {text};
    struct received r;
    open_all(&r, loopback, 1, 1, 0);
    snprintf(text, sizeof(text), "127.0.0.1:%u", port_of(&r, 0));
    snprintf(self, sizeof(self), "test_udp[%d]", (int)getpid());
    struct udp *first = r.udp;
    CU_ASSERT_EQUAL(try_open(&r, listen, 1, 1, 0), WF_E_INUSE);
    CU_ASSERT_PTR_NOT_NULL(strstr(r.why, text));
    CU_ASSERT_PTR_NOT_NULL(strstr(r.why, self));
    CU_ASSERT_PTR_NOT_NULL(strstr(r.why, "--listen"));
    /* two receivers share a port among themselves only */
    CU_ASSERT_EQUAL(try_open(&r, listen, 1, 2, 0), WF_E_INUSE);
    r.udp = first;
    close_all(&r);
}

/* ---- receiving ---- */

static void what_is_sent_is_decoded_with_its_sender_and_time(void)
{
    struct received r;
    struct build b;
    open_all(&r, loopback, 1, 1, 0);
    CU_ASSERT_EQUAL_FATAL(udp_start(r.udp), WF_OK);
    CU_ASSERT_TRUE(port_of(&r, 0) > 0);
    int fd = sender_to(&r, 0, AF_INET);
    CU_ASSERT_FATAL(fd >= 0);
    struct sockaddr_in self;
    socklen_t len = sizeof(self);
    CU_ASSERT_EQUAL_FATAL(getsockname(fd, (struct sockaddr *)&self, &len), 0);
    make(&b, 7, 5);
    CU_ASSERT_EQUAL(send_all(fd, &b, 10), 10U);
    CU_ASSERT_TRUE(piped_wait_written(&r.piped, 50)); /* while it runs, not only at its end */
    CU_ASSERT_EQUAL(drain_all(&r), 10U);
    char port[32];
    snprintf(port, sizeof(port), "\"port\":%u,", ntohs(self.sin_port));
    CU_ASSERT_EQUAL(piped_count(&r.piped, "\"exporter\":\"127.0.0.1\""), 50U);
    CU_ASSERT_EQUAL(piped_count(&r.piped, port), 50U);
    CU_ASSERT_EQUAL(info_of(&r, 0).octets, 10U * b.len);
    CU_ASSERT_EQUAL(info_of(&r, 0).kernel_dropped, 0U);
    close(fd);
    close_all(&r);
}

static int check_seen(void *ctx, const struct decoder_domain_info *info)
{
    const int64_t *bounds = ctx;
    CU_ASSERT_TRUE(info->first_seen_ns >= bounds[0]);
    CU_ASSERT_TRUE(info->last_seen_ns <= bounds[1]);
    CU_ASSERT_TRUE(info->first_seen_ns <= info->last_seen_ns);
    return WF_OK;
}

static int64_t wall_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * WF_NS_PER_S + t.tv_nsec;
}

static void the_time_of_receipt_is_the_kernels(void)
{
    struct received r;
    struct build b;
    open_all(&r, loopback, 1, 1, 0);
    int fd = sender_to(&r, 0, AF_INET);
    CU_ASSERT_FATAL(fd >= 0);
    make(&b, 7, 1);
    int64_t bounds[2];
    bounds[0] = wall_clock();
    CU_ASSERT_EQUAL(send_all(fd, &b, 3), 3U);
    bounds[1] = wall_clock(); /* nobody has read them yet: a later time would be the reader's */
    CU_ASSERT_EQUAL_FATAL(udp_start(r.udp), WF_OK);
    CU_ASSERT_EQUAL(drain_all(&r), 3U);
    decoder_each_domain(pipeline_decoder(r.piped.pipeline), check_seen, bounds);
    close(fd);
    close_all(&r);
}

static void one_socket_takes_both_families(void)
{
    static const char *const every[] = {":0"};
    struct received r;
    struct build b;
    open_all(&r, every, 1, 1, 0);
    CU_ASSERT_EQUAL_FATAL(udp_start(r.udp), WF_OK);
    int four = sender_to(&r, 0, AF_INET);
    int six = sender_to(&r, 0, AF_INET6);
    make(&b, 7, 1);
    CU_ASSERT_EQUAL(send_all(four, &b, 4), 4U);
    unsigned n_six = six >= 0 ? send_all(six, &b, 3) : 0;
    CU_ASSERT_EQUAL(drain_all(&r), 4 + n_six);
    CU_ASSERT_EQUAL(piped_count(&r.piped, "\"exporter\":\"127.0.0.1\""), 4U);
    CU_ASSERT_EQUAL(piped_count(&r.piped, "\"exporter\":\"::1\""), n_six);
    close(four);
    if (six >= 0) {
        close(six);
    }
    close_all(&r);
}

static void listeners_are_counted_apart(void)
{
    static const char *const two[] = {"127.0.0.1:0", "127.0.0.1:0"};
    struct received r;
    struct build b;
    open_all(&r, two, 2, 1, 0);
    CU_ASSERT_EQUAL_FATAL(udp_n_listeners(r.udp), 2U);
    CU_ASSERT_NOT_EQUAL(port_of(&r, 0), port_of(&r, 1));
    CU_ASSERT_EQUAL_FATAL(udp_start(r.udp), WF_OK);
    make(&b, 7, 1);
    for (size_t i = 0; i < 2; i++) {
        int fd = sender_to(&r, i, AF_INET);
        CU_ASSERT_EQUAL(send_all(fd, &b, 3 + (unsigned)i), 3 + i);
        close(fd);
    }
    CU_ASSERT_EQUAL(drain_all(&r), 7U);
    CU_ASSERT_EQUAL(info_of(&r, 0).datagrams, 3U);
    CU_ASSERT_EQUAL(info_of(&r, 1).datagrams, 4U);
    close_all(&r);
}

static void receivers_share_a_port_and_lose_nothing(void)
{
    struct received r;
    struct build b;
    open_all(&r, loopback, 1, 3, 0);
    CU_ASSERT_EQUAL_FATAL(udp_start(r.udp), WF_OK);
    unsigned n_sent = 0;
    for (unsigned i = 0; i < 40; i++) { /* the kernel spreads by source port */
        make(&b, i, 2);
        int fd = sender_to(&r, 0, AF_INET);
        n_sent += send_all(fd, &b, 20);
        close(fd);
    }
    uint64_t n = drain_all(&r);
    CU_ASSERT_EQUAL(n + info_of(&r, 0).kernel_dropped, n_sent);
    CU_ASSERT_EQUAL(piped_count(&r.piped, "\n"), 2 * n);
    close_all(&r);
}

static void datagrams_beyond_a_slot_arrive_whole(void)
{
    static const unsigned n_records[] = {4000, 1, 170, 171, 5000, 2};
    struct received r;
    struct build b;
    unsigned n_all = 0;
    open_all(&r, loopback, 1, 1, 0);
    int fd = sender_to(&r, 0, AF_INET);
    for (size_t i = 0; i < sizeof(n_records) / sizeof(n_records[0]);
         i++) { /* large between small, in one batch */
        make(&b, 7, n_records[i]);
        for (size_t k = b.len - (size_t)n_records[i] * 12; k < b.len; k += 12) {
            b.data[k + 11] = 1; /* octetDeltaCount of each record */
        }
        CU_ASSERT_EQUAL(send_all(fd, &b, 1), 1U);
        n_all += n_records[i];
    }
    CU_ASSERT_EQUAL_FATAL(udp_start(r.udp), WF_OK);
    CU_ASSERT_EQUAL(drain_all(&r), 6U);
    CU_ASSERT_EQUAL(piped_count(&r.piped, "\"octetDeltaCount\":1"), n_all);
    CU_ASSERT_EQUAL(piped_count(&r.piped, "\n"), n_all);
    close(fd);
    close_all(&r);
}

/* ---- loss and end ---- */

static void what_the_kernel_drops_is_counted_exactly(void)
{
    enum {
        ROUNDS = 3,
        EACH = 600
    };
    struct received r;
    struct build b;
    open_all(&r, loopback, 1, 1, 20000);
    int fd = sender_to(&r, 0, AF_INET);
    make(&b, 7, 50);
    /* Nobody reads yet: most of these are dropped, and no later datagram will tell of the last ones. */
    unsigned n_sent = send_all(fd, &b, EACH);
    CU_ASSERT_EQUAL_FATAL(udp_start(r.udp), WF_OK);
    for (unsigned i = 1; i < ROUNDS; i++) {
        n_sent += send_all(fd, &b, EACH); /* some of these */
    }
    CU_ASSERT_EQUAL(n_sent, ROUNDS * EACH);
    uint64_t n = drain_all(&r);
    struct udp_listener_info info = info_of(&r, 0);
    CU_ASSERT_TRUE(info.kernel_dropped > EACH / 2);
    CU_ASSERT_TRUE(n > 0);
    CU_ASSERT_EQUAL(n + info.kernel_dropped, n_sent);
    CU_ASSERT_TRUE(info.receive_buffer >= 1000 && info.receive_buffer <= 40000);
    close(fd);
    close_all(&r);
}

static void a_drain_reads_what_has_arrived(void)
{
    struct received r;
    struct build b;
    open_all(&r, loopback, 1, 1, 0);
    int fd = sender_to(&r, 0, AF_INET);
    make(&b, 7, 1);
    unsigned n_sent = send_all(fd, &b, 150); /* several batches */
    CU_ASSERT_EQUAL_FATAL(udp_start(r.udp), WF_OK);
    uint64_t n = drain_all(&r);
    CU_ASSERT_EQUAL(n + info_of(&r, 0).kernel_dropped, n_sent);
    CU_ASSERT_TRUE(n >= 100);
    close(fd);
    close_all(&r);
}

/* A socket that is read by hand. */
struct single {
    struct piped piped;
    struct udp_socket socket;
    struct udp_scratch scratch;
};

static struct single *single_open(size_t receive_buffer)
{
    struct sockaddr_storage any;
    struct single *s = calloc(1, sizeof(*s));
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    piped_open(&s->piped, (struct pipeline_config){.n_workers = 1}, true);
    CU_ASSERT_EQUAL_FATAL(udp_scratch_init(&s->scratch), WF_OK);
    CU_ASSERT_EQUAL_FATAL(udp_parse_address("127.0.0.1:0", 0, &any), WF_OK);
    CU_ASSERT_EQUAL_FATAL(udp_socket_open(&s->socket, &any, false, receive_buffer), WF_OK);
    return s;
}

/* To itself; what finds no room is dropped without a word. */
static void single_send(struct single *s, unsigned n)
{
    static const uint8_t octets[6] = {0, 9};
    struct sockaddr_storage self;
    socklen_t len = sizeof(self);
    CU_ASSERT_EQUAL_FATAL(getsockname(s->socket.fd, (struct sockaddr *)&self, &len), 0);
    cpu_set_t before;
    stay_here(&before);
    for (unsigned i = 0; i < n; i++) {
        (void)sendto(s->socket.fd, octets, sizeof(octets), 0, (const struct sockaddr *)&self, len);
    }
    wait_for_arrival(&before);
}

static unsigned single_read_all(struct single *s)
{
    unsigned n_all = 0;
    for (unsigned n = 1; n > 0; n_all += n) {
        struct batch *batch = producer_get(s->piped.producer, -1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(batch);
        n = udp_socket_read(&s->socket, &s->scratch, s->piped.producer, batch);
        CU_ASSERT_EQUAL(batch->n_packets, n);
        producer_put(s->piped.producer, batch);
    }
    return n_all;
}

static void single_close(struct single *s)
{
    udp_socket_close(&s->socket);
    udp_scratch_deinit(&s->scratch);
    piped_close(&s->piped);
    free(s);
}

static void a_shut_socket_gives_what_it_holds_and_takes_no_more(void)
{
    struct single *s = single_open(1U << 20);
    single_send(s, 5);
    udp_socket_shut(&s->socket);
    single_send(s, 4);
    CU_ASSERT_EQUAL(single_read_all(s), 5U);
    CU_ASSERT_EQUAL(atomic_load(&s->socket.kernel_dropped), 0U); /* what came too late is no loss */
    single_close(s);
}

/* The kernel's word at the end runs ahead of what the datagrams still queued will tell. */
static void drops_that_are_told_twice_count_once(void)
{
    struct single *s = single_open(10000);
    unsigned n = 0;
    single_send(s, 300);
    n += single_read_all(s);
    CU_ASSERT_TRUE(n > 0 && n < 300);
    single_send(s, 300);
    udp_socket_shut(&s->socket);
    uint64_t told = atomic_load(&s->socket.kernel_dropped);
    n += single_read_all(s);
    CU_ASSERT_EQUAL(atomic_load(&s->socket.kernel_dropped), told);
    CU_ASSERT_EQUAL(n + told, 600U);
    single_close(s);
}

/* The kernel's count is of 32 bits. */
static void a_count_of_drops_that_wraps_goes_on(void)
{
    struct single *s = single_open(10000);
    single_send(s, 300);
    unsigned n = single_read_all(s);
    s->socket.overflow_seen = UINT32_MAX - 9; /* as if so many had been dropped long ago */
    single_send(s, 300);
    n += single_read_all(s);
    udp_socket_shut(&s->socket);
    CU_ASSERT_EQUAL(atomic_load(&s->socket.kernel_dropped), 10 + 600U - n);
    single_close(s);
}

struct flood {
    int fd;
    struct build b;
    atomic_bool stop;
    atomic_uint n_sent;
};

static void *flood(void *arg)
{
    struct flood *f = arg;
    while (!atomic_load(&f->stop)) {
        (void)send(f->fd, f->b.data, f->b.len,
                   0); /* at the end nobody listens: errors are welcome */
        atomic_fetch_add(&f->n_sent, 1);
    }
    return NULL;
}

static void a_sender_that_goes_on_does_not_hold_up_the_end(void)
{
    static struct flood f;
    struct received r;
    pthread_t thread[2];
    open_all(&r, loopback, 1, 1, 0);
    CU_ASSERT_EQUAL_FATAL(udp_start(r.udp), WF_OK);
    f.fd = sender_to(&r, 0, AF_INET);
    make(&f.b, 7, 1);
    for (unsigned i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, flood, &f), 0);
    }
    while (atomic_load(&f.n_sent) < 2000) {
    }
    uint64_t n = drain_all(&r);
    unsigned n_then = atomic_load(&f.n_sent);
    while (atomic_load(&f.n_sent) < n_then + 1000) { /* it does go on */
    }
    atomic_store(&f.stop, true);
    for (unsigned i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
    }
    CU_ASSERT_TRUE(n > 0);
    CU_ASSERT_EQUAL(info_of(&r, 0).datagrams, n);
    close(f.fd);
    close_all(&r);
}

static void stopping_without_start_or_twice_is_fine(void)
{
    struct received r;
    open_all(&r, loopback, 1, 2, 0);
    udp_stop(r.udp, true);
    udp_stop(r.udp, false);
    CU_ASSERT_EQUAL(info_of(&r, 0).datagrams, 0U);
    close_all(&r);
    udp_free(NULL);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"addresses are read in all their forms", addresses_are_read_in_all_their_forms},
        {"what is no address is refused", what_is_no_address_is_refused},
        {"the fault of an address is named", the_fault_of_an_address_is_named},
        {"a bad address says what to type", a_bad_address_says_what_to_type},
        {"an address of another machine says so", an_address_of_another_machine_says_so},
        {"a port in use names its process", a_port_in_use_names_its_process},
        {"what is sent is decoded with its sender and time",
         what_is_sent_is_decoded_with_its_sender_and_time},
        {"the time of receipt is the kernel's", the_time_of_receipt_is_the_kernels},
        {"one socket takes both families", one_socket_takes_both_families},
        {"listeners are counted apart", listeners_are_counted_apart},
        {"receivers share a port and lose nothing", receivers_share_a_port_and_lose_nothing},
        {"datagrams beyond a slot arrive whole", datagrams_beyond_a_slot_arrive_whole},
        {"what the kernel drops is counted exactly", what_the_kernel_drops_is_counted_exactly},
        {"a drain reads what has arrived", a_drain_reads_what_has_arrived},
        {"a shut socket gives what it holds and takes no more",
         a_shut_socket_gives_what_it_holds_and_takes_no_more},
        {"drops that are told twice count once", drops_that_are_told_twice_count_once},
        {"a count of drops that wraps goes on", a_count_of_drops_that_wraps_goes_on},
        {"a sender that goes on does not hold up the end",
         a_sender_that_goes_on_does_not_hold_up_the_end},
        {"stopping without start or twice is fine", stopping_without_start_or_twice_is_fine},
    };
    return test_main("udp", cases, sizeof(cases) / sizeof(cases[0]));
}
