#include "metrics/later_tpu.h"
#include "metrics/tpu_planes.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_collective(const char *text)
{
    static const char *const names[] = {"all-reduce",
                                        "allreduce",
                                        "all_reduce",
                                        "all-gather",
                                        "allgather",
                                        "all_gather",
                                        "all-to-all",
                                        "alltoall",
                                        "reduce-scatter",
                                        "reducescatter",
                                        "reduce_scatter",
                                        "collective-permute",
                                        "collective-permute-start",
                                        "collective-permute-done",
                                        "send",
                                        "recv",
                                        "broadcast"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(text, names[i]) == 0)
            return true;
    return false;
}

/* 1 no, 2 yes; of names and categories alike. */
static bool says(later_tpu *t, uint32_t name)
{
    if (name == DSE_NONE)
        return false;
    if (!t->said[name])
        t->said[name] = is_collective(t->rank->names.text[name]) ? 2 : 1;
    return t->said[name] == 2;
}

later_tpu later_tpu_of(const metric_context *x)
{
    const trace_rank *r = &x->record->rank[0];
    later_tpu t = {.rank = r, .lane = tpu_device_lanes(r, x->arena)};

    t.said = DSE_ARENA_NEW(x->arena, uint8_t, (size_t)r->names.n + 1);
    t.total = DSE_ARENA_NEW(x->arena, double, (size_t)r->n_lanes + 1);
    t.comm = DSE_ARENA_NEW(x->arena, double, (size_t)r->n_lanes + 1);
    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];
        double s = later_tpu_ps(&t, i) / TRACE_PS_PER_S;

        if (!later_tpu_has(&t, e) || !(s > 0))
            continue;
        t.total[e->lane] += s;
        if (says(&t, e->name) || (e->args != DSE_NONE && says(&t, r->args[e->args].hlo_category)))
            t.comm[e->lane] += s;
    }
    return t;
}

/* ---- copies -------------------------------------------------------------------------------- */

#define NO_NUMBER (DSE_NONE - 1)

/* The number of copy-start.<n> (done: copy-done.<n>) anywhere in a name; NO_NUMBER of the bare word;
 * DSE_NONE. */
static uint32_t number_of(const char *name, bool done)
{
    const char *word = done ? "copy-done" : "copy-start", *at = strstr(name, word);
    size_t n = strlen(word);
    unsigned long number;

    if (!at)
        return DSE_NONE;
    while (at && !(at[n] == '.' && isdigit((unsigned char)at[n + 1])))
        at = strstr(at + 1, word);
    if (!at)
        return NO_NUMBER;
    number = strtoul(at + n + 1, NULL, 10);
    return number < NO_NUMBER ? (uint32_t)number : DSE_NONE;
}

/* bytes_accessed, else raw_bytes_accessed; NaN: neither. */
static double accessed(const trace_rank *r, const trace_event *e)
{
    const trace_args *a = metric_args_of(r, e);

    if (a && a->bytes_accessed != TRACE_UNKNOWN)
        return (double)a->bytes_accessed;
    return a && a->raw_bytes_accessed != TRACE_UNKNOWN ? (double)a->raw_bytes_accessed : (double)NAN;
}

typedef struct {
    uint32_t number; /* DSE_NONE: an empty slot */
    uint32_t event;  /* the start that waits for its done; DSE_NONE: none does */
} waiting;

/* The numbers of copies by name, and a table of the starts by number. There are at most as many starts as
 * names, so the table is at most half full. */
typedef struct {
    size_t n_slots;
    waiting *slot;
    uint32_t *start, *done; /* by name */
} copy_names;

static void copy_names_init(const trace_rank *r, dse_arena *a, copy_names *c)
{
    c->n_slots = 2 * (size_t)r->names.n + 1;
    c->slot = DSE_ARENA_NEW(a, waiting, c->n_slots);
    c->start = DSE_ARENA_NEW(a, uint32_t, (size_t)r->names.n + 1);
    c->done = DSE_ARENA_NEW(a, uint32_t, (size_t)r->names.n + 1);
    memset(c->slot, 0xff, c->n_slots * sizeof *c->slot);
    for (uint32_t i = 0; i < r->names.n; i++) {
        c->start[i] = number_of(r->names.text[i], false);
        c->done[i] = number_of(r->names.text[i], true);
    }
}

static waiting *slot_of(copy_names *c, uint32_t number)
{
    size_t at = number % c->n_slots;

    while (c->slot[at].number != DSE_NONE && c->slot[at].number != number)
        at = (at + 1) % c->n_slots;
    return &c->slot[at];
}

static bool is_wanted(const later_copies *w, uint32_t number)
{
    return number != DSE_NONE && (w->bare || number != NO_NUMBER);
}

static bool is_on(const later_copies *w, size_t event)
{
    const trace_event *e = &w->rank->event[event];

    return !e->instant && e->name != DSE_NONE && (!w->lane || w->lane[e->lane]) &&
           (w->pid == DSE_NONE || w->rank->lane[e->lane].pid == w->pid) &&
           trace_device_time_of(w->rank, event).offset_ps >= 0;
}

static void find_copies(const later_copies *which, dse_arena *scratch, dse_arena *a, later_copy **out,
                        size_t *n)
{
    const trace_rank *r = which->rank;
    size_t most = 0;
    copy_names c;

    copy_names_init(r, scratch, &c);
    for (size_t i = 0; i < r->n_events; i++)
        most += is_on(which, i) && c.done[r->event[i].name] != DSE_NONE;
    *out = DSE_ARENA_NEW(a, later_copy, most);
    for (size_t i = 0; most && i < r->n_events; i++) {
        uint32_t name = r->event[i].name;
        waiting *slot;

        if (!is_on(which, i))
            continue;
        if (is_wanted(which, c.start[name])) {
            slot = slot_of(&c, c.start[name]);
            *slot = (waiting){c.start[name], (uint32_t)i};
        } else if (is_wanted(which, c.done[name])) {
            slot = slot_of(&c, c.done[name]);
            if (slot->number == DSE_NONE || slot->event == DSE_NONE)
                continue;
            (*out)[(*n)++] =
                (later_copy){{r->device_time[slot->event].offset_ps, r->device_time[i].offset_ps},
                             accessed(r, &r->event[slot->event])};
            slot->event = DSE_NONE;
        }
    }
}

/* The tables are as large as the file and are built once per device, so they are freed each time. */
void later_copies_find(const metric_context *x, const later_copies *which, later_copy **out, size_t *n)
{
    dse_arena scratch;

    *n = 0;
    dse_arena_init(&scratch);
    find_copies(which, &scratch, x->arena, out, n);
    dse_arena_free(&scratch);
}
