/* The rows of a list as a table of text: the values that have headings, in aligned columns. */
#include "base/names.h"
#include "report/tree.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define WIDTH 80 /* columns of a usual terminal */

typedef struct {
    const char *heading;
    bool left; /* texts; numbers go right */
    size_t width;
} column;

/* ---- colours -------------------------------------------------------------------------------- */

static bool colours;

void report_use_colours(bool yes) { colours = yes; }

const char *report_begin_style(report_style style)
{
    static const char *const codes[] = {
        [REPORT_PLAIN] = "\033[0m", [REPORT_HEADING] = "\033[1m", [REPORT_WINNER] = "\033[32m"};

    return colours ? codes[style] : "";
}

/* ---- cells ---------------------------------------------------------------------------------- */

void report_add_cell(const report_value *v, dse_strbuf *out)
{
    switch (v->kind) {
    case REPORT_TEXT:
    case REPORT_CELL: dse_strbuf_adds(out, v->text ? v->text : "-"); break;
    case REPORT_BOOL: dse_strbuf_adds(out, v->yes ? "yes" : "no"); break;
    case REPORT_COUNT: dse_strbuf_addu(out, v->count); break;
    case REPORT_TIME: dse_strbuf_adds(out, report_time(v->count).text); break;
    case REPORT_BYTES: dse_strbuf_adds(out, report_bytes(v->count).text); break;
    case REPORT_INTEGER: dse_strbuf_addf(out, "%" PRId64, v->integer); break;
    case REPORT_FIXED: dse_strbuf_addf(out, isnan(v->real) ? "-" : "%.*f", v->decimals, v->real); break;
    case REPORT_REAL: dse_strbuf_addf(out, isnan(v->real) ? "-" : "%.10g", v->real); break;
    default: dse_strbuf_addc(out, '-');
    }
}

void report_add_cut(const char *text, size_t room, dse_strbuf *out)
{
    size_t n = strlen(text), head = (room - 3) / 2, tail = room - 3 - head;

    if (n <= room)
        dse_strbuf_adds(out, text);
    else
        dse_strbuf_addf(out, "%.*s...%s", (int)head, text, text + n - tail);
}

/* The text of a value in one line. */
static const char *cell(const report_value *v, dse_strbuf *text)
{
    dse_strbuf_clear(text);
    report_add_cell(v, text);
    if (text->len)
        dse_mask_controls(text->data, text->len, DSE_ONE_LINE);
    return text->data;
}

static const report_node *next_cell(const report_node *n)
{
    while (n && !n->value.heading)
        n = n->next;
    return n;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* Lines of a heading are counted from the bottom: 0 is the one above the cells. Returns its bytes. */
static size_t heading_line(const char *heading, int line, const char **text)
{
    const char *newline = strchr(heading, '\n');

    *text = line == 0 && newline ? newline + 1 : heading;
    if (line == 0)
        return strlen(*text);
    return newline ? (size_t)(newline - heading) : 0;
}

/* The last column ends the line, without the spaces at its end: it may be empty. */
static void print_cell(const column *c, int gap, bool last, const char *text, size_t n, dse_strbuf *out)
{
    const int pad = (int)(c->width - n);

    dse_strbuf_addf(out, "%*s", c->left ? 0 : pad, "");
    dse_strbuf_add(out, text, n);
    if (!last) {
        dse_strbuf_addf(out, "%*s", c->left ? pad + gap : gap, "");
        return;
    }
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
    dse_strbuf_addc(out, '\n');
}

static void print_headings(const column *c, size_t n, int gap, dse_strbuf *out)
{
    bool two_lines = false;
    const char *text;

    for (size_t i = 0; i < n; i++)
        two_lines |= heading_line(c[i].heading, 1, &text) > 0;
    dse_strbuf_adds(out, report_begin_style(REPORT_HEADING));
    for (int line = two_lines; line >= 0; line--)
        for (size_t i = 0; i < n; i++) {
            const size_t length = heading_line(c[i].heading, line, &text);

            print_cell(&c[i], gap, i + 1 == n, text, length, out);
        }
    dse_strbuf_adds(out, report_begin_style(REPORT_PLAIN));
}

/* The columns of the first row, as wide as what is in them. */
static column *columns_of(const report_node *list, size_t *n, dse_strbuf *text)
{
    const report_node *first = list->first ? next_cell(list->first->first) : NULL;
    column *c = NULL;
    size_t cap = 0;

    *n = 0;
    for (const report_node *i = first; i; i = next_cell(i->next)) {
        const char *line;
        const size_t upper = heading_line(i->value.heading, 1, &line),
                     lower = heading_line(i->value.heading, 0, &line);

        DSE_ARENA_GROW(list->arena, c, cap, *n + 1);
        c[(*n)++] = (column){i->value.heading, i->value.kind == REPORT_TEXT, upper > lower ? upper : lower};
    }
    for (const report_node *row = list->first; row; row = row->next) {
        size_t k = 0;

        for (const report_node *i = next_cell(row->first); i; i = next_cell(i->next), k++) {
            const size_t width = strlen(cell(&i->value, text));

            c[k].width = width > c[k].width ? width : c[k].width;
        }
    }
    return c;
}

/* Spaces between columns: two, or one where only that makes a row fit a terminal. */
static int gap_of(const column *c, size_t n)
{
    size_t width = 0;

    for (size_t i = 0; i < n; i++)
        width += c[i].width;
    return n && width + 2 * (n - 1) > WIDTH && width + (n - 1) <= WIDTH ? 1 : 2;
}

void report_rows_table(const report_node *list, dse_strbuf *out)
{
    dse_strbuf text = dse_strbuf_in(list->arena);
    size_t n;
    const column *c = columns_of(list, &n, &text);
    const int gap = gap_of(c, n);

    if (n)
        print_headings(c, n, gap, out);
    for (const report_node *row = list->first; row; row = row->next) {
        const bool wins = row == list->first && n && !c[0].left && !strcmp(c[0].heading, "rank");
        size_t k = 0;

        dse_strbuf_adds(out, wins ? report_begin_style(REPORT_WINNER) : "");
        for (const report_node *i = next_cell(row->first); i; i = next_cell(i->next), k++) {
            cell(&i->value, &text);
            print_cell(&c[k], gap, k + 1 == n, text.data, text.len, out);
        }
        dse_strbuf_adds(out, wins ? report_begin_style(REPORT_PLAIN) : "");
    }
}

void report_table_end(report_tree *t, dse_strbuf *out)
{
    report_rows_table(&t->root, out);
    report_tree_free(t);
}
