/* What a plan takes for granted, a remark each. */
#include "driver/plan_parts.h"
#include "driver/programs.h"
#include "driver/training.h"

#include <inttypes.h>
#include <string.h>

static bool is_set(const drv_study *s, const char *key)
{
    const size_t n = strlen(key);

    for (const char *word = s->settings; *word; word += strcspn(word, " "), word += strspn(word, " "))
        if (!strncmp(word, key, n) && word[n] == '=')
            return true;
    return false;
}

/* Whether the number of NPUs was set. */
static bool is_sized(const drv_study *s)
{
    return strstr(s->settings, "network.npus_count") || strstr(s->settings, "network.part");
}

static void assume(drv_plan_state *p, const char *about, const char *text)
{
    p->out->assumption[p->out->n_assumptions++] = (report_plan_remark){about, text};
}

static const char *say_batch(const drv_plan_state *p)
{
    const drv_study *s = p->study;
    const bool batch = is_set(s, "batch"), sequence = is_set(s, "sequence");

    if (batch && sequence)
        return "batch and sequence as asked";
    return dse_arena_printf(p->arena, "%s from the model card; --batch and --sequence set others",
                            batch      ? "the sequence is"
                            : sequence ? "the batch is"
                                       : "batch and sequence are");
}

static const char *say_program(const drv_plan_state *p, const strategy *point)
{
    char name[STRATEGY_VALUE_MAX];

    strategy_print(&strategy_parameters[STRATEGY_like], point->like, name);
    if (point->like == DRV_ANY)
        return "none was named (--like): what any of them has is allowed, with Megatron-LM's habits; name "
               "yours, as they "
               "differ in what they keep in memory and send";
    return dse_arena_printf(p->arena, "the rules and habits of %s%s", name,
                            point->sequence_parallel || point->overlap
                                ? ""
                                : "; what takes no more than a flag is on (sequence parallelism, overlap of "
                                  "gradients and parameters)");
}

static const char *say_network(const drv_plan_state *p)
{
    if (p->study->training->net.is_measured)
        return "collectives reach what the system card says was measured or is usual (network.efficiency, "
               "network.measured_...); this job is alone on the network";
    return "links at their full rate, as the system card has nothing of what collectives reach: real steps "
           "take longer; this "
           "job is alone on the network";
}

static const char *say_data(const drv_plan_state *p, const strategy *point)
{
    const step_options o = drv_training_options(p->study, point);

    return dse_arena_printf(
        p->arena,
        "bytes of an element: activations %g, weights %g to compute and %g kept, gradients %g to add up and "
        "%g to reduce; %g more a parameter for the optimizer (Adam)",
        o.activation_bytes, o.weight_bytes, o.kept_weight_bytes, o.gradient_bytes, o.reduce_bytes,
        o.optimizer_bytes);
}

/* "dp 1 2 4, tp 1 2" */
static const char *say_tried(const drv_plan_state *p)
{
    const report_explanation *e = &p->out->why;
    dse_strbuf text = dse_strbuf_in(p->arena);

    for (size_t i = 0; i < e->n_trends; i++) {
        const report_trend *t = &e->trend[i];

        dse_strbuf_addf(&text, "%s%s", i ? ", " : "", strategy_parameters[t->axis].name);
        for (size_t k = 0; k < t->n; k++) {
            char value[STRATEGY_VALUE_MAX];

            dse_strbuf_addf(&text, " %s",
                            strategy_print(&strategy_parameters[t->axis], t->point[k].value, value));
        }
    }
    if (p->o->points->n_refused)
        dse_strbuf_addf(&text, "; %" PRIu64 " more combinations are refused by rules",
                        p->o->points->n_refused);
    return text.data;
}

/* What had one value, and what an option of its name varies. */
static const char *say_held(const drv_plan_state *p, const strategy *point)
{
    const report_explanation *e = &p->out->why;
    dse_strbuf text = dse_strbuf_in(p->arena);

    for (uint32_t k = 0; k < STRATEGY_N; k++) {
        char value[STRATEGY_VALUE_MAX];
        bool varies = false;

        for (size_t i = 0; i < e->n_trends; i++)
            varies |= e->trend[i].axis == k;
        if (varies || !strategy_has_profile(k, STRATEGY_PROFILE_TRAIN) || k == STRATEGY_recompute ||
            k == STRATEGY_like || k == STRATEGY_dp ||
            (strategy_parameters[k].of_experts && !p->study->model.experts))
            continue;
        strategy_print(&strategy_parameters[k], strategy_get(point, k), value);
        dse_strbuf_addf(&text, "%s%s %s", text.len ? ", " : "", strategy_parameters[k].name, value);
    }
    dse_strbuf_adds(&text, "; options of these names try others");
    return text.data;
}

void drv_plan_find_assumptions(drv_plan_state *p)
{
    const strategy *point = p->out->why.winner ? &p->out->why.winner->strategy : &p->ranked->row[0].strategy;

    p->out->assumption = DSE_ARENA_NEW(p->arena, report_plan_remark, 10);
    assume(p, "batch", say_batch(p));
    if (!is_sized(p->study))
        assume(p, "size", "the whole system of the card, as --nodes and --npus are not given");
    assume(p, "program", say_program(p, point));
    assume(p, "tried", say_tried(p));
    assume(p, "not_varied", say_held(p, point));
    assume(p, "kernels", p->ranked->laws);
    assume(p, "network", say_network(p));
    assume(p, "data_types", say_data(p, point));
    assume(p, "memory",
           "what tensors hold; what the driver, NCCL and the allocator's fragments take comes on top");
    assume(p, "time", "steps alone: no loading of data, checkpoints, evaluation, slow or failed NPUs");
}
