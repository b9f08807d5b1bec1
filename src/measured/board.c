#include "measured/board.h"

#include "base/fs.h"
#include "cards/locate.h"
#include "driver/study.h"
#include "measured/job.h"
#include "measured/runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *path;
    const drv_import_as *as;
    dse_arena *arena;
    drv_import *io;
    msr_runs left; /* of which the left ones alone are used */
} importing;

/* ---- one row ------------------------------------------------------------------------------- */

/* Why a row is no measured training step; NULL: it is one. */
static const char *lack_of(const importing *m, const msr_job *j)
{
    return j->refused                               ? "a row that cannot be read"
           : msr_job_unmeasured(j, false, m->arena) ? MSR_UNMEASURED
           : j->phase == TRACE_PHASE_INFERENCE      ? "inference"
           : isnan(j->step_time_s)                  ? "no step time"
           : !j->family && !m->as->model            ? "no model"
           : !(j->dp >= 1 && j->tp >= 1 && j->pp >= 1 && j->dp < UINT32_MAX && j->tp < UINT32_MAX &&
               j->pp < UINT32_MAX && j->cp >= 1 && j->cp < UINT32_MAX)
               ? "no degrees"
               : NULL;
}

/* What a measured step is of beside its model, devices and degrees, as settings of a study are written. */
static const char *settings_of(const msr_job *j, dse_arena *a)
{
    dse_strbuf text = dse_strbuf_in(a);

    if (MSR_GIVEN(j->batch))
        dse_strbuf_addf(&text, "batch=%" PRId64 " ", j->batch);
    if (MSR_GIVEN(j->sequence))
        dse_strbuf_addf(&text, "sequence=%" PRId64 " ", j->sequence);
    if (j->precision)
        dse_strbuf_addf(&text, "precision=%.40s ", j->precision);
    if (j->framework)
        dse_strbuf_addf(&text, "framework=%.40s ", j->framework);
    return dse_arena_strndup(a, text.data, text.len ? text.len - 1 : 0);
}

/* point NULL: of the study. */
static const char *config_of(const importing *m, const store_row *row, const strategy *point,
                             const cfg_node *board)
{
    dse_strbuf text = dse_strbuf_in(m->arena);
    dse_json j;

    dse_json_init(&j, &text);
    dse_json_begin_object(&j);
    dse_json_key_string(&j, "engine", row->engine);
    dse_json_key_string(&j, "model_name", row->model);
    dse_json_key_string(&j, "system_name", row->system);
    dse_json_key_string(&j, "settings", row->settings);
    if (point) {
        dse_json_key(&j, "point");
        drv_point_write_json(point, &j);
        dse_json_key(&j, "board");
        cfg_write_json(board, &j);
    }
    dse_json_end_object(&j);
    return text.data;
}

static dse_status name_row(importing *m, const msr_job *j, store_row *row, dse_error *err)
{
    dse_status st = DSE_OK;

    row->model = m->as->model;
    row->system = m->as->system;
    if (!row->model)
        st = card_name(j->family, m->arena, &row->model, err);
    if (st == DSE_OK && !row->system)
        st = card_name(
            dse_arena_printf(m->arena, "%.80s_x%" PRId64, j->device ? j->device : "unknown",
                             MSR_GIVEN(j->n_devices) ? j->n_devices : j->dp * j->tp * j->pp * j->cp),
            m->arena, &row->system, err);
    return st;
}

static dse_status add_row(importing *m, const msr_job *j, const cfg_node *board, dse_error *err)
{
    store_row row = {.engine = m->as->engine, .done = true, .error = "", .seconds = NAN};
    const uint32_t degrees[] = {(uint32_t)j->dp, (uint32_t)j->tp, (uint32_t)j->pp, (uint32_t)j->cp};
    const char *names[] = {"dp", "tp", "pp", "cp"}, *study;
    drv_import *io = m->io;
    dse_status st = name_row(m, j, &row, err);

    if (st != DSE_OK)
        return dse_fail_at(err, st, j->where, "%s", err->text);
    row.settings = settings_of(j, m->arena);
    strategy_parse_name("1_1_1_1_0", NULL, &row.strategy, NULL, NULL);
    for (size_t i = 0; i < 4; i++)
        strategy_set(&row.strategy, strategy_find(names[i]), degrees[i]);
    study = config_of(m, &row, NULL, NULL);
    row.study = dse_hash_bytes(study, strlen(study));
    row.config = config_of(m, &row, &row.strategy, board);
    row.hash = dse_hash_bytes(row.config, strlen(row.config));
    store_metrics_clear(&row.metrics);
    row.metrics.wall_time = (uint64_t)llround(j->step_time_s * 1e9);
    if (j->peak_memory_bytes >= 1)
        row.metrics.peak_memory = (uint64_t)j->peak_memory_bytes;
    for (size_t i = 0; i < io->n; i++)
        if (io->row[i].hash == row.hash && !strcmp(io->row[i].config, row.config))
            return dse_fail_at(err, DSE_E_CONFIG, j->where, "the row stands in %s already", io->place[i]);
    DSE_ARENA_GROW(m->arena, io->row, io->cap, io->n + 1);
    DSE_ARENA_GROW(m->arena, io->place, io->cap_places, io->n + 1);
    io->place[io->n] = j->where;
    io->row[io->n++] = row;
    return DSE_OK;
}

/* ---- the board ----------------------------------------------------------------------------- */

dse_status msr_board_import(const char *path, const drv_import_as *as, dse_arena *a, drv_import *io,
                            msr_board *out, dse_error *err)
{
    importing m = {.path = path, .as = as, .arena = a, .io = io};
    const size_t before = io->n;
    msr_job *job;
    cfg_doc doc = {0};
    size_t n;
    const cfg_node *rows, *unit;
    dse_status st = msr_jobs_read(path, NULL, 0, a, &job, &n, err);

    if (st == DSE_OK)
        st = cfg_load(path, a, &doc, err);
    if (st != DSE_OK)
        return st;
    rows = cfg_get(doc.root, "rows");
    unit = cfg_get(cfg_get(cfg_get(doc.root, "metric_info"), "avg_step_time"), "unit");
    if (unit && unit->kind == CFG_SCALAR && *unit->text && strcmp(unit->text, "s") != 0)
        return cfg_fail(err, &doc, unit, "avg_step_time is in '%.40s', and the database takes boards in s",
                        unit->text);
    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        const char *lack = lack_of(&m, &job[i]);

        if (!lack && !cfg_get(rows->item[i], "metadata"))
            return dse_fail_at(err, DSE_E_CONFIG, path,
                               "this is no board of CCL-Bench: its rows have no 'metadata'; 'ccldse compare "
                               "--measured' takes other tables as they are");
        if (lack)
            msr_runs_leave(&m.left, &job[i], lack,
                           job[i].refused                  ? job[i].refused
                           : !strcmp(lack, MSR_UNMEASURED) ? msr_job_unmeasured(&job[i], false, a)
                                                           : lack,
                           a);
        else
            st = add_row(&m, &job[i], rows->item[i], err);
    }
    out->left = m.left.left;
    out->n_left = m.left.n_left;
    if (st == DSE_OK && io->n == before)
        return dse_fail_at(err, DSE_E_CONFIG, path, "no row is a measured training step; the first: %s",
                           out->n_left ? out->left[0].first : "there is none");
    return st;
}

bool msr_board_is_database(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic] = "";
    FILE *f = fopen(path, "rb");
    bool is = f && fread(head, 1, sizeof head, f) == sizeof head && !memcmp(head, magic, sizeof magic);

    if (f)
        fclose(f);
    return is;
}

dse_status msr_board_table(const char *path, dse_arena *a, dse_strbuf *out, dse_error *err)
{
    store *s;
    store_row *row;
    size_t n, n_boards = 0;
    dse_json j;
    dse_status st = store_open(path, STORE_READ, &s, err);

    if (st != DSE_OK)
        return st;
    st = store_list(s, NULL, NULL, a, &row, &n, err);
    dse_json_open(&j, out);
    dse_json_key(&j, "rows");
    dse_json_begin_array(&j);
    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        cfg_doc doc = {0};
        const cfg_node *board;

        if (!strstr(row[i].config, "\"board\":"))
            continue;
        st = cfg_parse_json(path, row[i].config, strlen(row[i].config), a, &doc, err);
        if (st == DSE_OK && (board = cfg_get(doc.root, "board"))) {
            cfg_write_json(board, &j);
            n_boards++;
        }
    }
    dse_json_end_array(&j);
    dse_json_close(&j);
    store_close(s);
    if (st == DSE_OK && !n_boards)
        return dse_fail_at(
            err, DSE_E_CONFIG, path,
            "the database has no measured runs; 'ccldse import --format ccl-bench' brings them in");
    return st;
}
