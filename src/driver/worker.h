/* Points over a pipe: the worker's side and the lines both sides speak.
 *
 * A request is a study and a point, or a point's configuration (driver/study.h). An answer is
 * {"seconds":S,"metrics":{...}} or {"seconds":S,"error":"..."}; one JSON object a line, in the order of the
 * requests. Every request is whole, so that any worker may be given any; requests of one study go fastest one
 * after another. */
#ifndef DSE_DRIVER_WORKER_H
#define DSE_DRIVER_WORKER_H

#include "base/json_writer.h"
#include "sim/sim.h"
#include "store/store.h"

#include <stdio.h>

/* The words of a command line that starts a worker: its program, and the options for the shortcuts that it
 * may take. */
#define DRV_WORKER_WORDS 10
typedef struct {
    const char *word[DRV_WORKER_WORDS]; /* NULL-terminated, with room for three more behind `n` */
    size_t n;
    char memory[24];
} drv_worker_command;
void drv_worker_command_init(drv_worker_command *c, const char *program, sim_shortcuts shortcuts);

/* Answers requests from `in` on `out` until the end of the file, each at once. Failed points are answers,
 * too. No answer depends on the requests before it, nor on which shortcuts may be taken, but for the time it
 * takes. */
dse_status drv_worker_serve(FILE *in, FILE *out, sim_shortcuts shortcuts, dse_error *err);

/* The metrics of an answer, as the next value of j: {"wall_time":10,...}. What is not known is left out, but
 * for the counts that every result has. */
void drv_answer_write_metrics(const store_metrics *m, dse_json *j);

/* Fills in done, error, seconds and metrics of a row from an answer. Text belongs to the arena. */
dse_status drv_answer_read(const char *line, dse_arena *a, store_row *out, dse_error *err);

#endif
