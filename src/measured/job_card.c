/* A workload card as a job: the same facts under other names. */
#include "measured/job.h"

#include "base/array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECTION "Model-executor.model_plan_parallelization"

/* Degrees that a point needs, whatever they are: one that is missing may be 1, or forgotten. */
static dse_status check_degrees(const trace_card *c, dse_error *err)
{
    const struct {
        const char *key;
        int64_t v;
    } degrees[] = {
        {"dp_replicate", c->dp_replicate},
        {"dp_shard", c->dp_shard},
        {"tp", c->tp},
        {"pp", c->pp},
        {"cp", c->cp},
    };

    for (size_t i = 0; i < DSE_COUNT(degrees); i++)
        if (degrees[i].v == TRACE_CARD_NONE)
            return dse_fail_at(err, DSE_E_CONFIG, c->path,
                               "the card lacks '%s' (" SECTION "); add it, 1 if it is not used",
                               degrees[i].key);
    return DSE_OK;
}

/* NaN where nothing, or nothing that can be, is said. */
static double positive(double v) { return v > 0 ? v : NAN; }

dse_status msr_job_of_card(const trace_card *card, const char *name, msr_job *out, dse_error *err)
{
    msr_job *j = out;
    dse_status st = check_degrees(card, err);

    if (st != DSE_OK)
        return st;
    msr_job_clear(j);
    j->name = name;
    j->where = card->path;
    j->family = card->model_family && *card->model_family ? card->model_family : NULL;
    j->layers = card->num_layers;
    j->heads = card->num_heads;
    j->head_dim = card->head_dim;
    j->num_params = positive(card->num_params);
    j->num_params_embedding = positive(card->num_params_embedding);
    j->moe = card->moe;
    j->batch = card->batch_size;
    j->sequence = card->seq_len;
    j->micro_batches = card->pp_mb;
    j->precision = card->precision && *card->precision ? card->precision : NULL;
    j->phase = card->phase;
    j->granularity = card->granularity && *card->granularity ? card->granularity : NULL;
    j->dp_replicate = card->dp_replicate;
    j->dp_shard = card->dp_shard;
    if (__builtin_mul_overflow(j->dp_replicate, j->dp_shard, &j->dp))
        j->dp = MSR_JOB_NONE;
    j->tp = card->tp;
    j->pp = card->pp;
    j->cp = card->cp;
    j->ep = card->ep;
    j->rank_order = card->rank_order;
    j->device = card->xpu_model && *card->xpu_model ? card->xpu_model : NULL;
    j->framework = card->framework && *card->framework ? card->framework : NULL;
    j->n_devices = card->total_count;
    j->devices_per_node = card->count_per_node;
    return DSE_OK;
}
