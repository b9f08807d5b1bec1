/* Classification of kernels by name: whether it communicates, by which collective, and its kind of work.
 *
 * Source: spec of the metrics, section 1 (communication kernels and their types) and 5.8 (kinds of work). */
#ifndef DSE_METRICS_KINDS_H
#define DSE_METRICS_KINDS_H

#include "base/array.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Whether a name has one of the words between bars: "nccl|=^c10d::|<gate>".
 *
 *     word      anywhere, whatever its case; the word is lower case
 *     =word     its case counts
 *     ^word     at the beginning only
 *     <word>    as a whole word only, with no letter, digit or underscore beside it
 *     word$     at the end only
 *     word!a!b  where neither a nor b follows
 *     word*next and the next somewhere behind it
 *
 * The signs stand in this order: "=^nccl:coalesced$". */
bool metric_says(const char *name, const char *words);

/* The class of the first row that says so of a name; `otherwise`: none does. */
typedef struct {
    uint8_t class;
    const char *words;
} metric_name_class;
uint8_t metric_class_of_name(const metric_name_class *row, size_t n, const char *name, uint8_t otherwise);
#define METRIC_CLASS_OF_NAME(rows, name, otherwise)                                                          \
    metric_class_of_name((rows), DSE_COUNT(rows), (name), (otherwise))

/* Whether a word is one of those between bars, "kernel|cpu_op"; NULL has none. */
bool metric_is_among(const char *words, const char *word);

/* Whether one of the parts of a name, between characters that separate them, is this word, whatever its
 * case. */
bool metric_has_part(const char *name, const char *word, bool (*separates)(char c));

/* Whether it begins so; the case counts. */
bool metric_begins(const char *text, const char *prefix);

#define METRIC_STEP_PREFIX "ProfilerStep#" /* of the profiler's step markers: ProfilerStep#<number> */

/* These take a kernel's name. */
metric_comm_type metric_comm_type_of_kernel(const char *name); /* up to _RING, _TREE, _LL, ... */
metric_work metric_work_of(const char *name);
/* The same by the words of section 5.8 alone, in which FBGEMM's name is one of a matrix product, FlashInfer's
 * one of attention, whatever the kernel: for the metric of that section, whose recorded values have it so. */
metric_work metric_work_by_words(const char *name);

/* Takes args["Collective name"] ("_allgather_base"), or an annotation without its "nccl:" ("all_reduce"). */
metric_comm_type metric_comm_type_of_word(const char *word);

#endif
