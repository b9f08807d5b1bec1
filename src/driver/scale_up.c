#include "driver/scale_up.h"

#include "base/fs.h"
#include "driver/astrasim.h"
#include "whatif/compat.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dse_status write_text(const char *folder, const char *name, dse_arena *a, const char *text,
                             dse_error *err)
{
    return dse_write_file(dse_arena_printf(a, "%s/%s", folder, name), text, strlen(text), err);
}

/* The system of CCL-Bench's simulations. */
static const char system_text[] =
    "{\"scheduling-policy\": \"LIFO\", \"endpoint-delay\": 10, \"active-chunks-per-dimension\": 1,\n"
    " \"preferred-dataset-splits\": 4, \"all-reduce-implementation\": [\"ring\"],\n"
    " \"all-gather-implementation\": [\"ring\"], \"reduce-scatter-implementation\": [\"ring\"],\n"
    " \"all-to-all-implementation\": [\"ring\"], \"collective-optimization\": \"localBWAware\",\n"
    " \"local-mem-bw\": 2000, \"boost-mode\": 0, \"roofline-enabled\": 0, \"peak-perf\": 312}\n";

static const char *network_text(const trace_card *c, uint32_t n, uint32_t per_node, double factor,
                                dse_arena *a)
{
    double up = c->bandwidth_gbps[1] / 8 * factor,
           out = (isnan(c->bandwidth_gbps[0]) ? 200 : c->bandwidth_gbps[0]) / 8;

    return n <= per_node
               ? dse_arena_printf(
                     a, "topology: [ Ring ]\nnpus_count: [ %u ]\nbandwidth: [ %.2f ]\nlatency: [ 50.00 ]\n",
                     n, up)
               : dse_arena_printf(
                     a,
                     "topology: [ Ring, Switch ]\nnpus_count: [ %u, %u ]\nbandwidth: [ %.2f, %.2f ]\n"
                     "latency: [ 50.00, 50000.00 ]\n",
                     per_node, n / per_node, up, out);
}

/* The mean of the ranks' times, ns. */
static dse_status simulate(const char *folder, bool has_groups, const char *network, dse_arena *a, double *ns,
                           dse_error *err)
{
    const drv_astrasim_inputs in = {.workload = dse_arena_printf(a, "%s/chakra_trace", folder),
                                    .groups =
                                        has_groups ? dse_arena_printf(a, "%s/comm_group.json", folder) : NULL,
                                    .system = dse_arena_printf(a, "%s/system.json", folder),
                                    .network = dse_arena_printf(a, "%s/network.yml", folder),
                                    .remote = dse_arena_printf(a, "%s/remote_memory.json", folder),
                                    .queues_per_dim = 1,
                                    .injection_scale = 1,
                                    .shortcuts = SIM_ALL_SHORTCUTS};
    drv_astrasim_output out;
    dse_status st = write_text(folder, "network.yml", a, network, err);

    if (st != DSE_OK || (st = drv_astrasim_run(&in, a, &out, NULL, err)) != DSE_OK)
        return st;
    *ns = 0;
    for (uint32_t i = 0; i < out.result.n_ranks; i++)
        *ns += (double)out.result.rank[i].wall / out.result.n_ranks;
    return DSE_OK;
}

static dse_status run(const metric_context *x, const char *folder, dse_arena *a, double ns[2], dse_error *err)
{
    const trace_card *c = x->card;
    uint32_t n = x->n_views;
    uint32_t per_node = c->count_per_node == TRACE_CARD_NONE ? 4 : (uint32_t)c->count_per_node;
    const char **path = DSE_ARENA_NEW(a, const char *, n);
    const whatif_compat_job job = {.mode = WHATIF_COMPAT_KERNELS, .n_ranks = n, .path = path};
    whatif_files files;
    dse_status st;

    for (uint32_t i = 0; i < n; i++) {
        path[i] = x->view[i].rank->path;
        if (x->view[i].rank->rank != i)
            return dse_fail(err, DSE_E_ABSENT,
                            "rank %u is not recorded, and collectives take all their ranks", i);
    }
    if (n > per_node && n % per_node)
        return dse_fail(err, DSE_E_ABSENT, "%u ranks are no whole number of nodes of %u (count_per_node)", n,
                        per_node);
    if ((st = whatif_compat_convert(&job, a, &files, err)) != DSE_OK ||
        (st = whatif_files_write(&files, folder, err)) != DSE_OK ||
        (st = write_text(folder, "system.json", a, system_text, err)) != DSE_OK ||
        (st = write_text(folder, "remote_memory.json", a, "{\"memory-type\": \"NO_MEMORY_EXPANSION\"}\n",
                         err)) != DSE_OK)
        return st;
    for (int i = 0; st == DSE_OK && i < 2; i++)
        st = simulate(folder, files.n_groups > 0, network_text(c, n, per_node, 1 + i, a), a, &ns[i], err);
    return st;
}

dse_status drv_scale_up(const metric_context *x, double *percent, dse_error *err)
{
    const char *tmp = getenv("TMPDIR");
    dse_error why = DSE_ERROR_INIT;
    dse_arena a;
    char folder[512];
    double ns[2];
    dse_status st;

    snprintf(folder, sizeof folder, "%.400s/ccldse-scale-up-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        return dse_fail_errno(err, DSE_E_ABSENT, "%s", folder);
    dse_arena_init(&a);
    st = run(x, folder, &a, ns, &why);
    dse_arena_free(&a);
    dse_remove_tree(folder, NULL);
    if (st != DSE_OK)
        return dse_fail(err, DSE_E_ABSENT, "%s", why.text);
    for (int i = 0; x->options->compat && i < 2; i++)
        ns[i] = round(ns[i] / 1e5) * 1e5;
    if (!(ns[0] > 0))
        return dse_fail(err, DSE_E_ABSENT, "the simulated step takes no time");
    *percent = 100 * (ns[0] - ns[1]) / ns[0];
    return DSE_OK;
}
