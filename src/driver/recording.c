#include "driver/recording.h"

#include "exec/parallel.h"
#include "trace/discover.h"
#include "trace/ranks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- which files --------------------------------------------------------------------------- */

/* A file, and the record read from it. */
typedef struct {
    const trace_file *file;
    uint32_t peeked; /* the rank that it seems to be; DSE_NONE: unknown or not needed */
    trace_record record;
} source;

typedef struct {
    const drv_recording_options *o;
    drv_recording *out;
    size_t n_sources;
    source *source;
    size_t n_first; /* sources to read first: enough for max_ranks if the peeked ranks are right */
} loading;

static bool asks_for(const drv_recording_options *o, unsigned kinds)
{
    return !o->kinds || (o->kinds & kinds);
}

static int by_peeked(const void *a, const void *b)
{
    const source *x = a, *y = b;

    if (x->peeked != y->peeked)
        return x->peeked < y->peeked ? -1 : 1;
    return strcmp(x->file->path, y->file->path);
}

static void peek(source *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s[i].peeked = trace_peek_rank(s[i].file->path);
    qsort(s, n, sizeof *s, by_peeked);
}

/* Execution traces are read if no other kind is asked for; otherwise a warning mentions them. */
static bool uses_executions(const loading *l, const trace_found *found)
{
    const unsigned others = METRIC_ON_ANY & ~(METRIC_ON(TRACE_ET) | METRIC_ON(TRACE_SNAPSHOT));

    if (!found->n_executions || !asks_for(l->o, METRIC_ON(TRACE_ET)))
        return false;
    if (!asks_for(l->o, others))
        return true;
    trace_warn(
        &l->out->record, found->execution[0].path,
        "%zu execution trace%s left out beside the profiler's traces; metrics by their full names take "
        "them: et.coll_call_num, et.collective_vol_total_gb",
        found->n_executions, found->n_executions == 1 ? " is" : "s are");
    return false;
}

/* Chooses the files whose kind is asked for; all if there are none. */
static void choose(loading *l, const trace_found *found)
{
    bool executions = uses_executions(l, found);
    const trace_file *trace = executions ? found->execution : found->trace;
    size_t n_found = executions ? found->n_executions : found->n_traces;
    bool traces = n_found && asks_for(l->o, METRIC_ON_ANY & ~METRIC_ON(TRACE_SNAPSHOT));
    bool snapshots = found->n_snapshots && asks_for(l->o, METRIC_ON(TRACE_SNAPSHOT));
    size_t n_traces = traces || !snapshots ? n_found : 0;
    size_t n_snapshots = snapshots || !n_traces ? found->n_snapshots : 0;

    l->source = DSE_ARENA_NEW(&l->out->arena, source, n_traces + n_snapshots);
    for (size_t i = 0; i < n_snapshots; i++)
        l->source[l->n_sources++] = (source){.file = &found->snapshot[i], .peeked = DSE_NONE};
    for (size_t i = 0; i < n_traces; i++)
        l->source[l->n_sources++] = (source){.file = &trace[i], .peeked = DSE_NONE};
    l->n_first = l->n_sources;
    if (!l->o->max_ranks || n_traces <= l->o->max_ranks)
        return;
    peek(l->source + n_snapshots, n_traces);
    if (l->source[l->n_sources - 1].peeked != DSE_NONE) /* files of unknown rank are all read */
        l->n_first = n_snapshots + l->o->max_ranks;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* exec_parallel passes one pointer to the task and to the progress function. */
typedef struct {
    loading *l;
    size_t from;
} reading;

static dse_status read_one(void *user, size_t i, dse_error *err)
{
    reading *r = user;
    source *s = &r->l->source[r->from + i];

    return trace_read(s->file->reader, s->file->path, &s->record, err);
}

static void show(void *user, size_t done, size_t n)
{
    reading *r = user;

    r->l->o->progress(r->l->o->user, r->from + done, r->from + n);
}

/* Reads sources from..to-1 and moves what they hold into the record, in their order. */
static dse_status read_sources(loading *l, size_t from, size_t to, dse_error *err)
{
    reading r = {l, from};
    dse_status st =
        exec_parallel(to - from, l->o->n_threads, read_one, l->o->progress ? show : NULL, &r, err);

    for (size_t i = from; i < to; i++) {
        if (st == DSE_OK)
            trace_record_take(&l->out->record, &l->source[i].record);
        trace_record_free(&l->source[i].record);
    }
    return st;
}

/* Whether every file that was read first has the rank that it seemed to have. */
static bool peeks_were_right(const loading *l)
{
    const trace_record *r = &l->out->record;

    for (size_t i = 0; i < l->n_first; i++)
        for (uint32_t j = 0; j < r->n_ranks && l->source[i].peeked != DSE_NONE; j++)
            if (r->rank[j].has_rank && r->rank[j].rank != l->source[i].peeked &&
                strcmp(r->rank[j].path, l->source[i].file->path) == 0)
                return false;
    return true;
}

/* Keeps the first max_ranks of each kind. */
static void keep_first_ranks(trace_record *r, uint32_t max_ranks)
{
    uint32_t n = 0, of_kind = 0;

    for (uint32_t i = 0; i < r->n_ranks; i++) {
        of_kind = i && r->rank[i - 1].kind == r->rank[i].kind ? of_kind + 1 : 0;
        if (of_kind < max_ranks)
            r->rank[n++] = r->rank[i];
        else
            trace_rank_free(&r->rank[i]);
    }
    r->n_ranks = n;
}

static dse_status read_all(loading *l, dse_error *err)
{
    dse_status st = read_sources(l, 0, l->n_first, err);

    if (st == DSE_OK && l->n_first < l->n_sources && !peeks_were_right(l))
        st = read_sources(l, l->n_first, l->n_sources, err);
    if (st == DSE_OK)
        st = trace_settle_ranks(&l->out->record, err);
    if (st == DSE_OK && l->o->max_ranks)
        keep_first_ranks(&l->out->record, l->o->max_ranks);
    return st;
}

/* ---- views --------------------------------------------------------------------------------- */

static dse_status view_one(void *user, size_t i, dse_error *err)
{
    drv_recording *out = user;

    (void)err;
    metric_view_init(&out->view[i], &out->record.rank[i]);
    return DSE_OK;
}

dse_status drv_recording_make_views(drv_recording *r, uint32_t n_threads, dse_error *err)
{
    r->view = dse_calloc(r->record.n_ranks, sizeof *r->view);
    r->n_views = r->record.n_ranks; /* one that was not reached is zero, which may be freed */
    return exec_parallel(r->n_views, n_threads, view_one, NULL, r, err);
}

/* ---- the card ------------------------------------------------------------------------------ */

static dse_status load_card(loading *l, const char *path, const trace_found *found, dse_error *err)
{
    drv_recording *out = l->out;
    const char *card = l->o->card;
    dse_status st = DSE_OK;

    if (!card)
        st = trace_find_card(path, &out->arena, &card, err);
    if (st == DSE_OK && !card && found->n_traces)
        st = trace_find_card(found->trace[0].path, &out->arena, &card, err);
    if (st != DSE_OK || !card)
        return st;
    st = trace_card_load(card, &out->arena, &out->card, &out->record, err);
    out->has_card = st == DSE_OK;
    return st;
}

/* The names in metric_source.traces. Source: section 7 of the spec, and the published cards. */
static const char *const words_of_kinds[TRACE_KINDS][6] = {
    [TRACE_KINETO] = {"kineto_trace", "json", "kineto"},
    [TRACE_XLA] = {"json_tpu", "xla_trace", "tpu_profiler", "xplane", "json"},
    [TRACE_XLA_GPU] = {"json", "xla_trace", "xplane"},
    [TRACE_NSYS] = {"nsys"},
    [TRACE_NSYS_CSV] = {"nsys"},
    [TRACE_ET] = {"torch_et"},
};

static bool lists(const trace_card *c, trace_kind kind)
{
    for (size_t i = 0; i < c->n_traces; i++)
        for (const char *const *word = words_of_kinds[kind]; *word; word++)
            if (strcmp(c->trace[i], *word) == 0)
                return true;
    return !c->n_traces || !words_of_kinds[kind][0];
}

/* Kinds of which a rank is one device of the job. */
#define RANK_IS_DEVICE METRIC_ON_GPU

static void compare_counts(drv_recording *r)
{
    const trace_card *c = &r->card;
    trace_record *notes = &r->record;
    int64_t n = 0, world = 0;
    bool communicates = false;

    for (uint32_t i = 0; i < r->record.n_ranks; i++) {
        if (!(METRIC_ON(r->record.rank[i].kind) & RANK_IS_DEVICE))
            continue;
        n++;
        world = r->record.rank[i].world_size ? r->record.rank[i].world_size : world;
        communicates = communicates || r->view[i].comm.n;
    }
    if (c->total_count == TRACE_CARD_NONE || !n)
        return;
    if (world && world != c->total_count)
        trace_warn(notes, c->path,
                   "total_count is %" PRId64 ", but the traces are of a job of %" PRId64 " ranks",
                   c->total_count, world);
    else if (n != c->total_count)
        trace_warn(notes, c->path, "total_count is %" PRId64 ", but there %s %" PRId64 " rank%s here",
                   c->total_count, n == 1 ? "is" : "are", n, n == 1 ? "" : "s");
    if (c->total_count < 2 && communicates)
        trace_warn(notes, c->path, "total_count is %" PRId64 ", but the traces have communication",
                   c->total_count);
}

/* Warns of differences between card and traces. */
static void compare(drv_recording *r, bool all_ranks)
{
    if (!r->has_card || !r->record.n_ranks)
        return;
    if (all_ranks)
        compare_counts(r);
    if (!lists(&r->card, r->record.rank[0].kind))
        trace_warn(&r->record, r->card.path, "metric_source.traces does not have a %s",
                   trace_kind_name(r->record.rank[0].kind));
}

/* ---- the recording ------------------------------------------------------------------------- */

dse_status drv_recording_load(const char *path, const drv_recording_options *o, drv_recording *out,
                              dse_error *err)
{
    static const trace_profiles profiles[] = {[DRV_PROFILE_AUTO] = TRACE_PROFILES_AUTO,
                                              [DRV_PROFILE_TORCH] = TRACE_PROFILES_TORCH,
                                              [DRV_PROFILE_NSYS] = TRACE_PROFILES_NSYS};
    loading l = {.o = o, .out = out};
    trace_found found;
    dse_status st;

    *out = (drv_recording){0};
    dse_arena_init(&out->arena);
    st = trace_discover(path, profiles[o->mode], &out->arena, &found, &out->record, err);
    if (st != DSE_OK)
        return st;
    out->record.path = dse_calloc(strlen(path) + 1, 1);
    memcpy(out->record.path, path, strlen(path));
    if ((st = load_card(&l, path, &found, err)) != DSE_OK)
        return st;
    choose(&l, &found);
    if ((st = read_all(&l, err)) == DSE_OK &&
        (st = drv_recording_make_views(out, o->n_threads, err)) == DSE_OK)
        compare(out, !o->max_ranks);
    return st;
}

void drv_recording_free(drv_recording *r)
{
    for (uint32_t i = 0; i < r->n_views; i++)
        metric_view_free(&r->view[i]);
    dse_free(r->view);
    trace_record_free(&r->record);
    dse_arena_free(&r->arena);
    *r = (drv_recording){0};
}
