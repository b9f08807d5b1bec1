/* What `best` finds out about each study besides its ranking, without the rows of more than one being held. */
#ifndef DSE_CLI_REMARKED_H
#define DSE_CLI_REMARKED_H

#include "cli/ranked.h"
#include "report/explain.h"
#include "report/robust.h"

typedef struct {
    dse_arena *a, scratch; /* of the result; of one study */
    bool explains, chooses;
    report_explanation *why; /* of each study; with `explains` */
    report_robust *trust;    /* with `chooses`: the points that drv_robust is to compare, and no more */
    size_t n, cap_why, cap_trust;
    store_row *row; /* figures of the rows of the study that is being ranked */
    size_t n_rows, cap;
} remark_finder;

/* For ranked_how.row and .end; of each study the best two are there. */
void remark_add(remark_finder *m, const report_study *s, const store_row *r);
dse_status remark_end(remark_finder *m, const report_study *s, dse_error *err);

void remark_free(remark_finder *m);

#endif
