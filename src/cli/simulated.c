#include "cli/simulated.h"

#include "report/tree.h"

#include <inttypes.h>
#include <math.h>

void simulated_heading(const drv_study *s, const strategy *p, dse_strbuf *out)
{
    dse_strbuf_addf(out, "%s on %s%s%s: ", s->model_name, s->system_name, *s->settings ? " with " : "", s->settings);
    strategy_say(p, s->training ? STRATEGY_PROFILE_TRAIN : STRATEGY_PROFILE_STAGE, " ", out);
    dse_strbuf_addc(out, '\n');
}

void simulated_time(const char *label, uint64_t ns, const char *more, dse_strbuf *out)
{
    if (ns != STORE_ABSENT)
        dse_strbuf_addf(out, "  %-22s %s  (%" PRIu64 " ns)%s\n", label, report_time(ns).text, ns, more);
}

void simulated_rate(const char *label, double v, const char *unit, dse_strbuf *out)
{
    if (!isnan(v))
        dse_strbuf_addf(out, "  %-22s %.3f %s\n", label, v, unit);
}
