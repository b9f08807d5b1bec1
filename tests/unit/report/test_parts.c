/* The parts of a step and of a peak, as simulate and best show them. */
#include "report/parts.h"
#include "report/prose.h"
#include "unit/unit.h"

static dse_strbuf text;

/* Of 1000 ns 600 compute, 300 communication along sp, 100 idle; of 200 bytes 150 and 50. */
static store_metrics example(void)
{
    store_metrics m;

    memset(&m, 0, sizeof m);
    m.wall_time = 1000;
    m.step_compute_bound = 600;
    m.step_comm[STRATEGY_AXIS_sp] = 300;
    m.step_idle = 100;
    m.peak_memory = 200;
    m.peak_weights = 50;
    m.peak_inputs = 150;
    m.peak_time = 250;
    m.peak_layer = 7;
    m.peak_pass = "recomputation";
    m.peak_node = "n";
    return m;
}

static void assert_printed(const store_metrics *m, const char *expected)
{
    dse_strbuf_init(&text);
    report_parts_print(m, &text);
    assert_string_equal(text.data, expected);
    dse_strbuf_free(&text);
}

#define STEP                                                                                                 \
    "  where the step of the slowest rank goes\n"                                                            \
    "    compute-bound            600 ns   60.0%\n"                                                          \
    "    exposed sp               300 ns   30.0%\n"                                                          \
    "    idle                     100 ns   10.0%\n"

CLAIM(parts_that_are_nothing_are_left_out)
{
    store_metrics m = example();

    assert_printed(&m, STEP "  what the peak holds, at 250 ns in the recomputation of layer 7\n"
                            "    (node n)\n"
                            "    weights                    50 B   25.0%\n"
                            "    inputs                    150 B   75.0%\n");
}

CLAIM(what_is_not_known_is_left_out)
{
    store_metrics m = example();

    m.peak_pass = m.peak_node = NULL;
    m.peak_layer = STORE_ABSENT;
    assert_printed(&m, STEP "  what the peak holds, at 250 ns\n"
                            "    weights                    50 B   25.0%\n"
                            "    inputs                    150 B   75.0%\n");
    m.peak_time = STORE_ABSENT;
    assert_printed(&m, STEP);
    store_metrics_clear(&m);
    m.wall_time = 1000;
    assert_printed(&m, "");
}

CLAIM(a_run_of_no_time_has_no_shares)
{
    store_metrics m;

    memset(&m, 0, sizeof m);
    assert_printed(&m, "");
}

/* Every part has its column, so that what is shown is what is stored. */
CLAIM(parts_are_columns)
{
    for (size_t i = 0; i < REPORT_N_STEP_PARTS; i++)
        assert_int_equal(store_column_find(report_step_parts[i].column)->offset, report_step_parts[i].offset);
    for (size_t i = 0; i < REPORT_N_PEAK_PARTS; i++)
        assert_int_equal(store_column_find(report_peak_parts[i].column)->offset, report_peak_parts[i].offset);
}

CLAIM(programs_get_all_parts)
{
    store_metrics m = example();
    report_tree t;

    dse_strbuf_init(&text);
    report_put_parts(&m, report_tree_begin(&t));
    report_tree_write(&t, &text);
    assert_string_equal(
        text.data,
        "{\"step_compute_bound\":600,\"step_memory_bound\":0,\"step_compute_other\":0,\"step_comm_dp\":0,"
        "\"step_comm_tp\":0,\"step_comm_sp\":300,\"step_comm_pp\":0,\"step_comm_cp\":0,\"step_comm_mixed\":0,"
        "\"step_idle\":100,"
        "\"peak_weights\":50,\"peak_weight_gradients\":0,\"peak_updated_weights\":0,\"peak_activations\":0,"
        "\"peak_recomputed\":0,\"peak_activation_gradients\":0,\"peak_inputs\":150,\"peak_optimizer\":0,"
        "\"peak_gathered\":0,\"peak_time\":250,\"peak_layer\":7,\"peak_pass\":\"recomputation\",\"peak_"
        "node\":\"n\"}");
    dse_strbuf_free(&text);
}

/* As of all results before bytes were counted. */
CLAIM(a_part_that_is_absent_counts_as_nothing_and_programs_are_not_told_of_it)
{
    store_metrics m = example();
    report_tree t;

    m.peak_optimizer = m.peak_gathered = STORE_ABSENT;
    assert_printed(&m, STEP "  what the peak holds, at 250 ns in the recomputation of layer 7\n"
                            "    (node n)\n"
                            "    weights                    50 B   25.0%\n"
                            "    inputs                    150 B   75.0%\n");
    dse_strbuf_init(&text);
    report_put_parts(&m, report_tree_begin(&t));
    report_tree_write(&t, &text);
    assert_non_null(strstr(text.data, "\"peak_inputs\":150,\"peak_time\":250,"));
    dse_strbuf_free(&text);
}

/* ---- sentences ------------------------------------------------------------------------------ */

CLAIM(a_figure_and_its_unit_stay_on_one_line)
{
    dse_strbuf p;

    dse_strbuf_init(&text);
    dse_strbuf_init(&p);
    /* 76 characters, so that "1.500" would fit behind a space, but "1.500 s" does not. */
    for (int i = 0; i < 19; i++)
        dse_strbuf_adds(&p, i ? "xxx " : "xxxx ");
    dse_strbuf_adds(&p, report_say_time(1500000000).text);
    report_end_paragraph(&p, &text);
    assert_u64(p.len, 0);
    assert_string_equal(strchr(text.data, '\n'), "\n1.500 s\n\n");
    dse_strbuf_free(&p);
    dse_strbuf_free(&text);
}

CLAIM(differences_are_listed_largest_first)
{
    store_metrics m = example(), than = example();

    dse_strbuf_init(&text);
    than.step_compute_bound += 10;
    than.step_idle -= 30;
    than.step_comm[STRATEGY_AXIS_sp] += 20;
    report_say_differences(&m, &than, &text);
    for (char *c = text.data; *c; c++)
        *c = *c == REPORT_UNBROKEN[0] ? ' ' : *c;
    assert_string_equal(text.data,
                        "30 ns more for idle time, 20 ns less for communication along sp and 10 ns less for "
                        "compute-bound compute");
    dse_strbuf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_that_are_nothing_are_left_out),
        cmocka_unit_test(what_is_not_known_is_left_out),
        cmocka_unit_test(a_run_of_no_time_has_no_shares),
        cmocka_unit_test(parts_are_columns),
        cmocka_unit_test(programs_get_all_parts),
        cmocka_unit_test(a_part_that_is_absent_counts_as_nothing_and_programs_are_not_told_of_it),
        cmocka_unit_test(a_figure_and_its_unit_stay_on_one_line),
        cmocka_unit_test(differences_are_listed_largest_first),
    };
    return RUN_TESTS(tests);
}
