#include "metrics/later.h"

#include "metrics/latency.h"
#include "metrics/numbers.h"
#include "metrics/tpu_run.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- results ------------------------------------------------------------------------------- */

later_result later_begin(const metric_context *x, metric_value *out, const char *name, double scale)
{
    later_result r = {.name = name, .scale = scale, .st = DSE_OK};

    r.value = metric_put_number(out, name, 0);
    r.ranks = x->options->compat || later_kind(x) == TRACE_XLA ? NULL : metric_put_object(out, "per_rank");
    return r;
}

void later_add_value(later_result *r, const trace_rank *rank, double v)
{
    r->part += v;
    r->whole += 1;
    if (rank && r->ranks)
        metric_put_number(metric_put_rank(r->ranks, rank), r->name, v);
}

void later_add(later_result *r, const trace_rank *rank, double part, double whole)
{
    if (!(whole > 0))
        return;
    if (r->mean) {
        later_add_value(r, rank, r->scale * part / whole);
        return;
    }
    r->part += part;
    r->whole += whole;
    if (rank && r->ranks)
        metric_put_number(metric_put_rank(r->ranks, rank), r->name, r->scale * part / whole);
}

dse_status later_end(later_result *r, int digits, const char *why, dse_error *err)
{
    double v = (r->mean ? 1 : r->scale) * r->part / r->whole;

    if (r->st != DSE_OK)
        return r->st;
    if (!(r->whole > 0) || !isfinite(v))
        return metric_absent(err, "%s", why);
    r->value->number = digits ? metric_round(v, digits) : v;
    return DSE_OK;
}

/* ---- rules --------------------------------------------------------------------------------- */

static void fold_devices(const metric_context *x, later_device_fn *fold, later_result *r)
{
    tpu_run run = tpu_run_of(x);

    for (uint32_t i = 0; i < run.n; i++)
        fold(x, run.rank[i], run.device[i], r);
}

static void fold_ranks(const metric_context *x, later_rank_fn *fold, metric_classify *words, later_result *r)
{
    for (uint32_t i = 0; i < x->n_views && r->st == DSE_OK; i++) {
        later_kernels k = words ? later_kernels_of(x, i, words)
                                : (later_kernels){.rank = x->view[i].rank, .view = &x->view[i], .index = i};

        fold(x, &k, r);
    }
}

dse_status later_value(const metric_context *x, metric_value *out, dse_error *err)
{
    const later_rule *rule = x->row->rule;
    bool compat = x->options->compat, nsys = later_kind(x) == TRACE_NSYS, tpu = later_kind(x) == TRACE_XLA;
    later_result r = later_begin(x, out, x->row->name, rule->scale);
    later_run_fn *run = compat ? nsys ? rule->nsys_compat : tpu ? rule->tpu_compat : NULL : NULL;

    r.mean = (rule->mean & METRIC_ON(later_kind(x))) != 0;
    r.err = err;
    if (run)
        run(x, &r);
    else if (tpu)
        fold_devices(x, rule->tpu, &r);
    else if (nsys && rule->nsys)
        fold_ranks(x, rule->nsys, rule->nsys_words ? rule->nsys_words : rule->words, &r);
    else
        fold_ranks(x, compat && rule->gpu_compat && !nsys ? rule->gpu_compat : rule->gpu, rule->words, &r);
    return later_end(&r, compat && !nsys ? rule->digits : 0,
                     compat && rule->why_compat ? rule->why_compat : rule->why, err);
}

/* ---- words --------------------------------------------------------------------------------- */

metric_words later_kernel_words(const trace_rank *r)
{
    return METRIC_WORDS(r, "kernel", "Op", "gpu_op", "device_op", "");
}

/* ---- kernels ------------------------------------------------------------------------------- */

static void literal_kernels(const metric_context *x, metric_classify *words, later_kernels *k)
{
    const metric_view *v = k->view;
    metric_classes names = metric_classes_of(k->rank, words, x->arena);
    metric_words kernel = METRIC_WORDS(k->rank, "kernel");
    bool literal = k->rank->kind == TRACE_KINETO;

    for (uint32_t i = 0; i < v->kernels.n; i++) {
        const trace_event *e = &k->rank->event[v->kernels.event[i]];

        if (literal && !kernel.is[e->word])
            continue;
        k->comm[k->n] = metric_class_of(&names, e);
        k->event[k->n++] = v->kernels.event[i];
    }
}

later_kernels later_kernels_of(const metric_context *x, uint32_t i, metric_classify *words)
{
    const metric_view *v = &x->view[i];
    later_kernels k = {.rank = v->rank, .view = v, .index = i, .defined = !x->options->compat};

    k.comm = DSE_ARENA_NEW(x->arena, uint8_t, v->kernels.n);
    if (!x->options->compat) {
        k.n = v->kernels.n;
        k.event = v->kernels.event;
        for (uint32_t c = 0; v->comm_at && c < v->comm.n; c++)
            k.comm[v->comm_at[c]] = 1;
    } else {
        k.event = DSE_ARENA_NEW(x->arena, uint32_t, v->kernels.n);
        literal_kernels(x, words, &k);
    }
    return k;
}

metric_spans later_union(const later_kernels *k, bool comm, dse_arena *a)
{
    const metric_events list = {k->n, k->event};

    if (!k->defined)
        return metric_union_of_class(k->rank, &list, k->comm, comm, a);
    return comm ? metric_comm_kernel_time(k->view) : k->view->compute_time;
}

metric_spans later_busy(const later_kernels *k, dse_arena *a)
{
    const metric_events list = {k->n, k->event};

    return k->defined ? k->view->kernel_time : metric_union_of(k->rank, &list, a);
}

int64_t later_sum(const later_kernels *k, bool comm)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < k->n; i++)
        if (k->comm[i] == comm)
            sum += k->rank->event[k->event[i]].dur_ps;
    return sum;
}

void later_add_class(const metric_context *x, const later_kernels *k, metric_classify *is, later_result *r)
{
    metric_classes names = metric_classes_of(k->rank, is, x->arena);
    double part = 0, all = 0;

    for (uint32_t e = 0; e < k->n; e++) {
        const trace_event *v = &k->rank->event[k->event[e]];

        all += (double)v->dur_ps;
        part += metric_class_of(&names, v) ? (double)v->dur_ps : 0;
    }
    later_add(r, k->rank, part, all);
}

/* ---- steps --------------------------------------------------------------------------------- */

static uint8_t is_profiler_step(const char *name)
{
    size_t n = strlen(METRIC_STEP_PREFIX);

    if (!metric_begins(name, METRIC_STEP_PREFIX) || !name[n])
        return false;
    while (isdigit((unsigned char)name[n]))
        n++;
    return !name[n];
}

static bool of_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* run_batch as a word anywhere. */
static uint8_t has_run_batch(const char *name)
{
    static const char word[] = "run_batch";

    for (const char *s = name; (s = strstr(s, word)); s++)
        if ((s == name || !of_word(s[-1])) && !of_word(s[sizeof word - 1]))
            return true;
    return false;
}

static const struct {
    trace_category category;
    metric_classify *is, *is_anywhere;
} marks[LATER_MARKS] = {
    [LATER_PROFILER_STEPS] = {TRACE_ANNOTATION, is_profiler_step, is_profiler_step},
    [LATER_VLLM_STEPS] = {TRACE_ANNOTATION, metric_is_vllm_pass, metric_is_vllm_pass},
    [LATER_SGLANG_STEPS] = {TRACE_PYTHON, metric_is_sglang_pass, has_run_batch},
};

metric_steps later_steps_of(const metric_context *x, uint32_t i, later_mark mark, bool anywhere)
{
    const trace_rank *r = x->view[i].rank;
    metric_events named;
    metric_steps s = {0};

    if (mark == LATER_PROFILER_STEPS && !x->options->compat)
        return (metric_steps){x->view[i].n_steps, x->view[i].step};
    named = metric_named(r, anywhere ? marks[mark].is_anywhere : marks[mark].is, x->arena);
    s.step = DSE_ARENA_NEW(x->arena, metric_step, named.n);
    for (uint32_t k = 0; k < named.n; k++) {
        const trace_event *e = &r->event[named.event[k]];
        metric_step step = {0, {metric_start(e), metric_end(e)}};

        if (e->instant || e->category != marks[mark].category)
            continue;
        if (mark == LATER_PROFILER_STEPS)
            step.number = strtoll(r->names.text[e->name] + strlen(METRIC_STEP_PREFIX), NULL, 10);
        s.step[s.n++] = step;
    }
    metric_sort_steps(s.step, s.n);
    return s;
}
