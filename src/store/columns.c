#include "base/array.h"
#include "store/store.h"

#include <math.h>
#include <string.h>

#define AT(f)         offsetof(store_metrics, f)
#define U64(f, ...)   #f, STORE_U64, __VA_ARGS__, AT(f)
#define BYTES(f, ...) #f, STORE_BYTES, __VA_ARGS__, AT(f)
#define REAL(f, ...)  #f, STORE_REAL, __VA_ARGS__, AT(f)
#define PEAK(f, ...)  #f, STORE_PEAK_U64, __VA_ARGS__, AT(f)
#define TEXT(f, ...)  #f, STORE_TEXT, __VA_ARGS__, AT(f)

static const store_column columns[] = {
    {U64(wall_time, "ns", STORE_LOWER, "time of the training step: end of the slowest rank")},
    {BYTES(peak_memory, "B", STORE_LOWER, "most local memory that any rank ever holds")},
    {U64(exposed_comm, "ns", STORE_LOWER, "time not covered by compute, rank 0")},
    {U64(gpu_time, "ns", STORE_LOWER, "time in compute, rank 0")},
    {U64(comm_time, "ns", STORE_LOWER, "time in communication, rank 0")},
    {REAL(compute_util, "%", STORE_HIGHER, "compute utilisation while computing, rank 0")},
    {REAL(mem_util, "%", STORE_HIGHER, "memory bandwidth utilisation while computing, rank 0")},
    {REAL(compute_bound, "%", STORE_HIGHER, "share of the compute time that is compute-bound, rank 0")},
    {REAL(op_intensity, "op/B", STORE_HIGHER, "mean operational intensity while computing, rank 0")},
    {U64(wall_time_rank0, "ns", STORE_LOWER, "end of rank 0")},
    {BYTES(peak_memory_rank0, "B", STORE_LOWER, "most local memory that rank 0 ever holds")},
    {U64(nodes, "", STORE_NEITHER, "nodes simulated")},
    {U64(messages, "", STORE_NEITHER, "messages simulated")},
    {U64(step_compute_bound, "ns", STORE_LOWER, "of the step: compute at the peak of the roofline")},
    {U64(step_memory_bound, "ns", STORE_LOWER, "of the step: compute that waits for the local memory")},
    {U64(step_compute_other, "ns", STORE_LOWER, "of the step: compute without a roofline, fixed costs")},
#define STRATEGY_PARAMETER(name, ...)
#define STRATEGY_AXIS(name, ...)                                                                             \
    {"step_comm_" #name,                                                                                     \
     STORE_U64,                                                                                              \
     "ns",                                                                                                   \
     STORE_LOWER,                                                                                            \
     "of the step: communication along " #name ", not covered by compute",                                   \
     AT(step_comm[STRATEGY_AXIS_##name])},
#include "strategy/parameters.h"
    {U64(step_comm_mixed, "ns", STORE_LOWER,
         "of the step: communication along several dimensions, remote memory")},
    {U64(step_idle, "ns", STORE_LOWER,
         "of the step: waiting for what another pipeline stage has not sent yet")},
    {BYTES(peak_weights, "B", STORE_NEITHER, "of the peak: weights")},
    {BYTES(peak_weight_gradients, "B", STORE_NEITHER, "of the peak: gradients of weights")},
    {BYTES(peak_updated_weights, "B", STORE_NEITHER, "of the peak: weights after their update")},
    {BYTES(peak_activations, "B", STORE_NEITHER, "of the peak: activations kept from the forward pass")},
    {BYTES(peak_recomputed, "B", STORE_NEITHER, "of the peak: activations made again")},
    {BYTES(peak_activation_gradients, "B", STORE_NEITHER, "of the peak: gradients of activations")},
    {BYTES(peak_inputs, "B", STORE_NEITHER, "of the peak: inputs of the model")},
    {BYTES(peak_optimizer, "B", STORE_NEITHER,
           "of the peak: what the optimizer keeps; if bytes are counted")},
    {BYTES(
        peak_gathered, "B", STORE_NEITHER,
        "of the peak: sharded weights gathered for use, and gradients before their reduction; if bytes are "
        "counted")},
    {PEAK(peak_time, "ns", STORE_NEITHER, "when the peak is reached")},
    {PEAK(peak_layer, "", STORE_NEITHER, "in which layer, counted from 0")},
    {TEXT(peak_pass, "", STORE_NEITHER, "in the forward or backward pass, recomputation or update")},
    {TEXT(peak_node, "", STORE_NEITHER, "the node that runs when the peak is reached")},
    {U64(undercharged_messages, "", STORE_NEITHER,
         "messages across several dimensions that paid for the lowest alone")},
    {U64(flat_ring_collectives, "", STORE_NEITHER,
         "collectives of groups, of all ranks, run as flat rings against the implementations")},
    {REAL(busiest_link_util, "%", STORE_NEITHER, "share of the run that the busiest link is busy")},
    {TEXT(busiest_link, "", STORE_NEITHER, "which link that is")},
    {TEXT(fallback, "", STORE_NEITHER, "why the fast engine could not simulate the point")},
    {REAL(tokens_per_s, "1/s", STORE_HIGHER, "tokens of a step by its time; profile train")},
    {REAL(tokens_per_s_npu, "1/s", STORE_HIGHER, "the same of one NPU; profile train")},
    {REAL(mfu, "%", STORE_HIGHER,
          "model FLOPS utilisation: operations of the model by the peak of all NPUs; profile train")},
    {REAL(hfu, "%", STORE_HIGHER,
          "hardware FLOPS utilisation: the same, recomputation included; profile train")},
    {REAL(cost_per_step, "", STORE_LOWER,
          "price of all NPUs for a step; if the system has cost.per_device_hour")},
    {REAL(cost_per_trillion_tokens, "", STORE_LOWER, "the same for 10^12 tokens; profile train")},
    {REAL(energy_per_step, "kWh", STORE_LOWER,
          "energy of all NPUs for a step; if the system has cost.power")},
    {REAL(energy_per_trillion_tokens, "kWh", STORE_LOWER, "the same for 10^12 tokens; profile train")},
};

const store_column *store_columns(size_t *n)
{
    *n = DSE_COUNT(columns);
    return columns;
}

const store_column *store_column_find(const char *name)
{
    for (size_t i = 0; i < DSE_COUNT(columns); i++)
        if (!strcmp(columns[i].name, name))
            return &columns[i];
    return NULL;
}

bool store_column_has_profile(const store_column *c, unsigned profile)
{
    static const size_t of_training[] = {
        AT(tokens_per_s), AT(tokens_per_s_npu),         AT(mfu),
        AT(hfu),          AT(cost_per_trillion_tokens), AT(energy_per_trillion_tokens)};

    /* Of the nodes and messages of a workload. */
    static const size_t of_workloads[] = {AT(compute_util),
                                          AT(mem_util),
                                          AT(compute_bound),
                                          AT(op_intensity),
                                          AT(nodes),
                                          AT(messages),
                                          AT(step_memory_bound),
                                          AT(step_compute_other),
                                          AT(step_comm_mixed),
                                          AT(peak_layer),
                                          AT(peak_inputs),
                                          AT(peak_updated_weights),
                                          AT(undercharged_messages),
                                          AT(flat_ring_collectives),
                                          AT(busiest_link_util),
                                          AT(busiest_link),
                                          AT(fallback)};

    for (size_t i = 0; i < DSE_COUNT(of_workloads); i++)
        if (c->offset == of_workloads[i])
            return profile & STRATEGY_PROFILE_STAGE;
    for (size_t i = 0; i < DSE_COUNT(of_training); i++)
        if (c->offset == of_training[i])
            return profile == STRATEGY_PROFILE_TRAIN;
    for (uint32_t i = 0; i < STRATEGY_N_AXES; i++)
        if (c->offset == AT(step_comm[i]))
            return strategy_has_profile(strategy_axes[i], profile);
    return true;
}

bool store_column_is_cost(const store_column *c)
{
    static const size_t costs[] = {AT(cost_per_step), AT(cost_per_trillion_tokens), AT(energy_per_step),
                                   AT(energy_per_trillion_tokens)};

    for (size_t i = 0; i < DSE_COUNT(costs); i++)
        if (c->offset == costs[i])
            return true;
    return false;
}

void store_add_costs(uint64_t npus, double per_device_hour, double power, store_metrics *m)
{
    const double seconds = (double)m->wall_time * 1e-9, npu_hours = seconds / 3600 * (double)npus,
                 trillions = m->tokens_per_s * seconds * 1e-12;

    m->cost_per_step = store_has_step(m) ? npu_hours * per_device_hour : NAN;
    m->energy_per_step = store_has_step(m) ? npu_hours * power / 1000 : NAN;
    m->cost_per_trillion_tokens = m->cost_per_step / trillions;
    m->energy_per_trillion_tokens = m->energy_per_step / trillions;
}

uint64_t store_count(const store_metrics *m, const store_column *c)
{
    return *(const uint64_t *)(const void *)((const char *)m + c->offset);
}

const char *store_text(const store_metrics *m, const store_column *c)
{
    return *(const char *const *)(const void *)((const char *)m + c->offset);
}

double store_value(const store_metrics *m, const store_column *c)
{
    if (c->type == STORE_TEXT)
        return NAN;
    if (c->type == STORE_REAL)
        return *(const double *)(const void *)((const char *)m + c->offset);
    return store_count(m, c) == STORE_ABSENT ? NAN : (double)store_count(m, c);
}

bool store_has(const store_metrics *m, const store_column *c)
{
    return c->type == STORE_TEXT ? store_text(m, c) != NULL : !isnan(store_value(m, c));
}

void store_metrics_clear(store_metrics *m)
{
    for (size_t i = 0; i < DSE_COUNT(columns); i++) {
        void *field = (char *)m + columns[i].offset;

        switch (columns[i].type) {
        case STORE_REAL: *(double *)field = NAN; break;
        case STORE_TEXT: *(const char **)field = NULL; break;
        case STORE_U64:
        case STORE_PEAK_U64:
        case STORE_BYTES: *(uint64_t *)field = STORE_ABSENT; break;
        }
    }
}
