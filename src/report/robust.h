/* report_robust -- how far the winner of a study can be trusted when the system's parameters are not known
 * exactly. */
#ifndef DSE_REPORT_ROBUST_H
#define DSE_REPORT_ROBUST_H

#include "compare/robust.h"
#include "report/ranking.h"

#define REPORT_ROBUST_WINNERS 5 /* points that win draws and are listed, at most */

typedef struct {
    const char *key;  /* "network.bandwidth[1]" */
    const char *unit; /* "GiB/s" */
    double value;     /* as the system has it */
} report_robust_parameter;

typedef struct {
    /* why nothing is known, as a clause without a full stop; NULL: it is known, and all below */
    const char *why_not;
    double spread, reach;
    uint64_t seed;
    size_t n_ranked; /* of the points that were compared; the others do not fit on the unchanged system */
    /* points that do not fit, might, and were not compared: they need more than those that were */
    size_t n_left;
    size_t n; /* points that were compared, by the time of their step */
    const store_row **candidate;
    size_t n_parameters;
    report_robust_parameter *parameter;
    uint64_t n_simulated, n_failed; /* simulations; one that fails counts as a point that does not fit */
    size_t failed_first;            /* the candidate that failed first, */
    const char *failure;            /* and why; NULL: none did */
    cmp_robust_result result;       /* its candidates and parameters are these */
} report_robust;

/* How often the winner stays the winner, and at what regret; the other winners; where each parameter alone
 * changes it. Paragraphs are wrapped at 80 columns and end with an empty line. */
void report_robust_print(const report_study *s, const report_robust *r, dse_strbuf *out);

/* The same as values of an object. */
void report_put_robust(const report_study *s, const report_robust *r, report_node *to);

#endif
