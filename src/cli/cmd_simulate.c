/* One strategy of a model on a system, in memory. */
#include "base/array.h"
#include "cli/command.h"
#include "cli/external.h"
#include "cli/one_point.h"
#include "cli/shortcuts.h"
#include "cli/simulated.h"
#include "cli/training.h"
#include "driver/emit.h"
#include "driver/links.h"
#include "driver/timeline.h"
#include "driver/training_timeline.h"
#include "report/parts.h"
#include "report/sizes.h"
#include "report/traps.h"
#include "report/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *model, *system, *point, *emit, *trace, *timeline, *links_csv;
    strategy_options strategy;
    int64_t tag_base;
    int64_t rank;
    bool json, links, collectives, memory;
    option_list set;
    sizing_options sizing;
    external_options external;
    shortcuts_options shortcuts;
} simulate_options;

#define FIELD(f) .offset = offsetof(simulate_options, f)

static const option options[] = {
    OPTION_MODEL,
    OPTION_SYSTEM,
    OPTION_POINT,
    OPTION_GROUP(strategy_value_options, strategy),
    {"--tag-base", OPT_INT, "N", "885440", "tag of the first send, with pp above 1", .min = 0, .max = 1000000,
     FIELD(tag_base)},
    OPTION_GROUP(sizing_group, sizing),
    OPTION_SET,
    OPTION_ENGINE("native"),
    OPTION_ASTRASIM_VERSION,
    OPTION_STAGE_VERSION,
    OPTION_GROUP(external_group, external),
    {"--json", OPT_FLAG, NULL, "false", "print everything as JSON, every rank by itself", FIELD(json)},
    {"--emit", OPT_STRING, "DIR", "", "also write the traces, groups and configurations for upstream tools",
     FIELD(emit)},
    {"--trace", OPT_STRING, "FILE", "", "also write every node's issue and finish tick as CSV", FIELD(trace)},
    {"--timeline", OPT_STRING, "FILE", "",
     "also write the run as a Chrome trace, for Perfetto and, of profile stage, 'ccldse metrics'; compressed "
     "if it ends in .gz",
     FIELD(timeline)},
    {"--collectives", OPT_FLAG, NULL, "false",
     "also list the collectives that a rank calls in the step; profile train", FIELD(collectives)},
    {"--memory", OPT_FLAG, NULL, "false",
     "also list what the peak of each pipeline rank holds; profile train", FIELD(memory)},
    {"--rank", OPT_INT, "N", "0", "the rank of --collectives", .min = 0, .max = 1e9, FIELD(rank)},
    {"--links", OPT_FLAG, NULL, "false",
     "also print what the links carried: the bottleneck, each dimension, the 20 busiest; with --json every "
     "link. With network.backend=congestion_aware only",
     FIELD(links)},
    {"--links-csv", OPT_STRING, "FILE", "", "also write what every link carried as CSV, the busiest first",
     FIELD(links_csv)},
    OPTION_GROUP(shortcuts_group, shortcuts),
};

/* Everything that is printed. */
typedef struct {
    drv_study study;
    strategy point;
    sim_result result;
    store_metrics metrics;
} simulated;

/* ---- JSON ---------------------------------------------------------------------------------- */

static void put_rank(const sim_rank_stats *s, report_node *to)
{
    report_put(to, V_COUNT("wall_time", s->wall), V_COUNT("gpu_time", s->gpu), V_COUNT("comm_time", s->comm),
               V_GIVEN(s->has_cpu, V_COUNT("cpu_time", s->cpu)),
               V_GIVEN(s->has_remote_memory, V_COUNT("remote_mem_time", s->remote_memory)),
               V_COUNT("exposed_comm", s->exposed_comm), V_COUNT("finished_cycles", s->finished),
               V_GIVEN(s->has_memory, V_COUNT("peak_memory_bytes", s->peak_memory)));
    if (s->has_utilisation)
        report_put(to, V_FIXED("compute_bound_pct", s->compute_bound * 100, 3),
                   V_FIXED("compute_util_pct", s->compute_util * 100, 3),
                   V_FIXED("mem_util_pct", s->memory_util * 100, 3),
                   V_FIXED("op_intensity", s->op_intensity, 3));
}

/* The figures of the network, which are not among the parts. */
static void put_network(const store_metrics *m, report_node *to)
{
    static const char *const names[] = {"undercharged_messages", "flat_ring_collectives", "fallback",
                                        "busiest_link", "busiest_link_util"};

    for (size_t i = 0; i < DSE_COUNT(names); i++)
        report_put_known(to, m, store_column_find(names[i]));
}

static void print_json(const simulate_options *o, const simulated *s, command_run *run)
{
    const sim_result *r = &s->result;
    const store_sizes sizes = drv_sizes_of(&s->study.model);
    const store_metrics *m = &s->metrics;
    report_tree t;
    report_node *root = report_tree_begin(&t), *ranks;
    dse_strbuf config = dse_strbuf_in(run->arena);

    drv_study_write_config(&s->study, &s->point, &config);
    report_put(root, V_RAW("config", config.data), V_COUNT("wall_time", m->wall_time),
               V_GIVEN(m->peak_memory != STORE_ABSENT, V_COUNT("peak_memory_bytes", m->peak_memory)),
               V_TEXT("memory_counts", report_sizes_word(&sizes)), V_COUNT("nodes", r->n_nodes),
               V_COUNT("messages", r->n_messages));
    put_network(m, root);
    report_put_known(root, m, store_column_find("cost_per_step"));
    report_put_known(root, m, store_column_find("energy_per_step"));
    report_put_parts(m, root);
    if (o->links)
        drv_links_put(r->load, run->arena, report_object(root, "links"));
    ranks = report_object(root, "sys");
    for (uint32_t i = 0; i < r->n_ranks; i++)
        put_rank(&r->rank[i], report_object(ranks, dse_arena_printf(run->arena, "%" PRIu32, i)));
    report_tree_end(&t, run->out);
}

/* ---- text ---------------------------------------------------------------------------------- */

/* A time of all ranks: one value, or the range if they differ. */
static void time_line(const sim_result *r, const char *label, size_t offset, dse_strbuf *out)
{
    uint64_t low = UINT64_MAX, high = 0;

    for (uint32_t i = 0; i < r->n_ranks; i++) {
        uint64_t v = *(const dse_time *)(const void *)((const char *)&r->rank[i] + offset);
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    if (high != low)
        dse_strbuf_addf(out, "  %-22s %s .. %s over the ranks\n", label, report_time(low).text,
                        report_time(high).text);
    else
        simulated_time(label, low, "", out);
}

static void print_text(const simulate_options *o, const simulated *s, command_run *run)
{
    const sim_result *r = &s->result;
    const store_metrics *m = &s->metrics;
    const sim_rank_stats *zero = &r->rank[0];
    const store_sizes sizes = drv_sizes_of(&s->study.model);
    dse_strbuf *out = run->out;

    simulated_heading(&s->study, &s->point, out);
    simulated_time("step time", m->wall_time, "", out);
    simulated_costs(m, out);
    time_line(r, "compute", offsetof(sim_rank_stats, gpu), out);
    time_line(r, "communication", offsetof(sim_rank_stats, comm), out);
    time_line(r, "exposed communication", offsetof(sim_rank_stats, exposed_comm), out);
    if (m->peak_memory != STORE_ABSENT)
        dse_strbuf_addf(out, "  %-22s %s  (%" PRIu64 ", %s)\n", "peak memory",
                        report_bytes(m->peak_memory).text, m->peak_memory,
                        report_in_bytes(&sizes) ? "bytes" : "elements counted as bytes");
    if (zero->has_utilisation) {
        simulated_rate("compute utilisation", zero->compute_util * 100, "%", out);
        simulated_rate("memory utilisation", zero->memory_util * 100, "%", out);
        simulated_rate("compute-bound", zero->compute_bound * 100, "%", out);
        simulated_rate("operational intensity", zero->op_intensity, "op/B", out);
    }
    dse_strbuf_addf(out, "  %-22s %" PRIu32 " ranks, %" PRIu64 " nodes, %" PRIu64 " messages\n", "simulated",
                    r->n_ranks, r->n_nodes, r->n_messages);
    if (m->fallback)
        dse_strbuf_addf(out, "  %-22s the slow one: %s\n", "engine", sim_fallback_text(r->fallback));
    report_parts_print(m, out);
    if (report_in_bytes(&sizes))
        report_sizes_print_one(&sizes, "", out);
    if (o->links) {
        dse_strbuf_addc(out, '\n');
        drv_links_print(r->load, run->arena, out);
    }
    report_traps_print_point(m, out);
}

/* ---- profile train ------------------------------------------------------------------------- */

/* The step as a workload: written, and simulated if that is asked for. */
static dse_status unroll(const simulate_options *o, const simulated *s, const step_result *step,
                         command_run *r, drv_unrolled *u, dse_error *err)
{
    trace_ticks record;
    dse_status st;

    if ((st = drv_unrolled_make(&s->study, &s->point, step, r->arena, u, err)) != DSE_OK ||
        (o->emit && (st = drv_emit_point(&u->system, &u->workload, o->emit, r->arena, err)) != DSE_OK) ||
        (st = drv_unrolled_simulate(&s->study, &s->point, r->arena, u, o->trace ? &record : NULL, err)) !=
            DSE_OK)
        return st;
    if (o->trace)
        st = trace_ticks_save_csv(&record, o->trace, err);
    if (st == DSE_OK && o->links_csv)
        st = drv_links_save_csv(u->result.load, o->links_csv, r->arena, err);
    return st;
}

static dse_status simulate_training(const simulate_options *o, simulated *s, command_run *r, dse_error *err)
{
    const training_lists lists = {
        .collectives = o->collectives, .memory = o->memory, .links = o->links, .rank = (uint32_t)o->rank};
    const bool unrolls =
        o->shortcuts.no_symmetry || o->shortcuts.no_memo || o->emit || o->trace || o->links || o->links_csv;
    training_shown shown = {.study = &s->study, .point = &s->point};
    drv_unrolled unrolled;
    dse_status st;

    if (!unrolls && shortcuts_given(&o->shortcuts))
        return dse_fail(err, DSE_E_USAGE,
                        "--plain-memory limits a run in which every rank is simulated; of profile train give "
                        "--no-symmetry or --no-memo, too");
    if (s->study.tag_base != WL_TAG_BASE)
        return dse_fail(
            err, DSE_E_USAGE,
            "--tag-base is of STAGE's workloads: the card of %s has profile train, whose messages have "
            "tags of their own",
            s->study.model_name);
    st = drv_training_on(&s->study, &s->point, STEP_UNITS, r->arena, &shown.result, err);

    if (st != DSE_OK || (unrolls && (st = unroll(o, s, &shown.result, r, &unrolled, err)) != DSE_OK))
        return st;
    shown.unrolled = unrolls ? &unrolled : NULL;
    drv_training_metrics(&s->study, &s->point, &shown.result, r->arena, &shown.metrics);
    if (o->timeline && (st = drv_training_timeline_save(&s->study, &s->point, &shown.result, o->timeline,
                                                        r->arena, err)) != DSE_OK)
        return st;
    return training_print(&shown, &lists, o->json, r, err);
}

/* ---- the command --------------------------------------------------------------------------- */

static dse_status choose_engine(const simulate_options *o, dse_arena *a, const drv_external **tools,
                                dse_error *err)
{
    const struct {
        const char *option;
        bool given;
    } native[] = {{"--emit", o->emit != NULL},
                  {"--trace", o->trace != NULL},
                  {"--timeline", o->timeline != NULL},
                  {"--links", o->links},
                  {"--links-csv", o->links_csv != NULL},
                  {"--collectives", o->collectives},
                  {"--memory", o->memory}};
    dse_status st = external_choose(&o->external, true, a, tools, err);

    for (size_t i = 0; st == DSE_OK && *tools && i < DSE_COUNT(native); i++)
        if (native[i].given)
            return dse_fail(err, DSE_E_USAGE, "%s needs --engine native", native[i].option);
    return st == DSE_OK ? shortcuts_check(&o->shortcuts, !*tools, err) : st;
}

/* Loads the cards, and refuses options that do not go with them. */
static dse_status load(const simulate_options *o, dse_arena *a, drv_study *study, dse_error *err)
{
    const option_list set = external_settings(&o->external, &o->set, a);
    dse_status st = one_point_load(o->model, o->system, &o->sizing, &set, a, study, err);

    if (st != DSE_OK)
        return st;
    study->tag_base = (uint32_t)o->tag_base;
    study->shortcuts = shortcuts_left(&o->shortcuts);
    return o->links || o->links_csv
               ? drv_links_check(&study->system, "give --set network.backend=congestion_aware", err)
               : DSE_OK;
}

static dse_status simulate(const simulate_options *o, dse_arena *a, simulated *s, dse_error *err)
{
    trace_ticks record;
    wl_workload w;
    dse_status st;

    if ((st = drv_point_generate(&s->study, &s->point, a, &w, err)) != DSE_OK ||
        (o->emit && (st = drv_emit_point(&s->study.system, &w, o->emit, a, err)) != DSE_OK) ||
        (st = drv_point_simulate(&s->study, &w, a, &s->result, o->trace || o->timeline ? &record : NULL,
                                 err)) != DSE_OK)
        return st;
    if (card_model_is_main(&s->study.model))
        simulated_flaws(&w, a);
    drv_metrics_of(&w, &s->result, &s->metrics);
    store_add_costs(strategy_ranks(&s->point), s->study.system.price, s->study.system.power, &s->metrics);
    if (o->trace)
        st = trace_ticks_save_csv(&record, o->trace, err);
    if (st == DSE_OK && o->timeline)
        st = drv_timeline_save(&w, &s->result, &record, o->timeline, a, err);
    if (st == DSE_OK && o->links_csv)
        st = drv_links_save_csv(s->result.load, o->links_csv, a, err);
    return st;
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const simulate_options *o = opts;
    const strategy base = strategy_default();
    const drv_external *tools;
    simulated s;
    dse_status st;

    /* Bad options are refused before a card is read; the card may give what they leave open. */
    if ((st = strategy_options_point(&o->strategy, o->point, &base, &s.point, err)) != DSE_OK ||
        (st = choose_engine(o, r->arena, &tools, err)) != DSE_OK ||
        (st = load(o, r->arena, &s.study, err)) != DSE_OK ||
        (st = one_point_settle(&o->strategy, o->point, &s.study, &s.point, err)) != DSE_OK)
        return st;
    if (tools)
        return external_simulate(tools, &s.study, &s.point, o->json, r, err);
    if (s.study.training)
        return simulate_training(o, &s, r, err);
    if (o->collectives || o->memory)
        return dse_fail(err, DSE_E_USAGE,
                        "--collectives and --memory need profile train; the card of %s has profile stage",
                        s.study.model_name);
    st = simulate(o, r->arena, &s, err);
    if (st == DSE_OK)
        (o->json ? print_json : print_text)(o, &s, r);
    return st;
}

const command command_simulate = {
    .name = "simulate",
    .summary = "simulate one strategy of a model on a system",
    .details =
        "Simulates a training step in memory. The profile is the model card's ('ccldse models'). Profile "
        "train is the step that training programs run, with micro-batches, pipeline schedules and sharding; "
        "--like, --schedule, --zero and others below say how. Profile stage generates STAGE's workload; the "
        "figures are those that STAGE and ASTRA-sim give; --emit writes what it takes to see that with the "
        "tools themselves, and --engine astrasim runs them. "
        "With network.backend=congestion_aware messages queue for links, and --links says what each "
        "direction of a link carried and for which share of the run it was busy.",
    .example =
        "ccldse simulate --model llama70b --system system1 --dp 8 --sp 8 --recompute\n"
        "ccldse simulate --model gpt3-175b --system selene_a100_80gb --npus 1024 --tp 8 --pp 16 --vp 6 "
        "--batch 1536",
    COMMAND_OPTIONS(options, simulate_options),
    .is_prose = true,
    .run = run,
};
