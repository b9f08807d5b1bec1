/* Two Chakra traces: three bytes with the length of the first, then both. If the second is taken for a description of
 * the first one's graph, it must be what parsing it gives. */
#include "fuzz/fuzz.h"
#include "support/same_trace.h"
#include "workload/chakra_alike.h"

static void compare(wl_alike *alike, pb_range file, const wl_trace *first, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    wl_trace found, parsed;
    uint32_t graph = wl_alike_find(alike, file, 1, &first->graph, a, &found);

    if (graph == DSE_NONE)
        return;
    ENSURE(graph == 0);
    ENSURE(fuzz_ok(
        wl_chakra_parse_et("w.1.et", file.p, (size_t)(file.end - file.p), 1, NULL, a, &parsed, &err), &err));
    ENSURE(same_trace(&parsed, &found));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    dse_arena arena;
    wl_trace first;
    wl_alike alike;
    size_t n;

    if (size > FUZZ_MAX_BYTES || size < 3)
        return 0;
    n = (size_t)data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16;
    if (n > size - 3)
        return 0;
    dse_arena_init(&arena);
    wl_alike_init(&alike);
    if (fuzz_ok(wl_chakra_parse_et("w.0.et", data + 3, n, 0, NULL, &arena, &first, &err), &err)) {
        wl_alike_add(&alike, (pb_range){data + 3, data + 3 + n}, &first, 0);
        compare(&alike, (pb_range){data + 3 + n, data + size}, &first, &arena);
    }
    wl_alike_free(&alike);
    dse_arena_free(&arena);
    return 0;
}
