/* Claims about what a reader of traces fills. */
#ifndef CCLDSE_FUZZ_RECORD_H
#define CCLDSE_FUZZ_RECORD_H

#include "fuzz/fuzz.h"
#include "metrics/view.h"

static inline void fuzz_ensure_name(const trace_rank *r, uint32_t id)
{
    ENSURE(id == DSE_NONE || id < r->names.n);
}

/* Every index of a rank is one, and the view of it can be had. */
static inline void fuzz_ensure_rank(const trace_rank *r)
{
    dse_error err = DSE_ERROR_INIT;
    metric_view view;

    ENSURE(r->kind < TRACE_KINDS && r->path && r->n_words <= 256);
    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];

        fuzz_ensure_name(r, e->name);
        ENSURE(e->lane < r->n_lanes && (e->args == DSE_NONE || e->args < r->n_args) && e->word < r->n_words);
        ENSURE(e->dur_ps >= 0 && e->category <= TRACE_OTHER);
    }
    for (uint32_t i = 0; i < r->n_args; i++) {
        fuzz_ensure_name(r, r->args[i].hlo_category);
        fuzz_ensure_name(r, r->args[i].long_name);
        fuzz_ensure_name(r, r->args[i].shape);
    }
    for (uint32_t i = 0; i < r->n_lanes; i++) {
        ENSURE(r->lane[i].pid < r->names.n && r->lane[i].tid < r->names.n);
        fuzz_ensure_name(r, r->lane[i].process_name);
        fuzz_ensure_name(r, r->lane[i].thread);
    }
    for (size_t i = 0; i < r->n_totals; i++)
        ENSURE(r->total[i].name < r->names.n && r->total[i].total_ns >= 0);
    fuzz_ok(metric_view_init(&view, r, &err), &err);
    metric_view_free(&view);
}

/* Of a reader's result: its claims if it succeeded; frees it in any case. */
static inline void fuzz_ensure_record(dse_status st, const dse_error *err, trace_record *record)
{
    if (fuzz_ok(st, err))
        for (uint32_t i = 0; i < record->n_ranks; i++)
            fuzz_ensure_rank(&record->rank[i]);
    trace_record_free(record);
}

#endif
