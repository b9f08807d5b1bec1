#include "cli/command.h"

#include "base/fs.h"
#include "base/names.h"
#include "base/units.h"
#include "cli/exit.h"
#include "cli/terminal.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define LIST_STEP 16

/* ---- values -------------------------------------------------------------------------------- */

static dse_status check_range(const option *o, double v, dse_error *err)
{
    if ((o->min == 0 && o->max == 0) || (v >= o->min && v <= o->max))
        return DSE_OK;
    return dse_fail(err, DSE_E_USAGE, "%s must be between %.15g and %.15g, not %.15g", o->name, o->min,
                    o->max, v);
}

static dse_status check_choice(const option *o, const char *text, dse_error *err)
{
    char what[40]; /* "format" of --format, "shell" of SHELL */
    size_t n = 0;

    for (; o->choices[n]; n++)
        if (!strcmp(o->choices[n], text))
            return DSE_OK;
    snprintf(what, sizeof what, "%s", o->name + strspn(o->name, "-"));
    for (char *p = what; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return dse_fail_unknown(err, DSE_E_USAGE, "", what, text, o->choices, n);
}

static dse_status add_to_list(const option *o, const char *text, dse_arena *a, option_list *list,
                              dse_error *err)
{
    const char **more;

    if (!*text)
        return dse_fail(err, DSE_E_USAGE, "%s must not be empty", o->name);
    if (list->n % LIST_STEP == 0) {
        more = DSE_ARENA_NEW(a, const char *, list->n + LIST_STEP);
        if (list->n)
            memcpy(more, list->item, list->n * sizeof *more);
        list->item = more;
    }
    list->item[list->n++] = text;
    return DSE_OK;
}

/* A sign of percent may be left out. */
static dse_status set_percent(const option *o, const char *text, double *out, dse_error *err)
{
    char number[32];
    size_t n = strlen(text);

    n -= n && text[n - 1] == '%';
    snprintf(number, sizeof number, "%.*s", n < sizeof number ? (int)n : 0, text);
    if (dse_parse_double(number, out, NULL) != DSE_OK || !(*out >= 0))
        return dse_fail(err, DSE_E_USAGE, "%s takes percent, such as 1 or 0.5%%, not '%.40s'", o->name, text);
    if (o->max > 0 && !(*out >= o->min && *out <= o->max))
        return dse_fail(err, DSE_E_USAGE, "%s must be between %g%% and %g%%, not %s", o->name, o->min, o->max,
                        text);
    *out /= 100;
    return DSE_OK;
}

static dse_status set_value(const option *o, const char *text, dse_arena *a, void *field, dse_error *err)
{
    dse_error why = DSE_ERROR_INIT;
    dse_status st = DSE_OK;
    bool had_unit;

    switch (o->type) {
    case OPT_STRING:
        if (!*text) /* an unset variable in a script, most often */
            return dse_fail(err, DSE_E_USAGE, "%s must not be empty", o->name);
        *(const char **)field = text;
        return o->choices ? check_choice(o, text, err) : DSE_OK;
    case OPT_LIST: return add_to_list(o, text, a, field, err);
    case OPT_FLAG: st = dse_parse_bool(text, field, &why); break;
    case OPT_BOOL: /* to STAGE "on" is one of the many words for false: refused, as all of those are */
        if (!strcasecmp(text, "on") || !strcasecmp(text, "off") ||
            dse_parse_bool(text, field, NULL) != DSE_OK)
            return dse_fail(err, DSE_E_USAGE, "%s takes true or false, not '%.60s'", o->name, text);
        return DSE_OK;
    case OPT_INT:
        st = dse_parse_int(text, field, &why);
        if (st == DSE_OK)
            return check_range(o, (double)*(int64_t *)field, err);
        break;
    case OPT_DOUBLE:
        st = dse_parse_double(text, field, &why);
        if (st == DSE_OK)
            return check_range(o, *(double *)field, err);
        break;
    case OPT_PERCENT: return set_percent(o, text, field, err);
    case OPT_SIZE:
        st = dse_parse_quantity(text, DSE_UNIT_BYTES, field, &had_unit, &why);
        if (st == DSE_OK && !had_unit)
            return dse_fail(err, DSE_E_USAGE, "%s takes a size with its unit, such as 80GB, not '%.60s'",
                            o->name, text);
        if (st == DSE_OK && !(*(double *)field > 0))
            return dse_fail(err, DSE_E_USAGE, "%s must be larger than 0", o->name);
        break;
    }
    return st == DSE_OK ? st : dse_fail(err, DSE_E_USAGE, "%s: %s", o->name, why.text);
}

static dse_status set_default(const option *o, dse_arena *a, void *field, dse_error *err)
{
    if (*o->fallback)
        return set_value(o, o->fallback, a, field, err);
    if (o->type == OPT_DOUBLE || o->type == OPT_SIZE || o->type == OPT_PERCENT)
        *(double *)field = NAN;
    return DSE_OK;
}

size_t option_place(const char *const *choices, const char *value)
{
    size_t i = 0;

    while (strcmp(choices[i], value) != 0)
        i++;
    return i;
}

/* ---- the command line ---------------------------------------------------------------------- */

bool option_is_positional(const option *o) { return o->name[0] != '-'; }

/* The option number *i of these rows; *i counts down. */
static const option *option_at(const option *rows, size_t n, size_t *i, size_t *offset)
{
    for (size_t k = 0; k < n; k++) {
        const option *found = NULL;

        if (rows[k].group) {
            size_t n_rows;
            const option *group = rows[k].group(&n_rows);

            found = option_at(group, n_rows, i, offset);
        } else if ((*i)-- == 0) {
            found = &rows[k];
        }
        if (found) {
            *offset += rows[k].offset;
            return found;
        }
    }
    return NULL;
}

const option *command_option_at(const command *c, size_t i, size_t *offset)
{
    size_t unused;

    if (!offset)
        offset = &unused;
    *offset = 0;
    return option_at(c->options, c->n_options, &i, offset);
}

/* How many are arguments by their place, or are not. */
static size_t count_options(const command *c, bool positional)
{
    const option *o;
    size_t n = 0;

    for (size_t i = 0; (o = command_option_at(c, i, NULL)); i++)
        n += option_is_positional(o) == positional;
    return n;
}

static dse_status unexpected_argument(const command *c, const char *arg, dse_error *err)
{
    if (count_options(c, true))
        return dse_fail(err, DSE_E_USAGE, "'%.80s' is one argument too many; see 'ccldse %s --help'", arg,
                        c->name);
    return dse_fail(err, DSE_E_USAGE, "'%.80s' is not an option; 'ccldse %s' takes options only", arg,
                    c->name);
}

/* What other programs call an option of ours, by how it begins. */
static const struct {
    const char *theirs, *ours;
} other_words[] = {
    {"--gpu", "--npus"},           {"--seq", "--sequence"},        {"--tensor", "--tp"},
    {"--pipeline", "--pp"},        {"--context-parallel", "--cp"}, {"--expert", "--ep"},
    {"--data-parallel", "--dp"},   {"--virtual", "--vp"},          {"--num-layers-per-v", "--vp"},
    {"--global-batch", "--batch"}, {"--gbs", "--batch"},           {"--mbs", "--micro-batch"},
    {"--cluster", "--system"},     {"--machine", "--system"},      {"--hardware", "--system"}};

static const char *in_our_words(const char *word, const char *const *names, size_t n)
{
    for (size_t i = 0; i < DSE_COUNT(other_words); i++)
        for (size_t k = 0; k < n; k++)
            if (!strncmp(word, other_words[i].theirs, strlen(other_words[i].theirs)) &&
                !strcmp(names[k], other_words[i].ours))
                return names[k];
    return NULL;
}

static dse_status unknown_option(const command *c, const char *arg, size_t n, dse_arena *a, dse_error *err)
{
    const char **names = DSE_ARENA_NEW(a, const char *, count_options(c, false)), *nearest;
    const option *o;
    size_t n_names = 0;
    char word[64];

    snprintf(word, sizeof word, "%.*s", (int)n, arg);
    for (size_t i = 0; (o = command_option_at(c, i, NULL)); i++)
        if (!option_is_positional(o))
            names[n_names++] = o->name;
    nearest = in_our_words(word, names, n_names);
    nearest = nearest ? nearest : dse_nearest(word, names, n_names);
    if (nearest)
        return dse_fail(err, DSE_E_USAGE, "unknown option '%s'; did you mean '%s'?", word, nearest);
    return dse_fail(err, DSE_E_USAGE, "unknown option '%s'; see 'ccldse %s --help'", word, c->name);
}

/* Whether an argument, n bytes of which are a name, is for this option. */
static bool takes(const option *o, bool given, const char *arg, size_t n)
{
    if (option_is_positional(o))
        return *arg != '-' && (!given || o->type == OPT_LIST);
    return strlen(o->name) == n && !strncmp(o->name, arg, n);
}

/* What argv[*i] says, and argv[*i + 1] if that is its value. */
static dse_status parse_argument(const command *c, int argc, char **argv, int *i, bool *given, dse_arena *a,
                                 void *out, dse_error *err)
{
    const char *arg = argv[*i], *equals = strchr(arg, '='), *value;
    const size_t n = equals ? (size_t)(equals - arg) : strlen(arg);
    const bool positional = *arg != '-';
    const option *o;
    size_t k = 0, offset;

    while ((o = command_option_at(c, k, &offset)) && !takes(o, given[k], arg, n))
        k++;
    if (!o && !strcmp(arg, "-o")) /* --output of every command that has it, and no -o of its own */
        for (k = 0; (o = command_option_at(c, k, &offset)) && strcmp(o->name, "--output");)
            k++;
    if (!o && c->ignore_unknown)
        return DSE_OK;
    if (!o)
        return positional ? unexpected_argument(c, arg, err) : unknown_option(c, arg, n, a, err);
    value = positional ? arg : equals ? equals + 1 : NULL;
    if (!value && o->type == OPT_FLAG)
        value = "true";
    if (!value && *i + 1 == argc)
        return dse_fail(err, DSE_E_USAGE, "%s needs a value (%s)", o->name, o->value);
    given[k] = true;
    return set_value(o, value ? value : argv[++*i], a, (char *)out + offset, err);
}

dse_status command_parse(const command *c, int argc, char **argv, dse_arena *a, void *out, dse_error *err)
{
    bool *given = DSE_ARENA_NEW(a, bool, count_options(c, true) + count_options(c, false));
    const option *o;
    dse_status st = DSE_OK;
    size_t offset;

    memset(out, 0, c->size);
    for (int i = 0; st == DSE_OK && i < argc; i++)
        st = parse_argument(c, argc, argv, &i, given, a, out, err);
    for (size_t i = 0; st == DSE_OK && (o = command_option_at(c, i, &offset)); i++) {
        if (given[i])
            continue;
        if (!o->fallback)
            return dse_fail(err, DSE_E_USAGE, "%s is missing (%s); see 'ccldse %s --help'", o->name, o->help,
                            c->name);
        st = set_default(o, a, (char *)out + offset, err);
    }
    return st;
}

/* ---- output -------------------------------------------------------------------------------- */

/* Help text at a column, broken at spaces. */
static void print_wrapped(const char *text, size_t column, size_t width)
{
    dse_strbuf lines;

    dse_strbuf_init(&lines);
    dse_strbuf_add_wrapped(&lines, text, column, width);
    puts(lines.data);
    dse_strbuf_free(&lines);
}

dse_status command_save(const char *path, command_run *r, dse_error *err)
{
    dse_status st = path ? dse_write_text(path, r->out, err) : DSE_OK;

    if (path)
        dse_strbuf_clear(r->out);
    return st;
}

void option_describe(const option *o, bool range, dse_strbuf *out)
{
    dse_strbuf_adds(out, o->help);
    if (o->choices) {
        dse_strbuf_adds(out, ": ");
        dse_strbuf_add_choices(out, o->choices);
    }
    if (range && o->max > o->min)
        dse_strbuf_addf(out, "; from %.15g to %.15g", o->min, o->max);
    if (!o->fallback)
        dse_strbuf_adds(out, " (required)");
    else if (*o->fallback && o->type != OPT_FLAG)
        dse_strbuf_addf(out, "; default %s", o->fallback);
}

size_t command_help_width(void)
{
    const size_t width = terminal_width(STDOUT_FILENO);

    return !width || width > HELP_WIDTH ? HELP_WIDTH : width < 60 ? 60 : width;
}

static void print_usage(const command *c)
{
    const option *o;

    printf("usage: ccldse %s%s", c->name, count_options(c, false) ? " [options]" : "");
    for (size_t i = 0; (o = command_option_at(c, i, NULL)); i++)
        if (option_is_positional(o))
            printf(o->fallback ? " [%s%s]" : " %s%s", o->name, o->type == OPT_LIST ? "..." : "");
    printf("\n\n");
}

static const char *next_line(const char *line)
{
    const char *newline = strchr(line, '\n');

    return newline ? newline + 1 : NULL;
}

void option_print(const option *o, size_t width, dse_strbuf *out)
{
    const size_t begin = out->len;
    dse_strbuf text;

    dse_strbuf_init(&text);
    option_describe(o, false, &text);
    dse_strbuf_addf(out, "  %s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
    if (out->len - begin > HELP_COLUMN - 1)
        dse_strbuf_addf(out, "\n%*s", HELP_COLUMN, "");
    else
        dse_strbuf_addf(out, "%*s", (int)(HELP_COLUMN - (out->len - begin)), "");
    dse_strbuf_add_wrapped(out, text.data, HELP_COLUMN, width);
    dse_strbuf_addc(out, '\n');
    dse_strbuf_free(&text);
}

/* The names of the options from the i-th on that one topic explains. Returns the place of the next option. */
static size_t print_names(const command *c, size_t i, size_t width, dse_strbuf *out)
{
    const option *o = command_option_at(c, i, NULL);
    const char *topic = o->topic, *before = "";
    dse_strbuf text;

    dse_strbuf_init(&text);
    for (; o && o->topic && !strcmp(o->topic, topic); o = command_option_at(c, ++i, NULL), before = ", ")
        dse_strbuf_addf(&text, "%s%s", before, o->name);
    dse_strbuf_adds(out, "  ");
    dse_strbuf_add_wrapped(out, text.data, 2, width);
    dse_strbuf_addf(out, "\n%*s", HELP_COLUMN, "");
    dse_strbuf_clear(&text);
    dse_strbuf_addf(&text, "parameters of the %s, which 'ccldse help %s' explains", topic, topic);
    dse_strbuf_add_wrapped(out, text.data, HELP_COLUMN, width);
    dse_strbuf_addc(out, '\n');
    dse_strbuf_free(&text);
    return i;
}

void command_help(const command *c)
{
    const size_t width = command_help_width();
    const option *o;
    dse_strbuf text;

    dse_strbuf_init(&text);
    print_usage(c);
    print_wrapped(c->details ? c->details : c->summary, 0, width);
    if (c->example)
        printf("\nexample:\n");
    for (const char *line = c->example; line; line = next_line(line))
        printf("  %.*s\n", (int)strcspn(line, "\n"), line);
    if (c->n_options)
        printf("\noptions:\n");
    for (size_t i = 0; (o = command_option_at(c, i, NULL));) {
        if (o->topic)
            i = print_names(c, i, width, &text);
        else
            option_print(command_option_at(c, i++, NULL), width, &text);
    }
    fputs(text.data, stdout);
    dse_strbuf_free(&text);
}

/* "ccldse: error: place: text" on stderr: one line, or as a terminal gets it. Names from files and arguments
 * may hold any bytes; only printable ones go there. */
static void put_message(const char *kind, const char *colour, const char *where, const char *text)
{
    static const char program[] = "ccldse: ";
    const size_t width = terminal_width(STDERR_FILENO);
    const bool colours = *kind && terminal_has_colours(STDERR_FILENO);
    dse_strbuf line, shown;

    dse_strbuf_init(&line);
    dse_strbuf_init(&shown);
    dse_strbuf_addf(&line, "%s%s%s%s%s", program, kind, where, *where ? ": " : "", text);
    dse_mask_controls(line.data, line.len, DSE_ONE_LINE);
    if (width)
        terminal_add_message(line.data, width, &shown);
    else
        dse_strbuf_adds(&shown, line.data);
    fprintf(stderr, "%s%s%s%s%s\n", program, colours ? colour : "", kind, colours ? TERMINAL_PLAIN : "",
            shown.data + sizeof program - 1 + strlen(kind));
    dse_strbuf_free(&shown);
    dse_strbuf_free(&line);
}

int report_error(const dse_error *err)
{
    put_message(err->status == DSE_E_INTERRUPT ? "" : "error: ", TERMINAL_RED, err->where, err->text);
    return exit_code(err->status);
}

static void put_formatted(const char *kind, const char *colour, const char *fmt, va_list ap)
{
    char text[768];

    vsnprintf(text, sizeof text, fmt, ap);
    put_message(kind, colour, "", text);
}

void report_warning(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    put_formatted("warning: ", TERMINAL_YELLOW, fmt, ap);
    va_end(ap);
}

void report_note(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    put_formatted("note: ", "", fmt, ap);
    va_end(ap);
}

void report_unknown_keys(const char *path, uint32_t n, const char *first)
{
    if (n)
        report_warning("%.300s: '%s'%s has no effect; neither has it in ASTRA-sim", path, first,
                       n > 1 ? " (and other keys)" : "");
}
