#include "driver/worker.h"

#include "base/json_writer.h"
#include "base/units.h"
#include "driver/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Every count is there, also one that the database has no place for: an exposed communication of -1, which
 * wraps to STORE_ABSENT. */
void drv_answer_write_metrics(const store_metrics *m, dse_json *j)
{
    size_t n;
    const store_column *c = store_columns(&n);

    dse_json_begin_object(j);
    for (size_t i = 0; i < n; i++) {
        double v = store_value(m, &c[i]);
        const char *text = c[i].type == STORE_TEXT ? store_text(m, &c[i]) : NULL;

        if (isnan(v) && !text && c[i].type != STORE_U64)
            continue;
        dse_json_key(j, c[i].name);
        if (text)
            dse_json_string(j, text);
        else if (c[i].type == STORE_REAL)
            dse_json_double(j, v); /* "inf" in quotes, where dse_json_key_double writes null */
        else
            dse_json_uint(j, store_count(m, &c[i]));
    }
    dse_json_end_object(j);
}

static void answer(drv_study_reader *r, const char *line, size_t n, sim_shortcuts shortcuts, dse_arena *a,
                   dse_strbuf *out)
{
    dse_error err = DSE_ERROR_INIT;
    double start = cpu_seconds();
    strategy point;
    drv_study study;
    store_metrics metrics;
    dse_json j;
    dse_status st = drv_study_reader_read(r, line, n, a, &study, &point, &err);

    study.shortcuts = shortcuts;
    if (st == DSE_OK)
        st = drv_point_run(&study, &point, a, &metrics, &err);
    dse_json_init(&j, out);
    dse_json_begin_object(&j);
    dse_json_key_fixed(&j, "seconds", cpu_seconds() - start, 6);
    if (st == DSE_OK) {
        dse_json_key(&j, "metrics");
        drv_answer_write_metrics(&metrics, &j);
    } else {
        dse_json_key_string(&j, "error", dse_error_say(&err).text);
    }
    dse_json_end_object(&j);
    dse_strbuf_addc(out, '\n');
}

dse_status drv_worker_serve(FILE *in, FILE *out, sim_shortcuts shortcuts, dse_error *err)
{
    drv_study_reader reader;
    dse_arena arena;
    dse_strbuf text;
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    dse_status st = DSE_OK;

    drv_study_reader_init(&reader);
    dse_arena_init(&arena);
    dse_strbuf_init(&text);
    while (st == DSE_OK && (n = getline(&line, &cap, in)) > 0) {
        if (line[n - 1] == '\n')
            n--;
        dse_arena_reset(&arena);
        dse_strbuf_clear(&text);
        answer(&reader, line, (size_t)n, shortcuts, &arena, &text);
        if (fwrite(text.data, 1, text.len, out) != text.len || fflush(out) != 0)
            st = dse_fail_errno(err, DSE_E_IO, "cannot answer");
    }
    if (st == DSE_OK && !feof(in)) /* or points would be left out without a word */
        st = dse_fail_errno(err, DSE_E_IO, "cannot read the requests");
    free(line); /* getline's own */
    dse_strbuf_free(&text);
    dse_arena_free(&arena);
    drv_study_reader_free(&reader);
    return st;
}

void drv_worker_command_init(drv_worker_command *c, const char *program, sim_shortcuts shortcuts)
{
    *c = (drv_worker_command){.word = {program, "worker"}, .n = 2};
    if (!shortcuts.symmetry)
        c->word[c->n++] = "--no-symmetry";
    if (!shortcuts.memo)
        c->word[c->n++] = "--no-memo";
    if (shortcuts.max_bytes) {
        snprintf(c->memory, sizeof c->memory, "%" PRIu64 "B", shortcuts.max_bytes);
        c->word[c->n++] = "--plain-memory";
        c->word[c->n++] = c->memory;
    }
}

/* ---- the other side ------------------------------------------------------------------------ */

/* A value as its JSON has it, without quotes. */
static bool set_metric(const store_column *c, const char *text, store_metrics *out)
{
    void *field = (char *)out + c->offset;

    if (c->type == STORE_TEXT)
        return *(const char **)field = text, true;
    if (c->type == STORE_REAL && !strcmp(text, "inf")) /* no JSON number: dse_json_double quotes it */
        return *(double *)field = INFINITY, true;
    if (c->type == STORE_REAL)
        return dse_parse_double(text, field, NULL) == DSE_OK;
    return dse_parse_u64(text, field, NULL) == DSE_OK;
}

/* True if the line goes on with this text, which is then passed. */
static bool pass(const char **at, const char *text)
{
    size_t n = strlen(text);
    bool there = !strncmp(*at, text, n);

    *at += there ? n : 0;
    return there;
}

/* Length of the number of JSON that is here; 0: none. */
static size_t number_length(const char *s)
{
    static const char digits[] = "0123456789";
    size_t n = *s == '-', more = strspn(s + n, digits);

    if (!more || (more > 1 && s[n] == '0'))
        return 0;
    n += more;
    if (s[n] == '.') {
        if (!(more = strspn(s + n + 1, digits)))
            return 0;
        n += more + 1;
    }
    if (s[n] == 'e') {
        size_t sign = s[n + 1] == '-' || s[n + 1] == '+';

        if (!(more = strspn(s + n + 1 + sign, digits)))
            return 0;
        n += more + 1 + sign;
    }
    return n;
}

/* Length of the text in quotes that is here, if JSON writes all of it as it is; SIZE_MAX: none. */
static size_t text_length(const char *s)
{
    size_t n = 1;

    while (*s == '"' && s[n] >= ' ' && s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
        n++;
    return *s == '"' && s[n] == '"' ? n - 1 : SIZE_MAX;
}

/* A copy of the value that is here and then passed; NULL: it is neither number nor plain text. */
static const char *take_value(const char **at, dse_arena *a)
{
    bool quoted = **at == '"';
    size_t n = quoted ? text_length(*at) : number_length(*at);
    const char *copy;

    if (n == SIZE_MAX || (!quoted && !n))
        return NULL;
    copy = dse_arena_strndup(a, *at + quoted, n);
    *at += n + (quoted ? 2 : 0);
    return copy;
}

static bool pass_key(const char **at, bool first, const char *name)
{
    const char *s = *at;
    bool there = (first || pass(&s, ",")) && pass(&s, "\"") && pass(&s, name) && pass(&s, "\":");

    *at = there ? s : *at;
    return there;
}

static bool take_metric(const char **at, const store_column *c, dse_arena *a, store_metrics *out)
{
    bool number = **at != '"';
    const char *value = take_value(at, a);

    if (!value || !set_metric(c, value, out))
        return false;
    return !number || c->type != STORE_REAL ||
           !isinf(store_value(out, c)); /* too large: an error of JSON's */
}

/* A result as a worker writes it, keys in the order of the columns. To read that as any JSON takes 285,000
 * instructions in place of 26,000, and all else that a sweep does for a point 131,000. False if it is written
 * otherwise, right or wrong. */
static bool read_plain(const char *line, dse_arena *a, store_row *out)
{
    const char *at = line, *seconds;
    bool first = true;
    size_t n;
    const store_column *c = store_columns(&n);

    if (!pass(&at, "{\"seconds\":") || *at == '"' || !(seconds = take_value(&at, a)) ||
        dse_parse_double(seconds, &out->seconds, NULL) != DSE_OK || isinf(out->seconds) ||
        !pass(&at, ",\"metrics\":{"))
        return false;
    store_metrics_clear(&out->metrics);
    for (size_t i = 0; i < n; i++) {
        bool there = pass_key(&at, first, c[i].name);

        if (there ? !take_metric(&at, &c[i], a, &out->metrics) : c[i].type == STORE_U64)
            return false;
        first &= !there;
    }
    out->done = true;
    out->error = "";
    return pass(&at, "}}") && !*at;
}

/* Text of a scalar; "" if there is none, which no number is. */
static const char *scalar(const cfg_node *node) { return node && node->kind == CFG_SCALAR ? node->text : ""; }

/* False if a count is missing or is none: only memory, text and what would be NaN may be left out. */
static bool read_metric(const cfg_node *metrics, const store_column *c, store_metrics *out)
{
    const cfg_node *value = cfg_get(metrics, c->name);

    if (!value)
        return c->type != STORE_U64;
    return value->kind == CFG_SCALAR && set_metric(c, value->text, out);
}

dse_status drv_answer_read(const char *line, dse_arena *a, store_row *out, dse_error *err)
{
    const cfg_node *metrics, *error;
    cfg_doc doc = {0};
    size_t n;
    const store_column *c = store_columns(&n);
    bool understood;
    dse_status st;

    if (read_plain(line, a, out))
        return DSE_OK;
    if ((st = cfg_parse_json("a worker's answer", line, strlen(line), a, &doc, err)) != DSE_OK)
        return st;
    metrics = cfg_get(doc.root, "metrics");
    error = cfg_get(doc.root, "error");
    out->done = metrics != NULL;
    out->error = scalar(error);
    store_metrics_clear(&out->metrics);
    understood = dse_parse_double(scalar(cfg_get(doc.root, "seconds")), &out->seconds, NULL) == DSE_OK &&
                 (metrics ? !error : *out->error != '\0');
    for (size_t i = 0; metrics && i < n; i++)
        understood &= read_metric(metrics, &c[i], &out->metrics);
    return understood ? DSE_OK : dse_fail_at(err, DSE_E_CHILD, doc.path, "not an answer: %.200s", line);
}
