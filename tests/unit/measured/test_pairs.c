/* A run against itself, and by hand: what is compared, per step, and why something is not. */
#include "measured/pairs.h"

#include "driver/simulated.h"
#include "driver/timeline.h"
#include "unit/metrics/run.h"
#include "unit/point.h"

#define CARDS TEST_DATA "/cards"

static dse_arena arena;
static dse_error err;
static cmp_pair *pair;
static size_t n_pairs;
static char folder[64], path[128];

static const cmp_pair *of(const char *name)
{
    for (size_t i = 0; i < n_pairs; i++)
        if (strcmp(pair[i].name, name) == 0)
            return &pair[i];
    fail_msg("there is no pair '%s'", name);
    return NULL;
}

static void begin(void)
{
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
}

static void is_near(double seen, double expected)
{
    if (!(fabs(seen - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g is not %.17g", seen, expected);
}

static void is_absent_since(double value, const char *seen, const char *why)
{
    assert_true(isnan(value));
    assert_string_equal(seen, why);
}

/* ---- a run against itself ------------------------------------------------------------------- */

static drv_study study;

/* A card of our own for a model whose size does not matter here. */
static trace_card card_of(const strategy *p)
{
    run r;

    run_init(&r); /* all absent */
    run_free(&r);
    r.card.tp = p->tp;
    r.card.pp = p->pp;
    r.card.dp_replicate = p->dp;
    r.card.dp_shard = 1;
    r.card.cp = p->sp;
    r.card.total_count = 8;
    r.card.phase = TRACE_PHASE_TRAINING;
    r.card.batch_size = 16;
    r.card.seq_len = 128;
    r.card.num_layers = 3;
    r.card.num_heads = 8;
    r.card.head_dim = 64;
    r.card.num_params = 1e7;
    r.card.xpu_model = "nvidia_a100";
    r.card.precision = "bf16";
    r.card.path = NULL;
    return r.card;
}

static void count_bytes(drv_recording *r)
{
    for (uint32_t i = 0; i < r->record.n_ranks; i++)
        r->record.rank[i].in_elements = false;
}

static void save_and_load(const strategy *p, const trace_card *card, drv_recording *out)
{
    trace_ticks ticks;
    sim_result result;
    wl_workload w;

    assert_ok(drv_point_generate(&study, p, &arena, &w, &err), &err);
    assert_ok(drv_point_simulate(&study, &w, &arena, &result, &ticks, &err), &err);
    assert_ok(drv_timeline_save(&w, &result, &ticks, path, &arena, &err), &err);
    assert_ok(drv_recording_load(path, &(drv_recording_options){0}, out, &err), &err);
    out->card = *card;
    out->has_card = true;
    out->card.rank_order = "dp_shard,dp_replicate,tp,cp,pp";
}

/* The pairs that two degrees above 1 and a pipeline leave out are named; all others are there and equal. */
static void against_itself(strategy p, bool bytes, const char *const *missing)
{
    trace_card card = card_of(&p);
    drv_recording simulated, measured;
    store_metrics summary;
    uint64_t wall = 0;

    assert_ok(drv_simulated_run(&study, &p, &card, &simulated, &summary, &err), &err);
    save_and_load(&p, &card, &measured);
    if (bytes) {
        count_bytes(&simulated);
        count_bytes(&measured);
    }
    assert_ok(msr_pairs_make(&simulated, NULL, &measured, &arena, &pair, &n_pairs, &err), &err);
    assert_int_equal(n_pairs, msr_n_pair_kinds);
    for (size_t i = 0; i < n_pairs; i++) {
        bool there = true;

        for (const char *const *m = missing; *m; m++)
            there = there && strcmp(*m, pair[i].name) != 0;
        assert_string_equal(pair[i].name, msr_pair_kind_at(i).name);
        if (isnan(pair[i].simulated) == there || isnan(pair[i].measured) == there)
            fail_msg("%s: %g, %g: %s", pair[i].name, pair[i].simulated, pair[i].measured,
                     pair[i].why_simulated ? pair[i].why_simulated : "there");
        assert_double(pair[i].simulated, pair[i].measured);
        assert_true(!pair[i].why_simulated == there && !pair[i].why_measured == there);
        assert_true(pair[i].tolerance > 0);
    }
    for (uint32_t i = 0; i < simulated.record.n_ranks; i++)
        wall += (uint64_t)simulated.record.rank[i].all_last_ps / TRACE_PS_PER_NS;
    is_near(of("step_time")->simulated, (double)wall / 8 / 1e9);
    drv_recording_free(&simulated);
    drv_recording_free(&measured);
}

static void with_study(void)
{
    begin();
    unit_make_folder(folder);
    snprintf(path, sizeof path, "%s/run.json", folder);
    assert_ok(
        drv_study_load(CARDS "/models/small.yaml", CARDS "/systems/ring8.yaml", NULL, &arena, &study, &err),
        &err);
}

static void without_study(void)
{
    dse_arena_free(&arena);
    unit_remove_folder(folder);
}

#define NO_EXPERTS   "calls.AllToAll", "bytes.AllToAll", "traffic.ep", "comm_time.ep"
#define NO_BROADCAST "calls.Broadcast", "bytes.Broadcast"
#define POSTED       "comm_time", "overlap_ratio", "comm_time.pp"
#define NO_CP        "traffic.cp", "comm_time.cp"

CLAIM(a_run_equals_itself_in_every_pair_that_is_there)
{
    static const char *const missing[] = {NO_EXPERTS, NO_BROADCAST, NO_CP, POSTED, NULL};

    with_study();
    against_itself(unit_point("2_2_1_2_0"), true, missing);
    without_study();
}

CLAIM(a_run_without_a_pipeline_has_no_bubble_and_no_messages)
{
    static const char *const missing[] = {NO_EXPERTS,       NO_BROADCAST,      NO_CP,
                                          "calls.SendRecv", "bytes.SendRecv",  "traffic.pp",
                                          "comm_time.pp",   "pipeline_bubble", NULL};

    with_study();
    against_itself(unit_point("4_2_1_1_0"), true, missing);
    without_study();
}

/* What upstream counts are elements: nothing of them is compared with bytes. */
CLAIM(a_run_that_counts_elements_has_no_bytes)
{
    static const char *const missing[] = {NO_EXPERTS,
                                          NO_BROADCAST,
                                          NO_CP,
                                          POSTED,
                                          "bytes.AllReduce",
                                          "bytes.ReduceScatter",
                                          "bytes.AllGather",
                                          "bytes.SendRecv",
                                          "traffic.dp",
                                          "traffic.tp",
                                          "traffic.pp",
                                          "peak_memory",
                                          NULL};

    with_study();
    against_itself(unit_point("2_2_1_2_0"), false, missing);
    assert_string_equal(
        of("traffic.tp")->why_simulated,
        "the simulation counts elements, not bytes: its model card has no section 'precision'");
    without_study();
}

/* ---- by hand -------------------------------------------------------------------------------- */

static run simulated_run, measured_run;

static drv_recording recording_of(run *r)
{
    for (uint32_t i = 0; i < r->rec.n_ranks; i++) {
        metric_view_free(&r->view[i]);
        metric_view_init(&r->view[i], &r->rec.rank[i]);
    }
    return (drv_recording){.record = r->rec,
                           .view = r->view,
                           .n_views = r->rec.n_ranks,
                           .card = r->card,
                           .has_card = r->has_card};
}

static void compare_runs(void)
{
    drv_recording simulated = recording_of(&simulated_run), measured = recording_of(&measured_run);

    assert_ok(msr_pairs_make(&simulated, NULL, &measured, &arena, &pair, &n_pairs, &err), &err);
}

/* A communication of simulated runs is one by its arguments, whatever it is called. */
static void simulated_comm(trace_rank *r, int64_t start, int64_t end, uint64_t size, const char *ranks)
{
    trace_args a;

    trace_args_clear(&a);
    a.collective = run_name(r, "all_reduce");
    a.in_elements = a.out_elements = size;
    a.dtype = run_name(r, "Byte");
    a.group_desc = run_name(r, "mesh_dp");
    a.group_ranks = run_name(r, ranks);
    run_event(r, "kernel", "update@0", start, end, &a);
}

/* Simulated: one step of 90 us, compute from 0 to 50, an all-reduce of 16 bytes from 40 to 80. Measured: rank 3 of 8, two
 * steps of 100 us, in each compute for 60 us, an all-reduce of 8 bytes from 50 to 90; and one all-gather in both together,
 * from 95 to 97, of which the buffer, what comes out, has 20 bytes. */
static void by_hand(void)
{
    trace_rank *r;

    begin();
    run_init(&simulated_run);
    run_init(&measured_run);
    r = run_rank(&simulated_run, 0);
    r->kind = TRACE_SIMULATED;
    r->peak_memory = 1000;
    run_step(r, 0, 0, 90);
    run_kernel(r, "gemm", 0, 50);
    simulated_comm(r, 40, 80, 16, "[0, 1]");
    r = run_rank(&measured_run, 3);
    r->world_size = 8;
    for (int i = 0; i < 2; i++) {
        run_step(r, i, 100 * i, 100 * i + 100);
        run_kernel(r, "gemm", 100 * i, 100 * i + 60);
        run_comm(r, "ncclDevKernel_AllReduce", 100 * i + 50, 100 * i + 90, 8, 8, "mesh_dp", "[2, 3]");
    }
    run_comm(r, "ncclDevKernel_AllGather", 95, 97, 10, 20, "mesh_tp", "[3, 7]");
}

static void by_hand_end(void)
{
    run_free(&simulated_run);
    run_free(&measured_run);
    dse_arena_free(&arena);
}

static void are(const char *name, double simulated, double measured)
{
    is_near(of(name)->simulated, simulated);
    is_near(of(name)->measured, measured);
}

/* Measured sums are over two steps, so halves of them count: compute 120 us, communication 40 + 40 + 2, of which 10 + 10
 * are covered; 2 all-reduces of 8 bytes, an all-gather of 20. */
CLAIM(what_grows_with_the_recording_is_taken_per_step)
{
    by_hand();
    compare_runs();
    are("step_time", 90e-6, 100e-6);
    are("compute_time", 50e-6, 60e-6);
    are("comm_time", 40e-6, 41e-6);
    are("exposed_comm", 30e-6, 31e-6);
    are("overlap_ratio", 10. / 40, 20. / 82);
    are("calls.AllReduce", 1, 1);
    are("calls.AllGather", 0, 0.5);
    are("bytes.AllReduce", 16, 8);
    are("bytes.AllGather", 0, 10);
    are("traffic.dp", 16, 8);
    are("traffic.tp", 0, 10);
    are("comm_time.dp", 40e-6, 40e-6);
    are("comm_time.tp", 0, 1e-6);
    assert_string_equal(of("step_time")->unit, "s");
    assert_int_equal(of("step_time")->better, CMP_LOWER);
    assert_int_equal(of("overlap_ratio")->better, CMP_HIGHER);
    assert_int_equal(of("traffic.dp")->better, CMP_NEITHER);
    by_hand_end();
}

CLAIM(what_is_lacking_has_the_reason_of_its_metric)
{
    by_hand();
    compare_runs();
    is_absent_since(of("calls.AllToAll")->simulated, of("calls.AllToAll")->why_simulated, "there are none");
    is_absent_since(of("bytes.AllToAll")->measured, of("bytes.AllToAll")->why_measured, "no call moves any");
    is_absent_since(
        of("straggler_lag")->measured, of("straggler_lag")->why_measured,
        "it compares ranks, and only rank 3 of 8 is here; give the directory with the files of the others");
    is_absent_since(of("peak_memory")->measured, of("peak_memory")->why_measured,
                    "it is not defined for a Kineto trace; it takes simulated runs, memory snapshots");
    is_near(of("peak_memory")->simulated, 1000);
    assert_null(of("peak_memory")->why_simulated);
    by_hand_end();
}

/* A message that a simulated rank waits for from the start. */
CLAIM(receives_that_were_posted_early_are_no_communication_time)
{
    trace_args a;
    trace_rank *r;

    by_hand();
    r = &simulated_run.rec.rank[0];
    trace_args_clear(&a);
    a.collective = run_name(r, "recv");
    run_event(r, "kernel", "recv", 0, 90, &a);
    compare_runs();
    is_absent_since(of("comm_time")->simulated, of("comm_time")->why_simulated,
                    "simulated stages post their receives at the start, which covers all else");
    assert_true(isnan(of("overlap_ratio")->simulated));
    is_near(of("comm_time")->measured, 41e-6);
    is_near(of("exposed_comm")->simulated, 40e-6); /* from 50 to 90 */
    by_hand_end();
}

CLAIM(bytes_of_some_communications_are_not_the_bytes_of_all)
{
    by_hand();
    run_kernel(&measured_run.rec.rank[0], "ncclDevKernel_AllReduce", 192, 194);
    compare_runs();
    is_absent_since(of("bytes.AllReduce")->measured, of("bytes.AllReduce")->why_measured,
                    "1 of 4 communications do not say their size (In msg nelems, dtype)");
    is_absent_since(of("traffic.cp")->measured, of("traffic.cp")->why_measured,
                    "1 of 4 communications do not say their size (In msg nelems, dtype)");
    is_near(of("bytes.AllReduce")->simulated, 16);
    is_near(of("calls.AllReduce")->measured, 1.5);
    by_hand_end();
}

/* A gather of nobody knows whom, for 2 us; a message, which is between stages more often than not. */
CLAIM(a_guess_is_no_traffic_of_a_degree)
{
    by_hand();
    run_comm(&measured_run.rec.rank[0], "ncclDevKernel_Gather", 192, 194, 8, 8, NULL, NULL);
    compare_runs();
    is_absent_since(of("traffic.dp")->measured, of("traffic.dp")->why_measured,
                    "neither trace nor card say which ranks 0.002 ms of communication are between");
    assert_true(isnan(of("comm_time.dp")->measured));
    is_near(of("comm_time.dp")->simulated, 40e-6);
    by_hand_end();
    by_hand();
    run_comm(&measured_run.rec.rank[0], "ncclDevKernel_SendRecv", 192, 194, 8, 8, NULL, NULL);
    compare_runs();
    is_absent_since(of("comm_time.pp")->measured, of("comm_time.pp")->why_measured,
                    "of 1 of 4 communications the parallel dimension could only be guessed");
    by_hand_end();
}

CLAIM(without_steps_nothing_is_said_per_step)
{
    by_hand();
    run_free(&measured_run);
    run_init(&measured_run);
    run_comm(run_rank(&measured_run, 3), "ncclDevKernel_AllReduce", 0, 40, 8, 8, "mesh_dp", "[2, 3]");
    compare_runs();
    is_absent_since(of("comm_time")->measured, of("comm_time")->why_measured,
                    "rank 3 has no step markers (ProfilerStep#), so that it cannot be said per step");
    assert_true(isnan(of("step_time")->measured));
    assert_non_null(strstr(of("step_time")->why_measured, "step"));
    is_near(of("overlap_ratio")->simulated, 0.25);
    is_near(of("overlap_ratio")->measured, 0);
    by_hand_end();
}

/* ---- how much of a job is there ------------------------------------------------------------- */

static const char *reach_of(run *r)
{
    drv_recording recording = recording_of(r);

    return msr_pairs_reach(&recording, &arena);
}

CLAIM(it_is_said_how_many_ranks_are_there)
{
    run r;

    begin();
    run_init(&r);
    run_rank(&r, 3)->world_size = 8;
    assert_string_equal(reach_of(&r), "of 8 ranks only rank 3 is there: measured figures are that rank's");
    run_rank(&r, 5);
    assert_string_equal(reach_of(&r), "of 8 ranks only ranks 3, 5 are there: measured figures are theirs");
    for (uint32_t i = 0; i < 3; i++)
        run_rank(&r, 6 + i);
    assert_string_equal(reach_of(&r), "of 8 ranks only 5 are there: measured figures are theirs");
    r.rec.rank[0].world_size = 5;
    assert_null(reach_of(&r));
    r.rec.rank[0].world_size = 0; /* nobody knows */
    assert_null(reach_of(&r));
    r.has_card = true;
    r.card.total_count = 6;
    assert_non_null(strstr(reach_of(&r), "of 6 ranks only 5"));
    run_free(&r);
    dse_arena_free(&arena);
}

/* ---- rows of tables ------------------------------------------------------------------------- */

CLAIM(a_row_of_a_table_has_a_step_time_and_perhaps_memory)
{
    const msr_figures simulated = {1.5, NAN, "elements are no bytes"}, measured = {2, 3e9, NULL};

    begin();
    assert_ok(msr_pairs_of_figures(&simulated, &measured, &arena, &pair, &n_pairs, &err), &err);
    assert_int_equal(n_pairs, 2);
    are("step_time", 1.5, 2);
    assert_null(of("step_time")->why_simulated);
    is_near(of("step_time")->tolerance, 0.1);
    is_near(of("peak_memory")->measured, 3e9);
    is_absent_since(of("peak_memory")->simulated, of("peak_memory")->why_simulated, "elements are no bytes");
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_grows_with_the_recording_is_taken_per_step),
        cmocka_unit_test(what_is_lacking_has_the_reason_of_its_metric),
        cmocka_unit_test(receives_that_were_posted_early_are_no_communication_time),
        cmocka_unit_test(bytes_of_some_communications_are_not_the_bytes_of_all),
        cmocka_unit_test(a_guess_is_no_traffic_of_a_degree),
        cmocka_unit_test(without_steps_nothing_is_said_per_step),
        cmocka_unit_test(it_is_said_how_many_ranks_are_there),
        cmocka_unit_test(a_row_of_a_table_has_a_step_time_and_perhaps_memory),
        cmocka_unit_test(a_run_equals_itself_in_every_pair_that_is_there),
        cmocka_unit_test(a_run_without_a_pipeline_has_no_bubble_and_no_messages),
        cmocka_unit_test(a_run_that_counts_elements_has_no_bytes),
    };
    return RUN_TESTS(tests);
}
