/* Which points the options of a command mean: a space of strategies, a space file, a list, a sample. */
#ifndef DSE_CLI_POINTS_H
#define DSE_CLI_POINTS_H

#include "cli/sizing.h"
#include "cli/strategy_options.h"
#include "driver/points.h"

typedef struct {
    const char *model, *system, *space, *points;
    strategy_options strategy;
    int64_t sample, seed;
    option_list set;
    sizing_options sizing;
    bool force;
} points_options;

option_group points_group;

/* The space alone, of any size: without --points and --sample, which are refused. */
dse_status points_space(const points_options *o, dse_arena *a, drv_space *space, dse_error *err);

/* The points, and the space they are of; everything belongs to the arena. Every refusal comes from here,
 * before anything runs. */
dse_status points_list(const points_options *o, dse_arena *a, drv_space *space, drv_points *out,
                       dse_error *err);

/* The same of a shard, "2/3" (NULL: all), without holding the points of a space. */
dse_status points_shard(const points_options *o, const char *shard, dse_arena *a, drv_space *space,
                        drv_points *out, dse_error *err);

#endif
