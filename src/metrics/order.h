/* Order of sort keys, and search by bisection. */
#ifndef DSE_METRICS_ORDER_H
#define DSE_METRICS_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Compares pairs of keys in turn, as qsort wants it: the first pair that differs decides. */
static inline int metric_order(const int64_t (*pair)[2], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (pair[i][0] != pair[i][1])
            return pair[i][0] < pair[i][1] ? -1 : 1;
    return 0;
}

/* METRIC_ORDER({x->lane, y->lane}, {y->end, x->end}): ascending by lane, of equal lanes descending by end. */
#define METRIC_ORDER(...)                                                                                    \
    metric_order((const int64_t[][2]){__VA_ARGS__},                                                          \
                 sizeof((const int64_t[][2]){__VA_ARGS__}) / sizeof(int64_t[2]))

/* Defines a comparison of elements x and y of a type, as qsort wants it: METRIC_COMPARE(by_start, marker,
 * {x->start, y->start}, {x->at, y->at}). */
#define METRIC_COMPARE(name, type, ...)                                                                      \
    static int name(const void *a, const void *b)                                                            \
    {                                                                                                        \
        const type *x = a, *y = b;                                                                           \
                                                                                                             \
        return METRIC_ORDER(__VA_ARGS__);                                                                    \
    }

/* Sets i, a size_t, to the first place in [from, end) for which `before`, an expression in i, is false; it
 * must be true of all places before that, and of none after. */
#define METRIC_BISECT(i, from, end, before)                                                                  \
    do {                                                                                                     \
        size_t low_ = (from), high_ = (end);                                                                 \
                                                                                                             \
        while (low_ < high_) {                                                                               \
            (i) = low_ + (high_ - low_) / 2;                                                                 \
            if (before)                                                                                      \
                low_ = (i) + 1;                                                                              \
            else                                                                                             \
                high_ = (i);                                                                                 \
        }                                                                                                    \
        (i) = low_;                                                                                          \
    } while (0)

#endif
