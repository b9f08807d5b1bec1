#include "cli/training.h"

#include "base/json_writer.h"
#include "base/units.h"
#include "cli/unrolled.h"
#include "report/parts.h"
#include "report/value.h"
#include "step/list.h"

#include <inttypes.h>

/* The place of a rank in its pipeline: stages lie outermost. */
static dse_status pipeline_rank(const training_shown *s, uint32_t rank, uint32_t *out, dse_error *err)
{
    const uint64_t ranks = strategy_ranks(s->point);

    *out = (uint32_t)(rank / (ranks / s->point->pp));
    return rank < ranks ? DSE_OK
                        : dse_fail(err, DSE_E_USAGE, "--rank %" PRIu32 ": there are ranks 0 to %" PRIu64, rank, ranks - 1);
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

static const char *phase_of(const step_entry *e, dse_strbuf *text)
{
    dse_strbuf_clear(text);
    step_phase_name(e, text);
    return text->data;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void collectives_json(const step_list *l, dse_json *j)
{
    dse_strbuf phase;

    dse_strbuf_init(&phase);
    dse_json_key(j, "collectives");
    dse_json_begin_array(j);
    for (size_t i = 0; i < l->n; i++) {
        const step_entry *e = &l->entry[i];

        dse_json_begin_object(j);
        dse_json_key_string(j, "phase", phase_of(e, &phase));
        dse_json_key_string(j, "op", step_call_name(&e->call));
        dse_json_key_uint(j, "in_bytes", e->call.in_bytes);
        dse_json_key_uint(j, "out_bytes", e->call.out_bytes);
        dse_json_key_string(j, "dtype", step_element_name(&e->call));
        dse_json_key_uint(j, "group", e->group_size);
        dse_json_key_uint(j, "times", e->times);
        dse_json_end_object(j);
    }
    dse_json_end_array(j);
    dse_strbuf_free(&phase);
}

static void memory_json(const step_result *r, dse_json *j)
{
    dse_json_key(j, "memory");
    dse_json_begin_array(j);
    for (uint32_t rank = 0; rank < r->plan.n_ranks; rank++) {
        const step_rank_memory *m = &r->memory[rank];

        dse_json_begin_object(j);
        dse_json_key_uint(j, "pipeline_rank", rank);
        dse_json_key_uint(j, "peak_bytes", m->peak);
        for (int k = 0; k < STEP_N_HOLDS; k++)
            if (m->held[k])
                dse_json_key_uint(j, step_holds_defs[k].name, m->held[k]);
        dse_json_end_object(j);
    }
    dse_json_end_array(j);
}

dse_status training_json(const training_shown *s, const training_lists *lists, command_run *run, dse_error *err)
{
    const store_column *c;
    step_list list = {0};
    dse_status st = lists->collectives ? list_collectives(s, lists->rank, &list, err) : DSE_OK;
    dse_json j;
    size_t n;

    if (st != DSE_OK)
        return st;
    c = store_columns(&n);
    dse_json_open(&j, run->out);
    dse_json_key(&j, "config");
    dse_json_raw(&j);
    drv_study_write_config(s->study, s->point, run->out);
    dse_json_key_string(&j, "profile", "train");
    dse_json_key_uint(&j, "tokens", s->result.tokens);
    for (size_t i = 0; i < n; i++) {
        if (!store_has(&s->metrics, &c[i]))
            continue;
        dse_json_key(&j, c[i].name);
        report_value_json(&s->metrics, &c[i], &j);
    }
    if (lists->memory)
        memory_json(&s->result, &j);
    if (lists->collectives)
        collectives_json(&list, &j);
    if (s->unrolled)
        unrolled_json(s->unrolled, &j);
    dse_json_close(&j);
    step_list_free(&list);
    return DSE_OK;
}

/* ---- text ---------------------------------------------------------------------------------- */

static void memory_text(const step_result *r, dse_strbuf *out)
{
    char text[32];

    dse_strbuf_adds(out, "what the peak of each pipeline rank holds\n");
    for (uint32_t rank = 0; rank < r->plan.n_ranks; rank++) {
        const step_rank_memory *m = &r->memory[rank];

        dse_format_bytes(text, sizeof text, (double)m->peak);
        dse_strbuf_addf(out, "  rank %-4" PRIu32 " %10s  (%" PRIu64 " bytes)\n", rank, text, m->peak);
        for (int k = 0; k < STEP_N_HOLDS; k++) {
            if (!m->held[k])
                continue;
            dse_format_bytes(text, sizeof text, (double)m->held[k]);
            dse_strbuf_addf(out, "    %-22s %10s  %s\n", step_holds_defs[k].name, text, step_holds_defs[k].text);
        }
    }
}

static void collectives_text(const step_list *l, uint32_t rank, dse_strbuf *out)
{
    dse_strbuf phase;

    dse_strbuf_init(&phase);
    dse_strbuf_addf(out, "collectives of rank %" PRIu32 "\n  %-10s %-14s %14s %14s  %-9s %6s %7s\n", rank, "phase",
                    "operation", "bytes in", "bytes out", "element", "group", "times");
    for (size_t i = 0; i < l->n; i++) {
        const step_entry *e = &l->entry[i];

        dse_strbuf_addf(out, "  %-10s %-14s %14" PRIu64 " %14" PRIu64 "  %-9s %6" PRIu32 " %7" PRIu64 "\n",
                        phase_of(e, &phase), step_call_name(&e->call), e->call.in_bytes, e->call.out_bytes,
                        step_element_name(&e->call), e->group_size, e->times);
    }
    dse_strbuf_free(&phase);
}

static void summary(const training_shown *s, dse_strbuf *out)
{
    const drv_study *t = s->study;
    const store_metrics *m = &s->metrics;
    const step_options o = drv_training_options(t, s->point);
    const double capacity = t->system.hbm_bytes;
    char text[32], limit[32];

    dse_format_seconds(text, sizeof text, (double)m->wall_time * 1e-9);
    dse_strbuf_addf(out, "%s on %s%s%s: ", t->model_name, t->system_name, *t->settings ? " with " : "", t->settings);
    strategy_say(s->point, " ", out);
    dse_strbuf_addf(out, "\n  %-22s %s  (%" PRIu64 " ns)\n", "step time", text, m->wall_time);
    dse_strbuf_addf(out, "  %-22s %" PRIu32 " on each data parallel rank, each of %" PRIu32 " sequence%s\n",
                    "micro-batches", o.n_micro_batches, o.micro_batch, o.micro_batch == 1 ? "" : "s");
    dse_strbuf_addf(out, "  %-22s %.0f/s, %.1f/s on each NPU\n", "tokens", m->tokens_per_s, m->tokens_per_s_npu);
    dse_strbuf_addf(out, "  %-22s MFU %.1f %%, HFU %.1f %%\n", "utilisation", m->mfu, m->hfu);
    dse_format_bytes(text, sizeof text, (double)m->peak_memory);
    dse_strbuf_addf(out, "  %-22s %s  (%" PRIu64 " bytes)", "peak memory", text, m->peak_memory);
    if (!isnan(capacity)) {
        dse_format_bytes(limit, sizeof limit, capacity);
        dse_strbuf_addf(out, ", %s the %s of an NPU", store_fits(m->peak_memory, capacity) ? "within" : "more than", limit);
    }
    dse_strbuf_addc(out, '\n');
    report_parts_print(m, out);
}

dse_status training_text(const training_shown *s, const training_lists *lists, command_run *run, dse_error *err)
{
    step_list list = {0};
    dse_status st = lists->collectives ? list_collectives(s, lists->rank, &list, err) : DSE_OK;

    if (st != DSE_OK)
        return st;
    summary(s, run->out);
    if (lists->memory)
        memory_text(&s->result, run->out);
    if (lists->collectives)
        collectives_text(&list, lists->rank, run->out);
    dse_strbuf_adds(run->out, "Profile train. Kernels last as long as the roofline of the data sheet says; real ones take "
                              "longer.\n");
    if (s->unrolled)
        unrolled_text(s->unrolled, run->out);
    step_list_free(&list);
    return DSE_OK;
}
