/* later_words -- the words by which the later tools of the leaderboard know a kernel from its name. Each tool has its own
 * expression, and they differ; they are what --compat reproduces.
 *
 * A word is found anywhere, whatever its case; "^nccl" at the beginning only, "<gate>" as a whole word only,
 * "reduce!scatter" where no "scatter" follows. */
#ifndef DSE_METRICS_LATER_WORDS_H
#define DSE_METRICS_LATER_WORDS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    size_t n;
    const char *const *word;
} later_words;

extern const later_words later_comm_wide;    /* communication_fraction */
extern const later_words later_comm_plain;   /* communication_ratio, communication_overlap_ratio, ... */
extern const later_words later_comm_nsys;    /* both of these on Nsight Systems */
extern const later_words later_comm_overlap; /* compute_comm_overlap */
extern const later_words later_comm_xla;     /* the same on XLA, where broadcast is a local operation */
extern const later_words later_compute_xla;
extern const later_words later_moe, later_moe_nsys;
extern const later_words later_memcpy;
extern const later_words later_comm_named; /* of the memory tools */

bool later_says(const char *name, const later_words *w);

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
