#include "driver/unrolled.h"

#include "base/units.h"
#include "step/unroll.h"

#include <inttypes.h>

/* Of a node of a graph: itself, its kernel, its dependencies from both ends, and what the simulator keeps of
 * it. */
#define BYTES_PER_NODE 512

static dse_status check_size(const drv_study *s, const strategy *p, const step_result *step, dse_error *err)
{
    const step_options o = drv_training_options(s, p);
    const uint64_t limit = s->shortcuts.max_bytes ? s->shortcuts.max_bytes : SIM_MAX_BYTES;
    const uint64_t n_nodes = step_unrolled_nodes(&step->passes);
    char need[32], at_most[32];

    if (o.n_micro_batches > DRV_UNROLLED_MICRO_BATCHES)
        return dse_fail(err, DSE_E_RANGE,
                        "a step is unrolled with up to %d micro-batches on a rank, and this one has %" PRIu32
                        "; give a smaller batch",
                        DRV_UNROLLED_MICRO_BATCHES, o.n_micro_batches);
    if (n_nodes <= limit / BYTES_PER_NODE)
        return DSE_OK;
    dse_format_bytes(need, sizeof need, (double)n_nodes * BYTES_PER_NODE);
    dse_format_bytes(at_most, sizeof at_most, (double)limit);
    return dse_fail(err, DSE_E_RANGE,
                    "the unrolled step has %" PRIu64
                    " nodes, which take %s, and the limit is %s; give --plain-memory",
                    n_nodes, need, at_most);
}

dse_status drv_unrolled_make(const drv_study *s, const strategy *p, const step_result *step, dse_arena *a,
                             drv_unrolled *out, dse_error *err)
{
    dse_status st = check_size(s, p, step, err);

    *out = (drv_unrolled){.system = s->system, .by_ticks = step->passes.has_laws};
    out->system.track_local_mem =
        false; /* the nodes have no tensors; step/memory.h knows what a rank holds */
    if (out->by_ticks) {
        out->system.peak_perf = STEP_OPERATIONS_PER_S / 1e12;
        out->system.per_kernel = 0;
    }
    return st == DSE_OK ? step_unroll(&step->passes, a, &out->workload, err) : st;
}

dse_status drv_unrolled_simulate(const drv_study *s, const strategy *p, dse_arena *a, drv_unrolled *u,
                                 trace_ticks *record, dse_error *err)
{
    const drv_training *t = s->training;
    sim_settings set = t->settings;
    step_result one_unit;
    dse_status st;

    set.track_memory = false;
    if (u->by_ticks)
        step_time_by_ticks(&set);
    if ((st = drv_training_on(s, p, STEP_ONE_UNIT, a, &one_unit, err)) != DSE_OK ||
        (st = sim_run(&set, &t->net, &u->workload, s->shortcuts, a, &u->result, record, err)) != DSE_OK)
        return st;
    u->wall = sim_step_time(&u->result);
    u->composed = one_unit.step;
    u->is_even = one_unit.passes.is_even;
    return DSE_OK;
}
