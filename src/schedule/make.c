/* A plan from a schedule's rule: the options are checked by the schedule's conditions, then each rank is
 * filled. */
#include "base/array.h"
#include "schedule/compose.h"
#include "schedule/parts.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define SCHED_ROW(id)  &sched_def_##id,
#define SCHED_WORD(id) #id,
static const sched_def *const defs[] = {SCHED_LIST(SCHED_ROW)};
const char *const sched_names[] = {SCHED_LIST(SCHED_WORD) NULL};

#define N_DEFS DSE_COUNT(defs)

static const char *const program[SCHED_LIKES] = {NULL, "PyTorch", "Megatron", "DeepSpeed"};

const sched_def *sched_find(const char *name)
{
    for (size_t i = 0; i < N_DEFS; i++)
        if (!strcmp(defs[i]->name, name) || (defs[i]->pytorch && !strcasecmp(defs[i]->pytorch, name)))
            return defs[i];
    return NULL;
}

const char *sched_name(const sched_def *d) { return d->name; }
const char *sched_summary(const sched_def *d) { return d->summary; }
uint32_t sched_default_vp(const sched_def *d) { return d->default_vp; }
uint32_t sched_directions(const sched_def *d) { return d->placement == SCHED_DIRECTIONS ? 2 : 1; }

bool sched_has(const sched_def *d, sched_like like)
{
    if (like == SCHED_LIKE_PYTORCH)
        return d->pytorch;
    return like == SCHED_LIKE_ANY || d->programs >> like & 1;
}

/* ---- conditions ---------------------------------------------------------------------------- */

static bool has_one_chunk(const sched_options *o) { return o->vp == 1; }
static bool has_two_chunks(const sched_options *o) { return o->vp == 2; }

const sched_condition sched_one_chunk = {
    SCHED_BIT(ANY), has_one_chunk, SCHED_VARY(vp),
    "a rank has one chunk; interleaved, looped_bfs and zero_bubble take more"};
const sched_condition sched_two_chunks = {SCHED_BIT(ANY), has_two_chunks, SCHED_VARY(vp),
                                          "a rank has exactly two chunks"};

/* The numbers of a plan, as the command line spells them. */
static const struct {
    const char *name;
    size_t offset;
} numbers[] = {
    {"--pp", SCHED_VARY(pp)},
    {"--micro-batches", SCHED_VARY(micro_batches)},
    {"--vp", SCHED_VARY(vp)},
    {"--group-size", SCHED_VARY(group_size)},
};

static uint32_t *number_of(sched_options *o, size_t offset)
{
    return (uint32_t *)(void *)((char *)o + offset);
}

static const char *number_name(size_t offset)
{
    size_t i = 0;

    while (numbers[i].offset != offset)
        i++;
    return numbers[i].name;
}

/* The options with everything filled in that was left to the schedule. */
static sched_options filled_in(const sched_def *d, const sched_options *o)
{
    sched_options full = *o;

    if (!full.vp)
        full.vp = d->default_vp;
    if (!full.group_size && d->has_groups)
        full.group_size = sched_default_group(&full);
    return full;
}

/* The first condition that full options do not meet; NULL: they meet all. */
static const sched_condition *broken(const sched_def *d, const sched_options *o)
{
    for (size_t i = 0; d->conditions[i]; i++) {
        const sched_condition *c = d->conditions[i];

        if (c->imposed_by & (SCHED_BIT(ANY) | 1u << o->like) && !c->holds(o))
            return c;
    }
    return NULL;
}

static bool works(const sched_def *d, const sched_options *o)
{
    sched_options full = filled_in(d, o);

    return !broken(d, &full) && (!d->has_groups || sched_groups_are_full(&full));
}

/* The value nearest to that of o with which everything works, or, if `alone` is one, that condition is
 * met: below it (step -1), or above it (1). 0: none is near. */
static uint32_t nearest(const sched_def *d, const sched_options *o, size_t offset, int step,
                        const sched_condition *alone)
{
    enum { FAR = 1 << 16 };
    sched_options full = filled_in(d, o), tried = *o;
    uint32_t *v = number_of(&tried, offset);

    *v = *number_of(&full, offset);
    for (int i = 0; i < FAR && (*v += (uint32_t)step) != 0; i++) {
        full = filled_in(d, &tried);
        if (alone ? alone->holds(&full) : works(d, &tried))
            return *v;
    }
    return 0;
}

static bool add_nearest(const sched_def *d, const sched_options *o, size_t vary, const sched_condition *alone,
                        dse_strbuf *text)
{
    uint32_t below = nearest(d, o, vary, -1, alone), above = nearest(d, o, vary, 1, alone);

    if (!below && !above)
        return false;
    dse_strbuf_addf(text, "; nearest that %s: %s %" PRIu32, alone ? "meets this" : "works", number_name(vary),
                    below ? below : above);
    if (below && above)
        dse_strbuf_addf(text, " or %" PRIu32, above);
    return true;
}

/* `o` as it was given. The search for what works takes its time, and is left out if nobody asks. */
static dse_status refuse(const sched_def *d, const sched_options *o, const sched_condition *c, dse_error *err)
{
    sched_options full = filled_in(d, o);
    dse_strbuf text;
    dse_status st;

    if (!err)
        return DSE_E_RANGE;
    dse_strbuf_init(&text);
    dse_strbuf_adds(&text, d->name);
    if (!(c->imposed_by & SCHED_BIT(ANY)))
        dse_strbuf_addf(&text, " of %s", program[o->like]);
    dse_strbuf_addf(&text, ": %s; not so with --pp %" PRIu32 " --micro-batches %" PRIu32 " --vp %" PRIu32,
                    c->rule, full.pp, full.micro_batches, full.vp);
    if (d->has_groups)
        dse_strbuf_addf(&text, " --group-size %" PRIu32, full.group_size);
    if (!add_nearest(d, o, c->vary, NULL, &text) &&
        !add_nearest(d, o, SCHED_VARY(micro_batches), NULL, &text))
        add_nearest(d, o, c->vary, c, &text);
    st = dse_fail(err, DSE_E_RANGE, "%s", text.data);
    dse_strbuf_free(&text);
    return st;
}

/* What the program does not have, or the schedule does not take. */
static dse_status check_options(const sched_def *d, const sched_options *o, dse_error *err)
{
    if (!o->pp || !o->micro_batches)
        return dse_fail(err, DSE_E_RANGE, "a pipeline needs at least one rank and one micro-batch");
    if (!sched_has(d, o->like))
        return dse_fail(err, DSE_E_RANGE, "%s has no schedule '%s'", program[o->like], d->name);
    if (o->group_size && !d->has_groups)
        return dse_fail(err, DSE_E_RANGE, "'%s' has no groups of micro-batches; leave --group-size out",
                        d->name);
    if (o->overlap_moe && !(o->pp == 1 && o->overlap_pairs) &&
        (!sched_has(d, SCHED_LIKE_MEGATRON) || !d->has_groups || o->like == SCHED_LIKE_PYTORCH))
        return dse_fail(err, DSE_E_RANGE,
                        "--overlap-moe-expert-parallel-comm is an option of Megatron's interleaved schedule");
    return DSE_OK;
}

static dse_status check_size(const sched_options *o, dse_error *err)
{
    uint64_t stages = (uint64_t)o->pp * o->vp;

    if (stages > SCHED_MAX_STAGES)
        return dse_fail(err, DSE_E_RANGE, "%" PRIu64 " stages are more than the %u that a plan can have",
                        stages, SCHED_MAX_STAGES);
    if (stages * SCHED_KINDS * o->micro_batches > SCHED_MAX_ACTIONS)
        return dse_fail(err, DSE_E_RANGE,
                        "%" PRIu64 " stages with %" PRIu32 " micro-batches are too many; %" PRIu64
                        " micro-batches are the most",
                        stages, o->micro_batches, SCHED_MAX_ACTIONS / SCHED_KINDS / stages);
    return DSE_OK;
}

/* ---- filling ------------------------------------------------------------------------------- */

static uint32_t stage_of(const sched_queue *q, uint32_t chunk)
{
    uint32_t p = q->plan->n_ranks, rank = q->rank;

    switch (q->placement) {
    case SCHED_LOOP: return chunk * p + rank;
    case SCHED_V: return chunk == 0 ? rank : 2 * p - 1 - rank;
    default: return (chunk == 0) == (rank < p / 2) ? rank : 2 * p - 1 - rank;
    }
}

void sched_put(sched_queue *q, sched_kind kind, uint32_t chunk, uint32_t micro_batch)
{
    q->plan->action[q->n_actions++] = (sched_action){
        .micro_batch = micro_batch, .stage = (uint16_t)stage_of(q, chunk), .kind = (uint8_t)kind};
}

void sched_put_pair(sched_queue *q, uint32_t f_chunk, uint32_t f_micro_batch, uint32_t b_chunk,
                    uint32_t b_micro_batch)
{
    sched_put(q, SCHED_F, f_chunk, f_micro_batch);
    q->plan->action[q->n_actions - 1].with_next = true;
    sched_put(q, SCHED_B, b_chunk, b_micro_batch);
}

static void make(const sched_def *d, const sched_options *o, dse_arena *a, sched_plan *out)
{
    sched_queue q = {.plan = out, .placement = d->placement};
    size_t passes = (size_t)o->pp * o->vp * o->micro_batches;

    *out = (sched_plan){.n_ranks = o->pp, .n_directions = 1, .n_stages = o->pp * o->vp};
    out->n_micro_batches = o->micro_batches;
    if (d->placement == SCHED_DIRECTIONS) {
        out->n_directions = 2;
        out->n_stages = o->pp;
        out->n_micro_batches = o->micro_batches / 2;
        passes /= 2;
    }
    out->stage_rank = DSE_ARENA_RAW(a, uint32_t, (size_t)o->pp * o->vp);
    out->first = DSE_ARENA_RAW(a, uint32_t, (size_t)o->pp + 1);
    out->action = DSE_ARENA_RAW(a, sched_action, passes * 3); /* F, I, W */
    for (; q.rank < o->pp; q.rank++) {
        for (uint32_t chunk = 0; chunk < o->vp; chunk++)
            out->stage_rank[stage_of(&q, chunk)] = q.rank;
        out->first[q.rank] = q.n_actions;
        d->fill(o, &q);
    }
    out->first[o->pp] = q.n_actions;
}

void sched_find_chunks(const sched_plan *p, uint32_t *chunk, uint32_t *n_chunks)
{
    memset(n_chunks, 0, p->n_ranks * sizeof *n_chunks);
    for (uint32_t s = 0; s < p->n_directions * p->n_stages; s++)
        chunk[s] = n_chunks[p->stage_rank[s]]++;
}

/* Whether ranks of a plan wait for each other for ever. */
static bool has_deadlock(const sched_plan *p)
{
    sched_order order;
    dse_arena scratch;
    bool dead;

    dse_arena_init(&scratch);
    dead = sched_order_make(p, &scratch, &order, NULL) != DSE_OK;
    dse_arena_free(&scratch);
    return dead;
}

/* What needs no plan; *full gets the options with what they leave open. */
static dse_status check_conditions(const sched_def *d, const sched_options *o, sched_options *full,
                                   dse_error *err)
{
    const sched_condition *c;
    dse_status st;

    if ((st = check_options(d, o, err)) != DSE_OK)
        return st;
    *full = filled_in(d, o);
    if ((st = check_size(full, err)) != DSE_OK)
        return st;
    c = broken(d, full);
    return c ? refuse(d, o, c, err) : DSE_OK;
}

dse_status sched_check(const sched_def *d, const sched_options *o, dse_error *err)
{
    sched_options full;
    sched_plan plan;
    dse_arena scratch;
    dse_status st = check_conditions(d, o, &full, err);

    if (st != DSE_OK || !d->has_groups || sched_groups_are_full(&full))
        return st;
    dse_arena_init(&scratch);
    st = sched_make(d, o, &scratch, &plan, err);
    dse_arena_free(&scratch);
    return st;
}

dse_status sched_make(const sched_def *d, const sched_options *o, dse_arena *a, sched_plan *out,
                      dse_error *err)
{
    sched_options full;
    dse_status st = check_conditions(d, o, &full, err);

    if (st != DSE_OK)
        return st;
    make(d, &full, a, out);
    if (d->has_groups && !sched_groups_are_full(&full) && has_deadlock(out))
        return refuse(d, o, &sched_groups_wait, err);
    return DSE_OK;
}
