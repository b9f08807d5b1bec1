/* A PyTorch execution trace: what is accepted is a record whose ids are all there. */
#include "fuzz/fuzz.h"

#include "trace/et.h"

#define WINDOW 256 /* so that values cross its end */

static void check(const trace_rank *r)
{
    ENSURE(r->kind == TRACE_ET && r->path);
    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];

        ENSURE(e->lane < r->n_lanes && e->dur_ps >= 0 && (!e->instant || e->dur_ps == 0));
        ENSURE(e->name == DSE_NONE || e->name < r->names.n);
        ENSURE(e->args == DSE_NONE || e->args < r->n_args);
    }
    for (uint32_t i = 0; i < r->n_args; i++)
        ENSURE(r->args[i].collective == DSE_NONE || r->args[i].collective < r->names.n);
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
        st = trace_et_parse(&source, "et.json", &record, &err);
    if (fuzz_ok(st, &err))
        check(&record.rank[0]);
    trace_source_close(&source);
    trace_record_free(&record);
    return 0;
}
