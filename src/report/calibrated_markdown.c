/* The rows of a README's table: what was measured, what the card says, what a fit to the others says. */
#include "report/calibrated.h"
#include "report/markdown.h"

#include <inttypes.h>
#include <math.h>

static void add_error(const report_calibrated *c, const char *what, const double *predicted, dse_strbuf *out)
{
    report_calibrated_error e = report_calibrated_error_of(c, predicted);

    if (e.n)
        dse_strbuf_addf(out, "%s: mean %.1f%%, worst %+.1f%% of %zu runs.  \n", what, e.mean * 100,
                        e.worst * 100, e.n);
}

void report_calibrated_markdown(const report_calibrated *c, dse_strbuf *out)
{
    dse_strbuf_adds(
        out,
        "| run | devices | dp x tp x sp x pp | measured | card | error | fitted to the others | error |\n"
        "|---|---:|---|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < c->n; i++) {
        const report_calibrated_run *r = &c->run[i];
        const double after = c->fit->left_out ? c->fit->left_out[i] : NAN;

        dse_strbuf_addc(out, '|');
        report_markdown_cell(r->name, out);
        dse_strbuf_addf(out, " %" PRIu64 " |", r->n_devices);
        report_markdown_point(r->point, out);
        report_markdown_seconds(r->measured_s, out);
        report_markdown_seconds(c->fit->before[i], out);
        report_markdown_error(c->fit->before[i] / r->measured_s - 1, out);
        report_markdown_seconds(after, out);
        report_markdown_error(after / r->measured_s - 1, out);
        dse_strbuf_addc(out, '\n');
    }
    dse_strbuf_addc(out, '\n');
    add_error(c, "Card as it is", c->fit->before, out);
    if (c->fit->left_out)
        add_error(c, "Fitted to the other runs", c->fit->left_out, out);
    report_left_markdown(c->left, c->n_left, out);
}
