// SPDX-License-Identifier: Apache-2.0
/*
 * wf_reference - the JSON writer one writes first: inet_ntop, strftime and snprintf for every value
 *
 * Reads a capture that wf_generate wrote and writes one JSON object a record to /dev/null. It knows the two profiles of
 * the load beforehand, so what it spends is rendering. Prints records and its CPU time as JSON.
 */
#include <arpa/inet.h>
#include <sys/resource.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/bench/load.h"

#define FRAME_HEAD 42U

static const struct {
    uint16_t element;
    const char *name;
} names[] = {
    {1, "octetDeltaCount"},
    {2, "packetDeltaCount"},
    {4, "protocolIdentifier"},
    {5, "ipClassOfService"},
    {6, "tcpControlBits"},
    {7, "sourceTransportPort"},
    {8, "sourceIPv4Address"},
    {9, "sourceIPv4PrefixLength"},
    {10, "ingressInterface"},
    {11, "destinationTransportPort"},
    {12, "destinationIPv4Address"},
    {13, "destinationIPv4PrefixLength"},
    {14, "egressInterface"},
    {15, "ipNextHopIPv4Address"},
    {16, "bgpSourceAsNumber"},
    {17, "bgpDestinationAsNumber"},
    {18, "bgpNextHopIPv4Address"},
    {21, "flowEndSysUpTime"},
    {22, "flowStartSysUpTime"},
    {27, "sourceIPv6Address"},
    {28, "destinationIPv6Address"},
    {29, "sourceIPv6PrefixLength"},
    {30, "destinationIPv6PrefixLength"},
    {31, "flowLabelIPv6"},
    {32, "icmpTypeCodeIPv4"},
    {48, "samplerId"},
    {52, "minimumTTL"},
    {53, "maximumTTL"},
    {54, "fragmentIdentification"},
    {58, "vlanId"},
    {59, "postVlanId"},
    {61, "flowDirection"},
    {62, "ipNextHopIPv6Address"},
    {89, "forwardingStatus"},
    {136, "flowEndReason"},
    {139, "icmpTypeCodeIPv6"},
    {152, "flowStartMilliseconds"},
    {153, "flowEndMilliseconds"},
    {243, "dot1qVlanId"},
    {245, "dot1qCustomerVlanId"},
};

struct clock {
    uint64_t sent_ms, uptime_ms;
};

static uint64_t get(const uint8_t *at, unsigned len)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < len; i++) {
        value = value << 8 | at[i];
    }
    return value;
}

static const char *name_of(unsigned element)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].element == element) {
            return names[i].name;
        }
    }
    return "unknown";
}

static void write_time(FILE *to, uint64_t time_ms)
{
    time_t seconds = (time_t)(time_ms / 1000);
    struct tm tm;
    char text[32];
    gmtime_r(&seconds, &tm);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    fprintf(to, "\"%s.%03uZ\"", text, (unsigned)(time_ms % 1000));
}

static void write_value(FILE *to, const struct load_field *field, const uint8_t *at,
                        const struct clock *clock)
{
    char text[INET6_ADDRSTRLEN];
    switch (field->element) {
    case 8:
    case 12:
    case 15:
    case 18:
        fprintf(to, "\"%s\"", inet_ntop(AF_INET, at, text, sizeof(text)));
        break;
    case 27:
    case 28:
    case 62:
        fprintf(to, "\"%s\"", inet_ntop(AF_INET6, at, text, sizeof(text)));
        break;
    case 21:
    case 22:
        write_time(to, clock->sent_ms - clock->uptime_ms + get(at, field->len));
        break;
    case 152:
    case 153:
        write_time(to, get(at, field->len));
        break;
    default:
        fprintf(to, "%" PRIu64, get(at, field->len));
        break;
    }
}

static void write_record(FILE *to, const struct load_template *t, const uint8_t *at,
                         const struct clock *clock)
{
    fputc('{', to);
    for (unsigned i = 0; i < t->n_fields; i++) {
        fprintf(to, "%s\"%s\":", i == 0 ? "" : ",", name_of(t->fields[i].element));
        write_value(to, &t->fields[i], at, clock);
        at += t->fields[i].len;
    }
    fputs("}\n", to);
}

/* Records of the data sets of a datagram. */
static uint64_t write_datagram(FILE *to, const uint8_t *data, size_t len)
{
    enum load_profile profile = get(data, 2) == 9 ? LOAD_V9 : LOAD_IPFIX;
    size_t at = profile == LOAD_V9 ? 20 : 16;
    struct clock clock = {.sent_ms = get(data + (profile == LOAD_V9 ? 8 : 4), 4) * 1000,
                          .uptime_ms = profile == LOAD_V9 ? get(data + 4, 4) : 0};
    uint64_t records = 0;
    while (at + 4 <= len) {
        size_t id = get(data + at, 2);
        size_t set_len = get(data + at + 2, 2);
        if (set_len < 4 || set_len > len - at) {
            break;
        }
        if (id == 256 || id == 257) {
            const struct load_template *t = &load_templates(profile)[id - 256];
            for (size_t r = 4; r + t->record_len <= set_len; r += t->record_len) {
                write_record(to, t, data + at + r, &clock);
                records++;
            }
        }
        at += set_len;
    }
    return records;
}

static uint8_t *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "re");
    uint8_t *data = NULL;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        goto out;
    }
    long size = ftell(file);
    rewind(file);
    data = size <= 0 ? NULL : malloc((size_t)size);
    if (data != NULL && fread(data, 1, (size_t)size, file) != (size_t)size) {
        free(data);
        data = NULL;
    }
    *len = (size_t)size;
out:
    if (file != NULL) {
        fclose(file);
    }
    return data;
}

static int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int main(int argc, char **argv)
{
    size_t len = 0;
    uint8_t *data = argc == 2 ? read_file(argv[1], &len) : NULL;
    FILE *to = fopen("/dev/null", "we");
    if (data == NULL || to == NULL) {
        fprintf(stderr, "wf_reference CAPTURE: %s\n", strerror(errno));
        free(data);
        if (to != NULL) {
            fclose(to);
        }
        return 1;
    }
    int64_t start = cpu_ns();
    uint64_t records = 0;
    for (size_t at = 24; at + 16 <= len;) {
        uint32_t captured = 0;
        memcpy(&captured, data + at + 8, sizeof(captured));
        at += 16;
        if (captured < FRAME_HEAD || captured > len - at) {
            break;
        }
        records += write_datagram(to, data + at + FRAME_HEAD, captured - FRAME_HEAD);
        at += captured;
    }
    printf("{\"records\":%" PRIu64 ",\"cpu_ns\":%" PRId64 "}\n", records, cpu_ns() - start);
    fclose(to);
    free(data);
    return 0;
}
