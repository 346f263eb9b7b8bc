// SPDX-License-Identifier: Apache-2.0
/*
 * Templates accepted, refused and withdrawn; held sets released by them, or given up.
 *
 * A template takes effect and its held sets are taken out under one lock of the session: what comes later
 * finds the plan, what came earlier is on our list. It is decoded without the lock, in order of arrival.
 */
#include "decoder/internal.h"

/* Is this what the plan was made from? */
static bool same_definition(const struct plan *plan, const struct template_record *r)
{
    if (plan->kind != r->kind || plan->n_fields != r->n_fields || plan->n_scope != r->n_scope) {
        return false;
    }
    for (size_t i = 0; i < r->n_fields; i++) {
        const struct plan_field *f = &plan->field[i];
        const struct plan_spec *s = &r->specs[i];
        if (f->id != s->id || f->length != s->length || f->pen != s->pen) {
            return false;
        }
    }
    return true;
}

/* ---- held sets ---- */

static int64_t waited_ns(const struct decoder_worker *w, const struct held *held)
{
    int64_t ns = w->datagram->received_ns - held->message.received_ns;
    return ns > 0 ? ns : 1; /* 0 means not held at all */
}

/* Decodes the sets that waited for this plan, and frees them. */
static void release(struct decoder_worker *w, struct list *taken, const struct plan *plan,
                    uint16_t id)
{
    struct decoder_event event = event_of(w, DECODER_EVENT_RELEASED);
    event.template_id = id;
    list_sort(taken, held_before);
    while (!list_empty(taken)) {
        struct held *held = LIST_ITEM(taken->next, struct held, link);
        list_remove(&held->link);
        held->message.held_ns = waited_ns(w, held);
        bool truncated;
        struct decoder_records records = {
            .message = &held->message, .plan = plan, .template_id = id, .data = held->data};
        size_t n = sets_decode(w, &records, held->len, &truncated);
        if (truncated) {
            sets_malformed(w, DECODER_RECORD_TRUNCATED, 0, id);
        }
        event.n_sets++;
        event.n_records += n;
        event.n_octets += held->len;
        if (held->message.held_ns > event.waited_ns) {
            event.waited_ns = held->message.held_ns;
        }
        held_free(held);
        session_unref(w->session);
    }
    w->delta.sets_released += event.n_sets;
    w->delta.octets_released += event.n_octets;
    w->delta.records_released += event.n_records;
    event_send(w, &event);
}

/* One event for the sets of one session and template; counted where they were held. */
static void count_lost(struct decoder_worker *w, struct session *s,
                       const struct decoder_event *event)
{
    struct decoder_counters lost = {0};
    if (event->expired) {
        lost.sets_expired = event->n_sets;
        lost.octets_expired = event->n_octets;
    } else {
        lost.sets_evicted = event->n_sets;
        lost.octets_evicted = event->n_octets;
    }
    pthread_mutex_lock(&s->lock);
    counters_add(&s->counters, &lost);
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_lock(&w->lock);
    counters_add(&w->counters, &lost);
    pthread_mutex_unlock(&w->lock);
    event_send(w, event);
}

void define_lost(struct decoder_worker *w, struct list *victims, bool expired)
{
    if (list_empty(victims)) {
        return;
    }
    list_sort(victims, held_groups_before);
    struct decoder_event event = {.kind = DECODER_EVENT_LOST};
    while (!list_empty(victims)) {
        struct held *held = LIST_ITEM(victims->next, struct held, link);
        struct list *next = held->link.next;
        bool last = next == victims || held_groups_before(&held->link, next);
        list_remove(&held->link);
        struct session *s = session_of_share(held->share);
        if (event.n_sets == 0) {
            event = (struct decoder_event){
                .kind = DECODER_EVENT_LOST,
                .exporter = held->message.exporter,
                .port = held->message.port,
                .domain = held->message.domain,
                .version = held->message.version,
                .template_id = held->template_id,
                .expired = expired,
            };
        }
        int64_t waited = w->now_ns - held->message.received_ns;
        event.waited_ns = waited > event.waited_ns ? waited : event.waited_ns;
        event.n_sets++;
        event.n_octets += held->len;
        held_free(held);
        if (last) {
            count_lost(w, s, &event);
            event.n_sets = 0;
        }
        session_unref(s); /* after the last use of s */
    }
}

/* ---- templates ---- */

/* Puts the plan, whose reference moves here, under the id. Held sets of it are appended to taken. */
static enum decoder_reason install(struct decoder_worker *w, uint16_t id, struct plan *plan,
                                   struct list *taken)
{
    struct session *s = w->session;
    struct plan *old = NULL;
    pthread_mutex_lock(&s->lock);
    size_t n = s->templates.n;
    size_t bytes = templates_bytes(&s->templates);
    bool fits =
        n < w->decoder->limits.max_templates_per_domain || templates_find(&s->templates, id);
    if (!fits || templates_put(&s->templates, id, plan, &old) < 0) {
        pthread_mutex_unlock(&s->lock);
        plan_unref(w->decoder->plans, plan);
        return DECODER_TEMPLATE_LIMIT;
    }
    session_account(w->decoder->sessions, n, bytes, &s->templates);
    pending_take(w->decoder->pending, &s->pending, id, taken);
    pthread_mutex_unlock(&s->lock);
    if (old) {
        w->delta.templates_changed++;
        plan_unref(w->decoder->plans, old);
    } else {
        w->delta.templates_new++;
    }
    return DECODER_OK;
}

/* Makes the plan and room for it. */
static enum decoder_reason compile(struct decoder_worker *w, const struct template_record *r,
                                   struct plan **plan)
{
    struct decoder *d = w->decoder;
    int rc =
        plan_intern(d->plans, w->message.version, r->kind, r->specs, r->n_fields, r->n_scope, plan);
    if (rc == WF_E_NOMEM) {
        return DECODER_TEMPLATE_LIMIT;
    }
    if (rc < 0) {
        return DECODER_TEMPLATE_EMPTY;
    }
    struct list victims;
    list_init(&victims);
    bool room = session_make_room(d->sessions, w->session, w->now_ns, &victims);
    define_lost(w, &victims, false);
    if (!room) {
        plan_unref(d->plans, *plan);
        return DECODER_TEMPLATE_LIMIT;
    }
    return DECODER_OK;
}

enum decoder_reason define_template(struct decoder_worker *w, const struct template_record *r)
{
    struct session *s = w->session;
    if (r->id < 256) {
        return DECODER_TEMPLATE_ID;
    }
    if (r->n_fields > r->max_specs) {
        return DECODER_TEMPLATE_FIELDS;
    }
    if (r->n_fields == 0) {
        return DECODER_TEMPLATE_EMPTY;
    }
    pthread_mutex_lock(&s->lock);
    const struct plan *known = templates_find(&s->templates, r->id);
    bool same = known && same_definition(known, r);
    pthread_mutex_unlock(&s->lock);
    if (same) {
        w->delta.templates_refreshed++;
        return DECODER_OK;
    }
    struct plan *plan;
    enum decoder_reason reason = compile(w, r, &plan);
    if (reason != DECODER_OK) {
        return reason;
    }
    struct list taken;
    list_init(&taken);
    plan_ref(plan); /* ours while releasing: another worker may replace it at once */
    reason = install(w, r->id, plan, &taken);
    if (reason == DECODER_OK) {
        struct decoder_event event = event_of(w, DECODER_EVENT_TEMPLATE);
        event.template_id = r->id;
        event_send(w, &event);
        if (!list_empty(&taken)) {
            release(w, &taken, plan, r->id);
        }
    }
    plan_unref(w->decoder->plans, plan);
    return reason;
}

void define_withdraw(struct decoder_worker *w, uint16_t id)
{
    struct session *s = w->session;
    pthread_mutex_lock(&s->lock);
    size_t n = s->templates.n;
    struct plan *plan = templates_remove(&s->templates, id);
    session_account(w->decoder->sessions, n, templates_bytes(&s->templates), &s->templates);
    pthread_mutex_unlock(&s->lock);
    if (plan) {
        w->delta.templates_withdrawn++;
        plan_unref(w->decoder->plans, plan);
    }
}

void define_withdraw_all(struct decoder_worker *w, enum plan_kind kind)
{
    struct session *s = w->session;
    pthread_mutex_lock(&s->lock);
    size_t n = s->templates.n;
    struct plan *plan = templates_remove_kind(&s->templates, kind);
    while (plan) {
        w->delta.templates_withdrawn++;
        plan_unref(w->decoder->plans, plan);
        plan = templates_remove_kind(&s->templates, kind);
    }
    session_account(w->decoder->sessions, n, templates_bytes(&s->templates), &s->templates);
    pthread_mutex_unlock(&s->lock);
}
