/* msr_row -- what a row of a measured table says, field by field, before anything is concluded from it.
 *
 * job_fields.c knows under which names (one table of spellings), job_words.c what free words mean (tables of
 * words and of frameworks), job_derive.c what follows: the job. job_table.c opens the file. */
#ifndef DSE_MEASURED_JOB_ROW_H
#define DSE_MEASURED_JOB_ROW_H

#include "config/doc.h"
#include "measured/job.h"

typedef struct {
    msr_job job; /* what needs no conclusion is set in it */
    const char *workload_name, *trace, *status, *repeat_of, *quantity, *framework_note, *repository,
        *recompute, *compiler, *policy, *mlp, *activation, *remark;
    int64_t local_batch, chip_batch, accumulation, checkpointing, optimizer_sharding, compiled;
    int64_t ff_ratio; /* "4 x hidden" */
    bool lists_kept;  /* MaxText's policy `custom` has a list of results, and of those it keeps: */
    unsigned kept;    /* bits MSR_KEPT_.. */
    double tokens_per_s_per_device, tokens_per_s_total, tokens_per_s;
    double resident_bytes, activation_bytes; /* that make up the peak */
} msr_row;

/* Results of a layer, or what of them is enough not to make them again. */
enum {
    MSR_KEPT_QKV = 1,     /* queries, keys and values */
    MSR_KEPT_CONTEXT = 2, /* what attention makes, and its sums */
    MSR_KEPT_OUT = 4,     /* behind the projection of these */
    MSR_KEPT_MLP = 8,     /* behind the first products of the feed-forward network */
    MSR_KEPT_OTHER = 16   /* something that saves no part alone: queries, one of the first products */
};

/* A place in a table: for messages, and for what the whole table says. */
typedef struct {
    const cfg_doc *doc;
    const char *where;       /* "measured.json: row 12 ('id')" */
    const cfg_node *units;   /* a map of names to units; NULL */
    const cfg_node *models;  /* names of models to maps of what holds for their rows; NULL */
    const cfg_node *defined; /* metric_info or metric_definitions: names to maps with a `unit`; NULL */
} msr_row_place;

/* Reads a row, of its model in the table's `models` what the row does not speak of, and of `common` (NULL:
 * none) what neither does. DSE_E_CONFIG. */
dse_status msr_row_read(const msr_row_place *at, const cfg_node *row, const cfg_node *common, dse_arena *a,
                        msr_row *out, dse_error *err);

/* The job that a row is; `name` and `where` of it are set by then. DSE_E_CONFIG if it contradicts itself. */
dse_status msr_row_derive(const msr_row_place *at, msr_row *row, dse_arena *a, msr_job *out, dse_error *err);

/* Whether a text says that there is nothing to say: "", "n/a", "not stated ...". */
bool msr_word_is_absent(const char *text);

/* Letters and digits in lower case, nothing else; cut to fit. */
void msr_normal_form(const char *text, char *out, size_t size);

/* What a program means by selective recomputation. */
typedef enum {
    MSR_SELECTIVE_ATTENTION,    /* the core of attention */
    MSR_SELECTIVE_ALL,          /* all of every layer, unless an option says another share */
    MSR_SELECTIVE_SECOND_LAYER, /* all of every second layer */
    MSR_SELECTIVE_UNKNOWN       /* a share of the layers that options give */
} msr_selective;

/* The defaults of a framework. */
typedef struct {
    const char *name;                /* in normal form; others begin with it: "torchtitan010" */
    const char *other_name;          /* another spelling; NULL: none */
    const char *title;               /* in messages: "TorchTitan" */
    const char *like;                /* the strategy's word for the program whose habits it has */
    int sharded;                     /* weights over dp: 0, 1; -1: it depends */
    int zero;                        /* of a job that does not say what is sharded over dp; -1: no default */
    msr_recompute when_on, when_off; /* of activation checkpointing that is merely true, or false */
    msr_recompute unsaid;            /* of a job that does not speak of it */
    msr_selective selective;
    bool micro_batches_need_pp; /* without a pipeline a rank's share of the batch is one micro-batch */
    bool one_micro_batch;       /* the same, unless a job says otherwise */
    int64_t stage_micro_batch;  /* sequences of a micro-batch of a pipeline; 0: no default */
    int64_t chunks;             /* of an interleaved schedule on a rank; 0: no default */
    bool sequence_parallel;     /* with tp */
    bool recomputes_early;      /* makes layers again as far as the backward pass reads them */
    bool tp_overlap;            /* collectives of tp beside pieces of products, with sequence parallelism */
    bool unfused;               /* attention, with the scores in memory */
    bool flash_attention_2;     /* attention by its kernels */
    bool overlaps;              /* reductions and gathering over dp, below ZeRO-3 */
    bool mixes_sharded;         /* mixed precision is that of sharded weights; else tp and pp have none */
    const char *cp_comm;        /* the strategy's word */
    bool has_policies;          /* recomputation is said by MaxText's names of policies */
    bool rates_a_device;        /* a rate of tokens that names neither is that of a device */
    bool is_llama;              /* models are built as a Llama's unless their names say another family */
    bool has_recipes;           /* the models of msr_recipe_model are configured as these say */
    bool gathers_cast;          /* sharded weights in 8 bits, where a scale is of a whole matrix */
    int64_t etp;                /* ranks that split an expert; 0: the step's default for the program */
    int64_t llama3_sequence;    /* tokens of a sequence in its configurations of Llama 3 and 3.1; 0: none */
    const char *fp8_recipe; /* likewise, of arithmetic in 8 bits that is not said more of; NULL: no default */
} msr_framework;

/* The framework that a text names ("torchtitan-0.1.0", "NVIDIA/Megatron-LM", "torchtitan (the card ...)");
 * NULL. */
const msr_framework *msr_framework_find(const char *text);

/* What a list of MaxText keeps (a row's `maxtext_config`, each result "device", "offload" or "remat"); false:
 * there is none. */
bool msr_kept_of(const cfg_node *row, unsigned *out);

/* The meaning of such a list, of a model without experts; *parts as msr_recompute_parts, *nearest as below. */
msr_recompute msr_recompute_of_kept(unsigned kept, const char **parts, const char **nearest);

/* The meaning of a text about recomputation; `f` may be NULL. *nearest: what a policy is taken for, in words,
 * that is not quite that; NULL. */
msr_recompute msr_recompute_of(const char *text, const msr_framework *f, const char **nearest);

/* What a text about selective recomputation names in brackets, if that is more than attention ("core_attn");
 * NULL. */
const char *msr_recompute_parts(const char *text, const msr_framework *f);

/* Whether the name of a model is one of a family that is built as a Llama (gated activation, RMSNorm), or as
 * Nemotron (squared ReLU without a gate, groups of heads); false for each: the name says nothing. */
typedef enum { MSR_BUILT_UNKNOWN, MSR_BUILT_GPT, MSR_BUILT_LLAMA, MSR_BUILT_NEMOTRON } msr_built;
msr_built msr_built_of(const char *family);

/* Whether the name of a model is one of a family with experts ("Mixtral-8x7B", "qwen3-30b-a3b"), or of one
 * with layers without attention ("Nemotron-H", "Jamba"). */
bool msr_name_has_experts(const char *family);
bool msr_name_is_hybrid(const char *family);

/* Whether it is one of a family whose keys and values are made of a latent, whose sizes no table gives. */
bool msr_name_has_latent_attention(const char *family);

/* What recipes of Megatron-Bridge set for a model that a table of its runs does not repeat. */
typedef struct {
    const char *part; /* of the model's name in normal form: "deepseekv3" */
    int64_t layers;
    int64_t mtp_layers; /* that predict a further token, unless a run says otherwise */
    /* layers by stage up to the last letters, "mL" or "L", up to a row with pp 0 */
    struct {
        int64_t pp, vp;
        const char *text;
    } layout[8];
} msr_recipe_model;

/* Those of a model by its name and number of layers; NULL: the program has no such habits of it. */
const msr_recipe_model *msr_recipe_model_find(const msr_framework *f, const char *family, int64_t layers);

/* The layers that predict further tokens, by a remark: "w/o MTP", "w/ MTP"; MSR_JOB_NONE: it does not say. */
int64_t msr_mtp_of(const char *remark);

/* Whether a text, the name of an activation, says that there is a gate: 0, 1; MSR_JOB_NONE: it does not
 * say. */
int64_t msr_gate_of(const char *text);

#endif
