#include "report/laws.h"

#include <inttypes.h>
#include <math.h>

static report_text figure(double v, int digits) { return report_format(isnan(v) ? "-" : "%.*g", digits, v); }
static report_text percent(double v) { return report_format(isnan(v) ? "-" : "%.1f%%", v * 100); }

static void print_reach(const report_laws *l, dse_strbuf *out)
{
    for (size_t i = 0; i < l->n_reach; i++) {
        const report_reach *r = &l->reach[i];

        dse_strbuf_addf(out, "%s  %s: ", i ? "" : "\nWhat all-reduces reach (Hockney):\n", r->run);
        if (r->why)
            dse_strbuf_adds(out, r->why);
        else
            dse_strbuf_addf(out,
                            "network.efficiency[%" PRIu32 "] %.3g, network.step_latency[%" PRIu32 "] %.4g ns",
                            r->dim, r->efficiency, r->dim, r->step_latency_ns);
        dse_strbuf_addc(out, '\n');
    }
}

void report_laws_print(const report_laws *l, dse_strbuf *out)
{
    report_tree t;
    report_node *list = report_tree_begin(&t);

    dse_strbuf_addf(out, "Laws of kernels of 16-bit elements, by %g TFLOPS and %g GB/s of %s:\n\n",
                    l->peak_tflops, l->memory_gb_per_s, l->system);
    for (size_t i = 0; i < l->n; i++) {
        const report_law *w = &l->law[i];

        report_row(list, V_NOTE("class", w->class), V_AS("shapes", V_COUNT(NULL, w->shapes)),
                   V_AS("calls", V_COUNT(NULL, w->calls)),
                   V_CELL("flop_factor", figure(w->flop_factor, 4).text),
                   V_CELL("half_length", figure(w->half_length, 4).text),
                   V_CELL("byte_factor", figure(w->byte_factor, 4).text),
                   V_CELL("overhead, us", figure(w->overhead_ns / 1e3, 4).text),
                   V_CELL("mean error", percent(w->mean).text), V_CELL("worst", percent(w->worst).text),
                   V_CELL("roofline's", percent(w->roofline_mean).text), V_NOTE("", w->why ? w->why : ""));
    }
    report_table_end(&t, out);
    print_reach(l, out);
    if (l->output)
        dse_strbuf_addf(out, "\n%s\n", l->output);
}

void report_laws_json(const report_laws *l, dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t), *list;

    report_put(root, V_TEXT("system", l->system), V_TEXT("device", l->device),
               V_REAL("peak_tflops", l->peak_tflops), V_REAL("memory_gb_per_s", l->memory_gb_per_s),
               V_TEXT("output", l->output));
    list = report_lines(root, "laws");
    for (size_t i = 0; i < l->n; i++) {
        const report_law *w = &l->law[i];

        report_row(list, V_TEXT("class", w->class), V_COUNT("shapes", w->shapes), V_COUNT("calls", w->calls),
                   V_GIVEN(w->why, V_TEXT("why_none", w->why)), V_REAL("flop_factor", w->flop_factor),
                   V_REAL("half_length", w->half_length), V_REAL("byte_factor", w->byte_factor),
                   V_REAL("overhead_ns", w->overhead_ns), V_REAL("mean_error", w->mean),
                   V_REAL("worst_error", w->worst), V_REAL("roofline_mean_error", w->roofline_mean));
    }
    list = report_lines(root, "collectives");
    for (size_t i = 0; i < l->n_reach; i++) {
        const report_reach *r = &l->reach[i];

        report_row(list, V_TEXT("run", r->run), V_GIVEN(r->why, V_TEXT("why_none", r->why)),
                   V_GIVEN(!r->why, V_COUNT("dimension", r->dim)),
                   V_GIVEN(!r->why, V_REAL("efficiency", r->efficiency)),
                   V_GIVEN(!r->why, V_REAL("step_latency_ns", r->step_latency_ns)));
    }
    report_tree_end(&t, out);
}
