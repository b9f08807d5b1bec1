/* The reproduced upstream revisions and the libraries: results depend on these besides the configuration. */
#ifndef DSE_DRIVER_VERSION_H
#define DSE_DRIVER_VERSION_H

#include <stddef.h>

typedef struct {
    const char *name, *revision, *branch; /* NULL: ASTRA-sim's submodule at that commit */
} drv_upstream;

typedef struct {
    const char *name, *version; /* of the library at run time */
} drv_library;

#define DRV_N_LIBRARIES 5

/* The revisions whose results the engine (DRV_ENGINE) reproduces exactly. */
const drv_upstream *drv_upstreams(size_t *n);

void drv_libraries(drv_library out[DRV_N_LIBRARIES]);

#endif
