#include "report/left.h"

#include "base/names.h"

#include <stdio.h>
#include <string.h>

#define WIDTH 100

void report_left_print(const report_left *left, size_t n, dse_strbuf *out)
{
    int digits = 0;

    for (size_t i = 0; i < n; i++) {
        int needed = snprintf(NULL, 0, "%zu", left[i].n);

        digits = needed > digits ? needed : digits;
    }
    if (n)
        dse_strbuf_adds(out, "Left out:\n");
    for (size_t i = 0; i < n; i++) {
        dse_strbuf text;

        dse_strbuf_init(&text);
        dse_strbuf_addf(&text, "%s%s %s", left[i].reason, left[i].n == 1 ? ":" : ", such as", left[i].first);
        dse_mask_controls(text.data, text.len, DSE_ONE_LINE);
        dse_strbuf_addf(out, "  %*zu  ", digits, left[i].n);
        dse_strbuf_add_wrapped(out, text.data, (size_t)digits + 4, WIDTH);
        dse_strbuf_addc(out, '\n');
        dse_strbuf_free(&text);
    }
}

void report_left_markdown(const report_left *left, size_t n, dse_strbuf *out)
{
    for (size_t i = 0; i < n; i++)
        dse_strbuf_addf(out, "%s%zu %s", i ? ", " : "\nLeft out: ", left[i].n, left[i].reason);
    dse_strbuf_adds(out, n ? ".\n" : "");
}

void report_put_left(const report_left *left, size_t n, report_node *to)
{
    report_node *list = report_lines(to, "left_out");

    for (size_t i = 0; i < n; i++)
        report_texts(report_row(list, V_TEXT("reason", left[i].reason), V_COUNT("runs", left[i].n),
                                V_TEXT("first", left[i].first)),
                     "each", left[i].each, left[i].each ? left[i].n : 0);
}

size_t report_note_stem(const char *note)
{
    size_t n = strlen(note);
    const char *open = n && note[n - 1] == ')' ? strstr(note, " (") : NULL;

    return open ? (size_t)(open - note) : n;
}

bool report_same_note(const char *a, const char *b)
{
    size_t n = report_note_stem(a);

    return n == report_note_stem(b) && memcmp(a, b, n) == 0;
}
