/* Claims about what a reader of traces fills. */
#ifndef CCLDSE_FUZZ_RECORD_H
#define CCLDSE_FUZZ_RECORD_H

#include "fuzz/fuzz.h"
#include "metrics/view.h"
#include "trace/source.h"

#include <string.h>

static inline void fuzz_ensure_name(const trace_rank *r, uint32_t id)
{
    ENSURE(id == DSE_NONE || id < r->names.n);
}

/* Of a memory snapshot. */
static inline void fuzz_ensure_allocator(const trace_allocator *a)
{
    ENSURE(a);
    for (size_t i = 0; i < a->n_histories; i++)
        for (size_t e = 0; e < a->history[i].n; e++)
            ENSURE(a->history[i].entry[e].action < TRACE_ACTIONS && a->history[i].entry[e].size <= INT64_MAX);
    for (size_t i = 0; i < a->n_settings; i++) {
        ENSURE(a->setting[i].first == DSE_NONE || a->setting[i].first < a->n_settings);
        ENSURE(a->setting[i].next == DSE_NONE || a->setting[i].next < a->n_settings);
    }
}

/* Every index of a rank is one, its times neither wrap nor run backwards, and the view of it can be had. */
static inline void fuzz_ensure_rank(const trace_rank *r)
{
    metric_view view;

    ENSURE(r->kind < TRACE_KINDS && r->path && r->n_words <= 256);
    for (uint32_t i = 0; i < r->names.n; i++)
        ENSURE(strlen(r->names.text[i]) == r->names.length[i]);
    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];
        int64_t end;

        fuzz_ensure_name(r, e->name);
        ENSURE(e->lane < r->n_lanes && (e->args == DSE_NONE || e->args < r->n_args) && e->word < r->n_words);
        ENSURE(e->dur_ps >= 0 && (!e->instant || e->dur_ps == 0) && e->category <= TRACE_OTHER);
        ENSURE(!__builtin_add_overflow(e->start_ps, e->dur_ps, &end));
    }
    for (uint32_t i = 0; i < r->n_args; i++) {
        fuzz_ensure_name(r, r->args[i].collective);
        fuzz_ensure_name(r, r->args[i].hlo_category);
        fuzz_ensure_name(r, r->args[i].long_name);
        fuzz_ensure_name(r, r->args[i].shape);
    }
    for (uint32_t i = 0; i < r->n_lanes; i++) {
        fuzz_ensure_name(r, r->lane[i].pid);
        fuzz_ensure_name(r, r->lane[i].tid);
        fuzz_ensure_name(r, r->lane[i].process_name);
        fuzz_ensure_name(r, r->lane[i].thread);
    }
    for (size_t i = 0; i < r->n_totals; i++)
        ENSURE(r->total[i].name < r->names.n && r->total[i].total_ns >= 0);
    if (r->kind == TRACE_SNAPSHOT)
        fuzz_ensure_allocator(r->allocator);
    metric_view_init(&view, r);
    ENSURE(view.comm.n + view.compute.n >= view.kernels.n);
    metric_view_free(&view);
}

/* Of the formats that always say where an event happens; in JSON it may be left out. */
static inline void fuzz_ensure_lanes_are_named(const trace_rank *r)
{
    for (uint32_t i = 0; i < r->n_lanes; i++)
        ENSURE(r->lane[i].pid < r->names.n && r->lane[i].tid < r->names.n);
}

/* Of a reader's result: its claims if it succeeded; frees it in any case. */
static inline void fuzz_ensure_record(dse_status st, const dse_error *err, trace_record *record)
{
    if (fuzz_ok(st, err)) {
        ENSURE(record->n_ranks);
        for (uint32_t i = 0; i < record->n_ranks; i++) {
            fuzz_ensure_rank(&record->rank[i]);
            fuzz_ensure_lanes_are_named(&record->rank[i]);
        }
    }
    trace_record_free(record);
}

/* What reads a stream into a record. */
typedef dse_status fuzz_stream_reader(trace_source *source, trace_record *out, dse_error *err);

/* An input through a window so small that values cross its end. */
static inline int fuzz_stream(const uint8_t *data, size_t size, size_t window, trace_kind kind,
                              fuzz_stream_reader *read)
{
    dse_error err = DSE_ERROR_INIT;
    trace_source source;
    trace_record record = {0};
    dse_status st;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    trace_source_open_bytes(&source, (const char *)data, size, window);
    st = read(&source, &record, &err);
    if (fuzz_ok(st, &err)) {
        ENSURE(record.n_ranks);
        for (uint32_t i = 0; i < record.n_ranks; i++) {
            ENSURE(record.rank[i].kind == kind);
            fuzz_ensure_rank(&record.rank[i]);
        }
    }
    trace_record_free(&record);
    trace_source_close(&source);
    return 0;
}

#endif
