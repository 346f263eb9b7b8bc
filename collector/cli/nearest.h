// SPDX-License-Identifier: Apache-2.0
/*
 * nearest - "did you mean"
 */
#pragma once

#include <stddef.h>

/* The name within two edits of the first len octets of typed (one for short words), or that begins with them; NULL
 * when none is near. */
const char *nearest_name(const char *typed, size_t len, const char *const *names, size_t n_names);
