/* A complete dictionary is recognised by its keys: an entry of a history has an action, a block a state, a
 * segment a total_size, the root segments or device_traces. Until then it is a draft. All other dictionaries
 * are settings, except stack frames and annotations, which have keys of their own and are dropped. */
#include "trace/snapshot_parts.h"

#include <inttypes.h>
#include <string.h>

/* The known keys and values; these numbers are their ids in the names. */
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

struct snapshot_draft {
    uint32_t link; /* next free draft */
    uint32_t has;  /* a bit for each field */
    bool forget;   /* a frame or an annotation */
    trace_plain field[N_FIELDS];
    uint32_t first, last; /* of the other items, in items */
};

trace_snapshot *trace_snapshot_new(void)
{
    trace_snapshot *s = dse_calloc(1, sizeof *s);

    s->free_draft = s->free_item = DSE_NONE;
    for (uint32_t i = 0; i < N_WORDS; i++) {
        const char *word = i < W_ACTIONS  ? fields[i]
                           : i < W_STATES ? trace_action_name((trace_action)(i - W_ACTIONS))
                                          : trace_block_state_name((trace_block_state)(i - W_STATES));

        trace_names_add(&s->names, word, strlen(word));
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

/* ---- items ----------------------------------------------------------------------------------- */

static void add_item(trace_snapshot *s, uint32_t *first, uint32_t *last, uint32_t key,
                     const trace_plain *value)
{
    uint32_t id = DSE_SLOT_TAKE(s->items, s->cap_items, s->n_items, s->free_item, snapshot_item, next);

    s->items[id] = (snapshot_item){key, DSE_NONE, *value};
    if (*first == DSE_NONE)
        *first = id;
    else
        s->items[*last].next = id;
    *last = id;
}

/* Drops frames and entries with unknown actions. Empty lists within lists are kept, as their places are
 * device numbers. */
static void add_to_list(trace_snapshot *s, trace_plain_kind kind, uint32_t *mine, const trace_plain *value)
{
    snapshot_list *l;

    if ((value->kind == TRACE_PLAIN_DICT && value->id == DSE_NONE) ||
        (kind == TRACE_PLAIN_TUPLE && !trace_plain_is_container(value)))
        return;
    if (*mine == DSE_NONE) {
        DSE_GROW(s->lists, s->cap_lists, s->n_lists + 1);
        s->lists[s->n_lists] = (snapshot_list){DSE_NONE, DSE_NONE, 0, false};
        *mine = (uint32_t)s->n_lists++;
    }
    l = &s->lists[*mine];
    add_item(s, &l->first, &l->last, DSE_NONE, value);
    l->n++;
}

static void add_to_draft(trace_snapshot *s, uint32_t *mine, const trace_plain *key, const trace_plain *value)
{
    uint32_t word = key->kind == TRACE_PLAIN_TEXT ? key->id : DSE_NONE;
    snapshot_draft *d;

    if (*mine == DSE_NONE) {
        *mine = DSE_SLOT_TAKE(s->drafts, s->cap_drafts, s->n_drafts, s->free_draft, snapshot_draft, link);
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
    } else if (word != W_FRAMES) {
        add_item(s, &d->first, &d->last, word, value);
    }
}

static void on_item(void *to, trace_plain_kind kind, uint32_t *mine, const trace_plain *key,
                    const trace_plain *value)
{
    if (kind == TRACE_PLAIN_DICT)
        add_to_draft(to, mine, key, value);
    else
        add_to_list(to, kind, mine, value);
}

/* ---- drafts ---------------------------------------------------------------------------------- */

static bool has(const snapshot_draft *d, int word) { return d->has >> word & 1; }

/* A field with a count of bytes or an address. */
static dse_status unsigned_of(const snapshot_draft *d, int word, const char *of, uint64_t *out,
                              dse_error *err)
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

static dse_status new_id(unsigned is, size_t index, uint32_t *id, dse_error *err)
{
    if (index > INDEX_MASK)
        return dse_fail(err, DSE_E_RANGE, "a snapshot holds more than %u entries, blocks, or lists",
                        INDEX_MASK + 1);
    *id = is << INDEX_BITS | (uint32_t)index;
    return DSE_OK;
}

static dse_status close_entry(trace_snapshot *s, const snapshot_draft *d, uint32_t *id, dse_error *err)
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
    DSE_GROW(s->entries, s->cap_entries, s->n_entries + 1);
    s->entries[s->n_entries] = e;
    return new_id(IS_ENTRY, s->n_entries++, id, err);
}

static dse_status close_block(trace_snapshot *s, const snapshot_draft *d, uint32_t *id, dse_error *err)
{
    const trace_plain *state = &d->field[W_STATE];
    snapshot_block b = {.state = TRACE_BLOCK_STATES, .has_requested = has(d, W_REQUESTED)};
    dse_status st = DSE_OK;

    if (state->kind != TRACE_PLAIN_TEXT)
        return dse_fail(err, DSE_E_SYNTAX, "'state' of a block is to be a text");
    if (state->id >= W_STATES && state->id < N_WORDS)
        b.state = (uint8_t)(state->id - W_STATES);
    else
        s->n_unknown_states++;
    if (b.has_requested)
        st = unsigned_of(d, W_REQUESTED, "a block", &b.requested, err);
    if (st != DSE_OK)
        return st;
    DSE_GROW(s->blocks, s->cap_blocks, s->n_blocks + 1);
    s->blocks[s->n_blocks] = b;
    return new_id(IS_BLOCK, s->n_blocks++, id, err);
}

static dse_status close_segment(trace_snapshot *s, const snapshot_draft *d, uint32_t *id, dse_error *err)
{
    const trace_plain *blocks = &d->field[W_BLOCKS];
    snapshot_segment g = {.blocks = DSE_NONE};
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
    if (st != DSE_OK)
        return st;
    g.s.device = (uint32_t)device;
    g.s.has_requested = has(d, W_REQUESTED);
    if (has(d, W_BLOCKS))
        g.blocks = blocks->id;
    DSE_GROW(s->segments, s->cap_segments, s->n_segments + 1);
    s->segments[s->n_segments] = g;
    return new_id(IS_SEGMENT, s->n_segments++, id, err);
}

static dse_status close_root(trace_snapshot *s, const snapshot_draft *d, uint32_t *id, dse_error *err)
{
    static const trace_plain none = {.kind = TRACE_PLAIN_NONE, .id = DSE_NONE};

    DSE_GROW(s->roots, s->cap_roots, s->n_roots + 1);
    s->roots[s->n_roots] = (snapshot_root){has(d, W_SEGMENTS) ? d->field[W_SEGMENTS] : none,
                                           has(d, W_TRACES) ? d->field[W_TRACES] : none,
                                           has(d, W_SETTINGS) ? d->field[W_SETTINGS] : none};
    return new_id(IS_ROOT, s->n_roots++, id, err);
}

/* Any other dictionary keeps its items. */
static dse_status close_settings(trace_snapshot *s, snapshot_draft *d, uint32_t *id, dse_error *err)
{
    DSE_GROW(s->settings, s->cap_settings, s->n_settings + 1);
    s->settings[s->n_settings] = d->first;
    d->first = DSE_NONE;
    return new_id(IS_SETTINGS, s->n_settings++, id, err);
}

static dse_status close_draft(trace_snapshot *s, uint32_t *mine, dse_error *err)
{
    snapshot_draft *d = &s->drafts[*mine];
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
    return new_id(IS_LIST, *mine, mine, err);
}

trace_plain_listener trace_snapshot_listener(trace_snapshot *s)
{
    return (trace_plain_listener){s, &s->names, on_item, on_close};
}
