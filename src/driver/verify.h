/* drv_verify -- runs stored native results again with the external tools and compares the figures.
 *
 * Counts must be equal; percentages, intensities and rounded memory must be equal as the tools print them.
 * Figures that the log lacks are not compared. Nothing is written to the database.
 *
 * A step of profile train is run unrolled (unrolled.h), with one unit of a rank for all communication, as
 * ASTRA-sim's ranks have it. What it is compared with is not stored: the wall time is the step added up with
 * one such unit, where all groups of a kind take the same time, and the other figures are those of our
 * simulator. */
#ifndef DSE_DRIVER_VERIFY_H
#define DSE_DRIVER_VERIFY_H

#include "driver/external.h"

typedef struct {
    const char *statistic; /* the column's name */
    char stored[DRV_LOG_TEXT], external[DRV_LOG_TEXT];
} drv_difference;

typedef struct {
    const char *failure; /* why it could not be run, or NULL */
    drv_difference *difference;
    size_t n_compared, n_differences;
} drv_verified;

typedef struct {
    const drv_external *tools;
    const store_row *rows; /* successful results of the native engine */
    size_t n_rows;
    uint32_t jobs;
    void (*progress)(void *user, size_t finished, size_t total); /* often */
    void *user;
} drv_verification;

/* out: n_rows entries in the order of the rows. Everything is in the arena. DSE_E_INTERRUPT after Ctrl-C. */
dse_status drv_verify(const drv_verification *v, dse_arena *a, drv_verified *out, dse_error *err);

#endif
