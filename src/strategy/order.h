/* order -- permutations of the mesh's axes, by their number.
 *
 * An order says how ranks are numbered: the axis that stands first counts fastest, so its groups are
 * consecutive ranks and stay within a node as long as they fit. Number 0 is the order of the rows of
 * parameters.h; the others follow in lexicographic order (the factorial number system). */
#ifndef DSE_STRATEGY_ORDER_H
#define DSE_STRATEGY_ORDER_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* How many orders n things have; n at most 12. */
uint32_t order_count(uint32_t n);

/* The things of order `number`, first to last: item[0 .. n). */
void order_items(uint32_t number, uint32_t n, uint8_t *item);

/* The names of the things in that order, joined by dashes: "tp-sp-dp-pp". Those behind the first `least` are
 * left out where they end the order as they end the names. */
void order_print(uint32_t number, const char *const *names, uint32_t n, uint32_t least, char *out,
                 size_t size);

/* The reverse; dashes or commas. False if `text` is no order of all of them, but for what may be left out. */
bool order_parse(const char *text, const char *const *names, uint32_t n, uint32_t least, uint32_t *number);

#endif
