/* The kinds of modules: one row each, in a file of its own. */
#ifndef DSE_STEP_MODULE_H
#define DSE_STEP_MODULE_H

#include "step/program.h"

/* How a tensor that is kept for the backward pass lies on the ranks of a tensor parallel group. */
typedef enum {
    STEP_KEPT_HIDDEN, /* by tokens with sequence parallelism, else whole */
    STEP_KEPT_WHOLE,  /* all tokens, all features */
    STEP_KEPT_SPLIT   /* all tokens, by features */
} step_layout;

/* What a forward pass keeps, while it is counted. */
typedef struct {
    const step_shape *shape;
    uint64_t bytes;
    /* the next tensor, which is the module's input, is kept already, or made again by another module */
    bool has_input;
} step_keeper;

struct step_module_kind {
    const char *name; /* the key in the file */
    /* Parameters in the order of definition; returns how many. NULL: none. */
    uint32_t (*parameters)(const step_module *m, step_parameter out[STEP_MAX_PARAMETERS]);
    void (*forward)(step_builder *b, const step_module *m);
    void (*backward)(step_builder *b, const step_module *m);
    /* What it keeps. NULL: nothing. */
    void (*keep)(step_keeper *k, const step_module *m);
    /* What of it, with the gradient of the output, the gradients of the weights read. NULL: nothing. */
    void (*defer)(step_keeper *k, const step_module *m);
    /* Elements of its input on a rank. NULL: of the hidden state. */
    uint64_t (*input)(const step_module *m, const step_shape *s);
    /* Receive buffers of context parallelism; bytes. NULL: none. */
    double (*receives)(const step_module *m, const step_shape *s, bool is_backward);
    /* Copies of tokens that it makes and that last no longer than it; bytes. NULL: none. */
    double (*copies)(const step_module *m, const step_shape *s);
    /* A table that all modules of the kind share; bytes. NULL: none. */
    double (*table)(const step_module *m, const step_shape *s);
};

extern const step_module_kind step_module_embedding, step_module_positions; /* module_embedding.c */
extern const step_module_kind step_module_norm, step_module_head_norm;      /* module_norm.c */
extern const step_module_kind step_module_linear;                           /* module_linear.c */
extern const step_module_kind step_module_attention;                        /* module_attention.c */
extern const step_module_kind step_module_rotary, step_module_activation, step_module_dropout,
    step_module_add;                            /* module_elementwise.c */
extern const step_module_kind step_module_loss; /* module_loss.c */
extern const step_module_kind step_module_router, step_module_dispatch, step_module_grouped,
    step_module_combine; /* module_experts.c */

extern const step_module_kind *const step_module_kinds[]; /* ended by NULL */

/* Heads of a module on a rank of the tensor parallel group; of keys and values one at least. */
static inline uint64_t step_heads(const step_options *o, const step_module *m) { return m->heads / o->tp; }
static inline uint64_t step_kv_heads(const step_options *o, const step_module *m)
{
    return m->kv_heads > o->tp ? m->kv_heads / o->tp : 1;
}

/* Whether the products of a module are in fewer bits. */
static inline bool step_is_low(const step_options *o, const step_module *m)
{
    return wl_kernel_is_low(o->low.class) && m->is_of_layer;
}

/* Elements of queries, keys and values on a rank. module_attention.c */
uint64_t step_heads_input(const step_module *m, const step_shape *s);

/* Tokens of a micro-batch on their way through the experts, each counted as often as it takes one. With a
 * limit or an imbalance, those of the most loaded rank. module_experts.c */
typedef struct {
    uint64_t tokens;   /* that a rank routes */
    uint64_t sent;     /* to all ranks, itself among them */
    uint64_t received; /* from all ranks */
    uint64_t computed; /* by the rank's experts: what the ranks that split them received together */
    double mean;       /* of all ranks, for each computed */
} step_routed;

step_routed step_routed_of(const step_module *m, const step_shape *s);

/* The input of a module is kept, in this layout; so many bytes are kept besides. A module counts its own
 * input only, so that each tensor counts once. */
void step_keep_input(step_keeper *k, uint64_t features, step_layout layout);
/* The same of a tensor with another type of elements. */
void step_keep_tensor(step_keeper *k, uint64_t features, step_layout layout, double element_bytes);
void step_keep_bytes(step_keeper *k, double bytes);

/* Bytes that a micro-batch keeps of a block until its backward pass; without what the next block reads of it.
 * `recompute`: of the whole block only the input. */
uint64_t step_kept_bytes(const step_block *b, const step_shape *s, bool recompute);

/* The same of one module. */
uint64_t step_module_kept(const step_module *m, const step_shape *s);
uint64_t step_module_deferred(const step_module *m, const step_shape *s);
uint64_t step_module_input(const step_module *m, const step_shape *s); /* bytes */

/* Whether a parameter is a matrix that is gathered and kept in fewer bits. memory_unit.c */
bool step_is_low_parameter(const step_options *o, const step_block *b, const step_parameter *p);

/* Whether it multiplies tokens by matrices that may have fewer bits. */
static inline bool step_is_matrix(const step_module *m)
{
    return m->kind == &step_module_linear || m->kind == &step_module_grouped;
}

/* Elements of the matrices of such modules of a block on a rank. memory_unit.c */
uint64_t step_matrix_elements(const step_block *b, step_split_over over);

/* Finds the parts of a layer, whose hidden state has so many features (step_module.parts). again.c */
void step_block_mark_parts(step_block *b, uint64_t hidden);

/* The parts that are made again, as bits; 0: recomputation is not selective. */
unsigned step_again_parts(const step_options *o);

/* Whether selective recomputation makes a module again. */
bool step_is_made_again(const step_options *o, const step_module *m);

/* The module at whose backward pass what is made again for a module of the block is there first. */
uint32_t step_made_until(const step_options *o, const step_block *b, uint32_t module);

#endif
