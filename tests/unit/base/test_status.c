#include "unit/unit.h"

#include <errno.h>

CLAIM(a_failure_returns_its_status_and_fills_the_error)
{
    dse_error err = DSE_ERROR_INIT;

    assert_failure(dse_fail(&err, DSE_E_RANGE, "%s is %d", "x", 7), &err, DSE_E_RANGE, "", "x is 7");
}

CLAIM(the_first_failure_wins)
{
    dse_error err = DSE_ERROR_INIT;

    dse_fail_at(&err, DSE_E_CONFIG, "f:1:2", "first");
    assert_int_equal(dse_fail_at(&err, DSE_E_IO, "g:3:4", "second"),
                     DSE_E_IO); /* the status is the caller's */
    assert_int_equal(dse_fail(&err, DSE_E_SIM, "third"), DSE_E_SIM);
    assert_failure(DSE_E_CONFIG, &err, DSE_E_CONFIG, "f:1:2", "first");
}

CLAIM(the_error_may_be_null)
{
    assert_int_equal(dse_fail(NULL, DSE_E_IO, "x"), DSE_E_IO);
    assert_int_equal(dse_fail_at(NULL, DSE_E_IO, "y", "x"), DSE_E_IO);
    assert_int_equal(dse_fail_errno(NULL, DSE_E_IO, "x"), DSE_E_IO);
    dse_error_set_where(NULL, "y");
}

CLAIM(an_error_is_said_with_its_place_if_it_has_one)
{
    dse_error err = DSE_ERROR_INIT;

    dse_fail(&err, DSE_E_IO, "no such file");
    assert_string_equal(dse_error_say(&err).text, "no such file");
    dse_error_set_where(&err, "a.yaml:1:2");
    assert_string_equal(dse_error_say(&err).text, "a.yaml:1:2: no such file");
}

CLAIM(errno_is_spelt_out_behind_the_message)
{
    dse_error err = DSE_ERROR_INIT;

    errno = ENOENT;
    assert_failure(dse_fail_errno(&err, DSE_E_IO, "cannot open '%s'", "f"), &err, DSE_E_IO, "",
                   "cannot open 'f': No such file or directory");
}

CLAIM(a_call_that_had_no_memory_ends_the_program)
{
    dse_error err = DSE_ERROR_INIT;

    errno = ENOMEM;
    assert_out_of_memory(dse_fail_errno(&err, DSE_E_IO, "cannot open 'f'"));
    assert_int_equal(err.status, DSE_OK);
}

CLAIM(a_place_is_added_only_to_an_error_that_lacks_one)
{
    dse_error err = DSE_ERROR_INIT;

    dse_error_set_where(&err, "nowhere"); /* no error yet */
    assert_string_equal(err.where, "");
    dse_fail(&err, DSE_E_CONFIG, "x");
    dse_error_set_where(&err, "f:1");
    assert_string_equal(err.where, "f:1");
    dse_error_set_where(&err, "g:2");
    assert_string_equal(err.where, "f:1");
}

CLAIM(long_texts_are_cut_to_fit)
{
    char longer[2 * sizeof((dse_error *)0)->text];
    dse_error err = DSE_ERROR_INIT;

    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    errno = ENOENT;
    dse_fail_errno(&err, DSE_E_IO, "%s", longer);
    dse_error_set_where(&err, longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_int_equal(strlen(err.where), sizeof err.where - 1);
    err = (dse_error)DSE_ERROR_INIT;
    dse_fail_at(&err, DSE_E_IO, longer, "%s", longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_int_equal(strlen(err.where), sizeof err.where - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_returns_its_status_and_fills_the_error),
        cmocka_unit_test(the_first_failure_wins),
        cmocka_unit_test(the_error_may_be_null),
        cmocka_unit_test(an_error_is_said_with_its_place_if_it_has_one),
        cmocka_unit_test(errno_is_spelt_out_behind_the_message),
        cmocka_unit_test(a_call_that_had_no_memory_ends_the_program),
        cmocka_unit_test(a_place_is_added_only_to_an_error_that_lacks_one),
        cmocka_unit_test(long_texts_are_cut_to_fit),
    };
    return RUN_TESTS(tests);
}
