/* Runs random workloads on random systems with and without shortcuts, and compares all there is to compare.
 *
 * usage: run_shortcuts [-v] [-s SEED] [-i FIRST] [-n COUNT] [-a PERCENT] [-f] [-w FOLDER]
 *
 * Cases FIRST to FIRST + COUNT - 1 of a seed, each what it is whatever came before it. Half of them are generated,
 * half made by hand (program.c); after a first run most of them get nodes that end together (ties.c). Then the plain
 * engine, the specification, runs a case, and each of the ways in `ways`. The first difference is printed with the card
 * and what it takes to run the case again; -w also writes its files, as ASTRA-sim takes them (the workload of the last
 * case, if nothing differs). -f: full-size cases, generated only. -v: a line a case.
 *
 * A shortcut that is never taken would pass: of the cases in which nothing stands in its way, at least PERCENT must
 * have run without the plain engine. Why the others did not is counted, too. */
#include "base/units.h"
#include "cards/locate.h"
#include "driver/emit.h"
#include "shortcuts/compare.h"
#include "shortcuts/draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    sim_shortcuts shortcuts;
} ways[] = {{"memo", {.memo = true}}, {"symmetry and memo", {.memo = true, .symmetry = true}}};
#define N_WAYS (sizeof ways / sizeof ways[0])

static const draw_limits small = {.max_npus = 24, .min_layers = 1, .max_layers = 8};
static const draw_limits full_size = {.max_npus = 64, .min_layers = 20, .max_layers = 80, .full_size = true};

typedef struct {
    uint64_t seed, first, count, percent;
    bool verbose, full;
    const char *folder;
} options;

typedef struct {
    const options *o;
    cfg_doc operators[DRAW_N_OPERATORS];
    dse_arena study, arena, plain, other; /* of all; of the case; of the runs */
    dse_strbuf text;
    uint64_t n, refused, failed_alike, eligible;
    struct {
        uint64_t abridged, events, plain_events; /* events: of those that are abridged */
    } way[N_WAYS];
    uint64_t fallbacks[SIM_N_FALLBACKS]; /* of the last way */
} tester;

/* ---- one case ------------------------------------------------------------------------------ */

/* What the shortcuts leave to the plain engine by definition. */
static bool is_eligible(const drawn_case *c, const run_outcome *plain)
{
    const sim_settings *s = &c->settings;

    return plain->status == DSE_OK && plain->result.n_messages && !c->net.congestion && !s->bus.shared &&
           !s->rendezvous && !s->replay_only && s->queues_per_dim == 1 &&
           (s->remote.kind == SIM_REMOTE_NONE || s->remote.kind == SIM_REMOTE_PER_NPU);
}

static void run(const drawn_case *c, sim_shortcuts shortcuts, dse_arena *a, run_outcome *out)
{
    dse_arena_reset(a);
    *out = (run_outcome){.err = DSE_ERROR_INIT};
    out->status =
        sim_run(&c->settings, &c->net, &c->workload, shortcuts, a, &out->result, &out->record, &out->err);
}

static void run_plain(tester *t, rng *r, drawn_case *c, run_outcome *out)
{
    run(c, (sim_shortcuts){0}, &t->plain, out);
    for (uint32_t i = rng_below(r, 4); i > 0 && out->status == DSE_OK; i--) {
        uint32_t n = draw_ties(r, c, &out->record);

        dse_strbuf_addf(&t->text, "# %" PRIu32 " nodes made to end with others\n", n);
        if (n)
            run(c, (sim_shortcuts){0}, &t->plain, out);
    }
}

static void count_way(tester *t, size_t way, const sim_result *plain, const sim_result *seen)
{
    if (seen->fallback == SIM_FALLBACK_NONE) {
        t->way[way].abridged++;
        t->way[way].events += seen->n_events;
        t->way[way].plain_events += plain->n_events;
    } else if (way + 1 == N_WAYS) {
        t->fallbacks[seen->fallback]++;
    }
}

/* False, with the problems in the text, if a way ended otherwise. */
static bool compare_ways(tester *t, const drawn_case *c, const run_outcome *plain)
{
    bool eligible = is_eligible(c, plain), same = true;

    t->eligible += eligible;
    t->failed_alike += plain->status != DSE_OK;
    for (size_t i = 0; same && i < N_WAYS; i++) {
        run_outcome seen;
        size_t before;

        run(c, ways[i].shortcuts, &t->other, &seen);
        dse_strbuf_addf(&t->text, "  %s:\n", ways[i].name);
        before = t->text.len;
        compare_outcomes(plain, &seen, &t->text);
        same = t->text.len == before;
        if (eligible && same)
            count_way(t, i, &plain->result, &seen.result);
    }
    return same;
}

static dse_status draw_workload(tester *t, rng *r, const draw_limits *limits, drawn_case *c, dse_error *err)
{
    if (t->o->full || rng_percent(r, 50))
        return draw_generated(r, limits, t->operators, &t->arena, c, err);
    return draw_program(r, &t->arena, c, err);
}

static dse_status load_operators(tester *t, dse_error *err)
{
    dse_status st = DSE_OK;

    for (uint32_t i = 0; i < DRAW_N_OPERATORS && st == DSE_OK; i++) {
        const char *path;

        if ((st = card_locate(CARD_OPERATORS, draw_operators[i], &t->study, &path, err)) == DSE_OK)
            st = cfg_load(path, &t->study, &t->operators[i], err);
    }
    return st;
}

static bool run_case(tester *t, uint64_t index)
{
    const draw_limits *limits = t->o->full ? &full_size : &small;
    rng r = rng_of(t->o->seed, index);
    dse_error err = DSE_ERROR_INIT;
    run_outcome plain;
    drawn_case c;
    bool same;

    dse_arena_reset(&t->arena);
    dse_strbuf_clear(&t->text);
    memset(&c, 0, sizeof c);
    c.text = t->text;
    t->n++;
    if (draw_system(&r, limits, &t->arena, &c, &err) != DSE_OK ||
        draw_workload(t, &r, limits, &c, &err) != DSE_OK) {
        t->text = c.text;
        t->refused++;
        if (t->o->verbose)
            printf("%" PRIu64 " refused: %s %s\n", index, err.where, err.text);
        return true;
    }
    t->text = c.text;
    run_plain(t, &r, &c, &plain);
    same = compare_ways(t, &c, &plain);
    if (t->o->verbose)
        printf("%" PRIu64 " %s: %" PRIu64 " events %s\n", index, same ? "same" : "DIFFERS",
               plain.status == DSE_OK ? plain.result.n_events : 0, plain.err.text);
    if (!same)
        printf("FAIL -s %" PRIu64 " -i %" PRIu64 " -n 1%s\n%s", t->o->seed, index, t->o->full ? " -f" : "",
               t->text.data);
    if (t->o->folder && (!same || index + 1 == t->o->first + t->o->count) &&
        drv_emit_point(&c.card, &c.workload, t->o->folder, &t->arena, &err) != DSE_OK)
        fprintf(stderr, "%s: %s\n", err.where, err.text);
    return same;
}

/* ---- all of them --------------------------------------------------------------------------- */

static bool report(const tester *t)
{
    bool enough = true;

    printf("%" PRIu64 " cases: %" PRIu64 " ended alike, %" PRIu64 " failed alike, %" PRIu64
           " drawn in vain; of %" PRIu64 " that a shortcut may be taken in,\n",
           t->n, t->n - t->failed_alike - t->refused, t->failed_alike, t->refused, t->eligible);
    for (size_t i = 0; i < N_WAYS; i++) {
        bool ok = t->way[i].abridged * 100 >= t->eligible * t->o->percent;

        enough &= ok;
        printf("  %-18s %" PRIu64 " without the plain engine%s; 1 event where that one takes %.1f\n",
               ways[i].name, t->way[i].abridged, ok ? "" : " (TOO FEW)",
               t->way[i].events ? (double)t->way[i].plain_events / (double)t->way[i].events : 0);
    }
    for (int i = 0; i < SIM_N_FALLBACKS; i++)
        if (t->fallbacks[i])
            printf("  %6" PRIu64 " not: %s\n", t->fallbacks[i], sim_fallback_text((sim_fallback)i));
    return enough;
}

static bool parse(int argc, char **argv, options *o)
{
    int opt;

    *o = (options){.seed = 1, .count = 300};
    while ((opt = getopt(argc, argv, "vfs:i:n:a:w:")) != -1) {
        uint64_t *number = opt == 's'   ? &o->seed
                           : opt == 'i' ? &o->first
                           : opt == 'n' ? &o->count
                                        : &o->percent;

        if (opt == 'v')
            o->verbose = true;
        else if (opt == 'f')
            o->full = true;
        else if (opt == 'w')
            o->folder = optarg;
        else if (opt == '?' || dse_parse_u64(optarg, number, NULL) != DSE_OK)
            return false;
    }
    return optind == argc;
}

int main(int argc, char **argv)
{
    dse_error err = DSE_ERROR_INIT;
    options o;
    tester t = {.o = &o};
    bool same = true, enough;

    if (!parse(argc, argv, &o)) {
        fprintf(stderr,
                "usage: run_shortcuts [-v] [-s SEED] [-i FIRST] [-n COUNT] [-a PERCENT] [-f] [-w FOLDER]\n");
        return 2;
    }
    dse_arena_init(&t.study);
    dse_arena_init(&t.arena);
    dse_arena_init(&t.plain);
    dse_arena_init(&t.other);
    dse_strbuf_init(&t.text);
    if (load_operators(&t, &err) != DSE_OK) {
        fprintf(stderr, "%s: %s\n", err.where, err.text);
        return 70;
    }
    for (uint64_t i = o.first; same && i < o.first + o.count; i++)
        same = run_case(&t, i);
    enough = report(&t);
    dse_strbuf_free(&t.text);
    dse_arena_free(&t.other);
    dse_arena_free(&t.plain);
    dse_arena_free(&t.arena);
    dse_arena_free(&t.study);
    return same && enough ? 0 : 1;
}
