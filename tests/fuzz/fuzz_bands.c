/* Files of errors: what is accepted gives bands whose ends are in order and above 0; for a new model, as ratios of 1e300 can, they
 * may overflow. */
#include "compare/bands.h"
#include "fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static void check_band(const cmp_bands *b, const cmp_evidence *e, bool others_only, dse_arena *a)
{
    const cmp_band_key key = {.device = e->device,
                              .program = e->program,
                              .model = e->model,
                              .size = e->size,
                              .bits = e->bits,
                              .others_only = others_only};
    const cmp_band band = cmp_band_of(b, &key, a);

    if (band.level == CMP_BAND_NONE)
        return;
    ENSURE(band.runs >= CMP_BAND_LEAST && band.models > 0);
    ENSURE(band.is_new ? band.low >= 0 : band.low > 0);
    ENSURE(band.low <= band.high);
    ENSURE(strlen(band.whom) > 0);
    ENSURE(!others_only || band.is_new);
}

static void check(const cmp_bands *b, dse_arena *a)
{
    for (size_t i = 0; i < b->n; i++) {
        const cmp_evidence *e = &b->of[i];
        const double parameters[CMP_SIZES] = {1e9, 50e9, 200e9};

        ENSURE(e->n > 0);
        for (size_t k = 0; k < e->n; k++)
            ENSURE(isfinite(e->ratio[k]) && e->ratio[k] > 0);
        ENSURE(cmp_size_of(parameters[e->size]) == e->size);
        check_band(b, e, false, a);
        check_band(b, e, true, a);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    dse_arena arena;
    cmp_bands b;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    if (fuzz_ok(cmp_bands_parse("e.csv", dse_arena_printf(&arena, "%.*s", (int)size, (const char *)data), &arena, &b, &err), &err))
        check(&b, &arena);
    dse_arena_free(&arena);
    return 0;
}
