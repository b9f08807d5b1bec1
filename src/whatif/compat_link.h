/* A rank's execution trace (what the host ran, with the sizes of tensors) and its Kineto trace (when, and
 * what the GPU ran) as one: which event each operator is, and which kernels it launched. Private to
 * compat_*.c.
 *
 * Source: mlcommons/chakra 21585d8, trace_link; spec of what-if, section 4. What the original finds of
 * synchronisation never reaches a converted trace, so nothing of it is sought here. */
#ifndef DSE_WHATIF_COMPAT_LINK_H
#define DSE_WHATIF_COMPAT_LINK_H

#include "whatif/compat_events.h"
#include "whatif/compat_host.h"

/* A host node, with what its event says. */
typedef struct {
    bool is_linked;
    double own_us;  /* without the operators within it */
    uint32_t after; /* the host node of another thread that it waits for; DSE_NONE */
    uint32_t n_gpu;
    const uint32_t *gpu; /* events that it launched, in the order of their begin */
} compat_linked;

typedef struct {
    compat_host host;
    trace_names names;
    compat_events events;
    compat_linked *node;                                  /* by place in host */
    uint32_t n_operators, n_linked, n_kernels, n_orphans; /* orphans: kernels without a launching operator */
    bool is_aligned; /* events have no function ids: they were found by the order of names */
    bool is_renamed; /* kernels have NCCL's names of before 2.19, of which the converter reads not all */
} compat_link;

/* Free it in any case. DSE_E_IO, DSE_E_SYNTAX; DSE_E_ABSENT: a schema that is not read, or events that are
 * not of these operators; DSE_E_WORKLOAD: what the original refuses. */
dse_status compat_link_load(const char *host, const char *kineto, dse_arena *a, compat_link *out,
                            dse_error *err);
void compat_link_free(compat_link *l);

#endif
