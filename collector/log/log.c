// SPDX-License-Identifier: Apache-2.0
#include "collector/log/log.h"

#include <sys/stat.h>

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_OCTETS 1024
#define N_BUCKETS       1024U /* a power of two */
#define PROBES          8U
#define REPEAT_NS       60000000000LL
#define ALL_TOKENS      1000 /* lines at once over all exporters */
#define ALL_REFILL_NS   500000000LL

enum log_style {
    STYLE_TERMINAL,
    STYLE_LOGFMT,
    STYLE_JOURNAL
};

/* What was let through last for one (kind, who). */
struct bucket {
    uint64_t key; /* 0 = free */
    int64_t last_ns;
    uint64_t suppressed;
};

static struct {
    enum log_style style;
    bool colour;
    atomic_int level;
    pthread_mutex_t mutex; /* leaf; guards what follows */
    struct bucket bucket[N_BUCKETS];
    int tokens; /* over all exporters */
    int64_t refilled_ns;
    uint64_t kept_back; /* for want of them, since that was told */
} log_state = {.level = LOG_LEVEL_INFO, .mutex = PTHREAD_MUTEX_INITIALIZER, .tokens = ALL_TOKENS};

/* systemd names the stream it gave us by device and inode. */
static bool is_journal_stream(void)
{
    const char *text = getenv("JOURNAL_STREAM"); // NOLINT(concurrency-mt-unsafe): no threads yet
    unsigned long long device;
    unsigned long long inode;
    struct stat st;
    char *end;
    if (!text || fstat(STDERR_FILENO, &st) < 0) {
        return false;
    }
    device = strtoull(text, &end, 10);
    if (*end != ':') {
        return false;
    }
    inode = strtoull(end + 1, &end, 10);
    return *end == '\0' && device == st.st_dev && inode == st.st_ino;
}

void log_init(enum log_level level)
{
    log_set_level(level);
    if (is_journal_stream()) {
        log_state.style = STYLE_JOURNAL;
        return;
    }
    const char *no_color = getenv("NO_COLOR"); // NOLINT(concurrency-mt-unsafe): no threads yet
    bool terminal = isatty(STDERR_FILENO) == 1;
    log_state.style = terminal ? STYLE_TERMINAL : STYLE_LOGFMT;
    log_state.colour = terminal && (!no_color || !*no_color);
}

void log_set_level(enum log_level level)
{
    /* relaxed: a late reader logs one line more or less */
    atomic_store_explicit(&log_state.level, (int)level, memory_order_relaxed);
}

enum log_level log_get_level(void)
{
    return (enum log_level)atomic_load_explicit(&log_state.level, memory_order_relaxed);
}

static int put_terminal_head(char *line, size_t size, enum log_level level,
                             const struct timespec *now)
{
    static const char *const names[] = {"ERROR", "WARN ", "INFO ", "DEBUG"};
    static const char *const colours[] = {"\033[31m", "\033[33m", "", "\033[2m"};
    struct tm tm;
    localtime_r(&now->tv_sec, &tm);
    const char *on = log_state.colour ? colours[level] : "";
    const char *off = *on ? "\033[0m" : "";
    return snprintf(line, size, "%02d:%02d:%02d %s%s%s ", tm.tm_hour, tm.tm_min, tm.tm_sec, on,
                    names[level], off);
}

static int put_logfmt_head(char *line, size_t size, enum log_level level,
                           const struct timespec *now)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    struct tm tm;
    gmtime_r(&now->tv_sec, &tm);
    return snprintf(line, size,
                    "time=%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ level=%s msg=", tm.tm_year + 1900,
                    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
                    now->tv_nsec / 1000000, names[level]);
}

/* Control characters become spaces, so that nothing can forge a line or steer a terminal. */
static char harmless(char c)
{
    if ((unsigned char)c < 0x20 || c == 0x7f) {
        return ' ';
    }
    return c;
}

static size_t put_quoted(char *line, size_t at, size_t size, const char *text)
{
    line[at++] = '"';
    for (; *text && at + 4 < size; text++) {
        if (*text == '"' || *text == '\\') {
            line[at++] = '\\';
        }
        line[at++] = harmless(*text);
    }
    line[at++] = '"';
    return at;
}

static size_t put_plain(char *line, size_t at, size_t size, const char *text)
{
    for (; *text && at + 2 < size; text++) {
        line[at++] = harmless(*text);
    }
    return at;
}

void log_line(enum log_level level, const char *format, ...)
{
    static const int priority[] = {3, 4, 6, 7}; /* syslog's */
    if (level > log_get_level()) {
        return;
    }
    int error = errno;
    char message[LINE_MAX_OCTETS - 128];
    va_list args;
    va_start(args, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it does not see va_start here
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    char line[2 * LINE_MAX_OCTETS];
    size_t at;
    if (log_state.style == STYLE_JOURNAL) {
        at = (size_t)snprintf(line, sizeof(line), "<%d>", priority[level]);
        at = put_plain(line, at, sizeof(line), message);
    } else if (log_state.style == STYLE_TERMINAL) {
        at = (size_t)put_terminal_head(line, sizeof(line), level, &now);
        at = put_plain(line, at, sizeof(line), message);
    } else {
        at = (size_t)put_logfmt_head(line, sizeof(line), level, &now);
        at = put_quoted(line, at, sizeof(line), message);
    }
    line[at++] = '\n';
    while (write(STDERR_FILENO, line, at) < 0 && errno == EINTR) {
        /* when it fails otherwise there is nobody to tell */
    }
    errno = error;
}

/* Under the mutex: one token of the bucket over all exporters, if there is one. */
static bool take_token(int64_t now_ns)
{
    int64_t n = (now_ns - log_state.refilled_ns) / ALL_REFILL_NS;
    if (n > 0) {
        log_state.tokens =
            n < ALL_TOKENS - log_state.tokens ? log_state.tokens + (int)n : ALL_TOKENS;
        log_state.refilled_ns += n * ALL_REFILL_NS;
    }
    if (log_state.tokens == 0) {
        log_state.kept_back++;
        return false;
    }
    log_state.tokens--;
    return true;
}

/* Under the mutex: the bucket of the key, or the one that gives way to it: free, or the oldest of its neighbourhood. */
static struct bucket *find_bucket(uint64_t key)
{
    struct bucket *oldest = NULL;
    for (unsigned i = 0; i < PROBES; i++) {
        struct bucket *b = &log_state.bucket[((key >> 32) + i) & (N_BUCKETS - 1)];
        if (b->key == key) {
            return b;
        }
        if (!oldest || (oldest->key && (!b->key || b->last_ns < oldest->last_ns))) {
            oldest = b;
        }
    }
    return oldest;
}

bool log_allow(unsigned kind, uint64_t who, int64_t now_ns, uint64_t *suppressed)
{
    uint64_t key = (who ^ (uint64_t)kind << 56) * 0x9e3779b97f4a7c15ULL | 1;
    uint64_t kept_back = 0;
    bool allow = false;
    *suppressed = 0;
    pthread_mutex_lock(&log_state.mutex);
    struct bucket *b = find_bucket(key);
    if (b->key == key && now_ns - b->last_ns < REPEAT_NS) {
        b->suppressed++;
    } else if (take_token(now_ns)) {
        *suppressed = b->key == key ? b->suppressed : 0;
        *b = (struct bucket){.key = key, .last_ns = now_ns};
        kept_back = log_state.kept_back;
        log_state.kept_back = 0;
        allow = true;
    }
    pthread_mutex_unlock(&log_state.mutex);
    if (kept_back) {
        log_warn("kept back %" PRIu64
                 " lines like the next, since there were too many exporters with something to tell",
                 kept_back);
    }
    return allow;
}
