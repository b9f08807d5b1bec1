#include "base/words.h"

#include <string.h>

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

/* Copies the quoted part that begins at `p` without its quotes; returns what follows it, or NULL at the
 * text's end. */
static const char *copy_quoted(const char *p, char **out)
{
    char quote = *p++;

    while (*p && *p != quote) {
        if (quote == '"' && *p == '\\' && p[1] && strchr("\"\\$", p[1]))
            p++;
        *(*out)++ = *p++;
    }
    return *p ? p + 1 : NULL;
}

static const char *copy_word(const char *p, char **out)
{
    while (p && *p && !is_blank(*p)) {
        if (*p == '\'' || *p == '"') {
            p = copy_quoted(p, out);
            continue;
        }
        if (*p == '\\' && p[1])
            p++;
        *(*out)++ = *p++;
    }
    *(*out)++ = '\0';
    return p;
}

dse_status dse_split_words(const char *text, dse_arena *a, const char ***words, size_t *n, dse_error *err)
{
    size_t len = strlen(text);
    char *copy = dse_arena_alloc(a, len + 1); /* no word is longer than what it stands for */
    const char **list = DSE_ARENA_NEW(a, const char *, len / 2 + 2), *p = text;
    size_t found = 0;

    for (;;) {
        while (is_blank(*p))
            p++;
        if (!*p)
            break;
        list[found++] = copy;
        if (!(p = copy_word(p, &copy)))
            return dse_fail(err, DSE_E_USAGE, "a quote is not closed in '%.200s'", text);
    }
    *words = list;
    *n = found;
    return DSE_OK;
}
