/* The formulas of spec/training_step.md, each where the reference found it exact. Costs: f, i, w of set U
 * or N, b = i + w; set C is N with a latency of 3. */
#include "schedule/cases.h"

#include <string.h>

typedef struct {
    uint64_t f, i, w;
} unit_costs;
static const unit_costs costs_of[N_SETS] = {[SET_U] = {1, 1, 1}, [SET_N] = {10, 11, 9}};

typedef struct {
    const sched_options *o;
    const outcome *seen;
    tally *tally;
} subject;

static uint32_t min(uint32_t a, uint32_t b) { return a < b ? a : b; }

static void check_makespan(const subject *s, int set, uint64_t expected)
{
    s->tally->n_forms++;
    if (s->seen->times[set].makespan != expected)
        differs(s->tally, s->seen->id, "closed form: makespan %llu, not %llu",
                (unsigned long long)s->seen->times[set].makespan, (unsigned long long)expected);
}

static void check_peak(const subject *s, uint32_t rank, const uint32_t *peaks, uint32_t expected)
{
    s->tally->n_forms++;
    if (peaks[rank] != expected)
        differs(s->tally, s->seen->id, "closed form: peak of rank %u is %u, not %u", rank, peaks[rank],
                expected);
}

/* (mv + p - 1)(f + b) */
static void check_full_ramps(const subject *s)
{
    for (int set = SET_U; set <= SET_N; set++) {
        const unit_costs *c = &costs_of[set];

        check_makespan(s, set,
                       ((uint64_t)s->o->micro_batches * s->o->vp + s->o->pp - 1) * (c->f + c->i + c->w));
    }
}

static void check_gpipe(const subject *s)
{
    const unit_costs *n = &costs_of[SET_N];

    check_full_ramps(s);
    check_makespan(s, SET_C,
                   (uint64_t)(s->o->micro_batches + s->o->pp - 1) * (n->f + n->i + n->w) +
                       2 * (s->o->pp - 1) * 3);
    for (uint32_t r = 0; r < s->o->pp; r++)
        check_peak(s, r, s->seen->peak_i, s->o->micro_batches);
}

static void check_1f1b(const subject *s)
{
    check_full_ramps(s);
    for (uint32_t r = 0; r < s->o->pp; r++)
        check_peak(s, r, s->seen->peak_i, min(s->o->micro_batches, s->o->pp - r));
}

static void check_looped_bfs(const subject *s)
{
    if (s->o->micro_batches >= s->o->pp)
        check_full_ramps(s);
    for (uint32_t r = 0; r < s->o->pp; r++)
        check_peak(s, r, s->seen->peak_i, s->o->micro_batches * s->o->vp);
}

/* The group as PyTorch and Megatron have it; what only we accept has other groups. */
static uint32_t group_of(const sched_options *o)
{
    uint32_t rounds = o->micro_batches / o->pp ? o->micro_batches / o->pp : 1;

    return o->group_size ? o->group_size : o->micro_batches / rounds;
}

static void check_interleaved(const subject *s)
{
    uint32_t p = s->o->pp, v = s->o->vp, g = group_of(s->o), total = s->o->micro_batches * v;

    if (g >= p && (s->o->group_size || s->o->micro_batches % p == 0))
        check_full_ramps(s);
    for (uint32_t r = 0; r < p; r++)
        check_peak(s, r, s->seen->peak_i, min(total, (v - 1) * g + 2 * (p - 1 - r) + 1));
}

static void check_zero_bubble_forms(const subject *s)
{
    uint32_t p = s->o->pp, v = s->o->vp, m = s->o->micro_batches, g = group_of(s->o);

    for (int set = SET_U; set <= SET_N; set++) {
        const unit_costs *c = &costs_of[set];

        if (m % p == 0 || (v == 1 && m >= p))
            check_makespan(s, set, (uint64_t)m * v * (c->f + c->i + c->w) + (p - 1) * (c->f + c->i - c->w));
    }
    for (uint32_t r = 0; r < p; r++) {
        check_peak(s, r, s->seen->peak_i, min(m * v, (v - 1) * g + p - r));
        if (m >= p)
            check_peak(s, r, s->seen->peak_w, min(m * v, (v - 1) * g + p));
    }
}

/* With f = i = w = 1: exact for no other costs. */
static void check_zbv(const subject *s)
{
    uint32_t p = s->o->pp, m = s->o->micro_batches;

    if (m < 2 * p)
        return;
    check_makespan(s, SET_U, 2 * (uint64_t)m * 3 + p - 1);
    check_peak(s, 0, s->seen->peak_i, 2 * p);
}

static void check_dualpipev(const subject *s)
{
    uint32_t p = s->o->pp;

    check_makespan(s, SET_U, 2 * (uint64_t)s->o->micro_batches * 3 + (p - 1) * 2);
    for (uint32_t r = 0; r < p; r++)
        check_peak(s, r, s->seen->peak_i, min(2 * p + 1, 2 * s->o->micro_batches));
}

static void check_dualpipe_forms(const subject *s)
{
    uint32_t p = s->o->pp;

    check_makespan(s, SET_U, (uint64_t)s->o->micro_batches * 3 + (p / 2 - 1) * 2);
    for (uint32_t r = 0; r < p; r++)
        check_peak(s, r, s->seen->peak_i, p + 1);
}

static const struct {
    const char *name;
    void (*check)(const subject *s);
} forms[] = {
    {"gpipe", check_gpipe},
    {"1f1b", check_1f1b},
    {"looped_bfs", check_looped_bfs},
    {"interleaved", check_interleaved},
    {"zero_bubble", check_zero_bubble_forms},
    {"zbv", check_zbv},
    {"dualpipe", check_dualpipe_forms},
    {"dualpipev", check_dualpipev},
};

void check_closed_forms(const char *name, const sched_options *o, const outcome *seen, tally *t)
{
    const char *ours = sched_name(sched_find(name));
    sched_options full = *o;
    subject s = {&full, seen, t};

    if (!full.vp)
        full.vp = 1;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].name, ours) == 0)
            forms[i].check(&s);
}
