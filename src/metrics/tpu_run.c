#include "metrics/tpu_run.h"

tpu_run tpu_run_of(const metric_context *x)
{
    tpu_run run = {.x = x};
    uint32_t n = 0;

    for (uint32_t i = 0; i < x->n_views; i++)
        n += x->view[i].tpu.n;
    run.device = DSE_ARENA_NEW(x->arena, const tpu_device *, n);
    run.rank = DSE_ARENA_NEW(x->arena, const trace_rank *, n);
    for (uint32_t i = 0; i < x->n_views; i++)
        for (uint32_t k = 0; k < x->view[i].tpu.n; k++) {
            run.device[run.n] = &x->view[i].tpu.device[k];
            run.rank[run.n++] = x->view[i].rank;
        }
    return run;
}

dse_status tpu_run_chips(const tpu_run *run, uint32_t *n, dse_error *err)
{
    const metric_context *x = run->x;
    int64_t chips = x->options->n_chips;

    if (chips <= 0)
        chips = run->n;
    if (chips <= 0 && x->card && x->card->total_count != TRACE_CARD_NONE)
        chips = x->card->total_count;
    if (chips <= 0 || chips > INT32_MAX)
        return metric_absent(
            err, "it needs the number of chips: give --n_chips, or total_count in the workload card");
    *n = (uint32_t)chips;
    return DSE_OK;
}

dse_status tpu_upstream_chips(const metric_context *x, uint32_t *n, dse_error *err)
{
    if (x->options->n_chips <= 0 || x->options->n_chips > INT32_MAX)
        return metric_absent(err, "it needs --n_chips under --compat");
    *n = (uint32_t)x->options->n_chips;
    return DSE_OK;
}
