#include "metrics/comm_size.h"

#include "base/array.h"
#include "metrics/events.h"
#include "metrics/parallel.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define MAX_ELEMENTS (UINT64_MAX / 16) /* more is no message: bytes of 8 an element must not overflow */

uint32_t metric_dtype_bytes(const char *dtype, metric_dtypes known)
{
    static const struct {
        const char *name;
        uint32_t bytes;
        unsigned known; /* bits of metric_dtypes */
    } types[] = {{"Double", 8, 7},  {"Float64", 8, 7},  {"Float", 4, 7}, {"Float32", 4, 7}, {"Half", 2, 7},
                 {"Float16", 2, 7}, {"BFloat16", 2, 7}, {"BF16", 2, 6},  {"Long", 8, 3},    {"Int64", 8, 3},
                 {"Int", 4, 3},     {"Int32", 4, 3},    {"Short", 2, 3}, {"Int16", 2, 3},   {"Byte", 1, 3},
                 {"Int8", 1, 3},    {"Char", 1, 1},     {"UInt8", 1, 1}, {"Bool", 1, 1}};
    static const char float8[] = "Float8_"; /* Float8_e4m3fn, Float8_e5m2, ... */

    for (size_t i = 0; i < DSE_COUNT(types); i++)
        if (types[i].known >> known & 1 &&
            (known == METRIC_DTYPES ? strcasecmp : strcmp)(dtype, types[i].name) == 0)
            return types[i].bytes;
    return known == METRIC_DTYPES && strncasecmp(dtype, float8, sizeof float8 - 1) == 0 ? 1 : 0;
}

static uint64_t bytes_of(uint64_t elements, uint32_t each)
{
    return elements > MAX_ELEMENTS ? TRACE_UNKNOWN : elements * each;
}

/* Gather has no type of its own here. */
static bool comes_out(const trace_rank *rank, const trace_args *a, metric_comm_type type)
{
    const char *word = TRACE_NAME(rank, a->collective);

    return type == METRIC_ALL_GATHER || (type == METRIC_OTHER_COMM && word && metric_says(word, "gather"));
}

metric_comm_size metric_comm_size_of(const trace_rank *rank, const trace_event *e, metric_comm_type type)
{
    metric_comm_size s = {METRIC_SIZE_NOT_GIVEN, TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN, 0};
    const trace_args *a = metric_args_of(rank, e);
    uint64_t first, second;
    uint32_t each;

    if (!a)
        return s;
    s.group_size = a->group_size ? a->group_size : metric_group_of(rank, a).size;
    if (a->dtype == DSE_NONE || (a->in_elements > MAX_ELEMENTS && a->out_elements > MAX_ELEMENTS))
        return s;
    if (!(each = metric_dtype_bytes(TRACE_NAME(rank, a->dtype), METRIC_DTYPES))) {
        s.state = METRIC_SIZE_UNKNOWN_DTYPE;
        return s;
    }
    s.state = METRIC_SIZE_KNOWN;
    s.in_bytes = bytes_of(a->in_elements, each);
    s.out_bytes = bytes_of(a->out_elements, each);
    first = comes_out(rank, a, type) ? s.out_bytes : s.in_bytes;
    second = comes_out(rank, a, type) ? s.in_bytes : s.out_bytes;
    s.bytes = first == TRACE_UNKNOWN || (first == 0 && second != TRACE_UNKNOWN) ? second : first;
    return s;
}

double metric_bus_factor(metric_comm_type type, uint32_t n)
{
    static const double of_all_but_one[METRIC_COMM_TYPES] = {[METRIC_ALL_REDUCE] = 2,
                                                             [METRIC_ALL_GATHER] = 1,
                                                             [METRIC_REDUCE_SCATTER] = 1,
                                                             [METRIC_ALL_TO_ALL] = 1};

    if (of_all_but_one[type] == 0)
        return 1;
    return n ? of_all_but_one[type] * (n - 1) / n : NAN;
}
