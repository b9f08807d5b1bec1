/* Classification of kernels by name: whether it communicates, by which collective, and its kind of work.
 *
 * Source: spec of the metrics, section 1 (communication kernels and their types) and 5.8 (kinds of work). */
#ifndef DSE_METRICS_KINDS_H
#define DSE_METRICS_KINDS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    METRIC_ALL_REDUCE,
    METRIC_REDUCE_SCATTER,
    METRIC_ALL_GATHER,
    METRIC_ALL_TO_ALL,
    METRIC_BROADCAST,
    METRIC_SEND_RECV,
    METRIC_REDUCE,
    METRIC_OTHER_COMM,
    METRIC_COMM_TYPES
} metric_comm_type;

/* "AllReduce" */
extern const char *const metric_comm_type_name[METRIC_COMM_TYPES];

/* In the order of the tests of section 5.8; communication is named "nccl", as there. */
typedef enum {
    METRIC_WORK_COMM,
    METRIC_WORK_MEMORY,
    METRIC_WORK_ATTENTION,
    METRIC_WORK_GEMM,
    METRIC_WORK_ELEMENTWISE,
    METRIC_WORK_REDUCTION,
    METRIC_WORK_EMBEDDING,
    METRIC_WORK_OTHER,
    METRIC_WORKS
} metric_work;

/* "gemm" */
extern const char *const metric_work_name[METRIC_WORKS];

/* The first place of the n letters of `word`, which is lower case, in text, whose case is ignored; NULL. */
const char *metric_find_word(const char *text, const char *word, size_t n);

/* Whether text has such a word in it. */
bool metric_has(const char *text, const char *word);
bool metric_has_any(const char *text, const char *const *words, size_t n);

#define METRIC_HAS_ANY(text, ...)                                                                            \
    metric_has_any((text), (const char *const[]){__VA_ARGS__},                                               \
                   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* The case counts. */
bool metric_begins(const char *text, const char *prefix);
bool metric_begins_any(const char *text, const char *const *prefixes, size_t n);

#define METRIC_BEGINS_ANY(text, ...)                                                                         \
    metric_begins_any((text), (const char *const[]){__VA_ARGS__},                                            \
                      sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

#define METRIC_STEP_PREFIX "ProfilerStep#" /* of the profiler's step markers: ProfilerStep#<number> */

/* These take a kernel's name. */
metric_comm_type metric_comm_type_of_kernel(const char *name); /* up to _RING, _TREE, _LL, ... */
metric_work metric_work_of(const char *name);

/* Takes args["Collective name"] ("_allgather_base"), or an annotation without its "nccl:" ("all_reduce"). */
metric_comm_type metric_comm_type_of_word(const char *word);

#endif
