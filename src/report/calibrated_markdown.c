/* The rows of a README's table: what was measured, what the card says, what a fit to the others says. */
#include "report/calibrated.h"
#include "report/markdown.h"

#include <math.h>

static void add_error(const report_calibrated *c, const char *what, const double *predicted, dse_strbuf *out)
{
    report_calibrated_error e = report_calibrated_error_of(c, predicted);

    if (e.n)
        dse_strbuf_addf(out, "%s: mean %.1f%%, worst %+.1f%% of %zu runs.  \n", what, e.mean * 100,
                        e.worst * 100, e.n);
}

/* The row of a run; NULL: the headings. */
static void add_line(const report_calibrated_run *r, double before, double after, dse_strbuf *out)
{
    static const report_calibrated_run none = {.point = ""};
    const report_calibrated_run *of = r ? r : &none;
    report_tree t;
    report_node *row = report_tree_begin(&t);

    report_put(row, V_NOTE("run", of->name), V_AS("devices", V_COUNT(NULL, of->n_devices)));
    report_put_degrees(of->point, row);
    report_put(row, V_CELL("measured", report_seconds(of->measured_s).text),
               V_CELL("card", report_seconds(before).text),
               V_CELL("error", report_signed_percent(before / of->measured_s - 1).text),
               V_CELL("fitted to the others", report_seconds(after).text),
               V_CELL("error", report_signed_percent(after / of->measured_s - 1).text));
    report_markdown_line(row, !r, out);
    report_tree_free(&t);
}

void report_calibrated_markdown(const report_calibrated *c, dse_strbuf *out)
{
    add_line(NULL, NAN, NAN, out);
    for (size_t i = 0; i < c->n; i++)
        add_line(&c->run[i], c->fit->before[i], c->fit->left_out ? c->fit->left_out[i] : NAN, out);
    dse_strbuf_addc(out, '\n');
    add_error(c, "Card as it is", c->fit->before, out);
    if (c->fit->left_out)
        add_error(c, "Fitted to the other runs", c->fit->left_out, out);
    report_left_markdown(c->left, c->n_left, out);
}
