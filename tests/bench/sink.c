// SPDX-License-Identifier: Apache-2.0
/*
 * wf_sink - the least that a receiver can do: recvmmsg in batches of 64, count, forget
 *
 * What a collector costs a datagram is told as a multiple of this. Prints its counts as JSON on SIGTERM or SIGINT.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH     64
#define SLOT_SIZE 2048

static volatile sig_atomic_t stop;

static void on_signal(int signal)
{
    (void)signal;
    stop = 1;
}

static int open_socket(uint16_t port, int buffer)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer)) < 0) {
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer,
                         sizeof(buffer)); /* as much as we may */
    }
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
        return -1;
    }
    return fd;
}

int main(int argc, char **argv)
{
    static uint8_t slots[BATCH][SLOT_SIZE];
    static struct sockaddr_storage sources[BATCH];
    static struct mmsghdr messages[BATCH];
    static struct iovec vectors[BATCH];
    if (argc != 3) {
        fputs("wf_sink PORT RECEIVE_BUFFER_BYTES\n", stderr);
        return 2;
    }
    int fd = open_socket((uint16_t)strtoul(argv[1], NULL, 10), (int)strtoul(argv[2], NULL, 10));
    if (fd < 0) {
        fprintf(stderr, "wf_sink: port %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: it has to end the wait */
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    for (int i = 0; i < BATCH; i++) {
        vectors[i] = (struct iovec){slots[i], SLOT_SIZE};
        messages[i].msg_hdr =
            (struct msghdr){.msg_name = &sources[i], .msg_iov = &vectors[i], .msg_iovlen = 1};
    }
    uint64_t datagrams = 0;
    uint64_t octets = 0;
    int received = BATCH;
    while (stop == 0) {
        for (int i = 0; i < received; i++) {
            messages[i].msg_hdr.msg_namelen = sizeof(sources[i]);
        }
        received = recvmmsg(fd, messages, BATCH, MSG_WAITFORONE, NULL);
        if (received < 0) {
            received = 0;
            if (errno != EINTR) {
                break;
            }
        }
        for (int i = 0; i < received; i++) {
            octets += messages[i].msg_len;
        }
        datagrams += (uint64_t)received;
    }
    printf("{\"datagrams\":%" PRIu64 ",\"octets\":%" PRIu64 "}\n", datagrams, octets);
    return 0;
}
