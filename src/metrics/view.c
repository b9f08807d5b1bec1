#include "metrics/view.h"

#include "metrics/order.h"
#include "metrics/sieve.h"

#include <stdlib.h>
#include <string.h>

const char *const metric_layer_name[METRIC_LAYER_ANNOTATION + 1] = {"none", "kernel", "gpu_user_annotation",
                                                                    "user_annotation"};

const char *metric_file_name(const trace_rank *rank)
{
    const char *path = rank->path ? rank->path : "", *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* ---- which is which ------------------------------------------------------------------------ */

/* A simulated run names its kernels after its workload; those that communicate name their collective. */
static bool communicates(const metric_view *v, const trace_event *e)
{
    const trace_rank *r = v->rank;

    if (r->kind == TRACE_SIMULATED)
        return e->args != DSE_NONE && r->args[e->args].collective != DSE_NONE;
    return v->work[e->name] == METRIC_WORK_COMM;
}

/* A kernel of Nsight Systems has a short name, and a long one with namespace and template arguments. The
 * short one has the word; where it says nothing, or the long one says that it communicates
 * (ep::intranode::dispatch), that has it. */
static void ask_long_name(metric_view *v, const trace_event *e, bool *asked)
{
    const trace_rank *r = v->rank;
    uint32_t name = e->args == DSE_NONE ? DSE_NONE : r->args[e->args].long_name;
    metric_work work;

    if (name == DSE_NONE || asked[name])
        return;
    asked[name] = true;
    v->work[name] = (uint8_t)metric_work_of(r->names.text[e->name]);
    work = metric_work_of(r->names.text[name]);
    if (work == METRIC_WORK_COMM || v->work[name] == METRIC_WORK_OTHER)
        v->work[name] = (uint8_t)work;
    if (work == METRIC_WORK_COMM || v->work[e->name] == METRIC_WORK_OTHER)
        v->work[e->name] = (uint8_t)work;
}

uint32_t metric_kernel_name(const trace_rank *r, const trace_event *e)
{
    const trace_args *a = r->kind == TRACE_NSYS ? metric_args_of(r, e) : NULL;

    return a && a->long_name != DSE_NONE ? a->long_name : e->name;
}

metric_work metric_kernel_work(const metric_view *v, const trace_event *e)
{
    return v->work[e->name] == METRIC_WORK_COMM ? METRIC_WORK_COMM
                                                : (metric_work)v->work[metric_kernel_name(v->rank, e)];
}

/* The kind of work of each kernel's name, asked once a name; how many kernels communicate. */
static void work_init(metric_view *v, dse_arena *scratch, uint32_t *n_comm)
{
    const trace_rank *r = v->rank;
    bool *asked = DSE_ARENA_NEW(scratch, bool, 2 * ((size_t)r->names.n + 1)), *asked_long;

    v->work = DSE_ARENA_NEW(&v->arena, uint8_t, (size_t)r->names.n + 1);
    asked_long = asked + r->names.n + 1;
    for (uint32_t i = 0; i < v->kernels.n; i++) {
        const trace_event *e = &r->event[v->kernels.event[i]];

        if (!asked[e->name]) {
            asked[e->name] = true;
            v->work[e->name] = (uint8_t)metric_work_of(r->names.text[e->name]);
        }
        if (r->kind == TRACE_NSYS)
            ask_long_name(v, e, asked_long);
    }
    *n_comm = 0;
    for (uint32_t i = 0; i < v->kernels.n; i++) {
        const trace_event *e = &r->event[v->kernels.event[i]];

        if (communicates(v, e)) {
            v->work[e->name] = METRIC_WORK_COMM;
            (*n_comm)++;
        }
    }
}

static metric_events keep(const metric_events *e, dse_arena *a)
{
    return (metric_events){e->n, dse_arena_copy(a, e->event, e->n, sizeof *e->event)};
}

static void lists_fill(metric_view *v, const metric_sieve *s, dse_arena *scratch)
{
    const trace_rank *r = v->rank;
    uint32_t n_comm;

    v->kernels = keep(&s->list[PICK_KERNELS], &v->arena);
    v->memory_ops = keep(&s->list[PICK_MEMORY], &v->arena);
    work_init(v, scratch, &n_comm);
    metric_sort_by_start(r, &v->kernels, scratch);
    metric_sort_by_start(r, &v->memory_ops, scratch);
    metric_room(&v->comm, n_comm, &v->arena);
    metric_room(&v->compute, v->kernels.n - n_comm, &v->arena);
    v->comm_at = DSE_ARENA_NEW(&v->arena, uint32_t, n_comm);
    for (uint32_t i = 0; i < v->kernels.n; i++) {
        uint32_t event = v->kernels.event[i];

        if (communicates(v, &r->event[event])) {
            v->comm_at[v->comm.n] = i;
            v->comm.event[v->comm.n++] = event;
        } else {
            v->compute.event[v->compute.n++] = event;
        }
    }
    v->comm_layer = n_comm ? METRIC_LAYER_KERNEL : METRIC_LAYER_NONE;
}

/* Each stage frees its own memory: together the stages would be the peak of a trace. */
static void lists_init(metric_view *v, const metric_sieve *s)
{
    dse_arena scratch;

    dse_arena_init(&scratch);
    lists_fill(v, s, &scratch);
    dse_arena_free(&scratch);
}

/* A file without a communication kernel may still have its annotations. */
static void comm_of_annotations(metric_view *v, const metric_sieve *s, dse_arena *scratch)
{
    const bool gpu = s->list[PICK_GPU_COMM].n > 0;
    const metric_events *picked = &s->list[gpu ? PICK_GPU_COMM : PICK_HOST_COMM];

    v->comm_at = NULL;
    if (!picked->n)
        return;
    v->comm_layer = gpu ? METRIC_LAYER_GPU_ANNOTATION : METRIC_LAYER_ANNOTATION;
    v->comm = keep(picked, &v->arena);
    metric_sort_by_start(v->rank, &v->comm, scratch);
}

/* Words of record_param_comms that move nothing. */
#define IDLE_WORDS                                                                                           \
    "=^$|=^wait$|=^init$|=^end$|=^abort$|=^startcoalescing$|=^endcoalescing$|=^start_coalescing$|"           \
    "=^end_coalescing$"

/* Of an execution trace: the record_param_comms nodes that name a collective, in the order of the file. */
static void comm_of_nodes(metric_view *v)
{
    const trace_rank *r = v->rank;

    v->comm_type = DSE_ARENA_NEW(&v->arena, uint8_t, r->n_events);
    metric_room(&v->comm, (uint32_t)r->n_events, &v->arena);
    for (uint32_t i = 0; i < r->n_events; i++) {
        const trace_args *a = metric_args_of(r, &r->event[i]);
        const char *word = a ? TRACE_NAME(r, a->collective) : NULL;

        if (!word || metric_says(word, IDLE_WORDS))
            continue;
        v->comm_type[v->comm.n] = (uint8_t)metric_comm_type_of_word(word);
        v->comm.event[v->comm.n++] = i;
    }
}

/* ---- steps --------------------------------------------------------------------------------- */

METRIC_COMPARE(by_number, metric_step, {x->number, y->number}, {x->span.start, y->span.start})

void metric_sort_steps(metric_step *step, uint32_t n)
{
    if (n)
        qsort(step, n, sizeof *step, by_number);
}

#define NO_NUMBER INT64_MAX

/* The number that follows a marker: "ProfilerStep#12", "iteration 12". */
static int64_t number_after(const char *name, const char *marker)
{
    name += strlen(marker);
    while (*name && (*name < '0' || *name > '9'))
        name++;
    return *name ? strtoll(name, NULL, 10) : NO_NUMBER;
}

static void steps_of(const trace_rank *r, const metric_events *picked, const char *marker, dse_arena *a,
                     uint32_t *n, metric_step **out)
{
    *n = picked->n;
    *out = NULL;
    if (!*n)
        return;
    *out = DSE_ARENA_NEW(a, metric_step, *n);
    for (uint32_t i = 0; i < *n; i++) {
        const trace_event *e = &r->event[picked->event[i]];

        (*out)[i] =
            (metric_step){number_after(METRIC_TEXT_OF(r, e), marker), {metric_start(e), metric_end(e)}, 0};
    }
    metric_sort_steps(*out, *n);
}

METRIC_COMPARE(by_place, metric_step, {x->lane, y->lane}, {x->span.start, y->span.start},
               {y->span.end, x->span.end})

void metric_steps_keep_outermost(metric_steps *s)
{
    uint32_t kept = 0;

    if (s->n)
        qsort(s->step, s->n, sizeof *s->step, by_place);
    for (uint32_t i = 0; i < s->n; i++)
        if (!kept || s->step[kept - 1].lane != s->step[i].lane ||
            s->step[i].span.end > s->step[kept - 1].span.end)
            s->step[kept++] = s->step[i];
    s->n = kept;
}

/* Names of users' NVTX ranges need not be unique. A range within another of the same marker ("step",
 * "step_fn"; two threads of one process) is a part of it, and if one has no number all are numbered in the
 * order of time. */
static void settle_ranges(metric_view *v)
{
    metric_steps s = {v->n_steps, v->step};
    bool numbered = true;

    metric_steps_keep_outermost(&s);
    for (uint32_t i = 0; i < s.n; i++)
        numbered = numbered && s.step[i].number != NO_NUMBER;
    for (uint32_t i = 0; i < s.n && !numbered; i++)
        s.step[i].number = i;
    metric_sort_steps(s.step, s.n);
    v->n_steps = s.n;
}

static void steps_init(metric_view *v, const metric_sieve *s)
{
    const metric_events *host = &s->list[s->list[PICK_STEPS].n ? PICK_STEPS : PICK_CPU_STEPS];

    steps_of(v->rank, host, s->marker, &v->arena, &v->n_steps, &v->step);
    steps_of(v->rank, &s->list[PICK_GPU_STEPS], s->marker, &v->arena, &v->n_gpu_steps, &v->gpu_step);
    if (v->rank->kind == TRACE_NSYS && v->n_steps)
        settle_ranges(v);
}

/* ---- the view ------------------------------------------------------------------------------ */

static void times_init(metric_view *v)
{
    const trace_rank *r = v->rank;
    metric_span copies = metric_span_of(r, &v->memory_ops);

    v->gpu_span = metric_span_of(r, &v->kernels); /* with events of no duration, which are in no union */
    metric_span_extend(&v->gpu_span, copies.start, copies.end);
    v->kernel_time = metric_union_of(r, &v->kernels, &v->arena);
    v->comm_time = metric_union_of(r, &v->comm, &v->arena);
    v->memory_time = metric_union_of(r, &v->memory_ops, &v->arena);
    v->compute_time = v->kernel_time; /* unless some kernels communicate */
    v->gpu_time = v->kernel_time;
    if (v->compute.n != v->kernels.n)
        v->compute_time = metric_union_of(r, &v->compute, &v->arena);
    if (v->memory_time.n)
        v->gpu_time = metric_spans_unite(&v->kernel_time, &v->memory_time, &v->arena);
}

void metric_view_init(metric_view *v, const trace_rank *rank)
{
    uint32_t *launch[2];
    dse_arena scratch;
    metric_sieve s;

    *v = (metric_view){.rank = rank};
    dse_arena_init(&v->arena);
    dse_arena_init(&scratch);
    metric_sieve_init(&s, rank, &scratch);
    lists_init(v, &s);
    if (!v->comm.n)
        comm_of_annotations(v, &s, &scratch);
    metric_launches_of(&s, (const metric_events[]){v->kernels, v->memory_ops}, 2, &v->arena, launch);
    v->launch = launch[0];
    v->memory_launch = launch[1];
    if (rank->kind == TRACE_ET)
        comm_of_nodes(v);
    else
        v->comm_type = metric_comm_types_of(&s, &v->comm, v->comm_at, v->launch, &v->arena);
    steps_init(v, &s);
    dse_arena_free(&scratch);
    times_init(v);
    if (rank->kind == TRACE_XLA)
        tpu_rank_init(rank, &v->arena, &v->tpu);
}

void metric_view_free(metric_view *v) { dse_arena_free(&v->arena); }
