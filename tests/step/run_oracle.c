/* The time of random steps against the plain engine, message by message (sim/README.md).
 *
 * usage: run_oracle [-v] [-s SEED] [-i FIRST] [-n COUNT] [-e PERCENT] LAYERS...
 *
 * Cases FIRST to FIRST + COUNT - 1 of a seed, each what it is whatever came before it: a system of one to three dimensions,
 * a model of one of the files of layers, a strategy, up to 8 micro-batches. step_run with one unit for all communication
 * adds the step up; step_unroll writes the same step down, and the plain engine runs it.
 *
 * - If all groups of a kind take the same time (step_passes.is_even), both are equal to the tick.
 * - Else the engine may be faster, as ranks need not wait for the slowest group of their kind. It is not slower but in the
 *   end of the step: collectives of all ranks may take longer if some begin earlier.
 * - With a unit for each kind of communication the passes never take longer than with one for all.
 * - Every third system has measured collectives, which the step with one unit does not look at (step_clock_of_links).
 * - The parts of the slowest rank add up to the step.
 *
 * At least PERCENT of the cases must be even. Collectives and messages alone are compared as well, all ranks of them. The
 * first difference is printed with what it takes to run the case again; -v: a line a case. */
#include "cards/system.h"
#include "shortcuts/random.h"
#include "sim/sim.h"
#include "step/module.h"
#include "step/run.h"
#include "step/unroll.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FILES 8
#define N_OF(list) ((uint32_t)(sizeof(list) / sizeof *(list)))

typedef struct {
    uint64_t seed, first, count, percent;
    bool verbose;
    uint32_t n_files;
    char **file;
} options;

typedef struct {
    const options *o;
    dse_arena study, arena;
    cfg_doc layers[MAX_FILES];
    sched_keeper *orders;
    uint64_t n, refused, even;
} tester;

typedef struct {
    dse_strbuf text; /* for people */
    card_system card;
    net_network net;
    sim_settings set;
    step_model model;
    step_options options;
    const sched_def *schedule;
    sched_options order;
} drawn;

#define ADD(c, ...) dse_strbuf_addf(&(c)->text, __VA_ARGS__)

/* ---- systems ----------------------------------------------------------------------------------- */

static void write_list(rng *r, drawn *c, const char *key, uint32_t n, const char *const *of, uint32_t n_of)
{
    ADD(c, "%s: [", key);
    for (uint32_t i = 0; i < n; i++)
        ADD(c, "%s%s", i ? ", " : "", of[rng_below(r, n_of)]);
    ADD(c, "]");
}

/* Of a third of the systems; classes without a law take the roofline. */
static void draw_laws(rng *r, drawn *c)
{
    static const char *const classes[] = {"matmul", "attention", "attention_backward", "elementwise", "normalisation",
                                          "lookup", "optimizer"};

    if (!rng_percent(r, 33))
        return;
    ADD(c, "kernels: {");
    for (uint32_t i = 0; i < N_OF(classes); i++)
        if (rng_percent(r, 60))
            ADD(c, "%s.flop_factor: 1.%" PRIu32 ", %s.byte_factor: 0.%" PRIu32 ", %s.overhead: %" PRIu32 ", ", classes[i],
                rng_range(r, 0, 9), classes[i], rng_range(r, 0, 9), classes[i], rng_range(r, 1, 3000));
    ADD(c, "attention.half_length: %" PRIu32 "}\n", rng_range(r, 0, 500));
}

static dse_status draw_system(rng *r, dse_arena *a, drawn *c, dse_error *err)
{
    static const char *const topologies[] = {"FullyConnected", "Switch", "FullyConnected", "Switch", "Ring"};
    static const char *const bandwidths[] = {"12.5", "50", "100", "37.7", "2000"};
    static const char *const latencies[] = {"5", "50", "500", "7.5", "20"};
    static const char *const algorithms[] = {"ring", "ring", "direct", "direct2"};
    static const char *const all[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"};
    static const uint32_t sizes[] = {2, 2, 2, 4, 4, 3};
    uint32_t n = rng_range(r, 1, 3), npus[3], left = 16, splits = rng_range(r, 1, 4);
    cfg_doc doc;
    dse_status st;

    for (uint32_t i = 0; i < n; i++) {
        npus[i] = RNG_PICK(r, sizes);
        left /= npus[i];
        if (!left) {
            n = i;
            break;
        }
    }
    ADD(c, "network: {");
    write_list(r, c, "topology", n, topologies, N_OF(topologies));
    ADD(c, ", npus_count: [");
    for (uint32_t i = 0; i < n; i++)
        ADD(c, "%s%" PRIu32, i ? ", " : "", npus[i]);
    ADD(c, "], ");
    write_list(r, c, "bandwidth", n, bandwidths, N_OF(bandwidths));
    ADD(c, ", ");
    write_list(r, c, "latency", n, latencies, N_OF(latencies));
    ADD(c, ", multi_hop: %s}\ncollectives: {", rng_percent(r, 30) ? "full" : "lowest");
    for (uint32_t i = 0; i < N_OF(all); i++) {
        ADD(c, "%s", i ? ", " : "");
        write_list(r, c, all[i], n, algorithms, N_OF(algorithms));
    }
    ADD(c, "}\ncompute: {peak_perf: %s, clock: %s}\nmemory: {bandwidth: %s}\n", rng_percent(r, 50) ? "0.77" : "0.05",
        rng_percent(r, 30) ? "0.83" : "1", rng_percent(r, 50) ? "123.4" : "20");
    if (rng_percent(r, 40))
        ADD(c, "overheads: {per_kernel: %" PRIu32 ", per_step: 5000, per_layer: %" PRIu32 ", per_collective: 700}\n",
            rng_range(r, 1, 2000), rng_percent(r, 50) ? 1000000u : 0);
    draw_laws(r, c);
    ADD(c, "scheduler: {endpoint_delay: %" PRIu32, rng_range(r, 1, 30));
    ADD(c, ", preferred_dataset_splits: %" PRIu32, splits);
    /* All at once: ranks that come to a collective of several dimensions at different times else may wait for each other
     * for ever, in ASTRA-sim as well. */
    ADD(c, ", active_chunks_per_dimension: %" PRIu32, splits + rng_range(r, 1, 3));
    ADD(c, ", collective_optimization: %s, track_local_mem: false, roofline_enabled: true}\n",
        rng_percent(r, 70) ? "localBWAware" : "baseline");
    st = cfg_parse_yaml("drawn", c->text.data, c->text.len, a, &doc, err);
    if (st == DSE_OK)
        st = card_system_read(&doc, NULL, &c->card, err);
    return st == DSE_OK ? card_system_build(&c->card, &c->net, &c->set, err) : st;
}

/* Much slower than any of the networks, so that nothing that looks at it is equal by chance. */
static void measure_network(drawn *c)
{
    c->net.is_measured = true;
    for (uint32_t i = 0; i < c->net.n_dims; i++)
        c->net.dim[i].reach = (net_reach){.efficiency = 0.01, .latency_ns = 1e6, .step_ns = 1e5};
    ADD(c, "# with measured collectives\n");
}

/* ---- models and strategies --------------------------------------------------------------------- */

/* Takes a factor of *left: a divisor of it. */
static uint32_t take(rng *r, uint32_t *left, uint32_t percent)
{
    uint32_t n = 1;

    for (uint32_t p = 2; p <= 3; p++)
        while (*left % p == 0 && rng_percent(r, percent)) {
            n *= p;
            *left /= p;
        }
    return n;
}

static dse_status draw_model(rng *r, const tester *t, dse_arena *a, uint32_t n_layers, drawn *c, dse_error *err)
{
    static const uint32_t heads[] = {4, 8, 12, 24};
    uint32_t n = RNG_PICK(r, heads), kv = rng_percent(r, 50) ? n : n / 4 ? n / 4 : 1;
    uint32_t hidden = n * 8 * rng_range(r, 1, 3), sequence = 48 * rng_range(r, 1, 4);
    uint32_t vocabulary = rng_range(r, 50, 400), file = rng_below(r, t->o->n_files);
    const wl_symbols symbols = {
        10, {"Seq", "Vocab", "Hidden", "Ffn", "Heads", "KvHeads", "Experts", "TopK", "Groups", "TopGroups"},
        {sequence, vocabulary, hidden, 4 * hidden, n, kv, 12, 3, 4, 2}};

    ADD(c, "# %s: %" PRIu32 " layers, %" PRIu32 " heads, %" PRIu32 " of keys, hidden %" PRIu32 ", sequence %" PRIu32
        ", vocabulary %" PRIu32 "\n", t->o->file[file], n_layers, n, kv, hidden, sequence, vocabulary);
    if (step_model_read(&t->layers[file], &symbols, n_layers, a, &c->model, err) != DSE_OK)
        return err->status;
    c->model.is_tied = rng_percent(r, 20);
    if (rng_percent(r, 20))
        step_model_add_mtp(&c->model, rng_range(r, 1, 2), a);
    if (rng_percent(r, 15)) { /* the last stage has the layers of the one before it as well, but for one */
        const uint32_t n_stages = c->options.pp * c->options.vp, each = n_layers / n_stages;
        const char *text = dse_arena_printf(a, "%" PRIu32, n_layers);

        if (n_stages > 2)
            text = dse_arena_printf(a, "%" PRIu32 "x%" PRIu32 ",1,%" PRIu32, each, n_stages - 2, 2 * each - 1);
        else if (n_stages == 2)
            text = dse_arena_printf(a, "1,%" PRIu32, 2 * each - 1);
        if (step_model_lay_out(&c->model, text, a, err) != DSE_OK)
            return err->status;
        ADD(c, "# layers by stage %s\n", text);
    }
    ADD(c, "# %s, %" PRIu32 " layers that predict further tokens\n", c->model.is_tied ? "tied" : "not tied", c->model.n_mtp);
    return DSE_OK;
}

static void draw_habits(rng *r, step_options *o)
{
    o->sequence_parallel = o->tp > 1 && rng_percent(r, 60);
    o->gathers_again = rng_percent(r, 50);
    o->context = (step_context)rng_below(r, 4);
    o->recompute = (step_recompute)rng_below(r, 3);
    o->recompute_modules = rng_below(r, 2 * STEP_AGAIN_SHARED);
    o->recompute_layers = rng_percent(r, 30);
    o->recompute_every = rng_below(r, 3);
    o->stops_early = rng_percent(r, 50);
    o->reshard_after_forward = rng_percent(r, 50);
    o->shards_root = rng_percent(r, 30);
    o->sync = (step_sync)rng_below(r, 4);
    o->overlaps_gradients = rng_percent(r, 70);
    o->overlaps_parameters = rng_percent(r, 60);
    o->aligns_gradients = o->pp > 1 && rng_percent(r, 40);
    o->aligns_parameters = o->pp > 1 && rng_percent(r, 20);
    o->bucket_elements = rng_percent(r, 70) ? rng_range(r, 1000, 50000) : 0;
    o->buckets_by_readiness = o->zero == 0 && rng_percent(r, 30);
    o->buckets_first_stage = rng_percent(r, 30);
    o->pads_parameters = rng_percent(r, 50) ? 64 : 1;
    o->sums_whole_gradients = rng_percent(r, 50);
    o->calls_alone = rng_percent(r, 50);
    o->fuses_loss = rng_percent(r, 50);
    o->gathers_logits = rng_percent(r, 20);
    o->expands_kv = rng_percent(r, 50);
    o->waits_for_sends = rng_percent(r, 30);
    o->splits_messages = o->vp == 1 && rng_percent(r, 40);
    o->adds_gradients = rng_percent(r, 50);
    o->keeps_gradients = rng_percent(r, 50);
    o->fused_attention = rng_percent(r, 50);
    o->fused_activation = rng_percent(r, 50);
    o->logits_copies = 1;
    o->activation_bytes = o->weight_bytes = o->kept_weight_bytes = 2;
    o->gradient_bytes = o->reduce_bytes = rng_percent(r, 50) ? 4 : 2;
    o->optimizer_bytes = 12;
}

static void draw_strategy(rng *r, drawn *c)
{
    static const char *const flat[] = {"1f1b", "gpipe", "zero_bubble"};
    static const char *const chunks[] = {"interleaved", "looped_bfs", "zero_bubble"};
    static const char *const v[] = {"zbv", "dualpipev"};
    step_options *o = &c->options;
    uint32_t left = c->net.n_npus;
    const char *name;

    o->pp = take(r, &left, 40);
    o->tp = take(r, &left, 40);
    o->cp = take(r, &left, 30);
    o->dp = left;
    o->replicas = rng_percent(r, 25) ? take(r, &left, 50) : 1;
    o->zero = rng_below(r, 4);
    o->vp = o->pp > 1 && rng_percent(r, 40) ? 2 : 1;
    o->micro_batch = rng_range(r, 1, 2);
    o->n_micro_batches = o->pp > 1 && rng_percent(r, 60) && 8 / o->pp ? o->pp * rng_range(r, 1, 8 / o->pp)
                                                                      : rng_range(r, 1, 8);
    name = o->pp == 1 ? "1f1b" : o->vp == 1 ? RNG_PICK(r, flat) : rng_percent(r, 40) ? RNG_PICK(r, v) : RNG_PICK(r, chunks);
    if (o->pp > 1 && o->vp == 1 && rng_percent(r, 30)) { /* refused in an odd pipeline */
        name = "dualpipe";
        o->directions = 2;
        o->n_micro_batches = 2 * o->pp + 2 * rng_below(r, 2);
    }
    draw_habits(r, o);
    o->aligns_gradients &= !step_has_copies(o);
    left = step_group_size(o, STEP_GROUP_SHARD);
    o->reshard_ranks = rng_percent(r, 30) ? take(r, &left, 50) : 0;
    c->schedule = sched_find(name);
    c->order = (sched_options){.pp = o->pp, .micro_batches = o->n_micro_batches, .vp = step_has_copies(o) ? 0 : o->vp};
    ADD(c, "# dp %" PRIu32 " (replicas %" PRIu32 "), tp %" PRIu32 "%s, cp %" PRIu32 " (%d), pp %" PRIu32 ", vp %" PRIu32
        ", %s, %" PRIu32 " micro-batches of %" PRIu32 "\n",
        o->dp, o->replicas, o->tp, o->sequence_parallel ? " with sequences" : "", o->cp, (int)o->context, o->pp, o->vp, name,
        o->n_micro_batches, o->micro_batch);
    ADD(c, "# zero %" PRIu32 ", reshard %d on %" PRIu32 ", root %d, sync %d, recompute %d\n", o->zero,
        o->reshard_after_forward, o->reshard_ranks, o->shards_root, (int)o->sync, (int)o->recompute);
    ADD(c, "# overlap of gradients %d, of parameters %d, buckets of %" PRIu64 "%s\n", o->overlaps_gradients,
        o->overlaps_parameters, o->bucket_elements, o->buckets_first_stage ? " on the first stage" : "");
}

static void draw_experts(rng *r, drawn *c)
{
    static const uint32_t ep[] = {1, 2, 3, 4, 6, 12};
    step_options *o = &c->options;
    uint32_t left = c->net.n_npus / o->pp;
    bool has = false;

    for (uint32_t i = 0; i < c->model.block[STEP_LAYER].n; i++)
        has |= c->model.block[STEP_LAYER].module[i].kind == &step_module_dispatch;
    if (!has)
        return;
    o->ep = rng_percent(r, 50) ? RNG_PICK(r, ep) : take(r, &left, 50);
    o->etp = rng_percent(r, 30) ? o->tp : take(r, &left, 30);
    o->dispatch = (step_dispatch)rng_below(r, 3);
    o->capacity = rng_percent(r, 50) ? STEP_CAPACITY_NONE : (step_capacity)rng_below(r, 3);
    o->capacity_percent = rng_range(r, 50, 200);
    o->imbalance = rng_percent(r, 50) ? 1 + rng_below(r, 200) / 100.0 : 1;
    o->near_ranks = rng_range(r, 1, 4);
    o->experts_in_turn = rng_percent(r, 30);
    o->overlaps_shared = rng_percent(r, 30);
    c->order.overlap_moe = c->order.overlap_pairs = o->overlaps_shared == rng_percent(r, 30) &&
                                                    (c->schedule == sched_find("interleaved") || o->pp == 1);
    ADD(c, "# ep %" PRIu32 ", etp %" PRIu32 ", dispatch %d, capacity %d of %" PRIu32 ", imbalance %g, near %" PRIu32
        ", overlap %d, %d\n", o->ep,
        o->etp, (int)o->dispatch, (int)o->capacity, o->capacity_percent, o->imbalance, o->near_ranks, o->overlaps_shared,
        c->order.overlap_pairs);
}

/* ---- comparing --------------------------------------------------------------------------------- */

static bool differs(drawn *c, const char *what, uint64_t seen, const char *relation, uint64_t wanted)
{
    ADD(c, "%s: %" PRIu64 " is not %s %" PRIu64 "\n", what, seen, relation, wanted);
    return false;
}

static bool parts_add_up(drawn *c, const char *machine, const step_result *s)
{
    uint64_t sum = 0;

    for (int i = 0; i < STEP_N_PARTS; i++)
        sum += s->part[i];
    return sum == s->step || differs(c, machine, sum, "the sum of the parts", s->step);
}

/* One collective or ring's exchange of all groups of a kind. */
static dse_status run_alone(tester *t, drawn *c, const step_collective *what, sim_alone *expected, sim_result *seen,
                            dse_error *err)
{
    step_ranks ranks = step_ranks_of(&c->options, &t->arena);
    sim_settings without_host = c->set;
    step_clock *clock = step_clock_of_links(step_clock_new(&c->set, &c->net, &t->arena));
    uint32_t n = c->options.pp, *first = DSE_ARENA_NEW(&t->arena, uint32_t, n + 1); /* no actions */
    sched_plan plan = {.n_ranks = n, .n_directions = 1, .first = first};
    step_passes passes = {.plan = &plan, .ranks = ranks, .ending = DSE_ARENA_NEW(&t->arena, step_ending, n)};
    wl_workload w;
    dse_status st;

    for (uint32_t i = 0; i < n; i++) {
        passes.ending[i].n_reductions = 1;
        passes.ending[i].reduction = dse_arena_copy(&t->arena, what, 1, sizeof *what);
    }
    st = step_clock_collective(clock, &ranks, what, &t->arena, expected, err);
    if (st == DSE_OK)
        st = step_unroll(&passes, &t->arena, &w, err);
    without_host.step_overhead = 0;
    return st == DSE_OK ? sim_run(&without_host, &c->net, &w, (sim_shortcuts){0}, &t->arena, seen, NULL, err) : st;
}

/* False if a random collective or message alone is not what the engine says. */
static bool check_alone(tester *t, rng *r, drawn *c, dse_error *err)
{
    static const uint32_t types[] = {WL_ALL_REDUCE, WL_ALL_GATHER, WL_REDUCE_SCATTER, WL_ALL_TO_ALL};
    static const step_group groups[] = {STEP_GROUP_TP, STEP_GROUP_CP, STEP_GROUP_SHARD, STEP_GROUP_REPLICAS,
                                        STEP_GROUP_MODEL, STEP_GROUP_WORLD};
    step_collective what = {.type = RNG_PICK(r, types), .group = RNG_PICK(r, groups), .in_bytes = rng_percent(r, 20) ? 4 : rng_range(r, 1, 1u << 20)};
    sim_alone expected;
    sim_result seen;
    bool even = true;

    what.to_next = what.group == STEP_GROUP_CP && rng_percent(r, 50);
    if (step_group_size(&c->options, what.group) == 1)
        return true;
    if (run_alone(t, c, &what, &expected, &seen, err) != DSE_OK) {
        ADD(c, "%s alone: %s\n", wl_coll_type_name(what.type), err->text);
        return false;
    }
    for (uint32_t i = 0; i < seen.n_ranks; i++)
        even &= seen.rank[i].wall == seen.rank[0].wall;
    if (sim_step_time(&seen) != expected.ticks)
        return differs(c, "a collective alone", expected.ticks, "as the engine has it", sim_step_time(&seen));
    if (even != expected.is_even && !what.to_next) /* a rank of an exchange ends with what it sends, too */
        return differs(c, "whether a collective is even", expected.is_even, "as the engine has it", even);
    return true;
}

/* False, with the problem in the text, if the step is not what the engine says. */
static bool check_step(tester *t, drawn *c, dse_error *err)
{
    step_clock *clock = step_clock_new(&c->set, &c->net, &t->arena);
    sim_settings set = c->set;
    step_result units, one;
    wl_workload w;
    sim_result seen;
    dse_time wanted;
    dse_status st;

    if (step_clock_has_laws(clock) || step_clock_lags(clock))
        step_time_by_ticks(&set);
    if ((st = step_run(&c->model, &c->options, c->schedule, &c->order, t->orders, clock, STEP_UNITS, &t->arena, &units, err)) !=
            DSE_OK ||
        (st = step_run(&c->model, &c->options, c->schedule, &c->order, t->orders, clock, STEP_ONE_UNIT, &t->arena, &one, err)) !=
            DSE_OK ||
        (st = step_unroll(&one.passes, &t->arena, &w, err)) != DSE_OK ||
        (st = sim_run(&set, &c->net, &w, (sim_shortcuts){0}, &t->arena, &seen, NULL, err)) != DSE_OK) {
        ADD(c, "%s\n", err->text);
        return false;
    }
    wanted = sim_step_time(&seen);
    t->even += one.passes.is_even;
    if (t->o->verbose)
        printf("  %" PRIu64 " nodes, %" PRIu64 " messages: %" PRIu64 " ns%s, engine %" PRIu64 " ns\n", seen.n_nodes,
               seen.n_messages, one.step, one.passes.is_even ? ", even" : "", wanted);
    if (units.pipeline > one.pipeline && !c->net.is_measured && !c->set.layer_floor && !c->set.collective_overhead)
        return differs(c, "the passes with all units", units.pipeline, "at most those with one", one.pipeline);
    if (one.passes.is_even && one.step != wanted)
        return differs(c, "the step", one.step, "the engine's", wanted);
    if (one.step + (one.step - one.pipeline) < wanted)
        return differs(c, "the step, with its end twice,", one.step + (one.step - one.pipeline), "at least the engine's",
                       wanted);
    return parts_add_up(c, "units", &units) && parts_add_up(c, "one unit", &one);
}

/* ---- cases ------------------------------------------------------------------------------------- */

static bool run_case(tester *t, uint64_t index)
{
    rng r = rng_of(t->o->seed, index);
    drawn c = {.options = {.dp = 1}};
    dse_error err = DSE_ERROR_INIT;
    uint32_t per_stage = rng_range(&r, 1, 3);
    bool ok = true;
    dse_status st;

    dse_arena_reset(&t->arena);
    dse_strbuf_init(&c.text);
    st = draw_system(&r, &t->arena, &c, &err);
    if (st == DSE_OK && index % 3 == 0)
        measure_network(&c);
    if (st == DSE_OK) {
        draw_strategy(&r, &c);
        st = draw_model(&r, t, &t->arena, per_stage * c.options.pp * c.options.vp, &c, &err);
        if (st == DSE_OK)
            draw_experts(&r, &c);
    }
    if (st == DSE_OK)
        st = step_check(&c.model, &c.options, c.options.dp * c.options.micro_batch * c.options.n_micro_batches, &err);
    if (st == DSE_OK && c.options.pp > 1)
        st = sched_check(c.schedule, &c.order, &err);
    if (t->o->verbose)
        printf("case %" PRIu64 "%s%s\n", index, st == DSE_OK ? "" : " refused: ", st == DSE_OK ? "" : err.text);
    if (st == DSE_OK) {
        t->n++;
        ok = check_alone(t, &r, &c, &err) && check_step(t, &c, &err);
    } else {
        t->refused++;
    }
    if (!ok)
        printf("run_oracle -s %" PRIu64 " -i %" PRIu64 " -n 1\n%s", t->o->seed, index, c.text.data);
    dse_strbuf_free(&c.text);
    return ok;
}

static dse_status read_layers(tester *t, dse_error *err)
{
    dse_status st = DSE_OK;

    for (uint32_t i = 0; i < t->o->n_files && st == DSE_OK; i++)
        st = cfg_load(t->o->file[i], &t->study, &t->layers[i], err);
    return st;
}

static int run(const options *o)
{
    tester t = {.o = o};
    dse_error err = DSE_ERROR_INIT;
    bool ok = true;

    dse_arena_init(&t.study);
    dse_arena_init(&t.arena);
    t.orders = sched_keeper_new();
    if (read_layers(&t, &err) != DSE_OK) {
        fprintf(stderr, "%s\n", err.text);
        ok = false;
    }
    for (uint64_t i = 0; ok && i < o->count; i++)
        ok = run_case(&t, o->first + i);
    printf("%" PRIu64 " steps, %" PRIu64 " of them even; %" PRIu64 " refused\n", t.n, t.even, t.refused);
    if (ok && 100 * t.even < o->percent * t.n) {
        printf("fewer than %" PRIu64 " %% are even\n", o->percent);
        ok = false;
    }
    dse_arena_free(&t.study);
    dse_arena_free(&t.arena);
    sched_keeper_free(t.orders);
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    options o = {.seed = 1, .count = 100};
    int c;

    while ((c = getopt(argc, argv, "vs:i:n:e:")) != -1) {
        switch (c) {
        case 'v': o.verbose = true; break;
        case 's': o.seed = strtoull(optarg, NULL, 10); break;
        case 'i': o.first = strtoull(optarg, NULL, 10); break;
        case 'n': o.count = strtoull(optarg, NULL, 10); break;
        case 'e': o.percent = strtoull(optarg, NULL, 10); break;
        default: return 2;
        }
    }
    o.n_files = (uint32_t)(argc - optind);
    o.file = argv + optind;
    if (!o.n_files || o.n_files > MAX_FILES) {
        fprintf(stderr, "usage: run_oracle [-v] [-s SEED] [-i FIRST] [-n COUNT] [-e PERCENT] LAYERS...\n");
        return 2;
    }
    return run(&o);
}
