/* The first page of a trace, and the tables behind it. */
#include "cli/metrics.h"
#include "cli/terminal.h"
#include "driver/measure.h"
#include "report/glance.h"

#include <unistd.h>

/* The value of a metric that a page shows; NULL: absent. */
static const metric_value *value_of(const drv_recording *rec, const char *name, const metric_options *how,
                                    dse_arena *a)
{
    const metric *m;
    report_measured got = {0};

    if (drv_measure_find(rec, name, false, &m, NULL) != DSE_OK ||
        drv_measure(rec, m, name, how, a, &got, NULL) != DSE_OK)
        return NULL;
    return got.value;
}

/* The table that is asked for; of one that is two, the first. */
static void print_csv(const report_glance *g, dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t);

    report_glance_tree(g, root);
    for (const report_node *row = root->first->first; row; row = row->next) {
        if (row == root->first->first)
            report_csv_line(row, true, out);
        report_csv_line(row, false, out);
    }
    report_tree_free(&t);
}

static void print_json(const report_glance *g, dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t);

    report_put(root, V_TEXT("trace", g->path));
    report_glance_tree(g, root);
    report_tree_write(&t, out);
}

void metrics_glance(const metrics_job *job, const drv_recording *rec, const char *path, dse_arena *a,
                    dse_strbuf *out)
{
    const metric_context x = drv_metric_context(rec, &job->how, a);
    const bool page = !job->parts;
    report_glance g = {.path = path,
                       .x = &x,
                       .columns = terminal_width(STDOUT_FILENO),
                       .parts = job->parts,
                       .run = glance_of(&x)};

    if (job->parts & REPORT_GLANCE_OPERATORS)
        g.operators = glance_operators(&x);
    if (page || job->parts & REPORT_GLANCE_KERNELS)
        g.shapes = value_of(rec, "kernel_shapes", &job->how, a);
    if (page) {
        g.steps = value_of(rec, "avg_step_time", &job->how, a);
        g.mfu = value_of(rec, "mfu", &job->how, a);
        g.memory = value_of(rec, "memory", &job->how, a);
        g.at_peak = value_of(rec, g.memory ? "memory_at_peak" : "memory_timeline", &job->how, a);
        g.flops = value_of(rec, "achieved_flops_from_trace_json", &job->how, a);
        g.calls = value_of(rec, "coll_call_num", &job->how, a);
    }
    switch (job->format) {
    case METRICS_TEXT: report_glance_text(&g, out); return;
    case METRICS_JSON: print_json(&g, out); return;
    case METRICS_CSV: print_csv(&g, out); return;
    case METRICS_HTML: report_glance_html(&g, out); return;
    }
}
