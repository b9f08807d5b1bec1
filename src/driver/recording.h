/* drv_recording -- the traces of one run, read and indexed: the input of metrics.
 *
 * A path is a directory or one file. A file's content determines its format; trace/discover.h chooses the
 * files of a directory, trace/ranks.h the rank of a file. Several threads read files, one file each; the
 * result does not depend on their number. */
#ifndef DSE_DRIVER_RECORDING_H
#define DSE_DRIVER_RECORDING_H

#include "metrics/metric.h"

typedef enum { DRV_PROFILE_AUTO, DRV_PROFILE_TORCH, DRV_PROFILE_NSYS } drv_profile_mode;

typedef struct {
    drv_profile_mode mode; /* which kind of traces to read if a directory has several */
    uint32_t max_ranks;    /* the first by number; 0: all */
    uint32_t n_threads;    /* files read at a time; 0: as many as there are cores */
    const char *card;      /* path of the workload card; NULL: the one in the directory, if there is one */
    unsigned kinds;        /* METRIC_ON of the wanted kinds: files of other kinds are not read; 0: all */
    void (*progress)(void *user, size_t done, size_t n); /* files read; in the calling thread; NULL */
    void *user;
} drv_recording_options;

typedef struct {
    trace_record
        record; /* ranks by kind, then number; none if a directory has side files alone (gate logs, ...) */
    metric_view *view; /* one a rank */
    uint32_t n_views;
    trace_card card;
    bool has_card;
    dse_arena arena;
} drv_recording;

/* Warnings go into the record: those of the card and the readers, files left out, differences between card
 * and traces. DSE_E_IO, DSE_E_SYNTAX, DSE_E_CONFIG (the card; two files of one rank; several jobs),
 * DSE_E_RANGE. Free it in any case. */
dse_status drv_recording_load(const char *path, const drv_recording_options *o, drv_recording *out,
                              dse_error *err);
/* Makes the views of a complete record, by n_threads (0: as many as there are cores). */
dse_status drv_recording_make_views(drv_recording *r, uint32_t n_threads, dse_error *err);
void drv_recording_free(drv_recording *r); /* accepts one that was only zeroed */

#endif
