/* report_ranking -- which stored strategies are best, per study. */
#ifndef DSE_REPORT_RANKING_H
#define DSE_REPORT_RANKING_H

#include "report/traps.h"
#include "report/tree.h"

/* The rows of one study: a model on a system, in one configuration of both. */
typedef struct {
    /* n rows, borrowed; the first has the configuration, the others may lack theirs. What was ranked row
     * after row (report_rank_row) has the first alone. */
    const store_row *row;
    size_t n;
    double hbm_bytes; /* NaN: no limit on memory */
    const char *laws; /* how kernels last: "kernels last as the laws of nvidia_h100 say"; NULL: not known */
    const char *db;   /* the database, for commands; NULL: the one that they take anyway */
    const store_column *by;
    bool says_profile; /* tables name the profile: train, or stage beside studies of train */
    bool is_of_search; /* its points are those that a search has kept: nothing is said of the others */

    /* Filled in by report_rank; by report_rank_row all but the pointers to rows: */
    const store_row *
        *ranked;        /* done, of a known value, and within the limit; best first, ties in point order */
    size_t n_ranked;    /* of which those that are printed may be there alone */
    size_t n_too_large; /* done, but above the limit */
    size_t n_unknown_memory; /* done, under a limit, but their memory was not tracked */
    size_t n_unknown_value;  /* done, but what they are ranked by is not known; not in the counts above */
    size_t n_failed;
    uint64_t n_skipped;              /* by a sweep with --prune: more points, of which nothing is known */
    const store_row *unlimited_best; /* of all that are done and of a known value; NULL: none is */
    double unlimited_value;          /* of it; NaN */
    uint64_t fastest;                /* step time of the fastest that is ranked, ns; UINT64_MAX: none is */
    uint64_t varied;                 /* a bit for each parameter in which a row differs from the first */
    bool has_links;                  /* the busiest link of one is known */
    const char *rounding; /* the engine that printed some of the memories rounded; NULL: none did */
    report_traps traps;   /* of all that are done */

    const char
        *below; /* what a ranking has below its heading, of a study whose ranked rows but the best are gone;
                          NULL: they are there */

    /* Several configurations as one (joined.h); 0: it is one of them. */
    size_t n_joined;
    const char *const
        *keys; /* settings that not all of them have, ended by NULL: tables have columns of them */
    bool shows_configuration; /* settings alone do not tell them apart */
} report_study;

/* Splits rows, ordered as store_list orders them, into studies; hbm_bytes, laws and by are left to the
 * caller. */
report_study *report_split(const store_row *rows, size_t n, dse_arena *a, size_t *n_studies);

void report_rank(report_study *s, dse_arena *a);

/* The same row after row, of a study whose `row` is the first, after report_rank_begin. What a row is: */
enum { REPORT_RANKED = 1 /* it is counted in n_ranked */, REPORT_LEADS = 2 /* the unlimited_best so far */ };
void report_rank_begin(report_study *s);
unsigned report_rank_row(report_study *s, const store_row *r);

/* Whether the study is of profile train. */
bool report_trains(const report_study *s);

/* Adds how kernels last, of a study of profile train, to what is said below several of them, unless it says
 * so. */
void report_train_note(const char *laws, dse_strbuf *notes);

/* What rows are ranked by: smaller is better. NaN if it is not known. */
double report_rank_value(const report_study *s, const store_row *r);

/* "1.25x", "92.8%"; "-": not known. */
report_text report_slowdown(uint64_t step, uint64_t fastest);
report_text report_percent(double v);

/* A heading, a table of the `top` best (0: all), and what was left out. `ambiguous`: several studies carry
 * these names, so the heading tells them apart. */
void report_ranking_print(const report_study *s, size_t top, bool ambiguous, dse_strbuf *out);

/* The same without the heading, which depends on other studies. */
void report_ranking_print_below(const report_study *s, size_t top, dse_strbuf *out);

/* Below the last table: a line for each system with points that the reference's model does not describe well
 * (traps.h). */
void report_ranking_notes(const report_study *studies, size_t n, dse_strbuf *out);

/* "265 more points were skipped by ...": a line on the validity of a ranking of the others. */
/* Whether there are more points, which were not run or not kept: what is said of all must not be said then. */
static inline bool report_has_others(const report_study *s) { return s->n_skipped || s->is_of_search; }

void report_skipped_print(uint64_t n_skipped, dse_strbuf *out);

/* All studies as one JSON object on one line, and with them lists of several as one (joined.h; NULL: none).
 * `explain` adds to the object of each, and with s NULL to the whole; NULL: nothing does. */
typedef void report_study_put(const report_study *s, size_t index, void *user, report_node *to);
void report_ranking_json(const report_study *studies, size_t n, const report_study *joined, size_t n_joined,
                         size_t top, report_study_put *explain, void *user, dse_strbuf *out);

#endif
