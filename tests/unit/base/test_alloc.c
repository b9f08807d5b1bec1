#include "unit/unit.h"

/* The sanitizer ends the program when an allocation is absurdly large; here it is to say no, as libc does. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

CLAIM(a_size_of_zero_is_still_memory)
{
    void *p = dse_realloc(NULL, 0), *q = dse_calloc(0, 0);

    assert_non_null(p);
    assert_non_null(q);
    dse_free(p);
    dse_free(q);
    dse_free(NULL);
}

CLAIM(calloc_clears_and_refuses_an_overflow)
{
    unsigned char *p = dse_calloc(3, 5);

    for (int i = 0; i < 15; i++)
        assert_int_equal(p[i], 0);
    dse_free(p);
    /* 2^63 * 2 wraps to 0 in 64 bits. */
    assert_null(dse_calloc(SIZE_MAX / 2 + 1, 2));
}

CLAIM(the_nth_allocation_fails_and_all_after_it)
{
    void *p[2];

    dse_alloc_fail_after(2);
    p[0] = dse_realloc(NULL, 8);
    p[1] = dse_calloc(1, 8);
    assert_non_null(p[0]);
    assert_non_null(p[1]);
    assert_null(dse_realloc(NULL, 8));
    assert_null(dse_calloc(1, 1));
    dse_alloc_fail_after(-1);
    dse_free(p[0]);
    dse_free(p[1]);
    p[0] = dse_realloc(NULL, 8);
    assert_non_null(p[0]);
    dse_free(p[0]);
}

/* ---- arena --------------------------------------------------------------------------------- */

CLAIM(arena_memory_is_aligned_to_16_bytes)
{
    static const size_t sizes[] = {1, 15, 16, 17, 100, 300000, 3};
    dse_arena a;

    dse_arena_init(&a);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *p = dse_arena_alloc(&a, sizes[i]);

        assert_int_equal((uintptr_t)p % 16, 0);
        memset(p, 0xa5, sizes[i]); /* all of it may be used: the sanitizer looks on */
    }
    dse_arena_free(&a);
}

CLAIM(arena_counts_what_it_handed_out_until_reset)
{
    dse_arena a;

    dse_arena_init(&a);
    dse_arena_alloc(&a, 1);
    dse_arena_alloc(&a, 17);
    assert_int_equal(a.total_bytes, 16 + 32); /* rounded up to the alignment */
    dse_arena_reset(&a);
    assert_int_equal(a.total_bytes, 0);
    dse_arena_free(&a);
}

CLAIM(a_reset_arena_needs_no_new_memory)
{
    dse_arena a;
    void *first;

    dse_arena_init(&a);
    first = dse_arena_alloc(&a, 100);
    dse_arena_alloc(&a, 600000); /* more than a block */
    dse_arena_alloc(&a, 200000);
    dse_arena_reset(&a);
    dse_alloc_fail_after(0);
    assert_ptr_equal(dse_arena_alloc(&a, 100), first);
    assert_non_null(dse_arena_alloc(&a, 600000));
    assert_non_null(dse_arena_alloc(&a, 200000));
    dse_alloc_fail_after(-1);
    dse_arena_free(&a);
}

CLAIM(a_block_too_small_after_reset_is_kept_for_later)
{
    dse_arena a;

    dse_arena_init(&a);
    dse_arena_alloc(&a, 200000);
    dse_arena_alloc(&a, 200000); /* a second block */
    dse_arena_reset(&a);
    dse_arena_alloc(&a, 200000);
    assert_non_null(dse_arena_alloc(&a, 1000000)); /* does not fit the second block: a new one before it */
    dse_alloc_fail_after(0);
    assert_non_null(dse_arena_alloc(&a, 200000)); /* the second block is still there */
    dse_alloc_fail_after(-1);
    dse_arena_free(&a);
}

CLAIM(arena_refuses_sizes_that_overflow)
{
    dse_arena a;

    dse_arena_init(&a);
    assert_null(dse_arena_alloc(&a, SIZE_MAX));
    assert_null(dse_arena_alloc(&a, SIZE_MAX - 15));
    assert_null(dse_arena_zero(&a, SIZE_MAX / 2 + 1, 2));
    assert_null(dse_arena_strndup(&a, "x", SIZE_MAX));
    assert_non_null(dse_arena_alloc(&a, 1)); /* and goes on */
    dse_arena_free(&a);
}

CLAIM(arena_out_of_memory_is_null_and_leaves_the_arena_usable)
{
    dse_arena a;

    dse_arena_init(&a);
    dse_alloc_fail_after(0);
    assert_null(dse_arena_alloc(&a, 1));
    assert_null(dse_arena_printf(&a, "%d", 1));
    dse_alloc_fail_after(-1);
    assert_string_equal(dse_arena_printf(&a, "%d of %s", 1, "many"), "1 of many");
    dse_arena_free(&a);
}

CLAIM(arena_strings_are_copies)
{
    char text[] = "abcdef";
    dse_arena a;
    char *whole, *part;

    dse_arena_init(&a);
    whole = dse_arena_strdup(&a, text);
    part = dse_arena_strndup(&a, text + 1, 2);
    memset(text, 'x', 6);
    assert_string_equal(whole, "abcdef");
    assert_string_equal(part, "bc");
    dse_arena_free(&a);
}

CLAIM(zeroed_arena_memory_is_zero_even_if_used_before)
{
    dse_arena a;
    uint32_t *v;

    dse_arena_init(&a);
    memset(dse_arena_alloc(&a, 64), 0xff, 64);
    dse_arena_reset(&a);
    v = DSE_ARENA_NEW(&a, uint32_t, 16);
    for (int i = 0; i < 16; i++)
        assert_int_equal(v[i], 0);
    dse_arena_free(&a);
}

CLAIM(a_zeroed_arena_may_be_freed)
{
    dse_arena a = {0};

    dse_arena_free(&a);
    dse_arena_free(&a);
}

/* ---- growing arrays ------------------------------------------------------------------------ */

CLAIM(a_growing_array_keeps_its_elements)
{
    uint32_t *v = NULL;
    size_t cap = 0;

    for (uint32_t i = 0; i < 5000; i++) {
        assert_true(DSE_GROW(v, cap, i + 1u));
        assert_true(cap >= i + 1u);
        v[i] = i * 3;
    }
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(v[i], i * 3);
    dse_free(v);
}

CLAIM(growing_fails_on_overflow_and_without_memory_and_keeps_the_array)
{
    uint64_t *v = NULL;
    size_t cap = 0;

    assert_true(DSE_GROW(v, cap, 1u));
    v[0] = 7;
    assert_false(DSE_GROW(v, cap, SIZE_MAX / 4)); /* * 8 bytes overflows */
    assert_false(DSE_GROW(v, cap, SIZE_MAX));
    dse_alloc_fail_after(0);
    assert_true(DSE_GROW(v, cap, 1u)); /* there is room already */
    assert_false(DSE_GROW(v, cap, cap + 1));
    dse_alloc_fail_after(-1);
    assert_u64(v[0], 7);
    dse_free(v);
}

/* ---- slots --------------------------------------------------------------------------------- */

typedef struct {
    char name;
    uint32_t next;
} thing;

CLAIM(slots_given_back_are_taken_first_and_the_last_one_first)
{
    thing *v = NULL;
    size_t n = 0, cap = 0;
    uint32_t unused = DSE_NONE;

    for (uint32_t i = 0; i < 40; i++) {
        assert_int_equal(DSE_SLOT_TAKE(v, cap, n, unused, thing, next), i);
        v[i] = (thing){(char)('0' + i), DSE_NONE};
    }
    v[7].next = unused;
    v[3].next = 7;
    unused = 3;
    assert_int_equal(DSE_SLOT_TAKE(v, cap, n, unused, thing, next), 3);
    assert_int_equal(v[3].name, '3'); /* as it was left */
    assert_int_equal(DSE_SLOT_TAKE(v, cap, n, unused, thing, next), 7);
    assert_int_equal(unused, DSE_NONE);
    assert_int_equal(DSE_SLOT_TAKE(v, cap, n, unused, thing, next), 40);
    assert_int_equal(n, 41);
    dse_free(v);
}

CLAIM(without_memory_there_is_no_slot)
{
    thing *v = NULL;
    size_t n = 0, cap = 0;
    uint32_t unused = DSE_NONE;

    dse_alloc_fail_after(0);
    assert_int_equal(DSE_SLOT_TAKE(v, cap, n, unused, thing, next), DSE_NONE);
    dse_alloc_fail_after(-1);
    assert_int_equal(n, 0);
    assert_null(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_size_of_zero_is_still_memory),
        cmocka_unit_test(calloc_clears_and_refuses_an_overflow),
        cmocka_unit_test(the_nth_allocation_fails_and_all_after_it),
        cmocka_unit_test(arena_memory_is_aligned_to_16_bytes),
        cmocka_unit_test(arena_counts_what_it_handed_out_until_reset),
        cmocka_unit_test(a_reset_arena_needs_no_new_memory),
        cmocka_unit_test(a_block_too_small_after_reset_is_kept_for_later),
        cmocka_unit_test(arena_refuses_sizes_that_overflow),
        cmocka_unit_test(arena_out_of_memory_is_null_and_leaves_the_arena_usable),
        cmocka_unit_test(arena_strings_are_copies),
        cmocka_unit_test(zeroed_arena_memory_is_zero_even_if_used_before),
        cmocka_unit_test(a_zeroed_arena_may_be_freed),
        cmocka_unit_test(a_growing_array_keeps_its_elements),
        cmocka_unit_test(growing_fails_on_overflow_and_without_memory_and_keeps_the_array),
        cmocka_unit_test(slots_given_back_are_taken_first_and_the_last_one_first),
        cmocka_unit_test(without_memory_there_is_no_slot),
    };
    return RUN_TESTS(tests);
}
