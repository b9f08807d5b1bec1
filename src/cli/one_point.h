/* One point of a study, as the options of `simulate` and `launch` say it. */
#ifndef DSE_CLI_ONE_POINT_H
#define DSE_CLI_ONE_POINT_H

#include "cli/sizing.h"
#include "cli/strategy_options.h"
#include "driver/study.h"

/* Rows of a command's table, with its FIELD: which card, which system, which point. */
#define OPTION_MODEL                                                                                         \
    {                                                                                                        \
        "--model", OPT_STRING, "NAME", NULL,                                                                 \
            "model card: a name in configs/models, a path, or a Hugging Face config.json", FIELD(model)      \
    }
#define OPTION_SYSTEM                                                                                        \
    {                                                                                                        \
        "--system", OPT_STRING, "NAME", NULL,                                                                \
            "system card: a name in configs/systems, a path, or a folder with ASTRA-sim's files",            \
            FIELD(system)                                                                                    \
    }
#define OPTION_POINT                                                                                         \
    {                                                                                                        \
        "--point", OPT_STRING, "POINT", "", "the strategy in one word, dp_tp_sp_pp_recompute: 8_1_8_1_1",    \
            FIELD(point)                                                                                     \
    }

/* Loads both cards with what the sizing and `set` set over them, and warns of what the model has and is
 * simulated without, and of keys without effect. */
dse_status one_point_load(const char *model, const char *system, const sizing_options *sizing,
                          const option_list *set, dse_arena *a, drv_study *out, dse_error *err);

/* The point of a name (NULL: none) and options over what the card says; of profile train what is left open
 * is as the program's defaults have it, and dp as the NPUs leave it. DSE_E_USAGE. */
dse_status one_point_settle(const strategy_options *o, const char *name, const drv_study *s, strategy *out,
                            dse_error *err);

#endif
