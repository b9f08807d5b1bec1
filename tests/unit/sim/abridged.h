/* Worlds for the abridged engine, and who ran them. world_run compares all engines' results; here it is checked who made
 * them.
 *
 * FullyConnected of 4 with 50 ns: a message of b bytes takes 50 + b. */
#ifndef UNIT_SIM_ABRIDGED_H
#define UNIT_SIM_ABRIDGED_H

#include "unit/sim/world.h"

static const uint32_t pair[] = {0, 1};

static inline void begin(void)
{
    world_begin("FullyConnected", 4, 50, "direct");
    world.shortcuts = SIM_ALL_SHORTCUTS;
}

/* A compute node of so many ticks: an NPU makes 2^40 operations in 10^9 of them, a bit more is truncated. */
static inline uint32_t comp(uint32_t rank, const char *name, dse_time ticks)
{
    return world_comp(rank, name, (uint64_t)((double)ticks * 1099.511627776) + 1, 1);
}

static inline uint32_t comp_after(uint32_t rank, const char *name, dse_time ticks, uint32_t parent)
{
    uint32_t node = comp(rank, name, ticks);

    world_after(rank, node, parent);
    return node;
}

static inline void check_engine(sim_fallback expected, const char *file, int line)
{
    unit_check_ok(world_run(), &world.err, file, line);
    if (world.result.fallback == expected)
        return;
    print_error("fell back for '%s', not '%s'\n", sim_fallback_name(world.result.fallback),
                sim_fallback_name(expected));
    _fail(file, line);
}
/* The world runs, and who ran it; without world_end, for checks of ticks. */
#define assert_abridged() check_engine(SIM_FALLBACK_NONE, __FILE__, __LINE__)
#define assert_plain(why) check_engine(SIM_FALLBACK_##why, __FILE__, __LINE__)

#endif
