/* Ctrl-C and SIGTERM for what computes in this process, without a pool: they set a flag. */
#ifndef DSE_EXEC_INTERRUPT_H
#define DSE_EXEC_INTERRUPT_H

#include <stdbool.h>

/* From now on, none seen yet; a pool has the signals to itself while it runs (exec/pool.h). */
void exec_watch_interrupts(void);

/* The signals do again what they did before. What was seen stays known. */
void exec_unwatch_interrupts(void);

bool exec_was_interrupted(void);

#endif
