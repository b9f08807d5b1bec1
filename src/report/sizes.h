/* report_sizes -- whether the memory of results counts bytes, or elements as ASTRA-sim does. */
#ifndef DSE_REPORT_SIZES_H
#define DSE_REPORT_SIZES_H

#include "base/strbuf.h"
#include "store/store.h"

/* The sizes that results have in common; all 0: no result is known yet. */
typedef struct {
    size_t n;
    bool differ;       /* not all of them count the same */
    store_sizes first; /* of the first */
} report_sizes;

/* Fills in the sizes of rows as store_list orders them from their configurations, parsed once a study: the
 * model of one has the numbers of a precision, or none (cards/model.h). One without a model, as of an
 * imported result, counts elements. */
void report_sizes_read(store_row *rows, size_t n);

/* Counts one more result. */
void report_sizes_add(report_sizes *s, const store_sizes *one);

static inline bool report_in_bytes(const store_sizes *s) { return s->training || s->weights > 0; }

/* For programs: "bytes" or "elements". */
const char *report_sizes_word(const store_sizes *s);

/* The same for several results; "differs" if they do not count the same. */
const char *report_sizes_key(const report_sizes *s);

/* For people, a line: "Memory counts bytes (weights 2, ...)". Of no result as of elements. */
void report_sizes_print(const report_sizes *s, dse_strbuf *out);

/* The same for one result; `more` goes on in the line. */
void report_sizes_print_one(const store_sizes *s, const char *more, dse_strbuf *out);

#endif
