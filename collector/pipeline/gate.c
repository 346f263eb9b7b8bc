// SPDX-License-Identifier: Apache-2.0
#include "collector/pipeline/gate.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_GATES    4096U
#define SPINS      64U
#define YIELDS     64U
#define SHORT_REST 20000L /* ns */
#define LINE       64

/* What the producer writes and what the workers write lie on lines of their own. */
struct gate { /* NOLINT(clang-analyzer-optin.performance.Padding): the padding is the point */
    uint64_t issued_all; /* producer only */
    uint64_t issued_templates;
    _Alignas(LINE) atomic_uint_least64_t done_all;
    atomic_uint_least64_t done_templates;
};

struct gates {
    uint64_t seed;
    struct gate gate[N_GATES];
};

struct gates *gates_new(uint64_t seed)
{
    struct gates *gates = aligned_alloc(LINE, (sizeof(*gates) + LINE - 1) / LINE * LINE);
    if (!gates) {
        return NULL;
    }
    gates->seed = seed;
    for (unsigned i = 0; i < N_GATES; i++) {
        struct gate *g = &gates->gate[i];
        g->issued_all = 0;
        g->issued_templates = 0;
        atomic_init(&g->done_all, 0);
        atomic_init(&g->done_templates, 0);
    }
    return gates;
}

void gates_free(struct gates *gates)
{
    free(gates);
}

static size_t gate_index(const struct gates *gates, const struct wf_addr *exporter)
{
    uint64_t half[2];
    _Static_assert(sizeof(half) == sizeof(exporter->bytes), "an address is two words");
    memcpy(half, exporter->bytes, sizeof(half));
    return wf_mix64(half[0] ^ wf_mix64(half[1] ^ gates->seed)) % N_GATES;
}

void gate_mark(struct gates *gates, struct packet *packet)
{
    struct gate *gate = &gates->gate[gate_index(gates, &packet->exporter)];
    packet->gate = gate;
    packet->gate_ticket = packet->carries_templates ? gate->issued_all : gate->issued_templates;
    gate->issued_all++;
    gate->issued_templates += packet->carries_templates;
}

void gate_wait(const struct packet *packet)
{
    struct gate *gate = packet->gate;
    atomic_uint_least64_t *done =
        packet->carries_templates ? &gate->done_all : &gate->done_templates;
    /* acquire: what the earlier datagrams did to the templates is seen once they are counted as done */
    for (unsigned n = 0; atomic_load_explicit(done, memory_order_acquire) < packet->gate_ticket;
         n++) {
        if (n < SPINS) {
            continue;
        }
        if (n < SPINS + YIELDS) {
            sched_yield();
            continue;
        }
        nanosleep(&(struct timespec){.tv_nsec = SHORT_REST}, NULL);
    }
}

void gate_done(const struct packet *packet)
{
    struct gate *gate = packet->gate;
    /* release: pairs with gate_wait. A template datagram is counted in both. */
    if (packet->carries_templates) {
        atomic_fetch_add_explicit(&gate->done_templates, 1, memory_order_release);
    }
    atomic_fetch_add_explicit(&gate->done_all, 1, memory_order_release);
}
