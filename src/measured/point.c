#include "measured/point.h"

#include "driver/training.h"

dse_status msr_point_run(const drv_study *s, const card_system *on, const strategy *p, dse_arena *a,
                         store_metrics *out, dse_error *err)
{
    drv_study own = *s;
    dse_status st = DSE_OK;

    if (on)
        own.system = *on;
    own.tables.arena = a;
    if (s->training) /* it keeps the times of collectives, in the arena that it was made in */
        st = drv_training_make(&own, a, err);
    return st == DSE_OK ? drv_point_run(&own, p, a, out, err) : st;
}
