/* Any file where traces are expected: of which format it is, by its content, packed or not; or what else it is. */
#include "fuzz/record.h"
#include "trace/listing.h"
#include "trace/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    const trace_reader *reader = NULL;
    trace_record record = {0};
    const char *path;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    path = fuzz_file(0, data, size);
    if (!fuzz_ok(trace_reader_find(path, &reader, &err), &err) || !reader) {
        ENSURE(*trace_what_else(path));
        return 0;
    }
    if (fuzz_ok(trace_read(reader, path, &record, &err), &err))
        for (uint32_t i = 0; i < record.n_ranks; i++)
            fuzz_ensure_rank(&record.rank[i]);
    trace_record_free(&record);
    return 0;
}
