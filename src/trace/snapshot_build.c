/* A dictionary is known by its keys, when it is complete: an entry of a history has an action, a block a state, a segment
 * a total_size, the whole has segments or device_traces. Until then it is a draft. Other dictionaries are settings, but
 * for stack frames and annotations, which are known by keys of their own and forgotten. */
#include "trace/snapshot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The words that mean something; their ids in the names are these numbers. */
enum {
    W_ACTION,
    W_ADDRESS,
    W_DEVICE_FREE,
    W_SIZE,
    W_TIME,
    W_STATE,
    W_DEVICE,
    W_TOTAL,
    W_ALLOCATED,
    W_ACTIVE,
    W_REQUESTED,
    W_BLOCKS,
    W_SEGMENTS,
    W_TRACES,
    W_SETTINGS,
    N_FIELDS,
    W_FILENAME = N_FIELDS, /* of a stack frame */
    W_STAGE,               /* of an annotation */
    W_FRAMES,              /* of an entry, a block, a segment */
    W_ACTIONS,
    W_STATES = W_ACTIONS + TRACE_ACTIONS,
    N_WORDS = W_STATES + TRACE_BLOCK_STATES
};

static const char *const fields[W_ACTIONS] = {
    "action",   "addr",          "device_free",        "size",        "time_us",        "state",
    "device",   "total_size",    "allocated_size",     "active_size", "requested_size", "blocks",
    "segments", "device_traces", "allocator_settings", "filename",    "stage",          "frames"};

/* What a complete dictionary or list is, in the high bits of its id; the rest is an index. */
enum { IS_ENTRY, IS_BLOCK, IS_SEGMENT, IS_ROOT, IS_SETTINGS, IS_LIST };
#define INDEX_BITS 28
#define INDEX_MASK ((1u << INDEX_BITS) - 1)

typedef struct {
    uint32_t link; /* of the free ones */
    uint32_t has;  /* a bit a field */
    bool forget;   /* it is a frame, or an annotation */
    trace_plain field[N_FIELDS];
    uint32_t first, last; /* of the other items, in items */
} draft;

typedef struct {
    uint32_t key, next;
    trace_plain value;
} item;

typedef struct {
    uint32_t first, last, n;
    bool used; /* an honest snapshot has each list in one place; of others this bounds the work */
} list;

typedef struct {
    uint64_t requested;
    uint8_t state; /* TRACE_BLOCK_STATES: another */
    bool has_requested;
} block;

typedef struct {
    trace_segment s;
    uint32_t blocks; /* id of the list; DSE_NONE */
} segment;

typedef struct {
    trace_plain segments, traces, settings;
} root;

struct trace_snapshot {
    trace_names names;
    draft *drafts;
    size_t n_drafts, cap_drafts;
    uint32_t free_draft, free_item;
    item *items;
    size_t n_items, cap_items;
    list *lists;
    size_t n_lists, cap_lists;
    trace_allocation *entries;
    size_t n_entries, cap_entries;
    block *blocks;
    size_t n_blocks, cap_blocks;
    segment *segments;
    size_t n_segments, cap_segments;
    root *roots;
    size_t n_roots, cap_roots;
    uint32_t *settings; /* first items */
    size_t n_settings, cap_settings;
    uint64_t n_unknown_actions, n_unknown_states;
};

trace_snapshot *trace_snapshot_new(void)
{
    trace_snapshot *s = dse_calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->free_draft = s->free_item = DSE_NONE;
    for (uint32_t i = 0; i < N_WORDS; i++) {
        const char *word = i < W_ACTIONS  ? fields[i]
                           : i < W_STATES ? trace_action_name((trace_action)(i - W_ACTIONS))
                                          : trace_block_state_name((trace_block_state)(i - W_STATES));

        if (trace_names_add(&s->names, word, strlen(word)) != i) {
            trace_snapshot_free(s);
            return NULL;
        }
    }
    return s;
}

void trace_snapshot_free(trace_snapshot *s)
{
    if (!s)
        return;
    trace_names_free(&s->names);
    dse_free(s->drafts);
    dse_free(s->items);
    dse_free(s->lists);
    dse_free(s->entries);
    dse_free(s->blocks);
    dse_free(s->segments);
    dse_free(s->roots);
    dse_free(s->settings);
    dse_free(s);
}

/* ---- items ---------------------------------------------------------------------------------- */

static bool add_item(trace_snapshot *s, uint32_t *first, uint32_t *last, uint32_t key,
                     const trace_plain *value)
{
    uint32_t id = DSE_SLOT_TAKE(s->items, s->cap_items, s->n_items, s->free_item, item, next);

    if (id == DSE_NONE)
        return false;
    s->items[id] = (item){key, DSE_NONE, *value};
    if (*first == DSE_NONE)
        *first = id;
    else
        s->items[*last].next = id;
    *last = id;
    return true;
}

/* Lists of lists keep their empty ones, since their places are numbers of devices. What is dropped else are frames, and
 * entries of unknown actions. */
static dse_status add_to_list(trace_snapshot *s, trace_plain_kind kind, uint32_t *mine,
                              const trace_plain *value, dse_error *err)
{
    list *l;

    if ((value->kind == TRACE_PLAIN_DICT && value->id == DSE_NONE) ||
        (kind == TRACE_PLAIN_TUPLE && !trace_plain_is_container(value)))
        return DSE_OK;
    if (*mine == DSE_NONE) {
        if (s->n_lists > INDEX_MASK || !DSE_GROW(s->lists, s->cap_lists, s->n_lists + 1))
            return dse_fail_nomem(err);
        s->lists[s->n_lists] = (list){DSE_NONE, DSE_NONE, 0, false};
        *mine = (uint32_t)s->n_lists++;
    }
    l = &s->lists[*mine];
    if (!add_item(s, &l->first, &l->last, DSE_NONE, value))
        return dse_fail_nomem(err);
    l->n++;
    return DSE_OK;
}

static dse_status add_to_draft(trace_snapshot *s, uint32_t *mine, const trace_plain *key,
                               const trace_plain *value, dse_error *err)
{
    uint32_t word = key->kind == TRACE_PLAIN_TEXT ? key->id : DSE_NONE;
    draft *d;

    if (*mine == DSE_NONE) {
        *mine = DSE_SLOT_TAKE(s->drafts, s->cap_drafts, s->n_drafts, s->free_draft, draft, link);
        if (*mine == DSE_NONE)
            return dse_fail_nomem(err);
        d = &s->drafts[*mine];
        d->has = 0;
        d->forget = false;
        d->first = d->last = DSE_NONE;
    }
    d = &s->drafts[*mine];
    if (word < N_FIELDS) {
        d->has |= 1u << word;
        d->field[word] = *value;
    } else if (word == W_FILENAME || word == W_STAGE) {
        d->forget = true;
    } else if (word != W_FRAMES && !add_item(s, &d->first, &d->last, word, value)) {
        return dse_fail_nomem(err);
    }
    return DSE_OK;
}

static dse_status on_item(void *to, trace_plain_kind kind, uint32_t *mine, const trace_plain *key,
                          const trace_plain *value, dse_error *err)
{
    return kind == TRACE_PLAIN_DICT ? add_to_draft(to, mine, key, value, err)
                                    : add_to_list(to, kind, mine, value, err);
}

/* ---- drafts --------------------------------------------------------------------------------- */

static bool has(const draft *d, int word) { return d->has >> word & 1; }

/* A field that is to be a count of bytes, or an address. */
static dse_status unsigned_of(const draft *d, int word, const char *of, uint64_t *out, dse_error *err)
{
    const trace_plain *v = &d->field[word];

    if (!has(d, word))
        return dse_fail(err, DSE_E_SYNTAX, "%s has no '%s'", of, fields[word]);
    if (v->kind != TRACE_PLAIN_INT || v->v.integer < 0)
        return dse_fail(err, DSE_E_SYNTAX, "'%s' of %s is to be a whole number from 0 to 2^63 - 1",
                        fields[word], of);
    *out = (uint64_t)v->v.integer;
    return DSE_OK;
}

static uint32_t new_id(unsigned is, size_t index) { return is << INDEX_BITS | (uint32_t)index; }

/* Room for one more, whose index fits into an id. */
#define ROOM(v, cap, n) ((n) <= INDEX_MASK && DSE_GROW((v), (cap), (n) + 1))

static dse_status close_entry(trace_snapshot *s, const draft *d, uint32_t *id, dse_error *err)
{
    const trace_plain *action = &d->field[W_ACTION], *time = &d->field[W_TIME];
    trace_allocation e = {.time_us = INT64_MIN};
    dse_status st;
    int place;

    if (action->kind != TRACE_PLAIN_TEXT)
        return dse_fail(err, DSE_E_SYNTAX, "'action' of an entry of a history is to be a text");
    *id = DSE_NONE;
    if (action->id < W_ACTIONS || action->id >= W_STATES) {
        s->n_unknown_actions++;
        return DSE_OK;
    }
    e.action = (uint8_t)(action->id - W_ACTIONS);
    place = e.action == TRACE_OOM ? W_DEVICE_FREE : W_ADDRESS;
    st = unsigned_of(d, W_SIZE, "an entry of a history", &e.size, err);
    if (st == DSE_OK && has(d, place))
        st = unsigned_of(d, place, "an entry of a history", &e.address, err);
    if (st != DSE_OK)
        return st;
    if (has(d, W_TIME) && time->kind == TRACE_PLAIN_INT)
        e.time_us = time->v.integer;
    if (!ROOM(s->entries, s->cap_entries, s->n_entries))
        return dse_fail_nomem(err);
    s->entries[s->n_entries] = e;
    *id = new_id(IS_ENTRY, s->n_entries++);
    return DSE_OK;
}

static dse_status close_block(trace_snapshot *s, const draft *d, uint32_t *id, dse_error *err)
{
    const trace_plain *state = &d->field[W_STATE];
    block b = {.state = TRACE_BLOCK_STATES, .has_requested = has(d, W_REQUESTED)};
    dse_status st = DSE_OK;

    if (state->kind != TRACE_PLAIN_TEXT)
        return dse_fail(err, DSE_E_SYNTAX, "'state' of a block is to be a text");
    if (state->id >= W_STATES && state->id < N_WORDS)
        b.state = (uint8_t)(state->id - W_STATES);
    else
        s->n_unknown_states++;
    if (b.has_requested)
        st = unsigned_of(d, W_REQUESTED, "a block", &b.requested, err);
    if (st == DSE_OK && !ROOM(s->blocks, s->cap_blocks, s->n_blocks))
        st = dse_fail_nomem(err);
    if (st != DSE_OK)
        return st;
    s->blocks[s->n_blocks] = b;
    *id = new_id(IS_BLOCK, s->n_blocks++);
    return DSE_OK;
}

static dse_status close_segment(trace_snapshot *s, const draft *d, uint32_t *id, dse_error *err)
{
    const trace_plain *blocks = &d->field[W_BLOCKS];
    segment g = {.blocks = DSE_NONE};
    uint64_t device = 0;
    dse_status st = unsigned_of(d, W_TOTAL, "a segment", &g.s.total_size, err);

    if (st == DSE_OK)
        st = unsigned_of(d, W_ALLOCATED, "a segment", &g.s.allocated_size, err);
    if (st == DSE_OK)
        st = unsigned_of(d, W_ACTIVE, "a segment", &g.s.active_size, err);
    if (st == DSE_OK && has(d, W_REQUESTED))
        st = unsigned_of(d, W_REQUESTED, "a segment", &g.s.requested_size, err);
    if (st == DSE_OK)
        st = unsigned_of(d, W_DEVICE, "a segment", &device, err);
    if (st == DSE_OK && device >= DSE_NONE)
        st = dse_fail(err, DSE_E_SYNTAX, "a segment of device %" PRIu64, device);
    if (st == DSE_OK && has(d, W_BLOCKS) && blocks->kind != TRACE_PLAIN_LIST)
        st = dse_fail(err, DSE_E_SYNTAX, "'blocks' of a segment is to be a list");
    if (st == DSE_OK && !ROOM(s->segments, s->cap_segments, s->n_segments))
        st = dse_fail_nomem(err);
    if (st != DSE_OK)
        return st;
    g.s.device = (uint32_t)device;
    g.s.has_requested = has(d, W_REQUESTED);
    if (has(d, W_BLOCKS))
        g.blocks = blocks->id;
    s->segments[s->n_segments] = g;
    *id = new_id(IS_SEGMENT, s->n_segments++);
    return DSE_OK;
}

static dse_status close_root(trace_snapshot *s, const draft *d, uint32_t *id, dse_error *err)
{
    static const trace_plain none = {.kind = TRACE_PLAIN_NONE, .id = DSE_NONE};

    if (!ROOM(s->roots, s->cap_roots, s->n_roots))
        return dse_fail_nomem(err);
    s->roots[s->n_roots] =
        (root){has(d, W_SEGMENTS) ? d->field[W_SEGMENTS] : none, has(d, W_TRACES) ? d->field[W_TRACES] : none,
               has(d, W_SETTINGS) ? d->field[W_SETTINGS] : none};
    *id = new_id(IS_ROOT, s->n_roots++);
    return DSE_OK;
}

/* What is neither keeps its items. */
static dse_status close_settings(trace_snapshot *s, draft *d, uint32_t *id, dse_error *err)
{
    if (!ROOM(s->settings, s->cap_settings, s->n_settings))
        return dse_fail_nomem(err);
    s->settings[s->n_settings] = d->first;
    d->first = DSE_NONE;
    *id = new_id(IS_SETTINGS, s->n_settings++);
    return DSE_OK;
}

static dse_status close_draft(trace_snapshot *s, uint32_t *mine, dse_error *err)
{
    draft *d = &s->drafts[*mine];
    uint32_t id = DSE_NONE, at = *mine;
    dse_status st = DSE_OK;

    if (has(d, W_ACTION))
        st = close_entry(s, d, &id, err);
    else if (has(d, W_STATE))
        st = close_block(s, d, &id, err);
    else if (has(d, W_TOTAL))
        st = close_segment(s, d, &id, err);
    else if (has(d, W_SEGMENTS) || has(d, W_TRACES))
        st = close_root(s, d, &id, err);
    else if (!d->forget)
        st = close_settings(s, d, &id, err);
    if (d->first != DSE_NONE) {
        s->items[d->last].next = s->free_item;
        s->free_item = d->first;
    }
    d->link = s->free_draft;
    s->free_draft = at;
    *mine = id;
    return st;
}

static dse_status on_close(void *to, trace_plain_kind kind, uint32_t *mine, dse_error *err)
{
    if (*mine == DSE_NONE)
        return DSE_OK;
    if (kind == TRACE_PLAIN_DICT)
        return close_draft(to, mine, err);
    *mine = new_id(IS_LIST, *mine);
    return DSE_OK;
}

trace_plain_listener trace_snapshot_listener(trace_snapshot *s)
{
    return (trace_plain_listener){s, &s->names, on_item, on_close};
}

/* ---- the whole ------------------------------------------------------------------------------ */

#define MAX_SETTINGS                                                                                         \
    10000 /* values; shared ones count again, so that a small file cannot mean a large tree */
#define MAX_DEPTH 16

static bool is(const trace_plain *v, unsigned what)
{
    return trace_plain_is_container(v) && v->id != DSE_NONE && v->id >> INDEX_BITS == what;
}

/* The list of a value, to be walked once; NULL if it is empty. */
static dse_status list_of(trace_snapshot *s, const trace_plain *v, const char *what, list **out,
                          dse_error *err)
{
    list *l;

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

static dse_status sum_blocks(trace_snapshot *s, const segment *g, trace_segment *to, dse_error *err)
{
    const trace_plain v = {.kind = TRACE_PLAIN_LIST, .id = g->blocks};
    list *l;
    dse_status st = list_of(s, &v, "the list of a segment's blocks", &l, err);

    if (st != DSE_OK || !l)
        return st;
    for (uint32_t i = l->first; i != DSE_NONE; i = s->items[i].next) {
        const trace_plain *item_value = &s->items[i].value;
        const block *b;

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

static dse_status take_segments(trace_snapshot *s, const root *r, trace_allocator *a, dse_error *err)
{
    list *l;
    dse_status st = list_of(s, &r->segments, "'segments'", &l, err);

    if (st != DSE_OK || !l)
        return st;
    if (!DSE_GROW(a->segment, a->cap_segments, l->n))
        return dse_fail_nomem(err);
    for (uint32_t i = l->first; st == DSE_OK && i != DSE_NONE; i = s->items[i].next) {
        const trace_plain *v = &s->items[i].value;
        const segment *g;

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
    list *l;
    dse_status st = list_of(s, v, "a device's list in 'device_traces'", &l, err);

    if (st != DSE_OK || !l)
        return st;
    if (!DSE_GROW(to->entry, to->cap, l->n))
        return dse_fail_nomem(err);
    for (uint32_t i = l->first; i != DSE_NONE; i = s->items[i].next) {
        const trace_plain *e = &s->items[i].value;

        if (!is(e, IS_ENTRY))
            return dse_fail(err, DSE_E_SYNTAX, "'device_traces' holds something else, without 'action'");
        to->entry[to->n++] = s->entries[e->id & INDEX_MASK];
    }
    return DSE_OK;
}

static dse_status take_histories(trace_snapshot *s, const root *r, trace_allocator *a, dse_error *err)
{
    list *l = NULL;
    dse_status st = DSE_OK;

    if (r->traces.kind != TRACE_PLAIN_NONE)
        st = list_of(s, &r->traces, "'device_traces'", &l, err);
    if (st != DSE_OK || !l)
        return st;
    if (!DSE_GROW(a->history, a->cap_histories, l->n))
        return dse_fail_nomem(err);
    for (uint32_t i = l->first; st == DSE_OK && i != DSE_NONE; i = s->items[i].next) {
        a->history[a->n_histories] = (trace_history){.device = (uint32_t)a->n_histories};
        st = take_history(s, &s->items[i].value, &a->history[a->n_histories++], err);
    }
    return st;
}

/* ---- settings ------------------------------------------------------------------------------- */

typedef struct {
    trace_snapshot *s;
    trace_allocator *a;
    trace_names *names; /* of the rank */
    dse_error *err;
} copying;

static dse_status copy_text(const copying *c, uint32_t id, uint32_t *out)
{
    const trace_names *from = &c->s->names;

    *out = DSE_NONE;
    if (id == DSE_NONE)
        return DSE_OK;
    *out = trace_names_add(c->names, from->text[id], from->length[id]);
    return *out == DSE_NONE ? dse_fail_nomem(c->err) : DSE_OK;
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
    trace_setting t = {.kind = setting_kinds[v->kind], .first = DSE_NONE, .next = DSE_NONE, .text = DSE_NONE};
    dse_status st = copy_text(c, key, &t.key);

    if (at == MAX_SETTINGS || depth == MAX_DEPTH)
        return dse_fail(c->err, DSE_E_SYNTAX,
                        "'allocator_settings' holds more than %d values, or is nested deeper than %d",
                        MAX_SETTINGS, MAX_DEPTH);
    if (v->kind == TRACE_PLAIN_FLOAT)
        t.number = v->v.number;
    else if (v->kind == TRACE_PLAIN_INT || v->kind == TRACE_PLAIN_BOOL)
        t.integer = v->v.integer;
    if (st == DSE_OK && v->kind == TRACE_PLAIN_TEXT)
        st = copy_text(c, v->id, &t.text);
    if (st == DSE_OK && !DSE_GROW(c->a->setting, c->a->cap_settings, c->a->n_settings + 1))
        st = dse_fail_nomem(c->err);
    if (st != DSE_OK)
        return st;
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
    const root *r;
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
    trace_rank *rank = trace_record_add_rank(out);
    size_t n = strlen(path) + 1;
    dse_status st;

    if (!rank)
        return dse_fail_nomem(err);
    rank->kind = TRACE_SNAPSHOT;
    if (!(rank->path = dse_realloc(NULL, n)) || !(rank->allocator = dse_calloc(1, sizeof *rank->allocator)))
        return dse_fail_nomem(err);
    memcpy(rank->path, path, n);
    if ((st = fill(s, top, rank, err)) != DSE_OK && err)
        dse_error_set_where(err, path);
    if (st == DSE_OK && s->n_unknown_actions)
        trace_warn(out, path, "%" PRIu64 " entries of the history have an action that is not known",
                   s->n_unknown_actions);
    if (st == DSE_OK && s->n_unknown_states)
        trace_warn(out, path, "%" PRIu64 " blocks are in a state that is not known", s->n_unknown_states);
    return st;
}
