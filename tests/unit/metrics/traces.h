/* Traces for tests of metrics: read from tests/data/traces or from text, looked through, and asked. */
#ifndef UNIT_METRICS_TRACES_H
#define UNIT_METRICS_TRACES_H

#include "metrics/metric.h"
#include "trace/reader.h"
#include "unit/unit.h"

#define MAX_TRACES 4

typedef struct {
    trace_record record;
    metric_view view[MAX_TRACES];
    trace_card card;
    metric_options options;
    dse_arena arena;
    metric_context x;
} traces;

static inline void traces_read(traces *t, const char *path)
{
    dse_error err = DSE_ERROR_INIT;
    const trace_reader *reader;
    trace_record one = {0};

    assert_ok(trace_reader_find(path, &reader, &err), &err);
    assert_non_null(reader);
    assert_ok(reader->read(path, &one, &err), &err);
    assert_true(trace_record_take(&t->record, &one));
    trace_record_free(&one);
}

/* After the ranks are read. */
static inline void traces_look(traces *t)
{
    dse_error err = DSE_ERROR_INIT;

    assert_true(t->record.n_ranks <= MAX_TRACES);
    for (uint32_t i = 0; i < t->record.n_ranks; i++)
        assert_ok(metric_view_init(&t->view[i], &t->record.rank[i], &err), &err);
    dse_arena_init(&t->arena);
    t->options = (metric_options){.model_params = 7e9};
    t->card = (trace_card){.batch_size = TRACE_CARD_NONE, .seq_len = TRACE_CARD_NONE};
    t->x = (metric_context){.record = &t->record,
                            .view = t->view,
                            .n_views = t->record.n_ranks,
                            .options = &t->options,
                            .arena = &t->arena};
}

/* Ranks 0 to n - 1 of a folder of tests/data/traces. */
static inline void traces_load(traces *t, const char *folder, unsigned n)
{
    *t = (traces){.record = {0}};
    for (unsigned i = 0; i < n; i++) {
        char path[512];

        snprintf(path, sizeof path, TEST_DATA "/traces/%s/rank%u_trace.json", folder, i);
        traces_read(t, path);
    }
    traces_look(t);
}

/* n files, each the events of one rank: the inside of "traceEvents". */
static inline void traces_of(traces *t, const char *const *events, unsigned n)
{
    char folder[64];

    *t = (traces){.record = {0}};
    unit_make_folder(folder);
    for (unsigned i = 0; i < n; i++) {
        char path[128];
        dse_strbuf text;

        dse_strbuf_init(&text);
        dse_strbuf_addf(&text,
                        "{\"distributedInfo\": {\"rank\": %u, \"world_size\": %u}, \"traceEvents\": [%s]}", i,
                        n, events[i]);
        snprintf(path, sizeof path, "%s/rank%u_trace.json", folder, i);
        unit_write(path, text.data, text.len);
        dse_strbuf_free(&text);
        traces_read(t, path);
    }
    unit_remove_folder(folder);
    traces_look(t);
}

static inline void traces_free(traces *t)
{
    for (uint32_t i = 0; i < t->record.n_ranks; i++)
        metric_view_free(&t->view[i]);
    trace_record_free(&t->record);
    dse_arena_free(&t->arena);
}

/* What a metric says; compat: the original's rule. */
static inline dse_status traces_ask(traces *t, const char *name, bool compat, metric_value **out,
                                    dse_error *err)
{
    const metric *m;

    t->options.compat = compat;
    assert_ok(metric_find(name, t->record.rank[0].kind, compat, &m, err), err);
    return metric_compute(m, &t->x, out, err);
}

static inline metric_value *traces_value(traces *t, const char *name, bool compat)
{
    dse_error err = DSE_ERROR_INIT;
    metric_value *v = NULL;

    assert_ok(traces_ask(t, name, compat, &v, &err), &err);
    return v;
}

/* "per_rank/0/by_type/gemm/count"; a number in a list is a place. */
static inline const metric_value *traces_at(const metric_value *v, const char *path)
{
    while (v && *path) {
        char part[64];
        size_t n = strcspn(path, "/");

        assert_true(n < sizeof part);
        memcpy(part, path, n);
        part[n] = '\0';
        if (v->kind == METRIC_LIST) {
            v = v->first;
            for (unsigned long i = strtoul(part, NULL, 10); v && i; i--)
                v = v->next;
        } else {
            v = metric_get(v, part);
        }
        path += n + (path[n] == '/');
    }
    return v;
}

static inline void traces_check(const metric_value *v, const char *path, double expected, const char *file,
                                int line)
{
    const metric_value *at = traces_at(v, path);
    double seen;

    if (!at || (at->kind != METRIC_NUMBER && at->kind != METRIC_INTEGER && at->kind != METRIC_BOOL)) {
        print_error("%s is no number\n", path);
        _fail(file, line);
    }
    seen = at->kind == METRIC_NUMBER ? at->number : (double)at->integer;
    if (!(fabs(seen - expected) <= 1e-9 * fabs(expected))) {
        print_error("%s is %.17g, not %.17g\n", path, seen, expected);
        _fail(file, line);
    }
}
#define assert_at(v, path, expected) traces_check((v), (path), (expected), __FILE__, __LINE__)

/* It is there, absent, and says why. */
#define assert_absent_at(v, path, part)                                                                      \
    do {                                                                                                     \
        const metric_value *at_ = traces_at((v), (path));                                                    \
        assert_non_null(at_);                                                                                \
        assert_int_equal(at_->kind, METRIC_ABSENT);                                                          \
        assert_non_null(at_->text);                                                                          \
        assert_non_null(strstr(at_->text, (part)));                                                          \
    } while (0)

#endif
