#include "base/names.h"

#include "base/array.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MAX_NAME 64

static size_t edit_distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b), row[MAX_NAME + 1];

    if (la > MAX_NAME || lb > MAX_NAME)
        return MAX_NAME;
    for (size_t j = 0; j <= lb; j++)
        row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            int same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            size_t best = diagonal + (same ? 0 : 1);

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[lb];
}

const char *dse_nearest(const char *name, const char *const *known, size_t n)
{
    size_t limit = strlen(name) / 3, best = MAX_NAME;
    const char *nearest = NULL;

    if (limit < 1)
        limit = 1;
    if (limit > 3)
        limit = 3;
    for (size_t i = 0; i < n; i++) {
        size_t d = edit_distance(name, known[i]);
        if (d < best) {
            best = d;
            nearest = known[i];
        }
    }
    return best <= limit ? nearest : NULL;
}

void dse_join(char *out, size_t size, const char *const *names, size_t n)
{
    size_t used = 0;

    if (!size)
        return;
    out[0] = '\0';
    for (size_t i = 0; i < n && used < size; i++) {
        int k = snprintf(out + used, size - used, "%s%s", i ? ", " : "", names[i]);
        used += k > 0 ? (size_t)k : 0;
    }
}

dse_status dse_fail_unknown(dse_error *err, dse_status st, const char *where, const char *what,
                            const char *name, const char *const *known, size_t n)
{
    const char *nearest = dse_nearest(name, known, n);
    char list[400];

    dse_join(list, sizeof list, known, n);
    if (nearest)
        return dse_fail_at(err, st, where, "unknown %s '%.60s'; did you mean '%s'? known: %s", what, name,
                           nearest, list);
    return dse_fail_at(err, st, where, "unknown %s '%.60s'; known: %s", what, name, list);
}

size_t dse_utf8_length(const char *text)
{
    /* Overlong forms, surrogates and what is beyond Unicode show in the second byte. */
    static const struct {
        unsigned char first, low, high;
    } second[] = {{0xe0, 0xa0, 0xbf}, {0xed, 0x80, 0x9f}, {0xf0, 0x90, 0xbf}, {0xf4, 0x80, 0x8f}};
    const unsigned char *p = (const unsigned char *)text;
    size_t n = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;

    if (!*p || (*p >= 0x80 && *p < 0xc2) || *p > 0xf4)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    for (size_t i = 0; i < DSE_COUNT(second); i++)
        if (*p == second[i].first && (p[1] < second[i].low || p[1] > second[i].high))
            return 0;
    return n;
}

/* Bytes of a control character, or of one that turns the direction of the text, at the start of a text of n
 * bytes; 0: there is none. */
static size_t control_length(const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;

    if (*p < 0x20 || *p == 0x7f)
        return 1;
    if (n > 1 && *p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
        return 2;
    /* U+200E, U+200F; U+202A to U+202E; U+2066 to U+2069 */
    if (n > 2 && *p == 0xe2 &&
        ((p[1] == 0x80 && (p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xaa && p[2] <= 0xae))) ||
         (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9)))
        return 3;
    return 0;
}

void dse_mask_controls(char *text, size_t n, dse_lines lines)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = control_length(text + i, n - i);

        if (length && (text[i] != '\n' || lines == DSE_ONE_LINE))
            memset(text + i, '?', length);
    }
}

bool dse_ends(const char *text, const char *ending)
{
    size_t n = strlen(text), of_ending = strlen(ending);

    return n >= of_ending && strcmp(text + n - of_ending, ending) == 0;
}

bool dse_is_printable(const char *text)
{
    for (size_t n; *text; text += n)
        if (!(n = dse_utf8_length(text)) || control_length(text, n))
            return false;
    return true;
}
