/* later_words -- the words by which the later tools of the leaderboard know a kernel from its name
 * (metric_says). Each tool has its own expression, and they differ; they are what --compat reproduces. */
#ifndef DSE_METRICS_LATER_WORDS_H
#define DSE_METRICS_LATER_WORDS_H

#define LATER_CROSS_DEVICE "crossdevice|cross_device|cross-device"
#define LATER_COLLECTIVES                                                                                    \
    "allreduce|allgather|reducescatter|broadcast|" LATER_CROSS_DEVICE                                        \
    "|all_reduce|all_gather|reduce_scatter|sendrecv"
#define LATER_DASHED                                                                                         \
    "allreduce|all_reduce|all-reduce|allgather|all_gather|all-gather|reducescatter|reduce_scatter|"          \
    "reduce-scatter|alltoall|all_toall|all-toall|allto_all|allto-all|all_to_all|all-to-all|all_to-all|"      \
    "all-to_all"

/* communication_fraction; communication_ratio, communication_overlap_ratio, ...; both of these on Nsight
 * Systems. */
#define LATER_COMM_WIDE  "nccl|" LATER_COLLECTIVES "|send|recv|p2p|communicate"
#define LATER_COMM_PLAIN "^nccl|nccldevkernel|ncclkernel|" LATER_COLLECTIVES
#define LATER_COMM_NSYS                                                                                      \
    "nccl|allreduce|allgather|reducescatter|broadcast|send|recv|p2p|cross_device|communicate|all_reduce|"    \
    "all_gather"
/* compute_comm_overlap; the same on XLA, where broadcast is a local operation. */
#define LATER_COMM_OVERLAP "nccl|" LATER_DASHED "|broadcast|" LATER_CROSS_DEVICE "|sendrecv|collective"
#define LATER_COMM_XLA     "nccl|" LATER_DASHED "|" LATER_CROSS_DEVICE "|sendrecv|collective"
#define LATER_COMPUTE_XLA  "dot|convolution|gemm|matmul|fusion|compute|custom-call"
/* "combine" takes flash_fwd_splitkv_combine_kernel as well, as in section 8 of the specification. */
#define LATER_MOE      "moe|expert|routing|gating|gate_|topk|dispatch|combine|grouped_gemm"
#define LATER_MOE_NSYS "moe|expert|routing|gating|<gate>|<topk>|dispatchkernel|combinekernel"

/* The classes of the memory tools, in the order of their tests: communication, transfers, matrices, what
 * they take for bound by memory. */
#define LATER_COMM_NAMED "nccl|" LATER_COLLECTIVES
#define LATER_MEMCPY     "memcpy|memset|copy_kernel|copy.|copy-start|copy-done|<dma>"
#define LATER_GEMM       "gemm|cutlass|cublas|matmul|triton_mm"
#define LATER_BOUND                                                                                          \
    "softmax|layernorm|layer_norm|rmsnorm|rms_norm|batchnorm|batch_norm|groupnorm|group_norm|norm_kernel|"   \
    "elementwise|pointwise|vectorized|unary|binary|aten::add|aten::mul|aten::div|aten::sub|aten::relu|"      \
    "aten::gelu|aten::silu|aten::sigmoid|aten::tanh|aten::exp|aten::neg|aten::abs|aten::clamp|"              \
    "reduce!scatter|sum_kernel|mean_kernel"

#endif
