/* A trace of Kineto's or XLA's profiler as CCL-Bench's converters read it: of two ranks that did the same, by
 * each of their modes. What is kept has its dependencies in the file. */
#include "fuzz/fuzz.h"
#include "whatif/compat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path[2];

    if (size > FUZZ_MAX_BYTES)
        return 0;
    path[0] = path[1] = fuzz_file(0, data, size);
    for (int mode = 0; mode < WHATIF_COMPATS; mode++) {
        whatif_compat_job job = {
            .mode = (whatif_compat)mode, .n_ranks = 2, .path = path, .marker = "jit_train_step"};
        dse_error err = DSE_ERROR_INIT;
        whatif_files files;
        dse_arena arena;

        if (mode == WHATIF_COMPAT_FULL || mode == WHATIF_COMPAT_FULL_UNPRUNED)
            continue; /* fuzz_chakra_full.c */
        dse_arena_init(&arena);
        if (fuzz_ok(whatif_compat_convert(&job, &arena, &files, &err), &err))
            for (uint32_t i = 0; i < files.n_ranks && i < 8; i++) {
                dse_strbuf text;

                for (uint32_t k = 0; k < files.et[i].n; k++)
                    for (uint32_t d = 0; d < files.et[i].node[k].n_ctrl; d++)
                        ENSURE(files.et[i].node[k].ctrl[d] < files.et[i].n);
                dse_strbuf_init(&text);
                whatif_et_write(&files.et[i], "0.0.4", &text);
                dse_strbuf_free(&text);
            }
        dse_arena_free(&arena);
    }
    return 0;
}
