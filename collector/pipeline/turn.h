// SPDX-License-Identifier: Apache-2.0
/*
 * turn - puts what the workers made back into the order of the batches (replay)
 *
 * A worker that has decoded batch k waits until it is k's turn, hands its chunks on, and passes the turn to k + 1. Each
 * batch number must pass exactly once. It can not deadlock: batches are taken in order, so the worker with the lowest number waits
 * for nobody. Any thread.
 */
#pragma once

#include "decoder/base.h"

struct turn;

struct turn *turn_new(void);
void turn_free(struct turn *turn);
void turn_wait(struct turn *turn, uint64_t number);
void turn_pass(struct turn *turn);
