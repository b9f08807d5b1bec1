/* The guide's report of a workload. */
#include "cli/exit.h"
#include "cli/metrics.h"
#include "driver/guide.h"

#include <stdio.h>

/* Says on stdout which files were written, and how many metrics could be computed. */
static void print(const drv_guide *g, const char *chosen, const char *output, const report_measured *m,
                  size_t n, dse_strbuf *out)
{
    size_t computed = 0;

    for (size_t i = 0; i < n; i++)
        computed += m[i].value != NULL;
    dse_strbuf_addf(out, "%s: %zu of %zu metrics; of %s\n", g->workload, computed, n, chosen);
    dse_strbuf_addf(out, "%s/report.html\n%s/report.json\n", output, output);
    for (size_t i = 0; i < n; i++)
        if (!m[i].value)
            fprintf(stderr, "ccldse: no %s: %s\n", m[i].name, m[i].why);
}

static dse_status measure(const metrics_job *job, const drv_guide *g, const char *const *tool, size_t n,
                          const char *output, command_run *r, dse_error *failure)
{
    drv_recording_options read = job->read;
    drv_recording rec = {0};
    const char *chosen = drv_guide_chosen(g, r->arena);
    report_measured *m;
    dse_status st;

    read.card = read.card ? read.card : g->card;
    st = metrics_load(g->chosen->path, &read, &rec, failure);
    if (st == DSE_OK)
        st = drv_guide_report(g, &rec, tool, n, &job->how, output, r->arena, &m, failure);
    if (st == DSE_OK)
        print(g, chosen, output, m, n, r->out);
    drv_recording_free(&rec);
    return st;
}

dse_status metrics_guide(const metrics_job *job, const char *workload, const char *output,
                         const option_list *tools, command_run *r, dse_error *err)
{
    dse_error failure = DSE_ERROR_INIT;
    const char *const *tool;
    drv_guide g;
    size_t n;
    dse_status st = drv_guide_tools(tools->item, tools->n, r->arena, &tool, &n, err);

    if (st != DSE_OK)
        return st;
    if (!output)
        output = dse_arena_printf(r->arena, "%s/analysis_output", workload);
    st = drv_guide_find(workload, r->arena, &g, &failure);
    if (st == DSE_OK)
        st = measure(job, &g, tool, n, output, r, &failure);
    if (st != DSE_OK)
        metrics_failed(&failure, r);
    return DSE_OK;
}
