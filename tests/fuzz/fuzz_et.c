/* A Chakra trace of schema v0.0.4; one that is accepted is simulated. */
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    dse_arena arena;
    wl_trace trace;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    if (fuzz_ok(wl_chakra_parse_et("w.0.et", data, size, 0, NULL, &arena, &trace, &err), &err))
        fuzz_simulate(&trace, &arena);
    dse_arena_free(&arena);
    return 0;
}
