// SPDX-License-Identifier: Apache-2.0
/*
 * table - the generated registry, sorted by (pen, id); inside the room only, ask elements.h
 */
#pragma once

#include "decoder/elements/elements.h"

extern const struct element element_table[];
extern const size_t element_table_count;
