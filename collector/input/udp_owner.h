// SPDX-License-Identifier: Apache-2.0
/*
 * udp_owner - which process holds a UDP port, for the message that it is in use (inside the room only)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "softflowd[812]", from /proc. False when it can not be told: another user's process, or gone. Main thread, at start only: it looks
 * through the descriptors of every process. */
bool udp_owner(uint16_t port, char *text, size_t size);
