#include "cli/external.h"

#include "base/array.h"
#include "cli/simulated.h"
#include "report/tree.h"

#include <inttypes.h>
#include <string.h>

const char *const external_engines[] = {"native", DRV_EXTERNAL_ENGINE, NULL};

#define FIELD(f) .offset = offsetof(external_options, f)

static const option options[] = {
    {"--stage-cmd", OPT_STRING, "COMMAND", "",
     "STAGE, as \"python3 stage/main.py\"; split into words as by a shell", FIELD(tools.stage)},
    {"--astrasim-bin", OPT_STRING, "COMMAND", "", "ASTRA-sim, for example bin/" DRV_UNAWARE_PROGRAM,
     FIELD(tools.simulator[DRV_UNAWARE])},
    {"--astrasim-aware-bin", OPT_STRING, "COMMAND", "",
     "ASTRA-sim for systems with backend congestion_aware, for example bin/" DRV_AWARE_PROGRAM,
     FIELD(tools.simulator[DRV_AWARE])},
    {"--timeout", OPT_DOUBLE, "SECONDS", "0",
     "for each run of STAGE and of ASTRA-sim, which is killed then; 0: none", .min = 0, .max = 1e8,
     FIELD(tools.timeout_seconds)},
    {"--discard-workloads", OPT_FLAG, NULL, "false",
     "remove a point's traces and ASTRA-sim's of memory once simulated", FIELD(tools.discard_workloads)},
};

OPTION_ROWS(external_group)

option_list external_settings(const external_options *o, const option_list *set, dse_arena *a)
{
    const char **item = DSE_ARENA_NEW(a, const char *, set->n + 2);
    option_list all = {set->n, item};

    for (size_t i = 0; i < set->n; i++)
        item[i] = set->item[i];
    if (o->version)
        item[all.n++] = dse_arena_printf(a, "simulator.version=%s", o->version);
    if (o->stage_version)
        item[all.n++] = dse_arena_printf(a, "stage.version=%s", o->stage_version);
    return all;
}

dse_status external_choose(const external_options *o, bool needs_stage, dse_arena *a,
                           const drv_external **tools, dse_error *err)
{
    const drv_external_options *t = &o->tools;
    const struct {
        const char *option;
        bool given, required;
    } said[] = {{"--stage-cmd", t->stage != NULL, needs_stage},
                {"--astrasim-bin", t->simulator[DRV_UNAWARE] != NULL, !t->simulator[DRV_AWARE]},
                {"--astrasim-aware-bin", t->simulator[DRV_AWARE] != NULL, false},
                {"--timeout", t->timeout_seconds > 0, false},
                {"--discard-workloads", t->discard_workloads, false}};
    bool native = !strcmp(o->engine, external_engines[0]);
    drv_external *out;

    *tools = NULL;
    for (size_t i = 0; i < DSE_COUNT(said); i++) {
        if (native && said[i].given)
            return dse_fail(err, DSE_E_USAGE, "%s needs --engine " DRV_EXTERNAL_ENGINE, said[i].option);
        if (!native && said[i].required && !said[i].given)
            return dse_fail(err, DSE_E_USAGE, "--engine " DRV_EXTERNAL_ENGINE " needs %s", said[i].option);
    }
    if (native)
        return DSE_OK;
    out = DSE_ARENA_NEW(a, drv_external, 1);
    *tools = out;
    return drv_external_init(t, a, out, err);
}

/* ---- one point, printed -------------------------------------------------------------------- */

/* The keys of the native engine's JSON, of rank 0. */
static void put_rank(const drv_astra_log *log, report_node *to)
{
    static const struct {
        const char *key;
        drv_log_field field;
        bool real;
    } keys[] = {
        {"wall_time", DRV_LOG_WALL_TIME, false},           {"gpu_time", DRV_LOG_GPU_TIME, false},
        {"comm_time", DRV_LOG_COMM_TIME, false},           {"cpu_time", DRV_LOG_CPU_TIME, false},
        {"remote_mem_time", DRV_LOG_REMOTE_TIME, false},   {"exposed_comm", DRV_LOG_EXPOSED_COMM, false},
        {"peak_memory_bytes", DRV_LOG_PEAK_MEMORY, false}, {"compute_bound_pct", DRV_LOG_COMPUTE_BOUND, true},
        {"compute_util_pct", DRV_LOG_COMPUTE_UTIL, true},  {"mem_util_pct", DRV_LOG_MEM_UTIL, true},
        {"op_intensity", DRV_LOG_OP_INTENSITY, true}};

    for (size_t i = 0; i < DSE_COUNT(keys); i++) {
        const drv_log_value *v = &log->rank0[keys[i].field];

        if (v->present)
            report_put(to, keys[i].real ? V_FIXED(keys[i].key, v->real, v->decimals)
                                        : V_COUNT(keys[i].key, v->count));
    }
}

static void print_json(const drv_study *s, const strategy *p, const store_row *row, const drv_astra_log *log,
                       dse_strbuf *out)
{
    const bool has_memory = row->metrics.peak_memory != STORE_ABSENT;
    report_tree t;
    report_node *root = report_tree_begin(&t);
    dse_strbuf config = dse_strbuf_in(&t.arena);

    drv_study_write_config(s, p, &config);
    report_put(root, V_RAW("config", config.data), V_COUNT("wall_time", row->metrics.wall_time),
               V_GIVEN(has_memory, V_COUNT("peak_memory_bytes", row->metrics.peak_memory)),
               V_GIVEN(has_memory, V_BOOL("memory_rounded", row->memory_rounded)),
               V_TEXT("memory_counts", "elements"));
    put_rank(log, report_object(report_object(root, "sys"), "0"));
    report_tree_end(&t, out);
}

static void print_text(const drv_external *tools, const drv_study *s, const strategy *p, const store_row *row,
                       dse_strbuf *out)
{
    const store_metrics *m = &row->metrics;

    simulated_heading(s, p, out);
    simulated_time("step time", m->wall_time, "", out);
    simulated_time("compute, rank 0", m->gpu_time, "", out);
    simulated_time("communication, rank 0", m->comm_time, "", out);
    simulated_time("exposed, rank 0", m->exposed_comm, "", out);
    if (m->peak_memory != STORE_ABSENT)
        dse_strbuf_addf(out, "  %-22s %s  (%s%" PRIu64 ", elements counted as bytes)\n", "peak memory",
                        report_bytes(m->peak_memory).text, row->memory_rounded ? "rounded, about " : "",
                        m->peak_memory);
    simulated_rate("compute utilisation", m->compute_util, "%", out);
    simulated_rate("memory utilisation", m->mem_util, "%", out);
    simulated_rate("compute-bound", m->compute_bound, "%", out);
    simulated_rate("operational intensity", m->op_intensity, "op/B", out);
    dse_strbuf_addf(out, "  %-22s %s\n", "simulated by",
                    tools->simulator[drv_simulator_of(&s->system)].word[0]);
}

dse_status external_simulate(const drv_external *tools, drv_study *s, const strategy *p, bool json,
                             command_run *r, dse_error *err)
{
    drv_external_point plan;
    drv_astra_log log;
    store_row row;
    dse_status st;

    s->engine = DRV_EXTERNAL_ENGINE;
    /* A refusal before anything runs is bad input, not a fault of the tools. */
    if ((st = drv_external_plan(tools, s, p, r->arena, &plan, err)) != DSE_OK ||
        (st = drv_external_run_point(tools, s, p, r->arena, &row, &log, err)) != DSE_OK)
        return st;
    if (!row.done)
        return dse_fail(err, DSE_E_CHILD, "%s", row.error);
    if (json)
        print_json(s, p, &row, &log, r->out);
    else
        print_text(tools, s, p, &row, r->out);
    return DSE_OK;
}
