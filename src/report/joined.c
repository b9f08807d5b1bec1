#include "report/joined.h"

#include "report/overview.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const store_row *row;
    double value; /* smaller is better */
    size_t place;
} candidate;

static int compare(const void *x, const void *y)
{
    const candidate *a = x, *b = y;

    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* The best rows of all; each study has at least as many of its own. */
static void rank(const report_study *group, size_t n, size_t top, dse_arena *a, report_study *out)
{
    candidate *c;
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += top && top < group[i].n_ranked ? top : group[i].n_ranked;
    c = DSE_ARENA_NEW(a, candidate, count);
    count = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < group[i].n_ranked && (!top || k < top); k++, count++)
            c[count] = (candidate){group[i].ranked[k], report_rank_value(out, group[i].ranked[k]), count};
    qsort(c, count, sizeof *c, compare);
    out->ranked = DSE_ARENA_NEW(a, const store_row *, count);
    for (size_t i = 0; i < count; i++)
        out->ranked[i] = c[i].row;
}

static void add_study(const report_study *s, report_study *out)
{
    const store_row *best = s->unlimited_best;

    out->n += s->n;
    out->n_ranked += s->n_ranked;
    out->n_too_large += s->n_too_large;
    out->n_unknown_memory += s->n_unknown_memory;
    out->n_unknown_value += s->n_unknown_value;
    out->n_failed += s->n_failed;
    out->n_skipped += s->n_skipped;
    out->fastest = s->fastest < out->fastest ? s->fastest : out->fastest;
    out->has_links |= s->has_links;
    out->rounding = out->rounding ? out->rounding : s->rounding;
    out->varied |= s->varied;
    for (uint32_t k = 0; k < STRATEGY_N; k++)
        if (strategy_get(&s->row->strategy, k) != strategy_get(&out->row->strategy, k))
            out->varied |= (uint64_t)1 << k;
    if (!(s->hbm_bytes <= out->hbm_bytes && s->hbm_bytes >= out->hbm_bytes))
        out->hbm_bytes = NAN; /* each has its own */
    if (best && !(report_rank_value(out, best) >= out->unlimited_value)) {
        out->unlimited_value = report_rank_value(out, best);
        out->unlimited_best = best;
    }
    report_traps_join(&out->traps, &s->traps);
}

/* The keys of the words in which the studies differ, in the order in which they come. */
static const char *const *keys_of(const report_study *group, size_t n, const char *common, dse_arena *a)
{
    const char **key = NULL;
    size_t count = 0, cap = 0;
    dse_strbuf words = dse_strbuf_in(a);

    for (size_t i = 0; i < n; i++) {
        dse_strbuf_clear(&words);
        dse_strbuf_adds(&words, "");
        report_settings_that_differ(&group[i], common, &words);
        for (const char *p = words.data; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
            const char *name = dse_arena_printf(a, "%.*s", (int)strcspn(p, "= "), p);
            size_t before = 0;

            while (before < count && strcmp(key[before], name) != 0)
                before++;
            if (before < count)
                continue;
            DSE_ARENA_GROW(a, key, cap, count + 2);
            key[count++] = name;
        }
    }
    DSE_ARENA_GROW(a, key, cap, count + 1);
    key[count] = NULL;
    return key;
}

typedef struct {
    report_study *joined;
    size_t n, top;
    dse_arena *arena;
} joining;

static void join(const report_study *group, size_t n, void *user)
{
    joining *j = user;
    report_study *out = &j->joined[j->n++];
    store_row *row = DSE_ARENA_NEW(j->arena, store_row, 1);
    bool ambiguous;

    *row = group->row[0];
    row->settings = report_settings_in_common(group, n, j->arena);
    row->skipped_of_study = 0;
    *out = (report_study){.row = row,
                          .hbm_bytes = group->hbm_bytes,
                          .laws = group->laws,
                          .db = group->db,
                          .by = report_ranked_by(group),
                          .says_profile = group->says_profile,
                          .is_of_search = group->is_of_search,
                          .n_joined = n,
                          .keys = keys_of(group, n, row->settings, j->arena)};
    report_settings_again(group, n, j->arena, &ambiguous);
    out->shows_configuration = ambiguous;
    report_rank_begin(out);
    for (size_t i = 0; i < n; i++)
        add_study(&group[i], out);
    rank(group, n, j->top, j->arena, out);
}

report_study *report_join(const report_study *studies, size_t n, size_t top, dse_arena *a, size_t *n_joined)
{
    joining j = {.joined = DSE_ARENA_NEW(a, report_study, n), .top = top, .arena = a};

    report_each_group(studies, n, a, join, &j);
    *n_joined = j.n;
    return j.joined;
}
