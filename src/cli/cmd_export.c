/* Writes the results of a database for other programs. */
#include "base/fs.h"
#include "cli/command.h"
#include "cli/metrics.h"
#include "cli/results.h"
#include "measured/submission.h"
#include "report/keyed.h"
#include "report/rows.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    results_selection which;
    const char *traces, *db, *format, *output;
    bool config;
} export_options;

#define FIELD(f) .offset = offsetof(export_options, f)

static const char *const format_names[] = {"csv", "json", "keyed", "ccl-bench", NULL};

static const option options[] = {
    {"DIR", OPT_STRING, NULL, "", "ccl-bench only: traces of one run with their workload card",
     FIELD(traces)},
    {"--format", OPT_STRING, "FORMAT", "csv",
     "what to print (keyed is the classic file, a point a key; ccl-bench: a submission of DIR)",
     .choices = format_names, FIELD(format)},
    OPTION_GROUP(results_group, which),
    {"--config", OPT_FLAG, NULL, "false",
     "JSON only: with the resolved configuration that reproduces each row", FIELD(config)},
    {"--output", OPT_STRING, "FILE", "",
     "write to a file instead of standard output; keyed: into a folder, DIR/, one file a model and system; "
     "ccl-bench: the folder",
     FIELD(output)},
    {"--db", OPT_STRING, "FILE", "results/ccldse.db", "the results database", FIELD(db)},
};

/* ---- formats ------------------------------------------------------------------------------- */

#define BATCH_BYTES ((size_t)1 << 16) /* are written at once */

/* Rows on their way from the database to a file or to standard output. */
typedef struct {
    report_rows rows;
    dse_strbuf *text; /* not written yet */
    FILE *to;
    const char *path; /* of it; NULL: standard output */
} row_stream;

static dse_status cannot_write(const row_stream *s, dse_error *err)
{
    if (!s->path)
        return dse_fail_errno(err, DSE_E_IO, "cannot write to standard output");
    return dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", s->path);
}

static dse_status write_text(row_stream *s, dse_error *err)
{
    if (fwrite(s->text->data, 1, s->text->len, s->to) < s->text->len)
        return cannot_write(s, err);
    dse_strbuf_clear(s->text);
    return DSE_OK;
}

static dse_status write_row(void *user, const store_row *r, dse_error *err)
{
    row_stream *s = user;

    report_rows_add(&s->rows, r, s->text);
    return s->text->len < BATCH_BYTES ? DSE_OK : write_text(s, err);
}

/* Begins before the first row, but not before the database was read without complaint. */
static dse_status stream_rows(const export_options *o, row_stream *s, dse_error *err)
{
    dse_status st;

    report_rows_begin(&s->rows, s->text);
    st = results_each(o->db, &o->which, write_row, s, err);
    report_rows_end(&s->rows, s->text);
    return st == DSE_OK ? write_text(s, err) : st;
}

static dse_status stream_to_file(const export_options *o, row_stream *s, dse_error *err)
{
    dse_replacement file;
    dse_status st = dse_replacement_open(&file, o->output, err);

    if (st != DSE_OK)
        return st;
    if (!(s->to = fdopen(dup(file.fd), "w")))
        st = cannot_write(s, err);
    else
        st = stream_rows(o, s, err);
    if (s->to && fclose(s->to) != 0 && st == DSE_OK)
        st = cannot_write(s, err);
    if (st == DSE_OK)
        return dse_replacement_commit(&file, err);
    dse_replacement_give_up(&file);
    return st;
}

/* Costs have columns where a row has one: two passes, and one where nothing has a price. */
static dse_status look_for_costs(void *any, const store_row *r, dse_error *err)
{
    (void)err;
    *(bool *)any |= report_has_costs(r);
    return DSE_OK;
}

static dse_status export_rows(const export_options *o, bool json, command_run *r, dse_error *err)
{
    row_stream s = {
        .rows = {.json = json, .config = o->config}, .text = r->out, .to = stdout, .path = o->output};
    bool prices = false;
    dse_status st = json ? DSE_OK : results_have_prices(o->db, &prices, err);

    if (st == DSE_OK && prices)
        st = results_each(o->db, &o->which, look_for_costs, &s.rows.costs, err);
    if (st != DSE_OK)
        return st;
    st = o->output ? stream_to_file(o, &s, err) : stream_rows(o, &s, err);
    dse_strbuf_clear(r->out);
    return st;
}

static dse_status export_csv(const export_options *o, command_run *r, dse_error *err)
{
    return export_rows(o, false, r, err);
}

static dse_status export_json(const export_options *o, command_run *r, dse_error *err)
{
    return export_rows(o, true, r, err);
}

static const char *keyed_path(const char *folder, const report_study *pair, dse_arena *a)
{
    return dse_arena_printf(a, "%s%s%s_%s.json", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
                            pair->row[0].model, pair->row[0].system);
}

/* "a_b" on "c" and "a" on "b_c" would be one file. All names are known before the first file is written. */
static dse_status name_files(const export_options *o, const report_keyed *k, dse_arena *a,
                             const char ***paths, dse_error *err)
{
    *paths = DSE_ARENA_NEW(a, const char *, k->n);
    for (size_t i = 0; i < k->n; i++) {
        (*paths)[i] = keyed_path(o->output, &k->pair[i], a);
        for (size_t j = 0; j < i; j++)
            if (!strcmp((*paths)[j], (*paths)[i]))
                return dse_fail(err, DSE_E_CONFIG,
                                "'%.200s' would be the file of %.60s on %.60s and of %.60s on %.60s; choose "
                                "with --model",
                                (*paths)[i], k->pair[j].row[0].model, k->pair[j].row[0].system,
                                k->pair[i].row[0].model, k->pair[i].row[0].system);
    }
    return DSE_OK;
}

static dse_status write_files(const export_options *o, const report_keyed *k, command_run *r, dse_error *err)
{
    const char **paths;
    dse_status st;

    if (!k->n)
        return results_none(o->db, &o->which, err);
    if ((st = name_files(o, k, r->arena, &paths, err)) != DSE_OK ||
        (st = dse_mkdirs(o->output, err)) != DSE_OK)
        return st;
    for (size_t i = 0; st == DSE_OK && i < k->n; i++) {
        dse_strbuf text = dse_strbuf_in(r->arena);

        report_keyed_print(&k->pair[i], &text);
        st = dse_write_text(paths[i], &text, err);
    }
    return st;
}

static dse_status export_keyed(const export_options *o, command_run *r, dse_error *err)
{
    results_selection which = o->which;
    store_row *rows;
    size_t n;
    report_keyed k;
    dse_status st;

    which.one_config = true;
    if ((st = results_select(o->db, &which, r->arena, &rows, &n, err)) != DSE_OK ||
        (st = report_keyed_select(rows, n, r->arena, &k, err)) != DSE_OK)
        return st;
    if (k.n_failed || k.n_sharded)
        report_warning("left out, as the keyed format cannot say them: %zu failed, %zu with sharded weights",
                       k.n_failed, k.n_sharded);
    if (o->output && (o->output[strlen(o->output) - 1] == '/' || dse_is_dir(o->output)))
        return write_files(o, &k, r, err);
    report_keyed_print_all(&k, r->out);
    return command_save(o->output, r, err);
}

/* In the order of format_names; NULL: it is not of results. */
static const struct {
    bool has_config; /* --config makes sense */
    dse_status (*write)(const export_options *o, command_run *r, dse_error *err);
} formats[] = {{false, export_csv}, {true, export_json}, {false, export_keyed}, {false, NULL}};

/* ---- a submission --------------------------------------------------------------------------- */

static dse_status submit(const export_options *o, command_run *r, dse_error *err)
{
    drv_recording recording = {0};
    msr_submission s;
    dse_status st;

    if (!o->traces || !o->output)
        return dse_fail(err, DSE_E_USAGE,
                        "--format ccl-bench takes DIR, the traces, and --output, a folder for what "
                        "is to be submitted");
    st = metrics_load(o->traces, &(drv_recording_options){0}, &recording, err);
    if (st == DSE_OK)
        st = msr_submission_write(&recording, o->traces, o->output, r->arena, &s, err);
    drv_recording_free(&recording);
    if (st != DSE_OK)
        return st;
    if (s.bytes > MSR_UPLOAD_BYTES)
        report_warning(
            "%s is %.0f MB; the board's server takes %zu MiB at once: upload fewer ranks, or by another way",
            s.name, (double)s.bytes / 1e6, MSR_UPLOAD_BYTES >> 20);
    dse_strbuf_addf(r->out, "%s/%s: the card and %zu traces; %zu of %zu metrics have a value\n", o->output,
                    s.name, s.n_files, s.n_values, s.n_metrics);
    return DSE_OK;
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const export_options *o = opts;
    const size_t format = option_place(format_names, o->format);

    if (o->config && !formats[format].has_config)
        return dse_fail(err, DSE_E_USAGE, "--config needs --format json");
    if (!formats[format].write)
        return submit(o, r, err);
    if (o->traces)
        return dse_fail(err, DSE_E_USAGE, "'%.80s': only --format ccl-bench takes a directory", o->traces);
    return formats[format].write(o, r, err);
}

const command command_export = {
    .name = "export",
    .summary = "print the results as CSV, JSON or the classic keyed JSON",
    .details =
        "Rows come in the order of model, system and point, whoever simulated them when; what differs from "
        "run to run is not in there, so equal results give equal bytes. Times in ns, memory in bytes (or "
        "elements, as ASTRA-sim counts: see the column sizes), utilisation in percent. Keyed: one object for "
        "a model and a system, keys dp_tp_sp_pp_recompute such as 32_1_2_1_0; objects within objects for "
        "several; 'ccldse import' reads both. Of a directory of traces with its workload card: a submission "
        "to "
        "CCL-Bench's public board, with the card, the traces packed, the entry of pairs[] and the row of "
        "values.",
    .example = "ccldse export --format csv --model llama70b > llama70b.csv",
    COMMAND_OPTIONS(options, export_options),
    .run = run,
};
