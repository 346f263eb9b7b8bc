// SPDX-License-Identifier: Apache-2.0
#include "collector/input/udp.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "collector/input/udp_owner.h"
#include "collector/input/udp_socket.h"

#define DEFAULT_PORT   2055
#define DEFAULT_BUFFER (32U << 20)
#define GET_TIMEOUT_MS 10
#define MAX_ROUNDS     16 /* recvmmsg calls before the other sockets get their chance */

struct receiver {
    struct udp *udp;
    pthread_t thread;
    bool started;
    uv_loop_t loop;
    uv_async_t wake; /* udp_stop */
    bool loop_ready;
    struct producer *producer;
    struct udp_scratch scratch;
    struct udp_socket *socket; /* n_listen of them */
    uv_poll_t *poll;
};

struct udp {
    struct receiver *receiver;
    unsigned n_receivers;
    size_t n_listen;
    struct sockaddr_storage *address; /* as bound */
    atomic_bool stopping, drain;
};

/* One batch: number of datagrams, 0 when the socket is empty. *behind: no batch was free. */
static unsigned read_batch(struct receiver *r, struct udp_socket *socket, bool *behind)
{
    struct batch *batch = producer_get(r->producer, GET_TIMEOUT_MS);
    *behind = !batch;
    if (!batch) {
        return 0;
    }
    unsigned n = udp_socket_read(socket, &r->scratch, r->producer, batch);
    producer_put(r->producer, batch);
    return n;
}

static void drain_socket(struct receiver *r, struct udp_socket *socket)
{
    bool behind = false;
    udp_socket_shut(socket);
    while (read_batch(r, socket, &behind) > 0 || behind) {
        if (behind && producer_should_stop(r->producer)) {
            return;
        }
    }
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct udp_socket *socket = poll->data;
    struct receiver *r = poll->loop->data;
    (void)status; /* an error on a UDP socket is that of one datagram: reading clears it */
    (void)events;
    /* What is left wakes us again; when the workers are behind, the kernel keeps it for us. */
    bool behind = false;
    for (unsigned i = 0; i < MAX_ROUNDS; i++) {
        if (read_batch(r, socket, &behind) < BATCH_PACKETS) {
            return;
        }
    }
}

static void close_handle(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

static void on_wake(uv_async_t *wake)
{
    struct receiver *r = wake->data;
    /* acquire: pairs with udp_stop */
    if (!atomic_load_explicit(&r->udp->stopping, memory_order_acquire)) {
        return;
    }
    if (atomic_load_explicit(&r->udp->drain, memory_order_relaxed)) {
        for (size_t i = 0; i < r->udp->n_listen; i++) {
            drain_socket(r, &r->socket[i]);
        }
    }
    uv_walk(&r->loop, close_handle, NULL);
}

static void *receive(void *arg)
{
    struct receiver *r = arg;
    uv_run(&r->loop, UV_RUN_DEFAULT);
    return NULL;
}

static void address_text(const struct sockaddr_storage *storage, char *text, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "?";
    if (storage->ss_family == AF_INET6) {
        struct sockaddr_in6 six;
        memcpy(&six, storage, sizeof(six));
        inet_ntop(AF_INET6, &six.sin6_addr, host, sizeof(host));
        snprintf(text, size, "[%s]:%u", host, ntohs(six.sin6_port));
        return;
    }
    struct sockaddr_in four;
    memcpy(&four, storage, sizeof(four));
    inet_ntop(AF_INET, &four.sin_addr, host, sizeof(host));
    snprintf(text, size, "%s:%u", host, ntohs(four.sin_port));
}

static uint16_t port_of(const struct sockaddr_storage *storage)
{
    struct sockaddr_in6 six; /* the port lies at the same place in both families */
    _Static_assert(offsetof(struct sockaddr_in, sin_port) ==
                       offsetof(struct sockaddr_in6, sin6_port),
                   "the port lies at the same place");
    memcpy(&six, storage, sizeof(six));
    return ntohs(six.sin6_port);
}

static void explain_open(int err, const struct sockaddr_storage *address, char *why, size_t why_len)
{
    int error = errno;
    char text[INET6_ADDRSTRLEN + 16];
    char owner[64] = "another program (ss -ulnp shows which)";
    address_text(address, text, sizeof(text));
    if (err == WF_E_INUSE) {
        (void)udp_owner(port_of(address), owner, sizeof(owner));
        snprintf(why, why_len,
                 "UDP %s: address in use by %s; stop it, or use --listen with another port", text,
                 owner);
    } else if (err == WF_E_PERM) {
        snprintf(why, why_len,
                 "UDP %s: no permission; ports below 1024 need CAP_NET_BIND_SERVICE: use a higher "
                 "one with --listen, or run as root",
                 text);
    } else {
        snprintf(
            why, why_len,
            "UDP %s: %s; nothing would be received there: give --listen an address of this machine",
            text, strerrordesc_np(error));
    }
}

/* Port 0 is another one each time. */
static bool is_given_before(const struct udp *udp, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (port_of(&udp->address[index]) != 0 &&
            memcmp(&udp->address[i], &udp->address[index], sizeof(udp->address[i])) == 0) {
            return true;
        }
    }
    return false;
}

static int parse_addresses(struct udp *udp, const struct udp_config *config, char *why,
                           size_t why_len)
{
    for (size_t i = 0; i < config->n_listen; i++) {
        if (udp_parse_address(config->listen[i], DEFAULT_PORT, &udp->address[i]) < 0) {
            snprintf(why, why_len,
                     "--listen %s: %s; it takes ADDR:PORT, [V6]:PORT, ADDR, :PORT or PORT, as "
                     "0.0.0.0:2055",
                     config->listen[i], udp_address_fault(config->listen[i]));
            return WF_E_INVAL;
        }
        if (is_given_before(udp, i)) {
            snprintf(why, why_len, "--listen %s: the address is given twice; leave one out",
                     config->listen[i]);
            return WF_E_INVAL;
        }
    }
    return WF_OK;
}

/* The address that the kernel chose for port 0: the other receivers bind the same. */
static void learn_address(const struct udp_socket *socket, struct sockaddr_storage *address)
{
    socklen_t len = sizeof(*address);
    (void)getsockname(socket->fd, (struct sockaddr *)address, &len);
}

/* 0.0.0.0 in the place of [::], for a machine without IPv6; false for other addresses. */
static bool use_v4(struct sockaddr_storage *address)
{
    struct sockaddr_in6 six;
    memcpy(&six, address, sizeof(six));
    if (six.sin6_family != AF_INET6 || !IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr)) {
        return false;
    }
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = six.sin6_port};
    memset(address, 0, sizeof(*address));
    memcpy(address, &four, sizeof(four));
    return true;
}

static int open_sockets(struct udp *udp, struct receiver *r, const struct udp_config *config,
                        char *why, size_t why_len)
{
    size_t buffer = config->receive_buffer ? config->receive_buffer : DEFAULT_BUFFER;
    for (size_t i = 0; i < udp->n_listen; i++) {
        int err = udp_socket_open(&r->socket[i], &udp->address[i], udp->n_receivers > 1, buffer);
        if (err == WF_E_IO && errno == EAFNOSUPPORT && use_v4(&udp->address[i])) {
            err = udp_socket_open(&r->socket[i], &udp->address[i], udp->n_receivers > 1, buffer);
        }
        if (err < 0) {
            explain_open(err, &udp->address[i], why, why_len);
            return err;
        }
        learn_address(&r->socket[i], &udp->address[i]);
        if (uv_poll_init(&r->loop, &r->poll[i], r->socket[i].fd) < 0) {
            snprintf(why, why_len, "out of memory");
            return WF_E_NOMEM;
        }
        r->poll[i].data = &r->socket[i];
    }
    return WF_OK;
}

static int receiver_init(struct udp *udp, struct receiver *r, const struct udp_config *config,
                         struct pipeline *pipeline, char *why, size_t why_len)
{
    r->udp = udp;
    r->socket = calloc(udp->n_listen, sizeof(*r->socket));
    r->poll = calloc(udp->n_listen, sizeof(*r->poll));
    r->producer = pipeline_producer_new(pipeline);
    snprintf(why, why_len, "out of memory");
    if (!r->socket || !r->poll || !r->producer || udp_scratch_init(&r->scratch) < 0) {
        return WF_E_NOMEM;
    }
    for (size_t i = 0; i < udp->n_listen; i++) {
        r->socket[i].fd = -1;
    }
    if (uv_loop_init(&r->loop) < 0) {
        return WF_E_NOMEM;
    }
    r->loop_ready = true;
    r->loop.data = r;
    if (uv_async_init(&r->loop, &r->wake, on_wake) < 0) {
        return WF_E_NOMEM;
    }
    r->wake.data = r;
    return open_sockets(udp, r, config, why, why_len);
}

int udp_new(const struct udp_config *config, struct pipeline *pipeline, struct udp **out, char *why,
            size_t why_len)
{
    struct udp *udp = calloc(1, sizeof(*udp));
    snprintf(why, why_len, "out of memory");
    if (!udp) {
        return WF_E_NOMEM;
    }
    atomic_init(&udp->stopping, false);
    atomic_init(&udp->drain, false);
    udp->n_listen = config->n_listen;
    udp->n_receivers = config->n_receivers ? config->n_receivers : 1;
    udp->address = calloc(udp->n_listen, sizeof(*udp->address));
    udp->receiver = calloc(udp->n_receivers, sizeof(*udp->receiver));
    int err =
        udp->address && udp->receiver ? parse_addresses(udp, config, why, why_len) : WF_E_NOMEM;
    for (unsigned i = 0; i < udp->n_receivers && err == WF_OK; i++) {
        err = receiver_init(udp, &udp->receiver[i], config, pipeline, why, why_len);
    }
    if (err < 0) {
        udp_free(udp);
        return err;
    }
    *out = udp;
    return WF_OK;
}

int udp_start(struct udp *udp)
{
    sigset_t all;
    sigset_t before;
    int err = WF_OK;
    sigfillset(&all); /* signals are the main thread's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (unsigned i = 0; i < udp->n_receivers && err == WF_OK; i++) {
        struct receiver *r = &udp->receiver[i];
        for (size_t s = 0; s < udp->n_listen && err == WF_OK; s++) {
            err = uv_poll_start(&r->poll[s], UV_READABLE, on_readable) < 0 ? WF_E_IO : WF_OK;
        }
        r->started = err == WF_OK && pthread_create(&r->thread, NULL, receive, r) == 0;
        err = r->started ? WF_OK : WF_E_NOMEM;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return err;
}

void udp_stop(struct udp *udp, bool drain)
{
    atomic_store_explicit(&udp->drain, drain,
                          memory_order_relaxed); /* published by the next line */
    atomic_store_explicit(&udp->stopping, true, memory_order_release);
    for (unsigned i = 0; i < udp->n_receivers; i++) {
        struct receiver *r = &udp->receiver[i];
        if (r->started) {
            uv_async_send(&r->wake);
            pthread_join(r->thread, NULL);
            r->started = false;
        }
    }
}

size_t udp_n_listeners(const struct udp *udp)
{
    return udp->n_listen;
}

void udp_info(const struct udp *udp, size_t i, struct udp_listener_info *info)
{
    *info = (struct udp_listener_info){0};
    address_text(&udp->address[i], info->address, sizeof(info->address));
    info->receive_buffer = udp_socket_buffer(&udp->receiver[0].socket[i]);
    for (unsigned r = 0; r < udp->n_receivers; r++) {
        const struct udp_socket *s = &udp->receiver[r].socket[i];
        /* relaxed: counters, a moment old */
        info->datagrams += atomic_load_explicit(&s->datagrams, memory_order_relaxed);
        info->octets += atomic_load_explicit(&s->octets, memory_order_relaxed);
        info->kernel_dropped += atomic_load_explicit(&s->kernel_dropped, memory_order_relaxed);
    }
}

static void receiver_deinit(struct receiver *r, size_t n_listen)
{
    if (r->loop_ready) {
        uv_walk(&r->loop, close_handle, NULL);
        uv_run(&r->loop, UV_RUN_DEFAULT);
        uv_loop_close(&r->loop);
    }
    for (size_t i = 0; r->socket && i < n_listen; i++) {
        udp_socket_close(&r->socket[i]);
    }
    udp_scratch_deinit(&r->scratch);
    free(r->socket);
    free(r->poll);
}

void udp_free(struct udp *udp)
{
    if (!udp) {
        return;
    }
    if (udp->receiver) {
        udp_stop(udp, false);
        for (unsigned i = 0; i < udp->n_receivers; i++) {
            receiver_deinit(&udp->receiver[i], udp->n_listen);
        }
    }
    free(udp->receiver);
    free(udp->address);
    free(udp);
}
