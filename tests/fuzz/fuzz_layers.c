/* How stages share the layers, in a line, and below it a model's layers as a file has them: a model of 6 layers, and one that
 * predicts further tokens. Layers by stage add up to the model's. */
#include "config/doc.h"
#include "fuzz/fuzz.h"
#include "step/model.h"

#include <stdlib.h>
#include <string.h>

#define N_LAYERS 6

static void lay_out(step_model *m, const char *text, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    uint64_t sum = 0;

    if (!fuzz_ok(step_model_lay_out(m, text, a, &err), &err))
        return;
    ENSURE(m->n_laid_out > 0);
    for (uint32_t i = 0; i < m->n_laid_out; i++)
        sum += m->laid_out[i];
    ENSURE(sum == N_LAYERS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const wl_symbols symbols = {11,
                                {"Seq", "Vocab", "Hidden", "Ffn", "Heads", "KvHeads", "HeadDim", "Experts",
                                 "TopK", "ExpertFfn", "SharedFfn"},
                                {32, 16, 8, 16, 4, 2, 2, 4, 2, 8, 8}};
    dse_error err = DSE_ERROR_INIT;
    step_model model;
    dse_arena arena;
    char *text, *rest;
    cfg_doc doc;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    text = fuzz_string(data, size);
    rest = strchr(text, '\n');
    if (rest)
        *rest++ = '\0';
    if (rest && fuzz_ok(cfg_parse_yaml("l.yaml", rest, strlen(rest), &arena, &doc, &err), &err) &&
        fuzz_ok(step_model_read(&doc, &symbols, N_LAYERS, &arena, &model, &err), &err)) {
        ENSURE(model.n_blocks && model.n_blocks <= STEP_MAX_BLOCKS && model.n_layers == N_LAYERS);
        lay_out(&model, text, &arena);
        step_model_add_mtp(&model, 2, &arena);
        lay_out(&model, text, &arena);
    }
    free(text);
    dse_arena_free(&arena);
    return 0;
}
