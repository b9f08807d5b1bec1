#include "whatif/compat_link.h"

#include "base/array.h"
#include "whatif/compat_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_US      1000 /* a thread that did nothing for longer was woken by another */
#define ROOT_ID      1
#define RESYNC_STEPS 64 /* names that may be skipped to find the next that agree */

/* An operator of the host in the Kineto trace. */
typedef struct {
    const compat_event *event;
    double ts, dur, own;
    uint32_t thread; /* in the order of first events */
    uint32_t other;  /* the last operator before it that is of another thread; DSE_NONE */
    uint32_t host;   /* the node that was linked to it last; DSE_NONE */
    int64_t after;   /* the function id of what it waits for; 0: nothing */
} cpu_op;

typedef struct {
    int64_t function;
    uint32_t op;
} function_row;

typedef struct {
    compat_link *l;
    dse_arena *arena;
    const compat_event **event; /* by begin */
    uint32_t n_ops, n_threads, n_gpu;
    cpu_op *op;                     /* by begin */
    uint32_t *thread_of;            /* by name of the thread; DSE_NONE: it runs no operators */
    uint32_t *by_thread;            /* places of ops, by thread and begin */
    uint32_t *first_of_thread;      /* n_threads + 1 */
    uint32_t *by_external;          /* by thread, external id, begin */
    uint32_t *launch;               /* by name of the correlation: place in event[] */
    const compat_event **gpu;       /* by begin */
    uint32_t *first_gpu, *next_gpu; /* chains by the launching operator's external id, in order of begin */
    uint32_t n_functions;
    function_row *function; /* by function id, the last op of each */
} linker;

/* ---- events -------------------------------------------------------------------------------------- */

static bool is_word(const char *text, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(text, words[i]))
            return true;
    return false;
}

static bool is_cpu_op(const compat_event *e, const trace_names *n)
{
    static const char *const kinds[] = {"cpu_op", "user_annotation"};

    return is_word(compat_text(n, e->cat), kinds, DSE_COUNT(kinds)) &&
           !strstr(compat_text(n, e->name), "ProfilerStep");
}

static bool is_launch(const compat_event *e, const trace_names *n)
{
    static const char *const kinds[] = {"cuda_runtime", "cuda_driver"};
    static const char *const calls[] = {
        "cudaLaunchKernel",         "cudaLaunchKernelExC", "cuLaunchKernel",
        "cuLaunchKernelEx",         "cudaMemcpyAsync",     "cudaMemcpy",
        "cudaMemcpyFromSymbol",     "cudaMemcpyToSymbol",  "cudaLaunchCooperativeKernel",
        "hipLaunchKernel",          "hipExtLaunchKernel",  "hipModuleLaunchKernel",
        "hipExtModuleLaunchKernel", "hipMemcpyAsync",      "hipMemcpyWithStream"};

    return is_word(compat_text(n, e->cat), kinds, DSE_COUNT(kinds)) &&
           is_word(compat_text(n, e->name), calls, DSE_COUNT(calls));
}

static bool is_gpu_op(const compat_event *e, const trace_names *n)
{
    static const char *const kinds[] = {"kernel", "gpu_memcpy"};

    return is_word(compat_text(n, e->cat), kinds, DSE_COUNT(kinds));
}

static bool is_kept(const compat_event *e, const trace_names *n)
{
    return is_cpu_op(e, n) || is_launch(e, n) || is_gpu_op(e, n);
}

static double time_of(double us) { return isnan(us) ? 0 : us; }

static int by_begin(const void *a, const void *b)
{
    const compat_event *x = *(compat_event *const *)a, *y = *(compat_event *const *)b;
    double p = time_of(x->ts), q = time_of(y->ts);

    return p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

/* Sorts the events into operators, launches, and what the GPU ran. */
static dse_status sort_events(linker *k, const char *path, dse_error *err)
{
    compat_link *l = k->l;
    size_t n = l->events.n;

    k->thread_of = DSE_ARENA_RAW(k->arena, uint32_t, l->names.n + 1u);
    k->event = DSE_ARENA_RAW(k->arena, const compat_event *, n + 1);
    k->gpu = DSE_ARENA_RAW(k->arena, const compat_event *, n + 1);
    k->op = DSE_ARENA_RAW(k->arena, cpu_op, n + 1);
    k->launch = DSE_ARENA_RAW(k->arena, uint32_t, l->names.n + 1u);
    memset(k->launch, 0xff, (l->names.n + 1u) * sizeof *k->launch); /* DSE_NONE */
    memset(k->thread_of, 0xff, (l->names.n + 1u) * sizeof *k->thread_of);
    for (size_t i = 0; i < n; i++) {
        compat_event *e = &l->events.event[i];

        if (!strcmp(compat_text(&l->names, e->external), "-1")) /* for the original the same */
            e->external = DSE_NONE;
        k->event[i] = e;
    }
    qsort(k->event, n, sizeof *k->event, by_begin);
    for (uint32_t i = 0; i < n; i++) {
        const compat_event *e = k->event[i];
        uint32_t *thread = &k->thread_of[e->tid == DSE_NONE ? l->names.n : e->tid];
        uint32_t *launch = &k->launch[e->correlation == DSE_NONE ? l->names.n : e->correlation];

        if (is_gpu_op(e, &l->names)) {
            k->gpu[k->n_gpu++] = e;
        } else if (is_cpu_op(e, &l->names)) {
            if (*thread == DSE_NONE)
                *thread = k->n_threads++;
            k->op[k->n_ops++] = (cpu_op){.event = e,
                                         .ts = time_of(e->ts),
                                         .dur = time_of(e->dur),
                                         .thread = *thread,
                                         .host = DSE_NONE};
        } else if (*launch != DSE_NONE) {
            return dse_fail_at(err, DSE_E_WORKLOAD, path,
                               "two launches have the correlation id '%.40s', so what launched a kernel is "
                               "unknown",
                               compat_text(&l->names, e->correlation));
        } else {
            *launch = i;
        }
    }
    return DSE_OK;
}

static void list_threads(linker *k)
{
    uint32_t *at = DSE_ARENA_NEW(k->arena, uint32_t, k->n_threads + 2u);

    for (uint32_t i = 0; i < k->n_ops; i++) {
        const cpu_op *before = i ? &k->op[i - 1] : NULL;

        at[k->op[i].thread + 2]++;
        k->op[i].other = !before ? DSE_NONE : before->thread != k->op[i].thread ? i - 1 : before->other;
    }
    for (uint32_t t = 0; t < k->n_threads; t++)
        at[t + 2] += at[t + 1];
    k->by_thread = DSE_ARENA_RAW(k->arena, uint32_t, k->n_ops + 1u);
    for (uint32_t i = 0; i < k->n_ops; i++)
        k->by_thread[at[k->op[i].thread + 1]++] = i;
    k->first_of_thread = at;
}

/* ---- durations ----------------------------------------------------------------------------------- */

/* The original compares an operator with those that are later by (begin, duration): one that begins with a
 * shorter one is not seen to contain it. Where times are decimals, rounding may leave less than nothing,
 * which is nothing; what is less than that it refuses. */
static dse_status find_own_time(linker *k, const char *path, dse_error *err)
{
    uint32_t *order = DSE_ARENA_RAW(k->arena, uint32_t, k->n_ops + 1u);

    for (uint32_t t = 0; t < k->n_threads; t++) {
        uint32_t from = k->first_of_thread[t], n = k->first_of_thread[t + 1] - from;

        memcpy(order, k->by_thread + from, n * sizeof *order);
        for (uint32_t i = 1; i < n; i++) /* they are by begin: only equal ones move */
            for (uint32_t j = i; j && k->op[order[j]].ts <= k->op[order[j - 1]].ts &&
                                 k->op[order[j]].dur < k->op[order[j - 1]].dur;
                 j--) {
                uint32_t swap = order[j];

                order[j] = order[j - 1];
                order[j - 1] = swap;
            }
        for (uint32_t i = 0; i < n; i++) {
            cpu_op *op = &k->op[order[i]];
            double end = op->ts + op->dur, begin = NAN, until = NAN;

            op->own = op->dur;
            for (uint32_t j = i + 1; j < n && !(end < k->op[order[j]].ts); j++) {
                const cpu_op *in = &k->op[order[j]];

                if (in->ts + in->dur > end)
                    continue;
                if (in->ts <= until) {
                    until = fmax(until, in->ts + in->dur);
                    continue;
                }
                if (!isnan(begin))
                    op->own -= until - begin;
                begin = in->ts;
                until = in->ts + in->dur;
            }
            if (!isnan(begin))
                op->own -= until - begin;
            if (op->own < -1)
                return dse_fail_at(err, DSE_E_WORKLOAD, path,
                                   "the operators within '%.80s' at %.3f us take longer than it",
                                   compat_text(&k->l->names, op->event->name), op->ts);
            op->own = fmax(op->own, 0);
        }
    }
    return DSE_OK;
}

/* ---- threads that wait for others ---------------------------------------------------------------- */

/* The place of the first operator that does not begin before a time. */
static uint32_t first_from(const linker *k, double ts)
{
    uint32_t low = 0, high = k->n_ops;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (k->op[mid].ts < ts)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The function that began last before an operator, of any other thread; of equal ones that of the thread
 * that was seen first. 0: none. */
static int64_t last_of_others(const linker *k, uint32_t op)
{
    uint32_t thread = k->op[op].thread, at = first_from(k, k->op[op].ts), best;

    if (!at)
        return 0;
    best = k->op[at - 1].thread != thread ? at - 1 : k->op[at - 1].other;
    if (best == DSE_NONE || !(k->op[best].ts > 0))
        return 0;
    for (uint32_t i = best; i-- && k->op[i].ts >= k->op[best].ts;)
        if (k->op[i].thread != thread && k->op[i].thread <= k->op[best].thread)
            best = i;
    return isnan(k->op[best].event->function) ? 0 : (int64_t)k->op[best].event->function;
}

static void find_waits(linker *k)
{
    for (uint32_t t = 0; t < k->n_threads; t++) {
        int64_t last = 0;

        for (uint32_t i = k->first_of_thread[t]; i < k->first_of_thread[t + 1]; i++) {
            cpu_op *op = &k->op[k->by_thread[i]];
            const cpu_op *before = i > k->first_of_thread[t] ? &k->op[k->by_thread[i - 1]] : NULL;

            if (!before || op->ts - before->ts - before->dur > IDLE_US)
                last = last_of_others(k, k->by_thread[i]);
            op->after = last;
        }
    }
}

/* ---- kernels -------------------------------------------------------------------------------------- */

static uint32_t external_of(const linker *k, const compat_event *e)
{
    return e->external == DSE_NONE ? k->l->names.n : e->external;
}

typedef struct {
    uint32_t thread, external, op;
} external_row;

static int by_external_id(const void *a, const void *b)
{
    const external_row *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->external != y->external)
        return x->external < y->external ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

static void list_external_ids(linker *k)
{
    external_row *row = DSE_ARENA_RAW(k->arena, external_row, k->n_ops + 1u);

    for (uint32_t i = 0; i < k->n_ops; i++)
        row[i] = (external_row){k->op[i].thread, external_of(k, k->op[i].event), i};
    qsort(row, k->n_ops, sizeof *row, by_external_id);
    k->by_external = DSE_ARENA_RAW(k->arena, uint32_t, k->n_ops + 1u);
    for (uint32_t i = 0; i < k->n_ops; i++)
        k->by_external[i] = row[i].op;
}

/* The last place below `before` in list[from..to), which has places in order; of NCCL's kernels not that of a
 * mere bracket around others. */
static uint32_t last_before(const linker *k, const uint32_t *list, uint32_t from, uint32_t to,
                            uint32_t before, bool is_nccl)
{
    uint32_t low = from, high = to;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (list[mid] < before)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low-- > from;)
        if (!is_nccl || strcmp(compat_text(&k->l->names, k->op[list[low]].event->name), "nccl:coalesced"))
            return list[low];
    return DSE_NONE;
}

/* The operators of a thread and external id in by_external. */
static void find_external(const linker *k, uint32_t thread, uint32_t external, uint32_t *from, uint32_t *to)
{
    uint32_t end = k->first_of_thread[thread + 1], low = k->first_of_thread[thread], high = end;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (external_of(k, k->op[k->by_external[mid]].event) < external)
            low = mid + 1;
        else
            high = mid;
    }
    for (*from = *to = low; *to < end && external_of(k, k->op[k->by_external[*to]].event) == external;)
        ++*to;
}

/* The operator in which a kernel was launched: the last that began before the launch, on its thread and with
 * the kernel's external id; or else on its thread. */
static uint32_t launcher_of(const linker *k, const compat_event *gpu)
{
    uint32_t launch = k->launch[gpu->correlation == DSE_NONE ? k->l->names.n : gpu->correlation];
    bool is_nccl = compat_has(compat_text(&k->l->names, gpu->name), "nccl");
    const compat_event *e;
    uint32_t before, thread, from, to, op;

    if (launch == DSE_NONE)
        return DSE_NONE;
    e = k->event[launch];
    thread = k->thread_of[e->tid == DSE_NONE ? k->l->names.n : e->tid];
    if (thread == DSE_NONE)
        return DSE_NONE;
    before = first_from(k, time_of(e->ts));
    find_external(k, thread, external_of(k, gpu), &from, &to);
    op = last_before(k, k->by_external, from, to, before, is_nccl);
    return op != DSE_NONE ? op
                          : last_before(k, k->by_thread, k->first_of_thread[thread],
                                        k->first_of_thread[thread + 1], before, is_nccl);
}

static void find_launchers(linker *k)
{
    size_t n = k->l->names.n + 1u;
    uint32_t *last = DSE_ARENA_RAW(k->arena, uint32_t, n);

    list_external_ids(k);
    k->first_gpu = DSE_ARENA_RAW(k->arena, uint32_t, n);
    k->next_gpu = DSE_ARENA_RAW(k->arena, uint32_t, k->n_gpu + 1u);
    memset(k->first_gpu, 0xff, n * sizeof *k->first_gpu); /* DSE_NONE */
    for (uint32_t i = 0; i < k->n_gpu; i++) {
        uint32_t op = launcher_of(k, k->gpu[i]), external;

        k->next_gpu[i] = DSE_NONE;
        if (op == DSE_NONE) {
            k->l->n_orphans++;
            continue;
        }
        external = external_of(k, k->op[op].event);
        if (k->first_gpu[external] == DSE_NONE)
            k->first_gpu[external] = i;
        else
            k->next_gpu[last[external]] = i;
        last[external] = i;
    }
    k->l->n_kernels = k->n_gpu;
}

/* ---- the operators of both traces ------------------------------------------------------------------ */

static int by_function(const void *a, const void *b)
{
    const function_row *x = a, *y = b;

    return x->function != y->function ? (x->function > y->function) - (x->function < y->function)
                                      : (x->op > y->op) - (x->op < y->op);
}

static void list_functions(linker *k)
{
    uint32_t n = 0;

    k->function = DSE_ARENA_RAW(k->arena, function_row, k->n_ops + 1u);
    for (uint32_t i = 0; i < k->n_ops; i++)
        if (!isnan(k->op[i].event->function))
            k->function[n++] = (function_row){(int64_t)k->op[i].event->function, i};
    qsort(k->function, n, sizeof *k->function, by_function);
    for (uint32_t i = 0; i < n; i++)
        if (i + 1 == n || k->function[i + 1].function != k->function[i].function)
            k->function[k->n_functions++] = k->function[i];
}

static int to_function(const void *key, const void *row)
{
    const int64_t function = *(const int64_t *)key, of = ((const function_row *)row)->function;

    return (function > of) - (function < of);
}

static cpu_op *find_function(const linker *k, int64_t function)
{
    const function_row *found =
        bsearch(&function, k->function, k->n_functions, sizeof *k->function, to_function);

    return found ? &k->op[found->op] : NULL;
}

/* Whether a chain of parents leads to the root. */
static bool *find_reachable(const compat_host *h, dse_arena *a)
{
    enum { UNKNOWN, YES, NO, ASKED };
    uint8_t *state = DSE_ARENA_NEW(a, uint8_t, h->n + 1u);
    bool *out = DSE_ARENA_NEW(a, bool, h->n + 1u);

    for (uint32_t i = 0; i < h->n; i++) {
        uint32_t at = i, answer;

        while (at != DSE_NONE && state[at] == UNKNOWN && h->node[at].id != ROOT_ID) {
            state[at] = ASKED;
            at = compat_host_find(h, h->node[at].parent);
        }
        answer = at != DSE_NONE && (h->node[at].id == ROOT_ID || state[at] == YES) ? YES : NO;
        if (at != DSE_NONE && h->node[at].id == ROOT_ID)
            state[at] = YES;
        for (at = i; at != DSE_NONE && state[at] == ASKED; at = compat_host_find(h, h->node[at].parent))
            state[at] = (uint8_t)answer;
        out[i] = state[i] == YES;
    }
    return out;
}

/* The kernels of an operator in an array. */
static void list_gpu(const linker *k, const cpu_op *op, compat_linked *node)
{
    uint32_t *list, n = 0, first = k->first_gpu[external_of(k, op->event)];

    for (uint32_t i = first; i != DSE_NONE; i = k->next_gpu[i])
        n++;
    list = DSE_ARENA_RAW(k->arena, uint32_t, n);
    n = 0;
    for (uint32_t i = first; i != DSE_NONE; i = k->next_gpu[i])
        list[n++] = (uint32_t)(k->gpu[i] - k->l->events.event);
    node->n_gpu = n;
    node->gpu = list;
}

static void link_nodes(linker *k)
{
    compat_link *l = k->l;
    const compat_host *h = &l->host;
    const bool *is_reachable = find_reachable(h, k->arena);

    l->node = DSE_ARENA_NEW(k->arena, compat_linked, h->n + 1u);
    for (uint32_t i = 0; i < h->n; i++) {
        cpu_op *op = is_reachable[i] ? find_function(k, h->node[i].number[HOST_RF_ID]) : NULL;
        const cpu_op *after;

        l->node[i].after = DSE_NONE;
        l->n_operators += h->node[i].number[HOST_RF_ID] != 0;
        if (!op)
            continue;
        l->n_linked++;
        op->host = i;
        l->node[i].is_linked = true;
        l->node[i].own_us = op->own;
        list_gpu(k, op, &l->node[i]);
        after = op->after ? find_function(k, op->after) : NULL;
        if (after) /* a node of a greater id is not known yet */
            l->node[i].after = after->host;
    }
}

/* ---- traces without function ids ------------------------------------------------------------------- */

/* One thread's operators as names, in the order of their begin; of equal ones the longer first. */
typedef struct {
    uint32_t n, *name, *place; /* place: of the operator, or of the host node */
} sequence;

/* Pairs equal names in order; after a difference goes on where the fewest are skipped, rather of a's. Sets
 * function ids if asked to; returns how many agree. */
static uint32_t align(linker *k, const sequence *a, const sequence *b, bool set)
{
    uint32_t i = 0, j = 0, n = 0;

    while (i < a->n && j < b->n) {
        uint32_t skip = 0, of_b = 0;
        bool found = false;

        for (skip = 0; skip <= RESYNC_STEPS && !found; skip += !found)
            for (of_b = 0; of_b <= skip && !found; of_b += !found)
                found = i + skip - of_b < a->n && j + of_b < b->n &&
                        a->name[i + skip - of_b] == b->name[j + of_b];
        if (!found) {
            i++;
            j++;
            continue;
        }
        i += skip - of_b;
        j += of_b;
        if (set) {
            size_t event = (size_t)(k->op[b->place[j]].event - k->l->events.event);

            k->l->events.event[event].function = (double)k->l->host.node[a->place[i]].number[HOST_RF_ID];
        }
        i++;
        j++;
        n++;
    }
    return n;
}

static int by_begin_then_longest(const void *a, const void *b)
{
    const cpu_op *x = *(cpu_op *const *)a, *y = *(cpu_op *const *)b;

    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    if (x->dur != y->dur)
        return x->dur > y->dur ? -1 : 1;
    return (x > y) - (x < y);
}

static sequence sequence_of_thread(linker *k, uint32_t thread)
{
    uint32_t from = k->first_of_thread[thread], n = k->first_of_thread[thread + 1] - from;
    const cpu_op **list = DSE_ARENA_RAW(k->arena, const cpu_op *, n + 1u);
    sequence s = {n, DSE_ARENA_RAW(k->arena, uint32_t, n + 1u), DSE_ARENA_RAW(k->arena, uint32_t, n + 1u)};

    for (uint32_t i = 0; i < n; i++)
        list[i] = &k->op[k->by_thread[from + i]];
    qsort(list, n, sizeof *list, by_begin_then_longest);
    for (uint32_t i = 0; i < n; i++) {
        s.name[i] = list[i]->event->name;
        s.place[i] = (uint32_t)(list[i] - k->op);
    }
    return s;
}

static sequence sequence_of_host(linker *k, int64_t tid)
{
    const compat_host *h = &k->l->host;
    sequence s = {0, DSE_ARENA_RAW(k->arena, uint32_t, h->n + 1u),
                  DSE_ARENA_RAW(k->arena, uint32_t, h->n + 1u)};

    for (uint32_t i = 0; i < h->n; i++)
        if (h->node[i].number[HOST_TID] == tid && h->node[i].number[HOST_RF_ID]) {
            s.name[s.n] = trace_names_find(&k->l->names, h->node[i].name);
            s.place[s.n++] = i;
        }
    return s;
}

/* Gives the events the function ids of the operators of the same names in the same order, thread by thread:
 * a thread of the one trace is that of the other with which most agree. */
static dse_status align_threads(linker *k, const char *path, dse_error *err)
{
    compat_link *l = k->l;
    const compat_host *h = &l->host;
    sequence *thread = DSE_ARENA_RAW(k->arena, sequence, k->n_threads + 1u);
    bool *is_taken = DSE_ARENA_NEW(k->arena, bool, k->n_threads + 1u);
    bool *is_done = DSE_ARENA_NEW(k->arena, bool, h->n + 1u);
    uint32_t n = 0, n_agree = 0;

    for (uint32_t t = 0; t < k->n_threads; t++)
        thread[t] = sequence_of_thread(k, t);
    for (uint32_t i = 0; i < h->n; i++) {
        uint32_t best = DSE_NONE, most = 0;
        sequence s;

        if (is_done[i] || !h->node[i].number[HOST_RF_ID])
            continue;
        s = sequence_of_host(k, h->node[i].number[HOST_TID]);
        for (uint32_t q = 0; q < s.n; q++)
            is_done[s.place[q]] = true;
        for (uint32_t t = 0; t < k->n_threads; t++) {
            uint32_t agree = is_taken[t] ? 0 : align(k, &s, &thread[t], false);

            if (agree > most) {
                most = agree;
                best = t;
            }
        }
        n += s.n;
        if (best == DSE_NONE)
            continue;
        is_taken[best] = true;
        n_agree += align(k, &s, &thread[best], true);
    }
    if (n_agree < n / 2)
        return dse_fail_at(err, DSE_E_ABSENT, path,
                           "events have no 'Record function id' (PyTorch writes it from 2.2 on), and only %u "
                           "of %u operators of the execution trace have the names of events in their order",
                           n_agree, n);
    l->is_aligned = true;
    return DSE_OK;
}

/* From NCCL 2.19 on kernels are named ncclDevKernel_*. The converter knows the older names of collectives,
 * but not that of send and receive: where there is one, all are taken by the newer names. */
static void rename_kernels(compat_link *l)
{
    for (size_t i = 0; i < l->events.n; i++)
        l->is_renamed =
            l->is_renamed || (is_gpu_op(&l->events.event[i], &l->names) &&
                              strstr(compat_text(&l->names, l->events.event[i].name), "ncclKernel_SendRecv"));
    for (size_t i = 0; l->is_renamed && i < l->events.n; i++) {
        compat_event *e = &l->events.event[i];
        const char *name = compat_text(&l->names, e->name);
        char renamed[512];

        if (strncmp(name, "ncclKernel_", 11))
            continue;
        snprintf(renamed, sizeof renamed, "ncclDevKernel_%.480s", name + 11);
        e->name = trace_names_add(&l->names, renamed, strlen(renamed));
    }
}

static bool has_functions(const linker *k)
{
    for (uint32_t i = 0; i < k->n_ops; i++)
        if (!isnan(k->op[i].event->function))
            return true;
    return !k->n_ops;
}

dse_status compat_link_load(const char *host, const char *kineto, dse_arena *a, compat_link *out,
                            dse_error *err)
{
    linker k = {.l = out, .arena = a};
    dse_status st;

    *out = (compat_link){.is_aligned = false};
    out->events.names = &out->names;
    if ((st = compat_read_host(host, a, &out->host, err)) != DSE_OK ||
        (st = compat_read_events(kineto, is_kept, &out->events, err)) != DSE_OK)
        return st;
    if (compat_host_find(&out->host, ROOT_ID) == DSE_NONE)
        return dse_fail_at(err, DSE_E_WORKLOAD, host, "there is no node of id %d, the root of all", ROOT_ID);
    rename_kernels(out);
    if ((st = sort_events(&k, kineto, err)) != DSE_OK)
        return st;
    list_threads(&k);
    if (!has_functions(&k) && (st = align_threads(&k, kineto, err)) != DSE_OK)
        return st;
    if ((st = find_own_time(&k, kineto, err)) != DSE_OK)
        return st;
    find_waits(&k);
    find_launchers(&k);
    list_functions(&k);
    link_nodes(&k);
    return DSE_OK;
}

void compat_link_free(compat_link *l)
{
    dse_free(l->events.event);
    trace_names_free(&l->names);
}
