/* step_options -- how a training step is spread over ranks and ordered: what the generator of the real step
 * takes of a strategy, a precision and the habits of a program. Plain data. */
#ifndef DSE_STEP_OPTIONS_H
#define DSE_STEP_OPTIONS_H

#include "workload/kernel.h"

typedef enum { STEP_RECOMPUTE_NONE, STEP_RECOMPUTE_SELECTIVE, STEP_RECOMPUTE_FULL } step_recompute;

/* Parts of a layer that selective recomputation makes again, as bits in the order of Megatron-LM's
 * --recompute-modules. again.c */
enum {
    STEP_AGAIN_CORE = 1,
    STEP_AGAIN_NORMS = 2,
    STEP_AGAIN_EXPERT_ACTIVATION = 4,
    STEP_AGAIN_UP = 8,
    STEP_AGAIN_MLP = 16,
    STEP_AGAIN_EXPERTS = 32,
    STEP_AGAIN_SHARED = 64
};

/* How context parallelism brings keys and values to queries, and their gradients back. */
typedef enum {
    STEP_CONTEXT_RING,
    STEP_CONTEXT_ALL_GATHER, /* gradients are reduce-scattered (Megatron-LM) */
    STEP_CONTEXT_ALL_TO_ALL,
    STEP_CONTEXT_ALL_GATHER_RING /* gradients go around a ring (torch, its "allgather" rotation) */
} step_context;

/* Which collectives of tensor parallelism go on beside products, with or without sequence parallelism. */
typedef enum {
    STEP_TENSOR_WAITS,  /* none: DTensor's, and the forks of Megatron before September 2021 */
    STEP_TENSOR_BESIDE, /* those that a product of the backward pass which needs nothing of them can hide
                           (Megatron-LM, LinearWithGradAccumulationAndAsyncCommunication) */
    STEP_TENSOR_PIECES  /* and, with sequence parallelism, the gathering of a product's input and the sum of
                           its result, in as many pieces as there are ranks (Transformer Engine's
                           --tp-comm-overlap, torch's asynchronous tensor parallelism) */
} step_tensor;

/* In which micro-batch the gradients of fully sharded parameters are reduced, and what becomes of the
 * parameters until then. */
typedef enum {
    STEP_SYNC_EACH,            /* in each: the shard of the gradient accumulates */
    STEP_SYNC_LAST,            /* in the last: gradients are kept whole until then */
    STEP_SYNC_LAST_NO_RESHARD, /* and parameters stay gathered after a backward pass */
    STEP_SYNC_STAGE /* a stage is gathered as a whole before its first pass, stays so, and reduces all
                                  its gradients after its last (torch's pipelines: UNSHARD, REDUCE_GRAD; of
                                  their RESHARD, with more than three chunks of a rank, nothing is known
                                  here) */
} step_sync;

/* Products of a layer's matrices in fewer bits than 16, forward and backward, as Transformer Engine
 * (Megatron-LM) and torchao (TorchTitan) run them. Attention, the head's logits, the embedding and what
 * travels between ranks stay as they are, unless a field says otherwise. Operands are cast by kernels that are bound by memory; a product
 * writes the type of the activations. */
typedef struct {
    wl_kernel_class class; /* of the products; WL_KERNEL_OTHER: they are of the activations' type */
    double bytes;          /* of an element of an operand, with its share of the scales */
    /* Moved to cast an element, besides what the kernels around do anyway. */
    double cast_input, cast_gradient, cast_weight;
    /* of each micro-batch (torchao); else once a step, with the update (Megatron-LM) */
    bool casts_weights_in_passes;
    /* the layers' matrices are gathered, and kept where there is a master copy, in these bits */
    bool has_parameters;
    bool is_dispatched; /* DeepEP brings tokens to their experts in 8 bits, with scales of blocks */
    /* tokens are cast before sequence parallelism gathers them, and so are gradients (torchao's
     * Float8ColwiseParallel, Float8RowwiseParallel, PrepareFloat8ModuleInput, which are for scales of whole
     * tensors alone) */
    bool is_gathered;
    /* Moved to cast an element of an input once more, for the gradient of the weight: scales of rows are
     * others than those of columns. */
    double cast_input_again;
} step_low;

/* How tokens come to the ranks of their experts, and back (Megatron-LM,
 * transformer/moe/token_dispatcher.py). */
typedef enum {
    STEP_DISPATCH_ALL_TO_ALL, /* each token to the ranks of its experts */
    STEP_DISPATCH_ALL_GATHER, /* all tokens to all ranks, which take those of their experts */
    STEP_DISPATCH_DEEPEP      /* each token once to each node, which hands it on, once to each rank */
} step_dispatch;

/* What becomes of tokens beyond a limit of each expert. */
typedef enum {
    STEP_CAPACITY_NONE, /* there is none: dropless */
    STEP_CAPACITY_PAD,  /* they are dropped, and experts that have fewer compute as many */
    STEP_CAPACITY_DROP  /* they are dropped */
} step_capacity;

typedef struct {
    uint32_t dp, tp, cp, pp;
    uint32_t vp;         /* chunks of a rank, virtual stages */
    uint32_t directions; /* 2: micro-batches enter at both ends, and rank r holds stages r and pp-1-r
                                     (DualPipe; vp is 1); 0, 1: one */
    uint32_t micro_batch, n_micro_batches; /* sequences of one; of a rank in a step */

    bool sequence_parallel; /* Megatron's: what tensor parallelism leaves whole is split by tokens */
    bool gathers_again;     /* with it, a column-parallel matrix saves its shard of the input, and gathers it
                               again in the backward pass, as Megatron does; else it saves the whole input */
    step_tensor tensor;
    step_context context;
    bool merges_parts; /* with a ring, or keys and values gathered for it, kernels of their own add up what
                          the parts of attention give, in 32 bits (torch, _context_parallel/_attention.py) */
    step_recompute recompute;
    unsigned recompute_modules; /* of selective recomputation, parts of a layer; 0: STEP_AGAIN_CORE */
    uint32_t recompute_layers;  /* of each chunk, the first so many; 0: all */
    uint32_t recompute_every;   /* or every so many-th; 0, 1: all */
    bool stops_early;   /* a recomputed layer is made when its backward pass first reads something of it,
                                  and no collective after its last product, as by torch's non-reentrant
                                  checkpoint */
    bool leaves_unread; /* with it, nor that product, which nothing reads (torch's early stop, XLA) */

    /* 0 to 3: what is sharded over dp and cp: nothing, optimizer, gradients, parameters */
    uint32_t zero;
    uint32_t replicas; /* of the shards (HSDP); 1: dp and cp are one shard group */
    bool reshard_after_forward;
    uint32_t reshard_ranks; /* after the forward pass parameters lie on so many neighbours; 0: on all
                                     shards */
    bool shards_root;       /* layers are units of their own, and all else is the root's; else the
                                     embedding is a unit, and so is the head (TorchTitan) */
    step_sync sync;
    bool overlaps_gradients;        /* reduction bucket by bucket under the last backward pass */
    bool overlaps_parameters;       /* gathering of updated parameters under the next forward pass */
    uint64_t bucket_elements;       /* of gradients, at least; 0: one bucket */
    uint64_t first_bucket_elements; /* of the bucket that is reduced first; 0: as the others */
    bool buckets_by_readiness;      /* gradients stand in buckets in the order in which they become ready,
                                     after a first step with one bucket (torch DDP); else in reverse order
                                     of definition */
    bool buckets_first_stage;       /* the first stage alone has several buckets: elsewhere the reduction is
                                     not on the critical path (Megatron-LM) */
    uint32_t pads_parameters;       /* a distributed optimizer begins each at a multiple of so many elements,
                                     and pads buckets so that shards are aligned (Megatron-LM); 0, 1: no */
    bool aligns_gradients;          /* with overlap, the stages of a pipeline begin to reduce together: a
                                     chunk whose last backward pass is a rank's k-th is reduced after the
                                     (k + rank)-th (Megatron-LM's align_grad_reduce) */
    bool aligns_parameters;    /* with overlap, chunks gather parameters together on all stages: the first two
                                     at the begin; when chunk c > 0 begins with the first rank's k-th forward
                                     pass, chunk c + 1 before the (k - rank)-th (align_param_gather) */
    bool sums_whole_gradients; /* with sequence parallelism, gradients of norms and of biases that each
                                     rank has are summed over tp after the last backward pass, in one call
                                     (Megatron-LM) */
    /* gradients and the loss are reduced in a group of one, too, by Megatron-LM */
    bool calls_alone;
    bool fuses_loss;       /* the vocabulary-parallel loss packs two of its three reductions */
    bool gathers_logits;   /* the loss is not vocabulary-parallel: logits are gathered over tp */
    bool loss_after_model; /* the loss is not computed by the model's forward pass, but after it */
    bool splits_messages;  /* without sequence parallelism each rank of a tensor parallel group sends its
                                     share of a tensor to the next stage, whose ranks gather it (DeepSpeed,
                                     pipe/engine.py, is_pipe_partitioned, is_grad_partitioned; Megatron-LM
                                     until 2023, p2p_communication.py, scatter_gather_tensors_in_pipeline) */
    bool batches_messages; /* what a forward and a backward pass send and receive is one call after
                                     both (Megatron-LM, interleaved); else each pass receives before and
                                     sends after */
    bool waits_for_sends; /* after a pass that sends its tensor to another rank, the next one begins when that
                                     has come there: 1F1B's sends and receives are calls that are waited for,
                                     in Megatron-LM (send_forward_recv_backward), torch and DeepSpeed */
    /* refused: fewer heads of keys and values than ranks that share out heads, which are tp, and with Ulysses
     * those of cp, too */
    bool whole_kv_heads;
    /* a product for the gradient of a weight adds it to the buffer of gradients (Megatron-LM,
     * gradient_accumulation_fusion); else a kernel of its own does, if there are several micro-batches */
    bool adds_gradients;
    /* the buffer of gradients lasts, is set to zero before each step, and is divided by the ranks that sum it
     * up (Megatron-LM, param_and_grad_buffer.py) */
    bool keeps_gradients;
    bool unscales_gradients; /* of fp16: divided by the loss's scale and looked at for infinities */
    bool expands_kv;         /* attention keeps keys and values copied for each head */
    bool fused_attention;    /* scores are made again in the backward pass, not kept */
    bool flash_attention_2;  /* of those, FlashAttention-2's kernels */
    bool fused_activation;   /* a gated activation keeps its inputs alone */

    /* What else takes memory. */
    /* layers of one recomputed piece, of which only the first keeps its input, as in Megatron's
     * recompute_num_layers with uniform; 0, 1: each layer is one */
    uint32_t recompute_together;
    uint32_t logits_copies;  /* in 32 bits, at once: 1, the loss overwrites it with the softmax (Megatron-LM,
                                 tensor_parallel/cross_entropy.py); 2, as torch's cross_entropy of .float() */
    bool keeps_outputs;      /* of a stage until its backward pass, as torch's pipelining does; Megatron frees
                                 them once they are sent (deallocate_pipeline_outputs) */
    uint32_t receives_ahead; /* buffers of receives that are posted before they are needed: with Megatron's
                                 interleaved schedule 2, one for each direction */
    bool copies_buckets;     /* buckets are not the gradients themselves, as in torch's DDP without
                                 gradient_as_bucket_view */
    uint64_t workspace_bytes; /* of the matrix library: torch asks cuBLAS for 8,519,680, on sm_90 for
                                 33,554,432 (aten/src/ATen/cuda/CublasHandlePool.cpp) */

    step_low low;

    /* Experts. The ranks that tensor, context and data parallelism have of a stage are those over which
     * experts are spread, `ep` with other experts each, and each of these over `etp`; the others have the
     * same experts. */
    uint32_t ep, etp; /* 0: 1 */
    step_dispatch dispatch;
    step_capacity capacity;
    uint32_t capacity_percent; /* with a limit, what an expert takes, of an even share of a rank's tokens */
    double imbalance;          /* tokens that come to the most loaded rank, over the mean; 0: 1 */
    uint32_t near_ranks;       /* with deepep, so many neighbours exchange within a node, 0, 1: none do */
    bool overlaps_shared; /* exchanges go on beside the experts that all tokens take: the first part of these
                             beside dispatch, the second beside combine (Megatron-LM, shared_experts.py) */
    bool experts_in_turn; /* parameters are defined expert by expert (Megatron-LM's SequentialMLP); else
                             matrix by matrix, each of all experts (its grouped GEMM) */

    /* Bytes of an element. */
    double activation_bytes, weight_bytes, kept_weight_bytes, gradient_bytes, reduce_bytes, optimizer_bytes;
} step_options;

static inline bool step_has_copies(const step_options *o) { return o->directions > 1; }

static inline uint32_t step_ep(const step_options *o) { return o->ep ? o->ep : 1; }
static inline uint32_t step_etp(const step_options *o) { return o->etp ? o->etp : 1; }

/* Whether gradients of experts are reduced over a group of their own (Megatron-LM, layers.py: allreduce). */
static inline bool step_experts_apart(const step_options *o)
{
    return step_ep(o) > 1 || step_etp(o) != o->tp;
}

/* With ZeRO-3, whether parameters are freed after each backward pass; else after the last of their stage. */
static inline bool step_resharded_by_pass(const step_options *o)
{
    return o->sync != STEP_SYNC_LAST_NO_RESHARD && o->sync != STEP_SYNC_STAGE;
}

/* Whether chunks are reduced as `aligns_gradients` says, and not within their last backward pass. ZeRO-2
 * reduces in each. */
static inline bool step_aligns(const step_options *o)
{
    return o->aligns_gradients && o->overlaps_gradients && o->zero < 2;
}

#endif
