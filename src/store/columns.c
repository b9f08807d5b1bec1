#include "store/store.h"

#include <math.h>
#include <string.h>

#define U64(f)   #f, STORE_U64
#define BYTES(f) #f, STORE_BYTES
#define REAL(f)  #f, STORE_REAL
#define PEAK(f)  #f, STORE_PEAK_U64
#define TEXT(f)  #f, STORE_TEXT
#define AT(f)    offsetof(store_metrics, f)

static const store_column columns[] = {
    {U64(wall_time), "ns", STORE_LOWER, "time of the training step: end of the slowest rank", AT(wall_time)},
    {BYTES(peak_memory), "B", STORE_LOWER, "most local memory that any rank ever holds", AT(peak_memory)},
    {U64(exposed_comm), "ns", STORE_LOWER, "time not covered by compute, rank 0", AT(exposed_comm)},
    {U64(gpu_time), "ns", STORE_LOWER, "time in compute, rank 0", AT(gpu_time)},
    {U64(comm_time), "ns", STORE_LOWER, "time in communication, rank 0", AT(comm_time)},
    {REAL(compute_util), "%", STORE_HIGHER, "compute utilisation while computing, rank 0", AT(compute_util)},
    {REAL(mem_util), "%", STORE_HIGHER, "memory bandwidth utilisation while computing, rank 0", AT(mem_util)},
    {REAL(compute_bound), "%", STORE_HIGHER, "share of the compute time that is compute-bound, rank 0",
     AT(compute_bound)},
    {REAL(op_intensity), "op/B", STORE_HIGHER, "mean operational intensity while computing, rank 0",
     AT(op_intensity)},
    {U64(wall_time_rank0), "ns", STORE_LOWER, "end of rank 0", AT(wall_time_rank0)},
    {BYTES(peak_memory_rank0), "B", STORE_LOWER, "most local memory that rank 0 ever holds",
     AT(peak_memory_rank0)},
    {U64(nodes), "", STORE_NEITHER, "nodes simulated", AT(nodes)},
    {U64(messages), "", STORE_NEITHER, "messages simulated", AT(messages)},
    {U64(step_compute_bound), "ns", STORE_LOWER, "of the step: compute at the peak of the roofline",
     AT(step_compute_bound)},
    {U64(step_memory_bound), "ns", STORE_LOWER, "of the step: compute that waits for the local memory",
     AT(step_memory_bound)},
    {U64(step_compute_other), "ns", STORE_LOWER, "of the step: compute without a roofline, fixed costs",
     AT(step_compute_other)},
#define STRATEGY_PARAMETER(name, ...)
#define STRATEGY_AXIS(name, ...)                                                                             \
    {"step_comm_" #name,                                                                                     \
     STORE_U64,                                                                                              \
     "ns",                                                                                                   \
     STORE_LOWER,                                                                                            \
     "of the step: communication along " #name ", not covered by compute",                                  \
     AT(step_comm[STRATEGY_AXIS_##name])},
#include "strategy/parameters.h"
    {U64(step_comm_mixed), "ns", STORE_LOWER,
     "of the step: communication along several dimensions, remote memory", AT(step_comm_mixed)},
    {U64(step_idle), "ns", STORE_LOWER,
     "of the step: waiting for what another pipeline stage has not sent yet", AT(step_idle)},
    {BYTES(peak_weights), "B", STORE_NEITHER, "of the peak: weights", AT(peak_weights)},
    {BYTES(peak_weight_gradients), "B", STORE_NEITHER, "of the peak: gradients of weights",
     AT(peak_weight_gradients)},
    {BYTES(peak_updated_weights), "B", STORE_NEITHER, "of the peak: weights after their update",
     AT(peak_updated_weights)},
    {BYTES(peak_activations), "B", STORE_NEITHER, "of the peak: activations kept from the forward pass",
     AT(peak_activations)},
    {BYTES(peak_recomputed), "B", STORE_NEITHER, "of the peak: activations made again", AT(peak_recomputed)},
    {BYTES(peak_activation_gradients), "B", STORE_NEITHER, "of the peak: gradients of activations",
     AT(peak_activation_gradients)},
    {BYTES(peak_inputs), "B", STORE_NEITHER, "of the peak: inputs of the model", AT(peak_inputs)},
    {BYTES(peak_optimizer), "B", STORE_NEITHER, "of the peak: what the optimizer keeps; if bytes are counted",
     AT(peak_optimizer)},
    {BYTES(peak_gathered), "B", STORE_NEITHER,
     "of the peak: sharded weights gathered for use, and gradients before their reduction; if bytes are "
     "counted",
     AT(peak_gathered)},
    {PEAK(peak_time), "ns", STORE_NEITHER, "when the peak is reached", AT(peak_time)},
    {PEAK(peak_layer), "", STORE_NEITHER, "in which layer, counted from 0", AT(peak_layer)},
    {TEXT(peak_pass), "", STORE_NEITHER, "in the forward or backward pass, recomputation or update",
     AT(peak_pass)},
    {TEXT(peak_node), "", STORE_NEITHER, "the node that runs when the peak is reached", AT(peak_node)},
    {U64(undercharged_messages), "", STORE_NEITHER,
     "messages across several dimensions that paid for the lowest alone", AT(undercharged_messages)},
    {U64(flat_ring_collectives), "", STORE_NEITHER,
     "collectives of groups, of all ranks, run as flat rings against the implementations",
     AT(flat_ring_collectives)},
    {REAL(busiest_link_util), "%", STORE_NEITHER, "share of the run that the busiest link is busy",
     AT(busiest_link_util)},
    {TEXT(busiest_link), "", STORE_NEITHER, "which link that is", AT(busiest_link)},
    {TEXT(fallback), "", STORE_NEITHER, "why the fast engine could not simulate the point", AT(fallback)},
};

const store_column *store_columns(size_t *n)
{
    *n = sizeof columns / sizeof columns[0];
    return columns;
}

const store_column *store_column_find(const char *name)
{
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (!strcmp(columns[i].name, name))
            return &columns[i];
    return NULL;
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
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
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
