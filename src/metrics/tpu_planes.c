#include "metrics/tpu_planes.h"

#include "metrics/order.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define PLANE "/device:TPU:"

static const char *process_of(const trace_rank *r, uint32_t lane)
{
    return TRACE_NAME(r, r->lane[lane].process_name);
}

bool *tpu_device_lanes(const trace_rank *r, dse_arena *a)
{
    bool *is = DSE_ARENA_NEW(a, bool, (size_t)r->n_lanes + 1), any = false;

    for (uint32_t i = 0; i < r->n_lanes; i++) {
        const char *process = process_of(r, i);

        is[i] = process && strstr(process, PLANE);
        any = any || is[i];
    }
    for (uint32_t i = 0; !any && i < r->n_lanes; i++)
        is[i] = true;
    return is;
}

/* k of exactly "/device:TPU:<k>"; DSE_NONE. */
static uint32_t plane_number(const char *process)
{
    const char *s;
    char *end;
    unsigned long n;

    if (!process || strncmp(process, PLANE, strlen(PLANE)) != 0)
        return DSE_NONE;
    s = process + strlen(PLANE);
    n = strtoul(s, &end, 10);
    return isdigit((unsigned char)*s) && !*end && n < DSE_NONE ? (uint32_t)n : DSE_NONE;
}

/* By pid, which is a name id: a process's place among the devices or DSE_NONE, and whether it names its
 * lines. There may be as many processes as events. */
typedef struct {
    uint32_t *place;
    bool *named;
} by_pid;

/* A missing pid has the place after all others. */
static uint32_t pid_of(const trace_rank *r, uint32_t lane)
{
    return r->lane[lane].pid == DSE_NONE ? r->names.n : r->lane[lane].pid;
}

static uint32_t device_at(const trace_rank *r, uint32_t lane, by_pid *p, tpu_lanes *lanes, uint32_t number)
{
    uint32_t *place = &p->place[pid_of(r, lane)];

    if (*place == DSE_NONE) {
        *place = lanes->n++;
        lanes->plane[*place] = (tpu_plane){number, r->lane[lane].pid};
    }
    return *place;
}

static bool is_line(const trace_rank *r, uint32_t lane, const char *name)
{
    const char *thread = TRACE_NAME(r, r->lane[lane].thread);

    return name ? thread && strcmp(thread, name) == 0 : !thread;
}

/* The lanes of device planes: those called "XLA Ops"; of a plane that names no line, all. */
static void find_planes(const trace_rank *r, by_pid *p, tpu_lanes *lanes)
{
    for (uint32_t i = 0; i < r->n_lanes; i++)
        p->named[pid_of(r, i)] = p->named[pid_of(r, i)] || !is_line(r, i, NULL);
    for (uint32_t i = 0; i < r->n_lanes; i++) {
        uint32_t number = plane_number(process_of(r, i));
        bool named = p->named[pid_of(r, i)];

        if (number == DSE_NONE || !is_line(r, i, named ? "XLA Ops" : NULL))
            continue;
        lanes->device[i] = device_at(r, i, p, lanes, number);
        lanes->line[i] = named ? i : r->n_lanes + lanes->device[i];
    }
}

/* Without planes: processes with events that have a device duration. Their lines are unknown, so an event
 * that holds another event of the process is no leaf. */
static void find_processes(const trace_rank *r, by_pid *p, tpu_lanes *lanes)
{
    for (size_t i = 0; i < r->n_events; i++) {
        uint32_t lane = r->event[i].lane;

        if (lanes->device[lane] != DSE_NONE || trace_device_time_of(r, i).dur_ps < 0)
            continue;
        lanes->device[lane] = device_at(r, lane, p, lanes, lanes->n);
        lanes->line[lane] = r->n_lanes + lanes->device[lane];
    }
}

METRIC_COMPARE(by_number, tpu_plane, {x->number, y->number})

/* Sorts the devices by number, and changes their places in the lanes accordingly. */
static void sort_planes(const trace_rank *r, by_pid *p, tpu_lanes *lanes)
{
    qsort(lanes->plane, lanes->n, sizeof *lanes->plane, by_number);
    for (uint32_t i = 0; i < lanes->n; i++)
        p->place[lanes->plane[i].pid == DSE_NONE ? r->names.n : lanes->plane[i].pid] = i;
    for (uint32_t i = 0; i < r->n_lanes; i++)
        if (lanes->device[i] != DSE_NONE) {
            lanes->device[i] = p->place[pid_of(r, i)];
            if (lanes->line[i] >= r->n_lanes)
                lanes->line[i] = r->n_lanes + lanes->device[i];
        }
}

tpu_lanes tpu_lanes_of(const trace_rank *r, dse_arena *a)
{
    by_pid p = {DSE_ARENA_NEW(a, uint32_t, (size_t)r->names.n + 1),
                DSE_ARENA_NEW(a, bool, (size_t)r->names.n + 1)};
    tpu_lanes lanes = {.plane = DSE_ARENA_NEW(a, tpu_plane, r->n_lanes),
                       .device = DSE_ARENA_NEW(a, uint32_t, r->n_lanes),
                       .line = DSE_ARENA_NEW(a, uint32_t, r->n_lanes)};

    memset(p.place, 0xff, ((size_t)r->names.n + 1) * sizeof *p.place);
    memset(lanes.device, 0xff, r->n_lanes * sizeof *lanes.device);
    find_planes(r, &p, &lanes);
    lanes.timed_only = !lanes.n && r->device_time;
    if (lanes.timed_only)
        find_processes(r, &p, &lanes);
    sort_planes(r, &p, &lanes);
    return lanes;
}
