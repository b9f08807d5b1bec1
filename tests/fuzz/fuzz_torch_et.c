/* A PyTorch execution trace. */
#include "fuzz/record.h"
#include "trace/reader.h"

static dse_status parse(trace_source *source, trace_record *out, dse_error *err)
{
    return trace_et_parse(source, "et.json", out, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_stream(data, size, 256, TRACE_ET, parse);
}
