#include "report/markdown.h"

#include "design/space.h"

#include <inttypes.h>
#include <math.h>

/* ", recompute", ", placement tp-sp-dp-pp". */
static void add_parameter(uint32_t parameter, uint32_t value, dse_strbuf *out)
{
    char words[STRATEGY_WORDS_MAX];

    dse_strbuf_addf(out, ", %s", strategy_words(&strategy_parameters[parameter], value, words));
}

void report_put_degrees(const char *point, report_node *row)
{
    const char *between = "";
    dse_strbuf text;
    strategy p;

    dse_strbuf_init(&text);
    if (strategy_parse_name(point, NULL, &p, NULL, NULL) != DSE_OK) {
        dse_strbuf_adds(&text, point);
        p = strategy_default();
    } else {
        for (uint32_t k = 0; k < STRATEGY_N_AXES; k++) {
            const uint32_t degree = strategy_get(&p, strategy_axes[k]);

            if (strategy_is_omitted(strategy_axes[k], degree))
                continue;
            dse_strbuf_addf(&text, "%s%" PRIu32, between, degree);
            between = " x ";
        }
    }
    for (uint32_t k = STRATEGY_N; k-- > 0;)
        if (!strategy_parameters[k].is_axis && strategy_get(&p, k) != strategy_parameters[k].fallback)
            add_parameter(k, strategy_get(&p, k), &text);
    report_put(row, V_NOTE("dp x tp x sp x pp", text.data));
    dse_strbuf_free(&text);
}

report_text report_signed_percent(double fraction)
{
    return report_format(isnan(fraction) ? "-" : "%+.1f%%", fraction * 100);
}
