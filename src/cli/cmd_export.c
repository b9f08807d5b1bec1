/* The results of a database, for other programs. */
#include "base/fs.h"
#include "base/names.h"
#include "cli/command.h"
#include "cli/results.h"
#include "report/rows.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *db, *model, *system, *format, *output;
    bool config;
} export_options;

#define FIELD(f) .offset = offsetof(export_options, f)

static const option options[] = {
    {"--format", OPT_STRING, "FORMAT", "csv", "csv or json", FIELD(format)},
    {"--model", OPT_STRING, "NAME", "", "only this model", FIELD(model)},
    {"--system", OPT_STRING, "NAME", "", "only this system", FIELD(system)},
    {"--config", OPT_FLAG, NULL, "false",
     "JSON only: with the resolved configuration that reproduces each row", FIELD(config)},
    {"--output", OPT_STRING, "FILE", "", "write to a file instead of standard output", FIELD(output)},
    {"--db", OPT_STRING, "FILE", "results/ccldse.db", "the results database", FIELD(db)},
};

static const char *const formats[] = {"csv", "json"};

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const export_options *o = opts;
    bool json = !strcmp(o->format, "json");
    store_row *rows;
    size_t n;
    dse_status st;

    if (!json && strcmp(o->format, "csv"))
        return dse_fail_unknown(err, DSE_E_USAGE, "", "format", o->format, formats,
                                sizeof formats / sizeof formats[0]);
    if (o->config && !json)
        return dse_fail(err, DSE_E_USAGE, "--config needs --format json");
    if ((st = results_read(o->db, o->model, o->system, r->arena, &rows, &n, err)) != DSE_OK)
        return st;
    if (json)
        report_rows_json(rows, n, o->config, r->out);
    else
        report_rows_csv(rows, n, r->out);
    if (!o->output)
        return DSE_OK;
    st = dse_write_text(o->output, r->out, err);
    dse_strbuf_clear(r->out);
    return st;
}

extern const command command_export;
const command command_export = {
    .name = "export",
    .summary = "print the results as CSV or JSON",
    .details = "Rows come in the order of model, system and point, whoever simulated them when; what differs "
               "from run to run "
               "is not in there, so equal results give equal bytes. Times in ns, memory in bytes (counting "
               "elements, as "
               "ASTRA-sim does), utilisation in percent.",
    .example = "ccldse export --format csv --model llama70b > llama70b.csv",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .size = sizeof(export_options),
    .run = run,
};
