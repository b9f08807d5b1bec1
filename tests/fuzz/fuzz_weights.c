/* Weights of metrics: what is accepted weighs something, and nothing less than nothing; with a list of metrics, of those
 * alone. */
#include "compare/weights.h"
#include "fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static const char *const known[] = {"step_time", "mfu", "calls.AllReduce", "peak_memory"};
#define N_KNOWN (sizeof known / sizeof known[0])

static bool is_known(const char *name)
{
    size_t i = 0;

    while (i < N_KNOWN && strcmp(known[i], name) != 0)
        i++;
    return i < N_KNOWN;
}

static void check(const cmp_weights *w)
{
    bool weighs = false;

    for (size_t i = 0; i < w->n; i++) {
        ENSURE(isfinite(w->weight[i]) && w->weight[i] >= 0);
        ENSURE(cmp_weight_of(w, w->name[i]) == w->weight[i]); /* no name stands twice */
        weighs |= w->weight[i] > 0;
    }
    ENSURE(weighs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT, again = DSE_ERROR_INIT;
    bool all_known = true;
    cmp_weights w;
    dse_arena arena;
    cfg_doc doc;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    if (fuzz_ok(cfg_parse_yaml("w.yaml", (const char *)data, size, &arena, &doc, &err), &err) &&
        fuzz_ok(cmp_weights_read(&doc, NULL, 0, &arena, &w, &err), &err)) {
        check(&w);
        for (size_t i = 0; i < w.n; i++)
            all_known &= is_known(w.name[i]);
        ENSURE(fuzz_ok(cmp_weights_read(&doc, known, N_KNOWN, &arena, &w, &again), &again) == all_known);
    }
    dse_arena_free(&arena);
    return 0;
}
