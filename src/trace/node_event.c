#include "trace/node_event.h"

#include "base/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LISTED                                                                                               \
    30 /* longest list of ranks that is written out; of a longer one the middle is left out, as in Kineto */

/* A family of events with its own range of streams, in the order in which streams are listed. */
typedef struct {
    const char *word;   /* category of its events */
    const char *stream; /* what its streams are */
    uint32_t first;     /* number of its first stream */
    uint32_t room;      /* size of the range; further streams get numbers that no other family uses */
} family;

enum { COMPUTE, COPIES, COLLECTIVES, MESSAGES, HOST, N_FAMILIES };
_Static_assert(N_FAMILIES == TRACE_NODE_FAMILIES, "each has its lanes");

static const family families[N_FAMILIES] = {
    [COMPUTE] = {"kernel", "compute", 7, 1},
    [COPIES] = {"gpu_memcpy", "remote memory", 8, 12},
    [COLLECTIVES] = {"kernel", "collectives", 20, 20},
    [MESSAGES] = {"kernel", "send and receive", 40, 960},
    [HOST] = {"cpu_op", "host", 1, 6},
};

static const uint8_t family_of[] = {
    [TRACE_TICKS_COMPUTE] = COMPUTE, [TRACE_TICKS_COLLECTIVE] = COLLECTIVES, [TRACE_TICKS_SEND] = MESSAGES,
    [TRACE_TICKS_RECV] = MESSAGES,   [TRACE_TICKS_MEMORY] = COPIES,          [TRACE_TICKS_OTHER] = HOST,
    [TRACE_TICKS_CPU] = HOST,
};

/* ---- streams --------------------------------------------------------------------------------- */

static uint32_t stream_number(int f, size_t lane)
{
    return lane < families[f].room ? families[f].first + (uint32_t)lane
                                   : 1000000u * (uint32_t)(f + 1) + (uint32_t)lane;
}

bool trace_node_stream(const trace_node_walk *w, size_t k, uint32_t *number, const char **is)
{
    for (int f = 0; f < N_FAMILIES; k -= w->lane[f].n, f++)
        if (k < w->lane[f].n) {
            *number = stream_number(f, k);
            *is = families[f].stream;
            return true;
        }
    return false;
}

/* Takes the lowest free stream. A linear search: few streams are busy at a time, except for the receives of a
 * pipeline's stage, all of which wait from the start. */
static size_t take_lane(trace_node_lanes *l, dse_time start, dse_time end)
{
    size_t i = 0;

    while (i < l->n && l->end[i] > start)
        i++;
    if (i == l->n) {
        DSE_GROW(l->end, l->cap, l->n + 1);
        l->n++;
    }
    l->end[i] = end;
    return i;
}

/* ---- communication --------------------------------------------------------------------------- */

/* Output elements per input element, in a group of n: 1, n, or 1/n. The simulator defines what the number of
 * bytes means (sim/collective.h). */
typedef enum { UNCHANGED, GATHERED, SCATTERED } output_size;

typedef struct {
    const char *name;
    output_size out;
} collective;

/* By Chakra's numbers. */
static const collective collectives[] = {
    [0] = {"all_reduce", UNCHANGED}, [2] = {"all_gather", GATHERED},      [5] = {"broadcast", UNCHANGED},
    [6] = {"all_to_all", UNCHANGED}, [7] = {"reduce_scatter", SCATTERED},
};

static collective collective_of(uint8_t type)
{
    return type < DSE_COUNT(collectives) && collectives[type].name ? collectives[type]
                                                                   : (collective){"unknown", UNCHANGED};
}

/* A collective without a group is over dimensions of the network: only the simulator knows its ranks. */
static void describe_collective(const trace_node_walk *w, uint64_t i, trace_node_event *e)
{
    const trace_ticks *t = w->t;
    collective c = collective_of(t->collective[i]);
    uint64_t n;

    e->collective = c.name;
    e->in = t->bytes[i];
    if (t->with[i] >= w->groups->n)
        return;
    e->group = &w->group[t->with[i]];
    n = e->group->size;
    e->out = c.out == GATHERED ? e->in * n : c.out == SCATTERED ? e->in / n : e->in;
}

static void describe_message(trace_node_walk *w, uint64_t i, trace_node_event *e)
{
    const trace_ticks *t = w->t;
    uint32_t one = t->rank[i], other = t->with[i];

    e->collective = t->category[i] == TRACE_TICKS_SEND ? "send" : "recv";
    e->in = e->out = t->bytes[i];
    if (other == DSE_NONE)
        return;
    snprintf(w->pair_ranks, sizeof w->pair_ranks, "[%" PRIu32 ", %" PRIu32 "]", one < other ? one : other,
             one < other ? other : one);
    w->pair = (trace_node_group){2, NULL, w->groups->messages, w->pair_ranks};
    e->group = &w->pair;
}

bool trace_node_next(trace_node_walk *w, trace_node_event *out)
{
    const trace_ticks *t = w->t;
    uint64_t i = w->next;
    size_t lane;
    int f;

    if (i == w->end)
        return false;
    f = family_of[t->category[i]];
    lane = take_lane(&w->lane[f], t->start[i], t->end[i]);
    *out = (trace_node_event){.node = t->id[i],
                              .name = t->name[i] ? t->name[i] : "",
                              .word = families[f].word,
                              .start = t->start[i],
                              .end = t->end[i],
                              .stream = stream_number(f, lane),
                              .stream_is = families[f].stream,
                              .on_device = f != HOST,
                              .kernel = t->kernel ? t->kernel[i] : NULL,
                              .in = TRACE_TICKS_UNKNOWN,
                              .out = TRACE_TICKS_UNKNOWN};
    if (f == COLLECTIVES)
        describe_collective(w, i, out);
    else if (f == MESSAGES)
        describe_message(w, i, out);
    w->next++;
    return true;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void add_ranks(const uint32_t *rank, uint32_t n, dse_strbuf *b)
{
    dse_strbuf_addc(b, '[');
    for (uint32_t i = 0; i < n; i++) {
        if (n > LISTED && i == LISTED - 1) {
            dse_strbuf_adds(b, ", ...");
            i = n - 1;
        }
        dse_strbuf_adds(b, i ? ", " : "");
        dse_strbuf_addu(b, rank[i]);
    }
    dse_strbuf_adds(b, "]");
    dse_strbuf_addc(b, '\0');
}

void trace_node_walk_init(trace_node_walk *w, const trace_ticks *t, const trace_timeline_groups *g)
{
    const char *ranks;

    *w = (trace_node_walk){.t = t, .groups = g, .group = dse_calloc(g->n, sizeof *w->group)};
    dse_strbuf_init(&w->texts);
    for (uint32_t i = 0; i < g->n; i++)
        add_ranks(g->group[i].rank, g->group[i].n, &w->texts);
    ranks = w->texts.data;
    for (uint32_t i = 0; i < g->n; i++) {
        w->group[i] = (trace_node_group){g->group[i].n, g->group[i].name, g->group[i].desc, ranks};
        ranks += strlen(ranks) + 1;
    }
}

void trace_node_walk_free(trace_node_walk *w)
{
    for (int f = 0; f < N_FAMILIES; f++)
        dse_free(w->lane[f].end);
    dse_free(w->group);
    dse_strbuf_free(&w->texts);
    *w = (trace_node_walk){0};
}

/* Events of a rank are contiguous. */
void trace_node_walk_rank(trace_node_walk *w, uint32_t rank, dse_time *wall)
{
    const trace_ticks *t = w->t;

    *wall = 0;
    for (w->next = w->end; w->end < t->n && t->rank[w->end] == rank; w->end++)
        *wall = t->end[w->end] > *wall ? t->end[w->end] : *wall;
    for (int f = 0; f < N_FAMILIES; f++)
        w->lane[f].n = 0;
}
