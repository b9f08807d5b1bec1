/* XLA's operations on TPUs, of one step and one trace of all devices. */
#include "base/array.h"
#include "whatif/compat_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEP_GAP_US  100000    /* markers that begin further apart are of different steps */
#define SIZE_UNKNOWN 268435456 /* bytes of a collective whose size is not written */

typedef struct {
    const whatif_compat_job *job;
    dse_arena *arena;
    trace_names names;
    compat_events events;
    double begin, end; /* of the step */
} tpu;

static bool is_complete(const trace_names *n, const compat_event *e)
{
    return !strcmp(compat_text(n, e->phase), "X") && !isnan(e->ts);
}

static bool is_kept(const compat_event *e, const trace_names *n)
{
    return is_complete(n, e) || (!strcmp(compat_text(n, e->phase), "M") && e->process != DSE_NONE);
}

static double duration_of(const compat_event *e)
{
    return !isnan(e->device_us) ? e->device_us : isnan(e->dur) ? 0 : e->dur;
}

/* ---- the step -------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    const compat_event *x = *(compat_event *const *)a, *y = *(compat_event *const *)b;

    return x->ts != y->ts ? (x->ts > y->ts) - (x->ts < y->ts) : (x > y) - (x < y);
}

/* Markers that begin shortly after one another are one step, from the first begin to the last end. */
static dse_status find_step(tpu *t, dse_error *err)
{
    const compat_event **list = DSE_ARENA_RAW(t->arena, const compat_event *, t->events.n + 1);
    size_t n = 0;
    uint32_t n_steps = 0;

    for (size_t i = 0; i < t->events.n; i++) {
        const compat_event *e = &t->events.event[i];

        if (is_complete(&t->names, e) && strstr(compat_text(&t->names, e->name), t->job->marker))
            list[n++] = e;
    }
    if (n)
        qsort(list, n, sizeof *list, by_start);
    for (size_t i = 0; i < n; i++) {
        n_steps += !i || list[i]->ts - list[i - 1]->ts > STEP_GAP_US;
        if (n_steps != t->job->iteration + 1)
            continue;
        if (isnan(t->begin))
            t->begin = list[i]->ts;
        t->end = fmax(t->end, list[i]->ts + duration_of(list[i]));
    }
    if (n_steps <= t->job->iteration)
        return dse_fail_at(
            err, DSE_E_ABSENT, t->job->path[0],
            "%u steps have events with '%.80s' in their names, so there is no number %u: choose "
            "with --marker and --step",
            n_steps, t->job->marker, t->job->iteration);
    return DSE_OK;
}

/* ---- one event ------------------------------------------------------------------------------- */

#define NO_TYPE UINT8_MAX

static bool ends(const char *text, const char *word)
{
    size_t n = strlen(text), m = strlen(word);

    return n >= m && !strcmp(text + n - m, word);
}

/* Begins of collectives count, their ends do not. */
static uint8_t type_of(const tpu *t, const compat_event *e)
{
    static const struct {
        const char *spelling[3];
        uint8_t coll;
    } types[] = {
        {{"reduce-scatter", "reducescatter", "reduce_scatter"}, WL_REDUCE_SCATTER},
        {{"all-gather", "allgather", "all_gather"}, WL_ALL_GATHER},
        {{"all-to-all", "alltoall", "all_to_all"}, WL_ALL_TO_ALL},
        {{"all-reduce", "allreduce", "all_reduce"}, WL_ALL_REDUCE},
        {{"collective-permute", "collectivepermute", "collective_permute"}, WL_ALL_TO_ALL},
    };
    const char *in[] = {compat_text(&t->names, e->hlo_category), compat_text(&t->names, e->name),
                        compat_text(&t->names, e->hlo_op)};

    if (ends(in[0], "-done") || ends(in[1], "-done"))
        return NO_TYPE;
    for (size_t i = 0; i < DSE_COUNT(types); i++)
        for (size_t k = 0; k < 3 * DSE_COUNT(in); k++)
            if (compat_has(in[k / 3], types[i].spelling[k % 3]))
                return types[i].coll;
    return NO_TYPE;
}

/* Bytes of the first "bf16[8,128]" of a text; 0: there is none. */
static double bytes_of_shape(const char *text)
{
    static const struct {
        const char *type;
        double bytes;
    } types[] = {{"pred", 1}, {"s8", 1},  {"u8", 1},  {"s4", 1},  {"u4", 1},   {"bf16", 2},
                 {"f16", 2},  {"s16", 2}, {"u16", 2}, {"f32", 4}, {"s32", 4},  {"u32", 4},
                 {"f64", 8},  {"s64", 8}, {"u64", 8}, {"c64", 8}, {"c128", 16}};

    for (const char *at = strchr(text, '['); at; at = strchr(at + 1, '[')) {
        const char *from = at;
        double n = 1, bytes = 2;
        bool any = false, is_type = false;

        while (from > text && strchr("abcdefghijklmnopqrstuvwxyz0123456789", from[-1]))
            from--;
        for (size_t i = 0; i < DSE_COUNT(types); i++)
            if (strlen(types[i].type) == (size_t)(at - from) &&
                !strncmp(from, types[i].type, (size_t)(at - from))) {
                bytes = types[i].bytes;
                is_type = true;
            }
        if (at - from > 2 && !strncmp(from, "f8", 2)) {
            bytes = 1;
            is_type = true;
        }
        for (const char *c = at + 1; is_type && *c && *c != ']';) {
            char *end;
            double v = strtod(c, &end);

            if (end == c) {
                c++;
                continue;
            }
            n *= v;
            any = true;
            c = end;
        }
        if (any)
            return n * bytes;
    }
    return 0;
}

static uint64_t bytes_of(const tpu *t, const compat_event *e)
{
    double n = 0;

    for (size_t i = 0; i < DSE_COUNT(e->bytes) && !(n > 0); i++)
        n = e->bytes[i];
    if (!(n > 0))
        n = bytes_of_shape(compat_text(&t->names, e->long_name));
    if (!(n > 0))
        n = bytes_of_shape(compat_text(&t->names, e->hlo_op));
    return n > 0 && n < 1e18 ? (uint64_t)n : SIZE_UNKNOWN;
}

/* The first number of a text; DSE_NONE: it has none. */
static uint32_t number_in(const char *text)
{
    unsigned long v;

    text += strcspn(text, "0123456789");
    v = strtoul(text, NULL, 10);
    return *text && v < DSE_NONE ? (uint32_t)v : DSE_NONE;
}

/* "[3] fusion"; else a device of its arguments; else of its process, "/device:TPU:3". */
static uint32_t rank_of(const tpu *t, const compat_event *e, const uint32_t *process)
{
    const char *name = compat_text(&t->names, e->name);
    size_t digits = name[0] == '[' ? strspn(name + 1, "0123456789") : 0;

    if (digits && !strncmp(name + 1 + digits, "] ", 2))
        return number_in(name);
    for (size_t i = 0; i < DSE_COUNT(e->device); i++)
        if (e->device[i] != DSE_NONE && number_in(t->names.text[e->device[i]]) != DSE_NONE)
            return number_in(t->names.text[e->device[i]]);
    return e->pid == DSE_NONE ? DSE_NONE : process[e->pid];
}

static bool is_operation(const tpu *t, const compat_event *e)
{
    const char *name = compat_text(&t->names, e->name);

    return duration_of(e) > 0 && !isnan(e->device_us) && e->hlo_category != DSE_NONE &&
           !strstr(name, "jit_train_step") && !strstr(name, "CommonPjRtLoadedExecutable::Execute");
}

/* ---- the graphs ------------------------------------------------------------------------------ */

typedef struct {
    const compat_event *event;
    uint32_t rank; /* DSE_NONE: of all */
    uint8_t coll;
} step;

static int by_time(const void *a, const void *b)
{
    const compat_event *x = ((const step *)a)->event, *y = ((const step *)b)->event;
    double p = duration_of(x), q = duration_of(y);
    int order = (x->ts > y->ts) - (x->ts < y->ts);

    order = order ? order : (p > q) - (p < q);
    return order ? order : (x > y) - (x < y);
}

/* Blanks are underscores. */
static const char *kernel_name(const tpu *t, const compat_event *e)
{
    char *name = dse_arena_printf(t->arena, "kernel_%s", compat_text(&t->names, e->hlo_category));

    for (char *c = name; *c; c++)
        *c = *c == ' ' ? '_' : *c;
    return name;
}

static void convert_rank(const tpu *t, const step *list, size_t n, uint32_t rank, whatif_et *et)
{
    uint32_t last = DSE_NONE, node;
    double end = NAN;

    for (size_t i = 0; i < n; i++) {
        const compat_event *e = list[i].event;
        const char *name = compat_text(&t->names, e->name);

        if (list[i].rank != rank && list[i].rank != DSE_NONE)
            continue;
        if (e->ts > end) {
            node = compat_add_compute(et, t->arena, "compute_gap", e->ts - end);
            whatif_et_depend(et, t->arena, node, last);
            last = node;
        }
        node = list[i].coll != NO_TYPE
                   ? compat_add_collective(et, t->arena, name, strlen(name), list[i].coll, bytes_of(t, e), 0)
                   : compat_add_compute(et, t->arena, kernel_name(t, e), duration_of(e));
        whatif_et_depend(et, t->arena, node, last);
        last = node;
        end = fmax(end, e->ts + duration_of(e));
    }
}

/* By process, its device; the number of devices. */
static uint32_t find_devices(const tpu *t, uint32_t *process)
{
    static const char device[] = "/device:TPU:";
    uint32_t n = 0;

    memset(process, 0xff, t->names.n * sizeof *process); /* DSE_NONE */
    for (size_t i = 0; i < t->events.n; i++) {
        const compat_event *e = &t->events.event[i];
        const char *at = strstr(compat_text(&t->names, e->process), device);
        uint32_t k = at && e->pid != DSE_NONE && !strcmp(compat_text(&t->names, e->name), "process_name")
                         ? number_in(at + sizeof device - 1)
                         : DSE_NONE;

        if (k >= 65536)
            continue;
        process[e->pid] = k;
        n = k >= n ? k + 1 : n;
    }
    return n;
}

static dse_status convert(tpu *t, whatif_files *out, dse_error *err)
{
    uint32_t *process = DSE_ARENA_RAW(t->arena, uint32_t, t->names.n + 1), n_ranks = find_devices(t, process);
    step *list = DSE_ARENA_RAW(t->arena, step, t->events.n + 1);
    size_t n = 0, n_collectives = 0;

    for (size_t i = 0; i < t->events.n; i++) {
        const compat_event *e = &t->events.event[i];
        step s = {e, DSE_NONE, NO_TYPE};

        if (!is_complete(&t->names, e) || !(e->ts >= t->begin && e->ts < t->end))
            continue;
        s.coll = type_of(t, e);
        if (s.coll == NO_TYPE && (t->job->mode != WHATIF_COMPAT_TPU_KERNELS || !is_operation(t, e)))
            continue;
        s.rank = rank_of(t, e, process);
        if (s.rank != DSE_NONE ? s.rank < n_ranks : s.coll != NO_TYPE)
            list[n++] = s;
        n_collectives += s.coll != NO_TYPE;
    }
    if (!n_ranks || !n_collectives)
        return dse_fail_at(err, DSE_E_ABSENT, t->job->path[0], "there is no %s in the step",
                           n_ranks ? "collective" : "process /device:TPU:n");
    qsort(list, n, sizeof *list, by_time);
    out->n_ranks = n_ranks;
    out->et = DSE_ARENA_NEW(t->arena, whatif_et, n_ranks);
    for (uint32_t i = 0; i < n_ranks; i++)
        convert_rank(t, list, n, i, &out->et[i]);
    return DSE_OK;
}

dse_status compat_convert_tpu(const whatif_compat_job *job, dse_arena *a, whatif_files *out, dse_error *err)
{
    tpu t = {.job = job, .arena = a, .begin = NAN, .end = NAN};
    dse_status st;

    t.events.names = &t.names;
    st = compat_read_events(job->path[0], is_kept, &t.events, err);
    if (st == DSE_OK && (st = find_step(&t, err)) == DSE_OK)
        st = convert(&t, out, err);
    dse_free(t.events.event);
    trace_names_free(&t.names);
    return st;
}
