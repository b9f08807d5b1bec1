/* net_cut -- cutting a product of lines in two: what a mesh is of its axes, and a network of its dimensions.
 *
 * A line has n places, and every place along all other lines has a copy of it. An even line is cut in its middle, all
 * copies of it. Of an odd line the middle places are left between the halves, and they are cut along another line, and
 * so on: a staircase, after which the halves differ by at most one. Which line is next is the one that costs least for
 * what it divides; the last is the first even one. */
#ifndef DSE_NETWORK_CUT_H
#define DSE_NETWORK_CUT_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t n;      /* places, at least 2 */
    uint64_t links;  /* that a cut of one copy goes through, in one direction */
    double per_link; /* what a link counts: its bandwidth */
} net_cut_line;

typedef struct {
    uint64_t links;
    double total; /* of what they count */
} net_cut;

/* Sorts the lines. */
net_cut net_cut_of(net_cut_line *lines, size_t n);

#endif
