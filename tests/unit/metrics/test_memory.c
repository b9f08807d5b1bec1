/* Every metric of Kineto traces says so when memory runs out, wherever that is. */
#include "unit/metrics/run.h"

/* Two ranks with all that the metrics look at, and a card. */
static void everything(run *r)
{
    run_init(r);
    r->has_card = true;
    r->card.tp = r->card.pp = r->card.total_count = 2;
    r->card.batch_size = r->card.seq_len = r->card.num_layers = r->card.num_heads = r->card.head_dim = 4;
    r->card.num_params = 1e9;
    r->card.xpu_model = "nvidia_h100";
    r->card.precision = "bf16";
    for (uint32_t n = 0; n < 2; n++) {
        trace_rank *rank = run_rank(r, n);

        rank->path = strdup(n ? "rank1_trace.json" : "rank0_trace.json");
        run_step(rank, 0, 0, 100);
        run_step(rank, 1, 100, 200);
        run_event(rank, "user_annotation", "execute_context_1(4)_generation_0(0)", 0, 50, NULL);
        run_event(rank, "user_annotation", "execute_context_0(0)_generation_1(1)", 50, 60, NULL);
        run_event(rank, "user_annotation", "tp_layer", 0, 50, NULL);
        run_event(rank, "user_annotation", "nccl:coalesced", 60, 70, NULL);
        run_event(rank, "cpu_op", "c10d::send", 62, 63, NULL);
        run_event(rank, "cpu_op", "RedistributeBackward", 0, 100, NULL);
        run_kernel(rank, "gemm", 0, 60);
        run_comm(rank, "ncclDevKernel_AllReduce_Sum_f16_RING_LL", 40, 70 + n, 8, 8, NULL, "[0, 1]");
        run_comm(rank, "ncclDevKernel_SendRecv", 90, 95, 8, 0, "mesh_pp", "[0, 2, ..., 6]");
    }
}

typedef struct {
    run r;
    const char *name;
} asked;

static dse_status ask(void *what, dse_arena *arena, dse_error *err)
{
    asked *a = what;
    run *r = &a->r;
    dse_status st = DSE_OK;

    for (uint32_t i = 0; st == DSE_OK && i < r->rec.n_ranks; i++) {
        metric_view_free(&r->view[i]);
        st = metric_view_init(&r->view[i], &r->rec.rank[i], err);
    }
    return st == DSE_OK ? run_ask_in(r, a->name, arena, err) : st;
}

CLAIM(each_allocation_may_fail)
{
    static const struct {
        const char *name;
        trace_phase phase;
    } names[] = {{"iter_time", 0},
                 {"coll_call_num", 0},
                 {"comm_comp_overlap", 0},
                 {"pipeline_bubble", 0},
                 {"traffic_distribution", 0},
                 {"straggler_lag", 0},
                 {"throughput_tokens", TRACE_PHASE_TRAINING},
                 {"mfu", TRACE_PHASE_TRAINING},
                 {"mfu", TRACE_PHASE_INFERENCE},
                 {"TTFT", TRACE_PHASE_INFERENCE},
                 {"traffic_window", 0}};

    for (size_t i = 0; i < 2 * sizeof names / sizeof names[0]; i++) {
        asked a = {.name = names[i / 2].name};

        everything(&a.r);
        a.r.card.phase = names[i / 2].phase;
        a.r.options.compat = i % 2;
        assert_true(unit_fail_each_allocation(ask, &a, 256) > 2);
        run_free(&a.r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
