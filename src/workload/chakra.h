/* Chakra execution traces: the files between a workload generator and a simulator.
 *
 * One file per rank. Written in STAGE's three schemas, byte for byte what STAGE writes; read in schema
 * v0.0.4 (also gzip-compressed), in STAGE's JSON, and in the JSON of Chakra's feeder
 * ("workload_graph"). Beside the traces stands the communicator-group file, {"1": [0, 1], ...}. */
#ifndef DSE_WORKLOAD_CHAKRA_H
#define DSE_WORKLOAD_CHAKRA_H

#include "base/strbuf.h"
#include "workload/graph.h"

typedef struct wl_template wl_template; /* chakra_template.h */

typedef struct {
    const char *name; /* as STAGE's --chakra_schema_version takes it */
    const char *summary;
    /* Appends what the files of all ranks of a graph have in common. */
    void (*draft)(const wl_graph *g, wl_template *out);
} wl_schema;

extern const wl_schema wl_schema_v004, wl_schema_v001, wl_schema_json; /* one file each */
/* As wl_schema_v004, with a number for the group (comm_group instead of pg_name) and no is_cpu_op: what
 * STAGE's main branch writes with STAGE_LEGACY_ATTR=1. Not among those found by name. */
extern const wl_schema wl_schema_v004_legacy;

const wl_schema *wl_schema_find(const char *name);

/* Appends one rank's file. */
void wl_chakra_write(const wl_workload *w, const wl_schema *schema, uint32_t rank, dse_strbuf *out);

/* Writes one file per rank; `pattern` is a path whose file name holds %d for the rank ("w.%d.et").
 * Folders are made. DSE_E_IO. */
dse_status wl_chakra_write_files(const wl_workload *w, const wl_schema *schema, const char *pattern,
                                 dse_error *err);

void wl_groups_write(const wl_workload *w, dse_strbuf *out);

/* Fills in the groups of a workload of n_ranks ranks: that of all ranks, and those of a group file; text
 * NULL: there is no file. DSE_E_SYNTAX, DSE_E_CONFIG, DSE_E_RANGE with the place. For fuzzing, too. */
dse_status wl_groups_parse(const char *path, const char *text, size_t n, uint32_t n_ranks, dse_arena *a,
                           wl_workload *w, dse_error *err);

/* How traces are read where readers differ, and what was left out. Zeros: as ASTRA-sim's branch stage. */
typedef struct {
    /* Groups have numbers above 0. A collective of group "" or "0", or of none, is of no group, and goes over
     * the dimensions of its attribute involved_dim, or the first four; with a group the attribute has no
     * effect. Otherwise the attribute is involve_dims, and comes before the group. */
    bool numbered_groups;
    bool drop_absent; /* dependencies on nodes that the file lacks are left out; otherwise they are refused */

    uint64_t n_dropped; /* such dependencies so far, and the first of them */
    const char *dropped_path;
    uint64_t dropped_node, dropped_on;
} wl_reading;

/* Reads <prefix>.<rank>.et (or .json, if that exists instead) for n_ranks ranks and the group file;
 * groups_path NULL: only the group of all ranks exists. Ranks whose files say the same but for ids, groups,
 * peers and tags share a graph (chakra_alike.h). `how` may be NULL, here and below. DSE_E_IO, DSE_E_SYNTAX,
 * DSE_E_WORKLOAD; the message names file and node. */
dse_status wl_chakra_read(const char *prefix, const char *groups_path, uint32_t n_ranks, wl_reading *how,
                          dse_arena *a, wl_workload *out, dse_error *err);

/* One rank's trace from memory: its graph, and the names of the groups its slots mean. For tests and
 * fuzzing; wl_chakra_read is built of it. */
typedef struct {
    const char *path; /* as given: what messages call it */
    wl_graph graph;
    const char **group_name; /* n_group_slots */
    wl_p2p *p2p;             /* n_p2p_slots */
    uint64_t *id;            /* n_nodes; NULL if the graph is that of another file, which was parsed */
    uint64_t id_base;        /* what the file's ids are above the graph's; 0 if it was parsed itself */
} wl_trace;

dse_status wl_chakra_parse_et(const char *path, const unsigned char *bytes, size_t n, uint32_t rank,
                              wl_reading *how, dse_arena *a, wl_trace *out, dse_error *err);
dse_status wl_chakra_parse_json(const char *path, const char *text, size_t n, uint32_t rank, wl_reading *how,
                                dse_arena *a, wl_trace *out, dse_error *err);

/* Of zlib, which reads compressed traces, as it says at run time. */
const char *wl_zlib_version(void);

#endif
