/* The values of a row that have headings, as a line of a Markdown table. */
#include "base/names.h"
#include "report/tree.h"

#include <string.h>

/* What would end a cell or a line does not. */
static void add_escaped(const char *text, dse_strbuf *out)
{
    const size_t begin = out->len;

    for (; *text; text++) {
        if (strchr("\\|`<[", *text)) /* the end of the cell, code, HTML, a link or a picture */
            dse_strbuf_addc(out, '\\');
        dse_strbuf_addc(out, *text == '\n' || *text == '\r' ? ' ' : *text);
    }
    if (out->len > begin)
        dse_mask_controls(out->data + begin, out->len - begin, DSE_ONE_LINE);
}

void report_markdown_line(const report_node *row, bool headings, dse_strbuf *out)
{
    dse_strbuf text, rule;

    dse_strbuf_init(&text);
    dse_strbuf_init(&rule);
    dse_strbuf_addc(out, '|');
    for (const report_node *i = row->first; i; i = i->next) {
        if (!i->value.heading)
            continue;
        dse_strbuf_clear(&text);
        report_add_cell(&i->value, &text);
        dse_strbuf_addc(out, ' ');
        add_escaped(headings ? i->value.heading : text.data, out);
        dse_strbuf_adds(out, " |");
        dse_strbuf_adds(&rule, i->value.kind == REPORT_TEXT ? "---|" : "---:|");
    }
    dse_strbuf_addc(out, '\n');
    if (headings)
        dse_strbuf_addf(out, "|%s\n", rule.data);
    dse_strbuf_free(&rule);
    dse_strbuf_free(&text);
}
