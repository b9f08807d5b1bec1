/* How far something is, on standard error: a line that is drawn again on a terminal, else a line now and
 * then. */
#ifndef DSE_CLI_PROGRESS_H
#define DSE_CLI_PROGRESS_H

#include "driver/sweep.h"
#include "report/rows.h"

typedef struct {
    bool terminal, drawn;
    double next_seconds; /* since the start: no line before that */
    uint64_t last_count; /* points run when a line was printed last */
    double start;        /* by the clock, of what has no clock of its own */
    const char *what;
} progress_screen;

/* `what` is counted: "runs simulated", "traces read". */
void progress_init(progress_screen *s, const char *what);

/* The best point so far: its name, or with profile train "dp 8, micro_batch 2". */
report_name progress_best_text(const drv_progress *p);

/* The calls of a sweep; `user` is the screen. */
void progress_begin(void *user, const drv_progress *p);
void progress_show(void *user, const drv_progress *p);

/* The call of whatever counts what it has done; nothing within the first second. `user` is the screen. */
void progress_count(void *user, size_t done, size_t n);

/* Takes the line away. */
void progress_clear(const progress_screen *s);

#endif
