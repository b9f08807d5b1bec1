/* What the plain engine is estimated to take, against what it takes: its peak of resident memory, in a process of its
 * own, and the messages that it posts. */
#include "sim/footprint.h"
#include "support/wl_strategy.h"
#include "unit/unit.h"
#include "workload/generate.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    wl_strategy strategy;
    const char *topology, *algorithm;
    bool congestion;
} point;

#define STRATEGY(d, t, s, p)                                                                                 \
    {                                                                                                        \
        .dp = d, .tp = t, .sp = s, .pp = p, .cp = 1, .tag_base = WL_TAG_BASE                                          \
    }

/* Large enough to tell what the run takes from what a process takes anyway. */
static const point points[] = {
    {STRATEGY(64, 8, 1, 1), "Ring", "ring", false},
    {STRATEGY(512, 1, 1, 1), "Switch", "ring", false},
    {STRATEGY(32, 4, 2, 4), "Ring", "ring", false},
    {STRATEGY(256, 1, 1, 1), "FullyConnected", "direct", false},
    {STRATEGY(32, 8, 1, 1), "Ring", "ring", true},
};
#define N_POINTS (sizeof points / sizeof points[0])

static struct {
    dse_arena arena;
    dse_error err;
    net_network net;
    sim_settings set;
    wl_workload w;
} run;

static void make(const point *p)
{
    const wl_strategy request = wl_with_defaults(p->strategy);
    const wl_symbols symbols = {.n = 7,
                                .name = {"Batch", "Seq", "Vocab", "Dmodel", "Dff", "Head", "KvHead"},
                                .value = {p->strategy.dp, 2048, 51200, 4096, 4 * 4096, 32, 32}};
    cfg_doc doc;

    memset(&run, 0, sizeof run);
    dse_arena_init(&run.arena);
    run.set = (sim_settings){.splits = 4,
                             .active_chunks = 2,
                             .queues_per_dim = 1,
                             .endpoint_delay = 10,
                             .roofline = true,
                             .peak_ops_per_s = 1e14,
                             .memory_bytes_per_s = 1e12,
                             .track_memory = true};
    run.net =
        (net_network){.n_dims = 1,
                      .congestion = p->congestion,
                      .dim = {{.topology = net_topology_find(p->topology),
                               .shape.n = p->strategy.dp * p->strategy.tp * p->strategy.sp * p->strategy.pp,
                               .gib_per_s = 100,
                               .latency_ns = 50}}};
    for (int c = 0; c < SIM_N_COLLECTIVES; c++) {
        run.set.implementations[c].n_dims = 1;
        assert_ok(sim_implementation_parse(p->algorithm, &run.set.implementations[c].dim[0], &run.err),
                  &run.err);
    }
    assert_ok(net_network_finish(&run.net, &run.err), &run.err);
    assert_ok(cfg_load(TEST_SOURCE "/configs/operators/gpt.yaml", &run.arena, &doc, &run.err), &run.err);
    assert_ok(wl_generate(&doc, &symbols, 4, &request, &run.arena, &run.w, &run.err), &run.err);
}

static uint64_t peak_bytes(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (uint64_t)u.ru_maxrss * 1024;
}

typedef struct {
    uint64_t bytes, messages;
} taken;

/* In a child: a peak does not go down. */
static taken measure(void)
{
    taken t = {0};
    int fd[2];
    pid_t child;

    assert_int_equal(pipe(fd), 0);
    child = fork();
    assert_true(child >= 0);
    if (!child) {
        uint64_t before = peak_bytes();
        sim_result result;

        if (sim_run(&run.set, &run.net, &run.w, (sim_shortcuts){0}, &run.arena, &result, NULL, &run.err) !=
            DSE_OK)
            _exit(1);
        t = (taken){peak_bytes() - before, result.n_messages};
        _exit(write(fd[1], &t, sizeof t) != sizeof t);
    }
    assert_int_equal(read(fd[0], &t, sizeof t), sizeof t);
    close(fd[0]);
    close(fd[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return t;
}

#define OF_ITSELF (4u << 20) /* what any run of a process takes: code, tables, the heap's own */

#ifdef __SANITIZE_ADDRESS__ /* which takes memory of its own */
#define CAN_MEASURE false
#else
#define CAN_MEASURE true
#endif

CLAIM(the_estimate_is_above_what_a_run_takes_and_not_far)
{
    for (size_t i = 0; i < N_POINTS; i++) {
        sim_footprint f;
        taken t;

        make(&points[i]);
        assert_ok(sim_footprint_of(&run.set, &run.net, &run.w, &f, &run.err), &run.err);
        t = measure();
        if (CAN_MEASURE && (f.bytes + OF_ITSELF < t.bytes || f.bytes > 3 * t.bytes + OF_ITSELF))
            fail_msg("point %zu: %llu bytes estimated, %llu taken", i, (unsigned long long)f.bytes,
                     (unsigned long long)t.bytes);
        assert_u64(f.messages, t.messages);
        dse_arena_free(&run.arena);
    }
}

CLAIM(a_run_that_would_take_more_than_its_limit_is_refused)
{
    const sim_shortcuts little = {.max_bytes = 1 << 20};
    sim_result result;

    make(&points[0]);
    assert_says(sim_run(&run.set, &run.net, &run.w, little, &run.arena, &result, NULL, &run.err), &run.err,
                DSE_E_RANGE, "no shortcut was asked for");
    dse_arena_free(&run.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_estimate_is_above_what_a_run_takes_and_not_far),
        cmocka_unit_test(a_run_that_would_take_more_than_its_limit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
