/* A Chrome trace, plain or gzip, through a large window and through a small one: the same record, unless a text was cut. */
#include "fuzz/record.h"
#include "trace/reader.h"

#include <string.h>

static bool read_it(const uint8_t *data, size_t size, size_t window, trace_record *out)
{
    dse_error err = DSE_ERROR_INIT;
    trace_source source;
    bool good;

    *out = (trace_record){0};
    trace_source_open_bytes(&source, (const char *)data, size, window);
    good = fuzz_ok(trace_chrome_parse(&source, "t.json", out, &err), &err);
    trace_source_close(&source);
    return good;
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
    for (uint32_t i = 0; good && i < large.n_ranks; i++)
        fuzz_ensure_rank(&large.rank[i]);
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
