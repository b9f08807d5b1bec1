/* What starts a strategy in a training program. */
#include "cli/one_point.h"
#include "driver/launch.h"
#include "report/tree.h"

#include <string.h>

typedef struct {
    const char *model, *system, *point, *program, *output;
    strategy_options strategy;
    int64_t per_node;
    bool json;
    option_list set;
    sizing_options sizing;
} launch_options;

#define FIELD(f) .offset = offsetof(launch_options, f)

static const option options[] = {
    OPTION_MODEL,
    OPTION_SYSTEM,
    {"--program", OPT_STRING, "PROGRAM", "", "what the text is for; if not given, the program of --like",
     .choices = launch_names, FIELD(program)},
    OPTION_POINT,
    OPTION_GROUP(strategy_value_options, strategy),
    OPTION_GROUP(run_size_group, sizing),
    OPTION_SET,
    {"--per-node", OPT_INT, "N", "",
     "ranks of a machine; what the network joins below its last dimension, if not given", .min = 1,
     .max = 1e6, FIELD(per_node)},
    {"--output", OPT_STRING, "FILE", "", "write the text to a file", FIELD(output)},
    {"--json", OPT_FLAG, NULL, "false", "print the text with the program's name and version as JSON",
     FIELD(json)},
};

/* What is left open is as the program has it, whose name may stand for --like; a point by its name says
 * all. */
static strategy_options with_defaults_of(const launch_program *p, const strategy_options *given,
                                         const char *name)
{
    const uint64_t recomputation =
        UINT64_C(1) << STRATEGY_recompute | UINT64_C(1) << STRATEGY_recompute_granularity |
        UINT64_C(1) << STRATEGY_recompute_modules | UINT64_C(1) << STRATEGY_recompute_layers |
        UINT64_C(1) << STRATEGY_recompute_every;
    strategy_options o = *given;

    if (!p || name)
        return o;
    if (!strategy_options_says(&o, STRATEGY_like))
        o.of[STRATEGY_like].text = p->like;
    if (p->recompute && !strcmp(o.of[STRATEGY_like].text, p->like) &&
        !(strategy_options_mask(&o) & recomputation))
        o.of[STRATEGY_recompute_granularity].text = p->recompute;
    return o;
}

static void print_json(const launch_program *p, const launch_job *j, const dse_strbuf *text, dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t);
    char name[STRATEGY_NAME_MAX];

    strategy_name(&j->point, NULL, name);
    report_put(root, V_TEXT("program", p->name), V_TEXT("title", p->title), V_TEXT("version", p->version),
               V_TEXT("model", j->model), V_TEXT("system", j->system), V_TEXT("point", name),
               V_COUNT("nodes", j->nodes), V_COUNT("ranks_per_node", j->per_node),
               V_TEXT("text", text->data));
    report_tree_end(&t, out);
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const launch_options *o = opts;
    const launch_program *program = o->program ? launch_find(o->program) : NULL;
    const strategy_options of = with_defaults_of(program, &o->strategy, o->point);
    dse_strbuf text = dse_strbuf_in(r->arena);
    drv_study study;
    strategy point;
    launch_job job;
    dse_status st;

    if ((st = one_point_load(o->model, o->system, &o->sizing, &o->set, r->arena, &study, err)) != DSE_OK ||
        (st = one_point_settle(&of, o->point, &study, &point, err)) != DSE_OK)
        return st;
    if (!program)
        program = launch_of(point.like);
    if ((st = drv_launch_job(&study, &point, program, (uint32_t)o->per_node, &job, err)) != DSE_OK ||
        (st = launch_write(&job, program, &text, err)) != DSE_OK)
        return st;
    if (o->json)
        print_json(program, &job, &text, r->out);
    else
        dse_strbuf_add(r->out, text.data, text.len);
    return command_save(o->output, r, err);
}

const command command_launch = {
    .name = "launch",
    .summary = "write what starts a strategy in Megatron-LM, Megatron-Bridge, TorchTitan or DeepSpeed",
    .details = "Prints the options or the file of a training program for a strategy of profile train, to "
               "paste: the strategy and the shape "
               "of the model with the program's names, and how it is started on so many machines. Nothing is "
               "invented: comments list "
               "what is to be filled in (data, learning rate), and where the program does otherwise than was "
               "simulated. A strategy that "
               "the program cannot run is refused. torchtitan is a Python function for its newest version, "
               "torchtitan-toml a file for "
               "v0.2.2; deepspeed goes with Megatron-DeepSpeed, deepspeed-json is DeepSpeed's configuration "
               "for a script of your own. "
               "'ccldse simulate' with the same options says how long the step takes.",
    .example = "ccldse launch --program megatron --model llama-3.1-70b --system hgx_h100 --nodes 16 --batch "
               "1024 --tp 8 --pp 2 --vp 5 "
               "--zero 1 --sequence-parallel on --overlap on --recompute-granularity selective",
    COMMAND_OPTIONS(options, launch_options),
    .run = run,
};
