/* An operator file: resolved with every set of passes, generated for a few small strategies, written in every
 * schema. A trace in schema v0.0.4 must be one that the reader takes. */
#include "config/doc.h"
#include "fuzz/fuzz.h"
#include "support/wl_strategy.h"
#include "workload/generate.h"
#include "workload/pass.h"

#define MAX_OPERATORS 120 /* in a resolved file; the time goes with their square */

/* Bytes: of weights, activations, gradients, the optimizer, messages. */
#define ELEMENTS                                                                                             \
    {                                                                                                        \
        0, 0, 0, 0, 0                                                                                        \
    }
#define MIXED                                                                                                \
    {                                                                                                        \
        2, 2, 2, 12, 2                                                                                       \
    }

/* In various placements, and with stages of either kind. */
static const wl_strategy strategies[] = {
    {.dp = 1, .tp = 1, .sp = 1, .pp = 1, .recompute = false, .weight_sharded = false, .tag_base = WL_TAG_BASE, .precision = ELEMENTS,
     .placement = 0, .stages = WL_STAGES_TURNS},
    {.dp = 2, .tp = 1, .sp = 1, .pp = 1, .recompute = true, .weight_sharded = false, .tag_base = WL_TAG_BASE, .precision = MIXED,
     .placement = 10, .stages = WL_STAGES_TURNS},
    {.dp = 2, .tp = 2, .sp = 2, .pp = 1, .recompute = false, .weight_sharded = true, .tag_base = WL_TAG_BASE, .precision = ELEMENTS,
     .placement = 15, .stages = WL_STAGES_TURNS},
    {.dp = 1, .tp = 2, .sp = 3, .pp = 1, .recompute = true, .weight_sharded = true, .tag_base = WL_TAG_BASE, .precision = MIXED,
     .placement = 20, .stages = WL_STAGES_NEIGHBOURS},
    {.dp = 2, .tp = 1, .sp = 1, .pp = 2, .recompute = true, .weight_sharded = true, .tag_base = WL_TAG_BASE, .precision = ELEMENTS,
     .placement = 1, .stages = WL_STAGES_TURNS},
    {.dp = 1, .tp = 1, .sp = 2, .pp = 3, .recompute = false, .weight_sharded = false, .tag_base = WL_TAG_BASE, .precision = MIXED,
     .placement = 6, .stages = WL_STAGES_NEIGHBOURS},
};

static uint32_t count_operators(const wl_operators *o)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < o->n_entries; i++)
        for (uint32_t k = 0; k < o->entry[i].n_parts; k++)
            n += o->entry[i].part[k].block->n;
    return n;
}

static void write_and_read(const wl_workload *w, dse_arena *a)
{
    static const wl_schema *const schemas[] = {&wl_schema_v004, &wl_schema_v001, &wl_schema_json};
    dse_strbuf text;

    dse_strbuf_init(&text);
    wl_groups_write(w, &text);
    for (uint32_t rank = 0;
         rank<w->n_ranks; rank += w->n_ranks> 1 ? w->n_ranks - 1 : 1) { /* first and last */
        for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {
            dse_error err = DSE_ERROR_INIT;
            wl_trace trace;
            dse_status st;

            dse_strbuf_clear(&text);
            wl_chakra_write(w, schemas[i], rank, &text);
            if (schemas[i] != &wl_schema_v004 || !wl_rank_graph(w, rank)->n_nodes)
                continue;
            st = wl_chakra_parse_et("w.et", (const unsigned char *)text.data, text.len, rank, NULL, a, &trace,
                                    &err);
            ENSURE(fuzz_ok(st, &err));
        }
    }
    dse_strbuf_free(&text);
}

/* From nothing, then by a generator: a new shape, and a kept one. All three come to the same. */
static void generate_thrice(const cfg_doc *doc, wl_generator *generator, const wl_symbols *symbols,
                            uint32_t layers, const wl_strategy *given, dse_arena *a)
{
    const wl_strategy s = wl_with_defaults(*given);
    dse_error err = DSE_ERROR_INIT;
    wl_workload w;
    dse_status st = wl_generate(doc, symbols, layers, &s, a, &w, &err);

    if (fuzz_ok(st, &err))
        write_and_read(&w, a);
    for (int i = 0; i < 2; i++) {
        dse_status again;

        err = (dse_error)DSE_ERROR_INIT;
        again = wl_generator_make(generator, symbols, layers, &s, a, &w, &err);
        ENSURE(again == st);
        if (fuzz_ok(again, &err))
            write_and_read(&w, a);
    }
}

static void generate(const cfg_doc *doc, const wl_symbols *symbols, dse_arena *a)
{
    wl_generator *generator = wl_generator_new(doc);

    for (size_t i = 0; i < sizeof strategies / sizeof strategies[0]; i++)
        for (uint32_t layers = i % 2; layers <= 2; layers++)
            generate_thrice(doc, generator, symbols, layers, &strategies[i], a);
    wl_generator_free(generator);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    bool usable = false;
    wl_symbols symbols = {0};
    cfg_doc doc = {0};
    dse_arena arena;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    if (fuzz_ok(cfg_parse_yaml("operators.yaml", (const char *)data, size, &arena, &doc, &err), &err)) {
        for (wl_passes passes = 0; passes <= WL_ALL_PASSES; passes++) {
            wl_operators o;

            err = (dse_error)DSE_ERROR_INIT;
            if (!fuzz_ok(wl_operators_resolve(&doc, passes, &arena, &o, &err), &err))
                continue;
            usable |= count_operators(&o) <= MAX_OPERATORS;
            symbols = o.symbols;
        }
        for (uint32_t i = 0; i < symbols.n; i++)
            symbols.value[i] = 12 >> i % 4;
        if (usable)
            generate(&doc, &symbols, &arena);
    }
    dse_arena_free(&arena);
    return 0;
}
