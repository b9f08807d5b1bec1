/* Comparisons of elements as qsort and bsearch want them: ascending. */
#ifndef DSE_BASE_ORDER_H
#define DSE_BASE_ORDER_H

int dse_by_double(const void *a, const void *b); /* none is NaN */
int dse_by_u32(const void *a, const void *b);
int dse_by_u64(const void *a, const void *b);
int dse_by_text(const void *a, const void *b); /* of pointers to text, by bytes */

#endif
