/* The bytes of a results database: read, then mended by a writer, and read again. libsqlite3 reads files alone. */
#include "fuzz/database.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_arena arena;
    const char *path;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    path = fuzz_file(0, data, size);
    dse_arena_init(&arena);
    fuzz_read_database(path, false, &arena);
    if (fuzz_write_database(path))
        fuzz_read_database(path, true, &arena);
    fuzz_remove_database(path);
    dse_arena_free(&arena);
    return 0;
}
