/* Which runs are choices for the same work. */
#include "measured/runs.h"
#include "unit/unit.h"

static msr_job job(void)
{
    msr_job j;

    msr_job_clear(&j);
    j.name = "a";
    j.layers = 4;
    j.batch = 8;
    j.precision = "bf16";
    j.framework = "NeMo";
    return j;
}

CLAIM(a_batch_may_differ_where_tokens_rank)
{
    msr_job a = job(), b = job();

    assert_true(msr_runs_same_work(&a, &b, false));
    b.batch = 16;
    assert_false(msr_runs_same_work(&a, &b, false));
    assert_true(msr_runs_same_work(&a, &b, true));
}

CLAIM(precision_and_recipe_make_another_job)
{
    msr_job a = job(), b = job();

    b.precision = "BF16";
    assert_true(msr_runs_same_work(&a, &b, false));
    b.precision = "FP8";
    assert_false(msr_runs_same_work(&a, &b, false));
    b = job();
    b.quantization = "float8 rowwise";
    assert_false(msr_runs_same_work(&a, &b, false));
    b = job();
    b.float8 = 0;
    assert_true(msr_runs_same_work(&a, &b, false));
    b.float8 = 1;
    assert_false(msr_runs_same_work(&a, &b, false));
}

CLAIM(rows_of_older_software_are_another_job)
{
    msr_job a = job(), b = job();

    b.name = "a-old";
    assert_false(msr_runs_same_work(&a, &b, true));
    a.name = "b-old";
    assert_true(msr_runs_same_work(&a, &b, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_may_differ_where_tokens_rank),
        cmocka_unit_test(precision_and_recipe_make_another_job),
        cmocka_unit_test(rows_of_older_software_are_another_job),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
