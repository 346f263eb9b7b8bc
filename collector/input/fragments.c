// SPDX-License-Identifier: Apache-2.0
/*
 * Waiting datagrams hang in a hash table, and in one list from the oldest to the newest. What came of a datagram is kept as a sorted
 * list of spans; neighbours are merged, so fragments in order or in reverse order are one span, and a datagram is
 * whole when its only span reaches from 0 to the end that the last fragment told.
 *
 *      0        1480      2960      4440   total
 *      |█████████|         |█████████|        |      2 spans, 3 frames
 *
 * A datagram that was refused stays in the table without its octets until it is too old, so that its later fragments are counted
 * and do not start it anew.
 */
#include "collector/input/fragments.h"

#include <sys/random.h>

#include <stdlib.h>
#include <string.h>

#define N_BUCKETS   1024
#define MAX_SPANS   32
#define MAX_OCTETS  65535
#define MIN_BUFFER  4096
#define MAX_AGE_NS  (30 * WF_NS_PER_S)
#define MIN_BUDGET  131072
#define ENTRY_BYTES sizeof(struct waiting)

struct span {
    uint32_t from, to;
};

struct waiting {
    struct wf_addr source, destination;
    uint32_t id;
    uint8_t protocol;
    bool refused;
    uint32_t total; /* 0 = the last fragment has not come */
    uint32_t n_frames;
    uint32_t n_spans;
    struct span spans[MAX_SPANS];
    uint8_t *data; /* owned */
    size_t cap;
    int64_t since_ns;
    struct waiting *next_in_bucket;
    struct waiting *older, *newer;
};

struct fragments {
    size_t max_bytes, bytes;
    uint64_t seed;
    int64_t now_ns;
    uint64_t lost, n_waiting;
    struct waiting *oldest, *newest;
    uint8_t *whole; /* what the last call gave out; owned */
    struct waiting *buckets[N_BUCKETS];
};

struct fragments *fragments_new(size_t max_bytes)
{
    struct fragments *fragments = calloc(1, sizeof(*fragments));
    if (!fragments) {
        return NULL;
    }
    /* One datagram of the largest size must fit, whatever the caller says. */
    fragments->max_bytes = max_bytes < MIN_BUDGET ? MIN_BUDGET : max_bytes;
    if (getrandom(&fragments->seed, sizeof(fragments->seed), GRND_NONBLOCK) < 0) {
        fragments->seed = 0; /* early in boot: the table still works, only not keyed */
    }
    return fragments;
}

static size_t bucket_of(const struct fragments *fragments, const struct wf_addr *source,
                        const struct wf_addr *destination, uint32_t id)
{
    uint64_t words[4];
    memcpy(words, source->bytes, 16);
    memcpy(words + 2, destination->bytes, 16);
    uint64_t hash = wf_mix64(fragments->seed ^ id);
    for (size_t i = 0; i < 4; i++) {
        hash = wf_mix64(hash ^ words[i]);
    }
    return hash % N_BUCKETS;
}

static struct waiting *find(const struct fragments *fragments, const struct fragment *fragment)
{
    struct waiting *w = fragments->buckets[bucket_of(fragments, &fragment->source,
                                                     &fragment->destination, fragment->id)];
    while (w && (w->id != fragment->id || !wf_addr_equal(&w->source, &fragment->source) ||
                 !wf_addr_equal(&w->destination, &fragment->destination))) {
        w = w->next_in_bucket;
    }
    return w;
}

static void drop_data(struct fragments *fragments, struct waiting *w)
{
    fragments->bytes -= w->cap;
    free(w->data);
    w->data = NULL;
    w->cap = 0;
}

/* Takes it out of list and table, and frees it with its data. */
static void discard(struct fragments *fragments, struct waiting *w)
{
    struct waiting **link =
        &fragments->buckets[bucket_of(fragments, &w->source, &w->destination, w->id)];
    while (*link != w) {
        link = &(*link)->next_in_bucket;
    }
    *link = w->next_in_bucket;
    *(w->older ? &w->older->newer : &fragments->oldest) = w->newer;
    *(w->newer ? &w->newer->older : &fragments->newest) = w->older;
    drop_data(fragments, w);
    fragments->bytes -= ENTRY_BYTES;
    free(w);
}

static void give_up(struct fragments *fragments, struct waiting *w)
{
    fragments->lost += w->n_frames;
    fragments->n_waiting -= w->n_frames;
    w->n_frames = 0;
}

void fragments_free(struct fragments *fragments)
{
    if (!fragments) {
        return;
    }
    while (fragments->oldest) {
        discard(fragments, fragments->oldest);
    }
    free(fragments->whole);
    free(fragments);
}

uint64_t fragments_lost(const struct fragments *fragments)
{
    return fragments->lost;
}

uint64_t fragments_waiting(const struct fragments *fragments)
{
    return fragments->n_waiting;
}

void fragments_set_time(struct fragments *fragments, int64_t now_ns)
{
    fragments->now_ns = now_ns;
    while (fragments->oldest && now_ns - fragments->oldest->since_ns > MAX_AGE_NS) {
        give_up(fragments, fragments->oldest);
        discard(fragments, fragments->oldest);
    }
}

/* Makes room for n octets more; never gives up keep. */
static void make_room(struct fragments *fragments, size_t n, const struct waiting *keep)
{
    struct waiting *w = fragments->oldest;
    while (w && fragments->bytes + n > fragments->max_bytes) {
        struct waiting *newer = w->newer;
        if (w != keep) {
            give_up(fragments, w);
            discard(fragments, w);
        }
        w = newer;
    }
}

static struct waiting *start(struct fragments *fragments, const struct fragment *fragment)
{
    make_room(fragments, ENTRY_BYTES, NULL);
    struct waiting *w = calloc(1, sizeof(*w));
    if (!w) {
        return NULL;
    }
    w->source = fragment->source;
    w->destination = fragment->destination;
    w->id = fragment->id;
    w->since_ns = fragments->now_ns;
    struct waiting **bucket =
        &fragments->buckets[bucket_of(fragments, &w->source, &w->destination, w->id)];
    w->next_in_bucket = *bucket;
    *bucket = w;
    w->older = fragments->newest;
    *(w->older ? &w->older->newer : &fragments->oldest) = w;
    fragments->newest = w;
    fragments->bytes += ENTRY_BYTES;
    return w;
}

static bool reserve(struct fragments *fragments, struct waiting *w, size_t need)
{
    if (need <= w->cap) {
        return true;
    }
    size_t cap = w->cap ? w->cap : MIN_BUFFER;
    while (cap < need) {
        cap *= 2;
    }
    make_room(fragments, cap - w->cap, w);
    uint8_t *data = realloc(w->data, cap);
    if (!data) {
        return false;
    }
    fragments->bytes += cap - w->cap;
    w->data = data;
    w->cap = cap;
    return true;
}

/* The spans' place for from..to: index of the first span that ends at or behind from. */
static uint32_t span_place(const struct waiting *w, uint32_t from)
{
    uint32_t i = 0;
    while (i < w->n_spans && w->spans[i].to < from) {
        i++;
    }
    return i;
}

/* Puts from..to, which overlaps no span, between the others and merges it with those it touches. */
static bool span_insert(struct waiting *w, uint32_t from, uint32_t to)
{
    uint32_t i = span_place(w, from);
    bool joins_left = i < w->n_spans && w->spans[i].to == from;
    uint32_t right = joins_left ? i + 1 : i;
    bool joins_right = right < w->n_spans && w->spans[right].from == to;
    if (joins_left && joins_right) {
        w->spans[i].to = w->spans[right].to;
        w->n_spans--;
        memmove(&w->spans[right], &w->spans[right + 1], (w->n_spans - right) * sizeof(w->spans[0]));
    } else if (joins_left) {
        w->spans[i].to = to;
    } else if (joins_right) {
        w->spans[right].from = from;
    } else if (w->n_spans == MAX_SPANS) {
        return false;
    } else {
        memmove(&w->spans[i + 1], &w->spans[i], (w->n_spans - i) * sizeof(w->spans[0]));
        w->spans[i] = (struct span){from, to};
        w->n_spans++;
    }
    return true;
}

/* -1 = overlaps with other content, 0 = nothing there yet, 1 = the same octets are there already */
static int overlap(const struct waiting *w, const struct fragment *fragment, uint32_t to)
{
    for (uint32_t i = 0; i < w->n_spans; i++) {
        const struct span *span = &w->spans[i];
        if (span->to <= fragment->offset || span->from >= to) {
            continue;
        }
        bool inside = span->from <= fragment->offset && to <= span->to;
        return inside && !memcmp(w->data + fragment->offset, fragment->data, fragment->len) ? 1
                                                                                            : -1;
    }
    return 0;
}

/* Adds the octets; false when the datagram must be refused. */
static bool take(struct fragments *fragments, struct waiting *w, const struct fragment *fragment)
{
    uint32_t to = fragment->offset + (uint32_t)fragment->len;
    uint32_t end = w->n_spans ? w->spans[w->n_spans - 1].to : 0;
    if (w->total && (to > w->total || (!fragment->more && to != w->total))) {
        return false;
    }
    if (!fragment->more && end > to) {
        return false;
    }
    int there = overlap(w, fragment, to);
    if (there < 0) {
        return false;
    }
    if (there == 0) {
        if (!reserve(fragments, w, to) || !span_insert(w, fragment->offset, to)) {
            return false;
        }
        memcpy(w->data + fragment->offset, fragment->data, fragment->len);
    }
    if (!fragment->more) {
        w->total = to;
    }
    if (fragment->offset == 0) {
        w->protocol = fragment->protocol;
    }
    return true;
}

enum packet_verdict fragments_add(struct fragments *fragments, const struct fragment *fragment,
                                  struct fragments_whole *whole)
{
    if (fragment->len == 0 || (fragment->more && fragment->len % 8 != 0) ||
        fragment->offset + (uint64_t)fragment->len > MAX_OCTETS) {
        return PACKET_BROKEN;
    }
    free(fragments->whole);
    fragments->whole = NULL;
    struct waiting *w = find(fragments, fragment);
    if (!w) {
        w = start(fragments, fragment);
    }
    if (!w || w->refused) {
        fragments->lost++;
        return PACKET_FRAGMENT;
    }
    w->n_frames++;
    fragments->n_waiting++;
    if (!take(fragments, w, fragment)) {
        give_up(fragments, w);
        drop_data(fragments, w);
        w->refused = true;
        return PACKET_FRAGMENT;
    }
    if (!w->total || w->n_spans != 1 || w->spans[0].from != 0 || w->spans[0].to != w->total) {
        return PACKET_FRAGMENT;
    }
    fragments->whole = w->data;
    *whole = (struct fragments_whole){
        .data = w->data, .len = w->total, .protocol = w->protocol, .n_fragments = w->n_frames};
    fragments->n_waiting -= w->n_frames;
    fragments->bytes -= w->cap;
    w->data = NULL;
    w->cap = 0;
    discard(fragments, w);
    return PACKET_UDP;
}
