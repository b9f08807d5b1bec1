/* net_cut -- halves a product of lines. A mesh is the product of its axes, a network of its dimensions.
 *
 * A line has n places, and every place along all other lines has a copy of it. All copies of an even line are
 * cut in the middle. The middle places of an odd line are left between the halves and cut along another line,
 * and so on: the cut is a staircase, and the halves differ by one place at most. The next line is always the
 * one that costs least for what it divides; the first even line is the last. */
#ifndef DSE_NETWORK_CUT_H
#define DSE_NETWORK_CUT_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t n;      /* places, at least 2 */
    uint64_t links;  /* cut in one copy, in one direction */
    double per_link; /* weight of a link: its bandwidth */
} net_cut_line;

typedef struct {
    uint64_t links;
    double total; /* of their weights */
} net_cut;

/* Sorts the lines. */
net_cut net_cut_of(net_cut_line *lines, size_t n);

#endif
