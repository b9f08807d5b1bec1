/* Processes that make or read large things: files of a full-size point, and a model on 16,384 NPUs. */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- 16,384 NPUs --------------------------------------------------------------------------- */

static const char large_model[] = "vocabulary: 128256\n"
                                  "d_model: 16384\n"
                                  "d_ff: 53248\n"
                                  "heads: 128\n"
                                  "layers: 126\n"
                                  "batch: 2048\n"
                                  "sequence: 8192\n";

/* Boxes of 8 on switches. */
static const char large_system[] = "network:\n"
                                   "  topology: [FullyConnected, Switch, Switch]\n"
                                   "  npus_count: [8, 128, 16]\n"
                                   "  bandwidth: [400, 50, 50]\n"
                                   "  latency: [20, 500, 1000]\n"
                                   "collectives: {all: [direct, ring, ring]}\n"
                                   "compute: {peak_perf: 900}\n"
                                   "memory: {bandwidth: 3000}\n";

static const char *write_card(const bench *b, const char *name, const char *card)
{
    const char *path;
    dse_strbuf text;

    dse_strbuf_init(&text);
    dse_strbuf_adds(&text, card);
    path = bench_write(b, name, &text);
    dse_strbuf_free(&text);
    return path;
}

void bench_large(bench *b)
{
    const char *const argv[] = {b->ccldse,  "simulate",
                                "--model",  write_card(b, "llama405b.yaml", large_model),
                                "--system", write_card(b, "npus16384.yaml", large_system),
                                "--point",  "128_8_1_16_0",
                                NULL};
    measurement m;

    bench_run(b, argv, 3, &m);
    bench_at_most(b, "ccldse simulate, whole process", &m, m.wall, 5, "s");
    bench_at_most(b, "peak memory", &m, m.peak_mb, 1000, "MB");
}

/* ---- full-size files ----------------------------------------------------------------------- */

/* STAGE's command line for a point of llama70b, as ccldse takes it, too: "32_1_2_1_0" into the folder of its name. */
static void stage_arguments(const bench *b, const char *point, const char *tool, dse_strbuf *out)
{
    unsigned dp, tp, sp, pp, recompute;

    if (sscanf(point, "%u_%u_%u_%u_%u", &dp, &tp, &sp, &pp, &recompute) != 5)
        exit(70);
    dse_strbuf_addf(out,
                    "--output_dir %s/%s_%s --output_name w --comm_group_file w.json --dp %u --tp %u --sp %u "
                    "--pp %u --weight_sharded false --activation_recompute %s --din 32000 --dout 32000 "
                    "--dmodel 8192 --dff 28672 --head 64 --batch 512 --seq 1024 --num_stacks 80",
                    b->folder, tool, point, dp, tp, sp, pp, recompute ? "true" : "false");
}

/* In the folder that the bench was started in: a command may have relative paths. */
static void run_stage(const bench *b, const char *command, const char *point, const char *tool, int times,
                      measurement *m)
{
    measured_program p = {.output = bench_path(b, "stdout"), .messages = b->messages, .limit = b->limit};
    dse_strbuf line;

    dse_strbuf_init(&line);
    dse_strbuf_addf(&line, "exec %s ", command);
    stage_arguments(b, point, tool, &line);
    p.argv = (const char *const[]){"/bin/sh", "-c", line.data, NULL};
    measure_fastest(&p, times, m);
    dse_strbuf_free(&line);
}

static const char *own_stage(const bench *b) { return bench_text(b, "%s stage", b->ccldse); }

static double megabytes(const bench *b, const char *point)
{
    double bytes = 0;

    for (int rank = 0; rank < 64; rank++) {
        char name[64];
        struct stat s;

        snprintf(name, sizeof name, "ccldse_%s/w.%d.et", point, rank);
        if (stat(bench_path(b, name), &s) == 0)
            bytes += (double)s.st_size;
    }
    return bytes * 1e-6;
}

/* How many times faster than a tool of upstream, in CPU time (on a disk the kernel's writing back is in ours, too): of
 * what was measured here, or else recorded. */
static void compare(bench *b, const char *tool, const measurement *ours, const measurement *theirs,
                    double recorded_s, double bar)
{
    double seconds = theirs ? theirs->cpu : recorded_s;
    char label[64];

    if (!theirs || theirs->done)
        bench_say(tool, "%.1f s of CPU%s", seconds, theirs ? "" : " (recorded)");
    snprintf(label, sizeof label, "times %s", tool);
    bench_at_least(b, label, ours->done && theirs ? theirs : ours, seconds / ours->cpu, bar, "x");
}

void bench_stage(bench *b)
{
    for (int i = 0; i < 2; i++) {
        const bench_recorded *r = &bench_upstream[i];
        measurement m, other;

        run_stage(b, own_stage(b), r->point, "ccldse", 3, &m);
        if (m.done)
            bench_say(r->point, "%.3f s, %.3f s of CPU, %.0f MB: %.0f MB/s", m.wall, m.cpu,
                      megabytes(b, r->point), megabytes(b, r->point) / m.wall);
        if (b->stage)
            run_stage(b, b->stage, r->point, "stage", 1, &other);
        compare(b, "STAGE", &m, b->stage ? &other : NULL, r->stage_s, 1000);
    }
}

/* ASTRA-sim's options for the files of a point; ours take the same. */
static void run_astrasim(const bench *b, const char *program, const char *point, bool ours, int times,
                         measurement *m)
{
    char workload[200], groups[200];
    const char *argv[] = {program,
                          "astrasim",
                          workload,
                          groups,
                          "--system-configuration=config/system.json",
                          "--network-configuration=config/network.yml",
                          "--remote-memory-configuration=config/remote_memory.json",
                          NULL};

    snprintf(workload, sizeof workload, "--workload-configuration=ccldse_%s/w", point);
    snprintf(groups, sizeof groups, "--comm-group-configuration=ccldse_%s/w.json", point);
    if (!ours)
        argv[1] = program;
    bench_run(b, ours ? argv : argv + 1, times, m);
}

static bool write_config(const bench *b)
{
    measurement m;

    bench_run(b,
              (const char *const[]){b->ccldse, "config", "--system", "system1", "--output",
                                    bench_path(b, "config"), NULL},
              1, &m);
    if (!m.done)
        bench_say("ccldse config", "%s", m.why);
    return m.done;
}

/* Of the fastest run: the files are in the page cache. */
void bench_astrasim(bench *b)
{
    for (int i = 0; write_config(b) && i < 2; i++) {
        const bench_recorded *r = &bench_upstream[i];
        measurement m, other;
        double mb;

        if (megabytes(b, r->point) == 0)
            run_stage(b, own_stage(b), r->point, "ccldse", 1, &m);
        mb = megabytes(b, r->point);
        run_astrasim(b, b->ccldse, r->point, true, 3, &m);
        if (m.done)
            bench_say(r->point, "%.3f s, %.3f s of CPU, %.0f MB of .et, peak %.0f MB", m.wall, m.cpu, mb,
                      m.peak_mb);
        bench_at_least(b, "reading and all", &m, mb / m.wall, 300, "MB/s");
        if (b->upstream)
            run_astrasim(b, b->upstream, r->point, false, 1, &other);
        compare(b, "ASTRA-sim", &m, b->upstream ? &other : NULL, r->astrasim_s, 100);
    }
}
