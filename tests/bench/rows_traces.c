/* Metrics of a trace, from the file to the last figure. */
#include "bench/bench.h"

#include "bench/kineto_trace.h"
#include "driver/recording.h"
#include "metrics/registry.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANKS 2 /* what compares ranks is measured, too */

typedef struct {
    const char *folder, *file[RANKS];
    unsigned n;
    const char *card;
    kineto_facts facts; /* of all files */
} trace_run;

static const char card_text[] =
    "version: 1\n"
    "workload:\n"
    "  model:\n"
    "    phase: training\n"
    "    moe: false\n"
    "    precision: bf16\n"
    "    model_arch: {num_params: 8.0e9, num_params_embedding: 5.0e8, num_layers: 32,\n"
    "      num_heads: 32, head_dim: 128}\n"
    "  data: {batch_size: 64, seq_len: 4096}\n"
    "  hardware:\n"
    "    xpu_spec: {type: GPU, model: nvidia_h100, total_count: 8, count_per_node: 8}\n"
    "Model-executor:\n"
    "  model_plan_parallelization: {dp_replicate: 2, dp_shard: 1, tp: 2, pp: 2, cp: 1}\n";

enum { R_READ_S, R_ALL_S, R_EVENTS, R_KERNELS, R_KERNEL_NS, R_METRICS, R_ABSENT, R_MB };

/* Of the pages that this process has had so far, the most at a time: 10^6 bytes. */
static double peak_mb(void)
{
    char line[256];
    double kib = 0;
    FILE *f = fopen("/proc/self/status", "r");

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lf", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib * 1.024e-3;
}

static bool compute_all(const drv_recording *rec, dse_arena *arena, double *result)
{
    const metric_options options = {.model_params = 7e9, .force = true};
    const metric_context x = {.record = &rec->record,
                              .view = rec->view,
                              .n_views = rec->n_views,
                              .card = rec->has_card ? &rec->card : NULL,
                              .options = &options,
                              .arena = arena};
    const metric *const *all;
    size_t n;

    if (!(all = metric_all(arena, &n)))
        return false;
    for (size_t i = 0; i < n; i++) {
        dse_error err = DSE_ERROR_INIT;
        metric_value *v;
        dse_status st = DSE_E_ABSENT;

        if (all[i]->kinds & METRIC_ON(TRACE_KINETO))
            st = metric_compute(all[i], &x, &v, &err);
        if (st != DSE_OK && st != DSE_E_ABSENT) {
            fprintf(stderr, "%s: %s\n", all[i]->name, err.text);
            return false;
        }
        result[st == DSE_OK ? R_METRICS : R_ABSENT]++;
    }
    return true;
}

/* In a process of its own. */
static bool run_ours(const void *arg, double *result)
{
    const trace_run *t = arg;
    const drv_recording_options options = {.n_threads = 1, .card = t->card};
    double start = cpu_seconds();
    dse_error err = DSE_ERROR_INIT;
    drv_recording rec;
    dse_arena arena;
    bool good;

    dse_arena_init(&arena);
    if (drv_recording_load(t->folder, &options, &rec, &err) != DSE_OK) {
        fprintf(stderr, "%s: %s\n", err.where, err.text);
        return false;
    }
    result[R_READ_S] = cpu_seconds() - start;
    good = compute_all(&rec, &arena, result);
    result[R_ALL_S] = cpu_seconds() - start;
    result[R_MB] = peak_mb();
    for (uint32_t k = 0; k < rec.n_views; k++) {
        const metric_view *v = &rec.view[k];

        result[R_EVENTS] += (double)v->rank->n_events;
        result[R_KERNELS] += v->kernels.n;
        for (uint32_t i = 0; i < v->kernels.n; i++)
            result[R_KERNEL_NS] += (double)(v->rank->event[v->kernels.event[i]].dur_ps / TRACE_PS_PER_NS);
    }
    drv_recording_free(&rec);
    dse_arena_free(&arena);
    return good;
}

/* What the document model of a good library costs; it does not even make a record. */
static bool run_jansson(const void *arg, double *result)
{
    const trace_run *t = arg;
    double start = cpu_seconds();
    json_t *root = json_load_file(t->file[0], 0, NULL), *event;
    size_t i;

    if (!root)
        return false;
    json_array_foreach(json_object_get(root, "traceEvents"), i, event)
    {
        const char *category = json_string_value(json_object_get(event, "cat"));

        result[R_KERNELS] += category && !strcmp(category, "kernel");
    }
    result[R_ALL_S] = cpu_seconds() - start;
    result[R_MB] = peak_mb();
    json_decref(root);
    return true;
}

static void take_away(const trace_run *t)
{
    for (unsigned k = 0; k < t->n; k++)
        unlink(t->file[k]);
    rmdir(t->folder);
}

static void add_facts(kineto_facts *sum, const kineto_facts *one)
{
    sum->bytes += one->bytes;
    sum->n += one->n;
    sum->n_kept += one->n_kept;
    sum->kernels += one->kernels;
    sum->kernel_ns += one->kernel_ns;
}

/* So many bytes in n files, in a folder beside the programs: on the disk where they were built. False: it cannot be made;
 * said. */
static bool make(const bench *b, unsigned n, uint64_t bytes, bool gzip, trace_run *out)
{
    *out = (trace_run){.folder = bench_text(b, "%s-traces", b->ccldse), .card = bench_path(b, "card.yaml")};
    mkdir(out->folder, 0777);
    for (; out->n < n; out->n++) {
        kineto_facts facts;

        out->file[out->n] = bench_text(b, "%s/rank%u_trace.json%s", out->folder, out->n, gzip ? ".gz" : "");
        if (!kineto_trace_write(out->file[out->n], out->n, bytes / n, gzip, &facts)) {
            bench_say(out->file[out->n], "cannot be written");
            out->n++;
            take_away(out);
            return false;
        }
        add_facts(&out->facts, &facts);
    }
    return true;
}

static void check(const trace_run *t, const measurement *m)
{
    if (m->result[R_EVENTS] != (double)t->facts.n_kept || m->result[R_KERNELS] != (double)t->facts.kernels ||
        m->result[R_KERNEL_NS] != (double)t->facts.kernel_ns)
        bench_say("WRONG",
                  "%.0f events, %.0f kernels of %.0f ns; written were %" PRIu64 ", %" PRIu64 " of %" PRId64,
                  m->result[R_EVENTS], m->result[R_KERNELS], m->result[R_KERNEL_NS], t->facts.n_kept,
                  t->facts.kernels, t->facts.kernel_ns);
}

static void measure_ours(bench *b, const trace_run *t, double bar, measurement *m)
{
    double mb = (double)t->facts.bytes * 1e-6;

    measure_function(run_ours, t, b->limit, m);
    if (m->done) {
        check(t, m);
        bench_say("",
                  "%.0f MB, %.0f events: %.3f s of CPU to read and sort out, %.3f s with %.0f metrics (%.0f "
                  "refused)",
                  mb, m->result[R_EVENTS], m->result[R_READ_S], m->result[R_ALL_S], m->result[R_METRICS],
                  m->result[R_ABSENT]);
    }
    bench_at_least(b, "JSON a core, all metrics", m, mb / m->result[R_ALL_S], bar, "MB/s");
}

static void against_jansson(bench *b)
{
    measurement ours, theirs;
    trace_run t;
    double mb;

    if (!make(b, 1, 100000000, false, &t))
        return;
    mb = (double)t.facts.bytes * 1e-6;
    measure_function(run_ours, &t, b->limit, &ours);
    measure_function(run_jansson, &t, b->limit, &theirs);
    take_away(&t);
    if (theirs.done)
        bench_say("jansson's document, 100 MB", "%.0f MB/s, %.0f MB resident; ours %.0f MB/s, %.0f MB",
                  mb / theirs.result[R_ALL_S], theirs.result[R_MB], mb / ours.result[R_ALL_S],
                  ours.result[R_MB]);
    bench_at_least(b, "times jansson's document", theirs.done ? &ours : &theirs,
                   theirs.result[R_ALL_S] / ours.result[R_ALL_S], 12, "x");
    bench_at_least(b, "times less memory", theirs.done ? &ours : &theirs,
                   theirs.result[R_MB] / ours.result[R_MB], 10, "x");
}

void bench_metrics(bench *b)
{
    uint64_t bytes = b->quick ? 100000000 : 1000000000;
    dse_strbuf card;
    measurement m;
    trace_run t;

    dse_strbuf_init(&card);
    dse_strbuf_adds(&card, card_text);
    bench_write(b, "card.yaml", &card);
    dse_strbuf_free(&card);
    if (make(b, RANKS, bytes, false, &t)) {
        measure_ours(b, &t, 500, &m);
        bench_at_most(b, "peak memory an event, above 16 MB", &m,
                      (m.result[R_MB] - 16) * 1e6 / m.result[R_EVENTS], 64, "B");
        take_away(&t);
    }
    if (make(b, RANKS, bytes, true, &t)) {
        measure_ours(b, &t, 300, &m);
        take_away(&t);
    }
    against_jansson(b);
}
