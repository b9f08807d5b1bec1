/* What the programs' files share: a job as facts in words, and rows that say which fact has which name in
 * a program. */
#ifndef DSE_LAUNCH_PARTS_H
#define DSE_LAUNCH_PARTS_H

#include "base/alloc.h"
#include "launch/launch.h"

/* A job in words of no program: numbers in decimal, switches as "on" and "off", choices as
 * strategy/parameters.h has them. NULL: the fact does not apply, and no program writes it. */
typedef struct {
    /* the model */
    const char *layers, *hidden, *ffn, *heads, *vocabulary, *sequence;
    const char *mtp_layers;              /* that predict further tokens, if there are any */
    const char *grouped;                 /* switch: heads share keys and values */
    const char *kv_heads;                /* if so */
    const char *head_size;               /* if it is not hidden / heads */
    const char *positions;               /* "rotary", "table" */
    const char *rotary_base;             /* if known */
    const char *activation;              /* "gelu", "swiglu", "squared-relu"; another: NULL */
    const char *norm;                    /* "rms", "layer" */
    const char *biases, *tied, *dropout; /* switches */
    const char *qkv_bias, *qk_norm;      /* switches: biases of queries, keys and values alone */
    const char *sinks;                   /* "on": attention's softmax has them */
    /* Tokens before and behind one that it attends to: "127,0", "[127,0]". */
    const char *window, *window_list;
    const char *windowed; /* which layers, if not all do: "4" (but each fourth), "[0,1,1]" */
    const char *experts, *topk, *ep, *etp, *with_experts; /* with_experts: "on" */
    const char *expert_ffn, *shared_ffn;
    const char *expert_layers; /* where not all have them: "[0,0,1,1]" */
    const char *router;        /* "softmax", "sigmoid" */
    const char *groups, *top_groups;
    const char *dispatch;        /* as the strategy's table has it */
    const char *relays;          /* "on" with deepep */
    const char *ep_overlap;      /* "shared", "micro-batches"; NULL: off */
    const char *dropless;        /* "on" without a limit */
    const char *capacity, *pads; /* with a limit: its factor; switch */
    const char *latent;          /* "on" with latent attention */
    const char *q_rank, *kv_rank, *plain_size, *rotated_size, *value_size; /* of that */
    /* the batch */
    const char *batch, *micro_batch, *micro_batches; /* sequences; of a rank in a step */
    const char *local_batch; /* sequences of a rank at once: of all micro-batches in a pipeline */
    const char *stage_batch, *stage_batches; /* micro_batch and micro_batches with pp above 1 */
    const char *micro_tokens, *batch_tokens;
    /* degrees */
    const char *tp, *pp, *cp;
    const char *sequence_parallel;       /* with tp above 1, switch */
    const char *tp_overlap;              /* likewise: products are cut in pieces beside collectives */
    const char *cp_comm;                 /* with cp above 1 */
    const char *dp_replicas, *dp_shards; /* dp as groups with the same and with other parameters (zero 3) */
    const char *vp;                      /* above 1 */
    const char *no_vp;                   /* "on" with vp 1 */
    const char *stage_layers; /* with pp above 1: layers of a chunk, the ends counted if they count */
    const char *chunk_layers; /* the same with vp above 1 */
    const char *first_layers, *last_layers; /* of the first and the last stage, where these alone differ */
    const char *layout;      /* where layers were said by stage: Megatron-LM's letters; then none of these */
    const char *ends_count;  /* with pp above 1, switch: the embedding and the head count as a layer each */
    const char *end_layers;  /* "1" or "0" for this */
    const char *schedule;    /* with pp above 1; "interleaved": 1f1b with vp above 1 */
    const char *group;       /* if not pp: micro-batches in a virtual stage's turn */
    const char *overlap_p2p; /* with vp above 1, switch */
    const char *one_stage;   /* "on" without a pipeline */
    /* data parallelism */
    const char *zero;             /* "0" .. "3" */
    const char *shards_optimizer; /* switch: zero 1 or above */
    const char *fully_sharded;    /* switch: zero 2 or above */
    const char *full_sharding;    /* of these, "2" or "3" */
    const char *replicas;         /* above 1 */
    const char *shard_ranks;      /* with replicas above 1: ranks of a group of shards, dp x cp / replicas */
    const char *reshard;
    const char *overlap_gradients, *overlap_parameters; /* switches; parameters: with something sharded */
    /* memory */
    const char *recompute;         /* "none", "selective", "full" */
    const char *recompute_modules; /* of selective: "core_attn mlp" */
    const char *recompute_list;    /* the same: "[core_attn,mlp]" */
    const char *recompute_method;  /* of full: "uniform"; "block": the first recompute_count of each chunk */
    const char *recompute_count;   /* of full */
    /* As TorchTitan tells them apart: "none", "operators" (selective), "layers" (every so many-th),
     * "full". */
    const char *checkpoints;
    const char *checkpoint_every; /* of layers; "op" of operators */
    const char *stops_early;      /* switch */
    /* numbers */
    const char *precision;       /* "fp32", "mixed", "bf16" */
    const char *bf16;            /* switch: layers are computed in 16 bits */
    const char *fp8;             /* with a recipe in 8 bits, its name */
    const char *fp4;             /* "nvfp4" */
    const char *low_recipe;      /* either, or "none"; "fp32": layers are computed in 32 bits */
    const char *scaled_alone;    /* fp8, without 8-bit parameters */
    const char *fp8_params;      /* with fp8, switch */
    const char *attention;       /* "fused", "unfused", "flash2" */
    const char *fuses_attention; /* switch */
    /* a model that the program has */
    const char *family, *flavor;
} launch_facts;

void launch_facts_of(const launch_job *job, dse_arena *a, launch_facts *out);

/* One of a fact's words, in a program's spelling. */
typedef struct {
    const char *fact, *word;
} launch_word;

typedef enum {
    LAUNCH_NUMBER, /* or a word without quotes */
    LAUNCH_TEXT,
    LAUNCH_SWITCH, /* true where the fact is `on`; of an option, written alone where it is */
    LAUNCH_LINE    /* no option: those behind it begin a line */
} launch_kind;

/* A row: an option of a program. */
typedef struct {
    const char *name; /* "--seq-length"; KEY=VALUE without a dash; "section.key" of files */
    size_t fact;      /* offset in launch_facts */
    launch_kind kind;
    const char *fallback; /* what the program takes if it is told nothing: not written; NULL: any is */
    const char *on;       /* of a switch: the fact that it means; NULL: "on" */
    const char *absent;   /* written where the fact does not apply; NULL: nothing is */
    const char *fixed;    /* written whatever the job says; "": the name alone; NULL: the fact is */
    /* The facts that the program has, and how it spells them (NULL: not at all), ended by a row of NULL;
     * NULL: any, as it is. */
    const launch_word *words;
} launch_option;

#define FACT(f) .fact = offsetof(launch_facts, f)
/* clang-format off */
#define LAUNCH_NEWLINE {.kind = LAUNCH_LINE}
#define WORDS(...)     .words = (const launch_word[]){__VA_ARGS__, {NULL, NULL}}
/* clang-format on */

/* What a program's text says besides, or why there is none. */
typedef struct {
    bool (*applies)(const launch_job *j);
    const char *text;
} launch_rule;

/* The first rule that applies, as DSE_E_RANGE. The rules end with a row of NULL. */
dse_status launch_refuse(const launch_rule *rules, const launch_job *j, dse_error *err);

/* Comments, wrapped: one, and those that apply. */
void launch_put_comment(const char *mark, const char *text, dse_strbuf *out);
void launch_put_notes(const launch_rule *notes, const launch_job *j, const char *mark, dse_strbuf *out);

/* "# MODEL on NODES x PER_NODE ranks of SYSTEM, for TITLE VERSION: dp 8, ...". */
void launch_put_heading(const launch_program *p, const launch_job *j, dse_strbuf *out);

/* What torchrun is called with, up to the program; as a comment begun by `mark`, or NULL: as a command. */
void launch_put_torchrun(const launch_job *j, const char *mark, dse_strbuf *out);

/* Rows as options of a command line, several in a line; the first line is continued. DSE_E_RANGE: the program
 * does not have a fact. */
dse_status launch_put_options(const launch_option *rows, size_t n, const launch_facts *f, const char *title,
                              dse_strbuf *out, dse_error *err);

/* How a language writes sections of keys. */
typedef enum { LAUNCH_TOML, LAUNCH_PYTHON, LAUNCH_JSON } launch_language;

/* Rows as keys in their sections; rows of a section stand together. Of Python the section is the call that
 * makes it, and what it is assigned to: "    c.parallelism = ParallelismConfig(" from
 * "parallelism=ParallelismConfig.key". Of JSON one object. Fails as launch_put_options. */
dse_status launch_put_sections(launch_language l, const launch_option *rows, size_t n, const launch_facts *f,
                               const char *title, dse_strbuf *out, dse_error *err);

extern const launch_program launch_megatron, launch_bridge, launch_torchtitan, launch_torchtitan_toml,
    launch_deepspeed, launch_deepspeed_json;

#endif
