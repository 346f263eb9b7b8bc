// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "collector/command/progress.h"
#include "tests/support/support.h"

static const char *format(const struct progress_state *state, bool with_bar)
{
    static char line[512];
    int n = progress_format(state, 0, with_bar, line, sizeof(line));
    CU_ASSERT_EQUAL((size_t)n, strlen(line));
    return line;
}

static void bar_shows_share_rate_and_time_left(void)
{
    struct progress_state state = {.octets_read = 1800000000,
                                   .octets_total = 2900000000,
                                   .what = "flows",
                                   .n_done = 2060000,
                                   .held = 3,
                                   .dropped = 4,
                                   .now_ns = 5 * WF_NS_PER_S};
    CU_ASSERT_STRING_EQUAL(
        format(&state, true),
        "████████████░░░░░░░░ 62 %  1.8 GB/2.9 GB  412 k flows/s  ETA 0:03  held 3  "
        "dropped 4");
    CU_ASSERT_STRING_EQUAL(format(&state, false),
                           "62 %  1.8 GB/2.9 GB  412 k flows/s  ETA 0:03  held 3  dropped 4");
}

static void unknown_size_shows_no_share(void)
{
    struct progress_state state = {
        .octets_read = 900, .what = "datagrams", .n_done = 7, .now_ns = WF_NS_PER_S};
    CU_ASSERT_STRING_EQUAL(format(&state, true), "900 B  7 datagrams/s  held 0  dropped 0");
}

static void first_moment_and_growing_file_make_no_nonsense(void)
{
    struct progress_state state = {.octets_total = 1000, .what = "flows"};
    CU_ASSERT_STRING_EQUAL(format(&state, false), "0 %  0 B/1.0 kB  0 flows/s  held 0  dropped 0");
    state.octets_read = 5000;
    state.now_ns = WF_NS_PER_S;
    CU_ASSERT_STRING_EQUAL(format(&state, false),
                           "100 %  5.0 kB/1.0 kB  0 flows/s  ETA 0:00  held 0  dropped 0");
}

/* What progress wrote, into text. */
static void written(FILE *to, char *text, size_t len)
{
    rewind(to);
    text[fread(text, 1, len - 1, to)] = '\0';
}

static void line_comes_every_10_s_without_control_characters(void)
{
    FILE *to = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(to);
    struct progress progress;
    struct progress_state state = {.what = "flows"};
    progress_init(&progress, to, true, false, 0);
    for (int64_t second = 1; second <= 25; second++) {
        state.now_ns = second * WF_NS_PER_S;
        progress_update(&progress, &state);
    }
    progress_end(&progress);
    char text[512];
    written(to, text, sizeof(text));
    fclose(to);
    CU_ASSERT_STRING_EQUAL(
        text, "0 B  0 flows/s  held 0  dropped 0\n0 B  0 flows/s  held 0  dropped 0\n");
}

static void bar_is_taken_off_and_no_progress_writes_nothing(void)
{
    FILE *to = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(to);
    struct progress progress;
    struct progress_state state = {.what = "flows", .now_ns = 1};
    char text[512];
    progress_init(&progress, to, false, true, 0);
    progress_update(&progress, &state);
    progress_end(&progress);
    written(to, text, sizeof(text));
    CU_ASSERT_STRING_EQUAL(text, "");
    rewind(to);
    progress_init(&progress, to, true, true, 0);
    progress_update(&progress, &state);
    progress_end(&progress);
    written(to, text, sizeof(text));
    fclose(to);
    CU_ASSERT_STRING_EQUAL(text, "\r0 B  0 flows/s  held 0  dropped 0\x1b[K\r\r\x1b[K");
}

int main(void)
{
    static const struct test_case cases[] = {
        {"bar_shows_share_rate_and_time_left", bar_shows_share_rate_and_time_left},
        {"unknown_size_shows_no_share", unknown_size_shows_no_share},
        {"first_moment_and_growing_file_make_no_nonsense",
         first_moment_and_growing_file_make_no_nonsense},
        {"line_comes_every_10_s_without_control_characters",
         line_comes_every_10_s_without_control_characters},
        {"bar_is_taken_off_and_no_progress_writes_nothing",
         bar_is_taken_off_and_no_progress_writes_nothing},
    };
    return test_main("progress", cases, sizeof(cases) / sizeof(cases[0]));
}
