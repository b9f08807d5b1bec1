#include "cli/training.h"

#include "cards/device.h"
#include "cli/simulated.h"
#include "driver/links.h"
#include "driver/mfu.h"
#include "report/band.h"
#include "report/parts.h"
#include "report/tree.h"
#include "step/buckets.h"
#include "step/list.h"

#include <inttypes.h>
#include <math.h>

/* The place of a rank in its pipeline: stages lie outermost. */
static dse_status pipeline_rank(const training_shown *s, uint32_t rank, uint32_t *out, dse_error *err)
{
    const uint64_t ranks = strategy_ranks(s->point);

    *out = (uint32_t)(rank / (ranks / s->point->pp));
    return rank < ranks ? DSE_OK
                        : dse_fail(err, DSE_E_USAGE, "--rank %" PRIu32 ": there are ranks 0 to %" PRIu64,
                                   rank, ranks - 1);
}

static dse_status list_collectives(const training_shown *s, uint32_t rank, step_list *out, dse_error *err)
{
    const step_options o = drv_training_options(s->study, s->point);
    step_list_of of = {.step = 1}; /* buckets are in place */
    dse_status st = pipeline_rank(s, rank, &of.rank, err);

    if (st == DSE_OK)
        step_list_make(&s->study->training->model, &o, &s->result.plan, &of, out);
    return st;
}

/* ---- lists, for programs and for people ---------------------------------------------------- */

static void put_collectives(const step_list *l, report_node *list)
{
    dse_strbuf phase = dse_strbuf_in(list->arena);

    for (size_t i = 0; i < l->n; i++) {
        const step_entry *e = &l->entry[i];

        dse_strbuf_clear(&phase);
        step_phase_name(e, &phase);
        report_row(list, V_AS("phase", V_TEXT("phase", phase.data)),
                   V_AS("operation", V_TEXT("op", step_call_name(&e->call))),
                   V_AS("bytes in", V_COUNT("in_bytes", e->call.in_bytes)),
                   V_AS("bytes out", V_COUNT("out_bytes", e->call.out_bytes)),
                   V_AS("element", V_TEXT("dtype", step_element_name(&e->call))),
                   V_AS("group", V_COUNT("group", e->group_size)), V_AS("times", V_COUNT("times", e->times)));
    }
}

/* What a rank does until the last pass of any rank has ended is a pass, with the communication in it, or
 * the bubble: waiting for a tensor, or for the others to end. */
static dse_time bubble_of(const step_result *r, uint32_t rank) { return r->pipeline - r->times.busy[rank]; }

/* Layers of the stage `number` of pp x vp, in the order of the forward pass. */
static uint32_t layers_of(const training_shown *s, uint32_t number)
{
    return step_stage_of(&s->study->training->model, number, s->point->pp * s->point->vp).n_layers;
}

/* "7, 14 x 8, 7 layers"; nothing of equal ones. */
static void stages_text(const training_shown *s, dse_strbuf *out)
{
    const uint32_t n = s->point->pp * s->point->vp;

    if (s->study->training->model.n_layers % n == 0 && !s->study->training->model.n_laid_out)
        return;
    dse_strbuf_addf(out, "  %-22s ", "stages");
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && layers_of(s, end) == layers_of(s, i);)
            end++;
        dse_strbuf_addf(out, end - i > 1 ? "%s%" PRIu32 " x %" PRIu32 : "%s%" PRIu32, i ? ", " : "",
                        end - i > 1 ? end - i : layers_of(s, i), layers_of(s, i));
    }
    dse_strbuf_adds(out, " layers\n");
}

/* Layers of the stages, in the order of the forward pass. */
static void put_layers(const training_shown *s, report_node *list)
{
    for (uint32_t i = 0; i < s->point->pp * s->point->vp; i++)
        report_row(list, V_COUNT("stage", i), V_COUNT("layers", layers_of(s, i)));
}

/* Whether the point's step is another one if tokens are spread evenly. */
static bool is_uneven(const training_shown *s) { return drv_training_imbalance(s->study, s->point) > 1; }

static dse_time lost(const training_shown *s)
{
    return s->result.step > s->even.step ? s->result.step - s->even.step : 0;
}

static uint64_t peak_of(const step_result *r) { return r->memory[r->largest].peak; }

static uint64_t more_memory(const training_shown *s)
{
    return peak_of(&s->result) > peak_of(&s->even) ? peak_of(&s->result) - peak_of(&s->even) : 0;
}

/* Of a model with experts: where they are, and what an uneven router costs. */
static void experts_text(const training_shown *s, dse_strbuf *out)
{
    const step_options o = drv_training_options(s->study, s->point);
    const int64_t n = s->study->model.experts;

    if (!n)
        return;
    dse_strbuf_addf(out, "  %-22s %" PRId64 ", of which a token takes %" PRId64 "; %" PRId64 " on a rank\n",
                    "experts", n, s->study->model.experts_per_token, n / step_ep(&o));
    if (is_uneven(s))
        dse_strbuf_addf(out,
                        "  %-22s most on a rank %.2f x mean: %.1f %% of the step, %s of the peak memory\n",
                        "imbalance", drv_training_imbalance(s->study, s->point),
                        (double)lost(s) / (double)s->result.step * 100, report_bytes(more_memory(s)).text);
}

static void put_experts(const training_shown *s, report_node *to)
{
    const step_options o = drv_training_options(s->study, s->point);

    report_put(to, V_COUNT("of_a_rank", (uint64_t)s->study->model.experts / step_ep(&o)),
               V_REAL("imbalance", drv_training_imbalance(s->study, s->point)));
    report_put(to, V_COUNT("imbalance_ns", is_uneven(s) ? lost(s) : 0),
               V_COUNT("imbalance_bytes", is_uneven(s) ? more_memory(s) : 0));
}

static void put_stages(const step_result *r, report_node *list)
{
    for (uint32_t rank = 0; rank < r->plan.n_ranks; rank++)
        report_row(list, V_COUNT("pipeline_rank", rank), V_COUNT("passes_ns", r->times.busy[rank]),
                   V_COUNT("bubble_ns", bubble_of(r, rank)),
                   V_COUNT("last_pass_ends_ns", r->times.last[rank]),
                   V_COUNT("peak_bytes", r->memory[rank].peak));
}

/* "5.1 .. 5.9 % of the step over the stages" */
static void bubble_text(const step_result *r, dse_strbuf *out)
{
    dse_time least = UINT64_MAX, most = 0;

    for (uint32_t rank = 0; rank < r->plan.n_ranks; rank++) {
        dse_time t = bubble_of(r, rank);

        least = t < least ? t : least;
        most = t > most ? t : most;
    }
    if (r->plan.n_ranks > 1)
        dse_strbuf_addf(out, "  %-22s %.1f .. %.1f %% of the step over the pipeline ranks\n", "bubble",
                        (double)least / (double)r->step * 100, (double)most / (double)r->step * 100);
}

/* Whether any rank holds such at its peak. */
static bool is_held(const step_result *r, int kind)
{
    bool held = false;

    for (uint32_t rank = 0; rank < r->plan.n_ranks; rank++)
        held |= r->memory[rank].held[kind] != 0;
    return held;
}

/* A row for each pipeline rank, a column for each kind that one holds. */
static void put_memory(const step_result *r, report_node *list)
{
    for (uint32_t rank = 0; rank < r->plan.n_ranks; rank++) {
        const step_rank_memory *m = &r->memory[rank];
        report_node *row = report_row(list, V_AS("stage", V_COUNT("pipeline_rank", rank)),
                                      V_AS("peak", V_BYTES("peak_bytes", m->peak)));

        for (int k = 0; k < STEP_N_HOLDS; k++)
            if (is_held(r, k))
                report_put(row, V_AS(step_holds_defs[k].name, V_BYTES(step_holds_defs[k].name, m->held[k])));
    }
}

/* Whether it is the plain engine that has simulated the step whole. */
static bool is_plain(const drv_unrolled *u) { return u->result.fallback != SIM_FALLBACK_NONE; }

static void put_unrolled(const drv_unrolled *u, bool is_measured, report_node *to)
{
    report_put(to, V_GIVEN(is_measured, V_TEXT("network", "links")));
    report_put(to, V_BOOL("plain_engine", is_plain(u)), V_BOOL("even_groups", u->is_even),
               V_COUNT("simulated", u->wall), V_COUNT("added_up", u->composed),
               V_COUNT("nodes", u->result.n_nodes), V_COUNT("messages", u->result.n_messages));
}

static void print_json(const training_shown *s, const training_lists *lists, const step_list *list,
                       command_run *run)
{
    report_tree t;
    report_node *root = report_tree_begin(&t);
    size_t n;
    const store_column *c = store_columns(&n);
    dse_strbuf config = dse_strbuf_in(run->arena);

    drv_study_write_config(s->study, s->point, &config);
    report_put(root, V_RAW("config", config.data), V_TEXT("profile", "train"),
               V_COUNT("tokens", s->result.tokens));
    for (size_t i = 0; i < n; i++)
        report_put_known(root, &s->metrics, &c[i]);
    report_put_band(&s->band, (double)s->metrics.wall_time * 1e-9, root);
    if (s->study->model.experts)
        put_experts(s, report_object(root, "experts"));
    put_stages(&s->result, report_lines(root, "pipeline"));
    put_layers(s, report_lines(root, "stages"));
    if (lists->memory)
        put_memory(&s->result, report_lines(root, "memory"));
    if (lists->collectives)
        put_collectives(list, report_lines(root, "collectives"));
    if (s->unrolled)
        put_unrolled(s->unrolled, s->study->training->net.is_measured, report_object(root, "unrolled"));
    if (s->unrolled && lists->links)
        drv_links_put(s->unrolled->result.load, run->arena, report_object(root, "links"));
    report_tree_end(&t, run->out);
}

/* ---- text ---------------------------------------------------------------------------------- */

static void memory_text(const step_result *r, dse_strbuf *out)
{
    report_tree t;

    dse_strbuf_adds(out, "\nwhat each pipeline stage holds at its peak\n");
    put_memory(r, report_tree_begin(&t));
    report_table_end(&t, out);
    for (int k = 0; k < STEP_N_HOLDS; k++)
        if (is_held(r, k))
            dse_strbuf_addf(out, "%s: %s\n", step_holds_defs[k].name, step_holds_defs[k].text);
}

static void collectives_text(const step_list *l, uint32_t rank, dse_strbuf *out)
{
    report_tree t;

    dse_strbuf_addf(out, "\ncollectives of rank %" PRIu32 "\n", rank);
    put_collectives(l, report_tree_begin(&t));
    report_table_end(&t, out);
}

static void band_text(const training_shown *s, dse_strbuf *out)
{
    dse_strbuf text;

    dse_strbuf_init(&text);
    if (s->band.level == CMP_BAND_NONE)
        dse_strbuf_addf(&text, "not known: %s", s->why_no_band);
    else
        report_band_say(&s->band, s->study->system.device, (double)s->metrics.wall_time * 1e-9, &text);
    dse_strbuf_addf(out, "  %-22s ", "error band");
    dse_strbuf_add_wrapped(out, text.data, 25, command_help_width());
    dse_strbuf_addc(out, '\n');
    dse_strbuf_free(&text);
}

static void summary(const training_shown *s, dse_strbuf *out)
{
    const drv_study *t = s->study;
    const store_metrics *m = &s->metrics;
    const step_options o = drv_training_options(t, s->point);
    const drv_mfu *f = drv_mfu_of(&t->model, t->model_name);
    const double capacity = t->system.hbm_bytes;

    simulated_heading(t, s->point, out);
    simulated_time("step time", m->wall_time, "", out);
    band_text(s, out);
    dse_strbuf_addf(out, "  %-22s %" PRIu32 " on each data parallel rank, each of %" PRIu32 " sequence%s\n",
                    "micro-batches", o.n_micro_batches, o.micro_batch, o.micro_batch == 1 ? "" : "s");
    dse_strbuf_addf(out, "  %-22s %.0f/s, %.1f/s on each NPU\n", "tokens", m->tokens_per_s,
                    m->tokens_per_s_npu);
    dse_strbuf_addf(out, "  %-22s MFU %.1f %%%s%s%s, HFU %.1f %%\n", "utilisation", m->mfu, f ? " as " : "",
                    f ? drv_mfu_say(f) : "", f ? " counts" : "", m->hfu);
    simulated_costs(m, out);
    experts_text(s, out);
    stages_text(s, out);
    bubble_text(&s->result, out);
    dse_strbuf_addf(out, "  %-22s %s  (%" PRIu64 " bytes)", "peak memory", report_bytes(m->peak_memory).text,
                    m->peak_memory);
    if (!isnan(capacity))
        dse_strbuf_addf(out, ", %s the %s of an NPU",
                        store_fits(m->peak_memory, capacity) ? "within" : "more than",
                        report_size(capacity).text);
    dse_strbuf_addc(out, '\n');
    report_parts_print(m, out);
}

static void unrolled_text(const drv_unrolled *u, bool is_measured, dse_strbuf *out)
{
    const char *result = u->wall == u->composed ? ", equal"
                         : u->is_even           ? ""
                                                : "; groups of a kind differ, and the slowest counts";

    dse_strbuf_adds(out, "The step unrolled, with one unit of a rank for all communication\n");
    if (is_measured)
        dse_strbuf_adds(out, "(messages over the links as they are, added up likewise: without what "
                             "collectives were measured to "
                             "reach)\n");
    dse_strbuf_addf(out, "  %-22s %s: %" PRIu32 " ranks, %" PRIu64 " nodes, %" PRIu64 " messages\n", "engine",
                    is_plain(u) ? "plain, message by message" : "fast", u->result.n_ranks, u->result.n_nodes,
                    u->result.n_messages);
    simulated_time("simulated", u->wall, "", out);
    simulated_time("added up", u->composed, result, out);
}

static void print_text(const training_shown *s, const training_lists *lists, const step_list *list,
                       command_run *run)
{
    summary(s, run->out);
    if (lists->memory)
        memory_text(&s->result, run->out);
    if (lists->collectives)
        collectives_text(list, lists->rank, run->out);
    dse_strbuf_adds(run->out, "Profile train: ");
    card_system_say_laws(&s->study->system, run->out);
    dse_strbuf_adds(run->out, ".\n");
    if (s->unrolled)
        unrolled_text(s->unrolled, s->study->training->net.is_measured, run->out);
    if (s->unrolled && lists->links)
        drv_links_print(s->unrolled->result.load, run->arena, run->out);
}

dse_status training_print(training_shown *s, const training_lists *lists, bool json, command_run *run,
                          dse_error *err)
{
    step_list list = {0};
    cmp_bands bands;
    dse_status st = drv_bands_load(run->arena, &bands, err);

    if (st != DSE_OK || (lists->collectives && (st = list_collectives(s, lists->rank, &list, err)) != DSE_OK))
        return st;
    if (is_uneven(s) && (st = drv_training_even(s->study, s->point, run->arena, &s->even, err)) != DSE_OK)
        return st;
    s->band = drv_band_of(&bands, s->study, s->point, false, run->arena, &s->why_no_band);
    (json ? print_json : print_text)(s, lists, &list, run);
    step_list_free(&list);
    return DSE_OK;
}
