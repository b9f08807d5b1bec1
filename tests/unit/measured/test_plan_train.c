/* Jobs as points of the training step: what a job says, what its program does by default, and what is in the way. */
#include "base/array.h"
#include "measured/plan.h"
#include "step/options.h"
#include "unit/unit.h"

#define NONE MSR_JOB_NONE

static const msr_plan_options as_said = {.recompute = -1},
                              approximate = {.recompute = -1, .approximate = true};
static dse_arena arena;
static dse_error err;
static msr_plan plan;

/* A Megatron-LM job that says all: 16 devices, dp 2 * tp 2 * pp 4; 8 micro-batches of 2 sequences. */
static msr_job plain(void)
{
    msr_job j;

    msr_job_clear(&j);
    j.name = "run";
    j.where = "m.json: row 1";
    j.family = "gpt3-175b";
    j.batch = 32;
    j.micro_batch = 2;
    j.micro_batches = 8;
    j.sequence = 2048;
    j.precision = "bf16";
    j.recompute = MSR_RECOMPUTE_SELECTIVE;
    j.dp = j.dp_replicate = 2;
    j.dp_shard = 1;
    j.tp = 2;
    j.pp = 4;
    j.cp = j.ep = 1;
    j.interleaving = 3;
    j.schedule = "1F1B";
    j.sequence_parallel = 1;
    j.zero_stage = 1;
    j.n_devices = 16;
    j.framework = "Megatron-LM";
    j.device = "A100";
    j.step_time_s = 1;
    return j;
}

/* A job of 16 devices without a pipeline that says little. */
static msr_job terse(const char *framework)
{
    msr_job j = plain();

    j.framework = framework;
    j.dp = 8;
    j.dp_replicate = j.dp_shard = NONE;
    j.pp = 1;
    j.micro_batches = j.interleaving = j.sequence_parallel = j.zero_stage = NONE;
    j.schedule = NULL;
    j.recompute = MSR_RECOMPUTE_UNKNOWN;
    return j;
}

static dse_status make(const msr_job *j, const msr_plan_options *o)
{
    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    return msr_plan_make(j, o, &arena, &plan, &err);
}

static bool assumes(const char *text)
{
    for (size_t i = 0; i < plan.n_assumed; i++)
        if (!strcmp(plan.assumed[i], text))
            return true;
    return false;
}

static void assert_point(const msr_job *j, const char *name)
{
    char seen[STRATEGY_NAME_MAX];

    assert_ok(make(j, &as_said), &err);
    if (!plan.can_run)
        fail_msg("%s", plan.gap[0].text);
    assert_true(plan.trains);
    strategy_name(&plan.point, NULL, seen);
    assert_string_equal(seen, name);
}

/* The only gap of a job. */
static void assert_gap(const msr_job *j, msr_gap_kind kind, const char *text)
{
    assert_ok(make(j, &as_said), &err);
    assert_false(plan.can_run);
    assert_int_equal(plan.n_gaps, 1);
    assert_string_equal(plan.gap[0].text, text);
    assert_int_equal(plan.gap[0].kind, kind);
    assert_ok(make(j, &approximate), &err);
    assert_true(plan.can_run == (msr_gap_rows[kind].substitute != NULL));
}

/* ---- what a job says ----------------------------------------------------------------------- */

CLAIM(a_job_is_a_point_of_its_own_micro_batches_schedule_and_sharding)
{
    msr_job j = plain();

    assert_point(&j,
                 "2_2_1_4_0_micro_batch=2_vp=3_recompute_granularity=selective_overlap=off_like=megatron");
    assert_int_equal(plan.n_gaps, 0);
    assert_int_equal(plan.n_assumed, 1); /* of the overlap no source speaks */
    assert_true(assumes(
        "gradients reduced after the backward pass, the default of Megatron-LM: the source does not say"));
    j.sequence_parallel = 0;
    j.recompute = MSR_RECOMPUTE_FULL;
    j.zero_stage = 0;
    j.interleaving = 1;
    assert_point(&j, "2_2_1_4_0_micro_batch=2_zero=0_recompute_granularity=full_sequence_parallel=off_overlap=off_like=megatron");
}

/* That weights are whole says nothing of the optimizer, which is sharded over dp and cp together. */
CLAIM(whole_weights_are_no_replicas_of_the_optimizer)
{
    msr_job j = plain();

    j.dp = j.dp_replicate = 4;
    j.cp = 2;
    j.pp = 1;
    j.schedule = NULL;
    j.interleaving = NONE;
    j.micro_batches = 4;
    j.recompute = MSR_RECOMPUTE_NONE;
    assert_point(&j, "4_2_1_1_0_cp=2_micro_batch=2_overlap=off_like=megatron");
    assert_int_equal(plan.point.replicas, 1);
    j.dp_replicate = j.dp_shard = 2;
    assert_ok(make(&j, &as_said), &err);
    assert_int_equal(plan.point.replicas, 2);
}

CLAIM(the_number_of_micro_batches_gives_their_size)
{
    msr_job j = plain();

    j.micro_batch = NONE;
    assert_ok(make(&j, &as_said), &err);
    assert_true(plan.can_run && plan.point.micro_batch == 2);
    j.micro_batches = 5;
    assert_gap(&j, MSR_GAP_REFUSED, "dp 2 x 5 micro-batches does not divide the batch of 32 sequences");
    j = plain();
    j.micro_batch = NONE;
    j.micro_batches = j.dp = j.dp_replicate = j.n_devices = INT64_C(1) << 31; /* their product is 2^62 */
    j.tp = j.pp = 1;
    assert_gap(&j, MSR_GAP_REFUSED,
               "dp 2147483648 x 2147483648 micro-batches does not divide the batch of 32 sequences");
    j.micro_batches = j.dp = j.dp_replicate = j.n_devices = (INT64_C(1) << 32) - 1; /* beyond 64 bits */
    assert_gap(&j, MSR_GAP_REFUSED,
               "dp 4294967295 x 4294967295 micro-batches does not divide the batch of 32 sequences");
}

CLAIM(a_micro_batch_that_no_point_can_hold_is_refused)
{
    msr_job j = terse("deepspeed");

    j.tp = 1;
    j.dp = j.n_devices = 1;
    j.micro_batch = NONE;
    j.batch = INT64_C(1) << 33;
    assert_gap(&j, MSR_GAP_REFUSED, "a micro-batch of 8589934592 sequences; it is to be below 2^32");
}

CLAIM(options_go_over_what_a_job_says_of_recomputation)
{
    msr_job j = plain();
    msr_plan_options o = {.recompute = 1};

    assert_ok(make(&j, &o), &err);
    assert_true(plan.point.recompute == 0 && plan.point.recompute_granularity == STEP_RECOMPUTE_FULL);
    o.recompute = 0;
    assert_ok(make(&j, &o), &err);
    assert_true(plan.point.recompute == 0 && plan.point.recompute_granularity == 0);
}

CLAIM(schedules_have_many_spellings)
{
    static const struct {
        const char *spelling, *schedule;
    } names[] = {{"1F1B", "1f1b"},          {"Interleaved1F1B", "1f1b"},
                 {"GPipe", "gpipe"},        {"looped BFS", "looped-bfs"},
                 {"ZB-H1", "zero-bubble"},  {"ZBVZeroBubble", "zbv"},
                 {"DualPipeV", "dualpipev"}};
    char seen[STRATEGY_VALUE_MAX];
    msr_job j = plain();

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        j.schedule = names[i].spelling;
        assert_ok(make(&j, &as_said), &err);
        assert_true(plan.can_run);
        assert_string_equal(
            strategy_print(&strategy_parameters[STRATEGY_schedule], plan.point.schedule, seen),
            names[i].schedule);
    }
    j.schedule = "hanayo";
    assert_gap(&j, MSR_GAP_UNKNOWN_FACT, "the schedule 'hanayo' is none of ours");
}

/* ---- programs ------------------------------------------------------------------------------ */

CLAIM(offloading_and_parts_of_a_recomputation_stand_in_the_way)
{
    msr_job j = plain();

    j.offloads = 1;
    assert_gap(&j, MSR_GAP_OFFLOADED, "activations are offloaded to the host");
    j.offloaded_layers = 40;
    assert_gap(&j, MSR_GAP_OFFLOADED, "activations of 40 layers are offloaded to the host");
    j.device = "NVIDIA GB300";
    j.layers = 96;
    j.offloaded_layers = 48;
    assert_ok(make(&j, &as_said), &err);
    assert_true(plan.can_run);
    assert_true(assumes("activations that go to the host and back beside the layers, over NVLink-C2C; memory counts them on the "
                        "device"));
    j.offloaded_layers = 49; /* copies may take longer than the layers */
    assert_gap(&j, MSR_GAP_OFFLOADED, "activations of 49 layers are offloaded to the host");
    j.offloaded_layers = NONE; /* of how many is not said */
    assert_gap(&j, MSR_GAP_OFFLOADED, "activations are offloaded to the host");
    j = plain();
    j.offloads = j.offloaded_layers = 0;
    assert_ok(make(&j, &as_said), &err);
    assert_true(plan.can_run);
    j.recompute_parts = "(mlp, experts)";
    assert_gap(&j, MSR_GAP_UNKNOWN_FACT,
               "selective recomputation '(mlp, experts)', of which attention and the modules of Megatron-LM can be "
               "simulated; give --recompute");
    j.recompute_parts = "(core_attn, mlp)";
    assert_ok(make(&j, &as_said), &err);
    assert_int_equal(plan.n_gaps, 0);
    assert_int_equal(plan.point.recompute_granularity, STEP_RECOMPUTE_SELECTIVE);
    assert_int_equal(plan.point.recompute_modules, STEP_AGAIN_CORE | STEP_AGAIN_MLP);
    j.framework = "DeepSpeed";
    assert_ok(make(&j, &as_said), &err);
    assert_int_equal(plan.gap[0].kind, MSR_GAP_UNKNOWN_FACT);
}

CLAIM(what_a_job_does_not_say_its_program_does_and_that_is_said)
{
    msr_job j = terse("NVIDIA/Megatron-LM");

    assert_point(&j, "8_2_1_1_0_micro_batch=2_zero=0_sequence_parallel=off_overlap=off_like=megatron");
    assert_int_equal(plan.n_assumed, 4);
    assert_true(assumes("nothing sharded over dp, the default of Megatron-LM: the source does not say"));
    assert_true(assumes("no recomputation, the default of Megatron-LM: the source does not say"));
    assert_true(
        assumes("no sequence parallelism along tp, the default of Megatron-LM: the source does not say"));
    j.pp = 2;
    j.dp = 4;
    assert_ok(make(&j, &as_said), &err);
    assert_true(assumes("schedule 1F1B, the default of Megatron-LM: the source does not say"));
    j = terse("NeMo / Megatron-Core"); /* which has a distributed optimizer, and overlaps */
    assert_point(&j, "8_2_1_1_0_micro_batch=2_like=megatron_tp_overlap=on");
    assert_true(assumes("collectives of tp beside pieces of products, the default of NeMo: the source does not say"));
    assert_true(assumes("sequence parallelism along tp, the default of NeMo: the source does not say"));
    j.framework = "Megatron-Bridge";
    assert_point(&j, "8_2_1_1_0_micro_batch=2_like=megatron_tp_overlap=on");
    j.tp_overlap = 0;
    assert_point(&j, "8_2_1_1_0_micro_batch=2_like=megatron");
    j.tp_overlap = 1;
    j.sequence_parallel = 0;
    assert_point(&j, "8_2_1_1_0_micro_batch=2_sequence_parallel=off_like=megatron");
    j = terse("deepspeed");
    j.micro_batch = NONE;
    assert_point(&j, "8_2_1_1_0_micro_batch=4_zero=0_sequence_parallel=off_overlap=off_like=deepspeed");
    assert_true(assumes("one micro-batch, the default of DeepSpeed: the source does not say"));
}

CLAIM(programs_before_flash_attention_have_their_scores_in_memory)
{
    msr_job j = terse("Megatron-LM of 2022 (the program of a paper)");

    assert_point(&j, "8_2_1_1_0_micro_batch=2_zero=0_sequence_parallel=off_overlap=off_like=megatron-2022_attention=unfused");
    assert_true(
        assumes("attention with its scores in memory, the default of Megatron-LM of 2022: the source does not say"));
    j = terse("Megatron-DeepSpeed");
    assert_point(&j, "8_2_1_1_0_micro_batch=2_zero=0_sequence_parallel=off_overlap=off_like=deepspeed_attention=unfused");
}

CLAIM(torchtitan_shards_parameters_and_makes_every_second_layer_again)
{
    msr_job j = terse("torchtitan-0.1.0");

    j.dp_replicate = 2;
    j.dp_shard = 4;
    assert_point(&j, "8_2_1_1_0_micro_batch=2_zero=3_recompute_granularity=full_recompute_every=2_replicas=2_"
                     "like=torchtitan_attention=flash2_recompute_end=early");
    assert_true(assumes("selective recomputation makes every second layer again, the default of TorchTitan"));
    j.dp = j.dp_replicate = j.dp_shard = 1; /* over cp as well */
    j.cp = 8;
    j.micro_batch = 4;
    assert_point(&j,
                 "1_2_1_1_0_cp=8_micro_batch=4_zero=3_recompute_granularity=full_recompute_every=2_cp_comm=all-gather_"
                 "like=torchtitan_attention=flash2_recompute_end=early");
    j.cp = 1;
    j.pp = 8;
    j.micro_batch = NONE;
    j.schedule = "Interleaved 1F1B";
    assert_point(&j, "1_2_1_8_0_vp=2_recompute_granularity=full_recompute_every=2_like=torchtitan_attention=flash2_recompute_end=early");
    assert_true(assumes("two stages on a rank, the default of TorchTitan: the source does not say"));
    assert_true(assumes("micro-batches of one sequence, the default of TorchTitan: the source does not say"));
}

/* The precision that the plan's model is simulated with. */
static bool trains_in(const msr_job *j, const char *word)
{
    const cfg_node *node;

    assert_ok(make(j, &as_said), &err);
    node = cfg_get(plan.model.root, "precision");
    return node && !strcmp(node->text, word);
}

CLAIM(torchtitan_mixes_no_precisions_without_sharded_parameters)
{
    msr_job j = terse("torchtitan");

    assert_true(trains_in(&j, "mixed"));
    j.dp = j.dp_replicate = j.dp_shard = 1;
    j.tp = 16;
    j.micro_batch = 32;
    assert_true(trains_in(&j, "fp32"));
    assert_true(assumes("32 bits, as TorchTitan mixes no precisions where no weights are sharded"));
    j.cp = 2; /* weights are sharded over cp as well */
    j.tp = 8;
    assert_true(trains_in(&j, "mixed"));
    j.cp = j.tp = 1; /* torch's autocast, of data parallelism alone */
    j.dp = j.dp_replicate = 16;
    j.micro_batch = 2;
    assert_true(trains_in(&j, "mixed"));
    j = terse("megatron-lm");
    j.dp = j.dp_replicate = j.dp_shard = 1;
    j.tp = 16;
    j.micro_batch = 32;
    assert_true(trains_in(&j, "mixed"));
}

CLAIM(a_job_says_whether_parameters_are_freed_after_the_forward_pass)
{
    msr_job j = terse("torchtitan");

    j.pp = 2;
    j.dp = 4;
    j.micro_batch = 4;
    j.reshards = 1;
    assert_point(&j, "4_2_1_2_0_micro_batch=4_zero=3_recompute_granularity=full_recompute_every=2_reshard=always_"
                     "like=torchtitan_attention=flash2_recompute_end=early");
    j.reshards = 0;
    assert_point(&j, "4_2_1_2_0_micro_batch=4_zero=3_recompute_granularity=full_recompute_every=2_reshard=never_"
                     "like=torchtitan_attention=flash2_recompute_end=early");
}

/* PyTorch's FSDP under another program. */
CLAIM(programs_that_shard_alike_have_the_same_habits)
{
    msr_job j = terse("llm-foundry (PyTorch FSDP)");

    j.tp = 1;
    j.dp = j.dp_shard = 16;
    j.dp_replicate = 1;
    assert_point(&j, "16_1_1_1_0_micro_batch=2_zero=3_like=torchtitan_attention=flash2");
    assert_true(assumes("attention by FlashAttention-2, the default of llm-foundry: the source does not say"));
    assert_true(assumes("the habits of TorchTitan, which shards with PyTorch's FSDP as llm-foundry does"));
    j.zero_stage = 2; /* SHARD_GRAD_OP */
    assert_point(&j, "16_1_1_1_0_micro_batch=2_zero=3_reshard=never_like=torchtitan_attention=flash2");
    j.recompute = MSR_RECOMPUTE_FULL;
    assert_point(&j, "16_1_1_1_0_micro_batch=2_zero=3_recompute_granularity=full_reshard=never_like=torchtitan_"
                     "attention=flash2");
    j.recompute = MSR_RECOMPUTE_SELECTIVE;
    assert_gap(&j, MSR_GAP_UNKNOWN_FACT,
               "the source lacks which layers the selective recomputation of llm-foundry makes again");
}

CLAIM(policies_of_jax_make_parts_of_layers_again)
{
    msr_job j = terse("Paxml");

    j.dp = 16;
    j.tp = 1;
    j.recompute = MSR_RECOMPUTE_SELECTIVE;
    j.recompute_parts = "(core_attn, mlp)";
    assert_point(&j, "16_1_1_1_0_micro_batch=2_zero=3_recompute_granularity=selective_like=torchtitan_"
                     "recompute_modules=core-attn+mlp_recompute_end=early");
    j.recompute_parts = NULL;
    assert_gap(&j, MSR_GAP_UNKNOWN_FACT,
               "the source lacks which layers the selective recomputation of Paxml makes again");
}

/* Of forks of Megatron-DeepSpeed that wait for all sums. */
CLAIM(deepspeed_waits_where_the_row_says_so)
{
    msr_job j = terse("Megatron-DeepSpeed");

    j.micro_batches = 2;
    j.tp_overlap = 0;
    assert_point(&j, "8_2_1_1_0_micro_batch=2_zero=0_sequence_parallel=off_overlap=off_like=deepspeed_attention=unfused_"
                     "tp_overlap=off");
    j.tp_overlap = NONE;
    assert_point(&j, "8_2_1_1_0_micro_batch=2_zero=0_sequence_parallel=off_overlap=off_like=deepspeed_attention=unfused");
}

/* Sources of the defaults: job_words.c. */
CLAIM(jax_shards_and_recomputes_by_default)
{
    msr_job j = terse("MaxText");

    j.tp = 1;
    j.dp = j.dp_shard = 16;
    j.dp_replicate = 1;
    j.micro_batch = NONE;
    assert_point(&j, "16_1_1_1_0_micro_batch=2_zero=3_recompute_granularity=full_like=torchtitan_recompute_end=early");
    assert_true(assumes("recomputation of all layers, the default of MaxText: the source does not say"));
    assert_true(assumes("one micro-batch, the default of MaxText: the source does not say"));
    j.framework = "PaxML";
    assert_point(&j, "16_1_1_1_0_micro_batch=2_zero=3_recompute_granularity=full_like=torchtitan_recompute_end=early");
    j.precision = "fp8";
    assert_point(&j, "16_1_1_1_0_micro_batch=2_zero=3_recompute_granularity=full_like=torchtitan_fp8_recipe=delayed_recompute_end=early");
    assert_true(assumes("matrices scaled by recipe delayed, the default of Paxml: the source does not say"));
    j.precision = "bf16";
    j.framework = "torchxla";
    assert_point(&j, "16_1_1_1_0_micro_batch=2_zero=3_like=torchtitan");
    j.framework = "fms-fsdp (PyTorch FSDP)";
    j.micro_batch = 2;
    j.recompute = MSR_RECOMPUTE_SELECTIVE;
    assert_point(&j, "16_1_1_1_0_micro_batch=2_zero=3_recompute_granularity=full_like=torchtitan_attention=flash2_recompute_end=early");
    assert_true(assumes("selective recomputation makes every layer again, the default of fms-fsdp"));
}

/* 8 ranks share an optimizer that 8 / 4 = 2 groups have. */
CLAIM(a_group_that_shares_an_optimizer_is_repeated)
{
    msr_job j = terse("InternEvo");

    j.zero_stage = 1;
    j.shard_group = 4;
    assert_point(&j, "8_2_1_1_0_micro_batch=2_sequence_parallel=off_replicas=2_like=megatron");
    assert_true(assumes("no sequence parallelism along tp, the default of InternEvo: the source does not say"));
    j.shard_group = 3; /* does not divide it */
    assert_point(&j, "8_2_1_1_0_micro_batch=2_sequence_parallel=off_like=megatron");
}

/* ---- gaps ---------------------------------------------------------------------------------- */

#define GAP(change, kind, text)                                                                              \
    do {                                                                                                     \
        msr_job j = plain();                                                                                 \
        change;                                                                                              \
        assert_gap(&j, kind, text);                                                                          \
    } while (0)

CLAIM(a_fact_that_neither_source_nor_program_says_is_named)
{
    GAP((j.framework = "other", j.zero_stage = j.dp_replicate = j.dp_shard = NONE), MSR_GAP_UNKNOWN_FACT,
        "the source lacks what is sharded over dp ('zero_stage')");
    GAP((j.framework = NULL, j.recompute = MSR_RECOMPUTE_UNKNOWN), MSR_GAP_UNKNOWN_FACT,
        "the source lacks what is recomputed ('recompute'); give --recompute");
    GAP((j.framework = NULL, j.sequence_parallel = NONE), MSR_GAP_UNKNOWN_FACT,
        "the source lacks whether tp splits sequences, too ('sequence_parallel')");
    GAP((j.framework = NULL, j.schedule = NULL), MSR_GAP_UNKNOWN_FACT,
        "the source lacks the order of a pipeline's micro-batches ('schedule')");
    GAP((j.framework = NULL, j.schedule = "interleaved", j.interleaving = NONE), MSR_GAP_UNKNOWN_FACT,
        "the source lacks the stages on a rank of the pipeline ('interleaving')");
    GAP((j.framework = NULL, j.cp = 2, j.dp = j.dp_replicate = 1), MSR_GAP_UNKNOWN_FACT,
        "the source lacks how context parallelism brings keys and values ('framework')");
    GAP(j.micro_batch = j.micro_batches = NONE, MSR_GAP_MICRO_BATCH_UNSAID,
        "the source lacks the sequences of a micro-batch ('micro_batch')");
    assert_int_equal(plan.point.micro_batch, 1);
    GAP((j.micro_batch = j.micro_batches = NONE, j.pp = 1, j.dp = j.dp_replicate = 8),
        MSR_GAP_MICRO_BATCH_UNSAID, "the source lacks the sequences of a micro-batch ('micro_batch')");
    assert_int_equal(plan.point.micro_batch, 4);
}

CLAIM(what_the_step_does_not_have_is_a_gap)
{
    GAP(j.moe = 1, MSR_GAP_EXPERTS, "a mixture of experts");
    GAP(j.precision = "MXFP8 and bf16", MSR_GAP_FLOAT8, "the recipe 'MXFP8 and bf16' is none of ours");
    GAP((j.float8 = 1, j.framework = "fms-fsdp", j.recompute = MSR_RECOMPUTE_NONE), MSR_GAP_FLOAT8,
        "matrices are multiplied in 8 bits, and the source lacks how they are scaled ('precision')");
    GAP(j.precision = "fp32", MSR_GAP_FLOAT32,
        "the training step computes in 16 bits, with optimizer state in 32, and not in 'fp32'");
    GAP(j.rank_order = "dp,tp,cp,pp", MSR_GAP_RANK_ORDER, "the order of ranks is 'dp,tp,cp,pp'");
}

/* HybridEP is DeepEP's for larger NVLink domains. */
CLAIM(tokens_travel_as_the_source_says)
{
    static const struct {
        const char *said, *dispatch;
    } rows[] = {{NULL, "alltoall"}, {"all-to-all", "alltoall"}, {"deepep", "deepep"}, {"hybridep", "deepep"}};
    char seen[STRATEGY_VALUE_MAX];

    for (size_t i = 0; i < DSE_COUNT(rows); i++) {
        msr_job j = terse("Megatron-LM");

        j.family = "qwen3-30b-a3b";
        j.moe = 1;
        j.ep = 8;
        j.dispatch = rows[i].said;
        assert_ok(make(&j, &(msr_plan_options){.recompute = -1}), &err);
        assert_int_equal(plan.point.ep, 8);
        assert_int_equal(plan.point.etp, 0); /* as the program has it */
        strategy_print(&strategy_parameters[STRATEGY_dispatch], plan.point.dispatch, seen);
        assert_string_equal(seen, rows[i].dispatch);
        assert_int_equal(assumes("tokens exchanged by all-to-all"), !rows[i].said);
        assert_true(assumes("tokens spread evenly over experts"));
        j.framework = "Megatron-Bridge";
        assert_ok(make(&j, &as_said), &err);
        assert_int_equal(plan.point.etp, 1); /* as its recipes have it */
        j.etp = 1;
        assert_ok(make(&j, &(msr_plan_options){.recompute = -1}), &err);
        assert_int_equal(plan.point.etp, 1);
    }
}

/* Megatron-Bridge overlaps them where there are any. */
CLAIM(exchanges_of_experts_are_overlapped_where_the_source_says_so)
{
    static const struct {
        int64_t ep, said;
        const char *overlap;
    } rows[] = {{8, 1, "micro-batches"}, {8, 0, "off"}, {8, NONE, "off"}, {1, 1, "off"}};
    char seen[STRATEGY_VALUE_MAX];

    for (size_t i = 0; i < DSE_COUNT(rows); i++) {
        msr_job j = terse("Megatron-Bridge");

        j.family = "qwen3-30b-a3b";
        j.moe = 1;
        j.ep = rows[i].ep;
        j.ep_overlap = rows[i].said;
        assert_ok(make(&j, &as_said), &err);
        strategy_print(&strategy_parameters[STRATEGY_ep_overlap], plan.point.ep_overlap, seen);
        assert_string_equal(seen, rows[i].overlap);
    }
}

static const char *in_model(const char *key)
{
    const cfg_node *v = cfg_get(plan.model.root, key);

    return v ? v->text : NULL;
}

/* DeepSeek-V3 of Megatron-Bridge on pp x vp stages; 61 layers, and what ends the last stage. */
static msr_job deepseek(const char *framework, int64_t pp, int64_t vp)
{
    msr_job j = terse(framework);

    j.family = "DeepSeekV3";
    j.moe = 1;
    j.tp = 1;
    j.pp = pp;
    j.dp = j.ep = 16 / pp;
    j.interleaving = vp;
    j.batch = 256;
    return j;
}

CLAIM(stages_hold_what_the_source_says_or_its_recipes)
{
    static const struct {
        const char *framework;
        int64_t pp, vp, mtp;
        const char *said, *layout, *mtp_layers;
    } rows[] = {
        {"Megatron-Bridge", 4, 4, NONE, NULL, "Et*4|(t*4|)*14tmL", "1"},
        {"Megatron-Bridge", 16, NONE, 0, NULL, "Et*4|(t*4|)*14tL", NULL},
        {"Megatron-Bridge", 4, 1, NONE, NULL, "Et*16|(t*16|)*2t*13mL", "1"},
        {"Megatron-Bridge", 8, 4, NONE, NULL, "Et|(tt|)*30mL", "1"},
        {"Megatron-Bridge", 8, 3, NONE, NULL, NULL, "1"}, /* they have none */
        {"Megatron-Bridge", 1, 1, NONE, NULL, NULL, "1"},
        {"Megatron-LM", 4, 4, NONE, NULL, NULL, NULL},
        {"Megatron-LM", 8, 2, NONE, "Et*4|(t*4|)*14tmL", "Et*4|(t*4|)*14tmL", "1"},
        {"Megatron-Bridge", 4, 1, NONE, "15x3,16", "15x3,16", NULL},
    };

    for (size_t i = 0; i < DSE_COUNT(rows); i++) {
        msr_job j = deepseek(rows[i].framework, rows[i].pp, rows[i].vp);
        const bool by_recipe = rows[i].layout && !rows[i].said;
        char text[160];

        j.layout = rows[i].said;
        j.mtp_layers = rows[i].mtp;
        assert_ok(make(&j, &as_said), &err);
        assert_true(!rows[i].layout == !in_model("pipeline_layout"));
        if (rows[i].layout)
            assert_string_equal(in_model("pipeline_layout"), rows[i].layout);
        assert_true(!rows[i].mtp_layers == !in_model("mtp_layers"));
        if (rows[i].mtp_layers)
            assert_string_equal(in_model("mtp_layers"), rows[i].mtp_layers);
        snprintf(text, sizeof text,
                 "layers by stage %s, as the recipes of Megatron-Bridge have: the source does not say",
                 rows[i].layout ? rows[i].layout : "");
        assert_int_equal(assumes(text), by_recipe);
    }
}

CLAIM(a_layout_of_another_model_is_a_gap)
{
    msr_job j = deepseek("Megatron-Bridge", 4, 1);

    j.layout = "15x4";
    assert_ok(make(&j, &as_said), &err);
    assert_false(plan.can_run);
    assert_int_equal(plan.gap[0].kind, MSR_GAP_REFUSED);
    assert_string_equal(plan.gap[0].text, "pipeline_layout '15x4': 60 layers in 4 stages, but the model has 61; "
                                          "the stages' layers must add up to these");
}

/* Of one scale for a matrix, and of weights that are sharded. */
CLAIM(torchtitan_gathers_weights_in_8_bits)
{
    static const struct {
        const char *framework, *quantization;
        int64_t zero;
        uint32_t on;
    } rows[] = {{"torchtitan", "float8 tensorwise", 3, 1},
                {"torchtitan", "float8 rowwise", 3, 0},
                {"torchtitan", "float8 tensorwise", 0, 0},
                {"Megatron-Bridge", "FP8-CS", 1, 0}};

    for (size_t i = 0; i < DSE_COUNT(rows); i++) {
        msr_job j = terse(rows[i].framework);

        j.tp = 1;
        j.dp = 16;
        j.quantization = rows[i].quantization;
        j.float8 = 1;
        j.zero_stage = rows[i].zero;
        assert_ok(make(&j, &as_said), &err);
        assert_int_equal(plan.point.fp8_params, rows[i].on);
    }
}

CLAIM(arithmetic_in_8_bits_has_a_recipe)
{
    const struct {
        const char *precision, *quantization, *framework;
        int64_t float8;
        const char *recipe, *assumed;
    } rows[] = {
        {"FP8-CS", NULL, "NeMo", NONE, "tensorwise", NULL},
        {"MXFP8", NULL, "NeMo", NONE, "mxfp8", NULL},
        {"NVFP4", NULL, "NeMo", NONE, "nvfp4", NULL},
        {"FP8 (hybrid, delayed scaling)", NULL, "Megatron-LM", NONE, "delayed", NULL},
        {"fp8_full", NULL, "MaxText", NONE, "delayed",
         "matrices scaled by recipe delayed, the default of MaxText: the source does not say"},
        {"bf16", "float8 rowwise", "torchtitan", 1, "rowwise", NULL},
        {"FP8", NULL, "NeMo", NONE, "delayed",
         "matrices scaled by recipe delayed, the default of NeMo: the source does not say"},
        {"bf16", NULL, "torchtitan", 1, "tensorwise",
         "matrices scaled by recipe tensorwise, the default of TorchTitan: the source does not say"},
        {"bf16", NULL, "NeMo", 0, "none", NULL},
    };
    char recipe[STRATEGY_VALUE_MAX];

    for (size_t i = 0; i < DSE_COUNT(rows); i++) {
        msr_job j = plain();

        j.precision = rows[i].precision;
        j.quantization = rows[i].quantization;
        j.framework = rows[i].framework;
        j.float8 = rows[i].float8;
        assert_ok(make(&j, &(msr_plan_options){.recompute = -1}), &err);
        assert_true(plan.can_run);
        strategy_print(&strategy_parameters[STRATEGY_fp8_recipe], plan.point.fp8_recipe, recipe);
        assert_string_equal(recipe, rows[i].recipe);
        assert_true(!rows[i].assumed || assumes(rows[i].assumed));
    }
}

CLAIM(what_has_no_effect_is_neither_asked_nor_said)
{
    msr_job j = plain();

    j.tp = j.dp = j.dp_replicate = 1;
    j.pp = 16;
    j.micro_batch = 1;
    j.micro_batches = 32;
    j.interleaving = 1;
    j.framework = NULL;
    j.sequence_parallel = j.zero_stage = NONE;
    assert_point(&j, "1_1_1_16_0_recompute_granularity=selective");
    assert_int_equal(plan.n_assumed, 1);
    assert_true(assumes("the habits of Megatron-LM: the source does not name the program"));
    j.pp = 1;
    j.dp = j.dp_replicate = 16;
    j.micro_batch = 2;
    j.micro_batches = 1;
    j.zero_stage = 0;
    j.schedule = NULL;
    assert_point(&j, "16_1_1_1_0_micro_batch=2_zero=0_recompute_granularity=selective");
}

/* 126 layers, the embedding and the head are 8 times 16. */
CLAIM(a_number_of_recomputed_layers_is_of_each_stage)
{
    msr_job j = plain();

    j.recompute = MSR_RECOMPUTE_FULL;
    j.recompute_layers = 2;
    assert_ok(make(&j, &as_said), &err);
    assert_int_equal(plan.point.recompute_layers, 2);
    assert_int_equal(plan.point.recompute_granularity, STEP_RECOMPUTE_FULL);
    j.recompute = MSR_RECOMPUTE_SELECTIVE;
    assert_ok(make(&j, &as_said), &err);
    assert_int_equal(plan.point.recompute_layers, 0);
}

CLAIM(stages_that_are_not_equal_are_said)
{
    msr_job j = plain();
    card_system machine;
    const char *stem;
    drv_study study;

    j.family = "llama-3.1-405b";
    j.dp = j.dp_replicate = j.interleaving = 1;
    j.pp = 8;
    j.micro_batches = 16;
    assert_ok(make(&j, &as_said), &err);
    assert_ok(drv_system_load("selene_a100_80gb", NULL, &arena, &machine, &stem, &err), &err);
    assert_ok(msr_plan_study(&plan, &machine, stem, &as_said, &arena, &study, &err), &err);
    assert_true(plan.can_run);
    assert_true(assumes("one layer fewer in the first and in the last of 8 stages, as 126 layers do not divide: the source does "
                        "not say"));
}

/* 96 layers are no 4 x 5 stages. */
CLAIM(what_the_step_refuses_is_left_with_its_rule)
{
    msr_job j = plain();
    card_system machine;
    const char *stem;
    drv_study study;

    j.interleaving = 5;
    assert_ok(make(&j, &as_said), &err);
    assert_true(plan.can_run);
    assert_ok(drv_system_load("selene_a100_80gb", NULL, &arena, &machine, &stem, &err), &err);
    assert_ok(msr_plan_study(&plan, &machine, stem, &as_said, &arena, &study, &err), &err);
    assert_false(plan.can_run);
    assert_int_equal(plan.gap[0].kind, MSR_GAP_REFUSED);
    assert_string_equal(plan.gap[0].text, "pp x vp 20 does not divide the 96 layers; take 16 or 24");
}

/* ---- memory -------------------------------------------------------------------------------- */

static int open_configs(void **state)
{
    (void)state;
    return setenv("CCLDSE_CONFIGS", TEST_SOURCE "/configs", 1);
}

static int close_arena(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_a_point_of_its_own_micro_batches_schedule_and_sharding),
        cmocka_unit_test(whole_weights_are_no_replicas_of_the_optimizer),
        cmocka_unit_test(the_number_of_micro_batches_gives_their_size),
        cmocka_unit_test(a_micro_batch_that_no_point_can_hold_is_refused),
        cmocka_unit_test(options_go_over_what_a_job_says_of_recomputation),
        cmocka_unit_test(schedules_have_many_spellings),
        cmocka_unit_test(offloading_and_parts_of_a_recomputation_stand_in_the_way),
        cmocka_unit_test(what_a_job_does_not_say_its_program_does_and_that_is_said),
        cmocka_unit_test(programs_before_flash_attention_have_their_scores_in_memory),
        cmocka_unit_test(torchtitan_shards_parameters_and_makes_every_second_layer_again),
        cmocka_unit_test(torchtitan_mixes_no_precisions_without_sharded_parameters),
        cmocka_unit_test(a_job_says_whether_parameters_are_freed_after_the_forward_pass),
        cmocka_unit_test(programs_that_shard_alike_have_the_same_habits),
        cmocka_unit_test(policies_of_jax_make_parts_of_layers_again),
        cmocka_unit_test(deepspeed_waits_where_the_row_says_so),
        cmocka_unit_test(jax_shards_and_recomputes_by_default),
        cmocka_unit_test(a_group_that_shares_an_optimizer_is_repeated),
        cmocka_unit_test(a_fact_that_neither_source_nor_program_says_is_named),
        cmocka_unit_test(what_the_step_does_not_have_is_a_gap),
        cmocka_unit_test(tokens_travel_as_the_source_says),
        cmocka_unit_test(exchanges_of_experts_are_overlapped_where_the_source_says_so),
        cmocka_unit_test(stages_hold_what_the_source_says_or_its_recipes),
        cmocka_unit_test(a_layout_of_another_model_is_a_gap),
        cmocka_unit_test(torchtitan_gathers_weights_in_8_bits),
        cmocka_unit_test(arithmetic_in_8_bits_has_a_recipe),
        cmocka_unit_test(what_has_no_effect_is_neither_asked_nor_said),
        cmocka_unit_test(a_number_of_recomputed_layers_is_of_each_stage),
        cmocka_unit_test(stages_that_are_not_equal_are_said),
        cmocka_unit_test(what_the_step_refuses_is_left_with_its_rule),
    };

    return cmocka_run_group_tests(tests, open_configs, close_arena);
}
