#include "driver/stage_main.h"

#include "base/array.h"

#include <inttypes.h>
#include <string.h>

/* ---- what cannot be expressed ---------------------------------------------------------------- */

/* Keys of a model card that main has nothing for, where they say more than 0, and what to say instead. */
static dse_status check_model(const card_model *m, dse_error *err)
{
    const struct {
        const char *key;
        bool says_more;
        const char *remedy;
    } keys[] = {{"head_dim", m->head_dim && m->head_dim * m->heads != m->d_model, "0"},
                {"kv_lora_rank", m->kv_lora_rank != 0, "0"},
                {"embedding_width", m->embedding_width && m->embedding_width != m->d_model, "0"},
                {"shared_experts", m->shared_experts != 0, "0"},
                {"first_dense_layers", m->first_dense_layers != 0, "0"},
                {"expert_every", m->expert_every > 1, "0"},
                {"gate", m->experts && m->gate, "no"}};

    for (size_t i = 0; i < DSE_COUNT(keys); i++)
        if (keys[i].says_more)
            return dse_fail(
                err, DSE_E_CONFIG,
                "STAGE's branch main has no '%s'; give --set %s=%s to do without, or profile train",
                keys[i].key, keys[i].key, keys[i].remedy);
    return DSE_OK;
}

static dse_status find_model(const card_model *m, wl_main_model *out, dse_error *err)
{
    const bool is_transformer = !strcmp(m->operators, "transformer");

    if (is_transformer || (!strcmp(m->operators, "decoder") && m->experts)) {
        *out = is_transformer ? WL_MAIN_DENSE : WL_MAIN_MOE;
        return DSE_OK;
    }
    for (*out = 0; *out < WL_MAIN_N_MODELS; ++*out)
        if (!strcmp(wl_main_models[*out], m->operators))
            return DSE_OK;
    return dse_fail(
        err, DSE_E_CONFIG,
        "STAGE's branch main has no operators '%s'; give --set operators=dense, gpt, llama, moe or "
        "debug",
        m->operators);
}

static dse_status find_precision(const card_model *m, bool *is_mixed, dse_error *err)
{
    const wl_precision p = card_model_precision(m);

    *is_mixed = card_model_is_mixed(m);
    return *is_mixed || !wl_in_bytes(&p)
               ? DSE_OK
               : dse_fail(
                     err, DSE_E_CONFIG,
                     "STAGE's branch main has no precision but mixed and none; give --set precision=mixed "
                     "or none");
}

/* Heads and experts, of which a template may have none. */
static dse_status check_template(const card_model *m, const wl_main_options *o, dse_error *err)
{
    const bool has_experts = o->model_type == WL_MAIN_MOE;

    if (o->model_type == WL_MAIN_DEBUG)
        return DSE_OK;
    if (m->kv_heads && m->kv_heads != m->heads && !wl_stage_main_groups_heads(o))
        return dse_fail(err, DSE_E_CONFIG,
                        "kv_heads %" PRId64
                        ": STAGE's branch main groups heads in moe, and in dense and llama with "
                        "mixed precision; give --set precision=mixed, or kv_heads=0 for one a head",
                        m->kv_heads);
    if (!has_experts && m->experts)
        return dse_fail(err, DSE_E_CONFIG,
                        "experts %" PRId64 ": of STAGE's branch main moe alone has experts; give --set "
                        "operators=moe, or experts=0",
                        m->experts);
    if (has_experts && (!m->experts || !m->experts_per_token))
        return dse_fail(err, DSE_E_CONFIG,
                        "STAGE's template moe needs experts; give --set experts=8 --set experts_per_token=2");
    return DSE_OK;
}

/* Parameters of the strategy that main has in another place, or not. */
static dse_status check_strategy(const strategy *p, const wl_main_options *o, dse_error *err)
{
    const bool is_moe = o->model_type == WL_MAIN_MOE;
    const struct {
        bool refused;
        const char *text;
    } rules[] = {{p->micro_batch != 1,
                  "micro_batch is of a rank: STAGE counts micro-batches over all ranks; give --set "
                  "stage.micro_batch=N"},
                 {p->cp != 1, "STAGE's branch main calls context parallelism sp; give --sp"},
                 {p->recompute, "STAGE's branch main makes nothing again: recompute has no effect there"},
                 {p->placement || p->stages,
                  "STAGE's branch main has one placement, and its own stages; leave them out"},
                 {p->sequence_parallel && wl_stage_main_groups_heads(o),
                  "STAGE's templates with grouped heads split by tokens always; give --sequence-parallel on"},
                 {p->ep > 1 && !is_moe && o->model_type != WL_MAIN_DEBUG,
                  "STAGE's dense templates take ep for tp; give --tp, and --ep 1"},
                 {p->dp % p->ep != 0, "ep divides dp, as experts are spread over the dp ranks"}};

    for (size_t i = 0; i < DSE_COUNT(rules); i++)
        if (rules[i].refused)
            return dse_fail(err, DSE_E_RANGE, "%s", rules[i].text);
    return strategy_check(p, STRATEGY_PROFILE_STAGE | STRATEGY_PROFILE_MAIN, err);
}

/* ---- options --------------------------------------------------------------------------------- */

dse_status drv_stage_main_options(const drv_study *s, const strategy *p, wl_main_options *out, dse_error *err)
{
    const card_model *m = &s->model;
    wl_main_options o = {.tp = p->tp,
                         .sp = p->sp,
                         .ep = p->ep,
                         .pp = p->pp,
                         .dvocal = m->vocabulary,
                         .dmodel = m->d_model,
                         .dff = m->d_ff,
                         .batch = m->batch,
                         .micro_batch = m->stage_micro_batch ? m->stage_micro_batch : m->batch,
                         .seq = m->sequence,
                         .head = m->heads,
                         .kvhead = m->kv_heads ? m->kv_heads : m->heads,
                         .num_stacks = m->layers,
                         .experts = m->experts ? m->experts : 1,
                         .kexperts = m->experts_per_token ? m->experts_per_token : 1,
                         .weight_sharded = p->weight_sharded,
                         .tpsp = !p->sequence_parallel, /* its first choice is on */
                         .tag_base = s->tag_base};
    dse_status st;

    if ((st = find_model(m, &o.model_type, err)) != DSE_OK ||
        (st = find_precision(m, &o.mixed_precision, err)) != DSE_OK || (st = check_model(m, err)) != DSE_OK ||
        (st = check_template(m, &o, err)) != DSE_OK || (st = check_strategy(p, &o, err)) != DSE_OK)
        return st;
    o.dp = p->dp / p->ep;
    if (o.model_type == WL_MAIN_MOE && m->d_ff_expert)
        o.dff = m->d_ff_expert;
    *out = o;
    return wl_stage_main_check(&o, err);
}

size_t drv_stage_main_words(const wl_main_options *o, dse_arena *a, const char **word)
{
    const struct {
        const char *option;
        int64_t v;
    } numbers[] = {{"--dp", o->dp},           {"--tp", o->tp},
                   {"--sp", o->sp},           {"--ep", o->ep},
                   {"--pp", o->pp},           {"--dvocal", o->dvocal},
                   {"--dmodel", o->dmodel},   {"--dff", o->dff},
                   {"--batch", o->batch},     {"--micro_batch", o->micro_batch},
                   {"--seq", o->seq},         {"--head", o->head},
                   {"--kvhead", o->kvhead},   {"--num_stacks", o->num_stacks},
                   {"--experts", o->experts}, {"--kexperts", o->kexperts}};
    const struct {
        const char *option;
        bool on;
    } switches[] = {{"--weight_sharded", o->weight_sharded},
                    {"--tpsp", o->tpsp},
                    {"--mixed_precision", o->mixed_precision}};
    size_t n = 0;

    word[n++] = "--model_type";
    word[n++] = wl_main_models[o->model_type];
    for (size_t i = 0; i < DSE_COUNT(numbers); i++) {
        word[n++] = numbers[i].option;
        word[n++] = dse_arena_printf(a, "%" PRId64, numbers[i].v);
    }
    for (size_t i = 0; i < DSE_COUNT(switches); i++) {
        word[n++] = switches[i].option;
        word[n++] = switches[i].on ? "true" : "false";
    }
    return n;
}

/* ---- the workload ---------------------------------------------------------------------------- */

/* dp counts fastest, then tp, sp, ep; then the stages. */
static mesh mesh_of(const wl_main_options *o, const strategy *p, dse_arena *a)
{
    mesh_axis *axis = DSE_ARENA_NEW(a, mesh_axis, STRATEGY_N_AXES);
    const mesh plain = strategy_mesh(p, a);
    const uint32_t dp = (uint32_t)o->dp, tp = (uint32_t)o->tp, sp = (uint32_t)o->sp;

    memcpy(axis, plain.axis, STRATEGY_N_AXES * sizeof *axis);
    axis[STRATEGY_AXIS_dp].degree = dp;
    axis[STRATEGY_AXIS_dp].stride = 1;
    axis[STRATEGY_AXIS_tp].stride = dp;
    axis[STRATEGY_AXIS_sp].stride = dp * tp;
    axis[STRATEGY_AXIS_pp].stride = dp * tp * sp * (uint32_t)o->ep;
    return (mesh){STRATEGY_N_AXES, axis};
}

dse_status drv_stage_main_generate(const drv_study *s, const strategy *p, dse_arena *a, wl_workload *out,
                                   dse_error *err)
{
    wl_main_options *o = DSE_ARENA_NEW(a, wl_main_options, 1);
    dse_status st;

    if ((st = drv_stage_main_options(s, p, o, err)) == DSE_OK &&
        (st = wl_stage_main_generate(o, a, out, NULL, err)) == DSE_OK)
        out->mesh = mesh_of(o, p, a);
    return st;
}
