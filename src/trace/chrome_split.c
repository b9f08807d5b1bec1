/* A simulated timeline has all ranks in one file: each pid is a rank. */
#include "trace/chrome.h"

#include <inttypes.h>

/* The id that an id of the file has within a rank. It is valid only for the rank that it names, so no table
 * is cleared between ranks, of which there may be a hundred thousand. */
typedef struct {
    uint32_t rank; /* index + 1 */
    uint32_t id;
} moved;

/* The rank that is being moved out of the file's. */
typedef struct {
    const trace_rank *from;
    trace_rank *to;
    uint32_t rank; /* index + 1; 0: none yet */
    moved *name;   /* by name of `from` */
    moved *lane;   /* by lane of `from` */
    moved *args;   /* by args of `from` */
} mover;

static bool is_new(const mover *m, moved *v)
{
    bool other = v->rank != m->rank;

    v->rank = m->rank;
    return other;
}

static uint32_t move_name(mover *m, uint32_t id)
{
    if (id == DSE_NONE)
        return DSE_NONE;
    if (is_new(m, &m->name[id]))
        m->name[id].id = trace_names_add(&m->to->names, m->from->names.text[id], m->from->names.length[id]);
    return m->name[id].id;
}

static uint32_t move_lane(mover *m, uint32_t id)
{
    const trace_lane *lane = &m->from->lane[id];
    uint32_t pid = move_name(m, lane->pid), tid = move_name(m, lane->tid); /* names count in this order */
    uint32_t to = trace_add_lane(m->to, pid, tid);

    m->to->lane[to].process_name = move_name(m, lane->process_name);
    m->to->lane[to].thread = move_name(m, lane->thread);
    return to;
}

static uint32_t move_args(mover *m, uint32_t id)
{
    static const size_t names[] = {offsetof(trace_args, collective),   offsetof(trace_args, dtype),
                                   offsetof(trace_args, group_name),   offsetof(trace_args, group_desc),
                                   offsetof(trace_args, group_ranks),  offsetof(trace_args, kernel_class),
                                   offsetof(trace_args, hlo_category), offsetof(trace_args, long_name),
                                   offsetof(trace_args, shape)};
    trace_args a;

    if (id == DSE_NONE)
        return DSE_NONE;
    if (is_new(m, &m->args[id])) {
        memcpy(&a, &m->from->args[id], sizeof a); /* with its padding: see trace_add_args */
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            uint32_t *field = (uint32_t *)(void *)((char *)&a + names[i]);
            *field = move_name(m, *field);
        }
        m->args[id].id = trace_add_args(m->to, &a);
    }
    return m->args[id].id;
}

static void move_event(mover *m, const trace_event *e)
{
    trace_event v = *e;
    trace_rank *to = m->to;

    if (is_new(m, &m->lane[e->lane]))
        m->lane[e->lane].id = move_lane(m, e->lane);
    v.name = move_name(m, e->name);
    v.lane = m->lane[e->lane].id;
    v.args = move_args(m, e->args);
    v.word = (uint8_t)trace_add_word(to, move_name(m, m->from->word[e->word]));
    trace_add_event(to, &v);
    trace_extend(to, e->start_ps, e->start_ps + e->dur_ps, e->start_ps > 0 || m->from->base_ns > 0);
}

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

static void move_rank(mover *m, trace_record *to, const char *path, uint32_t number, const uint32_t *order,
                      size_t n)
{
    const trace_rank *from = m->from;

    m->rank++;
    m->to = trace_record_add_file(to, TRACE_SIMULATED, path);
    m->to->rank = number;
    m->to->has_rank = true;
    m->to->base_ns = from->base_ns;
    for (size_t i = 0; i < n; i++)
        move_event(m, &from->event[order[i]]);
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
    mover m = {.from = from,
               .name = dse_calloc(from->names.n, sizeof *m.name),
               .lane = dse_calloc(from->n_lanes, sizeof *m.lane),
               .args = dse_calloc(from->n_args, sizeof *m.args)};
    uint32_t n = ranks_of_lanes(from, rank, pid);

    sort_by_rank(from, rank, n, start, order);
    for (uint32_t k = 0; k < n; k++) {
        move_rank(&m, to, path, pid[k], order + start[k], start[k + 1] - start[k]);
        set_run_facts(r, m.to);
    }
    if (start[n] < from->n_events)
        trace_warn(to, path,
                   "events of a simulated run left out because their pid is no number of a rank: %zu",
                   from->n_events - start[n]);
    dse_free(m.name);
    dse_free(m.lane);
    dse_free(m.args);
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
