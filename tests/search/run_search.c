/* Random spaces, searched and enumerated: the same best points, equal ones in the same order; and random boxes, no point
 * of which takes less than their bound.
 *
 * usage: run_search [-s SEED] [-i FIRST] [-n SPACES] [-m POINTS] [-b BOXES] [-l|-r] [-o OPEN] [-f FILE] CCLDSE
 *
 * Models and systems of both profiles; over them one to three axes of rates, networks and shapes, in any order of their
 * values and with values that change nothing; strategies; constraints over all of these. Spaces of more than POINTS are
 * passed over. With -o boxes go depth-first where so many are open. With -l of profile train with any layouts of pipelines, which the enumeration gets as a list; with -r of
 * layers that are made again by stage. A space depends on the seed and its number alone; one that differs is printed. With a FILE the one space of
 * that file instead, its ten best and at most 1 % of its points simulated. */
#include "base/array.h"
#include "base/fs.h"
#include "driver/box_layout.h"
#include "driver/points.h"
#include "driver/search.h"
#include "driver/space_file.h"
#include "shortcuts/random.h"
#include "step/buckets.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *model, *system;
    uint32_t n_dims;
    const char *set, *peaks; /* fixed over the cards; values of compute.peak_perf */
    bool trains;
} world;

static const world worlds[] = {
    {"llama-3.1-8b", "perlmutter_a100_40gb", 2, "network.npus_count[1]: 2\n  batch: 32", "200, 250, 312", true},
    {"llama-3.1-8b", "hgx_h100", 2, "network.npus_count[0]: 4\n  network.npus_count[1]: 2\n  batch: 16", "500, 800, 989", true},
    {"mixtral-8x7b", "hgx_h100", 2, "network.npus_count[1]: 2\n  batch: 64", "700, 989", true},
    {"llama-3.1-8b", "dgx_16", 2, "batch: 16\n  sequence: 1024", "400, 600, 900", true},
    {TEST_DATA "/cards/models/small.yaml", TEST_DATA "/cards/systems/ring8.yaml", 1, "batch: 16", "100, 450, 900", false},
    {TEST_DATA "/cards/models/small.yaml", TEST_DATA "/cards/systems/boxes8.yaml", 2, "batch: 16", "100, 450, 900", false},
};

typedef struct {
    const char *path, *values;
    enum { ANY, TRAIN, STAGE, TWO_DIMS } of;
} pick;

static const pick axes[] = {
    {"network.bandwidth[0]", "50GB/s, 400GB/s, 100GB/s, 25GB/s, 200GB/s, 75GB/s, 300GB/s, 12GB/s", ANY},
    {"network.bandwidth[1]", "5GB/s, 10GB/s, 20GB/s, 40GB/s, 80GB/s, 15GB/s", TWO_DIMS},
    {"network.latency[0]", "500ns, 2000ns, 100ns, 50000ns", ANY},
    {"memory.bandwidth", "3000GB/s, 1000GB/s, 2000GB/s, 500GB/s", ANY},
    {"memory.capacity", "80GB, 40GB, 20GB, 60GB, 120GB", TRAIN},
    {"overheads.per_step", "0ns, 5000ns, 100000ns", ANY},
    {"overheads.per_collective", "0ns, 20000ns, 5000ns", TRAIN},
    {"compute.clock", "0.8, 1, 0.9", TRAIN},
    {"network.compute_share", "[0.1], [0.2]", TRAIN},
    {"network.compute_share[0]", "0.2, 0, 0.1", TRAIN},
    {"network.backend", "congestion_unaware, congestion_aware", STAGE},
    {"network.topology[0]", "Ring, Switch, FullyConnected", ANY},
    {"collectives.all", "[ring], [direct]", ANY},
    {"batch", "32, 16, 64", ANY},
    {"sequence", "512, 1024, 128", ANY},
    {"layers", "4, 8, 2", ANY},
};

static const char *const constraints[] = {
    "dp * tp <= 16 and pp < 8", "tp != 2 or dp > 2", "recompute == no or tp >= 4", "npus // dp >= 2", "dp % 2 == 0 or pp > 1",
};

/* Of two axes of numbers: numerators and limits are drawn. */
static const char *const joint[] = {"%s * %u + %s <= %u", "%s <= %s * %u or dp > %u", "%s // %u != %s %% %u"};

typedef struct {
    dse_arena arena, point;
    drv_space_file file;
    drv_space space;         /* enumerated, */
    drv_space_file any_file; /* and searched: the same with any layouts */
    drv_space any;
    drv_points points;
    enum { NO_LAYOUTS, OF_LAYERS, OF_RECOMPUTED } layouts;
    uint64_t most_open;
    uint64_t passed_over, compared, simulated, enumerated, boxes;
    double tightness;
    const char *program;
} tester;

/* ---- drawing ------------------------------------------------------------------------------- */

static bool suits(const pick *p, const world *w)
{
    return p->of == ANY || (p->of == TRAIN && w->trains) || (p->of == STAGE && !w->trains) ||
           (p->of == TWO_DIMS && w->n_dims == 2);
}

static void draw_values(rng *r, const char *all, dse_strbuf *out)
{
    char copy[200], *value, *rest = NULL;
    bool any = false;

    snprintf(copy, sizeof copy, "%s", all);
    dse_strbuf_addc(out, '[');
    for (value = strtok_r(copy, " ", &rest); value; value = strtok_r(NULL, " ", &rest)) {
        const size_t n = strlen(value);

        if (any && rng_percent(r, 30))
            continue;
        if (value[n - 1] == ',')
            value[n - 1] = '\0';
        dse_strbuf_addf(out, "%s%s", any ? ", " : "", value);
        any = true;
    }
    dse_strbuf_adds(out, "]\n");
}

static void draw_axes(rng *r, const world *w, dse_strbuf *out)
{
    const char *number[2] = {NULL, NULL};
    bool used[DSE_COUNT(axes)] = {false};
    dse_strbuf constraint;
    uint32_t n = rng_range(r, 1, 3), i;

    dse_strbuf_init(&constraint);
    for (uint32_t tries = 0; n && tries < 100; tries++) {
        i = rng_below(r, DSE_COUNT(axes));
        if (used[i] || !suits(&axes[i], w) || (i == 9 && used[8]) || (i == 8 && used[9]) ||
            strstr(w->set, axes[i].path))
            continue;
        used[i] = true;
        n--;
        dse_strbuf_addf(out, "  %s: ", axes[i].path);
        draw_values(r, axes[i].values, out);
        if (strpbrk(axes[i].values, "0123456789") == axes[i].values && !number[1])
            number[number[0] != NULL] = axes[i].path;
    }
    if (rng_percent(r, 25)) {
        dse_strbuf_adds(out, "  compute.peak_perf: ");
        draw_values(r, w->peaks, out);
    }
    if (rng_percent(r, 50))
        dse_strbuf_addf(&constraint, "  - %s\n", RNG_PICK(r, constraints));
    if (number[1] && rng_percent(r, 60)) {
        const uint32_t kind = rng_below(r, 3), times = rng_range(r, 1, 5), limit = rng_range(r, 20, 900);

        dse_strbuf_adds(&constraint, "  - ");
        if (kind == 0)
            dse_strbuf_addf(&constraint, joint[0], number[0], times, number[1], limit);
        else if (kind == 1)
            dse_strbuf_addf(&constraint, joint[1], number[0], number[1], times, limit % 4);
        else
            dse_strbuf_addf(&constraint, joint[2], number[0], times, number[1], limit % 7 + 1);
        dse_strbuf_addc(&constraint, '\n');
    }
    if (constraint.len)
        dse_strbuf_addf(out, "constraints:\n%s", constraint.data);
    dse_strbuf_free(&constraint);
}

/* A pipeline whose stages may have any layers. */
static void draw_layouts(rng *r, dse_strbuf *out)
{
    static const char *const schedules[] = {"1f1b", "1f1b", "gpipe", "zero-bubble", "looped-bfs", "zbv", "dualpipev"};
    const uint32_t least = rng_below(r, 3);

    if (rng_percent(r, 50))
        dse_strbuf_adds(out, "  pipeline_layout: any\n");
    else
        dse_strbuf_addf(out, "  pipeline_layout: {from: %u, to: %u}\n", least, least + rng_range(r, 1, 3));
    dse_strbuf_addf(out, "  pp: [%s]\n  vp: [%s]\n  schedule: [%s]\n", rng_percent(r, 50) ? "1, 2, 4" : "2, 4",
                    rng_percent(r, 40) ? "1, 2" : "1", RNG_PICK(r, schedules));
    dse_strbuf_addf(out, "  zero: [%s]\n", rng_percent(r, 50) ? "1" : rng_percent(r, 50) ? "3" : "0, 2");
    if (rng_percent(r, 30))
        dse_strbuf_addf(out, "  recompute_layers: [%s]\n  recompute_granularity: [full, none]\n",
                        rng_percent(r, 50) ? "0, 1" : "2");
    if (rng_percent(r, 30))
        dse_strbuf_addf(out, "  like: [%s]\n", rng_percent(r, 50) ? "megatron" : "torchtitan");
}

/* A pipeline whose stages may make any of their layers again, and not have room for all that they keep. */
static void draw_recomputed(rng *r, dse_strbuf *out)
{
    static const char *const schedules[] = {"1f1b", "1f1b", "gpipe", "zero-bubble", "looped-bfs", "zbv", "dualpipev", "dualpipe"};
    const uint32_t least = rng_below(r, 2), vp = rng_range(r, 1, 2);

    if (rng_percent(r, 70))
        dse_strbuf_adds(out, "  recompute_layout: any\n");
    else
        dse_strbuf_addf(out, "  recompute_layout: {from: %u, to: %u}\n", least, least + rng_range(r, 1, 2));
    dse_strbuf_addf(out, "  pp: [%s]\n  vp: [%s]\n", rng_percent(r, 50) ? "2, 1" : vp == 1 && rng_percent(r, 50) ? "4" : "2",
                    vp == 1 ? "1" : rng_percent(r, 50) ? "2" : "1, 2");
    dse_strbuf_addf(out, "  schedule: [%s]\n  zero: [%s]\n", RNG_PICK(r, schedules),
                    rng_percent(r, 50) ? "1" : rng_percent(r, 50) ? "3" : "0, 2");
    if (rng_percent(r, 30))
        dse_strbuf_adds(out, "  recompute_granularity: [full, none]\n");
    if (rng_percent(r, 40))
        dse_strbuf_addf(out, "  like: [%s]\n", rng_percent(r, 50) ? "megatron" : "torchtitan");
}

static const world *draw_space(rng *r, int layouts, dse_strbuf *out)
{
    const world *w = &RNG_PICK(r, worlds);

    while (layouts && !w->trains)
        w = &RNG_PICK(r, worlds);
    if (layouts) {
        dse_strbuf_addf(out, "models: [%s]\nsystems: [%s]\nset:\n  %s\n  layers: %u\naxes:\n  tp: [%s]\n  micro_batch: [%s]\n",
                        w->model, w->system, w->set, rng_range(r, 3, 8), rng_percent(r, 50) ? "1, 4" : "2",
                        rng_percent(r, 50) ? "2, 1" : "1");
        (layouts == OF_LAYERS ? draw_layouts : draw_recomputed)(r, out);
        draw_axes(r, w, out);
        return w;
    }
    dse_strbuf_addf(out, "models: [%s]\nsystems: [%s]\nset:\n  %s\naxes:\n", w->model, w->system, w->set);
    if (w->trains)
        dse_strbuf_addf(out, "  tp: [%s]\n  pp: [%s]\n  vp: 1\n  micro_batch: [%s]\n  recompute_granularity: [%s]\n",
                        rng_percent(r, 50) ? "1, 4" : "2", rng_percent(r, 50) ? "1, 2" : "2", rng_percent(r, 50) ? "2, 1" : "1",
                        rng_percent(r, 50) ? "full, none" : "none");
    else
        dse_strbuf_addf(out, "  pp: [%s]\n", rng_percent(r, 50) ? "1, 2" : "1");
    draw_axes(r, w, out);
    return w;
}

/* Layouts as the search writes them, those with fewer stages first, then in the order of their layers. */
static void list_layout(const uint32_t *layers, uint32_t n, dse_strbuf *out)
{
    dse_strbuf_adds(out, out->len && out->data[out->len - 1] == '"' ? ", \"" : "\"");
    for (uint32_t i = 0, times; i < n; i += times) {
        for (times = 1; i + times < n && layers[i + times] == layers[i]; times++)
            continue;
        dse_strbuf_addf(out, times > 1 ? "%s%ux%u" : "%s%u", i ? "," : "", layers[i], times);
    }
    dse_strbuf_addc(out, '"');
}

static void list_layouts_of(uint32_t least, uint32_t most, uint32_t n, uint32_t at, uint32_t left, uint32_t *layers, dse_strbuf *out)
{
    const uint32_t from = least || !at || at + 1 == n ? least : 1;

    if (at == n) {
        if (!left)
            list_layout(layers, n, out);
        return;
    }
    for (layers[at] = from; layers[at] <= most && layers[at] <= left; layers[at]++)
        list_layouts_of(least, most, n, at + 1, left - layers[at], layers, out);
}

/* The text with the list. */
static void list_layouts(const char *text, dse_strbuf *out)
{
    const char *at = strstr(text, "pipeline_layout: "), *set = strstr(text, "layers: ");
    uint32_t least = 0, most = 100, whole = 0, layers[16];
    dse_strbuf list;

    dse_strbuf_init(&list);
    sscanf(set, "layers: %u", &whole);
    sscanf(at, "pipeline_layout: {from: %u, to: %u}", &least, &most);
    dse_strbuf_adds(&list, "");
    for (uint32_t n = 1; n <= whole + 2; n++)
        list_layouts_of(least, most, n, 0, whole, layers, &list);
    dse_strbuf_addf(out, "%.*spipeline_layout: [%s]%s", (int)(at - text), text, list.data, strchr(at, '\n'));
    dse_strbuf_free(&list);
}

static void list_recomputed_of(const step_model *m, uint32_t least, uint32_t most, uint32_t n, uint32_t at, uint32_t *again, dse_strbuf *out)
{
    if (at == n) {
        list_layout(again, n, out);
        return;
    }
    for (again[at] = least; again[at] <= most && again[at] <= step_stage_of(m, at, n).n_layers; again[at]++)
        list_recomputed_of(m, least, most, n, at + 1, again, out);
}

/* The text with the list of the layers that are made again. */
static void list_recomputed(const tester *t, const char *text, dse_strbuf *out)
{
    const char *at = strstr(text, "recompute_layout: ");
    const step_model *m = &t->any.study[0].training->model;
    uint32_t least = 0, most = 100, again[16];
    dse_strbuf list;

    dse_strbuf_init(&list);
    sscanf(at, "recompute_layout: {from: %u, to: %u}", &least, &most);
    dse_strbuf_adds(&list, "");
    for (uint32_t n = 1; n <= m->n_layers + 2; n++)
        if (step_stages_fit(m, n, true) || step_stages_fit(m, n, false))
            list_recomputed_of(m, least, most, n, 0, again, &list);
    dse_strbuf_addf(out, "%.*srecompute_layout: [%s]%s", (int)(at - text), text, list.data, strchr(at, '\n'));
    dse_strbuf_free(&list);
}

/* False: it is no space, has no points, or too many. */
static bool load_text(tester *t, const char *text, drv_space_file *file, drv_space *space)
{
    dse_error err = DSE_ERROR_INIT;

    if (drv_space_file_parse("s.yaml", text, strlen(text), &t->arena, file, &err) != DSE_OK) {
        printf("%s: %s\n%s", err.where, err.text, text);
        exit(1);
    }
    *space = file->space;
    return drv_space_load(file->model, file->n_models, file->system, file->n_systems, &file->settings, &t->arena, space,
                          &err) == DSE_OK;
}

static bool load(tester *t, const char *text, uint64_t most)
{
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf listed;
    uint64_t n = 0;
    bool ok;

    dse_arena_reset(&t->arena);
    dse_strbuf_init(&listed);
    ok = load_text(t, text, &t->any_file, &t->any) && drv_space_check(&t->any, NULL) == DSE_OK;
    if (ok && t->layouts == OF_LAYERS)
        list_layouts(text, &listed);
    else if (ok && t->layouts == OF_RECOMPUTED)
        list_recomputed(t, text, &listed);
    ok = ok && load_text(t, t->layouts ? listed.data : text, &t->file, &t->space);
    dse_strbuf_free(&listed);
    return ok && drv_space_count(&t->space, &n, &err) == DSE_OK && n <= most &&
           drv_space_points(&t->space, &t->arena, &t->points, &err) == DSE_OK;
}

/* ---- enumerated ---------------------------------------------------------------------------- */

typedef struct {
    size_t task;
    double cost;
    uint64_t wall_time;
} result;

static int by_cost(const void *a, const void *b)
{
    const result *x = a, *y = b;

    if (x->cost < y->cost || x->cost > y->cost)
        return x->cost < y->cost ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

/* Step time and whether it fits; false: it fails. */
static bool run_point(tester *t, const drv_study *s, const strategy *p, double hbm, result *out)
{
    store_metrics m;
    double tokens = s->training ? (double)(s->model.batch * s->model.sequence) : 1;

    dse_arena_reset(&t->point);
    if ((s->training ? drv_training_run : drv_point_run)(s, p, &t->point, &m, NULL) != DSE_OK ||
        !store_fits(m.peak_memory, isnan(hbm) ? s->system.hbm_bytes : hbm))
        return false;
    out->wall_time = m.wall_time;
    out->cost = (double)m.wall_time / tokens;
    return true;
}

static size_t enumerate(tester *t, double hbm, result *out)
{
    uint64_t variant = UINT64_MAX;
    dse_arena studies;
    drv_study s;
    size_t n = 0;

    dse_arena_init(&studies);
    for (size_t i = 0; i < t->points.n; i++) {
        const drv_space_point *p = &t->points.point[i];

        if (p->variant != variant) {
            dse_arena_reset(&studies);
            if (drv_points_study(&t->points, p->variant, &studies, &s, NULL) != DSE_OK)
                exit(1);
            variant = p->variant;
        }
        out[n].task = i;
        n += run_point(t, &s, &p->point, hbm, &out[n]);
    }
    dse_arena_free(&studies);
    qsort(out, n, sizeof *out, by_cost);
    return n;
}

/* ---- compared ------------------------------------------------------------------------------ */

static bool is_same(const tester *t, const result *r, const drv_found *f)
{
    const drv_space_point *p = &t->points.point[r->task];
    const cfg_settings *settings = &t->points.variant[p->variant].settings;
    bool same = r->wall_time == f->wall_time && !strategy_compare(&p->point, &f->strategy) && settings->n == f->settings.n;

    for (size_t i = 0; same && i < settings->n; i++)
        same = !strcmp(settings->item[i].value, f->settings.item[i].value);
    return same;
}

static bool compare(tester *t, uint64_t top, double hbm)
{
    result *all = dse_calloc(t->points.n + 1, sizeof *all);
    const size_t n = enumerate(t, hbm, all);
    drv_search search = {.space = &t->any,
                         .sweep = {.database = "search.db", .jobs = 1, .worker = t->program, .shortcuts = SIM_ALL_SHORTCUTS},
                         .top = top,
                         .most_open = t->most_open,
                         .hbm_bytes = hbm};
    drv_search_result found;
    dse_error err = DSE_ERROR_INIT;
    bool ok;

    unlink("search.db");
    ok = drv_search_run(&search, &t->arena, &found, &err) == DSE_OK;
    if (!ok)
        printf("%s: %s\n", err.where, err.text);
    ok = ok && found.study[0].is_finished && found.study[0].n == (n < top ? n : top);
    for (uint32_t i = 0; ok && i < found.study[0].n; i++)
        if (!is_same(t, &all[i], &found.study[0].best[i])) {
            printf("rank %u of %" PRIu64 ": %" PRIu64 " ns enumerated, %" PRIu64 " ns found\n", i + 1, top, all[i].wall_time,
                   found.study[0].best[i].wall_time);
            ok = false;
        }
    t->compared++;
    t->simulated += found.done;
    t->enumerated += t->points.n;
    dse_free(all);
    return ok;
}

/* ---- boxes --------------------------------------------------------------------------------- */

/* A box around a point of the space: a range of each axis that has its value. */
/* Ranges of layers around those of a layout. */
static void draw_stages(rng *r, const drv_boxes *b, drv_box **box, uint32_t axis, const char *layout)
{
    uint32_t layers[64], n = 0, at = 0;

    for (const char *c = layout; *c; c += *c == ',') {
        uint32_t times = 1, each = (uint32_t)strtoul(c, (char **)&c, 10);

        if (*c == 'x')
            times = (uint32_t)strtoul(c + 1, (char **)&c, 10);
        while (times--)
            layers[n++] = each;
    }
    while (b->axis[axis].number[at] != n)
        at++;
    (*box)->range[axis] = (drv_box_range){at, at + 1};
    drv_box_settle_layout(b, box);
    for (uint32_t i = 0; i < n; i++) {
        drv_box_range *range = &(*box)->range[b->space->n_axes + i];

        range->low += rng_below(r, layers[i] - range->low + 1);
        range->high -= rng_below(r, range->high - layers[i]);
    }
    drv_box_settle_layout(b, box);
}

static drv_box *draw_box(tester *t, rng *r, drv_boxes *b, const drv_space_point *p)
{
    const drv_variant *v = &t->points.variant[p->variant];
    drv_box *box = drv_boxes_whole(b);

    box->has_strategy = true;
    box->strategy = p->point;
    for (uint32_t i = 0; i < t->space.n_axes; i++) {
        const char *value = NULL;
        uint32_t at = 0, below, above;

        for (size_t k = 0; k < v->settings.n; k++)
            if (!strcmp(v->settings.item[k].path, t->space.axis[i].path))
                value = v->settings.item[k].value;
        if (b->axis[i].kind == DRV_AXIS_LAYOUT) {
            draw_stages(r, b, &box, i, value);
            continue;
        }
        while (strcmp(t->space.axis[i].value[b->axis[i].number[at]], value) != 0)
            at++;
        below = b->axis[i].kind == DRV_AXIS_SHAPE ? 0 : rng_below(r, at + 1);
        above = b->axis[i].kind == DRV_AXIS_SHAPE ? 0 : rng_below(r, b->axis[i].n - at);
        box->range[i] = (drv_box_range){at - below, at + above + 1};
    }
    return box;
}

static bool check_boxes(tester *t, rng *r, uint32_t n, double hbm)
{
    bool ok = true;
    drv_boxes b;

    drv_boxes_init(&b, &t->any, 0, hbm);
    for (uint32_t i = 0; ok && i < n; i++) {
        const drv_space_point *p = &t->points.point[rng_below(r, (uint32_t)t->points.n)];
        drv_box *box = draw_box(t, r, &b, p);
        bool is_empty = false;
        result made = {0};
        dse_arena a;
        drv_study s;

        dse_arena_init(&a);
        if (drv_points_study(&t->points, p->variant, &a, &s, NULL) == DSE_OK && run_point(t, &s, &p->point, hbm, &made)) {
            ok = drv_boxes_bound(&b, box, &is_empty, NULL) == DSE_OK && !is_empty && box->bound <= made.cost;
            t->boxes++;
            t->tightness += box->bound / made.cost;
            if (!ok)
                printf("a point takes %.17g, its box at least %.17g%s: %s\n", made.cost, box->bound,
                       is_empty ? " and is empty" : "", s.settings);
        }
        dse_arena_free(&a);
        dse_free(box);
    }
    drv_boxes_free(&b);
    return ok;
}

/* ---- the test ------------------------------------------------------------------------------ */

static bool run_case(tester *t, uint64_t seed, uint64_t i, uint64_t most, uint32_t boxes)
{
    rng r = rng_of(seed, i);
    dse_strbuf text;
    bool ok = true;

    dse_strbuf_init(&text);
    draw_space(&r, (int)t->layouts, &text);
    if (load(t, text.data, most)) {
        const double unit = t->layouts == OF_LAYERS ? 1e9 : 1e8; /* some have room */
        const double hbm = t->layouts && rng_percent(&r, 70) ? unit * rng_range(&r, 8, 120) : NAN;

        ok = check_boxes(t, &r, boxes, isnan(hbm) ? INFINITY : hbm) &&
             compare(t, rng_range(&r, 1, 12), t->layouts ? hbm : rng_percent(&r, 20) ? 30e9 : NAN);
    } else {
        t->passed_over++;
    }
    if (!ok)
        printf("space %" PRIu64 " of seed %" PRIu64 ":\n%s", i, seed, text.data);
    dse_strbuf_free(&text);
    return ok;
}

/* The one of a file. */
static bool run_file(tester *t, const char *path)
{
    dse_strbuf text;
    bool ok;

    dse_strbuf_init(&text);
    ok = dse_read_file(path, 1 << 20, &text, NULL) == DSE_OK && load(t, text.data, UINT64_MAX) && compare(t, 10, NAN);
    dse_strbuf_free(&text);
    return ok && t->simulated <= t->enumerated / 100;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, first = 0, count = 200, most = 200, boxes = 10;
    char folder[] = "/tmp/ccldse-search-XXXXXX", program[4096];
    const char *file = NULL;
    tester t = {.program = program};
    bool ok = true;

    for (int opt; (opt = getopt(argc, argv, "s:i:n:m:b:f:lro:")) != -1;) {
        if (opt == '?')
            return 2;
        if (opt == 'l' || opt == 'r') {
            t.layouts = opt == 'l' ? OF_LAYERS : OF_RECOMPUTED;
            continue;
        }
        if (opt == 'f') {
            file = realpath(optarg, NULL);
            continue;
        }
        *(opt == 's'   ? &seed
          : opt == 'i' ? &first
          : opt == 'n' ? &count
          : opt == 'm' ? &most
          : opt == 'o' ? &t.most_open
                       : &boxes) = strtoull(optarg, NULL, 10);
    }
    if (optind == argc || !realpath(argv[optind], program) || !mkdtemp(folder) || chdir(folder))
        return 2;
    dse_arena_init(&t.arena);
    dse_arena_init(&t.point);
    if (file)
        ok = run_file(&t, file);
    for (uint64_t i = first; ok && !file && t.compared < count; i++)
        ok = run_case(&t, seed, i, most, (uint32_t)boxes);
    printf("%" PRIu64 " spaces, %" PRIu64 " of %" PRIu64 " points simulated, %" PRIu64 " spaces passed over; %" PRIu64
           " boxes, bounds %.1f %% of a point's time in the mean\n",
           t.compared, t.simulated, t.enumerated, t.passed_over, t.boxes, 100 * t.tightness / (double)(t.boxes + !t.boxes));
    unlink("search.db");
    unlink("search.db.lock");
    if (chdir("/") || rmdir(folder))
        printf("%s is left\n", folder);
    dse_arena_free(&t.arena);
    dse_arena_free(&t.point);
    return ok ? 0 : 1;
}
