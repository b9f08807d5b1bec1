/* The parameters of a strategy, one row each: the only list of them.
 *
 * A row drives the options of every command, space files, points files, names of points, the configuration
 * with its hash, the columns of SQL, CSV and JSON, constraints, the axes of explanations, measured runs,
 * completion and help. To add a parameter, add its row, and its meaning in the generator (workload/).
 * strategy.h says what a field means. A parameter that comes later than stored results has .omit_default, and
 * a .help, .order and .profiles of its own; nothing else knows how many there are. An axis is a figure of a
 * result as well, step_comm_<name> (store/columns.c), which needs a new version of the database.
 *
 * Not guarded: it is included with STRATEGY_PARAMETER(name, fields...) defined, and STRATEGY_AXIS(name,
 * fields...) where a degree that divides the NPUs, an axis of the mesh, is something else. Both are undefined
 * at its end. */
#ifndef STRATEGY_AXIS
#define STRATEGY_AXIS STRATEGY_PARAMETER
#endif

STRATEGY_AXIS(dp, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .order = 1, .in_name = true,
              .shards_tensors = true, .swept = STRATEGY_SWEEP_DIVISORS, .help = "data parallel degree",
              .help_of_list = "data parallel degrees")
STRATEGY_AXIS(tp, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .order = 2, .in_name = true,
              .shards_tensors = true, .swept = STRATEGY_SWEEP_DIVISORS, .help = "tensor parallel degree",
              .help_of_list = "tensor parallel degrees")
STRATEGY_AXIS(sp, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .order = 3, .in_name = true,
              .shards_tensors = true, .profiles = STRATEGY_PROFILE_STAGE, .swept = STRATEGY_SWEEP_DIVISORS,
              .help = "sequence parallel degree", .help_of_list = "sequence parallel degrees")
STRATEGY_AXIS(pp, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .order = 0, .in_name = true,
              .help = "pipeline parallel degree", .help_of_list = "pipeline parallel degrees")
STRATEGY_AXIS(cp, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .order = 8, .omit_default = true,
              .profiles = STRATEGY_PROFILE_TRAIN, .help = "context parallel degree: a sequence over ranks",
              .help_of_list = "context parallel degrees")
STRATEGY_PARAMETER(recompute, .kind = STRATEGY_SWITCH, .order = 5, .in_name = true,
                   .swept = STRATEGY_SWEEP_ALL, .heading = "recomp", .on = "recomputing",
                   .off = "no recomputation", .noun = "recomputation",
                   .help = "recompute activations in the backward pass",
                   .help_of_list = "activation recomputation")
STRATEGY_PARAMETER(weight_sharded, .kind = STRATEGY_SWITCH, .profiles = STRATEGY_PROFILE_STAGE, .order = 4,
                   .suffix = "ws", .heading = "shard", .on = "sharded weights", .noun = "sharded weights",
                   .help = "shard weights over dp and sp", .help_of_list = "weights sharded over dp and sp")
STRATEGY_PARAMETER(placement, .kind = STRATEGY_ORDER, .profiles = STRATEGY_PROFILE_STAGE, .order = 6,
                   .omit_default = true,
                   .help = "order of the axes, innermost first: tp-sp-dp-pp as Megatron has it",
                   .help_of_list = "orders of axes, inner first: tp-sp-dp-pp")
STRATEGY_PARAMETER(stages, .kind = STRATEGY_CHOICE, .profiles = STRATEGY_PROFILE_STAGE, .order = 7,
                   .omit_default = true, .choices = (const char *const[]){"turns", "neighbours", NULL},
                   .help = "layers of a stage, dealt out in turn as by STAGE, or neighbours as in Megatron",
                   .help_of_list = "layers of a pipeline stage")

/* Of the training step that programs run (profile train). */
#define TRAIN_ONLY     .profiles = STRATEGY_PROFILE_TRAIN, .omit_default = true
#define TRAIN_AND_MAIN .profiles = STRATEGY_PROFILE_TRAIN | STRATEGY_PROFILE_MAIN, .omit_default = true
STRATEGY_PARAMETER(micro_batch, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .order = 9, TRAIN_ONLY,
                   .help = "sequences of a micro-batch", .help_of_list = "sequences of a micro-batch")
STRATEGY_PARAMETER(vp, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .order = 10, TRAIN_ONLY,
                   .help = "virtual stages: chunks of layers of a pipeline rank",
                   .help_of_list = "virtual stages: chunks of layers of a pipeline rank")
STRATEGY_PARAMETER(schedule, .kind = STRATEGY_CHOICE, .order = 11, TRAIN_ONLY,
                   .choices = (const char *const[]){"1f1b", "gpipe", "looped-bfs", "zero-bubble", "zbv",
                                                    "dualpipev", "dualpipe", NULL},
                   .help = "order of a pipeline's micro-batches; 1f1b with vp above 1 is interleaved",
                   .help_of_list = "orders of a pipeline's micro-batches")
STRATEGY_PARAMETER(group_size, .kind = STRATEGY_DEGREE, .min = 0, .fallback = 0, .order = 12, TRAIN_ONLY,
                   .help = "micro-batches in a virtual stage's turn; 0: pp",
                   .help_of_list = "micro-batches in a virtual stage's turn")
STRATEGY_PARAMETER(zero, .kind = STRATEGY_DEGREE, .min = 0, .max = 3, .fallback = 1, .order = 13, TRAIN_ONLY,
                   .help = "what is sharded over dp and cp: 0 nothing, 1 the optimizer, 2 gradients, too, 3 "
                           "parameters, too (FSDP)",
                   .help_of_list = "what is sharded over dp and cp: 0 nothing, 1 the optimizer, 2 gradients, "
                                   "too, 3 parameters, too (FSDP)")
STRATEGY_PARAMETER(recompute_granularity, .kind = STRATEGY_CHOICE, .order = 14, TRAIN_ONLY,
                   .heading = "recompute",
                   .choices = (const char *const[]){"none", "selective", "full", NULL},
                   .help = "what is made again in the backward pass: nothing, the core of attention, whole "
                           "layers",
                   .help_of_list = "what is made again in the backward pass")
STRATEGY_PARAMETER(recompute_layers, .kind = STRATEGY_DEGREE, .min = 0, .fallback = 0, .order = 15,
                   TRAIN_ONLY, .help = "first layers of each stage to make again; 0: all",
                   .help_of_list = "first layers of each stage to make again; 0: all")
STRATEGY_PARAMETER(recompute_every, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .order = 16, TRAIN_ONLY,
                   .help = "every so many-th layer is made again",
                   .help_of_list = "every so many-th layer is made again")
STRATEGY_PARAMETER(sequence_parallel, .kind = STRATEGY_CHOICE, .order = 17, TRAIN_AND_MAIN,
                   .choices = (const char *const[]){"on", "off", NULL},
                   .help = "with tp, what tensor parallelism leaves whole is split by tokens (Megatron)",
                   .help_of_list = "sequence parallelism over tp (Megatron)")
STRATEGY_PARAMETER(cp_comm, .kind = STRATEGY_CHOICE, .order = 18, TRAIN_ONLY,
                   .choices = (const char *const[]){"ring", "all-gather", "all-to-all", "all-gather-xla",
                                                    NULL},
                   .help = "how context parallelism exchanges keys and values; all-to-all as in Ulysses; "
                           "all-gather-xla as in JAX, which copies none for each head",
                   .help_of_list = "how context parallelism exchanges keys and values")
STRATEGY_PARAMETER(
    reshard, .kind = STRATEGY_CHOICE, .order = 19, TRAIN_ONLY,
    .choices = (const char *const[]){"default", "always", "never", NULL},
    .help = "with zero 3, parameters are freed after the forward pass; default: without a pipeline",
    .help_of_list = "with zero 3, whether parameters are freed after the forward pass")
STRATEGY_PARAMETER(replicas, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .order = 20, TRAIN_ONLY,
                   .help = "copies of what is sharded, of the dp ranks (HSDP)",
                   .help_of_list = "copies of what is sharded, of the dp ranks (HSDP)")
STRATEGY_PARAMETER(
    sync, .kind = STRATEGY_CHOICE, .order = 21, TRAIN_ONLY,
    .choices = (const char *const[]){"default", "each", "last", "last-gathered", NULL},
    .help = "with zero 3, gradients are reduced in each micro-batch, or in the last (and parameters "
            "stay until then); default: each, or a stage after its last",
    .help_of_list = "with zero 3, when gradients are reduced")
STRATEGY_PARAMETER(
    overlap, .kind = STRATEGY_CHOICE, .order = 22, TRAIN_ONLY,
    .choices = (const char *const[]){"on", "off", "gradients", NULL},
    .help = "reduction of gradients under the backward pass and gathering of parameters under the forward "
            "pass, or of gradients alone",
    .help_of_list = "overlap of dp collectives")
STRATEGY_PARAMETER(
    overlap_p2p, .kind = STRATEGY_CHOICE, .order = 24, TRAIN_ONLY,
    .choices = (const char *const[]){"default", "on", "off", NULL},
    .help = "transfers between stages go on beside the passes; default: but for 1f1b without virtual stages",
    .help_of_list = "transfers beside passes")
STRATEGY_PARAMETER(like, .kind = STRATEGY_CHOICE, .order = 23, TRAIN_ONLY,
                   .choices = (const char *const[]){"any", "megatron", "torchtitan", "deepspeed", "bridge",
                                                    "megatron-2022", NULL},
                   .help = "the program whose rules, defaults and habits count; any: all, Megatron's habits",
                   .help_of_list = "programs whose habits count")
STRATEGY_PARAMETER(
    attention, .kind = STRATEGY_CHOICE, .order = 25, TRAIN_ONLY,
    .choices = (const char *const[]){"fused", "unfused", "flash2", NULL},
    .help = "attention in one kernel, or with its scores in memory; flash2: FlashAttention-2's kernel",
    .help_of_list = "kernels of attention")
STRATEGY_PARAMETER(fp8_recipe, .kind = STRATEGY_CHOICE, .order = 26, TRAIN_ONLY,
                   .choices = (const char *const[]){"none", "delayed", "tensorwise", "rowwise", "blockwise",
                                                    "mxfp8", "nvfp4", NULL},
                   .help = "how the layers' matrices are scaled to be multiplied in 8 bits, or 4",
                   .help_of_list = "scales of layers' matrices in 8 or 4 bits")
STRATEGY_PARAMETER(fp8_params, .kind = STRATEGY_CHOICE, .order = 27, TRAIN_ONLY,
                   .choices = (const char *const[]){"off", "on", NULL},
                   .help = "with fp8-recipe, keep and gather these matrices in 8 bits",
                   .help_of_list = "8-bit parameters with fp8-recipe")
STRATEGY_PARAMETER(
    tp_overlap, .kind = STRATEGY_CHOICE, .order = 33, TRAIN_ONLY,
    .choices = (const char *const[]){"default", "on", "off", NULL},
    .help = "collectives of tp go on beside pieces of the products next to them (Megatron: userbuffers; "
            "TorchTitan: async tensor parallelism); off: all are waited for",
    .help_of_list = "overlap of tp collectives with pieces of products")
/* Of models with experts. */
#define OF_EXPERTS TRAIN_ONLY, .of_experts = true
STRATEGY_PARAMETER(ep, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .order = 28, TRAIN_AND_MAIN,
                   .of_experts = true,
                   .help = "expert parallel degree: experts over so many of the tp x cp x dp ranks",
                   .help_of_list = "expert parallel degrees")
STRATEGY_PARAMETER(etp, .kind = STRATEGY_DEGREE, .min = 0, .fallback = 0, .order = 29, OF_EXPERTS,
                   .help = "ranks over which each expert is split; 0: tp like Megatron, else 1",
                   .help_of_list = "ranks over which each expert is split")
STRATEGY_PARAMETER(dispatch, .kind = STRATEGY_CHOICE, .order = 30, OF_EXPERTS,
                   .choices = (const char *const[]){"alltoall", "allgather", "deepep", NULL},
                   .help = "how tokens come to the ranks of their experts, and back; deepep: once to each "
                           "node, which hands them on, once to each rank",
                   .help_of_list = "how tokens come to their experts")
STRATEGY_PARAMETER(capacity, .kind = STRATEGY_CHOICE, .order = 31, OF_EXPERTS,
                   .choices = (const char *const[]){"default", "none", "padded", "dropped", NULL},
                   .help = "limit of an expert's tokens, beyond which they are dropped, and up to which its "
                           "buffer is padded or not; default: none, with DeepSpeed padded",
                   .help_of_list = "limits of an expert's tokens")
STRATEGY_PARAMETER(capacity_percent, .kind = STRATEGY_DEGREE, .min = 1, .max = 100000, .fallback = 100,
                   .order = 32, OF_EXPERTS,
                   .help = "this limit, in percent of what comes to each expert if they get as many",
                   .help_of_list = "this limit, in percent of an even share")
STRATEGY_PARAMETER(ep_overlap, .kind = STRATEGY_CHOICE, .order = 34, OF_EXPERTS,
                   .choices = (const char *const[]){"off", "shared", "micro-batches", NULL},
                   .help = "exchanges of experts go on beside the shared experts (Megatron's "
                           "moe-shared-expert-overlap), or beside passes of another micro-batch "
                           "(overlap-moe-expert-parallel-comm; dualpipe and dualpipev always do the latter)",
                   .help_of_list = "what exchanges of experts go on beside")
STRATEGY_PARAMETER(recompute_modules, .kind = STRATEGY_SET, .fallback = 1, .order = 35, TRAIN_ONLY,
                   .choices = (const char *const[]){"core-attn", "layernorm", "moe-act", "mla-up-proj", "mlp",
                                                    "moe", "shared-experts", NULL},
                   .help = "what recompute_granularity selective makes again of a layer (Megatron's "
                           "recompute-modules), joined by +",
                   .help_of_list = "what recompute_granularity selective makes again of a layer, joined by +")
STRATEGY_PARAMETER(recompute_end, .kind = STRATEGY_CHOICE, .order = 36, TRAIN_ONLY,
                   .choices = (const char *const[]){"default", "early", NULL},
                   .help = "early: layers of TorchTitan, or their networks (recompute_modules mlp), are made "
                           "again as far as the backward pass reads them, without their last product, as by "
                           "its activation_checkpoint.early_stop, and by XLA",
                   .help_of_list = "how far TorchTitan makes layers again")
#undef OF_EXPERTS
#undef TRAIN_ONLY
#undef TRAIN_AND_MAIN

#undef STRATEGY_AXIS
#undef STRATEGY_PARAMETER
