#include "driver/measure.h"
#include "measured/calibrate_gather.h"
#include "metrics/parallel.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define GIB 1073741824.0

/* ---- where a group lies --------------------------------------------------------------------------- */

/* Ranks are NPUs, innermost dimension first, as the simulator numbers them. */
bool msr_group_dimension(const card_system *machine, uint32_t members, uint32_t stride, uint32_t *dim)
{
    uint64_t last = (uint64_t)(members - 1) * stride, part = 1;
    uint32_t found = 0;

    for (uint32_t d = 0; d < machine->npus_count.n; d++) {
        uint64_t size = (uint64_t)machine->npus_count.v[d];

        for (uint32_t m = 1; m < members; m++)
            if ((uint64_t)m * stride / part % size != 0) {
                *dim = d;
                found++;
                break;
            }
        part *= size;
    }
    return found == 1 && last < part;
}

/* The stride of groups of so many ranks, by the degrees of the job; false if there is no such degree, or
 * several. */
static bool stride_of(const trace_card *card, uint32_t members, uint32_t *stride)
{
    metric_layout layout;
    size_t found = 0;

    if (metric_layout_of(card, &layout, NULL) != DSE_OK)
        return false;
    for (size_t i = 0; i < layout.n; i++)
        if (layout.dimension[i].degree == members) {
            *stride = layout.dimension[i].stride;
            found++;
        }
    if (!found && card->total_count == (int64_t)members) {
        *stride = 1;
        found = 1;
    }
    return found == 1;
}

/* Links over which a rank of the dimension sends its part at a time. */
static double links_of(const card_system *machine, uint32_t dim, uint32_t members)
{
    return strcmp(machine->topology.v[dim], "FullyConnected") == 0 ? members - 1 : 1;
}

/* Links of the way to the next rank of a ring, each with the dimension's latency: to a Switch and on, else
 * one. */
static double hops_of(const card_system *machine, uint32_t dim)
{
    return strcmp(machine->topology.v[dim], "Switch") == 0 ? 2 : 1;
}

/* ---- what the registry's row says ------------------------------------------------------------------ */

static void place(const drv_recording *r, const card_system *machine, report_calibrated_hockney *h)
{
    uint32_t stride;

    if (!(h->alpha_s >= 0) || !(h->beta_s_per_byte > 0)) {
        h->why = "the line has a negative coefficient: the model does not hold for these sizes";
    } else if (!stride_of(&r->card, h->members, &stride)) {
        h->why = "the card's degrees do not say which ranks these groups have";
    } else if (!msr_group_dimension(machine, h->members, stride, &h->dim)) {
        h->why = "the groups lie in several dimensions of the network";
    } else {
        h->bandwidth = 1 / h->beta_s_per_byte / links_of(machine, h->dim, h->members) / GIB;
        h->latency = h->alpha_s * 1e9 / hops_of(machine, h->dim);
    }
}

dse_status msr_hockney_of(const drv_recording *r, const char *run, const card_system *machine, dse_arena *a,
                          report_calibrated_hockney *out, dse_error *err)
{
    static const char name[] = "hockney_alpha_s";
    const metric_options plain = {0};
    report_measured m;
    const metric *row;
    dse_status st = drv_measure_find(r, name, false, &row, err);

    *out = (report_calibrated_hockney){.run = run};
    if (st == DSE_OK)
        st = drv_measure(r, row, name, &plain, a, &m, err);
    if (st != DSE_OK)
        return st;
    if (!m.value) {
        out->why = m.why;
        return DSE_OK;
    }
    out->members = (uint32_t)metric_number(metric_get(m.value, "group_size"));
    out->samples = (size_t)metric_number(metric_get(m.value, "samples"));
    out->sizes = (size_t)metric_number(metric_get(m.value, "distinct_sizes"));
    out->alpha_s = metric_number(metric_get(m.value, "alpha_s"));
    out->beta_s_per_byte = metric_number(metric_get(m.value, "beta_s_per_byte"));
    place(r, machine, out);
    return DSE_OK;
}
