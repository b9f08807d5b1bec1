/* CCL-Bench's public board (benchmark_data.json) in the results database, and back as a table of measured
 * runs.
 *
 * A row of the board is a workload card flattened, and values. Its place in the database is that of a point
 * that others measured, as driver/import.h has them; its configuration has the row itself, so that a
 * comparison finds what it needs:
 *
 *   {"engine":"ccl-bench","model_name":"m","system_name":"nvidia_a100_x8",
 *    "settings":"batch=16 sequence=4096","point":{"dp":8,...},
 *    "board":{"trace":...,"metadata":{...},"metrics":{...}}} */
#ifndef DSE_MEASURED_BOARD_H
#define DSE_MEASURED_BOARD_H

#include "driver/import.h"
#include "report/left.h"

typedef struct {
    size_t n_left, cap;
    report_left *left; /* rows that are no measured training step, by reason; in the order of the file */
} msr_board;

/* Adds the rows of a board to what is imported. `as`: a model or a system of it is that of all rows.
 * DSE_E_IO, DSE_E_SYNTAX; DSE_E_CONFIG: it is none, no row is a step of known degrees, two rows are the
 * same. */
dse_status msr_board_import(const char *path, const drv_import_as *as, dse_arena *a, drv_import *io,
                            msr_board *out, dse_error *err);

/* Whether a file is a results database, by its first bytes. */
bool msr_board_is_database(const char *path);

/* Appends the rows of boards that a database has, as a table of measured runs. DSE_E_CONFIG: it has none. And
 * as store_open fails. */
dse_status msr_board_table(const char *path, dse_arena *a, dse_strbuf *out, dse_error *err);

#endif
