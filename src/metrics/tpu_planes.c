#include "metrics/tpu_planes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define PLANE "/device:TPU:"

/* A file may name a process on one of its lanes only. */
static const char *process_of(const trace_rank *r, uint32_t lane)
{
    const char *name = TRACE_NAME(r, r->lane[lane].process_name);

    for (uint32_t i = 0; i < r->n_lanes && !name; i++)
        if (r->lane[i].pid == r->lane[lane].pid)
            name = TRACE_NAME(r, r->lane[i].process_name);
    return name;
}

bool *tpu_device_lanes(const trace_rank *r, dse_arena *a)
{
    bool *is = DSE_ARENA_NEW(a, bool, (size_t)r->n_lanes + 1), any = false;

    for (uint32_t i = 0; is && i < r->n_lanes; i++) {
        const char *process = process_of(r, i);

        is[i] = process && strstr(process, PLANE);
        any = any || is[i];
    }
    for (uint32_t i = 0; is && !any && i < r->n_lanes; i++)
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

static uint32_t device_at(tpu_rank *out, uint32_t pid, uint32_t number)
{
    for (uint32_t i = out->n; i-- > 0;)
        if (out->device[i].pid == pid)
            return i;
    out->device[out->n] = (tpu_device){.number = number, .pid = pid};
    return out->n++;
}

static bool is_line(const trace_rank *r, uint32_t lane, const char *name)
{
    const char *thread = TRACE_NAME(r, r->lane[lane].thread);

    return name ? thread && strcmp(thread, name) == 0 : !thread;
}

/* The lanes of device planes: those called "XLA Ops"; of a plane that names no line, all. */
static void find_planes(const trace_rank *r, tpu_rank *out, tpu_lanes *lanes)
{
    for (uint32_t i = 0; i < r->n_lanes; i++) {
        uint32_t number = plane_number(process_of(r, i));
        bool named = false;

        if (number == DSE_NONE)
            continue;
        for (uint32_t j = 0; j < r->n_lanes && !named; j++)
            named = r->lane[j].pid == r->lane[i].pid && !is_line(r, j, NULL);
        if (!is_line(r, i, named ? "XLA Ops" : NULL))
            continue;
        lanes->device[i] = device_at(out, r->lane[i].pid, number);
        lanes->line[i] = named ? i : r->n_lanes + lanes->device[i];
    }
}

/* Without planes: processes with events that say how long they took on a device. What their lines are is unknown, so
 * what holds another event of the process is no leaf. */
static void find_processes(const trace_rank *r, tpu_rank *out, tpu_lanes *lanes)
{
    for (size_t i = 0; i < r->n_events; i++) {
        uint32_t lane = r->event[i].lane;

        if (lanes->device[lane] != DSE_NONE || trace_device_time_of(r, i).dur_ps < 0)
            continue;
        lanes->device[lane] = device_at(out, r->lane[lane].pid, out->n);
        lanes->line[lane] = r->n_lanes + lanes->device[lane];
    }
}

static int by_number(const void *a, const void *b)
{
    const tpu_device *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

/* Puts the devices into order; their places in the lanes change with them. */
static void sort_devices(const trace_rank *r, tpu_rank *out, tpu_lanes *lanes)
{
    if (out->n)
        qsort(out->device, out->n, sizeof *out->device, by_number);
    for (uint32_t i = 0; i < r->n_lanes; i++)
        if (lanes->device[i] != DSE_NONE) {
            lanes->device[i] = device_at(out, r->lane[i].pid, 0);
            if (lanes->line[i] >= r->n_lanes)
                lanes->line[i] = r->n_lanes + lanes->device[i];
        }
}

bool tpu_lanes_find(const trace_rank *r, dse_arena *a, dse_arena *scratch, tpu_rank *out, tpu_lanes *lanes)
{
    lanes->device = DSE_ARENA_NEW(scratch, uint32_t, (size_t)r->n_lanes + 1);
    lanes->line = DSE_ARENA_NEW(scratch, uint32_t, (size_t)r->n_lanes + 1);
    out->device = DSE_ARENA_NEW(a, tpu_device, (size_t)r->n_lanes + 1);
    if (!lanes->device || !lanes->line || !out->device)
        return false;
    memset(lanes->device, 0xff, r->n_lanes * sizeof *lanes->device);
    find_planes(r, out, lanes);
    lanes->timed_only = !out->n && r->device_time;
    if (lanes->timed_only)
        find_processes(r, out, lanes);
    sort_devices(r, out, lanes);
    return true;
}
