/* Which points the options of a command mean: a space of strategies, a space file, a list, a sample. */
#ifndef DSE_CLI_POINTS_H
#define DSE_CLI_POINTS_H

#include "cli/strategy_options.h"
#include "driver/space.h"

typedef struct {
    const char *model, *system, *space, *points;
    strategy_options strategy;
    int64_t sample, seed;
    option_list set;
    bool force;
} points_options;

/* The rows of these options; `f` is the name of the points_options in the command's struct. */
#define POINTS_OPTIONS(type, f)                                                                               \
    {"--model",                                                                                               \
     OPT_STRING,                                                                                              \
     "NAME[,...]",                                                                                            \
     "",                                                                                                      \
     "model cards: names in configs/models, paths, or Hugging Face configs",                                  \
     .offset = offsetof(type, f.model)},                                                                      \
        {"--system",                                                                                          \
         OPT_STRING,                                                                                          \
         "NAME[,...]",                                                                                        \
         "",                                                                                                  \
         "system cards: names in configs/systems, paths, or folders with ASTRA-sim's files",                  \
         .offset = offsetof(type, f.system)},                                                                 \
        STRATEGY_LIST_OPTIONS(type, f.strategy),                                                              \
        {"--space",                                                                                           \
         OPT_STRING,                                                                                          \
         "NAME",                                                                                              \
         "",                                                                                                  \
         "a space instead, a name in configs/spaces or a file: models, systems, axes, constraints",           \
         .offset = offsetof(type, f.space)},                                                                  \
        {"--points",                                                                                          \
         OPT_STRING,                                                                                          \
         "FILE",                                                                                              \
         "",                                                                                                  \
         "a list of points instead, one a line: POINT, or MODEL SYSTEM POINT [KEY=VALUE...]",                 \
         .offset = offsetof(type, f.points)},                                                                 \
        {"--sample",                                                                                          \
         OPT_INT,                                                                                             \
         "N",                                                                                                 \
         "",                                                                                                  \
         "only so many points of each model, drawn as Python's random.sample draws them",                     \
         .min = 1,                                                                                            \
         .max = 1e9,                                                                                          \
         .offset = offsetof(type, f.sample)},                                                                 \
        {"--seed", OPT_INT, "N", "", "seed of the sample; 0 if not given", .offset = offsetof(type, f.seed)}, \
        {"--set", OPT_LIST, "KEY=VALUE", "", OPTION_SET_HELP, .offset = offsetof(type, f.set)},               \
    {                                                                                                         \
        "--force", OPT_FLAG, NULL, "false",                                                                   \
            "also a space of more than a million points, or too many to count",                               \
            .offset = offsetof(type, f.force)                                                                 \
    }

/* The points, and the space they are of; everything belongs to the arena. Every refusal comes from here,
 * before anything runs. */
dse_status points_list(const points_options *o, dse_arena *a, drv_space *space, drv_points *out,
                       dse_error *err);

#endif
