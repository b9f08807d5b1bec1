#include "report/parts.h"

#include "base/array.h"

#include <inttypes.h>
#include <string.h>

#define AT(f) .column = #f, .offset = offsetof(store_metrics, f)

const report_part report_step_parts[REPORT_N_STEP_PARTS] = {
    {AT(step_compute_bound), .label = "compute-bound", .words = "compute-bound compute",
     .train_label = "compute", .train_words = "compute"},
    {AT(step_memory_bound), .label = "memory-bound", .words = "memory-bound compute"},
    {AT(step_compute_other), .label = "other compute", .words = "compute without a roofline and fixed costs"},
#define STRATEGY_PARAMETER(name, ...)
#define STRATEGY_AXIS(name, ...)                                                                             \
    {.column = "step_comm_" #name,                                                                           \
     .offset = offsetof(store_metrics, step_comm[STRATEGY_AXIS_##name]),                                     \
     .label = "exposed " #name,                                                                              \
     .words = "communication along " #name},
#include "strategy/parameters.h"
    {AT(step_comm_mixed), .label = "exposed, mixed", .words = "communication along several dimensions",
     .train_label = "exposed ep", .train_words = "communication of experts"},
    {AT(step_idle), .label = "idle", .words = "idle time", .train_label = "bubble",
     .train_words = "pipeline bubble"},
};

const report_part report_peak_parts[REPORT_N_PEAK_PARTS] = {
    {AT(peak_weights), .label = "weights", .words = "weights"},
    {AT(peak_weight_gradients), .label = "weight gradients", .words = "gradients of weights"},
    {AT(peak_updated_weights), .label = "updated weights", .words = "updated weights"},
    {AT(peak_activations), .label = "activations", .words = "activations"},
    {AT(peak_recomputed), .label = "recomputed", .words = "recomputed activations"},
    {AT(peak_activation_gradients), .label = "act. gradients", .words = "gradients of activations"},
    {AT(peak_inputs), .label = "inputs", .words = "inputs"},
    {AT(peak_optimizer), .label = "optimizer", .words = "optimizer state"},
    {AT(peak_gathered), .label = "gathered", .words = "gathered weights and unreduced gradients"},
};

static const struct {
    const char *pass, *words;
} passes[] = {{"forward", "forward pass"},
              {"recomputation", "recomputation"},
              {"backward", "backward pass"},
              {"update", "update of the weights"}};

void report_peak_pass(const store_metrics *m, dse_strbuf *out)
{
    for (size_t i = 0; m->peak_pass && i < DSE_COUNT(passes); i++) {
        if (strcmp(m->peak_pass, passes[i].pass))
            continue;
        dse_strbuf_addf(out, " in the %s", passes[i].words);
        if (m->peak_layer != STORE_ABSENT)
            dse_strbuf_addf(out, " of layer %" PRIu64, m->peak_layer);
    }
}

/* Only steps of profile train count tokens. */
static bool trains(const store_metrics *m) { return m->tokens_per_s > 0; }

const char *report_part_label(const report_part *p, const store_metrics *m)
{
    return trains(m) && p->train_label ? p->train_label : p->label;
}

const char *report_part_words(const report_part *p, const store_metrics *m)
{
    return trains(m) && p->train_words ? p->train_words : p->words;
}

static void print_parts(const store_metrics *m, const report_part *parts, size_t n, uint64_t whole,
                        report_text (*text)(uint64_t v), dse_strbuf *out)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t v = report_part_of(m, &parts[i]);

        if (v)
            dse_strbuf_addf(out, "    %-20s %10s  %5.1f%%\n", report_part_label(&parts[i], m), text(v).text,
                            (double)v / (double)whole * 100);
    }
}

void report_parts_print(const store_metrics *m, dse_strbuf *out)
{
    if (store_has_step(m) && m->wall_time) {
        dse_strbuf_adds(out, "  where the step of the slowest rank goes\n");
        print_parts(m, report_step_parts, REPORT_N_STEP_PARTS, m->wall_time, report_time, out);
    }
    if (report_has_peak(m) && m->peak_memory) {
        dse_strbuf_addf(out, "  what the peak holds, at %s", report_time(m->peak_time).text);
        report_peak_pass(m, out);
        dse_strbuf_addc(out, '\n');
        if (m->peak_node)
            dse_strbuf_addf(out, "    (%s%s)\n", trains(m) ? "" : "node ", m->peak_node);
        print_parts(m, report_peak_parts, REPORT_N_PEAK_PARTS, m->peak_memory, report_bytes, out);
    }
}

static void put_parts(const store_metrics *m, const report_part *parts, size_t n, report_node *to)
{
    for (size_t i = 0; i < n; i++)
        report_put_known(to, m, store_column_find(parts[i].column));
}

void report_put_parts(const store_metrics *m, report_node *to)
{
    static const char *const peak[] = {"peak_time", "peak_layer", "peak_pass", "peak_node"};

    if (store_has_step(m))
        put_parts(m, report_step_parts, REPORT_N_STEP_PARTS, to);
    if (!report_has_peak(m))
        return;
    put_parts(m, report_peak_parts, REPORT_N_PEAK_PARTS, to);
    for (size_t i = 0; i < DSE_COUNT(peak); i++)
        report_put_known(to, m, store_column_find(peak[i]));
}
