// SPDX-License-Identifier: Apache-2.0
/*
 * Replays files and folders of inputs through a fuzz target, so that every build runs what the fuzzers found.
 * Prints the closing count; fails when there was no input at all.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned replay_file(const char *path)
{
    FILE *f = fopen(path, "rbe");
    if (!f) {
        return 0;
    }
    static uint8_t data[1 << 20];
    size_t size = fread(data, 1, sizeof(data), f);
    fclose(f);
    /* A copy of exactly this size, so that a sanitizer sees the first octet beyond. */
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) {
        return 0;
    }
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    return 1;
}

static unsigned replay_folder(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) {
        return replay_file(path);
    }
    unsigned n = 0;
    const struct dirent *entry;
    while ((entry = readdir(dir))) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        char name[4096];
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        n += replay_file(name);
    }
    closedir(dir);
    return n;
}

int main(int argc, char **argv)
{
    unsigned n = 0;
    for (int i = 1; i < argc; i++) {
        n += replay_folder(argv[i]);
    }
    printf("%u passed, %d failed\n", n, n ? 0 : 1);
    return n ? 0 : 1;
}
