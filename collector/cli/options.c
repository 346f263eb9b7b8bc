// SPDX-License-Identifier: Apache-2.0
#include "collector/cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "collector/cli/environment.h"
#include "collector/cli/nearest.h"
#include "collector/cli/table.h"

/* The command words that take the option. */
static const char *command_of(const struct option_row *row)
{
    switch (row->takes) {
    case TAKES_RUN:
        return "whoflow run";
    case TAKES_REPLAY:
        return "whoflow replay";
    case TAKES_VERSION:
        return "whoflow version";
    case TAKES_BOTH:
    default:
        return "whoflow run and replay";
    }
}

struct parser {
    struct options *options;
    unsigned takes; /* of the command */
    const char *command;
    char *why;
    size_t why_len;
    bool list_is_from_environment[OPTIONS_N_ROWS];
};

/* name: how the user wrote the option; err: why set_value refused. */
static int bad_value(const struct parser *p, const char *name, const struct option_row *row,
                     const char *text, int err)
{
    const char *example = option_example(row);
    const char *value = row->value ? row->value : "yes|no";
    if (err == WF_E_LIMIT) {
        snprintf(p->why, p->why_len, "%s: \"%s\" is one too many, at most %zu are allowed", name,
                 text, row->max);
    } else if (!text || !*text) {
        snprintf(p->why, p->why_len, "%s needs a value, %s: %s (see whoflow help %s)", name, value,
                 example, p->command);
    } else {
        snprintf(p->why, p->why_len,
                 "%s: \"%s\" is not allowed, it takes %s: %s (see whoflow help %s)", name, text,
                 value, example, p->command);
    }
    return WF_E_INVAL;
}

/* A value from the command line; lists of the environment give way to it. */
static int take_value(struct parser *p, const struct option_row *row, const char *text)
{
    char name[48];
    size_t index = (size_t)(row - option_rows);
    if (p->list_is_from_environment[index]) {
        p->list_is_from_environment[index] = false;
        *(size_t *)(void *)((char *)p->options + row->count_at) = 0;
    }
    int err = text ? option_set(p->options, row, text) : WF_E_FORMAT;
    if (err == WF_OK) {
        return WF_OK;
    }
    snprintf(name, sizeof(name), "--%s", row->name);
    return bad_value(p, name, row, text, err);
}

static const struct option_row *find_long(const char *name, size_t len, unsigned takes)
{
    for (size_t i = 0; i < OPTIONS_N_ROWS; i++) {
        if ((option_rows[i].takes & takes) && strlen(option_rows[i].name) == len &&
            strncmp(option_rows[i].name, name, len) == 0) {
            return &option_rows[i];
        }
    }
    return NULL;
}

/* typed begins with one or two dashes. */
static int unknown_option(const struct parser *p, const char *typed)
{
    const char *names[OPTIONS_N_ROWS];
    size_t n = 0;
    for (size_t i = 0; i < OPTIONS_N_ROWS; i++) {
        if (option_rows[i].takes & p->takes) {
            names[n++] = option_rows[i].name;
        }
    }
    const char *name = typed + strspn(typed, "-");
    size_t len = strcspn(name, "=");
    const struct option_row *row = find_long(name, len, ~0U);
    const char *near = nearest_name(name, len, names, n);
    if (row && !(row->takes & p->takes)) {
        snprintf(p->why, p->why_len,
                 "whoflow %s takes no option \"%s\"; it belongs to %s (see whoflow help %s)",
                 p->command, typed, command_of(row), p->command);
    } else {
        snprintf(p->why, p->why_len,
                 "unknown option \"%s\" of whoflow %s%s%s%s (see whoflow help %s)", typed,
                 p->command, near ? "; did you mean \"--" : "", near ? near : "", near ? "\"?" : "",
                 p->command);
    }
    return WF_E_INVAL;
}

/* "--no-..." for an option that has no such form, or with a value. */
static int bad_negation(const struct parser *p, const char *typed, const struct option_row *row)
{
    if (row->kind == KIND_FLAG) {
        snprintf(p->why, p->why_len,
                 "\"%s\": --no-%s takes no value; write --no-%s alone, or --%s=yes|no", typed,
                 row->name, row->name, row->name);
    } else {
        snprintf(p->why, p->why_len,
                 "unknown option \"%s\": --%s is not for yes or no, it takes %s: %s (see whoflow "
                 "help %s)",
                 typed, row->name, row->value, option_example(row), p->command);
    }
    return WF_E_INVAL;
}

/* One long option; *i moves over a value that stands apart. */
static int parse_long(struct parser *p, int argc, char **argv, int *i)
{
    const char *typed = argv[*i];
    const char *name = typed + 2;
    size_t len = strcspn(name, "=");
    const char *value = name[len] ? name + len + 1 : NULL;
    const struct option_row *row = find_long(name, len, p->takes);
    if (!row && strncmp(name, "no-", 3) == 0) {
        row = find_long(name + 3, len - 3, p->takes);
        if (row) {
            return row->kind == KIND_FLAG && !value ? take_value(p, row, "no")
                                                    : bad_negation(p, typed, row);
        }
    }
    if (!row) {
        return unknown_option(p, typed);
    }
    if (row->kind == KIND_FLAG) {
        value = value ? value : "yes";
    } else if (!value && *i + 1 < argc) {
        value = argv[++*i];
    }
    return take_value(p, row, value);
}

/* -x VALUE or -xVALUE. All options with a letter take a value. */
static int parse_short(struct parser *p, int argc, char **argv, int *i)
{
    const char *typed = argv[*i];
    for (size_t r = 0; r < OPTIONS_N_ROWS; r++) {
        if (!(option_rows[r].takes & p->takes) || option_rows[r].letter != typed[1]) {
            continue;
        }
        const char *value = typed[2] ? typed + 2 : NULL;
        if (!value && *i + 1 < argc) {
            value = argv[++*i];
        }
        return take_value(p, &option_rows[r], value);
    }
    return unknown_option(p, typed);
}

/* Lists stand in one variable, with commas. They are copied, since environ is not ours to cut up. */
static int set_list(struct options *options, const struct option_row *row, const char *text)
{
    size_t used = options->environment_used;
    size_t len = strlen(text) + 1;
    if (len > sizeof(options->environment) - used) {
        return WF_E_LIMIT;
    }
    char *rest = memcpy(options->environment + used, text, len);
    options->environment_used = used + len;
    int err = WF_OK;
    for (char *word; err == WF_OK && (word = strsep(&rest, ", ")) != NULL;) {
        err = *word ? option_set(options, row, word) : WF_OK;
    }
    return err;
}

/* WHOFLOW_PENDING_BYTES=... for --pending-bytes: below the flags. An empty one counts as unset. */
static int parse_environment(struct parser *p)
{
    for (size_t r = 0; r < OPTIONS_N_ROWS; r++) {
        char name[48];
        option_environment_name(&option_rows[r], name, sizeof(name));
        const char *value = option_rows[r].takes & p->takes ? getenv(name) : NULL;
        if (!value || !*value || environment_is_injected(name, value)) {
            continue;
        }
        bool is_list = option_rows[r].kind == KIND_LIST;
        int err = is_list ? set_list(p->options, &option_rows[r], value)
                          : option_set(p->options, &option_rows[r], value);
        p->list_is_from_environment[r] = is_list;
        if (err < 0) {
            return bad_value(p, name, &option_rows[r], value, err);
        }
    }
    return WF_OK;
}

static void set_defaults(struct options *options)
{
    memset(options, 0, sizeof(*options));
    options->output = "stdout";
    options->format = "ecs";
    options->summary = true;
    options->progress = true;
    options->pending_age_ns = -1;
    options->log_level = 2;
}

/* The command whose option was typed before it; the first one for options that nobody knows. */
static const char *command_for(const struct option_row *row)
{
    for (size_t i = 0; row && i < OPTIONS_N_COMMANDS; i++) {
        if (row->takes & command_rows[i].takes) {
            return command_rows[i].name;
        }
    }
    return command_rows[0].name;
}

static int option_before_command(const struct parser *p, const char *typed)
{
    const struct option_row *row = NULL;
    if (typed[1] == '-') {
        row = find_long(typed + 2, strcspn(typed + 2, "="), ~0U);
    }
    for (size_t r = 0; typed[1] && typed[1] != '-' && r < OPTIONS_N_ROWS; r++) {
        row = option_rows[r].letter == typed[1] ? &option_rows[r] : row;
    }
    if (row) {
        snprintf(p->why, p->why_len,
                 "\"%s\" stands before the command; options follow it: whoflow %s %s (see whoflow "
                 "help)",
                 typed, command_for(row), typed);
    } else {
        snprintf(p->why, p->why_len,
                 "unknown option \"%s\" in the place of the command; first comes run, replay, "
                 "documents, version or help, then its options (see whoflow help)",
                 typed);
    }
    return WF_E_INVAL;
}

/* A word that can only be a file. */
static bool is_file_name(const char *word)
{
    return strchr(word, '/') != NULL || strstr(word, ".pcap") != NULL ||
           strstr(word, ".cap") != NULL;
}

static int find_command(const char *word, const struct parser *p, size_t *index)
{
    const char *names[OPTIONS_N_COMMANDS];
    for (size_t i = 0; i < OPTIONS_N_COMMANDS; i++) {
        names[i] = command_rows[i].name;
        if (strcmp(word, command_rows[i].name) == 0) {
            *index = i;
            return WF_OK;
        }
    }
    const char *near = nearest_name(word, strlen(word), names, OPTIONS_N_COMMANDS);
    if (word[0] == '-') {
        return option_before_command(p, word);
    }
    if (!near && is_file_name(word)) {
        snprintf(p->why, p->why_len,
                 "unknown command \"%s\"; did you mean \"whoflow replay %s\"? (see whoflow help)",
                 word, word);
    } else {
        snprintf(p->why, p->why_len, "unknown command \"%s\"%s%s%s (see whoflow help)", word,
                 near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    return WF_E_INVAL;
}

/* Options and files behind the command word; files are moved to the front of argv + first. --help ends it. */
static int parse_rest(struct parser *p, int argc, char **argv, int first)
{
    int n_files = 0;
    bool only_files = false;
    for (int i = first; i < argc; i++) {
        char *word = argv[i];
        int err = WF_OK;
        if (!only_files && strcmp(word, "--") == 0) {
            only_files = true;
        } else if (!only_files && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            p->options->help_topic = p->command;
            p->options->command = COMMAND_HELP;
            return WF_OK;
        } else if (!only_files && strncmp(word, "--", 2) == 0) {
            err = parse_long(p, argc, argv, &i);
        } else if (!only_files && word[0] == '-' && word[1]) {
            err = parse_short(p, argc, argv, &i);
        } else {
            argv[first + n_files++] = word;
        }
        if (err < 0) {
            return err;
        }
    }
    p->options->files = argv + first;
    p->options->n_files = (size_t)n_files;
    return WF_OK;
}

static int check_help(const struct parser *p)
{
    struct options *o = p->options;
    size_t index;
    if (o->n_files > 1) {
        snprintf(p->why, p->why_len, "whoflow help takes one command, not also \"%s\"",
                 o->files[1]);
        return WF_E_INVAL;
    }
    if (o->n_files == 0) {
        return WF_OK; /* general, or whoflow COMMAND --help */
    }
    o->help_topic = o->files[0];
    return find_command(o->help_topic, p, &index);
}

static int check_files(const struct parser *p)
{
    const struct options *o = p->options;
    if (o->command == COMMAND_HELP) {
        return check_help(p);
    }
    if (o->command == COMMAND_REPLAY && o->n_files == 0) {
        snprintf(p->why, p->why_len,
                 "whoflow replay needs a capture: whoflow replay FILE.pcap (- for stdin)");
        return WF_E_INVAL;
    }
    if (o->command == COMMAND_RUN && o->n_files > 0 &&
        (is_file_name(o->files[0]) || strcmp(o->files[0], "-") == 0)) {
        snprintf(p->why, p->why_len,
                 "whoflow run receives from the network and takes no argument \"%s\"; did you mean "
                 "\"whoflow replay %s\"?",
                 o->files[0], o->files[0]);
        return WF_E_INVAL;
    }
    if (o->command != COMMAND_REPLAY && o->n_files > 0) {
        snprintf(p->why, p->why_len, "whoflow %s takes no argument \"%s\" (see whoflow help %s)",
                 p->command, o->files[0], p->command);
        return WF_E_INVAL;
    }
    return WF_OK;
}

// NOLINTNEXTLINE(readability-non-const-parameter): why is written to through the parser
int options_parse(int argc, char **argv, struct options *options, char *why, size_t why_len)
{
    set_defaults(options);
    struct parser p = {.options = options, .command = "help", .why = why, .why_len = why_len};
    if (argc < 2) {
        options->command = COMMAND_HELP;
        return WF_OK;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        word = "help";
    } else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        word = "version";
    }
    size_t index;
    int err = find_command(word, &p, &index);
    if (err < 0) {
        return err;
    }
    options->command = command_rows[index].command;
    p.command = command_rows[index].name;
    p.takes = command_rows[index].takes;
    int environment_err = parse_environment(&p);
    if (environment_err == WF_OK) {
        err = parse_rest(&p, argc, argv, 2);
        return err == WF_OK ? check_files(&p) : err;
    }
    /* a bad environment must not keep anyone from reading the help */
    struct parser rest = p;
    char ignored[2];
    rest.why = ignored;
    rest.why_len = sizeof(ignored);
    (void)parse_rest(&rest, argc, argv, 2);
    return options->command == COMMAND_HELP ? WF_OK : environment_err;
}
