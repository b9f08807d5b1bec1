/* Communication: how long, how often, how much, how fast, by collective.
 *
 * Counted from one layer of the trace (view.h), so that a call counts once. Bandwidths are sums of bytes over
 * sums of time, of the kernels whose size is given: algorithm bandwidth is the whole buffer over time, bus
 * bandwidth what crosses each link of a ring (comm_size.h). The original adds up what the host spends on
 * enqueueing, nested operators twice. */
#include "metrics/comm_size.h"
#include "metrics/guide.h"
#include "metrics/metric.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* One collective of one rank, or of several. */
typedef struct {
    uint32_t n, n_sized, n_in, n_bus; /* all; with a buffer size, an input size, a size and a factor */
    int64_t sum_ps, union_ps, sized_ps, bus_ps;
    uint64_t in_bytes;
    double bytes, bus_bytes; /* of the n_sized, the n_bus */
} type_sum;

typedef struct {
    type_sum type[METRIC_COMM_TYPES], all;
    double time_ms, percentage, calls, calls_per_step;
    double prefetch_pct; /* of all-gather time, covered by compute; NaN without */
} rank_comm;

static void count(const trace_rank *r, const trace_event *e, metric_comm_type type, type_sum *s)
{
    metric_comm_size size = metric_comm_size_of(r, e, type);
    double factor = metric_bus_factor(type, size.group_size);

    s->n++;
    s->sum_ps += e->dur_ps;
    if (size.state != METRIC_SIZE_KNOWN)
        return;
    s->n_sized++;
    s->sized_ps += e->dur_ps;
    s->bytes += (double)size.bytes;
    if (size.in_bytes != TRACE_UNKNOWN) {
        s->n_in++;
        s->in_bytes += size.in_bytes;
    }
    if (!isnan(factor)) {
        s->n_bus++;
        s->bus_ps += e->dur_ps;
        s->bus_bytes += factor * (double)size.bytes;
    }
}

static void add(type_sum *to, const type_sum *s)
{
    to->n += s->n;
    to->n_sized += s->n_sized;
    to->n_in += s->n_in;
    to->n_bus += s->n_bus;
    to->sum_ps += s->sum_ps;
    to->union_ps += s->union_ps;
    to->sized_ps += s->sized_ps;
    to->bus_ps += s->bus_ps;
    to->in_bytes += s->in_bytes;
    to->bytes += s->bytes;
    to->bus_bytes += s->bus_bytes;
}

/* ---- the definition ------------------------------------------------------------------------ */

static void measure(const metric_view *v, dse_arena *scratch, rank_comm *out)
{
    int64_t span = v->gpu_span.end > v->gpu_span.start ? v->gpu_span.end - v->gpu_span.start : 0;
    int64_t ps[METRIC_COMM_TYPES];
    metric_spans gathers;

    *out = (rank_comm){.prefetch_pct = NAN, .percentage = NAN, .calls_per_step = NAN};
    for (uint32_t i = 0; i < v->comm.n; i++)
        count(v->rank, &v->rank->event[v->comm.event[i]], v->comm_type[i], &out->type[v->comm_type[i]]);
    metric_class_lengths(v->rank, &v->comm, v->comm_type, METRIC_COMM_TYPES, ps);
    for (int t = 0; t < METRIC_COMM_TYPES; t++) {
        out->type[t].union_ps = ps[t];
        add(&out->all, &out->type[t]);
    }
    gathers = metric_union_of_class(v->rank, &v->comm, v->comm_type, METRIC_ALL_GATHER, scratch);
    if (ps[METRIC_ALL_GATHER])
        out->prefetch_pct =
            100 * (double)metric_spans_overlap(&gathers, &v->compute_time) / (double)ps[METRIC_ALL_GATHER];
    out->all.union_ps = metric_spans_length(&v->comm_time);
    out->time_ms = guide_us(out->all.union_ps) / 1000;
    out->calls = v->comm.n;
    if (span)
        out->percentage = 100 * (double)out->all.union_ps / (double)span;
    if (v->n_steps)
        out->calls_per_step = (double)v->comm.n / v->n_steps;
}

typedef enum { COUNT, UNION, SUM, IN_BYTES, BYTES, ALGORITHM_BANDWIDTH, BUS_BANDWIDTH } figure;

/* Puts one figure of a collective, if it is known. Bytes per picosecond are 1000 GB/s. */
static void put_figure(metric_value *to, const char *name, const type_sum *s, figure which)
{
    if (which == COUNT)
        metric_put_integer(to, name, s->n);
    else if (which == UNION || which == SUM)
        metric_put_ms(to, name, which == UNION ? s->union_ps : s->sum_ps);
    else if (which == IN_BYTES && s->n_in)
        metric_put_count(to, name, s->in_bytes);
    else if (which == BYTES && s->n_sized)
        metric_put_number(to, name, s->bytes);
    else if (which == ALGORITHM_BANDWIDTH && s->n_sized && s->sized_ps > 0)
        metric_put_number(to, name, 1000 * s->bytes / (double)s->sized_ps);
    else if (which == BUS_BANDWIDTH && s->n_bus && s->bus_ps > 0)
        metric_put_number(to, name, 1000 * s->bus_bytes / (double)s->bus_ps);
}

static void put_types(metric_value *to, const char *key, const type_sum *type, figure which)
{
    metric_value *types = metric_put_object(to, key);

    for (int t = 0; t < METRIC_COMM_TYPES; t++)
        if (type[t].n)
            put_figure(types, metric_comm_type_name((metric_comm_type)t), &type[t], which);
}

/* These need sizes; the reason is the same for all of them. */
static void put_sized(metric_value *to, const type_sum *type, const type_sum *all)
{
    static const struct {
        const char *key;
        figure which;
    } entries[] = {{"input_bytes_by_type", IN_BYTES},
                   {"bytes_by_type", BYTES},
                   {"algorithm_bandwidth_GBps_by_type", ALGORITHM_BANDWIDTH},
                   {"bus_bandwidth_GBps_by_type", BUS_BANDWIDTH}};
    const char *why = all->n ? "no kernel says its size (In msg nelems, dtype), as NCCL kernels do that "
                               "PyTorch 2.2 or newer recorded"
                             : "no communication";

    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (all->n_sized)
            put_types(to, entries[i].key, type, entries[i].which);
        else
            metric_put_absent(to, entries[i].key, why);
    if (all->n_sized && all->sized_ps > 0)
        put_figure(to, "efficiency_GBps", all, ALGORITHM_BANDWIDTH);
    else
        metric_put_absent(to, "efficiency_GBps", why);
    metric_put_integer(to, "kernels_with_size", all->n_sized);
}

static const char no_gpu[] = "no kernels or copies", no_steps[] = GUIDE_NO_STEPS,
                  no_gather[] = "no all-gather";

static void put_rank(const metric_view *v, const rank_comm *c, metric_value *to)
{
    metric_put_text(to, "layer", metric_layer_name(v->comm_layer));
    metric_put_ms(to, "union_ms_all", c->all.union_ps);
    metric_put_ms(to, "sum_ms_all", c->all.sum_ps);
    metric_put_number_or(to, "percentage_of_gpu_span", c->percentage, no_gpu);
    metric_put_number_or(to, "calls_per_step", c->calls_per_step, no_steps);
    metric_put_number_or(to, "prefetch_efficiency_pct", c->prefetch_pct, no_gather);
    put_types(to, "count_by_type", c->type, COUNT);
    put_types(to, "time_union_ms_by_type", c->type, UNION);
    put_types(to, "time_sum_ms_by_type", c->type, SUM);
    put_sized(to, c->type, &c->all);
}

static void put_operations(const rank_comm *c, uint32_t n, type_sum *all, metric_value *to)
{
    for (int t = 0; t < METRIC_COMM_TYPES; t++) {
        int64_t least = INT64_MAX, most = 0;
        metric_value *type;

        for (uint32_t i = 0; i < n; i++) {
            int64_t ps = c[i].type[t].union_ps;

            add(&all[t], &c[i].type[t]);
            least = ps < least ? ps : least;
            most = ps > most ? ps : most;
        }
        if (!all[t].n)
            continue;
        type = metric_put_object(to, metric_comm_type_name((metric_comm_type)t));
        metric_put_integer(type, "total_count", all[t].n);
        metric_put_ms(type, "total_time_ms", all[t].union_ps);
        metric_put_number(type, "avg_time_per_rank_ms", guide_us(all[t].union_ps) / 1000 / n);
        metric_put_ms(type, "min_rank_time_ms", least);
        metric_put_ms(type, "max_rank_time_ms", most);
    }
}

static void measure_all(const guide_ranks *ranks, rank_comm *c)
{
    dse_arena scratch;

    dse_arena_init(&scratch);
    for (uint32_t i = 0; i < ranks->n; i++) {
        dse_arena_reset(&scratch);
        measure(ranks->rank[i].view, &scratch, &c[i]);
    }
    dse_arena_free(&scratch);
}

static void communication(const metric_context *x, metric_value *out)
{
    type_sum type[METRIC_COMM_TYPES] = {{0}}, all = {0};
    metric_value *per_rank;
    guide_ranks ranks = guide_ranks_of(x);
    rank_comm *c = DSE_ARENA_NEW(x->arena, rank_comm, ranks.n);

    measure_all(&ranks, c);
    metric_put_number(out, "total_communication_time_ms", GUIDE_MEAN(c, ranks.n, time_ms));
    metric_put_number(out, "total_communication_count", GUIDE_MEAN(c, ranks.n, calls));
    GUIDE_PUT_MEAN(out, "communication_percentage", c, ranks.n, percentage, no_gpu);
    GUIDE_PUT_MEAN(out, "calls_per_step", c, ranks.n, calls_per_step, no_steps);
    GUIDE_PUT_MEAN(out, "prefetch_efficiency_pct", c, ranks.n, prefetch_pct, no_gather);
    put_operations(c, ranks.n, type, metric_put_object(out, "per_operation_stats"));
    for (int t = 0; t < METRIC_COMM_TYPES; t++)
        add(&all, &type[t]);
    put_sized(out, type, &all);
    metric_put_integer(out, "num_ranks", ranks.n);
    per_rank = metric_put_object(out, "per_rank");
    for (uint32_t i = 0; i < ranks.n; i++)
        put_rank(ranks.rank[i].view, &c[i], metric_put_rank(per_rank, ranks.rank[i].rank));
}

/* ---- as the original ----------------------------------------------------------------------- */

/* Its words of operators and annotations, in the order of its tests; the first four are looked for in kernels
 * too. */
static const struct {
    const char *name, *with, *without; /* an underscore */
} words[] = {{"all_gather", "all_gather", "allgather"},
             {"all_reduce", "all_reduce", "allreduce"},
             {"reduce_scatter", "reduce_scatter", "reducescatter"},
             {"broadcast", "broadcast", "broadcast"},
             {"barrier", "barrier", "barrier"},
             {"send", "send", "send"},
             {"recv", "recv", "recv"}};

#define N_WORDS  (sizeof words / sizeof words[0])
#define N_KERNEL 4
#define N_CLASS  (N_WORDS + N_KERNEL) /* the kernels' come behind */
#define NO_CLASS 100

static uint8_t class_of_host(const char *name)
{
    for (uint8_t i = 0; i < N_WORDS; i++)
        if (metric_has(name, words[i].with) || metric_has(name, words[i].without))
            return i;
    return NO_CLASS;
}

/* ncclKernel... or ncclDevKernel..., and the collective behind it */
static uint8_t class_of_kernel(const char *name)
{
    for (; *name; name++)
        if (strncasecmp(name, "ncclkernel", 10) == 0 || strncasecmp(name, "nccldevkernel", 13) == 0)
            break;
    for (uint8_t i = 0; *name && i < N_KERNEL; i++)
        if (metric_has(name, words[i].without))
            return (uint8_t)(N_WORDS + i);
    return NO_CLASS;
}

typedef struct {
    int64_t n, sum_ps, least_ps, most_ps;
} class_sum;

typedef struct {
    class_sum of[N_CLASS];
    double time_us, time_ms, calls, recording_us, percentage;
} compat_row;

static void add_compat(class_sum *s, int64_t dur_ps)
{
    s->least_ps = !s->n || dur_ps < s->least_ps ? dur_ps : s->least_ps;
    s->most_ps = !s->n || dur_ps > s->most_ps ? dur_ps : s->most_ps;
    s->sum_ps += dur_ps;
    s->n++;
}

static void measure_compat(const trace_rank *r, dse_arena *scratch, compat_row *out)
{
    const metric_words host = METRIC_WORDS(r, "user_annotation", "cpu_op"),
                       kernel = METRIC_WORDS(r, "kernel");
    metric_classes of_host, of_kernel;

    *out = (compat_row){.recording_us = guide_recording_us(r)};
    of_host = metric_classes_of(r, class_of_host, scratch);
    of_kernel = metric_classes_of(r, class_of_kernel, scratch);
    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];
        uint8_t class = NO_CLASS;

        if (e->instant)
            continue;
        if (host.is[e->word])
            class = metric_class_of(&of_host, e);
        else if (kernel.is[e->word])
            class = metric_class_of(&of_kernel, e);
        if (class != NO_CLASS)
            add_compat(&out->of[class], e->dur_ps);
    }
    for (size_t i = 0; i < N_WORDS; i++) {
        out->time_us += guide_us(out->of[i].sum_ps);
        out->calls += (double)out->of[i].n;
    }
    out->time_ms = out->time_us / 1000;
    out->percentage = out->recording_us > 0 ? out->time_us / out->recording_us * 100 : 0;
}

static metric_value *put_class(metric_value *to, size_t class)
{
    char key[40];

    snprintf(key, sizeof key, "%s%s", words[class < N_WORDS ? class : class - N_WORDS].name,
             class < N_WORDS ? "" : "_kernel");
    return metric_put_object(to, key);
}

static void put_rank_compat(const compat_row *c, const char *label, metric_value *to)
{
    metric_value *operations = metric_put_object(to, "operation_stats");

    for (size_t i = 0; i < N_CLASS; i++) {
        const class_sum *s = &c->of[i];
        double us = guide_us(s->sum_ps);
        metric_value *o;

        if (!s->n)
            continue;
        o = put_class(operations, i);
        metric_put_integer(o, "count", s->n);
        metric_put_number(o, "total_time_us", us);
        metric_put_number(o, "total_time_ms", us / 1000);
        metric_put_number(o, "avg_time_us", us / (double)s->n);
        metric_put_us(o, "min_time_us", s->least_ps);
        metric_put_us(o, "max_time_us", s->most_ps);
    }
    metric_put_number(to, "total_communication_time_us", c->time_us);
    metric_put_number(to, "total_communication_time_ms", c->time_ms);
    metric_put_integer(to, "total_communication_count", (int64_t)c->calls);
    metric_put_number(to, "total_trace_time_us", c->recording_us);
    metric_put_number(to, "communication_percentage", c->percentage);
    metric_put_text(to, "rank", label);
}

/* Least and most are over the ranks that have the operation, the mean over all. */
static void put_operations_compat(const compat_row *c, uint32_t n, metric_value *to)
{
    for (size_t i = 0; i < N_CLASS; i++) {
        class_sum all = {0}, ranks = {0};
        metric_value *o;

        for (uint32_t r = 0; r < n; r++)
            if (c[r].of[i].n) {
                all.n += c[r].of[i].n;
                all.sum_ps += c[r].of[i].sum_ps;
                add_compat(&ranks, c[r].of[i].sum_ps);
            }
        if (!all.n)
            continue;
        o = put_class(to, i);
        metric_put_integer(o, "total_count", all.n);
        metric_put_number(o, "total_time_ms", guide_us(all.sum_ps) / 1000);
        metric_put_number(o, "avg_time_per_rank_ms", guide_us(all.sum_ps) / n / 1000);
        metric_put_number(o, "min_rank_time_ms", guide_us(ranks.least_ps) / 1000);
        metric_put_number(o, "max_rank_time_ms", guide_us(ranks.most_ps) / 1000);
    }
}

static void communication_compat(const metric_context *x, metric_value *out)
{
    compat_row *c;
    metric_value *list;
    dse_arena scratch;
    guide_ranks ranks = guide_ranks_compat(x);

    dse_arena_init(&scratch);
    c = DSE_ARENA_NEW(x->arena, compat_row, ranks.n);
    for (uint32_t i = 0; i < ranks.n; i++) {
        dse_arena_reset(&scratch);
        measure_compat(ranks.rank[i].rank, &scratch, &c[i]);
    }
    dse_arena_free(&scratch);
    metric_put_number(out, "total_communication_time_ms", GUIDE_MEAN(c, ranks.n, time_ms));
    metric_put_integer(out, "total_communication_count", (int64_t)GUIDE_MEAN(c, ranks.n, calls));
    guide_put_round(out, "communication_percentage", GUIDE_MEAN(c, ranks.n, percentage));
    put_operations_compat(c, ranks.n, metric_put_object(out, "per_operation_stats"));
    list = metric_put_list(out, "per_rank_stats");
    for (uint32_t i = 0; i < ranks.n; i++)
        put_rank_compat(&c[i], ranks.rank[i].label, metric_put_object(list, NULL));
    metric_put_integer(out, "num_ranks", ranks.n);
}

static const metric rows[] = {
    {METRIC_ROW("communication", "guide", "", METRIC_ON_GPU, METRIC_NEEDS_GPU,
                "communication by collective: calls, time, bytes, algorithm and bus bandwidth, share of the "
                "GPU's time"),
     .put = communication, METRIC_ENTRY("bytes_by_type", "bytes", METRIC_NEITHER, METRIC_COUNT_TOLERANCE),
     .compat_put = communication_compat, .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(communication);
