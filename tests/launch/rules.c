/* What the programs check before they run, applied to what a text says, and not to what it was made from; and that it says
 * the strategy. Sources of the rules: megatron/training/arguments.py, core/transformer/transformer_config.py,
 * pipeline_parallel/schedules.py; torchtitan's distributed/parallel_dims.py, pipeline_parallel.py, trainer.py;
 * deepspeed/runtime/config.py, pipe/engine.py. */
#include "launch/checks.h"

#include <stdlib.h>
#include <string.h>

bool checks_read(const launch_program *p, const char *text, dse_arena *a, pairs *out)
{
    const char *json = strchr(text, '{'), *end = strstr(text, "\nEND");

    *out = (pairs){0};
    if (!strcmp(p->name, "deepspeed-json"))
        return text_of_json(text, a, out);
    if (!strncmp(p->name, "torchtitan", 10)) {
        text_of_keys(text, a, out);
        return out->n > 0;
    }
    if (!strcmp(p->name, "deepspeed") &&
        (!json || !end || !text_of_json(dse_arena_printf(a, "%.*s", (int)(end - json), json), a, out)))
        return false;
    text_of_shell(text, !strcmp(p->name, "bridge") ? "run_recipe.py" : "pretrain_gpt.py", a, out);
    return out->n > 0;
}

#define RULE(holds, text)                                                                                    \
    if (!(holds))                                                                                            \
    return text

static const char *broken_by_megatron(const launch_job *j, const pairs *s, const char *text)
{
    const strategy *p = &j->point;
    const long world = (long)j->nodes * j->per_node;
    const long tp = pairs_number(s, "--tensor-model-parallel-size", 1),
               pp = pairs_number(s, "--pipeline-model-parallel-size", 1);
    const long cp = pairs_number(s, "--context-parallel-size", 1),
               mb = pairs_number(s, "--micro-batch-size", 0);
    const long batch = pairs_number(s, "--global-batch-size", 0),
               heads = pairs_number(s, "--num-attention-heads", 0);
    const long groups = pairs_number(s, "--num-query-groups", heads), dp = world / (tp * pp * cp);
    const long layers = pairs_number(s, "--num-layers", 0) +
                        pairs_has(s, "--account-for-embedding-in-pipeline-split") +
                        pairs_has(s, "--account-for-loss-in-pipeline-split");
    const long chunk = pairs_number(s, "--num-layers-per-virtual-pipeline-stage", 0);
    const long vp = chunk ? layers / pp / chunk : 1;
    const long group = pairs_number(s, "--microbatch-group-size-per-virtual-pipeline-stage", pp),
               n = batch / (mb * dp);
    const bool fsdp = pairs_has(s, "--use-megatron-fsdp"), zero = pairs_has(s, "--use-distributed-optimizer");
    const char *granularity = pairs_find(s, "--recompute-granularity");
    const bool ordered = strstr(text, "export CUDA_DEVICE_MAX_CONNECTIONS=1") != NULL;

    RULE(world == tp * pp * cp * dp, "tp, pp and cp divide the ranks");
    RULE(batch % (mb * dp) == 0, "micro-batch x dp divides the batch");
    RULE(layers % pp == 0 && (!chunk || layers / pp % chunk == 0), "stages are equal");
    RULE(!chunk || pp > 1, "virtual stages need a pipeline");
    RULE(!chunk || pp > 2 || !pairs_has(s, "--no-overlap-p2p-communication"),
         "virtual stages on pp 2 need overlap");
    RULE(!chunk || (group <= n && group >= pp && (n % group == 0 || n % group >= pp)),
         "groups of micro-batches");
    RULE(heads % tp == 0 && (groups % tp == 0 || tp % groups == 0), "tp divides heads and groups");
    RULE(cp == 1 || pairs_number(s, "--seq-length", 0) % cp == 0, "cp divides the sequence");
    RULE(fsdp || ordered == (!j->is_blackwell && (tp > 1 || cp > 1)), "CUDA_DEVICE_MAX_CONNECTIONS");
    RULE(!fsdp || (!ordered && pairs_has(s, "--ckpt-format")), "FSDP");
    RULE(!pairs_has(s, "--overlap-param-gather") || (pairs_has(s, "--overlap-grad-reduce") && (zero || fsdp)),
         "param gather");
    RULE(!granularity || strcmp(granularity, "full") != 0 ||
             (pairs_has(s, "--recompute-method") && pairs_has(s, "--recompute-num-layers")),
         "full needs method and count");
    RULE(!granularity || !strcmp(granularity, "full") ||
             (!pairs_has(s, "--recompute-method") && !pairs_has(s, "--recompute-num-layers")),
         "selective has neither");
    RULE(!pairs_has(s, "--sequence-parallel") || tp > 1, "sequence parallelism needs tp");
    RULE(!pairs_has(s, "--fp8-format") || (!pairs_has(s, "--fp4-format") && pairs_has(s, "--bf16")), "fp8");
    RULE(!pairs_has(s, "--fp8-param-gather") || (pairs_has(s, "--fp8-format") && (zero || fsdp)),
         "fp8 param gather");
    /* And it is the strategy. */
    RULE(tp == p->tp && pp == p->pp && cp == p->cp && dp == p->dp && vp == p->vp && mb == p->micro_batch,
         "degrees");
    RULE((uint64_t)batch == j->batch && (uint64_t)pairs_number(s, "--vocab-size", 0) == j->vocabulary,
         "batch, vocabulary");
    RULE(zero == (p->zero > 0) && fsdp == (p->zero > 1), "zero");
    RULE(pairs_has(s, "--sequence-parallel") == (p->tp > 1 && !p->sequence_parallel), "sequence_parallel");
    return NULL;
}

static const char *broken_by_bridge(const launch_job *j, const pairs *s)
{
    const strategy *p = &j->point;
    const long vp = pairs_number(s, "-vp", 1);

    RULE(pairs_has(s, "-vp") != pairs_has(s, "virtual_pipeline_model_parallel_size"), "vp is said once");
    RULE(pairs_number(s, "-tp", 0) == p->tp && pairs_number(s, "-pp", 0) == p->pp &&
             pairs_number(s, "-cp", 0) == p->cp && vp == p->vp &&
             pairs_number(s, "-mb", 0) == p->micro_batch && pairs_number(s, "-gb", 0) == (long)j->batch,
         "degrees");
    RULE(strcmp(pairs_find(s, "overlap_param_gather"), "true") != 0 ||
             !strcmp(pairs_find(s, "use_distributed_optimizer"), "true"),
         "param gather");
    RULE(!strcmp(pairs_find(s, "recompute_granularity"), "full") ==
             (strcmp(pairs_find(s, "recompute_method"), "null") != 0),
         "full needs method and count");
    RULE(!strcmp(pairs_find(s, "sequence_parallel"), "true") == (p->tp > 1 && !p->sequence_parallel),
         "sequence_parallel");
    return NULL;
}

static const char *broken_by_torchtitan(const launch_job *j, const pairs *s, bool is_main)
{
    const strategy *p = &j->point;
    const long replicate = pairs_number(s, "data_parallel_replicate_degree", 1),
               shard = pairs_number(s, "data_parallel_shard_degree", -1);
    const long tp = pairs_number(s, "tensor_parallel_degree", 1),
               pp = pairs_number(s, "pipeline_parallel_degree", 1);
    const long cp = pairs_number(s, "context_parallel_degree", 1),
               stage = pairs_number(s, "pipeline_parallel_layers_per_stage", 0);
    const long ends = pairs_number(s, "pipeline_parallel_first_stage_less_layers", 1) +
                      pairs_number(s, "pipeline_parallel_last_stage_less_layers", 1);
    const long n_stages = stage ? ((long)j->layers + ends + stage - 1) / stage : pp;
    const char *schedule = pairs_find(s, "pipeline_parallel_schedule");
    const bool single = !schedule || !strcmp(schedule, "1F1B") || !strcmp(schedule, "GPipe");
    const bool is_v = schedule && (!strcmp(schedule, "ZBVZeroBubble") || !strcmp(schedule, "DualPipeV"));
    long batch, micro, n;

    RULE(replicate * shard * tp * pp * cp == (long)j->nodes * j->per_node, "degrees make up the ranks");
    RULE(n_stages % pp == 0, "pp divides the stages");
    RULE(pp == 1 || (schedule && stage), "a pipeline says its schedule and stages");
    RULE(single ? n_stages == pp : n_stages >= 2 * pp, "stages of a schedule");
    RULE(!is_v || n_stages == 2 * pp, "a V has two stages on a rank");
    RULE(j->heads % (uint64_t)tp == 0 && j->kv_heads % (uint64_t)tp == 0, "tp divides the heads");
    if (is_main) {
        const long tokens = pairs_number(s, "num_tokens_per_microbatch_per_dp_rank", 0);
        const long of_step = pairs_number(s, "num_tokens_per_train_step", 0);

        n = pairs_number(s, "num_pp_microbatches", 1);
        RULE(of_step % (tokens * n * replicate * shard) == 0, "tokens of a step");
        RULE(tokens % ((p->sequence_parallel ? 1 : tp) * (cp > 1 ? 2 * cp : 1)) == 0,
             "tokens of a micro-batch");
        RULE(!strcmp(pairs_find(s, "disable_cuda_graphs"), "true"), "graphs");
        batch = of_step / (long)j->sequence;
        micro = tokens / (long)j->sequence;
        RULE(pp == 1 || of_step == tokens * n * replicate * shard,
             "a pipeline has all micro-batches at once");
    } else {
        const long local = pairs_number(s, "local_batch_size", 8);

        batch = pairs_number(s, "global_batch_size", -1);
        micro = pp > 1 ? pairs_number(s, "pipeline_parallel_microbatch_size", 1) : local;
        RULE(batch % (local * replicate * shard) == 0, "local batches make up the batch");
        RULE(local % micro == 0, "micro-batches make up a local batch");
        RULE(pp == 1 || batch == local * replicate * shard, "a pipeline has all micro-batches at once");
        RULE(replicate == 1 || shard > 1 || cp > 1 || (tp == 1 && pp == 1), "DDP is alone");
    }
    RULE(batch == (long)j->batch && micro == p->micro_batch, "batches");
    RULE(tp == p->tp && pp == p->pp && cp == p->cp && replicate * shard == p->dp &&
             n_stages == (long)p->pp * p->vp,
         "degrees");
    RULE(p->zero == 3 ? replicate == p->replicas : shard == 1, "zero");
    return NULL;
}

static const char *broken_by_deepspeed(const launch_job *j, const pairs *s, bool is_alone)
{
    const strategy *p = &j->point;
    const long tp = pairs_number(s, is_alone ? "autotp_size" : "--tensor-model-parallel-size", 1);
    const long pp = pairs_number(s, "--pipeline-model-parallel-size", 1);
    const long sp = pairs_number(s, is_alone ? "sequence_parallel_size" : "--ds-sequence-parallel-size", 1);
    const long dp = (long)j->nodes * j->per_node / (tp * pp * sp),
               batch = pairs_number(s, "train_batch_size", 0);
    const long micro = pairs_number(s, "train_micro_batch_size_per_gpu", 0),
               stage = pairs_number(s, "stage", 0);

    RULE(batch == micro * pairs_number(s, "gradient_accumulation_steps", 0) * dp, "the batch is the product");
    RULE(pp == 1 || stage < 2, "a pipeline goes with ZeRO 0 and 1");
    RULE(sp == 1 || (tp == 1 && pp == 1), "Ulysses is alone");
    RULE(is_alone || pairs_number(s, "--zero-stage", 1) == stage, "both say the stage");
    RULE(is_alone || pairs_has(s, "--bf16") == !strcmp(pairs_find(s, "enabled"), "true"), "both say bf16");
    RULE(is_alone || pairs_number(s, "--micro-batch-size", 0) == micro, "both say the micro-batch");
    RULE(is_alone || pairs_number(s, "--global-batch-size", 0) == batch, "both say the batch");
    RULE(is_alone || pairs_has(s, "--no-pipeline-parallel") == (pp == 1), "no pipeline engine");
    RULE(is_alone || pairs_number(s, "--num-layers", 0) % pp == 0, "stages are equal");
    RULE(tp == p->tp && pp == p->pp && sp == p->cp && dp == p->dp && micro == p->micro_batch &&
             stage == p->zero,
         "degrees");
    return NULL;
}

const char *broken_rule(const launch_job *j, const launch_program *p, const pairs *said, const char *text)
{
    if (!strcmp(p->name, "megatron"))
        return broken_by_megatron(j, said, text);
    if (!strcmp(p->name, "bridge"))
        return broken_by_bridge(j, said);
    if (!strncmp(p->name, "torchtitan", 10))
        return broken_by_torchtitan(j, said, !strcmp(p->name, "torchtitan"));
    return broken_by_deepspeed(j, said, !strcmp(p->name, "deepspeed-json"));
}
