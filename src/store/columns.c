#include "store/store.h"

#include <math.h>
#include <string.h>

#define U64(f)   #f, STORE_U64
#define BYTES(f) #f, STORE_BYTES
#define REAL(f)  #f, STORE_REAL
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
    {U64(events), "", STORE_NEITHER, "events simulated", AT(events)},
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

double store_value(const store_metrics *m, const store_column *c)
{
    if (c->type == STORE_REAL)
        return *(const double *)(const void *)((const char *)m + c->offset);
    return store_count(m, c) == STORE_ABSENT ? NAN : (double)store_count(m, c);
}

void store_metrics_clear(store_metrics *m)
{
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        void *field = (char *)m + columns[i].offset;

        if (columns[i].type == STORE_REAL)
            *(double *)field = NAN;
        else
            *(uint64_t *)field = STORE_ABSENT;
    }
}
