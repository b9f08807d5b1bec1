/* What-if of real traces: conversions to Chakra against the bytes of the original converters, and the replay
 * of unchanged steps against the recording.
 *
 * usage: run_whatif REFERENCES TRACES
 *
 * REFERENCES has *.json with the digest of each rank's file, and inputs/, which are unpacked into the current
 * folder. Exit code 0: all is well; 1; 77: there are no references. */
#include "driver/other_system.h"
#include "driver/recording.h"
#include "support/sha256.h"
#include "whatif/compat.h"
#include "whatif/question.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_RANKS 16

static const char *references, *traces;
static unsigned n_right, n_wrong;

static void judge(bool right, const char *set, const char *what, const char *why)
{
    n_right += right;
    n_wrong += !right;
    if (!right)
        printf("wrong: %s, %s: %s\n", set, what, why);
}

/* ---- conversions ----------------------------------------------------------------------------- */

/* The sets: of inputs/NAME.tar.gz a file a rank, or of the traces one file for all ranks. */
static const struct {
    const char *name, *input, *trace;
    uint32_t n_ranks;
} sets[] = {
    {"rules_comm", "rules", NULL, 4},
    {"mock_tp4_dp2_comm", "mockA", NULL, 8},
    {"ddp2_a100_replicated_comm", NULL, "kineto_ddp_2rank_a100_ncclargs/nccl_data.json.gz", 2},
    {"vllm8_b200_replicated_comm", NULL, "kineto_infer_vllm_tp8_b200/eager_trace.json.gz", 8},
    {"r16_a100_replicated_comm", NULL, "kineto_16rank_a100_rank0/rank0.json.gz", 16},
    {"xla_tpu2_vllm_a", NULL, "xla_tpu2_vllm_a/t1v-n-9eb622fc-w-0.trace.json.gz", 2},
};

static const struct {
    const char *variant;
    whatif_compat mode;
} variants[] = {
    {"comm-only gap rank", WHATIF_COMPAT_GAP},
    {"comm-only pg-gap rank", WHATIF_COMPAT_PG_GAP},
    {"comm-only kernels rank", WHATIF_COMPAT_KERNELS},
    {"comm-only kernels stream", WHATIF_COMPAT_KERNELS_STREAM},
    {"gap", WHATIF_COMPAT_TPU_GAP},
    {"kernels", WHATIF_COMPAT_TPU_KERNELS},
};

static bool groups_agree(const whatif_files *r, json_t *expected)
{
    bool right = r->n_groups == json_object_size(expected);

    for (uint32_t i = 0; right && i < r->n_groups; i++) {
        char id[16];
        json_t *ranks;

        snprintf(id, sizeof id, "%u", i + 1);
        ranks = json_object_get(expected, id);
        right = json_array_size(ranks) == r->group[i].n;
        for (uint32_t k = 0; right && k < r->group[i].n; k++)
            right = json_integer_value(json_array_get(ranks, k)) == r->group[i].rank[k];
    }
    return right;
}

static void check_variant(const char *set, const whatif_compat_job *job, const char *name, json_t *expected)
{
    whatif_files r;
    dse_arena a;
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf text;
    char digest[65];

    dse_arena_init(&a);
    dse_strbuf_init(&text);
    if (whatif_compat_convert(job, &a, &r, &err) != DSE_OK) {
        judge(false, set, name, err.text);
    } else {
        judge(groups_agree(&r, json_object_get(expected, "comm_group")), set, name, "groups");
        for (uint32_t i = 0; i < r.n_ranks; i++) {
            json_t *ranks = json_object_get(expected, "per_rank"), *rank;

            snprintf(digest, sizeof digest, "%u", i);
            rank = json_object_get(ranks, digest);
            if (json_is_string(rank)) /* "as rank 0" */
                rank = json_object_get(ranks, "0");
            dse_strbuf_clear(&text);
            whatif_et_write(&r.et[i], "0.0.4", &text);
            sha256_hex(text.data, text.len, digest);
            rank = json_object_get(rank, "sha256");
            judge(rank && !strcmp(digest, json_string_value(rank)), set, name, "a rank's bytes");
        }
    }
    dse_strbuf_free(&text);
    dse_arena_free(&a);
}

static void check_set(size_t set)
{
    char file[4096], command[8300], paths[MAX_RANKS][4096];
    const char *path[MAX_RANKS];
    json_t *reference;

    snprintf(file, sizeof file, "%s/%s.json", references, sets[set].name);
    reference = json_load_file(file, 0, NULL);
    snprintf(command, sizeof command, "mkdir -p '%s' && tar -xzf '%s/inputs/%s.tar.gz' -C '%s'",
             sets[set].name, references, sets[set].input, sets[set].name);
    if (!reference || (sets[set].input && system(command) != 0)) {
        judge(false, sets[set].name, "inputs", "cannot be read");
        return;
    }
    for (uint32_t i = 0; i < sets[set].n_ranks; i++) {
        if (sets[set].input)
            snprintf(paths[i], sizeof paths[i], "%s/r/rank%u_trace.json", sets[set].name, i);
        else
            snprintf(paths[i], sizeof paths[i], "%s/%s", traces, sets[set].trace);
        path[i] = sets[set].input ? paths[i] : paths[0];
    }
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        json_t *expected = json_object_get(json_object_get(reference, "variants"), variants[i].variant);

        if (expected)
            check_variant(sets[set].name,
                          &(whatif_compat_job){.mode = variants[i].mode,
                                               .n_ranks = sets[set].n_ranks,
                                               .path = path,
                                               .marker = "_process_engine_step"},
                          variants[i].variant, expected);
    }
    json_decref(reference);
}

/* The files of one kind of a directory, by rank. */
static void list_files(const char *directory, trace_kind kind, drv_recording *r, const char **path)
{
    const drv_recording_options o = {.kinds = METRIC_ON(kind)};
    dse_error err = DSE_ERROR_INIT;

    if (drv_recording_load(directory, &o, r, &err) != DSE_OK)
        judge(false, directory, "traces", err.text);
    for (uint32_t i = 0; i < r->n_views; i++)
        if (r->view[i].rank->rank < MAX_RANKS)
            path[r->view[i].rank->rank] = r->view[i].rank->path;
}

/* Chakra's conversion of the traces as they are; the reference was made of such that other tools had mended
 * (see its README), as ours does itself. */
static void check_full(const char *name, const char *trace)
{
    char file[4096], directory[4096];
    const char *path[MAX_RANKS] = {0}, *host_path[MAX_RANKS] = {0};
    drv_recording kineto = {0}, host = {0};
    json_t *reference, *expected;

    snprintf(file, sizeof file, "%s/%s.json", references, name);
    snprintf(directory, sizeof directory, "%s/%s", traces, trace);
    reference = json_load_file(file, 0, NULL);
    expected = json_object_get(json_object_get(reference, "variants"), "full");
    list_files(directory, TRACE_KINETO, &kineto, path);
    list_files(directory, TRACE_ET, &host, host_path);
    if (!expected || kineto.n_views != host.n_views)
        judge(false, name, "inputs", "are not there");
    else
        check_variant(
            name,
            &(whatif_compat_job){
                .mode = WHATIF_COMPAT_FULL, .n_ranks = kineto.n_views, .path = path, .host_path = host_path},
            "full", expected);
    drv_recording_free(&kineto);
    drv_recording_free(&host);
    json_decref(reference);
}

/* ---- replay ---------------------------------------------------------------------------------- */

/* On the system that it was recorded on nothing is faster or slower. */
static void check_same_system(const char *name, const char *system, const whatif_recorded *r,
                              const whatif_recording *from, dse_arena *a)
{
    drv_other_system same;
    dse_error err = DSE_ERROR_INIT;
    uint32_t n = 0;

    if (drv_other_system_of(r, from, system, NULL, a, &same, &err) != DSE_OK) {
        judge(false, name, "the same system", err.text);
        return;
    }
    for (uint32_t i = 0; i < r->graph.n_ops; i++)
        n += same.op_time[i] < 1 || same.op_time[i] > 1;
    for (uint32_t i = 0; i < r->graph.n_collectives; i++)
        n += same.collective_time[i] < 1 || same.collective_time[i] > 1;
    judge(!n && same.n_simulated > 0, name, "the same system", "times are not those that were recorded");
}

/* The traces that the spec names: at most 3 % off. */
static void check_replay(const char *name, const char *system, bool replicate)
{
    drv_recording recording;
    whatif_recorded recorded;
    whatif_answer measured, replayed;
    whatif_question none = whatif_no_change();
    dse_arena a;
    dse_error err = DSE_ERROR_INIT;
    char path[4096], text[64];
    dse_status st;

    dse_arena_init(&a);
    snprintf(path, sizeof path, "%s/%s", traces, name);
    st = drv_recording_load(path, &(drv_recording_options){.kinds = METRIC_ON(TRACE_KINETO)}, &recording,
                            &err);
    if (st == DSE_OK) {
        whatif_recording from = {recording.view, recording.n_views, WHATIF_MEDIAN_STEP, replicate};

        if ((st = whatif_build(&from, &a, &recorded, &err)) == DSE_OK &&
            (st = whatif_ask(&recorded, &from, &none, &a, &replayed, &err)) == DSE_OK) {
            measured = whatif_measured(&recorded, &a);
            snprintf(text, sizeof text, "%.2f %% off",
                     100 * ((double)replayed.step / (double)measured.step - 1));
            judge(fabs((double)replayed.step / (double)measured.step - 1) <= 0.03, name, "replay", text);
            check_same_system(name, system, &recorded, &from, &a);
        }
    }
    if (st != DSE_OK)
        judge(false, name, "replay", err.text);
    drv_recording_free(&recording);
    dse_arena_free(&a);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: run_whatif REFERENCES TRACES\n");
        return 2;
    }
    references = argv[1];
    traces = argv[2];
    if (access(references, R_OK) || access(traces, R_OK)) {
        printf("no references in %s, or no traces in %s\n", references, traces);
        return 77;
    }
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        check_set(i);
    check_full("megatron_tp8_a100_full", "kineto_megatron_tp8_a100");
    check_full("dlrm_v100_full", "kineto_dlrm_8rank_v100");
    check_replay("kineto_megatron_tp8_a100", "dgx_a100", false);
    check_replay("kineto_dlrm_8rank_v100", "dgx_v100", false);
    check_replay("kineto_ddp_2rank_a100_ncclargs", "dgx_a100", true);
    printf("%u right, %u wrong\n", n_right, n_wrong);
    return n_wrong > 0;
}
