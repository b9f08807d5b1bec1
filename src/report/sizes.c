#include "report/sizes.h"

#include "base/array.h"
#include "config/doc.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The key of each size in the model of a configuration, and its word for people. */
#define SIZE(name)                                                                                           \
    {                                                                                                        \
        "precision." #name, #name, offsetof(store_sizes, name)                                               \
    }
static const struct {
    const char *key, *word;
    size_t offset;
} sizes[] = {SIZE(weights), SIZE(activations), SIZE(gradients), SIZE(optimizer), SIZE(messages)};
#define N_SIZES DSE_COUNT(sizes)

static double size_at(const store_sizes *s, size_t i)
{
    return *(const double *)(const void *)((const char *)s + sizes[i].offset);
}

static bool says(const cfg_node *model, const char *key, const char *word)
{
    const cfg_node *node = cfg_get(model, key);

    return node && node->kind == CFG_SCALAR && !strcmp(node->text, word);
}

static store_sizes read_config(const char *config, dse_arena *a)
{
    store_sizes out = {0};
    const cfg_node *model;
    cfg_doc doc;

    if (!config || cfg_parse_json("configuration", config, strlen(config), a, &doc, NULL) != DSE_OK)
        return out;
    model = cfg_get(doc.root, "model");
    for (size_t i = 0; i < N_SIZES; i++) {
        const cfg_node *node = cfg_get(model, sizes[i].key);

        if (node && node->kind == CFG_SCALAR)
            *(double *)(void *)((char *)&out + sizes[i].offset) = strtod(node->text, NULL);
    }
    out.training = says(model, "profile", "train");
    out.stage_main = says(model, "stage.version", "main");
    return out;
}

void report_sizes_read(store_row *rows, size_t n)
{
    dse_arena a;

    dse_arena_init(&a);
    for (size_t i = 0; i < n; i++) {
        if (i && rows[i].study == rows[i - 1].study) {
            rows[i].sizes = rows[i - 1].sizes;
            continue;
        }
        dse_arena_reset(&a);
        rows[i].sizes = read_config(rows[i].config, &a);
    }
    dse_arena_free(&a);
}

void report_sizes_add(report_sizes *s, const store_sizes *one)
{
    if (!s->n++)
        s->first = *one;
    s->differ |= s->first.training != one->training ||
                 (s->first.stage_main != one->stage_main && report_in_bytes(one));
    for (size_t i = 0; i < N_SIZES && !one->training; i++)
        s->differ |= size_at(&s->first, i) != size_at(one, i);
}

const char *report_sizes_word(const store_sizes *s) { return report_in_bytes(s) ? "bytes" : "elements"; }

const char *report_sizes_key(const report_sizes *s)
{
    return s->differ ? "differs" : report_sizes_word(&s->first);
}

void report_sizes_print(const report_sizes *s, dse_strbuf *out)
{
    if (s->differ)
        dse_strbuf_adds(out, "Memory counts bytes in some of these results, and elements or other bytes in "
                             "others: that does not compare.\n");
    else
        report_sizes_print_one(&s->first, "", out);
}

void report_sizes_print_one(const store_sizes *s, const char *more, dse_strbuf *out)
{
    const bool listed = report_in_bytes(s) && !s->training && !s->stage_main;
    const char *words = s->training      ? "bytes."
                        : !s->stage_main ? "elements, as ASTRA-sim does, not bytes."
                        : report_in_bytes(s)
                            ? "what STAGE's branch main says of mixed precision, something like bytes."
                            : "elements, as STAGE's branch main says them, not bytes.";

    dse_strbuf_adds(out, "Memory counts ");
    for (size_t i = 0; listed && i < N_SIZES; i++)
        dse_strbuf_addf(out, "%s%s %g", i ? ", " : "bytes (", sizes[i].word, size_at(s, i));
    dse_strbuf_addf(out, "%s%s\n", listed ? " an element)." : words, more);
}
