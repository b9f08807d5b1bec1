/* Costs of a plan whose stages are equal, or nearly: the sets of the reference, and those that a user
 * gives. */
#include "base/array.h"
#include "base/units.h"
#include "schedule/compose.h"

#include <string.h>

#define MAX_COST 1000000000u /* 2^24 actions of it stay below 2^64 */

typedef struct {
    uint64_t f, i, w, transfer;
} unit_costs;

static unit_costs equal(uint32_t stage, unit_costs of_all)
{
    (void)stage;
    return of_all;
}

static unit_costs varied(uint32_t stage, unit_costs of_all)
{
    return (unit_costs){of_all.f + stage % 3, of_all.i + (uint64_t)2 * (stage % 2), of_all.w + stage % 2,
                        of_all.transfer};
}

/* One row a set; the reference's README gives them. */
static const struct {
    const char *name;
    unit_costs costs;
    unit_costs (*of_stage)(uint32_t stage, unit_costs of_all);
} sets[] = {
    {"U", {1, 1, 1, 0}, equal},
    {"N", {10, 11, 9, 0}, equal},
    {"C", {10, 11, 9, 3}, equal},
    {"S", {10, 11, 9, 2}, varied},
};

static void fill(const sched_plan *p, unit_costs (*of_stage)(uint32_t, unit_costs), unit_costs of_all,
                 sched_costs *out)
{
    for (uint32_t stage = 0; stage < p->n_directions * p->n_stages; stage++) {
        unit_costs u = of_stage(stage % p->n_stages, of_all);

        for (uint32_t place = 0; place < SCHED_PLACES; place++) {
            out->duration[sched_duration_at(stage, SCHED_F, place)] = u.f;
            out->duration[sched_duration_at(stage, SCHED_B, place)] = u.i + u.w;
            out->duration[sched_duration_at(stage, SCHED_I, place)] = u.i;
            out->duration[sched_duration_at(stage, SCHED_W, place)] = u.w;
        }
        out->transfer[(size_t)stage * 2] = out->transfer[(size_t)stage * 2 + 1] = u.transfer;
    }
}

/* Four numbers, separated by commas. */
static bool parse_numbers(const char *text, unit_costs *out)
{
    uint64_t *number[] = {&out->f, &out->i, &out->w, &out->transfer};

    for (size_t i = 0; i < 4; i++) {
        size_t n = strcspn(text, ",");
        char digits[16];

        if (n >= sizeof digits)
            return false;
        memcpy(digits, text, n);
        digits[n] = '\0';
        if (dse_parse_u64(digits, number[i], NULL) != DSE_OK || *number[i] > MAX_COST || !text[n] != (i == 3))
            return false;
        text += n + 1;
    }
    return true;
}

dse_status sched_costs_parse(const char *text, const sched_plan *p, dse_arena *a, sched_costs *out,
                             dse_error *err)
{
    unit_costs given;

    for (size_t i = 0; i < DSE_COUNT(sets); i++) {
        if (strcmp(sets[i].name, text) != 0)
            continue;
        sched_costs_init(out, p, a);
        fill(p, sets[i].of_stage, sets[i].costs, out);
        return DSE_OK;
    }
    if (!parse_numbers(text, &given))
        return dse_fail(
            err, DSE_E_USAGE,
            "--costs takes U, N, C, S, or four whole numbers up to %u, F,I,W,C, for example 10,11,9,3; "
            "not '%.40s'",
            MAX_COST, text);
    sched_costs_init(out, p, a);
    fill(p, equal, given, out);
    return DSE_OK;
}
