// SPDX-License-Identifier: Apache-2.0
#include <nettle/version.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>
#include <zlib.h>

#include <lz4.h>
#include <uv.h>

#include "collector/command/command.h"

#ifdef NDEBUG
#    define BUILD_TYPE "release"
#else
#    define BUILD_TYPE "with assertions"
#endif

/* libpcap tells "libpcap version 1.10.3 (with TPACKET_V3)". */
static const char *pcap_version(void)
{
    const char *text = pcap_lib_version();
    const char *number = strpbrk(text, "0123456789");
    return number ? number : text;
}

/* Of the library that is loaded, as all others here. */
static void nettle_version(char *text, size_t len)
{
    snprintf(text, len, "%d.%d", nettle_version_major(), nettle_version_minor());
}

static void xxhash_version(char *text, size_t len)
{
    unsigned v = XXH_versionNumber();
    snprintf(text, len, "%u.%u.%u", v / 10000, v / 100 % 100, v % 100);
}

/* The versions are plain words: none has a quote or a backslash. */
int command_version(const struct options *options)
{
    char nettle[32];
    char xxhash[32];
    nettle_version(nettle, sizeof(nettle));
    xxhash_version(xxhash, sizeof(xxhash));
    const struct {
        const char *name, *version;
    } parts[] = {
        {"whoflow", WF_VERSION},        {"build", BUILD_TYPE},       {"compiler", __VERSION__},
        {"libuv", uv_version_string()}, {"libpcap", pcap_version()}, {"lz4", LZ4_versionString()},
        {"zlib", zlibVersion()},        {"nettle", nettle},          {"xxhash", xxhash},
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (options->json) {
            printf("%s\"%s\":\"%s\"", i ? "," : "{", parts[i].name, parts[i].version);
        } else {
            printf("%s %s\n", parts[i].name, parts[i].version);
        }
    }
    if (options->json) {
        puts("}");
    }
    return EXIT_CODE_OK;
}
