// SPDX-License-Identifier: Apache-2.0
/* docs/documents.md, printed from the mapping table; a test compares the two. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "collector/document/document.h"
#include "collector/document/mapping.h"
#include "collector/document/write.h"

#define LINE_MAX 4096

static const char intro[] =
    "# The documents\n"
    "\n"
    "<!-- Printed from collector/document/mapping.c and ecs_docs.c: change it there. -->\n"
    "\n"
    "One JSON object a line for each record, in one of these formats:\n"
    "\n"
    "* `--format ecs`: what Filebeat's netflow input and its ingest pipeline make of the record, "
    "so that dashboards\n"
    "  for those work, with `netflow.*` for every element and `whoflow.*` for what is ours.\n"
    "* `--format flat`: one level, the registry's names, template order, nothing looked up.\n"
    "* `--format text`: one readable line a flow, to look at.\n"
    "\n"
    "## ecs\n"
    "\n"
    "Members are nested objects, never dotted names. Documents of options records hold those "
    "marked \"both\" only.\n"
    "Where several elements are named the first one that the template has is taken; of an element "
    "that the template has\n"
    "more than once, the first.\n"
    "\n"
    "| member | type | records | made from | when |\n"
    "|---|---|---|---|---|\n";

static const char after_rows[] =
    "\n"
    "Types are Elasticsearch's. `[]` means that the member is always an array.\n"
    "\n"
    "* **Wireless**: with wtpMacAddress (367), staMacAddress (365) and flowDirection (61) the "
    "station is the source, with\n"
    "  direction 1 the destination, of whatever the elements above do not tell.\n"
    "* **Biflows**: with biflowDirection (239) 2 (reverse initiator) source and destination change "
    "places; `netflow.*`\n"
    "  stays as it was sent.\n"
    "* **Locality**: internal are the networks given by `--internal-network` (RFC 1918 and RFC "
    "4193 when there are none),\n"
    "  loopback, link-local, unspecified and broadcast addresses.\n"
    "* **Numbers** above 2^63-1 stand as 9223372036854775807, and `whoflow.clamped` is true; so do "
    "dates beyond the year\n"
    "  2262, as its last moment.\n"
    "\n"
    "### Times\n"
    "\n"
    "In order of preference, the first one known; an absolute time of 0 is not set:\n"
    "\n";

static const char after_times[] =
    "\n"
    "The duration is end less start unless that is negative, else element 162 or 161, else the "
    "difference of 21 and 22.\n"
    "A start or end that is missing is made from the other and 162 or 161.\n"
    "Uptimes (21, 22) count back from the uptime of the message's header, and survive its wrap "
    "after 49.7 days; in IPFIX they\n"
    "count from systemInitTimeMilliseconds (160) of the same record.\n"
    "\n"
    "`@timestamp` is the end. When there is none, or when it lies more than a day before or more "
    "than an hour after the\n"
    "export time of the message, it is the export time; when that is more than a day off the time "
    "at which the datagram was\n"
    "received, it is the latter (not in a replay: a capture may be years old). "
    "`whoflow.time.source` says which.\n"
    "\n"
    "### netflow.*\n"
    "\n"
    "Every element of the record, as `netflow.<name>`; in options records `netflow.scope.<name>` "
    "and\n"
    "`netflow.options.<name>`. The name is the registry's in snake_case: `octetDeltaCount` becomes "
    "`octet_delta_count`,\n"
    "`postNATSourceIPv4Address` `post_nat_source_ipv4_address`, `ingressVRFID` `ingress_vrfid`. "
    "Reverse elements (RFC 5103) are\n"
    "`reverse_...`; the scopes of NetFlow v9 are `system`, `interface`, `line_card`, `cache`, "
    "`template`.\n"
    "\n"
    "| elements of type | Elasticsearch type | value |\n"
    "|---|---|---|\n";

static const char closing[] =
    "\n"
    "* An element that a template has more than once is an array of its values, in order.\n"
    "* Integers read by the length that they have on the wire, 1 to 8 octets.\n"
    "* Repeated elements are an array in order; ECS members take the last one (of a tunnel, the "
    "inner header's).\n"
    "* Fields of zero length are left out, but for strings of variable length: \"\".\n"
    "* Elements that the registry does not know, and values whose length does not fit the type, "
    "are left out; with\n"
    "  `--unknown-elements` they are `netflow.e<PEN>_<id>`, as hexadecimal text (`e0_43`; NetFlow "
    "v9 has no enterprises: 0).\n"
    "\n"
    "## flat\n"
    "\n"
    "`{\"type\":\"flow\",\"exporter\":\"192.0.2.1\",\"port\":50000,\"version\":9,\"domain\":0,"
    "\"template\":256,\"sequence\":1,\n"
    "\"exported\":\"2016-12-25T12:58:35Z\",\"received\":\"2016-12-25T12:58:35.819000000Z\","
    "\"octetDeltaCount\":1234,...}`\n"
    "\n"
    "`type` is `flow` or `options`. Then every field of the record in template order, under the "
    "registry's name:\n"
    "`reverseOctetDeltaCount` for reverse elements, `scope.<name>` for scope fields, `e<PEN>_<id>` "
    "for elements that the\n"
    "registry does not know. Numbers are numbers (64 bits, not clamped), addresses and MAC "
    "addresses text, dates RFC 3339 in UTC with\n"
    "as many digits as the element has, booleans true or false, strings UTF-8 with trailing NULs "
    "cut, floats in their shortest form\n"
    "(NaN and infinities as text). octetArrays, lists, elements that are not known and values "
    "whose length does not fit are\n"
    "lower-case hexadecimal text; fields of zero length are \"\". Repeated elements are an array "
    "in order. Of two\n"
    "elements with one name in a template (IANA's and a vendor's `flowDirection`) the second is "
    "`e<PEN>_<id>`.\n"
    "\n"
    "## text\n"
    "\n"
    "    2024-01-15T10:00:12.345Z 192.0.2.1 tcp 10.0.0.1:51234 -> [2001:db8::1]:443 1234 B 5 pkt "
    "1.250 s if 3>4\n"
    "    2024-01-15T10:00:12.345Z 192.0.2.1 icmp 10.0.0.1 -> 10.0.0.2 type 8 code 0 84 B 1 pkt if "
    "3>4\n"
    "    2024-01-15T10:00:12.000Z 192.0.2.1 options scope.system=1 samplerName=\"core\"\n"
    "\n"
    "For eyes: the columns may change, and what a flow lacks is left out. In order: `@timestamp` "
    "as "
    "above; the exporter; protocol\n"
    "(`tcp`, `udp`, `icmp`, `ipv6-icmp`, else `proto N`); source and destination with their ports, "
    "`*` for an address that is not\n"
    "told; for ICMP type and code in the place of ports; octets; packets; duration in seconds; "
    "input and output\n"
    "interface. A line of an options record has `options` and every field as `name=value`.\n";

static const struct {
    enum element_type type; /* one that stands for the row */
    const char *names;
    const char *value;
} values[] = {
    {ELEMENT_UNSIGNED64, "unsigned8-64, signed8-64", "number"},
    {ELEMENT_FLOAT64, "float32, float64", "number, shortest form; NaN and infinities are left out"},
    {ELEMENT_BOOLEAN, "boolean", "true (1), false (2); anything else is left out"},
    {ELEMENT_IPV4, "ipv4Address, ipv6Address", "text, RFC 5952"},
    {ELEMENT_MAC, "macAddress", "`00-1B-21-AA-BB-CC`"},
    {ELEMENT_STRING, "string", "UTF-8, trailing NULs cut; octets that are none become U+FFFD"},
    {ELEMENT_SECONDS, "dateTimeSeconds, dateTimeMilliseconds", "`2016-12-25T12:58:35.819Z`"},
    {ELEMENT_NANOSECONDS, "dateTimeMicroseconds, dateTimeNanoseconds",
     "the same with 6 or 9 digits"},
    {ELEMENT_OCTETS, "octetArray",
     "array of octets as numbers: `[3,0,0,80]`; access lists of Cisco ASA (33000, 33001) are "
     "keywords: `0f8e7ff3-fc1a030f-00000000`"},
    {ELEMENT_BASIC_LIST, "basicList, subTemplateList, subTemplateMultiList", "hexadecimal text"},
};

static const char *type_of(enum element_type type)
{
    const struct element any = {.type = (uint8_t)type};
    return mapping_element_type(&any);
}

static int add(struct buffer *out, const char *text)
{
    size_t len = strlen(text);
    char *p = buffer_reserve(out, len);
    if (!p) {
        return WF_E_NOMEM;
    }
    buffer_commit(out, write_text(p, text, len));
    return WF_OK;
}

__attribute__((format(printf, 2, 3))) static int addf(struct buffer *out, const char *format, ...)
{
    char line[LINE_MAX];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return n < 0 || (size_t)n >= sizeof line ? WF_E_LIMIT : add(out, line);
}

static int add_element(struct buffer *out, const struct mapping_element *e, const char *before)
{
    const struct element *element = element_find(e->pen, e->id);
    const char *name = element ? element->name : "?";
    if (e->pen == ELEMENT_PEN_REVERSE) {
        return addf(out, "%s%s (%u/%u)", before, name, e->pen, e->id);
    }
    return addf(out, "%s%s (%u)", before, name, e->id);
}

static int add_sources(struct buffer *out, const struct mapping_row *row)
{
    int rc = WF_OK;
    const char *before = "";
    for (size_t i = 0; i < 2; i++) {
        struct mapping_element elements[MAPPING_MAX_ELEMENTS];
        size_t n = row->role[i] == ROLE_NONE ? 0 : mapping_role_elements(row->role[i], elements);
        for (size_t j = 0; j < n && rc == WF_OK; j++) {
            rc = add_element(out, &elements[j], before);
            before = j + 1 < n ? ", else " : "; ";
        }
        if (n && i == 0) {
            before = "; ";
        }
    }
    if (rc == WF_OK && row->from[0]) {
        rc = addf(out, "%s%s", before[0] ? ": " : "", row->from);
    }
    return rc;
}

static int add_row(struct buffer *out, const struct mapping_row *row)
{
    int rc = addf(out, "| `%s` | %s%s | %s | ", row->path, row->type, row->array ? "[]" : "",
                  row->options ? "both" : "flows");
    if (rc == WF_OK) {
        rc = add_sources(out, row);
    }
    return rc == WF_OK ? addf(out, " | %s |\n", row->when[0] ? row->when : "always") : rc;
}

static int add_times(struct buffer *out, const char *what, enum time_input from, enum time_input to)
{
    int rc = addf(out, "* %s: ", what);
    for (enum time_input i = from; i <= to && rc == WF_OK; i++) {
        struct mapping_element e = {ELEMENT_PEN_IANA, time_input_element(i)};
        rc = add_element(out, &e, i == from ? "" : ", ");
    }
    return rc == WF_OK ? add(out, "\n") : rc;
}

static int add_all_times(struct buffer *out)
{
    int rc = add_times(out, "start", TIME_START_NANOSECONDS, TIME_START_SECONDS);
    if (rc == WF_OK) {
        rc = add_times(out, "end", TIME_END_NANOSECONDS, TIME_END_SECONDS);
    }
    if (rc == WF_OK) {
        rc = add_times(out, "end, when neither it nor start and duration are known",
                       TIME_OBSERVED_NANOSECONDS, TIME_COLLECTED);
    }
    return rc;
}

static int add_renames(struct buffer *out)
{
    size_t n;
    const struct mapping_rename *renames = mapping_renames(&n);
    int rc = add(
        out,
        "\n## Names of netflow.* that are not the registry's\n\n| element | member |\n|---|---|\n");
    for (size_t i = 0; i < n && rc == WF_OK; i++) {
        const struct element *e = element_find(renames[i].pen, renames[i].id);
        bool v9 = renames[i].pen == ELEMENT_PEN_NETFLOW9;
        rc = v9 ? addf(out, "| %s (NetFlow v9 %u) | `%s` |\n", e ? e->name : "?", renames[i].id,
                       renames[i].name)
                : addf(out, "| %s (%u/%u) | `%s` |\n", e ? e->name : "?", renames[i].pen,
                       renames[i].id, renames[i].name);
    }
    return rc;
}

int document_print_docs(struct buffer *out)
{
    size_t n_rows;
    const struct mapping_row *rows = mapping_rows(&n_rows);
    int rc = add(out, intro);
    for (size_t i = 0; i < n_rows && rc == WF_OK; i++) {
        rc = add_row(out, &rows[i]);
    }
    if (rc == WF_OK) {
        rc = add(out, after_rows);
    }
    if (rc == WF_OK) {
        rc = add_all_times(out);
    }
    if (rc == WF_OK) {
        rc = add(out, after_times);
    }
    for (size_t i = 0; i < sizeof values / sizeof values[0] && rc == WF_OK; i++) {
        rc = addf(out, "| %s | %s | %s |\n", values[i].names, type_of(values[i].type),
                  values[i].value);
    }
    if (rc == WF_OK) {
        rc = add(out, closing);
    }
    return rc == WF_OK ? add_renames(out) : rc;
}
