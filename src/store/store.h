/* store -- the results database: one SQLite file, one row a result.
 *
 * A row is known by its resolved configuration, a JSON text; its 64-bit hash finds it, the text decides. Each
 * result is committed by itself, or several together: a program killed at any instant loses none that it had
 * committed. One writer at a time (locks on the file, and on one beside it that says which process it is);
 * readers any time. A file with a second hard link is not written to.
 *
 * A row has a checksum: FNV-1a (base/hash.h) over its values in the order of the columns of `result`,
 * without id and checksum; NULLs at the end do not count. A value counts as one byte, its type in SQLite's
 * numbering (1 integer, 2 real, 3 text, 5 null), then eight bytes, the least significant first: the integer,
 * the bits of the double, or the length of the text, whose bytes follow. Where `shared` is 1 the
 * configuration is the text of its point alone; table `study` has that of the study, whose FNV-1a is its
 * number. Table `total` has the number of rows and the exclusive or of their checksums, and the same of the
 * skipped points. A database in which these do not agree is not listed (DSE_E_STORE names the row and the
 * remedy); a writer removes such rows when it opens it, so that their points are simulated again. */
#ifndef DSE_STORE_STORE_H
#define DSE_STORE_STORE_H

#include "strategy/strategy.h"

#include <inttypes.h>
#include <math.h>

typedef enum { STORE_LOWER, STORE_HIGHER, STORE_NEITHER } store_better;
typedef enum {
    STORE_U64,
    STORE_BYTES,    /* a U64 that needs memory tracking */
    STORE_PEAK_U64, /* the same, and no size: when and where the peak is */
    STORE_REAL,
    STORE_TEXT /* const char *, borrowed */
} store_type;

/* What was measured. Of the ranks' values, wall_time and peak_memory are the largest; the others are those of
 * rank 0, as the reference simulator's users read them. A figure that is not known is STORE_ABSENT, NaN or
 * NULL. */
#define STORE_ABSENT UINT64_MAX
typedef struct {
    uint64_t wall_time, gpu_time, comm_time, exposed_comm; /* ns */
    double compute_bound, compute_util, mem_util;          /* percent */
    double op_intensity;                                   /* operations per byte */
    uint64_t peak_memory;                                  /* bytes (upstream: elements) */
    uint64_t wall_time_rank0, peak_memory_rank0;
    uint64_t nodes, messages;

    /* Where the step goes: the time of the slowest rank in parts that add up to wall_time. Only this
     * program's own simulator knows them, and the rest; communication is what no compute covers. */
    uint64_t step_compute_bound, step_memory_bound, step_compute_other;
    uint64_t step_comm[STRATEGY_N_AXES]; /* along one axis of the mesh */
    uint64_t step_comm_mixed;            /* along several, or none */
    uint64_t step_idle;

    /* The moment of peak_memory, and what is held then, by kind of tensor: adds up to peak_memory. */
    uint64_t peak_weights, peak_weight_gradients, peak_updated_weights;
    uint64_t peak_activations, peak_recomputed, peak_activation_gradients, peak_inputs;
    uint64_t peak_optimizer, peak_gathered; /* absent where elements are counted, which is 0 of them */
    uint64_t peak_time;                     /* ns since the start of the step */
    uint64_t peak_layer;   /* counted from 0, as in the names of nodes; absent outside of the layers */
    const char *peak_pass; /* "forward", "recomputation", "backward", "update" */
    const char *peak_node; /* what the rank runs at that moment */

    /* Where ASTRA-sim's model is not what one would expect, if the run met it (sim/sim.h): messages that paid
     * for the lowest of several dimensions alone, collectives of groups that ran as flat rings against the
     * implementations. Unknown of what a version before 3 stored, and of other engines. */
    uint64_t undercharged_messages, flat_ring_collectives;

    /* With congestion, the link that is busy longest: of the run's time, in percent, and its name, "3 ->
     * 7". */
    double busiest_link_util;
    const char *busiest_link;

    /* Why this program's fast engine could not simulate the point, by the name of the reason
     * (sim/fallback.h); NULL: it did, or was not asked. */
    const char *fallback;

    /* Of profile train: tokens of a step by its time, and operations of the model (mfu), or of all that
     * was executed (hfu), by the peak of all NPUs, in percent. NaN: of profile stage, or not known. */
    double tokens_per_s, tokens_per_s_npu, mfu, hfu;

    /* What all NPUs of the point cost and take, if the system says what one does: of a step, and of 10^12
     * tokens (profile train); in the money of its price, and in kWh. NaN: not known. A row does not store
     * them: store_list computes them from what its study has (store_set_prices), so that a new price needs
     * no simulation. */
    double cost_per_step, cost_per_trillion_tokens, energy_per_step, energy_per_trillion_tokens;
} store_metrics;

/* One row per metric: the columns of the database, of CSV and JSON, and what `best --by` takes. */
typedef struct {
    const char *name;
    store_type type;
    const char *unit;
    store_better better;
    const char *help;
    size_t offset; /* in store_metrics */
} store_column;

const store_column *store_columns(size_t *n);
const store_column *store_column_find(const char *name);

/* Whether results of a profile can have it. */
bool store_column_has_profile(const store_column *c, unsigned profile);

/* Whether it is a cost or an energy, which only systems with a price or a power have. */
bool store_column_is_cost(const store_column *c);

/* Sets those of a point: what one NPU costs an hour and how much power it takes in W; NaN: not known. */
void store_add_costs(uint64_t npus, double per_device_hour, double power, store_metrics *m);

/* Nothing is known. */
void store_metrics_clear(store_metrics *m);

/* Whether the value is there. */
bool store_has(const store_metrics *m, const store_column *c);

/* The value as a number; NaN if it is not there, or is text. */
double store_value(const store_metrics *m, const store_column *c);

/* The same without loss, of a column that is a count, if it is there. */
uint64_t store_count(const store_metrics *m, const store_column *c);

/* Of a STORE_TEXT; NULL if it is not there. */
const char *store_text(const store_metrics *m, const store_column *c);

/* Bytes of an element in the memory of a result, by what the element is; all 0: memory counts elements. */
typedef struct {
    double weights, activations, gradients, optimizer, messages;
    bool stage_main; /* profile stage of STAGE's branch main: the numbers are not what is counted */
    bool training; /* profile train: bytes, by the program or by its own precision; the numbers say nothing */
} store_sizes;

typedef struct {
    const char *config; /* JSON: model, system, point, engine; what the result is a function of */
    uint64_t hash;      /* of config */
    uint64_t study;     /* of config without the point: rows that may be ranked against each other */
    const char *model, *system, *engine;
    const char *settings; /* what was set over the cards: "layers=4 network.bandwidth[1]=50GB/s"; "" */
    strategy strategy;
    bool done; /* else it failed, for the reason in error */
    const char *error;
    double seconds;      /* CPU time that the result took; NaN: unknown */
    bool memory_rounded; /* the engine printed its memory in GB, rounded */
    store_metrics metrics;
    uint64_t skipped_of_study; /* by store_list: how many more points of the study were skipped */
    bool asked;                /* by store_list: the last sweep asked for it, or that is not known */
    int64_t id;                /* by store_list: its number in the database */
    store_sizes sizes;         /* not stored: report_sizes_read (report/sizes.h) takes them from config */
} store_row;

/* Which profile's parameters and figures a row has, once its sizes are known. */
static inline unsigned store_row_profile(const store_row *r)
{
    if (r->sizes.training)
        return STRATEGY_PROFILE_TRAIN;
    return STRATEGY_PROFILE_STAGE | (r->sizes.stage_main ? STRATEGY_PROFILE_MAIN : 0u);
}

typedef struct store store;
typedef enum { STORE_READ, STORE_WRITE } store_mode;

/* Opens, and for writing makes, the database and its folder. One of an older version is brought to this one:
 * by a writer in its file, by a reader in a copy. DSE_E_STORE: locked by another run, of a newer
 * version, not a database, damaged; DSE_E_IO: the folder cannot be written. */
dse_status store_open(const char *path, store_mode mode, store **out, dse_error *err);
void store_close(store *s); /* accepts NULL */

/* Closing will not make the figures that store_each_figures reads, as another writer follows soon, who
 * will. */
void store_leave_figures(store *s);

/* Closes what was written to and looks, through another connection, whether the rows are there: a file may
 * have been removed, replaced or cut meanwhile. DSE_E_STORE. */
dse_status store_finish(store *s, dse_error *err);

/* Whether a writer met damage, and removed or missed so many rows: points of theirs are not found any
 * more. */
bool store_was_damaged(const store *s, uint64_t *rows);
#define STORE_DAMAGE_WORDS                                                                                   \
    "the database was damaged; rows missing or not what was written: %" PRIu64                               \
    "; a sweep simulates their points again"

/* The parts of the step are there: the result is of this program's own simulator, and not of a database of
 * version 1. */
static inline bool store_has_step(const store_metrics *m) { return m->step_idle != STORE_ABSENT; }

/* What "fits" means: the memory is known and at most hbm_bytes, or there is no limit (NaN). */
static inline bool store_fits(uint64_t peak_memory, double hbm_bytes)
{
    return isnan(hbm_bytes) || (peak_memory != STORE_ABSENT && (double)peak_memory <= hbm_bytes);
}

/* Whether an engine's name is that of this program's own simulator, of whatever version: "native-1". */
bool store_is_native(const char *engine);

/* Of a result that is there: metrics of these names. */
typedef struct {
    uint64_t wall_time, peak_memory, undercharged_messages, flat_ring_collectives;
    char fallback[32]; /* "": none */
} store_brief;

/* Whether this configuration has a result that is done, and what it is. A failed one is tried again, and so
 * is a native one without the parts of its step, which version 1 did not keep. */
dse_status store_find(store *s, uint64_t hash, const char *config, bool *found, store_brief *out,
                      dse_error *err);

/* What a result that is done counts for in a ranking by step time; STORE_ABSENT: not known. */
typedef struct {
    uint64_t hash, study; /* of its row */
    uint64_t wall_time, peak_memory;
} store_time;

/* Calls `visit` with each, in no order that matters; what it fails with ends the visits. Takes no memory for
 * them. */
typedef dse_status store_visit(void *user, const store_time *t, dse_error *err);
dse_status store_times(store *s, store_visit *visit, void *user, dse_error *err);

/* Adds a row, or replaces the one of the same configuration: by itself, or between store_begin and
 * store_commit. */
dse_status store_put(store *s, const store_row *row, dse_error *err);

/* Says that no two rows that will be put have one configuration, and that none is looked for or skipped before the
 * store is closed: where it has no row yet, its indexes are then made once, at the end, and not kept right at
 * every row, which would be in another place of them each time. Whoever opens a database for writing makes
 * those that a killed run left out. */
dse_status store_defer_indexes(store *s, dse_error *err);

/* What is found and put from here until store_commit is one transaction: that is much cheaper, and who reads
 * the database, also after this program was killed, sees all of it or nothing. After a store_put that failed
 * it may be that the rows before it are gone, too. */
dse_status store_begin(store *s, dse_error *err);
dse_status store_commit(store *s, dse_error *err);

/* The same where rows are only found, and nothing but prices is set: what a ranking reads (store_each_figures) stays
 * as it is. */
dse_status store_begin_finding(store *s, dse_error *err);

/* What is read from here until store_end_reading is one state of the database, whatever a sweep writes meanwhile. */
dse_status store_begin_reading(store *s, dse_error *err);
void store_end_reading(store *s);

/* store_put of n rows, in one transaction of their own: all of them or none. */
dse_status store_put_all(store *s, const store_row *rows, size_t n, dse_error *err);

/* Notes that a sweep left a point out, by the hash that its row would have: with points skipped, rows are not
 * all that there is to rank. A point has a row or is noted here, never both: one that has a row, done or
 * failed, is not noted, and putting its row ends it. By itself, or between store_begin and store_commit. */
dse_status store_skip(store *s, uint64_t hash, uint64_t study, dse_error *err);

/* Whether that was noted. */
dse_status store_is_skipped(store *s, uint64_t hash, bool *out, dse_error *err);

/* Notes points as asked for, by the hashes of their rows, whether they are stored already or not, beside those
 * of the last sweep: of results that came otherwise. In a transaction of its own. Nothing is noted in a
 * database of a version before 8 until its next sweep. */
dse_status store_ask(store *s, const uint64_t *hashes, size_t n, dse_error *err);

/* The points of a sweep, in the place of those of the sweep before: begun, any number of them added, and noted
 * at the end, unless two have one hash. Then nothing is noted, and twice[] is the number of the earliest
 * that another one precedes, and before it of that one, counted from 1; else 0. Where none is added, no row is
 * asked for. They are those of a search only if store_put_searched says so afterwards. Meanwhile they are in a
 * temporary file. The end is a transaction of its own, the rest may be in one. */
dse_status store_asking_begin(store *s, dse_error *err);
dse_status store_asking_add(store *s, uint64_t hash, dse_error *err);
dse_status store_asking_end(store *s, uint64_t twice[2], dse_error *err);

/* What a search (driver/search.h) knows of a model on a system besides the points that it found. */
typedef struct {
    const char *model, *system;
    uint64_t n;          /* best points that were found: those that the last sweep asked for */
    bool is_finished;    /* no point of the space would change them; else: */
    double gap;          /* how much faster than the best another one may be, as a part of it, 0 to 1 */
    uint64_t least_step; /* ns: its step, of the best's tokens, would take so long; n 0: not known */
    double points;       /* of the space, before its constraints; */
    bool has_all;        /* it has no more than these */
    uint64_t boxes;      /* that were split */
    double hbm_bytes;    /* the limit on memory; NaN: that of the system, if it has one */
} store_searched;

/* Notes that the points that are asked for are those of a search, and what it knows, in the place of what
 * was noted before. In a transaction of its own. */
dse_status store_put_searched(store *s, const store_searched *searched, size_t n, dse_error *err);

/* What was noted, in the arena; *n 0: the points that are asked for are not those of a search, or what it
 * noted is damaged. */
dse_status store_get_searched(store *s, dse_arena *a, store_searched **out, size_t *n, dse_error *err);

/* Sets what an NPU of a study's system costs an hour and its power in W (NaN: not known), in the place of
 * what was set before: for all rows of the study, stored before or not. By itself, or between store_begin
 * and store_commit. */
dse_status store_set_prices(store *s, uint64_t study, double per_device_hour, double power, dse_error *err);

/* Whether any study has a price or a power: else no row has costs. */
dse_status store_has_prices(store *s, bool *out, dse_error *err);

/* Skipped points of studies that have no row, and so are in no list; what models and systems they are of is
 * not stored. `asked`: those alone that the last sweep asked for. */
typedef struct {
    uint64_t points, studies;
} store_unlisted;
dse_status store_count_unlisted(store *s, bool asked, store_unlisted *out, dse_error *err);

/* Which rows are listed. */
typedef struct {
    const char *model, *system;                  /* NULL: any */
    const strategy *point;                       /* this one alone; NULL: any */
    bool (*has)(void *user, const store_row *r); /* more to ask of a row, in its turn; NULL: nothing */
    void *user;
    bool no_config;  /* rows have "" instead of their config */
    bool one_config; /* store_select: only the first row of a study has its config, the others NULL */
} store_filter;

/* Calls `visit` with each such row, ordered by model, system, engine (ours first), settings, study, point; so
 * the same rows give the same order whoever made them when. A row and its texts last until `visit` returns,
 * and take no memory beyond it. All of the database is checked before the first row; with a point, which an
 * index finds, only what is listed. What `visit` fails with ends the visits. */
typedef dse_status store_row_visit(void *user, const store_row *r, dse_error *err);
dse_status store_each(store *s, const store_filter *which, store_row_visit *visit, void *user,
                      dse_error *err);

/* The rows at once, in that order. Everything belongs to the arena; rows share texts. store_list: of a model
 * and a system (NULL: any). */
dse_status store_select(store *s, const store_filter *which, dse_arena *a, store_row **rows, size_t *n,
                        dse_error *err);
dse_status store_list(store *s, const char *model, const char *system, dse_arena *a, store_row **rows,
                      size_t *n, dse_error *err);

/* Calls `visit` with each such row in the same order, of which only this is there: what its study has
 * (model, system, engine, settings, study, skipped_of_study), id, strategy, done, asked, memory_rounded,
 * and with `by`, of the metrics, wall_time, peak_memory, the counts of report_traps, busiest_link_util,
 * step_idle, and `by`. The figures come from a table of their own, which is checked, and not from the rows: those are
 * neither read nor checked. Without such a table, or if it is not of these rows, as while a sweep runs, all
 * rows are checked and read once to make it. `which` has no point. */
dse_status store_each_figures(store *s, const store_filter *which, const store_column *by,
                              store_row_visit *visit, void *user, dse_error *err);

/* The whole row of such figures, in the arena, if asked for with its configuration, else "". It is checked,
 * and has these figures, of which wall_time and peak_memory are there; else DSE_E_STORE. */
dse_status store_read(store *s, const store_row *figures, bool config, dse_arena *a, store_row *out,
                      dse_error *err);

/* A copy in the arena, with the texts of one that was copied before (all zero: none) where they are the same, as
 * names of a sweep are. */
store_row store_copy_row(const store_row *r, const store_row *before, dse_arena *a);

/* What a merge did: rows that were added, or took the place of failed ones; of them, failed ones; rows whose
 * configuration had a result. */
typedef struct {
    uint64_t added, failed, known;
} store_merged;

/* Adds the rows, the skipped points and the prices of another database, all of them or none, and asks for
 * what its last sweep asked for, beside what is asked for already. */
dse_status store_merge(store *into, store *from, store_merged *out, dse_error *err);

/* Of SQLite, as it says at run time. */
const char *store_sqlite_version(void);

#endif
