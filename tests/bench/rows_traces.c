/* Metrics of a trace, from the file to the last figure. */
#include "bench/bench.h"

#include "bench/kineto_trace.h"
#include "driver/recording.h"
#include "metrics/metric.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

typedef struct {
    const char *path;
    kineto_facts facts;
} trace_file;

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
    const metric_options options = {.model_params = 7e9};
    const metric_context x = {.record = &rec->record,
                              .view = rec->view,
                              .n_views = rec->n_views,
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
    const trace_file *t = arg;
    const drv_recording_options options = {.n_threads = 1};
    double start = cpu_seconds();
    dse_error err = DSE_ERROR_INIT;
    drv_recording rec;
    dse_arena arena;
    bool good;

    dse_arena_init(&arena);
    if (drv_recording_load(t->path, &options, &rec, &err) != DSE_OK) {
        fprintf(stderr, "%s: %s\n", err.where, err.text);
        return false;
    }
    result[R_READ_S] = cpu_seconds() - start;
    good = compute_all(&rec, &arena, result);
    result[R_ALL_S] = cpu_seconds() - start;
    result[R_MB] = peak_mb();
    result[R_EVENTS] = (double)rec.record.rank[0].n_events;
    result[R_KERNELS] = rec.view[0].kernels.n;
    for (uint32_t i = 0; i < rec.view[0].kernels.n; i++)
        result[R_KERNEL_NS] += (double)(rec.record.rank[0].event[rec.view[0].kernels.event[i]].dur_ps / 1000);
    drv_recording_free(&rec);
    dse_arena_free(&arena);
    return good;
}

/* What the document model of a good library costs; it does not even make a record. */
static bool run_jansson(const void *arg, double *result)
{
    const trace_file *t = arg;
    double start = cpu_seconds();
    json_t *root = json_load_file(t->path, 0, NULL), *event;
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

/* Beside the programs, on the disk where they were built. False: it cannot be made; said. */
static bool make(const bench *b, const char *name, uint64_t bytes, bool gzip, trace_file *out)
{
    out->path = bench_text(b, "%s-%s", b->ccldse, name);
    if (kineto_trace_write(out->path, bytes, gzip, &out->facts))
        return true;
    bench_say(name, "cannot be written");
    unlink(out->path);
    return false;
}

static void check(const trace_file *t, const measurement *m)
{
    if (m->result[R_EVENTS] != (double)t->facts.n_kept || m->result[R_KERNELS] != (double)t->facts.kernels ||
        m->result[R_KERNEL_NS] != (double)t->facts.kernel_ns)
        bench_say("WRONG",
                  "%.0f events, %.0f kernels of %.0f ns; written were %" PRIu64 ", %" PRIu64 " of %" PRId64,
                  m->result[R_EVENTS], m->result[R_KERNELS], m->result[R_KERNEL_NS], t->facts.n_kept,
                  t->facts.kernels, t->facts.kernel_ns);
}

static void measure_ours(bench *b, const trace_file *t, double bar, measurement *m)
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
    trace_file t;
    double mb;

    if (!make(b, "100mb.json", 100000000, false, &t))
        return;
    mb = (double)t.facts.bytes * 1e-6;
    measure_function(run_ours, &t, b->limit, &ours);
    measure_function(run_jansson, &t, b->limit, &theirs);
    unlink(t.path);
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
    measurement m;
    trace_file t;

    if (make(b, "trace.json", bytes, false, &t)) {
        measure_ours(b, &t, 500, &m);
        bench_at_most(b, "peak memory an event, above 16 MB", &m,
                      (m.result[R_MB] - 16) * 1e6 / m.result[R_EVENTS], 64, "B");
        unlink(t.path);
    }
    if (make(b, "trace.json.gz", bytes, true, &t)) {
        measure_ours(b, &t, 300, &m);
        unlink(t.path);
    }
    against_jansson(b);
}
