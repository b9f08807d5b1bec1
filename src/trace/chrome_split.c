/* A simulated timeline has all ranks in one file: each pid is a rank. */
#include "trace/chrome.h"
#include "trace/mover.h"

#include <inttypes.h>

/* The rank of each lane; DSE_NONE: its pid is no number. Ranks count in the order of their first lane;
 * returns how many. */
static uint32_t ranks_of_lanes(const trace_rank *from, uint32_t *rank, uint32_t *pid)
{
    uint32_t *by_name = dse_realloc(NULL, from->names.n * sizeof *by_name), n = 0;

    memset(by_name, 0xff, from->names.n * sizeof *by_name);
    for (uint32_t i = 0; i < from->n_lanes; i++) {
        uint32_t name = from->lane[i].pid;

        rank[i] = DSE_NONE;
        if (name == DSE_NONE)
            continue;
        if (by_name[name] == DSE_NONE) {
            uint64_t number = trace_whole_of(from->names.text[name], from->names.length[name], DSE_NONE - 1);

            if (number == UINT64_MAX)
                continue;
            by_name[name] = n;
            pid[n++] = (uint32_t)number;
        }
        rank[i] = by_name[name];
    }
    dse_free(by_name);
    return n;
}

/* Sorts the events of the file by rank: order[start[k]..start[k + 1]) are those of rank k. */
static void sort_by_rank(const trace_rank *from, const uint32_t *rank_of_lane, uint32_t n, size_t *start,
                         uint32_t *order)
{
    for (size_t i = 0; i < from->n_events; i++)
        if (rank_of_lane[from->event[i].lane] != DSE_NONE)
            start[rank_of_lane[from->event[i].lane] + 2]++;
    for (uint32_t k = 0; k < n; k++)
        start[k + 2] += start[k + 1];
    for (size_t i = 0; i < from->n_events; i++)
        if (rank_of_lane[from->event[i].lane] != DSE_NONE)
            order[start[rank_of_lane[from->event[i].lane] + 1]++] = (uint32_t)i;
}

/* Sets what the file gives for each rank beside its events. */
static void set_run_facts(const chrome_reader *r, trace_rank *to)
{
    to->world_size = r->world_size;
    to->in_elements = !r->in_bytes;
    to->peak_memory = to->rank < r->n_peaks ? r->peak[to->rank] : TRACE_UNKNOWN;
}

static void split(const chrome_reader *r, trace_record *to, const char *path)
{
    const trace_rank *from = &r->record->rank[0];
    uint32_t *rank = dse_realloc(NULL, from->n_lanes * sizeof *rank);
    uint32_t *pid = dse_realloc(NULL, from->n_lanes * sizeof *pid);
    uint32_t *order = dse_realloc(NULL, from->n_events * sizeof *order);
    size_t *start = dse_calloc((size_t)from->n_lanes + 3, sizeof *start);
    trace_mover m = trace_mover_of(from);
    uint32_t n = ranks_of_lanes(from, rank, pid);

    sort_by_rank(from, rank, n, start, order);
    for (uint32_t k = 0; k < n; k++) {
        trace_mover_begin(&m, to, TRACE_SIMULATED, path, pid[k]);
        for (size_t i = start[k]; i < start[k + 1]; i++)
            trace_mover_add(&m, &from->event[order[i]], (trace_category)from->event[order[i]].category);
        set_run_facts(r, m.to);
    }
    if (start[n] < from->n_events)
        trace_warn(to, path,
                   "events of a simulated run left out because their pid is no number of a rank: %zu",
                   from->n_events - start[n]);
    trace_mover_free(&m);
    dse_free(rank);
    dse_free(pid);
    dse_free(order);
    dse_free(start);
}

void chrome_split_ranks(const chrome_reader *r, const char *path)
{
    trace_record *record = r->record;
    trace_record ranks = {0};

    split(r, &ranks, path);
    for (size_t i = 0; i < record->n_warnings; i++)
        trace_warn(&ranks, NULL, "%s", record->warning[i].text);
    trace_record_free(record);
    *record = ranks;
}
