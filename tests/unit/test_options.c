// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/cli/nearest.h"
#include "collector/cli/options.h"
#include "collector/cli/table.h"
#include "tests/support/support.h"

#define MAX_WORDS 160

/* The command line as one text with single spaces, "\x01" for an empty word; argv is valid until the next call. */
struct line {
    char text[4096];
    char *argv[MAX_WORDS];
    int argc;
    struct options options;
    char why[512];
};

static int parse(struct line *line, const char *text)
{
    line->argc = 0;
    line->why[0] = '\0';
    snprintf(line->text, sizeof(line->text), "%s", text);
    char *rest = line->text;
    for (char *word; (word = strsep(&rest, " ")) != NULL && line->argc < MAX_WORDS - 1;) {
        if (*word == '\x01') {
            *word = '\0';
        }
        line->argv[line->argc++] = word;
    }
    line->argv[line->argc] = NULL;
    return options_parse(line->argc, line->argv, &line->options, line->why, sizeof(line->why));
}

/* Refused, and the message has the part. */
static void refused(const char *text, const char *part)
{
    struct line line;
    CU_ASSERT_EQUAL(parse(&line, text), WF_E_INVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(line.why, part));
    if (!strstr(line.why, part)) {
        printf("\n  %s: \"%s\" lacks \"%s\"\n", text, line.why, part);
    }
}

static const struct options *accepted(struct line *line, const char *text)
{
    int err = parse(line, text);
    CU_ASSERT_EQUAL(err, WF_OK);
    if (err < 0) {
        printf("\n  %s: %s\n", text, line->why);
    }
    return &line->options;
}

static void no_words_mean_help(void)
{
    struct line line;
    const struct options *o = accepted(&line, "whoflow");
    CU_ASSERT_EQUAL(o->command, COMMAND_HELP);
    CU_ASSERT_PTR_NULL(o->help_topic);
}

static void each_command_word_is_known(void)
{
    struct line line;
    CU_ASSERT_EQUAL(accepted(&line, "whoflow run")->command, COMMAND_RUN);
    CU_ASSERT_EQUAL(accepted(&line, "whoflow replay x.pcap")->command, COMMAND_REPLAY);
    CU_ASSERT_EQUAL(accepted(&line, "whoflow documents")->command, COMMAND_DOCUMENTS);
    CU_ASSERT_EQUAL(accepted(&line, "whoflow version")->command, COMMAND_VERSION);
    CU_ASSERT_EQUAL(accepted(&line, "whoflow --version")->command, COMMAND_VERSION);
    CU_ASSERT_EQUAL(accepted(&line, "whoflow -V")->command, COMMAND_VERSION);
    CU_ASSERT_EQUAL(accepted(&line, "whoflow help")->command, COMMAND_HELP);
    CU_ASSERT_EQUAL(accepted(&line, "whoflow --help")->command, COMMAND_HELP);
    CU_ASSERT_EQUAL(accepted(&line, "whoflow -h")->command, COMMAND_HELP);
}

static void defaults_hold_without_options(void)
{
    struct line line;
    const struct options *o = accepted(&line, "whoflow run");
    CU_ASSERT_STRING_EQUAL(o->output, "stdout");
    CU_ASSERT_STRING_EQUAL(o->format, "ecs");
    CU_ASSERT_EQUAL(o->n_listen, 0);
    CU_ASSERT_EQUAL(o->n_networks, 0);
    CU_ASSERT_EQUAL(o->workers, 0);
    CU_ASSERT_EQUAL(o->receivers, 0);
    CU_ASSERT_EQUAL(o->receive_buffer, 0);
    CU_ASSERT_EQUAL(o->queue_bytes, 0);
    CU_ASSERT_EQUAL(o->pending_bytes, 0);
    CU_ASSERT_EQUAL(o->pending_exporter_bytes, 0);
    CU_ASSERT_EQUAL(o->pending_age_ns, -1);
    CU_ASSERT_EQUAL(o->log_level, 2);
    CU_ASSERT_TRUE(o->summary);
    CU_ASSERT_TRUE(o->progress);
    CU_ASSERT_FALSE(o->unknown_elements);
    CU_ASSERT_FALSE(o->json);
    CU_ASSERT_EQUAL(o->speed, 0);
    CU_ASSERT_EQUAL(o->port, 0);
    CU_ASSERT_PTR_NULL(o->send);
    CU_ASSERT_PTR_NULL(o->stats_file);
}

static void options_of_run_set_their_fields(void)
{
    struct line line;
    const struct options *o =
        accepted(&line, "whoflow run --listen :1 -l [::1]:2 --receivers=3 --receive-buffer 4MiB "
                        "--pending-age 30s");
    CU_ASSERT_EQUAL_FATAL(o->n_listen, 2);
    CU_ASSERT_STRING_EQUAL(o->listen[0], ":1");
    CU_ASSERT_STRING_EQUAL(o->listen[1], "[::1]:2");
    CU_ASSERT_EQUAL(o->receivers, 3);
    CU_ASSERT_EQUAL(o->receive_buffer, 4U << 20);
    CU_ASSERT_EQUAL(o->pending_age_ns, 30 * WF_NS_PER_S);
    CU_ASSERT_EQUAL(accepted(&line, "whoflow run --receive-buffer 1GiB")->receive_buffer, 1U << 30);
}

static void options_of_replay_set_their_fields(void)
{
    struct line line;
    const struct options *o =
        accepted(&line, "whoflow replay --speed=2.5x -p 9995 --send h:1 --no-progress a -");
    CU_ASSERT_EQUAL(o->speed, 2.5);
    CU_ASSERT_EQUAL(o->port, 9995);
    CU_ASSERT_STRING_EQUAL(o->send, "h:1");
    CU_ASSERT_FALSE(o->progress);
    CU_ASSERT_EQUAL_FATAL(o->n_files, 2);
    CU_ASSERT_STRING_EQUAL(o->files[0], "a");
    CU_ASSERT_STRING_EQUAL(o->files[1], "-");
    CU_ASSERT_EQUAL(accepted(&line, "whoflow replay --speed 10 --port=65535 a")->speed, 10);
    CU_ASSERT_EQUAL(line.options.port, 65535);
    CU_ASSERT_EQUAL(accepted(&line, "whoflow replay --speed 2x --speed max a")->speed, 0);
    CU_ASSERT_TRUE(accepted(&line, "whoflow replay --no-progress --progress a")->progress);
}

static void check_shared_options(const char *command)
{
    struct line line;
    char text[1024];
    snprintf(text, sizeof(text),
             "whoflow %s -o file:/x -f flat -w 7 --stats-file=s.json --unknown-elements "
             "--internal-network private --internal-network=10.0.0.0/8 --pending-bytes 1k "
             "--pending-exporter-bytes=2k --queue-bytes 3k --log-level debug "
             "--no-summary%s",
             command, strcmp(command, "replay") == 0 ? " a.pcap" : "");
    const struct options *o = accepted(&line, text);
    CU_ASSERT_STRING_EQUAL(o->output, "file:/x");
    CU_ASSERT_STRING_EQUAL(o->format, "flat");
    CU_ASSERT_EQUAL(o->workers, 7);
    CU_ASSERT_STRING_EQUAL(o->stats_file, "s.json");
    CU_ASSERT_TRUE(o->unknown_elements);
    CU_ASSERT_EQUAL_FATAL(o->n_networks, 2);
    CU_ASSERT_STRING_EQUAL(o->networks[0], "private");
    CU_ASSERT_STRING_EQUAL(o->networks[1], "10.0.0.0/8");
    CU_ASSERT_EQUAL(o->pending_bytes, 1024);
    CU_ASSERT_EQUAL(o->pending_exporter_bytes, 2048);
    CU_ASSERT_EQUAL(o->queue_bytes, 3072);
    CU_ASSERT_EQUAL(o->log_level, 3);
    CU_ASSERT_FALSE(o->summary);
}

static void shared_options_set_their_fields_for_run_and_replay(void)
{
    check_shared_options("run");
    check_shared_options("replay");
}

static void json_belongs_to_version(void)
{
    struct line line;
    CU_ASSERT_TRUE(accepted(&line, "whoflow version --json")->json);
    CU_ASSERT_FALSE(accepted(&line, "whoflow version --no-json")->json);
    refused("whoflow run --json", "belongs to whoflow version");
}

static void letters_take_their_value_joined_or_apart(void)
{
    struct line line;
    CU_ASSERT_EQUAL(accepted(&line, "whoflow run -w2")->workers, 2);
    CU_ASSERT_EQUAL(accepted(&line, "whoflow run -w 2")->workers, 2);
    CU_ASSERT_EQUAL(accepted(&line, "whoflow run -w auto")->workers, 0);
}

static void files_and_options_mix_until_two_dashes(void)
{
    struct line line;
    const struct options *o = accepted(&line, "whoflow replay a -w 2 b --no-summary -- --port -x");
    CU_ASSERT_EQUAL_FATAL(o->n_files, 4);
    CU_ASSERT_STRING_EQUAL(o->files[0], "a");
    CU_ASSERT_STRING_EQUAL(o->files[1], "b");
    CU_ASSERT_STRING_EQUAL(o->files[2], "--port");
    CU_ASSERT_STRING_EQUAL(o->files[3], "-x");
    CU_ASSERT_EQUAL(o->workers, 2);
    CU_ASSERT_EQUAL(o->port, 0);
}

static void flags_take_words_too(void)
{
    static const char *const yes[] = {"yes", "on", "true", "1"};
    static const char *const no[] = {"no", "off", "false", "0"};
    struct line line;
    for (size_t i = 0; i < 4; i++) {
        char text[64];
        snprintf(text, sizeof(text), "whoflow run --unknown-elements=%s", yes[i]);
        CU_ASSERT_TRUE(accepted(&line, text)->unknown_elements);
        snprintf(text, sizeof(text), "whoflow run --summary=%s", no[i]);
        CU_ASSERT_FALSE(accepted(&line, text)->summary);
    }
    refused("whoflow run --summary=maybe", "yes or no");
}

static void bad_values_are_refused_with_what_to_type(void)
{
    refused("whoflow run --workers 0", "1 to 1024, or auto");
    refused("whoflow run --workers 1025", "\"1025\" is not allowed");
    refused("whoflow run --workers -1", "\"-1\"");
    refused("whoflow run --workers 2x", "\"2x\"");
    refused("whoflow run -w", "--workers needs a value");
    refused("whoflow run --workers=", "--workers needs a value");
    refused("whoflow run --workers 99999999999999999999", "not allowed");
    refused("whoflow replay --port 0 a", "1 to 65535");
    refused("whoflow replay --port 65536 a", "1 to 65535");
    refused("whoflow replay --port http a", "1 to 65535");
    refused("whoflow replay --speed 0x a", "max, 1x");
    refused("whoflow replay --speed fast a", "max, 1x");
    refused("whoflow replay --speed -1x a", "max, 1x");
    refused("whoflow replay --speed nan a", "max, 1x");
    refused("whoflow replay --speed 2xx a", "max, 1x");
    refused("whoflow run --pending-bytes 0", "at least 1");
    refused("whoflow run --pending-bytes 64Mib2", "64MiB");
    refused("whoflow run --pending-age 10", "10m");
    refused("whoflow run --pending-age 0s", "at least 1ms");
    refused("whoflow replay --pending-age 10m a", "belongs to whoflow run");
    refused("whoflow run --receive-buffer 1073741825", "at most 1GiB");
    refused("whoflow run --log-level loud", "error, warn, info or debug");
    refused("whoflow run --output=", "--output needs a value");
    refused("whoflow run --listen \x01", "--listen needs a value");
}

static void lists_are_bounded(void)
{
    char text[4096] = "whoflow run";
    struct line line;
    for (int i = 0; i < OPTIONS_MAX_LISTEN; i++) {
        size_t len = strlen(text);
        snprintf(text + len, sizeof(text) - len, " -l :%d", i + 1);
    }
    CU_ASSERT_EQUAL(accepted(&line, text)->n_listen, OPTIONS_MAX_LISTEN);
    size_t len = strlen(text);
    snprintf(text + len, sizeof(text) - len, " -l :99");
    refused(text, "at most 64");
}

static void unknown_words_name_their_neighbour(void)
{
    refused("whoflow rnu", "did you mean \"run\"");
    refused("whoflow repaly x", "did you mean \"replay\"");
    refused("whoflow run --lissen :1", "did you mean \"--listen\"");
    refused("whoflow run --pending-byte=1k", "did you mean \"--pending-bytes\"");
    refused("whoflow run --no-sumary", "whoflow help run");
    refused("whoflow run --no-workers", "unknown option \"--no-workers\": --workers");
    refused("whoflow run --no-format", "ecs, flat, text or none");
    refused("whoflow run --no-summary=yes", "write --no-summary alone");
    refused("whoflow run -x", "unknown option \"-x\"");
    refused("whoflow run --speed=1x", "belongs to whoflow replay");
    refused("whoflow replay --listen :1 a", "belongs to whoflow run");
    refused("whoflow --listen :1", "whoflow run --listen");
    refused("whoflow --format text replay a", "\"--format\" stands before the command");
    refused("whoflow --speed=2x a", "whoflow replay --speed=2x");
    refused("whoflow -o null", "whoflow run -o");
    refused("whoflow -v run", "unknown option \"-v\" in the place of the command");
    refused("whoflow --nonsense", "then its options");
    refused("whoflow trace.pcap", "whoflow replay trace.pcap");
    refused("whoflow help ruin", "did you mean \"run\"");
    struct line line;
    CU_ASSERT_EQUAL(parse(&line, "whoflow xyzzy"), WF_E_INVAL);
    CU_ASSERT_PTR_NULL(strstr(line.why, "did you mean"));
}

static void abbreviations_are_no_options(void)
{
    /* else a later option would change what they mean */
    refused("whoflow run --work 2", "did you mean \"--workers\"");
}

static void stray_arguments_are_refused(void)
{
    refused("whoflow run 2055", "takes no argument \"2055\"");
    refused("whoflow run trace.pcap", "did you mean \"whoflow replay trace.pcap\"");
    refused("whoflow run -", "did you mean \"whoflow replay -\"");
    refused("whoflow version x", "takes no argument");
    refused("whoflow replay", "needs a capture");
    refused("whoflow help run replay", "not also \"replay\"");
}

static void help_is_asked_for_in_three_ways(void)
{
    struct line line;
    const struct options *o = accepted(&line, "whoflow help run");
    CU_ASSERT_EQUAL(o->command, COMMAND_HELP);
    CU_ASSERT_STRING_EQUAL(o->help_topic, "run");
    o = accepted(&line, "whoflow replay --help");
    CU_ASSERT_EQUAL(o->command, COMMAND_HELP);
    CU_ASSERT_STRING_EQUAL(o->help_topic, "replay");
    o = accepted(&line, "whoflow run -w 2 -h --nonsense");
    CU_ASSERT_EQUAL(o->command, COMMAND_HELP);
    CU_ASSERT_STRING_EQUAL(o->help_topic, "run");
}

static void environment_is_below_flags(void)
{
    struct line line;
    setenv("WHOFLOW_WORKERS", "5", 1);
    setenv("WHOFLOW_PENDING_EXPORTER_BYTES", "8k", 1);
    setenv("WHOFLOW_SUMMARY", "no", 1);
    const struct options *o = accepted(&line, "whoflow run");
    CU_ASSERT_EQUAL(o->workers, 5);
    CU_ASSERT_EQUAL(o->pending_exporter_bytes, 8192);
    CU_ASSERT_FALSE(o->summary);
    o = accepted(&line, "whoflow run -w 2 --summary");
    CU_ASSERT_EQUAL(o->workers, 2);
    CU_ASSERT_TRUE(o->summary);
    setenv("WHOFLOW_WORKERS", "", 1);
    CU_ASSERT_EQUAL(accepted(&line, "whoflow run")->workers, 0);
    setenv("WHOFLOW_WORKERS", "many", 1);
    refused("whoflow run", "WHOFLOW_WORKERS: \"many\"");
    CU_ASSERT_EQUAL(accepted(&line, "whoflow run --help")->command, COMMAND_HELP);
    CU_ASSERT_EQUAL(accepted(&line, "whoflow version")->command, COMMAND_VERSION);
    unsetenv("WHOFLOW_WORKERS");
    unsetenv("WHOFLOW_PENDING_EXPORTER_BYTES");
    unsetenv("WHOFLOW_SUMMARY");
}

/* What is said on one variable; the caller frees it. */
static char *told_of(const char *variable)
{
    char copy[128];
    char *environment[] = {copy, NULL};
    char *text = NULL;
    size_t len = 0;
    snprintf(copy, sizeof(copy), "%s", variable);
    FILE *to = open_memstream(&text, &len);
    CU_ASSERT_PTR_NOT_NULL_FATAL(to);
    size_t n = options_tell_unknown_environment(to, environment);
    (void)fclose(to);
    CU_ASSERT_EQUAL(n, len > 0 ? 1U : 0U);
    return text;
}

static void unknown_variables_are_told_but_not_those_of_kubernetes(void)
{
    static const char *const quiet[] = {"WHOFLOW_WORKERS=2",
                                        "WHOFLOW_JSON=yes",
                                        "PATH=/bin",
                                        "WHOFLOWS=1",
                                        "WHOFLOW_PORT=tcp://10.0.0.1:2055",
                                        "WHOFLOW_NETFLOW_PORT=udp://10.0.0.1:2055",
                                        "WHOFLOW_PORT_2055_UDP_ADDR=10.0.0.1",
                                        "WHOFLOW_SERVICE_HOST=10.0.0.1",
                                        "WHOFLOW_SERVICE_PORT_FLOWS=2055"};
    for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++) {
        char *text = told_of(quiet[i]);
        CU_ASSERT_STRING_EQUAL(text, "");
        free(text);
    }
    char *text = told_of("WHOFLOW_WORKRES=2");
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "WHOFLOW_WORKRES sets no option"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "did you mean WHOFLOW_WORKERS?"));
    free(text);
    text = told_of("WHOFLOW_COLOUR=red_PORT_");
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "WHOFLOW_COLOUR sets no option and is ignored\n"));
    free(text);
    struct line line;
    setenv("WHOFLOW_PORT", "tcp://10.0.0.1:2055", 1);
    CU_ASSERT_EQUAL(accepted(&line, "whoflow replay a")->port, 0);
    setenv("WHOFLOW_PORT", "2056", 1);
    CU_ASSERT_EQUAL(accepted(&line, "whoflow replay a")->port, 2056);
    unsetenv("WHOFLOW_PORT");
}

static void lists_of_the_environment_give_way_to_flags(void)
{
    struct line line;
    setenv("WHOFLOW_LISTEN", ":1,:2, :3", 1);
    setenv("WHOFLOW_INTERNAL_NETWORK", "10.0.0.0/8", 1);
    const struct options *o = accepted(&line, "whoflow run");
    CU_ASSERT_EQUAL_FATAL(o->n_listen, 3);
    CU_ASSERT_STRING_EQUAL(o->listen[0], ":1");
    CU_ASSERT_STRING_EQUAL(o->listen[2], ":3");
    CU_ASSERT_EQUAL_FATAL(o->n_networks, 1);
    CU_ASSERT_STRING_EQUAL(o->networks[0], "10.0.0.0/8");
    CU_ASSERT_STRING_EQUAL(getenv("WHOFLOW_LISTEN"), ":1,:2, :3");
    o = accepted(&line, "whoflow run -l :4 -l :5");
    CU_ASSERT_EQUAL_FATAL(o->n_listen, 2);
    CU_ASSERT_STRING_EQUAL(o->listen[0], ":4");
    CU_ASSERT_STRING_EQUAL(o->listen[1], ":5");
    char *text = malloc(5001);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memset(text, 'x', 5000);
    text[5000] = '\0';
    setenv("WHOFLOW_LISTEN", text, 1);
    CU_ASSERT_EQUAL(parse(&line, "whoflow run"), WF_E_INVAL);
    free(text);
    unsetenv("WHOFLOW_LISTEN");
    unsetenv("WHOFLOW_INTERNAL_NETWORK");
}

static void sizes_have_binary_and_decimal_units(void)
{
    static const struct {
        const char *text;
        uint64_t octets;
    } good[] = {{"0", 0},
                {"1000", 1000},
                {"7B", 7},
                {"4k", 4096},
                {"4KiB", 4096},
                {"4kB", 4000},
                {"64MiB", 64ULL << 20},
                {"64M", 64ULL << 20},
                {"2MB", 2000000},
                {"3GiB", 3ULL << 30},
                {"3g", 3ULL << 30},
                {"5GB", 5000000000ULL},
                {"9223372036854775807", INT64_MAX}};
    static const char *const bad[] = {"",
                                      "k",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 k",
                                      "1.5k",
                                      "1kk",
                                      "0x10",
                                      "9223372036854775808",
                                      "18446744073709551616",
                                      "9007199254740993k",
                                      "1T"};
    uint64_t octets;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        CU_ASSERT_EQUAL(options_parse_size(good[i].text, &octets), WF_OK);
        CU_ASSERT_EQUAL(octets, good[i].octets);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        octets = 42;
        CU_ASSERT_EQUAL(options_parse_size(bad[i], &octets), WF_E_FORMAT);
        CU_ASSERT_EQUAL(octets, 42);
    }
}

static void durations_need_a_unit(void)
{
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {{"500ms", 500000000},         {"30s", 30 * WF_NS_PER_S},
                {"10m", 600 * WF_NS_PER_S},   {"1h", 3600 * WF_NS_PER_S},
                {"2d", 172800 * WF_NS_PER_S}, {"0s", 0}};
    static const char *const bad[] = {"",     "s",  "10",    "-1s",
                                      "1.5h", "1w", "1h30m", "9223372036854775807s"};
    int64_t ns;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        CU_ASSERT_EQUAL(options_parse_duration(good[i].text, &ns), WF_OK);
        CU_ASSERT_EQUAL(ns, good[i].ns);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ns = 42;
        CU_ASSERT_EQUAL(options_parse_duration(bad[i], &ns), WF_E_FORMAT);
        CU_ASSERT_EQUAL(ns, 42);
    }
}

static void nearness_is_two_edits_or_one_in_short_words(void)
{
    static const char *const names[] = {"run", "replay", "version"};
    CU_ASSERT_PTR_EQUAL(nearest_name("rum", 3, names, 3), names[0]);
    CU_ASSERT_PTR_EQUAL(nearest_name("urn", 3, names, 3), names[0]);
    CU_ASSERT_PTR_NULL(nearest_name("rxy", 3, names, 3));
    CU_ASSERT_PTR_EQUAL(nearest_name("rpelay", 6, names, 3), names[1]);
    CU_ASSERT_PTR_EQUAL(nearest_name("relpya", 6, names, 3), names[1]);
    CU_ASSERT_PTR_NULL(nearest_name("rxxxay", 6, names, 3));
    CU_ASSERT_PTR_EQUAL(nearest_name("ver", 3, names, 3), names[2]);
    CU_ASSERT_PTR_EQUAL(nearest_name("runner", 3, names, 3), names[0]); /* only its first 3 */
    CU_ASSERT_PTR_NULL(nearest_name("", 0, names, 3));
    char long_word[256];
    memset(long_word, 'r', sizeof(long_word));
    CU_ASSERT_PTR_NULL(nearest_name(long_word, sizeof(long_word), names, 3));
}

/* The help of a topic; NULL when there is none. The caller frees it. */
static char *help_of(const char *topic)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    CU_ASSERT_PTR_NOT_NULL_FATAL(to);
    int err = options_print_help(to, topic);
    (void)fclose(to);
    if (err < 0) {
        CU_ASSERT_EQUAL(err, WF_E_NOTFOUND);
        CU_ASSERT_EQUAL(len, 0);
        free(text);
        return NULL;
    }
    return text;
}

static void general_help_fits_twelve_lines_and_says_what_to_try(void)
{
    char *text = help_of(NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    unsigned n_lines = 0;
    for (const char *c = text; *c; c++) {
        n_lines += *c == '\n';
    }
    CU_ASSERT_TRUE(n_lines <= 12);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\ntry: whoflow "));
    for (size_t i = 0; i < OPTIONS_N_COMMANDS; i++) {
        CU_ASSERT_PTR_NOT_NULL(strstr(text, command_rows[i].help));
    }
    free(text);
}

static void help_of_a_command_has_its_options_and_no_others(void)
{
    for (size_t c = 0; c < OPTIONS_N_COMMANDS; c++) {
        char *text = help_of(command_rows[c].name);
        CU_ASSERT_PTR_NOT_NULL_FATAL(text);
        for (size_t r = 0; r < OPTIONS_N_ROWS; r++) {
            char name[64];
            snprintf(name, sizeof(name), "--%s%s%s",
                     option_rows[r].kind == KIND_FLAG ? "[no-]" : "", option_rows[r].name,
                     option_rows[r].value ? "=" : "\n");
            bool has = strstr(text, name) != NULL;
            CU_ASSERT_EQUAL(has, (option_rows[r].takes & command_rows[c].takes) != 0);
        }
        free(text);
    }
    CU_ASSERT_PTR_NULL(help_of("nonsense"));
}

static void each_option_has_its_own_name_and_environment(void)
{
    char name[48];
    for (size_t r = 0; r < OPTIONS_N_ROWS; r++) {
        for (size_t q = 0; q < r; q++) {
            CU_ASSERT_STRING_NOT_EQUAL(option_rows[r].name, option_rows[q].name);
            CU_ASSERT_TRUE(!option_rows[r].letter ||
                           option_rows[r].letter != option_rows[q].letter);
        }
        CU_ASSERT_TRUE(strlen(option_rows[r].name) + sizeof("WHOFLOW_") <= sizeof(name));
        CU_ASSERT_EQUAL(option_rows[r].value == NULL, option_rows[r].kind == KIND_FLAG);
    }
    option_environment_name(&option_rows[2], name, sizeof(name));
    CU_ASSERT_STRING_EQUAL(name, "WHOFLOW_RECEIVE_BUFFER");
}

int main(void)
{
#define CASE(name)                                                                                 \
    {                                                                                              \
#        name, name                                                                                \
    }
    static const struct test_case cases[] = {
        CASE(no_words_mean_help),
        CASE(each_command_word_is_known),
        CASE(defaults_hold_without_options),
        CASE(options_of_run_set_their_fields),
        CASE(options_of_replay_set_their_fields),
        CASE(shared_options_set_their_fields_for_run_and_replay),
        CASE(json_belongs_to_version),
        CASE(letters_take_their_value_joined_or_apart),
        CASE(files_and_options_mix_until_two_dashes),
        CASE(flags_take_words_too),
        CASE(bad_values_are_refused_with_what_to_type),
        CASE(lists_are_bounded),
        CASE(unknown_words_name_their_neighbour),
        CASE(abbreviations_are_no_options),
        CASE(stray_arguments_are_refused),
        CASE(help_is_asked_for_in_three_ways),
        CASE(environment_is_below_flags),
        CASE(unknown_variables_are_told_but_not_those_of_kubernetes),
        CASE(lists_of_the_environment_give_way_to_flags),
        CASE(sizes_have_binary_and_decimal_units),
        CASE(durations_need_a_unit),
        CASE(nearness_is_two_edits_or_one_in_short_words),
        CASE(general_help_fits_twelve_lines_and_says_what_to_try),
        CASE(help_of_a_command_has_its_options_and_no_others),
        CASE(each_option_has_its_own_name_and_environment),
    };
    /* the caller's environment must not leak in */
    for (size_t r = 0; r < OPTIONS_N_ROWS; r++) {
        char name[48];
        option_environment_name(&option_rows[r], name, sizeof(name));
        unsetenv(name);
    }
    return test_main("options", cases, sizeof(cases) / sizeof(cases[0]));
}
