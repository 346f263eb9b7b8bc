// SPDX-License-Identifier: Apache-2.0
/*
 * One datagram:
 *
 *   header ── session ── walk over its sets ── sequence and counters ── done
 *             (shard     (session lock a set)  (session lock, then the
 *              lock)                            worker's, once each)
 *
 * What happens in between is counted in the worker's delta, without any lock, and added to the counters of domain
 * and worker in one go: so a reader never sees half a datagram.
 */
#include "decoder/decoder.h"

#include <assert.h>
#include <stdlib.h>

#include "decoder/internal.h"
#include "decoder/lock.h"

#define V9_HEADER    20U
#define IPFIX_HEADER 16U

static const struct decoder_limits default_limits = {
    .max_exporters = 1000000,
    .max_domains_per_exporter = 4096,
    .max_templates_per_domain = 4096,
    .max_fields = 1024,
    .max_session_bytes = (size_t)128 << 20,
    .max_pending_bytes = (size_t)64 << 20,
    .max_pending_exporter_bytes = (size_t)4 << 20,
    .max_pending_age_ns = 600 * WF_NS_PER_S,
};

/* ---- counters and events ---- */

static_assert(sizeof(struct decoder_counters) % sizeof(uint64_t) == 0,
              "counters are uint64_t only");

void counters_add(struct decoder_counters *to, const struct decoder_counters *from)
{
    uint64_t *sum = (uint64_t *)to;
    const uint64_t *more = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof(*to) / sizeof(*sum); i++) {
        sum[i] += more[i];
    }
}

struct decoder_event event_of(const struct decoder_worker *w, enum decoder_event_kind kind)
{
    return (struct decoder_event){
        .kind = kind,
        .exporter = w->datagram->exporter,
        .port = w->datagram->port,
        .domain = w->message.domain,
        .version = w->message.version,
    };
}

void event_send(const struct decoder_worker *w, const struct decoder_event *event)
{
    if (w->sink.event) {
        w->sink.event(w->sink.ctx, event);
    }
}

static void count_in_worker(struct decoder_worker *w)
{
    pthread_mutex_lock(&w->lock);
    counters_add(&w->counters, &w->delta);
    pthread_mutex_unlock(&w->lock);
}

/* ---- one datagram ---- */

/* A datagram that is refused as a whole. */
static int refuse(struct decoder_worker *w, enum decoder_reason reason, int rc)
{
    sets_malformed(w, reason, 0, 0);
    count_in_worker(w);
    return rc;
}

/* Sequence and counters, after the walk. */
static void finish(struct decoder_worker *w)
{
    struct session *s = w->session;
    const struct decoder_message *m = &w->message;
    struct sequence_message seen = {
        .sequence = m->sequence,
        /* RFC 3954 5.1: v9 counts datagrams, whatever is in them */
        .units = m->version == 9 ? 1 : (uint32_t)w->n_records,
        .units_known = m->version == 9 || w->records_known,
        .records = (uint32_t)w->n_records,
        .flows = (uint32_t)w->n_flows,
        .records_known = w->records_known,
        .arrival = w->datagram->slot,
        .has_uptime = m->has_uptime,
        .uptime_ms = m->uptime_ms,
        .received_ns = m->received_ns,
    };
    struct sequence_result result = {0};
    w->delta.datagrams_decoded++;
    pthread_mutex_lock(&s->lock);
    if (m->version != 1) { /* v1 has no sequence number */
        sequence_note(&s->sequence, &seen, &result);
    }
    w->delta.sequence_lost += result.lost;
    w->delta.sequence_lost -= result.found; /* counted before, so the sums never fall below 0 */
    w->delta.sequence_reordered += result.reordered;
    w->delta.sequence_duplicate += result.duplicate;
    w->delta.sequence_restarts += result.restart;
    counters_add(&s->counters, &w->delta);
    s->port = m->port;
    if (m->received_ns > s->last_seen_ns) {
        s->last_seen_ns = m->received_ns;
    }
    pthread_mutex_unlock(&s->lock);
    count_in_worker(w);
    if (result.lost > 0) {
        struct decoder_event event = event_of(w, DECODER_EVENT_SEQUENCE);
        event.n_lost = result.lost;
        event_send(w, &event);
    }
    if (result.restart) {
        struct decoder_event event = event_of(w, DECODER_EVENT_RESTART);
        event_send(w, &event);
    }
    /* relaxed: a hint; session_prove() looks again under its lock */
    if (w->delta.records_flow + w->delta.records_options > 0 &&
        !atomic_load_explicit(&s->proven, memory_order_relaxed)) {
        session_prove(w->decoder->sessions, s);
    }
}

/* IPFIX: the message ends where its header or the datagram says, whichever is first. */
static void limit_message(struct decoder_worker *w, struct cursor *c, uint16_t length)
{
    size_t left = cursor_left(c);
    size_t body = length > IPFIX_HEADER ? length - IPFIX_HEADER : 0U;
    if (length != w->datagram->len) {
        sets_malformed(w, DECODER_MESSAGE_LENGTH, 2, 0);
    }
    if (body > left) {
        w->records_known = false; /* the rest of its records is not here */
    } else {
        *c = cursor_sub(c, body);
    }
}

/* What the header says of the octets behind it. */
struct header {
    struct session_key key;
    uint16_t n_records; /* v1, v5, v7 */
    uint16_t length;    /* IPFIX */
};

static int read_header(struct decoder_worker *w, struct cursor *c, struct header *h)
{
    struct decoder_message *m = &w->message;
    int rc;
    switch (m->version) {
    case 9:
        rc = netflow9_header(c, m);
        h->key.domain = m->domain;
        break;
    case 10:
        rc = ipfix_header(c, m, &h->length);
        h->key.domain = m->domain;
        break;
    default:
        rc = netflow5_header(c, m, &h->key, &h->n_records);
        break;
    }
    h->key.exporter = m->exporter;
    h->key.version = m->version;
    return rc;
}

static void decode_body(struct decoder_worker *w, struct cursor *c, const struct header *h)
{
    switch (w->message.version) {
    case 9:
        sets_walk(w, c, &netflow9_sets);
        break;
    case 10:
        limit_message(w, c, h->length);
        sets_walk(w, c, &ipfix_sets);
        break;
    default:
        netflow5_records(w, c, h->n_records);
        break;
    }
}

static bool is_known_version(uint16_t version)
{
    return version == 9 || version == 10 ||
           (version < 9 && netflow5_format((uint8_t)version) < FIXED_FORMATS);
}

int decoder_feed(struct decoder_worker *w, const struct decoder_datagram *datagram)
{
    w->datagram = datagram;
    w->now_ns = datagram->received_ns;
    w->delta = (struct decoder_counters){.datagrams = 1, .octets = datagram->len};
    w->n_records = 0;
    w->n_flows = 0;
    w->records_known = true;
    w->message = (struct decoder_message){
        .exporter = datagram->exporter,
        .port = datagram->port,
        .received_ns = datagram->received_ns,
    };
    if (datagram->len < 2) {
        return refuse(w, DECODER_SHORT_HEADER, WF_E_TRUNCATED);
    }
    struct cursor c = cursor_init(datagram->data, datagram->len);
    struct cursor peek = c;
    uint16_t version = cursor_u16(&peek);
    if (!is_known_version(version)) {
        return refuse(w, DECODER_UNKNOWN_VERSION, WF_E_FORMAT);
    }
    w->message.version = (uint8_t)version;
    struct header header = {0};
    if (read_header(w, &c, &header) < 0) {
        return refuse(w, DECODER_SHORT_HEADER, WF_E_TRUNCATED);
    }
    struct list victims;
    list_init(&victims);
    w->session = session_get(w->decoder->sessions, &header.key, w->now_ns, &victims);
    define_lost(w, &victims, false);
    if (!w->session) {
        return refuse(w, DECODER_REFUSED_EXPORTER, WF_E_LIMIT);
    }
    decode_body(w, &c, &header);
    finish(w);
    session_put(w->session);
    w->session = NULL;
    return 0;
}

void decoder_expire(struct decoder_worker *w, int64_t now_ns)
{
    int64_t age = w->decoder->limits.max_pending_age_ns;
    if (age < 0) {
        return;
    }
    struct list victims;
    list_init(&victims);
    w->now_ns = now_ns;
    pending_expire(w->decoder->pending, now_ns - age, &victims);
    define_lost(w, &victims, true);
}

bool decoder_carries_templates(const uint8_t *data, size_t len)
{
    if (len < 2) {
        return false; /* refused as a whole: so it changes nothing */
    }
    struct cursor c = cursor_init(data, len);
    uint16_t version = cursor_u16(&c);
    if (version != 9 && version != 10) {
        return false;
    }
    cursor_take(&c, (version == 9 ? V9_HEADER : IPFIX_HEADER) - 2);
    while (cursor_left(&c) >= 4) {
        uint16_t id = cursor_u16(&c);
        uint16_t octets = cursor_u16(&c);
        if (octets < 4) {
            return octets != 0 || id != 0;
        }
        if (id < 256) {
            return true;
        }
        cursor_take(&c, octets - 4U);
    }
    return false;
}

/* ---- reports ---- */

void decoder_counters(struct decoder *d, struct decoder_counters *counters)
{
    pthread_mutex_lock(&d->workers_lock);
    *counters = d->retired;
    for (struct list *l = d->workers.next; l != &d->workers; l = l->next) {
        struct decoder_worker *w = LIST_ITEM(l, struct decoder_worker, link);
        pthread_mutex_lock(&w->lock);
        counters_add(counters, &w->counters);
        pthread_mutex_unlock(&w->lock);
    }
    pthread_mutex_unlock(&d->workers_lock);
    /* One worker found what another is about to count as lost: below 0 for a moment. */
    if (counters->sequence_lost > UINT64_MAX / 2) {
        counters->sequence_lost = 0;
    }
}

void decoder_state(struct decoder *d, struct decoder_state *state)
{
    struct session_counts sessions = session_table_counts(d->sessions);
    struct pending_counts pending = pending_counts(d->pending);
    *state = (struct decoder_state){
        .exporters = sessions.n_exporters,
        .domains = sessions.n_sessions,
        .templates = sessions.n_templates,
        .plans = plan_table_count(d->plans),
        .session_bytes = sessions.n_bytes,
        .pending_sets = pending.n_sets,
        .pending_octets = pending.n_octets,
        .pending_bytes = pending.n_bytes,
    };
}

struct each_domain {
    struct decoder *decoder;
    int (*each)(void *ctx, const struct decoder_domain_info *info);
    void *ctx;
};

static int report_domain(void *ctx, struct session *s)
{
    const struct each_domain *e = ctx;
    struct pending_counts pending = pending_share_counts(e->decoder->pending, &s->pending);
    struct decoder_domain_info info = {
        .exporter = s->key.exporter,
        .domain = s->key.domain,
        .version = s->key.version,
        .pending_sets = pending.n_sets,
        .pending_octets = pending.n_octets,
    };
    pthread_mutex_lock(&s->lock);
    info.port = s->port;
    info.first_seen_ns = s->first_seen_ns;
    info.last_seen_ns = s->last_seen_ns;
    info.templates = s->templates.n;
    info.counters = s->counters;
    pthread_mutex_unlock(&s->lock);
    return e->each(e->ctx, &info);
}

int decoder_each_domain(struct decoder *d,
                        int (*each)(void *ctx, const struct decoder_domain_info *info), void *ctx)
{
    struct each_domain e = {.decoder = d, .each = each, .ctx = ctx};
    return session_each(d->sessions, report_domain, &e);
}

/* ---- life ---- */

static struct decoder_limits fill_in(const struct decoder_limits *given)
{
    struct decoder_limits l = default_limits;
    if (!given) {
        return l;
    }
    l.max_exporters = given->max_exporters ? given->max_exporters : l.max_exporters;
    l.max_domains_per_exporter = given->max_domains_per_exporter ? given->max_domains_per_exporter
                                                                 : l.max_domains_per_exporter;
    l.max_templates_per_domain = given->max_templates_per_domain ? given->max_templates_per_domain
                                                                 : l.max_templates_per_domain;
    l.max_fields = given->max_fields ? given->max_fields : l.max_fields;
    l.max_session_bytes = given->max_session_bytes ? given->max_session_bytes : l.max_session_bytes;
    l.max_pending_bytes = given->max_pending_bytes ? given->max_pending_bytes : l.max_pending_bytes;
    l.max_pending_exporter_bytes = given->max_pending_exporter_bytes
                                       ? given->max_pending_exporter_bytes
                                       : l.max_pending_exporter_bytes;
    l.max_pending_age_ns =
        given->max_pending_age_ns ? given->max_pending_age_ns : l.max_pending_age_ns;
    return l;
}

static int make_parts(struct decoder *d, const struct plan_hooks *hooks)
{
    struct pending_limits pending = {.max_bytes = d->limits.max_pending_bytes,
                                     .max_owner_bytes = d->limits.max_pending_exporter_bytes};
    d->plans = plan_table_new_seeded(hooks, d->seed);
    d->pending = pending_new(&pending, d->seed);
    if (!d->plans || !d->pending) {
        return WF_E_NOMEM;
    }
    d->sessions = session_table_new(&d->limits, d->seed, d->pending, d->plans);
    int rc = d->sessions ? 0 : WF_E_NOMEM;
    for (size_t i = 0; rc == 0 && i < FIXED_FORMATS; i++) {
        rc = netflow5_plan(d->plans, i, &d->fixed[i]);
    }
    return rc;
}

struct decoder *decoder_new(const struct decoder_limits *limits, const struct plan_hooks *hooks,
                            uint64_t seed)
{
    struct decoder *d = calloc(1, sizeof(*d));
    if (!d) {
        return NULL;
    }
    d->limits = fill_in(limits);
    d->seed = seed;
    list_init(&d->workers);
    lock_init(&d->workers_lock);
    if (make_parts(d, hooks) < 0) {
        decoder_free(d);
        return NULL;
    }
    return d;
}

void decoder_free(struct decoder *d)
{
    if (!d) {
        return;
    }
    session_table_free(d->sessions);
    pending_free(d->pending);
    for (size_t i = 0; i < FIXED_FORMATS; i++) {
        if (d->fixed[i]) {
            plan_unref(d->plans, d->fixed[i]);
        }
    }
    plan_table_free(d->plans);
    pthread_mutex_destroy(&d->workers_lock);
    free(d);
}

struct decoder_worker *decoder_worker_new(struct decoder *decoder, const struct decoder_sink *sink)
{
    struct decoder_worker *w = calloc(1, sizeof(*w));
    if (!w) {
        return NULL;
    }
    size_t n = decoder->limits.max_fields;
    w->decoder = decoder;
    w->sink = *sink;
    lock_init(&w->lock);
    list_init(&w->link);
    w->specs = calloc(n, sizeof(*w->specs));
    w->offset = calloc(n, sizeof(*w->offset));
    w->length = calloc(n, sizeof(*w->length));
    if (!w->specs || !w->offset || !w->length) {
        decoder_worker_free(w);
        return NULL;
    }
    pthread_mutex_lock(&decoder->workers_lock);
    list_append(&decoder->workers, &w->link);
    pthread_mutex_unlock(&decoder->workers_lock);
    return w;
}

void decoder_worker_free(struct decoder_worker *w)
{
    if (!w) {
        return;
    }
    struct decoder *d = w->decoder;
    pthread_mutex_lock(&d->workers_lock);
    list_remove(&w->link);
    counters_add(&d->retired, &w->counters);
    pthread_mutex_unlock(&d->workers_lock);
    pthread_mutex_destroy(&w->lock);
    free(w->specs);
    free(w->offset);
    free(w->length);
    free(w);
}
