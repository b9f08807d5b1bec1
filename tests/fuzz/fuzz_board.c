/* CCL-Bench's board: rows that are accepted have a place and a step time, and are of different points. */
#include "fuzz/fuzz.h"
#include "measured/board.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const drv_import_as as = {.engine = "ccl-bench"};
    dse_error err = DSE_ERROR_INIT;
    msr_board board = {0};
    drv_import io = {0};
    dse_arena arena;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    if (fuzz_ok(msr_board_import(fuzz_file(0, data, size), &as, &arena, &io, &board, &err), &err)) {
        ENSURE(io.n > 0);
        for (size_t i = 0; i < io.n; i++)
            ENSURE(io.place[i] && io.row[i].config && io.row[i].config[0]);
        drv_import_sort(&io);
    }
    drv_import_free(&io);
    dse_arena_free(&arena);
    return 0;
}
