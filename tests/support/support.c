// SPDX-License-Identifier: Apache-2.0
#include "tests/support/support.h"

int test_main(const char *suite, const struct test_case *cases, size_t n_cases)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    CU_pSuite s = CU_add_suite(suite, NULL, NULL);
    int rc = 1;
    if (!s) {
        goto out;
    }
    for (size_t i = 0; i < n_cases; i++) {
        if (!CU_add_test(s, cases[i].name, cases[i].run)) {
            goto out;
        }
    }
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    rc = CU_get_number_of_failures() == 0 && CU_get_number_of_tests_run() == n_cases ? 0 : 1;
out:
    CU_cleanup_registry();
    return rc;
}
