/* Execution traces: operators without times, so what can be counted, and nothing that takes a clock.
 *
 * A collective is a record_param_comms node that names one; waiting for it is not. Volumes are the bytes that
 * a rank puts into its collectives (as CCL-Bench's collective_vol_* of Kineto traces), whatever an algorithm
 * makes of them. */
#include "metrics/metric.h"
#include "metrics/numbers.h"
#include "trace/record.h"

typedef struct {
    uint32_t group; /* a name; DSE_NONE: the trace does not say */
    uint64_t calls, bytes;
} et_group;

typedef struct {
    uint64_t calls[METRIC_COMM_TYPES], bytes[METRIC_COMM_TYPES];
    uint64_t n_calls, n_bytes, n_unknown; /* calls whose sizes the trace does not say */
    size_t n_groups;
    et_group *group;
} et_counts;

/* Words of record_param_comms that move nothing. */
#define IDLE_WORDS                                                                                           \
    "=^$|=^wait$|=^init$|=^end$|=^abort$|=^startcoalescing$|=^endcoalescing$|=^start_coalescing$|"           \
    "=^end_coalescing$"

/* at[] is by name, the last of those that have none: the group's place and 1 more, 0 for none yet. */
static void add_to_group(et_counts *c, uint32_t *at, uint32_t name, uint64_t bytes)
{
    if (!*at) {
        c->group[c->n_groups++] = (et_group){.group = name};
        *at = (uint32_t)c->n_groups;
    }
    c->group[*at - 1].calls++;
    c->group[*at - 1].bytes += bytes;
}

static void count(const trace_rank *r, dse_arena *arena, et_counts *c)
{
    uint32_t *at = DSE_ARENA_NEW(arena, uint32_t, (size_t)r->names.n + 1);

    *c = (et_counts){.group = DSE_ARENA_NEW(arena, et_group, (size_t)r->n_args + 1)};
    for (size_t i = 0; i < r->n_events; i++) {
        const trace_args *a = r->event[i].args == DSE_NONE ? NULL : &r->args[r->event[i].args];
        const char *word = a ? TRACE_NAME(r, a->collective) : NULL;
        metric_comm_type type;
        uint64_t bytes;

        if (!word || metric_says(word, IDLE_WORDS))
            continue;
        type = metric_comm_type_of_word(word);
        bytes = a->bytes == TRACE_UNKNOWN ? 0 : a->bytes;
        c->calls[type]++;
        c->bytes[type] += bytes;
        c->n_calls++;
        c->n_bytes += bytes;
        c->n_unknown += a->bytes == TRACE_UNKNOWN;
        add_to_group(c, &at[a->group_name == DSE_NONE ? r->names.n : a->group_name], a->group_name, bytes);
    }
}

static et_counts *count_all(const metric_context *x)
{
    et_counts *c = DSE_ARENA_NEW(x->arena, et_counts, (size_t)x->n_views + 1);

    for (uint32_t i = 0; i < x->n_views; i++)
        count(x->view[i].rank, x->arena, &c[i]);
    return c;
}

/* ---- coll_call_num -------------------------------------------------------------------------- */

static const char no_steps[] = "an execution trace has no step markers";

static void coll_call_num(const metric_context *x, metric_value *out)
{
    uint64_t total = 0, by_type[METRIC_COMM_TYPES] = {0};
    metric_value *per_rank;
    et_counts *c = count_all(x);

    for (uint32_t i = 0; i < x->n_views; i++) {
        total += c[i].n_calls;
        for (int t = 0; t < METRIC_COMM_TYPES; t++)
            by_type[t] += c[i].calls[t];
    }
    metric_put_count(out, "total_calls", total);
    metric_put_types(out, "calls_by_type", by_type);
    metric_put_absent(out, "calls_per_iteration", no_steps);
    metric_put_integer(out, "num_traces", x->n_views);
    per_rank = metric_put_object(out, "per_rank");
    for (uint32_t i = 0; i < x->n_views; i++) {
        metric_value *v = metric_put_rank(per_rank, x->view[i].rank);

        metric_put_count(v, "total_calls", c[i].n_calls);
        metric_put_types(v, "calls_by_type", c[i].calls);
        metric_put_absent(v, "calls_per_iteration", no_steps);
    }
}

/* ---- volumes -------------------------------------------------------------------------------- */

#define GB 1e9

static double volume_of(const et_counts *c, metric_comm_type type)
{
    return (double)(type == METRIC_COMM_TYPES ? c->n_bytes : c->bytes[type]) / GB;
}

static void put_groups(metric_value *to, const trace_rank *r, const et_counts *c)
{
    metric_value *groups = metric_put_object(to, "by_group");

    for (size_t i = 0; i < c->n_groups; i++) {
        const char *name = TRACE_NAME(r, c->group[i].group);
        metric_value *g = metric_put_object(groups, name ? name : "unknown");

        metric_put_count(g, "calls", c->group[i].calls);
        metric_put_number(g, "gb", (double)c->group[i].bytes / GB);
    }
}

/* The row's rule is the type; METRIC_COMM_TYPES: all. The bare value is the lowest rank's, as upstream takes
 * the first file. */
static void volume(const metric_context *x, metric_value *out)
{
    metric_comm_type type = *(const metric_comm_type *)x->row->rule;
    const char *key = x->row->name;
    metric_value *per_rank;
    et_counts *c = count_all(x);
    double sum = 0;

    for (uint32_t i = 0; i < x->n_views; i++)
        sum += volume_of(&c[i], type);
    metric_put_number(out, key, volume_of(&c[0], type));
    metric_put_number(out, "sum_over_ranks_gb", sum);
    per_rank = metric_put_object(out, "per_rank");
    for (uint32_t i = 0; i < x->n_views; i++) {
        metric_value *v = metric_put_rank(per_rank, x->view[i].rank);

        metric_put_number(v, key, volume_of(&c[i], type));
        if (c[i].n_unknown)
            metric_put_count(v, "calls_without_size", c[i].n_unknown);
        if (type == METRIC_COMM_TYPES)
            put_groups(v, x->view[i].rank, &c[i]);
    }
}

#define VOLUME(id, type, words)                                                                              \
    METRIC_ROW(id, "et", "GB", METRIC_ON(TRACE_ET), 0,                                                       \
               "bytes that the lowest rank puts into " words ", from its execution trace"),                  \
        .put = volume, .headline = (id), METRIC_RULE(metric_comm_type, type)

static const metric rows[] = {
    {METRIC_ROW("coll_call_num", "et", "", METRIC_ON(TRACE_ET), 0,
                "number of collectives, per rank and type, from execution traces"),
     .put = coll_call_num},
    {VOLUME("collective_vol_allreduce_gb", METRIC_ALL_REDUCE, "all-reduces")},
    {VOLUME("collective_vol_allgather_gb", METRIC_ALL_GATHER, "all-gathers")},
    {VOLUME("collective_vol_reducescatter_gb", METRIC_REDUCE_SCATTER, "reduce-scatters")},
    {VOLUME("collective_vol_alltoall_gb", METRIC_ALL_TO_ALL, "all-to-alls")},
    {VOLUME("collective_vol_total_gb", METRIC_COMM_TYPES, "all collectives, per group, too")},
};

METRIC_FAMILY(et);
