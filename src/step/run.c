#include "step/run.h"

#include "step/unroll.h"

#include <math.h>
#include <string.h>

/* What a pass takes if its first gatherings may begin `early` ticks before it, and the unit of gradients and
 * parameters is busy for `busy` ticks from then on. */
typedef struct pass_time {
    dse_time early, busy;
    double busy_share;   /* of the compute, which that unit takes meanwhile */
    dse_time ticks;      /* from the begin of the pass */
    dse_time busy_until; /* of that unit, from `early` before the begin on; 0 if it did nothing */
    double share_until;  /* of the compute, until then */
    dse_time compute, exposed[STEP_N_GROUPS];
    struct pass_time *next; /* of the same pass: asked for before that */
} pass_time;

typedef struct {
    pass_time *time; /* that was asked for last, and from it the others; NULL: none was */
    dse_time ahead;  /* may begin before the pass */
    /* for the unit that goes on after the passes before it, whatever that takes of the compute */
    bool waits;
} known_pass;

/* Times that are kept of a pass at most. A reduction of the pass before it ends at the same few places in it
 * on all ranks: half of the walks of GPT-3 175B with tp 8, pp 16, vp 6 are not needed. */
#define MOST_TIMES 16

/* A unit at work, which takes a share of the compute. */
typedef struct {
    dse_time begin, end;
    double share;
} span;

/* Of a unit in the pass at hand, in order. */
typedef struct {
    uint32_t n, next; /* those before `next` have ended when the next kernel begins */
    span *at;
} spans;

/* To the next rank, to the one before, or around the end: what a rank sends in a pipeline of one
 * direction. */
enum { TO_NEXT, TO_PREVIOUS, AROUND, N_NEIGHBOURS };

typedef struct {
    step_clock *clock;
    dse_arena *arena;
    dse_error *err;
    dse_status status;
    step_passes *passes;
    bool one_unit;      /* communication is one unit, else each of its kinds is one */
    bool is_bound;      /* collectives take nothing of the compute */
    known_pass *known;  /* per pass */
    dse_time *end;      /* per operation of the pass at hand */
    step_group *waited; /* per operation: the group whose collective is the reason for its end */
    spans spans[STEP_N_UNITS];
    bool has_spans;                     /* any of them has one */
    dse_time *busy_until;               /* per rank: of the unit that goes on after a pass */
    double *busy_share;                 /* per rank: of the compute, which it takes */
    dse_time *free_at;                  /* per rank: when its next pass can begin */
    dse_time (*transfer)[N_NEIGHBOURS]; /* per rank: how long a tensor takes; DSE_TIME_NONE: not known yet */
    dse_time *arrival;                  /* per action: when its tensor has come to where it is needed */
} runner;

/* Of the compute, which collectives take at most, however many run beside each other. */
#define MOST_SHARE 0.9

static dse_time later(dse_time a, dse_time b) { return a > b ? a : b; }

/* ---- a pass ------------------------------------------------------------------------------------ */

/* When an operation can begin, and what made it wait last. */
static dse_time ready(const runner *r, const step_pass *p, const step_pass_operation *op, step_group *waited)
{
    dse_time at = 0;

    *waited = STEP_GROUP_NONE;
    for (uint32_t k = op->first_need; k < op->first_need + op->n_needs; k++) {
        uint32_t need = p->need[k];

        if (r->end[need] < at || (r->end[need] == at && *waited != STEP_GROUP_NONE))
            continue;
        at = r->end[need];
        *waited = r->waited[need];
    }
    return at;
}

static void add_span(runner *r, uint32_t unit, dse_time begin, dse_time end, double share)
{
    spans *s = &r->spans[unit];

    if (share > 0 && end > begin && !r->is_bound) {
        s->at[s->n++] = (span){begin, end, share};
        r->has_spans = true;
    }
}

/* What collectives take of the compute at a time, and until when that stays so. */
static double share_at(runner *r, dse_time at, dse_time *until)
{
    double share = 0;

    *until = DSE_TIME_NONE;
    for (int u = STEP_UNIT_LAYER; u <= STEP_UNIT_SHARD; u++) { /* which have all collectives of a pass */
        spans *s = &r->spans[u];

        while (s->next < s->n && s->at[s->next].end <= at)
            s->next++;
        if (s->next == s->n)
            continue;
        if (s->at[s->next].begin <= at) {
            share += s->at[s->next].share;
            *until = s->at[s->next].end < *until ? s->at[s->next].end : *until;
        } else if (s->at[s->next].begin < *until) {
            *until = s->at[s->next].begin;
        }
    }
    return share < MOST_SHARE ? share : MOST_SHARE;
}

/* When a kernel ends that would last so long by itself. Collectives that run beside it are issued before
 * it. */
static dse_time end_of_kernel(runner *r, dse_time begin, dse_time ticks)
{
    double left = (double)ticks;

    if (!r->has_spans)
        return begin + ticks;
    for (;;) {
        dse_time until;
        const double rate = 1 - share_at(r, begin, &until),
                     most = until == DSE_TIME_NONE ? INFINITY : rate * (double)(until - begin);

        if (left <= most)
            return begin + dse_ticks(left / rate);
        left -= most;
        begin = until;
    }
}

static void walk(runner *r, const step_pass *p, dse_time early, dse_time busy, double busy_share,
                 pass_time *out)
{
    const uint32_t shard = r->one_unit ? STEP_UNIT_LAYER : STEP_UNIT_SHARD;
    dse_time free_at[STEP_N_UNITS] = {[0] = 0};
    step_group waited;

    *out = (pass_time){.early = early, .busy = busy, .busy_share = busy_share};
    free_at[STEP_UNIT_COMPUTE] = early;
    free_at[shard] = busy;
    r->has_spans = false;
    for (int u = 0; u < STEP_N_UNITS; u++)
        r->spans[u].n = r->spans[u].next = 0;
    add_span(r, shard, 0, busy, busy_share);
    for (uint32_t i = 0; i < p->n; i++) {
        const step_pass_operation *op = &p->operation[i];
        dse_time begin = ready(r, p, op, &waited), *unit;

        if (!op->n_needs && (r->one_unit || !step_pass_is_ahead(op)))
            begin = early;
        r->end[i] = begin;
        r->waited[i] = waited;
        if (!op->kernel && !op->collective) {
            if (op->least && !r->one_unit && r->end[op->since] + op->least > begin) {
                r->end[i] = r->end[op->since] + op->least;
                r->waited[i] = STEP_GROUP_NONE;
            }
            continue;
        }
        unit = &free_at[op->unit == STEP_UNIT_SHARD ? shard : op->unit];
        if (op->kernel)
            out->exposed[waited] += begin > *unit ? begin - *unit : 0;
        begin = later(begin, *unit);
        if (op->kernel) {
            *unit = end_of_kernel(r, begin, op->ticks);
            out->compute += *unit - begin;
        } else {
            *unit = begin + op->ticks;
            add_span(r, op->unit, begin, *unit, op->compute_share);
            out->share_until = unit == &free_at[shard] && !r->is_bound ? op->compute_share : out->share_until;
        }
        r->end[i] = *unit;
        r->waited[i] = op->kernel ? STEP_GROUP_NONE : op->collective->group;
    }
    if (p->over != DSE_NONE) {
        out->ticks = r->end[p->over] - early;
        out->exposed[r->waited[p->over]] += r->end[p->over] - free_at[STEP_UNIT_COMPUTE];
    }
    out->busy_until = free_at[shard] > busy ? free_at[shard] : 0;
}

/* The same of a pair in a bound. Which operation of a pair is first on a unit follows from how long they take
 * (pair.h), and with another order a shorter one may make the pair longer. Here they are in none: each waits
 * for what it needs, and the pair is over when its units have done all of it. */
static void walk_in_no_order(runner *r, const step_pass *p, dse_time early, dse_time busy, double busy_share,
                             pass_time *out)
{
    const dse_time from[STEP_N_UNITS] = {[STEP_UNIT_COMPUTE] = early, [STEP_UNIT_SHARD] = busy};
    dse_time until[STEP_N_UNITS], end;
    step_group waited;

    *out = (pass_time){.early = early, .busy = busy, .busy_share = busy_share};
    memcpy(until, from, sizeof until);
    for (uint32_t i = 0; i < p->n; i++) {
        const step_pass_operation *op = &p->operation[i];
        const dse_time begin = !op->n_needs && !step_pass_is_ahead(op) ? early : ready(r, p, op, &waited);

        r->waited[i] = STEP_GROUP_NONE;
        if (op->kernel || op->collective) {
            r->end[i] = later(begin, from[op->unit]) + op->ticks;
            until[op->unit] += op->ticks;
        } else {
            r->end[i] = op->least ? later(begin, r->end[op->since] + op->least) : begin;
        }
    }
    end = later(r->end[p->over], later(until[STEP_UNIT_COMPUTE], until[STEP_UNIT_LAYER]));
    out->ticks = end - early;
    out->busy_until = until[STEP_UNIT_SHARD] > busy ? until[STEP_UNIT_SHARD] : 0;
}

static bool is_same(const pass_time *t, dse_time early, dse_time busy, double share)
{
    return t->early == early && t->busy == busy && !(t->busy_share < share) && !(t->busy_share > share);
}

/* That of the pass which is kept, or else found, in the place of the one that was not asked for longest; now
 * the first. Not inlined, as time_pass then is, which most actions need alone: a tenth of a point's time. */
__attribute__((noinline)) static void find_time(runner *r, uint32_t pass, dse_time early, dse_time busy,
                                                double share)
{
    pass_time **link = &r->known[pass].time, *t;

    for (uint32_t n = 1; (t = *link) && n < MOST_TIMES && !is_same(t, early, busy, share); n++)
        link = &t->next;
    if (t)
        *link = t->next;
    if (!t || !is_same(t, early, busy, share)) {
        t = t ? t : DSE_ARENA_RAW(r->arena, pass_time, 1);
        (r->is_bound && r->passes->pass[pass].first_share > 0 ? walk_in_no_order : walk)(
            r, &r->passes->pass[pass], early, busy, share, t);
    }
    t->next = r->known[pass].time;
    r->known[pass].time = t;
}

/* Of an action that begins at `start`, on a rank that has done nothing since `idle_since`. */
static inline const pass_time *time_pass(runner *r, uint32_t action, dse_time idle_since, dse_time start,
                                         dse_time *busy_until, double *busy_share)
{
    const uint32_t number = r->passes->pass_of[action];
    const known_pass *p = &r->known[number];
    const dse_time idle = start - idle_since, early = p->ahead < idle ? p->ahead : idle, from = start - early;
    /* Of no interest to a pass that neither waits for that unit nor is slowed by it. */
    const dse_time busy = *busy_until > from && (p->waits || *busy_share > 0) ? *busy_until - from : 0;
    const double share = busy ? *busy_share : 0;
    const pass_time *t;

    if (!p->time || !is_same(p->time, early, busy, share))
        find_time(r, number, early, busy, share);
    t = p->time;
    if (t->busy_until) {
        *busy_until = from + t->busy_until;
        *busy_share = t->share_until;
    }
    return t;
}

/* ---- the schedule ------------------------------------------------------------------------------ */

static dse_time ticks_to(runner *r, uint32_t from, uint32_t to)
{
    dse_time *ticks = &r->transfer[from][to == from + 1 ? TO_NEXT : to + 1 == from ? TO_PREVIOUS : AROUND];

    if (*ticks == DSE_TIME_NONE) {
        sim_alone time = step_clock_transfer(r->clock, &r->passes->ranks, from, to,
                                             r->passes->transfer.in_bytes, r->arena);

        r->passes->is_even &= time.is_even;
        *ticks = time.ticks;
    }
    return *ticks;
}

static void send(runner *r, uint32_t from, uint32_t action, dse_time end)
{
    dse_time ticks = ticks_to(r, from, r->passes->tensors.receiver[action]);

    if (r->one_unit)
        r->busy_until[from] = later(end, r->busy_until[from]) + ticks;
    r->arrival[action] = r->one_unit ? r->busy_until[from] : end + ticks;
}

static void run_action(runner *r, const sched_step *s, sched_times *t)
{
    dse_time start = later(r->free_at[s->rank], s->producer == DSE_NONE ? 0 : r->arrival[s->producer]), ticks;

    if (s->with_next && s[1].producer != DSE_NONE)
        start = later(start, r->arrival[s[1].producer]);
    ticks = time_pass(r, s->action, t->last[s->rank], start, &r->busy_until[s->rank], &r->busy_share[s->rank])
                ->ticks;
    t->start[s->action] = start;
    t->end[s->action] = t->last[s->rank] = start + ticks;
    r->free_at[s->rank] = start + ticks;
    t->busy[s->rank] += ticks;
    if (r->passes->tensors.receiver[s->action] == DSE_NONE)
        return;
    send(r, s->rank, s->action, start + ticks);
    if (r->passes->waits_for_sends)
        r->free_at[s->rank] = r->arrival[s->action];
}

static void run_schedule(runner *r, step_result *out)
{
    const sched_plan *p = &out->plan;
    sched_times *t = &out->times;

    sched_times_init(t, p, r->arena);
    memset(t->last, 0, p->n_ranks * sizeof *t->last);
    memset(t->busy, 0, p->n_ranks * sizeof *t->busy);
    for (uint32_t i = 0; i < sched_n_actions(p); i++)
        run_action(r, &out->order.step[i], t);
    for (uint32_t rank = 0; rank < p->n_ranks; rank++) {
        t->first[rank] = t->start[p->first[rank]];
        t->last[rank] = r->free_at[rank];
        t->makespan = later(t->makespan, t->last[rank]);
    }
    out->pipeline = t->makespan;
}

/* ---- the end of the step ----------------------------------------------------------------------- */

static dse_time collective(runner *r, const step_collective *c)
{
    sim_alone alone = {.is_even = true};

    if (r->status == DSE_OK)
        r->status = step_clock_collective(r->clock, &r->passes->ranks, c, r->arena, &alone, r->err);
    r->passes->is_even &= alone.is_even;
    return alone.ticks;
}

static dse_time collectives(runner *r, const step_collective *list, uint32_t n)
{
    dse_time sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += collective(r, &list[i]);
    return sum;
}

/* When each rank of the pipeline has summed up its gradients. */
static dse_time *run_sums(runner *r, step_result *out)
{
    dse_time *end = DSE_ARENA_RAW(r->arena, dse_time, out->plan.n_ranks);

    for (uint32_t i = 0; i < out->plan.n_ranks; i++) {
        const step_ending *e = &r->passes->ending[i];

        end[i] = later(out->times.last[i], r->busy_until[i]) + collectives(r, e->reduction, e->n_reductions) +
                 collective(r, &e->tp_sum);
        if (end[i] > end[out->slowest])
            out->slowest = i;
    }
    return end;
}

/* Each thing waits for the one before, and all ranks begin together what they do together. */
static void add_ending(runner *r, dse_time *end, step_result *out)
{
    uint32_t n = out->plan.n_ranks, last = n - 1;
    const step_ending *ending = r->passes->ending;
    dse_time latest = 0, rest = 0;

    if (ending[0].ends_sum.in_bytes)
        end[0] = end[last] = later(end[0], end[last]) + collective(r, &ending[0].ends_sum);
    for (uint32_t i = 0; i < n; i++) {
        out->slowest = end[i] > latest ? i : out->slowest;
        latest = later(latest, end[i]);
        rest = later(rest, ending[i].optimizer_ticks + collectives(r, ending[i].gather, ending[i].n_gathers));
    }
    out->step = latest + collective(r, &ending[0].norm) + rest;
}

/* With one unit exactly: ranks that come early to a collective of several stages have sent before the last
 * one comes. */
static void simulate_ending(runner *r, const dse_time *end, step_result *out)
{
    wl_workload w;

    if (r->status == DSE_OK)
        r->status = step_unroll_ending(r->passes, end, r->arena, &w, r->err);
    if (r->status == DSE_OK)
        r->status = step_clock_run(r->clock, &w, r->arena, &out->step, r->err);
}

static void run_ending(runner *r, step_result *out)
{
    dse_time *end = run_sums(r, out), optimizer;

    if (r->one_unit && out->plan.n_ranks > 1)
        simulate_ending(r, end, out);
    else
        add_ending(r, end, out);
    optimizer = r->passes->ending[out->slowest].optimizer_ticks;
    out->part[STEP_PART_OPTIMIZER] = optimizer + step_clock_overhead(r->clock);
    out->part[STEP_PART_DP] = out->step - optimizer - out->times.last[out->slowest];
    out->step += step_clock_overhead(r->clock);
}

/* ---- the parts --------------------------------------------------------------------------------- */

/* How long a tensor of an action is on its way; 0 if it is none. */
static dse_time ticks_moving(const runner *r, const sched_times *t, uint32_t action)
{
    return action != DSE_NONE && r->passes->tensors.receiver[action] != DSE_NONE
               ? r->arrival[action] - t->end[action]
               : 0;
}

/* Two actions that are one pass: the second has taken no time so far. Both get the part of it that they would
 * take alone. */
static void split_pairs(const step_passes *passes, sched_times *t)
{
    const sched_plan *p = passes->plan;

    for (uint32_t i = 0; i < sched_n_actions(p); i++) {
        const step_pass *pass = &passes->pass[passes->pass_of[i]];

        if (p->action[i].with_next && pass->first_share > 0 && t->start[i + 1] == t->end[i])
            t->end[i] = t->start[i + 1] =
                t->start[i] + dse_ticks(pass->first_share * (double)(t->end[i] - t->start[i]));
    }
}

/* Of the slowest rank. What it waits for the tensor of another one, or for its own to arrive, is transfer as
 * long as that takes, and before that the bubble. */
static void add_parts(runner *r, step_result *out)
{
    const sched_plan *plan = &out->plan;
    const sched_times *t = &out->times;
    dse_time ended = 0, busy_until = 0;
    double busy_share = 0;
    uint32_t before = DSE_NONE; /* the action whose own tensor is waited for */

    for (uint32_t i = plan->first[out->slowest]; i < plan->first[out->slowest + 1]; i++) {
        dse_time waited = t->start[i] - ended;
        dse_time moving =
            later(ticks_moving(r, t, r->passes->tensors.producer[i]), ticks_moving(r, t, before));
        const pass_time *p = time_pass(r, i, ended, t->start[i], &busy_until, &busy_share);

        moving = waited < moving ? waited : moving;
        if (r->one_unit && r->passes->tensors.receiver[i] != DSE_NONE)
            busy_until = r->arrival[i];
        out->part[STEP_PART_PP] += moving;
        out->part[STEP_PART_BUBBLE] += waited - moving;
        out->part[STEP_PART_TP] += p->exposed[STEP_GROUP_TP];
        out->part[STEP_PART_CP] += p->exposed[STEP_GROUP_CP];
        for (int g = STEP_GROUP_SHARD; g <= STEP_GROUP_EXPERT_REPLICAS; g++)
            out->part[STEP_PART_DP] += p->exposed[g];
        for (int g = STEP_GROUP_EP; g <= STEP_GROUP_EP_ETP; g++)
            out->part[STEP_PART_EP] += p->exposed[g];
        out->host += p->exposed[STEP_GROUP_NONE];
        out->compute += p->compute;
        ended = t->end[i];
        before = r->passes->waits_for_sends ? i : DSE_NONE;
    }
    out->part[STEP_PART_PP] += t->last[out->slowest] - ended;
    out->part[STEP_PART_COMPUTE] = out->compute + out->host;
    out->compute += out->part[STEP_PART_OPTIMIZER] - step_clock_overhead(r->clock);
}

static void count_work(const step_model *m, const step_options *o, const step_work *w, step_result *out)
{
    double copies = (double)o->tp * o->cp * o->dp * o->n_micro_batches;

    out->executed_operations = w->all * copies;
    out->model_operations = (w->all - w->again) * copies;
    out->tokens = (uint64_t)o->dp * o->micro_batch * o->n_micro_batches * m->sequence;
}

static const step_memory *measure_memory(const step_model *m, const step_options *o, dse_arena *a,
                                         step_result *out)
{
    step_memory *sizes = step_memory_new(m, o, o->pp * o->vp, a);

    out->memory = DSE_ARENA_NEW(a, step_rank_memory, out->plan.n_ranks);
    for (uint32_t rank = 0; rank < out->plan.n_ranks; rank++) {
        step_memory_of(sizes, &out->plan, rank, a, &out->memory[rank]);
        if (out->memory[rank].peak > out->memory[out->largest].peak)
            out->largest = rank;
    }
    return sizes;
}

/* ---- the step ---------------------------------------------------------------------------------- */

static void prepare(runner *r, const step_result *out)
{
    uint32_t most = 1;

    r->known = DSE_ARENA_NEW(r->arena, known_pass, r->passes->n_passes);
    for (uint32_t i = 0; i < r->passes->n_passes; i++) {
        const step_pass *p = &r->passes->pass[i];

        most = p->n > most ? p->n : most;
        r->known[i] = (known_pass){.ahead = r->one_unit ? 0 : p->ahead, .waits = r->one_unit || p->has_shard};
    }
    r->end = DSE_ARENA_RAW(r->arena, dse_time, most);
    r->waited = DSE_ARENA_RAW(r->arena, step_group, most);
    r->busy_until = DSE_ARENA_NEW(r->arena, dse_time, out->plan.n_ranks);
    r->busy_share = DSE_ARENA_NEW(r->arena, double, out->plan.n_ranks);
    for (int u = 0; u < STEP_N_UNITS; u++)
        r->spans[u].at = DSE_ARENA_RAW(r->arena, span, most + 1);
    r->free_at = DSE_ARENA_NEW(r->arena, dse_time, out->plan.n_ranks);
    r->transfer = dse_arena_raw(r->arena, out->plan.n_ranks, sizeof *r->transfer);
    memset(r->transfer, 0xff, out->plan.n_ranks * sizeof *r->transfer); /* DSE_TIME_NONE */
    r->arrival = DSE_ARENA_RAW(r->arena, dse_time, sched_n_actions(&out->plan));
}

dse_status step_run(const step_model *m, const step_options *o, const sched_def *schedule,
                    const sched_options *order, sched_keeper *keeper, step_clock *clock, step_machine machine,
                    dse_arena *a, step_result *out, dse_error *err)
{
    const bool one_unit = machine == STEP_ONE_UNIT;
    runner r = {.clock = clock,
                .arena = a,
                .err = err,
                .one_unit = one_unit,
                .is_bound = machine == STEP_BOUND || machine == STEP_BOUND_WITHOUT_NETWORK};
    sched_ordered *own = DSE_ARENA_NEW(a, sched_ordered, 1);
    const sched_ordered *ordered = own;
    dse_status st;

    *out = (step_result){0};
    r.passes = &out->passes;
    if (one_unit || machine == STEP_BOUND_WITHOUT_NETWORK)
        r.clock = one_unit ? step_clock_of_links(clock) : step_clock_without_network(clock);
    st = keeper ? sched_keeper_find(keeper, schedule, order, &ordered, err)
                : sched_ordered_make(schedule, order, a, own, err);
    if (st != DSE_OK || (st = step_passes_make(m, o, ordered, r.clock, a, &out->passes, err)) != DSE_OK)
        return st;
    out->plan = ordered->plan;
    out->order = ordered->order;
    prepare(&r, out);
    run_schedule(&r, out);
    run_ending(&r, out);
    if (!r.is_bound) {
        add_parts(&r, out);
        split_pairs(&out->passes, &out->times);
    }
    measure_memory(m, o, a, out);
    count_work(m, o, &out->passes.work, out);
    return r.status;
}

/* ---- what stages take at least ----------------------------------------------------------------- */

static bool has_pairs(const step_passes *passes)
{
    for (uint32_t i = 0; i < passes->n_passes; i++)
        if (passes->pass[i].first_share > 0)
            return true;
    return false;
}

/* Whether it is a backward pass that the stage before waits for. */
static bool goes_back(const sched_action *action)
{
    return action->kind == SCHED_B || action->kind == SCHED_I;
}

static void add_floor(step_stage_floor *f, const sched_action *action, bool until_backward, dse_time ticks)
{
    dse_time *one = &f->pass[action->kind];

    f->busy += ticks;
    f->until_backward += until_backward ? ticks : 0;
    *one = *one < ticks ? *one : ticks;
}

/* A pass takes least if all that may begin before it has, and the unit that goes on after passes is free. */
static void add_rank_floor(runner *r, uint32_t rank, step_floors *out)
{
    const sched_plan *plan = &out->ordered->plan;
    const uint32_t first = plan->first[rank], end = plan->first[rank + 1];
    uint32_t last = end - 1;

    while (last > first && !goes_back(&plan->action[last]))
        last--;
    out->first[rank] = plan->action[first].stage;
    out->last[rank] = plan->action[last].stage;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t pass = r->passes->pass_of[i], stage = plan->action[i].stage;

        if (!r->known[pass].time)
            find_time(r, pass, r->known[pass].ahead, 0, 0);
        add_floor(&out->stage[stage], &plan->action[i], i <= last, r->known[pass].time->ticks);
        add_floor(&out->kernels[stage], &plan->action[i], i <= last, r->known[pass].time->compute);
    }
}

static void add_floors(runner *r, step_floors *out)
{
    const sched_plan *plan = &out->ordered->plan;

    for (uint32_t s = 0; s < plan->n_stages; s++)
        for (int kind = 0; kind < SCHED_KINDS; kind++)
            out->stage[s].pass[kind] = out->kernels[s].pass[kind] = DSE_TIME_NONE;
    for (uint32_t i = 0; i < plan->n_ranks; i++) {
        const step_ending *e = &r->passes->ending[i];

        add_rank_floor(r, i, out);
        out->rank[i].sums = collectives(r, e->reduction, e->n_reductions) + collective(r, &e->tp_sum);
        out->rank[i].rest = e->optimizer_ticks + collectives(r, e->gather, e->n_gathers);
        out->rank_kernels[i].rest = e->optimizer_ticks;
    }
    for (uint32_t s = 1; s < plan->n_stages; s++) {
        const uint32_t from = plan->stage_rank[s - 1], to = plan->stage_rank[s];

        if (from == to)
            continue;
        out->stage[s].receive = out->kernels[s].receive = ticks_to(r, from, to);
        out->stage[s].send_back = out->kernels[s].send_back = ticks_to(r, to, from);
    }
    out->norm = collective(r, &r->passes->ending[0].norm) + step_clock_overhead(r->clock);
}

dse_status step_floors_of(const step_model *m, const step_options *o, const sched_def *schedule,
                          const sched_options *order, sched_keeper *keeper, step_clock *clock,
                          step_machine machine, dse_arena *a, step_floors *out, dse_error *err)
{
    runner r = {.clock = machine == STEP_BOUND ? clock : step_clock_without_network(clock),
                .arena = a,
                .err = err,
                .is_bound = true};
    step_result *all = DSE_ARENA_NEW(a, step_result, 1);
    const sched_ordered *ordered;
    const step_memory *sizes;
    dse_status st;

    *out = (step_floors){0};
    r.passes = &all->passes;
    if ((st = sched_keeper_find(keeper, schedule, order, &ordered, err)) != DSE_OK ||
        (st = step_passes_make(m, o, ordered, r.clock, a, &all->passes, err)) != DSE_OK)
        return st;
    all->plan = ordered->plan;
    out->ordered = ordered;
    out->is_known = all->plan.n_directions == 1 && !has_pairs(&all->passes);
    if (!out->is_known)
        return DSE_OK;
    prepare(&r, all);
    out->first = DSE_ARENA_NEW(a, uint32_t, all->plan.n_ranks);
    out->last = DSE_ARENA_NEW(a, uint32_t, all->plan.n_ranks);
    out->stage = DSE_ARENA_NEW(a, step_stage_floor, all->plan.n_stages);
    out->kernels = DSE_ARENA_NEW(a, step_stage_floor, all->plan.n_stages);
    out->rank = DSE_ARENA_NEW(a, step_rank_floor, all->plan.n_ranks);
    out->rank_kernels = DSE_ARENA_NEW(a, step_rank_floor, all->plan.n_ranks);
    out->peak = DSE_ARENA_NEW(a, uint64_t, all->plan.n_ranks);
    out->bytes = DSE_ARENA_NEW(a, uint64_t, all->plan.n_stages);
    out->always = DSE_ARENA_NEW(a, int64_t, all->plan.n_ranks);
    add_floors(&r, out);
    sizes = measure_memory(m, o, a, all);
    for (uint32_t i = 0; i < all->plan.n_ranks; i++) {
        out->peak[i] = all->memory[i].peak;
        step_memory_between(sizes, &ordered->plan, i, a, out->bytes, &out->always[i]);
    }
    return r.status;
}

/* ---- what is seen of it ------------------------------------------------------------------------ */

void step_run_watch(step_result *result, uint32_t rank, dse_arena *a,
                    void (*see)(void *user, const step_pass_operation *op, dse_time begin, dse_time end),
                    void *user)
{
    runner r = {.arena = a, .passes = &result->passes};
    dse_time ended = 0, busy_until = 0;
    double busy_share = 0;

    prepare(&r, result);
    for (uint32_t i = result->plan.first[rank]; i < result->plan.first[rank + 1]; i++) {
        const step_pass *p = &r.passes->pass[r.passes->pass_of[i]];
        const dse_time start = result->times.start[i];
        const pass_time *t = time_pass(&r, i, ended, start, &busy_until, &busy_share);
        pass_time again;

        walk(&r, p, t->early, t->busy, t->busy_share, &again);
        for (uint32_t k = 0; k < p->n; k++)
            if (p->operation[k].collective) {
                const dse_time end = start - t->early + r.end[k];

                see(user, &p->operation[k], end - p->operation[k].ticks, end);
            }
        ended = result->times.end[i];
    }
}
