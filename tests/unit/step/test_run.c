/* The time of a whole step, of a small model on two stages of two data parallel ranks each. */
#include "step/count.h"
#include "step/run.h"
#include "unit/step/small.h"

static dse_arena arena;
static sim_settings set;
static net_network net;

/* Four NPUs on a ring; a link of so many GiB/s. */
static dse_status begin_on(double gib_per_s)
{
    dse_arena_init(&arena);
    set = (sim_settings){.local_bw_aware = true,
                         .splits = 1,
                         .active_chunks = 1,
                         .queues_per_dim = 1,
                         .endpoint_delay = 10,
                         .roofline = true,
                         .peak_ops_per_s = 1e12,
                         .memory_bytes_per_s = 1e12};
    net = (net_network){.n_dims = 1};
    net.dim[0] = (net_dimension){
        .topology = net_topology_find("Ring"), .shape = {.n = 4}, .gib_per_s = gib_per_s, .latency_ns = 10};
    for (int c = 0; c < SIM_N_COLLECTIVES; c++) {
        set.implementations[c].n_dims = 1;
        assert_int_equal(sim_implementation_parse("ring", &set.implementations[c].dim[0], NULL), DSE_OK);
    }
    return net_network_finish(&net, NULL);
}

static int end(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    return 0;
}

static step_result run_model(step_model model, const step_options *o, const char *schedule, step_machine machine)
{
    const sched_options order = {.pp = o->pp, .micro_batches = o->n_micro_batches,
                                 .vp = step_has_copies(o) ? 0 : o->vp};
    step_model *m = dse_arena_copy(&arena, &model, 1, sizeof model);
    step_options *kept = dse_arena_copy(&arena, o, 1, sizeof *o);
    step_result *r = DSE_ARENA_NEW(&arena, step_result, 1);
    dse_error err = {0};

    assert_ok(step_run(m, kept, sched_find(schedule), &order, NULL, step_clock_new(&set, &net, &arena), machine, &arena, r,
                       &err),
              &err);
    return *r;
}

static step_result run_on(const step_options *o, const char *schedule, step_machine machine)
{
    return run_model(small_model(4, &arena), o, schedule, machine);
}

static step_result run(const step_options *o, const char *schedule) { return run_on(o, schedule, STEP_UNITS); }

static step_options two_stages(void)
{
    step_options o = small_options();

    o.dp = o.pp = 2;
    o.n_micro_batches = 4;
    o.optimizer_bytes = 12;
    o.logits_copies = 1;
    return o;
}

/* Links are so slow that gathering is all that takes time: if the second stage began it with its first tensor, the step
 * would wait for it twice. */
CLAIM(parameters_are_gathered_while_a_rank_waits_for_its_first_tensor)
{
    step_options o = two_stages();
    step_result r;
    dse_time first, second;

    (void)state;
    assert_int_equal(begin_on(0.001), DSE_OK);
    o.zero = 1;
    o.overlaps_parameters = o.overlaps_gradients = true;
    r = run(&o, "1f1b");
    first = r.times.end[r.plan.first[0]];
    second = r.times.end[r.plan.first[1]];
    assert_true(r.times.start[r.plan.first[0]] == 0 && first > 100000);
    assert_true(second < first + first / 2);
}

/* The parts of the slowest rank are its step, whatever is sharded. */
/* A file may have the same layer twice: time and memory are those of one kind. */
CLAIM(kinds_of_layers_that_are_alike_are_as_one)
{
    static const char alike[] = "  twin:\n"
                                "    norm: {norm: H}\n"
                                "    qkv: {linear: [H, H], split: column}\n"
                                "    attention: {attention: [T, T, H/T]}\n"
                                "    down: {linear: [F, H], split: row}\n";
    const char *head = strstr(small_text, "  head:");

    (void)state;
    assert_int_equal(begin_on(1), DSE_OK);
    for (uint32_t zero = 0; zero < 4; zero++) {
        const step_model m = small_model_of(
            dse_arena_printf(&arena, "%.*s%s%spattern: {first: [layer], repeat: [twin, layer, layer]}\n",
                             (int)(head - small_text), small_text, alike, head),
            4, &arena);
        step_options o = two_stages();
        step_result one, two;

        o.zero = zero;
        o.reshard_after_forward = true;
        o.recompute = zero % 2 ? STEP_RECOMPUTE_FULL : STEP_RECOMPUTE_NONE;
        one = run(&o, "1f1b");
        two = run_model(m, &o, "1f1b", STEP_UNITS);
        assert_u64(two.step, one.step);
        assert_true(two.executed_operations == one.executed_operations);
        for (uint32_t rank = 0; rank < 2; rank++)
            for (int k = 0; k < STEP_N_HOLDS; k++)
                assert_u64(two.memory[rank].held[k], one.memory[rank].held[k]);
    }
}

/* Four layers, of which the last is wide: a matrix of 128 parameters more on the second stage. */
CLAIM(each_stage_has_the_parameters_and_time_of_its_own_layers)
{
    step_options o = two_stages();
    step_result one, wide;

    (void)state;
    assert_int_equal(begin_on(1), DSE_OK);
    o.kept_weight_bytes = 2;
    one = run(&o, "1f1b");
    wide = run_model(small_mixed_model("{first: [layer, layer, layer], repeat: [wide]}", 4, &arena), &o, "1f1b", STEP_UNITS);
    assert_u64(wide.memory[0].held[STEP_HOLDS_PARAMETERS], one.memory[0].held[STEP_HOLDS_PARAMETERS]);
    assert_u64(wide.memory[1].held[STEP_HOLDS_PARAMETERS], one.memory[1].held[STEP_HOLDS_PARAMETERS] + 2 * 128);
    assert_true(wide.times.busy[0] == one.times.busy[0] && wide.times.busy[1] > one.times.busy[1]);
    /* 2 x 4 tokens x 128, forward and twice backward, of 4 micro-batches on 2 ranks */
    assert_true(wide.model_operations == one.model_operations + 3.0 * 2 * 4 * 128 * 4 * 2);
}

/* A layer that predicts a further token has two norms, a matrix of 16 x 8, a layer of 200 elements, and the head's norm: 352;
 * the last of two stages the embedding of 40 x 8 besides, whose gradients both ends sum up. The head's matrix is there once, and
 * multiplied by twice. */
CLAIM(layers_that_predict_further_tokens_share_the_head)
{
    step_options o = two_stages();
    step_model m;
    step_result one, further;

    (void)state;
    assert_int_equal(begin_on(1), DSE_OK);
    o.kept_weight_bytes = 2;
    m = small_model(4, &arena);
    one = run(&o, "1f1b");
    step_model_add_mtp(&m, 1, &arena);
    assert_int_equal(step_count_of(&m).total, 4 * 200 + 8 + 2 * 320 + 352);
    further = run_model(m, &o, "1f1b", STEP_UNITS);
    assert_u64(further.memory[0].held[STEP_HOLDS_PARAMETERS], one.memory[0].held[STEP_HOLDS_PARAMETERS]);
    assert_u64(further.memory[1].held[STEP_HOLDS_PARAMETERS], one.memory[1].held[STEP_HOLDS_PARAMETERS] + 2 * (352 + 320));
    assert_u64(further.passes.ending[0].ends_sum.in_bytes, 4 * 320);
    assert_u64(one.passes.ending[0].ends_sum.in_bytes, 0);
    assert_true(further.times.busy[0] == one.times.busy[0] && further.times.busy[1] > one.times.busy[1]);
    /* of 4 tokens in each of 4 micro-batches on 2 ranks: the matrices of 16 x 8, of the layer 8 x 8 and 16 x 8 and its
     * attention, as in each of the other four, and the head's 8 x 40 */
    assert_true(further.model_operations - one.model_operations > 3.0 * 2 * 4 * (128 + 64 + 128 + 320) * 4 * 2);
    assert_true(further.model_operations - one.model_operations ==
                3.0 * 2 * 4 * (128 + 320) * 4 * 2 + (one.model_operations - 3.0 * 2 * 4 * 320 * 4 * 2) / 4);
    m.is_tied = true; /* then the embedding is the head's matrix */
    further = run_model(m, &o, "1f1b", STEP_UNITS);
    assert_u64(further.memory[1].held[STEP_HOLDS_PARAMETERS], one.memory[1].held[STEP_HOLDS_PARAMETERS] + 2 * 352);
    m.is_tied = false;
    o.pp = 1;
    o.dp = 4;
    one = run(&o, "1f1b");
    further = run_model(m, &o, "1f1b", STEP_UNITS);
    assert_u64(further.memory[0].held[STEP_HOLDS_PARAMETERS], one.memory[0].held[STEP_HOLDS_PARAMETERS] + 2 * 352);
}

/* DualPipe: both ranks of a pipeline of two hold both stages, one for each direction, and do the same. */
CLAIM(two_directions_hold_the_model_twice)
{
    static const step_group wanted[] = {STEP_GROUP_SHARD, STEP_GROUP_COPIES, STEP_GROUP_SHARD, STEP_GROUP_COPIES};
    step_options o = two_stages();
    step_result one, dual;

    (void)state;
    assert_int_equal(begin_on(1), DSE_OK);
    o.kept_weight_bytes = o.weight_bytes;
    one = run(&o, "1f1b");
    o.directions = 2;
    dual = run(&o, "dualpipe");
    for (int k = STEP_HOLDS_PARAMETERS; k <= STEP_HOLDS_OPTIMIZER; k++)
        for (uint32_t rank = 0; rank < 2; rank++)
            assert_u64(dual.memory[rank].held[k], one.memory[0].held[k] + one.memory[1].held[k]);
    assert_u64(dual.memory[0].peak, dual.memory[1].peak);
    assert_u64(dual.times.last[0], dual.times.last[1]);
    assert_u64(dual.times.busy[0], dual.times.busy[1]);
    assert_true(dual.model_operations == one.model_operations && dual.tokens == one.tokens);
    /* Gradients of each stage over the data parallel ranks, then with its other holder: of the first stage 40 x 8 + 2 x 200
     * elements of 4 bytes, of the second 2 x 200 + 8 + 8 x 40. */
    assert_int_equal(dual.passes.ending[0].n_reductions, 4);
    for (uint32_t rank = 0; rank < 2; rank++)
        for (int i = 0; i < 4; i++) {
            assert_int_equal(dual.passes.ending[rank].reduction[i].group, wanted[i]);
            assert_u64(dual.passes.ending[rank].reduction[i].in_bytes, i < 2 ? 4 * 720 : 4 * 728);
        }
    o.zero = 1; /* the other holder has the same shard */
    dual = run(&o, "dualpipe");
    assert_u64(dual.passes.ending[0].reduction[1].in_bytes, 4 * 720 / 2);
}

/* Its layers have 16 experts, of which a token takes two. */
static const char experts_text[] = "hidden: H\nsequence: S\nblocks:\n"
                                   "  embedding:\n    token: {embedding: [V, H]}\n"
                                   "  layer:\n"
                                   "    qkv: {linear: [H, H], split: column}\n"
                                   "    router: {router: [H, F], top_k: T}\n"
                                   "    dispatch: {dispatch: H, experts: F, top_k: T}\n"
                                   "    up: {grouped: [H, F], split: column, experts: F, top_k: T}\n"
                                   "    down: {grouped: [F, H], split: row, experts: F, top_k: T}\n"
                                   "    combine: {combine: H, experts: F, top_k: T}\n"
                                   "  head:\n    output: {linear: [H, V], split: column}\n    loss: {loss: V}\n";

/* Experts over two ranks, and links with which an exchange takes about as long as the products beside it. */
CLAIM(pairs_hide_the_exchanges_of_experts)
{
    step_options o = two_stages();
    step_result together, apart;

    (void)state;
    assert_int_equal(begin_on(0.1), DSE_OK);
    set.peak_ops_per_s = 1e9;
    o.n_micro_batches = 16;
    o.ep = 2;
    o.zero = 1;
    apart = run_model(small_model_of(experts_text, 4, &arena), &o, "1f1b", STEP_UNITS);
    o.directions = 2;
    together = run_model(small_model_of(experts_text, 4, &arena), &o, "dualpipe", STEP_UNITS);
    assert_true(apart.part[STEP_PART_EP] > 0 && together.part[STEP_PART_EP] < apart.part[STEP_PART_EP] / 2);
    assert_true(together.pipeline < apart.pipeline);
    for (uint32_t i = 0; i < sched_n_actions(&together.plan); i++)
        if (together.plan.action[i].with_next) { /* of the pair's time each has a part, one after the other */
            assert_u64(together.times.start[i + 1], together.times.end[i]);
            assert_true(together.times.end[i] > together.times.start[i]);
            assert_true(together.times.end[i + 1] > together.times.start[i + 1]);
        }
}

/* The order of a pair's operations follows from their times: with faster links it may take longer. A bound with fast links
 * is one for all slower ones. */
CLAIM(a_bound_of_pairs_holds_on_slower_links)
{
    dse_time least = DSE_TIME_NONE; /* of the steps on links that are as fast or slower */

    (void)state;
    for (double gib_per_s = 0.01; gib_per_s < 2; gib_per_s *= 1.1) {
        step_options o = two_stages();
        dse_time bound, step;

        assert_int_equal(begin_on(gib_per_s), DSE_OK);
        set.peak_ops_per_s = 1e9;
        o.n_micro_batches = 16;
        o.micro_batch = 4;
        o.ep = o.directions = 2;
        o.dispatch = STEP_DISPATCH_ALL_GATHER;
        step = run_model(small_model_of(experts_text, 8, &arena), &o, "dualpipe", STEP_UNITS).step;
        bound = run_model(small_model_of(experts_text, 8, &arena), &o, "dualpipe", STEP_BOUND).step;
        least = step < least ? step : least;
        assert_true(bound <= least && bound > least / 2);
        dse_arena_free(&arena);
    }
    dse_arena_init(&arena); /* for the end */
}

CLAIM(parts_add_up_to_the_step)
{
    (void)state;
    assert_int_equal(begin_on(1), DSE_OK);
    for (uint32_t zero = 0; zero < 4; zero++) {
        step_options o = two_stages();
        step_result r;
        dse_time sum = 0;

        o.zero = zero;
        o.overlaps_parameters = o.overlaps_gradients = zero % 2 != 0;
        r = run(&o, "1f1b");
        for (int i = 0; i < STEP_N_PARTS; i++)
            sum += r.part[i];
        assert_true(sum == r.step && r.step > r.pipeline && r.tokens == 2 * 4 * 4);
    }
}

/* Chunks that gather their parameters together do not do it in their passes: all of it counts after the optimizer. */
CLAIM(parameters_of_aligned_chunks_are_not_gathered_for_nothing)
{
    step_options o = two_stages();
    step_result r;
    dse_time after_the_step;

    (void)state;
    assert_int_equal(begin_on(1), DSE_OK);
    o.zero = 1;
    o.vp = 2;
    after_the_step = run(&o, "interleaved").step;
    o.overlaps_parameters = o.aligns_parameters = true;
    r = run(&o, "interleaved");
    assert_u64(r.step, after_the_step);
    assert_int_equal(r.passes.ending[0].n_gathers, 2);
}

/* After the forward pass parameters lie on pairs of neighbours: a gathering again has half of the ring's messages. */
CLAIM(parameters_are_gathered_again_from_the_neighbours_alone)
{
    const step_collective near = {.type = WL_ALL_GATHER, .group = STEP_GROUP_SHARD_NEAR, .in_bytes = 4096};
    step_options o = small_options();
    step_model m;
    step_ranks ranks;
    step_clock *clock;
    step_collective all = near;
    sim_alone pair, four, again;
    uint32_t *member;
    dse_error err = DSE_ERROR_INIT;

    (void)state;
    assert_int_equal(begin_on(1), DSE_OK);
    m = small_model(4, &arena);
    o.dp = 4;
    o.reshard_ranks = 2;
    assert_ok(step_check(&m, &o, 4, &err), &err);
    ranks = step_ranks_of(&o, &arena);
    assert_int_equal(step_ranks_members(&ranks, STEP_GROUP_SHARD_NEAR, &arena, &member), 2);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(member[i], i);
    clock = step_clock_new(&set, &net, &arena);
    all.group = STEP_GROUP_SHARD;
    assert_ok(step_clock_collective(clock, &ranks, &all, &arena, &four, &err), &err);
    assert_ok(step_clock_collective(clock, &ranks, &near, &arena, &pair, &err), &err);
    assert_true(pair.ticks > 0 && 2 * pair.ticks < four.ticks);
    ranks = step_ranks_of(&(step_options){.dp = 2, .tp = 1, .cp = 1, .pp = 2, .replicas = 1}, &arena);
    assert_ok(step_clock_collective(clock, &ranks, &all, &arena, &again, &err), &err);
    assert_u64(again.ticks, pair.ticks);
    o.reshard_ranks = 3;
    assert_int_equal(step_check(&m, &o, 4, &err), DSE_E_RANGE);
    assert_string_equal(err.text, "reshard ranks 3 does not divide the 4 ranks that shard them; take 2 or 4");
}

/* Gradients and parameters on the wire take half of the compute; a simulator of messages knows nothing of it. */
CLAIM(collectives_slow_the_kernels_beside_them)
{
    step_options o = small_options();
    step_result alone, beside, one_unit[2];
    dse_time sum = 0;

    (void)state;
    assert_int_equal(begin_on(1), DSE_OK);
    o.dp = 4;
    o.zero = 3;
    o.reshard_after_forward = true;
    net.is_measured = true;
    net.dim[0].reach = (net_reach){.efficiency = 1, .step_ns = 10};
    net.table = (net_table){.pair = 1};
    alone = run(&o, "1f1b");
    one_unit[0] = run_on(&o, "1f1b", STEP_ONE_UNIT);
    net.dim[0].reach.compute_share = 0.5;
    beside = run(&o, "1f1b");
    one_unit[1] = run_on(&o, "1f1b", STEP_ONE_UNIT);
    assert_true(beside.compute > alone.compute && beside.compute <= 2 * alone.compute);
    assert_true(beside.step >= alone.step);
    for (int i = 0; i < STEP_N_PARTS; i++)
        sum += beside.part[i];
    assert_u64(sum, beside.step);
    assert_u64(one_unit[0].step, one_unit[1].step);
}

/* Gradients of a chunk are reduced under passes of the other one that reduce and gather nothing. */
CLAIM(a_reduction_slows_the_kernels_of_later_passes)
{
    step_options o = two_stages();
    step_result alone, beside;
    uint32_t n_slower = 0;
    dse_time sum = 0;

    (void)state;
    assert_int_equal(begin_on(0.01), DSE_OK);
    o.zero = 1;
    o.vp = 2;
    o.overlaps_gradients = true;
    net.is_measured = true;
    net.dim[0].reach = (net_reach){.efficiency = 1, .step_ns = 10};
    net.table = (net_table){.pair = 1};
    alone = run(&o, "interleaved");
    net.dim[0].reach.compute_share = 0.5;
    beside = run(&o, "interleaved");
    for (uint32_t i = 0; i < beside.plan.first[beside.plan.n_ranks]; i++) {
        const dse_time was = alone.times.end[i] - alone.times.start[i], is = beside.times.end[i] - beside.times.start[i];

        assert_true(is >= was && is <= 2 * was + 1);
        n_slower += is > was && !beside.passes.pass[beside.passes.pass_of[i]].has_shard;
    }
    assert_true(n_slower > 0);
    for (int i = 0; i < STEP_N_PARTS; i++)
        sum += beside.part[i];
    assert_u64(sum, beside.step);
}

/* 40 x 8, four layers of 200, 8 + 40 x 8. A gradient is read for its norm, 4, clipped, 8, and read by Adam, 4; its state is
 * read and written, 24, its master copy read, 4, the weight written, 2. Megatron's buffer is set to 0, and divided. */
CLAIM(an_update_goes_over_gradients_and_state)
{
    step_options o = small_options();

    (void)state;
    assert_int_equal(begin_on(1), DSE_OK);
    o.dp = 4;
    o.kept_weight_bytes = 2;
    o.gradient_bytes = 4;
    o.optimizer_bytes = 12;
    assert_u64(run(&o, "1f1b").passes.ending[0].optimizer.bytes, 46 * 1448);
    o.unscales_gradients = true; /* 4 bytes read and written again */
    assert_u64(run(&o, "1f1b").passes.ending[0].optimizer.bytes, 54 * 1448);
    o.unscales_gradients = false;
    o.keeps_gradients = true;
    assert_u64(run(&o, "1f1b").passes.ending[0].optimizer.bytes, 58 * 1448);
    o.zero = 1;
    assert_u64(run(&o, "1f1b").passes.ending[0].optimizer.bytes, 46 * 1448 / 4 + 12 * 1448);
}

static double copied(const step_passes *p, uint32_t pass)
{
    double bytes = 0;

    for (uint32_t i = 0; i < p->pass[pass].n; i++)
        if (!strcmp(p->pass[pass].operation[i].name, "copy"))
            bytes += (double)p->pass[pass].operation[i].kernel->bytes;
    return bytes;
}

/* All parameters are gathered, and copied: 2 + 2. Backward all but the head's again, and gradients of all to 4 bytes. */
CLAIM(sharded_parameters_and_gradients_are_copied)
{
    step_options o = small_options();
    step_result r;

    (void)state;
    assert_int_equal(begin_on(1), DSE_OK);
    o.dp = 4;
    o.zero = 3;
    o.reshard_after_forward = true;
    r = run(&o, "1f1b");
    assert_true(copied(&r.passes, r.passes.pass_of[0]) == 4 * 1448);
    assert_true(copied(&r.passes, r.passes.pass_of[1]) == 4 * (1448 - 328) + 6 * 1448);
}

/* What a system adds to kernels and collectives, and the host's floor: of layers 1, 2 in each direction. */
CLAIM(a_system_may_be_slower_than_its_laws)
{
    step_options o = small_options();
    step_result fast, slow, one_unit;
    const dse_time floor = 1000000;
    dse_time sum = 0;

    (void)state;
    assert_int_equal(begin_on(1), DSE_OK);
    fast = run(&o, "1f1b");
    set.kernel_lag = 1;
    slow = run(&o, "1f1b");
    assert_true(slow.compute == 2 * fast.compute && slow.passes.has_laws && !fast.passes.has_laws);
    set.kernel_lag = 0;
    set.layer_floor = floor;
    slow = run(&o, "1f1b");
    for (int i = 0; i < STEP_N_PARTS; i++)
        sum += slow.part[i];
    assert_u64(sum, slow.step);
    assert_u64(slow.compute, fast.compute);
    assert_true(slow.step > 8 * floor && slow.step - 8 * floor < fast.step && slow.host == slow.step - fast.step);
    o.recompute = STEP_RECOMPUTE_FULL;
    assert_true(run(&o, "1f1b").step > 12 * floor);
    o = small_options();
    o.tp = 4;
    set.layer_floor = 0;
    fast = run(&o, "1f1b");
    set.layer_floor = floor;
    slow = run(&o, "1f1b");
    /* The host issues kernels while collectives of tp go on, most of which are of layers. */
    assert_true(fast.part[STEP_PART_TP] > 1000 && slow.step >= 8 * floor &&
                slow.step <= 8 * floor + fast.step - fast.part[STEP_PART_TP] / 2);
    set.layer_floor = 0;
    o = small_options();
    o.dp = 4;
    one_unit = run_on(&o, "1f1b", STEP_ONE_UNIT);
    fast = run(&o, "1f1b");
    set.collective_overhead = 5000;
    slow = run(&o, "1f1b");
    /* One bucket of gradients; the norm is of one rank's model. */
    assert_u64(slow.step, fast.step + 5000);
    assert_u64(run_on(&o, "1f1b", STEP_ONE_UNIT).step, one_unit.step);
}

static uint32_t joined(const step_result *r, uint32_t action)
{
    const step_pass *p = &r->passes.pass[r->passes.pass_of[action]];
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n; i++)
        n += p->operation[i].collective && p->operation[i].collective->type == WL_ALL_GATHER;
    return n;
}

/* Two ranks of tensor parallelism send a half of 4 tokens x 8 features in 2 bytes each, and the next stage's gather it. */
CLAIM(tensors_are_sent_in_shares_and_joined)
{
    step_options o = small_options();
    step_result r;

    (void)state;
    assert_int_equal(begin_on(1), DSE_OK);
    o.tp = o.pp = 2;
    r = run(&o, "1f1b");
    assert_u64(r.passes.transfer.in_bytes, 64);
    assert_int_equal(joined(&r, r.plan.first[1]), 0);
    o.splits_messages = true;
    r = run(&o, "1f1b");
    assert_u64(r.passes.transfer.in_bytes, 32);
    assert_int_equal(joined(&r, r.plan.first[0]), 0);     /* forward, of the first stage */
    assert_int_equal(joined(&r, r.plan.first[0] + 1), 1); /* backward */
    assert_int_equal(joined(&r, r.plan.first[1]), 1);
    assert_int_equal(joined(&r, r.plan.first[1] + 1), 0);
    o.sequence_parallel = true; /* is split by tokens already */
    r = run(&o, "1f1b");
    assert_u64(r.passes.transfer.in_bytes, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(parameters_are_gathered_while_a_rank_waits_for_its_first_tensor, end),
        cmocka_unit_test_teardown(kinds_of_layers_that_are_alike_are_as_one, end),
        cmocka_unit_test_teardown(each_stage_has_the_parameters_and_time_of_its_own_layers, end),
        cmocka_unit_test_teardown(layers_that_predict_further_tokens_share_the_head, end),
        cmocka_unit_test_teardown(two_directions_hold_the_model_twice, end),
        cmocka_unit_test_teardown(pairs_hide_the_exchanges_of_experts, end),
        cmocka_unit_test_teardown(a_bound_of_pairs_holds_on_slower_links, end),
        cmocka_unit_test_teardown(parts_add_up_to_the_step, end),
        cmocka_unit_test_teardown(an_update_goes_over_gradients_and_state, end),
        cmocka_unit_test_teardown(sharded_parameters_and_gradients_are_copied, end),
        cmocka_unit_test_teardown(a_system_may_be_slower_than_its_laws, end),
        cmocka_unit_test_teardown(tensors_are_sent_in_shares_and_joined, end),
        cmocka_unit_test_teardown(collectives_slow_the_kernels_beside_them, end),
        cmocka_unit_test_teardown(a_reduction_slows_the_kernels_of_later_passes, end),
        cmocka_unit_test_teardown(parameters_are_gathered_again_from_the_neighbours_alone, end),
        cmocka_unit_test_teardown(parameters_of_aligned_chunks_are_not_gathered_for_nothing, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
