/* Traces as Chakra execution traces, as the converters of others make them, flaws included: so that a figure
 * of theirs can be had again, and ours set beside it.
 *
 * Source: CCL-Bench's simulation/gen_chakra_et.py (communication and what lies between) and
 * gen_tpu_xla_chakra_et.py, commit 1d257f0; chakra_trace_link and chakra_converter of mlcommons/chakra,
 * commit 21585d8; spec of what-if, sections 2 to 5. The bytes are theirs. */
#ifndef DSE_WHATIF_COMPAT_H
#define DSE_WHATIF_COMPAT_H

#include "whatif/et.h"

/* What is in the graph, and what waits for what. */
typedef enum {
    WHATIF_COMPAT_GAP,            /* collectives in one chain a rank, and the time between as computation */
    WHATIF_COMPAT_PG_GAP,         /* a chain for each process group */
    WHATIF_COMPAT_KERNELS,        /* all kernels, by stream and by rank */
    WHATIF_COMPAT_KERNELS_STREAM, /* all kernels, by stream alone */
    WHATIF_COMPAT_FULL,           /* Chakra's: host and GPU, references to absent nodes left out */
    WHATIF_COMPAT_FULL_UNPRUNED,  /* with these */
    WHATIF_COMPAT_TPU_GAP,        /* XLA's collectives on TPUs */
    WHATIF_COMPAT_TPU_KERNELS,    /* all of XLA's operations */
    WHATIF_COMPATS
} whatif_compat;

extern const char *const whatif_compat_names[WHATIF_COMPATS + 1]; /* NULL at the end */

typedef struct {
    whatif_compat mode;
    uint32_t n_ranks;
    const char *const *path; /* by rank: its trace; the same again for a rank that is taken to do the same.
                                Of TPUs one, of all ranks */
    const char *const *host_path; /* of Chakra's conversion, by rank: its execution trace */
    const char *marker;           /* of TPUs: in the names of the events that a step begins with */
    uint32_t iteration;           /* of TPUs: which of the steps, from 0 */
} whatif_compat_job;

/* DSE_E_ABSENT: no collective at all is kept; the message says what there was. DSE_E_IO, DSE_E_SYNTAX. */
dse_status whatif_compat_convert(const whatif_compat_job *job, dse_arena *a, whatif_files *out,
                                 dse_error *err);

#endif
