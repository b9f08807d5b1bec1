/* report_traps -- what ASTRA-sim's model leaves out, as far as results met it: a line each, under the tables
 * that it affects. Results that do not know say nothing. */
#ifndef DSE_REPORT_TRAPS_H
#define DSE_REPORT_TRAPS_H

#include "base/strbuf.h"
#include "store/store.h"

typedef struct {
    size_t n_points;       /* of the table, that know whether they met them */
    size_t n_silent;       /* that do not: older ones, and those of other engines */
    size_t n_undercharged; /* with messages that paid for one of several dimensions */
    size_t n_flat_rings;   /* with collectives of groups that ran as flat rings against the implementations */
} report_traps;

/* Counts one more point by two of its metrics. */
void report_traps_add(report_traps *t, uint64_t undercharged_messages, uint64_t flat_ring_collectives);

/* Counts the points of others. */
void report_traps_join(report_traps *t, const report_traps *others);

/* A line, or two, or none: "note: on system1, in 12 of 20 points messages between NPUs ..."; silent ones are
 * counted beside them. The system where there are tables of several, or NULL. */
void report_traps_print(const report_traps *t, const char *system, dse_strbuf *out);

/* Under the figures of one point. */
void report_traps_print_point(const store_metrics *m, dse_strbuf *out);

#endif
