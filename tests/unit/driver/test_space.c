/* 8 NPUs are 2^3: three degrees share three factors of two in C(5, 2) = 10 ways, with and without recomputation. With
 * one degree at 2^k the other two share the rest in 4 - k ways. */
#include "base/array.h"
#include "support/point_order.h"
#include "unit/driver/spaces.h"
#include "unit/point.h"

static spaces s;

/* ---- counts -------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    uint64_t n;
} counts[] = {
    {SMALL_ON_RING8, 20},
    {SMALL_ON_RING8 "axes: {recompute: no}\n", 10},
    {SMALL_ON_RING8 "axes: {recompute: [no, yes], weight_sharded: both}\n", 40},
    {"models: [small, deep]\nsystems: [ring8, boxes8]\n", 80},
    /* a degree may have values that do not fit: of dp 1, 2 and 3 there are 4 and 3 ways */
    {SMALL_ON_RING8 "axes: {dp: [1, 2, 3]}\n", 2 * (4 + 3)},

    /* axes that do not matter multiply */
    {SMALL_ON_RING8 "axes: {batch: [8, 16, 32]}\n", 3 * 20},
    {SMALL_ON_RING8 "axes: {batch: [8, 16, 32], 'network.latency[0]': {from: 1, to: 5, unit: us}}\n",
     15 * 20},
    {SMALL_ON_RING8 "axes: {layers: {powers_of: 2, from: 1, to: 1024}}\n", 11 * 20},
    {SMALL_ON_RING8 "axes: {operators: [transformer]}\n", 20},

    /* NPUs that vary: 2, 4 and 8 of them have 3, 6 and 10 ways */
    {SMALL_ON_RING8 "axes: {'network.npus_count[0]': [2, 4, 8]}\n", 2 * (3 + 6 + 10)},
    {SMALL_ON_RING8 "axes: {network.npus_count: [[2], [8]], batch: [1, 2]}\n", 2 * 2 * (3 + 10)},

    /* p stages leave 8 / p NPUs, with 10, 6, 3 and 1 ways; 1, 2 and 6 layers fill 3, 4 and 8 stages */
    {SMALL_ON_RING8 "axes: {pp: [1, 2, 4, 8], layers: [1, 2, 6]}\n", 2 * (16 + 19 + 20)},

    /* constraints */
    {SMALL_ON_RING8 "constraints: [tp <= 2]\n", 2 * (4 + 3)},
    {SMALL_ON_RING8 "constraints: [tp <= 2, sp <= 2]\n", 2 * (2 + 2)}, /* what is left for dp is one way */
    {SMALL_ON_RING8 "constraints: [1 < tp <= 4]\n", 2 * (3 + 2)},
    {SMALL_ON_RING8 "constraints: [dp * tp * sp * pp == npus]\n", 20},
    {SMALL_ON_RING8 "constraints: [yes]\n", 20},
    {SMALL_ON_RING8 "axes: {weight_sharded: both}\nconstraints: [recompute or weight_sharded]\n", 10 * 3},
    /* a head count of 6 leaves tp 1 and 2 */
    {SMALL_ON_RING8 "axes: {heads: [8, 6]}\nconstraints: [heads % tp == 0]\n", 2 * (10 + 4 + 3)},
    /* a batch of 1 leaves dp 1, one of 4 leaves dp 1, 2 and 4; the length of a sequence does not matter */
    {SMALL_ON_RING8 "axes: {sequence: [64, 128], batch: [1, 4]}\nconstraints: [batch % dp == 0]\n",
     2 * 2 * (4 + 4 + 3 + 2)},
    /* 25 GB/s are 23.3 GiB/s, in which the card and so the constraint counts, 50 GB/s are 46.6 */
    {SMALL_ON_RING8
     "axes: {'network.bandwidth[0]': [25GB/s, 50 GB/s]}\nconstraints: ['network.bandwidth[0] < 25']\n",
     20},
    {SMALL_ON_RING8 "axes: {network.bandwidth: [[20], [30]]}\nconstraints: ['network.bandwidth[0] < 25']\n",
     20},
    {SMALL_ON_RING8
     "axes: {scheduler.roofline_enabled: [yes, no]}\nconstraints: [not scheduler.roofline_enabled]\n",
     20},
    /* who sets collectives.all sets every collective */
    {SMALL_ON_RING8 "axes: {collectives.all: [[ring], [direct]]}\n"
                    "constraints: [\"collectives.all_reduce[0] == 'ring'\"]\n",
     20},
    /* of the values of cards alone; and NPUs that come and go */
    {SMALL_ON_RING8 "axes: {heads: [8, 6, 4]}\nconstraints: [heads > 4, tp <= 2, heads < 8]\n", 2 * (4 + 3)},
    {SMALL_ON_RING8 "axes: {batch: [1, 2], 'network.npus_count[0]': [2, 4]}\nconstraints: [batch < npus]\n",
     2 * (3 + 6 + 6)},
    {"models: [small, deep]\nsystems: [ring8, boxes8]\nconstraints: [\"system == 'boxes8' or dp == 8\"]\n",
     2 * (20 + 2)},
    {"models: [small, deep]\nsystems: [boxes8]\nconstraints: [\"model != 'deep' or network.npus_count[1] == "
     "dp\"]\n",
     20 + 2 * 3},
};

CLAIM(points_are_counted_without_being_made)
{
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        assert_ok(spaces_count(&s, counts[i].text), &s.err);
        if (s.n != counts[i].n)
            fail_msg("%llu points, not %llu, in\n%s", (unsigned long long)s.n,
                     (unsigned long long)counts[i].n, counts[i].text);
    }
}

CLAIM(as_many_points_are_made_each_of_its_variant_once)
{
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        assert_ok(spaces_make(&s, counts[i].text), &s.err);
        assert_u64(s.points.n, counts[i].n);
        for (size_t k = 0; k < s.points.n; k++) {
            const drv_space_point *p = &s.points.point[k], *before = p - 1;
            dse_error err = DSE_ERROR_INIT;
            drv_study study;

            assert_ok(drv_points_study(&s.points, p->variant, &s.arena, &study, &err), &err);
            assert_ok(drv_point_check(&study, &p->point, &err), &err);
            assert_true(!k || before->variant < p->variant ||
                        (before->variant == p->variant && compare_points(&before->point, &p->point) < 0));
        }
    }
}

/* Of the space and of a shard, on the way there and back, and the same configurations. */
static void check_stream(drv_shard shard)
{
    drv_points stream;
    drv_cursor c;
    size_t n_all;
    dse_arena a;

    dse_arena_init(&a);
    assert_ok(drv_space_stream(&s.space, shard, &s.arena, &stream, &n_all, &s.err), &s.err);
    assert_u64(n_all, s.points.n);
    assert_u64(stream.n, (s.points.n - shard.first + shard.step - 1) / shard.step);
    assert_u64(stream.n_refused, s.points.n_refused);
    assert_string_equal(stream.refusal, s.points.refusal);
    drv_cursor_init(&c, &stream);
    for (size_t i = 0; i < stream.n + 6; i++) { /* there; then the last, the first, the last but one... */
        const size_t back = (i - stream.n) / 2 % stream.n;
        const size_t k = i < stream.n ? i : (i - stream.n) % 2 ? back : stream.n - 1 - back;
        const drv_space_point *listed = &s.points.point[shard.first + k * shard.step];
        drv_study study, of_list;
        drv_space_point p;

        dse_arena_reset(&a);
        assert_ok(drv_cursor_get(&c, k, &p, &s.err), &s.err);
        assert_int_equal(strategy_compare(&p.point, &listed->point), 0);
        assert_ok(drv_points_study(&stream, p.variant, &a, &study, &s.err), &s.err);
        assert_ok(drv_points_study(&s.points, listed->variant, &a, &of_list, &s.err), &s.err);
        assert_string_equal(study.model_name, of_list.model_name);
        assert_string_equal(study.system_name, of_list.system_name);
        assert_string_equal(study.settings, of_list.settings);
    }
    drv_cursor_free(&c);
    assert_ok(drv_points_hold(&stream, &s.arena, &s.err), &s.err);
    for (size_t i = 0; i < stream.n; i++)
        assert_int_equal(strategy_compare(&stream.point[i].point,
                                          &s.points.point[shard.first + i * shard.step].point),
                         0);
    dse_arena_free(&a);
}

CLAIM(points_that_are_made_again_are_those_of_the_list)
{
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        assert_ok(spaces_make(&s, counts[i].text), &s.err);
        check_stream((drv_shard){0, 1});
        check_stream((drv_shard){s.points.n > 2 ? 2 : 0, 3});
    }
    assert_ok(spaces_make(&s, SMALL_ON_RING8 "set: {operators: gpt}\naxes: {batch: [1, 16]}\n"), &s.err);
    check_stream((drv_shard){1, 2});
}

CLAIM(what_points_try_is_known_of_a_list_and_of_a_stream)
{
    const drv_tried *of_list, *of_stream;
    drv_points stream;
    size_t n_all;

    assert_ok(spaces_make(&s, SMALL_ON_RING8 "axes: {operators: [transformer, gpt], batch: [1, 16]}\n"), &s.err);
    assert_ok(drv_space_stream(&s.space, (drv_shard){0, 1}, &s.arena, &stream, &n_all, &s.err), &s.err);
    of_list = drv_points_tried(&s.points, &s.arena);
    of_stream = drv_points_tried(&stream, &s.arena);
    assert_true(of_list->has_stage && of_stream->has_stage);
    assert_u64(of_list->n_laws, 1);
    assert_u64(of_stream->n_laws, 1);
    assert_string_equal(of_list->laws[0], of_stream->laws[0]);
    assert_u64(of_list->of.of[STRATEGY_dp].n, 4); /* 1, 2, 4, 8, of a batch of 16 */
    for (uint32_t k = 0; k < STRATEGY_N; k++) {
        assert_u64(of_stream->of.of[k].n, of_list->of.of[k].n);
        for (uint32_t i = 0; i < of_list->of.of[k].n; i++)
            assert_u64(of_stream->of.of[k].value[i], of_list->of.of[k].value[i]);
    }
}

/* Which points a training step can be follows from most of a model: a batch of 1 leaves dp 1 alone, 3 layers no other
 * stages than 2 do. */
CLAIM(points_of_profile_train_are_counted_as_many_as_are_made)
{
    static const char *const texts[] = {
        SMALL_ON_RING8 "set: {operators: gpt}\naxes: {batch: [1, 16]}\n",
        SMALL_ON_RING8 "set: {operators: gpt}\naxes: {layers: [2, 3], sequence: [64, 32768]}\n",
        SMALL_ON_RING8 "set: {operators: gpt}\naxes: {heads: [8, 6]}\n",
        SMALL_ON_RING8 "set: {operators: gpt}\naxes: {profile: [stage, train]}\n",
        SMALL_ON_RING8 "axes: {operators: [transformer, gpt], batch: [1, 16]}\n",
    };

    for (size_t i = 0; i < DSE_COUNT(texts); i++) {
        assert_ok(spaces_make(&s, texts[i]), &s.err);
        assert_u64(s.n, s.points.n);
    }
}

/* Also where the variant before had the same. */
CLAIM(a_variant_has_the_points_that_it_has_alone)
{
    static const char *const texts[] = {
        SMALL_ON_RING8 "axes: {batch: [8, 16], 'network.latency[0]': [1us, 2us, 3us]}\n",
        SMALL_ON_RING8 "axes: {stages: [turns, neighbours], 'network.bandwidth[0]': [20, 30], pp: [1, 2]}\n",
        SMALL_ON_RING8 "set: {operators: gpt}\naxes: {'network.latency[0]': [1us, 2us], batch: [1, 16]}\n",
        SMALL_ON_RING8 "set: {operators: gpt}\naxes: {batch: [1, 16], 'network.latency[0]': [1us, 2us]}\n",
        SMALL_ON_RING8 "axes: {'network.npus_count[0]': [4, 8], 'network.latency[0]': [1us, 2us]}\n",
        "models: [small, deep]\nsystems: [ring8, boxes8]\naxes: {'network.latency[0]': [1us, 2us]}\n",
        SMALL_ON_RING8 "set: {operators: gpt}\naxes: {fp8_recipe: [none, delayed], compute.peak_fp8: [1, 2]}\n",
    };

    for (size_t i = 0; i < DSE_COUNT(texts); i++) {
        drv_walk_variant v;
        drv_walk *w;
        bool more;

        assert_ok(spaces_load(&s, texts[i]), &s.err);
        w = drv_walk_new(&s.space);
        while (assert_ok(drv_walk_next(w, &v, &more, &s.err), &s.err), more) {
            strategy *alone;
            size_t n;

            assert_ok(drv_space_strategies(&s.space, v.varied, &s.arena, &alone, &n, NULL, &s.err), &s.err);
            assert_u64(v.n, n);
            for (size_t k = 0; k < n; k++)
                assert_int_equal(strategy_compare(&v.point[k], &alone[k]), 0);
        }
        drv_walk_free(w);
    }
}

/* Points that rules refuse are counted for each variant. */
CLAIM(each_value_of_a_rate_refuses_as_many_points)
{
    uint64_t alone;

    assert_ok(spaces_make(&s, SMALL_ON_RING8 "set: {operators: gpt}\naxes: {batch: [1]}\n"), &s.err);
    alone = s.points.n_refused;
    assert_true(alone > 0);
    assert_ok(spaces_make(&s, SMALL_ON_RING8 "set: {operators: gpt}\n"
                                             "axes: {batch: [1], 'network.latency[0]': [1us, 2us, 3us]}\n"),
              &s.err);
    assert_u64(s.points.n_refused, 3 * alone);
}

/* An axis that does not matter is looked at once: its other values need not even be there. */
CLAIM(a_count_too_large_for_64_bits_says_so)
{
    static const char *one[] = {"1"};
    drv_axis axes[] = {{.path = "batch", .n = 1000000, .value = one},
                       {.path = "sequence", .n = 1000000, .value = one},
                       {.path = "d_model", .n = 1000000, .value = one}};

    assert_ok(spaces_load(&s, SMALL_ON_RING8), &s.err);
    s.space.axis = axes;
    s.space.n_axes = 2;
    assert_ok(drv_space_count(&s.space, &s.n, &s.err), &s.err);
    assert_u64(s.n, UINT64_C(20000000000000));
    s.space.n_axes = 3; /* 2 * 10^19 is more than 2^64 - 1, which is about 1.8 * 10^19 */
    assert_ok(drv_space_count(&s.space, &s.n, &s.err), &s.err);
    assert_u64(s.n, UINT64_MAX);
}

/* ---- order --------------------------------------------------------------------------------- */

CLAIM(the_first_axis_is_the_slowest_and_models_come_before_systems)
{
    static const struct {
        const char *model, *system, *batch, *layers;
    } expected[] = {
        {"small", "ring8", "32", "2"},  {"small", "ring8", "32", "1"},  {"small", "ring8", "16", "2"},
        {"small", "ring8", "16", "1"},  {"small", "boxes8", "32", "2"}, {"small", "boxes8", "32", "1"},
        {"small", "boxes8", "16", "2"}, {"small", "boxes8", "16", "1"}, {"deep", "ring8", "32", "2"},
    };

    assert_ok(spaces_make(&s, "models: [small, deep]\nsystems: [ring8, boxes8]\n"
                              "axes: {batch: [32, 16], dp: 8, recompute: no, layers: [2, 1]}\n"),
              &s.err);
    assert_int_equal(s.points.n, 16);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const drv_study *study = &s.space.study[spaces_variant(&s, i)->study];

        assert_string_equal(study->model_name, expected[i].model);
        assert_string_equal(study->system_name, expected[i].system);
        assert_string_equal(spaces_value(&s, i, "batch"), expected[i].batch);
        assert_string_equal(spaces_value(&s, i, "layers"), expected[i].layers);
    }
}

CLAIM(a_variant_has_its_values_and_says_so_in_one_order)
{
    dse_error err = DSE_ERROR_INIT;
    drv_study study;

    assert_ok(spaces_make(&s,
                          SMALL_ON_RING8 "set: {sequence: 64, d_model: 256}\n"
                                         "axes: {layers: [7], batch: [32], network.bandwidth: [[25GB/s]]}\n"),
              &s.err);
    assert_ok(drv_points_study(&s.points, 0, &s.arena, &study, &err), &err);
    assert_int_equal(study.model.layers, 7);
    assert_int_equal(study.model.batch, 32);
    assert_int_equal(study.model.sequence, 64);
    assert_int_equal(study.model.d_model, 256);
    assert_int_equal(study.model.heads, 8); /* of the card */
    assert_double(study.system.bandwidth.v[0], 25e9 / 1073741824.0);
    assert_string_equal(study.settings,
                        "batch=32 d_model=256 layers=7 network.bandwidth=[25GB/s] sequence=64");
}

/* ---- no points ----------------------------------------------------------------------------- */

CLAIM(the_constraint_that_removes_the_last_point_is_named)
{
    assert_failure(
        spaces_count(&s, SMALL_ON_RING8 "constraints:\n  - tp < 4\n  - sp == 1\n  - tp > 4\n  - 0\n"), &s.err,
        DSE_E_RANGE, "s.yaml:6:5",
        /* tp 1 and 2, sp 1 */
        "the space has no point: 'tp > 4' removes the last 4 that the constraints before it leave");
    assert_failure(spaces_count(&s, SMALL_ON_RING8 "constraints: [1 == 2]\n"), &s.err, DSE_E_RANGE,
                   "s.yaml:3:15", "the space has no point: '1 == 2' removes the last 20");
    /* over all studies and variants: the last of them may still be left to a later constraint */
    assert_failure(
        spaces_count(&s, "models: [small, deep]\nsystems: [ring8]\naxes: {batch: [1, 2]}\n"
                         "constraints: [\"model == 'small'\", batch == 2, dp == 16]\n"),
        &s.err, DSE_E_RANGE, "s.yaml:4:47",
        "the space has no point: 'dp == 16' removes the last 20 that the constraints before it leave");
}

CLAIM(a_space_without_points_says_which_rule_leaves_none)
{
    assert_failure(spaces_count(&s, SMALL_ON_RING8 "axes: {dp: 3}\n"), &s.err, DSE_E_RANGE, "",
                   "the space has no point: no dp * tp * sp * pp is the number of NPUs (ring8 has 8)");
    assert_failure(
        spaces_count(&s, SMALL_ON_RING8 "axes: {pp: 8}\nset: {layers: 2}\n"), &s.err, DSE_E_RANGE, "",
        "the space has no point: pp is always more than the stages that the layers and two embeddings of "
        "small can fill");
}

/* What --dp and the like ask for must be there in every study; what a file lists need not. */
CLAIM(a_value_of_the_command_line_must_be_in_a_point)
{
    assert_ok(spaces_load(&s, SMALL_ON_RING8 "axes: {dp: [2, 3]}\n"), &s.err);
    s.space.every_value = true;
    assert_failure(drv_space_count(&s.space, &s.n, &s.err), &s.err, DSE_E_RANGE, "",
                   "small on ring8: dp 3 does not divide the 8 NPUs of the system");
}

/* ---- refusals ------------------------------------------------------------------------------ */

static void refuse(const char *rest, dse_status status, const char *where, const char *message)
{
    char text[600];

    snprintf(text, sizeof text, SMALL_ON_RING8 "%s\n", rest);
    assert_failure(spaces_count(&s, text), &s.err, status, where, unit_with_parameters(message));
}

CLAIM(a_name_that_nothing_has_is_refused)
{
    refuse("constraints: [dq == 8]", DSE_E_CONFIG, "s.yaml:3:15",
           "unknown name 'dq' in 'dq == 8'; did you mean 'dp'?");
    refuse("constraints: [layer % pp == 0]", DSE_E_CONFIG, "s.yaml:3:15",
           "unknown name 'layer' in 'layer % pp == 0'; did you mean 'layers'?");
    refuse(
        "constraints: ['network.bandwith[0] > 3']", DSE_E_CONFIG, "s.yaml:3:15",
        "unknown name 'network.bandwith[0]' in 'network.bandwith[0] > 3'; did you mean 'network.bandwidth'?");
    refuse(
        "constraints: [colour == 1]", DSE_E_CONFIG, "s.yaml:3:15",
        "unknown name 'colour' in 'colour == 1'; there are PARAMETERS, npus, model, system, and the "
        "keys of cards");
}

CLAIM(a_name_without_a_value_is_refused)
{
    refuse("constraints: [network.bandwidth > 3]", DSE_E_CONFIG, "s.yaml:3:15",
           "'network.bandwidth > 3': 'network.bandwidth' is a list; name one of its elements, for example "
           "network.bandwidth[0]");
    refuse("constraints: ['network.bandwidth[1] > 3']", DSE_E_CONFIG, "s.yaml:3:15",
           "'network.bandwidth[1] > 3': small on ring8 has no value for 'network.bandwidth[1]'");
    refuse("constraints: [memory.capacity > 3GB]", DSE_E_CONFIG, "s.yaml:3:15",
           "in 'memory.capacity > 3GB': expected a number at '3GB'");
    refuse("constraints: [memory.capacity > 3]", DSE_E_CONFIG, "s.yaml:3:15",
           "'memory.capacity > 3': small on ring8 has no value for 'memory.capacity'");
}

CLAIM(a_constraint_that_cannot_be_evaluated_says_at_which_point)
{
    refuse("constraints: [heads % (tp - 1) == 0]", DSE_E_CONFIG, "s.yaml:3:15",
           "'heads % (tp - 1) == 0': a division by 0, at 1_1_8_1_0");
    refuse("constraints: [model < 3]", DSE_E_CONFIG, "s.yaml:3:15",
           "'model < 3': a text is compared with a number, at 1_1_8_1_0");
}

CLAIM(values_that_undo_each_other_are_refused)
{
    refuse("axes: {network.bandwidth: [[1], [2]], 'network.bandwidth[0]': [3]}", DSE_E_CONFIG, "",
           "two axes vary the same value: 'network.bandwidth' and 'network.bandwidth[0]'");
    refuse("axes: {layers: [1, 2]}\nset: {layers: 3}", DSE_E_CONFIG, "",
           "small on ring8 with layers=1: 'layers' varies, and 'layers' is set over the cards already");
    refuse("axes: {network.bandwidth: [[1]]}\nset: {'network.bandwidth[0]': 3}", DSE_E_CONFIG, "",
           "small on ring8 with network.bandwidth=[1]: 'network.bandwidth' varies, and "
           "'network.bandwidth[0]' is "
           "set over the cards already");
    refuse("axes: {collectives.all: [[ring]]}\nset: {collectives.all_reduce: [direct]}", DSE_E_CONFIG, "",
           "small on ring8 with collectives.all=[ring]: 'collectives.all' varies, and "
           "'collectives.all_reduce' is "
           "set over the cards already");
    /* the other way round the one is over the other, as in a card */
    assert_ok(spaces_count(&s, SMALL_ON_RING8 "axes: {collectives.all_reduce: [[direct], [ring]]}\n"
                                              "set: {collectives.all: [ring]}\n"),
              &s.err);
    assert_u64(s.n, 40);
}

CLAIM(a_combination_that_makes_no_system_is_named)
{
    refuse(
        "axes: {network.topology: [[Ring], [Ring, Ring]], network.npus_count: [[8], [4, 2]]}", DSE_E_CONFIG,
        "",
        "small on ring8 with network.npus_count=[4,2] network.topology=[Ring]: npus_count has 2 entries, but "
        "topology has 1; each dimension needs one of each");
    refuse("axes: {'network.npus_count[1]': [8]}", DSE_E_CONFIG, "",
           "small on ring8 with network.npus_count[1]=8: cannot set 'network.npus_count[1]' to '8': "
           "'network.npus_count[1]' is not there: network.npus_count has 1 entries, counted from 0");
}

CLAIM(points_need_not_be_counted_before_they_are_made)
{
    assert_ok(spaces_load(&s, SMALL_ON_RING8 "axes: {batch: [1, 4]}\nconstraints: [batch % dp == 0]\n"),
              &s.err);
    assert_ok(drv_space_points(&s.space, &s.arena, &s.points, &s.err), &s.err);
    assert_u64(s.points.n, 2 * (4 + 4 + 3 + 2)); /* as in `counts`, of one sequence */
    assert_ok(spaces_load(&s, SMALL_ON_RING8 "constraints: [tp > 8]\n"), &s.err);
    assert_failure(drv_space_points(&s.space, &s.arena, &s.points, &s.err), &s.err, DSE_E_RANGE,
                   "s.yaml:3:15", "the space has no point: 'tp > 8' removes the last 20");
    assert_ok(spaces_load(&s, SMALL_ON_RING8 "constraints: [dq == 8]\n"), &s.err);
    assert_failure(drv_space_points(&s.space, &s.arena, &s.points, &s.err), &s.err, DSE_E_CONFIG,
                   "s.yaml:3:15", "unknown name 'dq' in 'dq == 8'; did you mean 'dp'?");
}

/* ---- sizes --------------------------------------------------------------------------------- */

static void check_size(const char *rest, int what, uint64_t n)
{
    char text[600];
    drv_size size;

    snprintf(text, sizeof text, SMALL_ON_RING8 "%s\n", rest);
    assert_ok(spaces_load(&s, text), &s.err);
    assert_ok(drv_space_estimate(&s.space, &size, &s.err), &s.err);
    assert_int_equal(size.what, what);
    assert_u64(size.n, n);
}

CLAIM(what_is_known_of_a_large_space_is_said)
{
    check_size("constraints: [tp <= 2]", DRV_SIZE_POINTS, 2 * (4 + 3));
    check_size("axes: {layers: {from: 1, to: 100000}, batch: {from: 1, to: 100000}}", DRV_SIZE_POINTS,
               UINT64_C(20) * 100000 * 100000);
    /* each value of an axis that a constraint names is looked at */
    check_size("axes: {layers: {from: 1, to: 100000}, batch: {from: 1, to: 100000}, sequence: [1, 2]}\n"
               "constraints: [batch > layers]",
               DRV_SIZE_UNCONSTRAINED, UINT64_C(20) * 100000 * 100000 * 2);
    /* and of one that the number of strategies depends on */
    check_size("axes: {'network.npus_count[0]': {from: 2, to: 100001}, layers: {from: 1, to: 100}, "
               "batch: [1, 2], pp: [1, 2]}",
               DRV_SIZE_VARIANTS, UINT64_C(100000) * 100 * 2);
}

CLAIM(a_space_too_large_to_count_is_refused_for_what_it_is)
{
    drv_size size;

    assert_ok(spaces_load(&s, SMALL_ON_RING8
                          "axes: {layers: {from: 1, to: 100000}, batch: {from: 1, to: 100000}}\n"
                          "constraints: [batch > layer]\n"),
              &s.err);
    assert_failure(drv_space_estimate(&s.space, &size, &s.err), &s.err, DSE_E_CONFIG, "s.yaml:4:15",
                   "unknown name 'layer' in 'batch > layer'; did you mean 'layers'?");
}

CLAIM(a_card_that_is_not_there_is_refused)
{
    assert_says(spaces_load(&s, "models: [smal]\nsystems: [ring8]\n"), &s.err, DSE_E_CONFIG,
                "unknown model 'smal'; did you mean 'small'?");
}

/* ---- memory -------------------------------------------------------------------------------- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_counted_without_being_made),
        cmocka_unit_test(as_many_points_are_made_each_of_its_variant_once),
        cmocka_unit_test(points_that_are_made_again_are_those_of_the_list),
        cmocka_unit_test(what_points_try_is_known_of_a_list_and_of_a_stream),
        cmocka_unit_test(points_of_profile_train_are_counted_as_many_as_are_made),
        cmocka_unit_test(a_variant_has_the_points_that_it_has_alone),
        cmocka_unit_test(each_value_of_a_rate_refuses_as_many_points),
        cmocka_unit_test(a_count_too_large_for_64_bits_says_so),
        cmocka_unit_test(the_first_axis_is_the_slowest_and_models_come_before_systems),
        cmocka_unit_test(a_variant_has_its_values_and_says_so_in_one_order),
        cmocka_unit_test(the_constraint_that_removes_the_last_point_is_named),
        cmocka_unit_test(a_space_without_points_says_which_rule_leaves_none),
        cmocka_unit_test(a_value_of_the_command_line_must_be_in_a_point),
        cmocka_unit_test(a_name_that_nothing_has_is_refused),
        cmocka_unit_test(a_name_without_a_value_is_refused),
        cmocka_unit_test(a_constraint_that_cannot_be_evaluated_says_at_which_point),
        cmocka_unit_test(values_that_undo_each_other_are_refused),
        cmocka_unit_test(a_combination_that_makes_no_system_is_named),
        cmocka_unit_test(points_need_not_be_counted_before_they_are_made),
        cmocka_unit_test(what_is_known_of_a_large_space_is_said),
        cmocka_unit_test(a_space_too_large_to_count_is_refused_for_what_it_is),
        cmocka_unit_test(a_card_that_is_not_there_is_refused),
    };
    int failures;

    spaces_use(TEST_DATA "/cards");
    dse_arena_init(&s.arena);
    failures = RUN_TESTS(tests);
    dse_arena_free(&s.arena);
    return failures;
}
