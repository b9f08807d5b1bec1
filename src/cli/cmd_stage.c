/* STAGE's command line, STAGE's files. */
#include "base/fs.h"
#include "cards/locate.h"
#include "cli/command.h"
#include "workload/chakra.h"
#include "workload/generate.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *output_dir, *output_name, *comm_group_file, *schema, *operators;
    int64_t dp, tp, pp, sp, din, dout, dmodel, dff, batch, seq, head, num_stacks, tag_base;
    bool weight_sharded, activation_recompute;
} stage_options;

#define FIELD(f)     .offset = offsetof(stage_options, f)
#define SIZE_RANGE   .min = 1, .max = 1e15
#define DEGREE_RANGE .min = 1, .max = 1048576

static const char *const schemas[] = {"v0.0.4", "v0.0.1", "json", NULL};

static const option options[] = {
    {"--output_dir", OPT_STRING, "DIR", NULL, "folder for the traces and the group file", FIELD(output_dir)},
    {"--output_name", OPT_STRING, "NAME", NULL,
     "name of the traces; %d stands for the rank, and .%d.et is added without it", FIELD(output_name)},
    {"--comm_group_file", OPT_STRING, "NAME", NULL, "name of the communicator-group file",
     FIELD(comm_group_file)},
    {"--chakra_schema_version", OPT_STRING, "VERSION", "v0.0.4", "schema of the traces", .choices = schemas,
     FIELD(schema)},
    {"--dp", OPT_INT, "N", "1", "data parallel degree", DEGREE_RANGE, FIELD(dp)},
    {"--tp", OPT_INT, "N", "1", "tensor parallel degree", DEGREE_RANGE, FIELD(tp)},
    {"--pp", OPT_INT, "N", "1", "pipeline parallel degree", DEGREE_RANGE, FIELD(pp)},
    {"--sp", OPT_INT, "N", "1", "sequence parallel degree", DEGREE_RANGE, FIELD(sp)},
    {"--weight_sharded", OPT_BOOL, "BOOL", "false", "shard weights over dp and sp", FIELD(weight_sharded)},
    {"--activation_recompute", OPT_BOOL, "BOOL", "false", "recompute activations in the backward pass",
     FIELD(activation_recompute)},
    {"--din", OPT_INT, "N", "51200", "input vocabulary", SIZE_RANGE, FIELD(din)},
    {"--dout", OPT_INT, "N", "25600", "output vocabulary", SIZE_RANGE, FIELD(dout)},
    {"--dmodel", OPT_INT, "N", "25600", "width of the model", SIZE_RANGE, FIELD(dmodel)},
    {"--dff", OPT_INT, "N", "102400", "width of the feed-forward network", SIZE_RANGE, FIELD(dff)},
    {"--batch", OPT_INT, "N", "1024", "batch size", SIZE_RANGE, FIELD(batch)},
    {"--seq", OPT_INT, "N", "1024", "sequence length", SIZE_RANGE, FIELD(seq)},
    {"--head", OPT_INT, "N", "1024", "attention heads", SIZE_RANGE, FIELD(head)},
    {"--num_stacks", OPT_INT, "N", "32", "layers", .min = 0, .max = 1000000, FIELD(num_stacks)},
    {"--tag-base", OPT_INT, "N", "885440",
     "tag of the first send; STAGE draws it from 0 to 1000000 (seed 0 gives the default)", .min = 0,
     .max = 1000000, FIELD(tag_base)},
    {"--operators", OPT_STRING, "NAME", "transformer", "operator file, a name in configs/operators or a path",
     FIELD(operators)},
};

/* As Python's os.path.join: an absolute name needs no folder. */
static const char *join(const char *folder, const char *name, const char *suffix, dse_arena *a)
{
    return *name == '/' ? dse_arena_printf(a, "%s%s", name, suffix)
                        : dse_arena_printf(a, "%s/%s%s", folder, name, suffix);
}

static dse_status write_all(const stage_options *o, const wl_workload *w, const wl_schema *schema,
                            dse_arena *a, dse_error *err)
{
    const char *suffix = strstr(o->output_name, "%d") ? "" : ".%d.et";
    const char *pattern = join(o->output_dir, o->output_name, suffix, a);
    const char *groups = join(o->output_dir, o->comm_group_file, "", a);
    dse_status st;
    dse_strbuf text = dse_strbuf_in(a);

    if ((st = dse_mkdirs(o->output_dir, err)) != DSE_OK)
        return st;
    wl_groups_write(w, &text);
    st = dse_write_text(groups, &text, err);
    return st == DSE_OK ? wl_chakra_write_files(w, schema, pattern, err) : st;
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const stage_options *o = opts;
    dse_arena *a = r->arena;
    const wl_symbols sizes = {.n = 7,
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
    if ((st = card_locate(CARD_OPERATORS, o->operators, a, &path, err)) != DSE_OK ||
        (st = cfg_load(path, a, &operators, err)) != DSE_OK ||
        (st = wl_generate(&operators, &sizes, (uint32_t)o->num_stacks, &request, a, &w, err)) != DSE_OK)
        return st;
    return write_all(o, &w, schema, a, err);
}

const command command_stage = {
    .name = "stage",
    .summary = "write a workload's Chakra traces, with STAGE's options and STAGE's bytes",
    .details = "Writes one Chakra trace per rank and the communicator-group file: STAGE's options, STAGE's "
               "files (branch recomp, 0b44904, I/O information on), byte for byte.",
    .example = "ccldse stage --output_dir workloads/w --output_name w --comm_group_file w.json --dp 4 --tp 2 "
               "--num_stacks 4 --dmodel 512 --dff 2048 --head 8",
    COMMAND_OPTIONS(options, stage_options),
    .run = run,
};
