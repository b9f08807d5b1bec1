/* report_parts -- the names of the parts of a step and of a memory peak. */
#ifndef DSE_REPORT_PARTS_H
#define DSE_REPORT_PARTS_H

#include "report/tree.h"

typedef struct {
    const char *column;                    /* of the store */
    const char *label;                     /* in a table: "exposed dp" */
    const char *words;                     /* in a sentence: "communication along dp" */
    const char *train_label, *train_words; /* the same with profile train; NULL: as they are */
    size_t offset;                         /* of a count in store_metrics */
} report_part;

/* What a part of this step or peak is called. */
const char *report_part_label(const report_part *p, const store_metrics *m);
const char *report_part_words(const report_part *p, const store_metrics *m);

/* They add up to wall_time, and to peak_memory. */
#define REPORT_N_STEP_PARTS (5 + STRATEGY_N_AXES)
#define REPORT_N_PEAK_PARTS 9
extern const report_part report_step_parts[REPORT_N_STEP_PARTS], report_peak_parts[REPORT_N_PEAK_PARTS];

/* A part of a known step or peak; 0 if it lacks the part, as the optimizer's where memory counts elements. */
static inline uint64_t report_part_of(const store_metrics *m, const report_part *p)
{
    uint64_t v = *(const uint64_t *)(const void *)((const char *)m + p->offset);

    return v == STORE_ABSENT ? 0 : v;
}

/* The composition of the peak is known; of the step: store_has_step. */
static inline bool report_has_peak(const store_metrics *m) { return m->peak_time != STORE_ABSENT; }

/* " in the backward pass of layer 79"; nothing if it is not known. */
void report_peak_pass(const store_metrics *m, dse_strbuf *out);

/* Two small tables of the parts that are not 0, with their shares; nothing where the parts are not known. */
void report_parts_print(const store_metrics *m, dse_strbuf *out);

/* The same as values of an object, all of them, by the names of the columns. */
void report_put_parts(const store_metrics *m, report_node *to);

#endif
