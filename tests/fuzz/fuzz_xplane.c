/* XLA's xplane.pb. */
#include "fuzz/record.h"

#include "trace/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record record = {0};

    if (size > FUZZ_MAX_BYTES)
        return 0;
    fuzz_ensure_record(trace_xplane_parse("a.xplane.pb", data, size, &record, &err), &err, &record);
    return 0;
}
