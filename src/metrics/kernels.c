/* The kernels in which a run spends its time: by kind of work, and the ten that take most.
 *
 * Times are plain sums: kernels of different streams that run side by side both count. The original tests for
 * reductions before communication, so that ncclDevKernel_AllReduce_Sum_* is a reduction there; kinds.h has
 * the order of the definition. */
#include "metrics/guide.h"
#include "metrics/metric.h"
#include "metrics/order.h"

#include <stdlib.h>
#include <string.h>

#define TOP 10

typedef struct {
    uint32_t name;  /* of the rank's names, or of all ranks' */
    uint32_t first; /* place in the file of its first kernel; over all ranks, in their order */
    uint32_t n;
    uint8_t kind; /* metric_work */
    int64_t time_ps;
} name_sum;

typedef struct {
    uint32_t n_names;
    name_sum *name;
    int64_t time_ps;
    uint32_t n_kernels;
    metric_sums kind[METRIC_WORKS]; /* of a rank */
} rank_kernels;

/* By the definition: the view says what communicates, the words of the section what else it is. */
static metric_work kind_of_event(const guide_rank *r, const trace_event *e, uint32_t name)
{
    return metric_kernel_work(r->view, e) == METRIC_WORK_COMM
               ? METRIC_WORK_COMM
               : metric_work_by_words(r->rank->names.text[name]);
}

/* The sums of the names of a list's kernels. kind_of NULL: they are those of the definition. */
static void sum_kernels(const guide_rank *r, const metric_events *list,
                        metric_work (*kind_of)(const char *name), dse_arena *a, dse_arena *scratch,
                        rank_kernels *out)
{
    uint32_t *place = DSE_ARENA_NEW(scratch, uint32_t, (size_t)r->rank->names.n + 1); /* by name, plus 1 */

    *out = (rank_kernels){.n_kernels = list->n};
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t name = metric_kernel_name(r->rank, &r->rank->event[list->event[i]]);

        place[name] = place[name] ? place[name] : ++out->n_names;
    }
    out->name = DSE_ARENA_NEW(a, name_sum, out->n_names);
    for (uint32_t i = 0; i < list->n; i++) {
        const trace_event *e = &r->rank->event[list->event[i]];
        uint32_t name = metric_kernel_name(r->rank, e);
        name_sum *s = &out->name[place[name] - 1];

        if (!s->n++)
            *s = (name_sum){
                .name = name,
                .first = DSE_NONE,
                .n = 1,
                .kind = (uint8_t)(kind_of ? kind_of(r->rank->names.text[name]) : kind_of_event(r, e, name))};
        metric_sums_add(&out->kind[s->kind], e->dur_ps);
        s->time_ps += e->dur_ps;
        s->first = list->event[i] < s->first ? list->event[i] : s->first;
        out->time_ps += e->dur_ps;
    }
}

/* Orders by time, longest first; equal times keep their order. */
static int by_time(const void *a, const void *b)
{
    const name_sum *x = *(const name_sum *const *)a, *y = *(const name_sum *const *)b;

    return METRIC_ORDER({y->time_ps, x->time_ps}, {x->first, y->first});
}

static const name_sum **sorted(const rank_kernels *k, dse_arena *a)
{
    const name_sum **by = DSE_ARENA_NEW(a, const name_sum *, (size_t)k->n_names + 1);

    for (uint32_t i = 0; i < k->n_names; i++)
        by[i] = &k->name[i];
    qsort(by, k->n_names, sizeof *by, by_time);
    return by;
}

/* Kinds in the order of their names, as reports list them. */
static const metric_work by_alphabet[METRIC_WORKS] = {
    METRIC_WORK_ATTENTION, METRIC_WORK_ELEMENTWISE, METRIC_WORK_EMBEDDING, METRIC_WORK_GEMM,
    METRIC_WORK_MEMORY,    METRIC_WORK_COMM,        METRIC_WORK_OTHER,     METRIC_WORK_REDUCTION};

/* ---- a rank -------------------------------------------------------------------------------- */

/* Its kernels: those that the file spells so, and that last. */
static const metric_pick literal = METRIC_PICK(METRIC_LASTING, {0, .words = "kernel"});

static metric_work kind_compat(const char *name)
{
    static const metric_name_class kinds[] = {
        {METRIC_WORK_GEMM, "gemm|gemv|matmul|mm_|_mm|cutlass|cublas"},
        {METRIC_WORK_ATTENTION, "flash*attn|attention|softmax|sdpa"},
        {METRIC_WORK_ELEMENTWISE, "elementwise|ewise|add_|mul_|div_|relu|gelu|silu|sigmoid"},
        {METRIC_WORK_REDUCTION, "reduce|sum|mean|norm"},
        {METRIC_WORK_MEMORY, "copy|memcpy|memset|transpose|permute|contiguous"},
        {METRIC_WORK_COMM, "nccl|allgather|allreduce|reducescatter|broadcast"},
        {METRIC_WORK_EMBEDDING, "embedding|lookup|gather|scatter|index"}};

    return (metric_work)METRIC_CLASS_OF_NAME(kinds, name, METRIC_WORK_OTHER);
}

/* At most 80 characters (not bytes), then "...". */
static const char *cut(const char *name, dse_arena *a)
{
    size_t bytes = 0, characters = 0;

    for (; name[bytes]; bytes++)
        if (((unsigned char)name[bytes] & 0xc0) != 0x80 && characters++ == 80)
            break;
    return name[bytes] && bytes <= 80 * 4 ? dse_arena_printf(a, "%.*s...", (int)bytes, name) : name;
}

/* The originals count in microseconds. */
static double ms_of(const metric_context *x, int64_t ps)
{
    return x->options->compat ? guide_us(ps) / 1000 : (double)ps / TRACE_PS_PER_MS;
}

static void put_share(const metric_context *x, metric_value *to, int64_t part, int64_t whole)
{
    if (x->options->compat)
        guide_put_round(to, "percentage", guide_percent(guide_us(part), guide_us(whole)));
    else
        guide_put_percent(to, "percentage", (double)part, (double)whole, "no time");
}

static void put_top(const metric_context *x, const trace_names *names, const rank_kernels *k,
                    metric_value *list)
{
    const name_sum **by = sorted(k, x->arena);

    for (uint32_t i = 0; i < k->n_names && i < TOP; i++) {
        metric_value *to = metric_put_object(list, NULL);
        const char *name = names->text[by[i]->name];

        metric_put_text(to, "name", x->options->compat ? cut(name, x->arena) : name);
        metric_put_integer(to, "count", by[i]->n);
        metric_put_number(to, "total_time_ms", ms_of(x, by[i]->time_ps));
        metric_put_number(to, "avg_time_us", guide_us(by[i]->time_ps) / by[i]->n);
        put_share(x, to, by[i]->time_ps, k->time_ps);
        metric_put_text(to, "type", metric_work_name[by[i]->kind]);
    }
}

/* The originals list the longest kernels of each rank, too. */
static bool measure(const metric_context *x, const guide_rank *r, dse_arena *scratch)
{
    const bool compat = x->options->compat;
    const metric_events list =
        compat ? metric_pick_of(r->rank, &r->view->kernels, &literal, scratch).list : r->view->kernels;
    rank_kernels *k = r->own;
    metric_value *types;

    sum_kernels(r, &list, compat ? kind_compat : NULL, x->arena, scratch, k);
    metric_put_number(r->out, compat ? "total_kernel_time_ms" : "total_kernel_time_ms_sum",
                      ms_of(x, k->time_ps));
    if (!compat)
        metric_put_integer(r->out, "launches", k->n_kernels);
    metric_put_integer(r->out, compat ? "num_unique_kernels" : "unique_names", k->n_names);
    if (compat) {
        metric_put_integer(r->out, "total_kernel_launches", k->n_kernels);
        put_top(x, &r->rank->names, k, metric_put_list(r->out, "top_kernels"));
    }
    types = metric_put_object(r->out, compat ? "type_breakdown" : "by_type");
    for (int i = 0; i < METRIC_WORKS; i++) {
        const metric_sums *s = &k->kind[by_alphabet[i]];
        metric_value *type;

        if (!s->n)
            continue;
        type = metric_put_object(types, metric_work_name[by_alphabet[i]]);
        metric_put_integer(type, "count", s->n);
        metric_put_number(type, compat ? "total_time_ms" : "time_ms_sum", ms_of(x, s->sum_ps));
        put_share(x, type, s->sum_ps, k->time_ps);
    }
    return true;
}

/* ---- the definition ------------------------------------------------------------------------ */

/* Adds a rank's sums to those over all ranks, whose names have a table of their own. */
static void add_names(const trace_rank *r, const rank_kernels *k, trace_names *names, rank_kernels *all,
                      size_t *cap)
{
    for (uint32_t i = 0; i < k->n_names; i++) {
        const name_sum *s = &k->name[i];
        uint32_t id = trace_names_add(names, r->names.text[s->name], r->names.length[s->name]);

        DSE_GROW(all->name, *cap, (size_t)all->n_names + 1);
        if (id == all->n_names)
            all->name[all->n_names++] = (name_sum){.name = id, .first = id, .kind = s->kind};
        all->name[id].n += s->n;
        all->name[id].time_ps += s->time_ps;
    }
    all->time_ps += k->time_ps;
}

/* Mean counts and times over all ranks, those without the kind too; the percentage is of all ranks' time. */
static void put_kinds(const guide_ranks *ranks, int64_t all_ps, metric_value *to)
{
    const uint32_t n = ranks->n;

    for (int i = 0; i < METRIC_WORKS; i++) {
        metric_sums all = {0};
        metric_value *type;

        for (uint32_t r = 0; r < n; r++) {
            const metric_sums *s = &((const rank_kernels *)ranks->rank[r].own)->kind[by_alphabet[i]];

            all.n += s->n;
            all.sum_ps += s->sum_ps;
        }
        if (!all.n)
            continue;
        type = metric_put_object(to, metric_work_name[by_alphabet[i]]);
        metric_put_number(type, "avg_count", (double)all.n / n);
        metric_put_number(type, "avg_time_ms", (double)all.sum_ps / TRACE_PS_PER_MS / n);
        guide_put_percent(type, "avg_percentage", (double)all.sum_ps, (double)all_ps, "no time");
    }
}

static void kernel(const metric_context *x, metric_value *out)
{
    trace_names names = {0};
    rank_kernels all = {0};
    size_t cap = 0;
    guide_ranks ranks = guide_measure(x, out, measure, sizeof(rank_kernels));

    for (uint32_t i = 0; i < ranks.n; i++)
        add_names(ranks.rank[i].rank, ranks.rank[i].own, &names, &all, &cap);
    metric_put_number(out, "avg_kernel_time_ms", (double)all.time_ps / TRACE_PS_PER_MS / ranks.n);
    metric_put_number(out, "avg_unique_kernels", guide_mean(&ranks, "unique_names"));
    metric_put_number(out, "avg_kernel_launches", guide_mean(&ranks, "launches"));
    put_kinds(&ranks, all.time_ps, metric_put_object(out, "type_breakdown"));
    put_top(x, &names, &all, metric_put_list(out, "top_kernels"));
    guide_put_ranks(&ranks, NULL, out);
    dse_free(all.name);
    trace_names_free(&names);
}

/* ---- as the original ----------------------------------------------------------------------- */

static void put_kinds_compat(const guide_ranks *ranks, metric_value *to)
{
    for (int i = 0; i < METRIC_WORKS; i++) {
        const char *name = metric_work_name[by_alphabet[i]];
        const guide_fold count = guide_fold_of(ranks, "type_breakdown", name, "count"),
                         ms = guide_fold_of(ranks, "type_breakdown", name, "total_time_ms"),
                         percentage = guide_fold_of(ranks, "type_breakdown", name, "percentage");
        metric_value *type;

        if (!(count.mean > 0))
            continue;
        type = metric_put_object(to, name);
        metric_put_number(type, "avg_count", metric_round(count.mean, 1));
        guide_put_round(type, "avg_time_ms", ms.mean);
        guide_put_round(type, "avg_percentage", percentage.mean);
    }
}

static void kernel_compat(const metric_context *x, metric_value *out)
{
    guide_ranks ranks = guide_measure(x, out, measure, sizeof(rank_kernels));

    guide_put_round(out, "avg_kernel_time_ms", guide_mean(&ranks, "total_kernel_time_ms"));
    metric_put_number(out, "avg_unique_kernels", metric_round(guide_mean(&ranks, "num_unique_kernels"), 0));
    metric_put_number(out, "avg_kernel_launches",
                      metric_round(guide_mean(&ranks, "total_kernel_launches"), 0));
    put_kinds_compat(&ranks, metric_put_object(out, "type_breakdown"));
    put_top(x, &ranks.rank[0].rank->names, ranks.rank[0].own, metric_put_list(out, "top_kernels"));
    guide_put_ranks(&ranks, "per_rank_stats", out);
}

static const metric rows[] = {
    {METRIC_ROW("kernel", "guide", "", METRIC_ON_GPU, METRIC_NEEDS_GPU,
                "kernels by kind of work, and the ten that take most time over all ranks: counts, sums of "
                "time, shares"),
     .alias = "break_down_steps", .put = kernel, .compat_put = kernel_compat, .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(kernels);
