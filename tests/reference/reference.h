/* A case of the reference data, and what is compared of its runs. */
#ifndef TESTS_REFERENCE_REFERENCE_H
#define TESTS_REFERENCE_REFERENCE_H

#include "base/strbuf.h"
#include "config/doc.h"
#include "sim/sim.h"
#include "trace/ticks.h"

typedef struct {
    const char *id;
    cfg_doc doc;                /* the case */
    dse_arena *arena, *scratch; /* of the case, of one simulation */
    const char *folder;         /* for traces */
    const char *trace_folder;
    const char
        *newest; /* folder of the data of the newest tools, of which this case is; NULL: of the others */
    bool ticks_compared, skipped;
    bool as_expected; /* upstream's error shows in the result */
    cfg_doc operators;
    dse_strbuf problems;
} run;

#define PROBLEM(r, ...)                                                                                      \
    (dse_strbuf_addf(&(r)->problems, "    " __VA_ARGS__), dse_strbuf_addc(&(r)->problems, '\n'))

static inline const cfg_node *at(const cfg_node *n, const char *key) { return cfg_get(n, key); }

/* What the data must have: the program ends without it. */
int64_t number(const cfg_node *n);

/* Compare what is printed of each rank, and over all ranks, with the case's `expect`; `how` is which run it is. */
void check_result(run *r, const char *how, const sim_result *result);

/* Ticks of each node, as upstream logged them; the lines of a rank may stand in another order. Nothing without a folder
 * of traces. */
void check_ticks(run *r, const char *how, const trace_ticks *record);

/* A failure where upstream failed, too: of the same kind, and with as many ranks left waiting. */
void check_failure(run *r, const char *upstream, const dse_error *err);

#endif
