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

static inline void check_engine(const char *plain_because, const char *file, int line)
{
    const char *seen;

    unit_check_ok(world_run(), &world.err, file, line);
    seen = world.result.plain_because;
    if ((seen && plain_because) ? !strcmp(seen, plain_because) : seen == plain_because)
        return;
    print_error("plain because '%s', not '%s'\n", seen ? seen : "(abridged)",
                plain_because ? plain_because : "(abridged)");
    _fail(file, line);
}
/* The world runs, and who ran it; without world_end, for checks of ticks. */
#define assert_abridged()     check_engine(NULL, __FILE__, __LINE__)
#define assert_plain(because) check_engine((because), __FILE__, __LINE__)

#define UNKNOWN_ORDER "the order within a tick is not known"

#endif
