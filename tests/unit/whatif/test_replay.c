/* A step by hand (tests/data/traces/launches_two_ranks has the derivation of every figure), and random ones. */
#include "unit/metrics/run.h"

#include "base/array.h"
#include "whatif/question.h"

#define US TRACE_PS_PER_US

typedef struct {
    run run;
    whatif_recording from;
    whatif_recorded recorded;
} replay;

static void build(replay *p)
{
    run_look(&p->run);
    p->from.view = p->run.view;
    p->from.n_views = p->run.rec.n_ranks;
    p->from.step = WHATIF_MEDIAN_STEP;
    assert_ok(whatif_build(&p->from, &p->run.arena, &p->recorded, &p->run.err), &p->run.err);
}

static whatif_answer ask(replay *p, const whatif_question *q)
{
    whatif_answer v;

    assert_ok(whatif_ask(&p->recorded, &p->from, q, &p->run.arena, &v, &p->run.err), &p->run.err);
    return v;
}

static whatif_question scale(const char *text)
{
    whatif_question q = whatif_no_change();
    dse_error err = DSE_ERROR_INIT;

    assert_ok(whatif_scale(&q, text, &err), &err);
    return q;
}

CLAIM(a_step_by_hand)
{
    static const struct {
        const char *scale;
        int64_t mean, slowest;
    } rows[] = {{"network=1", 298, 298},    {"network=2", 278, 278},
                {"network.dp=2", 278, 278}, {"network=inf", 258, 258},
                {"gemm=0.5", 248, 248},     {"host=0", 178, 178},
                {"/sgemm/=0.5", 248, 248},  {"elementwise=2", 336, 336},
                {"copies=7", 298, 298},     {"compute=0", 30 + 40 + 100, 30 + 40 + 100}};
    replay p = {0};
    whatif_question q;
    whatif_answer v;

    run_load(&p.run, "launches_two_ranks", 2);
    build(&p);
    v = whatif_measured(&p.recorded, &p.run.arena);
    assert_int_equal(v.step, 300 * US);
    assert_int_equal(v.comm, 50 * US); /* 60 and 40 */
    assert_int_equal(v.exposed, 50 * US);
    for (size_t i = 0; i < DSE_COUNT(rows); i++) {
        q = scale(rows[i].scale);
        v = ask(&p, &q);
        if (v.step != rows[i].mean * US || v.slowest != rows[i].slowest * US)
            fail_msg("%s: %lld ps", rows[i].scale, (long long)v.step);
    }
    q = whatif_no_change();
    q.no_stragglers = true;
    assert_int_equal(ask(&p, &q).step, 278 * US);
    q = whatif_no_change();
    q.overlap = true;
    v = ask(&p, &q);
    assert_int_equal(v.step, (238 + 258) / 2 * US);
    assert_int_equal(v.slowest, 258 * US);
    q = whatif_no_change();
    q.dp = 8; /* a ring of 8 moves 7/4 of the buffer, one of 2 the buffer */
    assert_int_equal(ask(&p, &q).step, (120 + 70 + 138) * US);
    run_free(&p.run);
}

CLAIM(the_longest_path_says_where_the_time_goes)
{
    replay p = {0};
    whatif_question q = whatif_no_change();
    whatif_answer v;

    run_load(&p.run, "launches_two_ranks", 2);
    build(&p);
    v = ask(&p, &q);
    assert_int_equal(v.path_host, (10 + 5 + 95) * US);
    assert_int_equal(v.path_launch, 10 * US);
    assert_int_equal(v.path_network, 40 * US);
    assert_int_equal(v.path_run[METRIC_WORK_GEMM], 100 * US);
    assert_int_equal(v.path_run[METRIC_WORK_ELEMENTWISE], 38 * US);
    run_free(&p.run);
}

CLAIM(ranks_that_are_not_there_are_replicated_only_if_asked_for)
{
    replay p = {0};
    whatif_question q = scale("network=2");
    whatif_answer v;
    dse_error err = DSE_ERROR_INIT;

    run_load(&p.run, "launches_two_ranks", 1);
    build(&p);
    assert_int_equal(p.recorded.graph.n_part_recorded, 1);
    assert_says(whatif_ask(&p.recorded, &p.from, &q, &p.run.arena, &v, &err), &err, DSE_E_ABSENT,
                "--replicate");
    p.from.replicate = true;
    build(&p);
    assert_int_equal(p.recorded.graph.n_part_recorded, 0);
    assert_int_equal(ask(&p, &q).step, (100 + 30 + 138) * US); /* of the 60 that it took with the waiting */
    run_free(&p.run);
}

CLAIM(what_cannot_be_scaled_is_refused)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"network", "NAME=FACTOR"},      {"network=", "NAME=FACTOR"},      {"network=-1", "NAME=FACTOR"},
        {"network=0", "above 0"},        {"gem=2", "did you mean 'gemm'"}, {"gemm=inf", "finite"},
        {"/[/=2", "regular expression"}, {"//=2", "characters"},           {"gemm=nan", "NAME=FACTOR"}};
    replay p = {0};
    whatif_question q = scale("network.tp=2");
    whatif_answer v;
    dse_error err = DSE_ERROR_INIT;

    for (size_t i = 0; i < DSE_COUNT(rows); i++) {
        whatif_question none = whatif_no_change();
        dse_error e = DSE_ERROR_INIT;

        assert_says(whatif_scale(&none, rows[i].text, &e), &e, DSE_E_USAGE, rows[i].says);
    }
    run_load(&p.run, "launches_two_ranks", 2);
    build(&p);
    assert_says(whatif_ask(&p.recorded, &p.from, &q, &p.run.arena, &v, &err), &err, DSE_E_ABSENT,
                "network.tp");
    p.from.step = 7;
    err = (dse_error)DSE_ERROR_INIT;
    assert_says(whatif_build(&p.from, &p.run.arena, &p.recorded, &err), &err, DSE_E_ABSENT, "no step 7");
    run_free(&p.run);
}

/* ---- random steps --------------------------------------------------------------------------- */

static int64_t upto(uint64_t *state, int64_t n) { return (int64_t)(unit_random(state) % (uint64_t)n); }

static void add(dse_strbuf *to, const char *cat, const char *name, int64_t tid, int64_t at, int64_t dur,
                int64_t correlation, const char *args)
{
    dse_strbuf_addf(to,
                    "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":%lld,\"ts\":%lld,"
                    "\"dur\":%lld,\"args\":{\"correlation\":%lld%s}}",
                    to->len ? "," : "", cat, name, strcmp(cat, "kernel") == 0 ? 0 : 9, (long long)tid,
                    (long long)at, (long long)dur, (long long)correlation, args);
}

/* The host waits for the device, on which communication ends last, at 1140 us. Where that runs beside the
 * computation, the host still waits for the latter: until 1120 us, and 5 + 55 us are its own. */
CLAIM(a_call_that_waits_for_the_device_waits_for_each_stream)
{
    dse_strbuf text;
    const char *events[1];
    replay p = {0};
    whatif_question q = whatif_no_change();

    dse_strbuf_init(&text);
    add(&text, "user_annotation", "ProfilerStep#1", 0, 990, 210, 0, "");
    add(&text, "cuda_runtime", "cudaLaunchKernel", 0, 1010, 4, 1, "");
    add(&text, "kernel", "gemm", 100, 1020, 100, 1, "");
    add(&text, "cuda_runtime", "cudaLaunchKernel", 0, 1015, 4, 2, "");
    add(&text, "kernel", "ncclDevKernel_AllReduce_Sum", 102, 1120, 20, 2, "");
    add(&text, "cuda_runtime", "cudaDeviceSynchronize", 0, 1030, 115, 3, "");
    events[0] = text.data;
    run_of(&p.run, events, 1);
    build(&p);
    assert_int_equal(ask(&p, &q).step, 210 * US);
    q.overlap = true;
    assert_int_equal(ask(&p, &q).step, 190 * US);
    run_free(&p.run);
    dse_strbuf_free(&text);
}

/* A kernel begins 1.4 ms after its launch on an idle GPU, behind what ran before the recording began; the
 * host waits for it in a copy, whose end the step's end follows. */
CLAIM(what_waits_for_something_unrecorded_waits_as_long)
{
    dse_strbuf text;
    const char *events[1];
    replay p = {0};
    whatif_question q = whatif_no_change();

    dse_strbuf_init(&text);
    add(&text, "user_annotation", "ProfilerStep#1", 0, 1000, 1900, 0, "");
    for (int64_t i = 0; i < 3; i++) { /* how long launches take */
        add(&text, "cuda_runtime", "hipLaunchKernel", 0, 1010 + 20 * i, 5, 10 + i, "");
        add(&text, "kernel", "fill", 101, 1016 + 20 * i, 1, 10 + i, "");
    }
    add(&text, "cuda_runtime", "hipLaunchKernel", 0, 1100, 5, 1, "");
    add(&text, "kernel", "gemm", 100, 2505, 100, 1, "");
    add(&text, "cuda_runtime", "hipMemcpyWithStream", 0, 1200, 1416, 2, "");
    add(&text, "gpu_memcpy", "Memcpy DtoH", 100, 2605, 11, 2, "");
    events[0] = text.data;
    run_of(&p.run, events, 1);
    build(&p);
    assert_int_equal(ask(&p, &q).step, 1900 * US);
    q = scale("gemm=0");
    assert_int_equal(ask(&p, &q).step, 1800 * US);
    run_free(&p.run);
    dse_strbuf_free(&text);
}

/* A rank that launches kernels of three streams from two threads, synchronises, and takes part in n_comm
 * collectives. */
static void random_rank(uint64_t *s, unsigned n_comm, dse_strbuf *out)
{
    static const char *const kernels[] = {"gemm", "flash_fwd", "elementwise_kernel", "Memcpy"};
    int64_t at[2] = {1000, 1100}, free[3] = {0}, correlation = 1;

    for (unsigned i = 0; i < 40; i++) {
        unsigned t = (unsigned)upto(s, 2), stream = (unsigned)upto(s, 2);
        int64_t begin, took = 1 + upto(s, 60);
        bool is_comm = n_comm && upto(s, 5) == 0;

        at[t] += upto(s, 30) * (upto(s, 12) ? 1 : 100);
        if (upto(s, 6) == 0) {
            int64_t until = free[0] > free[1] ? free[0] : free[1];

            took = until > at[t] ? until - at[t] + 3 : 3;
            add(out, "cuda_runtime", "cudaDeviceSynchronize", t, at[t], took, correlation++, "");
            at[t] += took;
            continue;
        }
        if (is_comm) {
            n_comm--;
            stream = 2;
            free[2] = free[0] > free[2] ? free[0] : free[2];
        }
        add(out, "cuda_runtime", upto(s, 9) ? "cudaLaunchKernel" : "cudaGraphLaunch", t, at[t], 4,
            correlation, "");
        begin = (free[stream] > at[t] + 6 ? free[stream] : at[t] + 6) + upto(s, 4) * upto(s, 20);
        add(out, "kernel", is_comm ? "ncclDevKernel_AllReduce_Sum" : kernels[upto(s, 4)], 100 + stream, begin,
            took, correlation++, "");
        free[stream] = begin + took;
        at[t] += 4;
        if (is_comm && upto(s, 2)) {
            add(out, "cuda_runtime", "cudaStreamWaitEvent", t, at[t], 1, correlation++, "");
            free[0] = free[2] > free[0] ? free[2] : free[0];
        }
    }
    for (; n_comm; n_comm--) {
        at[0] += 5;
        add(out, "cuda_runtime", "cudaLaunchKernel", 0, at[0], 4, correlation, "");
        free[2] = free[2] > at[0] + 6 ? free[2] : at[0] + 6;
        add(out, "kernel", "ncclDevKernel_AllReduce_Sum", 102, free[2], 20, correlation++, "");
        free[2] += 20;
    }
    add(out, "user_annotation", "ProfilerStep#1", 0, 990, (at[0] > at[1] ? at[0] : at[1]) - 900, 0, "");
}

static whatif_question random_question(uint64_t *s)
{
    whatif_question q = whatif_no_change();

    for (size_t i = 0; i < WHATIF_KINDS; i++)
        q.run[i] = (double)upto(s, 8) / 4;
    q.host = (double)upto(s, 8) / 4;
    q.overlap = upto(s, 2);
    q.network[METRIC_UNKNOWN] = (double)(1 + upto(s, 8)) / 4;
    for (size_t i = 0; i < METRIC_UNKNOWN; i++)
        q.network[i] = q.network[METRIC_UNKNOWN];
    return q;
}

/* One thing of it faster. */
static void hasten(whatif_question *q, uint64_t *s)
{
    switch (upto(s, 4)) {
    case 0: q->host *= 0.5; break;
    case 1: q->run[upto(s, WHATIF_KINDS)] *= 0.5; break;
    case 2: q->overlap = true; break;
    default: {
        double factor = upto(s, 2) ? 2 : INFINITY;

        for (size_t i = 0; i < METRIC_PARALLELS; i++)
            q->network[i] *= factor;
    }
    }
}

CLAIM(what_is_faster_never_lengthens_the_step)
{
    uint64_t s = 7;

    for (unsigned i = 0; i < 200; i++) {
        unsigned n_ranks = 1 + (unsigned)upto(&s, 3), n_comm = (unsigned)upto(&s, 6) + 1;
        const char *events[3];
        dse_strbuf text[3];
        replay p = {.from = {.replicate = true}};
        whatif_question q;

        for (unsigned r = 0; r < n_ranks; r++) {
            dse_strbuf_init(&text[r]);
            random_rank(&s, n_comm, &text[r]);
            events[r] = text[r].data;
        }
        run_of(&p.run, events, n_ranks);
        build(&p);
        for (unsigned k = 0; k < 10; k++) {
            whatif_answer before, after;

            q = random_question(&s);
            before = ask(&p, &q);
            hasten(&q, &s);
            after = ask(&p, &q);
            if (after.step > before.step || after.slowest > before.slowest)
                fail_msg("case %u.%u: %lld, then %lld ps", i, k, (long long)before.step,
                         (long long)after.step);
        }
        run_free(&p.run);
        for (unsigned r = 0; r < n_ranks; r++)
            dse_strbuf_free(&text[r]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_by_hand),
        cmocka_unit_test(the_longest_path_says_where_the_time_goes),
        cmocka_unit_test(ranks_that_are_not_there_are_replicated_only_if_asked_for),
        cmocka_unit_test(what_cannot_be_scaled_is_refused),
        cmocka_unit_test(a_call_that_waits_for_the_device_waits_for_each_stream),
        cmocka_unit_test(what_waits_for_something_unrecorded_waits_as_long),
        cmocka_unit_test(what_is_faster_never_lengthens_the_step),
    };

    return RUN_TESTS(tests);
}
