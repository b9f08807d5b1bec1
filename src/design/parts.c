#include "design/parts.h"

bool design_parts_tighten(uint32_t whole, design_part *part, uint32_t n)
{
    uint64_t least = 0, most = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (part[i].low >= part[i].high)
            return false;
        least += part[i].low;
        most += part[i].high - 1;
    }
    if (least > whole || most < whole)
        return false;
    /* What all others leave: one walk is enough, as neither changes the sums that the other ends are made
     * of. */
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t low = part[i].low, high = part[i].high - 1;
        const uint64_t others_most = most - high, others_least = least - low;

        if (others_most < whole && whole - others_most > low)
            part[i].low = (uint32_t)(whole - others_most);
        if (whole - others_least < high)
            part[i].high = (uint32_t)(whole - others_least + 1);
    }
    return true;
}

double design_parts_count(uint32_t whole, const design_part *part, uint32_t n)
{
    double *ways = dse_calloc(whole + 1, sizeof *ways), *next = dse_calloc(whole + 1, sizeof *next), count;

    ways[0] = 1;
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0, *swap;

        /* sum: of ways[k] with sum - high < k <= sum - low */
        for (uint32_t s = 0; s <= whole; s++) {
            sum += s >= part[i].low ? ways[s - part[i].low] : 0;
            sum -= s >= part[i].high ? ways[s - part[i].high] : 0;
            next[s] = part[i].low < part[i].high ? sum : 0;
        }
        swap = ways;
        ways = next;
        next = swap;
    }
    count = ways[whole];
    dse_free(ways);
    dse_free(next);
    return count;
}

void design_parts_first(uint32_t whole, const design_part *part, uint32_t n, uint32_t *out)
{
    uint64_t behind = 0, left = whole;

    for (uint32_t i = 0; i < n; i++)
        behind += part[i].high - 1;
    for (uint32_t i = 0; i < n; i++) {
        behind -= part[i].high - 1;
        out[i] = left > behind + part[i].low ? (uint32_t)(left - behind) : part[i].low;
        left -= out[i];
    }
}
