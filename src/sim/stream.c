/* Chunks: cutting a collective into streams, and moving streams from phase to phase.
 *
 * Source: Sys::generate_collective, proceed_to_next_vnet_baseline and SchedulerUnit of the reference. There a
 * scheduling policy orders the streams that wait in a queue by the priority of their collective. As a rank
 * runs one collective at a time, all waiting streams have the same priority: LIFO, FIFO and EXPLICIT all mean
 * first come first served. */
#include "sim/stream.h"
#include "sim/engine.h"
#include "sim/lockstep.h"

#include <inttypes.h>
#include <string.h>

#define MAX_CHUNKS 65536u

/* ---- pool ---------------------------------------------------------------------------------- */

sim_stream *sim_stream_at(sim_engine *e, uint32_t id)
{
    return (sim_stream *)(void *)(e->streams + (size_t)id * e->stream_stride);
}

static sim_stream *new_stream(sim_engine *e)
{
    uint32_t id = dse_slot_take((void **)&e->streams, &e->cap_streams, &e->n_streams, &e->free_stream,
                                e->stream_stride, offsetof(sim_stream, next));
    sim_stream *s = sim_stream_at(e, id);

    memset(s, 0, sizeof *s);
    s->id = id;
    return s;
}

static void free_stream(sim_engine *e, sim_stream *s)
{
    s->next = e->free_stream;
    e->free_stream = s->id;
}

/* ---- lanes: a queue of one dimension on one rank ------------------------------------------- */

static void lane_append(sim_engine *e, sim_stream *s)
{
    dse_list_add(&e->rank[s->rank].lane[sim_stream_phase(s)->lane].waiting, e->streams, s->id,
                 e->stream_stride, offsetof(sim_stream, next));
}

/* Detects chunks of several phases in one tick, after lane_append and lane_start; see lockstep.c. */
static void lane_came(sim_engine *e, uint32_t rank, uint32_t which, uint32_t phase)
{
    sim_lane *lane = &e->rank[rank].lane[which];

    lane->mixed = lane->last_came == e->now && (lane->mixed || lane->last_phase != phase);
    lane->last_came = e->now;
    lane->last_phase = phase;
    if (e->lockstep && lane->mixed && lane->waiting.head != DSE_NONE)
        sim_lockstep_refuse(e);
}

/* Starts waiting streams while there are free places. */
static void lane_start(sim_engine *e, uint32_t rank, uint32_t which)
{
    sim_lane *lane = &e->rank[rank].lane[which];

    while (lane->waiting.head != DSE_NONE && lane->running < sim_queue_places(e->set) &&
           e->status == DSE_OK) {
        sim_stream *s = sim_stream_at(e, lane->waiting.head);

        lane->waiting.head = s->next;
        lane->running++;
        sim_stream_phase(s)->algorithm->start(e, s);
    }
}

static void lane_leave(sim_engine *e, uint32_t rank, uint32_t which)
{
    e->rank[rank].lane[which].running--;
    lane_start(e, rank, which);
}

/* ---- phases -------------------------------------------------------------------------------- */

static void begin_phase(sim_stream *s)
{
    const sim_phase *p = sim_stream_phase(s);

    s->steps_left = p->steps;
    s->inserted = s->sent = s->received = 0;
    s->free_packets = s->first_left = s->cycle_left = 0;
    s->odd_round = false;
    s->tree_state = s->tree_reductions = 0;
}

void sim_stream_next_phase(sim_engine *e, sim_stream *s)
{
    uint32_t rank = s->rank, lane = sim_stream_phase(s)->lane, id = s->id;
    sim_rank *r = &e->rank[rank];

    if (s->phase + 1 < s->n_phases) {
        uint32_t phase = ++s->phase, next = sim_stream_phase(s)->lane;

        begin_phase(s);
        lane_append(e, s);
        lane_leave(e, rank, lane);
        lane_start(e, rank, next);
        lane_came(e, rank, next, phase);
        return;
    }
    /* The rank goes on to its next nodes before the last chunk leaves its place: a collective that starts now
     * has one place less until this call returns. */
    if (++r->coll_finished == r->coll_streams)
        e->backend->collective_ended(e, rank);
    free_stream(e, sim_stream_at(e, id));
    lane_leave(e, rank, lane);
}

void sim_stream_received(sim_engine *e, uint32_t stream)
{
    sim_stream *s = sim_stream_at(e, stream);

    sim_stream_phase(s)->algorithm->receive(e, s);
}

void sim_bundle(sim_engine *e, sim_stream *s, uint64_t bytes, bool reduce, sim_way way)
{
    uint64_t value = reduce ? sim_reduction_ticks(e->set, bytes) : SIM_NO_REDUCTION;

    if (sim_stream_phase(s)->in_group)
        sim_register(e, s->rank, SIM_RE_BUNDLE, s->id, value, SIM_GROUP_ENDPOINT_DELAY);
    else if (e->set->bus.shared)
        sim_bus_enter(e, s->rank, s->id, bytes, value, way);
    else
        sim_register(e, s->rank, SIM_RE_BUNDLE, s->id, value, e->set->endpoint_delay);
}

void sim_bundle_passed(sim_engine *e, uint32_t rank, uint32_t stream, uint64_t value)
{
    if (value != SIM_NO_REDUCTION)
        sim_register(e, rank, SIM_RE_BUNDLE, stream, SIM_NO_REDUCTION, value);
    else
        sim_stream_phase(sim_stream_at(e, stream))->algorithm->ready(e, sim_stream_at(e, stream));
}

/* ---- planning ------------------------------------------------------------------------------ */

static void take_queue(sim_engine *e, uint32_t rank, uint32_t dim, sim_queue_use use, sim_phase *p)
{
    uint32_t n = e->set->queues_per_dim, *next = &e->rank[rank].next_queue[dim * SIM_N_QUEUE_USES + use];
    sim_queues queues = sim_queues_for(e->set, use);
    uint32_t at = queues.first + *next;

    p->lane = dim * n + at;
    p->clockwise = use == SIM_QUEUE_UP || (use == SIM_QUEUE_ANY && (n == 1 || at < n / 2));
    *next = *next + 1 < queues.n ? *next + 1 : 0;
}

static void check_plan(sim_engine *e, const sim_stream *s, uint32_t dim, uint32_t n, const char *refusal)
{
    if (refusal)
        sim_fail(e, DSE_E_SIM, "%s: %s (dimension %" PRIu32 " has %" PRIu32 " ranks)",
                 sim_where(e, s->rank, e->rank[s->rank].coll_node).text, refusal, dim, n);
}

static void add_phase(sim_engine *e, sim_stream *s, const sim_cut *cut, const sim_dim_phase *of,
                      uint64_t *bytes)
{
    const sim_implementation *how = &cut->logical->dim[of->dim].how;
    uint32_t n = cut->logical->dim[of->dim].n, stride = cut->logical->dim[of->dim].stride;
    uint32_t *tree = &e->rank[s->rank].trees[cut->collective * NET_MAX_DIMS + of->dim];
    bool last = of->dim + 1 == e->set->implementations[cut->collective].n_dims;
    sim_phase *p = &s->phases[s->n_phases++];

    *p = (sim_phase){.algorithm = how->algorithm, .coll = (uint8_t)of->coll, .bytes = *bytes};
    p->ring = (sim_ring){.n = n, .index = s->rank / stride % n, .stride = stride};
    p->ring.base = s->rank - p->ring.index * stride;
    take_queue(e, s->rank, of->dim, of->use, p);
    check_plan(e, s, of->dim, n, how->algorithm->plan(how, last, (*tree)++, p));
    *bytes = p->final_bytes;
}

/* The phases of one chunk over the dimensions of the system. */
static void plan_dimensions(sim_engine *e, sim_stream *s, const sim_cut *cut)
{
    sim_dim_phase phase[2 * NET_MAX_DIMS];
    uint32_t n = sim_order_phases(e->set, cut->logical, cut->collective, cut->involved, phase);
    uint64_t bytes = cut->chunk_bytes;

    for (uint32_t i = 0; i < n; i++)
        add_phase(e, s, cut, &phase[i], &bytes);
}

/* A group smaller than the system is a ring in its listed order, on the queues of dimension 0, whatever
 * algorithm it runs. */
static void plan_group(sim_engine *e, sim_stream *s, const sim_cut *cut)
{
    sim_ring ring = {.n = cut->group->n, .member = cut->group->rank};
    sim_phase *p = &s->phases[s->n_phases++];

    while (ring.member[ring.index] != s->rank)
        ring.index++;
    check_plan(e, s, 0, ring.n, sim_group_phase(cut->how, &ring, cut->collective, cut->chunk_bytes, p));
    take_queue(e, s->rank, 0, sim_group_queue_use(e->set, cut->collective), p);
}

/* ---- a collective node --------------------------------------------------------------------- */

/* Whether the system's own implementation of the collective is one ring. */
static bool is_ring_by_choice(const sim_cut *cut)
{
    return cut->logical->n_dims == 1 && cut->logical->dim[0].how.algorithm == &sim_algorithm_ring;
}

static bool cut_chunks(sim_engine *e, uint32_t rank, uint32_t node, uint64_t size, sim_cut *out)
{
    sim_chunks chunks = sim_cut_chunks(e->set, e->net->n_npus, out->collective, size);

    out->chunk_bytes = chunks.bytes;
    out->n_chunks = chunks.n;
    if (!chunks.bytes)
        return sim_fail(e, DSE_E_SIM,
                        "%s: an all-gather of %" PRIu64 " bytes never ends: with %" PRIu32
                        " preferred-dataset-splits its chunks are empty",
                        sim_where(e, rank, node).text, size, e->set->splits);
    if (chunks.n > MAX_CHUNKS)
        return sim_fail(e, DSE_E_RANGE, "%s: %" PRIu64 " chunks in one collective; at most %u are possible",
                        sim_where(e, rank, node).text, chunks.n, MAX_CHUNKS);
    return true;
}

bool sim_coll_cut(sim_engine *e, uint32_t rank, uint32_t node, sim_cut *out)
{
    const wl_node *n = &e->rank[rank].graph->graph->node[node];
    const wl_group *group = n->slot == DSE_NONE ? NULL : &e->w->group[e->w->rank[rank].group[n->slot]];
    const sim_version_row *version = sim_settings_version(e->set);
    uint32_t involved = group ? UINT32_MAX : n->involved_dims;
    sim_collective coll;

    if (!sim_collective_of(n->coll, &coll))
        return sim_fail(e, DSE_E_WORKLOAD, "%s: the collective %s cannot be simulated",
                        sim_where(e, rank, node).text, wl_coll_type_name(n->coll));
    *out = (sim_cut){.group = group, .logical = &e->logical[coll], .collective = coll};
    if ((out->custom = sim_custom_of(e, rank, node, coll)))
        return cut_chunks(e, rank, node, n->comm_size, out);
    if (group && group->n == 1)
        return sim_fail(e, DSE_E_SIM, "%s: group '%s' has one member; its collectives never end",
                        sim_where(e, rank, node).text, group->name);
    if (!group && n->n_involved_dims < out->logical->n_dims)
        return sim_fail(
            e, DSE_E_WORKLOAD, "%s: %s has %u entries, but the collective goes over %" PRIu32 " dimensions",
            sim_where(e, rank, node).text, version->dims_attribute, n->n_involved_dims, out->logical->n_dims);
    for (uint32_t dim = 0; dim < out->logical->n_dims; dim++)
        out->involved |= (involved >> dim & 1u) << dim;
    if (group && group->n < e->net->n_npus)
        out->how = sim_group_implementation(e->set, coll);
    out->is_flat = out->how && out->how->algorithm == &sim_algorithm_ring && !is_ring_by_choice(out);
    if (out->how ? version->groups_by_algorithm && !out->logical->n_dims : !out->involved)
        return sim_fail(e, DSE_E_SIM, "%s: no network dimension takes part in the %s (%s%s)",
                        sim_where(e, rank, node).text, wl_coll_type_name(n->coll),
                        out->logical->n_dims ? version->dims_attribute : "",
                        out->logical->n_dims ? " is all false" : "the system has no implementation for it");
    return cut_chunks(e, rank, node, n->comm_size, out);
}

uint32_t sim_take_tags(sim_rank *r, uint32_t group_slot, uint32_t n)
{
    uint32_t tag = r->streams;

    r->streams += n;
    if (group_slot != DSE_NONE) {
        tag = r->group_streams[group_slot];
        r->group_streams[group_slot] += n;
    }
    return tag;
}

void sim_coll_start(sim_engine *e, uint32_t rank, uint32_t node)
{
    sim_rank *r = &e->rank[rank];
    sim_cut cut;

    if (!sim_coll_cut(e, rank, node, &cut))
        return;
    e->n_flat_rings += cut.is_flat;
    r->coll_node = node;
    r->coll_streams = (uint32_t)cut.n_chunks;
    r->coll_finished = 0;
    /* An algorithm as Chakra files is one chunk, but the collective waits for all that it is cut into. */
    for (uint64_t i = 0; i < (cut.custom ? 1 : cut.n_chunks) && e->status == DSE_OK; i++) {
        sim_stream *s = new_stream(e);
        uint32_t id, lane;

        s->rank = rank;
        s->tag = sim_take_tags(r, r->graph->graph->node[node].slot, 1);
        if (cut.custom)
            sim_custom_plan(e, s, cut.custom, cut.group);
        else if (cut.how)
            plan_group(e, s, &cut);
        else
            plan_dimensions(e, s, &cut);
        if (e->status != DSE_OK)
            return;
        id = s->id;
        lane = sim_stream_phase(s)->lane;
        begin_phase(s);
        lane_append(e, sim_stream_at(e, id));
        lane_start(e, rank, lane);
        lane_came(e, rank, lane, 0);
    }
}
