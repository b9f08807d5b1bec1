/* How far a sweep, or the reading of traces, is, on standard error: a line that is drawn again on a terminal, else a line now and then. */
#ifndef DSE_CLI_PROGRESS_H
#define DSE_CLI_PROGRESS_H

#include "driver/sweep.h"

typedef struct {
    bool terminal, drawn;
    double next_seconds; /* since the start: no line before that */
    uint64_t last_count; /* points run when a line was printed last */
    double start;        /* by the clock, of what has no clock of its own */
} progress_screen;

void progress_init(progress_screen *s);

/* The calls of a sweep; `user` is the screen. */
void progress_begin(void *user, const drv_progress *p);
void progress_show(void *user, const drv_progress *p);

/* The call of a recording that is read: files that are, on a terminal only; `user` is the screen. */
void progress_files(void *user, size_t done, size_t n);

/* The call of a search that may be over at once: nothing within the first second; `user` is the screen. */
void progress_search(void *user, size_t done, size_t total);

/* The call of a calibration: fits that are done, on a terminal only; `user` is the screen. */
void progress_fits(void *user, size_t done, size_t total);

/* Takes the line away. */
void progress_clear(const progress_screen *s);

#endif
