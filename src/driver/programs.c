/* Megatron-LM of 2022 is the program of arXiv 2205.05198: Megatron-LM v3.0 (megatron/p2p_communication.py,
 * arguments.py: --no-scatter-gather-tensors-in-pipeline, no overlap of transfers; more than two stages with
 * virtual ones; as many layers in each stage; the distributed optimizer with its own DDP alone, which
 * overlaps nothing; no context parallelism, no FSDP).
 *
 * Sources of the others, read as of 2026-08: Megatron-LM (megatron/training/arguments.py; core/distributed),
 * Megatron-Bridge (src/megatron/bridge/training), TorchTitan (config/job_config.py of v0.2.2, distributed/),
 * DeepSpeed (runtime/zero/config.py, runtime/pipe/engine.py) with Megatron-DeepSpeed
 * (megatron/arguments.py). */
#include "driver/programs.h"

#include "base/array.h"

#include <inttypes.h>

#define BIT(program) (1u << (program))
#define MEGATRONS    (BIT(DRV_MEGATRON) | BIT(DRV_BRIDGE) | BIT(DRV_MEGATRON_2022))
#define MEGATRON_TOO (BIT(DRV_ANY) | MEGATRONS)

static bool is_of(const strategy *p, unsigned programs) { return programs >> p->like & 1; }

/* ---- defaults ------------------------------------------------------------------------------- */

/* Indexes of the choices, as strategy/parameters.h has them. */
enum { ON, OFF };
enum { CP_RING, CP_ALL_GATHER, CP_ALL_TO_ALL, CP_ALL_GATHER_XLA };
enum { SYNC_DEFAULT, SYNC_EACH, SYNC_LAST, SYNC_LAST_GATHERED };
enum { RESHARD_DEFAULT, RESHARD_ALWAYS };
enum { OVERLAP_ON, OVERLAP_OFF, OVERLAP_GRADIENTS };
enum { ATTENTION_FUSED, ATTENTION_UNFUSED, ATTENTION_FLASH2 };
enum { P2P_DEFAULT, P2P_ON, P2P_OFF };
enum { TP_DEFAULT, TP_ON, TP_OFF };
enum { END_DEFAULT, END_EARLY };
enum { FP8_NONE, FP8_DELAYED, FP8_TENSORWISE, FP8_ROWWISE, FP8_BLOCKWISE };
enum { DISPATCH_ALL_TO_ALL, DISPATCH_ALL_GATHER, DISPATCH_DEEPEP };
enum { CAPACITY_DEFAULT, CAPACITY_NONE };
enum { SCHEDULE_1F1B, SCHEDULE_ZERO_BUBBLE = 3, SCHEDULE_ZBV, SCHEDULE_DUALPIPEV };

/* Where a program differs from the parameter's own default. Bridge's recipes have the distributed optimizer
 * and both overlaps, as the parameters. TorchTitan checkpoints every second layer; v0.2.2 asks torch for
 * cuDNN's attention first. Megatron-DeepSpeed's fused attention is FlashAttention-2 (--use-flash-attn-v2). */
static const struct {
    drv_program program;
    uint32_t parameter, value;
} defaults[] = {
    {DRV_MEGATRON, STRATEGY_zero, 0},
    {DRV_MEGATRON, STRATEGY_sequence_parallel, OFF},
    {DRV_MEGATRON, STRATEGY_overlap, OVERLAP_OFF},
    {DRV_BRIDGE, STRATEGY_sequence_parallel, OFF},
    {DRV_MEGATRON_2022, STRATEGY_zero, 0},
    {DRV_MEGATRON_2022, STRATEGY_sequence_parallel, OFF},
    {DRV_MEGATRON_2022, STRATEGY_overlap, OVERLAP_OFF},
    {DRV_MEGATRON_2022, STRATEGY_attention, ATTENTION_UNFUSED},
    {DRV_TORCHTITAN, STRATEGY_zero, 3},
    {DRV_TORCHTITAN, STRATEGY_cp_comm, CP_ALL_GATHER},
    {DRV_TORCHTITAN, STRATEGY_recompute_granularity, STEP_RECOMPUTE_FULL},
    {DRV_TORCHTITAN, STRATEGY_recompute_every, 2},
    {DRV_DEEPSPEED, STRATEGY_zero, 0},
    {DRV_DEEPSPEED, STRATEGY_sequence_parallel, OFF},
    {DRV_DEEPSPEED, STRATEGY_overlap, OVERLAP_OFF},
    {DRV_DEEPSPEED, STRATEGY_cp_comm, CP_ALL_TO_ALL},
    {DRV_DEEPSPEED, STRATEGY_attention, ATTENTION_FLASH2},
};

static uint64_t bit_of(uint32_t parameter) { return UINT64_C(1) << parameter; }

void drv_program_set_defaults(strategy *p, uint64_t given)
{
    const uint64_t recomputation = bit_of(STRATEGY_recompute) | bit_of(STRATEGY_recompute_granularity) |
                                   bit_of(STRATEGY_recompute_modules) | bit_of(STRATEGY_recompute_layers) |
                                   bit_of(STRATEGY_recompute_every);

    if (given & recomputation) /* one choice of several parameters */
        given |= recomputation;
    for (size_t i = 0; i < DSE_COUNT(defaults); i++)
        if (defaults[i].program == p->like && !(given & bit_of(defaults[i].parameter)))
            strategy_set(p, defaults[i].parameter, defaults[i].value);
    /* overlap_comm is None, which means true at stage 3 alone. */
    if (p->like == DRV_DEEPSPEED && p->zero == 3 && !(given & bit_of(STRATEGY_overlap)))
        p->overlap = OVERLAP_ON;
}

/* ---- what a sweep tries --------------------------------------------------------------------- */

/* Sequence parallelism and overlaps cost nothing but a flag, so that nobody who looks for the best goes
 * without. */
static const struct {
    unsigned programs;
    uint32_t parameter;
    design_axis values;
} axes[] = {
    {BIT(DRV_MEGATRON_2022), STRATEGY_zero, {2, {0, 1}}},
    {BIT(DRV_MEGATRON_2022), STRATEGY_overlap, {1, {OVERLAP_OFF}}},
    {MEGATRON_TOO | BIT(DRV_DEEPSPEED), STRATEGY_zero, {2, {1, 3}}},
    {BIT(DRV_TORCHTITAN), STRATEGY_zero, {1, {3}}},
    {~0u, STRATEGY_recompute_granularity, {2, {STEP_RECOMPUTE_NONE, STEP_RECOMPUTE_FULL}}},
    {BIT(DRV_TORCHTITAN), STRATEGY_recompute_every, {2, {1, 2}}},
    {~0u, STRATEGY_sequence_parallel, {1, {ON}}},
    {~0u, STRATEGY_overlap, {1, {OVERLAP_ON}}},
    {BIT(DRV_TORCHTITAN),
     STRATEGY_schedule,
     {4, {SCHEDULE_1F1B, SCHEDULE_ZERO_BUBBLE, SCHEDULE_ZBV, SCHEDULE_DUALPIPEV}}},
};

bool drv_program_axis(drv_program program, uint32_t parameter, design_axis *out)
{
    for (size_t i = 0; i < DSE_COUNT(axes); i++)
        if (axes[i].parameter == parameter && axes[i].programs >> program & 1) {
            *out = axes[i].values;
            return true;
        }
    return false;
}

/* ---- rules ---------------------------------------------------------------------------------- */

static bool pipeline_with_gradients_sharded(const strategy *p) { return p->pp > 1 && p->zero > 1; }
static bool virtual_stages(const strategy *p) { return p->vp > 1; }
static bool context_but_ulysses(const strategy *p) { return p->cp > 1 && p->cp_comm != CP_ALL_TO_ALL; }
static bool context_with_another_axis(const strategy *p) { return p->cp > 1 && (p->tp > 1 || p->pp > 1); }
static bool shards_a_part(const strategy *p) { return p->dp * p->cp > 1 && (p->zero == 1 || p->zero == 2); }
static bool context_by_ulysses(const strategy *p) { return p->cp > 1 && p->cp_comm == CP_ALL_TO_ALL; }
static bool one_stage_without_bubble(const strategy *p)
{
    return p->schedule == SCHEDULE_ZERO_BUBBLE && p->vp == 1;
}
static bool says_transfers(const strategy *p) { return p->pp > 1 && p->overlap_p2p != P2P_DEFAULT; }
static bool overlaps_one_stage(const strategy *p)
{
    return p->pp > 1 && p->vp == 1 && p->overlap_p2p == P2P_ON;
}
static bool scales_rows(const strategy *p) { return p->fp8_recipe == FP8_ROWWISE; }
static bool scales_blocks(const strategy *p) { return p->fp8_recipe == FP8_BLOCKWISE; }
static bool keeps_but_tensors(const strategy *p) { return p->fp8_params && p->fp8_recipe != FP8_TENSORWISE; }
static bool keeps_whole(const strategy *p) { return p->fp8_params && p->zero == 0; }
static bool multiplies_in_8_bits(const strategy *p) { return p->fp8_recipe != FP8_NONE; }
static bool two_stages_waited_for(const strategy *p)
{
    return p->pp == 2 && p->vp > 1 && p->overlap_p2p == P2P_OFF;
}
static bool two_stages_of_several(const strategy *p) { return p->pp == 2 && p->vp > 1; }
static bool shards_gradients(const strategy *p) { return p->zero > 1; }
static bool shards_under_passes(const strategy *p)
{
    return p->zero == 1 && p->dp > 1 && p->overlap != OVERLAP_OFF;
}
static bool gathers_by_xla(const strategy *p) { return p->cp > 1 && p->cp_comm == CP_ALL_GATHER_XLA; }
static bool splits_sequences(const strategy *p) { return p->cp > 1; }
static bool pieces_of_products(const strategy *p) { return p->tp > 1 && p->tp_overlap == TP_ON; }
static bool pieces_of_whole_sequences(const strategy *p)
{
    return p->tp > 1 && p->tp_overlap == TP_ON && p->sequence_parallel == OFF;
}
static bool waits_for_sums(const strategy *p) { return p->tp > 1 && p->tp_overlap == TP_OFF; }
static bool asks_for_overlap(const strategy *p) { return p->pp > 1 && p->overlap_p2p == P2P_ON; }

static bool gathers_tokens(const strategy *p) { return p->dispatch == DISPATCH_ALL_GATHER; }
static bool relays_tokens(const strategy *p) { return p->dispatch == DISPATCH_DEEPEP; }
static bool limits_tokens(const strategy *p) { return p->capacity > CAPACITY_NONE; }
static bool splits_experts_otherwise(const strategy *p) { return p->etp > 1 && p->etp != p->tp; }
static bool spreads_experts_over_tp(const strategy *p) { return p->dp * p->cp % p->ep != 0; }
static bool spreads_experts(const strategy *p) { return p->ep > 1; }

static bool overlaps_exchanges(const strategy *p) { return p->ep_overlap != 0; }
static bool overlaps_micro_batches(const strategy *p) { return p->ep_overlap == DRV_OVERLAPS_MICRO_BATCHES; }
static bool overlaps_gathered_tokens(const strategy *p) { return overlaps_exchanges(p) && gathers_tokens(p); }
static bool overlaps_shared_beside_relay(const strategy *p)
{
    return p->ep_overlap == DRV_OVERLAPS_SHARED && relays_tokens(p);
}
static bool overlaps_another_schedule(const strategy *p)
{
    return overlaps_micro_batches(p) && p->pp > 1 && p->schedule != SCHEDULE_1F1B;
}
static bool overlaps_whole_stages(const strategy *p)
{
    return overlaps_micro_batches(p) && p->pp > 1 && p->vp == 1;
}
static bool overlaps_what_is_made_again(const strategy *p)
{
    return overlaps_micro_batches(p) && p->recompute_granularity == STEP_RECOMPUTE_FULL;
}

static bool makes_parts_again(const strategy *p) { return p->recompute_modules != STEP_AGAIN_CORE; }
static bool makes_other_parts_again(const strategy *p)
{
    return p->recompute_modules & ~(unsigned)(STEP_AGAIN_CORE | STEP_AGAIN_MLP);
}
static bool makes_scaled_results_again(const strategy *p)
{
    return p->fp8_recipe == FP8_DELAYED &&
           p->recompute_modules & (STEP_AGAIN_NORMS | STEP_AGAIN_EXPERT_ACTIVATION);
}
static bool overlaps_shared_made_again(const strategy *p)
{
    return p->ep_overlap == DRV_OVERLAPS_SHARED && p->recompute_modules & STEP_AGAIN_SHARED;
}

/* torchtitan/distributed/dual_pipe_v.py, get_dual_pipe_v_flag. */
static bool makes_overlapped_experts_again(const strategy *p)
{
    return p->pp > 1 && p->schedule == SCHEDULE_DUALPIPEV && p->ep > 1 &&
           p->recompute_granularity != STEP_RECOMPUTE_NONE;
}

static const struct {
    unsigned programs;
    bool (*is_broken)(const strategy *p);
    const char *text;
} rules[] = {
    {BIT(DRV_DEEPSPEED), pipeline_with_gradients_sharded,
     "DeepSpeed has no pipeline with zero 2 or 3; take zero 0 or 1, or pp 1"},
    {BIT(DRV_DEEPSPEED), virtual_stages, "DeepSpeed has no virtual stages; take vp 1"},
    {BIT(DRV_DEEPSPEED), context_but_ulysses,
     "DeepSpeed's context parallelism is Ulysses; take cp_comm all-to-all, or cp 1"},
    {BIT(DRV_DEEPSPEED), context_with_another_axis,
     "DeepSpeed's Ulysses needs tp 1 and pp 1; take these, or cp 1"},
    {BIT(DRV_TORCHTITAN), shards_a_part, "TorchTitan shards parameters or nothing; take zero 3 or 0"},
    {BIT(DRV_TORCHTITAN), context_by_ulysses,
     "TorchTitan has no Ulysses; take cp_comm all-gather or ring, or cp 1"},
    /* MaxText's runs are simulated with TorchTitan's habits (measured/job_words.c). */
    {~(unsigned)BIT(DRV_TORCHTITAN), gathers_by_xla,
     "cp_comm all-gather-xla is of programs in JAX, which shard as TorchTitan does; take all-gather, or like "
     "torchtitan"},
    {BIT(DRV_TORCHTITAN), one_stage_without_bubble,
     "TorchTitan's zero-bubble schedule has two stages or more on each rank; take vp 2"},
    {BIT(DRV_TORCHTITAN) | BIT(DRV_DEEPSPEED), says_transfers,
     "only Megatron has a choice of overlapping transfers; take overlap_p2p default"},
    {BIT(DRV_MEGATRON) | BIT(DRV_BRIDGE), overlaps_one_stage,
     "Megatron overlaps the transfers of virtual stages alone; take vp above 1, or overlap_p2p default"},
    {BIT(DRV_MEGATRON) | BIT(DRV_BRIDGE), two_stages_waited_for,
     "Megatron runs virtual stages on pp 2 only with overlap_p2p on; take that, or vp 1"},
    {BIT(DRV_MEGATRON) | BIT(DRV_BRIDGE), scales_rows,
     "Megatron does not scale by rows; take fp8_recipe tensorwise, or none"},
    {BIT(DRV_MEGATRON) | BIT(DRV_BRIDGE), keeps_whole,
     "Megatron keeps parameters in 8 bits with the distributed optimizer alone; take zero 1, or fp8_params "
     "off"},
    /* Delayed scaling it lacks as well: that is what Transformer Engine does under the FSDP of programs which
     * have these habits (measured/job_words.c: llm-foundry). */
    {BIT(DRV_TORCHTITAN), scales_blocks,
     "TorchTitan has no recipe blockwise; take fp8_recipe tensorwise, or none"},
    {BIT(DRV_TORCHTITAN), keeps_but_tensors,
     "TorchTitan gathers parameters in 8 bits with recipe tensorwise alone; take that, or fp8_params off"},
    {BIT(DRV_DEEPSPEED), multiplies_in_8_bits, "DeepSpeed has no recipe for 8 bits; take fp8_recipe none"},
    {BIT(DRV_MEGATRON_2022), multiplies_in_8_bits,
     "Megatron of 2022 has no recipe for 8 bits; take fp8_recipe none"},
    {BIT(DRV_MEGATRON_2022), two_stages_of_several,
     "Megatron of 2022 needs more than two stages for virtual ones; take pp above 2, or vp 1"},
    {BIT(DRV_MEGATRON_2022), asks_for_overlap,
     "Megatron of 2022 waits for its transfers; take overlap_p2p default"},
    {BIT(DRV_MEGATRON_2022), shards_gradients,
     "Megatron of 2022 shards the optimizer or nothing; take zero 1 or 0"},
    {BIT(DRV_MEGATRON_2022), shards_under_passes,
     "Megatron of 2022 reduces and gathers after the passes where it shards; take overlap off"},
    {BIT(DRV_TORCHTITAN) | BIT(DRV_DEEPSPEED), gathers_tokens,
     "only Megatron gathers all tokens for experts; take dispatch alltoall"},
    {BIT(DRV_DEEPSPEED), relays_tokens, "DeepSpeed has no DeepEP; take dispatch alltoall"},
    {BIT(DRV_TORCHTITAN), limits_tokens, "TorchTitan drops no tokens of experts; take capacity none"},
    {BIT(DRV_TORCHTITAN) | BIT(DRV_DEEPSPEED), splits_experts_otherwise,
     "only Megatron splits experts over other ranks than tp; take etp 1, or etp of tp"},
    {BIT(DRV_DEEPSPEED), spreads_experts_over_tp,
     "DeepSpeed spreads experts over dp x cp; take ep that divides them"},
    {BIT(DRV_MEGATRON_2022), spreads_experts,
     "experts of Megatron of 2022 are not simulated; take like megatron, or ep 1"},
    {~(unsigned)(BIT(DRV_ANY) | BIT(DRV_MEGATRON) | BIT(DRV_BRIDGE)), overlaps_exchanges,
     "only Megatron overlaps exchanges of experts with shared ones or another micro-batch; take ep_overlap "
     "off"},
    {~0u, overlaps_gathered_tokens,
     "ep_overlap needs exchanges, and dispatch allgather has none; take dispatch alltoall, or ep_overlap "
     "off"},
    {~0u, overlaps_shared_beside_relay,
     "ep_overlap shared needs dispatch alltoall (Megatron); take that, or ep_overlap micro-batches"},
    {~0u, overlaps_another_schedule,
     "ep_overlap micro-batches is of schedule 1f1b, and dualpipe and dualpipev overlap by themselves; take "
     "schedule 1f1b, or ep_overlap off"},
    {~0u, overlaps_whole_stages,
     "ep_overlap micro-batches needs virtual stages in a pipeline (Megatron); take vp above 1, or pp 1"},
    {~0u, overlaps_what_is_made_again,
     "ep_overlap micro-batches excludes recomputation of whole layers (Megatron); take "
     "recompute_granularity none or selective"},
    {~(unsigned)(BIT(DRV_ANY) | BIT(DRV_MEGATRON) | BIT(DRV_BRIDGE) | BIT(DRV_TORCHTITAN)), makes_parts_again,
     "only Megatron makes single modules again; take recompute_modules core-attn"},
    /* What the policies of JAX's programs, which have these habits, make again (measured/job_words.c). */
    {BIT(DRV_TORCHTITAN), makes_other_parts_again,
     "only Megatron makes such modules again; take recompute_modules core-attn, mlp or both"},
    {~0u, makes_scaled_results_again,
     "results that are scaled by recipe delayed are not made again (Megatron); take fp8_recipe tensorwise, "
     "or recompute_modules without layernorm and moe-act"},
    {~0u, overlaps_shared_made_again,
     "shared experts beside exchanges are not made again (Megatron); take ep_overlap off, or "
     "recompute_modules without shared-experts"},
    {BIT(DRV_TORCHTITAN), makes_overlapped_experts_again,
     "TorchTitan's dualpipev with ep above 1 makes nothing again; take recompute_granularity none, or ep 1"},
    {~0u, pieces_of_whole_sequences,
     "tp_overlap on needs sequence parallelism; take sequence_parallel on, or tp_overlap default"},
    {MEGATRONS, waits_for_sums,
     "Megatron sums the gradient of an input beside the next product; take tp_overlap default"},
    {BIT(DRV_DEEPSPEED), pieces_of_products,
     "DeepSpeed does not multiply in pieces beside collectives; take tp_overlap default"},
    {BIT(DRV_MEGATRON_2022), pieces_of_products,
     "Megatron of 2022 does not multiply in pieces beside collectives; take tp_overlap default"},
    {BIT(DRV_MEGATRON_2022), splits_sequences, "Megatron of 2022 has no context parallelism; take cp 1"},
};

dse_status drv_program_check(const strategy *p, const step_model *m, dse_error *err)
{
    const uint64_t n_stages = (uint64_t)p->pp * p->vp;

    for (size_t i = 0; i < DSE_COUNT(rules); i++)
        if (is_of(p, rules[i].programs) && rules[i].is_broken(p))
            return dse_fail(err, DSE_E_RANGE, "%s", rules[i].text);
    if (p->like == DRV_MEGATRON_2022 && m->n_layers % n_stages)
        return dse_fail(
            err, DSE_E_RANGE,
            "Megatron of 2022 has as many layers in each stage; take pp x vp that divides %" PRIu32 " layers",
            m->n_layers);
    if (m->n_mtp && is_of(p, BIT(DRV_TORCHTITAN) | BIT(DRV_DEEPSPEED) | BIT(DRV_MEGATRON_2022)))
        return dse_fail(
            err, DSE_E_RANGE,
            "%s has no layers that predict further tokens; leave --mtp out, or take --like megatron",
            strategy_parameters[STRATEGY_like].choices[p->like]);
    return DSE_OK;
}

sched_like drv_program_like(const strategy *p)
{
    static const sched_like like[] = {[DRV_ANY] = SCHED_LIKE_ANY,
                                      [DRV_MEGATRON] = SCHED_LIKE_MEGATRON,
                                      [DRV_TORCHTITAN] = SCHED_LIKE_PYTORCH,
                                      [DRV_DEEPSPEED] = SCHED_LIKE_DEEPSPEED,
                                      [DRV_BRIDGE] = SCHED_LIKE_MEGATRON,
                                      [DRV_MEGATRON_2022] = SCHED_LIKE_MEGATRON};

    return like[p->like];
}

const char *const *drv_program_kin(const strategy *p)
{
    static const char *const megatrons[] = {"megatron", "bridge", "megatron-2022", NULL};

    return is_of(p, MEGATRON_TOO) ? megatrons : NULL;
}

/* ---- habits --------------------------------------------------------------------------------- */

/* FSDP2 reduces in each micro-batch; torch's pipelines switch that off, and reduce a stage after its last.
 * They keep parameters after a backward pass, too (pipelining/stage.py, backward_maybe_with_nosync:
 * set_reshard_after_backward(False)), for the next forward pass, which frees them if told to. */
static step_sync sync_of(const strategy *p, const step_options *o)
{
    static const step_sync said[] = {[SYNC_EACH] = STEP_SYNC_EACH,
                                     [SYNC_LAST] = STEP_SYNC_LAST,
                                     [SYNC_LAST_GATHERED] = STEP_SYNC_LAST_NO_RESHARD};

    if (p->sync != SYNC_DEFAULT)
        return said[p->sync];
    if (p->pp == 1)
        return STEP_SYNC_EACH;
    return o->reshard_after_forward ? STEP_SYNC_LAST_NO_RESHARD : STEP_SYNC_STAGE;
}

/* DTensor waits for each collective where its result is read (style.py); Megatron-LM hides two of a layer's
 * backward pass. */
static step_tensor tensor_of(const strategy *p)
{
    if (p->tp_overlap == TP_ON)
        return STEP_TENSOR_PIECES;
    return p->tp_overlap == TP_OFF || p->like == DRV_TORCHTITAN ? STEP_TENSOR_WAITS : STEP_TENSOR_BESIDE;
}

/* Megatron-LM keeps and reduces gradients in 32 bits with bf16 (accumulate_allreduce_grads_in_fp32);
 * TorchTitan keeps its sharded parameters, which are their own master copy, in 32 bits, gathers 16 and
 * reduces 32 (FSDP2's MixedPrecisionPolicy); DeepSpeed keeps and reduces gradients in 16. Megatron-LM of 2022
 * trains in fp16, with a scaled loss (arXiv 2205.05198; v3.0, megatron/optimizer/optimizer.py). */
static void set_bytes(const strategy *p, step_options *o)
{
    if (p->like == DRV_TORCHTITAN) {
        o->kept_weight_bytes = 4;
        o->optimizer_bytes = 8; /* two moments */
    }
    if (p->like != DRV_DEEPSPEED)
        o->gradient_bytes = o->reduce_bytes = 4;
    o->unscales_gradients = p->like == DRV_MEGATRON_2022;
}

/* TorchTitan shares out whole heads of keys and values (distributed/parallel_dims.py), as Transformer Engine
 * does for Megatron's Ulysses. Megatron-LM gathers the shards that sequence parallelism saves again, closes
 * buckets at max(40e6, 1e6 dp) elements (distributed_data_parallel_config.py), and lets the chunks of all
 * stages begin to reduce together (align_grad_reduce); TorchTitan's checkpoints stop early; DeepSpeed has
 * buckets of 5e8. 1F1B's messages are waited for by all of them; those of virtual stages and of torch's other
 * schedules are not. */
void drv_program_set_habits(const strategy *p, bool is_1f1b, bool is_mixed, step_options *o)
{
    const bool titan = p->like == DRV_TORCHTITAN, megatron = is_of(p, MEGATRON_TOO);
    const bool is_old = p->like == DRV_MEGATRON_2022, by_xla = gathers_by_xla(p);

    o->reshard_after_forward = p->reshard == RESHARD_ALWAYS || (p->reshard == RESHARD_DEFAULT && p->pp == 1);
    o->sync = sync_of(p, o);
    o->overlaps_gradients = p->overlap != OVERLAP_OFF;
    o->overlaps_parameters = p->overlap == OVERLAP_ON;
    o->waits_for_sends =
        p->pp > 1 && (p->overlap_p2p == P2P_OFF || (p->overlap_p2p == P2P_DEFAULT && (is_1f1b || is_old)));
    o->tensor = tensor_of(p);
    o->merges_parts = titan && !by_xla;
    if (titan && p->cp_comm == CP_ALL_GATHER)
        o->context = STEP_CONTEXT_ALL_GATHER_RING;
    if (by_xla) /* gradients are reduce-scattered, as a gather's transpose is */
        o->context = STEP_CONTEXT_ALL_GATHER;
    o->gathers_again = !titan;
    o->stops_early = titan;
    o->leaves_unread = titan && p->recompute_end == END_EARLY;
    o->whole_kv_heads = titan || (is_of(p, BIT(DRV_MEGATRON) | BIT(DRV_BRIDGE)) && context_by_ulysses(p));
    o->expands_kv = titan && !by_xla;
    o->fused_attention = p->attention != ATTENTION_UNFUSED;
    o->flash_attention_2 = p->attention == ATTENTION_FLASH2;
    o->calls_alone = o->sums_whole_gradients = megatron;
    o->adds_gradients = o->keeps_gradients = megatron && p->zero < 2;
    o->buckets_first_stage = megatron && p->pp > 1 && p->zero < 2;
    o->aligns_gradients = megatron && p->pp > 1 && p->vp > 1 && p->zero < 2;
    o->splits_messages = is_old || p->like == DRV_DEEPSPEED;
    o->batches_messages = megatron && p->vp > 1;
    o->pads_parameters = megatron && p->zero ? 64 : 1;
    o->logits_copies = titan ? 2 : 1;
    o->keeps_outputs = titan;
    o->receives_ahead = (megatron && p->vp > 1) || step_has_copies(o) ? 2 : 1;
    o->fused_activation = !titan;
    o->bucket_elements = p->like == DRV_DEEPSPEED ? 500000000 : p->dp > 40 ? 1000000ull * p->dp : 40000000;
    if (is_mixed)
        set_bytes(p, o);
}
