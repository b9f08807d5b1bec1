#include "report/points.h"

#include "base/array.h"
#include "base/textset.h"
#include "report/overview.h"
#include "report/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ------------------------------------------------------------------------------------ */

typedef const char *study_word(const store_row *r);
static const char *model_of(const store_row *r) { return r->model; }
static const char *system_of(const store_row *r) { return r->system; }
static const char *engine_of(const store_row *r) { return r->engine; }

static bool differs(const report_study *s, size_t n, study_word *word)
{
    for (size_t i = 1; i < n; i++)
        if (strcmp(word(s[i].row), word(s[0].row)))
            return true;
    return false;
}

static void add_word(const char *before, const char *word, dse_strbuf *out)
{
    if (*word)
        dse_strbuf_addf(out, "%s%s", out->len ? before : "", word);
}

static const char *const *name_studies(const report_study *s, size_t n, dse_arena *a)
{
    const char **name = DSE_ARENA_NEW(a, const char *, n + 1);
    const bool models = n < 2 || differs(s, n, model_of), systems = n < 2 || differs(s, n, system_of);
    const bool engines = differs(s, n, engine_of);
    const char *common = n < 2 ? "" : report_settings_in_common(s, n, a);
    dse_textset seen = {0};

    for (size_t i = 0; i < n; i++) {
        dse_strbuf text = dse_strbuf_in(a), settings = dse_strbuf_in(a);

        add_word("", models ? model_of(s[i].row) : "", &text);
        add_word(" on ", systems ? system_of(s[i].row) : "", &text);
        report_settings_that_differ(&s[i], common, &settings);
        add_word(", ", settings.data, &text);
        add_word(", ", engines ? engine_of(s[i].row) : "", &text);
        dse_strbuf_adds(&text, text.len ? "" : "no settings");
        name[i] = text.data;
        /* Cards of one name may have changed between sweeps. */
        if (!dse_textset_takes(&seen, text.data)) {
            dse_strbuf_addf(&text, ", %08" PRIx64, s[i].row->study >> 32);
            dse_textset_add(&seen, text.data);
            name[i] = text.data;
        }
    }
    dse_textset_free(&seen);
    return name;
}

const char *report_points_say(const report_points *p, size_t i, dse_arena *a)
{
    dse_strbuf text = dse_strbuf_in(a);
    char value[STRATEGY_VALUE_MAX];
    const char *between = "";

    if (p->n_studies > 1) {
        dse_strbuf_adds(&text, p->name[p->of[i]]);
        between = ": ";
    }
    for (uint32_t k = 0; k < STRATEGY_N; k++) {
        const uint32_t at = strategy_in_order(k);

        if (!(p->varied >> at & 1))
            continue;
        dse_strbuf_addf(
            &text, "%s%s %s", between, strategy_heading(at),
            strategy_print(&strategy_parameters[at], strategy_get(&p->row[i]->strategy, at), value));
        between = ", ";
    }
    return text.len ? text.data : "the only point";
}

const char *report_figure_label(const store_column *c, bool trains, dse_arena *a)
{
    static const struct {
        const char *name, *label;
    } labels[] = {{"wall_time", "step time"},
                  {"peak_memory", "memory"},
                  {"exposed_comm", "exposed comm"},
                  {"tokens_per_s", "tokens/s"},
                  {"mfu", "MFU"},
                  {"tokens_per_s_npu", "tokens/s/NPU"},
                  {"hfu", "HFU"}};
    char *text;

    for (size_t i = 0; i < DSE_COUNT(labels); i++)
        if (!strcmp(c->name, labels[i].name))
            return labels[i].label;
    for (size_t i = 0; i < REPORT_N_STEP_PARTS; i++)
        if (!strcmp(c->name, report_step_parts[i].column))
            return trains && report_step_parts[i].train_label ? report_step_parts[i].train_label
                                                              : report_step_parts[i].label;
    for (size_t i = 0; i < REPORT_N_PEAK_PARTS; i++)
        if (!strcmp(c->name, report_peak_parts[i].column))
            return report_peak_parts[i].label;
    text = dse_arena_strdup(a, c->name);
    for (char *at = text; *at; at++)
        *at = *at == '_' ? ' ' : *at;
    return text;
}

/* ---- the set ---------------------------------------------------------------------------------- */

report_points report_points_of(const report_study *study, size_t n, dse_arena *a)
{
    report_points p = {.study = study, .n_studies = n, .name = name_studies(study, n, a)};

    for (size_t s = 0; s < n; s++)
        if (study[s].n > study[s].n_failed)
            p.profiles |= store_row_profile(study[s].row);
    return p;
}

uint64_t report_points_varied(const report_points *p, const uint32_t *at, size_t n)
{
    uint64_t varied = 0;

    for (size_t i = 1; i < n; i++)
        for (uint32_t k = 0; k < STRATEGY_N; k++)
            if (strategy_get(&p->row[at[i]]->strategy, k) != strategy_get(&p->row[at[0]]->strategy, k))
                varied |= (uint64_t)1 << k;
    return varied;
}

typedef struct {
    double value;
    uint32_t at;
} candidate;

static int compare(const void *x, const void *y)
{
    const candidate *a = x, *b = y;

    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

size_t report_points_rank(const report_points *p, const store_column *by, dse_arena *a, uint32_t **out)
{
    candidate *c = DSE_ARENA_NEW(a, candidate, p->n + 1);
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++) {
        const double v = store_value(&p->row[i]->metrics, by);

        if (!isnan(v) && store_fits(p->row[i]->metrics.peak_memory, p->study[p->of[i]].hbm_bytes))
            c[n++] = (candidate){by->better == STORE_HIGHER ? -v : v, (uint32_t)i};
    }
    qsort(c, n, sizeof *c, compare);
    *out = DSE_ARENA_NEW(a, uint32_t, n + 1);
    for (size_t i = 0; i < n; i++)
        (*out)[i] = c[i].at;
    return n;
}
