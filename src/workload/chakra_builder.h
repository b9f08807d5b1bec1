/* wl_builder -- puts one rank's graph together while a trace file is read. Private to the readers. */
#ifndef DSE_WORKLOAD_CHAKRA_BUILDER_H
#define DSE_WORKLOAD_CHAKRA_BUILDER_H

#include "base/idtable.h"
#include "workload/chakra.h"

typedef struct {
    const char *path;
    uint32_t rank;
    wl_reading *how; /* not NULL */
    dse_arena *arena;
    dse_error *err;

    wl_node *node;
    uint64_t *id;
    size_t n_nodes, cap_nodes, cap_id;

    /* Dependencies and tensors, appended; the start of each node's in the arrays below. */
    struct {
        uint64_t *item;
        uint32_t *start;
        size_t n, cap, cap_start;
    } deps[2]; /* data, control */
    struct {
        wl_io *item;
        uint32_t *start;
        size_t n, cap, cap_start;
    } io[2]; /* inputs, outputs */

    wl_tensor_info *tensor;
    size_t n_tensors, cap_tensors;
    dse_idtable tensor_by_name;
    const char **group;
    size_t n_groups, cap_groups;
    dse_idtable group_by_name;
    wl_p2p *p2p;
    size_t n_p2p, cap_p2p;
} wl_builder;

/* What a trace may say of a node, under these names in every format. Integers come first. */
typedef enum {
    WL_FACT_NUM_OPS,
    WL_FACT_TENSOR_SIZE,
    WL_FACT_COMM_SIZE,
    WL_FACT_COMM_TAG,
    WL_FACT_COMM_SRC,
    WL_FACT_COMM_DST,
    WL_FACT_IS_CPU_OP,
    WL_FACT_COMM_TYPE,
    WL_N_INTEGER_FACTS,
    WL_FACT_PG_NAME = WL_N_INTEGER_FACTS,
    WL_FACT_INVOLVE_DIMS,
    WL_FACT_INVOLVED_DIM, /* the same, under the name that wl_reading.numbered_groups goes with */
    WL_FACT_INPUTS,
    WL_FACT_OUTPUTS,
    WL_N_FACTS
} wl_fact;

extern const struct wl_fact_name {
    const char *text;
    size_t n;
} wl_fact_names[WL_N_FACTS];

typedef struct {
    uint32_t has; /* bit per wl_fact */
    uint64_t value[WL_N_INTEGER_FACTS];
    const char *group; /* NULL: not named */
} wl_node_facts;

/* `how` may be NULL; it outlives the builder. */
void wl_builder_init(wl_builder *b, const char *path, uint32_t rank, wl_reading *how, dse_arena *a,
                     dse_error *err);
void wl_builder_free(wl_builder *b);

/* Which of the two attributes gives the dimensions of a collective. */
static inline wl_fact wl_builder_dims(const wl_builder *b)
{
    return b->how->numbered_groups ? WL_FACT_INVOLVED_DIM : WL_FACT_INVOLVE_DIMS;
}

/* Opens a node; dependencies and tensors added next are its own, until wl_builder_end_node. */
dse_status wl_builder_begin_node(wl_builder *b);
dse_status wl_builder_add_dep(wl_builder *b, bool control, uint64_t id);
/* `size` is text: digits up to the first other character count. */
dse_status wl_builder_add_io(wl_builder *b, bool output, const char *name, size_t name_n, const char *size,
                             size_t size_n);
/* Of the node the name, type, duration and dimensions are set, the rest follows from the facts. */
dse_status wl_builder_end_node(wl_builder *b, uint64_t id, wl_node node, const wl_node_facts *facts);

/* DSE_E_WORKLOAD with "node 17" in the text and the file as the place. */
dse_status wl_builder_fail(wl_builder *b, uint64_t id, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

dse_status wl_builder_finish(wl_builder *b, wl_trace *out);

#endif
