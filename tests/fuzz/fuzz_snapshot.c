/* A pickle, as a memory snapshot. */
#include "fuzz/record.h"
#include "trace/pickle.h"
#include "trace/snapshot.h"

static dse_status parse(trace_source *source, trace_record *out, dse_error *err)
{
    return trace_snapshot_parse(trace_pickle_read, source, "snapshot", out, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_stream(data, size, 64, TRACE_SNAPSHOT, parse);
}
