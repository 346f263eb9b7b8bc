// SPDX-License-Identifier: Apache-2.0
/*
 * capture - frames of pcap and pcapng files, plain, gzip or LZ4, read by libpcap
 *
 * Compression is found by the first octets, whatever the name. One thread. "-" is stdin.
 */
#pragma once

#include "decoder/base.h"

struct capture;

struct capture_frame {
    const uint8_t *data; /* until the next call */
    size_t len;          /* captured octets */
    size_t wire_len; /* octets the frame had on the wire: more than len = cut by the snap length */
    int64_t time_ns; /* Unix ns */
};

/* 0; WF_E_IO (errno: no such file, no permission), WF_E_FORMAT (no capture file), WF_E_TRUNCATED (ends inside its first
 * header), WF_E_NOMEM. why: what is wrong with it and what to do, to be put behind the file's name. */
int capture_open(const char *path, struct capture **capture, char *why, size_t why_len);
/* For input that may never end, as a pipe does: reading gives up with WF_E_STOPPED when stop_fd becomes readable; idle, unless NULL, is
 * called before reading blocks. */
struct capture_wait {
    int stop_fd;
    void (*idle)(void *ctx);
    void *ctx;
};
/* wait is copied. */
int capture_open_waiting(const char *path, const struct capture_wait *wait,
                         struct capture **capture, char *why, size_t why_len);
int capture_link_type(const struct capture *capture);
/* 1 = a frame, 0 = end; WF_E_TRUNCATED = the file ends in the middle of a frame or of its packed data, WF_E_FORMAT = it is damaged
 * here, WF_E_IO, WF_E_STOPPED: frames so far stand, there are no more. why as above. */
int capture_next(struct capture *capture, struct capture_frame *frame, char *why, size_t why_len);
/* Octets of the file that the frames so far took up (about, until its end) and its size (0 = not known): for a progress bar. */
void capture_position(const struct capture *capture, uint64_t *read, uint64_t *size);
void capture_close(struct capture *capture);
