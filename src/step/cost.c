/* The time of a piece: each unit does one thing at a time, in the order of the program; an operation begins when its
 * unit is free and what it needs has ended. */
#include "step/clock.h"

/* As model FLOPS are counted: those of products alone. */
static void count_operations(const step_operation *op, step_cost *out)
{
    if (op->kernel.class != WL_KERNEL_MATMUL && op->kernel.class != WL_KERNEL_ATTENTION)
        return;
    out->operations += (double)op->kernel.operations;
    out->operations_again += op->is_again ? (double)op->kernel.operations : 0;
}

dse_status step_cost_of(step_clock *c, const step_ranks *ranks, const step_program *p, dse_arena *a, step_cost *out,
                        dse_error *err)
{
    dse_time *end = DSE_ARENA_RAW(a, dse_time, p->n ? p->n : 1), free_at[STEP_N_UNITS] = {0};
    uint32_t last = DSE_NONE; /* what ends last */

    *out = (step_cost){0};
    for (uint32_t i = 0; i < p->n; i++) {
        const step_operation *op = &p->operation[i];
        dse_time begin = free_at[op->unit], ticks;
        uint32_t waited = DSE_NONE;

        for (int k = 0; k < 2; k++) {
            if (op->needs[k] != DSE_NONE && end[op->needs[k]] > begin) {
                waited = op->needs[k];
                begin = end[waited];
            }
        }
        if (op->unit == STEP_UNIT_COMPUTE) {
            ticks = step_clock_kernel(c, &op->kernel);
            if (waited != DSE_NONE) /* compute alone never waits for compute: the unit is free at its end */
                out->exposed[p->operation[waited].collective.group] += begin - free_at[STEP_UNIT_COMPUTE];
            out->compute += ticks;
            count_operations(op, out);
        } else {
            dse_status st = step_clock_collective(c, ranks, &op->collective, a, &ticks, err);

            if (st != DSE_OK)
                return st;
        }
        end[i] = free_at[op->unit] = begin + ticks;
        if (last == DSE_NONE || end[i] > end[last])
            last = i;
    }
    if (last == DSE_NONE)
        return DSE_OK;
    out->ticks = end[last];
    if (out->ticks > free_at[STEP_UNIT_COMPUTE])
        out->exposed[p->operation[last].collective.group] += out->ticks - free_at[STEP_UNIT_COMPUTE];
    return DSE_OK;
}

void step_cost_add(step_cost *sum, const step_cost *c, uint64_t times)
{
    sum->ticks += c->ticks * times;
    sum->compute += c->compute * times;
    for (int g = 0; g < STEP_N_GROUPS; g++)
        sum->exposed[g] += c->exposed[g] * times;
    sum->operations += c->operations * (double)times;
    sum->operations_again += c->operations_again * (double)times;
}
