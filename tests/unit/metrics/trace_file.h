/* Hand-made traces for tests of metrics: loads the files of a folder of data/traces, and looks values up by their keys. */
#ifndef UNIT_METRICS_TRACE_FILE_H
#define UNIT_METRICS_TRACE_FILE_H

#include "metrics/metric.h"
#include "trace/reader.h"
#include "unit/unit.h"

typedef struct {
    trace_record record;
    metric_view view[4];
    metric_options options;
    metric_context context;
    dse_arena arena;
} traces;

/* The files are read in the order given, whose last is followed by NULL; each is one rank. */
static inline void traces_load(traces *t, const char *const *file)
{
    dse_error err = DSE_ERROR_INIT;

    *t = (traces){.options = {.model_params = 7e9}};
    dse_arena_init(&t->arena);
    for (; *file; file++) {
        const trace_reader *reader;
        trace_record one = {0};

        assert_ok(trace_reader_find(*file, &reader, &err), &err);
        assert_non_null(reader);
        assert_ok(reader->read(*file, &one, &err), &err);
        assert_true(trace_record_take(&t->record, &one));
    }
    for (uint32_t i = 0; i < t->record.n_ranks; i++)
        assert_ok(metric_view_init(&t->view[i], &t->record.rank[i], &err), &err);
    t->context = (metric_context){.record = &t->record,
                                  .view = t->view,
                                  .n_views = t->record.n_ranks,
                                  .options = &t->options,
                                  .arena = &t->arena};
}

static inline void traces_free(traces *t)
{
    for (uint32_t i = 0; i < t->record.n_ranks; i++)
        metric_view_free(&t->view[i]);
    trace_record_free(&t->record);
    dse_arena_free(&t->arena);
}

static inline dse_status traces_compute(const traces *t, const char *name, metric_value **out, dse_error *err)
{
    const metric *m;

    assert_ok(metric_find(name, t->record.rank[0].kind, t->options.compat, &m, err), err);
    return metric_compute(m, &t->context, out, err);
}

/* The value at a path of keys, "per_device/0/span_s". */
static inline const metric_value *traces_at(const metric_value *v, const char *path)
{
    char key[128];

    while (v && *path) {
        size_t n = strcspn(path, "/");

        assert_true(n < sizeof key);
        memcpy(key, path, n);
        key[n] = '\0';
        v = metric_get(v, key);
        path += n + (path[n] == '/');
    }
    return v;
}

static inline double traces_number(const metric_value *v)
{
    return v->kind == METRIC_NUMBER ? v->number : (double)v->integer;
}

/* Checks a number to 1e-12 of itself: derivations are decimal, sums are binary. */
static inline void traces_check(const traces *t, const char *name, const char *path, double expected,
                                const char *file, int line)
{
    dse_error err = DSE_ERROR_INIT;
    metric_value *out;
    const metric_value *v;

    unit_check_ok(traces_compute(t, name, &out, &err), &err, file, line);
    v = traces_at(out, path);
    if (v && (v->kind == METRIC_NUMBER || v->kind == METRIC_INTEGER) &&
        fabs(traces_number(v) - expected) <= 1e-12 * fabs(expected))
        return;
    print_error("%s: %s is %.17g, not %.17g\n", name, path, v ? traces_number(v) : (double)NAN, expected);
    _fail(file, line);
}
#define assert_metric(t, name, path, expected)                                                               \
    traces_check((t), (name), (path), (expected), __FILE__, __LINE__)

#endif
