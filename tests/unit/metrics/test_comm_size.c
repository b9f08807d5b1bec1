#include "metrics/comm_size.h"
#include "unit/unit.h"

static uint32_t name(trace_rank *r, const char *text)
{
    return text ? trace_names_add(&r->names, text, strlen(text)) : DSE_NONE;
}

/* What is said of one event of n_in and n_out elements; TRACE_UNKNOWN and NULL are not given. */
static metric_comm_size size_of(metric_comm_type type, const char *collective, uint64_t n_in, uint64_t n_out,
                                const char *dtype)
{
    trace_record rec = {0};
    trace_rank *r = trace_record_add_rank(&rec);
    trace_event e = {.args = 0};
    metric_comm_size s;
    trace_args a;

    trace_args_clear(&a);
    a.collective = name(r, collective);
    a.in_elements = n_in;
    a.out_elements = n_out;
    a.dtype = name(r, dtype);
    a.group_size = 8;
    e.args = trace_add_args(r, &a);
    s = metric_comm_size_of(r, &e, type);
    trace_record_free(&rec);
    return s;
}

CLAIM(a_dtype_has_the_bytes_of_pytorchs_type_of_that_name)
{
    assert_int_equal(metric_dtype_bytes("Double", METRIC_DTYPES), 8);
    assert_int_equal(metric_dtype_bytes("Long", METRIC_DTYPES), 8);
    assert_int_equal(metric_dtype_bytes("Float", METRIC_DTYPES), 4);
    assert_int_equal(metric_dtype_bytes("BFloat16", METRIC_DTYPES), 2);
    assert_int_equal(metric_dtype_bytes("Half", METRIC_DTYPES), 2);
    assert_int_equal(metric_dtype_bytes("Bool", METRIC_DTYPES), 1);
    assert_int_equal(metric_dtype_bytes("Float8_e4m3fn", METRIC_DTYPES), 1);
    assert_int_equal(metric_dtype_bytes("QInt4x2", METRIC_DTYPES), 0);
    assert_int_equal(metric_dtype_bytes("", METRIC_DTYPES), 0);
}

/* 100 bfloat16 go in, 800 come out. */
CLAIM(the_buffer_of_a_gather_is_what_comes_out_and_of_others_what_goes_in)
{
    assert_u64(size_of(METRIC_ALL_GATHER, "_allgather_base", 100, 800, "BFloat16").bytes, 1600);
    assert_u64(size_of(METRIC_OTHER_COMM, "gather", 100, 800, "BFloat16").bytes, 1600);
    assert_u64(size_of(METRIC_OTHER_COMM, "barrier", 100, 800, "BFloat16").bytes, 200);
    assert_u64(size_of(METRIC_REDUCE_SCATTER, "_reduce_scatter_base", 800, 100, "BFloat16").bytes, 1600);
    assert_u64(size_of(METRIC_ALL_TO_ALL, NULL, 100, 800, "BFloat16").bytes, 200);
    assert_int_equal(size_of(METRIC_ALL_TO_ALL, NULL, 100, 800, "BFloat16").group_size, 8);
}

CLAIM(a_declared_group_has_a_size_for_events_that_give_none)
{
    trace_record rec = {0};
    trace_rank *r = trace_record_add_rank(&rec);
    trace_event e = {.args = 0};
    trace_args a;

    trace_args_clear(&a);
    a.group_name = name(r, "7");
    e.args = trace_add_args(r, &a);
    assert_int_equal(metric_comm_size_of(r, &e, METRIC_ALL_REDUCE).group_size, 0);
    r->group = dse_calloc(1, sizeof *r->group);
    r->n_groups = r->cap_groups = 1;
    r->group[0] = (trace_group){name(r, "7"), DSE_NONE, DSE_NONE, 16};
    assert_int_equal(metric_comm_size_of(r, &e, METRIC_ALL_REDUCE).group_size, 16);
    trace_record_free(&rec);
}

/* A receiver sends nothing: its message is what it receives. */
CLAIM(an_empty_side_gives_way_to_the_other)
{
    assert_u64(size_of(METRIC_SEND_RECV, "recv", 0, 50, "Float").bytes, 200);
    assert_u64(size_of(METRIC_SEND_RECV, "send", 50, 0, "Float").bytes, 200);
    assert_u64(size_of(METRIC_ALL_GATHER, NULL, 50, TRACE_UNKNOWN, "Float").bytes, 200);
    assert_u64(size_of(METRIC_ALL_REDUCE, NULL, 0, TRACE_UNKNOWN, "Float").bytes, 0);
}

CLAIM(what_is_not_said_is_not_guessed)
{
    metric_comm_size unknown = size_of(METRIC_ALL_REDUCE, NULL, 10, 10, "QInt4x2");

    assert_int_equal(unknown.state, METRIC_SIZE_UNKNOWN_DTYPE);
    assert_u64(unknown.bytes, TRACE_UNKNOWN);
    assert_int_equal(size_of(METRIC_ALL_REDUCE, NULL, 10, 10, NULL).state, METRIC_SIZE_NOT_GIVEN);
    assert_int_equal(size_of(METRIC_ALL_REDUCE, NULL, TRACE_UNKNOWN, TRACE_UNKNOWN, "Float").state,
                     METRIC_SIZE_NOT_GIVEN);
    assert_int_equal(size_of(METRIC_ALL_REDUCE, NULL, UINT64_MAX - 1, TRACE_UNKNOWN, "Float").state,
                     METRIC_SIZE_NOT_GIVEN);
    assert_int_equal(metric_comm_size_of(NULL, &(trace_event){.args = DSE_NONE}, METRIC_ALL_REDUCE).state,
                     METRIC_SIZE_NOT_GIVEN);
}

/* Rings of 8: an all-reduce sends 7/8 twice, the others once. */
CLAIM(the_bus_factor_is_that_of_rings)
{
    assert_double(metric_bus_factor(METRIC_ALL_REDUCE, 8), 1.75);
    assert_double(metric_bus_factor(METRIC_ALL_GATHER, 8), 0.875);
    assert_double(metric_bus_factor(METRIC_REDUCE_SCATTER, 8), 0.875);
    assert_double(metric_bus_factor(METRIC_ALL_TO_ALL, 8), 0.875);
    assert_double(metric_bus_factor(METRIC_SEND_RECV, 0), 1);
    assert_true(isnan(metric_bus_factor(METRIC_ALL_REDUCE, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dtype_has_the_bytes_of_pytorchs_type_of_that_name),
        cmocka_unit_test(the_buffer_of_a_gather_is_what_comes_out_and_of_others_what_goes_in),
        cmocka_unit_test(a_declared_group_has_a_size_for_events_that_give_none),
        cmocka_unit_test(an_empty_side_gives_way_to_the_other),
        cmocka_unit_test(what_is_not_said_is_not_guessed),
        cmocka_unit_test(the_bus_factor_is_that_of_rings),
    };
    return RUN_TESTS(tests);
}
