/* The values of an object that have keys, as a line of CSV (RFC 4180). */
#include "report/tree.h"

/* Numbers as in JSON, texts quoted where they must be. */
static void add_field(const report_value *v, dse_strbuf *out)
{
    dse_json j;

    if (!report_has_value(v))
        return;
    dse_json_init(&j, out);
    if (v->kind == REPORT_TEXT)
        dse_strbuf_add_csv(out, v->text);
    else if (v->kind == REPORT_BOOL)
        dse_strbuf_addu(out, v->yes);
    else if (v->kind == REPORT_FIXED)
        dse_strbuf_addf(out, "%.*f", v->decimals, v->real); /* also an infinite one */
    else
        report_scalar_json(v, &j);
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
