// SPDX-License-Identifier: Apache-2.0
/*
 * What run and replay share: the account at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/command/command.h"
#include "collector/ledger/ledger.h"
#include "collector/log/log.h"
#include "tests/support/support.h"

static char captured[1 << 14];

static struct options quiet_options(void)
{
    return (struct options){.output = "null", .format = "none", .workers = 1};
}

/* What command_print_ledger writes on stderr. */
static int print_captured(struct command_parts *parts, const struct options *options,
                          const struct ledger *ledger)
{
    char path[] = "/tmp/test_common_XXXXXX";
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    unlink(path);
    int real = dup(STDERR_FILENO);
    CU_ASSERT_FATAL(dup2(fd, STDERR_FILENO) >= 0);
    int code = command_print_ledger(parts, options, ledger);
    fflush(stderr);
    dup2(real, STDERR_FILENO);
    close(real);
    ssize_t n = pread(fd, captured, sizeof(captured) - 1, 0);
    close(fd);
    captured[n > 0 ? n : 0] = '\0';
    return code;
}

static void check_sum_told(bool summary)
{
    struct options options = quiet_options();
    struct command_parts parts;
    struct ledger ledger = {.documents_made = 5, .documents_written = 3};
    ledger.decoder.records_flow = 5;
    options.summary = summary;
    CU_ASSERT_EQUAL_FATAL(command_parts_open(&parts, &options, false), EXIT_CODE_OK);
    CU_ASSERT_EQUAL(print_captured(&parts, &options, &ledger), EXIT_CODE_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(captured, "level=error"));
    CU_ASSERT_PTR_NOT_NULL(strstr(
        captured, "does not add up: documents: 5 came in, 3 are accounted for; please report"));
    CU_ASSERT_EQUAL(strstr(captured, "documents written") != NULL, summary);
    ledger.documents_written = 5;
    CU_ASSERT_EQUAL(print_captured(&parts, &options, &ledger), EXIT_CODE_OK);
    CU_ASSERT_PTR_NULL(strstr(captured, "add up"));
    command_parts_close(&parts);
}

static void sums_are_checked_without_a_summary_too(void)
{
    check_sum_told(false);
    check_sum_told(true);
}

static void a_stats_file_without_room_is_a_failure(void)
{
    struct options options = quiet_options();
    struct command_parts parts;
    struct ledger ledger = {0};
    options.stats_file = "/dev/full";
    CU_ASSERT_EQUAL_FATAL(command_parts_open(&parts, &options, false), EXIT_CODE_OK);
    CU_ASSERT_EQUAL(print_captured(&parts, &options, &ledger), EXIT_CODE_FAILURE);
    CU_ASSERT_PTR_NOT_NULL(strstr(captured, "--stats-file /dev/full: No space left on device"));
    command_parts_close(&parts);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"sums are checked without a summary too", sums_are_checked_without_a_summary_too},
        {"a stats file without room is a failure", a_stats_file_without_room_is_a_failure},
    };
    log_init(LOG_LEVEL_INFO);
    return test_main("common", cases, sizeof(cases) / sizeof(cases[0]));
}
