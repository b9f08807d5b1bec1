/* A forward and a backward pass as one, by hand. */
#include "step/pair.h"
#include "unit/unit.h"

static const wl_kernel kernel;
static const step_collective exchange;

/* A pass whose operations wait for one another: kernels and exchanges in turn. */
static step_pass pass_of(const char *const *name, const dse_time *ticks, uint32_t n, bool begins_with_kernel, dse_arena *a)
{
    step_pass p = {.n = n,
                   .operation = DSE_ARENA_NEW(a, step_pass_operation, n),
                   .need = DSE_ARENA_NEW(a, uint32_t, n),
                   .over = n - 1};

    for (uint32_t i = 0; i < n; i++) {
        const bool is_kernel = (i % 2 == 0) == begins_with_kernel;

        p.operation[i] = (step_pass_operation){.name = name[i],
                                               .kernel = is_kernel ? &kernel : NULL,
                                               .collective = is_kernel ? NULL : &exchange,
                                               .ticks = ticks[i],
                                               .unit = is_kernel ? STEP_UNIT_COMPUTE : STEP_UNIT_LAYER,
                                               .first_need = i ? i - 1 : 0,
                                               .n_needs = i ? 1 : 0};
        if (i)
            p.need[i - 1] = i - 1;
    }
    return p;
}

/* "combine (B), attention (F), ..": the order that DeepSeek recorded (spec of the training step, section 2), where each
 * exchange is shorter than the kernel that it goes on beside. Attention 10 and 20 ticks, experts 8 and 16, exchanges 6. */
CLAIM(exchanges_of_one_pass_stand_before_kernels_of_the_other)
{
    static const char *const forward[] = {"attention F", "dispatch F", "experts F", "combine F"},
                      *const backward[] = {"combine B", "experts B", "dispatch B", "attention B"},
                      *const wanted[] = {"joint",      "combine B",  "attention F", "dispatch F", "experts B",
                                         "dispatch B", "experts F",  "combine F",   "attention B", "joint"};
    dse_arena a;
    step_pass f, b, pair;

    (void)state;
    dse_arena_init(&a);
    f = pass_of(forward, (dse_time[]){10, 6, 8, 6}, 4, true, &a);
    b = pass_of(backward, (dse_time[]){6, 16, 6, 20}, 4, false, &a);
    step_pair_make(&f, &b, &a, &pair);
    assert_int_equal(pair.n, 10);
    for (uint32_t i = 0; i < pair.n; i++)
        assert_string_equal(pair.operation[i].name, wanted[i]);
    /* 18 of 54 ticks of kernels are the forward pass's */
    assert_true(pair.first_share > 0.333 && pair.first_share < 0.334);
    assert_int_equal(pair.over, 9);
    /* Each still waits for its own: experts B (4) for combine B (1), combine F (7) for experts F (6), and the end for both. */
    assert_int_equal(pair.need[pair.operation[4].first_need], 1);
    assert_int_equal(pair.need[pair.operation[7].first_need], 6);
    assert_int_equal(pair.operation[9].n_needs, 2);
    assert_int_equal(pair.need[pair.operation[9].first_need] + pair.need[pair.operation[9].first_need + 1], 7 + 8);
    dse_arena_free(&a);
}

/* What the host takes at least for the blocks of both is taken one after the other. */
CLAIM(floors_of_both_passes_add_up)
{
    static const char *const name[] = {"kernel"};
    dse_arena a;
    step_pass f, b, pair;

    (void)state;
    dse_arena_init(&a);
    f = pass_of(name, (dse_time[]){1}, 1, true, &a);
    b = pass_of(name, (dse_time[]){1}, 1, true, &a);
    f.operation[0].least = 30;
    b.operation[0].least = 40;
    step_pair_make(&f, &b, &a, &pair);
    assert_u64(pair.operation[pair.over].least, 70);
    assert_int_equal(pair.operation[pair.over].since, 0);
    assert_u64(pair.operation[1].least, 0);
    dse_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exchanges_of_one_pass_stand_before_kernels_of_the_other),
        cmocka_unit_test(floors_of_both_passes_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
