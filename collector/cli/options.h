// SPDX-License-Identifier: Apache-2.0
/*
 * options - the command line, from one table that also feeds help (and later man page and completion)
 *
 * options_parse fills struct options with defaults, environment (WHOFLOW_<NAME>, lower precedence than flags; lists with
 * commas) and flags. What it points to lives in argv, environ and itself. Main thread only. Exit codes: ux.md, repeated in enum exit_code.
 */
#pragma once

#include <stdio.h>

#include "decoder/base.h"

enum exit_code {
    EXIT_CODE_OK = 0,
    EXIT_CODE_FAILURE = 1, /* also: a capture without flows */
    EXIT_CODE_USAGE = 2,
    EXIT_CODE_LOSS = 3, /* replay: data lost, sets without template, truncated capture */
    EXIT_CODE_BAD_INPUT = 65,
    EXIT_CODE_NO_OUTPUT = 69,
    EXIT_CODE_NO_PERMISSION = 77,
    EXIT_CODE_CONFIG = 78,
};

#define OPTIONS_MAX_LISTEN   64
#define OPTIONS_MAX_NETWORKS 64

enum options_command {
    COMMAND_NONE,
    COMMAND_RUN,
    COMMAND_REPLAY,
    COMMAND_DOCUMENTS,
    COMMAND_VERSION,
    COMMAND_HELP
};

struct options {
    enum options_command command;
    int log_level;          /* --log-level; enum log_level */
    const char *help_topic; /* help CMD */
    /* run */
    const char *listen[OPTIONS_MAX_LISTEN]; /* default [::]:2055, [::]:4739 */
    size_t n_listen;
    uint64_t receive_buffer; /* --receive-buffer 32MiB */
    /* replay */
    char *const *files; /* argv */
    size_t n_files;
    double speed;          /* --speed max|1x|Nx; 0 = max */
    const char *send;      /* --send HOST:PORT */
    uint16_t port;         /* --port N, 0 = any that carries flow export */
    bool summary;          /* --summary / --no-summary, default true */
    bool progress;         /* --no-progress */
    bool unknown_elements; /* --unknown-elements */
    bool json;             /* version --json */
    /* both */
    const char *output;                         /* -o stdout|file:PATH|null */
    const char *format;                         /* --format ecs|flat|text|none; default ecs */
    unsigned workers;                           /* --workers N|auto; 0 = auto */
    unsigned receivers;                         /* --receivers N|auto; 0 = auto */
    const char *stats_file;                     /* --stats-file PATH */
    const char *networks[OPTIONS_MAX_NETWORKS]; /* --internal-network NET */
    size_t n_networks;
    uint64_t pending_bytes;          /* --pending-bytes 64MiB */
    uint64_t pending_exporter_bytes; /* --pending-exporter-bytes 4MiB */
    int64_t pending_age_ns; /* run: --pending-age 10m; -1 = not given (10 min; replay: for ever) */
    uint64_t queue_bytes;   /* --queue-bytes 64MiB */
    char environment
        [4096]; /* copies of lists from the environment, which listen and networks point into */
    size_t environment_used;
};

/* 0, or WF_E_INVAL with a message for the user in why (what, where, nearest match, what to type). */
int options_parse(int argc, char **argv, struct options *options, char *why, size_t why_len);
/* Variables WHOFLOW_... that belong to no option: a line on each to the user. Those that Kubernetes makes for a service called whoflow
 * are left alone. environment: as environ. Returns how many. */
size_t options_tell_unknown_environment(FILE *to, char *const *environment);
/* General help (12 lines, "try:"), or that of one command. Returns WF_E_NOTFOUND for an unknown topic. */
int options_print_help(FILE *to, const char *topic);

/* "64MiB", "4k", "1000" to octets; "10m", "1h", "30s", "500ms" to ns. WF_E_FORMAT. */
int options_parse_size(const char *text, uint64_t *bytes);
int options_parse_duration(const char *text, int64_t *ns);
