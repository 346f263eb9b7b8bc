// SPDX-License-Identifier: Apache-2.0
#include "collector/pipeline/turn.h"

#include <pthread.h>
#include <stdlib.h>

#include "decoder/lock.h"

struct turn {
    pthread_mutex_t mutex; /* leaf */
    pthread_cond_t passed;
    uint64_t number;
};

struct turn *turn_new(void)
{
    struct turn *turn = calloc(1, sizeof(*turn));
    if (turn) {
        lock_init(&turn->mutex);
        pthread_cond_init(&turn->passed, NULL);
    }
    return turn;
}

void turn_free(struct turn *turn)
{
    if (turn) {
        pthread_cond_destroy(&turn->passed);
        pthread_mutex_destroy(&turn->mutex);
        free(turn);
    }
}

void turn_wait(struct turn *turn, uint64_t number)
{
    pthread_mutex_lock(&turn->mutex);
    while (turn->number != number) {
        pthread_cond_wait(&turn->passed, &turn->mutex);
    }
    pthread_mutex_unlock(&turn->mutex);
}

void turn_pass(struct turn *turn)
{
    pthread_mutex_lock(&turn->mutex);
    turn->number++;
    pthread_cond_broadcast(&turn->passed);
    pthread_mutex_unlock(&turn->mutex);
}
