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
    assert_out_of_memory(dse_calloc(SIZE_MAX / 2 + 1, 2));
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

CLAIM(arena_refuses_sizes_that_overflow)
{
    dse_arena a;

    dse_arena_init(&a);
    assert_out_of_memory(dse_arena_alloc(&a, SIZE_MAX));
    assert_out_of_memory(dse_arena_alloc(&a, SIZE_MAX - 15));
    assert_out_of_memory(dse_arena_zero(&a, SIZE_MAX / 2 + 1, 2));
    assert_out_of_memory(dse_arena_strndup(&a, "x", SIZE_MAX));
    assert_non_null(dse_arena_alloc(&a, 1)); /* and goes on */
    dse_arena_free(&a);
}

CLAIM(a_reset_arena_takes_its_blocks_again)
{
    dse_arena a;
    dse_arena_block *first;

    dse_arena_init(&a);
    dse_arena_alloc(&a, 1000);
    first = a.first;
    for (int i = 0; i < 100; i++) {
        dse_arena_reset(&a);
        dse_arena_alloc(&a, 1000);
    }
    assert_true(DSE_ARENA_IS_STRICT || (a.first == first && a.current == first));
    dse_arena_free(&a);
}

CLAIM(arrays_are_copied_also_where_there_is_none)
{
    static const uint32_t from[] = {3, 1, 2};
    dse_arena a;
    uint32_t *copy;

    dse_arena_init(&a);
    copy = dse_arena_copy(&a, from, 3, sizeof *from);
    assert_memory_equal(copy, from, sizeof from);
    assert_non_null(dse_arena_copy(&a, NULL, 0, 8));
    assert_out_of_memory(dse_arena_copy(&a, from, SIZE_MAX / 2, 4));
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
        DSE_GROW(v, cap, i + 1u);
        assert_true(cap >= i + 1u);
        v[i] = i * 3;
    }
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(v[i], i * 3);
    dse_free(v);
}

CLAIM(an_array_in_an_arena_grows_and_keeps_its_elements)
{
    uint32_t *v = NULL;
    size_t n = 0, cap = 0;
    dse_arena a;

    dse_arena_init(&a);
    for (; n < 1000; n++) {
        DSE_ARENA_GROW(&a, v, cap, n + 1);
        v[n] = (uint32_t)n;
    }
    for (size_t i = 0; i < n; i++)
        assert_int_equal(v[i], i);
    assert_true(cap >= n && cap < 2 * n + 16);
    dse_arena_free(&a);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_size_of_zero_is_still_memory),
        cmocka_unit_test(calloc_clears_and_refuses_an_overflow),
        cmocka_unit_test(arena_memory_is_aligned_to_16_bytes),
        cmocka_unit_test(arena_counts_what_it_handed_out_until_reset),
        cmocka_unit_test(arena_refuses_sizes_that_overflow),
        cmocka_unit_test(a_reset_arena_takes_its_blocks_again),
        cmocka_unit_test(arrays_are_copied_also_where_there_is_none),
        cmocka_unit_test(arena_strings_are_copies),
        cmocka_unit_test(zeroed_arena_memory_is_zero_even_if_used_before),
        cmocka_unit_test(a_zeroed_arena_may_be_freed),
        cmocka_unit_test(a_growing_array_keeps_its_elements),
        cmocka_unit_test(an_array_in_an_arena_grows_and_keeps_its_elements),
        cmocka_unit_test(slots_given_back_are_taken_first_and_the_last_one_first),
    };
    return RUN_TESTS(tests);
}
