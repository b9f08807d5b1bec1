/* The cost of FSDP as CCL-Bench's tool works it out: plain sums of its ranges on the host, nested ones again,
 * of the whole recording. Without FSDP everything is 0. */
#include "metrics/fsdp.h"
#include "metrics/guide.h"

typedef struct {
    metric_sums class[FSDP_CLASSES];
    int64_t sum_ps;
    fsdp_layers layers;
} compat_row;

static void put_classes(const compat_row *row, metric_value *to)
{
    for (int i = 0; i < FSDP_CLASSES; i++) {
        const metric_sums *s = &row->class[i];
        metric_value *o;

        if (!s->n)
            continue;
        o = metric_put_object(to, fsdp_class_name[i]);
        metric_put_integer(o, "count", s->n);
        metric_put_number(o, "total_time_ms", guide_us(s->sum_ps) / 1000);
        metric_put_number(o, "avg_time_us", guide_us(s->sum_ps) / (double)s->n);
        metric_put_us(o, "min_time_us", s->least_ps);
        metric_put_us(o, "max_time_us", s->most_ps);
        guide_put_round(o, "percentage_of_fsdp", guide_percent(guide_us(s->sum_ps), guide_us(row->sum_ps)));
    }
}

static void put_rank(const compat_row *row, const guide_rank *r, dse_arena *a)
{
    const metric_sums *c = row->class;
    const uint32_t *id = fsdp_layers_sorted(&row->layers, a);
    const double recording_us = guide_recording_us(r->rank), fsdp_us = guide_us(row->sum_ps);
    metric_value *to = r->out, *layers;

    metric_put_number(r->aside, "fsdp_time_ms", fsdp_us / 1000);
    metric_put_number(to, "total_fsdp_time_ms", fsdp_us / 1000);
    metric_put_number(to, "total_trace_time_ms", recording_us / 1000);
    guide_put_round(to, "fsdp_overhead_percentage", guide_percent(fsdp_us, recording_us));
    metric_put_number(to, "communication_time_ms",
                      guide_us(c[FSDP_ALL_GATHER].sum_ps + c[FSDP_REDUCE_SCATTER].sum_ps) / 1000);
    metric_put_number(to, "copy_overhead_ms",
                      guide_us(c[FSDP_COPY_IN].sum_ps + c[FSDP_COPY_OUT].sum_ps) / 1000);
    put_classes(row, metric_put_object(to, "operation_breakdown"));
    layers = metric_put_object(to, "layer_breakdown");
    for (uint32_t i = 0; i < row->layers.names.n; i++) {
        const struct fsdp_layer *l = &row->layers.layer[id[i]];
        metric_value *o = metric_put_object(layers, row->layers.names.text[id[i]]);

        metric_put_integer(o, "count", l->n);
        metric_put_number(o, "total_time_ms", guide_us(l->time_ps) / 1000);
    }
    metric_put_integer(to, "num_layers", row->layers.names.n);
}

static bool measure(const metric_context *x, const guide_rank *of, dse_arena *scratch)
{
    metric_picked p = metric_pick_of(of->rank, NULL, &fsdp_ranges_compat, scratch);
    compat_row row = {.layers.rank = of->rank};

    (void)x;
    metric_picked_sum(&p, row.class);
    for (uint32_t i = 0; i < p.list.n; i++) {
        const trace_event *e = metric_picked_at(&p, i);

        row.sum_ps += e->dur_ps;
        fsdp_layers_add(&row.layers, e->name, e->dur_ps);
    }
    put_rank(&row, of, scratch);
    fsdp_layers_free(&row.layers);
    return true;
}

/* Classes in the order of the alphabet. */
static void put_operations(const guide_ranks *ranks, metric_value *to)
{
    static const fsdp_class by_alphabet[FSDP_CLASSES] = {
        FSDP_ACCUMULATE,  FSDP_ALL_GATHER,    FSDP_COPY_IN,        FSDP_COPY_OUT,
        FSDP_OTHER,       FSDP_POST_BACKWARD, FSDP_POST_FORWARD,   FSDP_PRE_BACKWARD,
        FSDP_PRE_FORWARD, FSDP_PREFETCH,      FSDP_REDUCE_SCATTER, FSDP_RESHARD};

    for (int i = 0; i < FSDP_CLASSES; i++) {
        const char *name = fsdp_class_name[by_alphabet[i]];
        const guide_fold count = guide_fold_of(ranks, "operation_breakdown", name, "count"),
                         ms = guide_fold_of(ranks, "operation_breakdown", name, "total_time_ms");
        metric_value *o;

        if (!(count.mean > 0))
            continue;
        o = metric_put_object(to, name);
        metric_put_number(o, "avg_count", metric_round(count.mean, 1));
        guide_put_round(o, "avg_time_ms", ms.mean);
        guide_put_round(o, "min_time_ms", ms.least);
        guide_put_round(o, "max_time_ms", ms.most);
    }
}

void fsdp_put_means(const guide_ranks *ranks, metric_value *out)
{
    guide_put_mean(ranks, "fsdp_overhead_percentage", NULL, out);
    guide_put_mean(ranks, "fsdp_time_ms", NULL, out);
    guide_put_mean(ranks, "communication_time_ms", NULL, out);
    guide_put_mean(ranks, "copy_overhead_ms", NULL, out);
}

void fsdp_compat(const metric_context *x, metric_value *out)
{
    guide_ranks ranks = guide_measure(x, out, measure, 0);

    fsdp_put_means(&ranks, out);
    put_operations(&ranks, metric_put_object(out, "operation_breakdown"));
    guide_put_ranks(&ranks, "per_rank_stats", out);
}
