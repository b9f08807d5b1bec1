/* drv_verify -- stored native results run again by the external tools, and compared figure by figure.
 *
 * A count must be equal; a percentage, an intensity or a rounded memory must be equal as the tools print it. What the
 * log does not say is not compared. Nothing is written to the database. */
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
    const store_row *rows; /* done, of the native engine */
    size_t n_rows;
    uint32_t jobs;
    void (*progress)(void *user, size_t finished, size_t total); /* often */
    void *user;
} drv_verification;

/* out: n_rows, in the order of the rows. Everything is in the arena. DSE_E_INTERRUPT after Ctrl-C. */
dse_status drv_verify(const drv_verification *v, dse_arena *a, drv_verified *out, dse_error *err);

#endif
