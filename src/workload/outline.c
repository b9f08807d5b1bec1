/* A model as counts. Everything here is by the rules of generate_nodes.c and generate_graph.c, which it
 * names. */
#include "workload/outline.h"

#include <string.h>

/* ---- kinds --------------------------------------------------------------------------------- */

static bool same_shape(const wl_shape *a, const wl_shape *b)
{
    return a->n == b->n && !memcmp(a->dim, b->dim, a->n * sizeof a->dim[0]);
}

/* add_compute: its operations, and what it moves. */
static uint32_t add_compute(outliner *o, const wl_tensor *t)
{
    wl_outline *out = o->out;
    const gen_operator *op = gen_operator_of(&out->variant, t->op);
    const gen_work c = op->work;

    if (!outline_has_cost(t->kind))
        return DSE_NONE;
    for (uint32_t i = 0; i < out->n_computes; i++)
        if (!memcmp(&out->compute[i], &c, sizeof c))
            return i;
    DSE_ARENA_GROW(o->scratch, out->compute, o->cap_computes, out->n_computes + 1);
    out->compute[out->n_computes] = c;
    return out->n_computes++;
}

/* add_collectives: what `from` leaves, brought to what is needed. */
static uint32_t add_operand(outliner *o, uint32_t from, const wl_shape *need, const wl_shape *unsummed)
{
    wl_outline *out = o->out;
    outline_operand *x;
    const wl_operator *op;

    if (from == DSE_NONE)
        return DSE_NONE;
    op = o->model->tensor[from].op;
    if (same_shape(&op->y_shape, need) && !op->y_reduced.n && !unsummed->n)
        return DSE_NONE; /* none, whatever the degrees */
    for (uint32_t i = 0; i < out->n_operands; i++) {
        x = &out->operand[i];
        if (same_shape(&x->have, &op->y_shape) && same_shape(&x->reduced, &op->y_reduced) &&
            same_shape(&x->need, need) && same_shape(&x->unsummed, unsummed))
            return i;
    }
    DSE_ARENA_GROW(o->scratch, out->operand, o->cap_operands, out->n_operands + 1);
    out->operand[out->n_operands] = (outline_operand){op->y_shape, op->y_reduced, *need, *unsummed,
                                                      gen_operator_of(&out->variant, op)->y};
    return out->n_operands++;
}

static void find_kinds(outliner *o)
{
    for (uint32_t i = 0; i < o->model->n; i++) {
        const wl_tensor *t = &o->model->tensor[i];
        outline_facts *f = &o->facts[i];

        *f = (outline_facts){.compute = add_compute(o, t),
                             .operand = {add_operand(o, t->x1, &t->op->x1_shape, &t->op->unsummed),
                                         add_operand(o, t->x2, &t->op->x2_shape, &t->op->unsummed)},
                             .size = gen_operator_of(&o->out->variant, t->op)->y,
                             .start_at = DSE_NONE,
                             .loss_at = DSE_NONE,
                             .segment = DSE_NONE};
    }
}

/* ---- readers, and what is held ------------------------------------------------------------- */

static void list_readers(outliner *o)
{
    memset(o->readers, 0xff, o->model->n * sizeof *o->readers); /* DSE_NONE */
    for (uint32_t i = o->model->n; i-- > 0;)
        for (int w = 0; w < OUTLINE_N_WAITS; w++) {
            uint32_t from = outline_wait(&o->model->tensor[i], w);

            if (from == DSE_NONE)
                continue;
            o->readers[i].next[w] = o->readers[from].first[w];
            o->readers[from].first[w] = i;
        }
}

void outline_mark(const outliner *o, uint32_t from, bool waiting, bool *marks)
{
    uint32_t *todo = DSE_ARENA_NEW(o->scratch, uint32_t, o->model->n + 1u), n = 0;

    if (from != DSE_NONE)
        todo[n++] = from;
    while (n) {
        uint32_t at = todo[--n];

        for (int w = 0; w < OUTLINE_N_WAITS; w++) {
            uint32_t i = waiting ? o->readers[at].first[w] : outline_wait(&o->model->tensor[at], w);

            for (; i != DSE_NONE; i = waiting ? o->readers[i].next[w] : DSE_NONE)
                if (!marks[i]) {
                    marks[i] = true;
                    todo[n++] = i;
                }
        }
    }
}

/* The place of a computation that reads the tensor, itself or as a copy of it, and that is `among`; or
 * DSE_NONE. */
static uint32_t find_reader(const outliner *o, uint32_t tensor, const bool *among, bool of_copy)
{
    for (int w = 0; w < 2; w++)
        for (uint32_t i = o->readers[tensor].first[w]; i != DSE_NONE; i = o->readers[i].next[w]) {
            const wl_tensor *t = &o->model->tensor[i];
            uint32_t place = DSE_NONE;

            if (outline_has_cost(t->kind) && (!among || among[i]))
                return t->place;
            if (t->kind == WL_OP_COPY && !of_copy && (place = find_reader(o, i, among, true)) != DSE_NONE)
                return place;
        }
    return DSE_NONE;
}

/* A tensor is held at the stage of a reader: there it is, or its shadow, which counts from the issue of its
 * receive, that is from tick 0. Copies go by the name of what they copy, and are not counted. */
static void find_held(outliner *o)
{
    for (uint32_t i = 0; i < o->model->n; i++) {
        const wl_tensor *t = &o->model->tensor[i];

        if (t->kind == WL_OP_INPUT)
            o->facts[i].start_at = find_reader(o, i, NULL, false);
        if (o->loss != DSE_NONE && t->kind != WL_OP_COPY &&
            (t->kind == WL_OP_INPUT || o->before[i] || i == o->loss))
            o->facts[i].loss_at = find_reader(o, i, o->after, false);
    }
}

/* What the operator file links as the loss, if it is computed. */
static uint32_t find_loss(const wl_operators *ops, const wl_model *m)
{
    for (uint32_t i = 0; ops->n_links[WL_LINK_LOSS] && i < m->n; i++)
        if (!m->tensor[i].revision && outline_has_cost(m->tensor[i].kind) &&
            !strcmp(m->tensor[i].name, ops->link[WL_LINK_LOSS][0].from->text))
            return i;
    return DSE_NONE;
}

/* ---- places -------------------------------------------------------------------------------- */

static void add_crossings(outliner *o)
{
    wl_outline *out = o->out;

    for (uint32_t i = 0; i < o->model->n; i++) {
        uint32_t first = out->n_crossings;

        for (int w = 0; w < 2; w++)
            for (uint32_t r = o->readers[i].first[w]; r != DSE_NONE; r = o->readers[r].next[w]) {
                uint32_t to = o->model->tensor[r].place, k = first;

                while (k < out->n_crossings && out->crossing[k].to != to)
                    k++;
                if (to == o->model->tensor[i].place || k < out->n_crossings)
                    continue;
                DSE_ARENA_GROW(o->scratch, out->crossing, o->cap_crossings, out->n_crossings + 1);
                out->crossing[out->n_crossings++] =
                    (outline_crossing){i, o->model->tensor[i].place, to, o->facts[i].size};
            }
    }
}

static void add_one(uint32_t *row, uint32_t at, uint32_t kind)
{
    if (kind != DSE_NONE)
        row[at + kind]++;
}

/* A row of counts for each place. */
static void count_places(const outliner *o, uint32_t *rows)
{
    const wl_outline *out = o->out;
    const size_t width = out->n_counts;

    for (uint32_t i = 0; i < o->model->n; i++) {
        const wl_tensor *t = &o->model->tensor[i];
        const outline_facts *f = &o->facts[i];
        const bool is_state = t->op->is_weight || t->op->makes == WL_TENSOR_WEIGHT_GRADIENT;
        uint32_t *row = &rows[t->place * width];

        add_one(row, 0, f->compute);
        add_one(row, outline_operands_at(out), f->operand[0]);
        add_one(row, outline_operands_at(out), f->operand[1]);
        add_one(row, outline_segments_at(out), f->segment);
        if (f->start_at != DSE_NONE)
            add_one(&rows[f->start_at * width],
                    outline_held_at(out, is_state ? OUTLINE_START_WEIGHTS : OUTLINE_START), f->size);
        if (f->loss_at != DSE_NONE)
            add_one(&rows[f->loss_at * width],
                    outline_held_at(out, is_state ? OUTLINE_LOSS_WEIGHTS : OUTLINE_LOSS), f->size);
        if (t->kind == WL_OP_INPUT && t->op->is_weight)
            add_one(row, outline_held_at(out, OUTLINE_STATE), f->size);
    }
}

/* Keeps each different row once. */
static void find_classes(wl_outline *out, uint32_t *rows)
{
    const size_t width = out->n_counts, bytes = width * sizeof *rows;

    for (uint32_t p = 0; p < out->n_places; p++) {
        uint32_t c = 0;

        while (c < out->n_classes && memcmp(&rows[c * width], &rows[p * width], bytes) != 0)
            c++;
        if (c == out->n_classes)
            memmove(&rows[out->n_classes++ * width], &rows[p * width], bytes);
        out->class_of[p] = c;
    }
}

static void fill_places(outliner *o)
{
    wl_outline *out = o->out;
    bool *seen = DSE_ARENA_NEW(o->scratch, bool, out->n_places);
    uint32_t *rows;

    out->n_counts = outline_segments_at(out) + out->n_segments;
    rows = DSE_ARENA_NEW(o->scratch, uint32_t, (size_t)out->n_places * out->n_counts);
    for (uint32_t i = 0; i < o->model->n; i++) {
        uint32_t place = o->model->tensor[i].place;

        if (!seen[place])
            out->place_order[out->n_ordered++] = place;
        seen[place] = true;
    }
    count_places(o, rows);
    find_classes(out, rows);
    out->count = rows;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void outline_model(outliner *o)
{
    uint32_t n = o->model->n;

    o->facts = DSE_ARENA_NEW(o->scratch, outline_facts, n);
    o->readers = DSE_ARENA_NEW(o->scratch, outline_readers, n);
    o->before = DSE_ARENA_NEW(o->scratch, bool, n);
    o->after = DSE_ARENA_NEW(o->scratch, bool, n);
    find_kinds(o);
    o->out->loss = o->loss == DSE_NONE ? DSE_NONE : o->facts[o->loss].compute;
    list_readers(o);
    outline_mark(o, o->loss, false, o->before);
    outline_mark(o, o->loss, true, o->after);
    find_held(o);
    add_crossings(o);
    outline_add_chain(o);
    fill_places(o);
}

/* The tables grew in the scratch arena. */
static void keep_tables(wl_outline *out, dse_arena *a)
{
    out->compute = dse_arena_copy(a, out->compute, out->n_computes, sizeof *out->compute);
    out->operand = dse_arena_copy(a, out->operand, out->n_operands, sizeof *out->operand);
    out->crossing = dse_arena_copy(a, out->crossing, out->n_crossings, sizeof *out->crossing);
    out->count = dse_arena_copy(a, out->count, (size_t)out->n_classes * out->n_counts, sizeof *out->count);
    out->segment = dse_arena_copy(a, out->segment, out->n_segments, sizeof *out->segment);
    out->item = dse_arena_copy(a, out->item, out->n_items, sizeof *out->item);
}

dse_status wl_outline_make(const cfg_doc *doc, wl_passes passes, uint32_t layers, dse_arena *a,
                           const wl_outline **out, dse_error *err)
{
    wl_outline *made = DSE_ARENA_NEW(a, wl_outline, 1);
    wl_model model;
    dse_arena scratch;
    outliner o = {.out = made, .model = &model, .scratch = &scratch};
    dse_status st;

    if ((st = gen_variant_init(&made->variant, doc, passes, &wl_dialect_stage, a, err)) != DSE_OK)
        return st;
    made->n_places = layers + 2;
    made->place_order = DSE_ARENA_NEW(a, uint32_t, made->n_places);
    made->class_of = DSE_ARENA_NEW(a, uint32_t, made->n_places);
    dse_arena_init(&scratch);
    st = wl_model_build(&made->variant.ops, layers, &scratch, &model, err);
    if (st == DSE_OK) {
        o.loss = find_loss(&made->variant.ops, &model);
        outline_model(&o);
        keep_tables(made, a);
    }
    dse_arena_free(&scratch);
    *out = made;
    return st;
}
