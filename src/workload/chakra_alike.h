/* wl_alike -- finds the files that describe one graph.
 *
 * Ranks that execute the same nodes have files that differ in ids, group names, peers and tags only. The
 * reader parses the first of them and drafts its template (chakra_template.h); a file that matches it is not
 * parsed again, and its rank shares the graph. Nothing is taken for alike by a hash or a size: every byte
 * outside of the holes is equal, and the ids stand in the same order. Private to the reader. */
#ifndef DSE_WORKLOAD_CHAKRA_ALIKE_H
#define DSE_WORKLOAD_CHAKRA_ALIKE_H

#include "workload/chakra_template.h"

enum {
    WL_ALIKE_MAX = 16,            /* templates that are kept: the stages of a pipeline may alternate */
    WL_ALIKE_MAX_GROUP_SLOTS = 64 /* a graph with more is not shared: their names are compared in pairs */
};

typedef struct {
    struct {
        wl_template common;
        uint32_t graph; /* index into the workload's graphs */
    } known[WL_ALIKE_MAX];
    uint32_t n, last, oldest; /* last: matched or added most recently, tried first */
    uint32_t n_single;        /* added since a file last matched */

    /* For matching, as large as any known graph needs. */
    bool *has_id;
    wl_p2p *p2p;
    pb_range *group_name;
    size_t cap_has_id, cap_p2p, cap_names;
} wl_alike;

void wl_alike_init(wl_alike *m);
void wl_alike_free(wl_alike *m);

/* Remembers a file of schema v0.0.4 by what the parser made of it. A file of a shape that its template could
 * not tell from another (an attribute of two values, two ids) is left out, and so is every file after
 * WL_ALIKE_MAX in a row that had no like. */
void wl_alike_add(wl_alike *m, pb_range file, const wl_trace *t, uint32_t graph);

/* A known graph that this file describes too: its index into `graphs`, or DSE_NONE. If there is one, *out is
 * the file's trace, but for its path: what parsing would give, save that the ids are those of the graph plus
 * id_base and that the slots are the graph's. */
uint32_t wl_alike_find(wl_alike *m, pb_range file, uint32_t rank, const wl_graph *graphs, dse_arena *a,
                       wl_trace *out);

#endif
