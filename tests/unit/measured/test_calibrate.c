/* Runs simulated on a machine whose parameters are known, and fitted from a card that says otherwise. */
#include "cards/resize.h"
#include "measured/calibrate.h"
#include "measured/point.h"

#include "unit/point.h"
#include "unit/unit.h"

/* Two boxes of four. */
static const char true_card[] = "network:\n"
                                "  topology: [Switch, Switch]\n"
                                "  npus_count: [4, 2]\n"
                                "  bandwidth: [40, 5]\n"
                                "  latency: [3000, 9000]\n"
                                "collectives:\n"
                                "  all: [ring, ring]\n"
                                "compute:\n"
                                "  peak_perf: 30\n"
                                "memory:\n"
                                "  bandwidth: 200\n"
                                "overheads:\n"
                                "  per_kernel: 4000\n"
                                "  per_step: 2000000\n";

/* What its data sheet says: all rates higher, no cost. */
static const char *const data_sheet[] = {"compute.peak_perf=45",     "memory.bandwidth=300",
                                         "network.bandwidth=[60,9]", "network.latency=[1000,1000]",
                                         "overheads.per_kernel=0",   "overheads.per_step=0"};

#define N_TRUE 8
static const double truth[N_TRUE] = {30, 200, 40, 5, 3000, 9000, 4000, 2e6};

/* Models that are more or less compute, by batch and sequence, and strategies in one box and over both. */
typedef struct {
    const char *model[2]; /* settings */
    const char *point;
} job;

static const job jobs[] = {
    {{"batch=16", "sequence=128"}, "8_1_1_1_0"}, {{"batch=64", "sequence=256"}, "4_2_1_1_0"},
    {{"batch=16", "sequence=64"}, "2_4_1_1_0"},  {{"batch=256", "sequence=128"}, "2_2_2_1_0"},
    {{"batch=8", "sequence=32"}, "1_4_1_1_0"},   {{"batch=128", "sequence=256"}, "4_1_1_1_0"},
    {{"batch=32", "sequence=128"}, "2_2_1_1_1"}, {{"batch=512", "sequence=64"}, "2_1_1_1_0"},
    {{"batch=16", "sequence=512"}, "1_2_1_1_1"}, {{"batch=64", "sequence=64"}, "1_8_1_1_0"},
    {{"batch=8", "sequence=1024"}, "1_1_8_1_0"}, {{"batch=128", "sequence=32"}, "8_1_1_1_1"},
    {{"batch=24", "sequence=96"}, "4_1_2_1_0"},  {{"batch=16", "sequence=2048"}, "2_1_1_1_0"},
    {{"batch=512", "sequence=16"}, "1_4_1_1_0"}, {{"batch=4", "sequence=512"}, "4_1_1_1_0"},
    {{"batch=48", "sequence=192"}, "2_1_2_1_0"}, {{"batch=32", "sequence=32"}, "1_2_1_1_0"},
};
#define N_JOBS (sizeof jobs / sizeof jobs[0])

static dse_arena arena;
static drv_study study[N_JOBS];
static msr_calibrate_run run[N_JOBS];
static card_system machine, sheet;
static dse_error err;

static void set(card_system *s, const char *const *words, size_t n)
{
    cfg_settings settings;

    assert_ok(drv_settings_parse(words, n, &arena, &settings, &err), &err);
    assert_ok(card_system_set(s, &settings, &err), &err);
}

/* Seconds of a run on a machine. */
static double measure(const card_system *on, const msr_calibrate_run *r)
{
    drv_study s = *r->study;
    store_metrics m;

    assert_ok(card_system_resize(on, strategy_ranks(&r->point), &s.system, &err), &err);
    assert_ok(drv_point_run(&s, &r->point, &arena, &m, &err), &err);
    return (double)m.wall_time * 1e-9;
}

static int begin(void **state)
{
    cfg_doc doc;

    (void)state;
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    setenv("CCLDSE_CONFIGS", TEST_SOURCE "/configs", 1);
    assert_ok(cfg_parse_yaml("true.yaml", true_card, sizeof true_card - 1, &arena, &doc, &err), &err);
    assert_ok(card_system_read(&doc, NULL, &machine, &err), &err);
    sheet = machine;
    set(&sheet, data_sheet, sizeof data_sheet / sizeof data_sheet[0]);
    for (size_t i = 0; i < N_JOBS; i++) {
        cfg_settings settings;

        assert_ok(drv_settings_parse(jobs[i].model, 2, &arena, &settings, &err), &err);
        assert_ok(drv_study_load(TEST_DATA "/cards/models/small.yaml", TEST_DATA "/cards/systems/ring8.yaml",
                                 &settings, &arena, &study[i], &err),
                  &err);
        run[i] = (msr_calibrate_run){.name = dse_arena_printf(&arena, "run %zu", i), .study = &study[i]};
        assert_ok(strategy_parse_name(jobs[i].point, NULL, &run[i].point, NULL, &err), &err);
        run[i].measured_s = measure(&machine, &run[i]);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    return 0;
}

static const msr_calibrate_options plain = {.max_rate = 1, .starts = 1, .seed = 1, .n_threads = 1};

static void calibrate(const msr_calibrate_run *r, size_t n, const msr_calibrate_options *o,
                      msr_calibrated *out)
{
    assert_ok(msr_calibrate(&sheet, r, n, o, &arena, out, &err), &err);
}

static void refuse(const msr_calibrate_options *o, dse_status status, const char *where, const char *text)
{
    dse_error why = DSE_ERROR_INIT;
    msr_calibrated c;

    assert_failure(msr_calibrate(&sheet, run, N_JOBS, o, &arena, &c, &why), &why, status, where, text);
}

CLAIM(the_true_machine_is_found)
{
    msr_calibrated c;

    calibrate(run, N_JOBS, &plain, &c);
    assert_int_equal(c.p, N_TRUE);
    for (size_t j = 0; j < c.p; j++) {
        double off = fabs(c.fit.parameter[j].value - truth[j]);

        if (c.fit.parameter[j].state != CMP_FITTED || !(off <= 0.01 * truth[j]))
            fail_msg("%s: %g +- %g, state %d; it is %g", c.parameter[j].name, c.fit.parameter[j].value,
                     c.fit.parameter[j].error, (int)c.fit.parameter[j].state, truth[j]);
    }
    assert_true(c.fit.rms < 1e-4);
    for (size_t i = 0; i < N_JOBS; i++) {
        assert_true(fabs(c.fit.before[i] / run[i].measured_s - 1) > 0.1);
        assert_true(fabs(c.fit.after[i] / run[i].measured_s - 1) < 1e-3);
    }
    assert_double(c.fitted.peak_perf, c.fit.parameter[0].value);
    assert_double(c.fitted.latency.v[1], c.fit.parameter[5].value);
}

/* Seconds, over the ranks of a run. */
static double mean_of_ranks(const card_system *on, const msr_calibrate_run *r)
{
    drv_study s = *r->study;
    sim_result result;
    wl_workload w;
    double sum = 0;

    assert_ok(card_system_resize(on, strategy_ranks(&r->point), &s.system, &err), &err);
    assert_ok(drv_point_generate(&s, &r->point, &arena, &w, &err), &err);
    assert_ok(drv_point_simulate(&s, &w, &arena, &result, NULL, &err), &err);
    for (uint32_t i = 0; i < result.n_ranks; i++)
        sum += (double)result.rank[i].wall;
    return sum / result.n_ranks * 1e-9;
}

/* As `compare` has it: a trace's step time is the mean of its ranks, of which a pipeline's finish one after the other. A table
 * row of the same point stands beside it. */
CLAIM(a_trace_is_predicted_as_a_trace_is_measured)
{
    msr_calibrate_run runs[N_JOBS + 2], *row = &runs[N_JOBS], *trace = &runs[N_JOBS + 1];
    msr_calibrated c;

    memcpy(runs, run, sizeof run);
    *row = run[0];
    assert_ok(strategy_parse_name("2_2_1_2_0", NULL, &row->point, NULL, &err), &err);
    row->measured_s = measure(&machine, row);
    *trace = *row;
    trace->is_mean = true;
    trace->measured_s = mean_of_ranks(&machine, row);
    calibrate(runs, N_JOBS + 2, &plain, &c);
    assert_true(fabs(c.fit.before[N_JOBS] / measure(&sheet, row) - 1) < 1e-12);
    assert_true(fabs(c.fit.before[N_JOBS + 1] / mean_of_ranks(&sheet, row) - 1) < 1e-12);
    assert_true(c.fit.before[N_JOBS + 1] < 0.999 * c.fit.before[N_JOBS]);
}

/* Those in one box. */
static size_t runs_of_a_box(msr_calibrate_run *out)
{
    size_t n = 0;

    for (size_t i = 0; i < N_JOBS; i++)
        if (strategy_ranks(&run[i].point) <= 4)
            out[n++] = run[i];
    return n;
}

/* Runs in one box say nothing of what is between boxes: that stays, and the rest is found. */
CLAIM(what_the_runs_cannot_show_stays_at_its_start)
{
    static const char *const fix[] = {"memory.bandwidth"};
    msr_calibrate_options o = plain;
    msr_calibrate_run some[N_JOBS];
    card_system half = sheet;
    msr_calibrated c;

    half.memory_bandwidth = machine.memory_bandwidth;
    o.n_fix = 1;
    o.fix = fix;
    o.starts = 6;
    assert_ok(msr_calibrate(&half, some, runs_of_a_box(some), &o, &arena, &c, &err), &err);
    assert_int_equal(c.p, N_TRUE - 1);
    for (size_t j = 0; j < c.p; j++) {
        bool between = strstr(c.parameter[j].name, "[1]") != NULL;
        double is = truth[j + (j > 0)];

        assert_int_equal(c.fit.parameter[j].state, between ? CMP_NO_EFFECT : CMP_FITTED);
        if (between)
            assert_double(c.fit.parameter[j].value, c.card[j]);
        else if (!(fabs(c.fit.parameter[j].value - is) <= 0.01 * is))
            fail_msg("%s: %g +- %g", c.parameter[j].name, c.fit.parameter[j].value, c.fit.parameter[j].error);
    }
    assert_double(c.fitted.bandwidth.v[1], sheet.bandwidth.v[1]);
    assert_double(c.fitted.memory_bandwidth, half.memory_bandwidth);
}

CLAIM(a_rate_is_at_most_the_cards_unless_more_is_allowed)
{
    static const char *const fit[] = {"compute.peak_perf", "overheads"};
    msr_calibrate_options o = plain;
    card_system slow = machine;
    msr_calibrated c;

    slow.peak_perf = 20; /* truly 30 */
    o.fit = fit;
    o.n_fit = 1;
    assert_ok(msr_calibrate(&slow, run, N_JOBS, &o, &arena, &c, &err), &err);
    assert_double(c.fitted.peak_perf, 20);
    assert_int_equal(c.fit.parameter[0].state, CMP_AT_BOUND);
    o.max_rate = 2;
    assert_ok(msr_calibrate(&slow, run, N_JOBS, &o, &arena, &c, &err), &err);
    assert_true(fabs(c.fitted.peak_perf - 30) < 0.01);
    assert_int_equal(c.fit.parameter[0].state, CMP_FITTED);
}

CLAIM(a_known_start_is_where_the_fit_begins)
{
    static const char *const fit[] = {"network.latency"};
    static const msr_calibrate_start known[] = {{"network.latency[1]", 8000}};
    msr_calibrate_options o = plain;
    msr_calibrate_run some[N_JOBS];
    msr_calibrated c;

    o.fit = fit;
    o.n_fit = 1;
    o.start_known = known;
    o.n_starts_known = 1;
    assert_ok(msr_calibrate(&sheet, some, runs_of_a_box(some), &o, &arena, &c, &err), &err);
    assert_int_equal(c.p, 2);
    assert_double(c.parameter[1].start, 8000);
    assert_double(c.card[1], 1000);
    assert_double(c.fitted.latency.v[1], 8000);
    assert_int_equal(c.fit.parameter[1].state, CMP_NO_EFFECT);
}

CLAIM(what_cannot_be_fitted_is_refused)
{
    static const char *const word[] = {"memory.capacity"}, *const all[] = {
                                                               "compute.peak_perf",    "memory.bandwidth",
                                                               "network.bandwidth",    "network.latency",
                                                               "overheads.per_kernel", "overheads.per_step"};
    msr_calibrate_options o = plain;
    static const char names[] = "known: compute.peak_perf, memory.bandwidth, network.bandwidth[0], "
                                "network.bandwidth[1], network.latency[0], network.latency[1], "
                                "overheads.per_kernel, overheads.per_step; and what a device file or the system has of "
                                "kernels.<class>.flop_factor, .byte_factor, .overhead, network.efficiency, "
                                ".collective_latency, .step_latency, .compute_share, compute.clock, "
                                "overheads.per_layer, .per_collective";
    char text[600];

    o.fit = word;
    o.n_fit = 1;
    snprintf(text, sizeof text, "--fit: 'memory.capacity' is nothing that can be fitted; %s", names);
    refuse(&o, DSE_E_USAGE, "", text);
    o = plain;
    o.fix = word;
    o.n_fix = 1;
    snprintf(text, sizeof text, "--fix: 'memory.capacity' is nothing that can be fitted; %s", names);
    refuse(&o, DSE_E_USAGE, "", text);
    o.fix = all;
    o.n_fix = 6;
    refuse(&o, DSE_E_USAGE, "", "--fix leaves nothing to fit");
}

CLAIM(a_value_that_the_card_lacks_is_not_made_up)
{
    static const char *const fit[] = {"compute.peak_perf"};
    msr_calibrate_options o = plain;
    dse_error why = DSE_ERROR_INIT;
    card_system s = sheet;
    msr_calibrated c;

    s.peak_perf = NAN;
    o.fit = fit;
    o.n_fit = 1;
    assert_failure(msr_calibrate(&s, run, N_JOBS, &o, &arena, &c, &why), &why, DSE_E_CONFIG, "",
                   "--fit: the system has no compute.peak_perf to begin with; set it, or leave it out");
}

CLAIM(a_failure_names_the_run)
{
    msr_calibrate_run some[] = {run[0], run[1]};
    dse_error why = DSE_ERROR_INIT;
    msr_calibrated c;

    some[1].point = unit_point("6_1_1_1_0");
    assert_failure(msr_calibrate(&sheet, some, 2, &plain, &arena, &c, &why), &why, DSE_E_CONFIG, "run 1",
                   "6 NPUs do not fill whole parts of 4 of the machine; take 4 or 8");
}

static void threads_change_nothing(msr_calibrate_options o, size_t n)
{
    msr_calibrated a, b;

    o.starts = 2;
    o.leave_one_out = true;
    calibrate(run, n, &o, &a);
    o.n_threads = 4;
    calibrate(run, n, &o, &b);
    assert_memory_equal(a.fit.parameter, b.fit.parameter, a.p * sizeof *a.fit.parameter);
    assert_memory_equal(a.fit.left_out, b.fit.left_out, n * sizeof(double));
    assert_u64(a.n_simulated, b.n_simulated);
}

CLAIM(threads_and_earlier_predictions_change_nothing) { threads_change_nothing(plain, N_JOBS); }

/* The same, which ThreadSanitizer runs: two rates, and more runs than threads. */
CLAIM(threads_change_nothing_of_a_few_runs)
{
    static const char *const two[] = {"compute.peak_perf", "network.bandwidth[0]"};
    msr_calibrate_options o = plain;

    o.fit = two;
    o.n_fit = 2;
    threads_change_nothing(o, 6);
}

/* ---- the training step --------------------------------------------------------------------- */

/* Batch, sequence, point: with and without micro-batches, a pipeline, tensor parallelism, sharding. */
static const struct {
    const char *setting[2], *point;
} steps[] = {
    {{"batch=16", "sequence=128"}, "8_1_1_1_0_zero=0_overlap=off"},
    {{"batch=64", "sequence=256"}, "4_2_1_1_0_micro_batch=2"},
    {{"batch=16", "sequence=64"}, "2_4_1_1_0_micro_batch=2"},
    {{"batch=64", "sequence=512"}, "8_1_1_1_0_micro_batch=4_zero=3"},
    {{"batch=8", "sequence=32"}, "1_4_1_1_0"},
    {{"batch=128", "sequence=256"}, "4_1_1_1_1_micro_batch=8"},
    {{"batch=32", "sequence=128"}, "2_2_1_1_1_micro_batch=4_zero=0"},
    {{"batch=256", "sequence=64"}, "4_1_1_1_0_micro_batch=16_zero=0_overlap=off"},
    {{"batch=16", "sequence=512"}, "1_4_1_1_1_micro_batch=4"},
    {{"batch=64", "sequence=64"}, "1_8_1_1_0_micro_batch=8"},
    {{"batch=8", "sequence=1024"}, "1_2_1_1_0_micro_batch=2"},
    {{"batch=16", "sequence=128"}, "8_1_1_1_0_zero=3"},
    {{"batch=24", "sequence=96"}, "8_1_1_1_0_micro_batch=3_overlap=off"},
    {{"batch=512", "sequence=16"}, "1_4_1_1_0_micro_batch=64"},
};
#define N_STEPS (sizeof steps / sizeof steps[0])

static drv_study step_study[N_STEPS];
static msr_calibrate_run step_run_of[N_STEPS];

static void make_steps(void)
{
    for (size_t i = 0; i < N_STEPS; i++) {
        const char *const words[] = {steps[i].setting[0], steps[i].setting[1], "operators=gpt"};
        cfg_settings settings;
        msr_calibrate_run *r = &step_run_of[i];

        assert_ok(drv_settings_parse(words, 3, &arena, &settings, &err), &err);
        assert_ok(drv_study_load(TEST_DATA "/cards/models/small.yaml", TEST_DATA "/cards/systems/ring8.yaml",
                                 &settings, &arena, &step_study[i], &err),
                  &err);
        *r = (msr_calibrate_run){.name = dse_arena_printf(&arena, "step %zu", i), .study = &step_study[i]};
        assert_ok(strategy_parse_name(steps[i].point, NULL, &r->point, NULL, &err), &err);
    }
}

/* Seconds on a machine, which has the defaults of profile train then. */
static double time_step(const card_system *on, const msr_calibrate_run *r)
{
    card_system settled = *on, part;
    store_metrics m;

    card_system_settle_profile(&settled, true);
    assert_ok(card_system_resize(&settled, strategy_ranks(&r->point), &part, &err), &err);
    assert_ok(msr_point_run(r->study, &part, &r->point, &arena, &m, &err), &err);
    return (double)m.wall_time * 1e-9;
}

/* Each parameter of the card means in the training step what its name says. */
CLAIM(the_true_machine_is_found_by_training_steps)
{
    msr_calibrate_options o = plain;
    msr_calibrated c, again;

    make_steps();
    for (size_t i = 0; i < N_STEPS; i++) {
        assert_non_null(step_study[i].training);
        step_run_of[i].measured_s = time_step(&machine, &step_run_of[i]);
    }
    o.starts = 4;
    calibrate(step_run_of, N_STEPS, &o, &c);
    assert_int_equal(c.p, N_TRUE);
    for (size_t j = 0; j < c.p; j++) {
        double off = fabs(c.fit.parameter[j].value - truth[j]);

        if (c.fit.parameter[j].state != CMP_FITTED || !(off <= 0.01 * truth[j]))
            fail_msg("%s: %g +- %g, state %d; it is %g", c.parameter[j].name, c.fit.parameter[j].value,
                     c.fit.parameter[j].error, (int)c.fit.parameter[j].state, truth[j]);
    }
    o.n_threads = 4;
    calibrate(step_run_of, N_STEPS, &o, &again);
    assert_memory_equal(c.fit.parameter, again.fit.parameter, c.p * sizeof *c.fit.parameter);
}

/* Laws of kernels and what the network reaches are fitted if they are asked for: the machine's products last as 2 operations over
 * peak and 5 us, and half of the outer dimension's bandwidth is reached; the card says 1.2, 1 us and 0.8. What --fit does not
 * name stays, and is not among the parameters. */
CLAIM(laws_and_efficiencies_are_fitted_when_asked_for)
{
    static const char *const known[] = {"kernels.matmul.flop_factor=2", "kernels.matmul.byte_factor=0",
                                        "kernels.matmul.overhead=5us", "network.efficiency=[0.9,0.5]"},
                             *const said[] = {"kernels.matmul.flop_factor=1.2", "kernels.matmul.overhead=1us",
                                              "network.efficiency=[0.9,0.8]"},
                             *const fit[] = {"kernels.matmul.flop_factor", "kernels.matmul.overhead",
                                             "network.efficiency[1]"};
    static const double expected[] = {0.5, 2, 5000};
    const card_system sheet_before = sheet;
    msr_calibrate_options o = plain;
    card_system on = machine;
    msr_calibrated c;

    make_steps();
    set(&on, known, 4);
    sheet = on;
    set(&sheet, said, 3);
    for (size_t i = 0; i < N_STEPS; i++)
        step_run_of[i].measured_s = time_step(&on, &step_run_of[i]);
    o.n_fit = 3;
    o.fit = fit;
    calibrate(step_run_of, N_STEPS, &o, &c);
    assert_int_equal(c.p, 3);
    for (size_t j = 0; j < c.p; j++)
        if (!(fabs(c.fit.parameter[j].value - expected[j]) <= 0.01 * expected[j]))
            fail_msg("%s: %g; it is %g", c.parameter[j].name, c.fit.parameter[j].value, expected[j]);
    assert_true(fabs(c.fitted.kernels[WL_KERNEL_MATMUL].flop_factor - 2) < 0.02);
    sheet = sheet_before;
}

/* The fixed cost of a step is once in it, and that of a kernel as often as it has kernels. */
CLAIM(overheads_are_part_of_the_training_step)
{
    static const char *const none[] = {"overheads.per_kernel=0", "overheads.per_step=0"},
                             *const step[] = {"overheads.per_kernel=0", "overheads.per_step=2000000"},
                             *const kernel[] = {"overheads.per_kernel=1000", "overheads.per_step=0"};
    card_system on[3] = {machine, machine, machine};
    double t[3];
    long kernels;

    make_steps();
    set(&on[0], none, 2);
    set(&on[1], step, 2);
    set(&on[2], kernel, 2);
    for (int i = 0; i < 3; i++)
        t[i] = time_step(&on[i], &step_run_of[4]);
    assert_true(fabs(t[1] - t[0] - 2e-3) < 1e-12);
    kernels = lround((t[2] - t[0]) * 1e6);
    assert_int_equal((kernels - 1) % 8, 0); /* the update, and 8 micro-batches of one stage */
    assert_true(kernels > 8 * 3 * 20);      /* of 3 layers, forward and backward */
}

/* On a machine whose host takes 5 ms a layer and direction, where kernels take microseconds. */
CLAIM(what_a_fit_is_asked_for_by_name_is_found)
{
    static const char *const slow[] = {"overheads.per_layer=5000000"}, *const asked[] = {"overheads.per_layer"};
    msr_calibrate_options o = plain;
    msr_calibrated c;
    card_system host = machine;
    msr_calibrate_run r[2];

    make_steps();
    set(&host, slow, 1);
    for (int i = 0; i < 2; i++) {
        r[i] = step_run_of[3 + i];
        r[i].measured_s = time_step(&host, &r[i]);
    }
    o.fit = asked;
    o.n_fit = 1;
    assert_ok(msr_calibrate(&machine, r, 2, &o, &arena, &c, &err), &err);
    assert_true(c.p == 1 && fabs(c.fitted.per_layer - 5e6) < 5e3);
}

/* With the pattern of a claim's name those alone. */
int main(int n_words, char **word)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_fit_is_asked_for_by_name_is_found),
        cmocka_unit_test(the_true_machine_is_found),
        cmocka_unit_test(a_trace_is_predicted_as_a_trace_is_measured),
        cmocka_unit_test(what_the_runs_cannot_show_stays_at_its_start),
        cmocka_unit_test(a_rate_is_at_most_the_cards_unless_more_is_allowed),
        cmocka_unit_test(a_known_start_is_where_the_fit_begins),
        cmocka_unit_test(what_cannot_be_fitted_is_refused),
        cmocka_unit_test(a_value_that_the_card_lacks_is_not_made_up),
        cmocka_unit_test(a_failure_names_the_run),
        cmocka_unit_test(threads_and_earlier_predictions_change_nothing),
        cmocka_unit_test(threads_change_nothing_of_a_few_runs),
        cmocka_unit_test(the_true_machine_is_found_by_training_steps),
        cmocka_unit_test(laws_and_efficiencies_are_fitted_when_asked_for),
        cmocka_unit_test(overheads_are_part_of_the_training_step),
    };

    if (n_words > 1)
        cmocka_set_test_filter(word[1]);
    return cmocka_run_group_tests(tests, begin, end);
}
