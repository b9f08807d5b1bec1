/* What is stored of a result. The simulator knows communicator groups and tensors of a workload; here they
 * become the parallel dimensions and the words that a user knows. */
#include "driver/study.h"

#include <string.h>

static void add_ranks(const sim_result *r, store_metrics *out)
{
    const sim_rank_stats *zero = &r->rank[0];

    out->gpu_time = zero->gpu;
    out->comm_time = zero->comm;
    out->exposed_comm = zero->exposed_comm;
    out->wall_time_rank0 = zero->wall;
    out->wall_time = sim_step_time(r);
    if (zero->has_utilisation) {
        out->compute_bound = zero->compute_bound * 100;
        out->compute_util = zero->compute_util * 100;
        out->mem_util = zero->memory_util * 100;
        out->op_intensity = zero->op_intensity;
    }
}

/* ---- the parts of the step ------------------------------------------------------------------ */

/* The generator groups ranks along one axis at a time; its operators could be given others. */
static uint64_t *part_of_axes(mesh_set axes, store_metrics *out)
{
    for (uint32_t i = 0; i < STRATEGY_N_AXES; i++)
        if (axes == mesh_only(i))
            return &out->step_comm[i];
    return &out->step_comm_mixed;
}

static void add_step(const wl_workload *w, const sim_breakdown *b, store_metrics *out)
{
    const wl_rank *rank = &w->rank[b->rank];

    out->step_compute_bound = b->part[SIM_PART_COMPUTE_BOUND];
    out->step_memory_bound = b->part[SIM_PART_MEMORY_BOUND];
    out->step_compute_other = b->part[SIM_PART_COMPUTE_OTHER];
    for (uint32_t i = 0; i < STRATEGY_N_AXES; i++)
        out->step_comm[i] = strategy_has_profile(strategy_axes[i], STRATEGY_PROFILE_STAGE) ? 0 : STORE_ABSENT;
    out->step_comm[STRATEGY_AXIS_pp] = b->part[SIM_PART_MESSAGES];
    out->step_comm_mixed = b->part[SIM_PART_DIMENSIONS] + b->part[SIM_PART_OTHER];
    out->step_idle = b->part[SIM_PART_IDLE];
    for (uint32_t i = SIM_PART_GROUPS; i < b->n_parts; i++) {
        const wl_group *g = &w->group[rank->group[i - SIM_PART_GROUPS]];

        *part_of_axes(mesh_difference(&w->mesh, g->rank, g->n), out) += b->part[i];
    }
}

static void add_network(const sim_result *r, store_metrics *out)
{
    const net_load *l = r->load;

    out->undercharged_messages = r->n_undercharged;
    out->flat_ring_collectives = r->n_flat_rings;
    if (r->fallback != SIM_FALLBACK_NONE && r->fallback != SIM_FALLBACK_NOT_ASKED)
        out->fallback = sim_fallback_name(r->fallback);
    if (!l || l->busiest == DSE_NONE)
        return;
    out->busiest_link = l->busiest_name;
    out->busiest_link_util = net_load_util(l, l->busiest) * 100;
}

/* ---- the memory ----------------------------------------------------------------------------- */

static const char *const passes[WL_N_TENSOR_KINDS] = {
    [WL_TENSOR_INPUT] = "forward",         [WL_TENSOR_WEIGHT] = "forward",
    [WL_TENSOR_ACTIVATION] = "forward",    [WL_TENSOR_RECOMPUTED] = "recomputation",
    [WL_TENSOR_GRADIENT] = "backward",     [WL_TENSOR_WEIGHT_GRADIENT] = "backward",
    [WL_TENSOR_UPDATED_WEIGHT] = "update",
};

static void add_memory(const wl_workload *w, const sim_result *r, store_metrics *out)
{
    const sim_rank_stats *largest = &r->rank[r->peak.rank];
    const uint64_t *held = r->peak.held;
    const wl_node *node = r->peak.node;

    out->peak_memory = largest->peak_memory;
    out->peak_memory_rank0 = r->rank[0].peak_memory;
    out->peak_weights = held[WL_TENSOR_WEIGHT];
    out->peak_weight_gradients = held[WL_TENSOR_WEIGHT_GRADIENT];
    out->peak_updated_weights = held[WL_TENSOR_UPDATED_WEIGHT];
    out->peak_activations = held[WL_TENSOR_ACTIVATION];
    out->peak_recomputed = held[WL_TENSOR_RECOMPUTED];
    out->peak_activation_gradients = held[WL_TENSOR_GRADIENT];
    out->peak_inputs = held[WL_TENSOR_INPUT];
    if (w->in_bytes) { /* elements are not counted of what is no tensor */
        out->peak_optimizer = held[WL_TENSOR_OPTIMIZER];
        out->peak_gathered = held[WL_TENSOR_WHOLE];
    }
    out->peak_time = largest->peak_time;
    if (!node)
        return;
    out->peak_node = node->name;
    out->peak_pass = passes[node->tensor_kind];
    if (node->layer != DSE_NONE)
        out->peak_layer = node->layer;
}

void drv_metrics_of(const wl_workload *w, const sim_result *r, store_metrics *out)
{
    store_metrics_clear(out);
    out->nodes = r->n_nodes;
    out->messages = r->n_messages;
    add_ranks(r, out);
    add_step(w, &r->step, out);
    add_network(r, out);
    if (r->rank[0].has_memory)
        add_memory(w, r, out);
}

store_sizes drv_sizes_of(const card_model *m)
{
    const wl_precision p = card_model_precision(m);

    return (store_sizes){p.weights,  p.activations,         p.gradients,         p.optimizer,
                         p.messages, card_model_is_main(m), card_model_trains(m)};
}
