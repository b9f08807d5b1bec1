/* The bytes of a results database: read, then mended by a writer, and read again. libsqlite3 reads files alone. */
#include "fuzz/database.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > FUZZ_MAX_BYTES)
        return 0;
    fuzz_use_sqlite_pool();
    fuzz_use_database(fuzz_file(0, data, size), data, size);
    return 0;
}
