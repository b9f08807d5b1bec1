/* Points of profile train drawn at random: whatever a rule does not refuse runs to its end.
 *
 * usage: run_points [-s SEED] [-n COUNT]
 *
 * Shipped models on shipped systems, with any value of each parameter of a strategy. In profile stage 9 to 20 % of such
 * points of a space ended in a deadlock, as ranks entered collectives of several groups in different orders. Here they
 * have one order, so that of COUNT accepted points none may fail, and the figures of each must agree with each other. Its bounds
 * (driver/bound.h) are not above its time, and equal to it where collectives take nothing of the compute. */
#include "driver/bound.h"
#include "shortcuts/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct {
    const char *model, *system, *settings[2];
} studies[] = {
    {"llama-3.1-8b", "perlmutter_a100_40gb", {"network.npus_count[1]=8", "batch=96"}},
    {"llama-3.1-70b", "hgx_h100", {"network.npus_count[1]=16", "batch=256"}},
    {"gpt3-175b", "selene_a100_80gb", {"network.npus_count[1]=24", "batch=192"}},
    {"megatron-22b", "selene_a100_80gb", {"network.npus_count[1]=4", "batch=64"}},
    {"mixtral-8x7b", "hgx_h100", {"network.npus_count[1]=8", "batch=256"}},
    {"deepseek-v2-lite", "hgx_h100", {"network.npus_count[1]=4", "batch=128"}},
};
#define N_STUDIES (sizeof studies / sizeof *studies)

typedef struct {
    dse_arena studies, point;
    drv_study study[N_STUDIES];
    drv_bounds bounds;
    uint64_t accepted, refused;
} tester;

static uint32_t draw_value(rng *r, const drv_study *s, uint32_t parameter)
{
    static const uint32_t degrees[] = {1, 1, 1, 2, 2, 3, 4, 4, 6, 8, 16};
    const strategy_parameter *p = &strategy_parameters[parameter];
    uint32_t n = 0, v;

    if (!strategy_has_profile(parameter, STRATEGY_PROFILE_TRAIN))
        return p->fallback;
    if (p->of_experts && (!s->model.experts || rng_percent(r, 50)))
        return p->fallback;
    switch (p->kind) {
    case STRATEGY_SWITCH: return p->fallback;
    case STRATEGY_CHOICE:
        while (p->choices[n])
            n++;
        return rng_below(r, n);
    default:
        v = RNG_PICK(r, degrees);
        if (parameter == STRATEGY_zero)
            return rng_below(r, 4);
        if (parameter == STRATEGY_capacity_percent)
            return 50 * v;
        if (parameter == STRATEGY_recompute_layers || parameter == STRATEGY_group_size || parameter == STRATEGY_replicas)
            return rng_percent(r, 70) ? p->fallback : v;
        return v;
    }
}

static strategy draw_point(rng *r, const drv_study *s)
{
    strategy p = strategy_default();

    for (uint32_t i = 0; i < STRATEGY_N; i++)
        strategy_set(&p, i, draw_value(r, s, i));
    drv_training_fill_dp(s, &p);
    return p;
}

/* What is wrong with the figures of a point; NULL: nothing. */
static const char *problem_of(const drv_study *s, const store_metrics *m)
{
    const double seconds = (double)m->wall_time * 1e-9, tokens = (double)(s->model.batch * s->model.sequence);
    uint64_t parts = m->step_compute_bound + m->step_memory_bound + m->step_compute_other + m->step_comm_mixed + m->step_idle;
    uint64_t peak = m->peak_weights + m->peak_weight_gradients + m->peak_updated_weights + m->peak_activations +
                    m->peak_recomputed + m->peak_activation_gradients + m->peak_inputs + m->peak_optimizer + m->peak_gathered;

    for (uint32_t i = 0; i < STRATEGY_N_AXES; i++)
        parts += m->step_comm[i] == STORE_ABSENT ? 0 : m->step_comm[i];
    return parts != m->wall_time                                 ? "the parts of the step do not add up to it"
           : peak != m->peak_memory                              ? "the parts of the peak do not add up to it"
           : !(m->mfu > 0 && m->mfu <= m->hfu && m->hfu <= 100)  ? "MFU and HFU are not in order below 100 %"
           : fabs(m->tokens_per_s * seconds - tokens) > tokens / 1e9 ? "tokens a second are not those of the step"
                                                                 : NULL;
}

/* The same of its bounds. */
static const char *problem_of_bounds(tester *t, const drv_study *s, const strategy *p, const store_metrics *m)
{
    bool shares = false;
    sim_bound bound, any;

    for (uint32_t d = 0; d < s->system.compute_share.n; d++)
        shares |= s->system.compute_share.v[d] > 0;
    if (drv_bounds_enter(&t->bounds, s, NULL) != DSE_OK || drv_bounds_of(&t->bounds, s, p, &bound, NULL) != DSE_OK ||
        drv_bounds_of_any_network(&t->bounds, s, p, &any, NULL) != DSE_OK)
        return "it has no bound";
    return bound.wall > m->wall_time || any.wall > bound.wall ? "its bounds are above its time"
           : !shares && bound.wall != m->wall_time           ? "its bound is not its time"
           : bound.held != m->peak_memory                    ? "its memory is not that of its bound"
                                                             : NULL;
}

/* False, with the point on stdout, if it fails. */
static bool run_point(tester *t, rng *r)
{
    const drv_study *s = &t->study[rng_below(r, N_STUDIES)];
    const strategy p = draw_point(r, s);
    dse_error err = DSE_ERROR_INIT;
    char name[STRATEGY_NAME_MAX];
    store_metrics metrics;
    const char *problem;

    if (drv_point_check(s, &p, &err) != DSE_OK) {
        t->refused++;
        return true;
    }
    t->accepted++;
    dse_arena_reset(&t->point);
    problem = drv_training_run(s, &p, &t->point, &metrics, &err) == DSE_OK ? problem_of(s, &metrics) : err.text;
    problem = problem ? problem : problem_of_bounds(t, s, &p, &metrics);
    if (!problem)
        return true;
    strategy_name(&p, NULL, name);
    printf("%s on %s, %s: %s\n", s->model_name, s->system_name, name, problem);
    return false;
}

static dse_status load(tester *t, dse_error *err)
{
    dse_status st = DSE_OK;

    for (size_t i = 0; i < N_STUDIES && st == DSE_OK; i++) {
        const char *words[] = {studies[i].settings[0], studies[i].settings[1]};
        cfg_settings settings;

        if ((st = drv_settings_parse(words, 2, &t->studies, &settings, err)) == DSE_OK)
            st = drv_study_load(studies[i].model, studies[i].system, &settings, &t->studies, &t->study[i], err);
    }
    return st;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, count = 5000;
    dse_error err = DSE_ERROR_INIT;
    tester t = {0};
    bool ok;

    for (int opt; (opt = getopt(argc, argv, "s:n:")) != -1;) {
        if (opt != 's' && opt != 'n')
            return 2;
        *(opt == 's' ? &seed : &count) = strtoull(optarg, NULL, 10);
    }
    dse_arena_init(&t.studies);
    dse_arena_init(&t.point);
    drv_bounds_init(&t.bounds);
    ok = load(&t, &err) == DSE_OK;
    if (!ok)
        printf("%s: %s\n", err.where, err.text);
    for (uint64_t i = 0; ok && t.accepted < count; i++) {
        rng r = rng_of(seed, i);

        ok = run_point(&t, &r);
    }
    printf("%" PRIu64 " points run, %" PRIu64 " refused\n", t.accepted, t.refused);
    drv_bounds_free(&t.bounds);
    dse_arena_free(&t.studies);
    dse_arena_free(&t.point);
    return ok ? 0 : 1;
}
