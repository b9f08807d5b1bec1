/* Boxes of actions over time. Colours are told apart by colour-blind readers as well (after Okabe and
 * Ito), and are all light enough for dark text, so that a page may be light or dark. */
#include "draw/schedule.h"
#include "draw/elements.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_ACTIONS 20000

#define MARGIN     20.0
#define TITLE      34.0
#define LABEL      64.0 /* of a rank, left of its row */
#define ROW        26.0
#define GAP        4.0 /* between rows */
#define DIGIT      6.0 /* of a number in a box */
#define LEGEND_BOX 18.0
#define LETTER     6.4 /* of the legend, on average */

#define LEAST_BOX  16.0   /* width of the shortest action, if the picture stays below MOST_WIDE */
#define MOST_WIDE  8000.0 /* of all rows */
#define LEAST_WIDE 640.0

#define N_SHADES 4

static char kind_class(uint32_t kind) { return (char)tolower(sched_letters[kind]); }

/* Each a little lighter than the one before it: a rank's chunks in their order, or its directions. */
static const char *const colours[SCHED_KINDS][N_SHADES] = {
    {"#56b4e9", "#73c1ed", "#8fcef0", "#aadaf4"},
    {"#e5804a", "#e99669", "#eeab88", "#f2c0a4"},
    {"#f2c91d", "#f4d243", "#f6db6a", "#f8e48e"},
    {"#2fb592", "#52c2a5", "#76ceb7", "#97dac8"},
};

/* All rules are below one class, so that they do not affect a page that embeds the picture. */
static const char style[] = "<style>\n"
                            ".schedule{font-family:sans-serif}\n"
                            ".schedule .page{fill:#fff}\n"
                            ".schedule .row{fill:#8b949e;fill-opacity:.12}\n"
                            ".schedule text{fill:#1f2328;font-size:11px}\n"
                            ".schedule .n{fill:#101418;font-size:10px;text-anchor:middle}\n"
                            ".schedule .tick{text-anchor:middle}\n"
                            ".schedule .legend{font-size:12px}\n"
                            ".schedule .title{font-size:15px;font-weight:bold}\n"
                            ".schedule .axis{fill:none;stroke:#8b949e}\n"
                            ".schedule .pair{fill:none;stroke:#57606a;stroke-width:1.5}\n"
                            "@media (prefers-color-scheme:dark){\n"
                            ".schedule .page{fill:#0d1117}\n"
                            ".schedule text{fill:#e6edf3}\n"
                            ".schedule .n{fill:#101418}\n"
                            ".schedule .pair{stroke:#e6edf3}\n"
                            "}\n";

typedef struct {
    const sched_plan *plan;
    const sched_times *times;
    const uint32_t *shade; /* [stages of all directions] */
    double pixels;         /* of a unit of time */
    uint64_t end;          /* what begins later is not drawn */
    bool in_ms;            /* times are ns, and people read milliseconds */
    bool has_kind[SCHED_KINDS], has_pair, has_shades;
    dse_strbuf *out;
} picture;

/* ---- what to draw -------------------------------------------------------------------------- */

/* A stage's place among those of its rank, spread over the shades; with two directions, its direction. */
static void set_shades(const sched_plan *p, uint32_t *shade, bool *several)
{
    uint32_t n = p->n_directions * p->n_stages, *chunks = dse_calloc(p->n_ranks, sizeof *chunks);

    *several = p->n_directions > 1;
    sched_find_chunks(p, shade, chunks);
    for (uint32_t s = 0; s < n; s++) {
        uint32_t of = chunks[p->stage_rank[s]];

        *several = *several || of > 1;
        if (p->n_directions > 1)
            shade[s] = s < p->n_stages ? 0 : N_SHADES - 1;
        else if (of > 1)
            shade[s] = shade[s] * (N_SHADES - 1) / (of - 1);
    }
    dse_free(chunks);
}

static void find_kinds(picture *p)
{
    for (uint32_t i = 0; i < sched_n_actions(p->plan); i++) {
        p->has_kind[p->plan->action[i].kind] = true;
        p->has_pair = p->has_pair || p->plan->action[i].with_next;
    }
}

/* The shortest action that takes time has LEAST_BOX, within what is neither too small nor too wide to look
 * at. */
static double choose_pixels(const sched_plan *p, const sched_times *t, uint64_t end)
{
    uint64_t shortest = end;
    double wide;

    for (uint32_t i = 0; i < sched_n_actions(p); i++) {
        uint64_t d = t->end[i] - t->start[i];

        if (d && d < shortest)
            shortest = d;
    }
    if (!end)
        return 0;
    wide = (double)end / (double)shortest * LEAST_BOX;
    return fmin(fmax(wide, LEAST_WIDE), MOST_WIDE) / (double)end;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static double left_of(const picture *p, uint64_t time) { return MARGIN + LABEL + (double)time * p->pixels; }
static double top_of(uint32_t rank) { return MARGIN + TITLE + rank * (ROW + GAP); }

/* A time of a step is read to a thousandth of a millisecond. */
static void put_time(const picture *p, uint64_t t)
{
    if (!p->in_ms)
        dse_strbuf_addu(p->out, t);
    else if (t % 1000000 < 1000)
        dse_strbuf_addf(p->out, "%" PRIu64, t / 1000000);
    else
        dse_strbuf_addf(p->out, "%" PRIu64 ".%03u", t / 1000000, (unsigned)(t % 1000000 / 1000));
}

static void put_action(const picture *p, uint32_t rank, uint32_t i)
{
    const sched_action *x = &p->plan->action[i];
    double left = left_of(p, p->times->start[i]), w = left_of(p, p->times->end[i]) - left, top = top_of(rank);
    char class[4] = {kind_class(x->kind), (char)('0' + p->shade[x->stage]), '\0', '\0'}, number[16];
    int digits = snprintf(number, sizeof number, "%" PRIu32, x->micro_batch);

    dse_strbuf_adds(p->out, "<g><title>");
    sched_add_action(p->plan, x, p->out);
    dse_strbuf_addf(p->out, ": %s of micro-batch %" PRIu32 " in stage %" PRIu32 ", ",
                    sched_kind_names[x->kind], x->micro_batch, x->stage % p->plan->n_stages);
    put_time(p, p->times->start[i]);
    dse_strbuf_adds(p->out, " to ");
    put_time(p, p->times->end[i]);
    dse_strbuf_adds(p->out, p->in_ms ? " ms</title>" : "</title>");
    draw_rect(class, (draw_point){left, top}, fmax(w - 0.6, 0.4), ROW, 2, p->out);
    if (w >= digits * DIGIT + 2) {
        draw_text("n", (draw_point){left + w / 2, top + ROW / 2 + 3.5}, p->out);
        dse_strbuf_addf(p->out, "%s</text>", number);
    }
    dse_strbuf_adds(p->out, "</g>\n");
}

static void put_rank(const picture *p, uint32_t rank)
{
    const sched_plan *plan = p->plan;

    draw_text("", (draw_point){MARGIN, top_of(rank) + ROW / 2 + 4}, p->out);
    dse_strbuf_addf(p->out, "rank %" PRIu32 "</text>\n", rank);
    draw_rect("row", (draw_point){left_of(p, 0), top_of(rank)}, (double)p->end * p->pixels, ROW, 0, p->out);
    for (uint32_t i = plan->first[rank]; i < plan->first[rank + 1] && p->times->end[i] <= p->end; i++)
        put_action(p, rank, i);
    for (uint32_t i = plan->first[rank]; i < plan->first[rank + 1]; i++) {
        double left = left_of(p, p->times->start[i]);

        if (plan->action[i].with_next && p->times->end[i + 1] <= p->end)
            draw_rect("pair", (draw_point){left, top_of(rank)}, left_of(p, p->times->end[i + 1]) - left - 0.6,
                      ROW, 2, p->out);
    }
}

/* ---- the page ------------------------------------------------------------------------------ */

/* 1, 2 or 5 times a power of ten, so that ticks are some 80 pixels apart. */
static uint64_t tick_step(double pixels)
{
    static const uint64_t of_ten[] = {1, 2, 5};

    for (uint64_t power = 1; power < UINT64_MAX / 100; power *= 10)
        for (size_t i = 0; i < 3; i++)
            if ((double)(power * of_ten[i]) * pixels >= 80)
                return power * of_ten[i];
    return UINT64_MAX;
}

static void put_axis(const picture *p, double y)
{
    uint64_t step = p->pixels > 0 ? tick_step(p->pixels) : UINT64_MAX;

    dse_strbuf_adds(p->out, "<path class=\"axis\" d=\"M");
    draw_number(left_of(p, 0), p->out);
    dse_strbuf_addc(p->out, ' ');
    draw_number(y, p->out);
    dse_strbuf_addc(p->out, 'H');
    draw_number(left_of(p, p->end), p->out);
    for (uint64_t t = 0; t <= p->end && step != UINT64_MAX; t += step) {
        dse_strbuf_addc(p->out, 'M');
        draw_number(left_of(p, t), p->out);
        dse_strbuf_addc(p->out, ' ');
        draw_number(y, p->out);
        dse_strbuf_adds(p->out, "v5");
    }
    dse_strbuf_adds(p->out, "\"/>\n");
    for (uint64_t t = 0; t <= p->end && step != UINT64_MAX; t += step) {
        draw_text("tick", (draw_point){left_of(p, t), y + 17}, p->out);
        put_time(p, t);
        dse_strbuf_adds(p->out, p->in_ms && !t ? " ms</text>\n" : "</text>\n");
    }
}

static double put_legend_text(const picture *p, draw_point at, const char *text)
{
    draw_text("legend", (draw_point){at.x + LEGEND_BOX + 6, at.y + 10}, p->out);
    dse_strbuf_addf(p->out, "%s</text>\n", text);
    return at.x + LEGEND_BOX + 24 + LETTER * (double)strlen(text);
}

static void put_legend(const picture *p, double y)
{
    draw_point at = {MARGIN, y};

    for (uint32_t k = 0; k < SCHED_KINDS; k++) {
        char class[4] = {kind_class(k), '0', '\0', '\0'};

        if (!p->has_kind[k])
            continue;
        draw_rect(class, at, LEGEND_BOX, 12, 2, p->out);
        at.x = put_legend_text(p, at, sched_kind_names[k]);
    }
    draw_rect("row", at, LEGEND_BOX, 12, 0, p->out);
    at.x = put_legend_text(p, at, "idle");
    if (p->has_pair) {
        draw_rect("pair", at, LEGEND_BOX, 12, 2, p->out);
        at.x = put_legend_text(p, at, "overlapped pair");
    }
    at = (draw_point){MARGIN, y + 22};
    if (!p->has_shades)
        return;
    for (uint32_t k = 0; k < N_SHADES; k++) {
        char class[4] = {'f', (char)('0' + k), '\0', '\0'};

        draw_rect(class, (draw_point){at.x + k * LEGEND_BOX / N_SHADES, at.y}, LEGEND_BOX / N_SHADES, 12, 0,
                  p->out);
    }
    put_legend_text(p, at,
                    p->plan->n_directions > 1 ? "lighter: direction b, from the last rank to the first"
                                              : "lighter: the later chunks of a rank");
}

static void put_page(const picture *p, const char *title)
{
    double axis = top_of(p->plan->n_ranks) + 2, legend = axis + 34, h = legend + (p->has_shades ? 56 : 34);
    double w = fmax(left_of(p, p->end) + 2 * MARGIN, 700);

    dse_strbuf_adds(p->out, "<svg class=\"schedule\" xmlns=\"http://www.w3.org/2000/svg\"");
    draw_attribute("width", w, p->out);
    draw_attribute("height", h, p->out);
    dse_strbuf_adds(p->out, " viewBox=\"0 0 ");
    draw_number(w, p->out);
    dse_strbuf_addc(p->out, ' ');
    draw_number(h, p->out);
    dse_strbuf_adds(p->out, "\">\n<title>");
    draw_escaped(title, p->out);
    dse_strbuf_addf(p->out, "</title>\n%s", style);
    for (uint32_t k = 0; k < SCHED_KINDS; k++)
        for (uint32_t shade = 0; shade < N_SHADES; shade++)
            dse_strbuf_addf(p->out, ".schedule .%c%" PRIu32 "{fill:%s}\n", kind_class(k), shade,
                            colours[k][shade]);
    dse_strbuf_adds(p->out, "</style>\n");
    draw_rect("page", (draw_point){0, 0}, w, h, 0, p->out);
    draw_text("title", (draw_point){MARGIN, MARGIN + 8}, p->out);
    draw_escaped(title, p->out);
    dse_strbuf_adds(p->out, "</text>\n");
    for (uint32_t rank = 0; rank < p->plan->n_ranks; rank++)
        put_rank(p, rank);
    put_axis(p, axis);
    put_legend(p, legend);
    dse_strbuf_adds(p->out, "</svg>\n");
}

static void put_plan(picture *p, const char *title)
{
    uint32_t *shade = dse_calloc((size_t)p->plan->n_directions * p->plan->n_stages, sizeof *shade);

    p->pixels = choose_pixels(p->plan, p->times, p->end);
    set_shades(p->plan, shade, &p->has_shades);
    p->shade = shade;
    find_kinds(p);
    put_page(p, title);
    dse_free(shade);
}

dse_status draw_schedule_svg(const sched_plan *p, const sched_times *t, const char *title, dse_strbuf *out,
                             dse_error *err)
{
    picture pic = {.plan = p, .times = t, .end = t->makespan, .out = out};

    if (sched_n_actions(p) > MAX_ACTIONS)
        return dse_fail(err, DSE_E_RANGE,
                        "a picture of %" PRIu32
                        " actions cannot be read; at most %d are drawn; draw fewer micro-batches",
                        sched_n_actions(p), MAX_ACTIONS);
    put_plan(&pic, title);
    return DSE_OK;
}

void draw_step_svg(const sched_plan *p, const sched_times *t, const char *title, uint32_t most,
                   dse_strbuf *out, uint64_t *until)
{
    const uint32_t n = sched_n_actions(p);
    picture pic = {.plan = p, .times = t, .end = t->makespan, .in_ms = true, .out = out};

    /* Actions are spread evenly enough over the step, so that the share of time is the share of actions. */
    if (n > most)
        pic.end = (uint64_t)((double)t->makespan * most / n);
    *until = pic.end;
    put_plan(&pic, title);
}
