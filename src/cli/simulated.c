#include "cli/simulated.h"

#include "cli/command.h"
#include "report/tree.h"
#include "workload/stage_main.h"

#include <inttypes.h>
#include <math.h>

void simulated_heading(const drv_study *s, const strategy *p, dse_strbuf *out)
{
    dse_strbuf_addf(out, "%s on %s%s%s: ", s->model_name, s->system_name, *s->settings ? " with " : "",
                    s->settings);
    strategy_say(p, card_model_profile(&s->model), " ", out);
    dse_strbuf_addc(out, '\n');
}

void simulated_time(const char *label, uint64_t ns, const char *more, dse_strbuf *out)
{
    if (ns != STORE_ABSENT)
        dse_strbuf_addf(out, "  %-22s %s  (%" PRIu64 " ns)%s\n", label, report_time(ns).text, ns, more);
}

static void add_cost(const store_metrics *m, const char *label, const char *of_step, const char *of_tokens,
                     dse_strbuf *out)
{
    const store_column *step = store_column_find(of_step), *tokens = store_column_find(of_tokens);

    if (!store_has(m, step))
        return;
    dse_strbuf_addf(out, "  %-22s %s a step", label, report_value_readable(m, step).text);
    if (store_has(m, tokens))
        dse_strbuf_addf(out, ", %s a trillion tokens", report_value_readable(m, tokens).text);
    dse_strbuf_addc(out, '\n');
}

void simulated_costs(const store_metrics *m, dse_strbuf *out)
{
    add_cost(m, "cost of the NPUs", "cost_per_step", "cost_per_trillion_tokens", out);
    add_cost(m, "energy of the NPUs", "energy_per_step", "energy_per_trillion_tokens", out);
}

void simulated_rate(const char *label, double v, const char *unit, dse_strbuf *out)
{
    if (!isnan(v))
        dse_strbuf_addf(out, "  %-22s %.3f %s\n", label, v, unit);
}

void simulated_flaws(const wl_workload *w, dse_arena *a)
{
    const char *const *flaws = wl_stage_main_flaws(w, a);
    dse_strbuf text = dse_strbuf_in(a);

    for (; *flaws; flaws++)
        dse_strbuf_addf(&text, "%s%s", text.len ? "; " : "", *flaws);
    if (text.len)
        report_note("STAGE's branch main has this wrong, and profile train right: %s", text.data);
}
