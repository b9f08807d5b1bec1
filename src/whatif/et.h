/* whatif_et -- a Chakra execution trace of one rank, node by node, as it is written.
 *
 * Of the schema v0.0.4, of which workload/chakra.h reads all and writes what STAGE writes: here the
 * attributes and their order are the caller's, as each converter has its own. Everything is in the caller's
 * arena. */
#ifndef DSE_WHATIF_ET_H
#define DSE_WHATIF_ET_H

#include "base/alloc.h"
#include "base/strbuf.h"
#include "workload/graph.h"

typedef struct {
    const char *name;
    uint8_t field; /* of Chakra's AttributeProto: chakra_v004.h */
    int64_t value;
    const char *text; /* of ATTR_STRING, ATTR_STRING_LIST without items */
} whatif_attr;

typedef struct {
    const char *name;
    uint8_t type, coll; /* wl_node_type; of a collective: wl_coll_type */
    uint64_t duration_us, bytes;
    uint32_t n_ctrl, n_data, n_attrs, cap_ctrl, cap_data;
    uint32_t *ctrl, *data; /* ids of nodes of the rank, in the order in which they were added */
    whatif_attr *attr;
    const char *const *side; /* values, shapes, types of the inputs, then of the outputs; NULL: not given */
} whatif_node;

typedef struct {
    uint32_t n; /* a node's id is its place; of a type WL_NODE_INVALID there is none */
    size_t cap;
    whatif_node *node;
    uint32_t n_about; /* attributes of the file; if there are some, it has no version */
    whatif_attr *about;
} whatif_et;

#define WHATIF_SIDES 6

/* A node at the end; its id. Of computation `bytes` does not count. */
uint32_t whatif_et_add(whatif_et *et, dse_arena *a, whatif_node n);

/* A dependency, unless the node has it, for control or on data. DSE_NONE: none. */
void whatif_et_depend(whatif_et *et, dse_arena *a, uint32_t node, uint32_t on);
void whatif_et_depend_on_data(whatif_et *et, dse_arena *a, uint32_t node, uint32_t on);

void whatif_et_set_attrs(whatif_node *n, dse_arena *a, const whatif_attr *attr, uint32_t n_attrs);

/* Appends the file: GlobalMetadata with this version, or with what there is about the file; then nodes. */
void whatif_et_write(const whatif_et *et, const char *version, dse_strbuf *out);

typedef struct {
    uint32_t n, *rank; /* members by number */
} whatif_group;

#define WHATIF_MAX_FILES 65536u /* ranks of a conversion, a file each */
#define WHATIF_NOTES     4

typedef struct {
    uint32_t n_ranks;
    whatif_et *et;     /* by rank; empty: nothing of it was kept, and there is no file */
    uint32_t n_groups; /* the first is group 1 */
    whatif_group *group;
    uint32_t n_dropped; /* collectives that are left out, or are computation */
    uint32_t n_notes;
    const char *note[WHATIF_NOTES]; /* what else the reader must know */
} whatif_files;

/* Writes <folder>/chakra_trace.<rank>.et, and comm_group.json if there are groups. */
dse_status whatif_files_write(const whatif_files *r, const char *folder, dse_error *err);

#endif
