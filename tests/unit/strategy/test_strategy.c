#include "strategy/strategy.h"
#include "unit/unit.h"

static dse_error err;

static const strategy_parameter *row(const char *name)
{
    const uint32_t i = strategy_find(name);

    assert_true(i < STRATEGY_N);
    return &strategy_parameters[i];
}

/* ---- the table ----------------------------------------------------------------------------- */

CLAIM(every_row_is_found_by_its_name_and_stores_its_own_field)
{
    strategy s = strategy_default();

    for (uint32_t i = 0; i < STRATEGY_N; i++)
        strategy_set(&s, i, i + 100);
    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        assert_int_equal(strategy_get(&s, i), i + 100);
        assert_int_equal(strategy_find(strategy_parameters[i].name), i);
    }
    assert_int_equal(s.dp, STRATEGY_dp + 100);
    assert_int_equal(strategy_find("d_p"), STRATEGY_N);
}

CLAIM(orders_are_a_permutation_of_the_rows)
{
    bool seen[STRATEGY_N] = {false};

    for (uint32_t k = 0; k < STRATEGY_N; k++) {
        const uint32_t i = strategy_in_order(k);

        assert_int_equal(strategy_parameters[i].order, k);
        assert_false(seen[i]);
        seen[i] = true;
    }
    assert_int_equal(strategy_in_order(0), STRATEGY_pp); /* the slowest of all listings so far */
}

/* A name is taken apart at its '_' and a list at its commas; so no value has one. */
CLAIM(no_value_has_a_character_that_ends_it)
{
    err = (dse_error)DSE_ERROR_INIT;
    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        const strategy_parameter *p = &strategy_parameters[i];

        /* of a set there is one word at least */
        for (uint32_t v = p->kind == STRATEGY_SET; v < strategy_n_values(p) && v < 1000; v++) {
            char text[STRATEGY_VALUE_MAX];
            uint32_t back;

            assert_null(strpbrk(strategy_print(p, v, text), "_, =\""));
            assert_ok(strategy_parse(p, p->name, text, &back, &err), &err);
            assert_int_equal(back, v);
        }
    }
}

/* ---- values -------------------------------------------------------------------------------- */

CLAIM(what_is_no_value_is_refused)
{
    uint32_t v, other;

    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(strategy_parse(row("dp"), "--dp", "0", &v, &err), &err, DSE_E_USAGE, "",
                   "--dp takes positive whole numbers such as 1,2,4, not '0'");
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(strategy_parse(row("schedule"), "--schedule", "zero-bubble", &v, &err), &err);
    assert_ok(strategy_parse(row("schedule"), "--schedule", "zero_bubble", &other, &err), &err);
    assert_int_equal(v, other);
    assert_failure(strategy_parse(row("schedule"), "--schedule", "zero", &v, &err), &err, DSE_E_USAGE, "",
                   "--schedule takes 1f1b, gpipe, looped-bfs, zero-bubble, zbv, dualpipev or dualpipe, not 'zero'");
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(strategy_parse(row("recompute_modules"), "--r", "mlp+moe_act+mlp", &v, &err), &err);
    assert_int_equal(v, 4 + 16);
    assert_failure(strategy_parse(row("recompute_modules"), "--r", "mlp+", &v, &err), &err, DSE_E_USAGE, "",
                   "--r takes core-attn, layernorm, moe-act, mla-up-proj, mlp, moe or shared-experts, or several joined by +, "
                   "not 'mlp+'");
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(strategy_parse(row("recompute"), "--recompute", "maybe", &v, &err), &err, DSE_E_USAGE, "",
                   "--recompute takes yes, no or both, not 'maybe'");
}

CLAIM(ranks_are_the_product_of_the_degrees)
{
    strategy s = strategy_default();

    assert_u64(strategy_ranks(&s), 1);
    s.dp = 6;
    s.pp = 7;
    assert_u64(strategy_ranks(&s), 42);
    s.dp = s.tp = s.sp = s.pp = 1u << 24; /* 2^96 */
    assert_u64(strategy_ranks(&s), UINT64_MAX);
    assert_string_equal(strategy_product(STRATEGY_PROFILE_STAGE), "dp * tp * sp * pp");
    assert_string_equal(strategy_product(STRATEGY_PROFILE_TRAIN), "dp * tp * cp * pp");
}

/* The second value of every row goes with those of the others in a profile that has them all. */
CLAIM(every_value_goes_with_every_other)
{
    strategy s = strategy_default();

    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(strategy_check(&s, STRATEGY_PROFILE_STAGE, &err), &err);
    assert_ok(strategy_check(&s, STRATEGY_PROFILE_TRAIN, &err), &err);
    for (unsigned profile = STRATEGY_PROFILE_STAGE; profile <= STRATEGY_PROFILE_TRAIN; profile++) {
        s = strategy_default();
        for (uint32_t i = 0; i < STRATEGY_N; i++)
            if (strategy_has_profile(i, profile))
                strategy_set(&s, i, 1);
        assert_ok(strategy_check(&s, profile, &err), &err);
    }
}

CLAIM(a_profile_refuses_what_only_the_other_has)
{
    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        const strategy_parameter *p = &strategy_parameters[i];
        strategy s = strategy_default();

        strategy_set(&s, i, p->fallback + 1);
        err = (dse_error)DSE_ERROR_INIT;
        assert_int_equal(strategy_check(&s, STRATEGY_PROFILE_STAGE, &err) == DSE_OK,
                         !p->profiles || p->profiles & STRATEGY_PROFILE_STAGE);
    }
}

/* What came after the first results is in no configuration and no name while it is the default. */
CLAIM(a_default_that_came_later_is_said_nowhere)
{
    const strategy s = strategy_default();
    dse_strbuf text;
    char name[STRATEGY_NAME_MAX];

    dse_strbuf_init(&text);
    strategy_name(&s, NULL, name);
    assert_string_equal(name, "1_1_1_1_0");
    strategy_say(&s, STRATEGY_PROFILE_STAGE, " ", &text);
    assert_string_equal(text.data, "dp 1, tp 1, sp 1, pp 1, no recomputation");
    dse_strbuf_clear(&text);
    strategy_say(&s, STRATEGY_PROFILE_TRAIN, " ", &text);
    assert_string_equal(text.data, "no parallelism");
    dse_strbuf_clear(&text);
    strategy_print_product(&s, &text);
    assert_string_equal(text.data, "dp 1 * tp 1 * sp 1 * pp 1");
    dse_strbuf_free(&text);
}

/* It has too many parameters for a text to say those that are not used. */
CLAIM(of_profile_train_only_what_is_not_the_default_is_said)
{
    strategy s = strategy_default();
    dse_strbuf text;

    dse_strbuf_init(&text);
    s.dp = 8;
    s.micro_batch = 2;
    strategy_say(&s, STRATEGY_PROFILE_TRAIN, "_", &text);
    assert_string_equal(text.data, "dp_8, micro_batch_2");
    dse_strbuf_free(&text);
}

/* Else an old order, which does not name it, would mean another. */
CLAIM(an_axis_that_came_later_stands_behind_the_others)
{
    for (uint32_t i = 0; i + 1 < STRATEGY_N_AXES; i++)
        assert_true(strategy_parameters[strategy_axes[i + 1]].omit_default ||
                    !strategy_parameters[strategy_axes[i]].omit_default);
}

/* ---- names --------------------------------------------------------------------------------- */

CLAIM(a_name_says_the_places_and_what_is_not_the_default)
{
    strategy s = strategy_default(), back;
    uint64_t said;
    char name[STRATEGY_NAME_MAX];

    err = (dse_error)DSE_ERROR_INIT;
    s.dp = 8;
    s.sp = 4;
    s.recompute = 1;
    strategy_name(&s, NULL, name);
    assert_string_equal(name, "8_1_4_1_1");
    s.weight_sharded = 1;
    strategy_name(&s, NULL, name);
    assert_string_equal(name, "8_1_4_1_1_ws");
    assert_ok(strategy_parse_name(name, NULL, &back, &said, &err), &err);
    assert_int_equal(strategy_compare(&s, &back), 0);
    assert_true(said >> STRATEGY_weight_sharded & 1);
    assert_string_equal(strategy_name_form(), "dp_tp_sp_pp_recompute");
}

/* What the name does not say is that of the base; but a switch that has a suffix is off without it. */
CLAIM(a_name_is_read_over_a_base)
{
    strategy base = strategy_default(), s;

    base.weight_sharded = 1;
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(strategy_parse_name("2_1_1_1_0", &base, &s, NULL, &err), &err);
    assert_int_equal(s.weight_sharded, 0);
    assert_ok(strategy_parse_name("2_1_1_1_0_ws", &base, &s, NULL, &err), &err);
    assert_int_equal(s.weight_sharded, 1);
    assert_int_equal(strategy_parse_name("2_1_1_1_0_ws_ws", &base, &s, NULL, NULL), DSE_E_USAGE);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

CLAIM(the_fields_of_a_configuration_are_what_they_always_were)
{
    strategy s = strategy_default(), back;
    dse_strbuf text;
    dse_arena arena;
    dse_json j;
    cfg_doc doc;

    s.dp = 8;
    s.recompute = 1;
    dse_strbuf_init(&text);
    dse_arena_init(&arena);
    dse_json_init(&j, &text);
    dse_json_begin_object(&j);
    strategy_write_fields(&s, &j);
    dse_json_end_object(&j);
    assert_string_equal(text.data,
                        "{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":true,\"weight_sharded\":false}");
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_json("c", text.data, text.len, &arena, &doc, &err), &err);
    assert_ok(strategy_read(&doc, doc.root, NULL, &back, &err), &err);
    assert_int_equal(strategy_compare(&s, &back), 0);
    dse_arena_free(&arena);
    dse_strbuf_free(&text);
}

static void refuse(const char *json, const char *where, const char *message)
{
    dse_arena arena;
    strategy s;
    cfg_doc doc;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_json("c", json, strlen(json), &arena, &doc, &err), &err);
    assert_failure(strategy_read(&doc, doc.root, NULL, &s, &err), &err, DSE_E_CONFIG, where, message);
    dse_arena_free(&arena);
}

CLAIM(fields_that_are_missing_or_no_values_are_refused)
{
    refuse("{\"dp\":8}", "c", "'tp' is missing");
    refuse("{\"dp\":1,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":3}", "c",
           "'recompute' is missing, or neither true nor false");
}

/* ---- the mesh ------------------------------------------------------------------------------ */

CLAIM(the_first_axis_is_innermost)
{
    strategy s = strategy_default();
    dse_arena arena;
    mesh m;

    s.dp = 2, s.tp = 3, s.pp = 5;
    dse_arena_init(&arena);
    m = strategy_mesh(&s, &arena);
    assert_int_equal(m.n, STRATEGY_N_AXES);
    assert_int_equal(m.axis[mesh_find(&m, "dp")].stride, 1);
    assert_int_equal(m.axis[mesh_find(&m, "tp")].stride, 2);
    assert_int_equal(m.axis[mesh_find(&m, "sp")].stride, 6);
    assert_int_equal(m.axis[mesh_find(&m, "pp")].stride, 6);
    assert_u64(mesh_size(&m, mesh_all(&m)), 30);
    dse_arena_free(&arena);
}

/* Rank 17 = 1 + 2 * 2 + 6 * 2 of dp 2, tp 3, pp 5: dp 1, tp 2, pp 2. */
CLAIM(a_set_of_axes_is_a_kind_of_group)
{
    strategy s = strategy_default();
    dse_arena arena;
    uint32_t group[6];
    mesh_set both;
    mesh m;

    s.dp = 2, s.tp = 3, s.pp = 5;
    dse_arena_init(&arena);
    m = strategy_mesh(&s, &arena);
    both = mesh_only(mesh_find(&m, "dp")) | mesh_only(mesh_find(&m, "pp"));
    assert_int_equal(mesh_coordinate(&m, mesh_find(&m, "tp"), 17), 2);
    assert_u64(mesh_size(&m, both), 10);
    assert_int_equal(mesh_first(&m, both, 17), 4); /* tp 2 alone: 2 * 2 */
    for (uint32_t i = 0; i < 6; i++)
        group[i] = mesh_member(&m, both, 4, i);
    assert_int_equal(group[0], 4);
    assert_int_equal(group[1], 5);
    assert_int_equal(group[2], 10);
    assert_int_equal(group[5], 17);
    assert_u64(mesh_difference(&m, group, 2), mesh_only(mesh_find(&m, "dp")));
    assert_u64(mesh_difference(&m, group, 6), both);
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_found_by_its_name_and_stores_its_own_field),
        cmocka_unit_test(orders_are_a_permutation_of_the_rows),
        cmocka_unit_test(no_value_has_a_character_that_ends_it),
        cmocka_unit_test(what_is_no_value_is_refused),
        cmocka_unit_test(ranks_are_the_product_of_the_degrees),
        cmocka_unit_test(every_value_goes_with_every_other),
        cmocka_unit_test(a_profile_refuses_what_only_the_other_has),
        cmocka_unit_test(a_default_that_came_later_is_said_nowhere),
        cmocka_unit_test(of_profile_train_only_what_is_not_the_default_is_said),
        cmocka_unit_test(an_axis_that_came_later_stands_behind_the_others),
        cmocka_unit_test(a_name_says_the_places_and_what_is_not_the_default),
        cmocka_unit_test(a_name_is_read_over_a_base),
        cmocka_unit_test(the_fields_of_a_configuration_are_what_they_always_were),
        cmocka_unit_test(fields_that_are_missing_or_no_values_are_refused),
        cmocka_unit_test(the_first_axis_is_innermost),
        cmocka_unit_test(a_set_of_axes_is_a_kind_of_group),
    };
    return RUN_TESTS(tests);
}
