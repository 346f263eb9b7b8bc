// SPDX-License-Identifier: Apache-2.0
/*
 * table - the option table and its readers (inside the room only)
 *
 * Long and short name of each option, which commands take it, how its value is read and where it goes, and its help. The parser, the
 * environment and the help texts walk it; nothing about an option stands elsewhere.
 */
#pragma once

#include "collector/cli/options.h"

enum kind {
    KIND_TEXT,
    KIND_LIST,  /* text, may be given again */
    KIND_COUNT, /* 1.. or "auto" (0) */
    KIND_PORT,
    KIND_SIZE,
    KIND_DURATION,
    KIND_SPEED,
    KIND_FLAG, /* --name, --no-name */
    KIND_LEVEL,
};

enum takes {
    TAKES_RUN = 1,
    TAKES_REPLAY = 2,
    TAKES_BOTH = 3,
    TAKES_VERSION = 4
};

struct option_row {
    const char *name;
    char letter;
    enum kind kind;
    enum takes takes;
    size_t at;       /* offset in struct options */
    size_t count_at; /* KIND_LIST: of its n_... */
    size_t max;      /* KIND_LIST: values; KIND_SIZE: octets, 0 = any */
    const char *value;
    const char *help;
};

struct command_row {
    const char *name;
    enum options_command command;
    unsigned takes; /* of enum takes */
    const char *arguments;
    const char *help;
};

#define OPTIONS_N_ROWS     20U
#define OPTIONS_N_COMMANDS 5U

extern const struct option_row *const option_rows;   /* OPTIONS_N_ROWS */
extern const struct command_row *const command_rows; /* OPTIONS_N_COMMANDS */

/* Reads text into the row's member of options: 0, WF_E_FORMAT, WF_E_LIMIT (a list is full); untouched then. */
int option_set(struct options *options, const struct option_row *row, const char *text);
/* What may be typed for it, for an error message. */
const char *option_example(const struct option_row *row);
/* "--name" as WHOFLOW_NAME. */
void option_environment_name(const struct option_row *row, char *name, size_t size);
