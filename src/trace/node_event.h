/* trace_node_event -- the nodes of a simulated run as events of a trace: the stream and the description of
 * each. Both ways to a record use it: a Chrome trace that is read back (timeline.h), and the direct one
 * (simulated.h).
 *
 * Streams of a rank: 1 the host, 7 compute, from 8 copies to and from remote memory, from 20 collectives,
 * from 40 messages. Events that overlap take further streams, each the lowest that is free. */
#ifndef DSE_TRACE_NODE_EVENT_H
#define DSE_TRACE_NODE_EVENT_H

#include "trace/ticks.h"
#include "trace/timeline.h"

#define TRACE_STEP_NAME  "ProfilerStep#0" /* the annotation over a rank's whole run, on thread 0 */
#define TRACE_STEP_WORD  "user_annotation"
#define TRACE_NODE_DTYPE "Byte" /* element type of messages: what the workload calls bytes */

/* The ranks that communicate; texts are borrowed. */
typedef struct {
    uint32_t size;
    const char *name, *desc; /* NULL: none */
    const char *ranks;       /* "[0, 1]" */
} trace_node_group;

typedef struct {
    uint64_t node; /* of the Chakra node */
    const char *name, *word;
    dse_time start, end;
    uint32_t stream;
    const char *stream_is;         /* "collectives" */
    bool on_device;                /* else on the host */
    const char *collective;        /* "all_reduce"; NULL: it does not communicate */
    uint64_t in, out;              /* elements of one "Byte"; TRACE_TICKS_UNKNOWN */
    const trace_kernel *kernel;    /* NULL: no compute node, or unknown */
    const trace_node_group *group; /* until the next event; NULL: not known */
} trace_node_event;

#define TRACE_TICKS_UNKNOWN UINT64_MAX

/* Families of events that have streams of their own. */
#define TRACE_NODE_FAMILIES 5

/* When each stream of a family is free again; grows with what runs at a time. */
typedef struct {
    size_t n, cap;
    dse_time *end;
} trace_node_lanes;

/* A walk over the events of a run, rank by rank. */
typedef struct {
    const trace_ticks *t;
    const trace_timeline_groups *groups;
    uint64_t next, end;      /* remaining events of the rank */
    trace_node_group *group; /* by number */
    dse_strbuf texts;        /* lists of ranks, NUL-terminated, one after the other */
    trace_node_group pair;   /* the two ranks of a message */
    char pair_ranks[32];
    trace_node_lanes lane[TRACE_NODE_FAMILIES];
} trace_node_walk;

/* Both are borrowed. */
void trace_node_walk_init(trace_node_walk *w, const trace_ticks *t, const trace_timeline_groups *g);
void trace_node_walk_free(trace_node_walk *w);

/* Moves to a rank: the first one, or the one after the last; *wall: the end of its last event. */
void trace_node_walk_rank(trace_node_walk *w, uint32_t rank, dse_time *wall);

/* The rank's next event; false after the last one. */
bool trace_node_next(trace_node_walk *w, trace_node_event *out);

/* Number and kind of the k-th stream, by family, that the rank's events have taken so far; false: there are
 * fewer. */
bool trace_node_stream(const trace_node_walk *w, size_t k, uint32_t *number, const char **is);

#endif
