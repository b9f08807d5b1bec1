#include "trace/allocator.h"

const char *trace_action_name(trace_action a)
{
    static const char *const names[TRACE_ACTIONS] = {"alloc",         "free_requested", "free_completed",
                                                     "segment_alloc", "segment_free",   "segment_map",
                                                     "segment_unmap", "snapshot",       "oom"};

    return names[a];
}

const char *trace_block_state_name(trace_block_state s)
{
    static const char *const names[TRACE_BLOCK_STATES] = {"active_allocated", "active_pending_free",
                                                          "inactive"};

    return names[s];
}

void trace_allocator_free(trace_allocator *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->n_histories; i++)
        dse_free(a->history[i].entry);
    dse_free(a->history);
    dse_free(a->segment);
    dse_free(a->held);
    dse_free(a->setting);
    dse_free(a);
}
