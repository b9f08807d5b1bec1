/* Which value of a reference is which metric's. */
#include "metrics/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run that is checked, and the recordings of its files: several parts of a reference are of the same
 * ones. */
typedef struct {
    const char *where, *traces, *card;
    const json_t *reference;
    tally *sum;
    size_t n, cap;
    subject **opened;
} run;

static const tolerance exact = {.relative = 1e-9};

/* The originals compute in doubles of microseconds since 1970, and round some of what they print. */
static tolerance compatible(const subject *s)
{
    return (tolerance){
        .relative = 1e-6, .per_event_us = 0.25, .n_events = subject_events(s), .rounded = true};
}

/* What a metric gave against one value, whichever of the two it is: an object, or the headline of one. */
static void check_value(const run *r, const subject *s, const char *block, const char *name, bool compat,
                        const char *part, const json_t *want, json_t *got)
{
    tolerance t = compat ? compatible(s) : exact;
    json_t *in = got;
    char path[256];

    snprintf(path, sizeof path, "%s: %s: %s%s%s", r->where, block, name, *part ? "." : "", part);
    for (const char *key = part; *key && in; key = strchr(key, '/') ? strchr(key, '/') + 1 : "") {
        char one[128];

        snprintf(one, sizeof one, "%.*s", (int)strcspn(key, "/"), key);
        in = json_object_get(in, one);
    }
    if (in == got && json_is_object(got) && !json_is_object(want) && json_object_get(got, "headline"))
        in = json_object_get(got, "headline");
    compare(path, want, in, &t, r->sum);
}

/* By definition. */
/* The reference's words of matrix products do not have Tensile's Cijk_*, and count these among the others; they
 * are ours alone where it has no product at all. Puts them back there, so that counts and times are compared. */
static void move_unknown_products(const json_t *want, json_t *rank)
{
    json_t *kinds = json_object_get(rank, "by_type"), *gemm = json_object_get(kinds, "gemm"),
           *other = json_object_get(kinds, "other");

    if (!json_is_object(want) || json_object_get(json_object_get(want, "by_type"), "gemm") || !gemm || !other)
        return;
    json_object_set_new(other, "count",
                        json_integer(json_integer_value(json_object_get(other, "count")) +
                                     json_integer_value(json_object_get(gemm, "count"))));
    json_object_set_new(other, "time_ms_sum",
                        json_real(json_number_value(json_object_get(other, "time_ms_sum")) +
                                  json_number_value(json_object_get(gemm, "time_ms_sum"))));
}

static void check(const run *r, subject *s, const char *name, const char *part, const json_t *want)
{
    json_t *got = subject_metric(s, name, false), *ranks = json_object_get(got, "per_rank"), *rank;
    const char *key;

    if (strcmp(name, "kernel") == 0)
        json_object_foreach(ranks, key, rank) move_unknown_products(want, rank);
    check_value(r, s, "definition", name, false, part, want, got);
    json_decref(got);
}

static subject_files files_of(const run *r, const char *format, const char *only)
{
    return (subject_files){.traces = r->traces,
                           .files = json_object_get(r->reference, "source_files"),
                           .format = format,
                           .only = only,
                           .card = r->card};
}

/* NULL: it cannot be read; said. The run keeps it. */
static subject *open_files(run *r, const subject_files *f)
{
    subject *s;

    for (size_t i = 0; i < r->n; i++)
        if (subject_is_of(r->opened[i], f))
            return r->opened[i];
    DSE_GROW(r->opened, r->cap, r->n + 1);
    s = r->opened[r->n++] = dse_calloc(1, sizeof *s);
    if (subject_open(s, f))
        return s;
    s->of.files = NULL; /* of no files: it is not found again */
    printf("%s: it cannot be read\n", r->where);
    r->sum->n_different++;
    return NULL;
}

static subject *open_as(run *r, const char *format, const char *only)
{
    subject_files f = files_of(r, format, only);

    return open_files(r, &f);
}

static void close_files(run *r)
{
    for (size_t i = 0; i < r->n; i++) {
        subject_close(r->opened[i]);
        dse_free(r->opened[i]);
    }
    dse_free(r->opened);
}

/* ---- the original tools -------------------------------------------------------------------- */

static void check_tools(const run *r, subject *s, const char *block, const char *group, const json_t *values)
{
    char name[96];
    const char *key;
    json_t *want;

    json_object_foreach((json_t *)values, key, want)
    {
        json_t *got;

        if (json_is_string(want)) /* a note */
            continue;
        snprintf(name, sizeof name, "%s.%s", group, key);
        got = subject_metric(s, name, true);
        if (!got) { /* some of the later tools are planned ones of the first group */
            snprintf(name, sizeof name, "%s", key);
            got = subject_metric(s, name, true);
        }
        check_value(r, s, block, name, true, "", want, got);
        json_decref(got);
    }
}

static void check_kineto_group(run *r)
{
    const json_t *group = json_object_get(r->reference, "kineto_group"),
                 *all = json_object_get(group, "all_ranks"), *values;
    const char *rank;
    subject *s;

    if (all && (s = open_as(r, "kineto_trace_%s.json", NULL)))
        check_tools(r, s, "kineto_group.all_ranks", "kineto", all);
    json_object_foreach(json_object_get(group, "per_rank"), rank, values)
    {
        if ((s = open_as(r, "kineto_trace_%s.json", rank)))
            check_tools(r, s, "kineto_group.per_rank", "kineto", values);
    }
}

static void check_guide_group(run *r)
{
    const json_t *group = json_object_get(r->reference, "guide_group");
    bool snapshots = json_object_get(group, "memory") && json_object_size(group) == 1;
    subject *s;

    if (group && (s = open_as(r, snapshots ? "rank%s_memory_snapshot.pickle" : "rank%s_trace.json", NULL)))
        check_tools(r, s, "guide_group", "guide", group);
}

static void check_tpu_group(run *r)
{
    const json_t *group = json_object_get(r->reference, "tpu_group"), *values;
    const char *rank;
    subject *s;

    json_object_foreach(json_object_get(group, "per_file"), rank, values)
    {
        if (!(s = open_as(r, NULL, rank)))
            continue;
        s->options.n_chips = json_integer_value(json_object_get(group, "n_chips"));
        s->options.model_params = json_number_value(json_object_get(group, "model_params"));
        check_tools(r, s, "tpu_group", "tpu", values);
        s->options = subject_options;
    }
}

/* "phase inference, tpu_v6e (assumed), total_count 2, traces json_tpu": the references' later_tools_card. */
static const char card_of_tpu[] = "version: 1\n"
                                  "workload:\n"
                                  "  model: {phase: inference, precision: bf16}\n"
                                  "  hardware: {xpu_spec: {type: TPU, model: tpu_v6e, total_count: 2}}\n"
                                  "metric_source: {traces: [json_tpu]}\n";

static void check_later_tools(run *r)
{
    const json_t *group = json_object_get(r->reference, "later_tools");
    bool kineto = json_object_get(r->reference, "hta") != NULL;
    subject_files f = files_of(r, kineto ? "kineto_trace_%s.json" : NULL, NULL);
    subject *s;

    if (json_object_get(r->reference, "later_tools_card"))
        f.card_text = card_of_tpu;
    if (group && (s = open_files(r, &f)))
        check_tools(r, s, "later_tools", "later", group);
}

/* ---- the definitions ----------------------------------------------------------------------- */

/* The reference's blocks of a rank, and the metric that says the same of it. */
static const struct {
    const char *block, *metric;
} of_rank[] = {{"iter_time", "iter_time"},
               {"coll_call_num", "coll_call_num"},
               {"comm_comp_overlap", "comm_comp_overlap"},
               {"gpu_utilization", "gpu_utilization"},
               {"pipeline_bubble_if_sendrecv_is_waiting", "pipeline_bubble"},
               {"communication", "communication"},
               {"kernel_breakdown", "kernel"}};

static const struct {
    const char *value, *metric, *part;
} of_run[] = {
    {"straggler_lag", "straggler_lag", ""},
    {"load_imbalance_ratio_kernel_busy", "load_imbalance_ratio", ""},
    {"comm_comp_overlap_mean_ratio_of_comm", "comm_comp_overlap", "overlap_ratio_of_comm"},
    {"metrics/wall_time_s", "wall_time_s", ""},
    {"host_wall_time_s", "wall_time_s", "host_wall_time_s"},
    {"metrics/total_compute_time_s", "total_compute_time_s", ""},
    {"metrics/total_comm_time_s", "total_comm_time_s", ""},
    {"metrics/compute_utilization_proxy", "compute_utilization_proxy", ""},
    {"metrics/communication_fraction", "communication_fraction", ""},
    {"metrics/num_comm_kernels", "num_comm_kernels", ""},
    {"metrics/num_comm_kernels_w_size_and_time_all_devices", "num_comm_kernels_w_size_and_time", ""},
    {"metrics/total_model_flops_all_devices", "total_model_flops_from_args", ""},
    {"metrics/achieved_flops_per_device", "achieved_flops_from_trace_json", "achieved_flops_per_device"},
    {"metrics/avg_comm_bandwidth_GBps_bus", "avg_comm_bandwidth_GBps", ""},
    {"metrics/allreduce_comm_time_s_mean_per_device", "allreduce_comm_time_s", ""},
    {"metrics/avg_comm_kernel_time_s", "avg_comm_kernel_time_s", ""},
    {"metrics/hockney/alpha_s", "hockney_alpha_s", ""},
    {"metrics/hockney/beta_s_per_byte", "hockney_beta_s_per_byte", ""},
    {"metrics/hockney/inverse_beta_Bps", "hockney_inverse_beta_Bps", ""},
    {"metrics/hockney/r2", "hockney_alpha_s", "r2"},
    {"metrics/hockney/samples", "hockney_alpha_s", "samples"},
    {"metrics/hockney/distinct_sizes", "hockney_alpha_s", "distinct_sizes"},
    {"memory", "memory", "per_rank"},
    {"memcpy_bandwidth_GBps", "average_memory_bandwidth", ""},
    {"kernel_span_s", "total_trace_time", ""}};

/* A rank of an Nsight Systems export. */
static const struct {
    const char *value, *metric, *part;
} of_device[] = {{"num_comm_kernels", "comm_comp_overlap", "num_comm_kernels"},
                 {"comm_time_ms", "comm_comp_overlap", "comm_time_ms"},
                 {"comp_time_ms", "comm_comp_overlap", "comp_time_ms"},
                 {"overlap_time_ms", "comm_comp_overlap", "overlap_time_ms"},
                 {"overlap_ratio_of_comm", "comm_comp_overlap", "overlap_ratio_of_comm"},
                 {"gpu_span_ms", "gpu_utilization", "gpu_span_ms"},
                 {"busy_ms", "gpu_utilization", "busy_time_ms"},
                 {"utilization_of_gpu_span_pct", "gpu_utilization", "utilization_of_gpu_span_pct"},
                 {"num_kernels", "kernel", "launches"},
                 {"sum_kernel_ms", "kernel", "total_kernel_time_ms_sum"}};

static const json_t *at(const json_t *in, const char *path)
{
    while (in && *path) {
        char key[128];
        size_t n = strcspn(path, "/");

        snprintf(key, sizeof key, "%.*s", (int)n, path);
        in = json_object_get(in, key);
        path += path[n] ? n + 1 : n;
    }
    return in;
}

/* Without a step the reference has nulls where the metric is refused. */
static bool has_no_steps(const json_t *values)
{
    const json_t *n = json_object_get(values, "num_iterations");

    return json_is_integer(n) && !json_integer_value(n);
}

static void check_ranks(const run *r, subject *s, const json_t *definition)
{
    const json_t *values, *want;
    const char *rank;
    char part[128];

    json_object_foreach(json_object_get(definition, "per_rank"), rank, values)
    {
        snprintf(part, sizeof part, "per_rank/%s", rank);
        for (size_t i = 0; i < sizeof of_rank / sizeof of_rank[0]; i++)
            if ((want = json_object_get(values, of_rank[i].block)) && !has_no_steps(want))
                check(r, s, of_rank[i].metric, part, want);
    }
    json_object_foreach(json_object_get(definition, "per_device"), rank, values)
    {
        for (size_t i = 0; i < sizeof of_device / sizeof of_device[0]; i++) {
            snprintf(part, sizeof part, "per_rank/%s/%s", rank, of_device[i].part);
            if ((want = json_object_get(values, of_device[i].value)))
                check(r, s, of_device[i].metric, part, want);
        }
    }
}

static void check_definition(run *r)
{
    const json_t *d = json_object_get(r->reference, "definition"), *want;
    subject *s;

    if (!d || !(s = open_as(r, NULL, NULL)))
        return;
    s->options.force = true;
    check_ranks(r, s, d);
    for (size_t i = 0; i < sizeof of_run / sizeof of_run[0]; i++)
        if ((want = at(d, of_run[i].value)))
            check(r, s, of_run[i].metric, of_run[i].part, want);
    s->options = subject_options;
}

/* ---- the independent reference ------------------------------------------------------------- */

/* HolisticTraceAnalysis, where it defines the same quantity: on files for which it keeps every GPU event. It
 * rounds every interval to whole microseconds unless told not to. */
static void check_hta(run *r)
{
    const json_t *agrees = json_object_get(r->reference, "hta_vs_definition"),
                 *hta = json_object_get(r->reference, "hta");
    const json_t *mode = json_object_get(hta, "no_ns_rounding") ? json_object_get(hta, "no_ns_rounding")
                                                                : json_object_get(hta, "default");
    const json_t *rows = at(mode, "include_last_profiler_step/temporal_breakdown"), *row;
    tolerance t = {.relative = 1e-6, .per_event_us = 0.25};
    size_t i;
    subject *s;
    json_t *got;

    if (!rows || !(s = open_as(r, NULL, NULL)))
        return;
    t.n_events = subject_events(s);
    got = subject_metric(s, "gpu_utilization", false);
    json_array_foreach((json_t *)rows, i, row)
    {
        char path[128], rank[16];
        json_t *want;

        snprintf(rank, sizeof rank, "%d", (int)json_integer_value(json_object_get(row, "rank")));
        if (!json_is_true(at(json_object_get(agrees, rank), "agrees")))
            continue;
        snprintf(path, sizeof path, "%s: hta: rank %s", r->where, rank);
        want = json_pack("{s:f,s:f,s:f}", "idle_time_ms",
                         json_number_value(json_object_get(row, "idle_time(us)")) / 1e3, "gpu_span_ms",
                         json_number_value(json_object_get(row, "kernel_time(us)")) / 1e3, "compute_busy_ms",
                         json_number_value(json_object_get(row, "compute_time(us)")) / 1e3);
        compare(path, want, at(json_object_get(got, "per_rank"), rank), &t, r->sum);
        json_decref(want);
    }
    json_decref(got);
}

void check_run(const char *where, const char *traces, const char *card, const json_t *reference, tally *sum)
{
    run r = {.where = where, .traces = traces, .card = card, .reference = reference, .sum = sum};

    check_definition(&r);
    check_hta(&r);
    check_kineto_group(&r);
    check_guide_group(&r);
    check_tpu_group(&r);
    check_later_tools(&r);
    close_files(&r);
}
