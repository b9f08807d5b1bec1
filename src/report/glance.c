#include "report/glance_parts.h"

#include "base/array.h"
#include "report/html.h"
#include "report/prose.h"

#include <string.h>

#define PAGE_ROWS    5   /* of a table of the first page */
#define PAGE_RANKS   8   /* of its bars */
#define LONG_ROWS    50  /* of a longer table, in text */
#define PAGE_NAME    30  /* characters of a kernel's name on it, at 80 columns */
#define LONG_NAME    64  /* in a longer table */
#define LONG_WIDTH   136 /* of that */
#define PAGE_COLUMNS 114 /* of the first page in HTML */
#define LABEL        12  /* of a fact */

/* The table of operators: characters of its names at most, and of its numbers with the spaces between. */
#define LONG_OPERATOR 48
#define LONG_MODULE   40
#define NUMBERS       31

#define COPIES_WIDTH 90 /* of the table of copies, with the longest call of each */

/* ---- the tree ------------------------------------------------------------------------------- */

static size_t width_of(const report_glance *g)
{
    return g->columns > REPORT_WIDTH ? g->columns : REPORT_WIDTH;
}

/* The long table as wide as a terminal, without two of its columns where it is a narrow one. */
static void put_kernels(const report_glance *g, size_t most, report_node *root)
{
    const bool brief = g->columns && g->columns < LONG_WIDTH;

    glance_put_kernels(g, most, brief,
                       brief                     ? PAGE_NAME + width_of(g) - REPORT_WIDTH
                       : g->columns > LONG_WIDTH ? LONG_NAME + g->columns - LONG_WIDTH
                                                 : LONG_NAME,
                       root);
}

/* The names share what the numbers leave of a narrow terminal. */
static void put_operators(const report_glance *g, size_t most, report_node *root)
{
    const size_t room = g->columns ? width_of(g) - NUMBERS : LONG_OPERATOR + LONG_MODULE, own = 3 * room / 5;

    glance_put_operators(g, most, own < LONG_OPERATOR ? own : LONG_OPERATOR,
                         room - own < LONG_MODULE ? room - own : LONG_MODULE, root);
}

static void put_page(const report_glance *g, report_node *root)
{
    glance_put_facts(g, root);
    glance_put_devices(g, PAGE_RANKS, root);
    glance_put_kernels(g, PAGE_ROWS, true, PAGE_NAME + width_of(g) - REPORT_WIDTH, root);
    glance_put_shapes(g, 3, root);
    glance_put_collectives(g, PAGE_ROWS, root);
}

static void put_all(const report_glance *g, size_t most, report_node *root)
{
    if (!g->parts)
        put_page(g, root);
    if (g->parts & REPORT_GLANCE_RANKS)
        glance_put_devices(g, SIZE_MAX, root);
    if (g->parts & REPORT_GLANCE_IDLE)
        glance_put_idle(g, root);
    if (g->parts & REPORT_GLANCE_KERNELS) {
        put_kernels(g, most, root);
        glance_put_kinds(g, root);
        glance_put_copies(g, g->columns && width_of(g) < COPIES_WIDTH, root);
        glance_put_shapes(g, most, root);
    }
    if (g->parts & REPORT_GLANCE_COLLECTIVES)
        glance_put_collectives(g, most, root);
    if (g->parts & REPORT_GLANCE_OPERATORS)
        put_operators(g, most, root);
}

void report_glance_tree(const report_glance *g, report_node *root) { put_all(g, SIZE_MAX, root); }

/* ---- as text and as a page ------------------------------------------------------------------ */

static const struct {
    const char *key, *title, *none;
} sections[] = {
    {"devices", "Where the time goes", "no device's work is recorded"},
    {"idle", "Why devices were idle, in shares of their time", "no device's work is recorded"},
    {"blocking_calls", "Calls in which the host waited for a device", NULL},
    {"kernels", "Kernels", "no kernel is recorded"},
    {"kinds", "Kernels by their kind of work", NULL},
    {"copies", "Copies and fills of memory", NULL},
    {"shapes", "Shapes of operators, and what they achieve", NULL},
    {"collectives", "Collectives, by group and size", "no collective is recorded on a device"},
    {"operators", "Operators and their modules, by the time of their kernels", "no kernel is recorded"},
};

static size_t section_of(const report_node *list)
{
    size_t i = 0;

    while (i < DSE_COUNT(sections) && strcmp(sections[i].key, list->value.key) != 0)
        i++;
    return i;
}

/* "Kernels: the first 50 of 312" */
static const char *title_of(const report_glance *g, const report_node *list, size_t section)
{
    const struct {
        const char *key;
        size_t n;
    } all[] = {{"devices", g->run.n_devices},
               {"kernels", g->run.kernels.n},
               {"collectives", g->run.collectives.n},
               {"operators", g->operators.n}};
    size_t shown = 0;

    for (const report_node *r = list->first; r; r = r->next)
        shown++;
    for (size_t i = 0; i < DSE_COUNT(all); i++)
        if (!strcmp(all[i].key, list->value.key) && shown < all[i].n)
            return dse_arena_printf(list->arena, "%s: %s %zu of %zu", sections[section].title,
                                    i ? "the first" : "those that the others wait for,", shown, all[i].n);
    return sections[section].title;
}

static bool is_left_out(const report_glance *g, const report_node *list, size_t section)
{
    return !list->first && (!g->parts || !sections[section].none);
}

static void add_facts(const report_node *facts, size_t width, dse_strbuf *out)
{
    for (const report_node *f = facts->first; f; f = f->next) {
        dse_strbuf_addf(out, "%-*s", LABEL, f->first->value.text);
        dse_strbuf_add_wrapped(out, f->last->value.text, LABEL, width);
        dse_strbuf_addc(out, '\n');
    }
}

void report_glance_text(const report_glance *g, dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t);
    bool first = true;

    put_all(g, LONG_ROWS, root);
    for (const report_node *list = root->first; list; list = list->next, first = false) {
        const size_t s = section_of(list);

        if (s == DSE_COUNT(sections)) {
            add_facts(list, width_of(g), out);
            continue;
        }
        if (is_left_out(g, list, s))
            continue;
        dse_strbuf_addf(out, "%s%s%s%s\n", first ? "" : "\n", report_begin_style(REPORT_HEADING),
                        title_of(g, list, s), report_begin_style(REPORT_PLAIN));
        if (list->first)
            report_rows_table(list, out);
        else
            dse_strbuf_addf(out, "%s\n", sections[s].none);
    }
    report_tree_free(&t);
}

void report_glance_html(const report_glance *g, dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t);
    report_glance page = *g;

    page.columns = g->parts ? 0 : PAGE_COLUMNS; /* it has room, and scrolls */
    put_all(&page, LONG_ROWS, root);
    report_html_begin(g->path, &report_web_measured_css, "", out);
    report_html_element("<h1>", g->path, "</h1>\n", out);
    for (const report_node *list = root->first; list; list = list->next) {
        const size_t s = section_of(list);

        if (s == DSE_COUNT(sections)) {
            report_rows_html(list, out);
            continue;
        }
        if (is_left_out(g, list, s))
            continue;
        report_html_element("<h2>", title_of(g, list, s), "</h2>\n", out);
        if (list->first)
            report_rows_html(list, out);
        else
            report_html_element("<p>", sections[s].none, "</p>\n", out);
    }
    report_html_end(out);
    report_tree_free(&t);
}
