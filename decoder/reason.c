// SPDX-License-Identifier: Apache-2.0
#include "decoder/decoder.h"

static const struct {
    const char *name, *advice;
} texts[DECODER_N_REASONS] = {
    [DECODER_OK] = {"ok", "Nothing to do."},
    [DECODER_SHORT_HEADER] = {"short_header",
                              "The datagram is shorter than an export header: is something else "
                              "sending to this port?"},
    [DECODER_UNKNOWN_VERSION] = {"unknown_version",
                                 "The datagram is no NetFlow v1, v5, v7, v9 or IPFIX: is something "
                                 "else (sFlow, syslog) sending to this port?"},
    [DECODER_REFUSED_EXPORTER] = {"refused_exporter",
                                  "There is no room for one more exporter or domain (4,096 domains "
                                  "an exporter, 1,000,000 exporters, 128 MiB for all): does the "
                                  "exporter change its domain id each time? Filter senders that "
                                  "are none of yours."},
    [DECODER_SET_LENGTH] = {"set_length",
                            "A set announces less than its own header; what follows it in the "
                            "datagram can not be read. Report it to the exporter's maker."},
    [DECODER_SET_OVERRUN] = {"set_overrun",
                             "A set reaches beyond its message: the datagram was cut short on its "
                             "way, or the exporter counts wrong. Check the MTU on the path."},
    [DECODER_SET_RESERVED] = {"set_reserved",
                              "A set has an id that means nothing in this protocol; it was "
                              "skipped. Report it to the exporter's maker."},
    [DECODER_RECORD_TRUNCATED] = {"record_truncated",
                                  "A record reaches beyond its set: the template in use may not be "
                                  "the one the exporter means."},
    [DECODER_COUNT_OVERRUN] = {"count_overrun",
                               "The header announces more flows than the datagram holds: it was "
                               "cut short on its way, or the exporter counts wrong."},
    [DECODER_MESSAGE_LENGTH] = {"message_length",
                                "The message length is not the datagram's; the smaller one was "
                                "used. Report it to the exporter's maker."},
    [DECODER_TEMPLATE_ID] = {"template_id",
                             "A template has an id below 256; it was refused. Report it to the "
                             "exporter's maker."},
    [DECODER_TEMPLATE_TRUNCATED] = {"template_truncated",
                                    "A template announces more fields than its set holds; it was "
                                    "refused. Report it to the exporter's maker."},
    [DECODER_TEMPLATE_FIELDS] = {"template_fields",
                                 "A template has more than 1,024 fields; it was refused. Have the "
                                 "exporter send fewer in one template."},
    [DECODER_TEMPLATE_EMPTY] = {"template_empty",
                                "A template describes records of no octets, or of more than a "
                                "message can hold; it was refused."},
    [DECODER_TEMPLATE_SCOPE] = {"template_scope",
                                "An options template has a scope that does not fit its fields; it "
                                "was refused. Report it to the exporter's maker."},
    [DECODER_TEMPLATE_LIMIT] =
        {"template_limit", "There is no room for one more template (4,096 in a domain, 128 MiB "
                           "for all exporters): does the exporter use a new id each time it "
                           "sends a template? Restart it, or have it send fewer."},
};

const char *decoder_reason_name(enum decoder_reason reason)
{
    return (unsigned)reason < DECODER_N_REASONS ? texts[reason].name : "unknown";
}

const char *decoder_reason_advice(enum decoder_reason reason)
{
    return (unsigned)reason < DECODER_N_REASONS ? texts[reason].advice : "";
}
