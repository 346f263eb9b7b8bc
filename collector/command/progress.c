// SPDX-License-Identifier: Apache-2.0
#include "collector/command/progress.h"

#include <inttypes.h>

#define BAR_CELLS        20
#define LINE_INTERVAL_NS (10 * WF_NS_PER_S)
#define BAR_INTERVAL_MS  200
#define LINE_LEN         256
#define MAX_ETA_S        360000

void progress_init(struct progress *progress, FILE *to, bool is_wanted, bool has_terminal,
                   int64_t now_ns)
{
    *progress = (struct progress){.to = to,
                                  .is_on = is_wanted,
                                  .is_bar = has_terminal,
                                  .began_ns = now_ns,
                                  .last_ns = now_ns};
}

int progress_interval_ms(const struct progress *progress)
{
    return progress->is_on && progress->is_bar ? BAR_INTERVAL_MS : 1000;
}

/* "1.8 GB", "412 k flows/s": three digits are enough to see where it goes. */
static void format_scaled(double value, const char *unit, char *text, size_t len)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t i = 0;
    while (value >= 999.5 && i + 1 < sizeof(prefixes) / sizeof(prefixes[0])) {
        value /= 1000;
        i++;
    }
    snprintf(text, len, "%.*f%s%s%s", i > 0 && value < 9.95 ? 1 : 0, value,
             i > 0 || unit[0] != ' ' ? " " : "", prefixes[i], unit);
}

/* "██████░░░ 61 %  " */
static void format_share(double share, bool with_bar, char *text, size_t len)
{
    size_t used = 0;
    for (int i = 0; with_bar && i < BAR_CELLS; i++) {
        const char *cell = i < (int)(share * BAR_CELLS) ? "\u2588" : "\u2591";
        used += (size_t)snprintf(text + used, len - used, "%s", cell);
    }
    snprintf(text + used, len - used, "%s%d %%  ", used ? " " : "", (int)(share * 100));
}

int progress_format(const struct progress_state *state, int64_t began_ns, bool with_bar, char *line,
                    size_t len)
{
    char front[BAR_CELLS * 3 + 32] = "";
    char read[32];
    char total[32] = "";
    char rate[32];
    char eta[40] = "";
    double elapsed_s = (double)(state->now_ns - began_ns) / (double)WF_NS_PER_S;
    format_scaled((double)state->octets_read, "B", read, sizeof(read));
    format_scaled(elapsed_s > 0 ? (double)state->n_done / elapsed_s : 0, " ", rate, sizeof(rate));
    if (state->octets_total > 0) {
        double share = (double)state->octets_read / (double)state->octets_total;
        share = share < 1 ? share : 1; /* the file may grow while it is read */
        format_share(share, with_bar, front, sizeof(front));
        format_scaled((double)state->octets_total, "B", total, sizeof(total));
        double left_s = share > 0 ? elapsed_s / share * (1 - share) : -1;
        if (left_s >= 0 && left_s < MAX_ETA_S) {
            unsigned long seconds = (unsigned long)(left_s + 0.5);
            snprintf(eta, sizeof(eta), "  ETA %lu:%02lu", seconds / 60, seconds % 60);
        }
    }
    return snprintf(line, len, "%s%s%s%s  %s%s/s%s  held %" PRIu64 "  dropped %" PRIu64, front,
                    read, total[0] ? "/" : "", total, rate, state->what, eta, state->held,
                    state->dropped);
}

void progress_update(struct progress *progress, const struct progress_state *state)
{
    if (!progress->is_on) {
        return;
    }
    if (!progress->is_bar && state->now_ns - progress->last_ns < LINE_INTERVAL_NS) {
        return;
    }
    progress->last_ns = state->now_ns;
    char line[LINE_LEN];
    progress_format(state, progress->began_ns, progress->is_bar, line, sizeof(line));
    if (progress->is_bar) {
        /* The cursor stays at the left, so that a log line begins at its own left edge. */
        fprintf(progress->to, "\r%s\x1b[K\r", line);
        progress->is_drawn = true;
    } else {
        fprintf(progress->to, "%s\n", line);
    }
    fflush(progress->to);
}

void progress_end(struct progress *progress)
{
    if (progress->is_drawn) {
        fputs("\r\x1b[K", progress->to);
        fflush(progress->to);
        progress->is_drawn = false;
    }
}
