// SPDX-License-Identifier: Apache-2.0
/*
 * netflow9 - header and template records of NetFlow v9 (RFC 3954 sections 5.1, 5.2, 6.1)
 *
 * Sets are "FlowSets" there. The header's Count is read past: it is the number of records, and wrong too often to
 * delimit anything (Fortinet, WLC, nProbe and softflowd count otherwise).
 */
#include "decoder/internal.h"

int netflow9_header(struct cursor *c, struct decoder_message *message)
{
    cursor_u16(c); /* version */
    cursor_u16(c); /* count */
    uint32_t uptime_ms = cursor_u32(c);
    uint32_t seconds = cursor_u32(c);
    uint32_t sequence = cursor_u32(c);
    uint32_t domain = cursor_u32(c);
    if (c->failed) {
        return WF_E_TRUNCATED;
    }
    message->has_uptime = true;
    message->uptime_ms = uptime_ms;
    message->export_ns = (int64_t)seconds * WF_NS_PER_S;
    message->sequence = sequence;
    message->domain = domain;
    return 0;
}

/* id, then the number of fields; of an options template the octets of its scope and of its other fields. */
static enum decoder_reason read_template(struct cursor *c, bool options, struct template_record *r)
{
    r->id = cursor_u16(c);
    size_t scope_len = 0;
    size_t rest_len;
    if (options) {
        scope_len = cursor_u16(c);
        rest_len = cursor_u16(c);
    } else {
        rest_len = (size_t)cursor_u16(c) * 4;
    }
    struct cursor fields = cursor_sub(c, scope_len + rest_len);
    if (fields.failed) {
        return DECODER_TEMPLATE_TRUNCATED;
    }
    if (scope_len % 4 != 0 || rest_len % 4 != 0) {
        return DECODER_TEMPLATE_SCOPE;
    }
    r->n_scope = scope_len / 4;
    r->n_fields = (scope_len + rest_len) / 4;
    for (size_t i = 0; i < r->n_fields && i < r->max_specs; i++) {
        uint16_t type = cursor_u16(&fields); /* 16 bits of type: v9 has no enterprise bit */
        uint16_t length = cursor_u16(&fields);
        r->specs[i] = (struct plan_spec){
            .pen = i < r->n_scope ? ELEMENT_PEN_V9_SCOPE : ELEMENT_PEN_IANA,
            .id = type,
            .length = length,
        };
    }
    return DECODER_OK;
}

const struct set_format netflow9_sets = {
    .version = 9, .template_set = 0, .options_set = 1, .read = read_template};
