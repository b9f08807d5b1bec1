#include "metrics/later.h"

#include "metrics/numbers.h"
#include "metrics/tpu_run.h"

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

/* ---- kernels ------------------------------------------------------------------------------- */

/* Under --compat those whose category is literally "kernel", as far as the file has categories. */
later_kernels later_kernels_of(const metric_context *x, uint32_t i, const char *words)
{
    const metric_view *v = &x->view[i];
    const char *word = v->rank->kind == TRACE_KINETO ? "kernel" : NULL;
    const metric_pick pick = METRIC_PICK(0, {1, word, .names = words}, {0, .words = word});
    later_kernels k = {.rank = v->rank, .view = v, .index = i, .defined = !x->options->compat};
    metric_picked p;

    if (x->options->compat) {
        p = metric_pick_of(v->rank, &v->kernels, &pick, x->arena);
        k.n = p.list.n;
        k.event = p.list.event;
        k.comm = p.class;
        return k;
    }
    k.n = v->kernels.n;
    k.event = v->kernels.event;
    k.comm = DSE_ARENA_NEW(x->arena, uint8_t, k.n);
    for (uint32_t c = 0; v->comm_at && c < v->comm.n; c++)
        k.comm[v->comm_at[c]] = 1;
    return k;
}

metric_spans later_union(const later_kernels *k, bool comm, dse_arena *a)
{
    const metric_events list = {k->n, k->event};

    if (k->device)
        return comm ? k->device->comm : k->device->compute;
    if (!k->defined)
        return metric_union_of_class(k->rank, &list, k->comm, comm, a);
    return comm ? metric_comm_kernel_time(k->view) : k->view->compute_time;
}

metric_spans later_busy(const later_kernels *k, dse_arena *a)
{
    const metric_events list = {k->n, k->event};

    return k->defined ? k->view->kernel_time : metric_union_of(k->rank, &list, a);
}

later_sums later_sum(const later_kernels *k)
{
    later_sums s = {0, 0};

    for (uint32_t i = 0; i < k->n; i++) {
        double v = later_ps(k, i) / (k->device ? TRACE_PS_PER_S : 1);

        s.all += v;
        s.comm += k->comm[i] ? v : 0;
    }
    return s;
}

/* ---- folds --------------------------------------------------------------------------------- */

void later_add_comm(const metric_context *x, const later_kernels *k, later_result *r)
{
    later_sums s = later_sum(k);

    (void)x;
    later_add(r, later_rank_of(k), s.comm, s.all);
}

void later_add_picked(const metric_context *x, const later_kernels *k, later_result *r)
{
    const later_rule *rule = x->row->rule;
    bool nsys = k->rank->kind == TRACE_NSYS && rule->nsys_pick;
    metric_picker picker = metric_picker_of(k->rank, nsys ? rule->nsys_pick : rule->pick, x->arena);
    double part = 0, all = 0;

    for (uint32_t i = 0; i < k->n; i++) {
        uint8_t class = metric_picker_ask(&picker, &k->rank->event[k->event[i]]);

        all += class == METRIC_NOT_PICKED ? 0 : later_ps(k, i);
        part += class == 1 ? later_ps(k, i) : 0;
    }
    later_add(r, later_rank_of(k), part, all);
}

/* ---- rules --------------------------------------------------------------------------------- */

static void fold_devices(const metric_context *x, later_fold_fn *fold, later_result *r)
{
    tpu_run run = tpu_run_of(x);

    for (uint32_t i = 0; i < run.n; i++) {
        const tpu_device *d = run.device[i];
        later_kernels k = {.rank = run.rank[i],
                           .device = d,
                           .n = (uint32_t)d->n,
                           .event = DSE_ARENA_NEW(x->arena, uint32_t, d->n),
                           .comm = DSE_ARENA_NEW(x->arena, uint8_t, d->n),
                           .defined = true};

        for (uint32_t o = 0; o < k.n; o++) {
            k.event[o] = d->op[o].event;
            k.comm[o] = d->op[o].work == TPU_COMMUNICATION;
        }
        fold(x, &k, r);
    }
}

static void fold_ranks(const metric_context *x, later_fold_fn *fold, const char *words, later_result *r)
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
        fold_devices(x, rule->tpu ? rule->tpu : rule->fold, &r);
    else if (nsys && rule->nsys)
        fold_ranks(x, rule->nsys, rule->nsys_words ? rule->nsys_words : rule->words, &r);
    else
        fold_ranks(x, compat && rule->compat && !nsys ? rule->compat : rule->fold, rule->words, &r);
    return later_end(&r, compat && !nsys ? rule->digits : 0,
                     compat && rule->why_compat ? rule->why_compat : rule->why, err);
}

/* ---- steps --------------------------------------------------------------------------------- */

metric_steps later_steps_of(const metric_context *x, uint32_t i, metric_mark mark)
{
    const trace_rank *r = x->view[i].rank;
    metric_steps s;

    if (mark == METRIC_MARK_PROFILER && !x->options->compat)
        return (metric_steps){x->view[i].n_steps, x->view[i].step};
    s = metric_marked_steps(r, mark, x->arena);
    for (uint32_t k = 0; k < s.n; k++) {
        const char *name = METRIC_TEXT_OF(r, &r->event[s.step[k].number]);

        s.step[k].number =
            mark == METRIC_MARK_PROFILER ? strtoll(name + strlen(METRIC_STEP_PREFIX), NULL, 10) : 0;
    }
    metric_sort_steps(s.step, s.n);
    return s;
}
