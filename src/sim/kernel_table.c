#include "sim/kernel_table.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>

static double at_of(const uint64_t extent[WL_N_EXTENTS], uint32_t axis)
{
    return log((double)(extent[axis] ? extent[axis] : 1));
}

/* The values of an axis, each once. */
static void make_axis(sim_table *t, uint32_t axis, const sim_table_point *point, size_t n, dse_arena *a)
{
    double *v = DSE_ARENA_RAW(a, double, n);

    for (size_t i = 0; i < n; i++)
        v[i] = at_of(point[i].extent, t->extent[axis]);
    qsort(v, n, sizeof *v, dse_by_double);
    for (size_t i = 0; i < n; i++)
        if (!t->n[axis] || v[i] > v[t->n[axis] - 1])
            v[t->n[axis]++] = v[i];
    t->at[axis] = v;
}

static uint32_t place_of(const sim_table *t, const sim_table_point *p)
{
    uint32_t place = 0;

    for (uint32_t d = 0; d < SIM_TABLE_AXES; d++) {
        const double v = at_of(p->extent, t->extent[d]);
        uint32_t i = 0;

        while (t->n[d] > 1 && t->at[d][i] < v)
            i++;
        place = place * t->n[d] + i;
    }
    return place;
}

/* The mean of the neighbours that have a ratio; NaN if none has. */
static double mean_of_neighbours(const sim_table *t, uint32_t place)
{
    double sum = 0;
    uint32_t n = 0;

    for (uint32_t d = 0; d < SIM_TABLE_AXES; d++) {
        const uint32_t stride = t->stride[d], i = place / stride % t->n[d];

        if (i > 0 && !isnan(t->ratio[place - stride]))
            sum += t->ratio[place - stride], n++;
        if (i + 1 < t->n[d] && !isnan(t->ratio[place + stride]))
            sum += t->ratio[place + stride], n++;
    }
    return n ? sum / n : NAN;
}

/* Round by round, each from what the rounds before have. */
static void fill(sim_table *t, uint32_t size, dse_arena *a)
{
    double *next = DSE_ARENA_RAW(a, double, size);
    uint32_t left = size - t->n_measured;

    while (left) {
        for (uint32_t i = 0; i < size; i++)
            next[i] = isnan(t->ratio[i]) ? mean_of_neighbours(t, i) : t->ratio[i];
        left = 0;
        for (uint32_t i = 0; i < size; i++) {
            t->ratio[i] = next[i];
            left += isnan(next[i]) ? 1 : 0;
        }
    }
}

sim_table *sim_table_make(const uint32_t *extent, uint32_t n_axes, const sim_table_point *point, size_t n,
                          dse_arena *a)
{
    static double origin;
    sim_table *t = DSE_ARENA_NEW(a, sim_table, 1);
    uint32_t size = 1;

    for (uint32_t d = 0; d < SIM_TABLE_AXES; d++) {
        if (d < n_axes) {
            t->extent[d] = extent[d];
            make_axis(t, d, point, n, a);
        } else {
            t->n[d] = 1;
            t->at[d] = &origin;
        }
    }
    for (uint32_t d = SIM_TABLE_AXES; d-- > 0;) {
        t->stride[d] = size;
        size *= t->n[d];
    }
    t->ratio = DSE_ARENA_RAW(a, double, size);
    for (uint32_t i = 0; i < size; i++)
        t->ratio[i] = NAN;
    for (size_t i = 0; i < n; i++)
        t->ratio[place_of(t, &point[i])] = point[i].ratio;
    t->is_measured = DSE_ARENA_RAW(a, bool, size);
    for (uint32_t i = 0; i < size; i++)
        t->n_measured += t->is_measured[i] = !isnan(t->ratio[i]);
    fill(t, size, a);
    return t;
}

/* The cell of an axis that a value lies in, and where: 0 at its begin, 1 at its end. Held within the grid. */
static uint32_t cell_of(const sim_table *t, uint32_t axis, double v, double *share)
{
    const double *at = t->at[axis];
    const uint32_t n = t->n[axis];
    uint32_t i = 0;

    *share = 0;
    if (n == 1 || !(v > at[0]))
        return 0;
    while (i + 2 < n && v >= at[i + 1])
        i++;
    *share = (v - at[i]) / (at[i + 1] - at[i]);
    if (*share > 1)
        *share = 1;
    return i;
}

/* The first corner of the cell of a shape, where in it the shape lies, and the steps to the other corners; 0
 * along an axis where the shape is on the grid, or beyond it. */
static uint32_t locate(const sim_table *t, const wl_kernel *k, double share[SIM_TABLE_AXES],
                       uint32_t step[SIM_TABLE_AXES])
{
    uint32_t first = 0;

    for (uint32_t d = 0; d < SIM_TABLE_AXES; d++) {
        first += t->stride[d] * cell_of(t, d, t->n[d] > 1 ? at_of(k->extent, t->extent[d]) : 0, &share[d]);
        step[d] = share[d] > 0 ? t->stride[d] : 0;
    }
    return first;
}

double sim_table_ratio(const sim_table *t, const wl_kernel *k)
{
    uint32_t step[SIM_TABLE_AXES];
    double share[SIM_TABLE_AXES], value[2], line[2];
    const uint32_t first = locate(t, k, share, step);

    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t j = 0; j < 2; j++) {
            const double *r = &t->ratio[first + i * step[0] + j * step[1]];

            line[j] = r[0] + share[2] * (r[step[2]] - r[0]);
        }
        value[i] = line[0] + share[1] * (line[1] - line[0]);
    }
    return value[0] + share[0] * (value[1] - value[0]);
}

bool sim_table_is_beyond(const sim_table *t, const wl_kernel *k)
{
    for (uint32_t d = 0; d < SIM_TABLE_AXES; d++) {
        const double v = t->n[d] > 1 ? at_of(k->extent, t->extent[d]) : 0;

        if (t->n[d] > 1 && (v < t->at[d][0] || v > t->at[d][t->n[d] - 1]))
            return true;
    }
    return false;
}

uint32_t sim_table_corners(const sim_table *t, const wl_kernel *k, sim_table_corner out[8])
{
    uint32_t step[SIM_TABLE_AXES], n = 0;
    double share[SIM_TABLE_AXES];
    const uint32_t first = locate(t, k, share, step);

    for (uint32_t c = 0; c < 1u << SIM_TABLE_AXES; c++) {
        uint32_t place = first;
        bool is_new = true;

        for (uint32_t d = 0; d < SIM_TABLE_AXES; d++) {
            /* At the end of an axis, or on a point, one of the two corners is all there is. */
            const bool is_far = c >> (SIM_TABLE_AXES - 1 - d) & 1;

            is_new = is_new && !(is_far && (!step[d] || share[d] >= 1));
            place += is_far || share[d] >= 1 ? step[d] : 0;
        }
        if (!is_new)
            continue;
        out[n] = (sim_table_corner){.ratio = t->ratio[place], .is_measured = t->is_measured[place]};
        for (uint32_t d = 0; d < SIM_TABLE_AXES; d++)
            out[n].at[d] = (uint64_t)(exp(t->at[d][place / t->stride[d] % t->n[d]]) + 0.5);
        n++;
    }
    return n;
}
