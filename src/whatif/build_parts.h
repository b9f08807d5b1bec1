/* Private to build*.c. */
#ifndef DSE_WHATIF_BUILD_PARTS_H
#define DSE_WHATIF_BUILD_PARTS_H

#include "whatif/build.h"

#define WHATIF_CLOSE_PS                                                                                      \
    (20 * (int64_t)TRACE_PS_PER_US) /* an end this shortly before a begin may be its cause */
#define WHATIF_ROUND_PS (1 * (int64_t)TRACE_PS_PER_US)    /* older traces have whole microseconds */
#define WHATIF_IDLE_PS  (1000 * (int64_t)TRACE_PS_PER_US) /* a thread that rests longer waits for another */

typedef struct {
    const whatif_recording *from;
    whatif_graph *graph;
    dse_arena *arena;
    dse_arena scratch;
} whatif_builder;

/* A rank's operations, in lists that the parts share; indexes into the graph's operations. */
typedef struct {
    uint32_t rank;
    const metric_view *view;
    metric_span window; /* of the step, in the rank's time */
    uint32_t main_lane; /* the thread that the step's marker is on */
    uint32_t n_calls, n_gpu;
    uint32_t *call;      /* by start */
    uint32_t *gpu;       /* by start */
    uint32_t *by_end;    /* those of the GPU, by end */
    uint32_t *by_launch; /* those that a call launched, by the start of the calls */
    uint32_t n_launched;
    uint32_t *before;    /* by operation of a GPU, from the rank's first: the one before it on its stream */
    int64_t *busy_until; /* by lane: the stream, with what was launched before the step */
    uint8_t *comm_type;  /* by event; METRIC_COMM_TYPES: it does not communicate */
} whatif_rank;

void whatif_link(whatif_builder *b, uint32_t from, uint32_t to, int64_t weight, whatif_part part,
                 uint32_t op);
void whatif_wait(whatif_builder *b, uint32_t from_op,
                 uint32_t to_op); /* the end of one, the begin of another */

bool whatif_communicates(const whatif_op *o);

/* Whether a call of the host returns only when the GPU has done something: by its name. */
bool whatif_is_blocking(const char *name);

/* The latest operation of the GPU that ended within (after, until]; DSE_NONE. */
uint32_t whatif_last_ended(const whatif_builder *b, const whatif_rank *r, int64_t after, int64_t until);

void whatif_build_host(whatif_builder *b, const whatif_rank *r);    /* threads and blocking calls */
void whatif_build_streams(whatif_builder *b, const whatif_rank *r); /* launches and streams */
void whatif_build_waits(whatif_builder *b, const whatif_rank *r);   /* of streams for each other */

/* build_comm.c, in this order. Finds the collectives of all ranks; how late each rank sees their ends;
 * how long they take; their edges. */
void whatif_match(whatif_builder *b, const whatif_rank *rank);
void whatif_lateness(const whatif_builder *b, int64_t *late); /* by rank */
void whatif_measure_comm(whatif_builder *b);
void whatif_build_comm(whatif_builder *b);

#endif
