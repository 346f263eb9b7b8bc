// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "collector/cli/options.h"

/* A decimal number without sign, then its unit. */
static int parse_number(const char *text, uint64_t *number, const char **unit)
{
    if (*text < '0' || *text > '9') {
        return WF_E_FORMAT;
    }
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno) {
        return WF_E_FORMAT;
    }
    *number = v;
    *unit = end;
    return WF_OK;
}

struct unit {
    const char *name;
    uint64_t factor;
};

static int scale(uint64_t number, const char *name, const struct unit *units, size_t n_units,
                 uint64_t *out)
{
    for (size_t i = 0; i < n_units; i++) {
        if (strcasecmp(name, units[i].name) == 0) {
            if (number > INT64_MAX / units[i].factor) {
                return WF_E_FORMAT;
            }
            *out = number * units[i].factor;
            return WF_OK;
        }
    }
    return WF_E_FORMAT;
}

int options_parse_size(const char *text, uint64_t *bytes)
{
    static const struct unit units[] = {{"", 1},           {"B", 1},           {"k", 1U << 10},
                                        {"KiB", 1U << 10}, {"M", 1U << 20},    {"MiB", 1U << 20},
                                        {"G", 1U << 30},   {"GiB", 1U << 30},  {"kB", 1000U},
                                        {"MB", 1000000U},  {"GB", 1000000000U}};
    uint64_t number;
    const char *unit;
    int err = parse_number(text, &number, &unit);
    return err < 0 ? err : scale(number, unit, units, sizeof(units) / sizeof(units[0]), bytes);
}

int options_parse_duration(const char *text, int64_t *ns)
{
    static const struct unit units[] = {{"ms", 1000000U},
                                        {"s", 1000000000U},
                                        {"m", 60000000000U},
                                        {"h", 3600000000000U},
                                        {"d", 86400000000000U}};
    uint64_t number;
    uint64_t value;
    const char *unit;
    int err = parse_number(text, &number, &unit);
    if (err == WF_OK) {
        err = scale(number, unit, units, sizeof(units) / sizeof(units[0]), &value);
    }
    if (err == WF_OK) {
        *ns = (int64_t)value;
    }
    return err;
}
