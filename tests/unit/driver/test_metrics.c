/* What is stored of a result: the parts of a step by parallel dimension, and the kinds of what a peak holds. */
#include "driver/study.h"
#include "report/parts.h"
#include "unit/point.h"
#include "unit/unit.h"

static dse_arena arena;
static dse_error err;
static drv_study study;
static store_metrics m;

#define CARDS TEST_DATA "/cards"

/* The small model on a system; `words` are set over both cards. */
static void load(const char *system, size_t n, const char *const *words)
{
    cfg_settings settings;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(drv_settings_parse(words, n, &arena, &settings, &err), &err);
    assert_ok(drv_study_load(CARDS "/models/small.yaml", system, &settings, &arena, &study, &err), &err);
}

static uint64_t sum(const report_part *parts, size_t n)
{
    uint64_t v = 0;

    for (size_t i = 0; i < n; i++)
        v += report_part_of(&m, &parts[i]);
    return v;
}

static void run(strategy p)
{
    char name[STRATEGY_NAME_MAX];

    strategy_name(&p, NULL, name);
    assert_ok(drv_point_run(&study, &p, &arena, &m, &err), &err);
    if (sum(report_step_parts, REPORT_N_STEP_PARTS) != m.wall_time)
        fail_msg("%s: the parts of the step do not add up", name);
    if (report_has_peak(&m) && sum(report_peak_parts, REPORT_N_PEAK_PARTS) != m.peak_memory)
        fail_msg("%s: the parts of the peak do not add up", name);
}

static bool is_point(const strategy *p, const char *name)
{
    char text[STRATEGY_NAME_MAX];

    strategy_name(p, NULL, text);
    return !strcmp(text, name);
}

/* Every strategy on eight NPUs, on systems of all kinds, however it is run. */
CLAIM(the_parts_of_a_step_and_of_a_peak_add_up)
{
    static const struct {
        const char *system;
        size_t n;
        const char *words[3];
    } ways[] = {
        {CARDS "/systems/ring8.yaml", 0, {NULL}},
        {CARDS "/systems/boxes8.yaml", 0, {NULL}},
        {CARDS "/systems/boxes8.yaml", 1, {"scheduler.roofline_enabled=false"}},
        {CARDS "/systems/boxes8.yaml", 1, {"scheduler.replay_only=true"}},
        {CARDS "/systems/ring8.yaml", 2, {"scheduler.preferred_dataset_splits=3", "compute.peak_perf=1"}},
        {CARDS "/systems/boxes8.yaml", 2, {"network.latency[1]=5us", "layers=7"}},
        {CARDS "/systems/ring8.yaml", 1, {"scheduler.track_local_mem=false"}},
        {CARDS "/systems/ring8.yaml", 1, {"network.backend=congestion_aware"}},
        {CARDS "/systems/boxes8.yaml", 1, {"network.backend=congestion_aware"}},
    };
    const strategy base = strategy_default();
    const design_axes axes = {.of[STRATEGY_pp] = {4, {1, 2, 4, 8}},
                              .of[STRATEGY_recompute] = {2, {0, 1}},
                              .of[STRATEGY_weight_sharded] = {2, {0, 1}}};

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        strategy *points;
        size_t n;

        load(ways[i].system, ways[i].n, ways[i].words);
        study.model.layers =
            study.model.layers < 6 ? 6 : study.model.layers; /* so that 8 stages are possible */
        assert_ok(design_enumerate(&axes, &base, 8, &arena, &points, &n, &err), &err);
        for (size_t k = 0; k < n; k++) {
            if (i == 8 && is_point(&points[k], "2_1_4_1_1_ws"))
                continue; /* a deadlock, in the reference's congestion-aware branch too */
            run(points[k]);
            assert_u64(m.step_comm_mixed, 0);
            assert_int_equal(m.peak_time == STORE_ABSENT, i == 6);
            assert_true(points[k].dp > 1 || m.step_comm[STRATEGY_AXIS_dp] == 0);
            assert_true(points[k].tp > 1 || m.step_comm[STRATEGY_AXIS_tp] == 0);
            assert_true(points[k].sp > 1 || m.step_comm[STRATEGY_AXIS_sp] == 0);
            assert_true(points[k].pp > 1 || m.step_comm[STRATEGY_AXIS_pp] + m.step_idle == 0);
            assert_true(points[k].recompute || m.peak_recomputed == 0 || i == 6);
        }
        dse_arena_free(&arena);
    }
}

/* ---- the network ---------------------------------------------------------------------------- */

/* On boxes8, [4, 2], NPU 3 is [3, 0] and 4 is [0, 1]: the ring of all eight crosses two dimensions at once, and so does that
 * of the two degrees of a point with all three. */
CLAIM(what_the_model_leaves_out_is_counted_where_it_happens)
{
    static const struct {
        size_t n;
        const char *words[2];
        bool undercharged, flat_rings, links;
    } ways[] = {{0, {NULL}, true, true, false},
                {1, {"network.multi_hop=full"}, false, true, false},
                {1, {"collectives.all=[ring,ring]"}, true, true, false}, /* two rings, not a flat one */
                {1, {"network.backend=congestion_aware"}, false, true, true}};

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        load(CARDS "/systems/boxes8.yaml", ways[i].n, ways[i].words);
        run(unit_point("2_4_1_1_0"));
        assert_int_equal(m.undercharged_messages > 0, ways[i].undercharged);
        assert_int_equal(m.flat_ring_collectives > 0, ways[i].flat_rings);
        assert_int_equal(m.busiest_link != NULL, ways[i].links);
        assert_true(ways[i].links ? m.busiest_link_util > 0 && m.busiest_link_util <= 100
                                  : isnan(m.busiest_link_util));
        dse_arena_free(&arena);
    }
}

/* Groups of the whole system follow the implementations, on a ring of one dimension groups run as the card says. */
CLAIM(where_nothing_is_left_out_nothing_is_counted)
{
    load(CARDS "/systems/boxes8.yaml", 0, NULL);
    run(unit_point("8_1_1_1_0"));
    assert_u64(m.undercharged_messages, 0);
    assert_u64(m.flat_ring_collectives, 0);
    dse_arena_free(&arena);
    load(CARDS "/systems/ring8.yaml", 0, NULL);
    run(unit_point("2_4_1_1_0"));
    assert_u64(m.undercharged_messages, 0);
    assert_u64(m.flat_ring_collectives, 0);
    dse_arena_free(&arena);
}

/* ---- by hand -------------------------------------------------------------------------------- */

static dse_time part[SIM_PART_GROUPS + 4];
static sim_rank_stats stats[16];
static sim_result result;
static wl_group group[4];
static wl_rank ranks[16];
static wl_workload w;

static const mesh_axis axes[] = {{"dp", 2, 1}, {"tp", 2, 2}, {"sp", 2, 4}, {"pp", 2, 8}};

/* 16 ranks, of which rank 5 is the slowest; its slots are of four groups. Part i takes 10^i ns. */
static void by_hand(void)
{
    static uint32_t slot_group[] = {0, 1, 2, 3};
    uint64_t value = 1;

    memset(stats, 0, sizeof stats);
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++, value *= 10)
        part[i] = value;
    ranks[5].group = slot_group;
    w = (wl_workload){.n_ranks = 16, .rank = ranks, .n_groups = 4, .group = group, .mesh = {4, axes}};
    result = (sim_result){.n_ranks = 16, .rank = stats};
    result.step = (sim_breakdown){.rank = 5, .n_parts = sizeof part / sizeof part[0], .part = part};
}

/* rank = dp + 2 (tp + 2 (sp + 2 stage)) with all degrees 2: 5 is dp 1, tp 0, sp 1, stage 0. 4 and 5 differ in dp, 7
 * and 5 in tp, 1 and 5 in sp; 5 and 15 in tp and the stage. The parts of no group, 10^4 and 10^5, go with the latter. */
CLAIM(a_group_counts_for_the_degree_along_which_it_varies)
{
    static uint32_t members[4][2] = {{4, 5}, {5, 7}, {1, 5}, {5, 15}};

    by_hand();
    for (int i = 0; i < 4; i++)
        group[i] = (wl_group){.name = "", .n = 2, .rank = members[i]};
    drv_metrics_of(&w, &result, &m);
    assert_u64(m.step_compute_bound, 1);
    assert_u64(m.step_memory_bound, 10);
    assert_u64(m.step_compute_other, 100);
    assert_u64(m.step_comm[STRATEGY_AXIS_pp], 1000);
    assert_u64(m.step_idle, 1000000);
    assert_u64(m.step_comm[STRATEGY_AXIS_dp], 10000000);
    assert_u64(m.step_comm[STRATEGY_AXIS_tp], 100000000);
    assert_u64(m.step_comm[STRATEGY_AXIS_sp], 1000000000);
    assert_u64(m.step_comm_mixed, 10000000000 + 10000 + 100000);
    assert_u64(m.peak_memory, STORE_ABSENT);
    assert_u64(m.peak_weights, STORE_ABSENT);
}

/* Ranks 5 and 13 differ in the stage alone. */
CLAIM(a_group_along_the_stages_counts_for_pp)
{
    static uint32_t members[] = {5, 13};

    by_hand();
    for (int i = 0; i < 4; i++)
        group[i] = (wl_group){.name = "", .n = 2, .rank = members};
    drv_metrics_of(&w, &result, &m);
    assert_u64(m.step_comm[STRATEGY_AXIS_pp], 11110000000 + 1000);
    assert_u64(m.step_comm_mixed, 10000 + 100000);
}

CLAIM(the_peak_is_that_of_the_largest_rank)
{
    const wl_node node = {.name = "stack_3_dw@0_COMP", .tensor_kind = WL_TENSOR_WEIGHT_GRADIENT, .layer = 3};

    by_hand();
    result.step.n_parts = SIM_PART_GROUPS;
    for (uint32_t i = 0; i < 16; i++)
        stats[i] =
            (sim_rank_stats){.has_memory = true, .peak_memory = 10 + i, .wall = i == 5 ? 100 : i, .peak_time = i};
    result.peak = (sim_peak){.rank = 15, .node = &node};
    for (uint32_t i = 0; i < WL_N_TENSOR_KINDS; i++)
        result.peak.held[i] = i;
    drv_metrics_of(&w, &result, &m);
    assert_u64(m.wall_time, 100);
    assert_u64(m.peak_memory, 25);
    assert_u64(m.peak_memory_rank0, 10);
    assert_u64(m.peak_time, 15);
    assert_u64(m.peak_layer, 3);
    assert_string_equal(m.peak_pass, "backward");
    assert_string_equal(m.peak_node, "stack_3_dw@0_COMP");
    assert_u64(m.peak_inputs, WL_TENSOR_INPUT);
    assert_u64(m.peak_weights, WL_TENSOR_WEIGHT);
    assert_u64(m.peak_activations, WL_TENSOR_ACTIVATION);
    assert_u64(m.peak_recomputed, WL_TENSOR_RECOMPUTED);
    assert_u64(m.peak_activation_gradients, WL_TENSOR_GRADIENT);
    assert_u64(m.peak_weight_gradients, WL_TENSOR_WEIGHT_GRADIENT);
    assert_u64(m.peak_updated_weights, WL_TENSOR_UPDATED_WEIGHT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parts_of_a_step_and_of_a_peak_add_up),
        cmocka_unit_test(what_the_model_leaves_out_is_counted_where_it_happens),
        cmocka_unit_test(where_nothing_is_left_out_nothing_is_counted),
        cmocka_unit_test(a_group_counts_for_the_degree_along_which_it_varies),
        cmocka_unit_test(a_group_along_the_stages_counts_for_pp),
        cmocka_unit_test(the_peak_is_that_of_the_largest_rank),
    };
    return RUN_TESTS(tests);
}
