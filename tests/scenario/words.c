// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/words.h"

#include <arpa/inet.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void words_split(struct words *w, char *text)
{
    char *rest = NULL;
    w->n = 0;
    w->at = 0;
    for (char *word = strtok_r(text, " \t\r\n", &rest); word && word[0] != '#';
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        if (w->n == WORDS_MAX) {
            words_fail(w, "too many words");
        }
        w->word[w->n++] = word;
    }
}

const char *words_next(struct words *w)
{
    return w->at < w->n ? w->word[w->at++] : NULL;
}

const char *words_need(struct words *w)
{
    const char *word = words_next(w);
    if (!word) {
        words_fail(w, "a word is missing at the end");
    }
    return word;
}

bool words_accept(struct words *w, const char *word)
{
    bool is = w->at < w->n && strcmp(w->word[w->at], word) == 0;
    w->at += is;
    return is;
}

void words_fail(const struct words *w, const char *what)
{
    const char *last = w->at > 0 ? w->word[w->at - 1] : "";
    fprintf(stderr, "%s:%u: %s (at '%s')\n", w->file, w->line, what, last);
    exit(2); // NOLINT(concurrency-mt-unsafe): one thread
}

uint64_t words_number(struct words *w, const char *text)
{
    char *end;
    uint64_t n = strtoull(text, &end, 10);
    if (end == text || *end != '\0') {
        words_fail(w, "not a number");
    }
    return n;
}

int64_t words_ns(struct words *w, const char *text)
{
    char *end;
    int64_t ns = strtoll(text, &end, 10) * WF_NS_PER_S;
    if (*end == '.') {
        int64_t unit = WF_NS_PER_S / 10;
        for (end++; *end >= '0' && *end <= '9' && unit > 0; end++, unit /= 10) {
            ns += (*end - '0') * unit;
        }
    }
    if (*end != '\0') {
        words_fail(w, "not a time in seconds");
    }
    return ns;
}

struct wf_addr words_addr(struct words *w, const char *text)
{
    uint8_t bytes[16];
    if (inet_pton(AF_INET, text, bytes) == 1) {
        return wf_addr_v4(bytes);
    }
    if (inet_pton(AF_INET6, text, bytes) != 1) {
        words_fail(w, "not an address");
    }
    return wf_addr_v6(bytes);
}
