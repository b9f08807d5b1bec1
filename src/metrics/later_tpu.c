#include "metrics/later_tpu.h"
#include "metrics/tpu_planes.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const metric_pick collectives = METRIC_PICK(
    0, {.names = "^all-reduce$|^allreduce$|^all_reduce$|^all-gather$|^allgather$|^all_gather$|^all-to-all$|"
                 "^alltoall$|^reduce-scatter$|^reducescatter$|^reduce_scatter$|^collective-permute$|"
                 "^collective-permute-start$|^collective-permute-done$|^send$|^recv$|^broadcast$"});

later_tpu later_tpu_of(const metric_context *x)
{
    const trace_rank *r = &x->record->rank[0];

    return (later_tpu){r, tpu_device_lanes(r, x->arena), metric_picker_of(r, &collectives, x->arena)};
}

bool later_tpu_communicates(later_tpu *t, const trace_event *e)
{
    uint32_t category = e->args == DSE_NONE ? DSE_NONE : t->rank->args[e->args].hlo_category;

    return (metric_picker_rows(&t->collectives, e->name) | metric_picker_rows(&t->collectives, category)) !=
           0;
}

/* ---- copies -------------------------------------------------------------------------------- */

/* The number behind copy-start.<n> (done: copy-done.<n>) anywhere in a name, as text: "" of the bare word;
 * false: it is no such name. */
static bool number_of(const char *name, bool done, char text[24])
{
    const char *word = done ? "copy-done" : "copy-start", *at = strstr(name, word);
    size_t n = strlen(word);
    unsigned long number;

    if (!at)
        return false;
    while (at && !(at[n] == '.' && isdigit((unsigned char)at[n + 1])))
        at = strstr(at + 1, word);
    number = at ? strtoul(at + n + 1, NULL, 10) : 0;
    *text = '\0';
    if (at)
        snprintf(text, 24, "%lu", number);
    return number < DSE_NONE - 1;
}

/* bytes_accessed, else raw_bytes_accessed; NaN: neither. */
static double accessed(const trace_rank *r, const trace_event *e)
{
    const trace_args *a = metric_args_of(r, e);

    if (a && a->bytes_accessed != TRACE_UNKNOWN)
        return (double)a->bytes_accessed;
    return a && a->raw_bytes_accessed != TRACE_UNKNOWN ? (double)a->raw_bytes_accessed : (double)NAN;
}

/* By name what number of copy it starts and ends, DSE_NONE: none; by number the start that waits for its
 * done. */
typedef struct {
    uint32_t *copy[2];
    uint32_t *waiting;
} copy_names;

static void copy_names_init(const later_copies *which, dse_arena *a, copy_names *c)
{
    const trace_names *all = &which->rank->names;
    trace_names numbers = {0};
    char text[24];

    for (int done = 0; done < 2; done++) {
        c->copy[done] = DSE_ARENA_NEW(a, uint32_t, (size_t)all->n + 1);
        for (uint32_t i = 0; i < all->n; i++)
            c->copy[done][i] = number_of(all->text[i], done, text) && (which->bare || *text)
                                   ? trace_names_add(&numbers, text, strlen(text))
                                   : DSE_NONE;
    }
    c->waiting = DSE_ARENA_NEW(a, uint32_t, numbers.n);
    memset(c->waiting, 0xff, numbers.n * sizeof *c->waiting);
    trace_names_free(&numbers);
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

    copy_names_init(which, scratch, &c);
    for (size_t i = 0; i < r->n_events; i++)
        most += is_on(which, i) && c.copy[1][r->event[i].name] != DSE_NONE;
    *out = DSE_ARENA_NEW(a, later_copy, most);
    for (size_t i = 0; most && i < r->n_events; i++) {
        uint32_t name = r->event[i].name, start, done;

        if (!is_on(which, i))
            continue;
        start = c.copy[0][name];
        done = c.copy[1][name];
        if (start != DSE_NONE) {
            c.waiting[start] = (uint32_t)i;
        } else if (done != DSE_NONE && c.waiting[done] != DSE_NONE) {
            (*out)[(*n)++] =
                (later_copy){{r->device_time[c.waiting[done]].offset_ps, r->device_time[i].offset_ps},
                             accessed(r, &r->event[c.waiting[done]])};
            c.waiting[done] = DSE_NONE;
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
