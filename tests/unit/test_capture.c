// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <pcap/dlt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <lz4frame.h>

#include "collector/input/capture.h"
#include "tests/support/support.h"

#define N_FRAMES    5
#define FRAME_LEN   300U        /* captured; the last has 100 octets more on the wire */
#define FIRST_S     4200000000U /* 2103: beyond what a signed 32-bit clock knows */
#define HEADER_LEN  24U
#define RECORD_LEN  (16U + FRAME_LEN)
#define FILE_OCTETS 8192
#define PATH        "capture.tmp"

/* A file in the making. */
struct file {
    uint8_t data[FILE_OCTETS];
    size_t len;
    bool is_big_endian;
};

static void put(struct file *f, const void *data, size_t len)
{
    if (f->len + len > sizeof(f->data)) {
        abort();
    }
    memcpy(f->data + f->len, data, len);
    f->len += len;
}

static void put_uint(struct file *f, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t shift = 8 * (f->is_big_endian ? n - 1 - i : i);
        uint8_t octet = (uint8_t)(v >> shift);
        put(f, &octet, 1);
    }
}

static void put_u16(struct file *f, uint32_t v)
{
    put_uint(f, v, 2);
}

static void put_u32(struct file *f, uint32_t v)
{
    put_uint(f, v, 4);
}

static uint32_t wire_len(unsigned i)
{
    return i + 1 == N_FRAMES ? FRAME_LEN + 100 : FRAME_LEN;
}

static void make_frame(unsigned i, uint8_t *frame)
{
    for (unsigned k = 0; k < FRAME_LEN; k++) {
        frame[k] = (uint8_t)(i * 7 + k * k / 3);
    }
}

/* Nanoseconds that a microsecond file can hold too. */
static uint32_t fraction_ns(unsigned i)
{
    return 123456000 + i * 1000;
}

static void make_pcap(struct file *f, bool is_big_endian, bool is_ns)
{
    *f = (struct file){.is_big_endian = is_big_endian};
    put_u32(f, is_ns ? 0xa1b23c4d : 0xa1b2c3d4);
    put_u16(f, 2);
    put_u16(f, 4);
    put_u32(f, 0);
    put_u32(f, 0);
    put_u32(f, 65535);
    put_u32(f, 1);
    for (unsigned i = 0; i < N_FRAMES; i++) {
        uint8_t frame[FRAME_LEN];
        make_frame(i, frame);
        put_u32(f, FIRST_S + i);
        put_u32(f, is_ns ? fraction_ns(i) : fraction_ns(i) / 1000);
        put_u32(f, FRAME_LEN);
        put_u32(f, wire_len(i));
        put(f, frame, FRAME_LEN);
    }
}

static void put_interface(struct file *f, uint32_t link, uint32_t snap)
{
    put_u32(f, 1);
    put_u32(f, 32);
    put_u16(f, link);
    put_u16(f, 0);
    put_u32(f, snap);
    put_u16(f, 9); /* if_tsresol: 10^-9 */
    put_u16(f, 1);
    put(f, "\x09\0\0\0", 4);
    put_u32(f, 0); /* end of options */
    put_u32(f, 32);
}

static void make_pcapng_of(struct file *f, bool is_big_endian, uint32_t second_link,
                           uint32_t second_snap)
{
    *f = (struct file){.is_big_endian = is_big_endian};
    put_u32(f, 0x0a0d0d0a);
    put_u32(f, 28);
    put_u32(f, 0x1a2b3c4d);
    put_u16(f, 1);
    put_u16(f, 0);
    put_u32(f, 0xffffffff);
    put_u32(f, 0xffffffff);
    put_u32(f, 28);
    put_interface(f, 1, 65535);
    put_interface(f, second_link, second_snap);
    for (unsigned i = 0; i < N_FRAMES; i++) {
        uint8_t frame[FRAME_LEN];
        uint64_t ns = (uint64_t)(FIRST_S + i) * 1000000000 + fraction_ns(i);
        make_frame(i, frame);
        put_u32(f, 6);
        put_u32(f, 32 + FRAME_LEN);
        put_u32(f, i & 1);
        put_u32(f, (uint32_t)(ns >> 32));
        put_u32(f, (uint32_t)ns);
        put_u32(f, FRAME_LEN);
        put_u32(f, wire_len(i));
        put(f, frame, FRAME_LEN);
        put_u32(f, 32 + FRAME_LEN);
    }
}

static void make_pcapng(struct file *f, bool is_big_endian)
{
    make_pcapng_of(f, is_big_endian, 1, 65535);
}

/* Packs from..to of plain behind what is in packed. */
static void add_gzip(struct file *packed, const struct file *plain, size_t from, size_t to)
{
    z_stream z = {0};
    uint8_t in[FILE_OCTETS];
    uint8_t out[2 * FILE_OCTETS];
    memcpy(in, plain->data + from, to - from);
    if (deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        abort();
    }
    z.next_in = in;
    z.avail_in = (uInt)(to - from);
    z.next_out = out;
    z.avail_out = sizeof(out);
    CU_ASSERT_EQUAL(deflate(&z, Z_FINISH), Z_STREAM_END);
    put(packed, out, z.total_out);
    deflateEnd(&z);
}

static void add_lz4(struct file *packed, const struct file *plain, size_t from, size_t to)
{
    uint8_t out[2 * FILE_OCTETS];
    LZ4F_preferences_t how = {.frameInfo = {.contentChecksumFlag = LZ4F_contentChecksumEnabled}};
    size_t len = LZ4F_compressFrame(out, sizeof(out), plain->data + from, to - from, &how);
    CU_ASSERT(!LZ4F_isError(len));
    put(packed, out, len);
}

static void save(const uint8_t *data, size_t len)
{
    FILE *file = fopen(PATH, "wbe");
    if (!file || fwrite(data, 1, len, file) != len || fclose(file) != 0) {
        abort();
    }
}

static bool is_frame(const struct capture_frame *frame, unsigned i)
{
    uint8_t want[FRAME_LEN];
    int64_t ns = (int64_t)(FIRST_S + i) * WF_NS_PER_S + fraction_ns(i);
    make_frame(i, want);
    return i < N_FRAMES && frame->len == FRAME_LEN && frame->wire_len == wire_len(i) &&
           frame->time_ns == ns && !memcmp(frame->data, want, FRAME_LEN);
}

struct outcome {
    int open, end; /* end: of capture_next, when open was 0 */
    int error;     /* errno of open */
    unsigned n_frames;
    char why[512];
};

/* Reads all frames and checks that they are the first ones of ours. */
static struct outcome read_path(const char *path)
{
    struct outcome o = {0};
    struct capture *capture = NULL;
    o.open = capture_open(path, &capture, o.why, sizeof(o.why));
    o.error = errno;
    if (o.open < 0) {
        CU_ASSERT(capture == NULL);
        CU_ASSERT(strlen(o.why) > 5);
        return o;
    }
    CU_ASSERT_EQUAL(capture_link_type(capture), DLT_EN10MB);
    struct capture_frame frame;
    while ((o.end = capture_next(capture, &frame, o.why, sizeof(o.why))) == 1) {
        CU_ASSERT(is_frame(&frame, o.n_frames));
        o.n_frames++;
    }
    capture_close(capture);
    return o;
}

static struct outcome read_octets(const uint8_t *data, size_t len)
{
    save(data, len);
    return read_path(PATH);
}

static bool is_complete(const struct outcome *o)
{
    return o->open == 0 && o->end == 0 && o->n_frames == N_FRAMES;
}

static void every_pcap_format_gives_the_same_frames(void)
{
    struct file f;
    for (unsigned i = 0; i < 4; i++) {
        make_pcap(&f, i & 1, i & 2);
        struct outcome o = read_octets(f.data, f.len);
        CU_ASSERT(is_complete(&o));
    }
    for (unsigned i = 0; i < 2; i++) {
        make_pcapng(&f, i & 1);
        struct outcome o = read_octets(f.data, f.len);
        CU_ASSERT(is_complete(&o));
    }
}

static void packed_captures_give_the_same_frames(void)
{
    for (unsigned i = 0; i < 2; i++) {
        struct file f;
        struct file packed = {.len = 0};
        if (i == 0) {
            make_pcap(&f, false, true);
        } else {
            make_pcapng(&f, false);
        }
        add_gzip(&packed, &f, 0, f.len);
        struct outcome o = read_octets(packed.data, packed.len);
        CU_ASSERT(is_complete(&o));
        packed.len = 0;
        add_lz4(&packed, &f, 0, f.len);
        o = read_octets(packed.data, packed.len);
        CU_ASSERT(is_complete(&o));
    }
}

static void several_members_are_one_capture(void)
{
    static const size_t cuts[] = {1, 24, 30, 700};
    struct file f;
    make_pcap(&f, true, false);
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        struct file packed = {.len = 0};
        add_gzip(&packed, &f, 0, cuts[i]);
        add_gzip(&packed, &f, cuts[i], cuts[i]); /* an empty one between */
        add_gzip(&packed, &f, cuts[i], f.len);
        put(&packed, "\0\0\0\0", 4); /* padding of a tape block */
        struct outcome o = read_octets(packed.data, packed.len);
        CU_ASSERT(is_complete(&o));
        packed.len = 0;
        put(&packed, "\x50\x2a\x4d\x18\x03\0\0\0abc", 11); /* a frame to skip in front */
        add_lz4(&packed, &f, 0, cuts[i]);
        add_lz4(&packed, &f, cuts[i], f.len);
        o = read_octets(packed.data, packed.len);
        CU_ASSERT(is_complete(&o));
    }
}

static void capture_cut_at_any_octet_keeps_the_frames_before(void)
{
    struct file f;
    make_pcap(&f, false, false);
    for (size_t len = 0; len < f.len; len++) {
        struct outcome o = read_octets(f.data, len);
        if (len < 4) {
            CU_ASSERT_EQUAL(o.open, WF_E_FORMAT);
        } else if (len < HEADER_LEN) {
            CU_ASSERT_EQUAL(o.open, WF_E_TRUNCATED);
        } else {
            CU_ASSERT_EQUAL(o.open, 0);
            CU_ASSERT_EQUAL(o.n_frames, (len - HEADER_LEN) / RECORD_LEN);
            CU_ASSERT_EQUAL(o.end, (len - HEADER_LEN) % RECORD_LEN == 0 ? 0 : WF_E_TRUNCATED);
        }
    }
    make_pcapng(&f, false);
    unsigned n_frames = 0;
    for (size_t len = 60; len < f.len; len++) {
        struct outcome o = read_octets(f.data, len);
        CU_ASSERT_EQUAL(o.open, 0);
        CU_ASSERT(o.n_frames >= n_frames);
        bool is_between = len == 60 || (len >= 92 && (len - 92) % (32 + FRAME_LEN) == 0);
        CU_ASSERT_EQUAL(o.end, is_between ? 0 : WF_E_TRUNCATED);
        n_frames = o.n_frames;
    }
    CU_ASSERT_EQUAL(n_frames, N_FRAMES - 1);
}

/* Cut packed data is never taken for a whole capture, whatever octet it ends at. */
static void packed_capture_cut_at_any_octet_is_told(void)
{
    for (unsigned i = 0; i < 2; i++) {
        struct file f;
        struct file packed = {.len = 0};
        make_pcap(&f, false, false);
        if (i == 0) {
            add_gzip(&packed, &f, 0, f.len);
        } else {
            add_lz4(&packed, &f, 0, f.len);
        }
        unsigned n_frames = 0;
        for (size_t len = 0; len < packed.len; len++) {
            struct outcome o = read_octets(packed.data, len);
            CU_ASSERT(o.open == WF_E_FORMAT || o.open == WF_E_TRUNCATED || o.end == WF_E_TRUNCATED);
            CU_ASSERT(o.n_frames >= n_frames);
            n_frames = o.n_frames;
        }
        CU_ASSERT(i == 1 || n_frames == N_FRAMES); /* only the checksum was missing */
    }
}

static void damaged_packed_data_is_told_and_the_frames_before_stand(void)
{
    for (unsigned i = 0; i < 2; i++) {
        struct file f;
        struct file packed = {.len = 0};
        make_pcap(&f, false, false);
        if (i == 0) {
            add_gzip(&packed, &f, 0, f.len);
        } else {
            add_lz4(&packed, &f, 0, f.len);
        }
        packed.data[packed.len - 2] ^= 0x40; /* the checksum, or the length, of all */
        struct outcome o = read_octets(packed.data, packed.len);
        CU_ASSERT_EQUAL(o.open, 0);
        CU_ASSERT_EQUAL(o.end, WF_E_TRUNCATED);
        CU_ASSERT_PTR_NOT_NULL(strstr(o.why, "damaged"));
        CU_ASSERT_EQUAL(o.n_frames, N_FRAMES);
    }
}

static void any_octet_changed_in_packed_data_never_crashes(void)
{
    for (unsigned i = 0; i < 2; i++) {
        struct file f;
        struct file packed = {.len = 0};
        make_pcap(&f, false, false);
        if (i == 0) {
            add_gzip(&packed, &f, 0, f.len);
        } else {
            add_lz4(&packed, &f, 0, f.len);
        }
        size_t n_told = 0;
        for (size_t at = 4; at < packed.len; at++) {
            packed.data[at] ^= 0x55;
            save(packed.data, packed.len);
            packed.data[at] ^= 0x55;
            struct capture *capture = NULL;
            char why[512] = "";
            int rc = capture_open(PATH, &capture, why, sizeof(why));
            struct capture_frame frame;
            while (rc >= 0 && (rc = capture_next(capture, &frame, why, sizeof(why))) == 1) {
            }
            n_told += rc < 0;
            capture_close(capture);
        }
        CU_ASSERT(n_told > packed.len / 2);
    }
}

static void what_is_no_capture_is_refused_with_advice(void)
{
    struct outcome o = read_octets((const uint8_t *)"", 0);
    CU_ASSERT_EQUAL(o.open, WF_E_FORMAT);
    CU_ASSERT_PTR_NOT_NULL(strstr(o.why, "empty"));
    static const char text[] = "{\"this\": \"is no capture at all, however long it may be\"}\n";
    o = read_octets((const uint8_t *)text, sizeof(text) - 1);
    CU_ASSERT_EQUAL(o.open, WF_E_FORMAT);
    struct file plain = {.len = 0};
    struct file packed = {.len = 0};
    put(&plain, text, sizeof(text) - 1);
    add_gzip(&packed, &plain, 0, plain.len);
    o = read_octets(packed.data, packed.len);
    CU_ASSERT_EQUAL(o.open, WF_E_FORMAT);
    static const uint8_t zstd[64] = {0x28, 0xb5, 0x2f, 0xfd};
    o = read_octets(zstd, sizeof(zstd));
    CU_ASSERT_EQUAL(o.open, WF_E_FORMAT);
    CU_ASSERT_PTR_NOT_NULL(strstr(o.why, "zstd -dc 'capture.tmp' | whoflow replay -"));
}

static void file_that_can_not_be_read_tells_why(void)
{
    struct outcome o = read_path("there/is/no.such.file");
    CU_ASSERT_EQUAL(o.open, WF_E_IO);
    CU_ASSERT_EQUAL(o.error, ENOENT);
    o = read_path("/");
    CU_ASSERT_EQUAL(o.open, WF_E_IO);
    CU_ASSERT_EQUAL(o.error, EISDIR);
}

static void interfaces_that_libpcap_refuses_are_told_with_advice(void)
{
    static const struct {
        uint32_t link, snap;
        const char *word;
    } cases[] = {{113, 65535, "link types"}, {1, 262144, "editcap -F pcap"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct file f;
        make_pcapng_of(&f, false, cases[i].link, cases[i].snap);
        save(f.data, f.len);
        struct capture *capture = NULL;
        struct capture_frame frame;
        char why[512] = "";
        CU_ASSERT_EQUAL_FATAL(capture_open(PATH, &capture, why, sizeof(why)), 0);
        CU_ASSERT_EQUAL(capture_next(capture, &frame, why, sizeof(why)), WF_E_FORMAT);
        CU_ASSERT_PTR_NOT_NULL(strstr(why, cases[i].word));
        capture_close(capture);
    }
}

static void position_moves_with_the_frames_to_the_size_of_the_file(void)
{
    struct file f;
    struct file packed = {.len = 0};
    make_pcap(&f, false, false);
    add_gzip(&packed, &f, 0, f.len);
    save(packed.data, packed.len);
    struct capture *capture = NULL;
    struct capture_frame frame;
    char why[512];
    uint64_t read = 0;
    uint64_t size = 0;
    CU_ASSERT_EQUAL_FATAL(capture_open(PATH, &capture, why, sizeof(why)), 0);
    uint64_t before = 0;
    while (capture_next(capture, &frame, why, sizeof(why)) == 1) {
        capture_position(capture, &read, &size);
        CU_ASSERT(read > before && read < size); /* though the file was read at once */
        before = read;
    }
    capture_position(capture, &read, &size);
    CU_ASSERT_EQUAL(read, packed.len);
    CU_ASSERT_EQUAL(size, packed.len);
    capture_close(capture);
}

static void count_call(void *ctx)
{
    ++*(unsigned *)ctx;
}

static void pipe_that_stays_silent_is_left_when_told_to_stop(void)
{
    int data[2];
    int stop[2];
    CU_ASSERT_EQUAL_FATAL(pipe2(data, O_CLOEXEC), 0);
    CU_ASSERT_EQUAL_FATAL(pipe2(stop, O_CLOEXEC), 0);
    struct file f;
    make_pcap(&f, false, false);
    CU_ASSERT_EQUAL_FATAL(write(data[1], f.data, f.len - 10), (ssize_t)f.len - 10);
    unsigned n_idle = 0;
    struct capture_wait wait = {.stop_fd = stop[0], .idle = count_call, .ctx = &n_idle};
    char path[64];
    char why[512];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", data[0]);
    struct capture *capture = NULL;
    CU_ASSERT_EQUAL_FATAL(capture_open_waiting(path, &wait, &capture, why, sizeof(why)), 0);
    struct capture_frame frame;
    for (unsigned i = 0; i + 1 < N_FRAMES; i++) {
        CU_ASSERT_EQUAL(capture_next(capture, &frame, why, sizeof(why)), 1);
        CU_ASSERT(is_frame(&frame, i));
    }
    CU_ASSERT_EQUAL(write(stop[1], "x", 1), 1);
    CU_ASSERT_EQUAL(capture_next(capture, &frame, why, sizeof(why)), WF_E_STOPPED);
    uint64_t read = 0;
    uint64_t size = 1;
    capture_position(capture, &read, &size);
    CU_ASSERT_EQUAL(size, 0);
    CU_ASSERT_EQUAL(n_idle, 0); /* it was told to stop, so it did not wait */
    capture_close(capture);
    for (size_t i = 0; i < 2; i++) {
        close(data[i]);
        close(stop[i]);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"every_pcap_format_gives_the_same_frames", every_pcap_format_gives_the_same_frames},
        {"packed_captures_give_the_same_frames", packed_captures_give_the_same_frames},
        {"several_members_are_one_capture", several_members_are_one_capture},
        {"capture_cut_at_any_octet_keeps_the_frames_before",
         capture_cut_at_any_octet_keeps_the_frames_before},
        {"packed_capture_cut_at_any_octet_is_told", packed_capture_cut_at_any_octet_is_told},
        {"damaged_packed_data_is_told_and_the_frames_before_stand",
         damaged_packed_data_is_told_and_the_frames_before_stand},
        {"any_octet_changed_in_packed_data_never_crashes",
         any_octet_changed_in_packed_data_never_crashes},
        {"what_is_no_capture_is_refused_with_advice", what_is_no_capture_is_refused_with_advice},
        {"file_that_can_not_be_read_tells_why", file_that_can_not_be_read_tells_why},
        {"interfaces_that_libpcap_refuses_are_told_with_advice",
         interfaces_that_libpcap_refuses_are_told_with_advice},
        {"position_moves_with_the_frames_to_the_size_of_the_file",
         position_moves_with_the_frames_to_the_size_of_the_file},
        {"pipe_that_stays_silent_is_left_when_told_to_stop",
         pipe_that_stays_silent_is_left_when_told_to_stop},
    };
    char folder[] = "/tmp/test_capture.XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) < 0) {
        perror(folder);
        return 1;
    }
    int rc = test_main("capture", cases, sizeof(cases) / sizeof(cases[0]));
    if (unlink(PATH) < 0 || rmdir(folder) < 0) {
        perror(folder);
    }
    return rc;
}
