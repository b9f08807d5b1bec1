#include "trace/mover.h"

#include "base/array.h"

#include <string.h>

/* The id that an id of the file has within a rank. It is valid only for the rank that it names, so no table
 * is cleared between ranks, of which there may be a hundred thousand. */
struct trace_moved {
    uint32_t rank; /* index + 1 */
    uint32_t id;
};

static bool is_new(const trace_mover *m, trace_moved *v)
{
    bool other = v->rank != m->rank;

    v->rank = m->rank;
    return other;
}

static uint32_t move_name(trace_mover *m, uint32_t id)
{
    if (id == DSE_NONE)
        return DSE_NONE;
    if (is_new(m, &m->name[id]))
        m->name[id].id = trace_names_add(&m->to->names, m->from->names.text[id], m->from->names.length[id]);
    return m->name[id].id;
}

static uint32_t move_lane(trace_mover *m, uint32_t id)
{
    const trace_lane *lane = &m->from->lane[id];
    uint32_t pid = move_name(m, lane->pid), tid = move_name(m, lane->tid); /* names count in this order */
    uint32_t to = trace_add_lane(m->to, pid, tid);

    m->to->lane[to].process_name = move_name(m, lane->process_name);
    m->to->lane[to].thread = move_name(m, lane->thread);
    return to;
}

static uint32_t move_args(trace_mover *m, uint32_t id)
{
    static const size_t names[] = {offsetof(trace_args, collective),   offsetof(trace_args, dtype),
                                   offsetof(trace_args, group_name),   offsetof(trace_args, group_desc),
                                   offsetof(trace_args, group_ranks),  offsetof(trace_args, kernel_class),
                                   offsetof(trace_args, hlo_category), offsetof(trace_args, long_name),
                                   offsetof(trace_args, shape),        offsetof(trace_args, input_dims),
                                   offsetof(trace_args, input_types)};
    trace_args a;

    if (id == DSE_NONE)
        return DSE_NONE;
    if (is_new(m, &m->args[id])) {
        memcpy(&a, &m->from->args[id], sizeof a); /* with its padding: see trace_add_args */
        for (size_t i = 0; i < DSE_COUNT(names); i++) {
            uint32_t *field = (uint32_t *)(void *)((char *)&a + names[i]);
            *field = move_name(m, *field);
        }
        m->args[id].id = trace_add_args(m->to, &a);
    }
    return m->args[id].id;
}

trace_mover trace_mover_of(const trace_rank *from)
{
    return (trace_mover){.from = from,
                         .name = dse_calloc(from->names.n, sizeof(trace_moved)),
                         .lane = dse_calloc(from->n_lanes, sizeof(trace_moved)),
                         .args = dse_calloc(from->n_args, sizeof(trace_moved))};
}

void trace_mover_free(trace_mover *m)
{
    dse_free(m->name);
    dse_free(m->lane);
    dse_free(m->args);
}

void trace_mover_begin(trace_mover *m, trace_record *to, trace_kind kind, const char *path, uint32_t number)
{
    m->rank++;
    m->to = trace_record_add_file(to, kind, path);
    m->to->rank = number;
    m->to->has_rank = true;
    m->to->base_ns = m->from->base_ns;
}

void trace_mover_add(trace_mover *m, const trace_event *e, trace_category category)
{
    trace_event v = *e;
    trace_rank *to = m->to;

    if (is_new(m, &m->lane[e->lane]))
        m->lane[e->lane].id = move_lane(m, e->lane);
    v.name = move_name(m, e->name);
    v.lane = m->lane[e->lane].id;
    v.args = move_args(m, e->args);
    v.word = (uint8_t)trace_add_word(to, move_name(m, m->from->word[e->word]));
    v.category = (uint8_t)category;
    trace_add_event(to, &v);
    trace_extend(to, e->start_ps, e->start_ps + e->dur_ps, e->start_ps > 0 || m->from->base_ns > 0);
}
