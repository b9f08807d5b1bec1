#include "cli/one_point.h"

#include "driver/programs.h"
#include "driver/training.h"

dse_status one_point_load(const char *model, const char *system, const sizing_options *sizing,
                          const option_list *set, dse_arena *a, drv_study *out, dse_error *err)
{
    cfg_settings settings;
    option_list all;
    dse_status st;

    if ((st = sizing_settings(sizing, &system, 1, set, a, &all, err)) != DSE_OK ||
        (st = drv_settings_parse(all.item, all.n, a, &settings, err)) != DSE_OK ||
        (st = drv_study_load(model, system, &settings, a, out, err)) != DSE_OK)
        return st;
    if (out->model_note)
        report_warning("%s", out->model_note);
    report_unknown_keys(system, out->system.n_unknown_keys, out->system.unknown_key);
    return DSE_OK;
}

dse_status one_point_settle(const strategy_options *o, const char *name, const drv_study *s, strategy *out,
                            dse_error *err)
{
    const strategy base = card_model_strategy(&s->model);
    dse_status st = strategy_options_point(o, name, &base, out, err);

    if (st != DSE_OK || !s->training)
        return st;
    if (out->recompute && strategy_options_says(o, STRATEGY_recompute_granularity))
        return dse_fail(err, DSE_E_USAGE,
                        "give either --recompute, which is --recompute-granularity full, or that option");
    if (!name)
        drv_program_set_defaults(out, strategy_options_mask(o));
    if (out->fp8_params && !out->fp8_recipe)
        return dse_fail(err, DSE_E_USAGE,
                        "--fp8-params keeps in 8 bits what --fp8-recipe scales; give that, too");
    if (!name && !strategy_options_says(o, STRATEGY_dp))
        drv_training_fill_dp(s, out);
    drv_training_settle(out); /* some parameters have an effect with dp above 1 alone */
    return DSE_OK;
}
