#include "driver/simulated.h"

#include "base/array.h"
#include "driver/timeline.h"
#include "trace/simulated.h"

#include <string.h>

/* The record of a point; the run's own memory is in the arena `a`. */
static dse_status record_of(const drv_study *s, const strategy *p, dse_arena *a, trace_record *out,
                            store_metrics *summary, dse_error *err)
{
    wl_workload w;
    sim_result result;
    trace_ticks ticks;
    drv_timeline d;
    dse_status st;

    if ((st = drv_point_generate(s, p, a, &w, err)) != DSE_OK ||
        (st = drv_point_simulate(s, &w, a, &result, &ticks, err)) != DSE_OK)
        return st;
    d = drv_timeline_describe(&w, &result, a);
    if (summary)
        drv_metrics_of(&w, &result, summary);
    return trace_simulated_read(&ticks, &d.groups, &d.sizes, out, err);
}

/* Copies the texts of a summary that belong to the workload and the network, which are freed with the run. */
static void keep_texts(store_metrics *m, dse_arena *a)
{
    const char **texts[] = {&m->peak_node, &m->busiest_link};

    for (size_t i = 0; i < DSE_COUNT(texts); i++)
        if (*texts[i])
            *texts[i] = dse_arena_strdup(a, *texts[i]);
}

/* A point's placement in the words of a workload card. */
static const char *order_of_ranks(const strategy *point, dse_arena *a)
{
    static const struct {
        const char *ours, *card;
    } words[] = {{"dp", "dp_shard,dp_replicate"}, {"tp", "tp"}, {"sp", "cp"}, {"pp", "pp"}};
    char order[STRATEGY_VALUE_MAX];
    const char *text = "";

    strategy_print(&strategy_parameters[STRATEGY_placement], point->placement, order);
    for (const char *p = order; *p; p += strcspn(p, "-"), p += *p == '-')
        for (size_t i = 0; i < DSE_COUNT(words); i++)
            if (strcspn(p, "-") == strlen(words[i].ours) && !strncmp(p, words[i].ours, strlen(words[i].ours)))
                text = dse_arena_printf(a, "%s%s%s", text, *text ? "," : "", words[i].card);
    return text;
}

dse_status drv_simulated_run(const drv_study *s, const strategy *p, const trace_card *card,
                             drv_recording *out, store_metrics *summary, dse_error *err)
{
    dse_arena run; /* nodes and ticks, several times the size of the record */
    dse_status st;

    *out = (drv_recording){0};
    dse_arena_init(&out->arena);
    dse_arena_init(&run);
    st = record_of(s, p, &run, &out->record, summary, err);
    if (st == DSE_OK && summary)
        keep_texts(summary, &out->arena);
    dse_arena_free(&run);
    if (st != DSE_OK)
        return st;
    if (card) {
        out->card = *card;
        out->card.rank_order = order_of_ranks(p, &out->arena);
        out->has_card = true;
    }
    return drv_recording_make_views(out, 0, err);
}
