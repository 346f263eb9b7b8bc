// SPDX-License-Identifier: Apache-2.0
/*
 * lock - the mutex of the whole program: it spins a little before it sleeps
 *
 * Every lock here is held for some tens of nanoseconds. When two workers meet at one (the session of a single busy exporter), a
 * futex sleep and wake-up would cost a hundred times that. Header only.
 */
#pragma once

#include <pthread.h>

static inline void lock_init(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(mutex, &attr);
    pthread_mutexattr_destroy(&attr);
}
