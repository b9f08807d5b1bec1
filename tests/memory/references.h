/* Memory of the training step against what other programs say of it: reference/training/memory.
 *
 * Where a formula of theirs leaves something out, the difference is written as a formula here, and has to be
 * exact. What describes something else is skipped, and counted by the reason. */
#ifndef TESTS_MEMORY_REFERENCES_H
#define TESTS_MEMORY_REFERENCES_H

#include "step/memory.h"
#include "step/module.h"

#include <jansson.h>

typedef struct {
    const char *why;
    size_t n;
} reason;

typedef struct {
    size_t n_values, n_different, n_reasons;
    reason reason[64]; /* what was skipped, or agrees but for a term of this name */
} tally;

void count(tally *t, const char *why);

/* Notes a value that must be equal to within `slack`. */
void same(tally *t, const char *id, const char *what, double ours, double theirs, double slack);

/* ---- fixture.c ------------------------------------------------------------------------------- */

typedef struct {
    uint64_t hidden, ffn, heads, kv_heads, head_size, vocab, sequence;
    uint32_t layers;
    bool is_tied;
    /* Of a model that the fixture writes itself: */
    bool is_gated, has_bias, has_mean, drops;
    uint32_t n_experts, top_k; /* in place of a network with a gate; 0: none */
} dimensions;

/* A model of configs/layers; `file` without the folder. NULL: a chain as the fields of `d` say. Ends the
 * program if it cannot be read: a test without it would check nothing. */
step_model make_model(const char *file, const dimensions *d, dse_arena *a);

/* One rank, 16-bit weights and activations, 32-bit gradients and optimizer, nothing sharded. */
step_options plain_options(void);

/* Peak of a pipeline rank under a schedule. False: the schedule refuses. */
bool run_memory(const step_model *m, const step_options *o, uint32_t rank, dse_arena *a, sched_plan *plan,
                step_rank_memory *out);

double number_of(const json_t *row, const char *key);
uint32_t whole_of(const json_t *row, const char *key);
bool flag_of(const json_t *row, const char *key);
const char *text_of(const json_t *row, const char *key);

/* ---- a file each ------------------------------------------------------------------------------ */

void check_snapshot(const json_t *file, tally *t);
void check_megatron(const json_t *row, const json_t *inputs, tally *t);
void check_deepspeed(const json_t *row, const json_t *inputs, tally *t);
void check_calculon(const json_t *row, const json_t *inputs, tally *t);
void check_llm_analysis(const json_t *row, const json_t *inputs, tally *t);

#endif
