/* report_left -- what accompanies the figures of runs: why some were not simulated, and notes on the
 * others. */
#ifndef DSE_REPORT_LEFT_H
#define DSE_REPORT_LEFT_H

#include "report/tree.h"

typedef struct {
    const char *reason;
    size_t n;
    const char *first; /* the first of them, and what is in its way */
    const char **each; /* the same of all n, the first among them; NULL: not known */
    size_t cap;        /* of `each` */
} report_left;

/* A paragraph; nothing if there are none. Lines of at most 100 columns, but for names that are longer. */
void report_left_print(const report_left *left, size_t n, dse_strbuf *out);

/* A sentence, with how many there are of each reason; nothing if there are none. */
void report_left_markdown(const report_left *left, size_t n, dse_strbuf *out);

/* A list of them under the key "left_out", each with a list "each" of all its runs. */
void report_put_left(const report_left *left, size_t n, report_node *to);

/* A note is what stands in for what, or was assumed: "several micro-batches: one instead (8 of 2 sequences)".
 * What is in the parentheses at its end is of its run alone: bytes before that, and whether two notes are the
 * same up to it. */
size_t report_note_stem(const char *note);
bool report_same_note(const char *a, const char *b);

#endif
