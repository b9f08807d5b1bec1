/* launch -- the text that starts a strategy of profile train in a training program: options, TOML, Python
 * or JSON, to paste.
 *
 * A job is plain data: driver/launch.h makes one of a study and a strategy. A program is a row of a table:
 * which of a job's facts it takes under which name, what it does if it is not told (then nothing is
 * written), and what it refuses. Names, defaults and rules are those of the programs' sources at the
 * stated versions. A fact that a job does not have (data, tokenizer, learning rate, length of the
 * training) is not invented: a comment lists what is to be filled in. */
#ifndef DSE_LAUNCH_LAUNCH_H
#define DSE_LAUNCH_LAUNCH_H

#include "base/status.h"
#include "base/strbuf.h"
#include "strategy/strategy.h"

typedef enum { LAUNCH_GELU, LAUNCH_SWIGLU, LAUNCH_SQUARED_RELU, LAUNCH_OTHER_ACTIVATION } launch_activation;

/* What layers are computed in, and what parameters and gradients are kept in: 32 bits; 16 with a master
 * copy and the gradients in 32; 16 all through. */
typedef enum { LAUNCH_FP32, LAUNCH_MIXED, LAUNCH_BF16, LAUNCH_OTHER_PRECISION } launch_precision;

typedef struct {
    const char *model, *system; /* names, for comments */

    uint64_t layers, hidden, ffn, heads, kv_heads, head_size, vocabulary;
    uint64_t sequence; /* tokens */
    uint64_t batch;    /* sequences of a step, of all ranks */
    launch_activation activation;
    bool is_rms;     /* norms are RMSNorm, else LayerNorm */
    bool has_biases; /* of matrices, also of others than those of queries, keys and values: */
    bool has_qkv_bias;
    bool is_gated;    /* the activation, whichever it is */
    bool has_qk_norm; /* of each head */
    bool has_sinks;   /* in the softmax of attention */
    uint64_t window;  /* tokens that one attends to, itself and those before it; 0: all */
    uint64_t windowed_layers, full_attention_every; /* 0: all; none (cards/model.h) */
    /* What no option says: norms elsewhere, another norm of queries and keys, parallel blocks. */
    bool has_other_layers;
    bool has_dropout;
    bool is_rotary;         /* queries and keys are rotated */
    bool has_positions;     /* they are a table that is learned */
    bool is_tied;           /* the output embedding is the input embedding */
    double rotary_base;     /* NaN: not known */
    uint32_t experts, topk; /* of a layer, and how many a token goes to; 0: the model is dense */
    uint32_t ep, etp;       /* degrees of the experts; with experts at least 1 */
    /* widths: of an expert; of those together that all tokens take, 0: there are none; 0: not known */
    uint64_t expert_ffn, shared_ffn;
    uint32_t mtp_layers; /* that predict further tokens */
    uint32_t n_laid_out; /* stages whose layers were said, 0: none; and these, borrowed */
    const uint32_t *laid_out;
    uint32_t first_dense, expert_every; /* layers before those with experts; of so many the last has them,
                                     0: all */
    uint32_t groups, top_groups;        /* of experts, and how many of these a token takes; 0: one */
    bool has_sigmoid_router;            /* else a softmax */
    /* what an expert takes of an even share, in percent, 0: everything; whether buffers are padded to that */
    uint32_t capacity_percent;
    bool pads_capacity;
    uint32_t q_rank, kv_rank, plain_size, rotated_size, value_size; /* of latent attention; kv_rank 0: none */

    launch_precision precision;
    uint32_t nodes, per_node; /* machines, and ranks of each */
    bool is_blackwell;        /* the device is of compute capability 10.0 or later */
    strategy point;           /* settled (drv_training_settle); point.like is the program's */
} launch_job;

/* A training program, and the form of its text. */
typedef struct {
    const char *name;    /* "torchtitan-toml" */
    const char *title;   /* "TorchTitan" */
    const char *version; /* of the program that the text is for: "v0.2.2 (73a0e697)" */
    const char *comment; /* what begins a line of comment in its text; NULL: the language has none */
    const char *like;    /* the choice of the parameter `like` whose rules and habits are its: "megatron" */
    /* What it recomputes if it is told nothing, a choice of recompute_granularity, where that is not as
     * `like` has it; NULL: it is. */
    const char *recompute;
    dse_status (*write)(const launch_job *job, dse_strbuf *out, dse_error *err);
} launch_program;

extern const launch_program *const launch_programs[]; /* ended by NULL */
extern const char *const launch_names[];              /* the same, for options */

/* By name; NULL if there is none. */
const launch_program *launch_find(const char *name);

/* The program that starts strategies like this (a value of the parameter `like`); of "any" it is
 * Megatron-LM. */
const launch_program *launch_of(uint32_t like);

/* Appends the text, with a newline at its end. The job is one that drv_launch_job has made for this
 * program, which refuses what its rules refuse; what its text cannot say is refused here. DSE_E_RANGE with
 * what would do; *out is unchanged then. */
dse_status launch_write(const launch_job *job, const launch_program *program, dse_strbuf *out,
                        dse_error *err);

#endif
