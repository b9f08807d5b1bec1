/* What every key of a card or of ASTRA-sim's files means, and what it does: used, or without effect, and why.
 *
 * Files are known by their content. Keys and findings are in the order of the files; the same input gives the
 * same report. The statements about ASTRA-sim are those of its branch stage (af2492b), each read from its
 * source: Sys.cc for system.json, NetworkParser.cpp for network.yml, AnalyticalRemoteMemory.cc,
 * CmdLineParser.cc and main.cc. */
#ifndef DSE_LINT_LINT_H
#define DSE_LINT_LINT_H

#include "base/alloc.h"

typedef enum {
    LINT_USED,
    LINT_DEFAULT,       /* not in the file; its default applies */
    LINT_ABSENT,        /* not in the file, and optional */
    LINT_MISSING,       /* not in the file, and needed */
    LINT_NO_EFFECT,     /* taken, and nothing depends on it */
    LINT_NEVER_READ,    /* documented, and ASTRA-sim never looks at it */
    LINT_UPSTREAM_ONLY, /* ASTRA-sim uses it, this program does not need it */
    LINT_OURS_ONLY,     /* the other way round: of ASTRA-sim's files, a key of this program */
    LINT_NOT_MODELLED,  /* of a model: it is simulated without */
    LINT_NOT_NEEDED,    /* of a model: no figure depends on it */
    LINT_REFUSED,
    LINT_UNKNOWN,
    LINT_N_EFFECTS
} lint_effect;

const char *lint_effect_name(lint_effect e); /* "never read" */

typedef struct {
    const char *key, *value; /* the value as written; "" if the file has none, then line is 0 */
    const char *unit, *meaning;
    lint_effect effect;
    uint32_t line;
} lint_key;

typedef struct {
    const char *path, *kind;  /* "ASTRA-sim network file" */
    size_t first_key, n_keys; /* in the report's keys */
} lint_file;

typedef enum {
    LINT_NOTE,    /* good to know */
    LINT_WARNING, /* something has no effect, or upstream crashes without a key */
    LINT_ERROR,   /* cannot be read or understood, or a run refuses it */
    LINT_N_LEVELS
} lint_level;

typedef struct {
    lint_level level;
    const char *where; /* "file:line:column", or the file */
    const char *key;   /* or "" */
    const char *text;  /* what, and what to do */
} lint_finding;

typedef struct {
    lint_file *file;
    size_t n_files, cap_files;
    lint_key *key;
    size_t n_keys, cap_keys;
    lint_finding *finding;
    size_t n_findings, cap_findings;
    size_t n_level[LINT_N_LEVELS]; /* findings of each level */
} lint_result;

typedef struct {
    const char *const *names; /* files, folders, or names of cards */
    size_t n_names;
    const char *groups, *workload; /* a communicator-group file, the prefix of traces; NULL: none */
    const char *arguments;         /* options for ASTRA-sim's command line in one text; NULL: none */
} lint_inputs;

/* What is wrong with the inputs is a finding. Fails only if a name cannot be found (DSE_E_CONFIG, DSE_E_IO),
 * and if a workload is given without the one system it is for (DSE_E_USAGE). Everything belongs to the
 * arena. */
dse_status lint_run(const lint_inputs *in, dse_arena *a, lint_result *out, dse_error *err);

#endif
