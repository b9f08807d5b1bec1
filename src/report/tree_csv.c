/* The values of an object that have keys, as a line of CSV (RFC 4180). */
#include "report/tree.h"

#include <inttypes.h>
#include <math.h>

static void add_field(const report_value *v, dse_strbuf *out)
{
    switch (v->kind) {
    case REPORT_TEXT: dse_strbuf_add_csv(out, v->text ? v->text : ""); break;
    case REPORT_BOOL: dse_strbuf_addf(out, "%d", v->yes); break;
    case REPORT_COUNT:
    case REPORT_TIME:
    case REPORT_BYTES:
        if (v->kind == REPORT_COUNT || v->count != STORE_ABSENT)
            dse_strbuf_addu(out, v->count);
        break;
    case REPORT_INTEGER: dse_strbuf_addf(out, "%" PRId64, v->integer); break;
    case REPORT_REAL:
        if (isfinite(v->real))
            dse_strbuf_add_repr(out, v->real);
        break;
    case REPORT_FIXED: dse_strbuf_addf(out, "%.*f", v->decimals, v->real); break;
    default: break;
    }
}

void report_csv_line(const report_node *row, bool keys, dse_strbuf *out)
{
    const char *before = "";

    for (const report_node *i = row->first; i; i = i->next) {
        if (!i->value.key)
            continue;
        dse_strbuf_adds(out, before);
        if (keys)
            dse_strbuf_add_csv(out, i->value.key);
        else
            add_field(&i->value, out);
        before = ",";
    }
    dse_strbuf_addc(out, '\n');
}

void report_list_csv(const report_node *list, dse_strbuf *out)
{
    if (list->first)
        report_csv_line(list->first, true, out);
    for (const report_node *row = list->first; row; row = row->next)
        report_csv_line(row, false, out);
}
