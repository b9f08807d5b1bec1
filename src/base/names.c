#include "base/names.h"

#include "base/array.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_NAME      64
#define SHORTEST_PART 3 /* letters of a name that say which longer one is meant */

static bool same(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

/* A letter too many, missing or wrong, and two that changed places, are one edit; a digit for another is
 * `of_digit`. MAX_NAME: more than `most`. */
static size_t edit_distance(const char *a, const char *b, size_t of_digit, size_t most)
{
    size_t la = strlen(a), lb = strlen(b), rows[3][MAX_NAME + 1], *before = rows[0], *last = rows[1],
           *row = rows[2];

    size_t least = 0, least_before;

    if (la > MAX_NAME || lb > MAX_NAME || la > lb + most || lb > la + most)
        return MAX_NAME;
    for (size_t j = 0; j <= lb; j++)
        last[j] = before[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *free_row = before;

        least_before = least;
        row[0] = least = i;
        for (size_t j = 1; j <= lb; j++) {
            const bool digits = isdigit((unsigned char)a[i - 1]) && isdigit((unsigned char)b[j - 1]);
            size_t best = last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : digits ? of_digit : 1);

            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]) &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
            least = best < least ? best : least;
        }
        if (least > most && least_before > most) /* what follows comes from one of these rows */
            return MAX_NAME;
        before = last;
        last = row;
        row = free_row;
    }
    return last[lb];
}

/* The length of the longest run of letters that both have. */
static size_t common_run(const char *a, const char *b)
{
    size_t longest = 0;

    for (; *a; a++)
        for (const char *p = b; *p; p++) {
            size_t n = 0;

            while (a[n] && same(a[n], p[n]))
                n++;
            longest = n > longest ? n : longest;
        }
    return longest;
}

/* The shortest name that has the whole of `name` in it, or else the longest that `name` begins with. */
static const char *longer_or_shorter(const char *name, const char *const *known, size_t n)
{
    const size_t length = strlen(name);
    const char *longer = NULL, *shorter = NULL;

    for (size_t i = 0; length >= SHORTEST_PART && i < n; i++) {
        const size_t of_known = strlen(known[i]);

        if (of_known > length && of_known <= MAX_NAME && common_run(name, known[i]) == length &&
            (!longer || of_known < strlen(longer)))
            longer = known[i];
        if (of_known >= SHORTEST_PART && of_known < length && !strncasecmp(name, known[i], of_known) &&
            (!shorter || of_known > strlen(shorter)))
            shorter = known[i];
    }
    return longer ? longer : shorter;
}

static const char *nearest_within(const char *name, const char *const *known, size_t n, size_t limit,
                                  size_t of_digit)
{
    size_t best = MAX_NAME;
    const char *nearest = NULL;

    for (size_t i = 0; i < n; i++) {
        size_t d = edit_distance(name, known[i], of_digit, limit);
        if (d < best ||
            (nearest && d == best && d <= limit && common_run(name, known[i]) > common_run(name, nearest))) {
            best = d;
            nearest = known[i];
        }
    }
    return best <= limit ? nearest : NULL;
}

/* A digit for another is another machine more often than a slip, so that such a name comes last. */
const char *dse_nearest(const char *name, const char *const *known, size_t n)
{
    size_t limit = strlen(name + strspn(name, "-")) / 3;
    const char *nearest;

    limit = limit < 1 ? 1 : limit > 3 ? 3 : limit;
    nearest = nearest_within(name, known, n, limit, 2);
    if (!nearest && strlen(name) <= MAX_NAME)
        nearest = longer_or_shorter(name, known, n);
    return nearest ? nearest : nearest_within(name, known, n, limit, 1);
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
    char list[640 + sizeof ", ..."];

    dse_join(list, 640, known, n);
    if (strlen(list) + 1 == 640 && strrchr(list, ',')) /* cut: behind a whole name */
        strcpy(strrchr(list, ','), ", ...");
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
    for (size_t n;; text += n) {
        while (*text >= ' ' && *text <= '~') /* most are, and configurations of a million rows are long */
            text++;
        if (!*text)
            return true;
        if (!(n = dse_utf8_length(text)) || control_length(text, n))
            return false;
    }
}
