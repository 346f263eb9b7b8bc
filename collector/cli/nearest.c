// SPDX-License-Identifier: Apache-2.0
#include "collector/cli/nearest.h"

#include <string.h>

#define MAX_WORD 31U

static unsigned smallest(unsigned a, unsigned b, unsigned c)
{
    unsigned m = a < b ? a : b;
    return m < c ? m : c;
}

/* Edits from a to b, two neighbours that changed places being one ("rnu"): row i of the table is made from the two
 * before it. Both words are at most MAX_WORD long. */
static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    unsigned row[3][MAX_WORD + 1];
    for (unsigned j = 0; j <= b_len; j++) {
        row[0][j] = j;
    }
    for (unsigned i = 1; i <= a_len; i++) {
        unsigned *now = row[i % 3];
        const unsigned *above = row[(i - 1) % 3];
        const unsigned *before = row[(i + 1) % 3]; /* i - 2 */
        now[0] = i;
        for (unsigned j = 1; j <= b_len; j++) {
            now[j] = smallest(above[j] + 1, now[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = smallest(now[j], before[j - 2] + 1, now[j]);
            }
        }
    }
    return row[a_len % 3][b_len];
}

const char *nearest_name(const char *typed, size_t len, const char *const *names, size_t n_names)
{
    if (len == 0 || len > MAX_WORD) {
        return NULL;
    }
    const char *best = NULL;
    unsigned best_distance = len < 4 ? 2 : 3; /* must be below */
    for (size_t i = 0; i < n_names; i++) {
        size_t name_len = strlen(names[i]);
        unsigned d =
            name_len <= MAX_WORD ? distance(typed, len, names[i], name_len) : best_distance;
        if (len >= 3 && strncmp(typed, names[i], len) == 0) {
            d = 1;
        }
        if (d < best_distance) {
            best_distance = d;
            best = names[i];
        }
    }
    return best;
}
