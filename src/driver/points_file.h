/* Points as a file: one a line.
 *
 *   8_1_8_1_1                                       a strategy of every model and system of the command
 *   llama70b system1 8_1_8_1_1 layers=4 batch=256   one of these cards, with values set over them
 *
 * '#' begins a comment. A word with spaces stands in double quotes, within which \" is a quote and \\ a
 * backslash. What `sweep --dry-run` prints is such a file. */
#ifndef DSE_DRIVER_POINTS_FILE_H
#define DSE_DRIVER_POINTS_FILE_H

#include "driver/points.h"

typedef struct {
    const char *const *models,
        *const *systems; /* of the command; there may be none if every line names its own */
    size_t n_models, n_systems;
    const cfg_settings *settings; /* over the cards of every line */
} drv_points_context;

/* Reads the file and loads the studies it is about into *space, whose points are *out. DSE_E_CONFIG with the
 * line: not a point, one that does not fit its system or model, one whose model lacks what its line does not
 * give, one that stands twice. Everything belongs to the arena. */
dse_status drv_points_file_read(const char *path, const drv_points_context *c, dse_arena *a, drv_space *space,
                                drv_points *out, dse_error *err);

/* The same of a text; `path` is a name for messages. */
dse_status drv_points_file_parse(const char *path, const char *text, size_t n, const drv_points_context *c,
                                 dse_arena *a, drv_space *space, drv_points *out, dse_error *err);

/* A line of such a file, of a point of these, without its end, appended to out. */
dse_status drv_point_write_line(const drv_points *p, const drv_space_point *point, dse_strbuf *out,
                                dse_error *err);

#endif
