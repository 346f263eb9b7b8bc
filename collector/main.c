// SPDX-License-Identifier: Apache-2.0
/*
 * whoflow: reads the command line and hands over to the command.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collector/command/command.h"
#include "collector/log/log.h"

/* A descriptor 0, 1 or 2 that was closed by who started us would become a socket or a file, and messages would go there. What
 * takes its place fails when it is used. */
static void fill_standard_descriptors(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

static int print_help(const struct options *options)
{
    if (options_print_help(stdout, options->help_topic) < 0) {
        fprintf(stderr, "whoflow: no help on \"%s\"; try: whoflow help\n", options->help_topic);
        return EXIT_CODE_USAGE;
    }
    return EXIT_CODE_OK;
}

static int run_command(const struct options *options)
{
    switch (options->command) {
    case COMMAND_RUN:
        return command_run(options);
    case COMMAND_REPLAY:
        return command_replay(options);
    case COMMAND_DOCUMENTS:
        return command_documents(options);
    case COMMAND_VERSION:
        return command_version(options);
    case COMMAND_NONE:
    case COMMAND_HELP:
    default:
        return print_help(options);
    }
}

/* What was printed may still fail to get out. A reader that has left (| head) is no failure. */
static int flush_stdout(int code)
{
    if (fflush(stdout) == 0 || errno == EPIPE) {
        return code;
    }
    fprintf(stderr, "whoflow: stdout: %s; the text is not complete\n", strerrordesc_np(errno));
    return code == EXIT_CODE_OK ? EXIT_CODE_FAILURE : code;
}

int main(int argc, char **argv)
{
    struct options options;
    char why[512];
    fill_standard_descriptors();
    signal(SIGPIPE, SIG_IGN); /* the output finds out by EPIPE */
    signal(SIGXFSZ, SIG_IGN); /* and by EFBIG */
    if (options_parse(argc, argv, &options, why, sizeof(why)) < 0) {
        fprintf(stderr, "whoflow: %s\n", why);
        return EXIT_CODE_USAGE;
    }
    if (options.command == COMMAND_RUN || options.command == COMMAND_REPLAY) {
        (void)options_tell_unknown_environment(stderr, environ);
    }
    log_init((enum log_level)options.log_level);
    return flush_stdout(run_command(&options));
}
