#include "report/keyed.h"

#include "base/array.h"
#include "base/json_writer.h"
#include "design/space.h"
#include "report/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const report_keyed_figure figures[] = {
    {"wall_time", "wall_time"},       {"gpu_time", "gpu_time"},
    {"comm_time", "comm_time"},       {"per_comp_bound", "compute_bound"},
    {"comp_util", "compute_util"},    {"mem_util", "mem_util"},
    {"op_intensity", "op_intensity"}, {"peak_memory_usage", "peak_memory"},
};

const char *const report_keyed_degrees[REPORT_KEYED_DEGREES] = {"dp", "tp", "sp", "pp", "ar"};

const report_keyed_figure *report_keyed_figures(size_t *n)
{
    *n = DSE_COUNT(figures);
    return figures;
}

void report_keyed_values(const store_row *r, uint32_t out[REPORT_KEYED_DEGREES])
{
    const strategy *p = &r->strategy;
    const uint32_t values[] = {p->dp, p->tp, p->sp, p->pp, p->recompute};

    memcpy(out, values, sizeof values);
}

/* ---- selection ------------------------------------------------------------------ */

static bool same_pair(const report_study *a, const report_study *b)
{
    return !strcmp(a->row[0].model, b->row[0].model) && !strcmp(a->row[0].system, b->row[0].system);
}

static dse_status two_configurations(const report_study *pair, size_t n, dse_error *err)
{
    char known[300] = "";
    size_t used = 0;

    for (size_t i = 0; i < n && same_pair(pair, &pair[i]) && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%08" PRIx64 " (%s%s%.60s)",
                                 i ? ", " : "", pair[i].row[0].study >> 32, pair[i].row[0].engine,
                                 *pair[i].row[0].settings ? ", " : "", pair[i].row[0].settings);
    return dse_fail(
        err, DSE_E_CONFIG,
        "%.60s on %.60s has results of several configurations, and a keyed file has one place for "
        "each point; choose with --engine, --settings or --configuration: %s",
        pair->row[0].model, pair->row[0].system, known);
}

dse_status report_keyed_select(const store_row *rows, size_t n, dse_arena *a, report_keyed *out,
                               dse_error *err)
{
    store_row *kept = DSE_ARENA_NEW(a, store_row, n);
    size_t n_kept = 0;
    dse_status st = DSE_OK;

    *out = (report_keyed){0};
    for (size_t i = 0; i < n; i++) {
        if (!rows[i].done)
            out->n_failed++;
        else if (rows[i].strategy.weight_sharded)
            out->n_sharded++;
        else
            kept[n_kept++] = rows[i];
    }
    out->pair = report_split(kept, n_kept, a, &out->n);
    for (size_t i = 1; st == DSE_OK && i < out->n; i++)
        if (same_pair(&out->pair[i - 1], &out->pair[i]))
            st = two_configurations(&out->pair[i - 1], out->n - i + 1, err);
    return st;
}

/* ---- text ---------------------------------------------------------------------------------- */

static void point_json(const store_row *r, dse_json *j)
{
    const report_name name = report_point_name(r);
    uint32_t degree[REPORT_KEYED_DEGREES];
    report_tree t;
    report_node *point = report_object(report_tree_begin(&t), name.text);

    for (size_t i = 0; i < DSE_COUNT(figures); i++)
        report_add(point, report_figure(&r->metrics, store_column_find(figures[i].column)))->value.key =
            figures[i].name;
    report_keyed_values(r, degree);
    for (size_t i = 0; i < REPORT_KEYED_DEGREES; i++)
        report_put(point, V_COUNT(report_keyed_degrees[i], degree[i]));
    report_node_json(point, j);
    report_tree_free(&t);
}

static void points_json(const report_study *pair, dse_json *j)
{
    dse_json_begin_object(j);
    for (size_t i = 0; i < pair->n; i++) {
        dse_json_newline(j);
        point_json(&pair->row[i], j);
    }
    dse_strbuf_addc(j->out, '\n');
    dse_json_end_object(j);
}

void report_keyed_print(const report_study *pair, dse_strbuf *out)
{
    dse_json j;

    dse_json_init(&j, out);
    points_json(pair, &j);
    dse_strbuf_addc(out, '\n');
}

void report_keyed_print_all(const report_keyed *k, dse_strbuf *out)
{
    dse_json j;

    if (k->n == 1) {
        report_keyed_print(k->pair, out);
        return;
    }
    dse_json_open(&j, out);
    for (size_t i = 0; i < k->n; i++) {
        const store_row *r = k->pair[i].row;

        if (!i || strcmp(r->model, k->pair[i - 1].row->model))
            dse_json_key_object(&j, r->model);
        dse_json_key(&j, r->system);
        points_json(&k->pair[i], &j);
        if (i + 1 == k->n || strcmp(r->model, k->pair[i + 1].row->model))
            dse_json_end_object(&j);
    }
    dse_json_close(&j);
}
