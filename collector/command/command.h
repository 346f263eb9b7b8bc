// SPDX-License-Identifier: Apache-2.0
/*
 * command - what the program does for each command word: puts the rooms together
 *
 * Main thread. Each returns an exit code (enum exit_code); nothing here calls exit().
 */
#pragma once

#include "collector/cli/options.h"

int command_run(const struct options *options);
int command_replay(const struct options *options);
int command_documents(const struct options *options); /* prints docs/documents.md */
int command_version(const struct options *options);

/* Shared by run and replay (command/common.c): fills the document options and ledger from the parts. */
struct pipeline;
struct output;
struct document;
struct locality;
struct ledger;

struct command_parts {
    FILE *stats; /* --stats-file, empty until the end; or NULL */
    struct locality *locality;
    struct document *document;
    struct output *output;
    struct pipeline *pipeline;
};
/* Builds locality, document, output and pipeline from the options and starts output and pipeline. Returns EXIT_CODE_OK, or
 * prints what, why and what to type on stderr and returns the exit code. */
int command_parts_open(struct command_parts *parts, const struct options *options, bool replay);
void command_parts_close(struct command_parts *parts);
/* Decoder, document and output counters into the ledger (input counters are the caller's). */
void command_parts_ledger(const struct command_parts *parts, struct ledger *ledger);
/* Prints the ledger, once: human to stderr (when summary), JSON to --stats-file. Says so when it does not add up. EXIT_CODE_OK, or
 * EXIT_CODE_FAILURE when the file could not be written. */
int command_print_ledger(struct command_parts *parts, const struct options *options,
                         const struct ledger *ledger);
