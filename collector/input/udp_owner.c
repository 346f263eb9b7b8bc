// SPDX-License-Identifier: Apache-2.0
/*
 * /proc/net/udp has port -> inode of the socket; /proc/PID/fd/N -> "socket:[inode]". All below one open /proc/PID, so that a
 * recycled pid can not mix two processes.
 */
#include "collector/input/udp_owner.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_INODES 16

struct inodes {
    unsigned long inode[MAX_INODES];
    size_t n;
};

enum column {
    COLUMN_LOCAL = 1, /* ADDRESS:PORT in hex */
    COLUMN_INODE = 9
};

static void read_line(char *line, uint16_t port, struct inodes *inodes)
{
    char *rest;
    unsigned column = 0;
    for (char *word = strtok_r(line, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
        if (column == COLUMN_LOCAL) {
            const char *colon = strchr(word, ':');
            if (!colon || strtoul(colon + 1, NULL, 16) != port) {
                return;
            }
        } else if (column == COLUMN_INODE && inodes->n < MAX_INODES) {
            inodes->inode[inodes->n++] = strtoul(word, NULL, 10);
            return;
        }
        column++;
    }
}

static void read_table(const char *path, uint16_t port, struct inodes *inodes)
{
    FILE *table = fopen(path, "re");
    char line[512];
    while (table && fgets(line, sizeof(line), table)) {
        read_line(line, port, inodes);
    }
    if (table) {
        fclose(table);
    }
}

/* Is this descriptor one of the sockets? */
static bool is_wanted(int fd_folder, const char *name, const struct inodes *inodes)
{
    static const char prefix[] = "socket:[";
    char target[64];
    ssize_t n = readlinkat(fd_folder, name, target, sizeof(target) - 1);
    if (n < 0) {
        return false;
    }
    target[n] = '\0';
    if (strncmp(target, prefix, sizeof(prefix) - 1) != 0) {
        return false;
    }
    unsigned long inode = strtoul(target + sizeof(prefix) - 1, NULL, 10);
    for (size_t i = 0; i < inodes->n; i++) {
        if (inodes->inode[i] == inode) {
            return true;
        }
    }
    return false;
}

static bool holds(int process, const struct inodes *inodes)
{
    int fd = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder) {
        if (fd >= 0) {
            close(fd);
        }
        return false;
    }
    bool found = false;
    const struct dirent *entry;
    while (!found && (entry = readdir(folder)) != NULL) { /* NOLINT(concurrency-mt-unsafe): ours */
        found = is_wanted(dirfd(folder), entry->d_name, inodes);
    }
    closedir(folder);
    return found;
}

static void name_process(int process, const char *pid, char *text, size_t size)
{
    char comm[32] = "";
    int fd = openat(process, "comm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, comm, sizeof(comm) - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    comm[n > 0 ? n : 0] = '\0';
    comm[strcspn(comm, "\n")] = '\0';
    snprintf(text, size, "%s[%s]", comm[0] ? comm : "process", pid);
}

bool udp_owner(uint16_t port, char *text, size_t size)
{
    struct inodes inodes = {.n = 0};
    read_table("/proc/net/udp", port, &inodes);
    read_table("/proc/net/udp6", port, &inodes);
    DIR *proc = inodes.n ? opendir("/proc") : NULL;
    bool found = false;
    const struct dirent *entry;
    while (proc && !found && (entry = readdir(proc)) != NULL) { /* NOLINT(concurrency-mt-unsafe) */
        if (!isdigit((unsigned char)entry->d_name[0])) {
            continue;
        }
        int process = openat(dirfd(proc), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (process < 0) {
            continue;
        }
        if (holds(process, &inodes)) {
            name_process(process, entry->d_name, text, size);
            found = true;
        }
        close(process);
    }
    if (proc) {
        closedir(proc);
    }
    return found;
}
