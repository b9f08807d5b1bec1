/* sim_version -- what versions of ASTRA-sim do differently with the same system and workload.
 *
 * One row a version. No code asks for a version by its name: it asks the row for the behaviour. Source: the
 * branches named in the rows, and the recorded runs of tests/reference. */
#ifndef DSE_SIM_VERSION_H
#define DSE_SIM_VERSION_H

#include "base/status.h"

#include <stdbool.h>

typedef enum { SIM_STAGE, SIM_MASTER, SIM_N_VERSIONS } sim_version;

typedef struct {
    const char *name;   /* as --astrasim-version and simulator.version have it */
    const char *branch; /* "branch stage, af2492b" */

    /* Reading. */
    bool numbered_groups;         /* wl_reading of workload/chakra.h */
    const char *dims_attribute;   /* which gives the dimensions of a collective; for messages */
    bool has_custom_collectives;  /* algorithms given as Chakra files (custom.h) */
    bool refuses_chakra_settings; /* "...-implementation-chakra" crashes it; otherwise it is not read */

    /* Simulating. */
    bool tags_by_group;       /* messages of group g count from g 1,000,000; otherwise all from 1,000,000 */
    bool groups_by_algorithm; /* a group smaller than the system runs a list's algorithm if the list has one
                                 name; otherwise, and with more names, it runs a ring */
    bool skips_empty_tensors; /* tensors of no bytes are not tracked */

    /* Printing. */
    bool prints_overlap;         /* of compute and communication; if there was anything else, no statistics */
    bool prints_memory_untraced; /* the peak without trace-enabled, too */
    char utilisation_sign;       /* behind "Average compute utilization" */
} sim_version_row;

extern const sim_version_row sim_versions[SIM_N_VERSIONS];
extern const char *const sim_version_names[SIM_N_VERSIONS + 1]; /* ends with NULL */

/* The version of a name; SIM_STAGE if it is none. */
sim_version sim_version_find(const char *name);

#endif
