/* A kept generator: what it makes is what fresh generation makes, and what it keeps is bounded. */
#include "support/wl_strategy.h"
#include "unit/workload/linear.h"
#include "unit/workload/same.h"

#include "workload/generate.h"

static dse_arena docs, arena, other;
static dse_error err;
static wl_generator *generator;
static cfg_doc doc;

static void begin(void)
{
    dse_arena_init(&docs);
    dse_arena_init(&arena);
    dse_arena_init(&other);
    err = (dse_error)DSE_ERROR_INIT;
}

static void begin_with(const char *text)
{
    begin();
    assert_ok(cfg_parse_yaml("f.yaml", text, strlen(text), &docs, &doc, &err), &err);
    generator = wl_generator_new(&doc);
}

static void begin_with_transformer(void)
{
    begin();
    assert_ok(cfg_load(TEST_SOURCE "/configs/operators/transformer.yaml", &docs, &doc, &err), &err);
    generator = wl_generator_new(&doc);
}

static void end(void)
{
    wl_generator_free(generator);
    dse_arena_free(&other);
    dse_arena_free(&arena);
    dse_arena_free(&docs);
}

static wl_strategy spread(uint32_t dp, uint32_t tp, uint32_t sp, uint32_t pp)
{
    wl_strategy s = WL_STRATEGY(.tag_base = WL_TAG_BASE);

    s.dp = dp;
    s.tp = tp;
    s.sp = sp;
    s.pp = pp;
    return s;
}

static wl_symbols linear_sizes(int64_t b, int64_t m)
{
    return (wl_symbols){.n = 2, .name = {"B", "M"}, .value = {b, m}};
}

static wl_symbols transformer_sizes(int64_t width, int64_t batch)
{
    return (wl_symbols){.n = 7,
                        .name = {"Din", "Dout", "Dmodel", "Dff", "Batch", "Seq", "Head"},
                        .value = {4 * width, 4 * width, width, 3 * width, batch, 2 * width, 4}};
}

/* Both ways, into arenas of their own: equal workloads, or the same failure. */
static bool make_and_compare(const wl_symbols *symbols, uint32_t layers, wl_strategy s)
{
    dse_error fresh_err = DSE_ERROR_INIT;
    wl_workload kept, fresh;
    dse_status st, expected;

    dse_arena_reset(&arena);
    dse_arena_reset(&other);
    err = (dse_error)DSE_ERROR_INIT;
    st = wl_generator_make(generator, symbols, layers, &s, &arena, &kept, &err);
    expected = wl_generate(&doc, symbols, layers, &s, &other, &fresh, &fresh_err);
    assert_int_equal(st, expected);
    if (st != DSE_OK) {
        assert_string_equal(err.where, fresh_err.where);
        assert_string_equal(err.text, fresh_err.text);
        return false;
    }
    assert_same_workload(&kept, &fresh);
    return true;
}

/* ---- equal to fresh generation ----------------------------------------------------------------- */

/* Degrees that divide and others, models so small that operators vanish, depths that fill the stages or not. Few enough
 * of each that most points find a shape. */
CLAIM(a_kept_generator_makes_what_fresh_generation_makes)
{
    static const uint32_t degrees[] = {1, 1, 2, 3, 4, 8};
    static const int64_t widths[] = {1, 3, 64, 512, 40000, 700000000};
    const uint32_t n_degrees = sizeof degrees / sizeof degrees[0],
                   n_widths = sizeof widths / sizeof widths[0];
    uint64_t random = 1;
    uint32_t made = 0, failed = 0;

    begin_with_transformer();
    for (int i = 0; i < 600; i++) {
        wl_symbols sizes = transformer_sizes(widths[unit_random(&random) % n_widths],
                                             (int64_t)(1 + unit_random(&random) % 3));
        uint32_t layers = (uint32_t)(unit_random(&random) % 3);
        wl_strategy s =
            WL_STRATEGY(.dp = degrees[unit_random(&random) % n_degrees],
                        .tp = degrees[unit_random(&random) % n_degrees],
                        .sp = degrees[unit_random(&random) % n_degrees],
                        .pp = (uint32_t)(1 + unit_random(&random) % 3), .recompute = unit_random(&random) % 2,
                        .weight_sharded = unit_random(&random) % 2,
                        .tag_base = (uint32_t)(unit_random(&random) % 1000));

        if (unit_random(&random) % 2)
            s.precision = (wl_precision){
                .weights = 4, .activations = 2, .gradients = 1, .optimizer = 12, .messages = 0.5};

        if (make_and_compare(&sizes, layers, s))
            made++;
        else
            failed++;
    }
    /* The point of it: shapes were found, and some were dropped and made again. */
    assert_true(made > 300 && failed > 10);
    assert_true(wl_generator_usage(generator)->n_built > WL_KEPT_SHAPES);
    assert_true(wl_generator_usage(generator)->n_built < made);
    end();
}

CLAIM(points_that_differ_in_sizes_share_a_shape)
{
    static const uint32_t degrees[][3] = {{2, 2, 1}, {64, 2, 1}, {3, 5, 1}};

    begin_with_transformer();
    for (int i = 0; i < 3; i++) {
        const wl_symbols sizes = transformer_sizes(512 << i, 1024);

        assert_true(make_and_compare(&sizes, 2, spread(degrees[i][0], degrees[i][1], degrees[i][2], 2)));
        assert_u64(wl_generator_usage(generator)->n_built, 1);
    }
    end();
}

/* Each of these has its own: a degree of 1, more layers, more stages, the two variants, both of them. */
CLAIM(what_decides_a_shape_makes_another)
{
    const wl_symbols sizes = transformer_sizes(512, 64);
    wl_strategy s = spread(2, 2, 2, 1);

    begin_with_transformer();
    assert_true(make_and_compare(&sizes, 2, s));
    assert_true(make_and_compare(&sizes, 3, s));
    assert_true(make_and_compare(&sizes, 2, spread(4, 2, 1, 1)));
    assert_true(make_and_compare(&sizes, 2, spread(2, 1, 2, 1)));
    assert_true(make_and_compare(&sizes, 2, spread(1, 2, 2, 1)));
    assert_true(make_and_compare(&sizes, 2, spread(2, 2, 2, 2)));
    s.recompute = true;
    assert_true(make_and_compare(&sizes, 2, s));
    s.weight_sharded = true;
    assert_true(make_and_compare(&sizes, 2, s));
    s.recompute = false;
    assert_true(make_and_compare(&sizes, 2, s));
    assert_u64(wl_generator_usage(generator)->n_built, 9);
    end();
}

static uint32_t n_linear_nodes(int64_t batch, uint32_t dp)
{
    const wl_symbols sizes = linear_sizes(batch, 1);
    const wl_strategy s = spread(dp, 1, 1, 1);
    wl_workload w;

    dse_arena_reset(&arena);
    assert_ok(wl_generator_make(generator, &sizes, 0, &s, &arena, &w, &err), &err);
    return w.graph[0].n_nodes;
}

/* y, dw and dx take B/dp operations each, the update 1, and an all-reduce of dw goes before that. With 1/2 of an
 * operation the three are gone. */
CLAIM(a_size_that_comes_down_to_nothing_makes_another_shape)
{
    begin_with(ONE_LINEAR);
    assert_int_equal(n_linear_nodes(2, 2), 5);
    assert_int_equal(n_linear_nodes(1, 2), 2);
    assert_u64(wl_generator_usage(generator)->n_built, 2);
    assert_int_equal(n_linear_nodes(3, 2), 5); /* 1.5 operations are one */
    assert_int_equal(n_linear_nodes(1, 4), 2);
    assert_u64(wl_generator_usage(generator)->n_built, 2);
    end();
}

CLAIM(a_workload_keeps_its_sizes_when_another_is_made_of_its_shape)
{
    const wl_symbols small = linear_sizes(8, 16), large = linear_sizes(80, 16);
    const wl_strategy s = spread(2, 2, 1, 1);
    wl_workload first, second, fresh;

    begin_with(ONE_LINEAR);
    assert_ok(wl_generator_make(generator, &small, 0, &s, &arena, &first, &err), &err);
    assert_ok(wl_generator_make(generator, &large, 0, &s, &arena, &second, &err), &err);
    assert_ptr_equal(first.graph[0].by_id, second.graph[0].by_id);
    assert_ok(wl_generate(&doc, &small, 0, &s, &other, &fresh, &err), &err);
    assert_same_workload(&first, &fresh);
    end();
}

/* ---- what is kept ------------------------------------------------------------------------------ */

static void make_linear(uint32_t layers)
{
    const wl_symbols sizes = linear_sizes(8, 16);

    assert_true(make_and_compare(&sizes, layers, spread(2, 1, 1, 1)));
}

/* The number of layers is part of the key, though this model has none. */
CLAIM(the_shape_that_was_not_used_longest_is_dropped)
{
    const wl_generator_use *use;

    begin_with(ONE_LINEAR);
    use = wl_generator_usage(generator);
    for (uint32_t i = 0; i < WL_KEPT_SHAPES; i++)
        make_linear(i);
    assert_int_equal(use->n_shapes, WL_KEPT_SHAPES);
    make_linear(0); /* now 1 is the oldest */
    assert_u64(use->n_built, WL_KEPT_SHAPES);
    make_linear(WL_KEPT_SHAPES);
    assert_int_equal(use->n_shapes, WL_KEPT_SHAPES);
    make_linear(0);
    make_linear(2);
    assert_u64(use->n_built, WL_KEPT_SHAPES + 1);
    make_linear(1);
    assert_u64(use->n_built, WL_KEPT_SHAPES + 2);
    end();
}

/* Some 16 KB a layer. */
CLAIM(what_is_kept_is_bounded_but_for_the_newest)
{
    const wl_symbols sizes = transformer_sizes(512, 64);
    const wl_generator_use *use;
    wl_workload w;
    wl_strategy s = spread(2, 2, 2, 1);

    begin_with_transformer();
    use = wl_generator_usage(generator);
    for (uint32_t layers = 200; layers < 220; layers++) {
        dse_arena_reset(&arena);
        assert_ok(wl_generator_make(generator, &sizes, layers, &s, &arena, &w, &err), &err);
        assert_true(use->bytes <= WL_KEPT_BYTES);
    }
    assert_in_range(use->n_shapes, 2, 19);
    dse_arena_reset(&arena);
    assert_ok(wl_generator_make(generator, &sizes, 4000, &s, &arena, &w, &err), &err);
    assert_int_equal(use->n_shapes, 1);
    assert_true(use->bytes > WL_KEPT_BYTES);
    end();
}

/* A rank is its place (32 bytes), three groups (12), a member of four (16); a group is 24 and its name 8. With dp 1024,
 * tp 8 and sp 8 there are 64 + 8192 + 8192 groups and everybody's. */
CLAIM(memory_per_rank_is_small)
{
    const wl_symbols sizes = linear_sizes(1024, 64);
    const wl_strategy s = spread(1024, 8, 8, 1);
    wl_workload w;

    begin_with(ONE_LINEAR);
    assert_ok(wl_generator_make(generator, &sizes, 0, &s, &arena, &w, &err), &err);
    assert_int_equal(w.n_ranks, 65536);
    assert_int_equal(w.n_groups, 1 + 64 + 8192 + 8192);
    assert_in_range(arena.total_bytes, 0, 65536 * (32 + 12 + 16) + 16449 * (24 + 8) + 8192);
    assert_string_equal(w.group[16448].name, "16448");
    assert_string_equal(w.group[0].name, "");
    end();
}

/* ---- failures ---------------------------------------------------------------------------------- */

CLAIM(a_failure_leaves_the_generator_as_it_was)
{
    const wl_symbols sizes = linear_sizes(8, 16), huge = linear_sizes(INT64_MAX, INT64_MAX), lacks = {.n = 0};

    begin_with(ONE_LINEAR);
    assert_true(make_and_compare(&sizes, 0, spread(2, 1, 1, 1)));
    assert_false(make_and_compare(&huge, 0, spread(2, 1, 1, 1)));
    assert_string_equal(err.text, "the size of 'a_x@0_COMP' does not fit in 63 bits");
    assert_false(make_and_compare(&lacks, 0, spread(2, 1, 1, 1)));
    assert_false(make_and_compare(&sizes, 0, spread(2, 0, 1, 1)));
    assert_false(make_and_compare(&sizes, 0, spread(2, 1, 1, 2))); /* one stage gets no tensor */
    assert_true(make_and_compare(&sizes, 0, spread(2, 1, 1, 1)));
    assert_u64(wl_generator_usage(generator)->n_built, 1);
    end();
}

CLAIM(a_variant_that_cannot_be_read_fails_every_time)
{
    const wl_symbols sizes = linear_sizes(8, 16);

    begin_with("symbols: {B: batch}\nblocks: {t: {y: {scale: z, by: 1, shape: [B]}}}\n"
               "model: {a: {block: t}}\nlinks: {}\n");
    assert_false(make_and_compare(&sizes, 0, spread(1, 1, 1, 1)));
    assert_false(make_and_compare(&sizes, 0, spread(1, 1, 1, 1)));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kept_generator_makes_what_fresh_generation_makes),
        cmocka_unit_test(points_that_differ_in_sizes_share_a_shape),
        cmocka_unit_test(what_decides_a_shape_makes_another),
        cmocka_unit_test(a_size_that_comes_down_to_nothing_makes_another_shape),
        cmocka_unit_test(a_workload_keeps_its_sizes_when_another_is_made_of_its_shape),
        cmocka_unit_test(the_shape_that_was_not_used_longest_is_dropped),
        cmocka_unit_test(what_is_kept_is_bounded_but_for_the_newest),
        cmocka_unit_test(memory_per_rank_is_small),
        cmocka_unit_test(a_failure_leaves_the_generator_as_it_was),
        cmocka_unit_test(a_variant_that_cannot_be_read_fails_every_time),
    };
    return RUN_TESTS(tests);
}
