#include "network/cut.h"

/* Cutting odd line i before odd line j (weight w, n places) costs w_i/n_i + w_j/(n_i n_j) per NPU, which is
 * less than the other order if w_i/(n_i - 1) < w_j/(n_j - 1). An even line e ends the cut; cutting i before
 * it pays if w_i/(n_i - 1) < w_e/n_e. So one key orders both. */
static double key(const net_cut_line *l) { return (double)l->links * l->per_link / (l->n - l->n % 2); }

static void sort(net_cut_line *lines, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && key(&lines[k]) < key(&lines[k - 1]); k--) {
            net_cut_line l = lines[k];

            lines[k] = lines[k - 1];
            lines[k - 1] = l;
        }
}

net_cut net_cut_of(net_cut_line *lines, size_t n)
{
    net_cut cut = {0};
    uint64_t places = 1; /* not divided yet */

    sort(lines, n);
    for (size_t i = 0; i < n; i++)
        places *= lines[i].n;
    for (size_t i = 0; i < n; i++) {
        uint64_t links = places / lines[i].n * lines[i].links;

        cut.links += links;
        cut.total += (double)links * lines[i].per_link;
        if (lines[i].n % 2 == 0)
            break;
        places /= lines[i].n;
    }
    return cut;
}
