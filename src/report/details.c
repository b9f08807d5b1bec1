#include "report/details.h"

#include "report/rows.h"
#include "report/sizes.h"
#include "report/traps.h"
#include "report/tree.h"

#include <inttypes.h>
#include <math.h>

static void head(const store_row *r, dse_strbuf *out)
{
    dse_strbuf_addf(out, "%s on %s: %s\n", r->model, r->system, report_point_name(r).text);
    dse_strbuf_addf(out, "  %-14s ", "strategy");
    strategy_say(&r->strategy, store_row_profile(r), " ", out);
    dse_strbuf_addc(out, '\n');
    dse_strbuf_addf(out, "  %-14s %s%s%s\n", "status", r->done ? "done" : "failed", r->done ? "" : ": ",
                    r->error);
    dse_strbuf_addf(out, "  %-14s %s\n", "engine", r->engine);
    dse_strbuf_addf(out, "  %-14s %s\n", "settings", *r->settings ? r->settings : "none");
    dse_strbuf_addf(out, "  %-14s %08" PRIx64 "\n", "configuration", r->study >> 32);
    dse_strbuf_addf(out, "  %-14s %s\n", "CPU time",
                    isnan(r->seconds) ? "unknown" : report_seconds(r->seconds).text);
}

static void figures(const store_row *r, dse_strbuf *out)
{
    const store_metrics *m = &r->metrics;
    report_tree t;
    report_node *list = report_tree_begin(&t);
    size_t n;
    const store_column *c = store_columns(&n);
    dse_strbuf exact = dse_strbuf_in(list->arena); /* to the last digit that is stored */

    for (size_t i = 0; i < n; i++) {
        if (!store_column_has_profile(&c[i], store_row_profile(r)) ||
            (store_column_is_cost(&c[i]) && !store_has(m, &c[i])))
            continue;
        dse_strbuf_clear(&exact);
        if (c[i].type == STORE_REAL && store_has(m, &c[i]))
            dse_strbuf_add_repr(&exact, store_value(m, &c[i]));
        else
            dse_strbuf_adds(&exact, report_value_exact(m, &c[i]).text);
        report_row(list, V_NOTE("figure", c[i].name), V_CELL("value", report_value_readable(m, &c[i]).text),
                   V_CELL("exactly", exact.data), V_NOTE("unit", c[i].unit), V_NOTE("meaning", c[i].help));
    }
    report_table_end(&t, out);
}

void report_details_print(const store_row *r, dse_strbuf *out)
{
    head(r, out);
    dse_strbuf_addc(out, '\n');
    if (!r->done)
        return;
    figures(r, out);
    report_sizes_print_one(&r->sizes, r->memory_rounded ? " The engine printed it rounded." : "", out);
    report_traps_print_point(&r->metrics, out);
    dse_strbuf_addc(out, '\n');
}
