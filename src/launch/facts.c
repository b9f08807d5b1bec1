#include "launch/parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *number(dse_arena *a, uint64_t v) { return dse_arena_printf(a, "%" PRIu64, v); }
static const char *number_if(dse_arena *a, bool applies, uint64_t v) { return applies ? number(a, v) : NULL; }
static const char *on_off(bool is_on) { return is_on ? "on" : "off"; }

/* The value of a choice, as the strategy's table spells it. */
static const char *choice(const strategy *p, uint32_t parameter)
{
    return strategy_parameters[parameter].choices[strategy_get(p, parameter)];
}

/* "[0,0,1,1]": which layers have experts; NULL: all. */
static const char *layers_with_experts(const launch_job *j, dse_arena *a)
{
    dse_strbuf text = dse_strbuf_in(a);

    if (!j->first_dense && j->expert_every < 2)
        return NULL;
    for (uint64_t i = 0; i < j->layers; i++) {
        const bool has = i >= j->first_dense && (j->expert_every < 2 || (i + 1) % j->expert_every == 0);

        dse_strbuf_addf(&text, "%c%d", i ? ',' : '[', has);
    }
    dse_strbuf_addc(&text, ']');
    return text.data;
}

/* "[0,0,1,1]": which layers attend to a window; NULL: all. */
static const char *layers_with_window(const launch_job *j, dse_arena *a)
{
    dse_strbuf text;

    if (j->full_attention_every)
        return number(a, j->full_attention_every);
    if (!j->windowed_layers)
        return NULL;
    text = dse_strbuf_in(a);
    for (uint64_t i = 0; i < j->layers; i++)
        dse_strbuf_addf(&text, "%c%d", i ? ',' : '[', i + j->windowed_layers >= j->layers);
    dse_strbuf_addc(&text, ']');
    return text.data;
}

static void set_experts(const launch_job *j, dse_arena *a, launch_facts *f)
{
    if (!j->experts)
        return;
    f->experts = number(a, j->experts);
    f->topk = number(a, j->topk);
    f->ep = number(a, j->ep);
    f->etp = number(a, j->etp);
    f->with_experts = "on";
    f->expert_ffn = number_if(a, j->expert_ffn, j->expert_ffn);
    f->shared_ffn = number_if(a, j->shared_ffn, j->shared_ffn);
    f->expert_layers = layers_with_experts(j, a);
    f->router = j->has_sigmoid_router ? "sigmoid" : "softmax";
    f->groups = number_if(a, j->groups, j->groups);
    f->top_groups = number_if(a, j->groups, j->top_groups);
    f->dispatch = choice(&j->point, STRATEGY_dispatch);
    f->relays = strcmp(f->dispatch, "deepep") ? NULL : "on";
    f->ep_overlap = j->point.ep_overlap ? choice(&j->point, STRATEGY_ep_overlap) : NULL;
    f->dropless = j->capacity_percent ? NULL : "on";
    f->capacity = j->capacity_percent ? dse_arena_printf(a, "%.15g", j->capacity_percent / 100.0) : NULL;
    f->pads = j->capacity_percent ? on_off(j->pads_capacity) : NULL;
}

static void set_latents(const launch_job *j, dse_arena *a, launch_facts *f)
{
    if (!j->kv_rank)
        return;
    f->latent = "on";
    f->head_size = NULL;
    f->q_rank = number_if(a, j->q_rank, j->q_rank);
    f->kv_rank = number(a, j->kv_rank);
    f->plain_size = number(a, j->plain_size);
    f->rotated_size = number(a, j->rotated_size);
    f->value_size = number(a, j->value_size);
}

static void set_model(const launch_job *j, dse_arena *a, launch_facts *f)
{
    static const char *const activations[] = {[LAUNCH_GELU] = "gelu",
                                              [LAUNCH_SWIGLU] = "swiglu",
                                              [LAUNCH_SQUARED_RELU] = "squared-relu",
                                              [LAUNCH_OTHER_ACTIVATION] = NULL};

    f->layers = number(a, j->layers);
    f->mtp_layers = number_if(a, j->mtp_layers, j->mtp_layers);
    f->hidden = number(a, j->hidden);
    f->ffn = number(a, j->ffn);
    f->heads = number(a, j->heads);
    f->grouped = on_off(j->kv_heads != j->heads);
    f->kv_heads = number_if(a, j->kv_heads != j->heads, j->kv_heads);
    f->head_size = number_if(a, j->head_size * j->heads != j->hidden, j->head_size);
    f->vocabulary = number(a, j->vocabulary);
    f->sequence = number(a, j->sequence);
    f->positions = j->is_rotary ? "rotary" : j->has_positions ? "table" : "none";
    f->rotary_base =
        j->is_rotary && !isnan(j->rotary_base) ? dse_arena_printf(a, "%.15g", j->rotary_base) : NULL;
    f->activation = activations[j->activation];
    f->norm = j->is_rms ? "rms" : "layer";
    f->biases = on_off(j->has_biases);
    f->qkv_bias = on_off(j->has_qkv_bias && !j->has_biases);
    f->qk_norm = on_off(j->has_qk_norm || j->kv_rank); /* the norms of latents are there by the same option */
    f->sinks = j->has_sinks ? "on" : NULL;
    if (j->window) {
        f->window = dse_arena_printf(a, "%" PRIu64 ",0", j->window - 1);
        f->window_list = dse_arena_printf(a, "[%s]", f->window);
        f->windowed = layers_with_window(j, a);
    }
    f->tied = on_off(j->is_tied);
    f->dropout = on_off(j->has_dropout);
    set_experts(j, a, f);
    set_latents(j, a, f);
}

static void set_batch(const launch_job *j, dse_arena *a, launch_facts *f)
{
    const uint64_t of_rank = j->batch / j->point.dp;

    f->batch = number(a, j->batch);
    f->micro_batch = number(a, j->point.micro_batch);
    f->micro_batches = number(a, of_rank / j->point.micro_batch);
    f->local_batch = number(a, j->point.pp > 1 ? of_rank : j->point.micro_batch);
    f->stage_batch = j->point.pp > 1 ? f->micro_batch : NULL;
    f->stage_batches = j->point.pp > 1 ? f->micro_batches : NULL;
    f->micro_tokens = number(a, j->point.micro_batch * j->sequence);
    f->batch_tokens = number(a, j->batch * j->sequence);
}

/* "Et*7|t*8|t*5L" */
static const char *letters_of(const launch_job *j, dse_arena *a)
{
    dse_strbuf text = dse_strbuf_in(a);

    for (uint32_t i = 0; i < j->n_laid_out; i++) {
        dse_strbuf_adds(&text, i ? "|" : "E");
        if (j->laid_out[i])
            dse_strbuf_addf(&text, j->laid_out[i] > 1 ? "t*%" PRIu32 : "t", j->laid_out[i]);
    }
    for (uint32_t i = 0; i < j->mtp_layers; i++)
        dse_strbuf_addc(&text, 'm');
    dse_strbuf_addc(&text, 'L');
    return text.data;
}

static void set_degrees(const launch_job *j, dse_arena *a, launch_facts *f)
{
    const strategy *p = &j->point;
    const uint64_t n_stages = (uint64_t)p->pp * p->vp;
    const bool is_piped = p->pp > 1,
               ends = j->layers % n_stages != 0; /* step/buckets.c: then these are a layer each */
    const uint64_t blocks = j->layers + (ends ? 2 : 0);
    const uint64_t of_stage = blocks / n_stages, over = blocks % n_stages;

    f->tp = number(a, p->tp);
    f->pp = number(a, p->pp);
    f->cp = number(a, p->cp);
    f->sequence_parallel = p->tp > 1 ? choice(p, STRATEGY_sequence_parallel) : NULL;
    f->tp_overlap = p->tp > 1 ? on_off(!strcmp(choice(p, STRATEGY_tp_overlap), "on")) : NULL;
    f->cp_comm = p->cp > 1 ? choice(p, STRATEGY_cp_comm) : NULL;
    f->dp_replicas = number(a, p->zero == 3 ? p->replicas : p->dp);
    f->dp_shards = number(a, p->zero == 3 ? p->dp / p->replicas : 1);
    f->vp = number_if(a, p->vp > 1, p->vp);
    f->no_vp = p->vp > 1 ? NULL : "on";
    f->stage_layers = number_if(a, is_piped && !over, of_stage); /* else TorchTitan finds them itself */
    f->first_layers = number_if(a, over != 0, of_stage); /* a block more, of which one is the embedding */
    f->last_layers = number_if(a, over != 0, of_stage - 1);
    f->chunk_layers = number_if(a, p->vp > 1, of_stage);
    f->ends_count = is_piped ? on_off(ends && !over) : NULL;
    f->end_layers = is_piped ? ends ? "1" : "0" : NULL;
    f->schedule = !is_piped ? NULL : !p->schedule && p->vp > 1 ? "interleaved" : choice(p, STRATEGY_schedule);
    if (j->n_laid_out > 1) {
        f->layout = letters_of(j, a);
        f->stage_layers = f->first_layers = f->last_layers = f->chunk_layers = f->ends_count = NULL;
    }
    f->group = number_if(a, p->group_size && p->group_size != p->pp, p->group_size);
    f->overlap_p2p = p->vp > 1 ? on_off(strcmp(choice(p, STRATEGY_overlap_p2p), "off") != 0) : NULL;
    f->one_stage = is_piped ? NULL : "on";
}

static void set_sharding(const strategy *p, dse_arena *a, launch_facts *f)
{
    const char *overlap = choice(p, STRATEGY_overlap); /* "on", "off", "gradients" */

    f->zero = number(a, p->zero);
    f->shards_optimizer = on_off(p->zero > 0);
    f->fully_sharded = on_off(p->zero > 1);
    f->full_sharding = number_if(a, p->zero > 1, p->zero);
    f->replicas = number_if(a, p->replicas > 1, p->replicas);
    f->shard_ranks = number_if(a, p->replicas > 1, (uint64_t)p->dp * p->cp / p->replicas);
    f->reshard = choice(p, STRATEGY_reshard);
    f->overlap_gradients = on_off(strcmp(overlap, "off") != 0);
    f->overlap_parameters = on_off(!strcmp(overlap, "on") && p->zero > 0);
}

/* Megatron's words, with a character between them. */
static const char *modules(const strategy *p, char between, dse_arena *a)
{
    char text[STRATEGY_VALUE_MAX];

    strategy_print(&strategy_parameters[STRATEGY_recompute_modules], p->recompute_modules, text);
    for (char *c = text; *c; c++)
        *c = *c == '-' ? '_' : *c == '+' ? between : *c;
    return dse_arena_strdup(a, text);
}

static void set_recompute(const strategy *p, dse_arena *a, launch_facts *f)
{
    const bool is_full = !strcmp(choice(p, STRATEGY_recompute_granularity), "full");
    const bool is_part = p->recompute_layers > 0;

    f->recompute = choice(p, STRATEGY_recompute_granularity);
    if (!strcmp(f->recompute, "selective")) {
        f->recompute_modules = modules(p, ' ', a);
        f->recompute_list = dse_arena_printf(a, "[%s]", modules(p, ',', a));
    }
    f->recompute_method = is_full ? is_part ? "block" : "uniform" : NULL;
    f->recompute_count = number_if(a, is_full, is_part ? p->recompute_layers : 1);
    f->checkpoints = !is_full                 ? f->recompute_modules ? "operators" : "none"
                     : p->recompute_every > 1 ? "layers"
                                              : "full";
    f->stops_early = on_off(p->recompute_end);
    f->checkpoint_every =
        f->recompute_modules ? "op" : number_if(a, is_full && p->recompute_every > 1, p->recompute_every);
}

static void set_numbers(const launch_job *j, launch_facts *f)
{
    static const char *const precisions[] = {[LAUNCH_FP32] = "fp32",
                                             [LAUNCH_MIXED] = "mixed",
                                             [LAUNCH_BF16] = "bf16",
                                             [LAUNCH_OTHER_PRECISION] = "mixed"};
    const char *recipe = choice(&j->point, STRATEGY_fp8_recipe);
    const bool is_fp4 = !strcmp(recipe, "nvfp4"), is_low = strcmp(recipe, "none") != 0;

    f->precision = precisions[j->precision];
    f->bf16 = on_off(j->precision != LAUNCH_FP32);
    f->fp8 = is_low && !is_fp4 ? recipe : NULL;
    f->fp4 = is_fp4 ? recipe : NULL;
    f->low_recipe = j->precision == LAUNCH_FP32 ? "fp32" : recipe;
    f->fp8_params = f->fp8 ? choice(&j->point, STRATEGY_fp8_params) : NULL;
    f->scaled_alone = j->point.fp8_params ? NULL : f->fp8;
    f->attention = choice(&j->point, STRATEGY_attention);
    f->fuses_attention = on_off(strcmp(f->attention, "unfused") != 0);
}

void launch_facts_of(const launch_job *j, dse_arena *a, launch_facts *out)
{
    *out = (launch_facts){0};
    set_model(j, a, out);
    set_batch(j, a, out);
    set_degrees(j, a, out);
    set_sharding(&j->point, a, out);
    set_recompute(&j->point, a, out);
    set_numbers(j, out);
}
