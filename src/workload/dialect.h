/* wl_dialect -- what versions of a workload generator do differently although they describe the same training
 * step: names, ids, tags, orders, and the rule that selects collectives.
 *
 * Each version is one constant in a file of its own. wl_generate uses STAGE's (dialect_stage.c). A variant
 * of the operators (gen_variant) has the dialect that the generator follows. */
#ifndef DSE_WORKLOAD_DIALECT_H
#define DSE_WORKLOAD_DIALECT_H

#include "workload/collective_match.h"
#include "workload/name_pool.h"

/* What a node does for a tensor: computes it, brings its first or second operand into another sharding,
 * sends it to another pipeline stage, receives it from one. */
typedef enum { WL_ROLE_COMPUTE, WL_ROLE_X1_COLL, WL_ROLE_X2_COLL, WL_ROLE_SEND, WL_ROLE_RECV } wl_role;
enum { WL_N_ROLES = WL_ROLE_RECV + 1 };

typedef struct {
    /* Names. A tensor is called [shadow] name revision, and a node by its tensor and a suffix. */
    wl_piece shadow;             /* prefix of a tensor that another stage makes */
    wl_piece revision[2];        /* before and after the weight update */
    wl_piece suffix[WL_N_ROLES]; /* of nodes */
    /* Appends what follows the name in the table of inputs and outputs: the tensor's shape, for one NPU. */
    void (*print_shape)(const wl_symbols *s, const wl_shape *shape, dse_strbuf *out);
    bool shows_result[WL_N_ROLES]; /* nodes with wl_node.y_size; the others have 0 there */

    /* Ids. A rank numbers its nodes in the order computation, collectives of x1, of x2, tensor by tensor;
     * sends and receives come after them. */
    uint32_t first_id;     /* of a rank */
    bool ids_are_global;   /* a rank continues where the previous one ended; else each starts at first_id */
    bool removed_takes_id; /* an operator without cost, which leaves no node, uses up an id */

    /* Messages. `pair` numbers the pairs of a sending and a receiving rank: message * ranks of a stage +
     * place on the stage. `next` is the id after those of all other nodes, of the rank or with
     * ids_are_global of all ranks; `base` is the request's tag_base. Ids rise with `pair`. */
    uint64_t (*message_id)(uint64_t next, uint64_t pair, bool receives);
    uint32_t (*message_tag)(uint32_t base, uint64_t pair);

    /* Order. Tensors stand in the file in the model's order. */
    uint8_t file_order[WL_N_ROLES]; /* wl_role: the nodes of one tensor in the file */
    /* Where layers are dealt out in turn (WL_STAGES_TURNS), stages are ranked in the order of their first
     * tensor in the model; otherwise, and for neighbouring layers, in the order of their coordinate. */
    bool stages_by_first_tensor;
    /* Collectives and sends that wait for nothing are chained by control dependencies, in file order, if a
     * stage has at least so many; UINT32_MAX: never. */
    uint32_t least_chained;

    /* Groups. Named by this prefix and their number: from 1, slot after slot, in a slot by the pipeline's
     * coordinate, then by the coordinates of the other axes, of which the last or the first runs fastest. */
    wl_piece group;
    bool last_axis_fastest;

    /* Which collectives bring an operand into the sharding it needs. */
    wl_match_rule *match;
} wl_dialect;

/* STAGE, branch recomp, 0b44904. */
extern const wl_dialect wl_dialect_stage;

/* STAGE draws the first tag at random; this is what it draws with seed 0. */
#define WL_TAG_BASE 885440u

#endif
