/* The metrics of real traces against reference values that other programs computed. */
#ifndef TESTS_METRICS_H
#define TESTS_METRICS_H

#include "driver/recording.h"

#include <jansson.h>

/* ---- compare.c ------------------------------------------------------------------------------- */

/* How close is equal. */
typedef struct {
    double relative;
    double per_event_us; /* and this many microseconds an event, in the unit that the key's ending names */
    size_t n_events;
    bool rounded; /* a value with at most four decimals may differ by one in the last */
} tolerance;

typedef struct {
    size_t n_values, n_different;
} tally;

/* Every value of `want` must stand in `got` under the same keys; what else is there does not matter. Prints
 * each difference with its path. A -1 or {"value": null} of `want` is absent in `got`. */
void compare(const char *path, const json_t *want, const json_t *got, const tolerance *t, tally *sum);

/* ---- subject.c ------------------------------------------------------------------------------- */

typedef struct {
    const char *traces;    /* folder of the files */
    const json_t *files;   /* {"0": "file.json.gz"} */
    const char *format;    /* of a name, with one %s for the rank; NULL: as the file is called */
    const char *only;      /* one rank; NULL: all */
    const char *card;      /* path, or NULL */
    const char *card_text; /* what a card says that is nowhere a file; NULL */
} subject_files;

/* A recording under the names that the original tools were given: kineto_trace_<rank>.json,
 * rank<rank>_trace.json. */
typedef struct {
    subject_files of;
    char folder[64];
    drv_recording recording;
    dse_arena arena;
    metric_options options;
} subject;

/* What metrics are asked with unless a check says otherwise. */
extern const metric_options subject_options;

/* What *s was does not matter; what f points to is borrowed. False: it cannot be read; close it all the
 * same. */
bool subject_open(subject *s, const subject_files *f);
void subject_close(subject *s);

/* Whether it was opened from the same files under the same names. */
bool subject_is_of(const subject *s, const subject_files *f);

/* What a metric gives; an owned reference. A refusal is {"refused": reason}; NULL if there is no such
 * metric. */
json_t *subject_metric(subject *s, const char *name, bool compat);
size_t subject_events(const subject *s);

/* ---- checks.c -------------------------------------------------------------------------------- */

/* All that one reference file says of one run. `where` names it in messages. */
void check_run(const char *where, const char *traces, const char *card, const json_t *reference, tally *sum);

#endif
