// SPDX-License-Identifier: Apache-2.0
/*
 * capture_stream - octets of a file or pipe, unpacked on the fly
 *
 * Inside the input room, for capture.c. Finds gzip (also of several members) and LZ4 frames by their first octets; anything else
 * passes through. Keeps 64 KiB of packed input and what zlib or LZ4 need (at most 4 MiB blocks), whatever the size of the file.
 * One thread.
 */
#pragma once

#include <sys/types.h>

#include <stdio.h>

#include "collector/input/capture.h"

struct capture_stream;

enum capture_stream_end {
    CAPTURE_STREAM_OPEN,    /* there is more, or all that there is was read */
    CAPTURE_STREAM_CUT,     /* the packed data ends in the middle */
    CAPTURE_STREAM_CORRUPT, /* the packed data can not be unpacked further */
    CAPTURE_STREAM_STOPPED, /* stop_fd became readable */
    CAPTURE_STREAM_IO,      /* read failed, see capture_stream_errno */
    CAPTURE_STREAM_NO_MEMORY,
};

/* path "-" is stdin; wait may be NULL and is copied. 0, WF_E_IO (errno), WF_E_NOMEM. */
int capture_stream_open(const char *path, const struct capture_wait *wait,
                        struct capture_stream **stream);
void capture_stream_free(struct capture_stream *stream);
/* The first octets read from the file, unpacked, up to n: how many there are. */
size_t capture_stream_head(const struct capture_stream *stream, uint8_t *octets, size_t n);
/* A stdio stream of the unpacked octets, for libpcap; closing it leaves the stream alive. NULL when memory is short. */
FILE *capture_stream_file(struct capture_stream *stream);
enum capture_stream_end capture_stream_end(const struct capture_stream *stream);
int capture_stream_errno(const struct capture_stream *stream);
/* "gzip", "LZ4" or NULL. */
const char *capture_stream_packing(const struct capture_stream *stream);
/* Octets of the file read so far, octets given out, and the file's size (0 = not known). */
void capture_stream_position(const struct capture_stream *stream, uint64_t *read,
                             uint64_t *unpacked, uint64_t *size);
