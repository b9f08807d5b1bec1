/* Source of the names: xla/backends/profiler/gpu (cupti_collector.cc, rocm_collector.cc), which call a plane
 * "/device:GPU:<k>", a line "Stream #<id>(<kinds of events>)", and copies and fills "MemcpyD2H", "Memset". */
#include "trace/xla_gpu.h"

#include "trace/mover.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define PLANE    "/device:GPU:"
#define MAX_GPUS 4096

typedef enum {
    ON_HOST,
    ON_OTHER_LINE, /* of a GPU */
    ON_OPERATIONS, /* the line of a GPU with XLA's operations */
    ON_STREAM
} lane_use;

typedef struct {
    uint32_t n;
    uint32_t number[MAX_GPUS]; /* ascending */
    bool has_streams[MAX_GPUS];
    uint32_t *gpu; /* by lane: its place; DSE_NONE: the host's */
    uint8_t *use;  /* by lane: lane_use */
} gpus;

/* k of "/device:GPU:<k>", whatever follows ("/device:GPU:0 (NVIDIA H100)"); DSE_NONE. */
static uint32_t gpu_of(const char *process)
{
    unsigned long n;

    if (!process || strncmp(process, PLANE, strlen(PLANE)) != 0 ||
        !isdigit((unsigned char)process[strlen(PLANE)]))
        return DSE_NONE;
    n = strtoul(process + strlen(PLANE), NULL, 10);
    return n < DSE_NONE ? (uint32_t)n : DSE_NONE;
}

static lane_use use_of(const char *line)
{
    if (line && strncmp(line, "Stream #", strlen("Stream #")) == 0)
        return ON_STREAM;
    return !line || strcmp(line, "XLA Ops") == 0 ? ON_OPERATIONS : ON_OTHER_LINE;
}

/* The place of a GPU among the others, which are kept in the order of their numbers. */
static void add_gpu(gpus *g, uint32_t number)
{
    uint32_t at = 0;

    while (at < g->n && g->number[at] < number)
        at++;
    if (g->n == MAX_GPUS || (at < g->n && g->number[at] == number))
        return;
    memmove(g->number + at + 1, g->number + at, (g->n - at) * sizeof *g->number);
    g->number[at] = number;
    g->n++;
}

static void find_gpus(const trace_rank *r, gpus *g)
{
    for (uint32_t i = 0; i < r->n_lanes; i++) {
        uint32_t number = gpu_of(TRACE_NAME(r, r->lane[i].process_name));

        if (number != DSE_NONE)
            add_gpu(g, number);
    }
    for (uint32_t i = 0; g->n && i < r->n_lanes; i++) {
        uint32_t number = gpu_of(TRACE_NAME(r, r->lane[i].process_name));

        g->gpu[i] = DSE_NONE;
        for (uint32_t k = 0; k < g->n && number != DSE_NONE; k++)
            if (g->number[k] == number)
                g->gpu[i] = k;
        g->use[i] = ON_HOST;
        if (g->gpu[i] == DSE_NONE)
            continue;
        g->use[i] = (uint8_t)use_of(TRACE_NAME(r, r->lane[i].thread));
        g->has_streams[g->gpu[i]] = g->has_streams[g->gpu[i]] || g->use[i] == ON_STREAM;
    }
}

static trace_category category_of(const trace_rank *r, const gpus *g, const trace_event *e)
{
    const char *name = TRACE_NAME(r, e->name);
    lane_use use = (lane_use)g->use[e->lane];

    if (use == ON_HOST || use == ON_OTHER_LINE || (use == ON_OPERATIONS && g->has_streams[g->gpu[e->lane]]))
        return TRACE_OTHER;
    if (name && strncmp(name, "Memcpy", strlen("Memcpy")) == 0)
        return TRACE_MEMCPY;
    return name && strncmp(name, "Memset", strlen("Memset")) == 0 ? TRACE_MEMSET : TRACE_KERNEL;
}

static void split(const trace_rank *from, const gpus *g, const char *path, trace_record *to)
{
    trace_mover m = trace_mover_of(from);

    for (uint32_t k = 0; k < g->n; k++) {
        trace_mover_begin(&m, to, TRACE_XLA_GPU, path, g->number[k]);
        for (size_t i = 0; i < from->n_events; i++) {
            const trace_event *e = &from->event[i];

            if (g->gpu[e->lane] == k || g->gpu[e->lane] == DSE_NONE)
                trace_mover_add(&m, e, category_of(from, g, e));
        }
    }
    trace_mover_free(&m);
}

void trace_xla_split_gpus(trace_record *r, const char *path)
{
    const trace_rank *from = &r->rank[0];
    trace_record ranks = {0};
    gpus *g = dse_calloc(1, sizeof *g);

    g->gpu = dse_calloc(from->n_lanes, sizeof *g->gpu);
    g->use = dse_calloc(from->n_lanes, sizeof *g->use);
    find_gpus(from, g);
    if (g->n) {
        split(from, g, path, &ranks);
        for (size_t i = 0; i < r->n_warnings; i++)
            trace_warn(&ranks, NULL, "%s", r->warning[i].text);
        trace_record_free(r);
        *r = ranks;
    }
    dse_free(g->gpu);
    dse_free(g->use);
    dse_free(g);
}
