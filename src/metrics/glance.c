#include "metrics/glance.h"

#include "base/array.h"
#include "metrics/comm_size.h"
#include "metrics/nest.h"
#include "metrics/order.h"
#include "metrics/parallel.h"
#include "metrics/pick.h"
#include "metrics/steps.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Most time first; of equal times the one that is called most, then by name. */
static int by_time(const void *a, const void *b)
{
    const glance_row *x = a, *y = b;
    int order = METRIC_ORDER({y->ps, x->ps}, {(int64_t)y->n, (int64_t)x->n});

    return order ? order : strcmp(x->name, y->name);
}

static glance_rows rows_of(tally *t)
{
    glance_rows r = tally_end(t);

    tally_sort(&r, by_time);
    return r;
}

/* ---- where the time goes --------------------------------------------------------------------- */

static void divide(const metric_spans *compute, const metric_spans *comm, const metric_spans *copies,
                   metric_span window, dse_arena *a, glance_device *d)
{
    metric_spans all = {1, &window}, work = metric_spans_intersect(compute, &all, a), moved, left;

    d->window_ps = window.end > window.start ? window.end - window.start : 0;
    if (!d->window_ps)
        return;
    moved = metric_spans_intersect(comm, &all, a);
    moved = metric_spans_subtract(&moved, &work, a);
    d->part_ps[GLANCE_COMPUTE] = metric_spans_length(&work);
    d->part_ps[GLANCE_EXPOSED] = metric_spans_length(&moved);
    work = metric_spans_unite(&work, &moved, a);
    left = metric_spans_intersect(copies, &all, a);
    left = metric_spans_subtract(&left, &work, a);
    d->part_ps[GLANCE_COPIES] = metric_spans_length(&left);
    d->part_ps[GLANCE_IDLE] = d->window_ps;
    for (int p = 0; p < GLANCE_IDLE; p++)
        d->part_ps[GLANCE_IDLE] -= d->part_ps[p];
}

static void set_steps(const metric_view *v, glance_device *d)
{
    double sum = 0;

    d->n_steps = v->n_steps;
    d->step_ps = d->least_ps = d->most_ps = (double)NAN;
    for (uint32_t i = 0; i < v->n_steps; i++) {
        double ps = (double)(v->step[i].span.end - v->step[i].span.start);

        sum += ps;
        d->least_ps = fmin(d->least_ps, ps); /* of NaN and a number, the number */
        d->most_ps = fmax(d->most_ps, ps);
    }
    if (v->n_steps)
        d->step_ps = sum / v->n_steps;
}

/* ---- why it was idle ------------------------------------------------------------------------- */

/* Calls in which the host waits for the GPU: neither those that only ask it (cudaEventQuery) nor those that
 * make a stream wait (cudaStreamWaitEvent). */
static const metric_pick blocking =
    METRIC_PICK(METRIC_LASTING, {.categories = 1u << TRACE_RUNTIME | 1u << TRACE_DRIVER,
                                 .names = "synchronize|=^cudaMemcpy$|=^hipMemcpy$|=^hipMemcpyWithStream"});

/* The place of the first event of a list by start that begins at a time or later. */
static uint32_t first_from(const trace_rank *r, const metric_events *list, int64_t at)
{
    size_t i;

    METRIC_BISECT(i, 0, list->n, metric_start(&r->event[list->event[i]]) < at);
    return (uint32_t)i;
}

/* The call that launched the first GPU event from a time on; NULL: it is not in the file. */
static const trace_event *next_launch(const metric_view *v, int64_t at)
{
    const trace_rank *r = v->rank;
    const uint32_t k = first_from(r, &v->kernels, at), m = first_from(r, &v->memory_ops, at);
    const bool copies =
        m < v->memory_ops.n && (k == v->kernels.n || metric_start(&r->event[v->memory_ops.event[m]]) <
                                                         metric_start(&r->event[v->kernels.event[k]]));
    const uint32_t launch = copies ? v->memory_launch[m] : k < v->kernels.n ? v->launch[k] : DSE_NONE;

    return launch == DSE_NONE ? NULL : &r->event[launch];
}

static void find_causes(const metric_view *v, metric_span window, tally *by_call, dse_arena *a,
                        glance_device *d)
{
    const trace_rank *r = v->rank;
    metric_spans all = {1, &window}, idle = metric_spans_subtract(&all, &v->gpu_time, a);
    metric_picked calls = metric_pick_of(r, NULL, &blocking, a);
    metric_spans blocked;

    if (!d->window_ps)
        return;
    metric_picked_sort(&calls, a);
    for (uint32_t i = 0; i < calls.list.n; i++) {
        const trace_event *e = metric_picked_at(&calls, i);

        tally_add(tally_at(by_call, METRIC_TEXT_OF(r, e), METRIC_TEXT_OF(r, e), ""), e->dur_ps);
    }
    blocked = metric_picked_time(&calls, METRIC_ANY_CLASS, a);
    for (size_t i = 0; i < idle.n; i++) {
        const metric_span *gap = &idle.span[i];
        const int64_t length = gap->end - gap->start;
        const trace_event *by = next_launch(v, gap->end);
        int64_t launched, stopped;

        d->gap_ps = length > d->gap_ps ? length : d->gap_ps;
        if (!by) {
            d->cause_ps[GLANCE_UNTOLD] += length;
            continue;
        }
        launched = metric_end(by) < gap->end ? metric_end(by) : gap->end;
        if (metric_start(by) <= gap->start) {
            d->cause_ps[GLANCE_STREAM] += length;
            continue;
        }
        stopped = metric_spans_within(&blocked, gap->start, launched);
        d->cause_ps[GLANCE_BLOCKED] += stopped;
        d->cause_ps[GLANCE_HOST] += launched - gap->start - stopped;
        d->cause_ps[GLANCE_LAUNCH] += gap->end - launched;
    }
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

/* A row's bytes are those of all its copies whose size is given. */
static void add_copies(const metric_view *v, tally *t)
{
    for (uint32_t i = 0; i < v->memory_ops.n; i++) {
        const trace_event *e = &v->rank->event[v->memory_ops.event[i]];
        const trace_args *args = metric_args_of(v->rank, e);
        const char *name = METRIC_TEXT_OF(v->rank, e);
        glance_row *row = tally_at(t, name, name, "");

        tally_add(row, e->dur_ps);
        row->bytes += args && args->bytes != TRACE_UNKNOWN ? (double)args->bytes : 0;
    }
}

glance_rows glance_kinds(const glance_rows *kernels, dse_arena *a)
{
    tally t = {.arena = a};

    for (size_t i = 0; i < kernels->n; i++) {
        const glance_row *k = &kernels->row[i];

        tally_merge(tally_at(&t, k->of, k->of, ""), k->n, k->ps);
    }
    return rows_of(&t);
}

/* Adds a call whose bus bandwidth is that of all calls of its row together. */
static void add_call(tally *t, const char *type, const char *group, uint32_t members, double bytes,
                     double factor, int64_t ps)
{
    const char *key = dse_arena_printf(t->arena, "%s|%s|%u|%.0f", type, group, members, bytes);
    glance_row *row = tally_at(t, key, type, group);
    double moved = isnan(row->bus_bytes_per_s) ? 0 : row->bus_bytes_per_s * (double)row->ps;

    tally_add(row, ps);
    row->bytes = bytes;
    row->members = members;
    if (bytes > 0 && isfinite(factor) && row->ps > 0)
        row->bus_bytes_per_s = (moved + bytes * factor * TRACE_PS_PER_S) / (double)row->ps;
}

static void add_collectives(const metric_view *v, tally *t)
{
    for (uint32_t i = 0; i < v->comm.n; i++) {
        const trace_event *e = &v->rank->event[v->comm.event[i]];
        metric_comm_type type = (metric_comm_type)v->comm_type[i];
        metric_comm_size s = metric_comm_size_of(v->rank, e, type);
        const trace_args *args = metric_args_of(v->rank, e);
        metric_group g = args ? metric_group_of(v->rank, args) : (metric_group){0};

        add_call(t, metric_comm_type_name[type], g.desc ? g.desc : "", s.group_size,
                 s.state == METRIC_SIZE_KNOWN ? (double)s.bytes : 0, metric_bus_factor(type, s.group_size),
                 e->dur_ps);
    }
}

static void look_at_gpu(const metric_view *v, tally *by_call, dse_arena *a, glance_device *d)
{
    metric_span window = v->n_steps ? metric_steps_window(v, false) : v->gpu_span;
    metric_spans comm = metric_comm_kernel_time(v);

    *d = (glance_device){
        .rank = v->rank, .number = v->rank->rank, .span_ps = v->gpu_span.end - v->gpu_span.start};
    set_steps(v, d);
    divide(&v->compute_time, &comm, &v->memory_time, window, a, d);
    find_causes(v, window, by_call, a, d);
}

/* ---- TPUs ------------------------------------------------------------------------------------ */

static void look_at_tpu(const metric_view *v, const tpu_device *t, dse_arena *a, glance_device *d)
{
    *d = (glance_device){.rank = v->rank,
                         .number = t->number,
                         .span_ps = t->span.end - t->span.start,
                         .step_ps = (double)NAN,
                         .least_ps = (double)NAN,
                         .most_ps = (double)NAN};
    divide(&t->compute, &t->comm, &t->memory, t->span, a, d);
    d->cause_ps[GLANCE_UNTOLD] = d->part_ps[GLANCE_IDLE];
}

/* Fusions have names of their own, so operations are summed by category. */
static void add_operations(const metric_view *v, const tpu_device *d, tally *kernels, tally *calls)
{
    static const char *const works[] = {
        [TPU_COMPUTE] = "compute", [TPU_COMMUNICATION] = "nccl", [TPU_MEMORY] = "memory"};

    for (size_t i = 0; i < d->n; i++) {
        const tpu_op *op = &d->op[i];
        const trace_event *e = &v->rank->event[op->event];
        const trace_args *args = metric_args_of(v->rank, e);
        const char *category = args ? TRACE_NAME(v->rank, args->hlo_category) : NULL;
        int64_t ps = op->span.end - op->span.start;
        const char *name = category ? category : METRIC_TEXT_OF(v->rank, e);

        tally_add(tally_at(kernels, name, name, works[op->work]), ps);
        if (op->work == TPU_COMMUNICATION)
            add_call(calls, tpu_comm_name((tpu_comm)op->comm), "", op->group,
                     op->bytes == TRACE_UNKNOWN ? 0 : (double)op->bytes,
                     metric_bus_factor(tpu_comm_type((tpu_comm)op->comm), op->group), ps);
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

/* By names of functions, files of Python and markers of the first rank; the first row that any name meets.
 * SGLang uses kernels of vLLM. */
static const struct {
    const char *program, *words;
} programs[] = {{"SGLang", "sglang"},
                {"vLLM", "vllm|=^" METRIC_VLLM_PREFIX},
                {"TorchTitan", "torchtitan"},
                {"Megatron-LM", "megatron/|megatron."},
                {"DeepSpeed", "deepspeed"},
                {"TorchRec", "torchrec"},
                {"PyTorch FSDP", "fsdp::|fullyshardeddataparallel"},
                {"PyTorch DDP", "distributeddataparallel"}};

static const char *program_of(const metric_context *x)
{
    const trace_names *said = x->n_views ? &x->view[0].rank->names : NULL;
    size_t first = DSE_COUNT(programs);

    for (uint32_t k = 0; said && k < said->n; k++)
        for (size_t p = 0; p < first; p++)
            if (metric_says(said->text[k], programs[p].words))
                first = p;
    return first < DSE_COUNT(programs) ? programs[first].program : NULL;
}

static glance_device sum_of(const glance_device *device, size_t n)
{
    glance_device all = {.step_ps = 0, .least_ps = (double)NAN, .most_ps = (double)NAN};

    for (const glance_device *d = device; d < device + n; d++) {
        all.window_ps += d->window_ps;
        all.span_ps += d->span_ps;
        for (int p = 0; p < GLANCE_PARTS; p++)
            all.part_ps[p] += d->part_ps[p];
        for (int c = 0; c < GLANCE_CAUSES; c++)
            all.cause_ps[c] += d->cause_ps[c];
        all.gap_ps = d->gap_ps > all.gap_ps ? d->gap_ps : all.gap_ps;
        all.n_steps += d->n_steps;
        all.step_ps += d->n_steps ? d->n_steps * d->step_ps : 0;
        all.least_ps = fmin(all.least_ps, d->least_ps);
        all.most_ps = fmax(all.most_ps, d->most_ps);
    }
    all.step_ps = all.n_steps ? all.step_ps / all.n_steps : (double)NAN;
    return all;
}

glance glance_of(const metric_context *x)
{
    dse_arena *a = x->arena;
    tally kernels = {.arena = a}, copies = kernels, calls = kernels, by_call = kernels;
    size_t n = 0;
    glance g = {0};

    for (uint32_t i = 0; i < x->n_views; i++)
        n += x->view[i].tpu.n ? x->view[i].tpu.n : 1;
    g.device = DSE_ARENA_NEW(a, glance_device, n);
    for (uint32_t i = 0; i < x->n_views; i++) {
        const metric_view *v = &x->view[i];

        for (uint32_t d = 0; d < v->tpu.n; d++) {
            look_at_tpu(v, &v->tpu.device[d], a, &g.device[g.n_devices++]);
            add_operations(v, &v->tpu.device[d], &kernels, &calls);
            g.of_tpu = true;
        }
        tally_add_totals(&kernels, v->rank);
        if (!g.gpu && !v->rank->n_devices && trace_accelerator_of(v->rank))
            g.gpu = trace_accelerator_of(v->rank)->name;
        if (!v->kernels.n && !v->memory_ops.n)
            continue;
        if (v->rank->n_devices && !g.gpu)
            g.gpu = TRACE_NAME(v->rank, v->rank->device[0].name);
        look_at_gpu(v, &by_call, a, &g.device[g.n_devices++]);
        tally_add_kernels(&kernels, v, &v->kernels, NULL);
        add_copies(v, &copies);
        add_collectives(v, &calls);
    }
    g.all = sum_of(g.device, g.n_devices);
    g.kernels = rows_of(&kernels);
    g.copies = rows_of(&copies);
    g.collectives = rows_of(&calls);
    g.blocking = rows_of(&by_call);
    g.program = program_of(x);
    return g;
}

/* ---- operators ------------------------------------------------------------------------------- */

static const metric_pick operators = METRIC_PICK(METRIC_LASTING, {.categories = 1u << TRACE_CPU_OP}),
                         modules = METRIC_PICK(METRIC_LASTING,
                                               {.categories = 1u << TRACE_PYTHON, .names = "=^nn.Module: "});

static metric_nest nest_of(const trace_rank *r, const metric_pick *pick, dse_arena *a)
{
    metric_picked p = metric_pick_of(r, NULL, pick, a);

    return metric_nest_of(r, &p.list, a);
}

/* "FusedMoE" of "FusedMoE_7": modules of one class add up. */
static const char *class_of_module(const char *module, dse_arena *a)
{
    const char *name = strchr(module, ' ') + 1, *end = name + strlen(name);

    while (end > name && isdigit((unsigned char)end[-1]))
        end--;
    return end > name + 1 && end[-1] == '_' ? dse_arena_strndup(a, name, (size_t)(end - 1 - name)) : name;
}

/* Adds the kernels of a rank to the operators and modules around their launches. */
static void add_operators(const metric_view *v, tally *t, dse_arena *a)
{
    const trace_rank *r = v->rank;
    const metric_nest op = nest_of(r, &operators, a), module = nest_of(r, &modules, a);

    for (uint32_t k = 0; k < v->kernels.n; k++) {
        const trace_event *by = v->launch[k] == DSE_NONE ? NULL : &r->event[v->launch[k]];
        const uint32_t o = by ? metric_nest_around(&op, by->lane, by->start_ps) : DSE_NONE,
                       m = by ? metric_nest_at(&module, by->lane, by->start_ps) : DSE_NONE;
        const char *name = o == DSE_NONE ? "(not recorded)" : METRIC_TEXT_OF(r, &r->event[op.item[o].event]),
                   *of = m == DSE_NONE
                             ? ""
                             : class_of_module(METRIC_TEXT_OF(r, &r->event[module.item[m].event]), a);

        tally_add(tally_at(t, dse_arena_printf(a, "%s|%s", name, of), name, of),
                  r->event[v->kernels.event[k]].dur_ps);
    }
}

glance_rows glance_operators(const metric_context *x)
{
    tally t = {.arena = x->arena};

    for (uint32_t i = 0; i < x->n_views; i++)
        add_operators(&x->view[i], &t, x->arena);
    return rows_of(&t);
}
