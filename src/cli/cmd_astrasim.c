/* ASTRA-sim's command line, ASTRA-sim's log lines. */
#include "base/fs.h"
#include "cli/command.h"
#include "cli/shortcuts.h"
#include "driver/astrasim.h"
#include "driver/links.h"
#include "driver/simulators.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    drv_astrasim_inputs in;
    const char *logging_configuration, *logging_folder, *trace, *links;
    int64_t queues;
    double comm_scale, compute_scale;
    shortcuts_options shortcuts;
} astrasim_options;

#define FIELD(f)    .offset = offsetof(astrasim_options, f)
#define SCALE_RANGE .min = 0, .max = 1e9

static const char *const backends[] = {"congestion_unaware", "congestion_aware", NULL};

static const char *const programs[] = {DRV_UNAWARE_PROGRAM, DRV_AWARE_PROGRAM, NULL};

static const option options[] = {
    {"--workload-configuration", OPT_STRING, "PREFIX", NULL,
     "traces: PREFIX.<rank>.et (or .json) for every NPU", FIELD(in.workload)},
    {"--comm-group-configuration", OPT_STRING, "FILE", "empty",
     "communicator groups; a name with 'empty' in it: none", FIELD(in.groups)},
    {"--system-configuration", OPT_STRING, "FILE", NULL, "system.json", FIELD(in.system)},
    {"--network-configuration", OPT_STRING, "FILE", NULL, "network.yml", FIELD(in.network)},
    {"--remote-memory-configuration", OPT_STRING, "FILE", NULL, "remote_memory.json", FIELD(in.remote)},
    {"--logging-configuration", OPT_STRING, "FILE", "empty", "taken and not used: there is one log format",
     FIELD(logging_configuration)},
    {"--logging-folder", OPT_STRING, "DIR", "log", "folder for log.log, which gets the lines printed",
     FIELD(logging_folder)},
    {"--num-queues-per-dim", OPT_INT, "N", "1", "queues per network dimension", .min = 1, .max = 1024,
     FIELD(queues)},
    {"--comm-scale", OPT_DOUBLE, "X", "1", "taken, and without effect, as in the reference", SCALE_RANGE,
     FIELD(comm_scale)},
    {"--compute-scale", OPT_DOUBLE, "X", "1", "taken, and without effect, as in the reference", SCALE_RANGE,
     FIELD(compute_scale)},
    {"--injection-scale", OPT_DOUBLE, "X", "1", "factor on endpoint-delay", SCALE_RANGE,
     FIELD(in.injection_scale)},
    {"--rendezvous-protocol", OPT_FLAG, NULL, "false", "messages wait for a handshake", FIELD(in.rendezvous)},
    {"--backend", OPT_STRING, "NAME", "",
     "model of the network, if not what network.yml says ('backend', or else congestion_unaware)",
     .choices = backends, FIELD(in.backend)},
    {"--astrasim-version", OPT_STRING, "NAME", "",
     "ASTRA-sim to behave as, if not what system.json says ('simulator-version', or else stage)",
     .choices = sim_version_names, FIELD(in.version)},
    {"--order", OPT_FLAG, NULL, "false",
     "give the collectives one order on all ranks, which ASTRA-sim does not: those of ranks that enter them "
     "in "
     "different orders then end; not by a program's name",
     FIELD(in.order)},
    {"--trace", OPT_STRING, "FILE", "", "write every node's issue and finish tick as CSV", FIELD(trace)},
    {"--links-csv", OPT_STRING, "FILE", "",
     "write what every link carried as CSV, the busiest first; with congestion only", FIELD(links)},
    OPTION_GROUP(shortcuts_group, shortcuts),
};

static dse_status write_outputs(const astrasim_options *o, const drv_astrasim_output *out,
                                const trace_ticks *record, command_run *r, dse_error *err)
{
    const char *path = dse_arena_printf(r->arena, "%s/log.log", o->logging_folder);
    dse_status st;

    drv_astrasim_log(out, r->out);
    if ((st = dse_mkdirs(o->logging_folder, err)) != DSE_OK ||
        (st = dse_write_text(path, r->out, err)) != DSE_OK ||
        (o->trace && (st = trace_ticks_save_csv(record, o->trace, err)) != DSE_OK) || !o->links)
        return st;
    return drv_links_save_csv(out->result.load, o->links, r->arena, err);
}

/* By an option, by the program that it is called as, or left to the network file. */
static const char *choose_backend(const astrasim_options *o, const command_run *r)
{
    for (int i = 0; r->program && i < DRV_N_SIMULATORS; i++)
        if (!strcmp(r->program, drv_simulators[i].program))
            return drv_simulators[i].backend;
    return o->in.backend;
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const astrasim_options *o = opts;
    drv_astrasim_inputs in = o->in;
    drv_astrasim_output out;
    trace_ticks record;
    dse_status st;

    if (!strstr(o->logging_configuration, "empty") && !dse_is_file(o->logging_configuration))
        return dse_fail(err, DSE_E_IO, "cannot open the logging configuration '%s'",
                        o->logging_configuration);
    if (strstr(in.groups, "empty"))
        in.groups = NULL;
    in.backend = choose_backend(o, r);
    in.as_released = r->program != NULL;
    in.order = in.order && !in.as_released;
    in.queues_per_dim = (uint32_t)o->queues;
    in.shortcuts = shortcuts_left(&o->shortcuts);
    in.links = o->links != NULL;
    st = drv_astrasim_run(&in, r->arena, &out, o->trace ? &record : NULL, err);
    if (st == DSE_E_SIM && !in.as_released && !in.order && strstr(err->text, SIM_OTHER_ORDER ":"))
        report_note("--order gives the collectives of each group one order on all its ranks");
    if (st != DSE_OK)
        return st;
    report_unknown_keys(in.system, out.n_unknown_keys, out.unknown_key);
    if (out.by_hash_order)
        report_warning("collectives as Chakra files: what becomes ready at once is issued by id, and by "
                       "ASTRA-sim in the order of a hash table; with congestion its times may differ");
    if (in.order)
        report_warning(
            "%" PRIu64
            " collectives run in one order on all their ranks, as --order says; ASTRA-sim has none",
            out.n_ordered);
    if (out.reading.n_dropped)
        report_warning("%" PRIu64
                       " dependencies on nodes that their files lack are dropped; the first is in %s: node "
                       "%" PRIu64 " depends on node %" PRIu64,
                       out.reading.n_dropped, out.reading.dropped_path, out.reading.dropped_node,
                       out.reading.dropped_on);
    return write_outputs(o, &out, &record, r, err);
}

const command command_astrasim = {
    .name = "astrasim",
    .summary = "run Chakra traces, with ASTRA-sim's options and ASTRA-sim's log lines",
    .details =
        "Stands in for " DRV_UNAWARE_PROGRAM " and " DRV_AWARE_PROGRAM " (branch stage, af2492b; with "
        "--astrasim-version master branch master, 518bd51): "
        "the same options, the same log lines with the same numbers; peak memory in bytes. Ranks that finish "
        "in one tick are in ascending order; with --no-memo as there. The time in a line's prefix is always "
        "the same, so that equal runs print equal bytes. Options it does not know are skipped, as there. A "
        "link to ccldse with the name of either program behaves as that program: the network is that of the "
        "name, whatever --backend and network.yml say, and what the program cannot do, as several dimensions "
        "with congestion, is refused. By its own name it takes all that cards can have ('ccldse systems "
        "--keys') but what makes the programs crash, as a Ring of two alone with congestion, and it drops "
        "dependencies on nodes that a trace lacks. With "
        "congestion_aware messages queue for links; with congestion_unaware each has a fixed delay.",
    .example = "ccldse astrasim --workload-configuration workloads/w/w --comm-group-configuration "
               "workloads/w/w.json --system-configuration system.json --network-configuration network.yml "
               "--remote-memory-configuration remote_memory.json",
    .programs = programs,
    COMMAND_OPTIONS(options, astrasim_options),
    .ignore_unknown = true,
    .run = run,
};
