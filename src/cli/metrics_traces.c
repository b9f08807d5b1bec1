/* Traces one after another: read, measured, printed. */
#include "cli/exit.h"
#include "cli/metrics.h"
#include "cli/progress.h"
#include "driver/measure.h"
#include "report/measured_page.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const metrics_job *job;
    command_run *r;
    dse_arena *arena;     /* of this trace */
    const char *path;     /* as it was given */
    const char *workload; /* what to call it among several; NULL: it is the only one */
    size_t n;
    report_measured *list;
} measured;

void metrics_failed(const dse_error *failure, command_run *r)
{
    report_error(failure);
    r->code = EXIT_NO;
}

dse_status metrics_load(const char *path, const drv_recording_options *how, drv_recording *out,
                        dse_error *err)
{
    drv_recording_options with_progress = *how;
    progress_screen screen;
    dse_status st;

    progress_init(&screen, "files of traces read");
    with_progress.progress = progress_count;
    with_progress.user = &screen;
    st = drv_recording_load(path, &with_progress, out, err);
    progress_clear(&screen);
    for (size_t i = 0; i < out->record.n_warnings; i++)
        report_warning("%s", out->record.warning[i].text);
    return st;
}

/* The value of a single metric is printed bare, as the original tools print it; one that is several values as
 * text, or under --compat as JSON, as they do. */
static bool is_single(const metrics_job *job) { return !job->all && job->metric.n == 1; }

/* ---- absent metrics ---------------------------------------------------------------------- */

/* Reports a metric that was asked for by name and could not be computed. */
static void say_failed(const measured *x, const report_measured *m)
{
    dse_error failure = DSE_ERROR_INIT;

    dse_fail_at(&failure, DSE_E_ABSENT, x->workload ? x->workload : "", "%s: %s", m->name, m->why);
    report_error(&failure);
}

/* The first of the list that is absent for the reason of the i-th. */
static bool is_first_of_reason(const measured *x, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (x->list[k].why && !x->list[k].other_kind && strcmp(x->list[k].why, x->list[i].why) == 0)
            return false;
    return true;
}

/* The beginning of a line; it names the trace where there are several. */
static void add_workload(const measured *x, dse_strbuf *line)
{
    dse_strbuf_addf(line, "ccldse: %s%s", x->workload ? x->workload : "", x->workload ? ": " : "");
}

static void add_names(const measured *x, const char *why, bool other_kind, dse_strbuf *out)
{
    bool any = false;

    for (size_t i = 0; i < x->n; i++) {
        const report_measured *m = &x->list[i];

        if (!m->why || m->other_kind != other_kind || (why && strcmp(m->why, why) != 0))
            continue;
        dse_strbuf_addf(out, "%s%s", any ? ", " : "", m->name);
        any = true;
    }
}

/* With --all: one line for each reason, with the remedy, and one for metrics of other kinds of traces. */
static void say_absent_of_all(const measured *x)
{
    dse_strbuf lines = dse_strbuf_in(x->arena);
    dse_strbuf others = dse_strbuf_in(x->arena);

    for (size_t i = 0; i < x->n; i++) {
        if (!x->list[i].why || x->list[i].other_kind || !is_first_of_reason(x, i))
            continue;
        add_workload(x, &lines);
        dse_strbuf_adds(&lines, "no ");
        add_names(x, x->list[i].why, false, &lines);
        dse_strbuf_addf(&lines, ": %s\n", x->list[i].why);
    }
    add_names(x, NULL, true, &others);
    if (others.len) {
        add_workload(x, &lines);
        dse_strbuf_adds(&lines, "not for this kind of trace:\n  ");
        dse_strbuf_add_wrapped(&lines, others.data, 2, HELP_WIDTH - 2);
        dse_strbuf_addc(&lines, '\n');
    }
    fputs(lines.data ? lines.data : "", stderr);
}

static void say_absent(const measured *x)
{
    for (size_t i = 0; i < x->n; i++) {
        const report_measured *m = &x->list[i];

        if (m->why && m->value)
            fprintf(stderr, "ccldse: no %s: %s\n", m->name, m->why);
        else if (m->why)
            say_failed(x, m);
    }
}

static size_t count_computed(const measured *x)
{
    size_t n = 0;

    for (size_t i = 0; i < x->n; i++)
        n += x->list[i].value != NULL;
    return n;
}

/* ---- printing ------------------------------------------------------------------------------- */

static void add_heading(const measured *x)
{
    if (x->workload && x->job->format == METRICS_TEXT)
        dse_strbuf_addf(x->r->out, "===== %s =====\n", x->path);
}

static void print_text(const measured *x)
{
    dse_strbuf *out = x->r->out;

    add_heading(x);
    if (is_single(x->job) && x->list[0].value && (x->job->how.compat || x->list[0].row->headline))
        report_measured_bare(&x->list[0], out);
    else
        report_measured_text(x->list, x->n, out);
    if (x->workload)
        dse_strbuf_addc(out, '\n');
}

static void print_json(const measured *x)
{
    dse_strbuf *out = x->r->out;
    int depth = x->workload ? 1 : 0;

    if (is_single(x->job) && !x->workload) {
        report_measured_json_one(&x->list[0], 0, out);
        dse_strbuf_addc(out, '\n');
        return;
    }
    dse_strbuf_addf(out, "{\n%*s\"trace\": ", 2 * depth + 2, "");
    dse_json_quote(out, x->path);
    dse_strbuf_addf(out, ",\n%*s\"metrics\": ", 2 * depth + 2, "");
    report_measured_json(x->list, x->n, depth + 1, out);
    dse_strbuf_addf(out, "\n%*s}", 2 * depth, "");
    if (!x->workload)
        dse_strbuf_addc(out, '\n');
}

static void print(const measured *x)
{
    switch (x->job->format) {
    case METRICS_TEXT: print_text(x); return;
    case METRICS_JSON: print_json(x); return;
    case METRICS_CSV: report_measured_csv(x->workload, x->list, x->n, x->r->out); return;
    case METRICS_HTML: {
        const report_page page = {.title = x->path, .n = x->n, .m = x->list};

        report_page_html(&page, x->r->out);
    }
    }
}

/* Prints an entry in place of a trace that cannot be read. */
static void print_failure(const measured *x, const dse_error *failure)
{
    dse_strbuf *out = x->r->out;

    if (x->job->format == METRICS_JSON && x->workload) {
        dse_strbuf_adds(out, "{\"trace\": ");
        dse_json_quote(out, x->path);
        dse_strbuf_adds(out, ", \"error\": ");
        dse_json_quote(out, dse_error_say(failure).text);
        dse_strbuf_adds(out, "}");
    }
    for (size_t i = 0; x->job->format == METRICS_CSV && i < x->job->metric.n; i++) {
        report_measured nothing = {.name = x->job->metric.item[i]};
        report_measured_csv(x->workload, &nothing, 1, out);
    }
}

/* ---- one trace ------------------------------------------------------------------------------ */

static dse_status compute(measured *x, const drv_recording *rec, dse_error *err)
{
    const metrics_job *job = x->job;
    dse_status st = DSE_OK;

    if (job->all)
        return drv_measure_all(rec, &job->how, x->arena, &x->list, &x->n, err);
    x->list = DSE_ARENA_NEW(x->arena, report_measured, job->metric.n);
    for (; st == DSE_OK && x->n < job->metric.n; x->n++) {
        const char *name = job->metric.item[x->n];
        const metric *m = NULL;

        if ((st = drv_measure_find(rec, name, job->how.compat, &m, err)) == DSE_OK)
            st = drv_measure(rec, m, name, &job->how, x->arena, &x->list[x->n], err);
    }
    return st;
}

/* Without --all every metric was requested by name, so an absent one is a failure. */
static void conclude(const measured *x)
{
    if (!x->job->all)
        say_absent(x);
    else if (x->job->format != METRICS_JSON)
        say_absent_of_all(x);
    if (x->job->all ? !count_computed(x) : count_computed(x) < x->n)
        x->r->code = EXIT_NO;
}

static void measure_trace(measured *x)
{
    drv_recording rec = {0};
    dse_error failure = DSE_ERROR_INIT;
    dse_status st = metrics_load(x->path, &x->job->read, &rec, &failure);

    if (st == DSE_OK && !x->job->glance)
        st = compute(x, &rec, &failure);
    if (st == DSE_OK && x->job->glance) {
        add_heading(x);
        metrics_glance(x->job, &rec, x->path, x->arena, x->r->out);
        if (x->workload ? x->job->format == METRICS_TEXT : x->job->format == METRICS_JSON)
            dse_strbuf_addc(x->r->out, '\n');
    } else if (st == DSE_OK) {
        print(x);
        conclude(x);
    } else {
        metrics_failed(&failure, x->r);
        print_failure(x, &failure);
    }
    drv_recording_free(&rec);
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* The last part of a path, and its length without the slashes at its end. */
static const char *last_part(const char *path, size_t *n)
{
    size_t end = strlen(path), begin;

    while (end > 1 && path[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && path[begin - 1] != '/'; begin--)
        continue;
    *n = end - begin;
    return path + begin;
}

/* A trace among several is called by the last part of its path; by the whole of it if another one has the
 * same. */
static const char *name_of(const option_list *traces, size_t at, dse_arena *a)
{
    size_t n, n_other;
    const char *name = last_part(traces->item[at], &n);

    for (size_t i = 0; i < traces->n; i++) {
        const char *other = last_part(traces->item[i], &n_other);

        if (i != at && n_other == n && strncmp(name, other, n) == 0)
            return traces->item[at];
    }
    return dse_arena_strndup(a, name, n);
}

void metrics_measure(const metrics_job *job, command_run *r)
{
    bool several = job->trace.n > 1, json = job->format == METRICS_JSON;

    if (job->format == METRICS_CSV && !job->glance)
        report_measured_csv_heading(several, r->out);
    if (several && json)
        dse_strbuf_adds(r->out, "[");
    for (size_t i = 0; i < job->trace.n; i++) {
        measured x = {.job = job, .r = r, .path = job->trace.item[i]};
        dse_arena arena;

        if (several)
            x.workload = name_of(&job->trace, i, r->arena);
        if (several && json)
            dse_strbuf_adds(r->out, i ? ",\n  " : "\n  ");
        dse_arena_init(&arena);
        x.arena = &arena;
        measure_trace(&x);
        dse_arena_free(&arena);
    }
    if (several && json)
        dse_strbuf_adds(r->out, "\n]\n");
}
