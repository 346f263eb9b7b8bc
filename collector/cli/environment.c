// SPDX-License-Identifier: Apache-2.0
#include "collector/cli/environment.h"

#include <string.h>

#include "collector/cli/nearest.h"
#include "collector/cli/table.h"

#define PREFIX   "WHOFLOW_"
#define NAME_LEN 48

bool environment_is_injected(const char *name, const char *value)
{
    size_t len = strcspn(name, "=");
    const char *service = strstr(name, "_SERVICE_");
    const char *port = strstr(name, "_PORT_");
    bool ends_in_port = len >= 5 && strncmp(name + len - 5, "_PORT", 5) == 0;
    return (service && service < name + len) || (port && port < name + len) ||
           (ends_in_port && strstr(value, "://"));
}

/* The option's variable whose name begins the text, up to its "=". */
static bool is_known(const char *name, size_t len, const char names[][NAME_LEN])
{
    for (size_t i = 0; i < OPTIONS_N_ROWS; i++) {
        if (strlen(names[i]) == len && strncmp(names[i], name, len) == 0) {
            return true;
        }
    }
    return false;
}

size_t options_tell_unknown_environment(FILE *to, char *const *environment)
{
    char names[OPTIONS_N_ROWS][NAME_LEN];
    const char *bare[OPTIONS_N_ROWS];
    size_t prefix_len = strlen(PREFIX);
    size_t n = 0;
    for (size_t i = 0; i < OPTIONS_N_ROWS; i++) {
        option_environment_name(&option_rows[i], names[i], NAME_LEN);
        bare[i] = names[i] + prefix_len;
    }
    for (; *environment; environment++) {
        const char *name = *environment;
        size_t len = strcspn(name, "=");
        if (strncmp(name, PREFIX, prefix_len) != 0 || !name[len] || len > 100 ||
            is_known(name, len, (const char(*)[NAME_LEN])names) ||
            environment_is_injected(name, name + len + 1)) {
            continue;
        }
        const char *near = nearest_name(name + prefix_len, len - prefix_len, bare, OPTIONS_N_ROWS);
        fprintf(to, "whoflow: the variable %.*s sets no option and is ignored%s%s%s\n", (int)len,
                name, near ? "; did you mean " PREFIX : "", near ? near : "", near ? "?" : "");
        n++;
    }
    return n;
}
