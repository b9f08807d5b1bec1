/* Makes a rank with an allocator from the parts of a memory snapshot; see snapshot_build.c. */
#include "trace/snapshot_parts.h"

#include <inttypes.h>
#include <string.h>

/* ---- the whole ------------------------------------------------------------------------------- */

#define MAX_SETTINGS                                                                                         \
    10000 /* values; shared ones count each time, so a small file cannot expand to a large tree */
#define MAX_DEPTH 16

static bool is(const trace_plain *v, unsigned what)
{
    return trace_plain_is_container(v) && v->id != DSE_NONE && v->id >> INDEX_BITS == what;
}

/* The list of a value, which may be used once; NULL if it is empty. */
static dse_status list_of(trace_snapshot *s, const trace_plain *v, const char *what, snapshot_list **out,
                          dse_error *err)
{
    snapshot_list *l;

    *out = NULL;
    if (v->kind == TRACE_PLAIN_LIST && v->id == DSE_NONE)
        return DSE_OK;
    if (v->kind != TRACE_PLAIN_LIST || !is(v, IS_LIST))
        return dse_fail(err, DSE_E_SYNTAX, "%s is to be a list", what);
    l = &s->lists[v->id & INDEX_MASK];
    if (l->used)
        return dse_fail(err, DSE_E_SYNTAX, "%s stands in a second place", what);
    l->used = true;
    *out = l;
    return DSE_OK;
}

static dse_status sum_blocks(trace_snapshot *s, const snapshot_segment *g, trace_segment *to, dse_error *err)
{
    const trace_plain v = {.kind = TRACE_PLAIN_LIST, .id = g->blocks};
    snapshot_list *l;
    dse_status st = list_of(s, &v, "the list of a segment's blocks", &l, err);

    if (st != DSE_OK || !l)
        return st;
    for (uint32_t i = l->first; i != DSE_NONE; i = s->items[i].next) {
        const trace_plain *item_value = &s->items[i].value;
        const snapshot_block *b;

        if (!is(item_value, IS_BLOCK))
            return dse_fail(err, DSE_E_SYNTAX, "a segment's blocks hold something else, without 'state'");
        b = &s->blocks[item_value->id & INDEX_MASK];
        to->has_requested &= b->has_requested;
        if (b->state == TRACE_BLOCK_STATES) {
            to->n_other_blocks++;
            continue;
        }
        to->n_blocks[b->state]++;
        to->requested[b->state] += b->requested;
    }
    return DSE_OK;
}

static dse_status take_segments(trace_snapshot *s, const snapshot_root *r, trace_allocator *a, dse_error *err)
{
    snapshot_list *l;
    dse_status st = list_of(s, &r->segments, "'segments'", &l, err);

    if (st != DSE_OK || !l)
        return st;
    DSE_GROW(a->segment, a->cap_segments, l->n);
    for (uint32_t i = l->first; st == DSE_OK && i != DSE_NONE; i = s->items[i].next) {
        const trace_plain *v = &s->items[i].value;
        const snapshot_segment *g;

        if (!is(v, IS_SEGMENT))
            return dse_fail(err, DSE_E_SYNTAX, "'segments' holds something else, without 'total_size'");
        g = &s->segments[v->id & INDEX_MASK];
        a->segment[a->n_segments] = g->s;
        st = sum_blocks(s, g, &a->segment[a->n_segments++], err);
    }
    return st;
}

static dse_status take_history(trace_snapshot *s, const trace_plain *v, trace_history *to, dse_error *err)
{
    snapshot_list *l;
    dse_status st = list_of(s, v, "a device's list in 'device_traces'", &l, err);

    if (st != DSE_OK || !l)
        return st;
    DSE_GROW(to->entry, to->cap, l->n);
    for (uint32_t i = l->first; i != DSE_NONE; i = s->items[i].next) {
        const trace_plain *e = &s->items[i].value;

        if (!is(e, IS_ENTRY))
            return dse_fail(err, DSE_E_SYNTAX, "'device_traces' holds something else, without 'action'");
        to->entry[to->n++] = s->entries[e->id & INDEX_MASK];
    }
    return DSE_OK;
}

static dse_status take_histories(trace_snapshot *s, const snapshot_root *r, trace_allocator *a,
                                 dse_error *err)
{
    snapshot_list *l = NULL;
    dse_status st = DSE_OK;

    if (r->traces.kind != TRACE_PLAIN_NONE)
        st = list_of(s, &r->traces, "'device_traces'", &l, err);
    if (st != DSE_OK || !l)
        return st;
    DSE_GROW(a->history, a->cap_histories, l->n);
    for (uint32_t i = l->first; st == DSE_OK && i != DSE_NONE; i = s->items[i].next) {
        a->history[a->n_histories] = (trace_history){.device = (uint32_t)a->n_histories};
        st = take_history(s, &s->items[i].value, &a->history[a->n_histories++], err);
    }
    return st;
}

/* ---- settings -------------------------------------------------------------------------------- */

typedef struct {
    trace_snapshot *s;
    trace_allocator *a;
    trace_names *names; /* of the rank */
    dse_error *err;
} copying;

static uint32_t copy_text(const copying *c, uint32_t id)
{
    const trace_names *from = &c->s->names;

    return id == DSE_NONE ? DSE_NONE : trace_names_add(c->names, from->text[id], from->length[id]);
}

static dse_status copy_setting(copying *c, uint32_t key, const trace_plain *v, int depth);

static dse_status copy_items(copying *c, uint32_t parent, uint32_t first, int depth)
{
    uint32_t before = DSE_NONE;

    for (uint32_t i = first; i != DSE_NONE; i = c->s->items[i].next) {
        uint32_t at = (uint32_t)c->a->n_settings;
        dse_status st = copy_setting(c, c->s->items[i].key, &c->s->items[i].value, depth + 1);

        if (st != DSE_OK)
            return st;
        if (before == DSE_NONE)
            c->a->setting[parent].first = at;
        else
            c->a->setting[before].next = at;
        before = at;
    }
    return DSE_OK;
}

static const trace_setting_kind setting_kinds[] = {
    [TRACE_PLAIN_NONE] = TRACE_SETTING_NONE,    [TRACE_PLAIN_BOOL] = TRACE_SETTING_BOOL,
    [TRACE_PLAIN_INT] = TRACE_SETTING_INTEGER,  [TRACE_PLAIN_HUGE] = TRACE_SETTING_NONE,
    [TRACE_PLAIN_FLOAT] = TRACE_SETTING_NUMBER, [TRACE_PLAIN_TEXT] = TRACE_SETTING_TEXT,
    [TRACE_PLAIN_BYTES] = TRACE_SETTING_NONE,   [TRACE_PLAIN_TUPLE] = TRACE_SETTING_LIST,
    [TRACE_PLAIN_LIST] = TRACE_SETTING_LIST,    [TRACE_PLAIN_DICT] = TRACE_SETTING_MAP};

/* Recursion ends at MAX_DEPTH. */
static dse_status copy_setting(copying *c, uint32_t key, const trace_plain *v, int depth)
{
    uint32_t at = (uint32_t)c->a->n_settings;
    trace_setting t = {.kind = setting_kinds[v->kind],
                       .key = copy_text(c, key),
                       .text = v->kind == TRACE_PLAIN_TEXT ? copy_text(c, v->id) : DSE_NONE,
                       .first = DSE_NONE,
                       .next = DSE_NONE};

    if (at == MAX_SETTINGS || depth == MAX_DEPTH)
        return dse_fail(c->err, DSE_E_SYNTAX,
                        "'allocator_settings' holds more than %d values, or is nested deeper than %d",
                        MAX_SETTINGS, MAX_DEPTH);
    if (v->kind == TRACE_PLAIN_FLOAT)
        t.number = v->v.number;
    else if (v->kind == TRACE_PLAIN_INT || v->kind == TRACE_PLAIN_BOOL)
        t.integer = v->v.integer;
    DSE_GROW(c->a->setting, c->a->cap_settings, c->a->n_settings + 1);
    c->a->setting[c->a->n_settings++] = t;
    if (is(v, IS_SETTINGS))
        return copy_items(c, at, c->s->settings[v->id & INDEX_MASK], depth);
    if (is(v, IS_LIST))
        return copy_items(c, at, c->s->lists[v->id & INDEX_MASK].first, depth);
    return DSE_OK;
}

static dse_status fill(trace_snapshot *s, const trace_plain *top, trace_rank *rank, dse_error *err)
{
    copying c = {s, rank->allocator, &rank->names, err};
    const snapshot_root *r;
    dse_status st;

    if (!is(top, IS_ROOT) || s->roots[top->id & INDEX_MASK].segments.kind == TRACE_PLAIN_NONE)
        return dse_fail(err, DSE_E_SYNTAX,
                        "this is plain data, but no memory snapshot: it is no dictionary with 'segments'");
    r = &s->roots[top->id & INDEX_MASK];
    rank->allocator->n_unknown_actions = s->n_unknown_actions;
    st = take_segments(s, r, rank->allocator, err);
    if (st == DSE_OK)
        st = take_histories(s, r, rank->allocator, err);
    if (st == DSE_OK && r->settings.kind != TRACE_PLAIN_NONE)
        st = copy_setting(&c, DSE_NONE, &r->settings, 0);
    return st;
}

dse_status trace_snapshot_finish(trace_snapshot *s, const char *path, const trace_plain *top,
                                 trace_record *out, dse_error *err)
{
    trace_rank *rank = trace_record_add_file(out, TRACE_SNAPSHOT, path);
    dse_status st;

    rank->allocator = dse_calloc(1, sizeof *rank->allocator);
    if ((st = fill(s, top, rank, err)) != DSE_OK && err)
        dse_error_set_where(err, path);
    if (st == DSE_OK && s->n_unknown_actions)
        trace_warn(out, path, "%" PRIu64 " entries of the history have an action that is not known",
                   s->n_unknown_actions);
    if (st == DSE_OK && s->n_unknown_states)
        trace_warn(out, path, "%" PRIu64 " blocks are in a state that is not known", s->n_unknown_states);
    return st;
}
