/* Putting a report together. */
#include "base/names.h"
#include "lint/parts.h"

#include <stdarg.h>
#include <string.h>

#define MAX_VALUE 48 /* characters of a value that are shown */

const char *lint_effect_name(lint_effect e)
{
    static const char *const names[LINT_N_EFFECTS] = {
        [LINT_USED] = "used",
        [LINT_DEFAULT] = "default",
        [LINT_ABSENT] = "absent",
        [LINT_MISSING] = "missing",
        [LINT_NO_EFFECT] = "no effect",
        [LINT_NEVER_READ] = "never read",
        [LINT_UPSTREAM_ONLY] = "upstream only",
        [LINT_OURS_ONLY] = "ccldse only",
        [LINT_NOT_MODELLED] = "not modelled",
        [LINT_NOT_NEEDED] = "not needed",
        [LINT_REFUSED] = "refused",
        [LINT_UNKNOWN] = "unknown",
    };
    return names[e];
}

/* ---- building the report ------------------------------------------------------------------- */

/* A copy without what does not print: keys and values may hold anything, and go to a terminal and into
 * JSON. */
static const char *keep(lint *l, const char *text)
{
    char *copy = dse_arena_strdup(l->arena, text);

    for (int pass = 0; pass < 2 && !dse_is_printable(copy);
         pass++) /* control characters, then what is no UTF-8 */
        for (char *p = copy; *p; p++)
            if (pass ? (unsigned char)*p >= 0x80 : (unsigned char)*p < 0x20 || *p == 0x7f)
                *p = '?';
    return copy;
}

void lint_add_file(lint *l, const char *path, const char *kind)
{
    lint_result *r = l->out;

    DSE_ARENA_GROW(l->arena, r->file, r->cap_files, r->n_files + 1);
    r->file[r->n_files++] = (lint_file){.path = keep(l, path), .kind = kind, .first_key = r->n_keys};
}

static void add_value(const cfg_node *node, dse_strbuf *out)
{
    if (node->kind == CFG_SCALAR) {
        dse_strbuf_adds(out, node->text);
        return;
    }
    dse_strbuf_addc(out, node->kind == CFG_LIST ? '[' : '{');
    for (uint32_t i = 0; i < node->n && out->len <= MAX_VALUE; i++) {
        if (i)
            dse_strbuf_adds(out, ", ");
        if (node->kind == CFG_MAP)
            dse_strbuf_addf(out, "%s: ", node->key[i]->text);
        add_value(node->item[i], out);
    }
    dse_strbuf_addc(out, node->kind == CFG_LIST ? ']' : '}');
}

/* As written, cut to what fits into a table. */
static const char *value_text(lint *l, const cfg_node *node)
{
    dse_strbuf b = dse_strbuf_in(l->arena);

    add_value(node, &b);
    if (b.len > MAX_VALUE) {
        size_t n = MAX_VALUE - 3;

        while (n && ((unsigned char)b.data[n] & 0xc0) == 0x80) /* not in the middle of a character */
            n--;
        memcpy(b.data + n, "...", 4);
    }
    return keep(l, b.data);
}

void lint_add_key(lint *l, const char *key, const cfg_node *key_node, const cfg_node *value, const char *unit,
                  const char *meaning, lint_effect effect)
{
    lint_result *r = l->out;

    DSE_ARENA_GROW(l->arena, r->key, r->cap_keys, r->n_keys + 1);
    r->key[r->n_keys++] = (lint_key){.key = keep(l, key),
                                     .value = value ? value_text(l, value) : "",
                                     .unit = unit,
                                     .meaning = meaning,
                                     .effect = effect,
                                     .line = key_node ? key_node->line : 0};
    r->file[r->n_files - 1].n_keys++;
}

void lint_set_effect(lint *l, const char *path, const char *key, lint_effect effect)
{
    const lint_result *r = l->out;

    for (size_t i = r->n_files; i-- > 0;) {
        const lint_file *f = &r->file[i];

        for (size_t k = 0; k < f->n_keys && !strcmp(f->path, path); k++)
            if (!strcmp(r->key[f->first_key + k].key, key)) {
                r->key[f->first_key + k].effect = effect;
                return;
            }
    }
}

void lint_add(lint *l, lint_level level, const char *where, const char *key, const char *fmt, ...)
{
    lint_result *r = l->out;
    va_list ap;
    dse_strbuf text = dse_strbuf_in(l->arena);

    va_start(ap, fmt);
    dse_strbuf_vaddf(&text, fmt, ap);
    va_end(ap);
    DSE_ARENA_GROW(l->arena, r->finding, r->cap_findings, r->n_findings + 1);
    r->finding[r->n_findings++] = (lint_finding){level, keep(l, where), keep(l, key), keep(l, text.data)};
    r->n_level[level]++;
}

void lint_add_error(lint *l, const char *key, const char *said, const dse_error *why)
{
    size_t n = strlen(said);
    const char *text = why->text;

    if (n && !strncmp(text, said, n) &&
        (text[n] == ' ' || text[n] == ':')) /* the key stands before the text */
        text += n + strspn(text + n, ": ");
    lint_add(l, LINT_ERROR, why->where, key, "%s", text);
}

void lint_add_failure(lint *l, const char *path, dse_error *why)
{
    dse_error_set_where(why, path);
    lint_add_error(l, "", "", why);
}

static bool is_harmless(const lint_row *row, const cfg_node *value)
{
    return row->harmless && value->kind == CFG_SCALAR && !strcmp(value->text, row->harmless);
}

void lint_row_key(lint *l, const cfg_doc *doc, const lint_row *row, const char *key, const cfg_node *key_node,
                  const cfg_node *value, const char *unit, const char *meaning)
{
    lint_level level = row->effect == LINT_REFUSED ? LINT_ERROR : LINT_WARNING;

    lint_add_key(l, key, key_node, value, row->unit ? row->unit : unit, row->meaning ? row->meaning : meaning,
                 row->effect);
    if (row->text)
        lint_add(l, is_harmless(row, value) ? LINT_NOTE : level, cfg_at(doc, key_node).text, key, "%s",
                 row->text);
}
