/* What CPython prints (3.6, 3.9, 3.11, 3.12 and 3.13 agree), for
 *
 *   random.seed(S); [random.getrandbits(32) for _ in range(N)]
 *   random.seed(S); random.sample(range(N), K) */
#include "base/python_random.h"
#include "unit/unit.h"

CLAIM(numbers_are_those_of_python)
{
    static const struct {
        int64_t seed;
        uint32_t expected[3];
    } cases[] = {
        {0, {3626764237u, 1654615998u, 3255389356u}},
        {1, {577090037u, 2444712010u, 3639700191u}},
        {42, {2746317213u, 478163327u, 107420369u}},
        {UINT32_MAX, {2728839433u, 2661025012u, 872737089u}},       /* the last of one word */
        {INT64_C(1) << 32, {485306839u, 1508871100u, 1794561286u}}, /* the first of two */
        {(INT64_C(1) << 32) + 1, {991850117u, 2151679444u, 2200792185u}},
        {-(INT64_C(1) << 40) - 5, {2166296868u, 2220160828u, 1153647273u}},
        {INT64_MAX, {1359979423u, 2819855560u, 2711238091u}},
        {INT64_MIN, {2377109768u, 1691753470u, 4039908392u}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dse_python_random r;

        dse_python_random_seed(&r, cases[i].seed);
        for (int k = 0; k < 3; k++)
            assert_u64(dse_python_random_u32(&r), cases[i].expected[k]);
    }
}

CLAIM(a_seed_and_its_negative_give_the_same)
{
    dse_python_random a, b;

    dse_python_random_seed(&a, 123456789012345);
    dse_python_random_seed(&b, -123456789012345);
    assert_memory_equal(&a, &b, sizeof a);
}

/* 624 words are made at a time: the 2000th is of the fourth making. */
CLAIM(words_are_made_again_and_again)
{
    dse_python_random r;

    dse_python_random_seed(&r, 0);
    for (int i = 1; i < 2000; i++)
        dse_python_random_u32(&r);
    assert_u64(dse_python_random_u32(&r), 3908016617u);
}

#define MAX_DRAWN 30

/* Up to 21 of n for k <= 5, up to 21 + 4^ceil(log4(3k)) for more (85 for 6..21, 277 for 22..85) Python shuffles a list;
 * beyond, it draws again what it has drawn. */
CLAIM(samples_are_those_of_python_on_both_sides_of_the_list_limit)
{
    static const struct {
        int64_t seed;
        uint32_t n, k, expected[MAX_DRAWN];
    } cases[] = {
        {0, 56, 20, {54, 24, 48, 26, 2, 16, 32, 31, 25, 19, 30, 22, 37, 13, 49, 8, 18, 40, 6, 50}},
        {0, 21, 5, {12, 13, 1, 8, 16}},
        {0, 22, 5, {12, 13, 1, 8, 16}},
        {7, 85, 6, {41, 19, 50, 6, 9, 68}},
        {7, 86, 6, {41, 19, 50, 83, 6, 9}},
        {3, 277, 30, {121, 66,  189, 242, 33, 6,  240, 132, 119, 98,  270, 243, 203, 77,  118,
                      263, 199, 7,   32,  81, 21, 154, 260, 259, 210, 221, 68,  276, 152, 184}},
        {3, 278, 30, {121, 66,  189, 242, 33, 6,  240, 132, 119, 98,  276, 243, 203, 77, 118,
                      267, 199, 7,   32,  81, 21, 154, 15,  137, 198, 218, 202, 227, 68, 187}},
        {-3, 10, 10, {3, 8, 2, 7, 4, 9, 0, 6, 5, 1}}, /* all of them */
        {(INT64_C(1) << 32) + 1, 1000, 4, {236, 513, 524, 862}},
        {9, 1000000, 8, {485498, 643002, 391445, 280110, 145269, 195187, 908655, 709512}},
        {1, 1, 1, {0}},
        {5, 7, 0, {0}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t drawn[MAX_DRAWN];
        dse_python_random r;

        dse_python_random_seed(&r, cases[i].seed);
        dse_python_random_sample(&r, cases[i].n, cases[i].k, drawn);
        for (uint32_t k = 0; k < cases[i].k; k++)
            assert_u64(drawn[k], cases[i].expected[k]);
    }
}

/* random.seed(11), and then sample(range(30), 3), sample(range(300), 3) and the first again. */
CLAIM(draws_go_on_from_one_generator)
{
    static const struct {
        uint32_t n, expected[3];
    } draws[] = {{30, {14, 27, 17}}, {300, {238, 231, 260}}, {30, {27, 18, 6}}};
    dse_python_random r;

    dse_python_random_seed(&r, 11);
    for (int i = 0; i < 3; i++) {
        uint32_t drawn[3];

        dse_python_random_sample(&r, draws[i].n, 3, drawn);
        assert_memory_equal(drawn, draws[i].expected, sizeof drawn);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_python),
        cmocka_unit_test(a_seed_and_its_negative_give_the_same),
        cmocka_unit_test(words_are_made_again_and_again),
        cmocka_unit_test(samples_are_those_of_python_on_both_sides_of_the_list_limit),
        cmocka_unit_test(draws_go_on_from_one_generator),
    };
    return RUN_TESTS(tests);
}
