/* Files of errors: what is accepted gives bands whose ends are in order, above 0, and among what was read. */
#include "compare/bands.h"
#include "fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static void check(const cmp_bands *b, dse_arena *a)
{
    for (size_t i = 0; i < b->n; i++) {
        const cmp_evidence *e = &b->of[i];
        const double parameters[CMP_SIZES] = {1e9, 50e9, 200e9};
        const cmp_band_key key = {.device = e->device,
                                  .program = e->program,
                                  .model = e->model,
                                  .size = e->size,
                                  .bits = e->bits};
        cmp_band band = cmp_band_of(b, &key, a);

        ENSURE(e->n > 0);
        for (size_t k = 0; k < e->n; k++)
            ENSURE(isfinite(e->ratio[k]) && e->ratio[k] > 0);
        ENSURE(cmp_size_of(parameters[e->size]) == e->size);
        if (band.level == CMP_BAND_NONE)
            continue;
        ENSURE(band.runs >= CMP_BAND_LEAST);
        ENSURE(band.low > 0 && band.low <= band.high);
        ENSURE(strlen(band.whom) > 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    dse_arena arena;
    cmp_bands b;
    cfg_doc doc;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    if (fuzz_ok(cfg_parse_yaml("e.yaml", (const char *)data, size, &arena, &doc, &err), &err) &&
        fuzz_ok(cmp_bands_read(&doc, &arena, &b, &err), &err))
        check(&b, &arena);
    dse_arena_free(&arena);
    return 0;
}
