/* later_words -- the words by which the later tools of the leaderboard know a kernel from its name. Each tool
 * has its own expression, and they differ; they are what --compat reproduces.
 *
 * Each classifier is 1 for a name that has one of its words. A word is found anywhere, whatever its case;
 * "^nccl" at the beginning only, "<gate>" as a whole word only, "reduce!scatter" where no "scatter"
 * follows. */
#ifndef DSE_METRICS_LATER_WORDS_H
#define DSE_METRICS_LATER_WORDS_H

#include "metrics/classes.h"

metric_classify later_comm_wide;    /* communication_fraction */
metric_classify later_comm_plain;   /* communication_ratio, communication_overlap_ratio, ... */
metric_classify later_comm_nsys;    /* both of these on Nsight Systems */
metric_classify later_comm_overlap; /* compute_comm_overlap */
metric_classify later_comm_xla;     /* the same on XLA, where broadcast is a local operation */
metric_classify later_compute_xla;
metric_classify later_moe, later_moe_nsys;
metric_classify later_memcpy;
metric_classify later_comm_named; /* of the memory tools */

/* The classes of the memory tools, in the order of their tests. */
typedef enum {
    LATER_COMMUNICATION,
    LATER_TRANSFER,
    LATER_GEMM,
    LATER_SOFTMAX,
    LATER_NORM,
    LATER_ELEMENTWISE,
    LATER_REDUCTION,
    LATER_OTHER
} later_class;

later_class later_class_of(const char *name);

#endif
