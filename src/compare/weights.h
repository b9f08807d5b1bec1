/* cmp_weights -- how much each metric counts in the score of a run, from a small file (configs/scores). */
#ifndef DSE_COMPARE_WEIGHTS_H
#define DSE_COMPARE_WEIGHTS_H

#include "config/doc.h"

/* The largest weight of a metric, so that sums of weighted errors cannot overflow. */
#define CMP_MOST_WEIGHT 1e9

/* By name, in the order of the file; a metric that has none counts nothing. */
typedef struct {
    const char *path; /* of the file */
    size_t n;
    const char **name;
    double *weight; /* 0 to CMP_MOST_WEIGHT, one of them > 0 */
} cmp_weights;

/* Reads `metric: weight` lines (YAML). `known` are the metrics that there are (NULL: any name is taken;
 * compare/ itself knows none). DSE_E_IO, DSE_E_SYNTAX, DSE_E_CONFIG with file, line and remedy: an unknown
 * metric (with the nearest), no number, below 0 or above CMP_MOST_WEIGHT, all 0. In the arena; *out changes
 * on success alone. */
dse_status cmp_weights_load(const char *path, const char *const *known, size_t n_known, dse_arena *a,
                            cmp_weights *out, dse_error *err);

/* The same of a document, from which names are borrowed. */
dse_status cmp_weights_read(const cfg_doc *doc, const char *const *known, size_t n_known, dse_arena *a,
                            cmp_weights *out, dse_error *err);

double cmp_weight_of(const cmp_weights *w, const char *metric); /* 0: it has none */

#endif
