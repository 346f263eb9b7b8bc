// SPDX-License-Identifier: Apache-2.0
/*
 * stdout and files. No line is ever cut in two: when the system takes only part of a chunk (ENOSPC, EIO, a size limit), a
 * regular file is cut back to its last whole line; the documents of the rest are counted as failed, and the next chunk tries
 * again. What can not be cut back (a terminal, a pipe) gets a newline first, so that one line is lost and not two.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector/output/destination.h"

#define READER_PAUSE_NS 20000000L
#define READER_TRIES    500U /* 10 s in all */

struct file {
    char *path; /* owned; NULL = stdout */
    int fd;     /* -1 = not open */
    bool is_regular;
    bool is_torn; /* the last line there is not whole */
    atomic_bool is_interrupted;
};

static bool is_fifo(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* A FIFO without reader gets some time to find one, but can not hang us for ever. */
static int open_path(const char *path)
{
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY;
    const struct timespec pause = {.tv_nsec = READER_PAUSE_NS};
    int fd = -1;
    for (unsigned i = 0; i < READER_TRIES && fd < 0; i++) {
        fd = open(path, flags | O_NONBLOCK, 0640);
        if (fd < 0 && errno == ENXIO && is_fifo(path)) {
            nanosleep(&pause, NULL);
            errno = ENXIO;
        } else if (fd < 0 && errno != EINTR) {
            return -1;
        }
    }
    if (fd >= 0 && fcntl(fd, F_SETFL, O_APPEND) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Whether an earlier writer was killed within a line. Where we may not read we can not know. */
static bool ends_within_line(const char *path, off_t size)
{
    char last = '\n';
    int fd = size > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)!pread(fd, &last, 1, size - 1);
        close(fd);
    }
    return last != '\n';
}

static void file_close(struct file *file)
{
    if (file->path && file->fd >= 0) {
        close(file->fd);
    }
    file->fd = -1;
}

/* Opens the path; what was open before stays open when that fails. */
static int file_open(void *self)
{
    struct file *file = self;
    int fd = file->path ? open_path(file->path) : STDOUT_FILENO;
    int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
    struct stat st;
    if (flags < 0 || fstat(fd, &st) < 0) {
        return WF_E_IO;
    }
    if ((flags & O_ACCMODE) == O_RDONLY) {
        errno = EBADF; /* stdout was closed by who started us */
        return WF_E_IO;
    }
    file_close(file);
    file->fd = fd;
    file->is_regular = S_ISREG(st.st_mode);
    file->is_torn = file->is_regular && file->path && ends_within_line(file->path, st.st_size);
    return WF_OK;
}

static bool is_interrupted(struct file *file)
{
    /* relaxed: a flag that is looked at again after each signal */
    return atomic_load_explicit(&file->is_interrupted, memory_order_relaxed);
}

/* Waits until a descriptor that does not block takes more. */
static int wait_writable(struct file *file)
{
    struct pollfd p = {.fd = file->fd, .events = POLLOUT};
    while (poll(&p, 1, -1) < 0) {
        if (errno != EINTR || is_interrupted(file)) {
            return WF_E_IO;
        }
    }
    return WF_OK;
}

/* Octets written of len; fewer with errno set. */
static size_t write_all(struct file *file, const char *data, size_t len)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = write(file->fd, data + done, len - done);
        if (n > 0) {
            done += (size_t)n;
            continue;
        }
        if (n == 0) {
            errno = EIO; /* no system does this, and it must not hang us */
            break;
        }
        if ((errno == EINTR && !is_interrupted(file)) ||
            (errno == EAGAIN && wait_writable(file) == WF_OK)) {
            continue;
        }
        break;
    }
    return done;
}

static uint32_t count_lines(const char *text, size_t len)
{
    uint32_t n = 0;
    const char *end = text + len;
    for (const char *p = text; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++) {
        n++;
    }
    return n;
}

/* Takes the last n octets back: of a regular file, and only if they are the last in it, since others may write there too. */
static bool cut_back(const struct file *file, off_t n)
{
    struct stat st;
    off_t at = lseek(file->fd, 0, SEEK_CUR);
    return file->is_regular && fstat(file->fd, &st) == 0 && st.st_size == at && at >= n &&
           ftruncate(file->fd, at - n) == 0 && lseek(file->fd, at - n, SEEK_SET) == at - n;
}

/* done octets of the chunk went out. The whole lines among them stay. */
static uint32_t keep_whole_lines(struct file *file, const struct chunk *chunk, size_t done)
{
    if (done == 0) {
        return 0;
    }
    const char *text = chunk->text.data;
    const char *newline = memrchr(text, '\n', done);
    size_t whole = newline ? (size_t)(newline - text) + 1 : 0;
    if (whole < done) {
        file->is_torn = !cut_back(file, (off_t)(done - whole));
    }
    return count_lines(text, whole);
}

static int file_write(void *self, const struct chunk *chunk, uint32_t *n_written)
{
    struct file *file = self;
    size_t done = 0;
    if (!file->is_torn || write_all(file, "\n", 1) == 1) {
        file->is_torn = false;
        done = write_all(file, chunk->text.data, chunk->text.len);
        if (done == chunk->text.len) {
            *n_written = chunk->n_documents;
            return WF_OK;
        }
    }
    int error = errno;
    *n_written = keep_whole_lines(file, chunk, done);
    errno = error;
    return error == EPIPE || error == ECONNRESET || error == EINTR ? WF_E_STOPPED : WF_E_IO;
}

/* After a rename by logrotate. A FIFO or terminal stays as it is: it can not be rotated, and opening it could wait for a reader. */
static int file_reopen(void *self)
{
    struct file *file = self;
    if (!file->path || (file->fd >= 0 && !file->is_regular)) {
        return 0;
    }
    int err = file_open(file);
    return err < 0 ? err : 1;
}

static void file_interrupt(void *self)
{
    struct file *file = self;
    /* relaxed: the signal that follows makes the writer look */
    atomic_store_explicit(&file->is_interrupted, true, memory_order_relaxed);
}

static void file_free(void *self)
{
    struct file *file = self;
    file_close(file);
    free(file->path);
    free(file);
}

int destination_file_new(const char *path, const struct output_ops **ops, void **self)
{
    static const struct output_ops file_ops = {.name = "file",
                                               .open = file_open,
                                               .write = file_write,
                                               .reopen = file_reopen,
                                               .interrupt = file_interrupt,
                                               .free = file_free};
    struct file *file = calloc(1, sizeof(*file));
    if (!file) {
        return WF_E_NOMEM;
    }
    file->fd = -1;
    if (path) {
        file->path = strdup(path);
        if (!file->path) {
            free(file);
            return WF_E_NOMEM;
        }
    }
    *ops = &file_ops;
    *self = file;
    return WF_OK;
}
