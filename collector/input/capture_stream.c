// SPDX-License-Identifier: Apache-2.0
/*
 * The first block is read when the stream is opened: it tells the packing. A read error or broken packed data is
 * remembered and looks like the end of the file to the reader, so that all octets before it are still used.
 */
#include "collector/input/capture_stream.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <lz4frame.h>

#define INPUT_BYTES 65536
#define STDIO_BYTES 262144
#define MIN_MAGIC   4

enum packing {
    PACKING_NONE,
    PACKING_GZIP,
    PACKING_LZ4
};

struct capture_stream {
    int fd;
    struct capture_wait wait;
    bool owns_fd, at_end;
    bool in_member;  /* a gzip member or LZ4 frame has begun and not ended */
    bool is_padding; /* behind the last gzip member: whatever it is, it is not ours */
    enum packing packing;
    enum capture_stream_end end;
    int error;
    uint64_t n_read, size;
    uint64_t n_unpacked; /* given out */
    z_stream gzip;
    LZ4F_dctx *lz4;
    size_t lz4_hint;
    size_t pos, len;
    size_t n_head; /* the first octets, unpacked */
    uint8_t head[16];
    uint8_t input[INPUT_BYTES];
    char stdio[STDIO_BYTES];
};

/* Waits for input or for stop; false when to stop. */
static bool wait_readable(const struct capture_stream *stream)
{
    struct pollfd fds[2] = {{.fd = stream->wait.stop_fd, .events = POLLIN},
                            {.fd = stream->fd, .events = POLLIN}};
    int n = poll(fds, 2, 0);
    if (n == 0 && stream->wait.idle) {
        stream->wait.idle(stream->wait.ctx);
    }
    while (n <= 0) {
        n = poll(fds, 2, -1);
        if (n < 0 && errno != EINTR) {
            return true; /* then read says what is wrong */
        }
    }
    return !(fds[0].revents & POLLIN);
}

/* What read gives, 0 also after an error or a stop. */
static size_t read_some(struct capture_stream *stream, uint8_t *to, size_t n)
{
    if (stream->at_end) {
        return 0;
    }
    if (stream->wait.stop_fd >= 0 && !wait_readable(stream)) {
        stream->end = CAPTURE_STREAM_STOPPED;
        stream->at_end = true;
        return 0;
    }
    ssize_t got = 0;
    do {
        got = read(stream->fd, to, n);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        stream->error = errno;
        stream->end = CAPTURE_STREAM_IO;
    }
    if (got <= 0) {
        stream->at_end = true;
        return 0;
    }
    stream->n_read += (uint64_t)got;
    return (size_t)got;
}

/* Fills the input when it is empty; false at the end. */
static bool refill(struct capture_stream *stream)
{
    if (stream->pos == stream->len) {
        stream->pos = 0;
        stream->len = read_some(stream, stream->input, sizeof(stream->input));
    }
    return stream->len > 0;
}

static void broken(struct capture_stream *stream, enum capture_stream_end end)
{
    if (stream->end == CAPTURE_STREAM_OPEN) {
        stream->end = end;
    }
    stream->at_end = true;
    stream->pos = 0;
    stream->len = 0;
}

static size_t read_plain(struct capture_stream *stream, uint8_t *to, size_t n)
{
    size_t left = stream->len - stream->pos;
    if (left == 0) {
        return read_some(stream, to, n);
    }
    n = n < left ? n : left;
    memcpy(to, stream->input + stream->pos, n);
    stream->pos += n;
    return n;
}

/* A member has ended; begins the next one if there is one. */
static void next_member(struct capture_stream *stream)
{
    stream->in_member = false;
    if (refill(stream) && stream->input[stream->pos] == 0x1f) {
        inflateReset(&stream->gzip);
    } else {
        stream->is_padding = true;
    }
}

static size_t read_gzip(struct capture_stream *stream, uint8_t *to, size_t n)
{
    z_stream *z = &stream->gzip;
    z->next_out = to;
    z->avail_out = (uInt)n;
    while (z->avail_out == n && !stream->is_padding) {
        if (!refill(stream)) {
            if (stream->in_member) {
                broken(stream, CAPTURE_STREAM_CUT);
            }
            return 0;
        }
        z->next_in = stream->input + stream->pos;
        z->avail_in = (uInt)(stream->len - stream->pos);
        stream->in_member = true;
        int rc = inflate(z, Z_NO_FLUSH);
        stream->pos = stream->len - z->avail_in;
        if (rc == Z_STREAM_END) {
            next_member(stream);
        } else if (rc != Z_OK && rc != Z_BUF_ERROR) {
            size_t good = n - z->avail_out;
            broken(stream, rc == Z_MEM_ERROR ? CAPTURE_STREAM_NO_MEMORY : CAPTURE_STREAM_CORRUPT);
            return good;
        }
    }
    return n - z->avail_out;
}

/* LZ4 gets what it hinted at and no more: that is a block at a time, so that what came before a damaged one is not lost with it. */
static size_t read_lz4(struct capture_stream *stream, uint8_t *to, size_t n)
{
    for (;;) {
        /* What LZ4 has unpacked and kept comes out without new input: ask it before the file. */
        size_t left = stream->len - stream->pos;
        size_t in = left < stream->lz4_hint ? left : stream->lz4_hint;
        size_t out = n;
        size_t hint =
            LZ4F_decompress(stream->lz4, to, &out, stream->input + stream->pos, &in, NULL);
        if (LZ4F_isError(hint)) {
            broken(stream, CAPTURE_STREAM_CORRUPT);
            return 0;
        }
        stream->pos += in;
        if (in > 0 || out > 0) { /* asked with nothing, it hints at the next frame's header */
            stream->in_member = hint != 0;
            stream->lz4_hint = hint != 0 ? hint : LZ4F_HEADER_SIZE_MIN;
        }
        if (out > 0) {
            return out;
        }
        if (in == 0 && !refill(stream)) {
            if (stream->in_member) {
                broken(stream, CAPTURE_STREAM_CUT);
            }
            return 0;
        }
    }
}

static size_t read_unpacked(struct capture_stream *stream, uint8_t *to, size_t n)
{
    switch (stream->packing) {
    case PACKING_GZIP:
        return read_gzip(stream, to, n);
    case PACKING_LZ4:
        return read_lz4(stream, to, n);
    case PACKING_NONE:
        break;
    }
    return read_plain(stream, to, n);
}

static ssize_t cookie_read(void *cookie, char *to, size_t n)
{
    struct capture_stream *stream = cookie;
    size_t got = read_unpacked(stream, (uint8_t *)to, n);
    size_t room = sizeof(stream->head) - stream->n_head;
    size_t head = got < room ? got : room;
    memcpy(stream->head + stream->n_head, to, head);
    stream->n_head += head;
    stream->n_unpacked += got;
    return (ssize_t)got;
}

static int begin(struct capture_stream *stream)
{
    /* A pipe may give its first octets one by one. */
    while (stream->len < MIN_MAGIC) {
        size_t got =
            read_some(stream, stream->input + stream->len, sizeof(stream->input) - stream->len);
        if (got == 0) {
            break;
        }
        stream->len += got;
    }
    const uint8_t *in = stream->input;
    if (stream->len >= 2 && in[0] == 0x1f && in[1] == 0x8b) {
        stream->packing = PACKING_GZIP;
        return inflateInit2(&stream->gzip, 16 + MAX_WBITS) == Z_OK ? 0 : WF_E_NOMEM;
    }
    bool is_lz4 =
        stream->len >= 4 && in[0] == 0x04 && in[1] == 0x22 && in[2] == 0x4d && in[3] == 0x18;
    bool is_skippable = stream->len >= 4 && (in[0] & 0xf0) == 0x50 && in[1] == 0x2a &&
                        in[2] == 0x4d && in[3] == 0x18;
    if (is_lz4 || is_skippable) {
        stream->packing = PACKING_LZ4;
        stream->lz4_hint = LZ4F_HEADER_SIZE_MIN;
        return LZ4F_isError(LZ4F_createDecompressionContext(&stream->lz4, LZ4F_VERSION))
                   ? WF_E_NOMEM
                   : 0;
    }
    return 0;
}

int capture_stream_open(const char *path, const struct capture_wait *wait,
                        struct capture_stream **stream)
{
    struct capture_stream *s = calloc(1, sizeof(*s));
    if (!s) {
        return WF_E_NOMEM;
    }
    int rc = WF_E_IO;
    int saved_errno = 0;
    s->wait = wait ? *wait : (struct capture_wait){.stop_fd = -1};
    s->fd = STDIN_FILENO;
    if (strcmp(path, "-") != 0) {
        do {
            s->fd = open(path, O_RDONLY | O_CLOEXEC);
        } while (s->fd < 0 && errno == EINTR);
        s->owns_fd = true;
    }
    struct stat st;
    if (s->fd < 0 || fstat(s->fd, &st) < 0) {
        goto fail;
    }
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        goto fail;
    }
    s->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    rc = begin(s);
    if (rc == 0 && s->end == CAPTURE_STREAM_IO) {
        errno = s->error;
        rc = WF_E_IO;
    }
    if (rc < 0) {
        goto fail;
    }
    *stream = s;
    return 0;
fail:
    saved_errno = errno;
    capture_stream_free(s);
    errno = saved_errno;
    return rc;
}

void capture_stream_free(struct capture_stream *stream)
{
    if (!stream) {
        return;
    }
    if (stream->owns_fd && stream->fd >= 0) {
        close(stream->fd);
    }
    if (stream->packing == PACKING_GZIP) {
        inflateEnd(&stream->gzip);
    }
    LZ4F_freeDecompressionContext(stream->lz4);
    free(stream);
}

size_t capture_stream_head(const struct capture_stream *stream, uint8_t *octets, size_t n)
{
    n = n < stream->n_head ? n : stream->n_head;
    memcpy(octets, stream->head, n);
    return n;
}

FILE *capture_stream_file(struct capture_stream *stream)
{
    FILE *file = fopencookie(stream, "r", (cookie_io_functions_t){.read = cookie_read});
    if (file) {
        setvbuf(file, stream->stdio, _IOFBF, sizeof(stream->stdio));
    }
    return file;
}

enum capture_stream_end capture_stream_end(const struct capture_stream *stream)
{
    return stream->end;
}

int capture_stream_errno(const struct capture_stream *stream)
{
    return stream->error;
}

const char *capture_stream_packing(const struct capture_stream *stream)
{
    switch (stream->packing) {
    case PACKING_GZIP:
        return "gzip";
    case PACKING_LZ4:
        return "LZ4";
    case PACKING_NONE:
        break;
    }
    return NULL;
}

void capture_stream_position(const struct capture_stream *stream, uint64_t *read,
                             uint64_t *unpacked, uint64_t *size)
{
    *read = stream->n_read;
    *unpacked = stream->n_unpacked;
    *size = stream->size;
}
