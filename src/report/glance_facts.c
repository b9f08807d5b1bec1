/* What a run was, in a line each, and what to look at first. */
#include "report/glance_parts.h"

#include "base/array.h"
#include "report/prose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what it is ----------------------------------------------------------------------------- */

static void put_fact(report_node *list, const char *label, const char *text)
{
    if (text && *text)
        report_row(list, V_AS("", V_TEXT("fact", label)), V_AS("", V_TEXT("text", text)));
}

/* The time that a device was recorded: its steps may be longer than all of its work. */
static int64_t recorded_of(const glance_device *d)
{
    return d->span_ps > d->window_ps ? d->span_ps : d->window_ps;
}

static const char *say_run(const report_glance *g, dse_arena *a)
{
    const trace_record *rec = g->x->record;
    const trace_rank *first = rec->n_ranks ? rec->rank : NULL;
    const trace_card *c = g->x->card;
    dse_strbuf s = dse_strbuf_in(a);
    int64_t longest = 0;

    if (!first)
        return "no trace, but files beside one";
    dse_strbuf_adds(&s, trace_kind_name(first->kind));
    if (c && c->framework)
        dse_strbuf_addf(&s, " of %s", c->framework);
    else if (g->run.program)
        dse_strbuf_addf(&s, " of %s", g->run.program);
    if (c && c->model_family)
        dse_strbuf_addf(&s, ", %s", c->model_family);
    if (g->run.of_tpu)
        dse_strbuf_addf(&s, ", %zu TPU%s", g->run.n_devices, g->run.n_devices == 1 ? "" : "s");
    else
        dse_strbuf_addf(&s, ", %u rank%s", rec->n_ranks, rec->n_ranks == 1 ? "" : "s");
    if (first->world_size > rec->n_ranks)
        dse_strbuf_addf(&s, " of %u", first->world_size);
    if (g->run.gpu || (c && c->xpu_model))
        dse_strbuf_addf(&s, ", %.60s", g->run.gpu ? g->run.gpu : c->xpu_model);
    for (size_t i = 0; i < g->run.n_devices; i++)
        longest = recorded_of(&g->run.device[i]) > longest ? recorded_of(&g->run.device[i]) : longest;
    if (longest)
        dse_strbuf_addf(&s, ", %s recorded", glance_seconds((double)longest, a));
    return s.data;
}

/* By the markers of the devices' steps, or else by the metric, which knows those of inference engines. */
static const char *say_steps(const report_glance *g, dse_arena *a)
{
    const glance_device *all = &g->run.all;
    double n = all->n_steps, mean = all->step_ps, low = all->least_ps, high = all->most_ps, marked = n;
    const char *of;

    if (!(n > 0)) {
        marked = metric_number(metric_get(g->steps, "num_marked_steps"));
        n = metric_number(metric_get(g->steps, "num_steps"));
        mean = metric_number(metric_get(g->steps, "avg_step_time")) * TRACE_PS_PER_S;
        low = metric_number(metric_get(g->steps, "min_step_time")) * TRACE_PS_PER_S;
        high = metric_number(metric_get(g->steps, "max_step_time")) * TRACE_PS_PER_S;
    }
    if (!(n * mean > 0))
        return g->run.n_devices ? "none are marked: shares are of the whole recording" : NULL;
    of = marked > n ? dse_arena_printf(a, " of %.0f", marked) : "";
    if (!(n > 1))
        return dse_arena_printf(a, "%s, of one step%s", glance_seconds(mean, a), of);
    return dse_arena_printf(a, "%s, mean of %.0f%s%s, from %s to %s", glance_seconds(mean, a), n, of,
                            g->run.n_devices > 1 && !g->run.of_tpu ? " over all ranks" : " steps",
                            glance_seconds(low, a), glance_seconds(high, a));
}

/* Arithmetic of the recorded shapes over the time of all devices, unless a card tells the model's. */
static const char *say_rate(const report_glance *g, dse_arena *a)
{
    const double mfu = metric_number(metric_get(g->mfu, "mfu")),
                 peak = metric_number(metric_get(g->mfu, "peak_tflops"));
    const metric_value *classes = metric_get(g->shapes, "classes"), *dtype = NULL;
    static const double enough = 0.5; /* of the computing, whose shapes tell the arithmetic of the run */
    const double known = metric_number(metric_get(g->shapes, "attributed"));
    double tflop = 0, most = 0, span = 0, rate;

    if (mfu > 0)
        return dse_arena_printf(a, "%.4g TFLOP/s a device: MFU %.1f%% of %.4g TFLOP/s", mfu / 100 * peak, mfu,
                                peak);
    for (const metric_value *c = classes ? classes->first : NULL; c; c = c->next)
        for (const metric_value *s = metric_get(c, "shapes") ? metric_get(c, "shapes")->first : NULL; s;
             s = s->next) {
            const double of =
                metric_number(metric_get(s, "operations")) * metric_number(metric_get(s, "calls")) * 1e-12;

            tflop += isfinite(of) ? of : 0;
            if (of > most) {
                most = of;
                dtype = metric_get(s, "dtype");
            }
        }
    for (size_t i = 0; i < g->run.n_devices; i++)
        span += metric_seconds(recorded_of(&g->run.device[i]));
    if (!(span > 0))
        return NULL;
    if (g->run.of_tpu) {
        rate = metric_number(metric_get(g->flops, "achieved_flops_per_device")) * 1e-12;
        return rate > 0 ? dse_arena_printf(a, "%.4g TFLOP/s a device, by XLA's count", rate) : NULL;
    }
    if (!(tflop > 0) || !(known >= enough))
        return isfinite(known)
                   ? dse_arena_printf(a,
                                      "unknown: the shapes of %.0f%% of the computing are known "
                                      "(record_shapes); a workload card tells the MFU",
                                      100 * known)
                   : "unknown: no shapes are recorded (record_shapes); a workload card tells the MFU";
    rate = tflop / span;
    if (isnan(glance_of_peak(g, rate, dtype)))
        return dse_arena_printf(a, "%.4g TFLOP/s a device, by the shapes of %.0f%% of the computing", rate,
                                100 * known);
    return dse_arena_printf(a,
                            "%.4g TFLOP/s a device, %.1f%% of its peak in %s, by the shapes of %.0f%% of the "
                            "computing",
                            rate, 100 * glance_of_peak(g, rate, dtype), dtype->text, 100 * known);
}

static const char *say_slowest(const report_glance *g, dse_arena *a)
{
    static const double alike = 0.01;
    double mean;
    const glance_device *d = glance_slowest(g, &mean);

    if (!d)
        return NULL;
    if (glance_own(d) < (1 + alike) * mean)
        return dse_arena_printf(a, "none: outside of communication all %zu take as long, within 1%%",
                                g->run.n_devices);
    return dse_arena_printf(a, "%s %s takes %s%s outside of communication, %.1f%% more than the mean of %zu",
                            glance_word(g), glance_rank_name(g, d, a), glance_seconds(glance_own(d), a),
                            d->n_steps ? " a step" : "", 100 * (glance_own(d) / mean - 1), g->run.n_devices);
}

typedef struct {
    int cause;
    int64_t ps;
} idle_cause;

static int by_ps(const void *a, const void *b)
{
    const idle_cause *x = a, *y = b;

    return x->ps != y->ps ? (x->ps < y->ps) - (x->ps > y->ps) : x->cause - y->cause;
}

/* Causes, most time first. */
static void order_causes(const report_glance *g, idle_cause order[GLANCE_CAUSES])
{
    for (int c = 0; c < GLANCE_CAUSES; c++)
        order[c] = (idle_cause){c, g->run.all.cause_ps[c]};
    qsort(order, GLANCE_CAUSES, sizeof *order, by_ps);
}

static const char *say_idle(const report_glance *g, dse_arena *a)
{
    static const double hidden = 0.05; /* of the idle time: not worth a word */
    const glance_device *all = &g->run.all;
    const double idle = (double)all->part_ps[GLANCE_IDLE], whole = (double)all->window_ps;
    dse_strbuf s = dse_strbuf_in(a);
    idle_cause order[GLANCE_CAUSES];

    if (!(idle > 0.005 * whole))
        return NULL;
    order_causes(g, order);
    dse_strbuf_addf(&s, "%s of the time", glance_percent(idle, whole, a));
    for (int k = 0; k < GLANCE_CAUSES && (double)order[k].ps >= hidden * idle; k++)
        dse_strbuf_addf(&s, "%s%s %s", k ? "; " : ": ", glance_causes[order[k].cause].text,
                        glance_percent((double)order[k].ps, whole, a));
    if (all->gap_ps)
        dse_strbuf_addf(&s, "; %s at most at a time", glance_seconds((double)all->gap_ps, a));
    return s.data;
}

/* By what allocated it; nothing if that is not told. */
static void add_at_peak(const metric_value *v, double all, dse_strbuf *s, dse_arena *a)
{
    static const struct {
        const char *key, *text;
    } parts[] = {{"modules_bytes", "calls of modules"},    {"forward_bytes", "the forward pass"},
                 {"backward_bytes", "the backward pass"},  {"optimizer_bytes", "the optimizer's step"},
                 {"elsewhere_bytes", "elsewhere"},         {"untold_bytes", "what is not told"},
                 {"earlier_bytes", "before the recording"}};
    const char *between = "; at the peak allocated in ";

    for (size_t i = 0; i < DSE_COUNT(parts) && all > 0; i++) {
        double bytes = metric_number(metric_get(v, parts[i].key));

        if (!(bytes >= 0.005 * all))
            continue;
        dse_strbuf_addf(s, "%s%s %s", between, parts[i].text, glance_percent(bytes, all, a));
        between = ", ";
    }
}

/* Of [memory] events, where there is no snapshot. */
static const char *say_memory_timeline(const metric_value *v, dse_arena *a)
{
    const double peak = metric_number(metric_get(v, "peak_allocated_bytes")),
                 reserved = metric_number(metric_get(v, "peak_reserved_bytes")),
                 step = metric_number(metric_get(v, "peak_step"));
    const metric_value *bound = metric_get(v, "peak_is_lower_bound"),
                       *operator= metric_get(v, "peak_operator");
    dse_strbuf s = dse_strbuf_in(a);

    if (!(peak > 0))
        return NULL;
    dse_strbuf_addf(&s, "peak %s%s allocated", bound && bound->integer ? "of at least " : "",
                    report_size(peak).text);
    if (reserved > 0)
        dse_strbuf_addf(&s, ", %s reserved", report_size(reserved).text);
    if (!isnan(step))
        dse_strbuf_addf(&s, ", in step %.0f", step);
    if (operator)
        dse_strbuf_addf(&s, " in %s", glance_cut(operator->text, 40, a));
    add_at_peak(v, peak, &s, a);
    return s.data;
}

static const char *say_memory(const report_glance *g, dse_arena *a)
{
    const double reserved = metric_number(metric_get(g->memory, "peak_reserved_bytes")),
                 requested = metric_number(metric_get(g->memory, "peak_requested_allocated_bytes")),
                 active = metric_number(metric_get(g->memory, "peak_requested_active_bytes")),
                 reserved_last = metric_number(metric_get(g->memory, "final_reserved_bytes")),
                 in_use = metric_number(metric_get(g->memory, "final_allocated_bytes")),
                 failed = metric_number(metric_get(g->memory, "out_of_memory_events"));
    const metric_value *bound = metric_get(g->memory, "peak_is_lower_bound");
    const bool lower = bound && bound->integer;
    dse_strbuf s = dse_strbuf_in(a);

    if (!g->memory)
        return say_memory_timeline(g->at_peak, a);
    if (!(reserved > 0))
        return NULL;
    dse_strbuf_addf(&s, "peak %s%s reserved, %s allocated, %s in use", lower ? "of at least " : "",
                    report_size(reserved).text, report_size(requested).text, report_size(active).text);
    if (g->at_peak)
        add_at_peak(g->at_peak, metric_number(metric_get(g->at_peak, "memory_at_peak")), &s, a);
    if (reserved_last >= in_use)
        dse_strbuf_addf(&s, "; at the end %s reserved: %s in use, %s cached", report_size(reserved_last).text,
                        report_size(in_use).text, report_size(reserved_last - in_use).text);
    if (failed > 0)
        dse_strbuf_addf(&s, "; out of memory: %.0f allocation%s failed, of %s at most", failed,
                        failed > 1 ? "s" : "",
                        report_size(metric_number(metric_get(g->memory, "oom_requested_bytes"))).text);
    return s.data;
}

static const char *say_calls(const report_glance *g, dse_arena *a)
{
    const metric_value *types = metric_get(g->calls, "calls_by_type");
    dse_strbuf s = dse_strbuf_in(a);

    if (g->run.collectives.n)
        return NULL;
    for (const metric_value *t = types ? types->first : NULL; t; t = t->next)
        dse_strbuf_addf(&s, "%.0f %s%s", metric_number(t), t->key, t->next ? ", " : "");
    return s.data;
}

/* ---- the verdict ---------------------------------------------------------------------------- */

static const char *advice_of_idle(const report_glance *g)
{
    static const char *const advice[GLANCE_CAUSES] = {
        [GLANCE_HOST] =
            "the host launches too late: fewer and larger kernels, CUDA graphs, less Python between "
            "them (--operators)",
        [GLANCE_BLOCKED] = "calls that block the host until the device is done (--idle lists them)",
        [GLANCE_LAUNCH] = "what is launched takes long to begin (--idle)",
        [GLANCE_STREAM] = "kernels that wait in their stream though they are launched, for events of other "
                          "streams or in graphs (--idle)",
        [GLANCE_UNTOLD] = "what the devices wait for, which this file does not say",
    };
    idle_cause order[GLANCE_CAUSES];

    order_causes(g, order);
    return advice[order[0].cause];
}

/* What all devices together would wait for the slowest of them. */
static double waits_for(const report_glance *g)
{
    double mean, sum = 0;
    const glance_device *slowest = glance_slowest(g, &mean);

    for (size_t i = 0; i < g->run.n_devices; i++) {
        const glance_device *d = &g->run.device[i];

        sum += d->window_ps ? (glance_own(slowest) - glance_own(d)) * (d->n_steps ? d->n_steps : 1) : 0;
    }
    return sum;
}

/* "ranks 0 and 6": the slowest and those nearer to it than to the mean; of many the slowest alone. */
static const char *say_slow(const report_glance *g, dse_arena *a)
{
    double mean;
    const glance_device *slowest = glance_slowest(g, &mean);
    const char *name[4];
    dse_strbuf s = dse_strbuf_in(a);
    size_t n = 0;

    for (size_t i = 0; i < g->run.n_devices && n < DSE_COUNT(name); i++)
        if (g->run.device[i].window_ps && glance_own(&g->run.device[i]) >= 0.5 * (mean + glance_own(slowest)))
            name[n++] = glance_rank_name(g, &g->run.device[i], a);
    if (n == DSE_COUNT(name) || n < 2)
        return dse_arena_printf(a, "%s %s", glance_word(g), glance_rank_name(g, slowest, a));
    dse_strbuf_addf(&s, "%ss ", glance_word(g));
    for (size_t i = 0; i < n; i++)
        dse_strbuf_addf(&s, "%s%s", name[i], report_separator(i, n));
    return s.data;
}

/* The kernel that computes longest: communication beside it is not what the step waits for. */
static const glance_row *longest_computing(const glance_rows *k)
{
    for (size_t i = 0; i < k->n; i++)
        if (strcmp(glance_kind(&k->row[i]), "comm") != 0)
            return &k->row[i];
    return k->n ? k->row : NULL;
}

/* The largest part of the step that more than computing takes; where it mostly computes, its kernels. */
static const char *say_first(const report_glance *g, dse_arena *a)
{
    const int64_t *part = g->run.all.part_ps;
    const double whole = (double)g->run.all.window_ps, idle = (double)part[GLANCE_IDLE],
                 exposed = (double)part[GLANCE_EXPOSED], copies = (double)part[GLANCE_COPIES];
    const glance_rows *k = &g->run.kernels, *c = &g->run.collectives;
    static const double worth = 0.15; /* of the step, from which a part is looked at first */
    double mean;
    const glance_device *slowest = glance_slowest(g, &mean);
    const glance_row *computing = longest_computing(k);

    if (metric_number(metric_get(g->memory, "out_of_memory_events")) > 0)
        return "the memory: allocations failed (--metric memory)";
    if (!(whole > 0) && k->n)
        return dse_arena_printf(a, "%s, %s of the kernels' time", glance_cut(k->row[0].name, 48, a),
                                glance_percent((double)k->row[0].ps, (double)k->ps, a));
    if (!(whole > 0) && g->memory)
        return "the memory, which is all that is recorded (--metric memory)";
    if (!(whole > 0))
        return "no device's work is in this recording; --all says what else is";
    if (idle >= worth * whole && idle >= exposed)
        return dse_arena_printf(a, "%s is idle: %s", glance_percent(idle, whole, a), advice_of_idle(g));
    if (exposed >= worth * whole && slowest && waits_for(g) > 0.3 * exposed)
        return dse_arena_printf(
            a,
            "%s, for which the others wait in collectives: outside of them %s %s takes "
            "%.1f%% longer than the mean, and is idle %s of its time (--ranks)",
            say_slow(g, a), glance_word(g), glance_rank_name(g, slowest, a),
            100 * (glance_own(slowest) / mean - 1),
            glance_percent((double)slowest->part_ps[GLANCE_IDLE], (double)slowest->window_ps, a));
    if (exposed >= worth * whole && c->n)
        return dse_arena_printf(a, "%s is communication that no kernel covers, most of it %s (--collectives)",
                                glance_percent(exposed, whole, a), c->row[0].name);
    if (copies >= worth * whole)
        return dse_arena_printf(a, "%s is copies that no kernel covers (--all: memory_transfer_overhead)",
                                glance_percent(copies, whole, a));
    if (!computing)
        return "nothing stands out";
    return dse_arena_printf(
        a, "the kernels, as the devices mostly compute: %s of their time is %s (--kernels)",
        glance_percent((double)computing->ps, (double)k->ps, a), glance_cut(computing->name, 40, a));
}

/* ---- all of them ---------------------------------------------------------------------------- */

void glance_put_facts(const report_glance *g, report_node *root)
{
    dse_arena *a = g->x->arena;
    report_node *facts = report_lines(root, "run");

    put_fact(facts, "run", say_run(g, a));
    put_fact(facts, "step", say_steps(g, a));
    put_fact(facts, "arithmetic", say_rate(g, a));
    put_fact(facts, "slowest", say_slowest(g, a));
    put_fact(facts, "idle", say_idle(g, a));
    put_fact(facts, "memory", say_memory(g, a));
    put_fact(facts, "collectives", say_calls(g, a));
    put_fact(facts, "look first", say_first(g, a));
}
