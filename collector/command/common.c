// SPDX-License-Identifier: Apache-2.0
#include <sys/random.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/command/command.h"
#include "collector/command/events.h"
#include "collector/document/document.h"
#include "collector/ledger/ledger.h"
#include "collector/log/log.h"
#include "collector/output/output.h"
#include "collector/pipeline/pipeline.h"
#include "enrich/local/locality.h"

#define MAX_AUTO_WORKERS 64

static unsigned auto_workers(unsigned asked)
{
    if (asked) {
        return asked;
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (cores < 1) {
        return 1;
    }
    return (unsigned)(cores < MAX_AUTO_WORKERS ? cores : MAX_AUTO_WORKERS);
}

/* A random UUID (RFC 4122 version 4) for agent.id: one for each run. */
static void make_agent_id(char text[37])
{
    uint8_t r[16] = {0};
    (void)!getrandom(r, sizeof(r), GRND_NONBLOCK); /* an identity, not a secret */
    r[6] = (uint8_t)((r[6] & 0x0f) | 0x40);
    r[8] = (uint8_t)((r[8] & 0x3f) | 0x80);
    snprintf(text, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", r[0],
             r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13],
             r[14], r[15]);
}

static int open_document(struct command_parts *parts, const struct options *options, bool replay)
{
    struct document_options o = {.replay = replay, .unknown_elements = options->unknown_elements};
    size_t bad = 0;
    if (document_format_of(options->format, &o.format) < 0) {
        fprintf(stderr, "whoflow: --format: there is no \"%s\"; choose ecs, flat, text or none\n",
                options->format);
        return EXIT_CODE_USAGE;
    }
    if (locality_new(options->n_networks ? options->networks : NULL, options->n_networks,
                     &parts->locality, &bad) < 0) {
        fprintf(stderr,
                "whoflow: --internal-network: \"%s\" is no network; write private, or ADDR/PREFIX "
                "as 10.0.0.0/8\n",
                bad < options->n_networks ? options->networks[bad] : "");
        return EXIT_CODE_USAGE;
    }
    char host[256] = "";
    char agent[37];
    gethostname(host, sizeof(host) - 1);
    make_agent_id(agent);
    o.locality = parts->locality;
    o.host_name = replay ? NULL : host;
    o.agent_id = replay ? NULL : agent;
    if (document_new(&o, &parts->document) < 0) {
        fprintf(stderr, "whoflow: out of memory\n");
        return EXIT_CODE_FAILURE;
    }
    return EXIT_CODE_OK;
}

static int open_output(struct command_parts *parts, const struct options *options, bool replay)
{
    char why[512];
    struct output_config config = {.target = options->output,
                                   .queue_bytes = options->queue_bytes,
                                   .n_workers = 1,
                                   .block = replay};
    int err = output_new(&config, &parts->output, why, sizeof(why));
    if (err < 0) {
        fprintf(stderr, "whoflow: %s\n", why);
        return err == WF_E_INVAL  ? EXIT_CODE_USAGE
               : err == WF_E_PERM ? EXIT_CODE_NO_PERMISSION
                                  : EXIT_CODE_NO_OUTPUT;
    }
    if (output_start(parts->output) < 0) {
        fprintf(stderr, "whoflow: could not start the output's thread: %s\n", strerror(errno));
        return EXIT_CODE_FAILURE;
    }
    return EXIT_CODE_OK;
}

/* Now, and not when the account is due: by then it would be too late to choose another place. */
static int open_stats(struct command_parts *parts, const struct options *options)
{
    if (!options->stats_file) {
        return EXIT_CODE_OK;
    }
    parts->stats = fopen(options->stats_file, "we");
    if (parts->stats) {
        return EXIT_CODE_OK;
    }
    int error = errno;
    fprintf(stderr, "whoflow: --stats-file %s: %s; choose a place that can be written to\n",
            options->stats_file, strerrordesc_np(error));
    return error == EACCES || error == EPERM ? EXIT_CODE_NO_PERMISSION : EXIT_CODE_NO_OUTPUT;
}

static int open_pipeline(struct command_parts *parts, const struct options *options, bool replay)
{
    struct pipeline_config config = {
        .n_workers = auto_workers(options->workers),
        .ordered = replay,
        .limits = {.max_pending_bytes = options->pending_bytes,
                   .max_pending_exporter_bytes = options->pending_exporter_bytes,
                   .max_pending_age_ns = options->pending_age_ns >= 0 ? options->pending_age_ns
                                         : replay                     ? -1
                                                                      : 0},
        .document = parts->document,
        .output = parts->output,
        .event = events_log,
    };
    int err = pipeline_new(&config, &parts->pipeline);
    if (err == WF_OK) {
        err = pipeline_start(parts->pipeline);
    }
    if (err < 0) {
        fprintf(stderr, "whoflow: could not start %u workers: %s\n", config.n_workers,
                wf_err_text(err));
        return EXIT_CODE_FAILURE;
    }
    return EXIT_CODE_OK;
}

int command_parts_open(struct command_parts *parts, const struct options *options, bool replay)
{
    *parts = (struct command_parts){0};
    int code = open_document(parts, options, replay);
    if (code == EXIT_CODE_OK) {
        code = open_stats(parts, options);
    }
    if (code == EXIT_CODE_OK) {
        code = open_output(parts, options, replay);
    }
    if (code == EXIT_CODE_OK) {
        code = open_pipeline(parts, options, replay);
    }
    if (code != EXIT_CODE_OK) {
        command_parts_close(parts);
    }
    return code;
}

void command_parts_close(struct command_parts *parts)
{
    if (parts->output) {
        output_stop(parts->output, true); /* first, so that no worker waits for room */
    }
    pipeline_free(parts->pipeline);
    output_free(parts->output);
    document_free(parts->document);
    locality_free(parts->locality);
    if (parts->stats) {
        (void)fclose(parts->stats); /* nothing was written to it */
    }
    *parts = (struct command_parts){0};
}

void command_parts_ledger(const struct command_parts *parts, struct ledger *ledger)
{
    struct pipeline_counters p;
    struct output_counters o;
    pipeline_counters(parts->pipeline, &p);
    output_counters(parts->output, &o);
    ledger->decoder = p.decoder;
    ledger->state = p.state;
    ledger->ring_dropped = p.datagrams_dropped;
    ledger->documents_made = p.documents_made;
    ledger->documents_refused = p.documents_refused;
    ledger->documents_written = o.documents_written;
    ledger->documents_dropped = o.documents_dropped;
    ledger->documents_failed = o.documents_failed;
    ledger->documents_unsent = o.documents_unsent;
    ledger->octets_written = o.octets_written;
}

/* All domains, sorted by exporter, domain, version: the same account for the same input. */
struct domain_list {
    struct decoder_domain_info *info;
    size_t n, cap;
};

static int add_domain(void *ctx, const struct decoder_domain_info *info)
{
    struct domain_list *list = ctx;
    if (list->n == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 16;
        struct decoder_domain_info *grown = realloc(list->info, cap * sizeof(*grown));
        if (!grown) {
            return WF_E_NOMEM;
        }
        list->info = grown;
        list->cap = cap;
    }
    list->info[list->n++] = *info;
    return WF_OK;
}

static int compare_domains(const void *a, const void *b)
{
    const struct decoder_domain_info *x = a;
    const struct decoder_domain_info *y = b;
    if (x->exporter.family != y->exporter.family) {
        return x->exporter.family < y->exporter.family ? -1 : 1;
    }
    int order = memcmp(x->exporter.bytes, y->exporter.bytes, sizeof(x->exporter.bytes));
    if (order) {
        return order;
    }
    if (x->domain != y->domain) {
        return x->domain < y->domain ? -1 : 1;
    }
    return x->version < y->version ? -1 : x->version > y->version;
}

static int write_stats(FILE *f, const char *path, const struct ledger *ledger,
                       const struct domain_list *list)
{
    errno = 0;
    int err = ledger_print_json(f, ledger, list->info, list->n);
    int error = errno;
    if (fclose(f) != 0 && err == WF_OK) {
        err = WF_E_IO;
        error = errno;
    }
    if (err < 0) {
        log_error("--stats-file %s: %s; the account was not written", path,
                  strerrordesc_np(error ? error : EIO));
    }
    return err < 0 ? EXIT_CODE_FAILURE : EXIT_CODE_OK;
}

int command_print_ledger(struct command_parts *parts, const struct options *options,
                         const struct ledger *ledger)
{
    int code = EXIT_CODE_OK;
    char why[160];
    struct domain_list list = {0};
    if (ledger_check(ledger, why, sizeof(why)) != 0) {
        log_error("the account does not add up: %s; please report this", why);
    }
    (void)decoder_each_domain(pipeline_decoder(parts->pipeline), add_domain,
                              &list); /* short of memory: a shorter list */
    if (list.n) {
        qsort(list.info, list.n, sizeof(*list.info), compare_domains);
    }
    if (options->summary) {
        (void)ledger_print_human(stderr, ledger, list.info, list.n);
    }
    if (parts->stats) {
        code = write_stats(parts->stats, options->stats_file, ledger, &list);
        parts->stats = NULL;
    }
    free(list.info);
    return code;
}
