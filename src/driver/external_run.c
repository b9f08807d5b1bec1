/* Runs points with the external tools and interprets their exit codes and logs. */
#include "base/fs.h"
#include "driver/external.h"
#include "driver/log_tail.h"
#include "driver/simulators.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_LOG_BYTES (256u << 20)

/* Runs one point at a time and reuses its memory for the next. */
typedef struct {
    bool busy;
    dse_arena arena;
    uint64_t task;
    drv_external_point point;
    drv_log_wants wants;
} lane;

typedef struct {
    const drv_external *tools;
    const drv_external_calls *calls;
    lane *lanes;
    uint32_t n_lanes;
} runner;

/* ---- failures ------------------------------------------------------------------------------ */

static void add_outcome(const lane *l, const exec_outcome *o, dse_strbuf *out)
{
    bool stage = o->command + 1 < l->point.job.n;
    const char *path = stage ? l->point.stage_log : l->point.simulator_log;
    char how[200];

    exec_outcome_text(o, how, sizeof how);
    dse_strbuf_addf(out, "%s ('%s') %s", stage ? "STAGE" : "ASTRA-sim",
                    l->point.job.command[o->command].argv[0], how);
    if (o->end == EXEC_CANNOT_START)
        return;
    drv_log_meaning_add(path, out);
    drv_log_tail_add(path, path, out);
}

/* ---- the log ------------------------------------------------------------------------------- */

static drv_log_wants wants_of(const card_system *s)
{
    return (drv_log_wants){(uint32_t)card_system_npus(s), s->roofline_enabled, drv_reports_memory(s)};
}

static dse_status read_log(const char *path, lane *l, drv_astra_log *log, dse_error *err)
{
    dse_strbuf text;
    dse_status st;

    dse_strbuf_init(&text);
    st = dse_read_file(path, MAX_LOG_BYTES, &text, err);
    if (st == DSE_OK)
        st = drv_astra_log_parse(path, text.data, text.len, &l->wants, &l->arena, log, err);
    dse_strbuf_free(&text);
    return st;
}

/* Whether the log is that of the version which the system names, as far as it shows. */
static dse_status check_version(const card_system *s, const drv_astra_log *log, dse_error *err)
{
    const sim_version_row *wanted = &sim_versions[sim_version_find(s->version)];
    const char sign = log->rank0[DRV_LOG_COMPUTE_UTIL].sign;

    for (int i = 0; i < SIM_N_VERSIONS; i++)
        if (&sim_versions[i] != wanted && sim_versions[i].utilisation_sign == sign)
            return dse_fail(
                err, DSE_E_CHILD,
                "ASTRA-sim is of %s, and not of %s, which the system wants; give --astrasim-version %s",
                sim_versions[i].branch, wanted->branch, sim_versions[i].name);
    return DSE_OK;
}

/* From what ASTRA-sim printed or, if that has no statistics, from its own log file. */
static dse_status read_statistics(lane *l, drv_astra_log *log, dse_error *err)
{
    dse_status st = read_log(l->point.simulator_log, l, log, err);

    if (st == DSE_OK && !log->n_reporting && dse_is_file(l->point.own_log))
        st = read_log(l->point.own_log, l, log, err);
    if (st == DSE_OK && !log->n_reporting)
        st = dse_fail(err, DSE_E_CHILD, "ASTRA-sim reports no statistics");
    return st == DSE_OK ? check_version(&l->point.system, log, err) : st;
}

/* ---- results ------------------------------------------------------------------------------- */

static dse_status report_failure(runner *r, lane *l, const char *why, double seconds, dse_error *err)
{
    store_row row = {.error = why, .seconds = seconds};

    l->busy = false;
    store_metrics_clear(&row.metrics);
    return r->calls->result(r->calls->user, l->task, &row, NULL, err);
}

/* Removes large files that are no longer needed: STAGE's traces and ASTRA-sim's memory traces
 * (LocalMemUsageTracker.cc). */
static dse_status discard(lane *l, dse_error *err)
{
    dse_status st = dse_remove_tree(l->point.workload, err);

    for (uint32_t i = 0; st == DSE_OK && i < l->wants.n_ranks; i++)
        st = dse_remove_tree(
            dse_arena_printf(&l->arena, "%s/local_mem_trace.%" PRIu32 ".json", l->point.results, i), err);
    return st;
}

static dse_status done(void *user, uint64_t which, const exec_outcome *o, dse_error *err)
{
    runner *r = user;
    lane *l = &r->lanes[which];
    store_row row = {.done = true, .error = "", .seconds = o->cpu_seconds};
    const char *path = l->point.simulator_log;
    dse_error why = DSE_ERROR_INIT;
    drv_astra_log log;
    dse_strbuf text;

    dse_strbuf_init(&text);
    if (o->end != EXEC_DONE) {
        add_outcome(l, o, &text);
    } else if (read_statistics(l, &log, &why) != DSE_OK) {
        dse_strbuf_adds(&text, dse_error_say(&why).text);
        drv_log_meaning_add(path, &text);
        drv_log_tail_add(path, strstr(text.data, path) ? "it" : path, &text);
    } else if (r->tools->discard_workloads && discard(l, &why) != DSE_OK) {
        dse_strbuf_adds(&text, dse_error_say(&why).text);
    }
    if (text.len)
        return report_failure(r, l, dse_strbuf_take(&text, &l->arena), o->cpu_seconds, err);
    drv_astra_log_metrics(&log, &row.metrics, &row.memory_rounded);
    l->busy = false;
    return r->calls->result(r->calls->user, l->task, &row, &log, err);
}

/* ---- points -------------------------------------------------------------------------------- */

static lane *free_lane(runner *r)
{
    lane *l = r->lanes;

    while (l->busy)
        l++;
    return l;
}

/* The next point that can be started; those that cannot are reported as failed. */
static dse_status next(void *user, exec_job *job, uint64_t *which, bool *any, dse_error *err)
{
    runner *r = user;
    lane *l = free_lane(r);
    const drv_study *study;
    const strategy *point;
    dse_status st = DSE_OK;

    while (st == DSE_OK && (*any = r->calls->next(r->calls->user, &l->task, &study, &point))) {
        dse_error why = DSE_ERROR_INIT;

        dse_arena_reset(&l->arena);
        st = drv_external_plan(r->tools, study, point, &l->arena, &l->point, &why);
        if (st == DSE_OK)
            st = drv_external_make_folders(&l->point, &l->arena, &why);
        if (st == DSE_OK) {
            l->busy = true;
            l->wants = wants_of(&l->point.system);
            *which = (uint64_t)(l - r->lanes);
            *job = l->point.job;
            break;
        }
        st = report_failure(r, l, dse_error_say(&why).text, NAN, err);
    }
    return st;
}

static void tick(void *user)
{
    const runner *r = user;

    r->calls->tick(r->calls->user);
}

dse_status drv_external_run(const drv_external *x, uint32_t jobs, const drv_external_calls *calls,
                            dse_error *err)
{
    runner r = {x, calls, dse_calloc(jobs, sizeof(lane)), jobs};
    const exec_job_calls job_calls = {next, done, tick, &r};
    dse_status st;

    for (uint32_t i = 0; i < jobs; i++)
        dse_arena_init(&r.lanes[i].arena);
    st = exec_jobs_run(jobs, &job_calls, err);
    for (uint32_t i = 0; i < jobs; i++)
        dse_arena_free(&r.lanes[i].arena);
    dse_free(r.lanes);
    return st;
}

/* ---- one point ----------------------------------------------------------------------------- */

typedef struct {
    const drv_study *study;
    const strategy *point;
    bool given;
    dse_arena *arena;
    store_row *row;
    drv_astra_log *log;
} single;

static bool next_single(void *user, uint64_t *task, const drv_study **study, const strategy **point)
{
    single *s = user;

    if (s->given)
        return false;
    s->given = true;
    *task = 0;
    *study = s->study;
    *point = s->point;
    return true;
}

static dse_status keep_single(void *user, uint64_t task, store_row *row, const drv_astra_log *log,
                              dse_error *err)
{
    single *s = user;

    (void)task;
    (void)err;
    *s->row = *row;
    if (log)
        *s->log = *log;
    s->row->error = dse_arena_strdup(s->arena, row->error);
    return DSE_OK;
}

static void tick_single(void *user) { (void)user; }

dse_status drv_external_run_point(const drv_external *x, const drv_study *s, const strategy *p, dse_arena *a,
                                  store_row *row, drv_astra_log *log, dse_error *err)
{
    single one = {s, p, false, a, row, log};
    const drv_external_calls calls = {next_single, keep_single, tick_single, &one};

    return drv_external_run(x, 1, &calls, err);
}
