#include "cli/ranked.h"

#include "report/sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One of the best so far. */
typedef struct {
    store_row figures;
    double value; /* smaller is better */
    uint64_t place;
} candidate;

typedef struct {
    results_reader *in;
    const ranked_how *how;
    dse_arena *a, brief; /* of what stays, and of the rows of one study */
    report_study *study; /* the last of n is being ranked */
    size_t n, cap;
    candidate *best; /* of it, a heap whose first is the worst */
    size_t n_best, cap_best;
    store_row unlimited; /* figures of its best without the limit */
    uint64_t place;
} ranking;

static bool is_worse(const candidate *x, const candidate *y)
{
    return x->value != y->value ? x->value > y->value : x->place > y->place;
}

static int compare(const void *x, const void *y) { return is_worse(x, y) ? 1 : is_worse(y, x) ? -1 : 0; }

static void swap(candidate *x, candidate *y)
{
    const candidate z = *x;

    *x = *y;
    *y = z;
}

/* The worst goes when there are too many. */
static void sink(ranking *k)
{
    for (size_t i = 0, child; (child = 2 * i + 1) < k->n_best; i = child) {
        if (child + 1 < k->n_best && is_worse(&k->best[child + 1], &k->best[child]))
            child++;
        if (!is_worse(&k->best[child], &k->best[i]))
            return;
        swap(&k->best[child], &k->best[i]);
    }
}

static void add_candidate(ranking *k, const store_row *r)
{
    const candidate c = {*r, report_rank_value(&k->study[k->n - 1], r), k->place};
    size_t i = k->n_best;

    if (k->how->top && k->n_best == k->how->top) {
        if (is_worse(&c, &k->best[0]))
            return;
        k->best[0] = c;
        sink(k);
        return;
    }
    DSE_GROW(k->best, k->cap_best, k->n_best + 1);
    k->best[k->n_best++] = c;
    for (; i && is_worse(&k->best[i], &k->best[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&k->best[i], &k->best[(i - 1) / 2]);
}

/* ---- a study -------------------------------------------------------------------------------- */

dse_status ranked_read(results_reader *in, const report_study *s, const store_row *figures, bool config,
                       dse_arena *a, const store_row **out, dse_error *err)
{
    store_row *r = DSE_ARENA_NEW(a, store_row, 1), read;
    dse_arena texts;
    dse_status st;

    dse_arena_init(&texts);
    if ((st = store_read(in->store, figures, config, &texts, &read, err)) == DSE_OK) {
        *r = store_copy_row(&read, s->row, a);
        r->sizes = s->row->sizes;
    }
    dse_arena_free(&texts);
    *out = r;
    return st;
}

/* The rows that are printed, whole. The best without the limit may be among them. */
static dse_status read_best(ranking *k, report_study *study, dse_error *err)
{
    dse_arena *others = k->how->is_brief ? &k->brief : k->a;
    const store_row **ranked = DSE_ARENA_NEW(others, const store_row *, k->n_best);
    dse_status st = DSE_OK;

    if (k->n_best)
        qsort(k->best, k->n_best, sizeof *k->best, compare);
    for (size_t i = 0; st == DSE_OK && i < k->n_best; i++) {
        st = ranked_read(k->in, study, &k->best[i].figures, false, i ? others : k->a, &ranked[i], err);
        if (ranked[i]->id == k->unlimited.id && (!i || !k->how->is_brief))
            study->unlimited_best = ranked[i];
    }
    study->ranked = ranked;
    if (st == DSE_OK && !isnan(study->unlimited_value) && !study->unlimited_best)
        st = ranked_read(k->in, study, &k->unlimited, false, k->a, &study->unlimited_best, err);
    k->n_best = 0;
    return st;
}

static dse_status end_study(ranking *k, dse_error *err)
{
    report_study *study = k->n ? &k->study[k->n - 1] : NULL;
    dse_status st = study ? read_best(k, study, err) : DSE_OK;

    if (st == DSE_OK && study && k->how->end)
        st = k->how->end(k->how->user, study, err);
    if (study && k->how->is_brief) {
        study->ranked = dse_arena_copy(k->a, study->ranked, study->n_ranked ? 1 : 0, sizeof *study->ranked);
        dse_arena_reset(&k->brief);
    }
    return st;
}

static dse_status begin_study(ranking *k, const store_row *r, dse_error *err)
{
    store_row *first = DSE_ARENA_NEW(k->a, store_row, 1);
    report_study *study;
    dse_status st = store_read(k->in->store, r, true, k->a, first, err);

    if (st != DSE_OK)
        return st;
    report_sizes_read(first, 1);
    DSE_GROW(k->study, k->cap, k->n + 1);
    study = &k->study[k->n++];
    *study = (report_study){.row = first, .by = k->how->by};
    report_rank_begin(study);
    k->unlimited = (store_row){0};
    return k->how->begin(k->how->user, study, err);
}

bool ranked_is_of(const store_row *r, const report_study *s)
{
    return r->study == s->row->study && !strcmp(r->model, s->row->model) &&
           !strcmp(r->system, s->row->system);
}

static dse_status take_figures(void *user, const store_row *r, dse_error *err)
{
    ranking *k = user;
    report_study *study;
    dse_status st = DSE_OK;
    unsigned is;

    if ((!k->n || !ranked_is_of(r, &k->study[k->n - 1])) &&
        ((st = end_study(k, err)) != DSE_OK || (st = begin_study(k, r, err)) != DSE_OK))
        return st;
    study = &k->study[k->n - 1];
    study->n++;
    k->place++;
    is = report_rank_row(study, r);
    if (study->rounding == r->engine)
        study->rounding = dse_arena_strdup(k->a, r->engine); /* these texts do not last */
    if (is & REPORT_LEADS)
        k->unlimited = *r;
    if (is & REPORT_RANKED)
        add_candidate(k, r);
    return k->how->row ? k->how->row(k->how->user, study, r, is, err) : DSE_OK;
}

dse_status ranked_studies(results_reader *in, const ranked_how *how, dse_arena *a, report_study **out,
                          size_t *n, dse_error *err)
{
    ranking k = {.in = in, .how = how, .a = a};
    bool trains = false;
    dse_status st;

    dse_arena_init(&k.brief);
    st = results_each_figures(in, how->by, take_figures, &k, err);
    if (st == DSE_OK)
        st = end_study(&k, err);
    for (size_t i = 0; i < k.n; i++)
        trains |= report_trains(&k.study[i]);
    for (size_t i = 0; i < k.n; i++)
        k.study[i].says_profile = trains;
    *out = dse_arena_copy(a, k.study, k.n, sizeof *k.study);
    *n = k.n;
    dse_arena_free(&k.brief);
    dse_free(k.study);
    dse_free(k.best);
    return st;
}
