/* A job as a point of the training step: what the job says, then the default of its program, which is
 * noted. What neither says and the step depends on is a gap: nothing is made up. */
#include "base/array.h"
#include "measured/job_row.h"
#include "measured/plan_parts.h"
#include "step/options.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    msr_plan *plan;
    const msr_job *job;
    const msr_framework *program; /* NULL: none that is known */
    strategy *point;
    dse_arena *arena;
} planning;

static void lacks(planning *p, const char *what)
{
    msr_plan_gap(p->plan, MSR_GAP_UNKNOWN_FACT, p->arena, "the source lacks %s", what);
}

/* "no recomputation, the default of Megatron-LM: the source does not say". */
static void by_default(planning *p, const char *what)
{
    msr_plan_assume(p->plan, p->arena, "%s, the default of %s: the source does not say", what,
                    p->program->title);
}

/* The number of a word of a choice, which the table has. */
static uint32_t choice(uint32_t parameter, const char *word)
{
    uint32_t value = 0;
    dse_status st = strategy_parse(&strategy_parameters[parameter], "", word, &value, NULL);

    assert(st == DSE_OK);
    (void)st;
    return value;
}

/* ---- the program ------------------------------------------------------------------------------- */

static void choose_program(planning *p)
{
    const char *name = p->job->framework;

    p->program = msr_framework_find(name);
    if (!p->program) {
        msr_plan_assume(p->plan, p->arena, "the habits of Megatron-LM: %s%.60s%s",
                        name ? "the program '" : "", name ? name : "the source does not name the program",
                        name ? "' is none that is known" : "");
        return;
    }
    p->point->like = choice(STRATEGY_like, p->program->like);
    if (strcmp(p->program->like, "torchtitan") == 0 && strcmp(p->program->title, "TorchTitan") != 0)
        msr_plan_assume(p->plan, p->arena,
                        "the habits of TorchTitan, which shards with PyTorch's FSDP as %s does",
                        p->program->title);
}

/* ---- data parallelism -------------------------------------------------------------------------- */

static const char *const sharded_words[] = {"nothing sharded over dp", "the optimizer sharded over dp",
                                            "gradients sharded over dp", "weights sharded over dp"};

/* The ZeRO stage; -1: it is not known. */
static int64_t zero_of(planning *p)
{
    const msr_job *j = p->job;

    if (MSR_GIVEN(j->zero_stage))
        return j->zero_stage;
    if (MSR_GIVEN(j->dp_shard) && j->dp_shard > 1)
        return 3;
    if (!p->program)
        return MSR_GIVEN(j->dp_shard) && j->dp_replicate > 1 ? 0 : -1; /* replicas, says the source */
    if (p->program->zero == 3 && MSR_GIVEN(j->dp_shard))
        return j->cp > 1 ? 3 : 0; /* weights are sharded over cp as well */
    if (p->program->zero >= 0)
        by_default(p, sharded_words[p->program->zero]);
    return p->program->zero;
}

static void choose_sharding(planning *p)
{
    const msr_job *j = p->job;
    int64_t zero;

    if (j->dp == 1 && j->cp == 1)
        return;
    zero = zero_of(p);
    if (zero < 0 || zero > 3) {
        lacks(p, "what is sharded over dp ('zero_stage')");
        return;
    }
    p->point->zero = (uint32_t)zero;
    if (zero == 2 && p->program &&
        p->program->zero == 3) { /* FSDP's SHARD_GRAD_OP: gathered until the backward pass */
        p->point->zero = 3;
        p->point->reshard = choice(STRATEGY_reshard, "never");
    }
    if (zero > 0 && zero < 3 && MSR_GIVEN(j->shard_group) && j->dp % j->shard_group == 0)
        p->point->replicas = (uint32_t)(j->dp / j->shard_group);
    /* A dp_shard of 1 below ZeRO-3 says of weights alone that they are whole. */
    if (zero > 0 && MSR_GIVEN(j->dp_replicate) && MSR_GIVEN(j->dp_shard) &&
        (j->dp_shard > 1 || (zero == 3 && j->cp > 1)))
        p->point->replicas = (uint32_t)j->dp_replicate;
    if (zero == 3 && MSR_GIVEN(j->reshards))
        p->point->reshard = choice(STRATEGY_reshard, j->reshards ? "always" : "never");
    if (p->point->zero == 3 || !p->program)
        return;
    p->point->overlap = choice(STRATEGY_overlap, p->program->overlaps ? "on" : "off");
    by_default(p, p->program->overlaps ? "gradients reduced under the backward pass"
                                       : "gradients reduced after the backward pass");
}

/* ---- micro-batches and the pipeline ------------------------------------------------------------ */

static int64_t micro_batch_of(planning *p)
{
    const msr_job *j = p->job;

    if (MSR_GIVEN(j->micro_batch))
        return j->micro_batch;
    if (MSR_GIVEN(j->micro_batches) || !p->program || j->batch % j->dp)
        return MSR_JOB_NONE;
    if (j->pp == 1 && p->program->one_micro_batch) {
        by_default(p, "one micro-batch");
        return j->batch / j->dp;
    }
    if (j->pp == 1 || !p->program->stage_micro_batch)
        return MSR_JOB_NONE;
    by_default(p, "micro-batches of one sequence");
    return p->program->stage_micro_batch;
}

/* What a batch leaves for a micro-batch is as large as the batch is said to be. */
static void set_micro_batch(planning *p, int64_t sequences)
{
    if (sequences > UINT32_MAX)
        msr_plan_gap(p->plan, MSR_GAP_REFUSED, p->arena,
                     "a micro-batch of %" PRId64 " sequences; it is to be below 2^32", sequences);
    else
        p->point->micro_batch = (uint32_t)sequences;
}

static void choose_micro_batch(planning *p)
{
    const msr_job *j = p->job;
    int64_t micro_batch = micro_batch_of(p), at_once;

    if (MSR_GIVEN(micro_batch)) {
        set_micro_batch(p, micro_batch);
    } else if (MSR_GIVEN(j->micro_batches)) {
        if (__builtin_mul_overflow(j->dp, j->micro_batches, &at_once) || j->batch % at_once)
            msr_plan_gap(p->plan, MSR_GAP_REFUSED, p->arena,
                         "dp %" PRId64 " x %" PRId64 " micro-batches does not divide the batch of %" PRId64
                         " sequences",
                         j->dp, j->micro_batches, j->batch);
        else
            set_micro_batch(p, j->batch / at_once);
    } else if (j->batch % j->dp == 0) {
        msr_plan_gap(p->plan, MSR_GAP_MICRO_BATCH_UNSAID, p->arena,
                     "the source lacks the sequences of a micro-batch ('micro_batch')");
        set_micro_batch(p, j->pp == 1 ? j->batch / j->dp : 1);
    } else {
        lacks(p, "the sequences of a micro-batch ('micro_batch')");
    }
}

/* Spellings in normal form. */
static const struct {
    const char *spelling, *schedule;
    bool is_interleaved; /* several chunks on a rank, though vp is all that says it */
} schedules[] = {{"1f1b", "1f1b", false},
                 {"interleaved", "1f1b", true},
                 {"interleaved1f1b", "1f1b", true},
                 {"gpipe", "gpipe", false},
                 {"loopedbfs", "looped-bfs", true},
                 {"interleavedgpipe", "looped-bfs", true},
                 {"zerobubble", "zero-bubble", false},
                 {"zbh1", "zero-bubble", false},
                 {"zbv", "zbv", true},
                 {"zbvzerobubble", "zbv", true},
                 {"dualpipev", "dualpipev", true}};

static void choose_schedule(planning *p)
{
    const msr_job *j = p->job;
    bool is_interleaved = false;
    char form[64];
    size_t i = 0;

    if (j->pp == 1)
        return;
    if (j->schedule) {
        msr_normal_form(j->schedule, form, sizeof form);
        while (i < DSE_COUNT(schedules) && strcmp(form, schedules[i].spelling) != 0)
            i++;
        if (i == DSE_COUNT(schedules)) {
            msr_plan_gap(p->plan, MSR_GAP_UNKNOWN_FACT, p->arena, "the schedule '%.60s' is none of ours",
                         j->schedule);
            return;
        }
        p->point->schedule = choice(STRATEGY_schedule, schedules[i].schedule);
        is_interleaved = schedules[i].is_interleaved;
    } else if (p->program) {
        by_default(p, "schedule 1F1B");
    } else {
        lacks(p, "the order of a pipeline's micro-batches ('schedule')");
    }
    if (MSR_GIVEN(j->interleaving)) {
        p->point->vp = (uint32_t)j->interleaving;
    } else if (is_interleaved && p->program && p->program->chunks) {
        p->point->vp = (uint32_t)p->program->chunks;
        by_default(p, "two stages on a rank");
    } else if (is_interleaved) {
        lacks(p, "the stages on a rank of the pipeline ('interleaving')");
    }
}

/* ---- what is kept and split -------------------------------------------------------------------- */

static void choose_selective(planning *p)
{
    const msr_selective what = p->program ? p->program->selective : MSR_SELECTIVE_ATTENTION;

    if (what == MSR_SELECTIVE_UNKNOWN && !p->job->recompute_parts) {
        msr_plan_gap(p->plan, MSR_GAP_UNKNOWN_FACT, p->arena,
                     "the source lacks which layers the selective recomputation of %s makes again",
                     p->program->title);
    } else if (what == MSR_SELECTIVE_ALL) {
        p->point->recompute_granularity = STEP_RECOMPUTE_FULL;
        msr_plan_assume(p->plan, p->arena,
                        "selective recomputation makes every layer again, the default of %s",
                        p->program->title);
    } else if (what == MSR_SELECTIVE_SECOND_LAYER) {
        p->point->recompute_granularity = STEP_RECOMPUTE_FULL;
        p->point->recompute_every = 2;
        msr_plan_assume(p->plan, p->arena,
                        "selective recomputation makes every second layer again, the default of %s",
                        p->program->title);
    } else {
        p->point->recompute_granularity = STEP_RECOMPUTE_SELECTIVE;
        if (p->job->recompute_parts) /* else there would be a gap */
            msr_recompute_modules(p->job, &p->point->recompute_modules);
    }
}

/* A number of layers is of a rank's part of the model, or of each of its virtual stages (Megatron-LM's method
 * block). */
static void choose_full(planning *p)
{
    p->point->recompute_granularity = STEP_RECOMPUTE_FULL;
    if (MSR_GIVEN(p->job->recompute_layers) && p->job->recompute_layers <= UINT32_MAX)
        p->point->recompute_layers = (uint32_t)p->job->recompute_layers;
}

static bool makes_products_again(const strategy *p)
{
    return p->recompute_granularity == STEP_RECOMPUTE_FULL ||
           (p->recompute_granularity == STEP_RECOMPUTE_SELECTIVE && p->recompute_modules & STEP_AGAIN_MLP);
}

static void choose_recomputation(planning *p, const msr_plan_options *o)
{
    msr_recompute how = o->recompute < 0   ? p->job->recompute
                        : o->recompute > 0 ? MSR_RECOMPUTE_FULL
                                           : MSR_RECOMPUTE_NONE;

    if (how == MSR_RECOMPUTE_UNKNOWN && p->program) {
        how = p->program->unsaid;
        if (how == MSR_RECOMPUTE_FULL)
            by_default(p, "recomputation of all layers");
        else if (how == MSR_RECOMPUTE_NONE)
            by_default(p, "no recomputation");
        else if (how == MSR_RECOMPUTE_SELECTIVE)
            by_default(p, "selective recomputation");
    }
    if (how == MSR_RECOMPUTE_UNKNOWN)
        lacks(p, "what is recomputed ('recompute'); give --recompute");
    else if (how == MSR_RECOMPUTE_FULL)
        choose_full(p);
    else if (how == MSR_RECOMPUTE_SELECTIVE)
        choose_selective(p);
    if (p->program && p->program->recomputes_early && makes_products_again(p->point))
        p->point->recompute_end = choice(STRATEGY_recompute_end, "early");
}

static void choose_splits(planning *p)
{
    const msr_job *j = p->job;
    bool splits = j->sequence_parallel == 1;

    if (j->tp > 1 && !MSR_GIVEN(j->sequence_parallel) && !p->program) {
        lacks(p, "whether tp splits sequences, too ('sequence_parallel')");
    } else if (j->tp > 1 && !MSR_GIVEN(j->sequence_parallel)) {
        splits = p->program->sequence_parallel;
        by_default(p, splits ? "sequence parallelism along tp" : "no sequence parallelism along tp");
    }
    if (j->tp > 1)
        p->point->sequence_parallel = choice(STRATEGY_sequence_parallel, splits ? "on" : "off");
    if (j->cp > 1 && p->program) {
        p->point->cp_comm = choice(STRATEGY_cp_comm, p->program->cp_comm);
        by_default(p, dse_arena_printf(p->arena, "context parallelism by %s", p->program->cp_comm));
    } else if (j->cp > 1) {
        lacks(p, "how context parallelism brings keys and values ('framework')");
    }
}

/* In normal form. HybridEP is DeepEP's branch for NVLink domains of any size, which brings a token once to
 * each domain and each rank, too (deepseek-ai/DeepEP, branch hybrid-ep; Megatron-LM, moe/fused_a2a.py). */
static const struct {
    const char *spelling, *dispatch;
} dispatches[] = {
    {"alltoall", "alltoall"}, {"allgather", "allgather"}, {"deepep", "deepep"}, {"hybridep", "deepep"}};

static void choose_dispatch(planning *p)
{
    char form[64];
    size_t i = 0;

    if (!p->job->dispatch) {
        msr_plan_assume(p->plan, p->arena, "tokens exchanged by all-to-all");
        return;
    }
    msr_normal_form(p->job->dispatch, form, sizeof form);
    while (i < DSE_COUNT(dispatches) && strcmp(form, dispatches[i].spelling) != 0)
        i++;
    if (i < DSE_COUNT(dispatches))
        p->point->dispatch = choice(STRATEGY_dispatch, dispatches[i].dispatch);
    else
        msr_plan_gap(p->plan, MSR_GAP_UNKNOWN_FACT, p->arena,
                     "the dispatch of tokens '%.60s' is none of ours", p->job->dispatch);
}

/* Sources do not say how evenly a router spread tokens. */
static void choose_experts(planning *p)
{
    const msr_job *j = p->job;

    if (!cfg_get(p->plan->model.root, "experts"))
        return;
    if (MSR_GIVEN(j->ep))
        p->point->ep = (uint32_t)j->ep;
    if (MSR_GIVEN(j->etp)) {
        p->point->etp = (uint32_t)j->etp;
    } else if (p->program && p->program->etp && j->tp > 1) {
        p->point->etp = (uint32_t)p->program->etp;
        by_default(p, "experts on one rank each");
    }
    msr_plan_assume(p->plan, p->arena, "tokens spread evenly over experts");
    if (j->ep > 1)
        choose_dispatch(p);
    if (j->ep > 1 && j->ep_overlap == 1)
        p->point->ep_overlap = choice(STRATEGY_ep_overlap, "micro-batches");
}

static void choose_attention(planning *p)
{
    if (p->program && p->program->unfused) {
        p->point->attention = choice(STRATEGY_attention, "unfused");
        by_default(p, "attention with its scores in memory");
    } else if (p->program && p->program->flash_attention_2) {
        p->point->attention = choice(STRATEGY_attention, "flash2");
        by_default(p, "attention by FlashAttention-2");
    }
}

/* In its own words, or as its program does. */
static void choose_recipe(planning *p)
{
    const msr_job *j = p->job;
    const char *text = j->quantization && msr_precision_is_low(j->quantization) ? j->quantization
                       : j->precision && msr_precision_is_low(j->precision)     ? j->precision
                                                                                : NULL;
    const char *word = text ? msr_recipe_word(text) : "";

    if (!text && j->float8 != 1)
        return;
    if (!word) {
        msr_plan_gap(p->plan, MSR_GAP_FLOAT8, p->arena, "the recipe '%.60s' is none of ours", text);
    } else if (*word) {
        p->point->fp8_recipe = choice(STRATEGY_fp8_recipe, word);
    } else if (p->program && p->program->fp8_recipe) {
        p->point->fp8_recipe = choice(STRATEGY_fp8_recipe, p->program->fp8_recipe);
        by_default(p, dse_arena_printf(p->arena, "matrices scaled by recipe %s", p->program->fp8_recipe));
    } else {
        msr_plan_gap(
            p->plan, MSR_GAP_FLOAT8, p->arena,
            "matrices are multiplied in 8 bits, and the source lacks how they are scaled ('precision')");
    }
}

/* Weights that are sharded are cast before they are gathered, where one scale is of a whole matrix. */
static void choose_parameters(planning *p)
{
    if (!p->program || !p->program->gathers_cast || p->point->zero != 3 ||
        p->point->fp8_recipe != choice(STRATEGY_fp8_recipe, "tensorwise"))
        return;
    p->point->fp8_params = choice(STRATEGY_fp8_params, "on");
    by_default(p, "weights gathered in 8 bits");
}

/* In the row's word, or as its program does; of forks of Megatron-DeepSpeed, which multiply in no pieces,
 * whether a sum goes on beside the product for the weight's gradient. Megatron-Bridge's recipes leave it out
 * where they multiply in 4 bits (llama3_llm_pretrain.py: tp_comm_overlap = False if precision == "nvfp4"). */
static void choose_tensor_overlap(planning *p)
{
    const msr_job *j = p->job;
    const char *word = j->tp_overlap == 1 ? "on" : NULL;

    if (j->tp > 1 && j->tp_overlap == 0 && p->point->like == choice(STRATEGY_like, "deepspeed"))
        p->point->tp_overlap = choice(STRATEGY_tp_overlap, "off");
    if (j->tp <= 1 || p->point->sequence_parallel != choice(STRATEGY_sequence_parallel, "on"))
        return;
    if (!MSR_GIVEN(j->tp_overlap) && p->program && p->program->tp_overlap &&
        p->point->fp8_recipe != choice(STRATEGY_fp8_recipe, "nvfp4")) {
        word = "on";
        by_default(p, "collectives of tp beside pieces of products");
    }
    if (word)
        p->point->tp_overlap = choice(STRATEGY_tp_overlap, word);
}

static void check_precision(planning *p, const msr_plan_options *o)
{
    const char *word = o->precision        ? o->precision
                       : p->job->precision ? msr_precision_word(p->job->precision)
                                           : NULL;

    if (word && strcmp(word, "mixed") != 0)
        msr_plan_gap(p->plan, MSR_GAP_FLOAT32, p->arena,
                     "the training step computes in 16 bits, with optimizer state in 32, and not in '%.60s'",
                     o->precision ? o->precision : p->job->precision);
}

/* The step has one order of ranks. */
static dse_status check_order(planning *p, dse_error *err)
{
    const char *order = p->job->rank_order;
    uint32_t placement, usual;

    if (!msr_placement_of(order, &placement))
        return msr_plan_refuse_order(p->job, err);
    msr_placement_of(NULL, &usual);
    if (placement != usual)
        msr_plan_gap(p->plan, MSR_GAP_RANK_ORDER, p->arena, "the order of ranks is '%.60s'", order);
    return DSE_OK;
}

dse_status msr_plan_train(msr_plan *p, const msr_plan_options *o, dse_arena *a, dse_error *err)
{
    planning t = {.plan = p, .job = p->job, .point = &p->point, .arena = a};

    p->trains = true;
    for (size_t i = 0; i < p->job->n_notes; i++)
        msr_plan_assume(p, a, "%s", p->job->note[i]);
    p->point = strategy_default();
    p->point.dp = (uint32_t)p->job->dp;
    p->point.tp = (uint32_t)p->job->tp;
    p->point.pp = (uint32_t)p->job->pp;
    p->point.cp = (uint32_t)p->job->cp;
    choose_program(&t);
    choose_sharding(&t);
    choose_micro_batch(&t);
    choose_schedule(&t);
    choose_recomputation(&t, o);
    choose_splits(&t);
    choose_experts(&t);
    choose_attention(&t);
    choose_recipe(&t);
    choose_parameters(&t);
    choose_tensor_overlap(&t);
    check_precision(&t, o);
    return check_order(&t, err);
}
