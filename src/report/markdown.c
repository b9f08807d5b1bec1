#include "report/markdown.h"

#include "base/names.h"
#include "design/space.h"
#include "report/tree.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void report_markdown_cell(const char *text, dse_strbuf *out)
{
    const size_t begin = out->len;

    dse_strbuf_addc(out, ' ');
    for (; *text; text++) {
        if (*text == '\n' || *text == '\r') {
            dse_strbuf_addc(out, ' ');
            continue;
        }
        if (strchr("\\|`<[", *text)) /* the end of the cell, code, HTML, a link or a picture */
            dse_strbuf_addc(out, '\\');
        dse_strbuf_addc(out, *text);
    }
    if (out->len > begin)
        dse_mask_controls(out->data + begin, out->len - begin, DSE_ONE_LINE);
    dse_strbuf_adds(out, " |");
}

/* ", recompute", ", placement tp-sp-dp-pp". */
static void add_parameter(uint32_t parameter, uint32_t value, dse_strbuf *out)
{
    const strategy_parameter *p = &strategy_parameters[parameter];
    char text[STRATEGY_VALUE_MAX];

    dse_strbuf_addf(out, ", %s", p->kind == STRATEGY_SWITCH && p->on ? p->on : p->name);
    if (p->kind != STRATEGY_SWITCH)
        dse_strbuf_addf(out, " %s", strategy_print(p, value, text));
}

void report_markdown_point(const char *point, dse_strbuf *out)
{
    const char *between = "";
    strategy p;

    if (strategy_parse_name(point, NULL, &p, NULL, NULL) != DSE_OK) {
        report_markdown_cell(point, out);
        return;
    }
    for (uint32_t k = 0; k < STRATEGY_N; k++)
        if (strategy_parameters[k].is_axis)
            dse_strbuf_addf(out, "%s %" PRIu32, between, strategy_get(&p, k)), between = " x";
    for (uint32_t k = STRATEGY_N; k-- > 0;)
        if (!strategy_parameters[k].is_axis && strategy_get(&p, k) != strategy_parameters[k].fallback)
            add_parameter(k, strategy_get(&p, k), out);
    dse_strbuf_adds(out, " |");
}

void report_markdown_seconds(double v, dse_strbuf *out) { report_markdown_cell(report_seconds(v).text, out); }

void report_markdown_error(double v, dse_strbuf *out)
{
    if (isnan(v))
        dse_strbuf_adds(out, " - |");
    else
        dse_strbuf_addf(out, " %+.1f%% |", v * 100);
}
