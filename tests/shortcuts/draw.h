/* A random case: a system, and a workload on it. What is drawn depends on the generator's state alone. */
#ifndef TESTS_SHORTCUTS_DRAW_H
#define TESTS_SHORTCUTS_DRAW_H

#include "cards/system.h"
#include "shortcuts/random.h"
#include "sim/sim.h"
#include "trace/ticks.h"
#include "workload/generate.h"

typedef struct {
    dse_strbuf text; /* for people: the card, the rest of the settings, what the workload is; the caller's */
    card_system card;
    net_network net;
    sim_settings settings;
    wl_workload workload;
    bool whole; /* durations are round numbers that often coincide */
} drawn_case;

/* How large a case may be. */
typedef struct {
    uint32_t max_npus, min_layers, max_layers;
    bool full_size; /* 64 NPUs and more; without what is slow beyond measure: congestion, tiny chunks */
} draw_limits;

/* Fills in card, net and settings. Fails where a drawn card is refused, which is a case of no use. */
dse_status draw_system(rng *r, const draw_limits *limits, dse_arena *a, drawn_case *c, dse_error *err);

/* The operator files that ship. */
enum { DRAW_N_OPERATORS = 3 };
extern const char *const draw_operators[DRAW_N_OPERATORS];

/* A random model and strategy of the drawn system, generated with one of the operator files; now and then with a graph of its own per rank, as a
 * workload read from files has, and ranks that compute longer than their neighbours. */
dse_status draw_generated(rng *r, const draw_limits *limits, const cfg_doc operators[DRAW_N_OPERATORS],
                          dse_arena *a, drawn_case *c, dse_error *err);

/* A workload as no generator makes it: program.c. */
dse_status draw_program(rng *r, dse_arena *a, drawn_case *c, dse_error *err);

/* Changes compute nodes of a workload that has run, so that they end in the very tick in which something else of their
 * rank did in that run. How many. */
uint32_t draw_ties(rng *r, drawn_case *c, const trace_ticks *record);

#endif
