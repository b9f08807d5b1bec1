/* A complete dictionary is recognised by its keys: an entry of a history has an action, a block a state, a
 * segment a total_size, the root segments or device_traces. Until then it is a draft. All other dictionaries
 * are settings, except stack frames and annotations, which have keys of their own and are dropped; of a
 * stack its list keeps in what it is (trace_caller). Once the file is read, the root's parts become the
 * allocator of a rank.
 *
 * Functions that return bool return false once the error is set. */
#include "trace/snapshot.h"

#include "base/array.h"
#include "trace/reader.h"

#include <inttypes.h>
#include <string.h>

/* Values of settings; shared ones count each time, so a small file cannot expand to a large tree. */
#define MAX_SETTINGS 10000
#define MAX_DEPTH    16

/* The kind of a complete dictionary or list, in the high bits of its id; the low bits are an index. */
enum { IS_ENTRY, IS_BLOCK, IS_SEGMENT, IS_ROOT, IS_SETTINGS, IS_LIST, IS_FRAME };
#define INDEX_BITS 28
#define INDEX_MASK ((1u << INDEX_BITS) - 1)

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
    W_NAME,                /* of a frame: the function */
    W_BLOCK_ADDRESS,
    W_ACTIONS,
    W_STATES = W_ACTIONS + TRACE_ACTIONS,
    N_WORDS = W_STATES + TRACE_BLOCK_STATES
};

static const char *const fields[W_ACTIONS] = {
    "action",         "addr",   "device_free", "size",           "time_us",
    "state",          "device", "total_size",  "allocated_size", "active_size",
    "requested_size", "blocks", "segments",    "device_traces",  "allocator_settings",
    "filename",       "stage",  "frames",      "name",           "address"};

/* A dictionary that is not complete yet. */
typedef struct {
    uint32_t link;                               /* next free draft */
    uint32_t has;                                /* a bit for each field */
    bool forget;                                 /* a frame or an annotation */
    trace_plain file, function, frames, address; /* of a frame; of what has a stack; of a block */
    trace_plain field[N_FIELDS];
    uint32_t first, last; /* of the other items, in items */
} draft;

typedef struct {
    uint32_t key, next;
    trace_plain value;
} item;

typedef struct {
    uint32_t first, last, n;
    bool used;       /* each list may be used once, which bounds the work on crafted files */
    uint8_t callers; /* of a list of frames: a bit for each trace_caller that one of them is */
} list;

typedef struct {
    uint64_t requested;
    uint64_t address; /* 0: not given */
    uint8_t state;    /* TRACE_BLOCK_STATES: unknown */
    uint8_t caller;
    bool has_requested;
} block;

typedef struct {
    trace_segment s;
    uint32_t blocks; /* id of the list; DSE_NONE */
} segment;

typedef struct {
    trace_plain segments, traces, settings;
} root;

typedef struct {
    dse_error *err;
    dse_status status; /* of the first failure */
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
    uint8_t *of_name; /* by name: what a frame of this function or file is, and 1; 0: not looked at yet */
    size_t cap_of_name, n_of_name;
    uint64_t n_unknown_actions, n_unknown_states;
} snapshot;

static bool stop(snapshot *s, dse_status st)
{
    s->status = st;
    return false;
}

#define fail(s, ...) stop((s), dse_fail((s)->err, DSE_E_SYNTAX, __VA_ARGS__))

/* Appends to one of the growing arrays and returns the index. */
#define APPEND(s, array, ...)                                                                                \
    (DSE_GROW((s)->array, (s)->cap_##array, (s)->n_##array + 1), (s)->array[(s)->n_##array] = (__VA_ARGS__), \
     (s)->n_##array++)

/* ---- items ----------------------------------------------------------------------------------- */

static void add_item(snapshot *s, uint32_t *first, uint32_t *last, uint32_t key, const trace_plain *value)
{
    uint32_t id = DSE_SLOT_TAKE(s->items, s->cap_items, s->n_items, s->free_item, item, next);

    s->items[id] = (item){key, DSE_NONE, *value};
    if (*first == DSE_NONE)
        *first = id;
    else
        s->items[*last].next = id;
    *last = id;
}

static bool is(const trace_plain *v, unsigned what)
{
    return trace_plain_is_container(v) && v->id != DSE_NONE && v->id >> INDEX_BITS == what;
}

/* Drops entries with unknown actions, and of frames keeps what they are. Empty lists within lists are kept,
 * as their places are device numbers. */
static void add_to_list(snapshot *s, trace_plain_kind kind, uint32_t *mine, const trace_plain *value)
{
    list *l;

    if ((value->kind == TRACE_PLAIN_DICT && value->id == DSE_NONE) ||
        (kind == TRACE_PLAIN_TUPLE && !trace_plain_is_container(value)))
        return;
    if (*mine == DSE_NONE)
        *mine = (uint32_t)APPEND(s, lists, (list){DSE_NONE, DSE_NONE, 0, false, 0});
    l = &s->lists[*mine];
    if (is(value, IS_FRAME)) {
        l->callers |= (uint8_t)(1u << (value->id & INDEX_MASK));
        return;
    }
    add_item(s, &l->first, &l->last, DSE_NONE, value);
    l->n++;
}

static void add_to_draft(snapshot *s, uint32_t *mine, const trace_plain *key, const trace_plain *value)
{
    uint32_t word = key->kind == TRACE_PLAIN_TEXT ? key->id : DSE_NONE;
    draft *d;

    if (*mine == DSE_NONE) {
        *mine = DSE_SLOT_TAKE(s->drafts, s->cap_drafts, s->n_drafts, s->free_draft, draft, link);
        d = &s->drafts[*mine];
        d->has = 0;
        d->forget = false;
        d->first = d->last = DSE_NONE;
        d->file = d->function = d->frames = d->address = (trace_plain){.kind = TRACE_PLAIN_NONE};
    }
    d = &s->drafts[*mine];
    if (word == W_NAME)
        d->function = *value;
    if (word < N_FIELDS) {
        d->has |= 1u << word;
        d->field[word] = *value;
    } else if (word == W_FILENAME || word == W_STAGE) {
        d->forget = true;
        d->file = word == W_FILENAME ? *value : d->file;
    } else if (word == W_FRAMES || word == W_BLOCK_ADDRESS) {
        *(word == W_FRAMES ? &d->frames : &d->address) = *value;
    } else {
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

/* ---- complete dictionaries ------------------------------------------------------------------- */

static bool has(const draft *d, int word) { return d->has >> word & 1; }

/* A field with a count of bytes or an address. */
static bool take_unsigned(snapshot *s, const draft *d, int word, const char *of, uint64_t *out)
{
    const trace_plain *v = &d->field[word];

    if (!has(d, word))
        return fail(s, "%s has no '%s'", of, fields[word]);
    if (v->kind != TRACE_PLAIN_INT || v->v.integer < 0)
        return fail(s, "'%s' of %s is to be a whole number from 0 to 2^63 - 1", fields[word], of);
    *out = (uint64_t)v->v.integer;
    return true;
}

/* The same, if it is there. */
static bool take_optional(snapshot *s, const draft *d, int word, const char *of, uint64_t *out)
{
    return !has(d, word) || take_unsigned(s, d, word, of, out);
}

static uint32_t new_id(snapshot *s, unsigned is, size_t index)
{
    if (index <= INDEX_MASK)
        return is << INDEX_BITS | (uint32_t)index;
    stop(s, dse_fail(s->err, DSE_E_RANGE, "a snapshot holds more than %u entries, blocks, or lists",
                     INDEX_MASK + 1));
    return DSE_NONE;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* What a function or a file says; TRACE_BY_OTHER: nothing. */
static trace_caller caller_of_name(snapshot *s, const trace_plain *v)
{
    static const struct {
        const char *part;
        trace_caller caller;
    } parts[] = {{"torch/optim/", TRACE_BY_OPTIMIZER},
                 {"torch/autograd/__init__.py", TRACE_BY_BACKWARD},
                 {"torch::autograd::Engine::", TRACE_BY_BACKWARD},
                 {"_engine_run_backward", TRACE_BY_BACKWARD},
                 {"torch/nn/modules/module.py", TRACE_BY_MODULE}};
    uint8_t *known;

    if (v->kind != TRACE_PLAIN_TEXT || v->id == DSE_NONE)
        return TRACE_BY_OTHER;
    DSE_GROW(s->of_name, s->cap_of_name, (size_t)v->id + 1);
    if (s->n_of_name <= v->id) {
        memset(s->of_name + s->n_of_name, 0, s->cap_of_name - s->n_of_name);
        s->n_of_name = s->cap_of_name;
    }
    known = &s->of_name[v->id];
    if (!*known) {
        *known = 1 + TRACE_BY_OTHER;
        for (size_t i = 0; i < DSE_COUNT(parts) && *known == 1 + TRACE_BY_OTHER; i++)
            if (strstr(s->names.text[v->id], parts[i].part))
                *known = (uint8_t)(1 + parts[i].caller);
    }
    return (trace_caller)(*known - 1);
}

/* A caller in the place of an index. */
static uint32_t close_frame(snapshot *s, const draft *d)
{
    trace_caller file = caller_of_name(s, &d->file), function = caller_of_name(s, &d->function);

    return IS_FRAME << INDEX_BITS | (uint32_t)(file < function ? file : function);
}

/* Of the stack of an entry or a block. */
static uint8_t caller_of(const snapshot *s, const draft *d)
{
    const list *l = is(&d->frames, IS_LIST) ? &s->lists[d->frames.id & INDEX_MASK] : NULL;

    for (uint8_t c = TRACE_BY_OPTIMIZER; l && c < TRACE_CALLERS; c++)
        if (l->callers >> c & 1)
            return c;
    return TRACE_BY_UNTOLD;
}

/* ---- what a snapshot consists of ---------------------------------------------------------------- */

static uint32_t close_entry(snapshot *s, const draft *d)
{
    static const char of[] = "an entry of a history";
    const trace_plain *action = &d->field[W_ACTION], *time = &d->field[W_TIME];
    trace_allocation e = {.time_us = INT64_MIN};

    if (action->kind != TRACE_PLAIN_TEXT) {
        fail(s, "'action' of an entry of a history is to be a text");
        return DSE_NONE;
    }
    if (action->id < W_ACTIONS || action->id >= W_STATES) {
        s->n_unknown_actions++;
        return DSE_NONE;
    }
    e.action = (uint8_t)(action->id - W_ACTIONS);
    if (!take_unsigned(s, d, W_SIZE, of, &e.size) ||
        !take_optional(s, d, e.action == TRACE_OOM ? W_DEVICE_FREE : W_ADDRESS, of, &e.address))
        return DSE_NONE;
    if (has(d, W_TIME) && time->kind == TRACE_PLAIN_INT)
        e.time_us = time->v.integer;
    e.caller = caller_of(s, d);
    return new_id(s, IS_ENTRY, APPEND(s, entries, e));
}

static uint32_t close_block(snapshot *s, const draft *d)
{
    const trace_plain *state = &d->field[W_STATE];
    block b = {.state = TRACE_BLOCK_STATES, .has_requested = has(d, W_REQUESTED), .caller = caller_of(s, d)};

    if (state->kind != TRACE_PLAIN_TEXT) {
        fail(s, "'state' of a block is to be a text");
        return DSE_NONE;
    }
    if (state->id >= W_STATES && state->id < N_WORDS)
        b.state = (uint8_t)(state->id - W_STATES);
    else
        s->n_unknown_states++;
    if (d->address.kind == TRACE_PLAIN_INT)
        b.address = (uint64_t)d->address.v.integer;
    return take_optional(s, d, W_REQUESTED, "a block", &b.requested)
               ? new_id(s, IS_BLOCK, APPEND(s, blocks, b))
               : DSE_NONE;
}

static bool read_segment(snapshot *s, const draft *d, segment *g)
{
    static const char of[] = "a segment";
    const trace_plain *blocks = &d->field[W_BLOCKS];
    uint64_t device;

    if (!take_unsigned(s, d, W_TOTAL, of, &g->s.total_size) ||
        !take_unsigned(s, d, W_ALLOCATED, of, &g->s.allocated_size) ||
        !take_unsigned(s, d, W_ACTIVE, of, &g->s.active_size) ||
        !take_optional(s, d, W_REQUESTED, of, &g->s.requested_size) ||
        !take_unsigned(s, d, W_DEVICE, of, &device))
        return false;
    if (device >= DSE_NONE)
        return fail(s, "a segment of device %" PRIu64, device);
    if (has(d, W_BLOCKS) && blocks->kind != TRACE_PLAIN_LIST)
        return fail(s, "'blocks' of a segment is to be a list");
    g->s.device = (uint32_t)device;
    g->s.has_requested = has(d, W_REQUESTED);
    g->blocks = has(d, W_BLOCKS) ? blocks->id : DSE_NONE;
    return true;
}

static uint32_t close_segment(snapshot *s, const draft *d)
{
    segment g = {0};

    return read_segment(s, d, &g) ? new_id(s, IS_SEGMENT, APPEND(s, segments, g)) : DSE_NONE;
}

static trace_plain field_of(const draft *d, int word)
{
    return has(d, word) ? d->field[word] : (trace_plain){.kind = TRACE_PLAIN_NONE, .id = DSE_NONE};
}

static uint32_t close_root(snapshot *s, const draft *d)
{
    return new_id(
        s, IS_ROOT,
        APPEND(s, roots, (root){field_of(d, W_SEGMENTS), field_of(d, W_TRACES), field_of(d, W_SETTINGS)}));
}

/* Any other dictionary keeps its items. */
static uint32_t close_settings(snapshot *s, draft *d)
{
    uint32_t first = d->first;

    d->first = DSE_NONE;
    return new_id(s, IS_SETTINGS, APPEND(s, settings, first));
}

static uint32_t close_draft(snapshot *s, uint32_t at)
{
    draft *d = &s->drafts[at];
    uint32_t id = has(d, W_ACTION)                         ? close_entry(s, d)
                  : has(d, W_STATE)                        ? close_block(s, d)
                  : has(d, W_TOTAL)                        ? close_segment(s, d)
                  : has(d, W_SEGMENTS) || has(d, W_TRACES) ? close_root(s, d)
                  : d->file.kind == TRACE_PLAIN_TEXT       ? close_frame(s, d)
                  : d->forget                              ? DSE_NONE
                                                           : close_settings(s, d);

    if (d->first != DSE_NONE) {
        s->items[d->last].next = s->free_item;
        s->free_item = d->first;
    }
    d->link = s->free_draft;
    s->free_draft = at;
    return id;
}

static dse_status on_close(void *to, trace_plain_kind kind, uint32_t *mine, dse_error *err)
{
    snapshot *s = to;

    s->err = err;
    if (*mine != DSE_NONE)
        *mine = kind == TRACE_PLAIN_DICT ? close_draft(s, *mine) : new_id(s, IS_LIST, *mine);
    return s->status;
}

/* ---- the allocator --------------------------------------------------------------------------- */

/* Sets *n and *first to the items of a list, which may be used once. */
static bool use_list(snapshot *s, const trace_plain *v, const char *what, uint32_t *n, uint32_t *first)
{
    list *l;

    *n = 0;
    *first = DSE_NONE;
    if (v->kind == TRACE_PLAIN_LIST && v->id == DSE_NONE)
        return true;
    if (v->kind != TRACE_PLAIN_LIST || !is(v, IS_LIST))
        return fail(s, "%s is to be a list", what);
    l = &s->lists[v->id & INDEX_MASK];
    if (l->used)
        return fail(s, "%s stands in a second place", what);
    l->used = true;
    *n = l->n;
    *first = l->first;
    return true;
}

static bool sum_blocks(snapshot *s, const segment *g, trace_segment *to, trace_allocator *a)
{
    const trace_plain v = {.kind = TRACE_PLAIN_LIST, .id = g->blocks};
    uint32_t n, i;

    if (!use_list(s, &v, "the list of a segment's blocks", &n, &i))
        return false;
    for (; i != DSE_NONE; i = s->items[i].next) {
        const trace_plain *value = &s->items[i].value;
        const block *b;

        if (!is(value, IS_BLOCK))
            return fail(s, "a segment's blocks hold something else, without 'state'");
        b = &s->blocks[value->id & INDEX_MASK];
        to->has_requested &= b->has_requested;
        if (b->state == TRACE_BLOCK_STATES) {
            to->n_other_blocks++;
            continue;
        }
        to->n_blocks[b->state]++;
        to->requested[b->state] += b->requested;
        if (b->state != TRACE_ACTIVE_ALLOCATED || !b->address)
            continue;
        DSE_GROW(a->held, a->cap_held, a->n_held + 1);
        a->held[a->n_held++] = (trace_held){b->address, b->requested, to->device, b->caller};
    }
    return true;
}

static bool take_segments(snapshot *s, const root *r, trace_allocator *a)
{
    uint32_t n, i;

    if (!use_list(s, &r->segments, "'segments'", &n, &i))
        return false;
    DSE_GROW(a->segment, a->cap_segments, n);
    for (; i != DSE_NONE; i = s->items[i].next) {
        const trace_plain *v = &s->items[i].value;
        const segment *g;

        if (!is(v, IS_SEGMENT))
            return fail(s, "'segments' holds something else, without 'total_size'");
        g = &s->segments[v->id & INDEX_MASK];
        a->segment[a->n_segments] = g->s;
        if (!sum_blocks(s, g, &a->segment[a->n_segments++], a))
            return false;
    }
    return true;
}

static bool take_history(snapshot *s, const trace_plain *v, trace_history *to)
{
    uint32_t n, i;

    if (!use_list(s, v, "a device's list in 'device_traces'", &n, &i))
        return false;
    DSE_GROW(to->entry, to->cap, n);
    for (; i != DSE_NONE; i = s->items[i].next) {
        const trace_plain *e = &s->items[i].value;

        if (!is(e, IS_ENTRY))
            return fail(s, "'device_traces' holds something else, without 'action'");
        to->entry[to->n++] = s->entries[e->id & INDEX_MASK];
    }
    return true;
}

static bool take_histories(snapshot *s, const root *r, trace_allocator *a)
{
    uint32_t n, i;

    if (r->traces.kind == TRACE_PLAIN_NONE)
        return true;
    if (!use_list(s, &r->traces, "'device_traces'", &n, &i))
        return false;
    DSE_GROW(a->history, a->cap_histories, n);
    for (; i != DSE_NONE; i = s->items[i].next) {
        a->history[a->n_histories] = (trace_history){.device = (uint32_t)a->n_histories};
        if (!take_history(s, &s->items[i].value, &a->history[a->n_histories++]))
            return false;
    }
    return true;
}

/* ---- settings -------------------------------------------------------------------------------- */

static uint32_t copy_text(const snapshot *s, trace_rank *to, uint32_t id)
{
    return id == DSE_NONE ? DSE_NONE : trace_names_add(&to->names, s->names.text[id], s->names.length[id]);
}

static bool copy_setting(snapshot *s, trace_rank *to, uint32_t key, const trace_plain *v, int depth);

static bool copy_items(snapshot *s, trace_rank *to, uint32_t parent, uint32_t first, int depth)
{
    trace_allocator *a = to->allocator;
    uint32_t before = DSE_NONE;

    for (uint32_t i = first; i != DSE_NONE; i = s->items[i].next) {
        uint32_t at = (uint32_t)a->n_settings;

        if (!copy_setting(s, to, s->items[i].key, &s->items[i].value, depth + 1))
            return false;
        *(before == DSE_NONE ? &a->setting[parent].first : &a->setting[before].next) = at;
        before = at;
    }
    return true;
}

static const trace_setting_kind setting_kinds[] = {
    [TRACE_PLAIN_NONE] = TRACE_SETTING_NONE,    [TRACE_PLAIN_BOOL] = TRACE_SETTING_BOOL,
    [TRACE_PLAIN_INT] = TRACE_SETTING_INTEGER,  [TRACE_PLAIN_HUGE] = TRACE_SETTING_NONE,
    [TRACE_PLAIN_FLOAT] = TRACE_SETTING_NUMBER, [TRACE_PLAIN_TEXT] = TRACE_SETTING_TEXT,
    [TRACE_PLAIN_BYTES] = TRACE_SETTING_NONE,   [TRACE_PLAIN_TUPLE] = TRACE_SETTING_LIST,
    [TRACE_PLAIN_LIST] = TRACE_SETTING_LIST,    [TRACE_PLAIN_DICT] = TRACE_SETTING_MAP};

/* Recursion ends at MAX_DEPTH. */
static bool copy_setting(snapshot *s, trace_rank *to, uint32_t key, const trace_plain *v, int depth)
{
    trace_allocator *a = to->allocator;
    uint32_t at = (uint32_t)a->n_settings;
    trace_setting t = {.kind = setting_kinds[v->kind],
                       .key = copy_text(s, to, key),
                       .text = v->kind == TRACE_PLAIN_TEXT ? copy_text(s, to, v->id) : DSE_NONE,
                       .first = DSE_NONE,
                       .next = DSE_NONE};

    if (at == MAX_SETTINGS || depth == MAX_DEPTH)
        return fail(s, "'allocator_settings' holds more than %d values, or is nested deeper than %d",
                    MAX_SETTINGS, MAX_DEPTH);
    if (v->kind == TRACE_PLAIN_FLOAT)
        t.number = v->v.number;
    else if (v->kind == TRACE_PLAIN_INT || v->kind == TRACE_PLAIN_BOOL)
        t.integer = v->v.integer;
    DSE_GROW(a->setting, a->cap_settings, a->n_settings + 1);
    a->setting[a->n_settings++] = t;
    if (is(v, IS_SETTINGS))
        return copy_items(s, to, at, s->settings[v->id & INDEX_MASK], depth);
    return !is(v, IS_LIST) || copy_items(s, to, at, s->lists[v->id & INDEX_MASK].first, depth);
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool fill(snapshot *s, const trace_plain *top, trace_rank *rank)
{
    const root *r = is(top, IS_ROOT) ? &s->roots[top->id & INDEX_MASK] : NULL;

    if (!r || r->segments.kind == TRACE_PLAIN_NONE)
        return fail(s, "this is plain data, but no memory snapshot: it is no dictionary with 'segments'");
    rank->allocator->n_unknown_actions = s->n_unknown_actions;
    return take_segments(s, r, rank->allocator) && take_histories(s, r, rank->allocator) &&
           (r->settings.kind == TRACE_PLAIN_NONE || copy_setting(s, rank, DSE_NONE, &r->settings, 0));
}

static void add_rank(snapshot *s, const char *path, const trace_plain *top, trace_record *out)
{
    trace_rank *rank = trace_record_add_file(out, TRACE_SNAPSHOT, path);

    rank->allocator = dse_calloc(1, sizeof *rank->allocator);
    if (!fill(s, top, rank)) {
        if (s->err)
            dse_error_set_where(s->err, path);
        return;
    }
    if (s->n_unknown_actions)
        trace_warn(out, path, "%" PRIu64 " entries of the history have an action that is not known",
                   s->n_unknown_actions);
    if (s->n_unknown_states)
        trace_warn(out, path, "%" PRIu64 " blocks are in a state that is not known", s->n_unknown_states);
}

static void add_words(trace_names *names)
{
    for (uint32_t i = 0; i < N_WORDS; i++) {
        const char *word = i < W_ACTIONS  ? fields[i]
                           : i < W_STATES ? trace_action_name((trace_action)(i - W_ACTIONS))
                                          : trace_block_state_name((trace_block_state)(i - W_STATES));

        trace_names_add(names, word, strlen(word));
    }
}

dse_status trace_snapshot_parse(trace_snapshot_reader *read, trace_source *source, const char *path,
                                trace_record *out, dse_error *err)
{
    snapshot s = {.err = err, .free_draft = DSE_NONE, .free_item = DSE_NONE};
    trace_plain_listener to = {&s, &s.names, on_item, on_close};
    trace_plain top;

    add_words(&s.names);
    s.status = read(source, path, &to, &top, err);
    if (s.status == DSE_OK)
        add_rank(&s, path, &top, out);
    trace_names_free(&s.names);
    dse_free(s.drafts);
    dse_free(s.items);
    dse_free(s.lists);
    dse_free(s.entries);
    dse_free(s.blocks);
    dse_free(s.segments);
    dse_free(s.roots);
    dse_free(s.settings);
    dse_free(s.of_name);
    return s.status;
}

static dse_status parse_pickle(trace_source *source, const char *path, trace_record *out, dse_error *err)
{
    return trace_snapshot_parse(trace_pickle_read, source, path, out, err);
}

static dse_status parse_json(trace_source *source, const char *path, trace_record *out, dse_error *err)
{
    return trace_snapshot_parse(trace_snapshot_read_json, source, path, out, err);
}

/* A trace that contains a snapshot's keys has traceEvents before them. */
static bool is_json(const char *head, size_t n)
{
    const char *p = head + strspn(head, " \t\r\n");

    return n && *p == '{' && (strstr(p, "\"segments\"") || strstr(p, "\"device_traces\"")) &&
           !strstr(p, "\"traceEvents\"");
}

extern const trace_reader trace_reader_snapshot;
const trace_reader trace_reader_snapshot = {"snapshot", TRACE_FAMILY_SNAPSHOTS,
                                            "PyTorch memory snapshot (pickle)", trace_is_pickle,
                                            .stream = parse_pickle};

extern const trace_reader trace_reader_snapshot_json;
const trace_reader trace_reader_snapshot_json = {
    "snapshot_json", TRACE_FAMILY_SNAPSHOTS, "PyTorch memory snapshot (JSON)", is_json, .stream = parse_json};
