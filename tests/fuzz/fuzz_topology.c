/* A network.yml. What is accepted, if it is small, is drawn, and messages go over it: bandwidths and latencies as odd as
 * a card may have them. */
#include "cards/system.h"
#include "draw/draw.h"
#include "fuzz/fuzz.h"
#include "network/facts.h"
#include "network/routes.h"

#define MAX_NPUS 64
#define N_ROUTES 16

static void look(const net_graph *g, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf svg, dot;

    dse_strbuf_init(&svg);
    dse_strbuf_init(&dot);
    if (fuzz_ok(draw_svg(g, "<&\"", a, &svg, &err), &err))
        ENSURE(svg.len > 0);
    draw_dot(g, "<&\"", a, &dot);
    ENSURE(dot.len > 0);
    dse_strbuf_free(&svg);
    dse_strbuf_free(&dot);
}

static void send(const net_graph *g, uint32_t diameter, uint64_t bytes, dse_arena *a)
{
    uint32_t pair[2 * N_ROUTES], n = g->net->n_npus;
    dse_error err = DSE_ERROR_INIT;
    net_routes r;

    for (uint32_t i = 0; i < N_ROUTES; i++) {
        pair[2 * i] = i * 7 % n;
        pair[2 * i + 1] = (pair[2 * i] + 1 + i * 5 % (n - 1)) % n;
    }
    if (!fuzz_ok(net_routes_send(g, pair, N_ROUTES, bytes, a, &r, &err), &err))
        return;
    for (uint32_t i = 0; i < N_ROUTES; i++) {
        ENSURE(r.route[i].n_hops >= 1 && r.route[i].n_hops <= diameter);
        ENSURE(r.route[i].together == r.route[i].alone + r.route[i].waited);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    cfg_doc doc = {0};
    net_facts facts;
    net_graph graph;
    net_network net;
    card_system s;
    dse_arena arena;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    if (fuzz_ok(cfg_parse_yaml("network.yml", (const char *)data, size, &arena, &doc, &err), &err) &&
        fuzz_ok(card_system_read_astra_network(&doc, NULL, &s, &net, &err), &err) && net.n_npus <= MAX_NPUS &&
        fuzz_ok(net_graph_init(&graph, &net, &arena, &err), &err)) {
        net_facts_of(&graph, &facts);
        ENSURE(facts.npu_degree.least >= 1 && facts.diameter >= 1 && facts.bisection_links >= 1);
        look(&graph, &arena);
        send(&graph, facts.diameter, size, &arena);
        send(&graph, facts.diameter, (uint64_t)1 << 53, &arena);
    }
    dse_arena_free(&arena);
    return 0;
}
