/* Lines that the printed results of `simulate` share, whoever simulated. */
#ifndef DSE_CLI_SIMULATED_H
#define DSE_CLI_SIMULATED_H

#include "driver/study.h"

/* "llama70b on system1 with layers=2: dp 8, tp 1" */
void simulated_heading(const drv_study *s, const strategy *p, dse_strbuf *out);

/* "step time   3.2 s  (3200000000 ns)", and `more`; nothing if it is STORE_ABSENT. */
void simulated_time(const char *label, uint64_t ns, const char *more, dse_strbuf *out);

/* "compute utilisation   96.700 %"; nothing if it is NaN. */
void simulated_rate(const char *label, double v, const char *unit, dse_strbuf *out);

/* What a step and 10^12 tokens cost and take, a line each; nothing that is not known. */
void simulated_costs(const store_metrics *m, dse_strbuf *out);

/* A note of what STAGE's branch main has wrong of a workload; none of a workload of another's. */
void simulated_flaws(const wl_workload *w, dse_arena *a);

#endif
