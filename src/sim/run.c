/* Chooses the engine of a run: the abridged one if shortcuts are on and apply, else the plain one if memory
 * suffices. */
#include "base/units.h"
#include "sim/engine.h"
#include "sim/footprint.h"

#include <inttypes.h>
#include <stdio.h>

static dse_status check_footprint(const sim_settings *settings, const net_network *net, const wl_workload *w,
                                  uint64_t limit, sim_fallback why, dse_error *err)
{
    char need[32], at_most[32], messages[32];
    sim_footprint f;
    dse_status st = sim_footprint_of(settings, net, w, &f, err);

    if (st != DSE_OK || f.bytes <= limit)
        return st;
    dse_format_bytes(need, sizeof need, (double)f.bytes);
    dse_format_bytes(at_most, sizeof at_most, (double)limit);
    snprintf(messages, sizeof messages, f.messages < 10000000 ? "%.0f" : "%.1e", (double)f.messages);
    return dse_fail(
        err, DSE_E_RANGE,
        "the fast engine cannot simulate this, because %s; message by message, %s messages of %" PRIu32
        " ranks would take %s of memory, and the limit is %s: raise it",
        sim_fallback_text(why), messages, w->n_ranks, need, at_most);
}

dse_status sim_run(const sim_settings *settings, const net_network *net, const wl_workload *w,
                   sim_shortcuts shortcuts, dse_arena *a, sim_result *out, trace_ticks *record,
                   dse_error *err)
{
    uint64_t limit = shortcuts.max_bytes ? shortcuts.max_bytes : SIM_MAX_BYTES;
    sim_fallback why = SIM_FALLBACK_NOT_ASKED;
    dse_status st;

    if (w->n_ranks != net->n_npus)
        return dse_fail(err, DSE_E_CONFIG, "the workload has %" PRIu32 " ranks, the network %" PRIu32 " NPUs",
                        w->n_ranks, net->n_npus);
    if (shortcuts.memo) {
        why = sim_run_abridged(settings, net, w, shortcuts.symmetry, limit, a, out, record);
        if (why == SIM_FALLBACK_NONE)
            return DSE_OK;
    }
    /* A run that fails is repeated, too: the plain engine reports where and why. */
    st = check_footprint(settings, net, w, limit, why, err);
    if (st == DSE_OK)
        st = sim_run_plain(settings, net, w, a, out, record, err);
    if (st == DSE_OK)
        out->fallback = why;
    return st;
}
