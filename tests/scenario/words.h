// SPDX-License-Identifier: Apache-2.0
/*
 * words - one line of a scenario, cut at blanks
 *
 * A mistake in the text ends the program with exit code 2: words_fail() names file and line. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoder/base.h"

#define WORDS_MAX 2048U

struct words {
    const char *file;
    unsigned line;
    size_t n, at;
    char *word[WORDS_MAX]; /* borrowed from the text that was split */
};

/* Cuts text, which is changed; a word that begins with # and all behind it is a comment. */
void words_split(struct words *words, char *text);
/* The next word, or NULL. */
const char *words_next(struct words *words);
/* The next word; the line is wrong when there is none. */
const char *words_need(struct words *words);
/* Takes the next word if it is this one. */
bool words_accept(struct words *words, const char *word);
_Noreturn void words_fail(const struct words *words, const char *what);

uint64_t words_number(struct words *words, const char *text);
/* "10.25" seconds in ns. */
int64_t words_ns(struct words *words, const char *text);
struct wf_addr words_addr(struct words *words, const char *text);
