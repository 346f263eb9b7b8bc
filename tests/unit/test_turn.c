// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include "collector/pipeline/turn.h"
#include "tests/support/support.h"

#define N_THREADS 8U
#define N_TURNS   4000U

struct world {
    struct turn *turn;
    /* not atomic: the turn alone keeps the threads apart, which ThreadSanitizer checks */
    unsigned n_done;
    unsigned done[N_TURNS];
};

struct thread {
    pthread_t id;
    struct world *world;
    unsigned first;
};

/* Every N_THREADS-th number: alone, a thread would put all its own behind each other. */
static void *take_turns(void *arg)
{
    const struct thread *t = arg;
    struct world *w = t->world;
    for (unsigned number = t->first; number < N_TURNS; number += N_THREADS) {
        turn_wait(w->turn, number);
        w->done[w->n_done++] = number;
        turn_pass(w->turn);
    }
    return NULL;
}

static void turns_come_in_order_whoever_is_first(void)
{
    static struct world w;
    w.turn = turn_new();
    CU_ASSERT_PTR_NOT_NULL_FATAL(w.turn);
    struct thread thread[N_THREADS];
    for (unsigned i = 0; i < N_THREADS; i++) { /* the last one first */
        thread[i] = (struct thread){.world = &w, .first = N_THREADS - 1 - i};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i].id, NULL, take_turns, &thread[i]), 0);
    }
    for (unsigned i = 0; i < N_THREADS; i++) {
        pthread_join(thread[i].id, NULL);
    }
    CU_ASSERT_EQUAL(w.n_done, N_TURNS);
    unsigned n_wrong = 0;
    for (unsigned i = 0; i < N_TURNS; i++) {
        n_wrong += w.done[i] != i;
    }
    CU_ASSERT_EQUAL(n_wrong, 0U);
    turn_free(w.turn);
}

static void the_first_turn_is_number_0(void)
{
    struct turn *turn = turn_new();
    CU_ASSERT_PTR_NOT_NULL_FATAL(turn);
    turn_wait(turn, 0); /* returns, or the test does not end */
    turn_wait(turn, 0); /* waiting passes nothing */
    turn_pass(turn);
    turn_wait(turn, 1);
    turn_free(turn);
    turn_free(NULL);
    CU_PASS("it ended");
}

int main(void)
{
    static const struct test_case cases[] = {
        {"turns come in order whoever is first", turns_come_in_order_whoever_is_first},
        {"the first turn is number 0", the_first_turn_is_number_0},
    };
    return test_main("turn", cases, sizeof(cases) / sizeof(cases[0]));
}
