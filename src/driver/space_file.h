/* A space as a file: models, systems, axes, constraints. The format is explained by `ccldse sweep --help` and
 * shown in configs/spaces/. */
#ifndef DSE_DRIVER_SPACE_FILE_H
#define DSE_DRIVER_SPACE_FILE_H

#include "driver/space.h"

/* Values of one axis at most. */
#define DRV_MAX_AXIS_VALUES 1000000u

/* What a file says. */
typedef struct {
    size_t n_models, n_systems;
    const char **model, **system; /* as written: names or paths */
    cfg_settings settings;        /* over the cards of all of them */
    drv_space space;              /* everything but its studies */
} drv_space_file;

/* Reads the file; everything belongs to the arena. DSE_E_IO, DSE_E_SYNTAX, DSE_E_CONFIG with the place. */
dse_status drv_space_file_read(const char *path, dse_arena *a, drv_space_file *out, dse_error *err);

/* The same of a text; `path` is a name for messages. */
dse_status drv_space_file_parse(const char *path, const char *text, size_t n, dse_arena *a,
                                drv_space_file *out, dse_error *err);

#endif
