#include "cli/remarked.h"

#include "driver/robust.h"

void remark_add(remark_finder *m, const report_study *s, const store_row *r)
{
    store_row *to;

    DSE_GROW(m->row, m->cap, m->n_rows + 1);
    to = &m->row[m->n_rows++];
    *to = *r; /* but for the texts, which do not last */
    to->config = s->row->config;
    to->model = s->row->model;
    to->system = s->row->system;
    to->engine = s->row->engine;
    to->settings = s->row->settings;
    to->sizes = s->row->sizes;
}

/* What is said of a study points to its rows: to those that the ranking has whole, to copies of the figures of others,
 * which are made once. */
typedef struct {
    remark_finder *m;
    const report_study *all; /* the study by its figures */
    const store_row **copy;  /* of each row of figures; NULL: none yet */
} copies;

static const store_row *copy_of(const copies *c, const store_row *figures)
{
    const store_row **copy;

    if (!figures)
        return NULL;
    copy = &c->copy[figures - c->all->row];
    if (!*copy)
        *copy = dse_arena_copy(c->m->a, figures, 1, sizeof *figures);
    return *copy;
}

static void explain(const copies *c, report_explanation *out)
{
    dse_arena *a = c->m->a;

    report_explain(c->all, &c->m->scratch, out);
    out->winner = copy_of(c, out->winner);
    out->runner_up = copy_of(c, out->runner_up);
    out->unlimited = copy_of(c, out->unlimited);
    out->nearest = copy_of(c, out->nearest);
    for (size_t i = 0; i < out->n_trends; i++) {
        report_trend *t = &out->trend[i];

        t->point = dse_arena_copy(a, t->point, t->n, sizeof *t->point);
        for (size_t k = 0; k < t->n; k++) {
            t->point[k].best = copy_of(c, t->point[k].best);
            t->point[k].best_fits = copy_of(c, t->point[k].best_fits);
        }
    }
}

static dse_status choose(const copies *c, report_robust *out, dse_error *err)
{
    dse_status st = drv_robust_choose(c->all, c->m->a, out, err);

    for (size_t i = 0; i < out->n; i++)
        out->candidate[i] = copy_of(c, out->candidate[i]);
    return st;
}

dse_status remark_end(remark_finder *m, const report_study *s, dse_error *err)
{
    report_study all = *s;
    copies c = {m, &all, NULL};
    dse_status st = DSE_OK;

    dse_arena_reset(&m->scratch);
    all.row = m->row;
    all.n = m->n_rows;
    report_rank(&all, &m->scratch);
    c.copy = DSE_ARENA_NEW(&m->scratch, const store_row *, all.n);
    for (size_t i = 0; i < s->n_ranked && i < 2; i++)
        c.copy[all.ranked[i] - all.row] = s->ranked[i];
    if (all.unlimited_best)
        c.copy[all.unlimited_best - all.row] = s->unlimited_best;
    DSE_GROW(m->why, m->cap_why, m->n + 1);
    DSE_GROW(m->trust, m->cap_trust, m->n + 1);
    if (m->explains)
        explain(&c, &m->why[m->n]);
    if (m->chooses)
        st = choose(&c, &m->trust[m->n], err);
    m->n++;
    m->n_rows = 0;
    return st;
}

void remark_free(remark_finder *m)
{
    dse_arena_free(&m->scratch);
    dse_free(m->why);
    dse_free(m->trust);
    dse_free(m->row);
}
