/* What a result depends on besides its configuration: the upstream revisions that are reproduced, and the libraries. */
#ifndef DSE_DRIVER_VERSION_H
#define DSE_DRIVER_VERSION_H

#include <stddef.h>

typedef struct {
    const char *name, *revision,
        *branch; /* branch NULL: the commit is the one that the row before it names */
} drv_upstream;

typedef struct {
    const char *name, *version; /* at run time, as the library says */
} drv_library;

#define DRV_N_LIBRARIES 5

/* What the engine (DRV_ENGINE) reproduces, to the last digit. */
const drv_upstream *drv_upstreams(size_t *n);

void drv_libraries(drv_library out[DRV_N_LIBRARIES]);

#endif
