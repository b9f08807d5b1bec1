/* msr_validate -- the tables of measured runs that a list names (configs/errors/tables.yaml), each against
 * the simulator as it ships, and fitted to the runs of other models; and the errors as evidence for bands
 * (compare/bands.h). */
#ifndef DSE_MEASURED_VALIDATE_H
#define DSE_MEASURED_VALIDATE_H

#include "compare/bands.h"
#include "measured/job.h"
#include "report/validated.h"

typedef struct {
    const char *list;   /* a file, or a name in configs/errors */
    const char *folder; /* of tables that are not in configs/measured; NULL: these are left out */
    size_t n_only;
    const char *const *only; /* the tables of these names; n_only 0: all */
    uint64_t seed;
    uint32_t n_threads; /* 0: as many as there are cores. No result depends on it */
    void (*progress)(void *user, size_t done, size_t n); /* tables; NULL */
    void *user;
} msr_validate_options;

typedef struct {
    report_validated report; /* its `rows` is false */
    cmp_bands evidence;      /* of the training steps of tables, and rows of them, that may be evidence */
} msr_validated;

/* DSE_E_IO, DSE_E_SYNTAX, DSE_E_CONFIG: the list, with the place; a table of `only` that it lacks. And as
 * msr_gather and msr_calibrate fail, but that a fit fails for want of data is said of the table. All in the
 * arena. */
dse_status msr_validate(const msr_validate_options *o, dse_arena *a, msr_validated *out, dse_error *err);

/* The evidence as a file that cmp_bands_load reads; appended. */
void msr_evidence_write(const cmp_bands *evidence, dse_strbuf *out);

/* ---- the list ------------------------------------------------------------------------------------- */

typedef struct {
    const char *title, *measured, *system;
    size_t n_only, n_set, n_fit, n_except;
    const char **only, **set, **fit;
    const char **except; /* rows that are no evidence: of which any of these KEY=VALUE holds */
    size_t n_stated;
    msr_stated *stated; /* what sources say of rows elsewhere than in the table */
    bool by_tokens, is_profiled, no_evidence, ships; /* ships: it is in configs/measured */
    bool is_measured;                                /* so are rows that do not say what they are */
    size_t n_peers;
    report_validated_peer *peer;
} msr_validate_table;

dse_status msr_validate_list_read(const char *path, dse_arena *a, msr_validate_table **out, size_t *n,
                                  dse_error *err);

#endif
