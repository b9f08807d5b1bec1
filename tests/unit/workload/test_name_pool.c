#include "unit/unit.h"

#include "workload/name_pool.h"

CLAIM(pieces_are_joined_in_their_order)
{
    const wl_piece piece[] = {WL_PIECE("stack_"), {"31 and more", 2}, WL_PIECE(""), WL_PIECE("_x")};
    dse_arena arena;
    wl_name_pool pool = {.arena = &arena};
    uint32_t len;

    dse_arena_init(&arena);
    assert_string_equal(wl_name_join(&pool, piece, 4, &len), "stack_31_x");
    assert_int_equal(len, 10);
    assert_string_equal(wl_name_join(&pool, piece, 0, NULL), "");
    dse_arena_free(&arena);
}

/* Longer ones than a pool's piece, too; and none runs into another. */
CLAIM(names_stay_as_they_are)
{
    enum { N = 300 };
    static char text[20000];
    const char *name[N];
    dse_arena arena;
    wl_name_pool pool = {.arena = &arena};
    uint32_t len;

    memset(text, 'x', sizeof text);
    dse_arena_init(&arena);
    for (uint32_t i = 0; i < N; i++) {
        const wl_piece piece[] = {{text, i * 61}, WL_PIECE("y")};

        name[i] = wl_name_join(&pool, piece, 2, &len);
        assert_non_null(name[i]);
        assert_int_equal(len, i * 61 + 1);
    }
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(strspn(name[i], "x"), i * 61);
        assert_string_equal(name[i] + i * 61, "y");
    }
    dse_arena_free(&arena);
}

/* An arena that hands out 16 bytes for each of them would need twice as much. */
CLAIM(names_stand_side_by_side)
{
    const wl_piece piece[] = {WL_PIECE("seven_b")};
    dse_arena arena;
    wl_name_pool pool = {.arena = &arena};

    dse_arena_init(&arena);
    for (int i = 0; i < 2048; i++) /* 8 bytes each */
        assert_non_null(wl_name_join(&pool, piece, 1, NULL));
    assert_in_range(arena.total_bytes, 2048 * 8, 2048 * 8 + 1024);
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_joined_in_their_order),
        cmocka_unit_test(names_stay_as_they_are),
        cmocka_unit_test(names_stand_side_by_side),
    };
    return RUN_TESTS(tests);
}
