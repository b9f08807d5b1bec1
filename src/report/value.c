#include "report/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

report_text report_value_exact(const store_metrics *m, const store_column *c)
{
    const report_value v = report_figure(m, c);
    report_text out = {"-"};

    if (v.kind == REPORT_TEXT)
        snprintf(out.text, sizeof out.text, "%s", v.text);
    else if (v.kind == REPORT_FIXED)
        snprintf(out.text, sizeof out.text, "%.*f", v.decimals, v.real);
    else if (v.kind == REPORT_COUNT)
        snprintf(out.text, sizeof out.text, "%" PRIu64, v.count);
    return out;
}

report_text report_value_readable(const store_metrics *m, const store_column *c)
{
    report_text out = report_value_exact(m, c);
    const size_t used = strlen(out.text);

    if (!store_has(m, c) || c->type == STORE_TEXT)
        return out;
    if (!strcmp(c->unit, "ns"))
        snprintf(out.text, sizeof out.text, "%s", report_seconds(store_value(m, c) * 1e-9).text);
    else if (!strcmp(c->unit, "B"))
        snprintf(out.text, sizeof out.text, "%s", report_size(store_value(m, c)).text);
    else if (*c->unit)
        snprintf(out.text + used, sizeof out.text - used, " %s", c->unit);
    return out;
}
