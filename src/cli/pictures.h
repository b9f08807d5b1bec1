/* Results as charts and pictures: what `report` and `plot` have in common. */
#ifndef DSE_CLI_PICTURES_H
#define DSE_CLI_PICTURES_H

#include "cli/command.h"
#include "cli/results.h"
#include "report/sweep_page.h"

typedef struct {
    results_selection which;
    const char *db, *by, *point, *compared;
    double hbm_bytes;
} pictures_options;

option_group pictures_group;

/* What is drawn. Everything is in the arena. */
typedef struct {
    report_study *study; /* ranked */
    size_t n;
    report_points points;
    const store_column *by;
    const store_row *chosen; /* whose step is drawn: the best of all, or --point; NULL: none fits */
} pictures;

/* DSE_E_CONFIG: there are no results, or none of the point. */
dse_status pictures_load(const pictures_options *o, dse_arena *a, pictures *out, dse_error *err);

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
    const char *x, *y; /* of a heat map; NULL: as it suits */
    uint32_t top;      /* bars */
    uint32_t actions;  /* of a timeline, at most */
} picture_details;

/* Appends the SVG. *note gets what is to be said below it (NULL: nothing). DSE_E_CONFIG with the reason
 * why there is no such picture of these results; other failures as well. */
dse_status picture_draw(picture_kind kind, const pictures_options *o, const pictures *p,
                        const picture_details *d, dse_arena *a, dse_strbuf *out, const char **note,
                        dse_error *err);

#endif
