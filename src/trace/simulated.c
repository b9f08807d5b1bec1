/* Makes the same record from the events as chrome.c and chrome_split.c make from a timeline's text. Texts are
 * interned in the same order, so that even their ids are equal: an event's lane (process, thread, their
 * names), its name, its args in order, the word of its category. */
#include "trace/simulated.h"

#include "trace/node_event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define STEP_THREAD 0

typedef struct {
    trace_rank *rank;
    trace_node_walk walk;
} builder;

static uint32_t intern(builder *b, const char *text)
{
    return text ? trace_names_add(&b->rank->names, text, strlen(text)) : DSE_NONE;
}

/* `is`: the kind of stream; NULL for the annotation, whose thread has no name. */
static uint32_t add_lane(builder *b, uint32_t stream, const char *is)
{
    trace_rank *r = b->rank;
    uint32_t pid = trace_names_addf(&r->names, "%" PRIu32, r->rank);
    uint32_t tid = trace_names_addf(&r->names, "%" PRIu32, stream);
    uint32_t id = trace_add_lane(r, pid, tid);

    if (r->lane[id].process_name != DSE_NONE)
        return id; /* not new */
    r->lane[id].process_name = trace_names_addf(&r->names, "rank %" PRIu32, r->rank);
    if (is)
        r->lane[id].thread = trace_names_addf(&r->names, "%s %" PRIu32, is, stream);
    return id;
}

static uint32_t add_args(builder *b, const trace_node_event *e)
{
    trace_args a;

    if (!e->on_device)
        return DSE_NONE;
    trace_args_clear(&a);
    a.device = b->rank->rank;
    a.stream = e->stream;
    if (e->kernel) {
        a.kernel_class = intern(b, e->kernel->class);
        a.m = e->kernel->m;
        a.n = e->kernel->n;
        a.k = e->kernel->k;
        a.batch = e->kernel->batch;
    }
    a.in_elements = e->in == TRACE_TICKS_UNKNOWN ? TRACE_UNKNOWN : e->in;
    a.out_elements = e->out == TRACE_TICKS_UNKNOWN ? TRACE_UNKNOWN : e->out;
    a.collective = intern(b, e->collective);
    a.dtype = intern(b, e->collective ? TRACE_NODE_DTYPE : NULL);
    if (e->group) {
        a.group_size = e->group->size;
        a.group_name = intern(b, e->group->name);
        a.group_desc = intern(b, e->group->desc);
        a.group_ranks = intern(b, e->group->ranks);
    }
    return trace_add_args(b->rank, &a);
}

static void add_event(builder *b, const trace_node_event *e)
{
    trace_rank *r = b->rank;
    trace_event v = {.start_ps = (int64_t)e->start * TRACE_PS_PER_NS,
                     .dur_ps = (int64_t)(e->end - e->start) * TRACE_PS_PER_NS,
                     .category = (uint8_t)trace_category_of(e->word, strlen(e->word))};

    v.lane = add_lane(b, e->stream, e->stream_is);
    v.name = intern(b, e->name);
    v.args = add_args(b, e);
    v.word = (uint8_t)trace_add_word(r, intern(b, e->word));
    trace_add_event(r, &v);
    trace_extend(r, v.start_ps, v.start_ps + v.dur_ps, v.start_ps > 0);
}

static dse_status add_rank(builder *b, trace_record *out, const trace_timeline_sizes *sizes, dse_error *err)
{
    uint32_t number = out->n_ranks;
    trace_node_event e;
    dse_time wall;

    b->rank = trace_record_add_rank(out);
    b->rank->has_rank = true;
    b->rank->kind = TRACE_SIMULATED;
    b->rank->world_size = b->walk.t->n_ranks;
    b->rank->in_elements = !sizes->in_bytes;
    if (sizes->peak_memory)
        b->rank->peak_memory = sizes->peak_memory[number];
    trace_node_walk_rank(&b->walk, number, &wall);
    if (sizes->wall)
        wall = sizes->wall[number];
    if (wall > TRACE_MAX_PS / TRACE_PS_PER_NS)
        return dse_fail(err, DSE_E_RANGE,
                        "rank %" PRIu32 " runs for %" PRIu64 " s; metrics measure runs of up to 53 days",
                        number, wall / 1000000000);
    add_event(b, &(trace_node_event){
                     .name = TRACE_STEP_NAME, .word = TRACE_STEP_WORD, .end = wall, .stream = STEP_THREAD});
    while (trace_node_next(&b->walk, &e))
        add_event(b, &e);
    return DSE_OK;
}

dse_status trace_simulated_read(const trace_ticks *t, const trace_timeline_groups *g,
                                const trace_timeline_sizes *sizes, trace_record *out, dse_error *err)
{
    builder b = {0};
    dse_status st = DSE_OK;

    trace_node_walk_init(&b.walk, t, g);
    for (uint32_t rank = 0; st == DSE_OK && rank < t->n_ranks; rank++)
        st = add_rank(&b, out, sizes, err);
    trace_node_walk_free(&b.walk);
    return st;
}
