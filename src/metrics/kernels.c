/* The kernels in which a run spends its time: by kind of work, and the ten that take most.
 *
 * Times are plain sums: kernels of different streams that run side by side both count. The original tests for
 * reductions before communication, so that ncclDevKernel_AllReduce_Sum_* is a reduction there; kinds.h has
 * the order of the definition. */
#include "base/array.h"
#include "base/order.h"
#include "metrics/guide.h"
#include "metrics/metric.h"
#include "metrics/tally.h"

#include <stdlib.h>

#define TOP 10

/* Of a rank, by name and by kind of work. */
typedef struct {
    tally_rows names;
    metric_sums kind[METRIC_WORKS];
} rank_kernels;

/* Kinds in the order of their names, as reports list them. */
static const metric_work by_alphabet[METRIC_WORKS] = {
    METRIC_WORK_ATTENTION, METRIC_WORK_ELEMENTWISE, METRIC_WORK_EMBEDDING, METRIC_WORK_GEMM,
    METRIC_WORK_MEMORY,    METRIC_WORK_COMM,        METRIC_WORK_OTHER,     METRIC_WORK_REDUCTION};

/* ---- a rank -------------------------------------------------------------------------------- */

/* Its kernels: those that the file spells so, and that last. */
static const metric_pick literal = METRIC_PICK(METRIC_LASTING, {0, .words = "kernel"});

/* By the definition: the view says what communicates, the words of the section what else it is. */
static metric_work kind_of_section(const metric_view *v, const trace_event *e)
{
    return metric_kernel_work(v, e) == METRIC_WORK_COMM
               ? METRIC_WORK_COMM
               : metric_work_by_words(v->rank->names.text[metric_kernel_name(v->rank, e)]);
}

static metric_work kind_compat(const metric_view *v, const trace_event *e)
{
    static const metric_name_class kinds[] = {
        {METRIC_WORK_GEMM, "gemm|gemv|matmul|mm_|_mm|cutlass|cublas"},
        {METRIC_WORK_ATTENTION, "flash*attn|attention|softmax|sdpa"},
        {METRIC_WORK_ELEMENTWISE, "elementwise|ewise|add_|mul_|div_|relu|gelu|silu|sigmoid"},
        {METRIC_WORK_REDUCTION, "reduce|sum|mean|norm"},
        {METRIC_WORK_MEMORY, "copy|memcpy|memset|transpose|permute|contiguous"},
        {METRIC_WORK_COMM, "nccl|allgather|allreduce|reducescatter|broadcast"},
        {METRIC_WORK_EMBEDDING, "embedding|lookup|gather|scatter|index"}};

    const char *name = v->rank->names.text[metric_kernel_name(v->rank, e)];

    return (metric_work)METRIC_CLASS_OF_NAME(kinds, name, METRIC_WORK_OTHER);
}

/* At most 80 characters (not bytes), then "...". */
static const char *cut(const char *name, dse_arena *a)
{
    size_t bytes = 0, characters = 0;

    for (; name[bytes]; bytes++)
        if (((unsigned char)name[bytes] & 0xc0) != 0x80 && characters++ == 80)
            break;
    return bytes <= (size_t)80 * 4 && name[bytes] ? dse_arena_printf(a, "%.*s...", (int)bytes, name) : name;
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

static void put_top(const metric_context *x, tally_rows *k, metric_value *list)
{
    tally_sort(k, NULL);
    for (size_t i = 0; i < k->n && i < TOP; i++) {
        const tally_row *row = &k->row[i];
        metric_value *to = metric_put_object(list, NULL);

        metric_put_text(to, "name", x->options->compat ? cut(row->name, x->arena) : row->name);
        metric_put_count(to, "count", row->n);
        metric_put_number(to, "total_time_ms", ms_of(x, row->ps));
        metric_put_number(to, "avg_time_us", guide_us(row->ps) / (double)row->n);
        put_share(x, to, row->ps, k->ps);
        metric_put_text(to, "type", metric_work_name[row->work]);
    }
}

/* The originals list the longest kernels of each rank, too, equal ones in the order of the file. */
static bool measure(const metric_context *x, const guide_rank *r, dse_arena *scratch)
{
    const bool compat = x->options->compat;
    metric_events list = r->view->kernels;
    rank_kernels *k = r->own;
    tally sums = {.arena = x->arena};
    metric_value *types;

    if (compat) {
        list = metric_pick_of(r->rank, &list, &literal, scratch).list;
        qsort(list.event, list.n, sizeof *list.event, dse_by_u32);
    }
    tally_add_kernels(&sums, r->view, &list, compat ? kind_compat : kind_of_section);
    k->names = tally_end(&sums);
    tally_sum_works(&k->names, k->kind);
    metric_put_number(r->out, compat ? "total_kernel_time_ms" : "total_kernel_time_ms_sum",
                      ms_of(x, k->names.ps));
    if (!compat)
        metric_put_integer(r->out, "launches", list.n);
    metric_put_count(r->out, compat ? "num_unique_kernels" : "unique_names", k->names.n);
    if (compat) {
        metric_put_integer(r->out, "total_kernel_launches", list.n);
        put_top(x, &k->names, metric_put_list(r->out, "top_kernels"));
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
        put_share(x, type, s->sum_ps, k->names.ps);
    }
    return true;
}

/* ---- the definition ------------------------------------------------------------------------ */

/* Adds a rank's sums to those over all ranks. */
static void add_names(const tally_rows *k, tally *all)
{
    for (size_t i = 0; i < k->n; i++) {
        tally_row *row = tally_at(all, k->row[i].name, k->row[i].name, "");

        row->work = row->n ? row->work : k->row[i].work;
        row->n += k->row[i].n;
        row->ps += k->row[i].ps;
    }
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
    tally sums = {.arena = x->arena};
    tally_rows all;
    guide_ranks ranks = guide_measure(x, out, measure, sizeof(rank_kernels));

    for (uint32_t i = 0; i < ranks.n; i++)
        add_names(&((const rank_kernels *)ranks.rank[i].own)->names, &sums);
    all = tally_end(&sums);
    metric_put_number(out, "avg_kernel_time_ms", (double)all.ps / TRACE_PS_PER_MS / ranks.n);
    metric_put_number(out, "avg_unique_kernels", guide_mean(&ranks, "unique_names"));
    metric_put_number(out, "avg_kernel_launches", guide_mean(&ranks, "launches"));
    put_kinds(&ranks, all.ps, metric_put_object(out, "type_breakdown"));
    put_top(x, &all, metric_put_list(out, "top_kernels"));
    guide_put_ranks(&ranks, NULL, out);
}

/* ---- as the original ----------------------------------------------------------------------- */

static const guide_figure compat_figures[] = {{"count", "avg_count", GUIDE_MEAN, 1, NULL},
                                              {"total_time_ms", "avg_time_ms", GUIDE_MEAN, 2, NULL},
                                              {"percentage", "avg_percentage", GUIDE_MEAN, 2, NULL}};

static void kernel_compat(const metric_context *x, metric_value *out)
{
    const char *kinds[METRIC_WORKS];
    guide_ranks ranks = guide_measure(x, out, measure, sizeof(rank_kernels));

    for (int i = 0; i < METRIC_WORKS; i++)
        kinds[i] = metric_work_name[by_alphabet[i]];
    guide_put_round(out, "avg_kernel_time_ms", guide_mean(&ranks, "total_kernel_time_ms"));
    metric_put_number(out, "avg_unique_kernels", metric_round(guide_mean(&ranks, "num_unique_kernels"), 0));
    metric_put_number(out, "avg_kernel_launches",
                      metric_round(guide_mean(&ranks, "total_kernel_launches"), 0));
    guide_put_classes(&ranks, "type_breakdown", kinds, METRIC_WORKS, compat_figures,
                      DSE_COUNT(compat_figures), metric_put_object(out, "type_breakdown"));
    put_top(x, &((rank_kernels *)ranks.rank[0].own)->names, metric_put_list(out, "top_kernels"));
    guide_put_ranks(&ranks, "per_rank_stats", out);
}

static const metric rows[] = {
    {METRIC_ROW("kernel", "guide", "", METRIC_ON_GPU, METRIC_NEEDS_GPU,
                "kernels by kind of work, and the ten that take most time over all ranks: counts, sums of "
                "time, shares"),
     .alias = "break_down_steps", .put = kernel, .compat_put = kernel_compat, .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(kernels);
