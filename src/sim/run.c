/* Which engine does a run: the abridged one if it may and can, else the plain one. */
#include "sim/abridged.h"
#include "sim/engine.h"

#include <inttypes.h>

dse_status sim_run(const sim_settings *settings, const net_network *net, const wl_workload *w,
                   sim_shortcuts shortcuts, dse_arena *a, sim_result *out, trace_ticks *record,
                   dse_error *err)
{
    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    if (w->n_ranks != net->n_npus)
        return dse_fail(err, DSE_E_CONFIG, "the workload has %" PRIu32 " ranks, the network %" PRIu32 " NPUs",
                        w->n_ranks, net->n_npus);
    if (shortcuts.memo) {
        st = sim_run_abridged(settings, net, w, shortcuts.symmetry, a, out, record, &why);
        if (st == DSE_OK)
            return st;
    }
    /* Also what failed: this one says where and why. */
    st = sim_run_plain(settings, net, w, a, out, record, err);
    if (st == DSE_OK)
        out->plain_because = dse_arena_strdup(a, why.text);
    return st;
}
