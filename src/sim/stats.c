/* What the reference reports when a rank has finished. Source: Statistics.cc of the reference.
 *
 * Its averages divide by the total compute time plus one tick. It adds up in the order of a hash table of
 * node ids; here in the order of issue. The sums agree to about 1e-13 of their value, far below the three
 * decimals that are printed.
 *
 * The reference has no fixed costs. The cost of a kernel is compute time in which nothing is computed: it
 * lowers the utilisations and the share that is bound by the peak, while the intensity remains a mean over
 * the time of work. The cost of a step makes the rank end later; it is not communication time, and is in none
 * of the sums over nodes. */
#include "sim/engine.h"
#include "sim/figures.h"

typedef struct {
    dse_time total, start, end;
    bool any;
} busy_time;

/* Intervals come in the order of their start. */
static void add_interval(busy_time *b, dse_time start, dse_time end)
{
    if (b->any && start <= b->end) {
        if (end > b->end)
            b->end = end;
        return;
    }
    if (b->any)
        b->total += b->end - b->start;
    *b = (busy_time){b->total, start, end, true};
}

static dse_time total(const busy_time *b) { return b->any ? b->total + (b->end - b->start) : 0; }

enum { KIND_CPU, KIND_GPU, KIND_COMM, KIND_REMOTE_MEMORY, KIND_INVALID, N_KINDS };

static int kind_of(const sim_graph *g, uint32_t node)
{
    switch (g->type[node]) {
    case WL_NODE_COMP: return g->unit[node] == SIM_UNIT_CPU ? KIND_CPU : KIND_GPU;
    case WL_NODE_SEND:
    case WL_NODE_RECV:
    case WL_NODE_COLL: return KIND_COMM;
    case WL_NODE_MEM_LOAD:
    case WL_NODE_MEM_STORE: return KIND_REMOTE_MEMORY;
    default: return KIND_INVALID;
    }
}

void sim_stats_collect(sim_engine *e, uint32_t rank, sim_rank_stats *out)
{
    const sim_rank *r = &e->rank[rank];
    busy_time busy[N_KINDS] = {{0}};
    double compute_util = 0, memory_util = 0, op_intensity = 0;
    dse_time compute = 1, work = 1, compute_bound = 0;
    bool by_roofline = e->set->roofline && !e->set->replay_only;

    *out = (sim_rank_stats){.finished = e->now + e->set->step_overhead,
                            .exposed_comm = e->now - r->compute_ticks};
    for (uint32_t i = 0; i < r->n_issued; i++) {
        uint32_t node = r->issued[i];
        const sim_cost *c = &r->graph->cost[node];
        dse_time ticks = r->end[node] - r->start[node];
        int kind = kind_of(r->graph, node);

        if (r->end[node] > out->wall)
            out->wall = r->end[node];
        add_interval(&busy[kind], r->start[node], r->end[node]);
        if (kind != KIND_CPU && kind != KIND_GPU)
            continue;
        compute += ticks;
        if (kind == KIND_GPU && by_roofline)
            ticks -= c->overhead;
        work += ticks;
        if (kind == KIND_CPU || !by_roofline) /* a node of no bytes takes no time and adds nothing */
            continue;
        if (!c->memory_bound)
            compute_bound += ticks;
        compute_util += c->compute_util * (double)ticks;
        memory_util += c->memory_util * (double)ticks;
        op_intensity += c->op_intensity * (double)ticks;
    }
    out->wall += e->set->step_overhead;
    out->has_cpu = busy[KIND_CPU].any;
    out->has_gpu = busy[KIND_GPU].any;
    out->has_comm = busy[KIND_COMM].any;
    out->has_remote_memory = busy[KIND_REMOTE_MEMORY].any;
    out->has_invalid = busy[KIND_INVALID].any;
    out->cpu = total(&busy[KIND_CPU]);
    out->gpu = total(&busy[KIND_GPU]);
    out->comm = total(&busy[KIND_COMM]);
    out->remote_memory = total(&busy[KIND_REMOTE_MEMORY]);
    out->invalid = total(&busy[KIND_INVALID]);
    if (sim_settings_version(e->set)->prints_overlap) {
        out->lacks_statistics = out->has_cpu || out->has_remote_memory || out->has_invalid;
        if (out->has_gpu && out->has_comm && !out->lacks_statistics)
            out->overlap = out->gpu + out->comm - (out->wall - e->set->step_overhead);
    }
    if (e->set->roofline) {
        out->has_utilisation = true;
        out->compute_bound = (double)compute_bound / (double)compute;
        out->compute_util = compute_util / (double)compute;
        out->memory_util = memory_util / (double)compute;
        out->op_intensity = op_intensity / (double)work;
    }
    out->has_memory = e->set->track_memory;
    if (out->has_memory)
        sim_memory_peak(r, &out->peak_memory, &out->peak_time);
}
