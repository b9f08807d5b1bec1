/* The step of a point of profile train as a Chrome trace, for Perfetto and chrome://tracing.
 *
 *     {"simulator":"ccldse","profile":"train","traceEvents":[...]}
 *
 * A process is a rank of one pipeline. Its thread "passes" has an event "X" for each action of the schedule:
 * "F m3 c1" is the forward pass of micro-batch 3 through chunk 1, B the backward pass, I and W its halves;
 * the args say the same in words. Its thread "end of step" has what follows the last pass: communication
 * (reductions that go on, sums of gradients, the wait for the slowest rank) until the optimizer. A tensor
 * between two ranks, "activation" or "gradient", is an asynchronous event from the end of the pass that makes
 * it to the start of the pass that takes it, so the time that it lies there counts as well; an arrow (flow
 * events "s" and "f") leads from the one pass to the other. Collectives within passes are on a thread for
 * each set of axes, "collectives over cp, dp", whether kernels run beside them or not. A counter (events "C")
 * is the memory of the rank in bytes while each pass runs, and between them. Parameters that are gathered
 * behind the optimizer stand before it. Times are ticks (ns) as microseconds with three decimals. */
#ifndef DSE_DRIVER_TRAINING_TIMELINE_H
#define DSE_DRIVER_TRAINING_TIMELINE_H

#include "driver/study.h"
#include "step/run.h"

/* `s` and `p` are those of the step. Compressed if the path ends in ".gz". DSE_E_IO. */
dse_status drv_training_timeline_save(const drv_study *s, const strategy *p, step_result *r, const char *path,
                                      dse_arena *a, dse_error *err);

#endif
