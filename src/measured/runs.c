#include "measured/runs.h"

#include "base/array.h"
#include "base/names.h"
#include "cards/locate.h"
#include "measured/job_row.h"
#include "measured/pairs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const msr_runs_options *o;
    dse_arena *arena;
    msr_runs *out;
    size_t cap;
} loading;

/* ---- those that cannot be simulated --------------------------------------------------------- */

bool msr_runs_is_own_failure(dse_status st)
{
    return st == DSE_E_CONFIG || st == DSE_E_RANGE || st == DSE_E_WORKLOAD || st == DSE_E_SIM;
}

void msr_runs_leave(msr_runs *r, const msr_job *job, const char *reason, const char *text, dse_arena *a)
{
    report_left *left;
    size_t i = 0;

    while (i < r->n_left && strcmp(r->left[i].reason, reason) != 0)
        i++;
    DSE_ARENA_GROW(a, r->left, r->cap_left, i + 1);
    left = &r->left[i];
    if (i == r->n_left)
        r->left[r->n_left++] = (report_left){.reason = reason};
    DSE_ARENA_GROW(a, left->each, left->cap, left->n + 1);
    left->each[left->n++] = dse_arena_printf(a, "%s: %s", job->name, text);
    left->first = left->each[0];
}

/* By the first gap that nothing can stand in for; else by the first whose substitute the user did not allow,
 * with that substitute. */
static void leave_for_gap(loading *l, const msr_plan *p)
{
    const msr_gap_row *row;
    const char *text;
    size_t first = 0;

    while (first < p->n_gaps && msr_gap_rows[p->gap[first].kind].substitute)
        first++;
    if (first == p->n_gaps)
        first = 0;
    row = &msr_gap_rows[p->gap[first].kind];
    text = p->gap[first].text;
    if (row->substitute)
        text = dse_arena_printf(l->arena, "%s; --approximate: %s instead", text, row->substitute);
    msr_runs_leave(l->out, p->job, row->name, text, l->arena);
}

/* ---- one run -------------------------------------------------------------------------------- */

/* `reach` says which ranks of a trace there are; NULL: all of them, or the run is a row of a table. */
static void note(loading *l, msr_run *r, const char *reach)
{
    const msr_plan *p = &r->plan;

    r->note = DSE_ARENA_NEW(l->arena, const char *, p->n_gaps + p->n_assumed + 1);
    for (size_t i = 0; i < p->n_gaps; i++) {
        const msr_gap_row *row = &msr_gap_rows[p->gap[i].kind];

        r->note[r->n_notes++] =
            dse_arena_printf(l->arena, "%s: %s instead (%s)", row->name, row->substitute, p->gap[i].text);
    }
    for (size_t i = 0; i < p->n_assumed; i++)
        r->note[r->n_notes++] = p->assumed[i];
    if (reach)
        r->note[r->n_notes++] = reach;
}

/* The reason of rows of a table that cannot be used, where others can: what they say contradicts itself, or
 * they are of a model that is unknown. */
static const char refused[] = "a row that cannot be used";

/* The machine cut to the job's devices; *out is NULL for a run that is left. */
static dse_status add(loading *l, const msr_job *job, msr_run **out, dse_error *err)
{
    msr_run *r = DSE_ARENA_NEW(l->arena, msr_run, 1);
    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    *out = NULL;
    r->job = *job;
    if ((st = msr_plan_make(&r->job, &l->o->plan, l->arena, &r->plan, err)) != DSE_OK) {
        dse_error_set_where(err, job->where);
        return st;
    }
    if (!r->plan.can_run) {
        leave_for_gap(l, &r->plan);
        return DSE_OK;
    }
    st = msr_plan_study(&r->plan, &l->out->machine, l->out->machine_name, &l->o->plan, l->arena, &r->study,
                        &why);
    if (st == DSE_E_RANGE) {
        msr_runs_leave(l->out, job, "the system cannot run it", why.text, l->arena);
        return DSE_OK;
    }
    if (st != DSE_OK)
        return dse_fail_at(err, st, *why.where ? why.where : job->where, "%s", why.text);
    if (!r->plan.can_run) {
        leave_for_gap(l, &r->plan);
        return DSE_OK;
    }
    DSE_GROW(l->out->run, l->cap, l->out->n + 1);
    l->out->run[l->out->n++] = *out = r;
    return DSE_OK;
}

/* ---- traces --------------------------------------------------------------------------------- */

/* Ranks of the kind that the first is of, and the number of ranks that the traces themselves speak of (0:
 * they do not). */
static uint32_t count_ranks(const trace_record *record, uint32_t *world)
{
    uint32_t n = 0;

    *world = 0;
    for (uint32_t i = 0; i < record->n_ranks; i++) {
        n += record->rank[i].kind == record->rank[0].kind;
        *world = record->rank[i].world_size ? record->rank[i].world_size : *world;
    }
    return n;
}

static dse_status check_ranks(const drv_recording *r, dse_error *err)
{
    uint32_t world, n = count_ranks(&r->record, &world);
    int64_t total = r->card.total_count;

    if (total == TRACE_CARD_NONE)
        return dse_fail_at(
            err, DSE_E_CONFIG, r->card.path,
            "the card lacks 'total_count' (workload.hardware.xpu_spec), the number of devices");
    if (world && world != total)
        return dse_fail_at(err, DSE_E_CONFIG, r->card.path,
                           "total_count is %" PRId64 ", but the traces are of a job of %" PRIu32
                           " ranks; the card is of another run",
                           total, world);
    if (n > total)
        return dse_fail_at(err, DSE_E_CONFIG, r->card.path,
                           "total_count is %" PRId64 ", but there are traces of %" PRIu32
                           " ranks; the card is of another run",
                           total, n);
    return DSE_OK;
}

/* "runs/a" of "runs/a/": what its line is headed by. */
static const char *name_of(const char *path, dse_arena *a)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    return dse_arena_strndup(a, path, n);
}

/* Texts of the recording's card are gone with it, and the job lives on: the card is read again. */
static dse_status job_of(loading *l, const drv_recording *traces, const char *path, msr_job *out,
                         dse_error *err)
{
    trace_card *card = DSE_ARENA_NEW(l->arena, trace_card, 1);
    const char *at = dse_arena_strdup(l->arena, traces->card.path), *name = name_of(path, l->arena);
    trace_record notes = {0};
    dse_status st;

    st = trace_card_load(at, l->arena, card, &notes, err);
    trace_record_free(&notes); /* the recording has said them */
    return st == DSE_OK ? msr_job_of_card(card, name, out, err) : st;
}

static dse_status add_recording(loading *l, const char *path, const drv_recording *traces, dse_error *err)
{
    msr_run *r;
    msr_job job;
    dse_status st;

    for (size_t i = 0; l->o->warn && i < traces->record.n_warnings; i++)
        l->o->warn(traces->record.warning[i].text);
    if (!traces->has_card)
        return dse_fail_at(
            err, DSE_E_CONFIG, path,
            "there is no workload card, which says what to simulate; put one beside the traces, or give "
            "it with --card");
    if ((st = check_ranks(traces, err)) != DSE_OK || (st = job_of(l, traces, path, &job, err)) != DSE_OK ||
        (st = add(l, &job, &r, err)) != DSE_OK || !r)
        return st;
    r->is_trace = true;
    note(l, r, msr_pairs_reach(traces, l->arena));
    return l->o->see(l->o->seer, l->out->n - 1, r, traces, err);
}

static dse_status add_trace(loading *l, const char *path, dse_error *err)
{
    drv_recording traces = {0};
    dse_status st = drv_recording_load(path, &l->o->read, &traces, err);

    if (st == DSE_OK)
        st = add_recording(l, path, &traces, err);
    drv_recording_free(&traces);
    return st;
}

static dse_status add_row(loading *l, const msr_job *job, dse_error *err)
{
    const char *unmeasured = msr_job_unmeasured(job, l->o->kind_must_be_said, l->arena);
    msr_run *r;
    dse_status st;

    if (job->refused)
        return dse_fail_at(err, DSE_E_CONFIG, job->where, "%s", job->refused);
    if (unmeasured) {
        msr_runs_leave(l->out, job, MSR_UNMEASURED, unmeasured, l->arena);
        return DSE_OK;
    }
    st = add(l, job, &r, err);
    if (st == DSE_OK && r)
        note(l, r, NULL);
    return st;
}

/* A table whose rows are all refused is refused, by the first of them: what is wrong with each is wrong with
 * the table. */
static dse_status add_rows(loading *l, const char *table, dse_error *err)
{
    dse_error first = DSE_ERROR_INIT;
    const char *path;
    msr_job *job;
    size_t n = 0, n_refused = 0;
    dse_status st = card_locate(CARD_MEASURED, table, l->arena, &path, err);

    if (st == DSE_OK)
        st = msr_jobs_read_stated(path, l->o->only, l->o->n_only, l->o->stated, l->o->n_stated,
                                  l->o->may_lack, l->arena, &job, &n, err);
    if (st != DSE_OK)
        return st;
    for (size_t i = 0; i < n; i++) {
        dse_error why = DSE_ERROR_INIT;

        if ((st = add_row(l, &job[i], &why)) == DSE_OK)
            continue;
        if (st != DSE_E_CONFIG || (n == 1 && !l->o->may_lack))
            return dse_fail_at(err, st, why.where, "%s", why.text);
        if (!n_refused++)
            first = why;
        msr_runs_leave(l->out, &job[i], refused, why.text, l->arena);
    }
    if (n_refused == n && !l->o->may_lack)
        return dse_fail_at(err, DSE_E_CONFIG, first.where, "%s", first.text);
    return DSE_OK;
}

/* ---- groups --------------------------------------------------------------------------------- */

static int compare_texts(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

/* As words that sources write in their own ways. */
static int compare_words(const char *a, const char *b)
{
    char x[64] = "", y[64] = "";

    msr_normal_form(a ? a : "", x, sizeof x);
    msr_normal_form(b ? b : "", y, sizeof y);
    return strcmp(x, y);
}

/* Of an older version of a table, measured with older software: its rows are named so (llm-foundry's). */
static bool is_old(const msr_job *j) { return j->name && dse_ends(j->name, "-old"); }

/* 0: choices for the same work. */
static int compare_work(const msr_job *a, const msr_job *b)
{
    const int64_t x[] = {a->layers,   a->d_model,   a->d_ff,        a->heads, a->batch,
                         a->sequence, a->n_devices, a->float8 == 1, is_old(a)};
    const int64_t y[] = {b->layers,   b->d_model,   b->d_ff,        b->heads, b->batch,
                         b->sequence, b->n_devices, b->float8 == 1, is_old(b)};
    int order = compare_texts(a->family, b->family);

    for (size_t i = 0; !order && i < DSE_COUNT(x); i++)
        order = (x[i] > y[i]) - (x[i] < y[i]);
    if (!order)
        order = compare_words(a->precision, b->precision);
    if (!order)
        order = compare_words(a->quantization, b->quantization);
    return order ? order : compare_texts(a->framework, b->framework);
}

bool msr_runs_same_work(const msr_job *a, const msr_job *b, bool any_batch)
{
    msr_job x = *a;

    if (any_batch)
        x.batch = b->batch;
    return !compare_work(&x, b);
}

typedef struct {
    const msr_job *job;
    size_t run;
} grouped_job;

static int by_work_then_run(const void *a, const void *b)
{
    const grouped_job *x = a, *y = b;
    int order = compare_work(x->job, y->job);

    return order ? order : (x->run > y->run) - (x->run < y->run);
}

/* Numbered in the order of the runs that are the first of theirs. */
static void group(msr_runs *r, dse_arena *a)
{
    grouped_job *sorted = DSE_ARENA_NEW(a, grouped_job, r->n);
    size_t *first = DSE_ARENA_NEW(a, size_t, r->n);
    uint32_t n = 0;

    for (size_t i = 0; i < r->n; i++)
        sorted[i] = (grouped_job){&r->run[i]->job, i};
    if (r->n)
        qsort(sorted, r->n, sizeof *sorted, by_work_then_run);
    for (size_t i = 0; i < r->n; i++) {
        bool same = i && !compare_work(sorted[i - 1].job, sorted[i].job);

        first[sorted[i].run] = same ? first[sorted[i - 1].run] : sorted[i].run;
    }
    for (size_t i = 0; i < r->n; i++)
        r->run[i]->group = first[i] == i ? n++ : r->run[first[i]]->group;
}

/* ---- what they have in common --------------------------------------------------------------- */

/* The words of a model card that are no size; NULL: there is no word for it. */
static const char *setting_of(const card_model *m, size_t i)
{
    const char *const words[] = {m->operators, isnan(m->precision.bytes.weights) ? m->precision.word : NULL};

    return words[i];
}

/* The options of the parameters of the strategy that came later than the others, where all runs have the same
 * and it is not the default. */
static const char *add_parameters(const char *text, const msr_run *const *run, size_t n, dse_arena *a)
{
    for (uint32_t k = 0; k < STRATEGY_N; k++) {
        const strategy_parameter *p = &strategy_parameters[k];
        const uint32_t value = strategy_get(&run[0]->plan.point, k);
        char word[STRATEGY_VALUE_MAX];
        bool same = p->omit_default && value != p->fallback;

        for (size_t i = 1; same && i < n; i++)
            same = strategy_get(&run[i]->plan.point, k) == value;
        if (same)
            text = dse_arena_printf(a, "%s%s%s%c%s", text, *text ? " " : "", strategy_option_name(k),
                                    p->kind == STRATEGY_SWITCH ? '=' : ' ', strategy_print(p, value, word));
    }
    return text;
}

const char *msr_runs_settings(const msr_run *const *run, size_t n, dse_arena *a)
{
    static const char *const keys[] = {"operators", "precision"};
    const char *text = "";

    for (size_t k = 0; n && k < DSE_COUNT(keys); k++) {
        const char *word = setting_of(&run[0]->study.model, k);

        for (size_t i = 1; word && i < n; i++)
            if (compare_texts(word, setting_of(&run[i]->study.model, k)) != 0)
                word = NULL;
        if (word)
            text = dse_arena_printf(a, "%s%s--set %s=%s", text, *text ? " " : "", keys[k], word);
    }
    return n ? add_parameters(text, run, n, a) : text;
}

/* ---- all ------------------------------------------------------------------------------------ */

static dse_status check(const msr_runs_options *o, dse_error *err)
{
    if (!o->n_traces && !o->n_tables)
        return dse_fail(
            err, DSE_E_USAGE,
            "there is nothing measured; give --trace with traces, or --measured with a table of step times");
    if (o->read.card && o->n_traces != 1)
        return dse_fail(err, DSE_E_USAGE, "--card is for one --trace; several have theirs beside them");
    if (o->n_only && !o->n_tables)
        return dse_fail(err, DSE_E_USAGE, "--only chooses rows of a table; give one with --measured");
    return DSE_OK;
}

/* Into the arena. */
static void keep(msr_runs *r, dse_arena *a)
{
    msr_run **kept = dse_arena_copy(a, r->run, r->n, sizeof *kept);

    dse_free(r->run);
    r->run = kept;
}

dse_status msr_runs_load(const msr_runs_options *o, dse_arena *a, msr_runs *out, dse_error *err)
{
    loading l = {.o = o, .arena = a, .out = out};
    dse_status st;

    *out = (msr_runs){0};
    if ((st = check(o, err)) != DSE_OK || (st = drv_system_load(o->system, o->plan.settings, a, &out->machine,
                                                                &out->machine_name, err)) != DSE_OK)
        return st;
    for (size_t i = 0; st == DSE_OK && i < o->n_traces; i++)
        st = add_trace(&l, o->trace[i], err);
    for (size_t i = 0; st == DSE_OK && i < o->n_tables; i++)
        st = add_rows(&l, o->table[i], err);
    keep(out, a);
    if (st == DSE_OK)
        group(out, a);
    return st;
}
