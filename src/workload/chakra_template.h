/* wl_template -- what the trace files of all ranks of one graph have in common: bytes, and holes for the
 * rest.
 *
 * The ranks of a graph differ in ids, groups, and peers and tags of messages, and so in the lengths of what
 * these stand in. A schema drafts the template of a graph once; filling it with the binding of a rank
 * (wl_rank) makes that rank's file. Matching goes the other way: it finds the binding with which a template
 * is the bytes of a file. Private to chakra_*.c. */
#ifndef DSE_WORKLOAD_CHAKRA_TEMPLATE_H
#define DSE_WORKLOAD_CHAKRA_TEMPLATE_H

#include "base/protobuf.h"
#include "workload/chakra.h"

typedef enum {
    WL_HOLE_BEGIN, /* the length of what stands up to the END that belongs to it; protobuf alone has it */
    WL_HOLE_END,   /* no bytes of its own */
    WL_HOLE_ID,    /* id of a node; value: less the rank's id_base */
    WL_HOLE_MESSAGE_ID, /* id of a send or receive; value: its point-to-point slot */
    WL_HOLE_PEER,       /* value: point-to-point slot */
    WL_HOLE_TAG,        /* value: point-to-point slot */
    WL_HOLE_RANK,       /* the rank itself; of files that are read */
    WL_HOLE_GROUP,      /* index of a group; value: group slot */
    WL_HOLE_GROUP_NAME  /* its name, without a length; value: group slot */
} wl_hole_kind;

typedef struct {
    uint64_t value;
    uint32_t before; /* bytes of text between the hole before and this one */
    uint32_t kind;
} wl_hole;
_Static_assert(sizeof(wl_hole) == 16, "a file of a megabyte has 50,000 of them");

enum { WL_TEMPLATE_MAX_DEPTH = 4 };

struct wl_template {
    dse_strbuf text; /* append to it */
    wl_hole *hole;
    size_t n_holes, cap_holes;
    size_t n_placed; /* bytes of text in front of the last hole */
    bool decimal;    /* numbers are decimal, not varints */
};

void wl_template_init(wl_template *t);
void wl_template_free(wl_template *t);
void wl_template_clear(wl_template *t); /* keeps the memory */

/* Puts a hole after the text so far. BEGIN and END nest, at most WL_TEMPLATE_MAX_DEPTH deep. */
void wl_template_hole(wl_template *t, wl_hole_kind kind, uint64_t value);
/* The id of a node: a send's or receive's is that of its slot. */
void wl_template_id(wl_template *t, const wl_node *n);

/* Bytes that suffice for the file of any rank. */
size_t wl_template_room(const wl_template *t, const wl_workload *w);
/* Writes a rank's file so that it ends at `end`; gives back where it begins. */
unsigned char *wl_template_fill(const wl_template *t, const wl_workload *w, uint32_t rank,
                                unsigned char *end);

/* What the holes of one rank's file hold. The arrays are the caller's, one element for each slot of the
 * graph, and zeroed before matching. */
typedef struct {
    uint64_t id_base;
    bool has_id_base;
    wl_p2p *p2p;
    bool *has_id; /* of p2p */
    pb_range *group_name;
    const unsigned char *reached; /* the file up to here agrees with the template */
} wl_binding;

/* True if the template, of protobuf and without WL_HOLE_GROUP, is these bytes with some binding; then *out
 * has it. Every byte is compared, and holes that stand for the same thing must hold the same. Varints may be
 * longer than they need to be. If it is false, only out->reached is to be used. */
bool wl_template_match(const wl_template *t, pb_range file, uint32_t rank, wl_binding *out);

#endif
