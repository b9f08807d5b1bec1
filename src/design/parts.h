/* design_parts -- the ways to write a whole number as a sum of parts in order, each within a range: layers by
 * stage of a pipeline, for example. */
#ifndef DSE_DESIGN_PARTS_H
#define DSE_DESIGN_PARTS_H

#include "base/alloc.h"

typedef struct {
    uint32_t low, high; /* `high` is not among them */
} design_part;

/* Leaves of each range what a sum can have. False: there is none, and the ranges are spoilt. */
bool design_parts_tighten(uint32_t whole, design_part *part, uint32_t n);

/* How many sums there are; as a double counts, beyond 2^53 to its 16 digits. */
double design_parts_count(uint32_t whole, const design_part *part, uint32_t n);

/* The first sum in the order of its parts, the first part counting most. Ranges as design_parts_tighten
 * leaves them. */
void design_parts_first(uint32_t whole, const design_part *part, uint32_t n, uint32_t *out);

#endif
