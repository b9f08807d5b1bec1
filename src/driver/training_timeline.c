#include "driver/training_timeline.h"

#include "driver/training.h"
#include "step/list.h"
#include "trace/text_file.h"

#include <inttypes.h>
#include <string.h>

/* Viewers show them in the order of these numbers; a thread for each unit and kind of group that has
 * collectives. */
enum { THREAD_PASSES, THREAD_COLLECTIVES, THREAD_END = THREAD_COLLECTIVES + STEP_N_UNITS * STEP_N_GROUPS };

static const char *const words[SCHED_KINDS] = {"forward", "backward", "backward, gradient of the input",
                                               "backward, gradient of the weights"};

/* Names of chrome://tracing's colours: blue, orange, orange, green. */
static const char *const colours[SCHED_KINDS] = {"rail_response", "thread_state_iowait",
                                                 "thread_state_iowait", "good"};

typedef struct {
    const drv_study *study;
    const strategy *point;
    step_result *r;
    trace_text_file file;
    uint32_t *chunk;   /* per stage: which of its rank's */
    bool begun;        /* an event was written */
    uint32_t rank;     /* the one at hand, */
    dse_status status; /* and whether its collectives could be written */
    dse_error *err;
    bool has_thread[STEP_N_UNITS * STEP_N_GROUPS];
} writer;

/* ---- what goes where --------------------------------------------------------------------------- */

static void find_places(writer *w, dse_arena *a)
{
    const sched_plan *p = &w->r->plan;
    const uint32_t n_stages = p->n_directions * p->n_stages;

    w->chunk = DSE_ARENA_NEW(a, uint32_t, n_stages);
    sched_find_chunks(p, w->chunk, DSE_ARENA_NEW(a, uint32_t, p->n_ranks));
}

/* ---- events ------------------------------------------------------------------------------------ */

static void add_us(const char *key, dse_time ns, dse_strbuf *b)
{
    dse_strbuf_addf(b, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned)(ns % 1000));
}

static dse_strbuf *begin(writer *w, const char *ph, uint32_t rank, int thread)
{
    dse_strbuf *b = &w->file.text;

    dse_strbuf_addf(b, "%s{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%d", w->begun ? ",\n" : "\n", ph, rank,
                    thread);
    w->begun = true;
    return b;
}

static void add_label(writer *w, const char *what, uint32_t rank, int thread, const char *text)
{
    dse_strbuf_addf(begin(w, "M", rank, thread), ",\"name\":\"%s\",\"args\":{\"name\":\"%s\"}}", what, text);
}

static void add_order(writer *w, const char *what, uint32_t rank, int thread, uint32_t order)
{
    dse_strbuf_addf(begin(w, "M", rank, thread), ",\"name\":\"%s\",\"args\":{\"sort_index\":%" PRIu32 "}}",
                    what, order);
}

static void add_thread(writer *w, uint32_t rank, int thread, const char *name)
{
    add_label(w, "thread_name", rank, thread, name);
    add_order(w, "thread_sort_index", rank, thread, (uint32_t)thread);
}

static void add_pass(writer *w, uint32_t rank, uint32_t i)
{
    const sched_action *x = &w->r->plan.action[i];
    const uint32_t chunk = w->chunk[x->stage];
    dse_strbuf *b = begin(w, "X", rank, THREAD_PASSES);

    dse_strbuf_addf(b, ",\"cat\":\"%s\",\"cname\":\"%s\",\"name\":\"%c m%" PRIu32 " c%" PRIu32 "\"",
                    sched_kind_names[x->kind == SCHED_F ? SCHED_F : SCHED_B], colours[x->kind],
                    sched_letters[x->kind], x->micro_batch, chunk);
    add_us("ts", w->r->times.start[i], b);
    add_us("dur", w->r->times.end[i] - w->r->times.start[i], b);
    dse_strbuf_addf(
        b, ",\"args\":{\"pass\":\"%s\",\"micro_batch\":%" PRIu32 ",\"chunk\":%" PRIu32 ",\"stage\":%u}}",
        words[x->kind], x->micro_batch, chunk, x->stage);
}

/* One end of an arrow: within the pass that makes the tensor, its last tick, and at the start of this one. */
static void add_arrow(writer *w, const char *ph, uint32_t rank, dse_time at, uint32_t id)
{
    dse_strbuf *b = begin(w, ph, rank, THREAD_PASSES);

    dse_strbuf_addf(b, ",\"cat\":\"tensor\",\"id\":%" PRIu32 ",\"name\":\"tensor\"%s", id,
                    *ph == 'f' ? ",\"bp\":\"e\"" : "");
    add_us("ts", at, b);
    dse_strbuf_addc(b, '}');
}

/* When the tensor of a pass leaves: of two that are run as one, when both are over. */
static dse_time leaves_at(const step_result *r, uint32_t i)
{
    const step_passes *p = &r->passes;

    return r->times.end[i + (p->pass[p->pass_of[i]].first_share > 0)];
}

/* From the end of the pass that makes the tensor to the start of this one. Viewers give each name a row. */
static void add_transfer(writer *w, uint32_t rank, uint32_t i)
{
    const sched_plan *p = &w->r->plan;
    const sched_action *x = &p->action[i];
    const uint32_t from = w->r->passes.tensors.producer[i];
    const char *what = x->kind == SCHED_F ? "activation" : "gradient";

    if (from == DSE_NONE)
        return;
    for (int end = 0; end < 2; end++) {
        dse_strbuf *b = begin(w, end ? "e" : "b", rank, THREAD_PASSES);

        dse_strbuf_addf(b, ",\"cat\":\"transfer\",\"id\":%" PRIu32 ",\"name\":\"%s\"", i, what);
        add_us("ts", end ? w->r->times.start[i] : leaves_at(w->r, from), b);
        dse_strbuf_addf(
            b, ",\"args\":{\"micro_batch\":%" PRIu32 ",\"chunk\":%" PRIu32 ",\"from_rank\":%" PRIu32 "}}",
            x->micro_batch, w->chunk[x->stage], p->stage_rank[p->action[from].stage]);
    }
    add_arrow(w, "s", p->stage_rank[p->action[from].stage], leaves_at(w->r, from) - 1, i);
    add_arrow(w, "f", rank, w->r->times.start[i], i);
}

/* While each pass runs and after it, where that is something else than before. */
static void add_memory(writer *w, uint32_t rank, dse_arena *a)
{
    const uint32_t first = w->r->plan.first[rank], n = w->r->plan.first[rank + 1] - first;
    uint64_t *during = DSE_ARENA_NEW(a, uint64_t, n + 1), *after = DSE_ARENA_NEW(a, uint64_t, n + 1),
             now = UINT64_MAX;

    drv_training_memory(w->study, w->point, w->r, rank, a, during, after);
    for (uint32_t i = 0; i < 2 * n; i++) {
        const uint64_t bytes = i % 2 ? after[i / 2] : during[i / 2];
        dse_strbuf *b;

        if (bytes == now)
            continue;
        now = bytes;
        b = begin(w, "C", rank, THREAD_PASSES);
        dse_strbuf_adds(b, ",\"name\":\"memory\"");
        add_us("ts", i % 2 ? w->r->times.end[first + i / 2] : w->r->times.start[first + i / 2], b);
        dse_strbuf_addf(b, ",\"args\":{\"bytes\":%" PRIu64 "}}", bytes);
    }
}

/* "collectives over cp, dp": the axes in which the ranks of the group differ. */
static void name_collectives(writer *w, step_group g, int thread)
{
    const step_ranks *ranks = &w->r->passes.ranks;
    dse_strbuf name;

    dse_strbuf_init(&name);
    for (uint32_t i = 0; i < ranks->mesh.n; i++)
        if (mesh_has(ranks->axes[g], i) && ranks->mesh.axis[i].degree > 1)
            dse_strbuf_addf(&name, "%s%s", name.len ? ", " : "collectives over ", ranks->mesh.axis[i].name);
    add_thread(w, w->rank, thread, name.data);
    dse_strbuf_free(&name);
}

static void add_collective(void *user, const step_pass_operation *op, dse_time start, dse_time end)
{
    writer *w = user;
    const step_collective *c = op->collective;
    const int row = (int)op->unit * STEP_N_GROUPS + (int)c->group, thread = THREAD_COLLECTIVES + row;
    dse_strbuf *b;

    if (w->status != DSE_OK)
        return;
    if (!w->has_thread[row])
        name_collectives(w, c->group, thread);
    w->has_thread[row] = true;
    b = begin(w, "X", w->rank, thread);
    dse_strbuf_addf(b, ",\"cat\":\"collective\",\"name\":\"%s\"", step_call_name(c));
    add_us("ts", start, b);
    add_us("dur", end - start, b);
    dse_strbuf_addf(b, ",\"args\":{\"ranks\":%" PRIu32 ",\"in_bytes\":%" PRIu64 ",\"out_bytes\":%" PRIu64,
                    w->r->passes.ranks.size[c->group], c->in_bytes, c->out_bytes);
    if (op->unit == STEP_UNIT_LAYER)
        dse_strbuf_addf(b, ",\"module\":\"%s\"", op->name);
    dse_strbuf_adds(b, "}}");
    w->status = trace_text_file_flush(&w->file, w->err);
}

static void add_end(writer *w, uint32_t rank, const char *name, dse_time start, dse_time end)
{
    dse_strbuf *b;

    if (start >= end)
        return;
    b = begin(w, "X", rank, THREAD_END);
    dse_strbuf_addf(b, ",\"cat\":\"end\",\"name\":\"%s\"", name);
    add_us("ts", start, b);
    add_us("dur", end - start, b);
    dse_strbuf_adds(b, ",\"args\":{}}");
}

static dse_status write_rank(writer *w, uint32_t rank, dse_arena *a, dse_error *err)
{
    const step_result *r = w->r;
    const dse_time optimizer = r->step - r->part[STEP_PART_OPTIMIZER];
    dse_status st = DSE_OK;

    add_label(w, "process_name", rank, THREAD_PASSES, dse_arena_printf(a, "pipeline rank %" PRIu32, rank));
    add_order(w, "process_sort_index", rank, THREAD_PASSES, rank);
    add_thread(w, rank, THREAD_PASSES, "passes");
    add_thread(w, rank, THREAD_END, "end of step");
    for (uint32_t i = r->plan.first[rank]; st == DSE_OK && i < r->plan.first[rank + 1]; i++) {
        add_transfer(w, rank, i);
        add_pass(w, rank, i);
        st = trace_text_file_flush(&w->file, err);
    }
    w->rank = rank;
    w->status = st;
    w->err = err;
    memset(w->has_thread, 0, sizeof w->has_thread);
    step_run_watch(w->r, rank, a, add_collective, w);
    add_memory(w, rank, a);
    add_end(w, rank, "gradient reduction, sums, wait for all ranks", r->times.last[rank], optimizer);
    add_end(w, rank, "optimizer", optimizer, r->step);
    return w->status;
}

dse_status drv_training_timeline_save(const drv_study *s, const strategy *p, step_result *r, const char *path,
                                      dse_arena *a, dse_error *err)
{
    writer w = {.study = s, .point = p, .r = r};
    dse_status st = trace_text_file_open(&w.file, path, err);

    if (st != DSE_OK)
        return st;
    find_places(&w, a);
    dse_strbuf_adds(&w.file.text, "{\"simulator\":\"ccldse\",\"profile\":\"train\",\"traceEvents\":[");
    for (uint32_t rank = 0; st == DSE_OK && rank < r->plan.n_ranks; rank++)
        st = write_rank(&w, rank, a, err);
    dse_strbuf_adds(&w.file.text, "\n]}\n");
    return trace_text_file_close(&w.file, st, err);
}
