/* The kernels in which a run spends its time: by kind of work, and the ten that take most (metric kernel); of
 * a simulated run by class and shape (workload/kernel.h), since only such traces name the classes of their
 * kernels; and what a report of Nsight Systems says, which has totals per kernel name.
 *
 * Times are plain sums: kernels of different streams that run side by side both count. The original tests for
 * reductions before communication, so that ncclDevKernel_AllReduce_Sum_* is a reduction there; kinds.h has
 * the order of the definition. */
#include "base/array.h"
#include "base/order.h"
#include "metrics/guide.h"
#include "metrics/later_words.h"
#include "metrics/metric.h"
#include "metrics/order.h"
#include "metrics/tally.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TOP        10
#define TOP_SHAPES 5 /* of a class */

/* Kinds in the order of their names, as reports list them. */
static const metric_work by_alphabet[METRIC_WORKS] = {
    METRIC_WORK_ATTENTION, METRIC_WORK_ELEMENTWISE, METRIC_WORK_EMBEDDING, METRIC_WORK_GEMM,
    METRIC_WORK_MEMORY,    METRIC_WORK_COMM,        METRIC_WORK_OTHER,     METRIC_WORK_REDUCTION};

/* ---- sums ---------------------------------------------------------------------------------- */

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

/* The unit in which times are counted: the originals take microseconds, reports nanoseconds. */
static bool is_report(const metric_context *x) { return x->record->rank[0].kind == TRACE_NSYS_CSV; }

static bool as_original(const metric_context *x) { return x->options->compat && !is_report(x); }

static double counted(const metric_context *x, int64_t ps)
{
    const int64_t whole_ns = ps / TRACE_PS_PER_NS;

    return is_report(x) ? (double)whole_ns : as_original(x) ? guide_us(ps) : (double)ps;
}

static double per_us(const metric_context *x)
{
    return is_report(x) ? 1e3 : as_original(x) ? 1 : TRACE_PS_PER_US;
}

static double ms_of(const metric_context *x, double time) { return time / (1e3 * per_us(x)); }

static void put_percentage(const metric_context *x, metric_value *to, double part, int64_t whole)
{
    if (as_original(x))
        guide_put_round(to, "percentage", guide_percent(part, counted(x, whole)));
    else
        guide_put_percent(to, "percentage", part, counted(x, whole), "no time");
}

/* The rows, sorted, that take most time. */
static void put_top(const metric_context *x, const tally_rows *k, metric_value *list)
{
    for (size_t i = 0; i < k->n && i < TOP; i++) {
        const tally_row *row = &k->row[i];
        const double time = counted(x, row->ps);
        metric_value *to = metric_put_object(list, NULL);

        metric_put_text(to, "name", as_original(x) ? cut(row->name, x->arena) : row->name);
        metric_put_count(to, "count", row->n);
        metric_put_number(to, "total_time_ms", ms_of(x, time));
        metric_put_ratio(to, "avg_time_us", time / per_us(x), (double)row->n, "no launch");
        put_percentage(x, to, time, k->ps);
        metric_put_text(to, "type", metric_work_name[row->work]);
    }
}

/* Sums by kind of work. */
static void put_types(const metric_context *x, const tally_rows *k, metric_value *types)
{
    metric_sums kind[METRIC_WORKS] = {{0}};

    tally_sum_works(k, kind);
    for (int i = 0; i < METRIC_WORKS; i++) {
        const int work = is_report(x) ? i : (int)by_alphabet[i];
        const double time = counted(x, kind[work].sum_ps);
        metric_value *type;

        if (!kind[work].n)
            continue;
        type = metric_put_object(types, metric_work_name[work]);
        metric_put_integer(type, "count", kind[work].n);
        metric_put_number(type, as_original(x) ? "total_time_ms" : "time_ms_sum", ms_of(x, time));
        put_percentage(x, type, time, k->ps);
    }
}

/* Of a rank or a report. */
static void put_sums(const metric_context *x, const tally_rows *k, metric_value *to)
{
    metric_put_number(to, "total_kernel_time_ms_sum", ms_of(x, counted(x, k->ps)));
    metric_put_count(to, "launches", k->count);
    metric_put_count(to, "unique_names", k->n);
    put_types(x, k, metric_put_object(to, "by_type"));
}

/* ---- kernel -------------------------------------------------------------------------------- */

/* Of a rank its kernels by name. */
static bool measure(const metric_context *x, const guide_rank *r, dse_arena *scratch)
{
    tally sums = {.arena = x->arena};

    (void)scratch;
    tally_add_kernels(&sums, r->view, &r->view->kernels, kind_of_section);
    *(tally_rows *)r->own = tally_end(&sums);
    put_sums(x, r->own, r->out);
    return true;
}

/* Mean counts and times over all ranks, those without the kind too; the percentage is of all ranks' time. */
static void put_kinds(const tally_rows *all, uint32_t n, metric_value *to)
{
    metric_sums kind[METRIC_WORKS] = {{0}};

    tally_sum_works(all, kind);
    for (int i = 0; i < METRIC_WORKS; i++) {
        const metric_sums *s = &kind[by_alphabet[i]];
        metric_value *type;

        if (!s->n)
            continue;
        type = metric_put_object(to, metric_work_name[by_alphabet[i]]);
        metric_put_number(type, "avg_count", (double)s->n / n);
        metric_put_number(type, "avg_time_ms", (double)s->sum_ps / TRACE_PS_PER_MS / n);
        guide_put_percent(type, "avg_percentage", (double)s->sum_ps, (double)all->ps, "no time");
    }
}

static void kernel(const metric_context *x, metric_value *out)
{
    tally sums = {.arena = x->arena};
    tally_rows all;
    guide_ranks ranks = guide_measure(x, out, measure, sizeof(tally_rows));

    for (uint32_t i = 0; i < ranks.n; i++)
        tally_add_rows(&sums, ranks.rank[i].own);
    all = tally_end(&sums);
    metric_put_number(out, "avg_kernel_time_ms", (double)all.ps / TRACE_PS_PER_MS / ranks.n);
    metric_put_number(out, "avg_unique_kernels", guide_mean(&ranks, "unique_names"));
    metric_put_number(out, "avg_kernel_launches", guide_mean(&ranks, "launches"));
    put_kinds(&all, ranks.n, metric_put_object(out, "type_breakdown"));
    tally_sort(&all, NULL);
    put_top(x, &all, metric_put_list(out, "top_kernels"));
    guide_put_ranks(&ranks, NULL, out);
}

/* ---- kernel, as the original --------------------------------------------------------------- */

/* The originals list the longest kernels of each rank, too, equal ones in the order of the file. */
static bool measure_compat(const metric_context *x, const guide_rank *r, dse_arena *scratch)
{
    metric_events list = metric_pick_of(r->rank, &r->view->kernels, &literal, scratch).list;
    tally sums = {.arena = x->arena};
    tally_rows *k = r->own;

    qsort(list.event, list.n, sizeof *list.event, dse_by_u32);
    tally_add_kernels(&sums, r->view, &list, kind_compat);
    *k = tally_end(&sums);
    tally_sort(k, NULL);
    metric_put_number(r->out, "total_kernel_time_ms", ms_of(x, counted(x, k->ps)));
    metric_put_count(r->out, "num_unique_kernels", k->n);
    metric_put_integer(r->out, "total_kernel_launches", list.n);
    put_top(x, k, metric_put_list(r->out, "top_kernels"));
    put_types(x, k, metric_put_object(r->out, "type_breakdown"));
    return true;
}

static const guide_figure compat_figures[] = {{"count", "avg_count", GUIDE_MEAN, 1, NULL},
                                              {"total_time_ms", "avg_time_ms", GUIDE_MEAN, 2, NULL},
                                              {"percentage", "avg_percentage", GUIDE_MEAN, 2, NULL}};

static void kernel_compat(const metric_context *x, metric_value *out)
{
    const char *kinds[METRIC_WORKS];
    guide_ranks ranks = guide_measure(x, out, measure_compat, sizeof(tally_rows));

    for (int i = 0; i < METRIC_WORKS; i++)
        kinds[i] = metric_work_name[by_alphabet[i]];
    guide_put_round(out, "avg_kernel_time_ms", guide_mean(&ranks, "total_kernel_time_ms"));
    metric_put_number(out, "avg_unique_kernels", metric_round(guide_mean(&ranks, "num_unique_kernels"), 0));
    metric_put_number(out, "avg_kernel_launches",
                      metric_round(guide_mean(&ranks, "total_kernel_launches"), 0));
    guide_put_classes(&ranks, "type_breakdown", kinds, METRIC_WORKS, compat_figures,
                      DSE_COUNT(compat_figures), metric_put_object(out, "type_breakdown"));
    put_top(x, ranks.rank[0].own, metric_put_list(out, "top_kernels"));
    guide_put_ranks(&ranks, "per_rank_stats", out);
}

/* ---- kernel_class_time --------------------------------------------------------------------- */

/* Sums by class and shape, and the arguments that each has its shape from. */
typedef struct {
    tally sums;
    size_t cap;
    const trace_args **shape;
} shape_sums;

static void add_rank(const trace_rank *r, shape_sums *s)
{
    /* Events that say the same share their args, so that shapes are looked up once for each args. */
    metric_sums *of = dse_calloc(r->n_args, sizeof *of);
    dse_arena *a = s->sums.arena;

    for (size_t i = 0; i < r->n_events; i++)
        if (r->event[i].args != DSE_NONE)
            metric_sums_add(&of[r->event[i].args], r->event[i].dur_ps);
    for (uint32_t i = 0; i < r->n_args; i++) {
        const trace_args *x = &r->args[i];
        const char *class = TRACE_NAME(r, x->kernel_class);
        tally_row *row;

        if (!class || !of[i].n)
            continue;
        row = tally_at(&s->sums,
                       dse_arena_printf(a, "%s|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64, class, x->m,
                                        x->n, x->k, x->batch),
                       class, "");
        DSE_ARENA_GROW(a, s->shape, s->cap, (size_t)row->first + 1);
        s->shape[row->first] = x;
        tally_merge(row, (uint64_t)of[i].n, of[i].sum_ps);
    }
    dse_free(of);
}

/* Classes by name; within one, the shape that takes most time first, equal ones by first occurrence. */
static int by_class_and_time(const void *a, const void *b)
{
    const tally_row *x = a, *y = b;
    int c = strcmp(x->name, y->name);

    return c ? c : METRIC_ORDER({y->ps, x->ps}, {x->first, y->first});
}

static void put_count_and_time(uint64_t n, int64_t ps, metric_value *to)
{
    metric_put_count(to, "count", n);
    metric_put_ms(to, "time_ms_sum", ps);
}

static void put_shape(const tally_row *row, const trace_args *x, metric_value *to)
{
    metric_put_count(to, "m", x->m);
    metric_put_count(to, "n", x->n);
    metric_put_count(to, "k", x->k);
    metric_put_count(to, "batch", x->batch);
    put_count_and_time(row->n, row->ps, to);
}

/* The rows [0, n) are the shapes of one class. */
static void put_class(const tally_row *row, size_t n, const trace_args *const *shape, int64_t all_ps,
                      metric_value *to)
{
    metric_value *list;
    uint64_t count = 0;
    int64_t ps = 0;

    for (size_t i = 0; i < n; i++) {
        count += row[i].n;
        ps += row[i].ps;
    }
    put_count_and_time(count, ps, to);
    guide_put_percent(to, "percentage", (double)ps, (double)all_ps, "no time");
    metric_put_count(to, "shapes", n);
    list = metric_put_list(to, "top_shapes");
    for (size_t i = 0; i < n && i < TOP_SHAPES; i++)
        put_shape(&row[i], shape[row[i].first], metric_put_object(list, NULL));
}

static dse_status kernel_class_time(const metric_context *x, metric_value *out, dse_error *err)
{
    shape_sums s = {.sums = {.arena = x->arena}};
    metric_value *classes;
    tally_rows all;

    for (uint32_t i = 0; i < x->n_views; i++)
        add_rank(x->view[i].rank, &s);
    all = tally_end(&s.sums);
    if (!all.n)
        return metric_absent(err, "no kernel says its class: only simulated runs of generated workloads have "
                                  "classes");
    tally_sort(&all, by_class_and_time);
    put_count_and_time(all.count, all.ps, out);
    classes = metric_put_object(out, "by_class");
    for (size_t first = 0, end; first < all.n; first = end) {
        const char *class = all.row[first].name;

        for (end = first; end < all.n && !strcmp(all.row[end].name, class); end++)
            ;
        put_class(&all.row[first], end - first, s.shape, all.ps, metric_put_object(classes, class));
    }
    metric_put_integer(out, "num_ranks", x->n_views);
    return DSE_OK;
}

/* ---- of reports ---------------------------------------------------------------------------- */

/* Shares of time and numbers of calls. There are no intervals, so no overlap, idle time or steps; and
 * communication is recognised and typed by kernel names alone, so that an all-to-all is a SendRecv. Several
 * reports are taken together. */
static int by_time_and_name(const void *a, const void *b)
{
    const tally_row *x = a, *y = b;

    return x->ps != y->ps ? (x->ps < y->ps ? 1 : -1) : strcmp(x->name, y->name);
}

/* The kernels of all reports, one a name, longest time first. */
static dse_status gather(const metric_context *x, tally_rows *out, dse_error *err)
{
    tally t = {.arena = x->arena};

    for (uint32_t i = 0; i < x->record->n_ranks; i++)
        tally_add_totals(&t, &x->record->rank[i]);
    *out = tally_end(&t);
    if (out->ps <= 0)
        return metric_absent(err, "the report has no kernel that took any time");
    tally_sort(out, by_time_and_name);
    return DSE_OK;
}

/* What a row puts of the totals. */
typedef struct {
    void (*put)(const metric_context *x, const tally_rows *t, metric_value *out);
    bool (*takes_part)(const tally_row *k); /* in a share */
} totals_rule;

static dse_status of_totals(const metric_context *x, metric_value *out, dse_error *err)
{
    tally_rows t;
    dse_status st = gather(x, &t, err);

    if (st == DSE_OK)
        ((const totals_rule *)x->row->rule)->put(x, &t, out);
    return st;
}

static void put_calls(const metric_context *x, const tally_rows *t, metric_value *out)
{
    uint64_t calls[METRIC_COMM_TYPES] = {0}, all = 0;

    for (size_t i = 0; i < t->n; i++)
        if (t->row[i].work == METRIC_WORK_COMM) {
            calls[metric_comm_type_of_kernel(t->row[i].name)] += t->row[i].n;
            all += t->row[i].n;
        }
    metric_put_count(out, "total_calls", all);
    metric_put_types(out, "calls_by_type", calls);
    metric_put_absent(out, "calls_per_iteration", "a report of totals has no steps");
    metric_put_integer(out, "num_traces", x->record->n_ranks);
}

static void put_kernels(const metric_context *x, const tally_rows *t, metric_value *out)
{
    put_sums(x, t, out);
    put_top(x, t, metric_put_list(out, "top_kernels"));
}

static void put_time(const metric_context *x, const tally_rows *t, metric_value *out)
{
    metric_put_number(out, x->row->name, counted(x, t->ps) / 1e9);
}

static bool communicates(const tally_row *k) { return k->work == METRIC_WORK_COMM; }

static bool is_of_experts(const tally_row *k) { return metric_says(k->name, LATER_MOE); }

/* The percentage of all time that kernels of a class take. */
static void put_share(const metric_context *x, const tally_rows *t, metric_value *out)
{
    const totals_rule *rule = x->row->rule;
    double ns = 0;

    for (size_t i = 0; i < t->n; i++)
        ns += rule->takes_part(&t->row[i]) ? counted(x, t->row[i].ps) : 0;
    metric_put_number(out, x->row->name, 100 * ns / counted(x, t->ps));
    metric_put_number(out, "time_s", ns / 1e9);
    metric_put_number(out, "total_kernel_time_s", counted(x, t->ps) / 1e9);
}

static void put_dominant(const metric_context *x, const tally_rows *t, metric_value *out)
{
    metric_put_number(out, x->row->name, 100 * counted(x, t->row[0].ps) / counted(x, t->ps));
    metric_put_text(out, "kernel", t->row[0].name);
}

#define ROW(id, group, unit, text, ...)                                                                      \
    METRIC_ROW(id, group, unit, METRIC_ON(TRACE_NSYS_CSV), 0, text), .compute = of_totals,                   \
                                                                     METRIC_RULE(totals_rule, __VA_ARGS__)

static const metric rows[] = {
    {METRIC_ROW("kernel", "guide", "", METRIC_ON_GPU, METRIC_NEEDS_GPU,
                "kernels by kind of work, and the ten that take most time over all ranks: counts, sums of "
                "time, shares"),
     .alias = "break_down_steps", .put = kernel, .compat_put = kernel_compat, .compat_kinds = METRIC_ON_HOST},
    {METRIC_ROW("kernel_class_time", "kineto", "", METRIC_ON(TRACE_SIMULATED), 0,
                "compute kernels of a simulated run by class (matmul, attention, ...): count, time and share "
                "over all ranks, and the shapes that take most time"),
     .compute = kernel_class_time},
    {ROW("coll_call_num", "kineto", "",
         "number of collective calls, of a report: instances of communication kernels, by type",
         .put = put_calls)},
    {ROW("kernel", "guide", "", "time of kernels, of a report: by kind of work, and the ten that take most",
         .put = put_kernels)},
    {ROW("communication_ratio", "later", "%",
         "share of communication kernels in the time of all, of a report", .put = put_share,
         .takes_part = communicates),
     .headline = "communication_ratio"},
    {ROW("dominant_kernel_concentration", "later", "%",
         "share of the kernel that takes most in the time of all, of a report", .put = put_dominant),
     .headline = "dominant_kernel_concentration"},
    {ROW("moe_fraction", "later", "%", "share of kernels of experts in the time of all, of a report",
         .put = put_share, .takes_part = is_of_experts),
     .headline = "moe_fraction"},
    {ROW("total_kernel_time", "later", "s", "time of all kernels, of a report", .put = put_time),
     .headline = "total_kernel_time"},
};

METRIC_FAMILY(kernels);
