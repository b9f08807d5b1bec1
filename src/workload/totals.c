#include "workload/totals.h"

#include "workload/outline.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    const wl_outline *o;
    dse_arena *arena;
    dse_error *err;
    wl_totals *out;
    mesh_set split;
    wl_match *match; /* room for one of each axis */
    gen_sizes sizes;
    uint32_t *stage_of;      /* per place */
    uint32_t *classes;       /* [stage * n_classes + class]: places of the stage */
    uint32_t *first_operand; /* per operand: its first kind; one more at the end */
    uint32_t n_segment_kinds;
} counter;

/* ---- sizes ------------------------------------------------------------------------------------ */

static dse_status fail_too_large(const counter *c)
{
    return dse_fail(c->err, DSE_E_RANGE, "a size does not fit in 63 bits");
}

static dse_status to_count(const counter *c, double v, uint64_t *out)
{
    return gen_count(v, out) ? DSE_OK : fail_too_large(c);
}

/* ---- stages -------------------------------------------------------------------------------- */

/* Numbers the stages as generate_shape.c does. */
static dse_status split_stages(counter *c, wl_stages how, uint32_t pp)
{
    const wl_outline *o = c->o;
    const uint32_t layers = o->n_places - 2;
    uint32_t *stage_of_value = DSE_ARENA_NEW(c->arena, uint32_t, pp), n = 0;

    c->stage_of = DSE_ARENA_NEW(c->arena, uint32_t, o->n_places);
    c->classes = DSE_ARENA_NEW(c->arena, uint32_t, (size_t)pp * o->n_classes);
    memset(stage_of_value, 0xff, pp * sizeof *stage_of_value); /* DSE_NONE */
    for (uint32_t i = 0; i < o->n_ordered; i++) {
        uint32_t place = o->place_order[i], value = wl_stage_of(how, place, layers, pp);

        if (stage_of_value[value] == DSE_NONE)
            stage_of_value[value] = n++;
        c->stage_of[place] = gen_by_first_tensor(&o->variant, how) ? stage_of_value[value] : value;
        c->classes[c->stage_of[place] * o->n_classes + o->class_of[place]]++;
    }
    if (n < pp)
        return dse_fail(c->err, DSE_E_RANGE, "pp is %" PRIu32 ", but only %" PRIu32 " stages get a tensor",
                        pp, n);
    return DSE_OK;
}

/* On each rank of a stage, of what stands at `at` in the rows of the classes. */
static uint32_t count_on(const counter *c, uint32_t stage, uint32_t at)
{
    const wl_outline *o = c->o;
    uint32_t n = 0;

    for (uint32_t k = 0; k < o->n_classes; k++)
        n += c->classes[stage * o->n_classes + k] * o->count[k * o->n_counts + at];
    return n;
}

/* ---- nodes --------------------------------------------------------------------------------- */

static dse_status add_computes(counter *c)
{
    for (uint32_t i = 0; i < c->o->n_computes; i++) {
        wl_total *k = &c->out->kind[c->out->n_kinds++];

        *k = (wl_total){.type = WL_NODE_COMP};
        if (!gen_kernel_of(&c->sizes, &c->o->compute[i], &k->kernel))
            return fail_too_large(c);
    }
    return DSE_OK;
}

static dse_status add_collectives(counter *c)
{
    for (uint32_t i = 0; i < c->o->n_operands; i++) {
        const outline_operand *of = &c->o->operand[i];
        uint32_t n;
        dse_status st = c->o->variant.dialect->match(&c->o->variant.axes, c->split, &of->have, &of->reduced,
                                                     &of->need, &of->unsummed, c->match, &n, c->err);

        c->first_operand[i] = c->out->n_kinds;
        for (uint32_t m = 0; st == DSE_OK && m < n; m++) {
            wl_total *k = &c->out->kind[c->out->n_kinds++];

            *k = (wl_total){.type = WL_NODE_COLL, .coll = c->match[m].coll, .axes = c->match[m].axes};
            st = to_count(c, gen_message(&c->sizes, of->size), &k->comm_size);
        }
        if (st != DSE_OK)
            return st;
    }
    c->first_operand[c->o->n_operands] = c->out->n_kinds;
    return DSE_OK;
}

static dse_status add_kinds(counter *c)
{
    const wl_outline *o = c->o;
    const uint32_t n_axes = o->variant.axes.n;
    dse_status st;

    c->out->kind = DSE_ARENA_NEW(c->arena, wl_total, o->n_computes + n_axes * o->n_operands);
    c->first_operand = DSE_ARENA_NEW(c->arena, uint32_t, o->n_operands + 1u);
    st = add_computes(c);
    return st == DSE_OK ? add_collectives(c) : st;
}

/* A computation of no operations leaves no node. */
static bool leaves_a_node(const counter *c, uint32_t compute)
{
    return !c->sizes.is_free[c->o->compute[compute].operations];
}

static void count_kinds(counter *c)
{
    const wl_outline *o = c->o;
    wl_totals *out = c->out;

    out->count = DSE_ARENA_NEW(c->arena, uint32_t, (size_t)out->n_stages * out->n_kinds);
    for (uint32_t s = 0; s < out->n_stages; s++) {
        uint32_t *count = &out->count[(size_t)s * out->n_kinds];

        for (uint32_t i = 0; i < o->n_computes; i++)
            count[i] = leaves_a_node(c, i) ? count_on(c, s, i) : 0;
        for (uint32_t i = 0; i < o->n_operands; i++) {
            uint32_t n = count_on(c, s, outline_operands_at(o) + i);

            for (uint32_t k = c->first_operand[i]; k < c->first_operand[i + 1]; k++)
                count[k] = n;
        }
    }
}

/* ---- the chain ----------------------------------------------------------------------------- */

/* The kinds of the nodes that an item of a segment leaves: a computation, or the collectives of an
 * operand. */
static void add_item(counter *c, uint32_t item)
{
    const wl_outline *o = c->o;
    bool computes = item < o->n_computes;
    uint32_t operand = item - o->n_computes;
    uint32_t first = computes ? item : c->first_operand[operand];
    uint32_t end = computes ? item + leaves_a_node(c, item) : c->first_operand[operand + 1];

    for (uint32_t k = first; k < end; k++)
        c->out->segment_kind[c->n_segment_kinds++] = k;
}

static void add_segments(counter *c)
{
    const wl_outline *o = c->o;
    wl_totals *out = c->out;

    out->segment = DSE_ARENA_NEW(c->arena, wl_segment, o->n_segments);
    out->segment_kind = DSE_ARENA_NEW(c->arena, uint32_t, (size_t)o->variant.axes.n * o->n_items);
    out->segment_count = DSE_ARENA_NEW(c->arena, uint32_t, (size_t)out->n_stages * o->n_segments);
    out->n_segments = o->n_segments;
    for (uint32_t i = 0; i < o->n_segments; i++) {
        const outline_segment *of = &o->segment[i];

        out->segment[i].first = c->n_segment_kinds;
        for (uint32_t k = of->first; k < of->first + of->n; k++)
            add_item(c, o->item[k]);
        out->segment[i].n = c->n_segment_kinds - out->segment[i].first;
        for (uint32_t s = 0; s < out->n_stages; s++)
            out->segment_count[s * out->n_segments + i] = count_on(c, s, outline_segments_at(o) + i);
    }
}

/* ---- messages between stages --------------------------------------------------------------- */

/* Counts one more; equal ones mostly come one after the other. */
static void add_send(wl_totals *out, uint32_t from, uint32_t to, uint64_t size)
{
    for (uint32_t i = out->n_sends; i-- > 0;)
        if (out->sends[i].from == from && out->sends[i].to == to && out->sends[i].comm_size == size) {
            out->sends[i].n++;
            return;
        }
    out->sends[out->n_sends++] = (wl_total_sends){from, to, 1, size};
}

/* A tensor goes once to each other stage that needs it. */
static dse_status count_sends(counter *c)
{
    const wl_outline *o = c->o;
    wl_totals *out = c->out;
    uint32_t first = 0;

    out->sends = DSE_ARENA_NEW(c->arena, wl_total_sends, o->n_crossings);
    for (uint32_t i = 0; out->n_stages > 1 && i < o->n_crossings; i++) {
        const outline_crossing *x = &o->crossing[i];
        uint32_t from = c->stage_of[x->from], to = c->stage_of[x->to], k;
        uint64_t size = 0;
        dse_status st = to_count(c, gen_message(&c->sizes, x->size), &size);

        if (st != DSE_OK)
            return st;
        if (x->tensor != o->crossing[first].tensor)
            first = i;
        for (k = first; k < i && c->stage_of[o->crossing[k].to] != to; k++)
            ;
        if (from != to && k == i)
            add_send(out, from, to, size);
    }
    return DSE_OK;
}

/* ---- memory -------------------------------------------------------------------------------- */

/* Which tensors are read is only clear if nothing truncates to no operations. */
static bool all_count(const counter *c)
{
    for (uint32_t i = 0; i < c->o->variant.n_sizes; i++)
        if (c->sizes.value[i] < 1)
            return false;
    return true;
}

/* What is held of one size, n[] of it by the ways of being held. */
static void hold_elements(const counter *c, uint32_t size, const uint64_t n[OUTLINE_N_HELD], wl_held *out)
{
    const uint64_t each = wl_size_as_read(c->sizes.value[size]);

    out->at_start += (n[OUTLINE_START] + n[OUTLINE_START_WEIGHTS]) * each;
    out->at_loss += (n[OUTLINE_LOSS] + n[OUTLINE_LOSS_WEIGHTS]) * each;
}

/* The state is there at both, whoever reads it. Weights that are gathered for use are left out. */
static void hold_bytes(const counter *c, uint32_t size, const uint64_t n[OUTLINE_N_HELD], wl_held *out)
{
    const uint64_t each = gen_state(&c->sizes, size, WL_TENSOR_ACTIVATION);
    const uint64_t state = n[OUTLINE_STATE] * (gen_state(&c->sizes, size, WL_TENSOR_WEIGHT) +
                                               gen_state(&c->sizes, size, WL_TENSOR_WEIGHT_GRADIENT) +
                                               gen_state(&c->sizes, size, WL_TENSOR_OPTIMIZER));

    out->at_start += n[OUTLINE_START] * each + state;
    out->at_loss += n[OUTLINE_LOSS] * each + state;
}

static void add_held(counter *c)
{
    const wl_outline *o = c->o;

    c->out->held = DSE_ARENA_NEW(c->arena, wl_held, c->out->n_stages);
    for (uint32_t s = 0; all_count(c) && s < c->out->n_stages; s++)
        for (uint32_t i = 0; i < o->variant.n_sizes; i++) {
            uint64_t n[OUTLINE_N_HELD];

            for (int how = 0; how < OUTLINE_N_HELD; how++)
                n[how] = count_on(c, s, outline_held_at(o, (outline_held)how) + i);
            (wl_in_bytes(&c->sizes.precision) ? hold_bytes : hold_elements)(c, i, n, &c->out->held[s]);
        }
}

/* ---- the whole ----------------------------------------------------------------------------- */

dse_status wl_totals_of(const wl_outline *o, const wl_symbols *symbols, const wl_strategy *s, dse_arena *a,
                        wl_totals *out, dse_error *err)
{
    const wl_axes *axes = &o->variant.axes;
    const mesh m = strategy_mesh(&s->strategy, a);
    counter c = {.o = o,
                 .arena = a,
                 .err = err,
                 .out = out,
                 .split = gen_split(axes, &m),
                 .match = DSE_ARENA_RAW(a, wl_match, axes->n)};
    dse_status st;

    *out = (wl_totals){.n_stages = s->pp,
                       .ranks_per_stage = (uint32_t)mesh_size(&m, mesh_all(&m) & ~mesh_only(axes->pipeline)),
                       .mesh = m,
                       .pipeline = axes->pipeline,
                       .loss = o->loss};
    if ((st = gen_sizes_evaluate(&o->variant, symbols, &m, &s->precision, a, &c.sizes, err)) != DSE_OK ||
        (st = split_stages(&c, s->stages, s->pp)) != DSE_OK || (st = add_kinds(&c)) != DSE_OK)
        return st;
    count_kinds(&c);
    add_segments(&c);
    add_held(&c);
    return count_sends(&c);
}
