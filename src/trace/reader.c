#include "trace/reader.h"

#include "trace/reader_list.h"

#define ROW(name) extern const trace_reader trace_reader_##name;
TRACE_READER_LIST(ROW)
#undef ROW

#define ROW(name) &trace_reader_##name,
static const trace_reader *const readers[] = {TRACE_READER_LIST(ROW)};
#undef ROW

dse_status trace_read_stream(trace_stream_parser *parse, const char *path, trace_record *out, dse_error *err)
{
    trace_source source;
    dse_status st = trace_source_open(&source, path, err);

    if (st == DSE_OK)
        st = parse(&source, path, out, err);
    trace_source_close(&source);
    return st;
}

dse_status trace_reader_find(const char *path, const trace_reader **out, dse_error *err)
{
    trace_source source;
    dse_status st = trace_source_open(&source, path, err);
    size_t n;

    *out = NULL;
    if (st == DSE_OK) {
        n = source.n < TRACE_HEAD_BYTES ? source.n : TRACE_HEAD_BYTES;
        source.window[n] = '\0';
        for (size_t i = 0; i < sizeof readers / sizeof readers[0] && !*out; i++)
            if (readers[i]->is(source.window, n))
                *out = readers[i];
        if (!*out && *source.broken)
            st = dse_fail(err, DSE_E_IO, "cannot read '%s': %s", path, source.broken);
    }
    trace_source_close(&source);
    return st;
}
