#include "report/details.h"

#include "base/units.h"
#include "report/rows.h"
#include "report/sizes.h"
#include "report/table.h"
#include "report/traps.h"
#include "report/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void head(const store_row *r, dse_strbuf *out)
{
    const strategy p = report_point(r);
    char name[STRATEGY_NAME_MAX], seconds[32] = "unknown";

    strategy_name(&p, NULL, name);
    if (!isnan(r->seconds))
        dse_format_seconds(seconds, sizeof seconds, r->seconds);
    dse_strbuf_addf(out, "%s on %s: %s\n", r->model, r->system, name);
    dse_strbuf_addf(out, "  %-14s ", "strategy");
    strategy_say(&r->strategy, " ", out);
    dse_strbuf_addc(out, '\n');
    dse_strbuf_addf(out, "  %-14s %s%s%s\n", "status", r->done ? "done" : "failed", r->done ? "" : ": ",
                    r->error);
    dse_strbuf_addf(out, "  %-14s %s\n", "engine", r->engine);
    dse_strbuf_addf(out, "  %-14s %s\n", "settings", *r->settings ? r->settings : "none");
    dse_strbuf_addf(out, "  %-14s %08" PRIx64 "\n", "configuration", r->study >> 32);
    dse_strbuf_addf(out, "  %-14s %s\n", "CPU time", seconds);
}

/* To the last digit that is stored. */
static void add_exact(const store_metrics *m, const store_column *c, dse_strbuf *out)
{
    char text[REPORT_VALUE_MAX];

    dse_strbuf_clear(out);
    if (c->type == STORE_REAL && !isnan(store_value(m, c))) {
        dse_strbuf_add_repr(out, store_value(m, c));
        return;
    }
    report_value_exact(m, c, text);
    dse_strbuf_adds(out, text);
}

static void figures(const store_row *r, dse_strbuf *out)
{
    char readable[REPORT_VALUE_MAX];
    dse_strbuf exact;
    report_table t;
    size_t n;
    const store_column *c = store_columns(&n);

    dse_strbuf_init(&exact);
    report_table_begin(&t, "lrrll", "figure", "value", "exactly", "unit", "meaning");
    for (size_t i = 0; i < n; i++) {
        if (!store_column_has_profile(&c[i], store_profile_of(&r->metrics)))
            continue;
        report_value_readable(&r->metrics, &c[i], readable);
        add_exact(&r->metrics, &c[i], &exact);
        report_table_cell(&t, "%s", c[i].name);
        report_table_cell(&t, "%s", readable);
        report_table_cell(&t, "%s", exact.data);
        report_table_cell(&t, "%s", c[i].unit);
        report_table_cell(&t, "%s", c[i].help);
    }
    report_table_end(&t, out);
    dse_strbuf_free(&exact);
}

void report_details_print(const store_row *r, dse_strbuf *out)
{
    head(r, out);
    dse_strbuf_addc(out, '\n');
    if (!r->done)
        return;
    figures(r, out);
    report_sizes_print_one(&r->sizes, out);
    dse_strbuf_addf(out, "%s\n", r->memory_rounded ? " The engine printed it rounded." : "");
    report_traps_print_point(&r->metrics, out);
    dse_strbuf_addc(out, '\n');
}
