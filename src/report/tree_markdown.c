/* The rows of a list as a Markdown table: the values that have headings. */
#include "base/names.h"
#include "design/space.h"
#include "report/tree.h"

#include <inttypes.h>
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

/* The values of a row, or its headings and the rule below them. */
static void add_line(const report_node *row, bool headings, dse_strbuf *out)
{
    dse_strbuf text = dse_strbuf_in(row->arena);
    dse_strbuf rule = dse_strbuf_in(row->arena);

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
}

void report_markdown_end(report_tree *t, dse_strbuf *out)
{
    if (t->root.first)
        add_line(t->root.first, true, out);
    for (const report_node *row = t->root.first; row; row = row->next)
        add_line(row, false, out);
    report_tree_free(t);
}

/* ---- a run in the table of a README --------------------------------------------------------- */

/* ", recompute", ", placement tp-sp-dp-pp". */
static void add_parameter(uint32_t parameter, uint32_t value, dse_strbuf *out)
{
    char words[STRATEGY_WORDS_MAX];

    dse_strbuf_addf(out, ", %s", strategy_words(&strategy_parameters[parameter], value, words));
}

void report_put_degrees(const char *point, unsigned profile, unsigned profiles, report_node *row)
{
    static const char *const headings[] = {[0] = "dp x tp x sp x pp",
                                           [STRATEGY_PROFILE_STAGE] = "dp x tp x sp x pp",
                                           [STRATEGY_PROFILE_TRAIN] = "dp x tp x cp x pp",
                                           [STRATEGY_PROFILE_STAGE | STRATEGY_PROFILE_TRAIN] =
                                               "dp x tp x sp or cp x pp"};
    strategy p;
    dse_strbuf text = dse_strbuf_in(row->arena);

    if (strategy_parse_name(point, NULL, &p, NULL, NULL) != DSE_OK) {
        dse_strbuf_adds(&text, point);
        p = strategy_default();
    } else {
        dse_strbuf_addf(&text, "%" PRIu32 " x %" PRIu32 " x %" PRIu32 " x %" PRIu32, p.dp, p.tp,
                        profile == STRATEGY_PROFILE_TRAIN ? p.cp : p.sp, p.pp);
    }
    for (uint32_t k = STRATEGY_N; k-- > 0;)
        if (!strategy_parameters[k].is_axis && strategy_get(&p, k) != strategy_parameters[k].fallback)
            add_parameter(k, strategy_get(&p, k), &text);
    report_put(row,
               V_NOTE(headings[profiles & (STRATEGY_PROFILE_STAGE | STRATEGY_PROFILE_TRAIN)], text.data));
}
