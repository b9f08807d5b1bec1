#include "report/value.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void report_value_json(const store_metrics *m, const store_column *c, dse_json *j)
{
    double v = store_value(m, c);

    if (isnan(v)) {
        dse_json_null(j);
        return;
    }
    switch (c->type) {
    case STORE_REAL: dse_json_fixed(j, v, 3); break;
    case STORE_U64:
    case STORE_BYTES: dse_json_uint(j, store_count(m, c)); break;
    }
}

void report_value_exact(const store_metrics *m, const store_column *c, char out[REPORT_VALUE_MAX])
{
    double v = store_value(m, c);

    if (isnan(v)) {
        snprintf(out, REPORT_VALUE_MAX, "-");
        return;
    }
    switch (c->type) {
    case STORE_REAL: snprintf(out, REPORT_VALUE_MAX, "%.3f", v); break;
    case STORE_U64:
    case STORE_BYTES: snprintf(out, REPORT_VALUE_MAX, "%" PRIu64, store_count(m, c)); break;
    }
}

static void format_ns(char *out, size_t size, double ns) { dse_format_seconds(out, size, ns * 1e-9); }

void report_value_readable(const store_metrics *m, const store_column *c, char out[REPORT_VALUE_MAX])
{
    static const struct {
        const char *unit;
        void (*format)(char *out, size_t size, double v);
    } scaled[] = {{"ns", format_ns}, {"B", dse_format_bytes}};
    double v = store_value(m, c);
    size_t used;

    for (size_t i = 0; i < sizeof scaled / sizeof scaled[0]; i++) {
        if (!isnan(v) && !strcmp(c->unit, scaled[i].unit)) {
            scaled[i].format(out, REPORT_VALUE_MAX, v);
            return;
        }
    }
    report_value_exact(m, c, out);
    used = strlen(out);
    if (!isnan(v) && *c->unit)
        snprintf(out + used, REPORT_VALUE_MAX - used, " %s", c->unit);
}
