/* A pipeline schedule by itself: its orders, its times and what it keeps alive, without a model. */
#include "base/fs.h"
#include "base/names.h"
#include "cli/command.h"
#include "cli/schedule.h"
#include "draw/schedule.h"

#include <string.h>

typedef struct {
    const char *schedule, *like, *costs, *output;
    int64_t pp, micro_batches, vp, group_size;
    bool overlap_moe, all, json, svg;
} schedule_options;

#define FIELD(f) .offset = offsetof(schedule_options, f)

static const char *const like_names[] = {"any", "pytorch", "megatron", NULL};

static const option options[] = {
    {"--schedule", OPT_STRING, "NAME", NULL,
     "gpipe, 1f1b, interleaved, looped_bfs, zero_bubble, zbv, dualpipe or dualpipev; or a file in PyTorch's "
     "CSV form, a line for each rank: 0F0,0F1,0B0,0B1",
     .complete = COMPLETE_SCHEDULE, FIELD(schedule)},
    {"--pp", OPT_INT, "N", "", "ranks of the pipeline; a file has its own", .min = 1, .max = SCHED_MAX_STAGES,
     FIELD(pp)},
    {"--micro-batches", OPT_INT, "N", "", "micro-batches of a step; a file has its own", .min = 1,
     .max = SCHED_MAX_ACTIONS, FIELD(micro_batches)},
    {"--vp", OPT_INT, "N", "",
     "chunks of each rank, which Megatron calls virtual stages (default: what the schedule has, or 1)",
     .min = 1, .max = SCHED_MAX_STAGES, FIELD(vp)},
    {"--group-size", OPT_INT, "N", "",
     "micro-batches that pass a chunk before the next chunk's turn, for interleaved and zero_bubble: "
     "Megatron's microbatch_group_size_per_vp_stage (default: Megatron's is --pp, PyTorch's a round's share)",
     .min = 1, .max = SCHED_MAX_ACTIONS, FIELD(group_size)},
    {"--overlap-moe-expert-parallel-comm", OPT_FLAG, NULL, "false",
     "one more forward before the first backward, as Megatron needs to overlap expert all-to-all with them; "
     "for interleaved",
     FIELD(overlap_moe)},
    {"--like", OPT_STRING, "NAME", "any",
     "whose conditions refuse: pytorch, megatron, or any for what can run at all", .choices = like_names,
     FIELD(like)},
    {"--costs", OPT_STRING, "SET", "U",
     "times of F, I, W and a transfer between ranks, B being I and W: F,I,W,C in whole numbers; U for "
     "1,1,1,0; N for 10,11,9,0; C for 10,11,9,3; or S for stages that differ (F 10+s%3, I 11+2(s%2), W 9+s%2 "
     "in stage s, and 2)",
     FIELD(costs)},
    {"--all", OPT_FLAG, NULL, "false", "list every action, however many", FIELD(all)},
    {"--json", OPT_FLAG, NULL, "false", "print JSON: actions, makespan, peaks, and each rank's busy time",
     FIELD(json)},
    {"--svg", OPT_FLAG, NULL, "false", "draw the actions over time as SVG", FIELD(svg)},
    {"--output", OPT_STRING, "FILE", "", "write to a file instead of standard output", FIELD(output)},
};

static dse_status check_options(const schedule_options *o, bool is_file, dse_error *err)
{
    if (o->json + o->svg + o->all > 1)
        return dse_fail(err, DSE_E_USAGE, "give one of --json, --svg and --all, not several");
    if (is_file && (o->group_size || o->overlap_moe || strcmp(o->like, "any") != 0))
        return dse_fail(
            err, DSE_E_USAGE,
            "a file has its order already; --group-size, --overlap-moe-expert-parallel-comm and --like are "
            "for schedules with a name");
    if (!is_file && (!o->pp || !o->micro_batches))
        return dse_fail(err, DSE_E_USAGE, "'%s' needs %s, for example --pp 4 --micro-batches 8", o->schedule,
                        o->pp              ? "--micro-batches"
                        : o->micro_batches ? "--pp"
                                           : "--pp and --micro-batches");
    return DSE_OK;
}

static dse_status read_file(const char *path, const sched_options *sizes, dse_arena *a, sched_plan *out,
                            dse_error *err)
{
    enum { MOST_BYTES = 1 << 29 };
    dse_strbuf text;
    dse_status st;

    dse_strbuf_init(&text);
    if ((st = dse_read_file(path, MOST_BYTES, &text, err)) == DSE_OK &&
        (st = sched_read_csv(text.data, text.len, path, a, out, err)) == DSE_OK)
        st = sched_check_sizes(out, sizes, path, err);
    dse_strbuf_free(&text);
    return st;
}

static sched_options sched_options_of(const schedule_options *o)
{
    return (sched_options){.pp = (uint32_t)o->pp,
                           .micro_batches = (uint32_t)o->micro_batches,
                           .vp = (uint32_t)o->vp,
                           .group_size = (uint32_t)o->group_size,
                           .overlap_moe = o->overlap_moe,
                           .like = (sched_like)option_place(like_names, o->like)};
}

/* What a name that is no schedule's may be: a file, or a typing error. */
static bool looks_like_file(const char *name) { return dse_is_file(name) || strpbrk(name, "./"); }

static dse_status make_plan(const schedule_options *o, dse_arena *a, schedule_shown *s, dse_error *err)
{
    const sched_def *d = sched_find(o->schedule);
    sched_options rule = sched_options_of(o);
    dse_status st;
    size_t n = 0;

    if (!d && !looks_like_file(o->schedule)) {
        while (sched_names[n])
            n++;
        return dse_fail_unknown(err, DSE_E_CONFIG, "", "schedule", o->schedule, sched_names, n);
    }
    if ((st = check_options(o, !d, err)) != DSE_OK)
        return st;
    s->name = d ? sched_name(d) : o->schedule;
    s->summary = d ? sched_summary(d) : "the order that the file has";
    return d ? sched_make(d, &rule, a, &s->plan, err) : read_file(o->schedule, &rule, a, &s->plan, err);
}

static dse_status compose(const schedule_options *o, dse_arena *a, schedule_shown *s, dse_error *err)
{
    const sched_plan *p = &s->plan;
    sched_order order;
    sched_costs costs;
    dse_status st;

    if ((st = sched_costs_parse(o->costs, p, a, &costs, err)) != DSE_OK ||
        (st = sched_order_make(p, a, &order, err)) != DSE_OK) {
        if (st == DSE_E_SIM)
            dse_error_set_where(err, o->schedule);
        return st;
    }
    s->costs = o->costs;
    sched_times_init(&s->times, p, a);
    sched_compose(&order, &costs, &s->times);
    s->peak_i = DSE_ARENA_NEW(a, uint32_t, p->n_ranks);
    s->peak_w = DSE_ARENA_NEW(a, uint32_t, p->n_ranks);
    sched_peak_live(p, s->peak_i, s->peak_w);
    return DSE_OK;
}

static dse_status draw(const schedule_shown *s, command_run *r, dse_error *err)
{
    dse_strbuf title = dse_strbuf_in(r->arena);

    schedule_title(s, &title);
    return draw_schedule_svg(&s->plan, &s->times, title.data, r->out, err);
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const schedule_options *o = opts;
    schedule_shown s = {0};
    dse_status st;

    if ((st = make_plan(o, r->arena, &s, err)) != DSE_OK || (st = compose(o, r->arena, &s, err)) != DSE_OK)
        return st;
    if (o->svg && (st = draw(&s, r, err)) != DSE_OK)
        return st;
    if (o->json)
        schedule_show_json(&s, r->out);
    else if (!o->svg)
        schedule_show_text(&s, o->all, r->out);
    return command_save(o->output, r, err);
}

const command command_schedule = {
    .name = "schedule",
    .summary = "print or draw a pipeline schedule: orders, makespan, bubble, what stays in memory",
    .details = "An action is a stage, F (forward), B (backward), or its halves I (gradient of the input) and "
               "W (of the weights), "
               "and a micro-batch: 3F0. Ranks run their actions in order; one starts when its tensor is "
               "there. (x;y)OVERLAP_F_B "
               "is a pair that runs as one. Peak live is how many micro-batches a rank keeps activations of, "
               "over its chunks. "
               "In dualpipe a and b are the directions, each with its own stages and micro-batches.",
    .example = "ccldse schedule --schedule interleaved --pp 4 --micro-batches 8 --vp 2 --costs 10,11,9,3",
    COMMAND_OPTIONS(options, schedule_options),
    .run = run,
};
