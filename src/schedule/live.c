/* How many micro-batches a rank keeps activations of, by the order of its actions alone: in-order ranks
 * have the same peak whatever the times. */
#include "schedule/schedule.h"

static inline void grow(uint32_t *now, uint32_t *peak)
{
    if (++*now > *peak)
        *peak = *now;
}

void sched_peak_live(const sched_plan *p, uint32_t *until_input_gradient, uint32_t *until_weight_gradient)
{
    for (uint32_t rank = 0; rank < p->n_ranks; rank++) {
        uint32_t live_i = 0, live_w = 0, peak_i = 0, peak_w = 0;

        for (uint32_t i = p->first[rank]; i < p->first[rank + 1]; i++) {
            uint8_t kind = p->action[i].kind;

            if (kind == SCHED_F) {
                grow(&live_i, &peak_i);
                grow(&live_w, &peak_w);
            }
            live_i -= kind == SCHED_B || kind == SCHED_I;
            live_w -= kind == SCHED_B || kind == SCHED_W;
        }
        until_input_gradient[rank] = peak_i;
        until_weight_gradient[rank] = peak_w;
    }
}

bool *sched_last_gradients(const sched_plan *p, uint32_t rank, dse_arena *a)
{
    const sched_action *action = &p->action[p->first[rank]];
    uint32_t n = p->first[rank + 1] - p->first[rank], n_stages = p->n_directions * p->n_stages, left = 0;
    bool *is_last = DSE_ARENA_NEW(a, bool, n), *is_seen = DSE_ARENA_NEW(a, bool, n_stages);

    for (uint32_t s = 0; s < n_stages; s++)
        left += p->stage_rank[s] == rank;
    for (uint32_t i = n; i-- > 0 && left;)
        if (sched_makes_gradients(action[i].kind) && !is_seen[action[i].stage]) {
            is_last[i] = is_seen[action[i].stage] = true;
            left--;
        }
    return is_last;
}
