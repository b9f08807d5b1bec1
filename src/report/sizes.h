/* report_sizes -- whether the memory of results counts bytes, or elements as ASTRA-sim does.
 *
 * A resolved configuration says it: its model has the numbers of a precision, or none of them (cards/model.h). Without one
 * (NULL) it is elements. */
#ifndef DSE_REPORT_SIZES_H
#define DSE_REPORT_SIZES_H

#include "base/strbuf.h"

#define REPORT_N_SIZES 5

/* What results have in common; all 0: no result is known yet. */
typedef struct {
    size_t n;
    bool differ;                   /* not all of them count the same */
    double number[REPORT_N_SIZES]; /* bytes of an element, of the first; all 0: it counts elements */
} report_sizes;

/* One more result, by its configuration. */
void report_sizes_add(report_sizes *s, const char *config);

bool report_in_bytes(const char *config);

/* For programs: "bytes" or "elements". */
const char *report_sizes_word(const char *config);

/* The same of several; "differs". */
const char *report_sizes_key(const report_sizes *s);

/* For people, a sentence without the end of its line: "Memory counts bytes (weights 2, ...)". Of no result as of
 * elements. */
void report_sizes_print(const report_sizes *s, dse_strbuf *out);

/* The same of one configuration. */
void report_sizes_print_one(const char *config, dse_strbuf *out);

#endif
