/* A memory snapshot that was dumped as JSON: what is accepted is whole. */
#include "fuzz/fuzz.h"

#include "trace/snapshot.h"

#define WINDOW 256 /* so that values cross its end */

static void check(const trace_rank *r)
{
    const trace_allocator *a = r->allocator;

    ENSURE(a && r->kind == TRACE_SNAPSHOT && r->path);
    for (size_t i = 0; i < a->n_histories; i++)
        for (size_t e = 0; e < a->history[i].n; e++)
            ENSURE(a->history[i].entry[e].action < TRACE_ACTIONS && a->history[i].entry[e].size <= INT64_MAX);
    for (size_t i = 0; i < a->n_settings; i++) {
        ENSURE(a->setting[i].first == DSE_NONE || a->setting[i].first < a->n_settings);
        ENSURE(a->setting[i].next == DSE_NONE || a->setting[i].next < a->n_settings);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    trace_source source = {0};
    trace_record record = {0};
    dse_status st;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    st = trace_source_open_bytes(&source, (const char *)data, size, WINDOW, &err);
    if (st == DSE_OK)
        st = trace_snapshot_parse(trace_snapshot_read_json, &source, "snapshot", &record, &err);
    if (fuzz_ok(st, &err))
        check(&record.rank[0]);
    trace_source_close(&source);
    trace_record_free(&record);
    return 0;
}
