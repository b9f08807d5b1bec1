#include "driver/emit.h"

#include "base/fs.h"
#include "cards/remote.h"
#include "driver/simulators.h"
#include "workload/chakra.h"

#include <sys/stat.h>
#include <unistd.h>

static const char script_head[] = "#!/bin/sh\n"
                                  "# Runs the workload of this folder.\n"
                                  "# usage: ./run.sh SIMULATOR..., for example: ./run.sh ";
static const char script_body[] =
    "set -eu\n"
    "[ $# -gt 0 ] || { echo \"usage: $0 SIMULATOR...\" >&2; exit 2; }\n"
    "simulator=$(command -v \"$1\") || { echo \"$0: there is no '$1'\" >&2; exit 2; }\n"
    "case $simulator in /*) ;; *) simulator=$PWD/$simulator ;; esac\n"
    "shift\n"
    "cd \"$(dirname \"$0\")\"\n"
    "exec \"$simulator\" \"$@\" --workload-configuration=workload --comm-group-configuration=comm_group.json "
    "\\\n"
    "  --system-configuration=system.json --network-configuration=network.yml \\\n"
    "  --remote-memory-configuration=remote_memory.json\n";

/* The script names the program that simulates this system, or explains why ASTRA-sim has none. */
static dse_status write_script(const card_system *s, bool in_bytes, const char *path, dse_arena *a,
                               dse_error *err)
{
    const sim_version version = sim_version_find(s->version);
    dse_error why = DSE_ERROR_INIT;
    dse_strbuf out = dse_strbuf_in(a);

    dse_strbuf_adds(&out, script_head);
    if (drv_simulator_check(s, &why) == DSE_OK)
        dse_strbuf_addf(&out, "%s\n#                                            ./run.sh ccldse astrasim\n",
                        drv_simulators[drv_simulator_of(s)].program);
    else
        dse_strbuf_addf(&out, "ccldse astrasim\n# %s.\n", why.text);
    if (version != SIM_STAGE)
        dse_strbuf_addf(&out, "# ASTRA-sim is to be of %s.\n", sim_versions[version].branch);
    if (in_bytes)
        dse_strbuf_adds(
            &out,
            "# Sizes are bytes. Its peak memory is without the state of the training, which traces cannot "
            "hold.\n");
    dse_strbuf_adds(&out, script_body);
    return dse_write_text(path, &out, err);
}

static dse_status write_file(const char *folder, const char *name, const dse_strbuf *text, dse_arena *a,
                             dse_error *err)
{
    return dse_write_text(dse_arena_printf(a, "%s/%s", folder, name), text, err);
}

/* Those that run the files do so in another folder. */
static dse_status check_paths(const card_system *s, dse_error *err)
{
    const char *path = *s->custom_by_node ? s->custom_by_node : "/";

    for (int i = 0; i < SIM_N_COLLECTIVES; i++)
        if (*s->custom[i] && *s->custom[i] != '/')
            path = s->custom[i];
    return *path == '/'
               ? DSE_OK
               : dse_fail(err, DSE_E_CONFIG,
                          "collectives as Chakra files '%s': ASTRA-sim runs in another folder; give an "
                          "absolute path",
                          path);
}

dse_status drv_emit_system(const card_system *s, const char *folder, dse_arena *a, dse_error *err)
{
    dse_strbuf system = dse_strbuf_in(a), network = dse_strbuf_in(a), memory = dse_strbuf_in(a);
    dse_status st = check_paths(s, err);

    if (st != DSE_OK)
        return st;

    card_system_write_astra_system(s, &system);
    card_system_write_astra_network(s, &network);
    dse_strbuf_adds(&memory, CARD_REMOTE_NONE_JSON);
    if ((st = dse_mkdirs(folder, err)) != DSE_OK ||
        (st = write_file(folder, "system.json", &system, a, err)) != DSE_OK ||
        (st = write_file(folder, "network.yml", &network, a, err)) != DSE_OK)
        return st;
    return write_file(folder, "remote_memory.json", &memory, a, err);
}

dse_status drv_emit_traces(const wl_workload *w, const char *folder, dse_arena *a, dse_error *err)
{
    dse_strbuf groups = dse_strbuf_in(a);
    dse_status st;

    wl_groups_write(w, &groups);
    st = write_file(folder, "comm_group.json", &groups, a, err);
    return st == DSE_OK ? wl_chakra_write_files(w, &wl_schema_v004,
                                                dse_arena_printf(a, "%s/workload.%%d.et", folder), err)
                        : st;
}

dse_status drv_emit_point(const card_system *s, const wl_workload *w, const char *folder, dse_arena *a,
                          dse_error *err)
{
    const char *script = dse_arena_printf(a, "%s/run.sh", folder);
    dse_status st;

    unlink(script); /* made last: its absence marks an incomplete folder */
    if ((st = drv_emit_system(s, folder, a, err)) != DSE_OK ||
        (st = drv_emit_traces(w, folder, a, err)) != DSE_OK ||
        (st = write_script(s, w->in_bytes, script, a, err)) != DSE_OK)
        return st;
    return chmod(script, 0755) == 0 ? DSE_OK
                                    : dse_fail_errno(err, DSE_E_IO, "cannot make '%s' executable", script);
}
