/* The forms of text: options of a command line, sections of keys in TOML, Python and JSON, comments. */
#include "launch/parts.h"

#include <stdio.h>
#include <string.h>

#define WIDTH 100 /* columns of a comment or a line of options */

/* What stands at a row in the text: "true" or "false" of a switch; *out NULL: nothing. */
static dse_status spelling(const launch_option *row, const launch_facts *f, const char *title,
                           const char **out, dse_error *err)
{
    const char *fact =
        row->fixed ? row->fixed : *(const char *const *)(const void *)((const char *)f + row->fact);
    dse_strbuf known;
    dse_status st;

    *out = !fact ? row->absent : row->fallback && !strcmp(fact, row->fallback) ? NULL : fact;
    if (*out != fact || !fact || row->fixed)
        return DSE_OK;
    if (row->kind == LAUNCH_SWITCH)
        *out = !strcmp(fact, row->on ? row->on : "on") ? "true" : "false";
    if (!row->words)
        return DSE_OK;
    dse_strbuf_init(&known);
    for (const launch_word *w = row->words; w->fact; w++) {
        if (!strcmp(w->fact, fact)) {
            *out = w->word;
            dse_strbuf_free(&known);
            return DSE_OK;
        }
        if (w->word)
            dse_strbuf_addf(&known, "%s%s", known.len ? ", " : "", w->fact);
    }
    st = dse_fail(err, DSE_E_RANGE, "%s has no '%s' for %s; it has %s", title, fact, row->name, known.data);
    dse_strbuf_free(&known);
    return st;
}

/* ---- options ------------------------------------------------------------------------------------ */

/* A word of a shell's command line; brackets of a list are no pattern of files, and a layout is no pipe. */
static void put_word(const char *word, const char *value, dse_strbuf *text)
{
    const char *quote = value && strpbrk(value, "[|*") ? "'" : "";

    if (!value)
        dse_strbuf_adds(text, word);
    else if (*word == '-')
        dse_strbuf_addf(text, "%s %s%s%s", word, quote, value, quote);
    else
        dse_strbuf_addf(text, "%s%s=%s%s", quote, word, value, quote);
}

dse_status launch_put_options(const launch_option *rows, size_t n, const launch_facts *f, const char *title,
                              dse_strbuf *out, dse_error *err)
{
    bool begins_line = true;
    size_t column = 0;
    dse_strbuf word;
    dse_status st = DSE_OK;

    dse_strbuf_init(&word);
    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        const bool is_flag = rows[i].kind == LAUNCH_SWITCH && rows[i].name[0] == '-';
        const char *value = NULL;

        begins_line = begins_line || rows[i].kind == LAUNCH_LINE;
        if (rows[i].kind == LAUNCH_LINE || (st = spelling(&rows[i], f, title, &value, err)) != DSE_OK ||
            !value || (is_flag && strcmp(value, "true") != 0))
            continue;
        dse_strbuf_clear(&word);
        put_word(rows[i].name, is_flag || !*value ? NULL : value, &word);
        begins_line = begins_line || column + 1 + word.len > WIDTH;
        dse_strbuf_adds(out, begins_line ? " \\\n  " : " ");
        dse_strbuf_adds(out, word.data);
        column = (begins_line ? 2 : column + 1) + word.len;
        begins_line = false;
    }
    dse_strbuf_free(&word);
    return st;
}

/* ---- sections ----------------------------------------------------------------------------------- */

static const struct {
    const char *end;           /* of a section that has begun */
    const char *first, *next;  /* before a key: the first, another */
    const char *is, *yes, *no; /* between a key and its value; a switch */
} languages[] = {
    [LAUNCH_TOML] = {"", "", "", " = ", "true", "false"},
    [LAUNCH_PYTHON] = {"    )\n", "        ", "        ", "=", "True", "False"},
    [LAUNCH_JSON] = {"\n  }", "\n    ", ",\n    ", ": ", "true", "false"},
};

static void begin_section(launch_language l, const char *name, size_t len, bool is_first, dse_strbuf *out)
{
    switch (l) {
    case LAUNCH_TOML: dse_strbuf_addf(out, "%s[%.*s]\n", is_first ? "" : "\n", (int)len, name); break;
    case LAUNCH_PYTHON: {
        const char *call = strchr(name, '=') + 1;

        dse_strbuf_addf(out, "    c.%.*s = %.*s(\n", (int)(call - 1 - name), name,
                        (int)(len - (size_t)(call - name)), call);
        break;
    }
    case LAUNCH_JSON: dse_strbuf_addf(out, "%s\n  \"%.*s\": {", is_first ? "" : ",", (int)len, name); break;
    }
}

static void put_value(launch_language l, const launch_option *row, const char *value, dse_strbuf *out)
{
    if (row->kind == LAUNCH_SWITCH)
        dse_strbuf_adds(out, *value == 't' ? languages[l].yes : languages[l].no);
    else if (row->kind == LAUNCH_TEXT)
        dse_strbuf_addf(out, "\"%s\"", value);
    else
        dse_strbuf_adds(out, value);
}

dse_status launch_put_sections(launch_language l, const launch_option *rows, size_t n, const launch_facts *f,
                               const char *title, dse_strbuf *out, dse_error *err)
{
    const char *section = "";
    size_t len = 0;
    bool is_first = true; /* nothing has been written */

    if (l == LAUNCH_JSON)
        dse_strbuf_addc(out, '{');
    for (size_t i = 0; i < n; i++) {
        const char *dot = strrchr(rows[i].name, '.'), *key = dot ? dot + 1 : rows[i].name, *value;
        const size_t own = dot ? (size_t)(dot - rows[i].name) : 0;
        const bool goes_on = own == len && !strncmp(section, rows[i].name, own);
        dse_status st = spelling(&rows[i], f, title, &value, err);

        if (st != DSE_OK)
            return st;
        if (!value)
            continue;
        if (!goes_on) {
            if (len)
                dse_strbuf_adds(out, languages[l].end);
            if (own)
                begin_section(l, rows[i].name, own, is_first, out);
        }
        if (l == LAUNCH_JSON && !own)
            dse_strbuf_adds(out, is_first ? "\n  " : ",\n  ");
        else
            dse_strbuf_adds(out, goes_on ? languages[l].next : languages[l].first);
        section = rows[i].name;
        len = own;
        is_first = false;
        dse_strbuf_addf(out, l == LAUNCH_JSON ? "\"%s\"%s" : "%s%s", key, languages[l].is);
        put_value(l, &rows[i], value, out);
        dse_strbuf_adds(out, l == LAUNCH_PYTHON ? ",\n" : l == LAUNCH_TOML ? "\n" : "");
    }
    if (len)
        dse_strbuf_adds(out, languages[l].end);
    dse_strbuf_adds(out, l == LAUNCH_JSON ? "\n}\n" : "");
    return DSE_OK;
}

/* ---- comments ----------------------------------------------------------------------------------- */

void launch_put_comment(const char *mark, const char *text, dse_strbuf *out)
{
    const size_t column = strlen(mark) + 1;
    dse_strbuf lines;

    dse_strbuf_init(&lines);
    dse_strbuf_add_wrapped(&lines, text, column, WIDTH);
    dse_strbuf_addf(out, "%s ", mark);
    for (const char *c = lines.data; *c; c++) {
        dse_strbuf_addc(out, *c);
        if (*c == '\n') { /* and the blanks that follow */
            dse_strbuf_addf(out, "%s ", mark);
            c += column;
        }
    }
    dse_strbuf_addc(out, '\n');
    dse_strbuf_free(&lines);
}

void launch_put_notes(const launch_rule *notes, const launch_job *j, const char *mark, dse_strbuf *out)
{
    for (; notes->text; notes++)
        if (!notes->applies || notes->applies(j))
            launch_put_comment(mark, notes->text, out);
}

dse_status launch_refuse(const launch_rule *rules, const launch_job *j, dse_error *err)
{
    for (; rules->text; rules++)
        if (rules->applies(j))
            return dse_fail(err, DSE_E_RANGE, "%s", rules->text);
    return DSE_OK;
}

/* A word of the job that stands in a comment: nothing of it ends the line. */
static void put_name(const char *name, dse_strbuf *out)
{
    for (; *name; name++)
        dse_strbuf_addc(out, (unsigned char)*name < ' ' || *name == 127 ? '?' : *name);
}

void launch_put_heading(const launch_program *p, const launch_job *j, dse_strbuf *out)
{
    dse_strbuf text;

    dse_strbuf_init(&text);
    put_name(j->model, &text);
    dse_strbuf_addf(&text, " on %u x %u ranks of ", j->nodes, j->per_node);
    put_name(j->system, &text);
    dse_strbuf_adds(&text, ": ");
    strategy_say(&j->point, STRATEGY_PROFILE_TRAIN, " ", &text);
    dse_strbuf_addf(&text, ". For %s %s.", p->title, p->version);
    launch_put_comment(p->comment, text.data, out);
    dse_strbuf_free(&text);
}

void launch_put_torchrun(const launch_job *j, const char *mark, dse_strbuf *out)
{
    if (mark)
        dse_strbuf_addf(out, "%s ", mark);
    dse_strbuf_addf(out, "torchrun --nnodes %u --nproc-per-node %u", j->nodes, j->per_node);
    if (j->nodes > 1)
        dse_strbuf_adds(out, " --node-rank $NODE_RANK --master-addr $MASTER_ADDR --master-port 6000");
}
