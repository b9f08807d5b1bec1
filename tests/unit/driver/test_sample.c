/* The lists are what Python draws: random.seed(S), and for each model random.sample(sorted(names), N), with the names of
 * the 56 strategies on 64 NPUs. */
#include "driver/sample.h"
#include "unit/driver/spaces.h"

static spaces s;

static dse_status draw(const char *text, uint32_t n, int64_t seed)
{
    dse_status st = spaces_make(&s, text);

    return st == DSE_OK ? drv_points_sample(&s.points, n, seed, &s.arena, &s.err) : st;
}

static void check_points(size_t first, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char name[STRATEGY_NAME_MAX];

        strategy_name(&s.points.point[first + i].point, NULL, name);
        assert_string_equal(name, names[i]);
    }
}

static const char *const llama[] = {"8_8_1_1_0",  "2_2_16_1_0", "8_1_8_1_0",  "2_32_1_1_0", "16_2_2_1_0",
                                    "1_64_1_1_0", "32_1_2_1_0", "2_8_4_1_1",  "2_2_16_1_1", "1_8_8_1_1",
                                    "2_8_4_1_0",  "2_1_32_1_0", "4_16_1_1_1", "1_32_2_1_1", "8_1_8_1_1",
                                    "1_1_64_1_0", "1_8_8_1_0",  "4_2_8_1_0",  "1_16_4_1_0", "8_2_4_1_0"};
static const char *const gpt[] = {"32_2_1_1_0", "4_8_2_1_1", "8_2_4_1_1", "4_1_16_1_0"};

CLAIM(a_sample_is_pythons)
{
    assert_ok(draw("models: [llama70b]\nsystems: [system1]\n", 20, 0), &s.err);
    assert_int_equal(s.points.n, 20);
    check_points(0, llama, 20);
}

CLAIM(the_next_model_is_drawn_for_by_the_same_generator)
{
    assert_ok(draw("models: [llama70b, gpt175b]\nsystems: [system1]\n", 20, 0), &s.err);
    assert_int_equal(s.points.n, 40);
    check_points(0, llama, 20);
    check_points(20, gpt, 4);
}

/* Both have 64 NPUs, and so the same names. */
CLAIM(systems_share_the_draw_of_a_model)
{
    assert_ok(draw("models: [llama70b, gpt175b]\nsystems: [system1, system2]\n", 20, 0), &s.err);
    assert_int_equal(s.points.n, 80);
    check_points(0, llama, 20);
    check_points(20, llama, 20);
    check_points(40, gpt, 4);
    check_points(60, gpt, 4);
    for (uint32_t i = 0; i < 80; i++)
        assert_int_equal(s.points.variant[s.points.point[i].variant].study, i / 20);
}

/* dgx_16 has 16 NPUs: other names, and so a draw of its own, after which system1's goes on where it would not have been
 * without it: random.sample of 30 names and then of 56. */
CLAIM(a_system_of_another_size_has_its_own_draw)
{
    static const char *const expected[] = {"8_1_2_1_1", "2_1_8_1_0", "4_4_1_1_0"}, *const then[] = {
                                                                                       "2_32_1_1_0",
                                                                                       "16_2_2_1_0",
                                                                                       "1_64_1_1_0"};

    assert_ok(draw("models: [llama70b]\nsystems: [dgx_16, system1]\n", 3, 0), &s.err);
    assert_int_equal(s.points.n, 6);
    check_points(0, expected, 3);
    check_points(3, then, 3);
}

/* "_layers=2" and "_layers=4" stand behind the name of a point, and are sorted with it. */
CLAIM(values_that_vary_are_part_of_a_name)
{
    static const struct {
        const char *name, *layers;
    } expected[] = {{"2_16_2_1_1", "2"},
                    {"1_1_64_1_1_ws", "2"},
                    {"2_2_16_1_0_ws", "4"},
                    {"4_2_8_1_1_ws", "2"},
                    {"16_2_2_1_0_ws", "2"}};

    assert_ok(
        draw("models: [llama70b]\nsystems: [system1]\naxes: {layers: [4, 2], weight_sharded: both}\n", 5, 7),
        &s.err);
    assert_int_equal(s.points.n, 5);
    for (size_t i = 0; i < 5; i++) {
        check_points(i, &expected[i].name, 1);
        assert_string_equal(spaces_value(&s, i, "layers"), expected[i].layers);
    }
}

CLAIM(all_points_are_a_sample_too)
{
    bool seen[56] = {false};
    drv_points all;

    assert_ok(spaces_make(&s, "models: [llama70b]\nsystems: [system1]\n"), &s.err);
    all = s.points;
    assert_ok(drv_points_sample(&s.points, 56, 3, &s.arena, &s.err), &s.err);
    assert_int_equal(s.points.n, 56);
    for (size_t i = 0; i < 56; i++) {
        size_t k = 0;

        while (k < 56 && (all.point[k].variant != s.points.point[i].variant ||
                          strategy_compare(&all.point[k].point, &s.points.point[i].point) != 0))
            k++;
        assert_true(k < 56 && !seen[k]);
        seen[k] = true;
    }
}

CLAIM(a_sample_larger_than_the_space_is_refused)
{
    assert_failure(draw("models: [llama70b]\nsystems: [system1]\n", 57, 0), &s.err, DSE_E_USAGE, "",
                   "--sample 57 is more than the 56 points of llama70b on system1");
    assert_failure(draw("models: [llama70b]\nsystems: [system1, dgx_16]\n", 31, 0), &s.err, DSE_E_USAGE, "",
                   "--sample 31 is more than the 30 points of llama70b on dgx_16");
    assert_failure(
        draw("models: [llama70b, gpt175b]\nsystems: [dgx_16]\nconstraints: [\"model == 'gpt175b'\"]\n", 1, 0),
        &s.err, DSE_E_USAGE, "", "--sample 1 is more than the 0 points of llama70b on dgx_16");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_is_pythons),
        cmocka_unit_test(the_next_model_is_drawn_for_by_the_same_generator),
        cmocka_unit_test(systems_share_the_draw_of_a_model),
        cmocka_unit_test(a_system_of_another_size_has_its_own_draw),
        cmocka_unit_test(values_that_vary_are_part_of_a_name),
        cmocka_unit_test(all_points_are_a_sample_too),
        cmocka_unit_test(a_sample_larger_than_the_space_is_refused),
    };
    int failures;

    spaces_use(TEST_SOURCE "/configs");
    dse_arena_init(&s.arena);
    failures = RUN_TESTS(tests);
    dse_arena_free(&s.arena);
    return failures;
}
