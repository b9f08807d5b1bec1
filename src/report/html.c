#include "report/html.h"

#include <string.h>

void report_html_text(const char *text, dse_strbuf *out)
{
    static const char *const escaped[128] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};

    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 128 && escaped[c])
            dse_strbuf_adds(out, escaped[c]);
        else
            dse_strbuf_addc(out, (char)c);
    }
}

void report_html_element(const char *open, const char *text, const char *close, dse_strbuf *out)
{
    dse_strbuf_adds(out, open);
    report_html_text(text, out);
    dse_strbuf_adds(out, close);
}

void report_html_begin(const char *title, const report_web_file *style, const char *head, dse_strbuf *out)
{
    dse_strbuf_adds(out, "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
                         "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n");
    dse_strbuf_adds(out, head);
    report_html_element("<title>", title, "</title>\n<style>\n", out);
    dse_strbuf_add(out, style->text, style->n);
    dse_strbuf_adds(out, "</style>\n</head>\n<body>\n");
}

void report_html_end(dse_strbuf *out) { dse_strbuf_adds(out, "</body>\n</html>\n"); }

void report_html_facts(const report_fact *fact, size_t n, dse_strbuf *out)
{
    dse_strbuf_adds(out, "<div class=wide><table>\n");
    for (size_t i = 0; i < n; i++) {
        report_html_element("<tr><th>", fact[i].label, "</th>", out);
        report_html_element("<td>", fact[i].text, "</td></tr>\n", out);
    }
    dse_strbuf_adds(out, "</table></div>\n");
}

static bool is_text(const report_value *v) { return v->kind == REPORT_TEXT || v->kind == REPORT_BOOL; }

static void add_row(const report_node *row, bool headings, dse_strbuf *out)
{
    dse_strbuf cell;

    dse_strbuf_init(&cell);
    dse_strbuf_adds(out, "<tr>");
    for (const report_node *v = row->first; v; v = v->next) {
        const char *tag = headings ? "th" : "td";

        if (!v->value.heading)
            continue;
        dse_strbuf_clear(&cell);
        if (headings)
            dse_strbuf_adds(&cell, v->value.heading);
        else
            report_add_cell(&v->value, &cell);
        dse_strbuf_addf(out, is_text(&v->value) ? "<%s>" : "<%s class=n>", tag);
        report_html_text(cell.data, out);
        dse_strbuf_addf(out, "</%s>", tag);
    }
    dse_strbuf_adds(out, "</tr>\n");
    dse_strbuf_free(&cell);
}

void report_rows_html(const report_node *list, dse_strbuf *out)
{
    if (!list->first)
        return;
    dse_strbuf_adds(out, "<div class=wide><table class=plain>\n");
    add_row(list->first, true, out);
    for (const report_node *row = list->first; row; row = row->next)
        add_row(row, false, out);
    dse_strbuf_adds(out, "</table></div>\n");
}
