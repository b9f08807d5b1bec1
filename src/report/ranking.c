#include "report/ranking.h"

#include "base/array.h"
#include "base/textset.h"
#include "report/rows.h"
#include "report/sizes.h"
#include "report/traps.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool begins_study(const store_row *rows, size_t i)
{
    return !i || rows[i].study != rows[i - 1].study || strcmp(rows[i].model, rows[i - 1].model) != 0 ||
           strcmp(rows[i].system, rows[i - 1].system) != 0;
}

report_study *report_split(const store_row *rows, size_t n, dse_arena *a, size_t *n_studies)
{
    report_study *studies;
    bool trains = false;
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        trains |= store_row_profile(&rows[i]) == STRATEGY_PROFILE_TRAIN;
        count += begins_study(rows, i);
    }
    studies = DSE_ARENA_NEW(a, report_study, count);
    *n_studies = count;
    count = 0;
    for (size_t i = 0; i < n; i++) {
        if (begins_study(rows, i))
            studies[count++].row = &rows[i];
        studies[count - 1].n++;
        studies[count - 1].says_profile = trains;
    }
    return studies;
}

/* ---- ranking ------------------------------------------------------------------------------- */

typedef struct {
    const store_row *row;
    double value; /* smaller is better */
} candidate;

static bool has_memory(const store_metrics *m) { return m->peak_memory != STORE_ABSENT; }

double report_rank_value(const report_study *s, const store_row *r)
{
    double v = store_value(&r->metrics, s->by);

    return s->by->better == STORE_HIGHER ? -v : v;
}

/* Equal values keep the order of the rows, which is that of the points. */
static int compare(const void *x, const void *y)
{
    const candidate *a = x, *b = y;

    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

void report_rank_begin(report_study *s)
{
    s->ranked = NULL;
    s->unlimited_best = NULL;
    s->unlimited_value = NAN;
    s->n_ranked = s->n_too_large = s->n_unknown_memory = s->n_unknown_value = s->n_failed = 0;
    s->n_skipped = s->row ? s->row->skipped_of_study : 0;
    s->fastest = UINT64_MAX;
    s->varied = 0;
    s->has_links = false;
    s->rounding = NULL;
    s->traps = (report_traps){0};
}

static void note_differences(report_study *s, const store_row *r)
{
    if (!memcmp(&r->strategy, &s->row->strategy, sizeof r->strategy))
        return;
    for (uint32_t i = 0; i < STRATEGY_N; i++)
        if (strategy_get(&r->strategy, i) != strategy_get(&s->row->strategy, i))
            s->varied |= (uint64_t)1 << i;
}

unsigned report_rank_row(report_study *s, const store_row *r)
{
    const double value = report_rank_value(s, r);
    unsigned is = 0;

    note_differences(s, r);
    s->has_links |= !isnan(r->metrics.busiest_link_util);
    if (!s->rounding && r->memory_rounded)
        s->rounding = r->engine;
    if (!r->done) {
        s->n_failed++;
        return 0;
    }
    report_traps_add(&s->traps, r->metrics.undercharged_messages, r->metrics.flat_ring_collectives);
    if (isnan(value)) {
        s->n_unknown_value++;
        return 0;
    }
    if (!(value >= s->unlimited_value)) {
        s->unlimited_value = value;
        is = REPORT_LEADS;
    }
    if (store_fits(r->metrics.peak_memory, s->hbm_bytes)) {
        s->n_ranked++;
        s->fastest = r->metrics.wall_time < s->fastest ? r->metrics.wall_time : s->fastest;
        return is | REPORT_RANKED;
    }
    if (has_memory(&r->metrics))
        s->n_too_large++;
    else
        s->n_unknown_memory++;
    return is;
}

void report_rank(report_study *s, dse_arena *a)
{
    candidate *c = DSE_ARENA_NEW(a, candidate, s->n);
    const store_row *best = NULL;
    size_t n = 0;

    report_rank_begin(s);
    for (size_t i = 0; i < s->n; i++) {
        const unsigned is = report_rank_row(s, &s->row[i]);

        if (is & REPORT_LEADS)
            best = &s->row[i];
        if (is & REPORT_RANKED)
            c[n++] = (candidate){&s->row[i], report_rank_value(s, &s->row[i])};
    }
    s->unlimited_best = best;
    qsort(c, n, sizeof *c, compare);
    s->ranked = DSE_ARENA_NEW(a, const store_row *, n);
    for (size_t i = 0; i < n; i++)
        s->ranked[i] = c[i].row;
}

/* ---- text ---------------------------------------------------------------------------------- */

/* NaN for a step that takes no time, which an imported result may have. */
static double slowdown(const store_row *r, uint64_t fastest)
{
    return fastest ? (double)r->metrics.wall_time / (double)fastest : NAN;
}

report_text report_slowdown(uint64_t step, uint64_t fastest)
{
    return report_format(fastest ? "%.2fx" : "-", (double)step / (double)fastest);
}

report_text report_percent(double v) { return report_format(isnan(v) ? "-" : "%.1f%%", v); }

bool report_trains(const report_study *s) { return store_row_profile(s->row) == STRATEGY_PROFILE_TRAIN; }

void report_train_note(const char *laws, dse_strbuf *notes)
{
    dse_strbuf line;

    dse_strbuf_init(&line);
    dse_strbuf_addf(&line, "Profile train: %s.\n", laws);
    if (!strstr(notes->data, line.data))
        dse_strbuf_adds(notes, line.data);
    dse_strbuf_free(&line);
}

/* "The best costs 4.874 a step, 581024 a trillion tokens; it takes 1.365 kWh a step." of what is known. */
static void print_costs(const store_metrics *m, dse_strbuf *out)
{
    static const char *const costs[][3] = {{"costs", "cost_per_step", "cost_per_trillion_tokens"},
                                           {"takes", "energy_per_step", "energy_per_trillion_tokens"}};
    const char *before = "The best ";

    for (size_t i = 0; i < DSE_COUNT(costs); i++) {
        const store_column *step = store_column_find(costs[i][1]), *tokens = store_column_find(costs[i][2]);

        if (!store_has(m, step))
            continue;
        dse_strbuf_addf(out, "%s%s %s a step", before, costs[i][0], report_value_readable(m, step).text);
        if (store_has(m, tokens))
            dse_strbuf_addf(out, ", %s a trillion tokens", report_value_readable(m, tokens).text);
        before = "; it ";
    }
    if (*before == ';')
        dse_strbuf_adds(out, ".\n");
}

static bool differs(const report_study *s, uint32_t parameter, uint32_t from)
{
    return s->varied >> parameter & 1 || strategy_get(&s->row->strategy, parameter) != from;
}

/* A parameter of the other profile has no column. Of the others an axis always has one, and with profile
 * stage each with a place in names; a switch with a suffix where a row has it on, any other where rows
 * differ. What all rows have in common stands in the heading. */
static bool shows(const report_study *s, uint32_t parameter)
{
    const strategy_parameter *p = &strategy_parameters[parameter];

    if (!strategy_has_profile(parameter, store_row_profile(s->row)))
        return false;
    return (report_trains(s) ? p->is_axis && !p->omit_default : p->in_name) ||
           differs(s, parameter, p->suffix ? p->fallback : strategy_get(&s->row[0].strategy, parameter));
}

/* ", placement tp-sp-dp-pp": what has no column and is not at its default. */
static void say_common(const report_study *s, dse_strbuf *out)
{
    for (uint32_t k = 0; k < STRATEGY_N; k++) {
        const strategy_parameter *p = &strategy_parameters[k];
        const uint32_t value = strategy_get(&s->row[0].strategy, k);
        char text[STRATEGY_VALUE_MAX];

        if (!shows(s, k) && value != p->fallback && strategy_has_profile(k, store_row_profile(s->row)))
            dse_strbuf_addf(out, ", %s %s", p->name, strategy_print(p, value, text));
    }
}

/* "micro\nbatch": a heading in two lines. */
static const char *two_lines(const char *heading, dse_arena *a)
{
    char *copy = dse_arena_strdup(a, heading), *break_at = strchr(copy, '_');

    if (break_at)
        *break_at = '\n';
    return copy;
}

static void put_stage_figures(const report_study *s, const store_metrics *m, uint64_t fastest,
                              report_node *row)
{
    report_put(row, V_AS("step\ntime", V_TIME(NULL, m->wall_time)),
               V_CELL("slow-\ndown", report_slowdown(m->wall_time, fastest).text),
               V_AS("peak\nmemory", V_BYTES(NULL, m->peak_memory)),
               V_AS("exposed\ncomm", V_TIME(NULL, m->exposed_comm)),
               V_CELL("compute\nutil", report_percent(m->compute_util).text),
               V_CELL("mem\nutil", report_percent(m->mem_util).text),
               V_GIVEN(s->has_links, V_CELL("busiest\nlink", report_percent(m->busiest_link_util).text)));
}

static void put_train_figures(const store_metrics *m, report_node *row)
{
    report_put(row, V_AS("step\ntime", V_TIME(NULL, m->wall_time)),
               V_CELL("tokens\n/s", report_format("%.0f", m->tokens_per_s).text),
               V_CELL("per\nNPU", report_format("%.0f", m->tokens_per_s_npu).text),
               V_CELL("MFU", report_percent(m->mfu).text),
               V_AS("peak\nmemory", V_BYTES(NULL, m->peak_memory)));
}

/* What the settings of a row give a key; "-": nothing. */
static const char *setting_of(const store_row *r, const char *key, dse_arena *a)
{
    const size_t n = strlen(key);

    for (const char *p = r->settings; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (!strncmp(p, key, n) && p[n] == '=')
            return dse_arena_printf(a, "%.*s", (int)(strcspn(p, " ") - n - 1), p + n + 1);
    return "-";
}

/* "network.\nbandwidth[0]", "pipeline\nlayout". */
static const char *key_heading(const char *key, dse_arena *a)
{
    const char *dot = strchr(key, '.');

    return dot ? dse_arena_printf(a, "%.*s\n%s", (int)(dot + 1 - key), key, dot + 1) : two_lines(key, a);
}

/* Of a row of several configurations: which. */
static void put_configuration(const report_study *s, const store_row *r, report_node *row)
{
    for (size_t k = 0; s->n_joined && s->keys[k]; k++)
        report_put(row, V_CELL(key_heading(s->keys[k], row->arena), setting_of(r, s->keys[k], row->arena)));
    if (s->shows_configuration)
        report_put(row, V_CELL("configu-\nration", report_format("%08" PRIx64, r->study >> 32).text));
}

/* Headings of two lines, so that a row fits a terminal of 80 columns. */
static void table_of(const report_study *s, size_t n, dse_strbuf *out)
{
    const uint64_t fastest = s->fastest;
    report_tree t;
    report_node *list = report_tree_begin(&t);
    const char *heading[STRATEGY_N];

    for (uint32_t k = 0; k < STRATEGY_N; k++)
        heading[k] = !shows(s, k)       ? NULL
                     : report_trains(s) ? two_lines(strategy_heading(k), &t.arena)
                                        : strategy_heading(k);
    for (size_t i = 0; i < n; i++) {
        const strategy *point = &s->ranked[i]->strategy;
        report_node *row = report_row(list, V_AS("rank", V_COUNT(NULL, i + 1)));

        for (uint32_t k = 0; k < STRATEGY_N; k++) {
            const strategy_parameter *p = &strategy_parameters[k];
            const bool number = p->kind == STRATEGY_DEGREE;
            char value[STRATEGY_VALUE_MAX];

            strategy_print(p, strategy_get(point, k), value);
            if (heading[k])
                report_put(row, number ? V_CELL(heading[k], value) : V_NOTE(heading[k], value));
        }
        put_configuration(s, s->ranked[i], row);
        if (report_trains(s))
            put_train_figures(&s->ranked[i]->metrics, row);
        else
            put_stage_figures(s, &s->ranked[i]->metrics, fastest, row);
    }
    report_table_end(&t, out);
}

static void describe(const store_row *r, dse_strbuf *out)
{
    strategy_say(&r->strategy, store_row_profile(r), " ", out);
    dse_strbuf_addf(out, ": %s, %s", report_time(r->metrics.wall_time).text,
                    has_memory(&r->metrics) ? report_bytes(r->metrics.peak_memory).text
                                            : "memory not tracked");
}

void report_skipped_print(uint64_t n_skipped, dse_strbuf *out)
{
    dse_strbuf_addf(out,
                    "%" PRIu64 " more point%s skipped by a sweep with --prune: the best are known only by "
                    "wall_time, and for its --top and --hbm.\n",
                    n_skipped, n_skipped == 1 ? " was" : "s were");
}

/* Says how many points the limit on memory drops, and what it costs. Nothing is known about points that were
 * skipped, or that a search did not look at. */
static void print_dropped(const report_study *s, size_t n_done, dse_strbuf *out)
{
    const bool has_others = report_has_others(s);

    dse_strbuf_addf(out, "%zu of %zu points dropped: they need more than %s.", s->n_too_large, n_done,
                    isnan(s->hbm_bytes) ? "their system has" : report_size(s->hbm_bytes).text);
    if (s->n_unknown_memory)
        dse_strbuf_addf(out, " %zu dropped: their memory was not tracked.", s->n_unknown_memory);
    if (!s->n_ranked && s->n_too_large + s->n_unknown_memory)
        dse_strbuf_adds(out, has_others ? " None that was run fits." : " None fits.");
    if (s->unlimited_best && (!s->n_ranked || s->unlimited_best != s->ranked[0])) {
        dse_strbuf_addf(out, "\nWithout the limit the best%s would be ",
                        has_others ? " of those that were run" : "");
        describe(s->unlimited_best, out);
        dse_strbuf_addc(out, '.');
    } else if (s->n_ranked && !has_others) {
        dse_strbuf_adds(out, " The best is the same without the limit.");
    }
    dse_strbuf_addc(out, '\n');
}

/* By its configuration: others of the database, ranked or not, may have the same point, and with the same settings. */
static void say_how_to_show(const report_study *s, dse_strbuf *out)
{
    const store_row *best = s->ranked[0];

    dse_strbuf_addf(out, "The best in full: ccldse show %s --configuration %08" PRIx64,
                    report_point_name(best).text, best->study >> 32);
    if (s->db) {
        dse_strbuf_adds(out, " --db ");
        dse_strbuf_add_shell(out, s->db);
    }
    dse_strbuf_addc(out, '\n');
}

static void print_heading(const report_study *s, bool ambiguous, dse_strbuf *out)
{
    const size_t n_done = s->n - s->n_failed;

    if (s->says_profile)
        dse_strbuf_addf(out, "profile %s: ", report_trains(s) ? "train" : "stage");
    dse_strbuf_addf(out, "%s on %s", s->row[0].model, s->row[0].system);
    if (*s->row[0].settings)
        dse_strbuf_addf(out, " with %s", s->row[0].settings);
    say_common(s, out);
    if (!store_is_native(s->row[0].engine))
        dse_strbuf_addf(out, " by %s", s->row[0].engine);
    if (ambiguous)
        dse_strbuf_addf(out, " (configuration %08" PRIx64 ")", s->row[0].study >> 32);
    dse_strbuf_addf(out, ": %zu point%s", n_done, n_done == 1 ? "" : "s");
    if (s->n_joined)
        dse_strbuf_addf(out, " of %zu configuration%s", s->n_joined, s->n_joined == 1 ? "" : "s");
    dse_strbuf_addf(out, ", by %s", s->by->name);
    if (!isnan(s->hbm_bytes))
        dse_strbuf_addf(out, ", at most %s", report_size(s->hbm_bytes).text);
    dse_strbuf_addc(out, '\n');
}

void report_ranking_print_below(const report_study *s, size_t top, dse_strbuf *out)
{
    const size_t n = top && top < s->n_ranked ? top : s->n_ranked, n_done = s->n - s->n_failed;

    if (n)
        table_of(s, n, out);
    if (n && report_trains(s))
        say_how_to_show(s, out);
    if (n)
        print_costs(&s->ranked[0]->metrics, out);
    if (!isnan(s->hbm_bytes) || s->n_too_large)
        print_dropped(s, n_done, out);
    if (s->n_skipped)
        report_skipped_print(s->n_skipped, out);
    if (s->rounding)
        dse_strbuf_addf(out, "Peak memory is known as %s printed it, rounded.\n", s->rounding);
    if (s->n_failed)
        dse_strbuf_addf(out, "%zu point%s failed; 'ccldse export' shows why.\n", s->n_failed,
                        s->n_failed == 1 ? "" : "s");
    if (s->n_unknown_value)
        dse_strbuf_addf(out, "%zu of %zu points not ranked: their %s is not known.\n", s->n_unknown_value,
                        n_done, s->by->name);
}

void report_ranking_print(const report_study *s, size_t top, bool ambiguous, dse_strbuf *out)
{
    print_heading(s, ambiguous, out);
    if (s->below)
        dse_strbuf_adds(out, s->below);
    else
        report_ranking_print_below(s, top, out);
}

static bool same_system(const report_study *a, const report_study *b)
{
    return !strcmp(a->row[0].system, b->row[0].system);
}

/* Counts the points of all studies on the system of the first. */
static void add_traps(const report_study *s, size_t n, report_traps *out)
{
    for (size_t i = 0; i < n; i++)
        if (same_system(&s[i], s))
            report_traps_join(out, &s[i].traps);
}

void report_ranking_notes(const report_study *s, size_t n, dse_strbuf *out)
{
    dse_textset systems = {0}, laws = {0};
    size_t *first = dse_calloc(n + 1, sizeof *first); /* study of each system */
    dse_strbuf notes;

    dse_strbuf_init(&notes);
    for (size_t i = 0; i < n; i++) {
        if (dse_textset_takes(&systems, s[i].row->system))
            first[systems.n - 1] = i;
        if (report_trains(&s[i]) && s[i].laws && dse_textset_takes(&laws, s[i].laws))
            report_train_note(s[i].laws, &notes);
    }
    dse_strbuf_adds(out, notes.data);
    dse_strbuf_free(&notes);
    for (size_t i = 0; i < systems.n; i++) {
        report_traps t = {0};

        add_traps(&s[first[i]], n - first[i], &t);
        report_traps_print(&t, systems.n > 1 ? systems.text[i] : NULL, out);
    }
    dse_free(first);
    dse_textset_free(&laws);
    dse_textset_free(&systems);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void put_study(const report_study *s, size_t top, report_node *to)
{
    const store_row *first = s->row;
    size_t n = top && top < s->n_ranked ? top : s->n_ranked;
    const uint64_t fastest = s->fastest;
    report_node *ranking;

    report_put(to, V_TEXT("model", first->model), V_TEXT("system", first->system), V_TEXT("by", s->by->name),
               V_TEXT("engine", first->engine), V_GIVEN(report_trains(s), V_TEXT("profile", "train")),
               V_GIVEN(*first->settings, V_TEXT("settings", first->settings)),
               V_GIVEN(s->n_joined, V_COUNT("configurations", s->n_joined)),
               V_GIVEN(!isnan(s->hbm_bytes), V_FIXED("hbm_bytes", s->hbm_bytes, 0)),
               V_TEXT("memory_counts", report_sizes_word(&first->sizes)),
               V_COUNT("points", s->n - s->n_failed), V_GIVEN(s->n_skipped, V_COUNT("skipped", s->n_skipped)),
               V_COUNT("dropped_for_memory", s->n_too_large + s->n_unknown_memory),
               V_GIVEN(s->n_unknown_value, V_COUNT("not_ranked", s->n_unknown_value)),
               V_COUNT("failed", s->n_failed));
    ranking = report_list(to, "ranking");
    for (size_t i = 0; i < n; i++) {
        double slower = slowdown(s->ranked[i], fastest);

        report_put_row(s->ranked[i],
                       report_row(ranking, V_COUNT("rank", i + 1),
                                  V_KNOWN(!isnan(slower), "slowdown", V_FIXED("slowdown", slower, 6))));
    }
    if (s->unlimited_best && !report_has_others(s)) /* else one of those may be it */
        report_put_row(s->unlimited_best, report_object(to, "best_without_limit"));
    else
        report_put(to, V_UNKNOWN("best_without_limit"));
}

/* Each in a tree of its own, as all of them would be many times the text. */
static void put_studies(const char *key, const report_study *studies, size_t n, size_t top,
                        report_study_put *explain, void *user, dse_json *j)
{
    report_tree t;
    report_node *study = report_tree_begin(&t);

    dse_json_key(j, key);
    dse_json_begin_array(j);
    for (size_t i = 0; i < n; i++) {
        put_study(&studies[i], top, study);
        if (explain)
            explain(&studies[i], i, user, study);
        report_node_json(study, j);
        report_tree_clear(&t);
    }
    dse_json_end_array(j);
    report_tree_free(&t);
}

void report_ranking_json(const report_study *studies, size_t n, const report_study *joined, size_t n_joined,
                         size_t top, report_study_put *explain, void *user, dse_strbuf *out)
{
    dse_json j;
    report_tree t;
    report_node *root;

    dse_json_open(&j, out);
    put_studies("studies", studies, n, top, explain, user, &j);
    if (joined)
        put_studies("joined", joined, n_joined, top, explain, user, &j);
    root = report_tree_begin(&t);
    if (explain)
        explain(NULL, 0, user, root);
    report_items_json(root, &j);
    report_tree_free(&t);
    dse_json_close(&j);
}
