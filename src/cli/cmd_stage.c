/* STAGE's command line, STAGE's files, of either of its versions. */
#include "base/fs.h"
#include "cards/locate.h"
#include "cli/command.h"
#include "cli/simulated.h"
#include "workload/chakra.h"
#include "workload/generate.h"
#include "workload/stage_main.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *version, *output_dir, *output_name, *comm_group_file, *schema, *operators, *model_type;
    int64_t dp, tp, pp, sp, ep, din, dout, dvocal, dmodel, dff, batch, micro_batch, seq, head, kvhead,
        num_stacks, experts, kexperts, tag_base;
    bool weight_sharded, activation_recompute, tpsp, mixed_precision, print_gpu_vram;
} stage_options;

#define FIELD(f)     .offset = offsetof(stage_options, f)
#define SIZE_RANGE   .min = 1, .max = 1e15
#define DEGREE_RANGE .min = 1, .max = 1048576

enum { RECOMP = WL_STAGE_RECOMP, MAIN = WL_STAGE_MAIN, N_VERSIONS };
static const char *const schemas[] = {"v0.0.4", "v0.0.1", "json", NULL};

/* Defaults that are "none" here differ between the versions: `sizes` has them. */
static const option options[] = {
    {"--stage-version", OPT_STRING, "BRANCH", "recomp",
     "whose options, models and bytes: recomp, 0b44904; main, 9ec6c02 (astra-sim/stage)",
     .choices = wl_stage_versions, FIELD(version)},
    {"--output_dir", OPT_STRING, "DIR", NULL, "folder for the traces and the group file", FIELD(output_dir)},
    {"--output_name", OPT_STRING, "NAME", NULL,
     "name of the traces; %d stands for the rank, and .%d.et is added without it", FIELD(output_name)},
    {"--comm_group_file", OPT_STRING, "NAME", "",
     "name of the communicator-group file; required by recomp, main names it by itself",
     FIELD(comm_group_file)},
    {"--chakra_schema_version", OPT_STRING, "VERSION", "v0.0.4", "schema of the traces; main writes v0.0.4",
     .choices = schemas, FIELD(schema)},
    {"--dp", OPT_INT, "N", "1", "data parallel degree", DEGREE_RANGE, FIELD(dp)},
    {"--tp", OPT_INT, "N", "1", "tensor parallel degree", DEGREE_RANGE, FIELD(tp)},
    {"--pp", OPT_INT, "N", "1", "pipeline parallel degree", DEGREE_RANGE, FIELD(pp)},
    {"--sp", OPT_INT, "N", "1", "sequence (of main: context) parallel degree", DEGREE_RANGE, FIELD(sp)},
    {"--weight_sharded", OPT_BOOL, "BOOL", "false", "shard weights over dp, and of recomp sp",
     FIELD(weight_sharded)},
    {"--activation_recompute", OPT_BOOL, "BOOL", "false",
     "recompute activations in the backward pass; without effect in main", FIELD(activation_recompute)},
    {"--din", OPT_INT, "N", "", "recomp: input vocabulary (51200)", SIZE_RANGE, FIELD(din)},
    {"--dout", OPT_INT, "N", "", "recomp: output vocabulary (25600)", SIZE_RANGE, FIELD(dout)},
    {"--dmodel", OPT_INT, "N", "", "width of the model (25600; of main 8192)", SIZE_RANGE, FIELD(dmodel)},
    {"--dff", OPT_INT, "N", "", "width of the feed-forward network (102400; of main 28672)", SIZE_RANGE,
     FIELD(dff)},
    {"--batch", OPT_INT, "N", "", "batch size (1024; of main 64)", SIZE_RANGE, FIELD(batch)},
    {"--seq", OPT_INT, "N", "", "sequence length (1024)", SIZE_RANGE, FIELD(seq)},
    {"--head", OPT_INT, "N", "", "attention heads (1024; of main 64)", SIZE_RANGE, FIELD(head)},
    {"--num_stacks", OPT_INT, "N", "-1", "layers; -1: 32, of main 80", .min = -1, .max = 1000000,
     FIELD(num_stacks)},
    {"--tag-base", OPT_INT, "N", "885440",
     "tag of the first send; STAGE draws it from 0 to 1000000 (seed 0 gives the default)", .min = 0,
     .max = 1000000, FIELD(tag_base)},
    {"--operators", OPT_STRING, "NAME", "",
     "recomp: operator file, a name in configs/operators or a path (transformer)", FIELD(operators)},
    {"--model_type", OPT_STRING, "TYPE", "", "main: dense (the default), llama, gpt, moe, debug",
     FIELD(model_type)},
    {"--ep", OPT_INT, "N", "", "main: expert parallel degree (1)", DEGREE_RANGE, FIELD(ep)},
    {"--dvocal", OPT_INT, "N", "", "main: vocabulary (32000)", SIZE_RANGE, FIELD(dvocal)},
    {"--micro_batch", OPT_INT, "N", "-1", "main: micro-batch, over all dp ranks; -1: the batch", .min = -1,
     .max = 1e15, FIELD(micro_batch)},
    {"--kvhead", OPT_INT, "N", "", "main: heads of keys and values (8)", SIZE_RANGE, FIELD(kvhead)},
    {"--experts", OPT_INT, "N", "", "main: experts of a layer (8)", .min = 1, .max = 65536, FIELD(experts)},
    {"--kexperts", OPT_INT, "N", "", "main: experts of a token (2)", SIZE_RANGE, FIELD(kexperts)},
    {"--tpsp", OPT_BOOL, "BOOL", "true", "main: split activations over tp outside of attention and FFN",
     FIELD(tpsp)},
    {"--mixed_precision", OPT_BOOL, "BOOL", "false", "main: sizes of inputs and outputs in 2 and 4 bytes",
     FIELD(mixed_precision)},
    {"--print_gpu_vram", OPT_BOOL, "BOOL", "false", "main: print what each rank holds, as STAGE counts it",
     FIELD(print_gpu_vram)},
};

/* Sizes with a default for each version; 0: the version does not have the option. */
static const struct {
    const char *name;
    size_t offset;
    int64_t fallback[N_VERSIONS];
} sizes[] = {
    {"--din", offsetof(stage_options, din), {51200, 0}},
    {"--dout", offsetof(stage_options, dout), {25600, 0}},
    {"--dmodel", offsetof(stage_options, dmodel), {25600, 8192}},
    {"--dff", offsetof(stage_options, dff), {102400, 28672}},
    {"--batch", offsetof(stage_options, batch), {1024, 64}},
    {"--seq", offsetof(stage_options, seq), {1024, 1024}},
    {"--head", offsetof(stage_options, head), {1024, 64}},
    {"--ep", offsetof(stage_options, ep), {0, 1}},
    {"--dvocal", offsetof(stage_options, dvocal), {0, 32000}},
    {"--kvhead", offsetof(stage_options, kvhead), {0, 8}},
    {"--experts", offsetof(stage_options, experts), {0, 8}},
    {"--kexperts", offsetof(stage_options, kexperts), {0, 2}},
};

static dse_status not_of(int version, const char *name, dse_error *err)
{
    return dse_fail(err, DSE_E_USAGE, "STAGE's branch %s has no option %s; %s has it, see --stage-version",
                    wl_stage_versions[version], name, wl_stage_versions[!version]);
}

static dse_status complete(stage_options *o, int version, dse_error *err)
{
    const struct {
        const char *name;
        bool given;
        int version;
    } others[] = {{"--comm_group_file", o->comm_group_file, RECOMP},
                  {"--operators", o->operators, RECOMP},
                  {"--model_type", o->model_type, MAIN},
                  {"--micro_batch", o->micro_batch != -1, MAIN},
                  {"--tpsp", !o->tpsp, MAIN},
                  {"--mixed_precision", o->mixed_precision, MAIN},
                  {"--print_gpu_vram", o->print_gpu_vram, MAIN}};

    for (size_t i = 0; i < DSE_COUNT(sizes); i++) {
        int64_t *v = (int64_t *)(void *)((char *)o + sizes[i].offset);

        if (*v && !sizes[i].fallback[version])
            return not_of(version, sizes[i].name, err);
        *v = *v ? *v : sizes[i].fallback[version];
    }
    for (size_t i = 0; i < DSE_COUNT(others); i++)
        if (others[i].given && others[i].version != version)
            return not_of(version, others[i].name, err);
    if (o->num_stacks < 0)
        o->num_stacks = version == MAIN ? 80 : 32;
    if (version == RECOMP && !o->comm_group_file)
        return dse_fail(err, DSE_E_USAGE,
                        "--comm_group_file is missing (name of the communicator-group file); see "
                        "'ccldse stage --help'");
    return DSE_OK;
}

/* As Python's os.path.join: an absolute name needs no folder. */
static const char *join(const char *folder, const char *name, const char *suffix, dse_arena *a)
{
    return *name == '/' ? dse_arena_printf(a, "%s%s", name, suffix)
                        : dse_arena_printf(a, "%s/%s%s", folder, name, suffix);
}

static dse_status write_all(const stage_options *o, const char *group_file, const wl_workload *w,
                            const wl_schema *schema, dse_arena *a, dse_error *err)
{
    const char *suffix = strstr(o->output_name, "%d") ? "" : ".%d.et";
    const char *pattern = join(o->output_dir, o->output_name, suffix, a);
    const char *groups = join(o->output_dir, group_file, "", a);
    dse_status st;
    dse_strbuf text = dse_strbuf_in(a);

    if ((st = dse_mkdirs(o->output_dir, err)) != DSE_OK)
        return st;
    wl_groups_write(w, &text);
    st = dse_write_text(groups, &text, err);
    return st == DSE_OK ? wl_chakra_write_files(w, schema, pattern, err) : st;
}

static dse_status run_recomp(const stage_options *o, dse_arena *a, dse_error *err)
{
    const wl_symbols symbols = {.n = 7,
                                .name = {"Din", "Dout", "Dmodel", "Dff", "Batch", "Seq", "Head"},
                                .value = {o->din, o->dout, o->dmodel, o->dff, o->batch, o->seq, o->head}};
    wl_strategy request = {.strategy = strategy_default(), .tag_base = (uint32_t)o->tag_base};
    const wl_schema *schema = wl_schema_find(o->schema);
    const char *path;
    cfg_doc operators;
    wl_workload w;
    dse_status st;

    request.dp = (uint32_t)o->dp;
    request.tp = (uint32_t)o->tp;
    request.sp = (uint32_t)o->sp;
    request.pp = (uint32_t)o->pp;
    request.recompute = o->activation_recompute;
    request.weight_sharded = o->weight_sharded;
    assert(schema && "every choice of --chakra_schema_version is a schema");
    if ((st = card_locate(CARD_OPERATORS, o->operators ? o->operators : "transformer", a, &path, err)) !=
            DSE_OK ||
        (st = cfg_load(path, a, &operators, err)) != DSE_OK ||
        (st = wl_generate(&operators, &symbols, (uint32_t)o->num_stacks, &request, a, &w, err)) != DSE_OK)
        return st;
    return write_all(o, o->comm_group_file, &w, schema, a, err);
}

/* ---- main ---------------------------------------------------------------------------------- */

static const char *replaced(const char *text, const char *from, const char *to, dse_arena *a)
{
    dse_strbuf b = dse_strbuf_in(a);

    for (const char *at; (at = strstr(text, from)); text = at + strlen(from)) {
        dse_strbuf_add(&b, text, (size_t)(at - text));
        dse_strbuf_adds(&b, to);
    }
    dse_strbuf_adds(&b, text);
    return dse_strbuf_take(&b, a);
}

static bool is_set(const char *variable, const char *otherwise, const char *value)
{
    const char *v = getenv(variable);

    return !strcmp(v ? v : otherwise, value);
}

static dse_status run_main(const stage_options *o, command_run *r, dse_error *err)
{
    const char *model = o->model_type ? o->model_type : wl_main_models[WL_MAIN_DENSE], *name;
    wl_main_options request = {.dp = o->dp,
                               .tp = o->tp,
                               .sp = o->sp,
                               .ep = o->ep,
                               .pp = o->pp,
                               .dvocal = o->dvocal,
                               .dmodel = o->dmodel,
                               .dff = o->dff,
                               .batch = o->batch,
                               .micro_batch = o->micro_batch < 0 ? o->batch : o->micro_batch,
                               .seq = o->seq,
                               .head = o->head,
                               .kvhead = o->kvhead,
                               .num_stacks = o->num_stacks,
                               .experts = o->experts,
                               .kexperts = o->kexperts,
                               .weight_sharded = o->weight_sharded,
                               .tpsp = o->tpsp,
                               .mixed_precision = o->mixed_precision,
                               .tag_base = (uint32_t)o->tag_base};
    const char *micro_batches = getenv("STAGE_MICROBATCH_OPTIMIZE"), *merges = getenv("STAGE_MERGE_COMMS");
    size_t i = 0;
    wl_workload w;
    dse_status st;

    while (i < WL_MAIN_N_MODELS && strcmp(wl_main_models[i], model) != 0)
        i++;
    if (i == WL_MAIN_N_MODELS) {
        report_warning(
            "STAGE has no model '%.60s' and writes nothing for it; known: dense, llama, gpt, moe, debug",
            model);
        return DSE_OK;
    }
    if (!is_set("STAGE_OPTIMIZED", "1", "1"))
        return dse_fail(err, DSE_E_CONFIG,
                        "STAGE's branch main fails before its first trace if STAGE_OPTIMIZED is not 1");
    request.copies_nodes = micro_batches && strcmp(micro_batches, "0") != 0;
    request.whole_views = micro_batches && strcmp(micro_batches, "1") != 0;
    request.merges_collectives = merges && strtol(merges, NULL, 10) > 0;
    request.model_type = (wl_main_model)i;
    if ((st = wl_stage_main_generate(&request, r->arena, &w, o->print_gpu_vram ? r->out : NULL, err)) !=
        DSE_OK)
        return st;
    simulated_flaws(&w, r->arena);
    if (request.copies_nodes)
        report_warning(
            "with STAGE_MICROBATCH_OPTIMIZE all micro-batches write the same tensors, and nothing adds up "
            "their gradients");
    if (request.merges_collectives)
        report_warning(
            "with STAGE_MERGE_COMMS the first rank of a stage lacks collectives that the others have, "
            "and runs may not end");
    name = strstr(o->output_name, "%d") ? o->output_name
                                        : dse_arena_printf(r->arena, "%s.%%d.et", o->output_name);
    name = replaced(replaced(name, ".%d", "", r->arena), ".et", ".json", r->arena);
    return write_all(o, name, &w,
                     is_set("STAGE_LEGACY_ATTR", "0", "1") ? &wl_schema_v004_legacy : &wl_schema_v004,
                     r->arena, err);
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    stage_options o = *(const stage_options *)opts;
    const int version = (int)option_place(wl_stage_versions, o.version);
    dse_status st = complete(&o, version, err);

    if (st != DSE_OK)
        return st;
    return version == MAIN ? run_main(&o, r, err) : run_recomp(&o, r->arena, err);
}

const command command_stage = {
    .name = "stage",
    .summary = "write a workload's Chakra traces, with STAGE's options and STAGE's bytes",
    .details =
        "Writes one Chakra trace per rank and the communicator-group file: STAGE's options, STAGE's "
        "files (branch recomp, 0b44904, I/O information on; or, by --stage-version, main, 9ec6c02), byte for "
        "byte. A note says what main has wrong.",
    .example = "ccldse stage --output_dir workloads/w --output_name w --comm_group_file w.json --dp 4 --tp 2 "
               "--num_stacks 4 --dmodel 512 --dff 2048 --head 8",
    COMMAND_OPTIONS(options, stage_options),
    .run = run,
};
