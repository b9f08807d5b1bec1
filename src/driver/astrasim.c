#include "driver/astrasim.h"

#include "cards/remote.h"
#include "cards/system.h"
#include "driver/custom.h"
#include "driver/links.h"
#include "driver/simulators.h"
#include "sim/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static dse_status load_system(const drv_astrasim_inputs *in, dse_arena *a, card_system *system,
                              dse_error *err)
{
    cfg_doc system_doc, network_doc;
    dse_status st;

    if ((st = cfg_load(in->system, a, &system_doc, err)) != DSE_OK ||
        (st = cfg_load(in->network, a, &network_doc, err)) != DSE_OK)
        return st;
    st = card_system_read_version(&system_doc, &network_doc, in->as_released, in->version, system, err);
    if (st == DSE_OK && in->backend)
        snprintf(system->backend, sizeof system->backend, "%s", in->backend);
    return st == DSE_OK ? card_system_check(system, &(card_places){&system_doc, &network_doc}, err) : st;
}

static dse_status load_remote(const char *path, dse_arena *a, sim_remote_memory *out, dse_error *err)
{
    cfg_doc doc;
    dse_status st = cfg_load(path, a, &doc, err);

    return st == DSE_OK ? card_remote_read(&doc, out, err) : st;
}

/* Refuses what the released program refuses; under our own name only the Ring of two, for which it has no
 * result. */
static dse_status check_released(const drv_astrasim_inputs *in, const net_network *net, dse_error *err)
{
    dse_status st = DSE_OK;

    if (in->as_released)
        st = net_released_check(net, err);
    else if (net->n_dims == 1)
        st = net_released_limit(net, NET_LIMIT_RING_OF_TWO, err);

    dse_error_set_where(err, in->network);
    return st;
}

/* The name of a released program determines its backend, whatever --backend says. */
static const char *links_remedy(const drv_astrasim_inputs *in)
{
    return in->as_released ? "call it " DRV_AWARE_PROGRAM : "give --backend congestion_aware";
}

dse_status drv_astrasim_run(const drv_astrasim_inputs *in, dse_arena *a, drv_astrasim_output *out,
                            trace_ticks *record, dse_error *err)
{
    card_system system;
    sim_settings settings;
    net_network net;
    wl_workload w;
    dse_status st;

    *out = (drv_astrasim_output){0};
    if ((st = load_system(in, a, &system, err)) != DSE_OK ||
        (in->links && (st = drv_links_check(&system, links_remedy(in), err)) != DSE_OK) ||
        (st = card_system_build(&system, &net, &settings, err)) != DSE_OK ||
        (st = check_released(in, &net, err)) != DSE_OK ||
        (st = load_remote(in->remote, a, &settings.remote, err)) != DSE_OK)
        return st;
    out->n_unknown_keys = system.n_unknown_keys;
    memcpy(out->unknown_key, system.unknown_key, sizeof out->unknown_key);
    settings.queues_per_dim = in->queues_per_dim;
    settings.rendezvous = in->rendezvous;
    if (cfg_is_given(&card_system_table, &system, "scheduler.endpoint_delay"))
        settings.endpoint_delay = dse_ticks((double)system.endpoint_delay * in->injection_scale);
    out->version = sim_settings_version(&settings);
    out->log_memory = drv_reports_memory(&system);
    out->reading =
        (wl_reading){.numbered_groups = out->version->numbered_groups, .drop_absent = !in->as_released};
    if ((st = wl_chakra_read(in->workload, in->groups, net.n_npus, &out->reading, a, &w, err)) != DSE_OK ||
        (st = drv_custom_load(&system, &w, a, &settings, err)) != DSE_OK ||
        (in->order && (st = sim_order_collectives(&settings, &net, &w, a, &out->n_ordered, err)) != DSE_OK))
        return st;
    out->by_hash_order = settings.customs && net.congestion;
    return sim_run(&settings, &net, &w, in->shortcuts, a, &out->result, record, err);
}

#define NO_TIME "1970-01-01 00:00:00.000"

static void line(dse_strbuf *out, const char *logger, uint32_t rank)
{
    dse_strbuf_addf(out, "[" NO_TIME "] [%s] [info] sys[%" PRIu32 "]", logger, rank);
}

static void time_line(dse_strbuf *out, uint32_t rank, const char *what, bool present, dse_time ticks)
{
    if (!present)
        return;
    line(out, "statistics", rank);
    dse_strbuf_addf(out, ", %s: %" PRIu64 "\n", what, ticks);
}

static void log_statistics(const sim_rank_stats *s, const sim_version_row *v, uint32_t i, dse_strbuf *out)
{
    line(out, "statistics", i);
    dse_strbuf_adds(out, ". Post statistics processing end.\n");
    time_line(out, i, "Wall time", true, s->wall);
    time_line(out, i, "CPU time", s->has_cpu, s->cpu);
    time_line(out, i, "GPU time", s->has_gpu, s->gpu);
    time_line(out, i, "Comm time", s->has_comm, s->comm);
    time_line(out, i, "Remote mem time", s->has_remote_memory, s->remote_memory);
    time_line(out, i, "Invalid time", s->has_invalid, s->invalid);
    time_line(out, i, "Total compute-communication overlap", s->overlap > 0, s->overlap);
    if (s->has_utilisation) {
        line(out, "statistics", i);
        dse_strbuf_addf(out, ", Compute bound percentage: %.3f%%\n", s->compute_bound * 100);
        line(out, "statistics", i);
        dse_strbuf_addf(out, ", Average compute utilization: %.3f%c\n", s->compute_util * 100,
                        v->utilisation_sign);
        line(out, "statistics", i);
        dse_strbuf_addf(out, ", Average memory utilization: %.3f%%\n", s->memory_util * 100);
        line(out, "statistics", i);
        dse_strbuf_addf(out, ", Average operation intensity: %.3f\n", s->op_intensity);
    }
}

void drv_astrasim_log(const drv_astrasim_output *o, dse_strbuf *out)
{
    for (uint32_t k = 0; k < o->result.n_ranks; k++) {
        uint32_t i = o->result.finish_order[k];
        const sim_rank_stats *s = &o->result.rank[i];

        line(out, "workload", i);
        dse_strbuf_addf(out, " finished, %" PRIu64 " cycles, exposed communication %" PRIu64 " cycles.\n",
                        s->finished, s->exposed_comm);
        line(out, "statistics", i);
        dse_strbuf_adds(out, ". Post statistics processing start.\n");
        if (s->lacks_statistics) { /* an exception there, which ends the rank's report */
            dse_strbuf_adds(out, "[" NO_TIME
                                 "] [system] [critical] warning! a callable is removed before call Only "
                                 "GPU and COMM types are supported for overlap extraction\n");
            continue;
        }
        log_statistics(s, o->version, i, out);
        if (o->log_memory) {
            line(out, "workload", i);
            dse_strbuf_addf(out, " peak memory usage: %" PRIu64 "\n", s->peak_memory);
        }
    }
}
