// SPDX-License-Identifier: Apache-2.0
/*
 * log - one event a line on stderr, key=value, with a token bucket for what the network can cause
 *
 * The only writable file-scope state of the program. Any thread. Text on a terminal ("12:04:31 WARN  ..."), logfmt
 * otherwise (time=... level=warn msg="..."), <N> prefixes under systemd (JOURNAL_STREAM). A line is one write(2), at most
 * 2,000 octets; longer ones are cut. errno stays as it was.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

enum log_level {
    LOG_LEVEL_ERROR,
    LOG_LEVEL_WARN,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG
};

/* Looks at what stderr is. Before threads start. */
void log_init(enum log_level level);
void log_set_level(enum log_level level);
enum log_level log_get_level(void);
/* format is a short sentence with printf fields. Control characters become spaces, so that a text from the wire can not forge
 * a line. No newline. */
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...)  log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

/* Token bucket by (kind, who): the first of a kind goes out, then one each 60 s with the number of those that did not.
 * Returns whether to log, and in *suppressed how many were not since the last. now_ns: monotonic. Bounded memory: old entries give
 * way. who: any hash of the exporter. Since a spoofer can be many exporters there is one bucket over all of them: 1,000 lines,
 * then 2 a second; how many it kept back is told in a line of its own. */
bool log_allow(unsigned kind, uint64_t who, int64_t now_ns, uint64_t *suppressed);
