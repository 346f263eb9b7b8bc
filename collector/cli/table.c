// SPDX-License-Identifier: Apache-2.0
#include "collector/cli/table.h"

#define AT(member) offsetof(struct options, member)

static const struct option_row rows[] = {
    {"listen", 'l', KIND_LIST, TAKES_RUN, AT(listen), AT(n_listen), OPTIONS_MAX_LISTEN, "ADDR:PORT",
     "receive on this UDP address, any number of times (default [::]:2055 and [::]:4739)"},
    {"receivers", 0, KIND_COUNT, TAKES_RUN, AT(receivers), 0, 0, "N|auto",
     "receiver threads (auto)"},
    {"receive-buffer", 0, KIND_SIZE, TAKES_RUN, AT(receive_buffer), 0, 1U << 30, "SIZE",
     "socket receive buffer asked of the kernel (32MiB)"},
    {"speed", 0, KIND_SPEED, TAKES_REPLAY, AT(speed), 0, 0, "max|Nx",
     "as fast as possible, or N times the capture's pace (max)"},
    {"port", 'p', KIND_PORT, TAKES_REPLAY, AT(port), 0, 0, "N",
     "only datagrams to this UDP port (any that carry flow export)"},
    {"send", 0, KIND_TEXT, TAKES_REPLAY, AT(send), 0, 0, "HOST:PORT",
     "send the datagrams to a collector instead of decoding them"},
    {"summary", 0, KIND_FLAG, TAKES_BOTH, AT(summary), 0, 0, NULL,
     "print the account at the end (yes)"},
    {"progress", 0, KIND_FLAG, TAKES_REPLAY, AT(progress), 0, 0, NULL,
     "show progress on stderr (yes)"},
    {"output", 'o', KIND_TEXT, TAKES_BOTH, AT(output), 0, 0, "TARGET",
     "stdout, file:PATH or null (stdout)"},
    {"format", 'f', KIND_TEXT, TAKES_BOTH, AT(format), 0, 0, "FORMAT",
     "ecs, flat, text or none (ecs)"},
    {"workers", 'w', KIND_COUNT, TAKES_BOTH, AT(workers), 0, 0, "N|auto",
     "decoder threads (auto = cores)"},
    {"stats-file", 0, KIND_TEXT, TAKES_BOTH, AT(stats_file), 0, 0, "PATH",
     "write the account as JSON at the end"},
    {"unknown-elements", 0, KIND_FLAG, TAKES_BOTH, AT(unknown_elements), 0, 0, NULL,
     "ecs: keep elements that the registry does not know as netflow.e<PEN>_<id> (no)"},
    {"internal-network", 0, KIND_LIST, TAKES_BOTH, AT(networks), AT(n_networks),
     OPTIONS_MAX_NETWORKS, "NET",
     "private, or ADDR/PREFIX: what locality calls internal, any number of times (private)"},
    {"pending-bytes", 0, KIND_SIZE, TAKES_BOTH, AT(pending_bytes), 0, 0, "SIZE",
     "memory for records that wait for their template (64MiB)"},
    {"pending-exporter-bytes", 0, KIND_SIZE, TAKES_BOTH, AT(pending_exporter_bytes), 0, 0, "SIZE",
     "of this, at most for one exporter (4MiB)"},
    {"pending-age", 0, KIND_DURATION, TAKES_RUN, AT(pending_age_ns), 0, 0, "TIME",
     "how long they may wait (10m)"},
    {"queue-bytes", 0, KIND_SIZE, TAKES_BOTH, AT(queue_bytes), 0, 0, "SIZE",
     "documents queued for the output (64MiB)"},
    {"log-level", 0, KIND_LEVEL, TAKES_BOTH, AT(log_level), 0, 0, "LEVEL",
     "error, warn, info or debug (info)"},
    {"json", 0, KIND_FLAG, TAKES_VERSION, AT(json), 0, 0, NULL, "machine-readable"},
};

static const struct command_row commands[] = {
    {"run", COMMAND_RUN, TAKES_RUN, "", "receive NetFlow and IPFIX, write documents"},
    {"replay", COMMAND_REPLAY, TAKES_REPLAY, " FILE...",
     "decode captures: pcap, pcapng, .gz, .lz4, - for stdin"},
    {"documents", COMMAND_DOCUMENTS, 0, "", "print the reference of all document fields"},
    {"version", COMMAND_VERSION, TAKES_VERSION, "", "print version and libraries"},
    {"help", COMMAND_HELP, 0, " [COMMAND]", "print this, or a command's options"},
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) == OPTIONS_N_ROWS, "see table.h");
_Static_assert(sizeof(commands) / sizeof(commands[0]) == OPTIONS_N_COMMANDS, "see table.h");

const struct option_row *const option_rows = rows;
const struct command_row *const command_rows = commands;
