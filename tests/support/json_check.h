// SPDX-License-Identifier: Apache-2.0
/*
 * json_check - a strict JSON reader that keeps nothing: is this text one value by RFC 8259, in valid UTF-8, without an
 * object that holds a name twice (RFC 8259 section 4: readers keep the one or the other)?
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool json_is_valid(const char *text, size_t len);
