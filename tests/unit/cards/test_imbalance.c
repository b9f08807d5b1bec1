/* How much more comes to the most loaded rank: said, or drawn. */
#include "cards/imbalance.h"
#include "unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static card_model model(const char *imbalance, int64_t experts, int64_t per_token)
{
    card_model m = {.experts = experts, .experts_per_token = per_token, .layers = 48};

    snprintf(m.imbalance, sizeof m.imbalance, "%s", imbalance);
    return m;
}

static double most(const char *imbalance, int64_t experts, int64_t per_token, uint32_t ep)
{
    const card_model m = model(imbalance, experts, per_token);

    return card_imbalance(&m, ep);
}

static void assert_near(double seen, double expected)
{
    if (!(fabs(seen - expected) < 1e-9))
        fail_msg("%.17g, not %.17g", seen, expected);
}

CLAIM(what_is_said_holds_up_to_the_ranks)
{
    assert_near(most("", 8, 2, 8), 1);
    assert_near(most("even", 8, 2, 8), 1);
    assert_near(most("1.5", 8, 2, 8), 1.5);
    assert_near(most("1.5", 8, 2, 1), 1); /* one rank has all */
    assert_near(most("100", 8, 2, 4), 4);
}

/* Two experts of which the first has two thirds: each rank has one. Of four on two ranks the shares 12, 6, 4, 3 of 25 are dealt
 * out in three ways: 18, 16 or 15 come to the more loaded one. */
CLAIM(shares_are_by_a_power_of_their_place)
{
    const double of_four = most("zipf:1", 4, 1, 2);

    assert_near(most("zipf:1", 2, 1, 2), 4.0 / 3);
    assert_near(most("zipf:0", 64, 6, 8), 1);
    assert_true(of_four >= 2 * 15.0 / 25 && of_four <= 2 * 18.0 / 25);
    assert_true(most("zipf:1.5", 64, 6, 8) > most("zipf:0.5", 64, 6, 8));
}

/* Every token takes two of two experts, one each. */
CLAIM(no_expert_has_more_than_all_tokens)
{
    assert_near(most("zipf:3", 2, 2, 2), 1);
    assert_near(most("zipf:9", 8, 4, 8), 2);
}

CLAIM(draws_are_those_of_their_seed)
{
    assert_near(most("zipf:1:7", 64, 6, 8), most("zipf:1:7", 64, 6, 8));
    assert_true(fabs(most("zipf:1:7", 64, 6, 8) - most("zipf:1:8", 64, 6, 8)) > 1e-6);
}

CLAIM(what_is_none_is_refused)
{
    static const char *const wrong[] = {"0.5", "-1", "nan", "inf", "zipf", "zipf:", "zipf:-1", "zipf:11", "zipf:1:x", "uneven"};
    dse_error err = DSE_ERROR_INIT;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (card_imbalance_check(wrong[i], NULL) != DSE_E_CONFIG)
            fail_msg("%s is taken", wrong[i]);
    assert_ok(card_imbalance_check("zipf:0.5:3", &err), &err);
}

static const char *file_of(const char *text)
{
    FILE *f = fopen("shares.csv", "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return "shares.csv";
}

/* Layer 1 of four experts on two ranks: 7 and 3 of 10 tokens; its sum is 1, whatever is counted. The name has the text's hash
 * from then on, and another text is another file. */
CLAIM(a_file_says_it_layer_by_layer)
{
    card_model m = model(file_of("# measured\nlayer,expert,share\r\n1,0,4\n1,3,1\n1,1,3\n1,2,2\n"), 4, 2);
    const double *const *share;
    dse_error err = DSE_ERROR_INIT;
    dse_arena arena;

    dse_arena_init(&arena);
    m.layers = 3;
    assert_ok(card_imbalance_check(m.imbalance, &err), &err);
    assert_near(card_imbalance(&m, 2), 1); /* which is of no layer */
    assert_ok(card_imbalance_read(&m, &arena, &share, &err), &err);
    assert_null(share[0]);
    assert_null(share[2]);
    assert_near(share[1][1], 0.3);
    assert_near(card_imbalance_of(share[1], 4, 2), 1.4);
    assert_near(card_imbalance_of(share[1], 4, 4), 1.6);
    assert_near(card_imbalance_of(share[1], 4, 1), 1);
    assert_int_equal(strlen(m.imbalance), strlen("shares.csv#") + 16);
    assert_ok(card_imbalance_check(m.imbalance, &err), &err);
    assert_ok(card_imbalance_read(&m, &arena, &share, &err), &err);
    file_of("layer,expert,share\n1,0,1\n1,1,1\n");
    assert_int_equal(card_imbalance_read(&m, &arena, &share, &err), DSE_E_CONFIG);
    assert_non_null(strstr(err.text, "this file has changed since the configuration was written"));
    m = model("zipf:1", 4, 2);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(card_imbalance_read(&m, &arena, &share, &err), &err);
    assert_null(share);
    remove("shares.csv");
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_holds_up_to_the_ranks),
        cmocka_unit_test(shares_are_by_a_power_of_their_place),
        cmocka_unit_test(no_expert_has_more_than_all_tokens),
        cmocka_unit_test(draws_are_those_of_their_seed),
        cmocka_unit_test(what_is_none_is_refused),
        cmocka_unit_test(a_file_says_it_layer_by_layer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
