#include "launch/text.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(pairs *p, const char *name, const char *value)
{
    if (p->n < MAX_PAIRS)
        p->item[p->n++] = (pair){name, value};
}

const char *pairs_find(const pairs *p, const char *name)
{
    for (uint32_t i = p->n; i-- > 0;) /* the last one counts, as for the programs */
        if (!strcmp(p->item[i].name, name))
            return p->item[i].value;
    return NULL;
}

bool pairs_has(const pairs *p, const char *name) { return pairs_find(p, name) != NULL; }

long pairs_number(const pairs *p, const char *name, long missing)
{
    const char *value = pairs_find(p, name);

    return value ? strtol(value, NULL, 10) : missing;
}

/* ---- values ------------------------------------------------------------------------------------ */

static char *copy(dse_arena *a, const char *from, size_t n)
{
    return dse_arena_printf(a, "%.*s", (int)n, from);
}

/* Without blanks around it and quotes; true and false in one spelling; the product of "1024 * 8192"; of "torch.bfloat16"
 * the last part stays as it is. */
static const char *normal_value(dse_arena *a, const char *from, size_t n)
{
    char *v, *star;

    while (n && isspace((unsigned char)*from)) {
        from++;
        n--;
    }
    while (n && isspace((unsigned char)from[n - 1]))
        n--;
    if (n > 1 && (*from == '"' || *from == '\'') && from[n - 1] == *from)
        return copy(a, from + 1, n - 2);
    v = copy(a, from, n);
    if ((star = strchr(v, '*')) && isdigit((unsigned char)*v))
        return dse_arena_printf(a, "%ld", strtol(v, NULL, 10) * strtol(star + 1, NULL, 10));
    if (!strcmp(v, "True") || !strcmp(v, "False"))
        *v = (char)tolower((unsigned char)*v);
    return v;
}

/* ---- a command line ---------------------------------------------------------------------------- */

/* The next word of a shell, without quotes; NULL at the end of the command. */
static const char *next_word(const char **at, dse_arena *a)
{
    const char *c = *at;
    char *word;
    size_t n = 0;

    while (*c == ' ' || (*c == '\\' && c[1] == '\n'))
        c += *c == '\\' ? 2 : 1;
    if (!*c || *c == '\n')
        return NULL;
    word = dse_arena_alloc(a, strlen(c) + 1);
    for (char quote = '\0'; *c && (quote || (*c != ' ' && *c != '\n' && !(*c == '\\' && c[1] == '\n')));
         c++) {
        if (*c == quote)
            quote = '\0';
        else if (!quote && (*c == '\'' || *c == '"'))
            quote = *c;
        else
            word[n++] = *c;
    }
    word[n] = '\0';
    *at = c;
    return word;
}

void text_of_shell(const char *text, const char *script, dse_arena *a, pairs *out)
{
    const char *at = strstr(text, script), *word;
    const char *option = NULL;
    char *is;

    if (!at)
        return;
    at += strlen(script);
    while ((word = next_word(&at, a))) {
        if (*word == '-' && isalpha((unsigned char)word[1 + (word[1] == '-')])) {
            if (option)
                add(out, option, "");
            option = word;
        } else if (!option && (is = strchr(word, '='))) {
            const char *dot;

            *is = '\0';
            dot = strrchr(word, '.');
            add(out, dot ? dot + 1 : word, normal_value(a, is + 1, strlen(is + 1)));
        } else {
            add(out, option ? option : "(word)", word);
            option = NULL;
        }
    }
    if (option)
        add(out, option, "");
}

/* ---- keys -------------------------------------------------------------------------------------- */

/* The end of a value: a comma or a closing bracket outside of brackets and quotes, or the end of the line there. */
static const char *end_of_value(const char *c)
{
    int depth = 0;
    char quote = '\0';

    for (; *c; c++) {
        if (quote) {
            quote = *c == quote ? '\0' : quote;
        } else if (*c == '"' || *c == '\'') {
            quote = *c;
        } else if (strchr("([{", *c)) {
            depth++;
        } else if (strchr(")]}", *c)) {
            if (!depth--)
                return c;
        } else if (!depth && (*c == ',' || *c == '\n' || *c == '#')) {
            return c;
        }
    }
    return c;
}

static bool makes_section(const char *value)
{
    static const char *const calls[] = {"TrainingConfig(", "ParallelismConfig(", "GPTModelProvider("};

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strncmp(value, calls[i], strlen(calls[i])))
            return true;
    return false;
}

void text_of_keys(const char *text, dse_arena *a, pairs *out)
{
    for (const char *c = text; *c;) {
        const char *name = c, *end, *value;

        if (*c == '#') {
            c += strcspn(c, "\n");
            continue;
        }
        if (!isalpha((unsigned char)*c) && *c != '_') {
            c++;
            continue;
        }
        while (isalnum((unsigned char)*c) || *c == '_' || *c == '.')
            c++;
        for (end = c; end > name && end[-1] != '.'; end--)
            ;
        value = c + strspn(c, " ");
        if (*value != '=' || value[1] == '=')
            continue;
        value++;
        value += strspn(value, " ");
        c = end_of_value(value);
        if (makes_section(value)) { /* what is in it are keys */
            c = value + strcspn(value, "(");
            continue;
        }
        add(out, copy(a, end, strcspn(end, " =")), normal_value(a, value, (size_t)(c - value)));
    }
}

static void add_json(json_t *object, dse_arena *a, pairs *out)
{
    const char *key;
    json_t *v;

    json_object_foreach(object, key, v)
    {
        if (json_is_object(v)) {
            add_json(v, a, out);
        } else {
            char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));

            add(out, dse_arena_strdup(a, key), normal_value(a, text, strlen(text)));
            free(text);
        }
    }
}

bool text_of_json(const char *text, dse_arena *a, pairs *out)
{
    json_error_t error;
    json_t *root = json_loads(text, 0, &error);

    if (!root)
        return false;
    add_json(root, a, out);
    json_decref(root);
    return true;
}
