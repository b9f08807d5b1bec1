#include "metrics/context.h"

trace_phase metric_phase_of(const metric_context *x)
{
    return x->options->phase != TRACE_PHASE_UNKNOWN ? x->options->phase
           : x->card                                ? x->card->phase
                                                    : TRACE_PHASE_UNKNOWN;
}

dse_status metric_original_batch(const metric_context *x, dse_error *err)
{
    return x->card && x->card->batch_is_listed
               ? metric_absent(err, "the card's batch_size is a list, on which the original tool fails")
               : DSE_OK;
}

/* Whether the card puts the ranks on more than one node. */
static bool on_nodes(const metric_context *x)
{
    int64_t each = x->card ? x->card->count_per_node : TRACE_CARD_NONE;

    for (uint32_t i = 1; each > 0 && i < x->n_views; i++)
        if (x->view[i].rank->rank / each != x->view[0].rank->rank / each)
            return true;
    return false;
}

bool metric_aligns_clocks(const metric_context *x)
{
    return x->options->align == METRIC_ALIGN_AUTO ? on_nodes(x) : x->options->align == METRIC_ALIGN_END;
}
