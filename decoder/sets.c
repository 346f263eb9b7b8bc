// SPDX-License-Identifier: Apache-2.0
/*
 * The walk over sets and records that v9 and IPFIX share.
 *
 *   message:  | header | set | set | ... | zeros |
 *   set:      | id 2 | length 2 | records ... | padding |
 *
 * A data set looks up its plan under the session's lock and decodes without: a redefinition by another worker meanwhile
 * does not touch the plan, which is counted. "Is the template known?" and putting the set aside happen under that
 * one lock, so that no set can be stranded.
 */
#include "decoder/internal.h"

#define SET_HEADER 4U

static bool all_zero(const struct cursor *c)
{
    for (const uint8_t *p = c->pos; p < c->end; p++) {
        if (*p != 0) {
            return false;
        }
    }
    return true;
}

void sets_malformed(struct decoder_worker *w, enum decoder_reason reason, size_t offset,
                    uint16_t template_id)
{
    w->delta.reason[reason]++;
    struct decoder_event event = event_of(w, DECODER_EVENT_MALFORMED);
    event.reason = reason;
    event.offset = offset;
    event.template_id = template_id;
    event_send(w, &event);
}

/* ---- records ---- */

static void count_records(struct decoder_worker *w, const struct plan *plan, size_t n)
{
    if (plan->kind == PLAN_OPTIONS) {
        w->delta.records_options += n;
    } else {
        w->delta.records_flow += n;
    }
}

/* Cuts the record at data by its plan. False when a field reaches beyond len octets. */
static bool cut_record(const struct plan *plan, const uint8_t *data, size_t len, uint32_t *offset,
                       uint32_t *length, size_t *record_len)
{
    size_t at = 0;
    for (size_t i = 0; i < plan->n_fields; i++) {
        size_t n = plan->field[i].length;
        if (n == PLAN_VARLEN) {
            if (len - at < 1) {
                return false;
            }
            n = data[at++];
            if (n == 255) { /* RFC 7011 section 7: the length follows in two octets */
                if (len - at < 2) {
                    return false;
                }
                n = (size_t)data[at] << 8 | data[at + 1];
                at += 2;
            }
        }
        if (len - at < n) {
            return false;
        }
        offset[i] = (uint32_t)at;
        length[i] = (uint32_t)n;
        at += n;
    }
    *record_len = at;
    return true;
}

static size_t decode_variable(struct decoder_worker *w, struct decoder_records *records, size_t len,
                              bool *truncated)
{
    size_t n = 0;
    size_t record_len;
    while (len >= records->plan->min_length) {
        if (!cut_record(records->plan, records->data, len, w->offset, w->length, &record_len)) {
            *truncated = true;
            break;
        }
        records->stride = record_len;
        w->sink.records(w->sink.ctx, records);
        records->data += record_len;
        len -= record_len;
        n++;
    }
    return n;
}

size_t sets_decode(struct decoder_worker *w, const struct decoder_records *set, size_t len,
                   bool *truncated)
{
    const struct plan *plan = set->plan;
    struct decoder_records records = *set;
    size_t n;
    *truncated = false;
    if (plan->fixed) {
        n = len / plan->min_length;
        records.n_records = n;
        records.stride = plan->min_length;
        records.offset = plan->offset;
        records.length = plan->length;
        if (n > 0) {
            w->sink.records(w->sink.ctx, &records);
        }
    } else {
        records.n_records = 1;
        records.offset = w->offset;
        records.length = w->length;
        n = decode_variable(w, &records, len, truncated);
    }
    count_records(w, plan, n);
    return n;
}

/* ---- data sets ---- */

/* The plan with a reference, or NULL: then the set was put aside, or rc says why not. */
static struct plan *plan_or_hold(struct decoder_worker *w, const struct pending_set *set,
                                 struct list *victims, bool *first, int *rc)
{
    struct session *s = w->session;
    pthread_mutex_lock(&s->lock);
    struct plan *plan = templates_find(&s->templates, set->template_id);
    if (plan) {
        plan_ref(plan);
    } else {
        session_ref(s); /* the held set's */
        *rc = pending_hold(w->decoder->pending, &s->exporter->pending, &s->pending, set, first,
                           victims);
    }
    pthread_mutex_unlock(&s->lock);
    if (!plan && *rc < 0) {
        session_unref(s);
    }
    return plan;
}

static void data_set(struct decoder_worker *w, uint16_t id, const struct cursor *body,
                     size_t offset)
{
    struct pending_set set = {
        .message = &w->message,
        .slot = w->datagram->slot,
        .offset = offset,
        .template_id = id,
        .data = body->pos,
        .len = cursor_left(body),
    };
    struct list victims;
    list_init(&victims);
    bool first = false;
    int rc = 0;
    w->delta.sets_data++;
    struct plan *plan = plan_or_hold(w, &set, &victims, &first, &rc);
    if (plan) {
        bool truncated;
        w->delta.sets_decoded++;
        struct decoder_records records = {
            .message = &w->message, .plan = plan, .template_id = id, .data = set.data};
        size_t n = sets_decode(w, &records, set.len, &truncated);
        w->n_records += n;
        w->n_flows += plan->kind == PLAN_DATA ? n : 0;
        plan_unref(w->decoder->plans, plan);
        if (truncated) {
            w->records_known = false;
            sets_malformed(w, DECODER_RECORD_TRUNCATED, offset, id);
        }
        return;
    }
    w->records_known = false;
    if (rc < 0) {
        w->delta.sets_refused++;
    } else {
        w->delta.sets_held++;
    }
    if (first) {
        struct decoder_event event = event_of(w, DECODER_EVENT_WAITING);
        event.template_id = id;
        event.n_sets = 1;
        event.n_octets = set.len;
        event.offset = offset;
        event_send(w, &event);
    }
    define_lost(w, &victims, false);
}

/* ---- template sets ---- */

static void withdraw(struct decoder_worker *w, const struct template_record *r, size_t offset,
                     uint16_t set_id)
{
    if (r->id >= 256) {
        define_withdraw(w, r->id);
    } else if (r->id == set_id) { /* RFC 7011 8.1: the set's own id means all of its kind */
        define_withdraw_all(w, r->kind);
    } else {
        sets_malformed(w, DECODER_TEMPLATE_ID, offset, r->id);
    }
}

static void template_set(struct decoder_worker *w, const struct set_format *format, uint16_t set_id,
                         struct cursor *c)
{
    bool options = set_id == format->options_set;
    /* zeros behind the last template are padding, also when they are more than 3 octets (Ixia, nProbe) */
    while (cursor_left(c) >= 4 && !all_zero(c)) {
        size_t offset = (size_t)(c->pos - w->datagram->data);
        struct template_record r = {
            .kind = options ? PLAN_OPTIONS : PLAN_DATA,
            .specs = w->specs,
            .max_specs = w->decoder->limits.max_fields,
        };
        enum decoder_reason reason = format->read(c, options, &r);
        if (reason == DECODER_OK && r.withdrawal) {
            withdraw(w, &r, offset, set_id);
            continue;
        }
        if (reason == DECODER_OK) {
            reason = define_template(w, &r);
        }
        if (reason != DECODER_OK) {
            sets_malformed(w, reason, offset, r.id);
        }
        if (reason == DECODER_TEMPLATE_TRUNCATED) {
            break;
        }
    }
}

/* ---- sets ---- */

void sets_walk(struct decoder_worker *w, struct cursor *c, const struct set_format *format)
{
    while (cursor_left(c) >= SET_HEADER) {
        size_t offset = (size_t)(c->pos - w->datagram->data);
        struct cursor rest = *c;
        uint16_t id = cursor_u16(c);
        uint16_t len = cursor_u16(c);
        if (len < SET_HEADER) {
            /* zeros behind the last set harm nothing: Palo Alto sends 1,220 of them, ACI 64 */
            if (!all_zero(&rest)) {
                w->records_known = false;
                sets_malformed(w, DECODER_SET_LENGTH, offset, id);
            }
            return;
        }
        struct cursor body = cursor_sub(c, len - SET_HEADER);
        if (body.failed) {
            w->records_known = false;
            sets_malformed(w, DECODER_SET_OVERRUN, offset, id);
            return;
        }
        if (id >= 256) {
            data_set(w, id, &body, offset);
        } else if (id == format->template_set || id == format->options_set) {
            template_set(w, format, id, &body);
        } else {
            sets_malformed(w, DECODER_SET_RESERVED, offset, id);
        }
    }
}
