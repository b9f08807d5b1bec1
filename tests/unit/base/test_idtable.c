/* idtable.h has no .c: this is its mirror. The model to compare with is a plain array of flags. */
#include "unit/unit.h"

#include "base/idtable.h"

static bool key_is(const void *records, uint32_t id, const void *key)
{
    return ((const uint64_t *)records)[id] == *(const uint64_t *)key;
}

static dse_idslot *find(const dse_idtable *t, const uint64_t *records, uint64_t key, uint32_t hash)
{
    return dse_idtable_find(t, hash, key_is, records, &key);
}

/* Hashes of few bits make long chains and chains that wrap around the end of the table. */
static void random_against_model(uint64_t hash_mask, uint64_t seed)
{
    enum { N = 400 };
    static uint64_t records[N];
    bool in[N] = {false};
    dse_idtable t = {0};
    size_t count = 0;

    for (uint32_t i = 0; i < N; i++)
        records[i] = 1000003u * i + 17;
    for (int step = 0; step < 20000; step++) {
        uint32_t i = (uint32_t)(unit_random(&seed) % N);
        uint32_t hash = (uint32_t)(dse_hash_u64(records[i]) & hash_mask);
        dse_idslot *slot;

        /* Fills first, then stays around half full, then empties. */
        bool want = unit_random(&seed) % 100 < (step < 8000 ? 80 : step < 16000 ? 50 : 15);

        dse_idtable_reserve(&t);
        slot = find(&t, records, records[i], hash);
        assert_int_equal(slot->id, in[i] ? i : DSE_NONE);
        if (want && !in[i]) {
            dse_idtable_put(&t, slot, hash, i);
            in[i] = true;
            count++;
        } else if (!want && in[i]) {
            dse_idtable_remove(&t, slot);
            in[i] = false;
            count--;
        }
        assert_int_equal(t.n_used, count);
        if (step % 97)
            continue;
        for (uint32_t k = 0; k < N; k++) {
            uint32_t h = (uint32_t)(dse_hash_u64(records[k]) & hash_mask);

            assert_int_equal(find(&t, records, records[k], h)->id, in[k] ? k : DSE_NONE);
        }
    }
    dse_idtable_free(&t);
}

CLAIM(random_insertions_and_removals_agree_with_a_plain_array) { random_against_model(UINT32_MAX, 1); }

CLAIM(the_same_with_colliding_hashes) { random_against_model(7, 2); }

CLAIM(the_same_if_all_hashes_are_equal) { random_against_model(0, 3); }

/* 63 is the last slot of a fresh table of 64: the chain goes on at slot 0. */
CLAIM(a_chain_that_wraps_around_survives_a_removal)
{
    uint64_t records[] = {10, 11, 12, 13};
    dse_idtable t = {0};

    dse_idtable_reserve(&t);
    assert_int_equal(t.n_slots, 64);
    for (uint32_t i = 0; i < 3; i++)
        dse_idtable_put(&t, find(&t, records, records[i], 63), 63, i);
    dse_idtable_put(&t, find(&t, records, records[3], 1), 1, 3); /* pushed on from slot 1 to slot 2 */
    dse_idtable_remove(&t, find(&t, records, records[0], 63));
    assert_int_equal(find(&t, records, records[0], 63)->id, DSE_NONE);
    assert_int_equal(find(&t, records, records[1], 63)->id, 1);
    assert_int_equal(find(&t, records, records[2], 63)->id, 2);
    assert_int_equal(find(&t, records, records[3], 1)->id, 3);
    dse_idtable_free(&t);
}

CLAIM(the_table_is_at_most_half_full)
{
    static uint64_t records[1000];
    dse_idtable t = {0};

    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t hash = (uint32_t)dse_hash_u64(records[i] = i);

        dse_idtable_reserve(&t);
        dse_idtable_put(&t, find(&t, records, i, hash), hash, i);
        assert_true(t.n_used * 2 <= t.n_slots);
        assert_int_equal(t.n_slots & (t.n_slots - 1), 0);
    }
    dse_idtable_free(&t);
}

/* Without tombstones the size follows from the most that was ever in it. */
CLAIM(filling_and_emptying_for_ever_does_not_grow_the_table)
{
    uint64_t records[1];
    dse_idtable t = {0};

    for (uint64_t i = 0; i < 10000; i++) {
        uint32_t hash = (uint32_t)dse_hash_u64(records[0] = i);

        dse_idtable_reserve(&t);
        dse_idtable_put(&t, find(&t, records, i, hash), hash, 0);
        dse_idtable_remove(&t, find(&t, records, i, hash));
    }
    assert_int_equal(t.n_slots, 64);
    dse_idtable_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_insertions_and_removals_agree_with_a_plain_array),
        cmocka_unit_test(the_same_with_colliding_hashes),
        cmocka_unit_test(the_same_if_all_hashes_are_equal),
        cmocka_unit_test(a_chain_that_wraps_around_survives_a_removal),
        cmocka_unit_test(the_table_is_at_most_half_full),
        cmocka_unit_test(filling_and_emptying_for_ever_does_not_grow_the_table),
    };
    return RUN_TESTS(tests);
}
