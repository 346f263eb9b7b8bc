// SPDX-License-Identifier: Apache-2.0
/*
 * gate - keeps the order that templates need, and only that
 *
 * Any worker may take any datagram; but what a template says must hold for every later datagram of its exporter, and
 * for none before. So:
 *   - a datagram without templates waits until every earlier datagram *with* templates of its exporter is decoded;
 *   - a datagram with templates waits until *every* earlier datagram of its exporter is decoded.
 * Each producer has a table of gates, indexed by a hash of the exporter's address (two exporters that share a
 * gate wait for each other now and then; nothing worse). A gate counts what was issued and what is done.
 *
 * Why it can not deadlock: marks are given in the order in which one producer puts its datagrams into the
 * FIFO queue, workers take from it in that order and decode a batch front to back. So the oldest datagram
 * that is not yet done has been taken by a worker (or is next), and what it waits for is older: done.
 *
 * Not kept: order between two producers (two sockets of a REUSEPORT group see different source ports; the network keeps
 * no order between those either).
 */
#pragma once

#include "collector/pipeline/batch.h"

struct gates;

struct gates *gates_new(uint64_t seed);
void gates_free(struct gates *gates);
/* Producer's thread, in the order of put. Reads packet->exporter, ->carries_templates. */
void gate_mark(struct gates *gates, struct packet *packet);
/* Worker's thread, before the datagram is decoded: returns when it may be. */
void gate_wait(const struct packet *packet);
/* Worker's thread, after. Exactly once for each marked packet. */
void gate_done(const struct packet *packet);
