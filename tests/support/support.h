// SPDX-License-Identifier: Apache-2.0
/*
 * support - what every unit test needs: a runner over a table of cases
 */
#pragma once

#include <stddef.h>

#include <CUnit/Basic.h>

struct test_case {
    const char *name; /* states the behaviour */
    void (*run)(void);
};

/* Runs the cases as one CUnit suite, prints CUnit's closing count; 0 when all passed. */
int test_main(const char *suite, const struct test_case *cases, size_t n_cases);
