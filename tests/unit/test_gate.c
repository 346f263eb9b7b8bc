// SPDX-License-Identifier: Apache-2.0
/*
 * A "definition" a template sets and data reads stands for the template table: plain memory that nothing but the gate
 * protects, so that ThreadSanitizer tells when a wait is missing, and the values tell when the order is wrong.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "collector/pipeline/gate.h"
#include "tests/support/support.h"

#define N_WORKERS   8U
#define N_EXPORTERS 5U
#define N_PACKETS   60000U

static struct packet packet_of(unsigned exporter, bool carries_templates)
{
    uint8_t bytes[4] = {192, 0, (uint8_t)(exporter >> 8), (uint8_t)exporter};
    return (struct packet){.exporter = wf_addr_v4(bytes), .carries_templates = carries_templates};
}

/* ---- what does not wait: a wait too much is a test that does not end ---- */

static void data_waits_for_no_data(void)
{
    struct gates *gates = gates_new(1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(gates);
    struct packet first = packet_of(1, false);
    struct packet second = packet_of(1, false);
    gate_mark(gates, &first);
    gate_mark(gates, &second);
    CU_ASSERT_PTR_EQUAL(first.gate, second.gate);
    gate_wait(&second);
    gate_done(&second);
    gate_wait(&first);
    gate_done(&first);
    gates_free(gates);
}

static void data_passes_once_its_templates_are_done(void)
{
    struct gates *gates = gates_new(1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(gates);
    struct packet template = packet_of(1, true);
    struct packet data = packet_of(1, false);
    struct packet again = packet_of(1, true);
    gate_mark(gates, &template);
    gate_mark(gates, &data);
    gate_mark(gates, &again);
    CU_ASSERT_EQUAL(template.gate_ticket, 0U);
    CU_ASSERT_EQUAL(data.gate_ticket, 1U);
    CU_ASSERT_EQUAL(again.gate_ticket, 2U);
    gate_wait(&template);
    gate_done(&template);
    gate_wait(&data); /* though a later template is not done */
    gate_done(&data);
    gate_wait(&again);
    gate_done(&again);
    gates_free(gates);
}

static void exporters_do_not_wait_for_each_other(void)
{
    struct gates *gates = gates_new(1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(gates);
    struct packet template = packet_of(1, true);
    gate_mark(gates, &template);
    struct packet other = packet_of(2, false);
    gate_mark(gates, &other);
    for (unsigned i = 3; other.gate == template.gate; i++) { /* those two share one: take another */
        other = packet_of(i, false);
        gate_mark(gates, &other);
    }
    gate_wait(&other);
    gate_done(&other);
    CU_ASSERT_EQUAL(other.gate_ticket, 0U);
    gates_free(gates);
    gates_free(NULL);
}

static void producers_have_gates_of_their_own(void)
{
    struct gates *one = gates_new(1);
    struct gates *two = gates_new(1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(one);
    CU_ASSERT_PTR_NOT_NULL_FATAL(two);
    struct packet template = packet_of(1, true);
    struct packet data = packet_of(1, false);
    gate_mark(one, &template);
    gate_mark(two, &data);
    CU_ASSERT_PTR_NOT_EQUAL(template.gate, data.gate);
    gate_wait(&data);
    gate_done(&data);
    gates_free(one);
    gates_free(two);
}

static void another_seed_spreads_exporters_differently(void)
{
    struct gates *gates[2] = {gates_new(1), gates_new(2)};
    unsigned n_shared[2] = {0, 0};
    unsigned n_differ = 0;
    for (unsigned i = 0; i < 64; i++) {
        ptrdiff_t distance[2];
        for (unsigned k = 0; k < 2; k++) {
            CU_ASSERT_PTR_NOT_NULL_FATAL(gates[k]);
            struct packet first = packet_of(0, false);
            struct packet other = packet_of(i + 1, false);
            gate_mark(gates[k], &first);
            gate_mark(gates[k], &other);
            distance[k] = (const char *)other.gate - (const char *)first.gate;
            n_shared[k] += distance[k] == 0;
        }
        n_differ += distance[0] != distance[1];
    }
    CU_ASSERT_TRUE(n_differ > 60);
    CU_ASSERT_TRUE(n_shared[0] < 4 && n_shared[1] < 4);
    gates_free(gates[0]);
    gates_free(gates[1]);
}

/* ---- what waits ---- */

struct definition {
    uint64_t number; /* not atomic, on purpose */
    atomic_uint n_readers;
};

struct world {
    struct batch_queue *queue;
    struct definition definition[N_EXPORTERS];
    atomic_uint n_wrong, n_done;
};

/* packet->slot: the definition that the packet needs, or sets. packet->port: the exporter's index. */
static void handle(struct world *w, const struct packet *packet)
{
    struct definition *d = &w->definition[packet->port];
    gate_wait(packet);
    if (packet->carries_templates) {
        bool alone = atomic_load(&d->n_readers) == 0;
        bool next = d->number + 1 == packet->slot;
        d->number = packet->slot;
        atomic_fetch_add(&w->n_wrong, !alone || !next);
    } else {
        atomic_fetch_add(&d->n_readers, 1);
        atomic_fetch_add(&w->n_wrong, d->number != packet->slot);
        atomic_fetch_sub(&d->n_readers, 1);
    }
    atomic_fetch_add(&w->n_done, 1);
    gate_done(packet);
}

static void *work(void *arg)
{
    struct world *w = arg;
    struct batch *batch;
    while ((batch = batch_queue_take(w->queue, -1)) != NULL) {
        for (unsigned i = 0; i < batch->n_packets; i++) {
            handle(w, &batch->packet[i]);
        }
        batch_queue_give_back(w->queue, batch);
    }
    return NULL;
}

/* Batches of all sizes; every templates_every-th packet on average redefines its exporter. */
static void produce(struct world *w, struct gates *gates, unsigned templates_every)
{
    uint64_t number[N_EXPORTERS] = {0};
    uint64_t random = 88172645463325252U;
    for (unsigned n = 0; n < N_PACKETS;) {
        struct batch *batch = batch_queue_get(w->queue, -1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(batch);
        random = wf_mix64(random + n);
        unsigned size = 1 + (unsigned)(random % BATCH_PACKETS);
        for (unsigned i = 0; i < size && n < N_PACKETS; i++, n++) {
            random = wf_mix64(random + i + 1);
            unsigned exporter = (unsigned)(random % N_EXPORTERS);
            bool carries = (random >> 20) % templates_every == 0;
            struct packet *packet = &batch->packet[batch->n_packets++];
            *packet = packet_of(exporter, carries);
            number[exporter] += carries;
            packet->slot = number[exporter];
            packet->port = (uint16_t)exporter;
            gate_mark(gates, packet);
        }
        batch_queue_put(w->queue, batch);
    }
    batch_queue_close(w->queue);
}

static void play(unsigned templates_every)
{
    static struct world w;
    w = (struct world){.queue = batch_queue_new(32)};
    struct gates *gates = gates_new(7);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w.queue);
    CU_ASSERT_PTR_NOT_NULL_FATAL(gates);
    pthread_t worker[N_WORKERS];
    for (unsigned i = 0; i < N_WORKERS; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&worker[i], NULL, work, &w), 0);
    }
    produce(&w, gates, templates_every);
    for (unsigned i = 0; i < N_WORKERS; i++) {
        pthread_join(worker[i], NULL);
    }
    CU_ASSERT_EQUAL(atomic_load(&w.n_done), N_PACKETS);
    CU_ASSERT_EQUAL(atomic_load(&w.n_wrong), 0U);
    gates_free(gates);
    batch_queue_free(w.queue);
}

static void every_packet_meets_its_own_definition_under_load(void)
{
    play(50);
}

static void even_when_every_other_packet_redefines(void)
{
    play(2);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"data waits for no data", data_waits_for_no_data},
        {"data passes once its templates are done", data_passes_once_its_templates_are_done},
        {"exporters do not wait for each other", exporters_do_not_wait_for_each_other},
        {"producers have gates of their own", producers_have_gates_of_their_own},
        {"another seed spreads exporters differently", another_seed_spreads_exporters_differently},
        {"every packet meets its own definition under load",
         every_packet_meets_its_own_definition_under_load},
        {"even when every other packet redefines", even_when_every_other_packet_redefines},
    };
    return test_main("gate", cases, sizeof(cases) / sizeof(cases[0]));
}
