/* What would change, and what the step would then take: other weights, the same graph. */
#ifndef DSE_WHATIF_QUESTION_H
#define DSE_WHATIF_QUESTION_H

#include "metrics/parallel.h"
#include "whatif/build.h"

typedef struct {
    /* Of collectives that are matched and whole: time over bandwidth, so that 2 halves it; by the parallelism
     * that they serve. Infinity: they take no time. */
    double network[METRIC_PARALLELS];
    double run[WHATIF_KINDS]; /* times of operations by kind */
    double host;              /* time of the host, launches included */
    bool no_stragglers;       /* each kernel takes the median over ranks of its place */
    bool overlap;             /* computation and communication do not wait for each other */
    uint32_t dp;              /* ranks of the groups of data parallelism; 0: as recorded */
    char pattern[128];        /* extended regular expression: kernels whose names have it; "": none */
    double pattern_time;      /* their time */
    /* Of another system, beside all that: times of operations of the GPU, and of collectives that are whole;
     * borrowed, NULL: as recorded. */
    const double *op_time, *collective_time;
} whatif_question;

/* As recorded. */
whatif_question whatif_no_change(void);

/* Changes a question by "network=2", "network.dp=2", "gemm=0.5", "host=0", "/flash/=0.8". DSE_E_USAGE: there
 * is no such thing, or no such factor. */
dse_status whatif_scale(whatif_question *q, const char *text, dse_error *err);

/* What a step takes, of which all ranks' time is the mean; ps. */
typedef struct {
    int64_t step;    /* from its begin until host and GPU are done with it */
    int64_t slowest; /* of the ranks */
    int64_t exposed; /* communication that no other operation of the rank covers */
    int64_t comm;    /* communication, waiting for others included */
    /* The path that is as long as the slowest rank's step: the host, the GPU by kind, and what is neither. */
    int64_t path_host, path_launch, path_device, path_network, path_order, path_run[WHATIF_KINDS];
} whatif_answer;

/* As recorded, without any replay. */
whatif_answer whatif_measured(const whatif_recorded *r, dse_arena *a);

/* DSE_E_ABSENT: the recording cannot answer; the message says why, and what would. */
dse_status whatif_ask(const whatif_recorded *r, const whatif_recording *from, const whatif_question *q,
                      dse_arena *a, whatif_answer *out, dse_error *err);

/* The weight of each edge of the graph, in the arena; fails as whatif_ask. For emit.c and tests. */
dse_status whatif_weigh(const whatif_recorded *r, const whatif_recording *from, const whatif_question *q,
                        dse_arena *a, int64_t **out, dse_error *err);

#endif
