// SPDX-License-Identifier: Apache-2.0
/*
 * stderr is replaced by a file, a terminal or a pipe while lines are written; CUnit itself prints to stdout.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/log/log.h"
#include "tests/support/support.h"

#define MINUTE_NS 60000000000LL

static struct {
    int real, fd;
    char text[65536];
} captured;

/* stderr becomes fd until captured_text. */
static void capture_to(int fd)
{
    captured.real = dup(STDERR_FILENO);
    captured.fd = fd;
    CU_ASSERT_FATAL(fd >= 0 && captured.real >= 0 && dup2(fd, STDERR_FILENO) >= 0);
}

static void release(void)
{
    dup2(captured.real, STDERR_FILENO);
    close(captured.real);
}

static int make_file(void)
{
    char path[] = "/tmp/test_log_XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);
    CU_ASSERT_FATAL(fd >= 0);
    unlink(path);
    return fd;
}

static void capture_file(void)
{
    capture_to(make_file());
}

static const char *captured_text(void)
{
    release();
    ssize_t n = pread(captured.fd, captured.text, sizeof(captured.text) - 1, 0);
    close(captured.fd);
    captured.text[n > 0 ? n : 0] = '\0';
    return captured.text;
}

static void matches(const char *text, const char *pattern)
{
    regex_t re;
    CU_ASSERT_EQUAL_FATAL(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
    int rc = regexec(&re, text, 0, NULL, 0);
    CU_ASSERT_EQUAL(rc, 0);
    if (rc) {
        printf("\n  \"%s\" is not %s\n", text, pattern);
    }
    regfree(&re);
}

static void a_file_gets_logfmt_in_utc(void)
{
    setenv("TZ", "Pacific/Kiritimati", 1); /* UTC+14: local time would show */
    capture_file();
    log_init(LOG_LEVEL_INFO);
    time_t before = time(NULL);
    log_warn("exporter %s: %u held", "192.0.2.1", 7U);
    const char *text = captured_text();
    matches(text, "^time=[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z "
                  "level=warn msg=\"exporter 192\\.0\\.2\\.1: 7 held\"\n$");
    struct tm tm = {0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(strptime(text, "time=%Y-%m-%dT%H:%M:%S", &tm));
    time_t written = timegm(&tm);
    CU_ASSERT_TRUE(written >= before && written <= time(NULL));
    unsetenv("TZ");
}

static void levels_below_the_set_one_are_silent(void)
{
    capture_file();
    log_init(LOG_LEVEL_WARN);
    log_error("one");
    log_warn("two");
    log_info("three");
    log_set_level(LOG_LEVEL_DEBUG);
    CU_ASSERT_EQUAL(log_get_level(), LOG_LEVEL_DEBUG);
    log_debug("four");
    log_set_level(LOG_LEVEL_ERROR);
    log_warn("five");
    matches(captured_text(),
            "^[^\n]*level=error msg=\"one\"\n[^\n]*level=warn msg=\"two\"\n[^\n]*level=debug "
            "msg=\"four\"\n$");
}

static void a_text_can_not_forge_a_line_or_steer_a_terminal(void)
{
    capture_file();
    log_init(LOG_LEVEL_INFO);
    log_info("%s", "a\nlevel=error msg=\"b\\\x1b[2J\x7f\t\xc3\xa9");
    matches(captured_text(),
            "^[^\n]* level=info msg=\"a level=error msg=\\\\\"b\\\\\\\\ \\[2J  \xc3\xa9\"\n$");
}

static void long_messages_are_cut_and_stay_one_line(void)
{
    char quotes[5000];
    memset(quotes, '"', sizeof(quotes) - 1);
    quotes[sizeof(quotes) - 1] = '\0';
    capture_file();
    log_init(LOG_LEVEL_INFO);
    log_info("%s", quotes);
    log_info("next");
    const char *text = captured_text();
    const char *end = strchr(text, '\n');
    CU_ASSERT_PTR_NOT_NULL_FATAL(end);
    CU_ASSERT_TRUE(end - text > 800 && end - text <= 2000);
    CU_ASSERT_EQUAL(memcmp(end - 3, "\\\"\"", 3), 0);
    matches(end + 1, "^time=[^\n]* msg=\"next\"\n$");
}

static void errno_survives(void)
{
    capture_to(open("/dev/full", O_WRONLY | O_CLOEXEC));
    log_init(LOG_LEVEL_INFO);
    errno = EDOM;
    log_info("to nowhere");
    int error = errno;
    release();
    close(captured.fd);
    CU_ASSERT_EQUAL(error, EDOM);
}

/* What a terminal shows of one line of each level. */
static const char *on_terminal(void)
{
    int master;
    int slave;
    CU_ASSERT_EQUAL_FATAL(openpty(&master, &slave, NULL, NULL, NULL), 0);
    capture_to(slave);
    log_init(LOG_LEVEL_DEBUG);
    log_error("e");
    log_warn("w");
    log_info("i");
    log_debug("d");
    release();
    size_t len = 0;
    unsigned n_lines = 0;
    while (n_lines < 4 && len + 1 < sizeof(captured.text)) {
        ssize_t n = read(master, captured.text + len, 1);
        CU_ASSERT_FATAL(n == 1);
        n_lines += captured.text[len++] == '\n';
    }
    captured.text[len] = '\0';
    close(slave);
    close(master);
    return captured.text;
}

static void a_terminal_gets_local_time_and_colours(void)
{
    unsetenv("NO_COLOR");
    matches(on_terminal(), "^[0-9]{2}:[0-9]{2}:[0-9]{2} \x1b\\[31mERROR\x1b\\[0m e\r\n"
                           "[0-9:]{8} \x1b\\[33mWARN \x1b\\[0m w\r\n"
                           "[0-9:]{8} INFO  i\r\n"
                           "[0-9:]{8} \x1b\\[2mDEBUG\x1b\\[0m d\r\n$");
    setenv("NO_COLOR", "", 1);
    matches(on_terminal(), "\x1b\\[31mERROR");
}

static void no_color_takes_the_colours_away(void)
{
    setenv("NO_COLOR", "1", 1);
    matches(on_terminal(), "^[0-9:]{8} ERROR e\r\n[0-9:]{8} WARN  w\r\n[0-9:]{8} INFO  i\r\n[0-9:]{"
                           "8} DEBUG d\r\n$");
    unsetenv("NO_COLOR");
}

static void set_journal_stream(int fd, unsigned long long add)
{
    struct stat st;
    char text[64];
    CU_ASSERT_EQUAL_FATAL(fstat(fd, &st), 0);
    snprintf(text, sizeof(text), "%llu:%llu", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino + add);
    setenv("JOURNAL_STREAM", text, 1);
}

static void the_journal_gets_priorities_and_no_time(void)
{
    int fd = make_file();
    set_journal_stream(fd, 0);
    capture_to(fd);
    log_init(LOG_LEVEL_DEBUG);
    log_error("e");
    log_warn("w");
    log_info("i \"q\"");
    log_debug("d");
    CU_ASSERT_STRING_EQUAL(captured_text(), "<3>e\n<4>w\n<6>i \"q\"\n<7>d\n");
    unsetenv("JOURNAL_STREAM");
}

static void a_stderr_that_is_not_the_journals_stream_gets_logfmt(void)
{
    /* as after `2> file` in a unit, or when the variable is inherited, or broken */
    static const char *const broken[] = {"", "1", ":", "x:y", "1:2x"};
    for (size_t i = 0; i <= sizeof(broken) / sizeof(broken[0]); i++) {
        int fd = make_file();
        if (i == 0) {
            set_journal_stream(fd, 1);
        } else {
            setenv("JOURNAL_STREAM", broken[i - 1], 1);
        }
        capture_to(fd);
        log_init(LOG_LEVEL_INFO);
        log_info("i");
        matches(captured_text(), "^time=");
    }
    unsetenv("JOURNAL_STREAM");
}

static void the_first_goes_out_then_one_a_minute_with_the_number_between(void)
{
    const int64_t t0 = 1000 * MINUTE_NS;
    uint64_t suppressed = 99;
    CU_ASSERT_TRUE(log_allow(1, 100, t0, &suppressed));
    CU_ASSERT_EQUAL(suppressed, 0);
    for (int64_t i = 1; i <= 5; i++) {
        CU_ASSERT_FALSE(log_allow(1, 100, t0 + i * MINUTE_NS / 6, &suppressed));
    }
    CU_ASSERT_FALSE(log_allow(1, 100, t0 + MINUTE_NS - 1, &suppressed));
    CU_ASSERT_TRUE(log_allow(1, 100, t0 + MINUTE_NS, &suppressed));
    CU_ASSERT_EQUAL(suppressed, 6);
    CU_ASSERT_FALSE(log_allow(1, 100, t0 + MINUTE_NS + 1, &suppressed));
    CU_ASSERT_TRUE(log_allow(1, 100, t0 + 9 * MINUTE_NS, &suppressed));
    CU_ASSERT_EQUAL(suppressed, 1);
}

static void kinds_and_exporters_have_buckets_of_their_own(void)
{
    const int64_t t0 = 2000 * MINUTE_NS;
    uint64_t suppressed;
    CU_ASSERT_TRUE(log_allow(1, 200, t0, &suppressed));
    CU_ASSERT_TRUE(log_allow(2, 200, t0, &suppressed));
    CU_ASSERT_TRUE(log_allow(1, 201, t0, &suppressed));
    CU_ASSERT_FALSE(log_allow(1, 200, t0, &suppressed));
    CU_ASSERT_FALSE(log_allow(2, 200, t0, &suppressed));
    CU_ASSERT_FALSE(log_allow(1, 201, t0, &suppressed));
}

static void many_exporters_do_not_flood_the_log(void)
{
    const int64_t t0 = 3000 * MINUTE_NS;
    uint64_t suppressed;
    unsigned allowed = 0;
    capture_file();
    log_init(LOG_LEVEL_INFO);
    for (uint64_t who = 0; who < 100000; who++) {
        allowed += log_allow(3, 1000000 + who * 7919, t0, &suppressed);
    }
    CU_ASSERT_EQUAL(allowed, 1000);
    CU_ASSERT_FALSE(log_allow(4, 1, t0 + 499999999, &suppressed));
    CU_ASSERT_TRUE(log_allow(4, 1, t0 + 500000000, &suppressed));
    CU_ASSERT_FALSE(log_allow(4, 2, t0 + 500000000, &suppressed));
    allowed = 0;
    for (uint64_t who = 0; who < 5000; who++) { /* ten minutes give 1,200, but 1,000 is the most */
        allowed += log_allow(5, 900000000 + who * 104729, t0 + 10 * MINUTE_NS, &suppressed);
    }
    CU_ASSERT_EQUAL(allowed, 1000);
    matches(captured_text(), "^time=[^\n]* level=warn msg=\"kept back 99001 lines[^\n]*\n"
                             "time=[^\n]* level=warn msg=\"kept back 1 lines[^\n]*\n$");
}

#define N_THREADS 8
#define N_LINES   200

static void *write_lines(void *arg)
{
    const int *number = arg;
    uint64_t suppressed;
    for (int i = 0; i < N_LINES; i++) {
        log_info("thread %d line %d of the many that are written at once", *number, i);
        (void)log_allow((unsigned)*number, (uint64_t)i % 64, 2500 * MINUTE_NS, &suppressed);
    }
    return NULL;
}

static void lines_of_many_threads_stay_whole(void)
{
    static char text[N_THREADS * N_LINES * 256];
    pthread_t thread[N_THREADS];
    int number[N_THREADS];
    int fd = make_file();
    CU_ASSERT_EQUAL(fcntl(fd, F_SETFL, O_APPEND), 0);
    capture_to(fd);
    log_init(LOG_LEVEL_INFO);
    for (int i = 0; i < N_THREADS; i++) {
        number[i] = i;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, write_lines, &number[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    release();
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
    close(fd);
    CU_ASSERT_FATAL(n > 0);
    text[n] = '\0';
    unsigned n_lines = 0;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line; n_lines++) {
        int t;
        int i;
        char end;
        const char *message = strstr(line, "msg=\"");
        CU_ASSERT_EQUAL(strncmp(line, "time=", 5), 0);
        CU_ASSERT_TRUE(message &&
                       sscanf(message,
                              "msg=\"thread %d line %d of the many that are written at once%c", &t,
                              &i, &end) == 3 &&
                       end == '"');
    }
    CU_ASSERT_EQUAL(n_lines, N_THREADS * N_LINES);
}

int main(void)
{
#define CASE(name)                                                                                 \
    {                                                                                              \
#        name, name                                                                                \
    }
    static const struct test_case cases[] = {
        CASE(a_file_gets_logfmt_in_utc),
        CASE(levels_below_the_set_one_are_silent),
        CASE(a_text_can_not_forge_a_line_or_steer_a_terminal),
        CASE(long_messages_are_cut_and_stay_one_line),
        CASE(errno_survives),
        CASE(a_terminal_gets_local_time_and_colours),
        CASE(no_color_takes_the_colours_away),
        CASE(the_journal_gets_priorities_and_no_time),
        CASE(a_stderr_that_is_not_the_journals_stream_gets_logfmt),
        CASE(the_first_goes_out_then_one_a_minute_with_the_number_between),
        CASE(kinds_and_exporters_have_buckets_of_their_own),
        CASE(lines_of_many_threads_stay_whole),
        CASE(many_exporters_do_not_flood_the_log),
    };
    unsetenv("JOURNAL_STREAM");
    return test_main("log", cases, sizeof(cases) / sizeof(cases[0]));
}
