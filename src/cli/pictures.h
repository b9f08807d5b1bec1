/* Results as charts and pictures: what `report` and `plot` have in common. */
#ifndef DSE_CLI_PICTURES_H
#define DSE_CLI_PICTURES_H

#include "cli/command.h"
#include "cli/results.h"
#include "report/charts.h"
#include "report/sweep_page.h"

typedef struct {
    results_selection which;
    const char *db, *by, *point, *compared;
    double hbm_bytes;
} pictures_options;

option_group pictures_group;

/* What is needed of the database besides the ranking of each study and the best point. */
typedef struct {
    size_t points;    /* whole ones: so many of the best, and more (report/shown.h) */
    bool steps_alone; /* of those only such as fit and have a step that is known in parts */
    bool dots, heat;
    const char *x, *y; /* of the heat map; NULL: as it suits */
    bool failures;
} pictures_needs;

/* What is drawn, in the arena but for dots and heat map. */
typedef struct {
    report_study *study; /* ranked */
    size_t n;
    report_points points;
    const store_column *by;
    const store_row
        *chosen; /* whose step is drawn, with its configuration: the best of all, or --point; NULL: none
                                fits */
    const bool *has_congestion; /* of each study */
    report_dots dots;
    report_heat heat;
    report_reasons failed;
} pictures;

/* DSE_E_CONFIG: there are no results, or none of the point. */
dse_status pictures_load(const pictures_options *o, const pictures_needs *needs, dse_arena *a, pictures *out,
                         dse_error *err);
void pictures_free(pictures *p); /* all zero is fine */

typedef enum {
    PICTURE_TRADEOFF,
    PICTURE_HEATMAP,
    PICTURE_PARTS,
    PICTURE_SENSITIVITY, /* of the chosen point, as the next three */
    PICTURE_MEMORY,
    PICTURE_TIMELINE,
    PICTURE_LINKS,
    PICTURE_COMPARED, /* of the file of --compare */
    PICTURE_KINDS
} picture_kind;

typedef struct {
    const char *name, *title;
    bool follows; /* a page with a chart library draws it itself, as the ranking is filtered */
} picture_def;

extern const picture_def picture_defs[PICTURE_KINDS];
extern const char *const picture_names[PICTURE_KINDS + 1]; /* ended by NULL */

/* How one is drawn. */
typedef struct {
    uint32_t top;     /* bars */
    uint32_t actions; /* of a timeline, at most */
} picture_details;

/* Appends the SVG. *note gets what is to be said below it (NULL: nothing). DSE_E_CONFIG with the reason
 * why there is no such picture of these results; other failures as well. */
dse_status picture_draw(picture_kind kind, const pictures_options *o, pictures *p, const picture_details *d,
                        dse_arena *a, dse_strbuf *out, const char **note, dse_error *err);

#endif
