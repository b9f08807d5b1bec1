/* Manual pages, in roff's man(7) macros, from the tables that --help is printed from.
 *
 * A page is a function of the tables alone: its date is the version's. Hyphens are written "\-" everywhere,
 * so that what is copied from a page can be typed. Checked with groff -ww and mandoc -T lint. */
#include "base/array.h"
#include "base/fs.h"
#include "cli/commands.h"
#include "cli/exit.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_WIDTH    64 /* of the source, escapes not counted: mandoc asks for lines below 80 bytes */
#define EXAMPLE_WIDTH 66 /* an example is indented, and a terminal has 80 columns */

typedef struct {
    const char *page, *output;
} man_options;

#define FIELD(f) .offset = offsetof(man_options, f)

static const option options[] = {
    {"COMMAND", OPT_STRING, NULL, "", "the command to explain; the program itself if not given",
     .complete = COMPLETE_COMMAND, FIELD(page)},
    {"--output", OPT_STRING, "DIR", "",
     "write every page to this folder instead: ccldse.1, ccldse-sweep.1, ...", FIELD(output)},
};

typedef struct {
    const char *name, *text;
} entry;

static const entry environment[] = {
    {"CCLDSE_CONFIGS",
     "The folder that holds the folders models, systems and operators with the cards that are "
     "known by name."},
};

static const entry files[] = {
    {"configs/",
     "Cards that are known by name: models, systems, operators. The folder is looked for in this order: what "
     "CCLDSE_CONFIGS says; the current folder; beside the program; ../share/ccldse from there, which is "
     "where it is installed."},
    {"results/ccldse.db", "The results database (SQLite), if no option names another."},
};

/* ---- roff ---------------------------------------------------------------------------------- */

/* Escapes the characters that mean something to roff. */
static void put_escaped(const char *text, size_t n, bool begins_line, dse_strbuf *out)
{
    static const char special[] = "\\-'`^~\"";
    static const char *const escape[] = {"\\e", "\\-", "\\(aq", "\\(ga", "\\(ha", "\\(ti", "\\(dq"};

    if (begins_line && n && *text == '.')
        dse_strbuf_adds(out, "\\&");
    for (size_t i = 0; i < n; i++) {
        const char *s = strchr(special, text[i]);

        if (s)
            dse_strbuf_adds(out, escape[s - special]);
        else
            dse_strbuf_addc(out, text[i]);
    }
}

static void put_word(const char *text, dse_strbuf *out) { put_escaped(text, strlen(text), false, out); }

/* Running text after `column` bytes of a line. Lines of the source are broken at spaces, and after a
 * sentence. */
static void put_text_from(size_t column, const char *text, dse_strbuf *out)
{
    size_t at = column;
    bool space = false;

    while (*text) {
        size_t n = strcspn(text, " \n");
        bool sentence = n && strchr(".?!", text[n - 1]);

        if (at && at + 1 + n > LINE_WIDTH) {
            dse_strbuf_addc(out, '\n');
            at = 0;
        } else if (space && at) {
            dse_strbuf_addc(out, ' ');
        }
        put_escaped(text, n, at == 0, out);
        at += n + 1;
        text += n;
        text += strspn(text, " \n");
        space = true;
        if (sentence && *text) {
            dse_strbuf_addc(out, '\n');
            at = 0;
        }
    }
    dse_strbuf_addc(out, '\n');
}

static void put_text(const char *text, dse_strbuf *out) { put_text_from(0, text, out); }

/* A command line, continued where an option or another command begins. */
static void put_command_line(const char *text, const char *end, dse_strbuf *out)
{
    size_t at = 0;

    while (text < end) {
        size_t n = strcspn(text + 1, " \n") + 1, with_value = n;

        if (text[1] == '&') /* a command in one piece */
            with_value = (size_t)(end - text);
        else if (text[n] == ' ' && text[n + 1] != '-') /* an option with its value */
            with_value += strcspn(text + n + 1, " \n") + 1;
        if (at && text[0] == ' ' && strchr("-&", text[1]) && at + with_value > EXAMPLE_WIDTH) {
            dse_strbuf_adds(out, " \\e\n   ");
            at = 3;
        }
        put_escaped(text, n, at == 0, out);
        at += n;
        text += n;
    }
    dse_strbuf_addc(out, '\n');
}

static void begin_page(const char *name, const char *summary, dse_strbuf *out)
{
    dse_strbuf_adds(out, ".TH ");
    for (const char *p = name; *p; p++)
        dse_strbuf_addc(out, (char)toupper((unsigned char)*p));
    dse_strbuf_adds(out, " 1 " CCLDSE_DATE " \"ccldse " CCLDSE_VERSION
                         "\" \"ccldse manual\"\n.nh\n.ad l\n.SH NAME\n");
    put_word(name, out);
    dse_strbuf_adds(out, " \\- ");
    put_text_from(strlen(name) + 3, summary, out);
}

/* ---- sections ------------------------------------------------------------------------------ */

static void put_entries(const char *title, const entry *list, size_t n, dse_strbuf *out)
{
    dse_strbuf_addf(out, ".SH %s\n", title);
    for (size_t i = 0; i < n; i++) {
        dse_strbuf_adds(out, ".TP\n.I ");
        put_word(list[i].name, out);
        dse_strbuf_addc(out, '\n');
        put_text(list[i].text, out);
    }
}

static void put_example(const char *example, dse_strbuf *out)
{
    dse_strbuf_adds(out, ".SH EXAMPLES\n.EX\n");
    for (const char *line = example; *line;) { /* a command each */
        const size_t n = strcspn(line, "\n");

        put_command_line(line, line + n, out);
        line += n + (line[n] == '\n');
    }
    dse_strbuf_adds(out, ".EE\n");
}

/* The exit codes of a command, or of the program (NULL). */
static void put_exit_status(const command *c, dse_strbuf *out)
{
    size_t n;
    const exit_text *codes = exit_texts(&n);

    if (c && c->exits) {
        codes = c->exits;
        n = c->n_exits;
    }

    dse_strbuf_adds(out, ".SH EXIT STATUS\n");
    for (size_t i = 0; i < n; i++) {
        dse_strbuf_addf(out, ".TP\n.B %d\n", codes[i].code);
        put_text(codes[i].text, out);
    }
}

static void end_page(const command *c, dse_strbuf *out)
{
    put_exit_status(c, out);
    put_entries("ENVIRONMENT", environment, DSE_COUNT(environment), out);
    put_entries("FILES", files, DSE_COUNT(files), out);
}

/* "--model NAME" bold and italic, or an argument by its place: "FILE...". The \& keeps dots at its end from
 * being taken for a sentence's. */
static void put_option_head(const option *o, dse_strbuf *out)
{
    bool by_place = option_is_positional(o);

    dse_strbuf_adds(out, by_place ? "\\fI" : "\\fB");
    put_word(o->name, out);
    dse_strbuf_adds(out, "\\fR");
    if (by_place)
        dse_strbuf_adds(out, o->type == OPT_LIST ? "..." : "");
    else if (o->value) {
        dse_strbuf_adds(out, " \\fI");
        put_word(o->value, out);
        dse_strbuf_adds(out, "\\fR");
    }
    dse_strbuf_adds(out, "\\&");
}

/* The options that must be given, those that may be, and the positional arguments. */
static void put_synopsis(const command *c, dse_strbuf *out)
{
    const option *o;
    bool more = false;

    dse_strbuf_adds(out, ".SH SYNOPSIS\n.B ccldse ");
    put_word(c->name, out);
    for (size_t i = 0; (o = command_option_at(c, i, NULL)); i++) {
        more |= !option_is_positional(o) && o->fallback;
        if (option_is_positional(o) || o->fallback)
            continue;
        dse_strbuf_addc(out, '\n');
        put_option_head(o, out);
    }
    if (more)
        dse_strbuf_adds(out, "\n[\\fIoptions\\fR]");
    for (size_t i = 0; (o = command_option_at(c, i, NULL)); i++) {
        if (!option_is_positional(o))
            continue;
        dse_strbuf_adds(out, o->fallback ? "\n[" : "\n");
        put_option_head(o, out);
        dse_strbuf_adds(out, o->fallback ? "]" : "");
    }
    dse_strbuf_addc(out, '\n');
}

static void put_options(const command *c, dse_strbuf *out)
{
    const option *o;
    dse_strbuf text;

    if (!c->n_options)
        return;
    dse_strbuf_init(&text);
    dse_strbuf_adds(out, ".SH OPTIONS\n");
    for (size_t i = 0; (o = command_option_at(c, i, NULL)); i++) {
        dse_strbuf_adds(out, ".TP\n");
        put_option_head(o, out);
        dse_strbuf_addc(out, '\n');
        dse_strbuf_clear(&text);
        option_describe(o, true, &text);
        put_text(text.data, out);
    }
    dse_strbuf_free(&text);
}

/* ---- pages --------------------------------------------------------------------------------- */

static void put_command_page(const command *c, dse_strbuf *out)
{
    char name[64];

    snprintf(name, sizeof name, "ccldse-%s", c->name);
    begin_page(name, c->summary, out);
    put_synopsis(c, out);
    dse_strbuf_adds(out, ".SH DESCRIPTION\n");
    put_text(c->details ? c->details : c->summary, out);
    put_options(c, out);
    if (c->example)
        put_example(c->example, out);
    end_page(c, out);
    dse_strbuf_adds(out, ".SH SEE ALSO\n.BR ccldse (1)\n");
}

static void put_program_page(dse_strbuf *out)
{
    static const char what[] = "ccldse ";
    size_t n;
    const command *const *commands = command_table(&n);

    begin_page("ccldse", "choose how to train a large model on a cluster, by simulation", out);
    dse_strbuf_adds(out, ".SH SYNOPSIS\n.B ccldse\n\\fIcommand\\fR [\\fIoptions\\fR]\n.br\n.B ccldse help\n"
                         "[\\fIcommand\\fR]\n.br\n.B ccldse \\-\\-version\n.SH DESCRIPTION\n");
    dse_strbuf_adds(out, ".B ccldse\n");
    put_text(program_summary + sizeof what - 1, out);
    put_text("Results go to standard output, progress and messages to standard error.", out);
    dse_strbuf_adds(out, ".SH COMMANDS\n");
    for (size_t i = 0; i < n; i++) {
        dse_strbuf_adds(out, ".TP\n.B ");
        put_word(commands[i]->name, out);
        dse_strbuf_addc(out, '\n');
        put_text(commands[i]->summary, out);
    }
    put_example(program_example, out);
    end_page(NULL, out);
    dse_strbuf_adds(out, ".SH SEE ALSO\n");
    for (size_t i = 0; i < n; i++) {
        dse_strbuf_adds(out, i ? " ,\n.BR \\%ccldse\\-" : ".BR \\%ccldse\\-");
        put_word(commands[i]->name, out);
        dse_strbuf_adds(out, " (1)");
    }
    dse_strbuf_addc(out, '\n');
}

/* Of a command, or of the program (NULL). */
static void put_page(const command *c, dse_strbuf *out)
{
    if (c)
        put_command_page(c, out);
    else
        put_program_page(out);
}

/* Writes such a page to folder/name.1. */
static dse_status write_page(const char *folder, const command *c, dse_arena *a, dse_error *err)
{
    const char *path = dse_arena_printf(a, "%s/ccldse%s%s.1", folder, c ? "-" : "", c ? c->name : "");
    dse_strbuf text = dse_strbuf_in(a);

    put_page(c, &text);
    return dse_write_text(path, &text, err);
}

static dse_status write_all(const char *folder, dse_arena *a, dse_error *err)
{
    size_t n;
    const command *const *commands = command_table(&n);
    dse_status st = dse_mkdirs(folder, err);

    if (st == DSE_OK)
        st = write_page(folder, NULL, a, err);
    for (size_t i = 0; st == DSE_OK && i < n; i++)
        st = write_page(folder, commands[i], a, err);
    return st;
}

/* A terminal gets the page as man shows it, which takes MANPAGER or PAGER itself; without man, what is there
 * of nroff and a pager. False: nothing could show it. */
static bool show_page(const dse_strbuf *page)
{
    static const char how[] =
        "if command -v man >/dev/null; then exec man -l -; "
        "elif command -v nroff >/dev/null; then nroff -man | ${MANPAGER:-${PAGER:-more}}; "
        "else exit 127; fi";
    FILE *to;
    bool shown;

    signal(SIGPIPE, SIG_IGN); /* who leaves the pager before the end has seen enough */
    to = popen(how, "w");     /* NOLINT(cert-env33-c): the fixed text above */
    if (!to)
        return false;
    fwrite(page->data, 1, page->len, to);
    shown = pclose(to) == 0;
    return shown;
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const man_options *o = opts;
    const command *c = o->page ? command_find(o->page) : NULL;

    if (o->page && !c)
        return command_fail_unknown(o->page, err);
    if (o->page && o->output)
        return dse_fail(err, DSE_E_USAGE, "give either a command or --output, not both");
    if (o->output)
        return write_all(o->output, r->arena, err);
    put_page(c, r->out);
    if (isatty(STDOUT_FILENO) && show_page(r->out))
        dse_strbuf_clear(r->out);
    return DSE_OK;
}

const command command_man = {
    .name = "man",
    .summary = "print a manual page",
    .details = "Prints the manual page of the program or of a command, for man; on a terminal through man "
               "and its pager (MANPAGER, PAGER). An installed program brings them: 'man ccldse', 'man "
               "ccldse-sweep'.",
    .example = "ccldse man sweep",
    COMMAND_OPTIONS(options, man_options),
    .run = run,
};
