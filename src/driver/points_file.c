#include "driver/points_file.h"

#include "base/fs.h"
#include "driver/training.h"
#include "report/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 256 /* three, and values of cards */

/* A point and what makes it one of its own. */
typedef struct {
    uint32_t study, line;
    const char *settings;
    strategy point;
} entry;

typedef struct {
    const char *path;
    const drv_points_context *context;
    dse_arena *arena;
    dse_error *err;
    uint32_t line;
    char where[300];

    drv_space space; /* its studies; the first are those of the command */
    drv_variant *variant;
    drv_space_point *point;
    entry *entry;
    size_t n_context, cap_studies, n_variants, cap_variants, n, cap, cap_entries;
    dse_arena scratch;
} reader;

static dse_status at_line(reader *r, dse_status st, const dse_error *why)
{
    snprintf(r->where, sizeof r->where, "%.200s:%" PRIu32, r->path, r->line);
    return dse_fail_at(r->err, st, r->where, "%s", dse_error_say(why).text);
}

static dse_status find_study(reader *r, const char *model, const char *system, uint32_t *out, dse_error *err)
{
    drv_space *s = &r->space;

    for (*out = 0; *out < s->n_studies; (*out)++)
        if (!strcmp(s->study[*out].model_path, model) && !strcmp(s->study[*out].system_path, system))
            return DSE_OK;
    DSE_ARENA_GROW(r->arena, s->study, r->cap_studies, s->n_studies + 1);
    return drv_study_load_part(model, system, r->context->settings, r->arena, &s->study[s->n_studies++], err);
}

static bool is_last_variant(const reader *r, uint32_t study, const cfg_settings *settings)
{
    const drv_variant *v = r->n_variants ? &r->variant[r->n_variants - 1] : NULL;

    if (!v || v->study != study || v->settings.n != settings->n)
        return false;
    for (size_t i = 0; i < settings->n; i++)
        if (strcmp(v->settings.item[i].path, settings->item[i].path) != 0 ||
            strcmp(v->settings.item[i].value, settings->item[i].value) != 0)
            return false;
    return true;
}

static dse_status add_point(reader *r, uint32_t study, const cfg_settings *settings, const char *name,
                            dse_error *err)
{
    drv_study varied;
    strategy base, point;
    dse_status st;

    dse_arena_reset(&r->scratch);
    if ((st = drv_study_vary(&r->space.study[study], settings, &r->scratch, &varied, err)) != DSE_OK)
        return st;
    base = card_model_strategy(&varied.model);
    if ((st = strategy_parse_name(name, &base, &point, NULL, err)) != DSE_OK)
        return st;
    if (varied.training)
        drv_training_settle(&point);
    if ((st = drv_point_check(&varied, &point, err)) != DSE_OK)
        return st;
    DSE_ARENA_GROW(r->arena, r->variant, r->cap_variants, r->n_variants + 1);
    DSE_ARENA_GROW(r->arena, r->point, r->cap, r->n + 1);
    DSE_ARENA_GROW(r->arena, r->entry, r->cap_entries, r->n + 1);
    if (!is_last_variant(r, study, settings))
        r->variant[r->n_variants++] =
            (drv_variant){study, *settings, varied.training ? drv_say_laws(&varied.system, r->arena) : NULL};
    r->entry[r->n] = (entry){study, r->line, dse_arena_strdup(r->arena, varied.settings), point};
    r->point[r->n++] = (drv_space_point){r->n_variants - 1, point};
    return DSE_OK;
}

/* ---- lines --------------------------------------------------------------------------------- */

#define SPACES " \t\r"

/* A word in quotes, which *at points to: without them, in its place. */
static dse_status unquote(char **at, dse_error *err)
{
    char *from = *at + 1, *to = *at;

    for (; *from && *from != '"'; *to++ = *from++)
        if (*from == '\\' && from[1])
            from++;
    if (!*from)
        return dse_fail(err, DSE_E_CONFIG, "a quote without its other half");
    if (!strchr(SPACES, from[1])) /* the end of the line is among them */
        return dse_fail(err, DSE_E_CONFIG, "no space behind a quote");
    *to = '\0';
    *at = from + 1;
    return DSE_OK;
}

/* Cuts a line into words; the rest from a '#' that begins one is a comment. */
static dse_status split(char *line, char **words, size_t *n, dse_error *err)
{
    dse_status st = DSE_OK;

    *n = 0;
    for (char *p = line + strspn(line, SPACES); st == DSE_OK && *p && *p != '#'; p += strspn(p, SPACES)) {
        if (*n == MAX_WORDS)
            return dse_fail(err, DSE_E_CONFIG, "a line of more than %d words", MAX_WORDS);
        words[(*n)++] = p;
        if (*p == '"')
            st = unquote(&p, err);
        else
            p += strcspn(p, SPACES);
        if (st == DSE_OK && *p)
            *p++ = '\0';
    }
    return st;
}

/* The last one would hold; a line that says a value twice is a slip. */
static dse_status check_twice(char *const *word, size_t n, dse_error *err)
{
    for (size_t i = 1; i < n; i++) {
        const size_t length = strcspn(word[i], "=");

        for (size_t k = 0; k < i; k++)
            if (strcspn(word[k], "=") == length && !strncmp(word[k], word[i], length))
                return dse_fail(err, DSE_E_CONFIG, "'%.*s' is set twice", (int)length, word[i]);
    }
    return DSE_OK;
}

static dse_status read_line(reader *r, char **word, size_t n, dse_error *err)
{
    cfg_settings settings = {0};
    strategy point;
    const char *name;
    uint32_t study;
    dse_status st;

    if (n == 2)
        return dse_fail(err, DSE_E_CONFIG, "a line is POINT, or MODEL SYSTEM POINT [KEY=VALUE...]");
    if (n == 1 && !r->n_context)
        return dse_fail(err, DSE_E_CONFIG, "the line names no model and system; give --model and --system");
    name = word[n == 1 ? 0 : 2];
    if ((st = strategy_parse_name(name, NULL, &point, NULL, err)) != DSE_OK)
        return st;
    if (n > 3 && (st = check_twice(word + 3, n - 3, err)) == DSE_OK)
        st = drv_settings_parse((const char *const *)word + 3, n - 3, r->arena, &settings, err);
    if (n > 1) {
        if (st == DSE_OK)
            st = find_study(r, word[0], word[1], &study, err);
        return st == DSE_OK ? add_point(r, study, &settings, name, err) : st;
    }
    for (study = 0; st == DSE_OK && study < r->n_context; study++)
        st = add_point(r, study, &settings, name, err);
    return st;
}

/* Without the byte-order mark that some editors put before a text. */
static char *skip_mark(char *text) { return text + (strncmp(text, "\xef\xbb\xbf", 3) ? 0 : 3); }

static dse_status read_lines(reader *r, char *text)
{
    dse_status st = DSE_OK;

    while (st == DSE_OK && text) {
        char *end = strchr(text, '\n'), *word[MAX_WORDS];
        dse_error why = DSE_ERROR_INIT;
        size_t n;

        if (end)
            *end = '\0';
        r->line++;
        st = split(text, word, &n, &why);
        if (st == DSE_OK && n)
            st = read_line(r, word, n, &why);
        if (st != DSE_OK)
            return at_line(r, st == DSE_E_USAGE ? DSE_E_CONFIG : st, &why);
        text = end ? end + 1 : NULL;
    }
    return st;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static int compare_entries(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    int c = a->study != b->study ? (a->study < b->study ? -1 : 1) : strcmp(a->settings, b->settings);

    return c ? c : strategy_compare(&a->point, &b->point);
}

static int compare_entries_and_lines(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    int c = compare_entries(x, y);

    return c ? c : a->line < b->line ? -1 : a->line > b->line;
}

static dse_status check_duplicates(reader *r)
{
    dse_error why = DSE_ERROR_INIT;

    if (!r->n)
        return dse_fail_at(r->err, DSE_E_CONFIG, r->path, "there is no point in the file");
    qsort(r->entry, r->n, sizeof *r->entry, compare_entries_and_lines);
    for (size_t i = 1; i < r->n; i++) {
        if (compare_entries(&r->entry[i - 1], &r->entry[i]) != 0)
            continue;
        r->line = r->entry[i].line;
        dse_fail(&why, DSE_E_CONFIG, "the point %s stands in line %" PRIu32 " already",
                 report_strategy_name(&r->entry[i].point).text, r->entry[i - 1].line);
        return at_line(r, DSE_E_CONFIG, &why);
    }
    return DSE_OK;
}

dse_status drv_points_file_parse(const char *path, const char *text, size_t n, const drv_points_context *c,
                                 dse_arena *a, drv_space *space, drv_points *out, dse_error *err)
{
    reader r = {.path = path, .context = c, .arena = a, .err = err};
    dse_status st;

    if (memchr(text, '\0', n))
        return dse_fail_at(err, DSE_E_SYNTAX, path, "a NUL character: this is not a text");
    dse_arena_init(&r.scratch);
    st = drv_space_load(c->models, c->n_models, c->systems, c->n_systems, c->settings, a, &r.space, err);
    r.n_context = r.cap_studies = r.space.n_studies;
    if (st == DSE_OK)
        st = read_lines(&r, skip_mark(dse_arena_strndup(a, text, n))); /* its words stay in the copy */
    if (st == DSE_OK)
        st = check_duplicates(&r);
    dse_arena_free(&r.scratch);
    *space = r.space;
    *out = (drv_points){
        .space = space, .n_variants = r.n_variants, .variant = r.variant, .n = r.n, .point = r.point};
    return st;
}

dse_status drv_points_file_read(const char *path, const drv_points_context *c, dse_arena *a, drv_space *space,
                                drv_points *out, dse_error *err)
{
    dse_strbuf text = dse_strbuf_in(a);
    dse_status st = dse_read_file(path, CFG_MAX_BYTES, &text, err);

    return st == DSE_OK ? drv_points_file_parse(path, text.data, text.len, c, a, space, out, err) : st;
}

/* In quotes if a line would be cut in it. */
static void write_word(const char *word, dse_strbuf *out)
{
    if (*word && !strpbrk(word, SPACES) && *word != '"' && *word != '#') {
        dse_strbuf_adds(out, word);
        return;
    }
    dse_strbuf_addc(out, '"');
    for (; *word; word++) {
        if (*word == '"' || *word == '\\')
            dse_strbuf_addc(out, '\\');
        dse_strbuf_addc(out, *word);
    }
    dse_strbuf_addc(out, '"');
}

dse_status drv_point_write_line(const drv_points *p, const drv_space_point *point, dse_strbuf *out,
                                dse_error *err)
{
    const drv_study *study = &p->space->study[drv_points_base(p, point->variant)];
    cfg_settings settings;
    dse_arena a;
    dse_status st;

    dse_arena_init(&a);
    st = drv_points_settings(p, point->variant, &a, &settings, err);
    if (st == DSE_OK) {
        write_word(study->model_path, out);
        dse_strbuf_addc(out, ' ');
        write_word(study->system_path, out);
        dse_strbuf_addf(out, " %s", report_strategy_name(&point->point).text);
        if (settings.n || *study->settings)
            dse_strbuf_addc(out, ' ');
        drv_settings_print(study->settings, &settings, out);
    }
    dse_arena_free(&a);
    return st;
}
