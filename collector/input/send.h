// SPDX-License-Identifier: Apache-2.0
/*
 * send - datagrams to a collector over UDP
 *
 * One connected socket. Does not outrun a collector: at most 40,000 datagrams a second, in groups of 16. The source address
 * is this machine's, whatever the capture said. One thread.
 */
#pragma once

#include "decoder/base.h"

struct sender;

/* to: "HOST:PORT" or "[V6]:PORT". 0; WF_E_INVAL (no such form), WF_E_NOTFOUND (no such host), WF_E_IO, WF_E_NOMEM. why: one
 * sentence for the user. */
int sender_open(const char *to, struct sender **sender, char *why, size_t why_len);
/* 0, or WF_E_IO (errno): not sent. That nobody listens is only told for a datagram before; see sender_refused. */
int sender_send(struct sender *sender, const uint8_t *data, size_t len);
/* Datagrams that the other side's system refused, because nobody listened (at least so many). */
uint64_t sender_refused(struct sender *sender);
void sender_free(struct sender *sender);
