// SPDX-License-Identifier: Apache-2.0
/*
 * A file through the capture reader, and its frames through parser and filter.
 *
 * Input: the octets of the file. Oracles: every frame lies in readable memory and has a time that fits, an error comes with words,
 * and no more of the file is told to be read than there is. Bounded, since little packed data can be very many frames.
 */
#include <sys/mman.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/input/capture.h"
#include "collector/input/export_filter.h"

#define MAX_FRAMES 4096U
#define MAX_OCTETS (16U << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", what);
        abort();
    }
}

static void use_frame(const struct capture *capture, const struct capture_frame *frame,
                      struct fragments *fragments, struct export_filter *filter)
{
    struct packet_udp udp;
    uint64_t sum = 0;
    fragments_set_time(fragments, frame->time_ns);
    must(frame->time_ns >= 0, "a frame's time is one");
    for (size_t i = 0; i < frame->len; i++) {
        sum += frame->data[i];
    }
    must(sum <= 255 * (uint64_t)frame->len, "octets are octets");
    if (packet_parse(capture_link_type(capture), frame->data, frame->len, fragments, &udp) ==
        PACKET_UDP) {
        (void)export_filter_accepts(filter, &udp);
    }
}

static void read_all(struct capture *capture, size_t size, char *why, size_t why_len)
{
    struct fragments *fragments = fragments_new(1 << 20);
    struct export_filter filter;
    struct capture_frame frame;
    uint64_t octets = 0;
    int rc = 1;
    must(fragments != NULL, "memory");
    export_filter_init(&filter, 0);
    for (unsigned n = 0; rc == 1 && n < MAX_FRAMES && octets < MAX_OCTETS; n++) {
        why[0] = '\0';
        rc = capture_next(capture, &frame, why, why_len);
        if (rc == 1) {
            octets += frame.len;
            use_frame(capture, &frame, fragments, &filter);
        }
        uint64_t read;
        uint64_t whole;
        capture_position(capture, &read, &whole);
        must(whole == size && read <= size, "what is read is in the file");
    }
    must(rc >= 0 || why[0] != '\0', "an error says why");
    fragments_free(fragments);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[32];
    char why[512] = "";
    struct capture *capture = NULL;
    if (fd < 0) {
        fd = memfd_create("capture", MFD_CLOEXEC);
        must(fd >= 0, "a file in memory");
    }
    must(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size, "the file");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int rc = capture_open(path, &capture, why, sizeof(why));
    if (rc < 0) {
        must(why[0] != '\0', "an error says why");
        return 0;
    }
    read_all(capture, size, why, sizeof(why));
    capture_close(capture);
    return 0;
}
