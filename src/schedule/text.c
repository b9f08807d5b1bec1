/* Actions as text, in the reference's spelling, which is PyTorch's: stage, kind, micro-batch. */
#include "schedule/schedule.h"

const char sched_letters[] = "FBIW";
const char *const sched_kind_names[SCHED_KINDS] = {"forward", "backward", "input gradient",
                                                   "weight gradient"};

void sched_add_action(const sched_plan *p, const sched_action *action, dse_strbuf *out)
{
    if (p->n_directions > 1)
        dse_strbuf_addc(out, action->stage < p->n_stages ? 'a' : 'b');
    dse_strbuf_addu(out, action->stage % p->n_stages);
    dse_strbuf_addc(out, sched_letters[action->kind]);
    dse_strbuf_addu(out, action->micro_batch);
}

void sched_add_cell(const sched_plan *p, const sched_action *action, dse_strbuf *out)
{
    if (!action->with_next) {
        sched_add_action(p, action, out);
        return;
    }
    dse_strbuf_addc(out, '(');
    sched_add_action(p, action, out);
    dse_strbuf_addc(out, ';');
    sched_add_action(p, action + 1, out);
    dse_strbuf_adds(out, ")OVERLAP_F_B");
}

void sched_add_row(const sched_plan *p, uint32_t rank, dse_strbuf *out)
{
    uint32_t i = p->first[rank], end = p->first[rank + 1];

    while (i < end) {
        sched_add_cell(p, &p->action[i], out);
        i += p->action[i].with_next ? 2 : 1;
        if (i < end)
            dse_strbuf_addc(out, ',');
    }
}
