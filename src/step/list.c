/* Messages between stages follow Megatron-LM's pipeline_parallel/schedules.py: each pass receives before
 * and sends after, and a send is posted before the receive of the pass that follows.
 *
 * The interleaved schedule posts the messages of an iteration together. An iteration is a forward pass,
 * later a forward and a backward pass, at the end a backward pass. It sends what it made, and receives
 * what the next one needs: first to and from the stage before, then to and from the stage after. The first
 * rank takes what the last one sends as soon as that is made, not when its own next pass needs it; so does
 * the last with gradients. */
#include "step/list.h"

#include "step/module.h"

typedef struct {
    const step_model *model;
    const step_options *options;
    const sched_plan *plan;
    const step_list_of *of;
    step_list *list;
    dse_arena arena;
    uint32_t n_chunks;
    step_chunk *chunk;       /* of the rank, in the order of stages */
    uint32_t *plan_stage;    /* of each: the stage of the plan, of both directions */
    bool *is_reduced;        /* of each: its gradients */
    bool *is_last;           /* per action: sched_last_gradients */
    uint32_t *reduced_after; /* per action: step_aligned_reductions */
    step_items items;        /* of the pass that is written down */
    step_programs programs;
    const sched_action *action;
    uint32_t n_actions;
} lister;

/* ---- entries ----------------------------------------------------------------------------------- */

static bool is_same(const step_entry *a, const step_entry *b)
{
    const step_collective *x = &a->call, *y = &b->call;

    if (x->in_is_routed != y->in_is_routed || x->out_is_routed != y->out_is_routed)
        return false;
    return a->phase == b->phase && a->micro_batch == b->micro_batch && x->type == y->type &&
           x->group == y->group && x->in_bytes == y->in_bytes && x->out_bytes == y->out_bytes &&
           x->element_bytes == y->element_bytes && x->is_integer == y->is_integer;
}

static void put(lister *l, step_phase phase, uint32_t micro_batch, const step_collective *c)
{
    step_list *list = l->list;
    step_entry e = {.phase = phase,
                    .micro_batch = l->of->by_micro_batch ? micro_batch : DSE_NONE,
                    .call = *c,
                    .group_size = step_group_size(l->options, c->group),
                    .times = 1};

    if (list->n && is_same(&list->entry[list->n - 1], &e)) {
        list->entry[list->n - 1].times++;
        return;
    }
    DSE_GROW(list->entry, list->cap, list->n + 1);
    list->entry[list->n++] = e;
}

static void put_items(lister *l, step_phase phase)
{
    for (uint32_t i = 0; i < l->items.n; i++)
        put(l, phase, DSE_NONE, &l->items.item[i].collective);
}

/* ---- passes ------------------------------------------------------------------------------------ */

static step_phase phase_of(const lister *l, sched_kind kind, const step_operation *op)
{
    bool is_loss =
        op->module->kind == &step_module_loss && l->options->loss_after_model && !l->options->gathers_logits;

    return kind != SCHED_F ? STEP_PHASE_BACKWARD : is_loss ? STEP_PHASE_LOSS : STEP_PHASE_FORWARD;
}

/* The collectives of a block's program, and in them those that follow one of its modules. Returns how many of
 * the items these were. */
static uint32_t put_block(lister *l, const step_chunk *c, const sched_action *action, uint32_t at)
{
    const step_items *items = &l->items;
    const step_program *p =
        step_block_program(&l->programs, c, items->item[at].block, action->kind, &l->arena);
    uint32_t next = at + 1;

    for (uint32_t i = 0; i <= p->n; i++) {
        for (; next < items->n && items->item[next].module != DSE_NONE &&
               p->end_of[items->item[next].module] <= i;
             next++)
            put(l, STEP_PHASE_BACKWARD, action->micro_batch, &items->item[next].collective);
        if (i < p->n && p->operation[i].unit != STEP_UNIT_COMPUTE)
            put(l, phase_of(l, action->kind, &p->operation[i]), action->micro_batch,
                &p->operation[i].collective);
    }
    return next - at - 1;
}

static step_chunk *chunk_of(const lister *l, uint32_t stage)
{
    uint32_t i = 0;

    while (l->plan_stage[i] != stage)
        i++;
    return &l->chunk[i];
}

static void put_pass(lister *l, uint32_t at)
{
    const sched_action *action = &l->action[at];
    step_chunk *c = chunk_of(l, action->stage);

    step_chunk_pass(c, action->kind, l->is_last[at], &l->items);
    for (uint32_t i = 0; i < l->items.n; i++) {
        if (l->items.item[i].is_block)
            i += put_block(l, c, action, i);
        else
            put(l, action->kind == SCHED_F ? STEP_PHASE_FORWARD : STEP_PHASE_BACKWARD, action->micro_batch,
                &l->items.item[i].collective);
    }
}

static void reduce_chunk(lister *l, const step_chunk *c, step_phase phase)
{
    l->items.n = 0;
    step_chunk_reduce(c, &l->items);
    put_items(l, phase);
}

/* After a pass: the chunk whose turn it is. */
static void reduce_aligned(lister *l, uint32_t at)
{
    step_chunk *c;

    if (!step_aligns(l->options) || l->reduced_after[at] == DSE_NONE)
        return;
    c = chunk_of(l, l->reduced_after[at]);
    if (step_chunk_overlaps(c))
        return;
    reduce_chunk(l, c, STEP_PHASE_BACKWARD);
    l->is_reduced[c - l->chunk] = true;
}

/* After all passes: the chunks that were not yet. */
static void reduce_rest(lister *l)
{
    for (uint32_t i = 0; i < l->n_chunks && step_aligns(l->options); i++)
        if (!l->is_reduced[i] && !step_chunk_overlaps(&l->chunk[i]))
            reduce_chunk(l, &l->chunk[i], STEP_PHASE_BACKWARD);
}

/* ---- messages ---------------------------------------------------------------------------------- */

static void put_message(lister *l, uint32_t type)
{
    step_collective c = step_transfer_of(l->model, l->options);

    c.type = type;
    put(l, STEP_PHASE_MESSAGE, DSE_NONE, &c);
}

/* Whether the tensor of an action goes to, or comes from, a stage on another rank. */
static bool crosses(const lister *l, const sched_action *a, bool is_sent)
{
    bool up = (a->kind == SCHED_F) == is_sent;
    uint32_t stage = a->stage % l->plan->n_stages; /* of its direction */

    if (a->kind == SCHED_W || (up && stage + 1 == l->plan->n_stages) || (!up && stage == 0))
        return false;
    return l->plan->stage_rank[up ? a->stage + 1 : a->stage - 1] != l->of->rank;
}

static void receive_for(lister *l, const sched_action *a)
{
    const step_collective joining = step_joining_of(l->model, l->options);

    if (!crosses(l, a, false))
        return;
    put_message(l, STEP_RECV);
    if (joining.in_bytes)
        put(l, STEP_PHASE_MESSAGE, DSE_NONE, &joining);
}

static void send_of(lister *l, const sched_action *a)
{
    if (crosses(l, a, true))
        put_message(l, STEP_SEND);
}

/* ---- messages of iterations -------------------------------------------------------------------- */

/* The passes of one direction: of virtual micro-batch k the k-th. */
typedef struct {
    uint32_t n;
    uint32_t *at; /* in the rank's actions */
} passes;

static passes passes_of(lister *l, bool forward)
{
    passes p = {.at = DSE_ARENA_RAW(&l->arena, uint32_t, l->n_actions)};

    for (uint32_t i = 0; i < l->n_actions; i++)
        if ((l->action[i].kind == SCHED_F) == forward)
            p.at[p.n++] = i;
    return p;
}

/* Whether a tensor comes in after pass k of a direction: what the next pass needs. On the rank that
 * begins, the first or of the backward passes the last, what the rank that ends makes then; it is `behind`
 * passes behind. */
static bool comes_in(const lister *l, const passes *p, uint32_t k)
{
    const sched_action *first = &l->action[p->at[0]], *made;
    bool forward = first->kind == SCHED_F, begins = l->of->rank == (forward ? 0 : l->options->pp - 1);
    uint32_t behind = l->options->pp - 1, last_chunk;

    if (k + 1 >= p->n)
        return false;
    if (!begins)
        return crosses(l, &l->action[p->at[k + 1]], false);
    if (k < behind)
        return false;
    made = &l->action[p->at[k - behind]];
    last_chunk = forward ? l->options->vp - 1 : 0;
    return made->stage / l->options->pp != last_chunk;
}

/* Forward passes before the first iteration of two. The first passes of one stage show the length of a
 * group. */
static uint32_t warm_up_of(const lister *l, const passes *f)
{
    const step_options *o = l->options;
    uint32_t group = 0, n;

    while (group < f->n && l->action[f->at[group]].stage == l->action[f->at[0]].stage)
        group++;
    n = 2 * (o->pp - 1 - l->of->rank) + (o->vp - 1) * group;
    return n < f->n ? n : f->n;
}

static void gather_aligned(lister *l, uint32_t chunk)
{
    if (chunk >= l->n_chunks || !l->options->overlaps_parameters || step_chunk_gathers(&l->chunk[chunk]))
        return;
    step_chunk_gather(&l->chunk[chunk], &l->items);
    put_items(l, STEP_PHASE_FORWARD);
}

/* Before forward pass i: the chunk after the one that the first rank begins at that time. */
static void gather_next(lister *l, const passes *f, uint32_t i)
{
    uint32_t k = i + l->of->rank;
    const sched_action *a;

    if (k >= f->n)
        return;
    a = &l->action[f->at[k]];
    if (a->micro_batch == 0 && a->stage >= l->options->pp)
        gather_aligned(l, a->stage / l->options->pp + 1);
}

/* Forward pass i and backward pass j, DSE_NONE: none; then their messages. */
static void iterate(lister *l, const passes *f, const passes *b, uint32_t i, uint32_t j, bool first_gradient)
{
    if (i != DSE_NONE) {
        gather_next(l, f, i);
        put_pass(l, f->at[i]);
    }
    if (j != DSE_NONE) {
        put_pass(l, b->at[j]);
        reduce_aligned(l, b->at[j]);
        send_of(l, &l->action[b->at[j]]);
    }
    if (i != DSE_NONE && comes_in(l, f, i))
        put_message(l, STEP_RECV);
    if (i != DSE_NONE)
        send_of(l, &l->action[f->at[i]]);
    if (first_gradient || (j != DSE_NONE && comes_in(l, b, j)))
        put_message(l, STEP_RECV);
}

/* Whether the rank's actions are those of iterations: forward passes, pairs, backward passes. */
static bool is_in_iterations(const lister *l, uint32_t n_forward, uint32_t warm_up)
{
    for (uint32_t i = 0; i < l->n_actions; i++) {
        bool is_alone = i < warm_up || i >= 2 * n_forward - warm_up;
        bool forward = is_alone ? i < warm_up : (i - warm_up) % 2 == 0;

        if (l->action[i].kind != (forward ? SCHED_F : SCHED_B))
            return false;
    }
    return true;
}

static void run_in_iterations(lister *l, passes f, passes b, uint32_t warm_up)
{
    uint32_t i = 0, j = 0;
    bool takes_gradient = crosses(l, &l->action[b.at[0]], false);

    gather_aligned(l, 0);
    gather_aligned(l, 1);
    receive_for(l, &l->action[f.at[0]]);
    for (; i < warm_up; i++)
        iterate(l, &f, &b, i, DSE_NONE, takes_gradient && i + 1 == warm_up);
    for (; i < f.n; i++, j++)
        iterate(l, &f, &b, i, j, false);
    for (; j < b.n; j++)
        iterate(l, &f, &b, DSE_NONE, j, false);
}

static void run_in_order(lister *l)
{
    for (uint32_t i = 0; i < l->n_chunks; i++)
        gather_aligned(l, i);
    for (uint32_t i = 0; i < l->n_actions; i++) {
        receive_for(l, &l->action[i]);
        put_pass(l, i);
        reduce_aligned(l, i);
        send_of(l, &l->action[i]);
    }
}

static void run(lister *l)
{
    passes f = passes_of(l, true), b = passes_of(l, false);
    uint32_t warm_up = warm_up_of(l, &f);

    if (l->options->batches_messages && l->options->vp > 1 && is_in_iterations(l, f.n, warm_up))
        run_in_iterations(l, f, b, warm_up);
    else
        run_in_order(l);
}

/* ---- the step ---------------------------------------------------------------------------------- */

static void init_chunks(lister *l)
{
    const sched_plan *p = l->plan;
    uint32_t n = p->n_directions * p->n_stages;

    l->chunk = DSE_ARENA_RAW(&l->arena, step_chunk, n);
    l->plan_stage = DSE_ARENA_RAW(&l->arena, uint32_t, n);
    l->is_reduced = DSE_ARENA_NEW(&l->arena, bool, n);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = sched_nth_stage(p, k);
        step_stage stage = step_stage_of(l->model, i % p->n_stages, p->n_stages);

        if (p->stage_rank[i] != l->of->rank)
            continue;
        step_chunk_init(&l->chunk[l->n_chunks], l->model, l->options, &stage, l->of->rank, l->of->step,
                        &l->arena);
        l->plan_stage[l->n_chunks++] = i;
    }
}

static void finish(lister *l)
{
    for (uint32_t i = 0; i < l->n_chunks && !l->options->overlaps_gradients && l->options->zero < 2; i++)
        reduce_chunk(l, &l->chunk[i], STEP_PHASE_FINALIZE);
    step_finish(l->chunk, l->n_chunks, &l->items);
    put_items(l, STEP_PHASE_FINALIZE);
    for (uint32_t i = 0; i < l->n_chunks; i++) {
        if (l->options->overlaps_parameters || l->options->zero == 3)
            continue;
        step_chunk_gather(&l->chunk[i], &l->items);
        put_items(l, STEP_PHASE_PARAMETERS);
    }
}

void step_list_make(const step_model *m, const step_options *o, const sched_plan *plan,
                    const step_list_of *of, step_list *out)
{
    lister l = {.model = m, .options = o, .plan = plan, .of = of, .list = out};

    *out = (step_list){0};
    dse_arena_init(&l.arena);
    l.items.arena = &l.arena;
    l.action = plan->action + plan->first[of->rank];
    l.n_actions = plan->first[of->rank + 1] - plan->first[of->rank];
    l.is_last = sched_last_gradients(plan, of->rank, &l.arena);
    l.reduced_after = step_aligned_reductions(plan, of->rank, l.is_last, &l.arena);
    init_chunks(&l);
    run(&l);
    reduce_rest(&l);
    finish(&l);
    dse_arena_free(&l.arena);
}

void step_list_free(step_list *l)
{
    dse_free(l->entry);
    *l = (step_list){0};
}

/* ---- names ------------------------------------------------------------------------------------- */

void step_phase_name(const step_entry *e, dse_strbuf *out)
{
    static const char *const name[STEP_N_PHASES] = {"F", "loss", "B", "p2p", "finalize", "param_sync"};

    dse_strbuf_adds(out, name[e->phase]);
    if (e->micro_batch != DSE_NONE)
        dse_strbuf_addf(out, "%u", e->micro_batch);
}

const char *step_call_name(const step_collective *c)
{
    switch (c->type) {
    case WL_ALL_REDUCE: return "all_reduce";
    case WL_ALL_GATHER: return "all_gather";
    case WL_REDUCE_SCATTER: return "reduce_scatter";
    case WL_ALL_TO_ALL: return "all_to_all";
    case WL_BROADCAST: return "broadcast";
    case STEP_SEND: return "send";
    default: return "recv";
    }
}

const char *step_element_name(const step_collective *c)
{
    if (c->is_integer && c->element_bytes < 2)
        return "bool";
    if (c->is_integer)
        return c->element_bytes > 4 ? "int64" : "int32";
    return c->element_bytes > 2 ? "float32" : c->element_bytes > 1 ? "bfloat16" : "float8";
}
