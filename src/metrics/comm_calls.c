#include "metrics/comm_calls.h"

#include "base/array.h"
#include "metrics/comm_size.h"
#include "metrics/later.h"
#include "metrics/later_tpu.h"
#include "metrics/order.h"
#include "metrics/tpu_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The tools recognise a collective by the part of a kernel's name after ncclDevKernel_ or ncclKernel_, or by
 * its "Collective name"; an all-to-all needs both, since it consists of sends and receives. */
#define KERNEL(word) "=^ncclDevKernel_" word "|=^ncclKernel_" word

static const struct {
    metric_comm_type type;
    const char *kernel, *collective;
    bool both;
    const char *hlo; /* hlo_category of a TPU */
} known[] = {
    {METRIC_ALL_REDUCE, KERNEL("AllReduce"), "=^all_reduce$|=^allreduce$", false, "all-reduce"},
    {METRIC_ALL_GATHER, KERNEL("AllGather"), "=^all_gather$|=^allgather$", false, "all-gather"},
    {METRIC_REDUCE_SCATTER, KERNEL("ReduceScatter"), "=^reduce_scatter$|=^reducescatter$", false,
     "reduce-scatter"},
    {METRIC_ALL_TO_ALL, KERNEL("SendRecv"), "=^all_to_allv$|=^all_to_all$|=^alltoall$", true, "all-to-all"},
};
#define N_KNOWN DSE_COUNT(known)

/* ---- as the tools read a GPU's ------------------------------------------------------------- */

static const char *text_of(const trace_rank *r, uint32_t id)
{
    return id == DSE_NONE ? "" : r->names.text[id];
}

/* N_KNOWN: none of these. */
static size_t upstream_kind(const char *name, const char *collective)
{
    for (size_t k = 0; k < N_KNOWN; k++) {
        bool kernel = metric_says(name, known[k].kernel), word = metric_says(collective, known[k].collective);

        if (known[k].both ? kernel && word : kernel || word)
            return k;
    }
    return N_KNOWN;
}

static void upstream_gpu(const metric_context *x, uint32_t i, comm_calls *out)
{
    later_kernels k = later_kernels_of(x, i, LATER_COMM_PLAIN);

    out->call = DSE_ARENA_NEW(x->arena, comm_call, k.n);
    for (uint32_t e = 0; e < k.n; e++) {
        const trace_event *v = &k.rank->event[k.event[e]];
        const trace_args *a = metric_args_of(k.rank, v);
        size_t kind = upstream_kind(METRIC_TEXT_OF(k.rank, v), a ? text_of(k.rank, a->collective) : "");
        double bytes =
            a && a->in_elements != TRACE_UNKNOWN
                ? (double)a->in_elements * metric_dtype_bytes(text_of(k.rank, a->dtype), METRIC_DTYPES_LATER)
                : 0;

        if (kind < N_KNOWN)
            out->call[out->n++] = (comm_call){known[kind].type, bytes, (double)v->dur_ps / TRACE_PS_PER_S,
                                              metric_bus_factor(known[kind].type, a ? a->group_size : 0), 0};
    }
}

/* ---- and a TPU's --------------------------------------------------------------------------- */

/* A collective, with what tells its operation and its device apart. */
typedef struct {
    uint32_t name, pid, event;
    size_t kind;
} tpu_call;

METRIC_COMPARE(by_place, tpu_call, {x->name, y->name}, {x->pid, y->pid})
METRIC_COMPARE(by_event, tpu_call, {x->event, y->event})

/* The tools' number of members is that of the processes on which a name occurs. (They group all-reduces by an
 * identifier that the events of one operation share on all devices, as they share its name.) */
static void upstream_tpu(const metric_context *x, uint32_t i, comm_calls *out)
{
    const trace_rank *r = x->view[i].rank;
    uint32_t *members = DSE_ARENA_NEW(x->arena, uint32_t, (size_t)r->names.n + 1);
    tpu_call *call = NULL;
    size_t n = 0, cap = 0;

    for (uint32_t e = 0; e < r->n_events; e++) {
        const trace_event *v = &r->event[e];
        const char *category = v->instant || v->name == DSE_NONE ? "" : later_tpu_category(r, v);
        size_t kind = 0;

        while (kind < N_KNOWN && strcmp(category, known[kind].hlo) != 0)
            kind++;
        if (kind == N_KNOWN)
            continue;
        DSE_ARENA_GROW(x->arena, call, cap, n + 1);
        call[n++] = (tpu_call){v->name, r->lane[v->lane].pid, e, kind};
    }
    if (n)
        qsort(call, n, sizeof *call, by_place);
    for (size_t k = 0; k < n; k++)
        members[call[k].name] += !k || by_place(&call[k], &call[k - 1]) != 0;
    if (n)
        qsort(call, n, sizeof *call, by_event);
    *out = (comm_calls){(uint32_t)n, DSE_ARENA_NEW(x->arena, comm_call, n)};
    for (size_t k = 0; k < n; k++) {
        const trace_event *v = &r->event[call[k].event];
        const metric_comm_type type = known[call[k].kind].type;
        const int64_t ps = trace_device_time_of(r, call[k].event).dur_ps;
        const uint64_t bytes = r->args[v->args].bytes_accessed;

        out->call[k] = (comm_call){type, bytes == TRACE_UNKNOWN ? 0 : (double)bytes,
                                   ps > 0 ? (double)ps / TRACE_PS_PER_S : 0,
                                   metric_bus_factor(type, members[v->name]), 0};
    }
}

/* ---- by the definitions -------------------------------------------------------------------- */

static void defined_gpu(const metric_context *x, uint32_t i, comm_calls *out)
{
    const metric_view *v = &x->view[i];

    out->call = DSE_ARENA_NEW(x->arena, comm_call, v->comm.n);
    for (uint32_t c = 0; c < v->comm.n; c++) {
        const trace_event *e = &v->rank->event[v->comm.event[c]];
        metric_comm_type type = (metric_comm_type)v->comm_type[c];
        metric_comm_size s = metric_comm_size_of(v->rank, e, type);

        out->call[out->n++] = (comm_call){type, s.state == METRIC_SIZE_KNOWN ? (double)s.bytes : 0,
                                          (double)e->dur_ps / TRACE_PS_PER_S,
                                          metric_bus_factor(type, s.group_size), s.group_size};
    }
}

/* Members of a group are those of an operation's replica group, else chips; the whole buffer of a reduce-scatter
 * is all members' shares. */
static void defined_tpu(const metric_context *x, uint32_t i, uint32_t chips, comm_calls *out)
{
    const tpu_rank *t = &x->view[i].tpu;
    uint64_t most = 0;

    for (uint32_t d = 0; d < t->n; d++)
        most += t->device[d].n_comms;
    out->call = DSE_ARENA_NEW(x->arena, comm_call, most);
    for (uint32_t d = 0; d < t->n; d++)
        for (const tpu_op *op = t->device[d].op; op < t->device[d].op + t->device[d].n; op++) {
            const uint32_t n = op->group ? op->group : chips;
            double bytes = op->bytes == TRACE_UNKNOWN ? 0 : (double)op->bytes;

            if (op->work != TPU_COMMUNICATION)
                continue;
            bytes *= op->comm == TPU_REDUCE_SCATTER ? n : 1;
            out->call[out->n++] = (comm_call){tpu_comm_type(op->comm), bytes,
                                              (double)(op->span.end - op->span.start) / TRACE_PS_PER_S,
                                              metric_bus_factor(tpu_comm_type(op->comm), n), n};
        }
}

dse_status comm_calls_of(const metric_context *x, const comm_calls **by_rank, dse_error *err)
{
    comm_calls *out = DSE_ARENA_NEW(x->arena, comm_calls, x->n_views);
    bool tpu = later_kind(x) == TRACE_XLA, defined_of_tpu = tpu && !x->options->compat;
    tpu_run run = tpu_run_of(x);
    uint32_t chips = 0;
    dse_status st = defined_of_tpu ? tpu_run_chips(&run, &chips, err) : DSE_OK;

    for (uint32_t i = 0; st == DSE_OK && i < x->n_views; i++)
        if (defined_of_tpu)
            defined_tpu(x, i, chips, &out[i]);
        else
            (tpu ? upstream_tpu : x->options->compat ? upstream_gpu : defined_gpu)(x, i, &out[i]);
    *by_rank = out;
    return st;
}
