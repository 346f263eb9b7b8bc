// SPDX-License-Identifier: Apache-2.0
/*
 * destination - what makes the destinations (inside the room only)
 *
 * Each fills *self (owned by the caller, freed with ops->free) and gives its ops. Errors as in output_new.
 */
#pragma once

#include "collector/output/output.h"

/* path NULL = stdout. */
int destination_file_new(const char *path, const struct output_ops **ops, void **self);
/* Counts and forgets. */
int destination_null_new(const struct output_ops **ops, void **self);
