/* A memory snapshot that was dumped as JSON. */
#include "fuzz/record.h"
#include "trace/snapshot.h"

static dse_status parse(trace_source *source, trace_record *out, dse_error *err)
{
    return trace_snapshot_parse(trace_snapshot_read_json, source, "snapshot", out, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_stream(data, size, 256, TRACE_SNAPSHOT, parse);
}
