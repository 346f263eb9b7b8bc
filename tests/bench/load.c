// SPDX-License-Identifier: Apache-2.0
/*
 * Flows are drawn by the alias method (Walker): one random number picks a column of the table, a second one whether the
 * column's own tuple or its alias is meant. Values come from a 64-bit xorshift* generator; nothing reads a clock.
 */
#include "tests/bench/load.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define N_TUPLES       100000U
#define START_MS       UINT64_C(1767261600000) /* 2026-01-01 10:00 UTC */
#define UPTIME_MS      UINT64_C(864000000)     /* of every exporter at START_MS: ten days */
#define DATAGRAMS_A_MS 20U                     /* of the whole load: 20 000 a second */
#define IPV6_OF_100    20U
#define OPTIONS_ID     512
#define SAMPLING       1000U

struct tuple {
    uint8_t source[16], destination[16], next_hop[16]; /* IPv4: the last four octets */
    uint16_t source_port, destination_port;
    uint8_t protocol;
    uint8_t interface_in, interface_out;
};

struct column {
    double keep; /* chance of its own tuple */
    uint32_t alias;
};

struct stream {
    uint32_t sequence;
    uint32_t sent; /* datagrams */
};

struct load {
    struct load_config config;
    uint64_t random;
    uint64_t datagrams;
    uint32_t next_stream, n_streams;
    struct stream *streams;
    struct tuple *tuples;
    struct column *columns;
    uint8_t data[LOAD_MAX_DATAGRAM];
};

struct writer {
    uint8_t *at;
};

static uint64_t draw(struct load *load)
{
    load->random ^= load->random >> 12;
    load->random ^= load->random << 25;
    load->random ^= load->random >> 27;
    return load->random * UINT64_C(0x2545F4914F6CDD1D);
}

static uint32_t draw_below(struct load *load, uint32_t limit)
{
    return (uint32_t)((draw(load) >> 32) * limit >> 32);
}

static void put(struct writer *w, uint64_t value, unsigned len)
{
    for (unsigned i = 0; i < len; i++) {
        w->at[i] = (uint8_t)(value >> (8 * (len - 1 - i)));
    }
    w->at += len;
}

static void put_octets(struct writer *w, const uint8_t *octets, unsigned len)
{
    memcpy(w->at, octets, len);
    w->at += len;
}

static void make_address(struct load *load, uint8_t *address, uint8_t net)
{
    static const uint8_t documentation[4] = {0x20, 0x01, 0x0d, 0xb8};
    memcpy(address, documentation, 4);
    address[4] = 0;
    address[5] = net;
    for (int i = 6; i < 16; i++) {
        address[i] = (uint8_t)draw(load);
    }
    address[12] = 10; /* as IPv4: 10.0.0.0/8 */
}

static void make_tuples(struct load *load)
{
    static const uint16_t services[] = {443, 443, 443, 80, 53, 22, 123, 8080};
    for (uint32_t i = 0; i < N_TUPLES; i++) {
        struct tuple *t = &load->tuples[i];
        make_address(load, t->source, 1);
        make_address(load, t->destination, 2);
        make_address(load, t->next_hop, 3);
        t->source_port = (uint16_t)(1024 + draw_below(load, 64512));
        t->destination_port = services[draw_below(load, 8)];
        t->protocol = t->destination_port == 53 || t->destination_port == 123 ? 17 : 6;
        t->interface_in = (uint8_t)(1 + draw_below(load, 48));
        t->interface_out = (uint8_t)(1 + draw_below(load, 48));
    }
}

/* Zipf: tuple k (from 1) has the weight 1/k. */
static int make_columns(struct load *load)
{
    uint32_t *small = calloc(N_TUPLES, sizeof(*small));
    uint32_t *large = calloc(N_TUPLES, sizeof(*large));
    int rc = -1;
    if (small == NULL || large == NULL) {
        goto out;
    }
    double sum = 0;
    for (uint32_t i = 0; i < N_TUPLES; i++) {
        sum += 1.0 / (i + 1);
    }
    uint32_t n_small = 0;
    uint32_t n_large = 0;
    for (uint32_t i = 0; i < N_TUPLES; i++) {
        load->columns[i] = (struct column){.keep = N_TUPLES / sum / (i + 1), .alias = i};
        if (load->columns[i].keep < 1) {
            small[n_small++] = i;
        } else {
            large[n_large++] = i;
        }
    }
    while (n_small > 0 && n_large > 0) {
        uint32_t poor = small[--n_small];
        uint32_t rich = large[n_large - 1];
        load->columns[poor].alias = rich;
        load->columns[rich].keep -= 1 - load->columns[poor].keep;
        if (load->columns[rich].keep < 1) {
            n_large--;
            small[n_small++] = rich;
        }
    }
    rc = 0;
out:
    free(small);
    free(large);
    return rc;
}

static const struct tuple *draw_tuple(struct load *load)
{
    uint32_t i = draw_below(load, N_TUPLES);
    double chance = (double)(draw(load) >> 11) / (double)(UINT64_C(1) << 53);
    return &load->tuples[chance < load->columns[i].keep ? i : load->columns[i].alias];
}

struct load *load_new(const struct load_config *config)
{
    uint64_t n_streams = (uint64_t)config->exporters * config->domains;
    if (n_streams == 0 || n_streams > 10000000 || config->templates_every == 0) {
        return NULL;
    }
    struct load *load = calloc(1, sizeof(*load));
    if (load == NULL) {
        return NULL;
    }
    load->config = *config;
    load->random = config->seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    load->n_streams = (uint32_t)n_streams;
    load->streams = calloc(n_streams, sizeof(*load->streams));
    load->tuples = calloc(N_TUPLES, sizeof(*load->tuples));
    load->columns = calloc(N_TUPLES, sizeof(*load->columns));
    if (load->streams == NULL || load->tuples == NULL || load->columns == NULL ||
        make_columns(load) < 0) {
        load_free(load);
        return NULL;
    }
    make_tuples(load);
    return load;
}

void load_free(struct load *load)
{
    if (load == NULL) {
        return;
    }
    free(load->streams);
    free(load->tuples);
    free(load->columns);
    free(load);
}

struct moment {
    uint64_t now_ms, start_ms, end_ms; /* UNIX time */
    uint64_t packets, octets;
};

static uint64_t uptime(uint64_t time_ms)
{
    return time_ms - START_MS + UPTIME_MS;
}

static void put_value(struct load *load, struct writer *w, const struct load_field *field,
                      const struct tuple *t, const struct moment *m)
{
    unsigned skip = 16U - field->len;
    uint64_t value = 0;
    switch (field->element) {
    case 8:
    case 27:
        put_octets(w, t->source + skip, field->len);
        return;
    case 12:
    case 28:
        put_octets(w, t->destination + skip, field->len);
        return;
    case 15:
    case 18:
    case 62:
        put_octets(w, t->next_hop + skip, field->len);
        return;
    case 1:
        value = m->octets;
        break;
    case 2:
        value = m->packets;
        break;
    case 4:
        value = t->protocol;
        break;
    case 5:
        value = (t->source_port & 7U) == 0 ? 0x48 : 0;
        break;
    case 6:
        value = t->protocol == 6 ? 0x1b : 0;
        break;
    case 7:
        value = t->source_port;
        break;
    case 11:
        value = t->destination_port;
        break;
    case 9:
    case 13:
        value = 16U + (t->source_port & 8U);
        break;
    case 29:
    case 30:
        value = 48U + (t->source_port & 16U);
        break;
    case 10:
        value = t->interface_in;
        break;
    case 14:
        value = t->interface_out;
        break;
    case 16:
        value = 64512U + (t->source_port & 511U);
        break;
    case 17:
        value = 64512U + (t->source_port >> 7 & 511U);
        break;
    case 21:
        value = uptime(m->end_ms);
        break;
    case 22:
        value = uptime(m->start_ms);
        break;
    case 31:
        value = t->source_port * 16U;
        break;
    case 48:
        value = 1;
        break;
    case 52:
    case 53:
        value = 40U + (t->source_port & 15U);
        break;
    case 54:
        value = draw(load) & 0xffff;
        break;
    case 58:
    case 59:
    case 243:
    case 245:
        value = 100U + (t->source_port & 255U);
        break;
    case 61:
        value = t->source_port & 1U;
        break;
    case 89:
        value = 64;
        break;
    case 136:
        value = 1U + (t->source_port & 3U);
        break;
    case 152:
        value = m->start_ms;
        break;
    case 153:
        value = m->end_ms;
        break;
    default:
        break;
    }
    put(w, value, field->len);
}

static void put_record(struct load *load, struct writer *w, const struct load_template *template,
                       uint64_t now_ms)
{
    const struct tuple *t = draw_tuple(load);
    uint64_t random = draw(load);
    struct moment m = {.now_ms = now_ms, .end_ms = now_ms - (random & 0x3fff)};
    m.start_ms = m.end_ms - (random >> 14 & 0xffff);
    m.packets = 1 + (random >> 30 & (random >> 40 & 0x3ff));
    m.octets = m.packets * (40 + (random >> 50 & 0x3ff));
    for (unsigned i = 0; i < template->n_fields; i++) {
        put_value(load, w, &template->fields[i], t, &m);
    }
}

static void put_template(struct writer *w, const struct load_template *template)
{
    put(w, template->id, 2);
    put(w, template->n_fields, 2);
    for (unsigned i = 0; i < template->n_fields; i++) {
        put(w, template->fields[i].element, 2);
        put(w, template->fields[i].len, 2);
    }
}

static void end_set(struct writer *w, uint8_t *set)
{
    while ((w->at - set) % 4 != 0) {
        put(w, 0, 1);
    }
    struct writer length = {set + 2};
    put(&length, (uint64_t)(w->at - set), 2);
}

static uint8_t *begin_set(struct writer *w, unsigned id)
{
    uint8_t *set = w->at;
    put(w, id, 2);
    put(w, 0, 2);
    return set;
}

/* Scope and fields as the two vendors send them: the sampler, or the rate and the two time-outs. */
static void put_options(struct writer *w, bool v9)
{
    uint8_t *set = begin_set(w, v9 ? 1 : 3);
    put(w, OPTIONS_ID, 2);
    if (v9) {
        put(w, 4, 2);  /* octets of scope */
        put(w, 12, 2); /* octets of fields */
        static const uint16_t fields[] = {1, 4, 48, 2, 49, 1, 50, 4};
        for (unsigned i = 0; i < 8; i++) {
            put(w, fields[i], 2);
        }
    } else {
        put(w, 4, 2);
        put(w, 1, 2);
        static const uint16_t fields[] = {144, 4, 34, 4, 36, 2, 37, 2};
        for (unsigned i = 0; i < 8; i++) {
            put(w, fields[i], 2);
        }
    }
    end_set(w, set);
    set = begin_set(w, OPTIONS_ID);
    put(w, 1, 4);
    if (v9) {
        put(w, 1, 2);
        put(w, 2, 1); /* random */
        put(w, SAMPLING, 4);
    } else {
        put(w, SAMPLING, 4);
        put(w, 60, 2);
        put(w, 15, 2);
    }
    end_set(w, set);
}

static void fill_templates(const struct load *load, struct writer *w, struct load_datagram *d)
{
    bool v9 = load->config.profile == LOAD_V9;
    const struct load_template *templates = load_templates(load->config.profile);
    uint8_t *set = begin_set(w, v9 ? 0 : 2);
    put_template(w, &templates[0]);
    put_template(w, &templates[1]);
    end_set(w, set);
    put_options(w, v9);
    d->templates = 3;
    d->options = 1;
}

static void fill_flows(struct load *load, struct writer *w, struct load_datagram *d)
{
    size_t head = (size_t)(w->at - load->data) + 4;
    const struct load_template *template = load_templates(load->config.profile);
    template += draw_below(load, 100) < IPV6_OF_100;
    uint8_t *set = begin_set(w, template->id);
    d->flows = (uint32_t)((LOAD_MAX_DATAGRAM - head) / template->record_len);
    for (uint32_t i = 0; i < d->flows; i++) {
        put_record(load, w, template, d->time_ms);
    }
    end_set(w, set);
}

/* The header comes last: v9 counts records in it, IPFIX octets. */
static void fill_header(struct load *load, struct stream *stream, uint32_t domain,
                        const struct load_datagram *d)
{
    struct writer w = {load->data};
    if (load->config.profile == LOAD_V9) {
        put(&w, 9, 2);
        put(&w, d->flows + d->options + d->templates, 2);
        put(&w, uptime(d->time_ms), 4);
        put(&w, d->time_ms / 1000, 4);
        put(&w, stream->sequence, 4);
        put(&w, domain, 4);
        stream->sequence++;
        return;
    }
    put(&w, 10, 2);
    put(&w, d->len, 2);
    put(&w, d->time_ms / 1000, 4);
    put(&w, stream->sequence, 4);
    put(&w, domain, 4);
    stream->sequence += d->flows + d->options;
}

void load_next(struct load *load, struct load_datagram *datagram)
{
    uint32_t i = load->next_stream;
    struct stream *stream = &load->streams[i];
    load->next_stream = i + 1 < load->n_streams ? i + 1 : 0;
    struct load_datagram d = {.exporter = i % load->config.exporters,
                              .time_ms = START_MS + load->datagrams / DATAGRAMS_A_MS,
                              .data = load->data};
    struct writer w = {load->data + (load->config.profile == LOAD_V9 ? 20 : 16)};
    uint32_t early = load->config.early;
    if (stream->sent >= early && (stream->sent - early) % load->config.templates_every == 0) {
        fill_templates(load, &w, &d);
    } else {
        fill_flows(load, &w, &d);
    }
    d.len = (size_t)(w.at - load->data);
    fill_header(load, stream, i / load->config.exporters, &d);
    stream->sent++;
    load->datagrams++;
    *datagram = d;
}
