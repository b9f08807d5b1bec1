#include "report/prose.h"

/* ---- figures -------------------------------------------------------------------------------- */

static report_text unbroken(report_text t)
{
    for (char *c = t.text; *c; c++)
        *c = *c == ' ' ? REPORT_UNBROKEN[0] : *c;
    return t;
}

report_text report_say_time(uint64_t ns) { return unbroken(report_seconds((double)ns * 1e-9)); }
report_text report_say_bytes(double bytes) { return unbroken(report_size(bytes)); }

report_text report_say_share(double part, double whole)
{
    return report_format(whole > 0 ? "%.1f%%" : "-", part / whole * 100);
}

void report_say_point(const store_row *r, dse_strbuf *p)
{
    strategy_say(&r->strategy, store_row_profile(r), REPORT_UNBROKEN, p);
}

const char *report_separator(size_t k, size_t n) { return k + 1 >= n ? "" : k + 2 == n ? " and " : ", "; }

/* ---- parts ---------------------------------------------------------------------------------- */

#define MAX_PARTS (REPORT_N_STEP_PARTS > REPORT_N_PEAK_PARTS ? REPORT_N_STEP_PARTS : REPORT_N_PEAK_PARTS)

typedef struct {
    const report_part *part;
    uint64_t size;
    bool less;
} share;

/* Largest first, stable. Returns the new length. */
static size_t insert(share *list, size_t n, share s)
{
    size_t at = n;

    if (!s.size)
        return n;
    for (; at > 0 && list[at - 1].size < s.size; at--)
        list[at] = list[at - 1];
    list[at] = s;
    return n + 1;
}

size_t report_say_parts(const store_metrics *m, const report_part *parts, size_t n, size_t first, size_t end,
                        dse_strbuf *p)
{
    bool time = parts == report_step_parts;
    uint64_t whole = time ? m->wall_time : m->peak_memory;
    share list[MAX_PARTS];
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count = insert(list, count, (share){&parts[i], report_part_of(m, &parts[i]), false});
    end = end < count ? end : count;
    for (size_t i = first; i < end; i++) {
        const double size = (double)list[i].size;
        const report_text text = time ? report_say_time(list[i].size) : report_say_bytes(size);

        dse_strbuf_addf(p, "%s (%s, %s)%s", report_part_words(list[i].part, m), text.text,
                        report_say_share(size, (double)whole).text, report_separator(i, end));
    }
    return count;
}

void report_say_differences(const store_metrics *m, const store_metrics *than, dse_strbuf *p)
{
    share list[REPORT_N_STEP_PARTS];
    size_t count = 0;

    for (size_t i = 0; i < REPORT_N_STEP_PARTS; i++) {
        uint64_t a = report_part_of(m, &report_step_parts[i]),
                 b = report_part_of(than, &report_step_parts[i]);

        count = insert(list, count, (share){&report_step_parts[i], a > b ? a - b : b - a, a < b});
    }
    for (size_t i = 0; i < count; i++)
        dse_strbuf_addf(p, "%s %s for %s%s", report_say_time(list[i].size).text,
                        list[i].less ? "less" : "more", report_part_words(list[i].part, m),
                        report_separator(i, count));
}

/* ---- paragraphs ----------------------------------------------------------------------------- */

void report_end_paragraph(dse_strbuf *p, dse_strbuf *out)
{
    size_t before = out->len;

    dse_strbuf_add_wrapped(out, p->data, 0, REPORT_WIDTH);
    for (size_t i = before; i < out->len; i++)
        if (out->data[i] == REPORT_UNBROKEN[0])
            out->data[i] = ' ';
    dse_strbuf_adds(out, "\n\n");
    dse_strbuf_clear(p);
}

void report_paragraph(dse_strbuf *out, const char *fmt, ...)
{
    dse_strbuf p;
    va_list ap;

    dse_strbuf_init(&p);
    va_start(ap, fmt);
    dse_strbuf_vaddf(&p, fmt, ap);
    va_end(ap);
    report_end_paragraph(&p, out);
    dse_strbuf_free(&p);
}
