#include "driver/launch.h"

#include "base/array.h"
#include "driver/training.h"
#include "step/buckets.h"
#include "step/module.h"

#include <math.h>
#include <string.h>

/* ---- the model --------------------------------------------------------------------------------- */

/* The first module of a kind in a block; NULL: it has none. */
static const step_module *find_module(const step_model *m, step_block_kind block,
                                      const step_module_kind *kind)
{
    for (uint32_t i = 0; i < m->block[block].n; i++)
        if (m->block[block].module[i].kind == kind)
            return &m->block[block].module[i];
    return NULL;
}

/* By the card, or else by the name that a file of configs/layers gives the module, as nothing else of that
 * says which function it is. */
static launch_activation activation_of(const step_module *m, const char *by_card)
{
    static const struct {
        const char *name, *word;
        bool is_gated;
        launch_activation is;
    } rows[] = {{"swiglu", "silu", true, LAUNCH_SWIGLU},
                {"gelu", "gelu", false, LAUNCH_GELU},
                {"square", "squared-relu", false, LAUNCH_SQUARED_RELU}};
    const bool is_said = strcmp(by_card, "unknown") != 0;

    for (size_t i = 0; m && i < DSE_COUNT(rows); i++)
        if (!strcmp(is_said ? by_card : m->name, is_said ? rows[i].word : rows[i].name) &&
            m->is_gated == rows[i].is_gated)
            return rows[i].is;
    return LAUNCH_OTHER_ACTIVATION;
}

static launch_precision precision_of(const card_model *m)
{
    const wl_precision p = card_model_precision(m);

    if (p.activations == 4)
        return LAUNCH_FP32;
    if (card_model_is_mixed(m))
        return LAUNCH_MIXED;
    return p.weights == 2 && p.gradients == 2 && p.optimizer == 4 ? LAUNCH_BF16
                                                                  : LAUNCH_OTHER_PRECISION; /* two moments */
}

static void set_latents(const card_model *m, launch_job *j)
{
    if (!m->kv_lora_rank)
        return;
    j->q_rank = (uint32_t)m->q_lora_rank;
    j->kv_rank = (uint32_t)m->kv_lora_rank;
    j->plain_size = (uint32_t)m->qk_nope_head_dim;
    j->rotated_size = (uint32_t)m->qk_rope_head_dim;
    j->value_size = (uint32_t)m->v_head_dim;
}

/* As the step has them, with the program's defaults. */
static void set_experts(const drv_study *s, launch_job *j)
{
    const card_model *m = &s->model;
    const step_options o = drv_training_options(s, &j->point);
    const int64_t width = m->d_ff_expert ? m->d_ff_expert : m->d_ff;

    if (!m->experts)
        return;
    j->ffn = (uint64_t)m->d_ff;
    j->experts = (uint32_t)m->experts;
    j->topk = (uint32_t)m->experts_per_token;
    j->ep = step_ep(&o);
    j->etp = step_etp(&o);
    j->expert_ffn = (uint64_t)width;
    j->shared_ffn = (uint64_t)(m->d_ff_shared ? m->d_ff_shared : m->shared_experts * width);
    j->first_dense = (uint32_t)m->first_dense_layers;
    j->expert_every = (uint32_t)m->expert_every;
    j->groups = (uint32_t)m->router_groups;
    j->top_groups = (uint32_t)m->router_groups_per_token;
    j->has_sigmoid_router = !strcmp(m->router, "sigmoid");
    j->capacity_percent = o.capacity ? o.capacity_percent : 0;
    j->pads_capacity = o.capacity == STEP_CAPACITY_PAD;
}

/* Whether a matrix behind the first of a kind of module has a bias: `behind` NULL, one of all. */
static bool has_bias(const step_model *m, const step_module_kind *behind)
{
    bool is_behind = !behind;

    for (uint32_t i = 0; i < m->block[STEP_LAYER].n; i++) {
        const step_module *module = &m->block[STEP_LAYER].module[i];

        if (is_behind && module->has_bias)
            return true;
        is_behind |= module->kind == behind;
    }
    return false;
}

/* What operators with conditions have by the card (configs/layers/decoder.yaml). */
static void set_choices(const card_model *m, launch_job *j)
{
    j->has_qk_norm = !strcmp(m->qk_norm, "head");
    j->has_sinks = m->attention_sinks;
    j->window = (uint64_t)m->window;
    j->windowed_layers = (uint64_t)m->windowed_layers;
    j->full_attention_every = (uint64_t)m->full_attention_every;
    j->has_other_layers = !strcmp(m->qk_norm, "all") || strcmp(m->norms, "before") != 0 ||
                          strcmp(m->block, "serial") != 0 || m->embedding_norm || m->window_chunks ||
                          m->embedding_width || m->shared_expert_gate || !m->final_norm || m->bias.head ||
                          !strcmp(m->norm, "plain") || !strcmp(m->norm, "layer_unbiased") ||
                          (m->bias.mlp && !m->bias.qkv) || !(j->is_rotary || j->has_positions);
}

static void set_model(const drv_study *s, launch_job *j)
{
    const step_model *m = &s->training->model;
    const step_module *norm = find_module(m, STEP_LAYER, &step_module_norm);
    const step_module *attention = find_module(m, STEP_LAYER, &step_module_attention);
    const step_module *activation = find_module(m, STEP_LAYER, &step_module_activation);

    j->layers = m->n_layers;
    j->mtp_layers = m->n_mtp;
    j->n_laid_out = m->n_laid_out;
    j->laid_out = m->laid_out;
    j->hidden = m->hidden;
    j->ffn = activation ? activation->in : (uint64_t)s->model.d_ff;
    j->heads = attention ? attention->heads : (uint64_t)s->model.heads;
    j->kv_heads = attention ? attention->kv_heads : j->heads;
    j->head_size = attention ? attention->head_size : j->hidden / j->heads;
    j->vocabulary = (uint64_t)s->model.vocabulary;
    j->sequence = m->sequence;
    j->batch = (uint64_t)s->model.batch;
    j->activation = activation_of(activation, s->model.activation);
    j->is_rms = norm && !norm->has_mean;
    j->is_gated = activation && activation->is_gated;
    j->has_biases = has_bias(m, &step_module_attention);
    j->has_qkv_bias = has_bias(m, NULL);
    j->has_dropout = find_module(m, STEP_LAYER, &step_module_dropout) != NULL;
    j->is_rotary = find_module(m, STEP_LAYER, &step_module_rotary) != NULL;
    j->has_positions = find_module(m, STEP_EMBEDDING, &step_module_positions) != NULL;
    j->is_tied = m->is_tied;
    j->rotary_base = NAN; /* no card has it */
    j->precision = precision_of(&s->model);
    set_latents(&s->model, j);
    set_choices(&s->model, j);
}

/* ---- the machines ------------------------------------------------------------------------------ */

/* GPUs of a host, where a dimension of the network joins more than one host. A compute tray of GB200 NVL72
 * and GB300 NVL72 has 4: NVIDIA's data sheets, "36 Grace CPUs, 72 GPUs", of 18 trays. */
static const struct {
    const char *device;
    uint32_t gpus;
} hosts[] = {{"nvidia_gb200", 4}, {"nvidia_gb300", 4}, {"nvidia_dgx_spark", 1}};

/* A machine is what the dimensions of the network below the last join; all, if there is one. */
static uint32_t ranks_per_node(const card_system *s)
{
    uint64_t inner = 1;

    for (size_t i = 0; i < DSE_COUNT(hosts); i++)
        if (!strcmp(s->device, hosts[i].device) && card_system_npus(s) % hosts[i].gpus == 0)
            return hosts[i].gpus;
    for (uint32_t i = 0; i < s->npus_count.n && (i == 0 || i + 1 < s->npus_count.n); i++)
        inner *= (uint64_t)s->npus_count.v[i];
    return (uint32_t)inner;
}

/* None of the programs trains on one. */
static bool has_tpus(const card_system *s)
{
    static const char tpu[] = "tpu_"; /* as devices are named (card_system.device) */

    return !strncmp(s->device, tpu, sizeof tpu - 1);
}

static dse_status set_machines(const drv_study *s, uint32_t per_node, launch_job *j, dse_error *err)
{
    const uint64_t npus = card_system_npus(&s->system);

    j->per_node = per_node ? per_node : ranks_per_node(&s->system);
    if (npus % j->per_node)
        return dse_fail(err, DSE_E_RANGE, "%u ranks of a machine do not divide the %llu of %s", j->per_node,
                        (unsigned long long)npus, s->system_name);
    j->nodes = (uint32_t)(npus / j->per_node);
    j->is_blackwell = s->training->settings.law[WL_KERNEL_MATMUL_NVFP4].peak_ops_per_s >
                      0; /* products in 4 bits came with it */
    return DSE_OK;
}

/* Layers that are made again, by stage, as the point's parameters have them of all stages alike: the
 * programs have one number. */
static dse_status settle_recomputation(const drv_study *s, const launch_program *program, launch_job *j,
                                       dse_error *err)
{
    const step_model *m = &s->training->model;
    bool is_even = true, is_all = !m->n_mtp;

    if (!m->n_recomputed)
        return DSE_OK;
    for (uint32_t i = 0; i < m->n_recomputed; i++) {
        is_even &= m->recomputed[i] == m->recomputed[0];
        is_all &= m->recomputed[i] == step_stage_of(m, i, m->n_recomputed).n_layers;
    }
    if (!is_even && !is_all)
        return dse_fail(
            err, DSE_E_CONFIG,
            "%s makes as many layers of each stage again as of the others, and recompute_layout %s "
            "has several numbers; take one for all stages",
            program->title, s->model.recompute_layout);
    j->point.recompute_layers = is_all ? 0 : m->recomputed[0];
    if (!m->recomputed[0] && !is_all) {
        j->point.recompute_granularity = STEP_RECOMPUTE_NONE;
        j->point.recompute_end = 0;
    }
    return DSE_OK;
}

/* ---- the job ----------------------------------------------------------------------------------- */

dse_status drv_launch_job(const drv_study *s, const strategy *p, const launch_program *program,
                          uint32_t per_node, launch_job *out, dse_error *err)
{
    launch_job j = {.model = s->model_name, .system = s->system_name, .point = *p, .ep = 1, .etp = 1};
    dse_status st;

    if (!s->training)
        return dse_fail(err, DSE_E_CONFIG,
                        "%s has profile stage, which no program trains; give a model of profile train",
                        s->model_name);
    if (has_tpus(&s->system))
        return dse_fail(
            err, DSE_E_CONFIG,
            "%s runs on GPUs, and %s has TPUs; in a JAX program, such as MaxText, set the degrees by hand",
            program->title, s->system_name);
    if ((st = strategy_parse(&strategy_parameters[STRATEGY_like], "like", program->like, &j.point.like,
                             err)) != DSE_OK ||
        (st = drv_point_check(s, &j.point, err)) != DSE_OK ||
        (st = settle_recomputation(s, program, &j, err)) != DSE_OK ||
        (st = set_machines(s, per_node, &j, err)) != DSE_OK)
        return st;
    set_model(s, &j);
    set_experts(s, &j);
    *out = j;
    return DSE_OK;
}
