/* What a recorded run would take if something of it were different. */
#include "base/array.h"
#include "cli/exit.h"
#include "cli/metrics.h"
#include "driver/other_system.h"
#include "report/prose.h"
#include "report/tree.h"
#include "whatif/compat.h"
#include "whatif/emit.h"
#include "whatif/question.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the replay against the recording, from which on the answers are to be doubted aloud. */
#define GOOD_REPLAY 0.03

typedef struct {
    const char *trace, *step, *overlap, *recorded_on, *emit, *compat, *marker;
    option_list scale, system;
    double host;
    int64_t dp, max_ranks, jobs;
    bool no_stragglers, replicate, json;
} whatif_options;

#define FIELD(f) .offset = offsetof(whatif_options, f)

static const char *const overlaps[] = {"perfect", NULL};

static const option options[] = {
    {"--trace", OPT_STRING, "DIR", NULL, "a directory of Kineto traces of one run, or one file",
     FIELD(trace)},
    {"--scale", OPT_LIST, "NAME=FACTOR", "",
     "network, network.{dp,tp,pp,ep,cp}: times the bandwidth; compute, gemm, attention, elementwise, "
     "reduction, "
     "embedding, memory, other, copies, host, /PATTERN/ of kernels: times the time; again for another",
     FIELD(scale)},
    {"--host", OPT_DOUBLE, "FACTOR", "",
     "times the time of the host and of launches; 0: as CUDA graphs would", .min = 0, .max = 1000,
     FIELD(host)},
    {"--no-stragglers", OPT_FLAG, NULL, "false", "each kernel takes the median over the ranks of its place",
     FIELD(no_stragglers)},
    {"--overlap", OPT_STRING, "HOW", "", "computation and communication never wait for each other",
     .choices = overlaps, FIELD(overlap)},
    {"--dp", OPT_INT, "N", "", "ranks of each group of data parallelism; its collectives move as much more",
     .min = 2, .max = 1e7, FIELD(dp)},
    {"--system", OPT_LIST, "NAME", "",
     "on another system, by the name of a card, or its path: kernels by the laws of both devices, of their "
     "shapes where the trace has them; collectives simulated on both networks; again for another",
     FIELD(system)},
    {"--recorded-on", OPT_STRING, "NAME", "",
     "with --system: the card of the system that was recorded; that of the device in the trace unless given",
     FIELD(recorded_on)},
    {"--step", OPT_STRING, "N", "", "the number of the step, or all; the median one unless given",
     FIELD(step)},
    {"--replicate", OPT_FLAG, NULL, "false", "ranks that were not recorded did what the recorded ones do",
     FIELD(replicate)},
    {"--emit", OPT_STRING, "DIR", "",
     "write the recorded step as what 'ccldse astrasim' and ASTRA-sim run: Chakra traces and groups",
     FIELD(emit)},
    {"--compat", OPT_STRING, "MODE", "",
     "with --emit: the conversion of CCL-Bench, flaws included: collectives and gaps in a chain, a chain for "
     "each group, all kernels by rank or by stream alone; that of Chakra, of host and GPU, for which "
     "PyTorch's "
     "execution traces lie in the directory, too; of TPUs",
     .choices = whatif_compat_names, FIELD(compat)},
    {"--marker", OPT_STRING, "TEXT", "jit_train_step",
     "with --compat tpu-...: in the names of what a step begins with; --step is its number, from 0",
     FIELD(marker)},
    {"--max-ranks", OPT_INT, "N", "", "the first N ranks only", .min = 1, .max = 1e9, FIELD(max_ranks)},
    {"--jobs", OPT_INT, "N", "", "files read at a time; as many as there are cores unless given", .min = 1,
     .max = 4096, FIELD(jobs)},
    {"--json", OPT_FLAG, NULL, "false", "JSON instead of tables", FIELD(json)},
};

/* One line of the answer. */
typedef struct {
    const char *what;
    whatif_question q;
    size_t system; /* of --system: its place and 1, as what is of it waits for the graph; 0: of none */
} asked;

typedef struct {
    const whatif_options *o;
    command_run *r;
    drv_recording recording;
    whatif_recording from;
    whatif_recorded recorded;
    whatif_answer measured, replayed;
    size_t n;
    asked *ask;
    bool usual;              /* these are not the user's questions */
    drv_other_system *other; /* of each --system */
} job;

static void add(job *j, const char *what, whatif_question q)
{
    j->ask[j->n++] = (asked){.what = what, .q = q};
}

static dse_status add_scale(job *j, const char *text, whatif_question *all, dse_error *err)
{
    whatif_question q = whatif_no_change();
    dse_status st = whatif_scale(&q, text, err);

    if (st == DSE_OK && (st = whatif_scale(all, text, err)) == DSE_OK)
        add(j, text, q);
    return st;
}

/* All changes at once; on each of several systems. */
static void add_together(job *j, const whatif_question *all)
{
    const option_list *system = &j->o->system;

    if (system->n < 2) {
        add(j, "all of these", *all);
        j->ask[j->n - 1].system = system->n;
        return;
    }
    for (size_t i = 0; i < system->n; i++) {
        add(j, dse_arena_printf(j->r->arena, "all of these, %s", system->item[i]), *all);
        j->ask[j->n - 1].system = i + 1;
    }
}

/* The questions: each change alone, and all together. Without any those that most people have. */
static dse_status list_questions(job *j, dse_error *err)
{
    static const char *const usual[] = {"network=2", "network=inf", "compute=0.5", "gemm=0.5", "host=0"};
    const whatif_options *o = j->o;
    dse_arena *a = j->r->arena;
    whatif_question all = whatif_no_change(), q;
    bool some = o->scale.n || !isnan(o->host) || o->no_stragglers || o->overlap || o->dp || o->system.n;
    size_t n_alone;
    dse_status st = DSE_OK;

    j->usual = !some;
    j->ask = DSE_ARENA_NEW(a, asked, o->scale.n + DSE_COUNT(usual) + 7 + 2 * o->system.n);
    for (size_t i = 0; i < (some ? o->scale.n : DSE_COUNT(usual)) && st == DSE_OK; i++)
        st = add_scale(j, some ? o->scale.item[i] : usual[i], &all, err);
    if (st == DSE_OK && !isnan(o->host))
        st = add_scale(j, dse_arena_printf(a, "host=%g", o->host), &all, err);
    if (st != DSE_OK)
        return st;
    q = whatif_no_change();
    q.no_stragglers = true;
    if ((all.no_stragglers = o->no_stragglers || !some))
        add(j, "no stragglers", q);
    q = whatif_no_change();
    q.overlap = true;
    if ((all.overlap = o->overlap || !some))
        add(j, "perfect overlap", q);
    q = whatif_no_change();
    if ((q.dp = all.dp = (uint32_t)o->dp))
        add(j, dse_arena_printf(a, "dp=%u", q.dp), q);
    n_alone = j->n;
    for (size_t i = 0; i < o->system.n; i++) {
        add(j, dse_arena_printf(a, "system=%s", o->system.item[i]), whatif_no_change());
        j->ask[j->n - 1].system = i + 1;
    }
    if (some && n_alone + (o->system.n > 0) > 1)
        add_together(j, &all);
    return DSE_OK;
}

/* The factors of --system, which take the graph. */
static dse_status ask_of_system(job *j, dse_error *err)
{
    const option_list *system = &j->o->system;
    dse_status st = DSE_OK;

    j->other = DSE_ARENA_NEW(j->r->arena, drv_other_system, system->n + 1);
    for (size_t i = 0; i < system->n && st == DSE_OK; i++)
        st = drv_other_system_of(&j->recorded, &j->from, system->item[i], j->o->recorded_on, j->r->arena,
                                 &j->other[i], err);
    for (size_t i = 0; st == DSE_OK && i < j->n; i++)
        if (j->ask[i].system) {
            j->ask[i].q.op_time = j->other[j->ask[i].system - 1].op_time;
            j->ask[i].q.collective_time = j->other[j->ask[i].system - 1].collective_time;
        }
    return st;
}

static dse_status step_of(const char *text, int64_t *out, dse_error *err)
{
    char *end;

    *out = WHATIF_MEDIAN_STEP;
    if (!text)
        return DSE_OK;
    *out = strcmp(text, "all") == 0 ? WHATIF_ALL_STEPS : strtoll(text, &end, 10);
    if (*out != WHATIF_ALL_STEPS && (*end || end == text))
        return dse_fail(err, DSE_E_USAGE, "--step takes a number or all; got '%.40s'", text);
    return DSE_OK;
}

static double change_of(int64_t to, int64_t from) { return from ? (double)to / (double)from - 1 : NAN; }

static uint64_t ns_of(const job *j, int64_t ps)
{
    return (uint64_t)(ps / TRACE_PS_PER_NS) / (j->recorded.n_steps ? j->recorded.n_steps : 1);
}

/* ---- output ---------------------------------------------------------------------------------- */

static void add_answer(const job *j, const char *what, const char *kind, const whatif_answer *v,
                       const char *why, report_node *list)
{
    int64_t base = j->replayed.step;

    report_row(list, V_AS("", V_TEXT("change", what)), V_GIVEN(kind, V_TEXT("kind", kind)),
               V_AS("step", V_KNOWN(v, "step_ns", V_TIME("step_ns", ns_of(j, v->step)))),
               V_AS("slowest rank", V_KNOWN(v, "slowest_ns", V_TIME("slowest_ns", ns_of(j, v->slowest)))),
               V_AS("exposed comm", V_KNOWN(v, "exposed_ns", V_TIME("exposed_ns", ns_of(j, v->exposed)))),
               V_CELL("against the replay", v ? report_signed_percent(change_of(v->step, base)).text : "-"),
               V_KNOWN(v, "change_frac", V_REAL("change_frac", change_of(v->step, base))),
               V_GIVEN(why, V_TEXT("absent", why)));
}

/* Where the path goes that is as long as the step. */
static void add_path(const job *j, const whatif_answer *v, report_node *list)
{
    const struct {
        const char *what;
        int64_t ps;
    } other[] = {{"host", v->path_host},
                 {"launch", v->path_launch},
                 {"gaps of streams, graphs", v->path_device},
                 {"collectives", v->path_network},
                 {"earlier steps", v->path_order},
                 {"copies", v->path_run[WHATIF_COPY]}};
    int64_t sum = 0;

    for (size_t i = 0; i < METRIC_WORKS; i++)
        sum += v->path_run[i];
    for (size_t i = 0; i < DSE_COUNT(other); i++)
        sum += other[i].ps;
    for (size_t i = 0; i < DSE_COUNT(other) + METRIC_WORKS; i++) {
        bool is_work = i >= DSE_COUNT(other);
        size_t k = is_work ? i - DSE_COUNT(other) : i;
        const char *what = !is_work                ? other[k].what
                           : k == METRIC_WORK_COMM ? "unmatched collectives"
                                                   : metric_work_name[k];
        int64_t ps = is_work ? v->path_run[k] : other[k].ps;

        if (ps > 0)
            report_row(list, V_AS("critical path", V_TEXT("what", what)),
                       V_AS("time", V_TIME("ns", ns_of(j, ps))),
                       V_CELL("share", report_format("%.1f %%", 100 * (double)ps / (double)sum).text),
                       V_REAL("share_frac", (double)ps / (double)sum));
    }
}

static void add_system_notes(const drv_other_system *v, const char *name, report_node *list)
{
    if (name)
        report_add(list, V_TEXT(NULL, report_format("system=%s:", name).text));
    report_add(list, V_TEXT(NULL, v->gpu ? report_format("recorded on: %s, by the device's name (%s); "
                                                         "--recorded-on names another card",
                                                         v->recorded_on, v->gpu)
                                               .text
                                         : report_format("recorded on: %s", v->recorded_on).text));
    report_add(list,
               V_TEXT(NULL, report_format("kernels: by the laws of both devices (types of more than 8 bits "
                                          "by the peak of 16), %u by their shapes, "
                                          "%u by their class (products x%.3g, attention x%.3g, others by "
                                          "the bandwidth of memory x%.3g); copies and the host as recorded",
                                          v->n_by_shape, v->n_by_class, v->of_class[DRV_OTHER_PRODUCTS],
                                          v->of_class[DRV_OTHER_ATTENTION], v->of_class[DRV_OTHER_MEMORY])
                                .text));
    report_add(list,
               V_TEXT(NULL, report_format("collectives: %u by simulation on both networks, rank i on NPU i, "
                                          "of which %u by a size that follows from their time; %u as "
                                          "recorded",
                                          v->n_simulated, v->n_by_time, v->n_as_recorded)
                                .text));
}

static void add_notes(const job *j, report_node *list)
{
    const whatif_graph *g = &j->recorded.graph;
    const trace_rank *rank = j->from.view[0].rank;
    double error = change_of(j->replayed.step, j->measured.step);

#define NOTE(...) report_add(list, V_TEXT(NULL, report_format(__VA_ARGS__).text))
    if (!(fabs(error) <= GOOD_REPLAY))
        NOTE("the replay of the unchanged run is off by %s: believe no change smaller than that",
             report_signed_percent(error).text);
    if (!j->recorded.has_steps)
        NOTE("the recording has no step markers (ProfilerStep#): all of it is taken as one step");
    if (rank->world_size > g->n_ranks)
        NOTE("%u of %u ranks are recorded; the others %s", g->n_ranks, rank->world_size,
             j->from.replicate ? "are taken to do the same (--replicate)" : "are not simulated");
    if (g->n_part_recorded)
        NOTE("%u of %u collectives have ranks that are not recorded: they take what was recorded, waiting "
             "included",
             g->n_part_recorded, g->n_collectives);
    if (g->n_unmatched)
        NOTE("%u communications have no counterpart in the other ranks: they take what was recorded",
             g->n_unmatched);
    if (g->n_unlaunched)
        NOTE("%u operations of the GPU have no launch in the recording: they keep their place",
             g->n_unlaunched);
    for (size_t i = 0; i < j->o->system.n; i++)
        add_system_notes(&j->other[i], j->o->system.n > 1 ? j->o->system.item[i] : NULL, list);
    if (j->o->dp)
        NOTE(
            "--dp: collectives of data parallelism take as much longer as a ring moves more; computation and "
            "loading of data are unchanged");
#undef NOTE
}

static dse_status answer(job *j, report_node *root, dse_error *err)
{
    const drv_recording *rec = &j->recording;
    dse_arena *a = j->r->arena;
    report_node *list, *notes;
    whatif_question none = whatif_no_change();
    whatif_answer v;
    dse_status st = whatif_ask(&j->recorded, &j->from, &none, a, &j->replayed, err);

    if (st != DSE_OK)
        return st;
    j->measured = whatif_measured(&j->recorded, a);
    report_put(root, V_TEXT("trace", j->o->trace), V_COUNT("ranks", rec->n_views),
               V_KNOWN(j->recorded.has_steps, "step", V_INTEGER("step", j->recorded.number)),
               V_COUNT("steps", j->recorded.n_steps), V_TIME("measured_ns", ns_of(j, j->measured.step)),
               V_TIME("replayed_ns", ns_of(j, j->replayed.step)),
               V_REAL("replay_error_frac", change_of(j->replayed.step, j->measured.step)),
               V_COUNT("operations", j->recorded.graph.n_ops),
               V_COUNT("collectives", j->recorded.graph.n_collectives),
               V_BOOL("replicated", j->from.replicate));
    list = report_lines(root, "answers");
    add_answer(j, "as recorded", "measured", &j->measured, NULL, list);
    add_answer(j, "replayed unchanged", "replayed", &j->replayed, NULL, list);
    for (size_t i = 0; i < j->n; i++) {
        dse_error why = DSE_ERROR_INIT;

        st = whatif_ask(&j->recorded, &j->from, &j->ask[i].q, a, &v, &why);
        if (st != DSE_OK) {
            report_warning("%s: %s", j->ask[i].what, dse_error_say(&why).text);
            j->r->code = j->usual ? EXIT_DONE : EXIT_NO;
        }
        add_answer(j, j->ask[i].what, NULL, st == DSE_OK ? &v : NULL, st == DSE_OK ? NULL : why.text, list);
    }
    add_path(j, &j->replayed, report_lines(root, "path"));
    notes = report_list(root, "notes");
    add_notes(j, notes);
    return DSE_OK;
}

/* "- ..." in lines of the width of reports. */
static void print_note(const char *text, dse_strbuf *out)
{
    dse_strbuf_adds(out, "- ");
    dse_strbuf_add_wrapped(out, text, 2, REPORT_WIDTH);
    dse_strbuf_addc(out, '\n');
}

static void print(const job *j, report_tree *t)
{
    const report_node *v;
    dse_strbuf *out = j->r->out;

    dse_strbuf_addf(out, "%s: %u rank%s", j->o->trace, j->recording.n_views,
                    j->recording.n_views == 1 ? "" : "s");
    if (j->recorded.has_steps && j->recorded.n_steps > 1)
        dse_strbuf_addf(out, ", mean of %u steps", j->recorded.n_steps);
    else if (j->recorded.has_steps)
        dse_strbuf_addf(out, ", step %" PRId64, j->recorded.number);
    dse_strbuf_addf(out, ", replay error %s\n\n",
                    report_signed_percent(change_of(j->replayed.step, j->measured.step)).text);
    for (v = t->root.first; v; v = v->next) {
        if (v->value.kind != REPORT_LIST)
            continue;
        if (strcmp(v->value.key, "notes") != 0) {
            report_rows_table(v, out);
            dse_strbuf_adds(out, v->next->first ? "\n" : "");
        } else
            for (const report_node *n = v->first; n; n = n->next)
                print_note(n->value.text, out);
    }
}

/* ---- files for simulators ----------------------------------------------------------------------- */

/* The trace of each rank; of one that is not recorded that of the first, if asked for. */
static dse_status list_ranks(const job *j, whatif_compat_job *c, dse_error *err)
{
    const drv_recording *rec = &j->recording;
    const trace_rank *first = rec->view[0].rank;
    uint32_t n = j->o->replicate ? first->world_size : 0;
    const char **path;

    for (uint32_t i = 0; i < rec->n_views; i++)
        n = rec->view[i].rank->rank >= n ? rec->view[i].rank->rank + 1 : n;
    if (n > WHATIF_MAX_FILES)
        return dse_fail_at(err, DSE_E_RANGE, j->o->trace, "%u ranks are more than a conversion writes (%u)",
                           n, WHATIF_MAX_FILES);
    path = DSE_ARENA_NEW(j->r->arena, const char *, n);
    for (uint32_t i = 0; i < rec->n_views; i++)
        path[rec->view[i].rank->rank] = rec->view[i].rank->path;
    for (uint32_t i = 0; i < n; i++) {
        if (!path[i] && !j->o->replicate)
            return dse_fail_at(err, DSE_E_ABSENT, j->o->trace,
                               "rank %u is not recorded; --replicate takes it to do the same as rank %u", i,
                               first->rank);
        path[i] = path[i] ? path[i] : first->path;
    }
    c->n_ranks = n;
    c->path = path;
    return DSE_OK;
}

/* The execution traces of the same ranks. */
static dse_status list_hosts(const job *j, drv_recording *hosts, whatif_compat_job *c, dse_error *err)
{
    const drv_recording_options read = {.n_threads = (uint32_t)j->o->jobs, .kinds = METRIC_ON(TRACE_ET)};
    const char **path = DSE_ARENA_NEW(j->r->arena, const char *, c->n_ranks);
    uint32_t first = j->recording.view[0].rank->rank;
    dse_status st = drv_recording_load(j->o->trace, &read, hosts, err);

    for (uint32_t i = 0; st == DSE_OK && i < hosts->n_views; i++) {
        const trace_rank *r = hosts->view[i].rank;

        if (r->kind == TRACE_ET && r->rank < c->n_ranks)
            path[r->rank] = r->path;
    }
    for (uint32_t i = 0; st == DSE_OK && i < c->n_ranks; i++) {
        if (!path[i] && c->path[i] == c->path[first])
            path[i] = path[first];
        if (!path[i])
            st =
                dse_fail_at(err, DSE_E_ABSENT, j->o->trace,
                            "there is no execution trace of rank %u beside its Kineto trace; PyTorch records "
                            "one with torch.profiler.ExecutionTraceObserver",
                            i);
    }
    c->host_path = path;
    return st;
}

static void add_graphs(const whatif_files *v, report_node *list)
{
    for (uint32_t i = 0; i < v->n_ranks; i++) {
        uint64_t bytes = 0, us = 0;
        uint32_t n = 0, n_nodes = 0;

        for (uint32_t k = 0; k < v->et[i].n; k++) {
            if (v->et[i].node[k].type == WL_NODE_INVALID)
                continue;
            n_nodes++;
            bytes += v->et[i].node[k].bytes;
            us += v->et[i].node[k].duration_us;
            n += v->et[i].node[k].type == WL_NODE_COLL;
        }
        report_row(list, V_AS("rank", V_COUNT("rank", i)), V_AS("nodes", V_COUNT("nodes", n_nodes)),
                   V_AS("collectives", V_COUNT("collectives", n)), V_AS("bytes", V_COUNT("bytes", bytes)),
                   V_AS("computation", V_TIME("computation_ns", us * 1000)));
    }
}

static dse_status convert(const job *j, whatif_files *out, dse_error *err)
{
    whatif_compat_job c = {.mode = (whatif_compat)option_place(whatif_compat_names, j->o->compat),
                           .n_ranks = 1,
                           .path = &(const char *){j->recording.view[0].rank->path},
                           .marker = j->o->marker,
                           .iteration =
                               j->from.step >= 0 && j->from.step < UINT32_MAX ? (uint32_t)j->from.step : 1};
    bool is_full = c.mode == WHATIF_COMPAT_FULL || c.mode == WHATIF_COMPAT_FULL_UNPRUNED;
    drv_recording hosts = {0};
    dse_status st = c.mode < WHATIF_COMPAT_TPU_GAP ? list_ranks(j, &c, err) : DSE_OK;

    if (st == DSE_OK && is_full)
        st = list_hosts(j, &hosts, &c, err);
    if (st == DSE_OK)
        st = whatif_compat_convert(&c, j->r->arena, out, err);
    drv_recording_free(&hosts);
    return st;
}

static dse_status emit(job *j, dse_error *err)
{
    const char *mode = j->o->compat;
    whatif_files v;
    report_tree t;
    report_node *notes;
    dse_strbuf *out = j->r->out;
    dse_status st = mode ? convert(j, &v, err) : whatif_emit(&j->recorded, &j->from, j->r->arena, &v, err);

    if (st != DSE_OK || (st = whatif_files_write(&v, j->o->emit, err)) != DSE_OK)
        return st;
    report_tree_begin(&t);
    report_put(&t.root, V_TEXT("folder", j->o->emit), V_GIVEN(mode, V_TEXT("mode", mode)),
               V_COUNT("groups", v.n_groups), V_COUNT("dropped", v.n_dropped));
    add_graphs(&v, report_lines(&t.root, "ranks"));
    notes = v.n_notes ? report_list(&t.root, "notes") : NULL;
    for (uint32_t i = 0; i < v.n_notes; i++)
        report_add(notes, V_TEXT(NULL, v.note[i]));
    if (j->o->json) {
        report_tree_end(&t, out);
        return DSE_OK;
    }
    dse_strbuf_addf(out, "%s: Chakra traces of %u ranks; groups: %u\n\n", j->o->emit, v.n_ranks, v.n_groups);
    for (const report_node *n = t.root.first; n; n = n->next)
        if (n->value.kind == REPORT_LIST && n != notes)
            report_rows_table(n, out);
    dse_strbuf_adds(out, v.n_notes || v.n_dropped ? "\n" : "");
    for (uint32_t i = 0; i < v.n_notes; i++)
        print_note(v.note[i], out);
    if (v.n_dropped)
        print_note(report_format("%u collectives are %s", v.n_dropped,
                                 mode
                                     ? "left out: not all ranks of their group have them alike"
                                     : "computation as long as recorded: their size, or a rank of theirs, is "
                                       "unknown")
                       .text,
                   out);
    report_tree_free(&t);
    return DSE_OK;
}

static dse_status run_job(job *j, dse_error *err)
{
    bool is_tpu = j->o->compat && option_place(whatif_compat_names, j->o->compat) >= WHATIF_COMPAT_TPU_GAP;
    const drv_recording_options read = {.max_ranks = (uint32_t)j->o->max_ranks,
                                        .n_threads = (uint32_t)j->o->jobs,
                                        .kinds = METRIC_ON(is_tpu ? TRACE_XLA : TRACE_KINETO)};
    report_tree tree;
    dse_status st;

    if (j->o->compat && !j->o->emit)
        return dse_fail(err, DSE_E_USAGE, "--compat needs --emit DIR, where the traces are to be");
    if (j->o->recorded_on && !j->o->system.n)
        return dse_fail(err, DSE_E_USAGE, "--recorded-on goes with --system");
    if ((st = step_of(j->o->step, &j->from.step, err)) != DSE_OK || (st = list_questions(j, err)) != DSE_OK ||
        (st = metrics_load(j->o->trace, &read, &j->recording, err)) != DSE_OK)
        return st;
    if (is_tpu && !j->recording.n_views)
        return dse_fail_at(err, DSE_E_ABSENT, j->o->trace, "there is no trace of XLA's profiler");
    if (is_tpu)
        return emit(j, err);
    if (!j->recording.n_views || j->recording.view[0].rank->kind != TRACE_KINETO)
        return dse_fail_at(
            err, DSE_E_ABSENT, j->o->trace,
            "there is no Kineto trace; what a run would take is computed of these alone, as they "
            "have what the host launched");
    if (j->o->compat)
        return emit(j, err);
    j->from.view = j->recording.view;
    j->from.n_views = j->recording.n_views;
    j->from.replicate = j->o->replicate;
    if ((st = whatif_build(&j->from, j->r->arena, &j->recorded, err)) != DSE_OK)
        return st;
    if (j->o->emit)
        return emit(j, err);
    if ((st = ask_of_system(j, err)) != DSE_OK)
        return st;
    report_tree_begin(&tree);
    if ((st = answer(j, &tree.root, err)) != DSE_OK || j->o->json) {
        st == DSE_OK ? report_tree_end(&tree, j->r->out) : report_tree_free(&tree);
        return st;
    }
    print(j, &tree);
    report_tree_free(&tree);
    return DSE_OK;
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    job j = {.o = opts, .r = r};
    dse_status st = run_job(&j, err);

    drv_recording_free(&j.recording);
    return st;
}

static const exit_text exits[] = {
    {EXIT_DONE, "done"},
    {EXIT_NO, "a question that this recording cannot answer"},
    {EXIT_USAGE, "usage"},
    {EXIT_INPUT, "a trace cannot be read"},
    {EXIT_INTERNAL, "out of memory or internal"},
};

const command command_whatif = {
    .name = "whatif",
    .summary = "what a recorded run would take if it were different",
    .details = "Reads Kineto traces of one run, of all ranks, and replays a step of it with something "
               "changed: launches, "
               "streams, waits, calls that block, collectives over all ranks. Each change is answered alone, "
               "and then all "
               "together; without any the usual ones are. The first line has the error of the replay of the "
               "unchanged "
               "run: no answer is better than that.",
    .example = "ccldse whatif --trace traces/run1 --scale network=2 --scale gemm=0.5",
    COMMAND_OPTIONS(options, whatif_options),
    .exits = exits,
    .n_exits = DSE_COUNT(exits),
    .run = run,
};
