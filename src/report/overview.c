#include "report/overview.h"

#include "base/array.h"
#include "base/textset.h"
#include "report/rows.h"
#include "report/sizes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool together(const report_study *a, const report_study *b)
{
    return !strcmp(a->row[0].model, b->row[0].model) && !strcmp(a->row[0].system, b->row[0].system) &&
           !strcmp(a->row[0].engine, b->row[0].engine);
}

/* Settings of these keys change how the network is simulated, not the network: figures of two models of one
 * network cannot be ranked against each other. */
static const char *const model_keys[] = {"network.backend=", "network.multi_hop="};

/* The word that sets a key, or "". */
static const char *word_of(const char *settings, const char *key, size_t *n)
{
    const char *p = settings;

    while (*p && strncmp(p, key, strlen(key)) != 0) {
        p += strcspn(p, " ");
        p += strspn(p, " ");
    }
    *n = strcspn(p, " ");
    return p;
}

bool report_comparable(const report_study *a, const report_study *b)
{
    if (report_trains(a) != report_trains(b))
        return false;
    for (size_t i = 0; i < DSE_COUNT(model_keys); i++) {
        size_t n, m;
        const char *of_a = word_of(a->row[0].settings, model_keys[i], &n);
        const char *of_b = word_of(b->row[0].settings, model_keys[i], &m);

        if (n != m || strncmp(of_a, of_b, n) != 0)
            return false;
    }
    return true;
}

/* ---- settings ------------------------------------------------------------------------------- */

/* Whether a text of settings, "layers=4 batch=8", has this word. */
static bool has_word(const char *settings, const char *word, size_t n)
{
    for (const char *p = settings; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (strcspn(p, " ") == n && !strncmp(p, word, n))
            return true;
    return false;
}

/* Adds the words of settings that are, or are not, among others. Returns how many. */
static size_t add_words(const char *settings, const char *others, bool among, dse_strbuf *out)
{
    size_t count = 0;

    for (const char *p = settings; *p; p += strspn(p, " ")) {
        const size_t length = strcspn(p, " ");

        if (has_word(others, p, length) == among)
            dse_strbuf_addf(out, "%s%.*s", count++ ? " " : "", (int)length, p);
        p += length;
    }
    return count;
}

const char *report_settings_in_common(const report_study *group, size_t n, dse_arena *a)
{
    dse_strbuf words[2];
    const char *common;

    dse_strbuf_init(&words[0]);
    dse_strbuf_init(&words[1]);
    dse_strbuf_adds(&words[0], n ? group->row->settings : "");
    for (size_t i = 1; i < n; i++) {
        dse_strbuf_clear(&words[i % 2]);
        add_words(words[(i - 1) % 2].data, group[i].row->settings, true, &words[i % 2]);
    }
    common = dse_arena_strdup(a, words[n ? (n - 1) % 2 : 0].data);
    dse_strbuf_free(&words[0]);
    dse_strbuf_free(&words[1]);
    return common;
}

size_t report_settings_that_differ(const report_study *of, const char *common, dse_strbuf *out)
{
    return add_words(of->row->settings, common, false, out);
}

const bool *report_settings_again(const report_study *group, size_t n, dse_arena *a, bool *any)
{
    bool *again = DSE_ARENA_NEW(a, bool, n);
    size_t *first = DSE_ARENA_NEW(a, size_t, n); /* of the studies with a text of the set */
    dse_textset seen = {0};

    *any = false;
    for (size_t i = 0; i < n; i++) {
        const size_t before = seen.n, of = dse_textset_add(&seen, group[i].row->settings);

        if (of == before)
            first[of] = i;
        else
            again[first[of]] = again[i] = *any = true;
    }
    dse_textset_free(&seen);
    return again;
}

/* ---- the table ------------------------------------------------------------------------------ */

typedef struct {
    const report_study *study;
    double value; /* of its winner; smaller is better */
} entry;

static int compare(const void *x, const void *y)
{
    const entry *a = x, *b = y;

    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->study < b->study ? -1 : a->study > b->study;
}

/* What the studies of a group have in common, and which are told apart by their configuration. */
typedef struct {
    const report_study *study;
    const char *common;
    const bool *again;
} settings_of;

static void add_settings(const report_study *s, const settings_of *group, dse_strbuf *words)
{
    if (!report_settings_that_differ(s, group->common, words))
        dse_strbuf_adds(words, "none");
    if (group->again[s - group->study])
        dse_strbuf_addf(words, " (configuration %08" PRIx64 ")", s->row[0].study >> 32);
}

static void table_of(const entry *e, size_t shown, const settings_of *group, dse_strbuf *out)
{
    uint64_t fastest = UINT64_MAX;
    report_tree t;
    report_node *list = report_tree_begin(&t);
    const bool trains = report_trains(group->study);
    bool links = false;
    dse_strbuf words = dse_strbuf_in(list->arena);

    for (size_t i = 0; i < shown; i++) {
        const store_metrics *m = &e[i].study->ranked[0]->metrics;

        fastest = m->wall_time < fastest ? m->wall_time : fastest;
        links |= !isnan(m->busiest_link_util);
    }
    for (size_t i = 0; i < shown; i++) {
        const store_row *r = e[i].study->ranked[0];
        const store_metrics *m = &r->metrics;

        dse_strbuf_clear(&words);
        add_settings(e[i].study, group, &words);
        report_row(list, V_AS("rank", V_COUNT(NULL, i + 1)), V_AS("step\ntime", V_TIME(NULL, m->wall_time)),
                   V_GIVEN(!trains, V_CELL("slow-\ndown", report_slowdown(m->wall_time, fastest).text)),
                   V_GIVEN(trains, V_CELL("tokens\n/s", report_format("%.0f", m->tokens_per_s).text)),
                   V_GIVEN(trains, V_CELL("per\nNPU", report_format("%.0f", m->tokens_per_s_npu).text)),
                   V_GIVEN(trains, V_CELL("MFU", report_percent(m->mfu).text)),
                   V_AS("peak\nmemory", V_BYTES(NULL, m->peak_memory)),
                   V_GIVEN(links, V_CELL("busiest\nlink", report_percent(m->busiest_link_util).text)),
                   V_NOTE("point", report_point_text(r).text), V_NOTE("settings", words.data));
    }
    report_table_end(&t, out);
}

/* Elements are mentioned below the last table only. */
static void print_sizes(const report_study *group, size_t n, dse_strbuf *out)
{
    report_sizes sizes = {0};

    for (size_t i = 0; i < n; i++)
        report_sizes_add(&sizes, &group[i].row[0].sizes);
    if (!sizes.differ && (report_trains(group) || !report_in_bytes(&group->row[0].sizes)))
        return;
    report_sizes_print(&sizes, out);
}

const store_column *report_ranked_by(const report_study *s)
{
    static const char *const of_step[][2] = {{"wall_time", "tokens_per_s"},
                                             {"cost_per_step", "cost_per_trillion_tokens"},
                                             {"energy_per_step", "energy_per_trillion_tokens"}};

    for (size_t i = 0; report_trains(s) && i < DSE_COUNT(of_step); i++)
        if (s->by == store_column_find(of_step[i][0]))
            return store_column_find(of_step[i][1]);
    return s->by;
}

static double value_of(const report_study *s)
{
    report_study by = *s;

    by.by = report_ranked_by(s);
    return report_rank_value(&by, s->ranked[0]);
}

static void print_group(const report_study *group, size_t n, dse_arena *a, dse_strbuf *out)
{
    const store_row *r = group->row;
    entry *e = DSE_ARENA_NEW(a, entry, n);
    settings_of settings = {.study = group};
    size_t count = 0;
    uint64_t skipped = 0;
    bool any;

    for (size_t i = 0; i < n; i++) {
        skipped += group[i].n_skipped;
        if (group[i].n_ranked)
            e[count++] = (entry){&group[i], value_of(&group[i])};
    }
    if (!count)
        return;
    qsort(e, count, sizeof *e, compare);
    if (group->says_profile)
        dse_strbuf_addf(out, "profile %s: ", report_trains(group) ? "train" : "stage");
    dse_strbuf_addf(out, "%s on %s", r->model, r->system);
    settings.common = report_settings_in_common(group, n, a);
    settings.again = report_settings_again(group, n, a, &any);
    if (*settings.common)
        dse_strbuf_addf(out, " with %s", settings.common);
    if (!store_is_native(r->engine))
        dse_strbuf_addf(out, " by %s", r->engine);
    dse_strbuf_addf(out, ": the best of each of %zu configurations, by %s\n", n,
                    report_ranked_by(group)->name);
    table_of(e, count, &settings, out);
    print_sizes(group, n, out);
    if (count < n)
        dse_strbuf_addf(out, "%zu %s nothing to rank.\n", n - count, n - count == 1 ? "has" : "have");
    if (skipped)
        report_skipped_print(skipped, out);
    dse_strbuf_addc(out, '\n');
}

/* Those of one model and system, by their models of the network. */
static void split(const report_study *studies, size_t n, dse_arena *a, report_take_group *take, void *user)
{
    report_study *group = DSE_ARENA_NEW(a, report_study, n);

    for (size_t i = 0; i < n; i++) {
        size_t before = 0, count = 0;

        while (before < i && !report_comparable(&studies[before], &studies[i]))
            before++;
        if (before < i)
            continue;
        for (size_t k = i; k < n; k++)
            if (report_comparable(&studies[i], &studies[k]))
                group[count++] = studies[k];
        take(group, count, user);
    }
}

void report_each_group(const report_study *studies, size_t n, dse_arena *a, report_take_group *take,
                       void *user)
{
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && together(&studies[i], &studies[end]);)
            end++;
        split(&studies[i], end - i, a, take, user);
    }
}

typedef struct {
    dse_arena *arena;
    dse_strbuf *out;
} printing;

static void print_several(const report_study *group, size_t n, void *user)
{
    const printing *p = user;

    if (n > 1)
        print_group(group, n, p->arena, p->out);
}

void report_overview_print(const report_study *studies, size_t n, dse_arena *a, dse_strbuf *out)
{
    report_each_group(studies, n, a, print_several, &(printing){a, out});
}
