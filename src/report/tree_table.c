/* The rows of a list as a table of text: the values that have headings. */
#include "report/table.h"
#include "report/tree.h"

#include <inttypes.h>
#include <math.h>

static void add_cell(report_table *t, const report_value *v)
{
    switch (v->kind) {
    case REPORT_TEXT:
    case REPORT_CELL: report_table_known(t, v->text, "%s", v->text); break;
    case REPORT_BOOL: report_table_cell(t, "%s", v->yes ? "yes" : "no"); break;
    case REPORT_COUNT: report_table_cell(t, "%" PRIu64, v->count); break;
    case REPORT_TIME: report_table_cell(t, "%s", report_time(v->count).text); break;
    case REPORT_BYTES: report_table_cell(t, "%s", report_bytes(v->count).text); break;
    case REPORT_INTEGER: report_table_cell(t, "%" PRId64, v->integer); break;
    case REPORT_REAL: report_table_known(t, !isnan(v->real), "%.10g", v->real); break;
    case REPORT_FIXED: report_table_known(t, !isnan(v->real), "%.*f", v->decimals, v->real); break;
    default: report_table_cell(t, "-");
    }
}

void report_rows_table(const report_node *list, dse_strbuf *out)
{
    report_table t;

    report_table_init(&t);
    for (const report_node *row = list->first; row; row = row->next)
        for (const report_node *i = row->first; i; i = i->next) {
            if (i->value.heading && row == list->first)
                report_table_column(&t, i->value.heading, i->value.kind == REPORT_TEXT);
        }
    for (const report_node *row = list->first; row; row = row->next)
        for (const report_node *i = row->first; i; i = i->next)
            if (i->value.heading)
                add_cell(&t, &i->value);
    report_table_end(&t, out);
}
