#include "driver/training.h"

#include "base/array.h"
#include "cards/device.h"
#include "cards/imbalance.h"
#include "driver/mfu.h"
#include "driver/programs.h"
#include "driver/recipe.h"
#include "step/buckets.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Formats that kernels have, and one for what is computed and what is sent. */
static dse_status check_precision(const drv_study *s, dse_error *err)
{
    const wl_precision p = card_model_precision(&s->model);
    const double bytes[] = {p.weights, p.activations, p.gradients};
    bool known = p.messages == p.activations;

    for (size_t i = 0; i < DSE_COUNT(bytes); i++)
        known = known && (bytes[i] == 2 || bytes[i] == 4);
    return known ? DSE_OK
                 : dse_fail(err, DSE_E_CONFIG,
                            "%s: profile train takes weights, activations and gradients of 2 or 4 bytes, and "
                            "messages as activations; give precision mixed, bf16 or fp32",
                            s->model_name);
}

/* What follows the layers, and how stages share them. */
static dse_status end_model(const card_model *card, dse_arena *a, step_model *m, dse_error *err)
{
    dse_status st;

    if (card->mtp_layers)
        step_model_add_mtp(m, (uint32_t)card->mtp_layers, a);
    if (*card->pipeline_layout && (st = step_model_lay_out(m, card->pipeline_layout, a, err)) != DSE_OK)
        return st;
    return *card->recompute_layout ? step_model_recompute(m, card->recompute_layout, a, err) : DSE_OK;
}

dse_status drv_training_make(drv_study *s, dse_arena *a, dse_error *err)
{
    drv_training *t = DSE_ARENA_NEW(a, drv_training, 1);
    wl_symbols symbols;
    cfg_doc layers;
    dse_status st;

    s->training = NULL;
    if (card_model_check(&s->model, s->model_name, NULL) != DSE_OK)
        return DSE_OK;
    if ((st = check_precision(s, err)) != DSE_OK ||
        (st = card_model_symbols(&s->model, &s->operators, &symbols, err)) != DSE_OK ||
        (st = card_model_layers(&s->model, &s->operators, a, &layers, err)) != DSE_OK ||
        (st = step_model_read(&layers, &symbols, (uint32_t)s->model.layers, a, &t->model, err)) != DSE_OK ||
        (st = card_system_build(&s->system, &t->net, &t->settings, err)) != DSE_OK ||
        (st = card_system_load_tables(&s->system, &s->tables, &t->settings, err)) != DSE_OK)
        return st;
    t->model.is_tied = s->model.tied_embeddings;
    if ((st = card_imbalance_read(&s->model, a, &t->share, err)) != DSE_OK)
        return st;
    t->even = t->model;
    if (t->share && ((st = step_model_spread(&t->model, t->share, a, err)) != DSE_OK ||
                     (st = end_model(&s->model, a, &t->even, err)) != DSE_OK))
        return st;
    if ((st = end_model(&s->model, a, &t->model, err)) != DSE_OK)
        return st;
    if (!t->share)
        t->even = t->model;
    t->clock = step_clock_new(&t->settings, &t->net, a);
    s->training = t;
    return DSE_OK;
}

/* Choices of the strategy. */
enum { CAPACITY_DEFAULT, CAPACITY_NONE, CAPACITY_PADDED, CAPACITY_DROPPED };

/* ---- a point ----------------------------------------------------------------------------------- */

/* The schedule of a choice, which has the schedule's name, in the spelling of values; the first is 1f1b. */
static const sched_def *chosen_schedule(const strategy *p)
{
    char name[STRATEGY_VALUE_MAX];

    if (!p->schedule)
        return sched_find(p->vp > 1 ? "interleaved" : "1f1b");
    strategy_print(&strategy_parameters[STRATEGY_schedule], p->schedule, name);
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return sched_find(name);
}

/* Without a pipeline each micro-batch goes forward and backward before the next. */
static const sched_def *schedule_of(const strategy *p)
{
    return p->pp == 1 ? sched_find("1f1b") : chosen_schedule(p);
}

/* Megatron-LM splits experts as it does other matrices unless it is told otherwise; the others do not. */
static uint32_t etp_of(const strategy *p) { return p->etp ? p->etp : p->like == DRV_MEGATRON ? p->tp : 1; }

/* DeepSpeed's gates have a limit, and buffers of that size (deepspeed/moe/sharded_moe.py: drop_tokens,
 * capacity_factor 1); the others drop nothing. */
static step_capacity capacity_of(const strategy *p)
{
    static const step_capacity said[] = {[CAPACITY_NONE] = STEP_CAPACITY_NONE,
                                         [CAPACITY_PADDED] = STEP_CAPACITY_PAD,
                                         [CAPACITY_DROPPED] = STEP_CAPACITY_DROP};

    if (p->capacity == CAPACITY_DEFAULT)
        return p->like == DRV_DEEPSPEED ? STEP_CAPACITY_PAD : STEP_CAPACITY_NONE;
    return said[p->capacity];
}

/* The mean over the layers with experts; those that the file does not list are even. */
static double mean_imbalance(const drv_study *s, uint32_t ep)
{
    double sum = 0;
    int64_t n = 0;

    for (int64_t i = 0; i < s->model.layers; i++) {
        const double *share = s->training->share[i];

        if (!card_model_has_experts_in(&s->model, i))
            continue;
        sum += share ? card_imbalance_of(share, (uint32_t)s->model.experts, ep) : 1;
        n++;
    }
    return n ? sum / (double)n : 1;
}

/* Of a dense model nothing. */
static void set_experts(const drv_study *s, const strategy *p, step_options *o)
{
    if (!s->model.experts)
        return;
    o->ep = p->ep;
    o->etp = etp_of(p);
    o->dispatch = (step_dispatch)p->dispatch;
    o->capacity = capacity_of(p);
    o->capacity_percent = p->capacity_percent;
    o->overlaps_shared = p->ep_overlap == DRV_OVERLAPS_SHARED;
    o->imbalance = card_imbalance(&s->model, p->ep); /* of a file 1: its layers have it */
    o->near_ranks = p->dispatch == STEP_DISPATCH_DEEPEP ? (uint32_t)s->system.npus_count.v[0] : 1;
}

step_options drv_training_options(const drv_study *s, const strategy *p)
{
    const wl_precision own = card_model_precision(&s->model);
    uint64_t at_once = (uint64_t)p->dp * p->micro_batch;
    step_options o = {.dp = p->dp,
                      .tp = p->tp,
                      .cp = p->cp,
                      .pp = p->pp,
                      .vp = p->vp,
                      .directions = sched_directions(schedule_of(p)),
                      .micro_batch = p->micro_batch,
                      .n_micro_batches = (uint32_t)((uint64_t)s->model.batch / at_once),
                      .sequence_parallel = p->tp > 1 && !p->sequence_parallel, /* on, off */
                      .context = (step_context)p->cp_comm,
                      .recompute =
                          p->recompute ? STEP_RECOMPUTE_FULL : (step_recompute)p->recompute_granularity,
                      .recompute_modules = p->recompute_modules,
                      .recompute_layers = p->recompute_layers,
                      .recompute_every = p->recompute_every,
                      .zero = p->zero,
                      .replicas = p->replicas,
                      .activation_bytes = own.activations,
                      .weight_bytes = own.weights,
                      .kept_weight_bytes = own.weights,
                      .gradient_bytes = own.gradients,
                      .reduce_bytes = own.gradients,
                      .optimizer_bytes = own.optimizer};

    set_experts(s, p, &o);
    drv_recipe_set(p, &o);
    drv_program_set_habits(p, schedule_of(p) == sched_find("1f1b"), card_model_is_mixed(&s->model), &o);
    return o;
}

static sched_options schedule_options(const strategy *p, const step_options *o)
{
    const bool overlaps = p->ep_overlap == DRV_OVERLAPS_MICRO_BATCHES;

    return (sched_options){.pp = p->pp,
                           .micro_batches = o->n_micro_batches,
                           .vp = step_has_copies(o) ? 0 : o->vp, /* two chunks, of one stage each way */
                           .group_size = p->group_size,
                           .overlap_moe = overlaps,
                           .overlap_pairs = overlaps,
                           .like = drv_program_like(p)};
}

/* Refuses what the point's program has not, in the words of the option, with those that it has. */
static dse_status check_program_has(const strategy *p, const sched_def *chosen, dse_error *err)
{
    const strategy_parameter *row = &strategy_parameters[STRATEGY_schedule];
    const char *of = strategy_parameters[STRATEGY_like].choices[p->like];
    strategy other = {.vp = 1};
    char known[128];
    size_t n = 0;

    if (sched_has(chosen, drv_program_like(p)))
        return DSE_OK;
    for (other.schedule = 0; row->choices[other.schedule]; other.schedule++)
        if (sched_has(chosen_schedule(&other), drv_program_like(p)))
            n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "",
                                  row->choices[other.schedule]);
    return dse_fail(err, DSE_E_RANGE, "%s has no schedule '%s'; known: %s", of, row->choices[p->schedule],
                    known);
}

/* What only experts have. */
static dse_status check_experts(const drv_study *s, const strategy *p, dse_error *err)
{
    for (uint32_t i = 0; i < STRATEGY_N && !s->model.experts; i++) {
        const strategy_parameter *row = &strategy_parameters[i];
        char value[STRATEGY_VALUE_MAX];

        if (row->of_experts && strategy_get(p, i) != row->fallback)
            return dse_fail(err, DSE_E_RANGE, "%s %s, but %s has no experts; leave it out", row->name,
                            strategy_print(row, strategy_get(p, i), value), s->model_name);
    }
    if (p->ep_overlap == DRV_OVERLAPS_MICRO_BATCHES && s->model.mtp_layers > 1)
        return dse_fail(err, DSE_E_RANGE,
                        "ep_overlap micro-batches with mtp_layers %" PRId64
                        ": Megatron has one such layer then; take --mtp 1, or ep_overlap off",
                        s->model.mtp_layers);
    if (p->ep_overlap == DRV_OVERLAPS_SHARED && !s->model.shared_experts)
        return dse_fail(err, DSE_E_RANGE,
                        "ep_overlap shared, but %s has no shared experts; take ep_overlap off",
                        s->model_name);
    return DSE_OK;
}

/* Each part that is to be made again is one of a layer. */
static dse_status check_parts(const drv_study *s, const strategy *p, dse_error *err)
{
    const strategy_parameter *row = &strategy_parameters[STRATEGY_recompute_modules];
    const uint32_t parts = p->recompute_modules;

    if (parts != row->fallback && p->recompute_granularity != STEP_RECOMPUTE_SELECTIVE)
        return dse_fail(err, DSE_E_RANGE,
                        "recompute_modules needs recompute_granularity selective; take that, or leave it "
                        "out");
    for (uint32_t i = 0; parts != row->fallback && row->choices[i]; i++)
        if (parts >> i & 1 && !step_model_has_part(&s->training->model, 1u << i))
            return dse_fail(err, DSE_E_RANGE,
                            "recompute_modules %s, but no layer of %s has such modules; leave it out",
                            row->choices[i], s->model_name);
    return DSE_OK;
}

/* What the schedule's own conditions (sched_check) and the step's (step_check) do not know. */
static dse_status check_schedule(const strategy *p, const step_model *m, dse_error *err)
{
    const sched_def *chosen = chosen_schedule(p);
    const uint32_t chunks = sched_directions(chosen) > 1 ? 1 : sched_default_vp(chosen);
    dse_status st;

    if (p->zero == 0 && p->replicas > 1)
        return dse_fail(err, DSE_E_RANGE,
                        "replicas need something that is sharded; take zero 1 or above, or replicas 1");
    if (p->pp == 1 && p->schedule)
        return dse_fail(err, DSE_E_RANGE, "schedule %s needs a pipeline; take pp above 1",
                        sched_name(chosen));
    if (p->schedule && (st = check_program_has(p, chosen, err)) != DSE_OK)
        return st;
    if (sched_directions(chosen) > 1 && p->vp != 1)
        return dse_fail(
            err, DSE_E_RANGE,
            "schedule %s has pp stages, of which each rank holds one for either direction; take vp 1",
            sched_name(chosen));
    if (chunks == 2 && p->vp != chunks)
        return dse_fail(err, DSE_E_RANGE, "schedule %s has two chunks on each rank; take vp 2",
                        sched_name(chosen));
    if (p->recompute_granularity != STEP_RECOMPUTE_FULL && (p->recompute_every > 1 || p->recompute_layers))
        return dse_fail(err, DSE_E_RANGE, "%s needs recompute_granularity full; take that, or leave it out",
                        p->recompute_every > 1 ? "recompute_every" : "recompute_layers");
    return drv_program_check(p, m, err);
}

void drv_training_fill_dp(const drv_study *s, strategy *p)
{
    const uint64_t npus = card_system_npus(&s->system);
    uint64_t others;

    p->dp = 1;
    others = strategy_ranks(p);
    if (others <= npus && npus % others == 0)
        p->dp = (uint32_t)(npus / others);
}

void drv_training_settle(strategy *p)
{
    const struct {
        bool has_no_effect;
        uint32_t parameter;
    } rows[] = {
        {p->zero == 3, STRATEGY_overlap}, /* FSDP gathers and reduces beside the passes */
        {p->zero != 3 || p->dp * p->cp == 1, STRATEGY_sync},
        {p->zero != 3 || p->dp * p->cp == 1, STRATEGY_reshard},
        {p->pp == 1, STRATEGY_overlap_p2p},
        {p->tp == 1, STRATEGY_sequence_parallel},
        {p->tp == 1, STRATEGY_tp_overlap},
        {p->cp == 1, STRATEGY_cp_comm},
        {!p->fp8_recipe, STRATEGY_fp8_params},
        {p->like != DRV_TORCHTITAN || (p->recompute_granularity == STEP_RECOMPUTE_NONE && !p->recompute) ||
             (p->recompute_granularity == STEP_RECOMPUTE_SELECTIVE &&
              !(p->recompute_modules & STEP_AGAIN_MLP)),
         STRATEGY_recompute_end},
        {p->ep == 1 && p->etp <= 1, STRATEGY_dispatch},
        {p->ep == 1, STRATEGY_ep_overlap},
        {p->capacity < CAPACITY_PADDED && p->like != DRV_DEEPSPEED, STRATEGY_capacity_percent},
    };

    if (p->recompute)
        p->recompute_granularity = STEP_RECOMPUTE_FULL;
    p->recompute = 0;
    for (size_t i = 0; i < DSE_COUNT(rows); i++)
        if (rows[i].has_no_effect)
            strategy_set(p, rows[i].parameter, strategy_parameters[rows[i].parameter].fallback);
}

dse_status drv_training_check_ranks(const drv_study *s, const strategy *p, dse_error *err)
{
    const uint64_t npus = card_system_npus(&s->system), others = strategy_ranks(p) / p->dp;
    uint64_t below = others < npus ? others : npus, above = others;
    char or_above[32] = "";

    if (others <= npus && npus % others == 0) {
        if (p->dp == npus / others)
            return DSE_OK;
        return dse_fail(err, DSE_E_RANGE,
                        "dp %" PRIu32 " x tp %" PRIu32 " x cp %" PRIu32 " x pp %" PRIu32 " = %" PRIu64
                        ", but %s has %" PRIu64 " NPUs; take dp %" PRIu64,
                        p->dp, p->tp, p->cp, p->pp, strategy_ranks(p), s->system_name, npus, npus / others);
    }
    while (npus % below)
        below--;
    while (above < npus && npus % above)
        above++;
    if (above <= npus)
        snprintf(or_above, sizeof or_above, " or %" PRIu64, above);
    return dse_fail(err, DSE_E_RANGE,
                    "tp %" PRIu32 " x cp %" PRIu32 " x pp %" PRIu32 " = %" PRIu64
                    " does not divide the %" PRIu64 " NPUs of %s; take a product of %" PRIu64 "%s",
                    p->tp, p->cp, p->pp, others, npus, s->system_name, below, or_above);
}

dse_status drv_training_check(const drv_study *s, const strategy *p, dse_error *err)
{
    uint64_t at_once = (uint64_t)p->dp * p->micro_batch;
    dse_error why = DSE_ERROR_INIT;
    sched_options order;
    step_options o;
    dse_status st;

    if (s->model.batch > UINT32_MAX)
        return dse_fail(err, DSE_E_RANGE,
                        "a batch of %" PRId64 " sequences is more than the %" PRIu32 " that a step can have",
                        s->model.batch, UINT32_MAX);
    if (at_once > (uint64_t)s->model.batch)
        return dse_fail(err, DSE_E_RANGE,
                        "dp %" PRIu32 " x micro-batch %" PRIu32 " is more than the batch of %" PRId64
                        " sequences",
                        p->dp, p->micro_batch, s->model.batch);
    o = drv_training_options(s, p);
    order = schedule_options(p, &o);
    if ((st = check_experts(s, p, err)) != DSE_OK || (st = check_parts(s, p, err)) != DSE_OK ||
        (st = check_schedule(p, &s->training->model, err)) != DSE_OK ||
        (st = drv_recipe_check(p, &o, &s->training->settings, s->system.device, err)) != DSE_OK ||
        (st = step_check(&s->training->model, &o, (uint32_t)s->model.batch, err)) != DSE_OK)
        return st;
    st = sched_check(schedule_of(p), &order, err ? &why : NULL);
    return st == DSE_OK || !err
               ? st
               : dse_fail(err, st, "%s%s", why.text,
                          strstr(why.text, "--micro-batches") ? " (the batch over dp x micro-batch)" : "");
}

/* ---- the space --------------------------------------------------------------------------------- */

static void set_values(design_axis *out, uint32_t n, const uint32_t *value)
{
    if (out->n)
        return;
    out->n = n;
    memcpy(out->value, value, n * sizeof *value);
}

/* 1, 2, 4 .. up to `most`, of those that divide `whole`. */
static void set_powers(design_axis *out, uint64_t most, uint64_t whole)
{
    uint32_t value[32], n = 0;

    for (uint64_t v = 1; v <= most && n < 32; v *= 2)
        if (whole % v == 0)
            value[n++] = (uint32_t)v;
    set_values(out, n, value);
}

/* Divisors of `whole` up to `most` that divide `also`. */
static void set_divisors(design_axis *out, uint64_t most, uint64_t whole, uint64_t also)
{
    uint32_t value[DESIGN_MAX_VALUES], n = 0;

    for (uint64_t v = 1; v <= most && v <= whole && n < DESIGN_MAX_VALUES; v++)
        if (whole % v == 0 && also % v == 0)
            value[n++] = (uint32_t)v;
    set_values(out, n, value);
}

static bool has_value(const design_axis *a, uint32_t value)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (a->value[i] == value)
            return true;
    return false;
}

/* Stages of which something is said one by one; 0: none. */
static uint32_t said_stages(const drv_study *s)
{
    const step_model *m = &s->training->model;

    return m->n_laid_out ? m->n_laid_out : m->n_recomputed;
}

/* What pp x vp divides: the layers, or the stages that were said. */
static uint64_t stages_of(const drv_study *s)
{
    return said_stages(s) ? said_stages(s) : (uint64_t)s->model.layers;
}

/* Stages have equal numbers of layers; where the number of layers is odd, and no power of two divides it,
 * also those with which the first and the last stage alone differ (DeepSeek-V3's 61 layers on 16). */
static void set_pipelines(design_axis *out, const drv_study *s, uint64_t npus)
{
    const uint64_t layers = stages_of(s);
    const bool is_given = out->n != 0 || said_stages(s);

    set_divisors(out, layers, layers, npus);
    for (uint32_t v = 2; !is_given && layers % 2 && v <= layers / 2 && out->n < DESIGN_MAX_VALUES; v *= 2)
        if (npus % v == 0 && step_stages_fit(&s->training->model, v, false))
            out->value[out->n++] = v;
}

static bool has_above_one(const design_axis *a) { return a->n > 1 || !has_value(a, 1); }

/* The points of both axes of recomputation, each once: as drv_training_settle has them. */
static void join_recomputation(design_axis *recompute, design_axis *granularity)
{
    design_axis joined = {0};

    for (uint32_t v = STEP_RECOMPUTE_NONE; recompute->n && v <= STEP_RECOMPUTE_FULL; v++)
        if ((has_value(recompute, 1) && v == STEP_RECOMPUTE_FULL) ||
            (has_value(recompute, 0) &&
             (granularity->n ? has_value(granularity, v) : v == STEP_RECOMPUTE_NONE)))
            joined.value[joined.n++] = v;
    if (recompute->n)
        *granularity = joined;
    recompute->n = 0;
}

#define MOST_EP       64    /* ranks over which a sweep spreads experts by itself */
#define LONG_SEQUENCE 32768 /* tokens from which on programs split a sequence */

void drv_training_axes(const drv_study *s, design_axes *axes)
{
    const uint64_t npus = card_system_npus(&s->system), layers = stages_of(s);
    const uint64_t node = (uint64_t)s->system.npus_count.v[0];
    const drv_program program = axes->of[STRATEGY_like].n ? axes->of[STRATEGY_like].value[0] : DRV_ANY;
    const uint32_t full = STEP_RECOMPUTE_FULL, all = 1;
    strategy usual = strategy_default();
    design_axis *of = axes->of;

    if (s->training->model.n_recomputed && !of[STRATEGY_recompute].n) {
        set_values(&of[STRATEGY_recompute_granularity], 1, &full);
        set_values(&of[STRATEGY_recompute_every], 1, &all);
    }
    join_recomputation(&of[STRATEGY_recompute], &of[STRATEGY_recompute_granularity]);
    set_powers(&of[STRATEGY_tp], node, npus);
    set_powers(&of[STRATEGY_cp], program != DRV_MEGATRON_2022 && s->model.sequence >= LONG_SEQUENCE ? 16 : 1,
               npus);
    set_pipelines(&of[STRATEGY_pp], s, npus);
    set_divisors(&of[STRATEGY_vp], program != DRV_DEEPSPEED && has_above_one(&of[STRATEGY_pp]) ? 8 : 1,
                 layers, layers);
    set_powers(&of[STRATEGY_ep], MOST_EP < npus ? MOST_EP : npus,
               s->model.experts ? (uint64_t)s->model.experts : 1);
    set_powers(&of[STRATEGY_micro_batch], 8, (uint64_t)s->model.batch);
    usual.like = program;
    drv_program_set_defaults(&usual, 0);
    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        uint32_t value = strategy_get(&usual, i);

        if (i == STRATEGY_dp || of[i].n || drv_program_axis(program, i, &of[i]))
            continue;
        set_values(&of[i], 1, &value);
    }
}

static dse_status run_on(const drv_study *s, const step_model *m, const step_options *o, const strategy *p,
                         step_machine machine, dse_arena *a, step_result *out, dse_error *err)
{
    const sched_options order = schedule_options(p, o);

    return step_run(m, o, schedule_of(p), &order, s->orders, s->training->clock, machine, a, out, err);
}

dse_status drv_training_on(const drv_study *s, const strategy *p, step_machine machine, dse_arena *a,
                           step_result *out, dse_error *err)
{
    dse_status st = drv_point_check(s, p, err);
    step_options o;

    if (st != DSE_OK)
        return st;
    o = drv_training_options(s, p);
    return run_on(s, &s->training->model, &o, p, machine, a, out, err);
}

static dse_status floors_of(const drv_study *s, const step_model *m, const strategy *p, step_machine machine,
                            dse_arena *a, step_floors *out, dse_error *err)
{
    const step_options o = drv_training_options(s, p);
    const sched_options order = schedule_options(p, &o);

    return step_floors_of(m, &o, schedule_of(p), &order, s->orders, s->training->clock, machine, a, out, err);
}

dse_status drv_training_floors(const drv_study *s, const strategy *p, step_machine machine, uint32_t layers,
                               dse_arena *a, step_floors *out, dse_error *err)
{
    step_model m = s->training->model;
    uint32_t *laid_out = DSE_ARENA_RAW(a, uint32_t, m.n_laid_out);

    for (uint32_t i = 0; i < m.n_laid_out; i++)
        laid_out[i] = layers || !i || i + 1 == m.n_laid_out ? layers : 1;
    m.laid_out = laid_out;
    return floors_of(s, &m, p, machine, a, out, err);
}

dse_status drv_training_own_floors(const drv_study *s, const strategy *p, step_machine machine, dse_arena *a,
                                   step_floors *out, dse_error *err)
{
    return floors_of(s, &s->training->model, p, machine, a, out, err);
}

dse_status drv_training_held(const drv_study *s, const strategy *p, dse_arena *a, drv_held *out,
                             dse_error *err)
{
    const step_options o = drv_training_options(s, p);
    const sched_options order = schedule_options(p, &o);
    const step_memory *sizes;
    const sched_ordered *ordered;
    const sched_plan *plan;
    dse_status st = sched_keeper_find(s->orders, schedule_of(p), &order, &ordered, err);

    *out = (drv_held){0};
    if (st != DSE_OK)
        return st;
    plan = &ordered->plan;
    out->is_known = plan->n_directions == 1;
    if (!out->is_known)
        return DSE_OK;
    out->n_ranks = plan->n_ranks;
    out->n_stages = plan->n_stages;
    out->stage_rank = plan->stage_rank;
    out->peak = DSE_ARENA_NEW(a, uint64_t, plan->n_ranks);
    out->bytes = DSE_ARENA_NEW(a, uint64_t, plan->n_stages);
    out->always = DSE_ARENA_NEW(a, int64_t, plan->n_ranks);
    sizes = step_memory_new(&s->training->model, &o, plan->n_stages, a);
    for (uint32_t i = 0; i < plan->n_ranks; i++) {
        step_rank_memory held;

        step_memory_of(sizes, plan, i, a, &held);
        out->peak[i] = held.peak;
        step_memory_between(sizes, plan, i, a, out->bytes, &out->always[i]);
    }
    return DSE_OK;
}

dse_status drv_training_even(const drv_study *s, const strategy *p, dse_arena *a, step_result *out,
                             dse_error *err)
{
    dse_status st = drv_point_check(s, p, err);
    step_options o;

    if (st != DSE_OK)
        return st;
    o = drv_training_options(s, p);
    o.imbalance = 1;
    return run_on(s, &s->training->even, &o, p, STEP_UNITS, a, out, err);
}

double drv_training_imbalance(const drv_study *s, const strategy *p)
{
    return !s->model.experts    ? 1
           : s->training->share ? mean_imbalance(s, p->ep)
                                : card_imbalance(&s->model, p->ep);
}

void drv_training_memory(const drv_study *s, const strategy *p, const step_result *step, uint32_t rank,
                         dse_arena *a, uint64_t *during, uint64_t *after)
{
    const step_options o = drv_training_options(s, p);

    step_memory_over(step_memory_new(&s->training->model, &o, step->plan.n_stages, a), &step->plan, rank, a,
                     during, after);
}

/* ---- what is stored ---------------------------------------------------------------------------- */

/* When the peak is reached, and what the rank then does: a forward pass adds until its end, a backward
 * pass begins with what they have left. */
static void add_peak(const step_result *r, dse_arena *a, store_metrics *out)
{
    const uint32_t at = r->memory[r->largest].at;
    const sched_action *action;

    if (at == DSE_NONE)
        return;
    action = &r->plan.action[at];
    out->peak_time = action->kind == SCHED_F ? r->times.end[at] : r->times.start[at];
    out->peak_pass = action->kind == SCHED_F ? "forward" : "backward";
    out->peak_node = dse_arena_printf(a, "micro-batch %" PRIu32 " in stage %" PRIu32, action->micro_batch,
                                      (uint32_t)action->stage);
}

/* The kinds of the stored columns that what memory holds counts as. */
static uint64_t *column_of(step_holds kind, store_metrics *m)
{
    switch (kind) {
    case STEP_HOLDS_PARAMETERS: return &m->peak_weights;
    case STEP_HOLDS_GRADIENTS:
    case STEP_HOLDS_WHOLE_GRADIENTS: return &m->peak_weight_gradients;
    case STEP_HOLDS_OPTIMIZER: return &m->peak_optimizer;
    case STEP_HOLDS_RECOMPUTED: return &m->peak_recomputed;
    case STEP_HOLDS_WORKING:
    case STEP_HOLDS_DEFERRED: return &m->peak_activation_gradients;
    case STEP_HOLDS_ACTIVATIONS:
    case STEP_HOLDS_LOGITS: return &m->peak_activations;
    default: return &m->peak_gathered; /* buffers, and what is gathered or sent */
    }
}

/* Of a step, as the card says who counts. */
static double model_operations(const drv_study *s, const strategy *p, const step_result *r)
{
    const drv_mfu *f = drv_mfu_of(&s->model, s->model_name);
    const step_model *m = &s->training->model;

    return f ? drv_mfu_operations(f, &s->model, m, p->tp) * (double)r->tokens / (double)m->sequence
             : r->model_operations;
}

void drv_training_metrics(const drv_study *s, const strategy *p, const step_result *r, dse_arena *a,
                          store_metrics *out)
{
    const double seconds = (double)r->step * 1e-9, npus = (double)strategy_ranks(p);
    const double peak = drv_recipe_peak(p, &s->training->settings);

    store_metrics_clear(out);
    out->wall_time = out->wall_time_rank0 = r->step;
    out->gpu_time = r->compute;
    out->comm_time = 0;
    out->step_comm[STRATEGY_AXIS_tp] = r->part[STEP_PART_TP];
    out->step_comm[STRATEGY_AXIS_cp] = r->part[STEP_PART_CP];
    out->step_comm[STRATEGY_AXIS_dp] = r->part[STEP_PART_DP];
    out->step_comm[STRATEGY_AXIS_pp] = r->part[STEP_PART_PP];
    for (int i = STEP_PART_TP; i <= STEP_PART_PP; i++)
        out->comm_time += r->part[i];
    out->exposed_comm = out->comm_time;
    out->step_compute_bound = r->part[STEP_PART_COMPUTE] + r->part[STEP_PART_OPTIMIZER] - r->host -
                              s->training->settings.step_overhead;
    out->step_compute_other = r->host + s->training->settings.step_overhead;
    out->step_comm_mixed = r->part[STEP_PART_EP]; /* of groups along tp, cp and dp */
    out->step_memory_bound = 0;
    out->step_idle = r->part[STEP_PART_BUBBLE];
    out->tokens_per_s = (double)r->tokens / seconds;
    out->tokens_per_s_npu = out->tokens_per_s / npus;
    out->peak_memory = r->memory[r->largest].peak;
    out->peak_memory_rank0 = r->memory[0].peak;
    add_peak(r, a, out);
    out->peak_weights = out->peak_weight_gradients = out->peak_updated_weights = out->peak_activations = 0;
    out->peak_recomputed = out->peak_activation_gradients = out->peak_inputs = out->peak_optimizer = 0;
    out->peak_gathered = 0;
    for (int k = 0; k < STEP_N_HOLDS; k++)
        *column_of((step_holds)k, out) += r->memory[r->largest].held[k];
    out->mfu = 100 * model_operations(s, p, r) / (seconds * peak * npus);
    out->hfu = 100 * r->executed_operations / (seconds * peak * npus);
    store_add_costs(strategy_ranks(p), s->system.price, s->system.power, out);
}

double drv_training_parameters(const drv_study *s)
{
    double sum = 0;

    if (!s->training)
        return NAN;
    for (uint32_t b = 0; b < s->training->model.n_blocks; b++) {
        const step_block *block = &s->training->model.block[b];

        for (uint32_t i = 0; i < block->n_parameters; i++)
            sum += (double)step_parameter_elements(&block->parameter[i]) *
                   step_parameter_times(&s->training->model, (step_block_kind)b, &block->parameter[i]);
    }
    return sum;
}

const char *drv_say_laws(const card_system *s, dse_arena *a)
{
    dse_strbuf text = dse_strbuf_in(a);

    card_system_say_laws(s, &text);
    return text.data;
}

dse_status drv_training_run(const drv_study *s, const strategy *p, dse_arena *a, store_metrics *out,
                            dse_error *err)
{
    step_result r;
    dse_status st = drv_training_on(s, p, STEP_UNITS, a, &r, err);

    if (st == DSE_OK)
        drv_training_metrics(s, p, &r, a, out);
    return st;
}
