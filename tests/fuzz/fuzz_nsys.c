/* An export of Nsight Systems. libsqlite3 reads files alone, so each input is one for a moment. */
#include "fuzz/record.h"

#include "trace/reader.h"

#include <stdio.h>
#include <unistd.h>

extern const trace_reader trace_reader_nsys;

static void write_all(const char *path, const uint8_t *data, size_t size)
{
    FILE *f = fopen(path, "wb");

    ENSURE(f && (size == 0 || fwrite(data, 1, size, f) == size));
    ENSURE(fclose(f) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record record = {0};
    char path[64];

    if (size > FUZZ_MAX_BYTES)
        return 0;
    snprintf(path, sizeof path, "/tmp/ccldse-fuzz-nsys-%ld", (long)getpid());
    write_all(path, data, size);
    fuzz_ensure_record(trace_read(&trace_reader_nsys, path, &record, &err), &err, &record);
    unlink(path);
    return 0;
}
