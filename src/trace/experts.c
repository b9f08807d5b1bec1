#include "trace/experts.h"

#include "base/units.h"
#include "trace/sidefiles.h"

#include <math.h>
#include <string.h>

/* ---- loads ----------------------------------------------------------------------------------- */

typedef struct {
    trace_experts e;
    dse_arena *arena; /* of the result */
} sums;

/* A new array for each step that is longer than all before it: few are. */
static void reserve(sums *s, uint32_t n)
{
    double *load;

    if (n <= s->e.n)
        return;
    load = DSE_ARENA_NEW(s->arena, double, n);
    if (s->e.n)
        memcpy(load, s->e.load, s->e.n * sizeof *load);
    s->e.load = load;
    s->e.n = n;
}

static dse_status add_step(sums *s, const cfg_doc *doc, const cfg_node *step, dse_error *err)
{
    if (step->kind != CFG_LIST)
        return cfg_fail(err, doc, step, "a step of expert_loads is to be a list of numbers, not %s",
                        cfg_seen(step).text);
    reserve(s, step->n);
    for (uint32_t i = 0; i < step->n; i++) {
        const cfg_node *x = step->item[i];
        double v;

        if (x->kind != CFG_SCALAR || x->quoted || dse_parse_double(x->text, &v, NULL) != DSE_OK ||
            !isfinite(v) || v < 0)
            return cfg_fail(err, doc, x, "the load of an expert is to be a number from 0 on, not %s",
                            cfg_seen(x).text);
        s->e.load[i] += v;
    }
    s->e.n_steps += step->n > 0;
    return DSE_OK;
}

static dse_status add_file(sums *s, const char *path, dse_error *err)
{
    const cfg_node *steps;
    dse_arena arena;
    cfg_doc doc;
    dse_status st;

    dse_arena_init(&arena);
    st = cfg_load(path, &arena, &doc, err);
    steps = st == DSE_OK ? cfg_get(doc.root, "expert_loads") : NULL;
    s->e.n_files++;
    if (st == DSE_OK && !steps)
        s->e.n_files_without++;
    if (steps && steps->kind != CFG_LIST)
        st =
            cfg_fail(err, &doc, steps, "expert_loads is to be a list of steps, not %s", cfg_seen(steps).text);
    for (uint32_t i = 0; st == DSE_OK && steps && i < steps->n; i++)
        st = add_step(s, &doc, steps->item[i], err);
    dse_arena_free(&arena);
    return st;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The folders gates_logs_<x> in the directory, or else in each folder with gates_logs in its name. */
static dse_status find_folders(const char *dir, dse_arena *a, trace_paths *out, dse_error *err)
{
    trace_paths outer = {0};
    dse_status st = trace_paths_add(out, dir, "gates_logs_*", true, a, err);

    if (st != DSE_OK || out->n)
        return st;
    st = trace_paths_add(&outer, dir, "*gates_logs*", true, a, err);
    for (size_t i = 0; st == DSE_OK && i < outer.n; i++)
        st = trace_paths_add(out, outer.path[i], "gates_logs_*", true, a, err);
    return st;
}

dse_status trace_experts_load(const char *trace, dse_arena *a, trace_experts *out, dse_error *err)
{
    const char *dir = trace_folder_of(trace, a);
    trace_paths folders = {0}, files = {0};
    sums s = {.arena = a};
    dse_status st = find_folders(dir, a, &folders, err);

    for (size_t i = 0; st == DSE_OK && i < folders.n; i++)
        st = trace_paths_add(&files, folders.path[i], "gate_logs_*.json", false, a, err);
    for (size_t i = 0; st == DSE_OK && i < files.n; i++)
        st = add_file(&s, files.path[i], err);
    if (st == DSE_OK)
        *out = s.e;
    return st;
}
