/* A Chrome trace, plain or gzip, through a large window and through a small one: the same record, unless a text was cut. */
#include "fuzz/fuzz.h"
#include "metrics/view.h"
#include "trace/chrome.h"

#include <string.h>

static bool read_it(const uint8_t *data, size_t size, size_t window, trace_record *out)
{
    dse_error err = DSE_ERROR_INIT;
    trace_source source;
    bool good;

    *out = (trace_record){0};
    good = fuzz_ok(trace_source_open_bytes(&source, (const char *)data, size, window, &err), &err) &&
           fuzz_ok(trace_chrome_parse(&source, "t.json", out, &err), &err);
    trace_source_close(&source);
    return good;
}

static void check_name(const trace_rank *r, uint32_t id) { ENSURE(id == DSE_NONE || id < r->names.n); }

static void check_rank(const trace_rank *r)
{
    for (uint32_t i = 0; i < r->names.n; i++)
        ENSURE(strlen(r->names.text[i]) == r->names.length[i]);
    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];
        int64_t end;

        ENSURE(e->dur_ps >= 0 && (!e->instant || e->dur_ps == 0));
        ENSURE(!__builtin_add_overflow(e->start_ps, e->dur_ps, &end));
        ENSURE(e->lane < r->n_lanes && e->word < r->n_words);
        ENSURE(e->args == DSE_NONE || e->args < r->n_args);
        check_name(r, e->name);
    }
    for (uint32_t i = 0; i < r->n_lanes; i++) {
        check_name(r, r->lane[i].pid);
        check_name(r, r->lane[i].tid);
        check_name(r, r->lane[i].process_name);
        check_name(r, r->lane[i].thread);
    }
}

static void check_view(const trace_rank *r)
{
    dse_error err = DSE_ERROR_INIT;
    metric_view v;

    if (fuzz_ok(metric_view_init(&v, r, &err), &err))
        ENSURE(v.comm.n + v.compute.n >= v.kernels.n);
    metric_view_free(&v);
}

static bool is_cut(const trace_record *t)
{
    for (size_t i = 0; i < t->n_warnings; i++)
        if (strstr(t->warning[i].text, "too long"))
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trace_record large, small;
    bool good;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    good = read_it(data, size, TRACE_WINDOW_BYTES, &large);
    for (uint32_t i = 0; good && i < large.n_ranks; i++) {
        check_rank(&large.rank[i]);
        check_view(&large.rank[i]);
    }
    if (good && read_it(data, size, 64, &small)) {
        if (!is_cut(&small)) {
            ENSURE(small.n_ranks == large.n_ranks);
            for (uint32_t i = 0; i < large.n_ranks; i++) {
                ENSURE(small.rank[i].n_events == large.rank[i].n_events);
                ENSURE(small.rank[i].names.n == large.rank[i].names.n);
                ENSURE(small.rank[i].n_args == large.rank[i].n_args);
            }
        }
    }
    if (good)
        trace_record_free(&small);
    trace_record_free(&large);
    return 0;
}
