// SPDX-License-Identifier: Apache-2.0
#include "collector/input/capture.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/input/capture_stream.h"

/* Far beyond any clock, and far from where nanoseconds since 1970 no longer fit 64 bits (2262). */
#define MAX_SECONDS       9000000000LL

#define RECORD_HEADER_LEN 16U

struct capture {
    struct capture_stream *stream;
    pcap_t *pcap; /* owns the stdio stream over the stream above */
    char *path;
    uint64_t n_taken; /* octets of the frames so far with their headers; UINT64_MAX at the end */
};

struct magic {
    uint8_t octets[6];
    uint8_t len;
    const char *name;
    const char *unpack; /* command, NULL = there is none */
};

static const struct magic foreign[] = {
    {{0x28, 0xb5, 0x2f, 0xfd}, 4, "packed with zstd", "zstd -dc"},
    {{0xfd, '7', 'z', 'X', 'Z', 0}, 6, "packed with xz", "xz -dc"},
    {{'B', 'Z', 'h'}, 3, "packed with bzip2", "bzip2 -dc"},
    {{0x02, 0x21, 0x4c, 0x18}, 4, "packed in the old format of LZ4", "lz4 -dc"},
    {{'P', 'K', 3, 4}, 4, "a zip archive", "unzip -p"},
};

static bool is_capture_magic(const uint8_t *octets, size_t len)
{
    static const uint8_t magics[][4] = {
        {0xd4, 0xc3, 0xb2, 0xa1}, {0xa1, 0xb2, 0xc3, 0xd4}, /* microseconds */
        {0x4d, 0x3c, 0xb2, 0xa1}, {0xa1, 0xb2, 0x3c, 0x4d}, /* nanoseconds */
        {0x0a, 0x0d, 0x0d, 0x0a},                           /* pcapng */
    };
    for (size_t i = 0; len >= 4 && i < sizeof(magics) / sizeof(magics[0]); i++) {
        if (!memcmp(octets, magics[i], 4)) {
            return true;
        }
    }
    return false;
}

/* What ended the stream, when it was not the end of the file. 0 = it was. */
static int stream_error(const struct capture_stream *stream, char *why, size_t why_len)
{
    const char *packing = capture_stream_packing(stream);
    switch (capture_stream_end(stream)) {
    case CAPTURE_STREAM_OPEN:
        return 0;
    case CAPTURE_STREAM_CUT:
        snprintf(why, why_len, "the %s data is cut short", packing);
        return WF_E_TRUNCATED;
    case CAPTURE_STREAM_CORRUPT:
        snprintf(why, why_len, "the %s data is damaged", packing);
        return WF_E_TRUNCATED;
    case CAPTURE_STREAM_STOPPED:
        snprintf(why, why_len, "stopped");
        return WF_E_STOPPED;
    case CAPTURE_STREAM_IO:
        errno = capture_stream_errno(stream);
        snprintf(why, why_len, "can not be read: %s", strerrordesc_np(errno));
        return WF_E_IO;
    case CAPTURE_STREAM_NO_MEMORY:
        break;
    }
    snprintf(why, why_len, "out of memory");
    return WF_E_NOMEM;
}

static void why_not_a_capture(const struct capture *capture, const uint8_t *head, size_t n_head,
                              char *why, size_t why_len)
{
    if (n_head == 0) {
        snprintf(why, why_len, "is empty, so no pcap or pcapng capture");
        return;
    }
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        const struct magic *magic = &foreign[i];
        if (n_head >= magic->len && !memcmp(head, magic->octets, magic->len)) {
            snprintf(why, why_len,
                     "is %s, which is not unpacked here (gzip and LZ4 frames are); try: %s '%s' | "
                     "whoflow "
                     "replay -",
                     magic->name, magic->unpack, capture->path);
            return;
        }
    }
    snprintf(why, why_len, "is no pcap or pcapng capture (nor one packed with gzip or LZ4)");
}

/* What libpcap says in words, as a code. */
static int pcap_error(const char *text, char *why, size_t why_len)
{
    if (strstr(text, "truncated")) {
        snprintf(why, why_len, "ends in the middle of a frame: the capture was cut short");
        return WF_E_TRUNCATED;
    }
    if (strstr(text, "different from the type")) {
        snprintf(why, why_len,
                 "has interfaces of different link types, which libpcap can not read; capture each "
                 "into a "
                 "file of its own, or all with tcpdump -i any");
        return WF_E_FORMAT;
    }
    if (strstr(text, "different from the snapshot length")) {
        snprintf(why, why_len,
                 "has interfaces with different snapshot lengths, which libpcap can not read; try: "
                 "editcap -F "
                 "pcap FILE OTHER.pcap, and replay that");
        return WF_E_FORMAT;
    }
    snprintf(why, why_len, "is damaged: %s", text);
    return WF_E_FORMAT;
}

static int open_error(const struct capture *capture, const char *text, char *why, size_t why_len)
{
    int rc = stream_error(capture->stream, why, why_len);
    uint8_t head[16];
    size_t n_head = capture_stream_head(capture->stream, head, sizeof(head));
    if (rc < 0 && rc != WF_E_TRUNCATED) {
        return rc;
    }
    if (is_capture_magic(head, n_head)) {
        return rc < 0 ? rc : pcap_error(text, why, why_len);
    }
    if (n_head < 4 && capture_stream_end(capture->stream) == CAPTURE_STREAM_CUT) {
        return rc; /* cut before it tells what is packed: a small LZ4 capture is a single block */
    }
    if (rc == 0) {
        why_not_a_capture(capture, head, n_head, why, why_len);
    }
    return WF_E_FORMAT;
}

int capture_open(const char *path, struct capture **capture, char *why, size_t why_len)
{
    return capture_open_waiting(path, NULL, capture, why, why_len);
}

int capture_open_waiting(const char *path, const struct capture_wait *wait,
                         struct capture **capture, char *why, size_t why_len)
{
    int rc = WF_E_NOMEM;
    int saved_errno = 0;
    FILE *file = NULL;
    snprintf(why, why_len, "out of memory");
    struct capture *c = calloc(1, sizeof(*c));
    if (!c) {
        return rc;
    }
    c->path = strdup(path);
    if (!c->path) {
        goto fail;
    }
    rc = capture_stream_open(path, wait, &c->stream);
    if (rc < 0) {
        if (rc == WF_E_IO) {
            snprintf(why, why_len, "can not be read: %s", strerrordesc_np(errno));
        }
        goto fail;
    }
    rc = WF_E_NOMEM;
    file = capture_stream_file(c->stream);
    if (!file) {
        goto fail;
    }
    char text[PCAP_ERRBUF_SIZE] = "";
    c->pcap = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, text);
    if (!c->pcap) {
        rc = open_error(c, text, why, why_len);
        goto fail;
    }
    *capture = c;
    return 0;
fail:
    saved_errno = errno; /* part of the answer */
    if (file) {
        fclose(file);
    }
    capture_close(c);
    errno = saved_errno;
    return rc;
}

int capture_link_type(const struct capture *capture)
{
    return pcap_datalink(capture->pcap);
}

static int64_t frame_time_ns(const struct pcap_pkthdr *header)
{
    int64_t seconds = header->ts.tv_sec;
    if (seconds < 0 && seconds >= INT32_MIN) {
        seconds += 1LL << 32; /* the field is unsigned, libpcap reads it as signed: 2038 to 2106 */
    }
    if (seconds < 0) {
        seconds = 0;
    }
    if (seconds > MAX_SECONDS) {
        seconds = MAX_SECONDS;
    }
    return seconds * WF_NS_PER_S + (int64_t)(header->ts.tv_usec & 0xffffffff);
}

int capture_next(struct capture *capture, struct capture_frame *frame, char *why, size_t why_len)
{
    struct pcap_pkthdr *header = NULL;
    const u_char *data = NULL;
    int rc = pcap_next_ex(capture->pcap, &header, &data);
    if (rc == 1) {
        capture->n_taken += header->caplen + RECORD_HEADER_LEN;
        *frame = (struct capture_frame){.data = data,
                                        .len = header->caplen,
                                        .wire_len = header->len,
                                        .time_ns = frame_time_ns(header)};
        return 1;
    }
    capture->n_taken = UINT64_MAX;
    /* Broken packed data may end exactly between two frames: then libpcap takes it for the end. */
    int error = stream_error(capture->stream, why, why_len);
    if (error < 0 || rc == PCAP_ERROR_BREAK) {
        return error;
    }
    return pcap_error(pcap_geterr(capture->pcap), why, why_len);
}

void capture_position(const struct capture *capture, uint64_t *read, uint64_t *size)
{
    uint64_t unpacked = 0;
    capture_stream_position(capture->stream, read, &unpacked, size);
    /* What was read ahead does not count: without that a small file would be done at once, however slowly it is replayed. */
    if (capture->n_taken < unpacked) {
        *read = (uint64_t)((double)*read * ((double)capture->n_taken / (double)unpacked));
    }
}

void capture_close(struct capture *capture)
{
    if (!capture) {
        return;
    }
    if (capture->pcap) {
        pcap_close(capture->pcap); /* closes the stdio stream too */
    }
    capture_stream_free(capture->stream);
    free(capture->path);
    free(capture);
}
