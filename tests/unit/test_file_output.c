// SPDX-License-Identifier: Apache-2.0
/*
 * stdout and files: what is in them is whole lines, and the counters say how many. A disk that fills up within a chunk is
 * stood in for by RLIMIT_FSIZE: write(2) takes what fits, then gives EFBIG.
 */
#include <sys/resource.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include "tests/unit/output_harness.h"

#define LEN 100U

static struct folder folder;

/* Whole numbered lines of the file, from first on. */
static unsigned lines_in(const char *path, unsigned first)
{
    size_t size;
    char *text = file_read(path, &size);
    unsigned n = lines_check(text, size, first, LEN);
    free(text);
    return n;
}

static void put_and_drain(struct output *output, unsigned first, unsigned n)
{
    CU_ASSERT_EQUAL(lines_put(output, first, n, LEN), WF_OK);
    CU_ASSERT_EQUAL(output_drain(output), WF_OK);
}

static void limit_file_size(rlim_t octets)
{
    struct rlimit limit;
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = octets < limit.rlim_max ? octets : limit.rlim_max;
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void remove_and_free(char *path)
{
    unlink(path);
    free(path);
}

static void a_file_is_made_for_owner_and_group_and_appended_to(void)
{
    char *path = folder_path(&folder, "append");
    mode_t before = umask(0);
    struct output *output = output_open("file:", path, 0, true);
    umask(before);
    put_and_drain(output, 0, 5);
    output_free(output);
    struct stat st;
    CU_ASSERT_EQUAL_FATAL(stat(path, &st), 0);
    CU_ASSERT_EQUAL(st.st_mode & 0777, 0640);
    output = output_open("file:", path, 0, true);
    put_and_drain(output, 5, 7);
    counters_check(output, 7, 0, 0, 0);
    output_free(output);
    CU_ASSERT_EQUAL(lines_in(path, 0), 12);
    remove_and_free(path);
}

static void the_descriptor_is_closed_on_exec(void)
{
    char *path = folder_path(&folder, "cloexec");
    struct output *output = output_open("file:", path, 0, true);
    DIR *fds = opendir("/proc/self/fd");
    CU_ASSERT_PTR_NOT_NULL_FATAL(fds);
    unsigned n_found = 0;
    for (const struct dirent *entry; (entry = readdir(fds)) != NULL;) {
        char target[256];
        ssize_t n = readlinkat(dirfd(fds), entry->d_name, target, sizeof(target) - 1);
        target[n > 0 ? n : 0] = '\0';
        if (strcmp(target, path) == 0) {
            int fd = (int)strtol(entry->d_name, NULL, 10);
            CU_ASSERT_EQUAL(fcntl(fd, F_GETFD), FD_CLOEXEC);
            CU_ASSERT_EQUAL(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
            n_found++;
        }
    }
    closedir(fds);
    CU_ASSERT_EQUAL(n_found, 1);
    output_free(output);
    remove_and_free(path);
}

static void refused_to_open(const char *target, int err, const char *hint)
{
    char why[512] = "";
    struct output *output = NULL;
    struct output_config config = {.target = target};
    CU_ASSERT_EQUAL(output_new(&config, &output, why, sizeof(why)), err);
    CU_ASSERT_PTR_NULL(output);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, hint));
}

static void what_can_not_be_opened_is_told_with_what_to_do(void)
{
    char target[256];
    snprintf(target, sizeof(target), "file:%s/no/such/folder", folder.path);
    refused_to_open(target, WF_E_IO,
                    "No such file or directory; nothing could be written there: "
                    "create its folder first");
    snprintf(target, sizeof(target), "file:%s", folder.path);
    refused_to_open(target, WF_E_IO, "Is a directory");
    if (geteuid() != 0) { /* root may write anywhere */
        CU_ASSERT_EQUAL(chmod(folder.path, 0500), 0);
        snprintf(target, sizeof(target), "file:%s/x", folder.path);
        refused_to_open(target, WF_E_PERM, "Permission denied");
        CU_ASSERT_EQUAL(chmod(folder.path, 0700), 0);
    }
}

static void dev_null_takes_all(void)
{
    struct output *output = output_open("file:/dev/null", NULL, 0, true);
    put_and_drain(output, 0, 1000);
    counters_check(output, 1000, 0, 0, 0);
    output_free(output);
}

static void a_device_without_space_fails_each_chunk_and_is_tried_again(void)
{
    struct output *output = output_open("file:/dev/full", NULL, 0, true);
    put_and_drain(output, 0, 10);
    counters_check(output, 0, 0, 10, 0);
    put_and_drain(output, 0, 5);
    counters_check(output, 0, 0, 15, 0);
    CU_ASSERT_EQUAL(counters_of(output).last_errno, ENOSPC);
    CU_ASSERT_EQUAL(counters_of(output).octets_written, 0);
    CU_ASSERT_FALSE(output_is_gone(output));
    output_free(output);
}

static void a_line_that_does_not_fit_is_taken_back_whole(void)
{
    char *path = folder_path(&folder, "torn");
    struct output *output = output_open("file:", path, 0, true);
    put_and_drain(output, 0, 10);
    limit_file_size(10 * LEN + 250); /* two and a half lines more */
    put_and_drain(output, 10, 8);
    counters_check(output, 12, 0, 6, 0);
    CU_ASSERT_EQUAL(counters_of(output).octets_written, 12 * LEN);
    CU_ASSERT_EQUAL(counters_of(output).last_errno, EFBIG);
    CU_ASSERT_EQUAL(lines_in(path, 0), 12);
    put_and_drain(output, 12, 1); /* half a line is left, so this one does not fit */
    counters_check(output, 12, 0, 7, 0);
    CU_ASSERT_EQUAL(lines_in(path, 0), 12);
    limit_file_size(RLIM_INFINITY);
    put_and_drain(output, 12, 20); /* space again: it goes on where it stopped */
    counters_check(output, 32, 0, 7, 0);
    CU_ASSERT_EQUAL(lines_in(path, 0), 32);
    output_free(output);
    remove_and_free(path);
}

static void each_place_to_be_cut_at_leaves_whole_lines(void)
{
    char *path = folder_path(&folder, "cuts");
    static const unsigned places[] = {0,           1,       LEN - 1,     LEN,    LEN + 1,
                                      2 * LEN - 1, 2 * LEN, 3 * LEN - 1, 3 * LEN};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct output *output = output_open("file:", path, 0, true);
        limit_file_size(places[i]);
        put_and_drain(output, 0, 3);
        limit_file_size(RLIM_INFINITY);
        unsigned n = places[i] / LEN;
        counters_check(output, n, 0, 3 - n, 0);
        CU_ASSERT_EQUAL(lines_in(path, 0), n);
        output_free(output);
        unlink(path);
    }
    free(path);
}

/* stdout is fd until stdout_back. */
static int stdout_to(int fd)
{
    (void)fflush(stdout);
    int real = dup(STDOUT_FILENO);
    CU_ASSERT_FATAL(fd >= 0 && real >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
    close(fd);
    return real;
}

static void stdout_back(int real)
{
    dup2(real, STDOUT_FILENO);
    close(real);
}

static void stdout_that_is_a_file_keeps_whole_lines_too(void)
{
    char *path = folder_path(&folder, "stdout");
    static const int flags[] = {O_TRUNC, O_APPEND}; /* > and >> of the shell */
    for (size_t i = 0; i < 2; i++) {
        int real = stdout_to(open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags[i], 0600));
        unsigned first = i ? 12 : 0;
        struct output *output = output_open("stdout", NULL, 0, true);
        limit_file_size((first + 2) * LEN + LEN / 2);
        put_and_drain(output, first, 5);
        limit_file_size(RLIM_INFINITY);
        put_and_drain(output, first + 2, 10);
        counters_check(output, 12, 0, 3, 0);
        output_reopen(output); /* there is nothing that could be opened anew */
        output_free(output);
        CU_ASSERT_TRUE(fcntl(STDOUT_FILENO, F_GETFD) >= 0); /* stdout is not ours to close */
        stdout_back(real);
        CU_ASSERT_EQUAL(lines_in(path, 0), first + 12);
    }
    remove_and_free(path);
}

static void a_closed_pipe_on_stdout_is_the_end(void)
{
    int fds[2];
    CU_ASSERT_EQUAL_FATAL(pipe2(fds, O_CLOEXEC), 0);
    int real = stdout_to(fds[1]);
    close(fds[0]);
    struct output *output = output_open("-", NULL, 0, true);
    CU_ASSERT_EQUAL(lines_put(output, 0, 5, LEN), WF_OK);
    CU_ASSERT_EQUAL(output_drain(output), WF_E_STOPPED);
    stdout_back(real);
    CU_ASSERT_TRUE(output_is_gone(output));
    counters_check(output, 0, 0, 5, 0);
    output_free(output);
}

static void a_stdout_that_can_not_be_written_to_is_refused(void)
{
    int real = stdout_to(open("/dev/null", O_RDONLY | O_CLOEXEC));
    char why[256] = "";
    struct output *output = NULL;
    struct output_config config = {.target = "stdout"};
    int err = output_new(&config, &output, why, sizeof(why));
    stdout_back(real);
    CU_ASSERT_EQUAL(err, WF_E_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "Bad file descriptor"));
}

static void *read_slowly(void *arg)
{
    const int *fd = arg;
    struct pollfd p = {.fd = *fd, .events = POLLIN};
    char text[1000];
    size_t total = 0;
    ssize_t n;
    while (poll(&p, 1, -1) == 1 && (n = read(*fd, text, sizeof(text))) > 0) {
        total += (size_t)n;
    }
    return (void *)total;
}

static void a_stdout_that_does_not_block_is_waited_for(void)
{
    int fds[2];
    pthread_t reader;
    void *total;
    CU_ASSERT_EQUAL_FATAL(pipe2(fds, O_CLOEXEC), 0);
    CU_ASSERT_EQUAL(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
    int real = stdout_to(fds[1]);
    struct output *output = output_open("stdout", NULL, 0, true);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&reader, NULL, read_slowly, &fds[0]), 0);
    put_and_drain(output, 0, 5000); /* 500 kB, more than a pipe holds */
    stdout_back(real);              /* the last writer's end */
    pthread_join(reader, &total);
    close(fds[0]);
    CU_ASSERT_EQUAL((size_t)total, 5000 * LEN);
    counters_check(output, 5000, 0, 0, 0);
    output_free(output);
}

static void an_earlier_writers_torn_line_is_ended_first(void)
{
    char *path = folder_path(&folder, "killed");
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CU_ASSERT_EQUAL_FATAL(write(fd, "{\"half", 6), 6);
    close(fd);
    struct output *output = output_open("file:", path, 0, true);
    put_and_drain(output, 0, 2);
    put_and_drain(output, 2, 2);
    counters_check(output, 4, 0, 0, 0);
    output_free(output);
    size_t size;
    char *text = file_read(path, &size);
    CU_ASSERT_EQUAL_FATAL(size, 7 + 4 * LEN);
    CU_ASSERT_EQUAL(memcmp(text, "{\"half\n", 7), 0);
    CU_ASSERT_EQUAL(lines_check(text + 7, size - 7, 0, LEN), 4);
    free(text);
    remove_and_free(path);
}

static void check_reopens(struct output *output, uint64_t reopened, uint64_t failed,
                          uint64_t needless)
{
    struct output_counters c = counters_of(output);
    CU_ASSERT_EQUAL(c.n_reopened, reopened);
    CU_ASSERT_EQUAL(c.n_reopen_failed, failed);
    CU_ASSERT_EQUAL(c.n_reopen_needless, needless);
}

static void what_is_no_regular_file_is_not_reopened(void)
{
    static const char *const targets[] = {"file:/dev/null", "null"};
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        struct output *output = output_open(targets[i], "", 0, true);
        output_reopen(output);
        put_and_drain(output, 0, 3);
        check_reopens(output, 0, 0, 1);
        output_free(output);
    }
}

static void reopen_follows_a_rename(void)
{
    char *path = folder_path(&folder, "log");
    char *old = folder_path(&folder, "log.1");
    struct output *output = output_open("file:", path, 0, true);
    put_and_drain(output, 0, 3);
    CU_ASSERT_EQUAL(rename(path, old), 0);
    put_and_drain(output, 3, 4); /* not told yet: still the old one */
    output_reopen(output);
    put_and_drain(output, 7, 5);
    counters_check(output, 12, 0, 0, 0);
    check_reopens(output, 1, 0, 0);
    CU_ASSERT_EQUAL(lines_in(old, 0), 7);
    CU_ASSERT_EQUAL(lines_in(path, 7), 5);
    output_free(output);
    remove_and_free(path);
    remove_and_free(old);
}

static void a_reopen_that_fails_loses_nothing_and_is_tried_again(void)
{
    char *dir = folder_path(&folder, "dir");
    char *moved = folder_path(&folder, "moved");
    char *path = folder_path(&folder, "dir/log");
    char *old = folder_path(&folder, "moved/log");
    CU_ASSERT_EQUAL_FATAL(mkdir(dir, 0700), 0);
    struct output *output = output_open("file:", path, 0, true);
    put_and_drain(output, 0, 3);
    CU_ASSERT_EQUAL(rename(dir, moved), 0);
    output_reopen(output);
    put_and_drain(output, 3, 4);
    put_and_drain(output, 7, 1);                        /* tried again, told once */
    CU_ASSERT_EQUAL(counters_of(output).last_errno, 0); /* nothing was refused */
    CU_ASSERT_EQUAL(counters_of(output).reopen_errno, ENOENT);
    check_reopens(output, 0, 1, 0);
    CU_ASSERT_EQUAL(lines_in(old, 0), 8);
    CU_ASSERT_EQUAL_FATAL(mkdir(dir, 0700), 0);
    put_and_drain(output, 8, 5);
    CU_ASSERT_EQUAL(lines_in(old, 0), 8);
    CU_ASSERT_EQUAL(lines_in(path, 8), 5);
    counters_check(output, 13, 0, 0, 0);
    check_reopens(output, 1, 1, 0);
    output_free(output);
    remove_and_free(path);
    remove_and_free(old);
    rmdir(dir);
    rmdir(moved);
    free(dir);
    free(moved);
}

/* Reads lines of a FIFO until its end. */
static void *read_fifo(void *arg)
{
    int fd = open(arg, O_RDONLY | O_CLOEXEC);
    void *total = fd < 0 ? NULL : read_slowly(&fd);
    close(fd);
    return total;
}

static void a_fifo_works_whoever_comes_first_and_is_not_reopened(void)
{
    char *path = folder_path(&folder, "fifo");
    pthread_t reader;
    void *total;
    CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&reader, NULL, read_fifo, path), 0);
    struct output *output = output_open("file:", path, 0, true);
    put_and_drain(output, 0, 3000);
    output_reopen(output);
    put_and_drain(output, 3000, 3000); /* its reader has seen no end: both arrive there */
    counters_check(output, 6000, 0, 0, 0);
    output_free(output);
    pthread_join(reader, &total);
    CU_ASSERT_EQUAL((size_t)total, 6000 * LEN);
    remove_and_free(path);
}

int main(void)
{
#define CASE(name)                                                                                 \
    {                                                                                              \
#        name, name                                                                                \
    }
    static const struct test_case cases[] = {
        CASE(a_file_is_made_for_owner_and_group_and_appended_to),
        CASE(the_descriptor_is_closed_on_exec),
        CASE(what_can_not_be_opened_is_told_with_what_to_do),
        CASE(dev_null_takes_all),
        CASE(a_device_without_space_fails_each_chunk_and_is_tried_again),
        CASE(a_line_that_does_not_fit_is_taken_back_whole),
        CASE(each_place_to_be_cut_at_leaves_whole_lines),
        CASE(stdout_that_is_a_file_keeps_whole_lines_too),
        CASE(a_closed_pipe_on_stdout_is_the_end),
        CASE(a_stdout_that_can_not_be_written_to_is_refused),
        CASE(a_stdout_that_does_not_block_is_waited_for),
        CASE(an_earlier_writers_torn_line_is_ended_first),
        CASE(what_is_no_regular_file_is_not_reopened),
        CASE(reopen_follows_a_rename),
        CASE(a_reopen_that_fails_loses_nothing_and_is_tried_again),
        CASE(a_fifo_works_whoever_comes_first_and_is_not_reopened),
    };
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    snprintf(folder.path, sizeof(folder.path), "/tmp/test_file_output_XXXXXX");
    if (!mkdtemp(folder.path)) {
        perror(folder.path);
        return 1;
    }
    int rc = test_main("file_output", cases, sizeof(cases) / sizeof(cases[0]));
    rmdir(folder.path);
    return rc;
}
