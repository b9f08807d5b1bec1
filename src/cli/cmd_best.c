/* The best strategies of a database. */
#include "base/textset.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/progress.h"
#include "cli/remarked.h"
#include "cli/results.h"
#include "cli/terminal.h"
#include "driver/bands.h"
#include "driver/robust.h"
#include "driver/study.h"
#include "report/band.h"
#include "report/certificate.h"
#include "report/joined.h"
#include "report/overview.h"
#include "report/sizes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *db, *model, *system, *by, *tables;
    double hbm_bytes, robust;
    int64_t top, draws, seed;
    bool all, json, explain;
} best_options;

static const char *const tables[] = {"each", "one", NULL};

#define DEFAULT_DB    "results/ccldse.db" /* as sweep and show have it */
#define DEFAULT_DRAWS 256
#define DEFAULT_SEED  1

#define FIELD(f) .offset = offsetof(best_options, f)

static const option options[] = {
    {"--hbm", OPT_SIZE, "SIZE", "",
     "memory of an NPU; points that need more are dropped: 80GB (10^9), 80GiB (2^30)", FIELD(hbm_bytes)},
    {"--model", OPT_STRING, "NAME", "", "only this model", FIELD(model)},
    {"--system", OPT_STRING, "NAME", "", "only this system", FIELD(system)},
    {"--top", OPT_INT, "N", "10", "so many per model and system; 0: all", .min = 0, .max = 1e9, FIELD(top)},
    {"--by", OPT_STRING, "METRIC", "wall_time",
     "what to rank by: wall_time, peak_memory, exposed_comm, compute_util, cost, energy, ...; of profile "
     "train tokens (a second), mfu, ...",
     .complete = COMPLETE_METRIC, FIELD(by)},
    {"--db", OPT_STRING, "FILE", DEFAULT_DB, "the results database", FIELD(db)},
    {"--all", OPT_FLAG, NULL, "false",
     "rank all of the database; without it the points of the last sweep, and what was imported since",
     FIELD(all)},
    {"--tables", OPT_STRING, "WHICH", "",
     "a table for each configuration of a model and system (each), or one of all of them, with what differs "
     "between them in columns (one); after sweep --search one if not given, else each",
     .choices = tables, FIELD(tables)},
    {"--explain", OPT_FLAG, NULL, "false", "also say why the winner wins, and what would change that",
     FIELD(explain)},
    {"--robust", OPT_PERCENT, "SPREAD", "",
     "also say how far to trust the winner: rank again with the system's parameters up to so far off: 10%",
     .min = 0.001, .max = 99.9, FIELD(robust)},
    {"--draws", OPT_INT, "N", "", "with --robust: so many times; 256 if not given", .min = 1, .max = 1e6,
     FIELD(draws)},
    {"--seed", OPT_INT, "N", "", "with --robust: seed of the draws; 1 if not given", .min = 1,
     .max = UINT32_MAX, FIELD(seed)},
    {"--json", OPT_FLAG, NULL, "false", "JSON instead of tables", FIELD(json)},
};

/* Whether remarks are asked for that look at all rows of a study. */
static bool looks(const best_options *o) { return o->explain || !isnan(o->robust); }

/* Remarks on each study beside its ranking; NULL: not asked for. */
typedef struct {
    report_explanation *why;
    report_robust *trust;
    drv_best_band *error; /* of all */
    size_t n_others;      /* results that the last sweep did not ask for, and which are not ranked */
    report_study *joined; /* NULL: a table for each configuration */
    size_t n_joined, n_searched;
    store_searched *searched; /* what a search knows of these points; none: they are not of one */
    size_t n_searched_in_vain;
    double hbm_bytes; /* as asked for */
} remarks;

/* Without --hbm, the limit is the capacity that the system card gave, if it gave one. */
static dse_status add_machine(const best_options *o, report_study *s, dse_arena *a, dse_error *err)
{
    drv_machine machine;
    dse_arena system;
    dse_status st;

    dse_arena_init(&system);
    if ((st = drv_study_machine(s->row[0].config, &system, &machine, err)) == DSE_OK) {
        s->hbm_bytes = isnan(o->hbm_bytes) ? machine.hbm_bytes : o->hbm_bytes;
        s->db = strcmp(o->db, DEFAULT_DB) ? o->db : NULL;
        s->laws = machine.laws ? dse_arena_strdup(a, machine.laws) : NULL;
    }
    dse_arena_free(&system);
    return st;
}

static bool same_names(const report_study *a, const report_study *b)
{
    return !strcmp(a->row[0].model, b->row[0].model) && !strcmp(a->row[0].system, b->row[0].system) &&
           !strcmp(a->row[0].settings, b->row[0].settings) && !strcmp(a->row[0].engine, b->row[0].engine);
}

/* What the search knows of them; NULL: nothing. It is of all points of a model on a system: where two have
 * these names, or the points are in several tables, it would be said of the wrong ones. */
static const store_searched *searched_of(const remarks *m, const report_study *s)
{
    const store_searched *found = NULL;
    size_t n_found = 0, n_tables = 0;

    for (size_t i = 0; i < m->n_joined; i++)
        n_tables += !strcmp(m->joined[i].row->model, s->row->model) &&
                    !strcmp(m->joined[i].row->system, s->row->system);
    for (size_t i = 0; i < m->n_searched; i++)
        if (!strcmp(m->searched[i].model, s->row->model) && !strcmp(m->searched[i].system, s->row->system)) {
            found = &m->searched[i];
            n_found++;
        }
    return n_found == 1 && n_tables == 1 ? found : NULL;
}

static void put_searched_in_vain(const remarks *m, report_node *to)
{
    report_node *list = m->n_searched_in_vain ? report_list(to, "searched_in_vain") : NULL;

    for (size_t i = 0; i < m->n_searched; i++)
        if (!m->searched[i].n)
            report_certificate_put_none(&m->searched[i], list);
}

static void print_searched_in_vain(const remarks *m, dse_strbuf *out)
{
    for (size_t i = 0; i < m->n_searched; i++)
        if (!m->searched[i].n)
            report_certificate_print_none(&m->searched[i], out);
}

static void put_remarks(const report_study *s, size_t index, void *user, report_node *to)
{
    const remarks *m = user;

    if (!s) {
        put_searched_in_vain(m, to);
        return;
    }
    if (s->n_joined) {
        if (searched_of(m, s))
            report_certificate_put(searched_of(m, s), s->by, m->hbm_bytes, to);
        return;
    }

    report_put(to, V_GIVEN(m->n_others, V_COUNT("not_of_last_sweep", m->n_others)));
    if (report_trains(s))
        report_put_band(&m->error[index].band,
                        s->n_ranked ? (double)s->ranked[0]->metrics.wall_time * 1e-9 : NAN, to);
    if (m->why)
        report_put_explanation(s, &m->why[index], report_object(to, "explanation"));
    if (m->trust)
        report_put_robust(s, &m->trust[index], report_object(to, "robust"));
}

/* Says how many points of studies without rows were skipped. */
static void print_unlisted(const store_unlisted *u, dse_strbuf *out)
{
    if (u->points)
        dse_strbuf_addf(out,
                        "All %" PRIu64 " points of %" PRIu64 " configuration%s were skipped by a sweep with "
                        "--prune: they need more memory than it allowed.\n",
                        u->points, u->studies, u->studies == 1 ? "" : "s");
}

/* A limit in bytes does not apply to memory that counts elements. Prints one line, with each model once. */
static void warn_of_elements(const report_study *studies, size_t n, dse_strbuf *names)
{
    dse_textset models = {0};

    for (size_t i = 0; i < n; i++)
        if (!isnan(studies[i].hbm_bytes) && !report_in_bytes(&studies[i].row[0].sizes) &&
            dse_textset_takes(&models, studies[i].row[0].model))
            dse_strbuf_addf(names, "%s%s", names->len ? ", " : "", studies[i].row[0].model);
    dse_textset_free(&models);
    if (names->len)
        report_warning(
            "the limit is in bytes, and the memory of %.300s counts elements: set precision=mixed in the "
            "model card",
            names->data);
}

/* A line below a ranking; that nothing is known is said once for each reason. */
static void print_band(const report_study *s, const drv_best_band *all, size_t index, dse_strbuf *out)
{
    const drv_best_band *b = &all[index];
    dse_strbuf text;

    for (size_t i = 0; b->why && i < index; i++)
        if (all[i].why && !strcmp(all[i].why, b->why))
            return;
    if (b->band.level == CMP_BAND_NONE && !b->why)
        return;
    dse_strbuf_init(&text);
    if (b->why)
        dse_strbuf_addf(&text, "Error band: not known: %s.", b->why);
    else
        dse_strbuf_adds(&text, "Error band of the best: ");
    if (!b->why)
        report_band_say(&b->band, b->device, (double)s->ranked[0]->metrics.wall_time * 1e-9, &text);
    dse_strbuf_add_wrapped(out, text.data, 2, command_help_width());
    dse_strbuf_addc(out, '\n');
    dse_strbuf_free(&text);
}

static void print_others(const remarks *m, size_t n, const best_options *o, dse_strbuf *out)
{
    if (m->n_others && !n)
        dse_strbuf_addf(out, "The last sweep has no results; --all ranks the %zu in %s.\n", m->n_others,
                        o->db);
    else if (m->n_others)
        dse_strbuf_addf(out,
                        "These are the points of the last sweep; --all also ranks the %zu other%s in %s.\n",
                        m->n_others, m->n_others == 1 ? "" : "s", o->db);
}

/* The configuration that the best of several is of. */
static size_t find_winner(const report_study *studies, size_t n, const report_study *joined)
{
    size_t i = 0;

    while (i < n && (!studies[i].n_ranked || studies[i].ranked[0] != joined->ranked[0]))
        i++;
    return i;
}

static void print_joined(const report_study *studies, size_t n, const remarks *m, const best_options *o,
                         const report_sizes *sizes, dse_strbuf *out)
{
    for (size_t i = 0; i < m->n_joined; i++) {
        const report_study *s = &m->joined[i];
        const store_searched *searched = searched_of(m, s);

        if (i)
            dse_strbuf_addc(out, '\n');
        report_ranking_print(s, (size_t)o->top, false, out);
        if (searched)
            report_certificate_print(searched, s->by, o->hbm_bytes, out);
        if (s->n_ranked) {
            const size_t winner = find_winner(studies, n, s);

            if (winner < n)
                print_band(&studies[winner], &m->error[winner], 0, out);
        }
        if (sizes->differ)
            report_sizes_print_one(&s->row[0].sizes, "", out);
    }
    dse_strbuf_addc(out, '\n');
}

static void print_each(const report_study *studies, size_t n, const remarks *m, const best_options *o,
                       const report_sizes *sizes, command_run *r)
{
    const bool remarked = m->why || m->trust; /* then a study ends with an empty line */
    dse_strbuf *out = r->out;

    for (size_t i = 0; i < n; i++) {
        bool ambiguous = (i && same_names(&studies[i], &studies[i - 1])) ||
                         (i + 1 < n && same_names(&studies[i], &studies[i + 1]));

        if (i && !remarked)
            dse_strbuf_addc(out, '\n');
        report_ranking_print(&studies[i], (size_t)o->top, ambiguous, out);
        print_band(&studies[i], m->error, i, out);
        if (sizes->differ)
            report_sizes_print_one(&studies[i].row[0].sizes, "", out);
        if (remarked)
            dse_strbuf_addc(out, '\n');
        if (m->why)
            report_explain_print(&studies[i], &m->why[i], out);
        if (m->trust)
            report_robust_print(&studies[i], &m->trust[i], out);
    }
    dse_strbuf_adds(out, remarked || !n ? "" : "\n");
    report_overview_print(studies, n, r->arena, out);
}

static void print(const report_study *studies, size_t n, const store_unlisted *unlisted, remarks *m,
                  const best_options *o, command_run *r)
{
    report_sizes sizes = {0};
    dse_strbuf *out = r->out;

    if (o->json) {
        report_ranking_json(studies, n, m->joined, m->n_joined, (size_t)o->top, put_remarks, m, out);
        return;
    }
    for (size_t i = 0; i < n; i++)
        report_sizes_add(&sizes, &studies[i].row[0].sizes);
    if (m->joined)
        print_joined(studies, n, m, o, &sizes, out);
    else
        print_each(studies, n, m, o, &sizes, r);
    print_searched_in_vain(m, out);
    print_unlisted(unlisted, out);
    print_others(m, n, o, out);
    report_ranking_notes(studies, n, out);
    if (n && !sizes.differ)
        report_sizes_print(&sizes, out);
}

/* ---- remarks -------------------------------------------------------------------------------- */

static dse_status robust_options(const best_options *o, drv_robust_options *out, dse_error *err)
{
    *out = (drv_robust_options){.draws = o->draws ? (uint32_t)o->draws : DEFAULT_DRAWS,
                                .seed = o->seed ? (uint64_t)o->seed : DEFAULT_SEED,
                                .progress = progress_count};
    if (isnan(o->robust) && (o->draws || o->seed))
        return dse_fail(err, DSE_E_USAGE, "%s needs --robust SPREAD", o->draws ? "--draws" : "--seed");
    if (isnan(o->robust))
        return DSE_OK;
    out->spread = o->robust;
    if (strcmp(o->by, "wall_time") != 0)
        return dse_fail(err, DSE_E_USAGE, "--robust ranks by wall_time, not by %s; leave out one of them",
                        o->by);
    return DSE_OK;
}

static dse_status check_tables(const best_options *o, dse_error *err)
{
    if (o->tables && !strcmp(o->tables, "one") && (o->explain || !isnan(o->robust)))
        return dse_fail(err, DSE_E_USAGE, "%s is of each configuration; leave out --tables one",
                        o->explain ? "--explain" : "--robust");
    return DSE_OK;
}

static void try_others(const drv_robust_options *robust, const report_study *studies, size_t n, dse_arena *a,
                       report_robust *out)
{
    progress_screen screen;
    drv_robust_options shown = *robust;

    shown.user = &screen;
    for (size_t i = 0; i < n; i++) {
        progress_init(&screen, "perturbed systems");
        drv_robust(&studies[i], &shown, a, &out[i]);
        progress_clear(&screen);
    }
}

static dse_status no_results(const best_options *o, const store_unlisted *unlisted, size_t n_others,
                             dse_error *err)
{
    return dse_fail(err, DSE_E_CONFIG, "'%s' has no results%s%s%s%s%s; %s", o->db,
                    n_others ? " of the last sweep" : "", o->model ? " for model " : "",
                    o->model ? o->model : "", o->system ? " on system " : "", o->system ? o->system : "",
                    n_others           ? "--all ranks those of earlier ones"
                    : unlisted->points ? "a sweep with --prune may have skipped all of these points"
                                       : "run 'ccldse sweep' first");
}

static dse_status find_searched(const best_options *o, results_reader *in, dse_arena *a, remarks *m,
                                dse_error *err)
{
    dse_status st = o->all ? DSE_OK : results_searched(in, a, &m->searched, &m->n_searched, err);

    for (size_t i = 0; i < m->n_searched; i++)
        m->n_searched_in_vain += !m->searched[i].n;
    return st;
}

/* Whether there is one table of all configurations: as asked for, or where the points are those of a search. Remarks
 * are of each configuration. */
static bool joins(const best_options *o, const remarks *m)
{
    return o->tables ? !strcmp(o->tables, "one") : m->n_searched && !looks(o);
}

/* Whether a row is of the last sweep; the others are counted. */
static bool was_asked_for(void *n_others, const store_row *r)
{
    *(size_t *)n_others += !r->asked;
    return r->asked;
}

/* ---- what is ranked ------------------------------------------------------------------------- */

typedef struct {
    const best_options *o;
    dse_arena *a;
    bool is_of_search; /* what is ranked */
    remark_finder finder;
} ranking;

static dse_status begin_study(void *user, report_study *s, dse_error *err)
{
    const ranking *k = user;

    s->is_of_search = k->is_of_search;
    return add_machine(k->o, s, k->a, err);
}

static dse_status add_row(void *user, const report_study *s, const store_row *r, unsigned is, dse_error *err)
{
    ranking *k = user;

    (void)is;
    (void)err;
    remark_add(&k->finder, s, r);
    return DSE_OK;
}

static dse_status end_study(void *user, report_study *s, dse_error *err)
{
    ranking *k = user;

    return remark_end(&k->finder, s, err);
}

/* Of many configurations the tables are a tenth of the rows. */
static dse_status print_study(void *user, report_study *s, dse_error *err)
{
    const ranking *k = user;
    dse_strbuf text;

    (void)err;
    dse_strbuf_init(&text);
    dse_strbuf_adds(&text, "");
    report_ranking_print_below(s, (size_t)k->o->top, &text);
    s->below = dse_strbuf_take(&text, k->a);
    return DSE_OK;
}

/* Remarks look at all rows of a study, a ranking alone at those that it prints; an explanation at the best two, too. */
static dse_status rank_studies(const best_options *o, results_reader *in, const store_column *by,
                               dse_arena *a, remarks *said, report_study **out, size_t *n, dse_error *err)
{
    const bool is_brief = !o->json && !looks(o) && !joins(o, said);
    ranking k = {.o = o,
                 .a = a,
                 .is_of_search = said->n_searched > 0,
                 .finder = {.a = a, .explains = o->explain, .chooses = !isnan(o->robust)}};
    const ranked_how how = {.by = by,
                            .top = looks(o) && o->top == 1 ? 2 : (size_t)o->top,
                            .is_brief = is_brief,
                            .user = &k,
                            .begin = begin_study,
                            .row = looks(o) ? add_row : NULL,
                            .end = looks(o)   ? end_study
                                   : is_brief ? print_study
                                              : NULL};
    dse_status st;

    dse_arena_init(&k.finder.scratch);
    st = ranked_studies(in, &how, a, out, n, err);
    said->why = o->explain ? dse_arena_copy(a, k.finder.why, k.finder.n, sizeof *said->why) : NULL;
    said->trust =
        isnan(o->robust) ? NULL : dse_arena_copy(a, k.finder.trust, k.finder.n, sizeof *said->trust);
    remark_free(&k.finder);
    return st;
}

/* All of one state of the database: a sweep may write to it meanwhile. */
static dse_status read_all(const best_options *o, const results_selection *which, const store_column *by,
                           dse_arena *a, remarks *said, report_study **out, size_t *n,
                           store_unlisted *unlisted, dse_error *err)
{
    results_reader in;
    dse_status st = results_open(o->db, which, &in, err);

    if (st == DSE_OK && (st = find_searched(o, &in, a, said, err)) == DSE_OK &&
        (st = rank_studies(o, &in, by, a, said, out, n, err)) == DSE_OK)
        st = results_count_unlisted(&in, !o->all, unlisted, err);
    results_close(&in);
    return st;
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const best_options *o = opts;
    size_t n, n_others = 0;
    const results_selection which = {.model = o->model,
                                     .system = o->system,
                                     .has = o->all ? NULL : was_asked_for,
                                     .user = &n_others,
                                     .one_config = true};
    dse_arena *a = r->arena;
    report_study *studies;
    const store_column *by;
    store_unlisted unlisted;
    dse_strbuf names;
    drv_robust_options robust;
    remarks said = {.hbm_bytes = o->hbm_bytes};
    dse_status st;

    report_use_colours(terminal_has_colours(STDOUT_FILENO));
    if ((st = results_column(o->by, true, &by, err)) != DSE_OK ||
        (st = robust_options(o, &robust, err)) != DSE_OK || (st = check_tables(o, err)) != DSE_OK ||
        (st = read_all(o, &which, by, a, &said, &studies, &n, &unlisted, err)) != DSE_OK)
        return st;
    if (!n && !said.n_searched_in_vain && (!unlisted.points || o->model || o->system))
        return no_results(o, &unlisted, n_others, err);
    if (o->model || o->system)
        unlisted = (store_unlisted){0}; /* which of them they are of is not stored */
    if (unlisted.points || said.n_searched_in_vain)
        r->code = EXIT_NO;
    for (size_t i = 0; i < n; i++)
        if (!studies[i].n_ranked)
            r->code = EXIT_NO;
    if (said.trust)
        try_others(&robust, studies, n, a, said.trust);
    if (n && joins(o, &said))
        said.joined = report_join(studies, n, (size_t)o->top, a, &said.n_joined);
    if ((st = drv_bands_of_best(studies, n, a, &said.error, err)) != DSE_OK)
        return st;
    said.n_others = n_others;
    dse_strbuf_init(&names);
    warn_of_elements(studies, n, &names);
    dse_strbuf_free(&names);
    print(studies, n, &unlisted, &said, o, r);
    return DSE_OK;
}

const command command_best = {
    .name = "best",
    .summary = "rank what a sweep found and what fits in memory",
    .details =
        "Prints one table per model and system of the last sweep: the best strategies that fit in memory, "
        "how many points were dropped because they do not, and what the best would be without the limit. Of "
        "several configurations of one model and system, as a space makes them, it then ranks the best of "
        "each, those with and without congestion apart. After sweep --search it is one table of all that was "
        "found, with the settings that differ in columns and the search's certificate below; --tables each "
        "and --tables one choose. --explain says why: where the winner's step and "
        "memory go, against the runner-up and the best without the limit; how the best step changes along "
        "each axis; the smallest change that would make the best without the limit fit. --robust SPREAD says "
        "how far to trust the winner when the system is not known exactly: its rates and latencies are drawn "
        "anew, each up to SPREAD off, and the points simulated again; so often it stays the best, so much is "
        "lost where it does not, and at these values of one parameter alone another point takes its place. "
        "Exit code 1 if for some model and system nothing fits, or nothing is known of the metric to rank "
        "by. 'ccldse help terms' explains rank, step, exposed, bubble and the other words.",
    .example = "ccldse best --hbm 80GB --top 5 --explain",
    COMMAND_OPTIONS(options, best_options),
    .is_prose = true,
    .run = run,
};
