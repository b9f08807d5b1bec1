#include "sim/version.h"

#include <string.h>

const sim_version_row sim_versions[SIM_N_VERSIONS] = {
    [SIM_STAGE] = {.name = "stage",
                   .branch = "branch stage, af2492b",
                   .dims_attribute = "involve_dims",
                   .refuses_chakra_settings = true,
                   .utilisation_sign = '$'}, /* sic */
    [SIM_MASTER] = {.name = "master",
                    .branch = "branch master, 518bd51",
                    .numbered_groups = true,
                    .dims_attribute = "involved_dim",
                    .has_custom_collectives = true,
                    .tags_by_group = true,
                    .groups_by_algorithm = true,
                    .skips_empty_tensors = true,
                    .prints_overlap = true,
                    .prints_memory_untraced = true,
                    .utilisation_sign = '%'},
};

const char *const sim_version_names[] = {"stage", "master", NULL};

sim_version sim_version_find(const char *name)
{
    int i = SIM_N_VERSIONS - 1;

    while (i > 0 && strcmp(sim_versions[i].name, name) != 0)
        i--;
    return (sim_version)i;
}
