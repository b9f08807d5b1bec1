/* Pipeline schedules as CSV: what is read can be written and read again, and has times or a deadlock. */
#include "fuzz/fuzz.h"
#include "schedule/compose.h"

#include <string.h>

static void compose(const sched_plan *p, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    uint64_t busy = 0;
    sched_order order;
    sched_costs costs;
    sched_times times;

    if (!fuzz_ok(sched_order_make(p, a, &order, &err), &err))
        return;
    ENSURE(fuzz_ok(sched_costs_parse("1,1,1,1", p, a, &costs, &err), &err));
    sched_times_init(&times, p, a);
    sched_compose(&order, &costs, &times);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        ENSURE(times.busy[r] <= times.makespan && times.last[r] <= times.makespan);
        busy += times.busy[r];
    }
    ENSURE(busy == 3 * sched_n_slots(p)); /* F, I and W take 1 each */
}

static void read_again(const sched_plan *p, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf text;
    sched_plan again;

    dse_strbuf_init(&text);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        sched_add_row(p, r, &text);
        dse_strbuf_addc(&text, '\n');
    }
    ENSURE(fuzz_ok(sched_read_csv(text.data, text.len, "again", a, &again, &err), &err));
    ENSURE(sched_n_actions(&again) == sched_n_actions(p));
    ENSURE(memcmp(again.action, p->action, sched_n_actions(p) * sizeof *p->action) == 0);
    dse_strbuf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    sched_plan plan;
    dse_arena a;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&a);
    if (fuzz_ok(sched_read_csv((const char *)data, size, "f", &a, &plan, &err), &err)) {
        read_again(&plan, &a);
        compose(&plan, &a);
    }
    dse_arena_free(&a);
    return 0;
}
