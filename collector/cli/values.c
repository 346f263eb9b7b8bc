// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "collector/cli/table.h"

static void *member(struct options *options, size_t at)
{
    return (char *)options + at;
}

static int set_count(const char *text, unsigned *out)
{
    char *end;
    if (strcmp(text, "auto") == 0) {
        *out = 0;
        return WF_OK;
    }
    unsigned long v = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || v < 1 || v > 1024) {
        return WF_E_FORMAT;
    }
    *out = (unsigned)v;
    return WF_OK;
}

static int set_port(const char *text, uint16_t *out)
{
    char *end;
    unsigned long v = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || v < 1 || v > 65535) {
        return WF_E_FORMAT;
    }
    *out = (uint16_t)v;
    return WF_OK;
}

static int set_speed(const char *text, double *out)
{
    char *end;
    if (strcmp(text, "max") == 0) {
        *out = 0;
        return WF_OK;
    }
    double v = strtod(text, &end);
    if (!isdigit((unsigned char)*text) || (*end && strcmp(end, "x") != 0) || !(v > 0) || v > 1e6) {
        return WF_E_FORMAT;
    }
    *out = v;
    return WF_OK;
}

static int set_level(const char *text, int *out)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = i;
            return WF_OK;
        }
    }
    return WF_E_FORMAT;
}

static int set_flag(const char *text, bool *out)
{
    static const char *const words[2][4] = {{"no", "off", "false", "0"},
                                            {"yes", "on", "true", "1"}};
    for (size_t i = 0; i < 8; i++) {
        if (strcmp(text, words[i / 4][i % 4]) == 0) {
            *out = i >= 4;
            return WF_OK;
        }
    }
    return WF_E_FORMAT;
}

/* 0 would mean "the default" further in, which nobody who types it expects. */
static int set_size(const char *text, uint64_t max, uint64_t *out)
{
    uint64_t v;
    if (options_parse_size(text, &v) < 0 || v == 0 || (max && v > max)) {
        return WF_E_FORMAT;
    }
    *out = v;
    return WF_OK;
}

static int set_duration(const char *text, int64_t *out)
{
    int64_t v;
    if (options_parse_duration(text, &v) < 0 || v == 0) {
        return WF_E_FORMAT;
    }
    *out = v;
    return WF_OK;
}

static int add_to_list(struct options *options, const struct option_row *row, const char *text)
{
    size_t *n = member(options, row->count_at);
    const char **list = member(options, row->at);
    if (!*text) {
        return WF_E_FORMAT;
    }
    if (*n >= row->max) {
        return WF_E_LIMIT;
    }
    list[(*n)++] = text;
    return WF_OK;
}

int option_set(struct options *options, const struct option_row *row, const char *text)
{
    void *out = member(options, row->at);
    switch (row->kind) {
    case KIND_TEXT:
        *(const char **)out = text;
        return *text ? WF_OK : WF_E_FORMAT;
    case KIND_LIST:
        return add_to_list(options, row, text);
    case KIND_COUNT:
        return set_count(text, out);
    case KIND_PORT:
        return set_port(text, out);
    case KIND_SIZE:
        return set_size(text, row->max, out);
    case KIND_DURATION:
        return set_duration(text, out);
    case KIND_SPEED:
        return set_speed(text, out);
    case KIND_LEVEL:
        return set_level(text, out);
    case KIND_FLAG:
    default:
        return set_flag(text, out);
    }
}

const char *option_example(const struct option_row *row)
{
    static const char *const examples[] = {
        [KIND_COUNT] = "1 to 1024, or auto",
        [KIND_PORT] = "1 to 65535",
        [KIND_SIZE] = "at least 1, for example 64MiB, 4k or 1000",
        [KIND_DURATION] = "at least 1ms, for example 10m, 30s or 500ms",
        [KIND_SPEED] = "max, 1x, 10x or 0.5x",
        [KIND_FLAG] = "yes or no",
        [KIND_LEVEL] = "error, warn, info or debug",
    };
    if (row->kind == KIND_SIZE && row->max == 1U << 30) {
        return "at most 1GiB, for example 32MiB, 512k or 100000";
    }
    return examples[row->kind] ? examples[row->kind] : row->help;
}

void option_environment_name(const struct option_row *row, char *name, size_t size)
{
    size_t at = (size_t)snprintf(name, size, "WHOFLOW_");
    for (const char *c = row->name; *c && at + 1 < size; c++) {
        char upper = (char)toupper((unsigned char)*c);
        name[at] = upper;
        if (upper == '-') {
            name[at] = '_';
        }
        at++;
    }
    name[at] = '\0';
}
