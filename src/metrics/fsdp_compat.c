/* The cost of FSDP as CCL-Bench's tool works it out: plain sums of its ranges on the host, nested ones again,
 * of the whole recording. Without FSDP everything is 0. */
#include "metrics/fsdp.h"
#include "metrics/guide.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    double n, ms; /* for means over ranks */
    int64_t sum_ps, least_ps, most_ps;
} class_sum;

typedef struct {
    class_sum class[FSDP_CLASSES];
    int64_t sum_ps;
    double fsdp_ms, recording_us, share, comm_ms, copy_ms; /* share rounded */
    fsdp_layers layers;
} compat_row;

static void add(const trace_event *e, fsdp_class class, compat_row *row)
{
    class_sum *s = &row->class[class];

    s->least_ps = !(s->n > 0) || e->dur_ps < s->least_ps ? e->dur_ps : s->least_ps;
    s->most_ps = !(s->n > 0) || e->dur_ps > s->most_ps ? e->dur_ps : s->most_ps;
    s->n++;
    s->sum_ps += e->dur_ps;
    row->sum_ps += e->dur_ps;
    fsdp_layers_add(&row->layers, e->name, e->dur_ps);
}

static void measure(const trace_rank *r, dse_arena *scratch, compat_row *row)
{
    const metric_words host = METRIC_WORDS(r, "user_annotation", "cpu_op");
    const class_sum *c = row->class;
    metric_classes classes;

    row->layers.rank = r;
    classes = metric_classes_of(r, fsdp_class_of, scratch);
    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];
        uint8_t class;

        if (e->instant || !host.is[e->word] || e->name == DSE_NONE)
            continue;
        class = metric_class_of(&classes, e);
        if (class != FSDP_CLASSES)
            add(e, (fsdp_class) class, row);
    }
    row->recording_us = guide_recording_us(r);
    row->fsdp_ms = guide_us(row->sum_ps) / 1000;
    row->share = metric_round(guide_percent(guide_us(row->sum_ps), row->recording_us), 2);
    row->comm_ms = guide_us(c[FSDP_ALL_GATHER].sum_ps + c[FSDP_REDUCE_SCATTER].sum_ps) / 1000;
    row->copy_ms = guide_us(c[FSDP_COPY_IN].sum_ps + c[FSDP_COPY_OUT].sum_ps) / 1000;
    for (int i = 0; i < FSDP_CLASSES; i++)
        row->class[i].ms = guide_us(row->class[i].sum_ps) / 1000;
}

static void put_classes(const compat_row *row, metric_value *to)
{
    for (int i = 0; i < FSDP_CLASSES; i++) {
        const class_sum *s = &row->class[i];
        metric_value *o;

        if (!(s->n > 0))
            continue;
        o = metric_put_object(to, fsdp_class_name((fsdp_class)i));
        metric_put_integer(o, "count", (int64_t)s->n);
        metric_put_number(o, "total_time_ms", s->ms);
        metric_put_number(o, "avg_time_us", guide_us(s->sum_ps) / s->n);
        metric_put_us(o, "min_time_us", s->least_ps);
        metric_put_us(o, "max_time_us", s->most_ps);
        guide_put_round(o, "percentage_of_fsdp", guide_percent(guide_us(s->sum_ps), guide_us(row->sum_ps)));
    }
}

static void put_rank(const compat_row *row, const char *label, dse_arena *a, metric_value *to)
{
    const uint32_t *id = fsdp_layers_sorted(&row->layers, a);
    metric_value *layers;

    metric_put_number(to, "total_fsdp_time_ms", row->fsdp_ms);
    metric_put_number(to, "total_trace_time_ms", row->recording_us / 1000);
    metric_put_number(to, "fsdp_overhead_percentage", row->share);
    metric_put_number(to, "communication_time_ms", row->comm_ms);
    metric_put_number(to, "copy_overhead_ms", row->copy_ms);
    put_classes(row, metric_put_object(to, "operation_breakdown"));
    layers = metric_put_object(to, "layer_breakdown");
    for (uint32_t i = 0; i < row->layers.names.n; i++) {
        const struct fsdp_layer *l = &row->layers.layer[id[i]];
        metric_value *o = metric_put_object(layers, row->layers.names.text[id[i]]);

        metric_put_integer(o, "count", l->n);
        metric_put_number(o, "total_time_ms", guide_us(l->time_ps) / 1000);
    }
    metric_put_integer(to, "num_layers", row->layers.names.n);
    metric_put_text(to, "rank", label);
}

/* Classes in the order of the alphabet, ranks without one as 0. */
static void put_operations(const compat_row *row, uint32_t n, metric_value *to)
{
    static const fsdp_class by_alphabet[FSDP_CLASSES] = {
        FSDP_ACCUMULATE,  FSDP_ALL_GATHER,    FSDP_COPY_IN,        FSDP_COPY_OUT,
        FSDP_OTHER,       FSDP_POST_BACKWARD, FSDP_POST_FORWARD,   FSDP_PRE_BACKWARD,
        FSDP_PRE_FORWARD, FSDP_PREFETCH,      FSDP_REDUCE_SCATTER, FSDP_RESHARD};

    for (int i = 0; i < FSDP_CLASSES; i++) {
        fsdp_class c = by_alphabet[i];
        double least = row[0].class[c].ms, most = least,
               count = guide_mean(&row[0].class[c].n, n, sizeof *row);
        metric_value *o;

        if (!(count > 0))
            continue;
        for (uint32_t r = 1; r < n; r++) {
            least = row[r].class[c].ms < least ? row[r].class[c].ms : least;
            most = row[r].class[c].ms > most ? row[r].class[c].ms : most;
        }
        o = metric_put_object(to, fsdp_class_name(c));
        metric_put_number(o, "avg_count", metric_round(count, 1));
        guide_put_round(o, "avg_time_ms", guide_mean(&row[0].class[c].ms, n, sizeof *row));
        guide_put_round(o, "min_time_ms", least);
        guide_put_round(o, "max_time_ms", most);
    }
}

static void put_all(const guide_ranks *ranks, const compat_row *row, dse_arena *a, metric_value *out)
{
    metric_value *list;

    guide_put_round(out, "avg_fsdp_overhead_percentage", GUIDE_MEAN(row, ranks->n, share));
    guide_put_round(out, "avg_fsdp_time_ms", GUIDE_MEAN(row, ranks->n, fsdp_ms));
    guide_put_round(out, "avg_communication_time_ms", GUIDE_MEAN(row, ranks->n, comm_ms));
    guide_put_round(out, "avg_copy_overhead_ms", GUIDE_MEAN(row, ranks->n, copy_ms));
    put_operations(row, ranks->n, metric_put_object(out, "operation_breakdown"));
    list = metric_put_list(out, "per_rank_stats");
    for (uint32_t i = 0; i < ranks->n; i++)
        put_rank(&row[i], ranks->rank[i].label, a, metric_put_object(list, NULL));
    metric_put_integer(out, "num_ranks", ranks->n);
}

void fsdp_compat(const metric_context *x, metric_value *out)
{
    dse_arena scratch;
    guide_ranks ranks = guide_ranks_compat(x);
    compat_row *row = DSE_ARENA_NEW(x->arena, compat_row, ranks.n);

    dse_arena_init(&scratch);
    for (uint32_t i = 0; i < ranks.n; i++) {
        dse_arena_reset(&scratch);
        measure(ranks.rank[i].rank, &scratch, &row[i]);
    }
    put_all(&ranks, row, &scratch, out);
    for (uint32_t i = 0; i < ranks.n; i++)
        fsdp_layers_free(&row[i].layers);
    dse_arena_free(&scratch);
}
