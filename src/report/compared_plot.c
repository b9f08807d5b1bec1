/* Simulated against measured step times in logarithmic scale, as characters: runs on the diagonal are
 * simulated right. */
#include "base/array.h"
#include "report/compared_parts.h"

#include <math.h>
#include <string.h>

#define COLUMNS    40
#define ROWS       16
#define FEWEST     5  /* runs that are worth a picture */
#define MARGIN     10 /* of the labels of the upper end */
#define AXIS_WORDS "measured"

typedef struct {
    double low, high;              /* seconds, of both axes */
    unsigned count[ROWS][COLUMNS]; /* row 0 is the lowest */
} plot;

/* The largest of 1, 2, 5 times a power of ten that is not above v; with up: the smallest that is not
 * below. */
static double round_to_125(double v, bool up)
{
    static const double steps[] = {1, 2, 5, 10};
    double power = pow(10, floor(log10(v))), found = power;

    for (size_t i = 0; i < DSE_COUNT(steps); i++) {
        double step = steps[i] * power;

        if (up && step >= v * (1 - 1e-12))
            return step;
        if (!up && step <= v * (1 + 1e-12))
            found = step;
    }
    return up ? 10 * power : found;
}

static bool has_both(const report_compared_run *r)
{
    return compared_simulated(r) > 0 && compared_measured(r) > 0;
}

static size_t make_range(const report_compared *c, plot *p)
{
    size_t n = 0;

    *p = (plot){.low = INFINITY, .high = 0};
    for (size_t i = 0; i < c->n_runs; i++) {
        double simulated = compared_simulated(&c->run[i]), measured = compared_measured(&c->run[i]);

        if (!has_both(&c->run[i]))
            continue;
        p->low = fmin(p->low, fmin(simulated, measured));
        p->high = fmax(p->high, fmax(simulated, measured));
        n++;
    }
    if (!n)
        return 0;
    p->low = round_to_125(p->low, false);
    p->high = round_to_125(p->high, true);
    if (p->high <= p->low)
        p->high = round_to_125(p->low * 1.5, true);
    return n;
}

static size_t cell_of(const plot *p, double v, size_t cells)
{
    double at = log(v / p->low) / log(p->high / p->low) * (double)cells;

    return at <= 0 ? 0 : at >= (double)cells ? cells - 1 : (size_t)at;
}

static char glyph(const plot *p, size_t row, size_t column)
{
    unsigned n = p->count[row][column];

    if (n)
        return n == 1 ? 'o' : n < 10 ? (char)('0' + n) : '#';
    /* The middle of the column lies in this row. */
    return (2 * column + 1) * ROWS / ((size_t)2 * COLUMNS) == row ? '.' : ' ';
}

static void add_row(const plot *p, size_t row, dse_strbuf *out)
{
    char line[COLUMNS + 1];
    size_t end = COLUMNS;
    report_text label = {""};

    if (row == ROWS - 1)
        label = compared_value(p->high, "s");
    else if (row == 0)
        label = compared_value(p->low, "s");
    for (size_t column = 0; column < COLUMNS; column++)
        line[column] = glyph(p, row, column);
    while (end && line[end - 1] == ' ')
        end--;
    dse_strbuf_addf(out, "%*s |%.*s\n", MARGIN, label.text, (int)end, line);
}

void compared_plot(const report_compared *c, dse_strbuf *out)
{
    report_text low, high;
    plot p;

    if (make_range(c, &p) < FEWEST)
        return;
    for (size_t i = 0; i < c->n_runs; i++)
        if (has_both(&c->run[i]))
            p.count[cell_of(&p, compared_simulated(&c->run[i]), ROWS)]
                   [cell_of(&p, compared_measured(&c->run[i]), COLUMNS)]++;
    dse_strbuf_addf(out, "%*s\n", MARGIN + 2, "simulated");
    for (size_t row = ROWS; row-- > 0;)
        add_row(&p, row, out);
    low = compared_value(p.low, "s");
    high = compared_value(p.high, "s");
    dse_strbuf_addf(out, "%*s +----------------------------------------\n", MARGIN, "");
    dse_strbuf_addf(out, "%*s  %s%*s%*s\n", MARGIN, "", low.text,
                    (int)((COLUMNS + strlen(AXIS_WORDS)) / 2 - strlen(low.text)), AXIS_WORDS,
                    (int)((COLUMNS - strlen(AXIS_WORDS)) / 2), high.text);
    dse_strbuf_addf(out, "%*s  o a run, 2 to 9 so many, # more; . as measured\n\n", MARGIN, "");
}
