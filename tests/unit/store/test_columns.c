#include "store/store.h"
#include "unit/unit.h"

CLAIM(columns_are_found_by_name)
{
    size_t n;
    const store_column *c = store_columns(&n);

    assert_true(n > 0);
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(store_column_find(c[i].name), &c[i]); /* so names are unique, too */
        assert_true(*c[i].help != '\0');
    }
    assert_null(store_column_find("no_such_column"));
    assert_null(store_column_find("wall_tim"));
}

/* Each column is a field of its own: a value written there comes out under its name, and nowhere else. */
CLAIM(every_column_has_a_field_of_its_own)
{
    size_t n;
    const store_column *c = store_columns(&n);

    for (size_t i = 0; i < n; i++) {
        store_metrics m;

        memset(&m, 0, sizeof m);
        if (c[i].type == STORE_REAL)
            *(double *)(void *)((char *)&m + c[i].offset) = 17;
        else if (c[i].type == STORE_TEXT)
            *(const char **)(void *)((char *)&m + c[i].offset) = "17";
        else
            *(uint64_t *)(void *)((char *)&m + c[i].offset) = 17;
        for (size_t k = 0; k < n; k++) {
            if (c[k].type == STORE_TEXT && k == i)
                assert_string_equal(store_text(&m, &c[k]), "17");
            else if (c[k].type == STORE_TEXT)
                assert_null(store_text(&m, &c[k]));
            else
                assert_double(store_value(&m, &c[k]), k == i ? 17 : 0);
        }
    }
}

CLAIM(times_and_memory_are_better_low_and_utilisation_high)
{
    assert_int_equal(store_column_find("wall_time")->better, STORE_LOWER);
    assert_int_equal(store_column_find("peak_memory")->better, STORE_LOWER);
    assert_int_equal(store_column_find("exposed_comm")->better, STORE_LOWER);
    assert_int_equal(store_column_find("compute_util")->better, STORE_HIGHER);
    assert_int_equal(store_column_find("nodes")->better, STORE_NEITHER);
    assert_string_equal(store_column_find("wall_time")->unit, "ns");
}

CLAIM(what_is_not_there_is_not_a_number)
{
    store_metrics m;
    size_t n;
    const store_column *c = store_columns(&n);

    store_metrics_clear(&m);
    for (size_t i = 0; i < n; i++)
        assert_true(isnan(store_value(&m, &c[i])) && (c[i].type != STORE_TEXT || !store_text(&m, &c[i])));
    assert_false(store_has_step(&m));
    m.wall_time = 0;
    m.peak_memory = 5;
    assert_double(store_value(&m, store_column_find("wall_time")), 0);
    assert_double(store_value(&m, store_column_find("peak_memory")), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(every_column_has_a_field_of_its_own),
        cmocka_unit_test(times_and_memory_are_better_low_and_utilisation_high),
        cmocka_unit_test(what_is_not_there_is_not_a_number),
    };
    return RUN_TESTS(tests);
}
