// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/input/udp.h"

static int parse_port(const char *text, uint16_t *port)
{
    char *end;
    unsigned long v = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || v > 65535) {
        return WF_E_FORMAT;
    }
    *port = (uint16_t)v;
    return WF_OK;
}

/* host "" = every address of both families. */
static int fill(const char *host, uint16_t port, struct sockaddr_storage *storage)
{
    memset(storage, 0, sizeof(*storage));
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (!*host || inet_pton(AF_INET6, host, &six.sin6_addr) == 1) {
        memcpy(storage, &six, sizeof(six));
        return WF_OK;
    }
    if (inet_pton(AF_INET, host, &four.sin_addr) == 1) {
        memcpy(storage, &four, sizeof(four));
        return WF_OK;
    }
    return WF_E_FORMAT;
}

int udp_parse_address(const char *text, uint16_t default_port, struct sockaddr_storage *storage)
{
    char host[INET6_ADDRSTRLEN + 1] = "";
    uint16_t port = default_port;
    const char *bracket = *text == '[' ? strchr(text, ']') : NULL;
    const char *colon = strrchr(text, ':');
    const char *host_start = text;
    size_t host_len;
    if (bracket) {
        host_start = text + 1;
        host_len = (size_t)(bracket - host_start);
        colon = bracket[1] == ':' ? bracket + 1 : NULL;
        if (bracket[1] && !colon) {
            return WF_E_FORMAT;
        }
    } else if (colon && strchr(text, ':') == colon) {
        host_len = (size_t)(colon - text);
    } else if (!colon && parse_port(text, &port) == WF_OK) {
        return fill("", port, storage);
    } else { /* an address alone: several colons are IPv6 */
        host_len = strlen(text);
        colon = NULL;
    }
    bool is_every = colon && !bracket; /* only ":PORT" may leave the address out */
    if (host_len >= sizeof(host) || (colon && parse_port(colon + 1, &port) < 0) ||
        (host_len == 0 && !is_every)) {
        return WF_E_FORMAT;
    }
    memcpy(host, host_start, host_len);
    return fill(host, port, storage);
}

const char *udp_address_fault(const char *text)
{
    uint16_t port;
    const char *colon = strrchr(text, ':');
    const char *bracket = *text == '[' ? strchr(text, ']') : NULL;
    bool has_digits_only = text[strspn(text, "0123456789")] == '\0';
    if (*text == '[' && !bracket) {
        return "the ] is missing";
    }
    if (!bracket && colon && strchr(text, ':') != colon) {
        return "put an IPv6 address in [ ] before its port, as [::1]:2055";
    }
    if (bracket) {
        colon = bracket[1] == ':' ? bracket + 1 : NULL;
    }
    if ((*text && has_digits_only) || (colon && parse_port(colon + 1, &port) < 0)) {
        return "ports are 0 to 65535";
    }
    size_t host_len = colon ? (size_t)(colon - text) : strlen(text);
    if (!bracket && strspn(text, "0123456789.") < host_len) {
        return "names are not looked up: write the address";
    }
    return "no address";
}
