// SPDX-License-Identifier: Apache-2.0
/*
 * ipfix - header and template records of IPFIX (RFC 7011 sections 3.1, 3.2, 3.4, 8.1)
 */
#include "decoder/internal.h"

#define ENTERPRISE_BIT 0x8000U

int ipfix_header(struct cursor *c, struct decoder_message *message, uint16_t *length)
{
    cursor_u16(c); /* version */
    uint16_t octets = cursor_u16(c);
    uint32_t seconds = cursor_u32(c);
    uint32_t sequence = cursor_u32(c);
    uint32_t domain = cursor_u32(c);
    if (c->failed) {
        return WF_E_TRUNCATED;
    }
    message->export_ns = (int64_t)seconds * WF_NS_PER_S;
    message->sequence = sequence;
    message->domain = domain;
    *length = octets;
    return 0;
}

static struct plan_spec read_spec(struct cursor *c)
{
    struct plan_spec spec = {0};
    spec.id = cursor_u16(c);
    spec.length = cursor_u16(c);
    if (spec.id & ENTERPRISE_BIT) {
        spec.id = (uint16_t)(spec.id & ~ENTERPRISE_BIT);
        spec.pen = cursor_u32(c);
    }
    return spec;
}

/* id, number of fields; of an options template the number of scope fields. No fields: a withdrawal, 4 octets. */
static enum decoder_reason read_template(struct cursor *c, bool options, struct template_record *r)
{
    r->id = cursor_u16(c);
    r->n_fields = cursor_u16(c);
    r->withdrawal = r->n_fields == 0;
    if (options && !r->withdrawal) {
        r->n_scope = cursor_u16(c);
    }
    for (size_t i = 0; i < r->n_fields && !c->failed; i++) {
        struct plan_spec spec = read_spec(c);
        if (i < r->max_specs) {
            r->specs[i] = spec;
        }
    }
    if (c->failed) {
        return DECODER_TEMPLATE_TRUNCATED;
    }
    if (options && !r->withdrawal && (r->n_scope == 0 || r->n_scope > r->n_fields)) {
        return DECODER_TEMPLATE_SCOPE;
    }
    return DECODER_OK;
}

const struct set_format ipfix_sets = {
    .version = 10, .template_set = 2, .options_set = 3, .read = read_template};
