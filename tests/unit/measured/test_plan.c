/* Jobs as points of profile stage: the model, what is in the way and what stands for it, and every refusal. Those of
 * profile train are in test_plan_train.c. */
#include "cards/locate.h"
#include "measured/plan.h"
#include "measured/plan_parts.h"
#include "unit/unit.h"

#include <ctype.h>

#define NONE MSR_JOB_NONE

static const msr_plan_options as_said = {.recompute = -1},
                              approximate = {.recompute = -1, .approximate = true};
static dse_arena arena, settings_arena;
static cfg_settings stage;
static dse_error err;
static msr_plan plan;

/* A job that is a point as it stands: 8 devices, dp 2 * tp 2 * pp 2, its own sizes. */
static msr_job plain(void)
{
    msr_job j;

    msr_job_clear(&j);
    j.name = "run";
    j.where = "m.json: row 1";
    j.layers = 4;
    j.d_model = 64;
    j.d_ff = 256;
    j.heads = 4;
    j.vocabulary = 100;
    j.batch = 8;
    j.micro_batch = 4;
    j.micro_batches = 1;
    j.sequence = 32;
    j.precision = "bf16";
    j.recompute = MSR_RECOMPUTE_NONE;
    j.dp = j.dp_replicate = 2;
    j.dp_shard = 1;
    j.tp = j.pp = 2;
    j.cp = j.ep = 1;
    j.n_devices = 8;
    j.device = "A100";
    j.step_time_s = 1;
    return j;
}

static dse_status make(const msr_job *j, const msr_plan_options *o)
{
    msr_plan_options of_stage = *o;

    of_stage.settings = &stage;
    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    return msr_plan_make(j, &of_stage, &arena, &plan, &err);
}

static const char *value(const char *key)
{
    const cfg_node *v = cfg_get(plan.model.root, key);

    assert_non_null(v);
    return v->text;
}

/* How much was taken for granted, besides the operators that a model of mere sizes gets. */
static size_t count_assumed(void)
{
    static const char operators[] = "the operators of ";
    size_t n = 0;

    for (size_t i = 0; i < plan.n_assumed; i++)
        n += strncmp(plan.assumed[i], operators, sizeof operators - 1) != 0;
    return n;
}

static bool assumes(const char *text)
{
    for (size_t i = 0; i < plan.n_assumed; i++)
        if (!strcmp(plan.assumed[i], text))
            return true;
    return false;
}

/* ---- points -------------------------------------------------------------------------------- */

CLAIM(a_job_is_a_point_and_a_model)
{
    msr_job j = plain();
    char name[STRATEGY_NAME_MAX];
    card_model m;

    assert_ok(make(&j, &as_said), &err);
    assert_true(plan.can_run);
    assert_int_equal(plan.n_gaps, 0);
    assert_int_equal(count_assumed(), 0);
    strategy_name(&plan.point, NULL, name);
    assert_string_equal(name, "2_2_1_2_0_placement=tp-sp-dp-pp_stages=neighbours");
    assert_string_equal(plan.model_name, "4x64");
    assert_ok(card_model_read(&plan.model, NULL, &m, &err), &err);
    assert_true(m.layers == 4 && m.d_model == 64 && m.d_ff == 256 && m.heads == 4 && m.vocabulary == 100);
    assert_true(m.batch == 8 && m.sequence == 32);
    assert_string_equal(m.operators, "gpt");
    assert_string_equal(m.precision.word, "mixed");
    assert_int_equal(m.kv_heads, 0);
}

/* Heads that share keys and values are a Llama's. */
CLAIM(sizes_alone_get_operators_and_that_is_said)
{
    msr_job j = plain();

    assert_ok(make(&j, &as_said), &err);
    assert_true(assumes("the operators of a GPT: the source gives sizes alone"));
    j.kv_heads = 4; /* as many as heads */
    assert_ok(make(&j, &as_said), &err);
    assert_string_equal(value("operators"), "gpt");
    j.kv_heads = 2;
    assert_ok(make(&j, &as_said), &err);
    assert_true(assumes("the operators of a Llama: the source gives sizes alone"));
    assert_string_equal(value("operators"), "llama");
    assert_string_equal(value("kv_heads"), "2");
    j.kv_heads = 4;
    j.family = "InternLM-7B";
    assert_ok(make(&j, &as_said), &err);
    assert_true(assumes("the operators of a Llama, by the model's name"));
    assert_string_equal(value("operators"), "llama");
}

CLAIM(the_rank_order_is_the_points_placement)
{
    msr_job j = plain();

    j.rank_order = "dp_shard,dp_replicate,tp,cp,pp";
    assert_ok(make(&j, &as_said), &err);
    assert_int_equal(plan.point.placement, 0); /* dp-tp-sp-pp */
}

CLAIM(cp_is_sp_and_both_parts_of_dp_are_dp)
{
    msr_job j = plain();

    j.dp = 4;
    j.dp_replicate = j.dp_shard = 2;
    j.cp = 2;
    j.pp = 1;
    j.n_devices = 16;
    j.recompute = MSR_RECOMPUTE_FULL;
    assert_ok(make(&j, &as_said), &err);
    assert_true(plan.can_run && plan.point.dp == 4 && plan.point.tp == 2 && plan.point.sp == 2 &&
                plan.point.pp == 1);
    assert_true(plan.point.weight_sharded && plan.point.recompute);
    assert_true(assumes("weights sharded over all of dp 4, not over 2 with 2 replicas"));
}

CLAIM(what_was_taken_for_granted_is_said)
{
    msr_job j = plain();

    j.precision = NULL;
    j.recompute = MSR_RECOMPUTE_UNKNOWN;
    j.dp_replicate = j.dp_shard = NONE;
    j.pp = 1;
    j.n_devices = 4;
    j.micro_batches = NONE;
    assert_ok(make(&j, &as_said), &err);
    assert_true(plan.can_run && !plan.point.recompute && !plan.point.weight_sharded);
    assert_int_equal(count_assumed(), 4);
    assert_true(assumes("mixed precision, 16 and 32 bits: the source does not say"));
    assert_true(assumes("no recomputation: the source does not say"));
    assert_true(assumes("weights replicated over dp 2: the source does not say"));
    assert_true(assumes("one micro-batch: the source does not say"));
}

CLAIM(options_say_what_the_source_does_not)
{
    msr_job j = plain();
    msr_plan_options o = {.recompute = 1, .precision = "fp32"};

    j.recompute = MSR_RECOMPUTE_SELECTIVE;
    j.precision = "int4";
    assert_ok(make(&j, &o), &err);
    assert_true(plan.can_run && plan.point.recompute);
    assert_int_equal(count_assumed(), 0);
}

/* ---- gaps ---------------------------------------------------------------------------------- */

/* The only gap of a job, whether anything stands for it, and what is said. */
static void assert_gap(const msr_job *j, msr_gap_kind kind, const char *text)
{
    assert_ok(make(j, &as_said), &err);
    assert_false(plan.can_run);
    assert_int_equal(plan.n_gaps, 1);
    assert_int_equal(plan.gap[0].kind, kind);
    assert_string_equal(plan.gap[0].text, text);
    assert_ok(make(j, &approximate), &err);
    assert_int_equal(plan.n_gaps, 1);
    assert_true(plan.can_run == (msr_gap_rows[kind].substitute != NULL));
}

#define GAP(change, kind, text)                                                                              \
    do {                                                                                                     \
        msr_job j = plain();                                                                                 \
        change;                                                                                              \
        assert_gap(&j, kind, text);                                                                          \
    } while (0)

CLAIM(every_gap_is_named_with_its_figures)
{
    GAP((j.micro_batches = 2, j.micro_batch = 2), MSR_GAP_MICRO_BATCHES, "2 micro-batches of 2 sequences");
    GAP((j.micro_batches = 4, j.micro_batch = 1), MSR_GAP_MICRO_BATCHES, "4 micro-batches of 1 sequence");
    GAP(j.micro_batches = NONE, MSR_GAP_MICRO_BATCHES,
        "the source does not say into how many micro-batches 2 stages cut a batch");
    GAP(j.interleaving = 3, MSR_GAP_INTERLEAVED, "3 chunks of layers in each of 2 stages");
    GAP(j.moe = 1, MSR_GAP_EXPERTS, "a mixture of experts");
    GAP(j.ep = 2, MSR_GAP_EXPERTS, "a mixture of experts, ep 2");
    GAP(j.phase = TRACE_PHASE_INFERENCE, MSR_GAP_INFERENCE,
        "the phase is inference; the generator makes training steps");
    GAP(j.granularity = "layer", MSR_GAP_PARTIAL_STEP, "the granularity is 'layer'");
    GAP(j.recompute = MSR_RECOMPUTE_SELECTIVE, MSR_GAP_SELECTIVE, "a part of the activations is recomputed");
    GAP(j.sequence_parallel = 1, MSR_GAP_SEQUENCE_PARALLEL,
        "norms and dropouts are divided over the 2 ranks of tp");
    GAP(j.zero_stage = 2, MSR_GAP_OPTIMIZER_SHARDED, "ZeRO stage 2 over 2 ranks");
    GAP(j.float8 = 1, MSR_GAP_FLOAT8, "matrices are multiplied in 8 bits");
    GAP(j.precision = "fp8 hybrid", MSR_GAP_FLOAT8, "matrices are multiplied in 8 bits");
    GAP(j.heads = 5, MSR_GAP_UNEVEN, "tp 2 does not divide attention heads of 5");
    GAP(j.batch = 7, MSR_GAP_UNEVEN, "dp 2 does not divide a batch of 7");
    GAP(j.sequence = NONE, MSR_GAP_UNKNOWN_FACT, "the source lacks the sequence length ('seq_len')");
    GAP(j.batch = NONE, MSR_GAP_UNKNOWN_FACT, "the source lacks the batch ('global_batch', 'batch_size')");
    GAP(j.tp = NONE, MSR_GAP_UNKNOWN_FACT, "the source lacks the degree 'tp'");
    GAP(j.precision = "int4", MSR_GAP_UNKNOWN_FACT, "the precision 'int4' is none of ours; give --precision");
    GAP(j.not_measured = "failed: status 'error'", MSR_GAP_NOT_MEASURED, "failed: status 'error'");
}

CLAIM(what_has_no_effect_is_no_gap)
{
    msr_job j = plain();

    j.pp = 1;
    j.tp = 1;
    j.dp = j.dp_shard = j.n_devices = 2;
    j.dp_replicate = 1;
    j.interleaving = 3;      /* without a pipeline */
    j.sequence_parallel = 1; /* without tp */
    j.zero_stage = 3;        /* sharded weights: said by the point */
    j.granularity = "model_fwd_bwd_pass";
    assert_ok(make(&j, &as_said), &err);
    assert_true(plan.can_run && plan.n_gaps == 0);
}

CLAIM(every_gap_has_a_name)
{
    for (int i = 0; i < MSR_GAPS; i++)
        assert_non_null(msr_gap_rows[i].name);
}

/* ---- refusals ------------------------------------------------------------------------------ */

static void refuse(const msr_job *j, const char *message)
{
    dse_status st = make(j, &approximate);

    assert_failure(st, &err, DSE_E_CONFIG, "m.json: row 1", message);
}

CLAIM(degrees_that_do_not_multiply_to_the_devices_are_refused)
{
    msr_job j = plain();

    j.n_devices = 16;
    refuse(&j,
           "dp 2 * tp 2 * pp 2 * cp 1 is 8, but the number of devices is 16; correct a degree or the number");
    j.ep = 2; /* experts with devices of their own */
    assert_ok(make(&j, &as_said), &err);
    assert_int_equal(plan.gap[0].kind, MSR_GAP_EXPERTS);
    j.ep = 1;
    j.not_measured = "failed"; /* by that, perhaps */
    assert_ok(make(&j, &as_said), &err);
    j = plain();
    j.dp = j.dp_replicate = j.dp_shard = NONE; /* 16 devices leave no dp beside 3 * 2 */
    j.n_devices = 16;
    j.tp = 3;
    refuse(&j, "tp 3 * pp 2 * cp 1 is 6, which does not divide the number of devices, 16; correct a degree "
               "or the number");
    j = plain();
    j.tp = INT64_C(1) << 31;
    j.dp = j.pp = j.tp;
    refuse(&j, "the product of dp, tp, pp and cp is no number of devices");
    j.tp = 0;
    refuse(&j, "tp is 0; a degree is at least 1, and below 2^32");
    j = plain();
    j.micro_batch = INT64_C(1) << 32;
    refuse(&j, "micro_batch is 4294967296; a count is at least 1, and below 2^32");
    j.micro_batch = 1;
    j.micro_batches = 0;
    refuse(&j, "micro_batches is 0; a count is at least 1, and below 2^32");
    j.micro_batches = 1;
    j.interleaving = (INT64_C(1) << 32) + 1;
    refuse(&j, "interleaving is 4294967297; a count is at least 1, and below 2^32");
}

static void clear_sizes(msr_job *j) { j->layers = j->d_model = j->d_ff = j->heads = j->vocabulary = NONE; }

CLAIM(a_model_that_is_not_known_is_refused)
{
    msr_job j = plain();

    j.d_ff = NONE;
    refuse(&j, "the model is not named, and its d_ff is not known; give the model's card with --model");
    j.family = "nanochat";
    refuse(&j, "the model 'nanochat' is none of ours, and its d_ff is not known; give the model's card with "
               "--model");
    j.family = "Llama-3.1-70B";
    refuse(&j,
           "layers is 4, but that of llama-3.1-70b is 80; correct it, or give the model's card with --model");
    clear_sizes(&j);
    j.kv_heads = 64; /* one a head */
    refuse(
        &j,
        "kv_heads is 64, but that of llama-3.1-70b is 8; correct it, or give the model's card with --model");
    j.family = "megatron-22b"; /* whose card says nothing of them: one for each of its 64 heads */
    assert_ok(make(&j, &approximate), &err);
    j.kv_heads = 8;
    refuse(
        &j,
        "kv_heads is 8, but that of megatron-22b is 64; correct it, or give the model's card with --model");
    j = plain();
    j.rank_order = "tp,dp_shard,pp,dp_replicate,cp";
    refuse(
        &j,
        "rank_order 'tp,dp_shard,pp,dp_replicate,cp' is to name tp, cp, dp_shard, dp_replicate and pp once, "
        "both dp together");
}

CLAIM(experts_stand_in_the_way_whatever_their_degrees_are)
{
    msr_job j = plain();

    j.moe = 1;
    j.dp = 64; /* of 8 devices */
    assert_ok(make(&j, &as_said), &err);
    assert_false(plan.can_run);
    assert_int_equal(plan.gap[0].kind, MSR_GAP_EXPERTS);
}

/* A model of no card, and one of a card with other sizes. */
CLAIM(a_source_may_give_the_sizes_of_experts)
{
    msr_job j = plain();

    j.family = "somebodys-moe";
    j.moe = 1;
    j.experts = 16;
    j.top_k = 2;
    j.expert_d_ff = 32;
    j.kv_heads = 2;
    assert_ok(make(&j, &as_said), &err);
    assert_string_equal(value("operators"), "decoder");
    assert_string_equal(value("experts"), "16");
    assert_string_equal(value("experts_per_token"), "2");
    assert_string_equal(value("d_ff_expert"), "32");
    assert_string_equal(value("gate"), "true");
    assert_null(cfg_get(plan.model.root, "shared_experts"));
    assert_int_equal(plan.n_gaps, 0);
    j.family = "DeepSeek-V4"; /* whose attention the sizes do not say */
    assert_gap(&j, MSR_GAP_EXPERTS, "a mixture of experts");
    j.family = "deepseek-v3";
    assert_ok(make(&j, &as_said), &err);
    assert_string_equal(value("experts"), "16");
    assert_string_equal(value("kv_lora_rank"), "512");
    j = plain();
    clear_sizes(&j);
    j.family = "deepseek-v3";
    j.moe = 1;
    j.layers = 8;
    assert_ok(make(&j, &as_said), &err);
    assert_string_equal(value("layers"), "8");
    assert_string_equal(value("experts"), "256");
    j.heads = 4; /* what else differs, and how many experts are there? */
    refuse(&j, "layers is 8, but that of deepseek-v3 is 61; correct it, or give the model's card with --model");
}

CLAIM(names_of_families_say_experts)
{
    static const char *const with[] = {"DeepSeek-V3", "deepseek-v2-lite", "Mixtral-8x7B-v0.1", "Qwen3_30B_a3B",
                                       "gpt-oss-120b", "grok-1", "dbrx", "Llama-4-Scout-17B-16E",
                                       "granite-3.0-1b-a400m", "Qwen1.5-MoE"};
    static const char *const without[] = {"BLOOM-trial-14336x70", "Megatron-A100-1.7B", "MaxText-16B", "Nemotron4-15B"};
    msr_job j = plain();

    for (size_t i = 0; i < sizeof with / sizeof with[0]; i++) {
        j.family = with[i];
        assert_ok(make(&j, &as_said), &err);
        assert_int_equal(plan.n_gaps, 1);
        assert_int_equal(plan.gap[0].kind, MSR_GAP_EXPERTS);
    }
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) {
        j.family = without[i];
        assert_ok(make(&j, &as_said), &err);
        assert_true(plan.can_run);
    }
    j.family = "deepseek-v3"; /* its dense layers alone, the source says */
    j.moe = 0;
    assert_ok(make(&j, &as_said), &err);
    assert_true(plan.can_run);
    j = plain();
    j.family = "Nemotron-H-56B";
    refuse(&j, "the model 'Nemotron-H-56B' has layers that are no attention, and is none of ours; give the model's card "
               "with --model");
}

/* ---- models -------------------------------------------------------------------------------- */

CLAIM(families_are_known_by_many_names)
{
    static const struct {
        const char *family, *model, *layers, *operators;
    } names[] = {
        {"llama-3.1-8b", "llama-3.1-8b", "32", "llama"},
        {"meta-llama/Llama-3.1-8B", "llama-3.1-8b", "32", "llama"},
        {"Llama 3 8B", "llama-3.1-8b", "32", "llama"},
        {"Llama 3.1 70B", "llama-3.1-70b", "80", "llama"},
        {"llama-3.1-405b", "llama-3.1-405b", "126", "llama"},
        {"GPT-3 175B", "gpt3-175b", "96", "gpt"},
        {"megatron-22B", "megatron-22b", "48", "gpt"},
        {"turing-530B", "turing-530b", "105", "gpt"},
        {"megatron-1T", "megatron-1t", "128", "gpt"},
        {"LLAMA3_70B", "llama-3.1-70b", "80", "llama"},
        {"LLAMA3.1_405B", "llama-3.1-405b", "126", "llama"},
        {"LLAMA2-13B", "llama-2-13b", "40", "llama"},
        {"meta-llama/Llama-2-7b-hf", "llama-2-7b", "32", "llama"},
        {"GPT3-20B", "gpt3-20b", "44", "gpt"},
        {"Nemotron4-340B", "nemotron-340b", "96", "nemotron"},
        {"Nemotron-22B", "nemotron-22b", "40", "nemotron"},
        {"MPT-760m", "mpt-760m", "24", "gpt"},
        {"mistralai/Mistral-7B-v0.1", "mistral-7b", "32", "llama"},
        {"Qwen/Qwen3-32B", "qwen3-32b", "64", "decoder"},
        {"InternLM-7B", "internlm-7b", "32", "llama"},
        {"bigscience/bloom", "bloom-176b", "70", "gpt"},
        {"GPT3-13B", "gpt3-13b", "40", "gpt"},
        {"GPT-3 1.3B", "gpt3-1.3b", "24", "gpt"},
        {"llama_3_1_8b", "llama-3.1-8b", "32", "llama"},
        {"Qwen2.5-32B", "qwen2.5-32b", "64", "decoder"},
        {"meta-llama/Llama-3.3-70B-Instruct", "llama-3.1-70b", "80", "llama"},
        {"mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b", "32", "llama"},
        {"bloom-7.1b", "bloom-7b1", "30", "gpt"},
        {"deepseek_v3_16b", "deepseek-v2-lite", "27", "decoder"},
        {"deepseek-v2-16b", "deepseek-v2-lite", "27", "decoder"},
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        msr_job j = plain();

        clear_sizes(&j);
        j.family = names[i].family;
        assert_ok(make(&j, &as_said), &err);
        assert_true(plan.can_run);
        assert_string_equal(plan.model_name, names[i].model);
        assert_string_equal(value("layers"), names[i].layers);
        assert_string_equal(value("operators"), names[i].operators);
        assert_int_equal(plan.n_assumed, 0); /* what the card says is not assumed */
        assert_string_equal(value("batch"), "8");
        assert_string_equal(value("sequence"), "32");
    }
}

/* In capitals, and with other signs between the words. */
CLAIM(every_card_is_found_by_its_name_however_it_is_written)
{
    const char **name, *folder;
    char other[128];
    dse_arena cards;
    size_t n;

    dse_arena_init(&cards);
    assert_ok(card_list(CARD_MODELS, &cards, &name, &n, &folder, &err), &err);
    assert_true(n > 40);
    for (size_t i = 0; i < n; i++) {
        const size_t length = strlen(name[i]);
        msr_job j = plain();

        if (!strcmp(name[i], "gpt175b") || !strcmp(name[i], "llama70b")) /* STAGE's, by their exact names */
            continue;
        for (size_t k = 0; k <= length; k++)
            other[k] = (char)(name[i][k] == '-' ? ' ' : toupper((unsigned char)name[i][k]));
        clear_sizes(&j);
        j.family = other;
        assert_ok(make(&j, &approximate), &err);
        assert_string_equal(plan.model_name, name[i]);
    }
    dse_arena_free(&cards);
}

/* A padded vocabulary is the job's own business. */
CLAIM(a_gate_is_taken_where_the_source_says_one)
{
    static const struct {
        const char *family, *framework;
        int64_t gated, kv_heads;
        const char *operators, *why;
    } models[] = {
        {"Nemotron4-15B", "NeMo", NONE, 2, "nemotron", "the operators of a Nemotron, by the model's name"},
        {"Nemotron-8B", "NeMo", NONE, 4, "nemotron", "the operators of a Nemotron, by the model's name"},
        {"GPT3-20B", "NeMo", NONE, 4, "gpt", "the operators of a GPT, by the model's name"},
        {"Gemma-7B", NULL, NONE, 4, "llama", "the operators of a Llama, by the model's name"},
        {"MaxText-64B", "MaxText", NONE, 4, "llama", "the operators of a Llama, as the program builds its models"},
        {"GPT3-175B", "MaxText", NONE, 4, "gpt", "the operators of a GPT, by the model's name"},
        {"Mine", NULL, 1, 4, "llama", "the operators of a Llama, which has a gated activation, too"},
        {"Mine", NULL, 0, 4, "gpt", "the operators of a GPT, whose activation has no gate either"},
        {"Mine", NULL, 0, 2, "nemotron", "the operators of a Nemotron, whose activation has no gate either"},
        {"Falcon-40B", NULL, NONE, 2, "nemotron", "the operators of a Nemotron, by the model's name"},
    };

    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        msr_job j = plain();

        j.family = models[i].family;
        j.framework = models[i].framework;
        j.gated = models[i].gated;
        j.kv_heads = models[i].kv_heads;
        if (!strcmp(models[i].family, "GPT3-175B")) /* one of ours, with its own sizes */
            assert_ok(make(&j, &approximate), &err);
        else
            assert_ok(make(&j, &as_said), &err);
        assert_string_equal(value("operators"), models[i].operators);
        assert_true(assumes(models[i].why));
    }
}

/* A model that is cut to fewer layers is no contradiction. */
CLAIM(complete_sizes_go_over_those_of_the_family)
{
    msr_job j = plain();

    j.family = "Llama-3.1-70B";
    assert_ok(make(&j, &as_said), &err);
    assert_string_equal(value("layers"), "4");
    assert_string_equal(value("operators"), "llama");
    assert_string_equal(plan.model_name, "Llama-3.1-70B");
    assert_true(assumes("the source's own sizes, which are not those of llama-3.1-70b"));
}

CLAIM(heads_have_their_own_width_where_the_source_says_one)
{
    msr_job j = plain();

    j.family = "Qwen3";
    j.head_dim = 32; /* 4 heads of 64: 16 */
    j.tied = 1;
    assert_ok(make(&j, &as_said), &err);
    assert_string_equal(value("head_dim"), "32");
    assert_string_equal(value("tied_embeddings"), "true");
}

CLAIM(the_jobs_vocabulary_is_taken)
{
    msr_job j = plain();

    clear_sizes(&j);
    j.family = "gpt3-175b";
    j.vocabulary = 50304;
    assert_ok(make(&j, &as_said), &err);
    assert_string_equal(value("vocabulary"), "50304");
}

CLAIM(a_card_that_is_named_goes_over_what_the_job_says)
{
    msr_job j = plain();
    msr_plan_options o = {.recompute = -1, .model = "gpt3-175b"};

    j.family = "Llama-3.1-70B";
    assert_ok(make(&j, &o), &err);
    assert_string_equal(plan.model_name, "gpt3-175b");
    assert_string_equal(value("layers"), "96");
    assert_string_equal(value("vocabulary"), "51200");
}

/* 4 heads of 16; 6400 / 64 = 100 entries; 6400 + 4 * (4 * 64^2 + 2 * 64 * 256) = 203008 parameters. */
CLAIM(sizes_follow_from_a_cards_architecture)
{
    msr_job j = plain();

    j.d_model = j.d_ff = j.vocabulary = NONE;
    j.head_dim = 16;
    j.num_params_embedding = 6400;
    j.num_params = 203008;
    assert_ok(make(&j, &as_said), &err);
    assert_true(plan.can_run);
    assert_string_equal(value("d_model"), "64");
    assert_string_equal(value("vocabulary"), "100");
    assert_string_equal(value("d_ff"), "256");
    assert_true(assumes("d_model 64: num_heads * head_dim"));
    assert_true(assumes("vocabulary 100: num_params_embedding / d_model"));
    assert_true(assumes("d_ff 256: what num_params leaves for it"));
    j.num_params = 203008 + 4 * 2 * 64; /* and two norms a layer: 257, within 1 % of 4 d_model */
    assert_ok(make(&j, &as_said), &err);
    assert_string_equal(value("d_ff"), "256");
    j.num_params = 6400 + 4 * (4 * 64 * 64 + 2 * 64 * 100); /* any width that is whole */
    assert_ok(make(&j, &as_said), &err);
    assert_string_equal(value("d_ff"), "100");
    j.num_params += 1;
    refuse(&j, "the model is not named, and its d_ff is not known; give the model's card with --model");
    j.num_params_embedding = 6401;
    refuse(&j, "the model is not named, and its vocabulary is not known; give the model's card with --model");
}

/* ---- words --------------------------------------------------------------------------------- */

CLAIM(precisions_have_a_word)
{
    static const char *const mixed[] = {"bf16", "float16", "BFloat16", "bf16 compute, fp32 parameters",
                                        "fp16"};

    for (size_t i = 0; i < sizeof mixed / sizeof mixed[0]; i++)
        assert_string_equal(msr_precision_word(mixed[i]), "mixed");
    assert_string_equal(msr_precision_word("fp32"), "fp32");
    assert_null(msr_precision_word("int8"));
    assert_null(msr_precision_word(""));
    assert_true(msr_precision_is_low("fp8") && msr_precision_is_low("Float8 rowwise"));
    assert_false(msr_precision_is_low("fp16"));
}

static void assert_device(const char *text, const char *form)
{
    char seen[160];

    msr_device_form(text, seen, sizeof seen);
    assert_string_equal(seen, form);
}

CLAIM(devices_have_a_normal_form)
{
    assert_device("NVIDIA A100 80GB", "a100");
    assert_device("nvidia_a100", "a100");
    assert_device("A100 (gpu_name in every config)", "a100");
    assert_device("H100 SXM 96GB HBM2e, 2.4 TB/s", "h100");
    assert_device("NVIDIA GH200", "gh200");
    assert_device("tpu_v6e", "tpuv6e");
    assert_device("TPU v6e (Trillium)", "tpuv6e");
    assert_device("Trillium", "tpuv6e");
    assert_device("TPU v7x (Ironwood)", "tpuironwood");
    assert_device("tpu_ironwood", "tpuironwood");
    assert_device("tpu7x-128", "tpuironwood");
    assert_device("v5p-128", "tpuv5p");
    assert_device("TPU v5e", "tpuv5e");
    assert_device("NVIDIA H200 SXM", "h200");
    assert_device("NVIDIA H20", "h20");
    assert_device("B300 SXM", "b300");
    assert_device("GB300", "gb300");
    assert_device("NVIDIA L40S", "l40s");
    assert_device("My Own-1", "myown1");
}

static void assert_placement(const char *order, const char *expected)
{
    char seen[STRATEGY_VALUE_MAX];
    uint32_t placement;

    assert_int_equal(msr_placement_of(order, &placement), expected != NULL);
    if (expected)
        assert_string_equal(strategy_print(&strategy_parameters[STRATEGY_placement], placement, seen),
                            expected);
}

CLAIM(an_order_of_ranks_is_a_placement)
{
    assert_placement(NULL, "tp-sp-dp-pp");
    assert_placement("tp,cp,dp_shard,dp_replicate,pp", "tp-sp-dp-pp");
    assert_placement("pp, tp, cp, dp", "pp-tp-sp-dp");
    assert_placement("tp,cp,dp_shard,pp", "tp-sp-dp-pp");
    assert_placement("tp,cp,dp_shard", NULL);
    assert_placement("tp,cp,dp,pp,ep", NULL);
    assert_placement("tp,dp_shard,cp,dp_replicate,pp", NULL);
    assert_placement("tp,tp2,dp,pp", NULL);
}

/* ---- memory -------------------------------------------------------------------------------- */

static int open_configs(void **state)
{
    const char *const word[] = {"profile=stage"};

    (void)state;
    assert_ok(drv_settings_parse(word, 1, &settings_arena, &stage, &err), &err);
    return setenv("CCLDSE_CONFIGS", TEST_SOURCE "/configs", 1);
}

static int close_arena(void **state)
{
    (void)state;
    dse_arena_free(&settings_arena);
    dse_arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_a_point_and_a_model),
        cmocka_unit_test(sizes_alone_get_operators_and_that_is_said),
        cmocka_unit_test(the_rank_order_is_the_points_placement),
        cmocka_unit_test(cp_is_sp_and_both_parts_of_dp_are_dp),
        cmocka_unit_test(what_was_taken_for_granted_is_said),
        cmocka_unit_test(options_say_what_the_source_does_not),
        cmocka_unit_test(every_gap_is_named_with_its_figures),
        cmocka_unit_test(what_has_no_effect_is_no_gap),
        cmocka_unit_test(every_gap_has_a_name),
        cmocka_unit_test(degrees_that_do_not_multiply_to_the_devices_are_refused),
        cmocka_unit_test(a_model_that_is_not_known_is_refused),
        cmocka_unit_test(experts_stand_in_the_way_whatever_their_degrees_are),
        cmocka_unit_test(a_source_may_give_the_sizes_of_experts),
        cmocka_unit_test(names_of_families_say_experts),
        cmocka_unit_test(families_are_known_by_many_names),
        cmocka_unit_test(every_card_is_found_by_its_name_however_it_is_written),
        cmocka_unit_test(a_gate_is_taken_where_the_source_says_one),
        cmocka_unit_test(complete_sizes_go_over_those_of_the_family),
        cmocka_unit_test(heads_have_their_own_width_where_the_source_says_one),
        cmocka_unit_test(the_jobs_vocabulary_is_taken),
        cmocka_unit_test(a_card_that_is_named_goes_over_what_the_job_says),
        cmocka_unit_test(sizes_follow_from_a_cards_architecture),
        cmocka_unit_test(precisions_have_a_word),
        cmocka_unit_test(devices_have_a_normal_form),
        cmocka_unit_test(an_order_of_ranks_is_a_placement),
    };

    return cmocka_run_group_tests(tests, open_configs, close_arena);
}
