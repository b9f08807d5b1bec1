#include "metrics/later_tpu.h"

#include "trace/pairs.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const metric_pick collectives = METRIC_PICK(
    0, {.names = "^all-reduce$|^allreduce$|^all_reduce$|^all-gather$|^allgather$|^all_gather$|^all-to-all$|"
                 "^alltoall$|^reduce-scatter$|^reducescatter$|^reduce_scatter$|^collective-permute$|"
                 "^collective-permute-start$|^collective-permute-done$|^send$|^recv$|^broadcast$"});

bool *later_tpu_lanes(const trace_rank *r, dse_arena *a)
{
    bool *is = DSE_ARENA_NEW(a, bool, (size_t)r->n_lanes + 1), any = false;

    for (uint32_t i = 0; i < r->n_lanes; i++) {
        is[i] = strstr(tpu_process_of(r, i), TPU_PLANE) != NULL;
        any = any || is[i];
    }
    for (uint32_t i = 0; !any && i < r->n_lanes; i++)
        is[i] = true;
    return is;
}

later_tpu later_tpu_of(const metric_context *x)
{
    const trace_rank *r = &x->record->rank[0];

    return (later_tpu){r, later_tpu_lanes(r, x->arena), metric_picker_of(r, &collectives, x->arena)};
}

bool later_tpu_communicates(later_tpu *t, const trace_event *e)
{
    uint32_t category = e->args == DSE_NONE ? DSE_NONE : t->rank->args[e->args].hlo_category;

    return (metric_picker_rows(&t->collectives, e->name) | metric_picker_rows(&t->collectives, category)) !=
           0;
}

/* ---- copies -------------------------------------------------------------------------------- */

/* By strstr, since all names of a file are asked for each device. */
static bool starts_copy(const char *name) { return strstr(name, "copy-start") != NULL; }
static bool ends_copy(const char *name) { return strstr(name, "copy-done") != NULL; }

enum { COPY_START, COPY_DONE };
static const metric_pick copying =
    METRIC_PICK(0, {COPY_START, .is = starts_copy}, {COPY_DONE, .is = ends_copy});

/* The number behind copy-start.<n> or copy-done.<n>, whichever the word is, anywhere in a name. */
enum { NO_NUMBER = -1, UNREADABLE = -2 };
static int64_t number_of(const char *name, const char *word)
{
    const size_t n = strlen(word);

    for (const char *at = strstr(name, word); at; at = strstr(at + 1, word))
        if (at[n] == '.' && isdigit((unsigned char)at[n + 1])) {
            const unsigned long number = strtoul(at + n + 1, NULL, 10);

            return number < DSE_NONE - 1 ? (int64_t)number : UNREADABLE;
        }
    return NO_NUMBER;
}

/* bytes_accessed, else raw_bytes_accessed; 0: neither. */
static double accessed(const trace_args *a)
{
    const uint64_t bytes = !a                                   ? 0
                           : a->bytes_accessed != TRACE_UNKNOWN ? a->bytes_accessed
                                                                : a->raw_bytes_accessed;

    return bytes == TRACE_UNKNOWN ? 0 : (double)bytes;
}

later_copies later_copies_of(const metric_context *x, const later_copiers *by)
{
    const trace_rank *r = by->rank;
    metric_picked p = metric_pick_of(r, NULL, &copying, metric_scratch(x));
    later_copies all = {0, DSE_ARENA_NEW(x->arena, later_copy, p.list.n)};
    trace_pairs waiting = {0}; /* by number: the start that waits for its done */

    for (uint32_t i = 0; i < p.list.n; i++) {
        const trace_event *e = metric_picked_at(&p, i);
        const int64_t number = number_of(METRIC_TEXT_OF(r, e),
                                         p.class[i] == COPY_DONE ? "copy-done" : "copy-start"),
                      at = trace_device_time_of(r, p.list.event[i]).offset_ps;
        uint32_t *start;
        bool is_new;

        if (at < 0 || number < (by->bare ? NO_NUMBER : 0) || (by->lane && !by->lane[e->lane]) ||
            (by->pid != DSE_NONE && r->lane[e->lane].pid != by->pid))
            continue;
        start = trace_pairs_at(&waiting, number, 0, &is_new);
        if (p.class[i] == COPY_DONE && *start != DSE_NONE)
            all.copy[all.n++] = (later_copy){{trace_device_time_of(r, *start).offset_ps, at},
                                             accessed(metric_args_of(r, &r->event[*start]))};
        *start = p.class[i] == COPY_DONE ? DSE_NONE : p.list.event[i];
    }
    trace_pairs_free(&waiting);
    return all;
}
