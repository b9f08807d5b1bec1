/* drv_bands -- error bands of points of profile train, from the evidence that ships
 * (configs/errors/training.csv). */
#ifndef DSE_DRIVER_BANDS_H
#define DSE_DRIVER_BANDS_H

#include "compare/bands.h"
#include "driver/study.h"
#include "report/ranking.h"

/* Without the file there is no evidence; DSE_E_CONFIG: it is wrong. In the arena. */
dse_status drv_bands_load(dse_arena *a, cmp_bands *out, dse_error *err);

/* The kind that a point of profile train is of, others_only unset. In the arena. */
cmp_band_key drv_band_key(const drv_study *s, const strategy *p, dse_arena *a);

/* Of a point's kind; others_only: by runs of other models. Without one *why says why, as a sentence without
 * its point: nothing was measured on the device, or not in as many bits, or with sequences near as long; the
 * system is fitted, takes the roofline or has settings over its card, which the evidence is not of; or the
 * elements have not 16 bits. None of profile stage, with *why NULL. In the arena. */
cmp_band drv_band_of(const cmp_bands *b, const drv_study *s, const strategy *p, bool others_only,
                     dse_arena *a, const char **why);

/* The band of the best of a ranking. */
typedef struct {
    cmp_band band;
    const char *device; /* of its system; NULL: it was not looked for */
    const char *why;    /* as of drv_band_of */
} drv_best_band;

/* Of each of n ranked studies. Not looked for where nothing fits, of profile stage, of another engine, and
 * where a file of the stored configuration is gone. Fails as drv_bands_load. In the arena. */
dse_status drv_bands_of_best(const report_study *studies, size_t n, dse_arena *a, drv_best_band **out,
                             dse_error *err);

#endif
