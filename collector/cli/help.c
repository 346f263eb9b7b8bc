// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "collector/cli/table.h"

static void print_general_help(FILE *to)
{
    fputs("whoflow " WF_VERSION
          ": NetFlow v9 and IPFIX (also v1, v5, v7) in, JSON documents out\n\n",
          to);
    for (size_t i = 0; i < OPTIONS_N_COMMANDS; i++) {
        char head[40];
        snprintf(head, sizeof(head), "whoflow %s%s", command_rows[i].name,
                 command_rows[i].arguments);
        fprintf(to, "  %-26s %s\n", head, command_rows[i].help);
    }
    fputs("\ntry: whoflow run --format text            point a router at UDP 2055 or 4739\n"
          "     whoflow replay trace.pcap            documents on stdout, the account on stderr\n"
          "     whoflow help run                     all options\n",
          to);
}

int options_print_help(FILE *to, const char *topic)
{
    if (!topic) {
        print_general_help(to);
        return WF_OK;
    }
    for (size_t i = 0; i < OPTIONS_N_COMMANDS; i++) {
        if (strcmp(topic, command_rows[i].name) != 0) {
            continue;
        }
        fprintf(to, "whoflow %s%s%s\n  %s\n", command_rows[i].name,
                command_rows[i].takes ? " [OPTION...]" : "", command_rows[i].arguments,
                command_rows[i].help);
        for (size_t r = 0; r < OPTIONS_N_ROWS; r++) {
            if (!(option_rows[r].takes & command_rows[i].takes)) {
                continue;
            }
            char head[64];
            snprintf(head, sizeof(head), "--%s%s%s",
                     option_rows[r].kind == KIND_FLAG ? "[no-]" : "", option_rows[r].name,
                     option_rows[r].value ? "=" : "");
            char letter[8] = "   ";
            if (option_rows[r].letter) {
                snprintf(letter, sizeof(letter), "-%c,", option_rows[r].letter);
            }
            fprintf(to, "  %s %s%s\n          %s\n", letter, head,
                    option_rows[r].value ? option_rows[r].value : "", option_rows[r].help);
        }
        if (command_rows[i].takes & TAKES_BOTH) {
            fputs("Each option can be set by the environment too: WHOFLOW_WORKERS=2; lists take "
                  "commas:\nWHOFLOW_INTERNAL_NETWORK=private,192.0.2.0/24. SIZE: 64MiB, 4k. TIME: "
                  "10m, 30s.\n",
                  to);
        }
        return WF_OK;
    }
    return WF_E_NOTFOUND;
}
