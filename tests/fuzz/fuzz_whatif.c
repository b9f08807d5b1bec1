/* A Kineto trace: what its step would take. What takes less time never lengthens it; all can be emitted. */
#include "fuzz/fuzz.h"
#include "trace/reader.h"
#include "whatif/emit.h"
#include "whatif/question.h"

static void ask(const whatif_recorded *r, const whatif_recording *from, dse_arena *a)
{
    static const char *const faster[] = {"compute=0.5", "gemm=0",    "host=0",
                                         "copies=0.25", "network=2", "network=inf"};
    whatif_question none = whatif_no_change(), q;
    dse_error err = DSE_ERROR_INIT;
    whatif_answer replayed, v;

    if (!fuzz_ok(whatif_ask(r, from, &none, a, &replayed, &err), &err))
        return;
    ENSURE(replayed.step >= 0 && replayed.slowest >= replayed.step);
    for (size_t i = 0; i < sizeof faster / sizeof *faster; i++) {
        dse_error why = DSE_ERROR_INIT;

        q = whatif_no_change();
        ENSURE(whatif_scale(&q, faster[i], &why) == DSE_OK);
        if (fuzz_ok(whatif_ask(r, from, &q, a, &v, &why), &why))
            ENSURE(v.step <= replayed.step && v.slowest <= replayed.slowest);
    }
    q = whatif_no_change();
    q.no_stragglers = q.overlap = true;
    fuzz_ok(whatif_ask(r, from, &q, a, &v, &err), &err);
}

static void build(const metric_view *view, uint32_t n, bool replicate)
{
    const whatif_recording from = {view, n, WHATIF_ALL_STEPS, replicate};
    dse_error err = DSE_ERROR_INIT, why = DSE_ERROR_INIT;
    whatif_recorded r;
    whatif_files files;
    dse_arena a;

    dse_arena_init(&a);
    if (fuzz_ok(whatif_build(&from, &a, &r, &err), &err)) {
        ask(&r, &from, &a);
        if (fuzz_ok(whatif_emit(&r, &from, &a, &files, &why), &why) && files.n_ranks <= 8)
            for (uint32_t i = 0; i < files.n_ranks; i++) {
                dse_strbuf text;

                dse_strbuf_init(&text);
                whatif_et_write(&files.et[i], "0.0.4", &text);
                dse_strbuf_free(&text);
            }
    }
    dse_arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record record = {0};
    trace_source source;
    metric_view view;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    trace_source_open_bytes(&source, (const char *)data, size, 4096);
    if (fuzz_ok(trace_chrome_parse(&source, "rank0_trace.json", &record, &err), &err) &&
        record.n_ranks == 1 && record.rank[0].kind == TRACE_KINETO && record.rank[0].world_size <= 64) {
        metric_view_init(&view, &record.rank[0]);
        build(&view, 1, false);
        build(&view, 1, true);
        metric_view_free(&view);
    }
    trace_record_free(&record);
    trace_source_close(&source);
    return 0;
}
