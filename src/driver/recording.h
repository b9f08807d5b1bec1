/* drv_recording -- the traces of one run, read and looked through: what a metric is computed from.
 *
 * A path is a directory, or one file. What a file is, its content says; which files of a directory are taken,
 * trace/discover.h; which rank a file is, trace/ranks.h. Files are read by several threads, one file a thread; nothing of
 * the result depends on how many. */
#ifndef DSE_DRIVER_RECORDING_H
#define DSE_DRIVER_RECORDING_H

#include "metrics/metric.h"

typedef enum { DRV_PROFILE_AUTO, DRV_PROFILE_TORCH, DRV_PROFILE_NSYS } drv_profile_mode;

typedef struct {
    drv_profile_mode mode; /* which kind of traces to take where a directory has several */
    uint32_t max_ranks;    /* the first by number; 0: all */
    uint32_t n_threads;    /* files read at a time; 0: as many as there are cores */
    const char *card;      /* path of the workload card; NULL: the one in the directory, if there is one */
    unsigned kinds; /* METRIC_ON of those that are asked for: what the others lie in is not read; 0: all */
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

/* What does not stop it is a warning of the record: the card's, the readers', files that are left out, a card that says
 * otherwise than the traces. DSE_E_IO, DSE_E_SYNTAX, DSE_E_CONFIG (the card; two files of one rank; several jobs),
 * DSE_E_RANGE. Free it in any case. */
dse_status drv_recording_load(const char *path, const drv_recording_options *o, drv_recording *out,
                              dse_error *err);
/* Prepares the views of a record that is complete, by so many threads. */
dse_status drv_recording_look_through(drv_recording *r, uint32_t n_threads, dse_error *err);
void drv_recording_free(drv_recording *r); /* accepts one that was only zeroed */

#endif
