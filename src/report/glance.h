/* A run at a glance, as tables: the first page of `ccldse metrics`, and the longer tables behind it. */
#ifndef DSE_REPORT_GLANCE_H
#define DSE_REPORT_GLANCE_H

#include "metrics/glance.h"
#include "report/tree.h"

/* What is asked for, and so the parts of the tree; none: the first page. */
enum {
    REPORT_GLANCE_KERNELS = 1 << 0,
    REPORT_GLANCE_COLLECTIVES = 1 << 1,
    REPORT_GLANCE_RANKS = 1 << 2,
    REPORT_GLANCE_IDLE = 1 << 3,
    REPORT_GLANCE_OPERATORS = 1 << 4
};

typedef struct {
    const char *path; /* as it was given */
    const metric_context *x;
    unsigned parts;
    size_t columns; /* of the terminal that the text is for; 0: none */
    glance run;
    glance_rows operators; /* with REPORT_GLANCE_OPERATORS */
    /* Values of the metrics avg_step_time, mfu, kernel_shapes, memory, memory_at_peak (without a snapshot
     * memory_timeline), coll_call_num, achieved_flops_from_trace_json; NULL: absent. */
    const metric_value *steps, *mfu, *shapes, *memory, *at_peak, *calls, *flops;
} report_glance;

/* Fills a tree: of the first page texts under "run" and "look_first", then lists of rows, each with the key
 * of its table. */
void report_glance_tree(const report_glance *g, report_node *root);

/* The tree as text as wide as the terminal (80 columns at least; without one 80, kernels in full 136), or as
 * a page. */
void report_glance_text(const report_glance *g, dse_strbuf *out);
void report_glance_html(const report_glance *g, dse_strbuf *out);

#endif
