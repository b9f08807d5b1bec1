/* A table of measured runs: what is accepted keeps what job.h says of it, and can be planned without --approximate and with. */
#include "fuzz/fuzz.h"
#include "measured/plan.h"

#include <math.h>
#include <stdlib.h>

static void check_counts(const msr_job *j)
{
    const int64_t counts[] = {
        j->layers, j->d_model,      j->d_ff,     j->heads, j->batch, j->micro_batch, j->micro_batches,
        j->dp,     j->dp_replicate, j->dp_shard, j->tp,    j->pp,    j->cp,          j->n_devices};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        ENSURE(counts[i] == MSR_JOB_NONE || counts[i] >= 1);
    ENSURE(j->dp == MSR_JOB_NONE || j->dp_replicate == MSR_JOB_NONE || j->dp_shard == MSR_JOB_NONE ||
           j->dp == j->dp_replicate * j->dp_shard);
    ENSURE(j->name && j->where);
    ENSURE(isnan(j->step_time_s) ? j->not_measured != NULL : j->step_time_s > 0 && !j->not_measured);
}

static void plan_it(const msr_job *j, bool approximate, dse_arena *a)
{
    const msr_plan_options o = {.recompute = -1, .approximate = approximate};
    dse_error err = DSE_ERROR_INIT;
    msr_plan plan;
    card_model m;

    if (!fuzz_ok(msr_plan_make(j, &o, a, &plan, &err), &err))
        return;
    ENSURE(plan.can_run || plan.n_gaps);
    if (!plan.can_run)
        return;
    ENSURE(fuzz_ok(card_model_read(&plan.model, NULL, &m, &err), &err));
    ENSURE(m.batch == j->batch && m.sequence == j->sequence && plan.model_name);
    ENSURE((int64_t)plan.point.dp == j->dp && (int64_t)plan.point.pp == j->pp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    dse_arena arena;
    msr_job *jobs;
    size_t n;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    setenv("CCLDSE_CONFIGS", TEST_DATA "/cards", 1);
    dse_arena_init(&arena);
    if (fuzz_ok(msr_jobs_parse("m.json", (const char *)data, size, NULL, 0, &arena, &jobs, &n, &err), &err))
        for (size_t i = 0; i < n; i++) {
            check_counts(&jobs[i]);
            plan_it(&jobs[i], i % 2, &arena);
        }
    dse_arena_free(&arena);
    return 0;
}
