/* step_count -- what a model has and does as mathematics: parameters, and the operations of a forward pass,
 * whatever runs it.
 *
 * Products of matrices alone, 2 operations a multiply-add: no norms, softmax, rotation, biases, lookup.
 * Attention counts the pairs of a query and a key that it may see, the diagonal among them: S (S + 1) / 2 of
 * a sequence of S tokens, and of a window of W < S tokens W (W + 1) / 2 + (S - W) W; a chunk of the sequence
 * is a sequence of its own. (Kernels are charged S^2 / 2: module_attention.c.) */
#ifndef DSE_STEP_COUNT_H
#define DSE_STEP_COUNT_H

#include "step/model.h"

typedef enum {
    STEP_COUNT_EMBEDDING,
    STEP_COUNT_POSITIONS,
    STEP_COUNT_ATTENTION, /* with its biases, without its norms */
    STEP_COUNT_FEED_FORWARD,
    STEP_COUNT_EXPERTS,        /* parameters of all, operations of those that a token takes */
    STEP_COUNT_SHARED_EXPERTS, /* which all tokens take, with their gate */
    STEP_COUNT_ROUTER,
    STEP_COUNT_NORMS,
    STEP_COUNT_HEAD,  /* a tied matrix has operations here, and its parameters in the embedding */
    STEP_COUNT_OTHER, /* between embeddings and a model of another width */
    STEP_N_COUNTS
} step_count_group;

typedef struct {
    uint64_t parameters[STEP_N_COUNTS], total;
    uint64_t active; /* of `total` those of a token: without experts that it does not take */
    uint64_t operations[STEP_N_COUNTS]; /* of a token in matrices; the head's once a token, too */
    uint64_t queries, keys;             /* of those of attention: what makes queries; keys and values */
    uint64_t scores, values;            /* of a sequence: queries with keys; what they weigh with values */
    /* Elements of a token that inference keeps: in layers that attend to all tokens, and in those with a
     * window, which keep no more tokens than that has. */
    uint64_t cached, cached_in_window;
} step_count;

step_count step_count_of(const step_model *m);

#endif
